//! Formats by their octets, and what becomes of packets.

use super::packet::{Tcp, ip, transport};
use super::reader::SECTION;
use super::streams::Streams;
use super::*;
use crate::wire::Endpoint;
use proptest::prelude::*;
use std::net::{SocketAddr, SocketAddrV4};

const FROM: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::new(10, 0, 0, 1), 4000);
const TO: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::new(10, 0, 0, 2), 8600);

fn written(datagrams: &[(u64, &[u8])]) -> Vec<u8> {
    let mut writer = CaptureWriter::new(Vec::new()).unwrap();
    for (at_ns, payload) in datagrams {
        writer.datagram(*at_ns, FROM, TO, payload).unwrap();
    }
    writer.finish().unwrap()
}

fn arrivals(octets: &[u8]) -> Vec<Arrival> {
    Arrivals::new(CaptureReader::new(octets).unwrap()).map(Result::unwrap).collect()
}

fn datagram(at_ns: i64, payload: &[u8]) -> Arrival {
    let [from, to] = [FROM, TO].map(|address| SocketAddr::from(address).into());
    Arrival { at_ns, from, to, what: ArrivalContent::Datagram(payload.to_vec()) }
}

#[test]
fn what_is_written_is_read_to_the_nanosecond() {
    let octets =
        written(&[(1_600_000_000_123_456_789, b"plots"), (1_600_000_001_000_000_001, b"")]);
    let expected =
        [datagram(1_600_000_000_123_456_789, b"plots"), datagram(1_600_000_001_000_000_001, b"")];
    assert_eq!(arrivals(&octets), expected);
}

/// A classic capture of one packet, in the byte order and resolution of its magic.
fn classic(magic: [u8; 4], big: bool, fraction: u32) -> Vec<u8> {
    let n = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let h = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let packet = written(&[(0, b"x")]);
    let packet = CaptureReader::new(&packet[..]).unwrap().next().unwrap().unwrap().octets;
    let length = u32::try_from(packet.len()).unwrap();
    let head = [magic, [h(2), h(4)].concat().try_into().unwrap(), n(0), n(0), n(65535), n(101)];
    let record = [n(1_600_000_000), n(fraction), n(length), n(length)];
    [head.concat(), record.concat(), packet].concat()
}

#[test]
fn classic_captures_of_both_orders_and_resolutions_are_read() {
    let at = 1_600_000_000_000_000_000;
    for (magic, big, expected) in [
        (0xa1b2_c3d4_u32.to_le_bytes(), false, at + 7000),
        (0xa1b2_c3d4_u32.to_be_bytes(), true, at + 7000),
        (0xa1b2_3c4d_u32.to_le_bytes(), false, at + 7),
        (0xa1b2_3c4d_u32.to_be_bytes(), true, at + 7),
    ] {
        assert_eq!(arrivals(&classic(magic, big, 7)), [datagram(expected, b"x")]);
    }
}

/// A pcapng of the other byte order whose interface counts in units of 2⁻¹⁰ s, from 100 s on.
#[test]
fn blocks_of_the_other_byte_order_and_binary_resolution_are_read() {
    let block = |kind: u32, body: &[u8]| {
        let length = u32::try_from(body.len() + 12).unwrap().to_be_bytes();
        [&kind.to_be_bytes()[..], &length, body, &length].concat()
    };
    let section = [&0x1a2b_3c4d_u32.to_be_bytes()[..], &[0, 1, 0, 0], &[255; 8]].concat();
    let options: [u8; 20] = [0, 9, 0, 1, 0x8a, 0, 0, 0, 0, 14, 0, 8, 0, 0, 0, 0, 0, 0, 0, 100];
    let interface = [&[0, 101, 0, 0, 0, 0, 0, 0][..], &options].concat();
    let words = |words: [u32; 5]| words.map(u32::to_be_bytes).concat();
    let packet = [&words([0, 0, 1536, 3, 9])[..], b"abc\0"].concat();
    let octets =
        [block(SECTION, &section), block(1, &interface), block(77, b"what"), block(6, &packet)]
            .concat();
    let mut reader = CaptureReader::new(&octets[..]).unwrap();
    let got = reader.next().unwrap().unwrap();
    let octets = b"abc".to_vec();
    assert_eq!(
        got,
        CapturedPacket { at_ns: 101_500_000_000, link: 101, original_bytes: 9, octets }
    );
    assert!(reader.next().is_none());
    assert_eq!(reader.skipped_count, 1);
}

#[test]
fn a_cut_capture_gives_what_is_whole_and_says_where_it_ends() {
    let octets = written(&[(1, b"one"), (2, b"two")]);
    let second = octets.len() - 64;
    let got: Vec<_> = CaptureReader::new(&octets[..octets.len() - 1]).unwrap().collect();
    assert_eq!(got.len(), 2);
    assert!(got[0].is_ok());
    let error = got[1].as_ref().unwrap_err().to_string();
    assert_eq!(error, format!("capture ends within the block at octet {second}"));
}

#[test]
fn future_versions_and_strangers_are_refused_by_name() {
    let mut octets = written(&[]);
    octets[12] = 2;
    let error = CaptureReader::new(&octets[..]).unwrap_err().to_string();
    assert_eq!(error, "capture at octet 0 has version 2, this program reads version 1");
    let error = CaptureReader::new(&b"%PDF-1.7"[..]).unwrap_err().to_string();
    assert_eq!(error, "not a capture: the file begins with 46445025");
}

