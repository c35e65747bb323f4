//! Client of one target, of any kind.

use super::deadline::{Deadline, Loss, ProbeResult, loss_of, resolve};
use super::stream::{self, Connection};
use super::{Peer, Target, dns, echo, exec, ftp, http, icmp, rpc, snmp};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// Options of a client's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeOptions {
    /// Size of a request, in octets, where the kind leaves it open (udp, tcp); within
    /// [[`echo::OCTETS_MIN`], [`echo::OCTETS_MAX`]].
    pub octets: usize,
    /// A reply later than this counts as lost.
    pub timeout: Duration,
}

impl Default for ProbeOptions {
    /// 64 octets, one second.
    fn default() -> Self {
        Self { octets: 64, timeout: Duration::from_secs(1) }
    }
}

/// A client. Nothing is sent before the first request: names, routes and connections are made in
/// the first round trip, and are part of it. Calls block, because the time is the measurement.
#[derive(Debug)]
pub struct Prober {
    target: Target,
    options: ProbeOptions,
    client: Option<Client>,
    connections: u64,
    loss: Option<Loss>,
}

/// Client that is ready for a request.
#[derive(Debug)]
enum Client {
    Udp(Box<echo::Client>),
    Tcp(Box<echo::Stream>),
    Connect(SocketAddr),
    Http(Box<http::Client>),
    Dns(Box<dns::Client>),
    Snmp(Box<snmp::Client>),
    Ftp(Box<ftp::Client>),
    Rpc(Box<rpc::Client>),
    Icmp(Box<icmp::Client>),
    Exec(Box<exec::Client>),
}

impl Prober {
    /// A client of `target`.
    #[must_use]
    pub const fn new(target: Target, options: ProbeOptions) -> Self {
        Self { target, options, client: None, connections: 0, loss: None }
    }

    /// Target of the client.
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

