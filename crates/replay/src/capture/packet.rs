//! Parser of packets from a link's header to UDP and TCP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reasons why a packet gives no input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum PacketError {
    /// The capture kept only its beginning, or a header gives a greater length.
    #[error("packet was cut")]
    Cut,
    /// A link type that is not read here.
    #[error("link type {0}")]
    Link(u16),
    /// Neither IPv4 nor IPv6.
    #[error("no IP")]
    NoIp,
    /// A header that contradicts itself.
    #[error("malformed header")]
    Malformed,
    /// Neither UDP nor TCP.
    #[error("IP protocol {0}")]
    Protocol(u8),
}

/// An IP packet, perhaps a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ip<'a> {
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    pub(super) protocol: u8,
    /// Identification, offset in octets, more fragments.
    pub(super) fragment: Option<(u32, usize, bool)>,
    pub(super) payload: &'a [u8],
}

/// A UDP datagram or TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transport<'a> {
    pub(super) from_port: u16,
    pub(super) to_port: u16,
    pub(super) tcp: Option<Tcp>,
    pub(super) payload: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tcp {
    pub(super) sequence: u32,
    pub(super) syn: bool,
    pub(super) ack: bool,
    pub(super) fin: bool,
    pub(super) reset: bool,
    /// Octets from the segment's sequence number to the end of urgent data.
    pub(super) urgent: Option<u16>,
}

fn u16_at(octets: &[u8], at: usize) -> Result<u16, PacketError> {
    let pair = octets.get(at..at + 2).ok_or(PacketError::Cut)?;
    Ok(u16::from_be_bytes([pair[0], pair[1]]))
}

/// Takes the link's header off.
pub(super) fn ip(link: u16, octets: &[u8]) -> Result<Ip<'_>, PacketError> {
    let cut = |at: usize| octets.get(at..).ok_or(PacketError::Cut);
    let (kind, rest) = match link {
        0 | 108 => return internet(cut(4)?), // loopback of the BSDs
        1 => ethernet(octets)?,
        101 | 228 | 229 | 12 | 14 => return internet(octets), // raw IP
        113 => (u16_at(octets, 14)?, cut(16)?),               // Linux cooked
        276 => (u16_at(octets, 0)?, cut(20)?),                // Linux cooked, version 2
        other => return Err(PacketError::Link(other)),
    };
    if matches!(kind, 0x0800 | 0x86dd) { internet(rest) } else { Err(PacketError::NoIp) }
}

/// Type and payload, behind up to two VLAN tags.
fn ethernet(octets: &[u8]) -> Result<(u16, &[u8]), PacketError> {
    let mut at = 12;
    for _ in 0..2 {
        if matches!(u16_at(octets, at)?, 0x8100 | 0x88a8) {
            at += 4;
        }
    }
    Ok((u16_at(octets, at)?, octets.get(at + 2..).ok_or(PacketError::Cut)?))
}

fn internet(octets: &[u8]) -> Result<Ip<'_>, PacketError> {
    match octets.first().ok_or(PacketError::Cut)? >> 4 {
        4 => v4(octets),
        6 => v6(octets),
        _ => Err(PacketError::NoIp),
    }
}

fn v4(octets: &[u8]) -> Result<Ip<'_>, PacketError> {
    let header = usize::from(octets[0] & 15) * 4;
    let total = usize::from(u16_at(octets, 2)?);
    if header < 20 || total < header {
        return Err(PacketError::Malformed);
    }
    let payload = octets.get(header..total).ok_or(PacketError::Cut)?;
    let flags = u16_at(octets, 6)?;
    let (offset, more) = (usize::from(flags & 0x1fff) * 8, flags & 0x2000 != 0);
    let id = u32::from(u16_at(octets, 4)?);
    let address =
        |at: usize| Ipv4Addr::from([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]]);
    Ok(Ip {
        from: address(12).into(),
        to: address(16).into(),
        protocol: octets[9],
        fragment: (more || offset > 0).then_some((id, offset, more)),
        payload,
    })
}

fn v6(octets: &[u8]) -> Result<Ip<'_>, PacketError> {
    let length = usize::from(u16_at(octets, 4)?);
    let mut payload = octets.get(40..40 + length).ok_or(PacketError::Cut)?;
    let address = |at: usize| {
        let mut address = [0; 16];
        address.copy_from_slice(&octets[at..at + 16]);
        IpAddr::from(Ipv6Addr::from(address))
    };
    let (from, to, mut protocol, mut fragment) = (address(8), address(24), octets[6], None);
    // Hop-by-hop, routing, destination options and fragment; more than eight are an attack.
    for _ in 0..8 {
        let size = match protocol {
            0 | 43 | 60 => usize::from(*payload.get(1).ok_or(PacketError::Cut)?) * 8 + 8,
            44 => {
                let flags = u16_at(payload, 2)?;
                let id = u32::from(u16_at(payload, 4)?) << 16 | u32::from(u16_at(payload, 6)?);
                fragment = Some((id, usize::from(flags & 0xfff8), flags & 1 != 0));
                8
            }
            _ => break,
        };
        protocol = *payload.first().ok_or(PacketError::Cut)?;
        payload = payload.get(size..).ok_or(PacketError::Cut)?;
        if fragment.is_some() {
            break;
        }
    }
    Ok(Ip { from, to, protocol, fragment, payload })
}

/// Destination port of a packet, from its IP header on; `None` where it has none, or none that can
/// be read: a fragment, another protocol, a malformed header.
pub(crate) fn destination(octets: &[u8]) -> Option<u16> {
    let ip = internet(octets).ok().filter(|ip| ip.fragment.is_none())?;
    Some(transport(ip.protocol, ip.payload).ok()?.to_port)
}

/// Takes the UDP or TCP header off.
pub(super) fn transport(protocol: u8, octets: &[u8]) -> Result<Transport<'_>, PacketError> {
    let header = match protocol {
        17 => 8,
        6 => usize::from(*octets.get(12).ok_or(PacketError::Cut)? >> 4) * 4,
        other => return Err(PacketError::Protocol(other)),
    };
    let (from_port, to_port) = (u16_at(octets, 0)?, u16_at(octets, 2)?);
    if protocol == 17 {
        let length = usize::from(u16_at(octets, 4)?);
        if length < header {
            return Err(PacketError::Malformed);
        }
        let payload = octets.get(header..length).ok_or(PacketError::Cut)?;
        return Ok(Transport { from_port, to_port, tcp: None, payload });
    }
    if header < 20 {
        return Err(PacketError::Malformed);
    }
    let payload = octets.get(header..).ok_or(PacketError::Cut)?;
    let sequence = u32::from(u16_at(octets, 4)?) << 16 | u32::from(u16_at(octets, 6)?);
    let flag = |bit: u8| octets[13] & bit != 0;
    let urgent = if flag(32) { Some(u16_at(octets, 18)?) } else { None };
    let tcp = Tcp { sequence, fin: flag(1), syn: flag(2), reset: flag(4), ack: flag(16), urgent };
    Ok(Transport { from_port, to_port, tcp: Some(tcp), payload })
}