#[test]
fn fragments_are_put_together_in_any_order() {
    let payload: Vec<u8> = (0..=255).cycle().take(3000).collect();
    let whole = written(&[(5, &payload)]);
    let packet = CaptureReader::new(&whole[..]).unwrap().next().unwrap().unwrap().octets;
    let data = &packet[20..];
    let part = |from: usize, to: usize, more: bool| {
        let mut part = packet[..20].to_vec();
        part[2..4].copy_from_slice(&u16::try_from(20 + to - from).unwrap().to_be_bytes());
        let flags = u16::try_from(from / 8).unwrap() | if more { 0x2000 } else { 0 };
        part[6..8].copy_from_slice(&flags.to_be_bytes());
        [part, data[from..to].to_vec()].concat()
    };
    let end = data.len();
    let parts = [part(2400, end, false), part(0, 1200, true), part(1200, 2400, true)];
    let mut writer = CaptureWriter::new(Vec::new()).unwrap();
    for (at, part) in parts.iter().enumerate() {
        writer.packet(at as u64, part).unwrap();
    }
    assert_eq!(arrivals(&writer.finish().unwrap()), [datagram(2, &payload)]);
}

fn ends() -> (Endpoint, Endpoint) {
    (SocketAddr::from(FROM).into(), SocketAddr::from(TO).into())
}

fn tcp(sequence: u32, syn: bool, fin: bool) -> Tcp {
    Tcp { sequence, syn, ack: false, fin, reset: false, urgent: None }
}

#[test]
fn octets_over_a_gap_come_after_a_bounded_wait_and_are_counted() {
    let mut streams = Streams::default();
    assert!(streams.take(ends(), tcp(u32::MAX, true, false), &[]).opened);
    let mut got = 0;
    for piece in 0..20u32 {
        let sequence = piece * 65_536 + 10; // ten octets never come
        got += streams.take(ends(), tcp(sequence, false, false), &[1; 65_536]).octets.len();
    }
    assert_eq!((got, streams.lost_bytes), (20 * 65_536, 10));
}

#[test]
fn a_gap_has_its_place_and_what_waits_behind_it_is_given_at_the_end() {
    let mut streams = Streams::default();
    streams.take(ends(), tcp(0, true, false), &[]);
    assert_eq!(streams.take(ends(), tcp(1, false, false), b"abc").octets, b"abc");
    assert_eq!(streams.take(ends(), tcp(9, false, false), b"ij").octets, b"");
    assert_eq!(streams.take(ends(), tcp(12, false, false), b"l").octets, b"");
    let rest = streams.rest();
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].1.octets, b"ijl");
    let gap = |at, missing| StreamGap { at, missing };
    assert_eq!(rest[0].1.gaps, [gap(0, 5), gap(2, 1)]);
    assert_eq!(streams.lost_bytes, 6);
    assert!(streams.rest().is_empty());
}

#[test]
fn urgent_data_is_told_where_it_ends() {
    let mut streams = Streams::default();
    streams.take(ends(), tcp(0, true, false), &[]);
    let urgent = |length| Tcp { urgent: Some(length), ..tcp(1, false, false) };
    // The urgent octet is further on.
    assert!(!streams.take(ends(), urgent(5), b"abc").ends_urgent);
    let last = Tcp { sequence: 4, ..urgent(2) };
    assert!(streams.take(ends(), last, b"d\x02").ends_urgent);
    // Sent again, it has no octets.
    assert!(!streams.take(ends(), last, b"d\x02").ends_urgent);
}

proptest! {
    /// However a stream is cut, repeated and shuffled within a window, its octets come in order.
    #[test]
    fn streams_come_in_order(
        start in any::<u32>(),
        sizes in prop::collection::vec(1usize..50, 1..30),
        keys in prop::collection::vec(0usize..6, 60),
        again in prop::collection::vec(any::<bool>(), 30),
    ) {
        let total: usize = sizes.iter().sum();
        let data: Vec<u8> = (0..total).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let mut at = 0;
        let mut segments = Vec::new();
        for (index, size) in sizes.iter().enumerate() {
            segments.push((index + keys[index], at, at + size));
            if again[index] {
                segments.push((index + keys[index + 30], at.saturating_sub(3), at + size));
            }
            at += size;
        }
        segments.sort_by_key(|segment| segment.0);
        let mut streams = Streams::default();
        let mut got = streams.take(ends(), tcp(start, true, false), &[]).octets;
        let mut ended = 0;
        for (_, from, to) in segments {
            let sequence = start.wrapping_add(1).wrapping_add(u32::try_from(from).unwrap());
            let segment = streams.take(ends(), tcp(sequence, false, to == data.len()), &data[from..to]);
            got.extend(segment.octets);
            ended += u32::from(segment.ended);
            if ended > 0 { break; }
        }
        prop_assert_eq!(ended, 1);
        prop_assert_eq!(got, data);
    }

    #[test]
    fn any_packet_is_read_or_refused(link in prop::sample::select(vec![0u16, 1, 101, 113, 276]), first in 0x40u8..0x70, octets in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut octets = octets;
        let at = match link { 0 => 4, 1 => 14, 113 => 16, 276 => 20, _ => 0 };
        if let Some(octet) = octets.get_mut(at) { *octet = first; }
        if let Ok(ip) = ip(link, &octets) {
            prop_assert!(ip.payload.len() <= octets.len());
            let _ = transport(17, ip.payload).map(|t| t.payload.len());
            let _ = transport(6, ip.payload).map(|t| t.payload.len());
        }
    }
}
