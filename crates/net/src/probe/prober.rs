//! One client of one target, of whatever kind.

use super::deadline::{Came, Deadline, Loss, resolve};
use super::stream::{self, Connection};
use super::{Target, echo};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// How it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asking {
    /// Size of a request, in octets, where the kind leaves it open (udp, tcp); within
    /// [[`echo::OCTETS_MIN`], [`echo::OCTETS_MAX`]].
    pub octets: usize,
    /// A reply that comes later is lost.
    pub timeout: Duration,
}

impl Default for Asking {
    /// 64 octets, one second.
    fn default() -> Self {
        Self { octets: 64, timeout: Duration::from_secs(1) }
    }
}

/// A client. Nothing is sent before it is first asked: names, routes and connections are made in
/// the first round trip, and are part of it. Blocking: what it measures is time.
#[derive(Debug)]
pub struct Prober {
    target: Target,
    asking: Asking,
    client: Option<Client>,
    connections: u64,
    loss: Option<Loss>,
}

/// What is ready to be asked.
#[derive(Debug)]
enum Client {
    Udp(Box<echo::Client>),
    Tcp(Box<echo::Stream>),
    Connect(SocketAddr),
}

impl Prober {
    /// A client of `target`.
    #[must_use]
    pub const fn new(target: Target, asking: Asking) -> Self {
        Self { target, asking, client: None, connections: 0, loss: None }
    }

    /// What it asks.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Connections made so far, of kinds that have one. More than one where it is kept: the other
    /// side closed it, or a reply was lost; the round trip after that has the making of it in it.
    #[must_use]
    pub const fn connections(&self) -> u64 {
        self.connections
    }

    /// Why the last round trip was lost; `None` when its reply came.
    #[must_use]
    pub const fn loss(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    /// One round trip, never repeated; `false` when it is lost: [`Self::loss`] says why.
    ///
    /// # Errors
    /// What is wrong here, as opposed to there: a name without an address, no permission, no
    /// more sockets.
    pub fn ask(&mut self) -> io::Result<bool> {
        self.loss = self.came()?.err();
        Ok(self.loss.is_none())
    }

    fn came(&mut self) -> io::Result<Came> {
        let deadline = Deadline::after(self.asking.timeout);
        let client = match &mut self.client {
            Some(client) => client,
            none => match Client::open(&self.target, self.asking, deadline)? {
                Ok(client) => {
                    self.connections += u64::from(matches!(client, Client::Tcp(_)));
                    none.insert(client)
                }
                Err(loss) => return Ok(Err(loss)),
            },
        };
        match client {
            Client::Udp(client) => client.came(),
            Client::Connect(address) => {
                let came = stream::connect(*address, deadline)?;
                self.connections += u64::from(came.is_ok());
                Ok(came)
            }
            Client::Tcp(client) => {
                let came = client.came(deadline)?;
                if came.is_err() {
                    self.client = None;
                }
                Ok(came)
            }
        }
    }
}

impl Client {
    /// Makes ready what stays: the address, the socket, the connection.
    fn open(target: &Target, asking: Asking, deadline: Deadline) -> io::Result<Result<Self, Loss>> {
        Ok(Ok(match target {
            Target::Udp(peer) => {
                let server = resolve(&peer.host, peer.port, deadline)?;
                let socket = udp_socket(server)?;
                let client = echo::Client::new(socket, server, asking.octets, asking.timeout)?;
                Self::Udp(Box::new(client))
            }
            Target::Tcp(peer) => {
                let server = resolve(&peer.host, peer.port, deadline)?;
                match Connection::open(server, deadline) {
                    Ok(connection) => {
                        Self::Tcp(Box::new(echo::Stream::new(connection, asking.octets)))
                    }
                    Err(error) => return Ok(Err(super::deadline::loss_of(error)?)),
                }
            }
            Target::Connect(peer) => Self::Connect(resolve(&peer.host, peer.port, deadline)?),
        }))
    }
}

/// A socket of the same family as `peer`.
fn udp_socket(peer: SocketAddr) -> io::Result<UdpSocket> {
    match peer {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)),
    }
}