    /// Reason why the last round trip was lost; `None` when its reply came.
    #[must_use]
    pub const fn loss(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    /// Duration of the last round trip as the target's own program measured it, in nanoseconds,
    /// where there is one that does.
    #[must_use]
    pub fn reported_ns(&self) -> Option<u64> {
        match &self.client {
            Some(Client::Exec(client)) => client.reported_ns(),
            _ => None,
        }
    }

    /// Starts the program of an `exec` target, which is no part of any round trip; the first to be
    /// asked does it else. Does nothing for the other kinds.
    ///
    /// # Errors
    /// When it cannot be started, or does not get ready.
    pub fn prepare(&mut self) -> io::Result<()> {
        if let (Target::Exec(line), None) = (&self.target, &self.client) {
            let words = exec::words(line)
                .map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
            self.client = Some(Client::Exec(Box::new(exec::Client::start(&words)?)));
        }
        Ok(())
    }

    /// Payload octets of one request: the requested size, or the size of the kind.
    #[must_use]
    pub fn octets(&self) -> usize {
        match &self.target {
            Target::Udp(_) | Target::Tcp(_) => {
                self.options.octets.clamp(echo::OCTETS_MIN, echo::OCTETS_MAX)
            }
            Target::Connect(_) | Target::Exec(_) => 0,
            Target::Http(peer, path) => http::request(peer, path).len(),
            Target::Dns(_, name) => dns::query(name).map_or(0, |query| query.len()),
            Target::Snmp(_, community) => snmp::octets(community),
            Target::Ftp(_, path) => "RETR \r\n".len() + path.len(),
            Target::Rpc(..) => rpc::CALL_OCTETS,
            Target::Icmp(_) => icmp::octets(self.options.octets),
        }
    }

    /// Makes one round trip, which is never repeated; `false` when it is lost: [`Self::loss`] gives
    /// the reason.
    ///
    /// # Errors
    /// Errors of this host, not of the peer: a name without an address, no permission, no more
    /// sockets.
    pub fn ask(&mut self) -> io::Result<bool> {
        self.loss = self.probe()?.err();
        Ok(self.loss.is_none())
    }

    fn probe(&mut self) -> io::Result<ProbeResult> {
        self.prepare()?;
        let deadline = Deadline::after(self.options.timeout);
        if self.client.as_ref().is_some_and(|client| !client.is_usable()) {
            self.client = None;
        }
        let client = match &mut self.client {
            Some(client) => client,
            none => match Client::open(&self.target, self.options, deadline)? {
                Ok(client) => {
                    self.connections += u64::from(self.target.keeps_connection());
                    none.insert(client)
                }
                Err(loss) => return Ok(Err(loss)),
            },
        };
        let (result, stays) = client.probe(deadline)?;
        if matches!(client, Client::Connect(_)) {
            self.connections += u64::from(result.is_ok());
        }
        if !stays {
            self.client = None;
        }
        Ok(result)
    }
}

impl Client {
    /// Makes ready what stays: the address, the socket, the connection.
    fn open(
        target: &Target,
        options: ProbeOptions,
        deadline: Deadline,
    ) -> io::Result<Result<Self, Loss>> {
        let ProbeOptions { octets, timeout } = options;
        let address = |peer: &Peer| resolve(&peer.host, peer.port, deadline);
        Ok(Ok(match target {
            Target::Udp(peer) => {
                let server = address(peer)?;
                let client = echo::Client::new(udp_socket(server)?, server, octets, timeout)?;
                Self::Udp(Box::new(client))
            }
            Target::Tcp(peer) => match Connection::open(address(peer)?, deadline) {
                Ok(connection) => Self::Tcp(Box::new(echo::Stream::new(connection, octets))),
                Err(error) => return Ok(Err(loss_of(error)?)),
            },
            Target::Http(peer, path) => match Connection::open(address(peer)?, deadline) {
                Ok(connection) => {
                    let request = http::request(peer, path);
                    Self::Http(Box::new(http::Client::new(connection, request)))
                }
                Err(error) => return Ok(Err(loss_of(error)?)),
            },
            Target::Connect(peer) => Self::Connect(address(peer)?),
            Target::Dns(peer, name) => {
                let query = dns::query(name)
                    .map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
                Self::Dns(Box::new(dns::Client::new(connected(address(peer)?)?, query)))
            }
            Target::Snmp(peer, community) => {
                Self::Snmp(Box::new(snmp::Client::new(connected(address(peer)?)?, community)))
            }
            Target::Ftp(peer, path) => {
                let server = address(peer)?;
                match Connection::open(server, deadline) {
                    Ok(control) => {
                        Self::Ftp(Box::new(ftp::Client::new(control, server.ip(), path)))
                    }
                    Err(error) => return Ok(Err(loss_of(error)?)),
                }
            }
            Target::Rpc(peer, program) => {
                let mut server = address(peer)?;
                if peer.port == rpc::PORT_MAPPER {
                    match rpc::port(connected(server)?, *program, deadline)? {
                        Ok(port) => server.set_port(port),
                        Err(loss) => return Ok(Err(loss)),
                    }
                }
                Self::Rpc(Box::new(rpc::Client::new(connected(server)?, *program)))
            }
            Target::Icmp(host) => {
                let host = resolve(host, 0, deadline)?.ip();
                Self::Icmp(Box::new(icmp::Client::open(host, octets)?))
            }
            Target::Exec(_) => unreachable!("prepared before"),
        }))
    }

    /// Whether another request may be sent by it.
    fn is_usable(&self) -> bool {
        match self {
            Self::Tcp(client) => client.is_fresh(),
            Self::Http(client) => client.is_fresh(),
            Self::Ftp(client) => client.is_fresh(),
            _ => true,
        }
    }

    /// One request and its reply; and whether the client can be used again.
    fn probe(&mut self, deadline: Deadline) -> io::Result<(ProbeResult, bool)> {
        let result = match self {
            Self::Udp(client) => client.probe()?,
            Self::Connect(address) => stream::connect(*address, deadline)?,
            Self::Dns(client) => client.probe(deadline)?,
            Self::Snmp(client) => client.probe(deadline)?,
            Self::Icmp(client) => client.probe(deadline)?,
            Self::Exec(client) => client.probe(deadline)?,
            Self::Http(client) => return client.probe(deadline),
            Self::Ftp(client) => return client.probe(deadline),
            Self::Rpc(client) => client.probe(deadline)?,
            Self::Tcp(client) => {
                let result = client.probe(deadline)?;
                let stays = result.is_ok();
                return Ok((result, stays));
            }
        };
        Ok((result, true))
    }
}

/// A socket of the same family as `peer`.
fn udp_socket(peer: SocketAddr) -> io::Result<UdpSocket> {
    match peer {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)),
    }
}

/// A socket that takes datagrams from `peer` only.
fn connected(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = udp_socket(peer)?;
    socket.connect(peer)?;
    Ok(socket)
}
