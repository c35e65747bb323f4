//! Digest of all output of a worker.

use crate::engine::seam::{Close, ConnId, DatagramPort};
use std::io::IoSlice;
use std::net::SocketAddr;

/// A digest of all that was put out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Octets that connections and datagrams took.
    pub octets: u64,
    /// CRC-32 over the octets sent and their receivers, in order, and over connections closed.
    pub crc: u32,
}

/// Follows the output.
#[derive(Clone, Debug, Default)]
pub(super) struct Digest {
    octets: u64,
    crc: crc32fast::Hasher,
}

impl Digest {
    pub(super) fn sent(&self) -> Sent {
        Sent { octets: self.octets, crc: self.crc.clone().finalize() }
    }

    pub(super) fn wrote(&mut self, conn: ConnId, slices: &[IoSlice<'_>], taken: usize) {
        self.crc.update(&conn.0.to_le_bytes());
        self.crc.update(&(taken as u64).to_le_bytes());
        let mut left = taken;
        for slice in slices {
            let part = &slice[..slice.len().min(left)];
            self.crc.update(part);
            left -= part.len();
        }
        self.octets += taken as u64;
    }

    pub(super) fn sent_datagram(&mut self, port: DatagramPort, to: SocketAddr, bytes: &[u8]) {
        let (kind, index) = match port {
            DatagramPort::Listener(index) => (1, index),
            DatagramPort::PeerGroup(index) => (2, index),
        };
        self.crc.update(&[kind]);
        self.crc.update(&(index as u64).to_le_bytes());
        self.crc.update(to.to_string().as_bytes());
        self.crc.update(bytes);
        self.octets += bytes.len() as u64;
    }

    pub(super) fn closed(&mut self, conn: ConnId, how: Close, reason: &str) {
        self.crc.update(&conn.0.to_le_bytes());
        self.crc.update(&[u8::from(how == Close::Reset)]);
        self.crc.update(reason.as_bytes());
    }
}
