//! Frames from UDP, one a datagram, as a modem sends them.

use super::progress::ReadProgress;
use crate::frame::ReceivedFrame;
use crate::pdu::FrameQuality;
use crate::time::Now;
use bytes::BytesMut;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

/// Requested receive buffer of the socket, in octets; the system may allow less.
const RECEIVE_BUFFER: usize = 8 << 20;
/// Maximum length of a datagram, in octets.
const DATAGRAM_OCTETS: usize = 65_536;
/// Datagrams are read into blocks of so many octets.
const BLOCK_OCTETS: usize = 1 << 20;
/// Longest wait for the first datagram of a read.
const WAIT: Duration = Duration::from_millis(100);

/// A socket that frames come to.
#[derive(Debug)]
pub struct UdpSource {
    socket: UdpSocket,
    block: BytesMut,
    is_blocking: bool,
    empty: u64,
}

impl UdpSource {
    /// Binds to an address; port 0 lets the system choose.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket2::SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER)?;
        socket.set_read_timeout(Some(WAIT))?;
        Ok(Self { socket, block: BytesMut::new(), is_blocking: true, empty: 0 })
    }

    /// Address of the socket.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Datagrams without an octet, which are no frames.
    #[must_use]
    pub fn empty(&self) -> u64 {
        self.empty
    }

    /// Appends up to `max` frames: waits for the first, a tenth of a second at most, and takes
    /// what is there. The time of reception is that of reading.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn read(&mut self, max: usize, out: &mut Vec<ReceivedFrame>) -> io::Result<ReadProgress> {
        for index in 0..max {
            self.block_socket(index == 0)?;
            if self.block.len() < DATAGRAM_OCTETS {
                self.block = BytesMut::zeroed(BLOCK_OCTETS);
            }
            let octets = match self.socket.recv(&mut self.block) {
                Ok(octets) => octets,
                // The receiver of something we never sent: nothing to do with us.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) if is_nothing(&error) => break,
                Err(error) => return Err(error),
            };
            if octets == 0 {
                self.empty += 1;
                continue;
            }
            out.push(ReceivedFrame {
                data: self.block.split_to(octets).freeze(),
                received_utc_ns: Now::read().utc_ns,
                quality: FrameQuality::Good,
                annotation: None,
            });
        }
        Ok(ReadProgress::More)
    }

    fn block_socket(&mut self, is_blocking: bool) -> io::Result<()> {
        if self.is_blocking != is_blocking {
            self.socket.set_nonblocking(!is_blocking)?;
            self.is_blocking = is_blocking;
        }
        Ok(())
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_a_frame() {
        let mut source = UdpSource::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = source.local_addr().unwrap();
        for datagram in [&b"first"[..], b"", &[7; 3000]] {
            modem.send_to(datagram, address).unwrap();
        }
        let mut out = Vec::new();
        for _ in 0..100 {
            source.read(9, &mut out).unwrap();
            if out.len() == 2 {
                break;
            }
        }
        assert_eq!(out[0].data, &b"first"[..]);
        assert_eq!(out[1].data, vec![7; 3000]);
        assert_eq!(source.empty(), 1);
    }
}
