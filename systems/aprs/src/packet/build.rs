//! A packet from its parts: the line that goes out, and what filters ask about it.

use super::header::is_q_construct;
use super::payload::{PayloadContext, classify};
use super::{DropReason, PACKET_LEN_MAX, Packet, Parsed};
use std::ops::Range;

/// Message recipients that are no stations: programs tell each other their state this way.
const NO_STATIONS: [&[u8]; 5] = [b"javaMSG", b"JAVATITLE", b"JAVATITL2", b"USERLIST", b"KIPSS"];

impl Parsed<'_> {
    /// The packet with a new path, which has its q construct, and no leading comma.
    ///
    /// # Errors
    /// Why the packet is to be dropped: it became too long, its path has no q construct, it is a
    /// third-party packet whose own header is wrong, a general query, or a message to no station.
    pub fn build(&self, path: &[u8]) -> Result<Packet, DropReason> {
        let destination_at = self.source.len() + 1;
        let destination_end = destination_at + self.destination.len();
        let path_at = destination_end + 1;
        let payload_at = path_at + path.len() + 1;
        let len = payload_at + self.payload.len() + 2;
        if len > PACKET_LEN_MAX {
            return Err(DropReason::TooLong);
        }
        let q_at = path_at + find_q(path).ok_or(DropReason::NoQConstruct)?;

        let mut line = Vec::with_capacity(len);
        for part in [
            self.source,
            b">",
            self.destination,
            b",",
            path,
            b":",
            self.payload,
            b"\r\n".as_slice(),
        ] {
            line.extend_from_slice(part);
        }
        let place =
            PayloadContext { source: self.source, destination: self.destination, payload_at };
        let content = classify(&place, self.payload)?;
        let packet = Packet {
            line: line.into_boxed_slice(),
            source_end: short(self.source.len()),
            destination: range(destination_at..destination_end),
            digis: range(path_at..(q_at - 1).max(path_at)),
            q_at: short(q_at),
            payload_at: short(payload_at),
            types: content.types,
            position: content.position,
            symbol: content.symbol,
            inner_source: content.inner_source.map(range),
            name: content.name.map(range),
            addressee: content.addressee.map(range),
        };
        if packet.types.contains(super::Types::QUERY) && !packet.is_message() {
            return Err(DropReason::GeneralQuery);
        }
        if packet.addressee().is_some_and(|addressee| NO_STATIONS.contains(&addressee)) {
            return Err(DropReason::DisallowedRecipient);
        }
        Ok(packet)
    }
}

/// Begin of the q construct in a path: its first element of that form.
fn find_q(path: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'q', path).find(|at| {
        let begins = *at == 0 || path[at - 1] == b',';
        let ends = path.get(at + 3).is_none_or(|octet| *octet == b',');
        begins && ends && path.get(*at..at + 3).is_some_and(is_q_construct)
    })
}

fn range(range: Range<usize>) -> Range<u16> {
    short(range.start)..short(range.end)
}

/// Never more than [`PACKET_LEN_MAX`].
fn short(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
