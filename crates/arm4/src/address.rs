//! System addresses as texts.
#![allow(unsafe_code)] // reads what callers point to

use crate::buffer::array;
use crate::codes::{First, SUBBUFFER};
use crate::details::say_id;
use crate::entries::Entries;
use crate::types::SystemAddress;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

/// Octets of an address at most.
const LENGTH_MAX: usize = 255;

/// Records the address of the host on which an application runs.
///
/// # Safety
/// The address has as many octets as its length states.
pub(crate) unsafe fn say(said: &mut Entries, own: &SystemAddress, first: &mut First) {
    // SAFETY: the caller's promise.
    let octets = unsafe { array(own.address, i32::from(own.length), LENGTH_MAX) };
    match octets.and_then(|octets| text_of(own.address_format, octets)) {
        Some(text) => said.property("system_address", &text),
        None => first.note(SUBBUFFER),
    }
    say_id(said, "system_address_id", own.id_valid, own.id);
}

/// The address as its kind is usually written; octets in hexadecimal where that is not known.
/// Ports follow the address, most significant octet first.
fn text_of(format: i16, octets: &[u8]) -> Option<String> {
    let port = |at: usize| Some(u16::from_be_bytes([*octets.get(at)?, *octets.get(at + 1)?]));
    let v4 = || octets.first_chunk::<4>().map(|octets| Ipv4Addr::from(*octets));
    let v6 = || octets.first_chunk::<16>().map(|octets| Ipv6Addr::from(*octets));
    match (format, octets.len()) {
        (1, 4) => Some(v4()?.to_string()),
        (2, 6) => Some(SocketAddrV4::new(v4()?, port(4)?).to_string()),
        (3, 16) => Some(v6()?.to_string()),
        (4, 18) => Some(SocketAddrV6::new(v6()?, port(16)?, 0, 0).to_string()),
        (5 | 6 | 8, 1..) => Some(octets.iter().map(|octet| format!("{octet:02x}")).collect()),
        (7, 1..) => {
            let end = octets.iter().position(|octet| *octet == 0).unwrap_or(octets.len());
            Some(String::from_utf8_lossy(&octets[..end]).into_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_they_are_written() {
        let of = |format, octets: &[u8]| text_of(format, octets);
        assert_eq!(of(1, &[10, 0, 0, 7]).unwrap(), "10.0.0.7");
        assert_eq!(of(2, &[10, 0, 0, 7, 0x1f, 0x90]).unwrap(), "10.0.0.7:8080");
        let mut v6 = vec![0; 16];
        v6[15] = 1;
        assert_eq!(of(3, &v6).unwrap(), "::1");
        v6.extend([0, 80]);
        assert_eq!(of(4, &v6).unwrap(), "[::1]:80");
        assert_eq!(of(7, b"tower.example\0").unwrap(), "tower.example");
        assert_eq!(of(8, &[0xab; 2]).unwrap(), "abab");
        assert_eq!((of(1, &[1, 2]), of(0, &[1]), of(9, &[1])), (None, None, None));
    }
}
