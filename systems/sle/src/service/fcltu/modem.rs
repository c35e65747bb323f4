//! Destination of radiated CLTUs.

use std::io;
use std::net::{SocketAddr, UdpSocket};

/// A sink of CLTUs. Its bit rate is the radiation's business.
#[derive(Debug)]
pub enum Modem {
    /// No destination: CLTUs are discarded.
    Discard,
    /// One datagram each, as a modem takes them.
    Udp(UdpSocket),
}

impl Modem {
    /// A modem that takes datagrams at an address.
    ///
    /// # Errors
    /// The system's, where no socket is to be had or the address is none to send to.
    pub fn udp(to: SocketAddr) -> io::Result<Self> {
        let any: SocketAddr = match to {
            SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
            SocketAddr::V6(_) => ([0u16; 8], 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(to)?;
        Ok(Self::Udp(socket))
    }

    /// Gives it a CLTU.
    ///
    /// # Errors
    /// The system's: nobody listens, or a CLTU longer than a datagram (65,507 octets).
    pub fn radiate(&self, cltu: &[u8]) -> io::Result<()> {
        match self {
            Self::Discard => Ok(()),
            Self::Udp(socket) => socket.send(cltu).map(|_| ()),
        }
    }
}
