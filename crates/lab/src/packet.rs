//! A gateway's processing of an IPv4 packet (RFC 791, RFC 792, RFC 1812).

use std::net::Ipv4Addr;

const HEADER_MIN: usize = 20;
const TTL: usize = 8;
const PROTOCOL: usize = 9;
const CHECKSUM: usize = 10;
const SOURCE: usize = 12;
const DESTINATION: usize = 16;
const ICMP: u8 = 1;

/// Source and destination; `None`: it is no IPv4 packet.
#[must_use]
pub fn ends(packet: &[u8]) -> Option<(Ipv4Addr, Ipv4Addr)> {
    header_len(packet)?;
    let address = |at: usize| {
        let octets: [u8; 4] = packet.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(octets))
    };
    Some((address(SOURCE)?, address(DESTINATION)?))
}

/// Octets of its header; `None`: it is no IPv4 packet.
fn header_len(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    let len = usize::from(first & 0x0f) * 4;
    (first >> 4 == 4 && len >= HEADER_MIN && packet.len() >= len).then_some(len)
}

/// Passes a gateway: its time to live is one less. `false`: it was used up, and the packet may go no
/// further.
pub fn pass_gateway(packet: &mut [u8]) -> bool {
    let Some(len) = header_len(packet) else { return false };
    if packet[TTL] <= 1 {
        return false;
    }
    packet[TTL] -= 1;
    write_checksum(packet, len, CHECKSUM);
    true
}

/// Answer of a gateway at `from` to a packet whose time to live has expired: ICMP time exceeded,
/// with the packet's header and eight octets (RFC 792). `None`: the packet must not be answered,
/// such as ICMP's own errors (RFC 1812, 4.3.2.7).
#[must_use]
pub fn time_exceeded(packet: &[u8], from: Ipv4Addr) -> Option<Vec<u8>> {
    let header = header_len(packet)?;
    let is_request = packet.get(header).is_some_and(|kind| [0, 8].contains(kind));
    if packet[PROTOCOL] == ICMP && !is_request {
        return None;
    }
    let quoted = &packet[..packet.len().min(header + 8)];
    let mut answer = vec![0; HEADER_MIN];
    answer.extend_from_slice(&[11, 0, 0, 0, 0, 0, 0, 0]);
    answer.extend_from_slice(quoted);
    let total = u16::try_from(answer.len()).ok()?;
    answer[0] = 0x45;
    answer[2..4].copy_from_slice(&total.to_be_bytes());
    answer[TTL] = 64;
    answer[PROTOCOL] = ICMP;
    answer[SOURCE..SOURCE + 4].copy_from_slice(&from.octets());
    answer[DESTINATION..DESTINATION + 4].copy_from_slice(&packet[SOURCE..SOURCE + 4]);
    write_checksum(&mut answer, HEADER_MIN, CHECKSUM);
    let end = answer.len() - HEADER_MIN;
    write_checksum(&mut answer[HEADER_MIN..], end, 2);
    Some(answer)
}

/// Puts the Internet checksum of the first `len` octets at `at` (RFC 1071).
fn write_checksum(octets: &mut [u8], len: usize, at: usize) {
    octets[at..at + 2].fill(0);
    let sum = checksum(&octets[..len]);
    octets[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

fn checksum(octets: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for pair in octets.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    #[allow(clippy::cast_possible_truncation)] // folded
    let folded = sum as u16;
    !folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The header of RFC 1071's usual example, with its right checksum b861.
    const UDP: [u8; 28] = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00,
        0x01, 0xc0, 0xa8, 0x00, 0xc7, 1, 2, 3, 4, 5, 6, 7, 8,
    ];

    #[test]
    fn a_gateway_takes_one_from_the_time_to_live() {
        assert_eq!(ends(&UDP), Some(([192, 168, 0, 1].into(), [192, 168, 0, 199].into())));
        let mut packet = UDP;
        assert!(pass_gateway(&mut packet));
        assert_eq!(packet[TTL], 0x3f);
        assert_eq!(checksum(&packet[..20]), 0);
        packet[TTL] = 1;
        assert!(!pass_gateway(&mut packet));
    }

    #[test]
    fn who_is_not_passed_on_is_told() {
        let answer = time_exceeded(&UDP, Ipv4Addr::new(10, 0, 0, 9)).unwrap();
        assert_eq!(ends(&answer), Some(([10, 0, 0, 9].into(), [192, 168, 0, 1].into())));
        assert_eq!((checksum(&answer[..20]), checksum(&answer[20..])), (0, 0));
        assert_eq!((answer[20], &answer[28..]), (11, &UDP[..]));
        assert_eq!(time_exceeded(&answer, Ipv4Addr::LOCALHOST), None, "no error about an error");
    }

    proptest! {
        #[test]
        fn any_octets_are_survived(mut octets in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = ends(&octets);
            let _ = time_exceeded(&octets, Ipv4Addr::LOCALHOST);
            let _ = pass_gateway(&mut octets);
        }
    }
}
