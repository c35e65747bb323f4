//! The ports of one configuration, bound.

use super::socket;
use super::tls::{ClientTls, ServerTls, TlsError};
use crate::config::{Config, Listener, PeerGroup, Protocol};
use socket2::Socket;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Reasons why a port cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The port cannot be bound.
    #[error("cannot listen on \"{name}\" {protocol} {address}: {source}")]
    Bind {
        /// The port's name.
        name: String,
        /// `tcp`, `udp`, `sctp`, `websocket`, `peers` or `http`.
        protocol: &'static str,
        /// The address asked for.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// TLS of the port cannot be set up.
    #[error("TLS of \"{name}\": {source}")]
    Tls {
        /// The port's or uplink's name.
        name: String,
        /// The file and its fault.
        source: TlsError,
    },
}

/// Reads the keys and certificates of all ports and uplinks of a configuration, as a start does.
///
/// # Errors
/// All that cannot be used, by port or uplink.
pub fn check_tls(config: &Config) -> Result<(), Vec<PortError>> {
    let failed = |name: &String, source| PortError::Tls { name: name.clone(), source };
    let listeners = config.listeners.iter().filter_map(|listener| {
        let read = ServerTls::read(listener.tls.as_ref()?);
        read.err().map(|source| failed(&listener.name, source))
    });
    let uplinks = config.uplinks.iter().filter_map(|uplink| {
        let read = ClientTls::read(uplink.tls.as_ref()?);
        read.err().map(|source| failed(&uplink.name, source))
    });
    let errors: Vec<PortError> = listeners.chain(uplinks).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

impl PortError {
    fn bind(listener: &Listener, source: io::Error) -> Self {
        let protocol = protocol_name(listener.protocol);
        let (name, address) = (listener.name.clone(), listener.address);
        Self::Bind { name, protocol, address, source }
    }
}

/// Name of a protocol in configurations and announcements.
pub(crate) fn protocol_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
        Protocol::Sctp => "sctp",
        Protocol::WebSocket => "websocket",
    }
}

/// Purpose of an HTTP port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HttpPort {
    Status,
    Upload,
}

impl HttpPort {
    /// Name of its directive.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Status => "HTTPStatus",
            Self::Upload => "HTTPUpload",
        }
    }
}

/// Name of HTTP ports' protocol in announcements.
const HTTP: &str = "http";

/// A bound port.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) socket: Arc<Socket>,
    /// Actual address: the kernel chose the port where the configuration has 0.
    pub(crate) address: SocketAddr,
    /// Whether its socket is IPv6, which may take IPv4 as well.
    pub(crate) is_v6: bool,
}

impl Port {
    fn new(socket: Socket) -> Self {
        let is_v6 = socket.local_addr().is_ok_and(|address| address.is_ipv6());
        Self { address: socket::local(&socket), socket: Arc::new(socket), is_v6 }
    }
}

/// A socket that was bound by the program before this one, or with privileges.
#[derive(Debug)]
pub(crate) struct Inherited {
    /// `protocol_name`, or `peers`.
    pub(crate) protocol: String,
    /// Address as configured.
    pub(crate) address: SocketAddr,
    /// Name as configured.
    pub(crate) name: String,
    /// The listening socket.
    pub(crate) socket: Socket,
}

/// The ports of one configuration. Immutable: a reload makes another one, which shares the sockets
/// that stay.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) config: Arc<Config>,
    /// Ports in the order of `Config::listeners`; `None` for one that could not be bound.
    pub(crate) listeners: Vec<Option<Port>>,
    /// TLS settings in the order of `Config::listeners`.
    pub(crate) tls: Vec<Option<ServerTls>>,
    /// Ports in the order of `Config::peer_groups`.
    pub(crate) groups: Vec<Option<Port>>,
    /// Ports of HTTP that could be bound, with their configured addresses.
    pub(crate) http: Vec<(HttpPort, SocketAddr, Port)>,
}

impl Plan {
    /// Binds the ports of `config`. Unchanged ports are taken from `before`, open ones from
    /// `inherited`. Ports that fail are left out and listed.
    pub(crate) fn new(
        config: Arc<Config>,
        before: Option<&Self>,
        inherited: &mut Vec<Inherited>,
    ) -> (Self, Vec<PortError>) {
        let mut errors = Vec::new();
        let mut plan = Self {
            listeners: Vec::with_capacity(config.listeners.len()),
            tls: Vec::with_capacity(config.listeners.len()),
            groups: Vec::with_capacity(config.peer_groups.len()),
            http: Vec::new(),
            config: Arc::clone(&config),
        };
        for listener in &config.listeners {
            let tls = match listener.tls.as_ref().map(ServerTls::read).transpose() {
                Ok(tls) => Ok(tls),
                Err(source) => Err(PortError::Tls { name: listener.name.clone(), source }),
            };
            let port = tls.and_then(|tls| {
                let kept = before.and_then(|before| before.listener(listener));
                let port = kept.map_or_else(|| bind_listener(listener, inherited), Ok)?;
                // A connection has the settings of the port on which it was accepted.
                if matches!(listener.protocol, Protocol::Tcp | Protocol::Sctp)
                    && let Err(source) =
                        socket::prepare(&port.socket, listener.protocol, config.stale_after)
                {
                    return Err(PortError::bind(listener, source));
                }
                Ok((port, tls))
            });
            let (port, tls) = port.map_or_else(
                |error| {
                    errors.push(error);
                    (None, None)
                },
                |(port, tls)| (Some(port), tls),
            );
            plan.listeners.push(port);
            plan.tls.push(tls);
        }
        for group in &config.peer_groups {
            let kept = before.and_then(|before| before.group(group));
            let port = kept.map_or_else(|| bind_group(group, inherited), Ok);
            plan.groups.push(port.map_err(|error| errors.push(error)).ok());
        }
        let status = config.http_status.iter().map(|address| (HttpPort::Status, *address));
        let upload = config.http_upload.iter().map(|address| (HttpPort::Upload, *address));
        for (kind, address) in status.chain(upload) {
            let kept = before.and_then(|before| before.http(kind, address));
            match kept.map_or_else(|| bind_http(kind, address, inherited), Ok) {
                Ok(port) => plan.http.push((kind, address, port)),
                Err(error) => errors.push(error),
            }
        }
        (plan, errors)
    }

    fn http(&self, kind: HttpPort, address: SocketAddr) -> Option<Port> {
        let is_same = |(of, at, _): &&(HttpPort, SocketAddr, Port)| (*of, *at) == (kind, address);
        self.http.iter().find(is_same).map(|(_, _, port)| port.clone())
    }

    /// The sockets that the HTTP side serves.
    pub(crate) fn http_side(&self) -> Vec<(HttpUse, &Port)> {
        let http = self.http.iter().map(|(kind, _, port)| (HttpUse::Http(*kind), port));
        let listeners = self.config.listeners.iter().zip(&self.listeners);
        let websocket = listeners.filter_map(|(listener, port)| {
            let is_websocket = listener.protocol == Protocol::WebSocket;
            let port = port.as_ref().filter(|_| is_websocket)?;
            Some((HttpUse::WebSocket(Arc::clone(listener)), port))
        });
        http.chain(websocket).collect()
    }

    /// Index of another configuration's port in this plan.
    pub(crate) fn index_of(&self, listener: &Listener) -> Option<usize> {
        self.config.listeners.iter().position(|ours| is_same(ours, listener))
    }

    fn listener(&self, listener: &Listener) -> Option<Port> {
        self.index_of(listener).and_then(|index| self.listeners[index].clone())
    }

    fn group(&self, group: &PeerGroup) -> Option<Port> {
        let is_same = |ours: &Arc<PeerGroup>| ours.name == group.name && ours.local == group.local;
        let index = self.config.peer_groups.iter().position(is_same)?;
        self.groups[index].clone()
    }

    /// Listeners that were bound, with their actual addresses.
    pub(crate) fn listening(&self) -> Vec<(Arc<Listener>, SocketAddr)> {
        let listeners = self.config.listeners.iter().zip(&self.listeners);
        let bound = |(listener, port): (&Arc<Listener>, &Option<Port>)| {
            Some((Arc::clone(listener), port.as_ref()?.address))
        };
        listeners.filter_map(bound).collect()
    }

    /// Every bound port: name, protocol's name, configured address, port.
    pub(crate) fn bound(&self) -> impl Iterator<Item = (&str, &'static str, SocketAddr, &Port)> {
        let listeners = self.config.listeners.iter().zip(&self.listeners);
        let listeners = listeners.filter_map(|(listener, port)| {
            let name = protocol_name(listener.protocol);
            Some((listener.name.as_str(), name, listener.address, port.as_ref()?))
        });
        let groups = self.config.peer_groups.iter().zip(&self.groups);
        let groups = groups.filter_map(|(group, port)| {
            Some((group.name.as_str(), "peers", group.local, port.as_ref()?))
        });
        let http = self.http.iter();
        let http = http.map(|(kind, address, port)| (kind.name(), HTTP, *address, port));
        listeners.chain(groups).chain(http)
    }
}

/// Use of a socket by the HTTP side.
#[derive(Clone, Debug)]
pub(crate) enum HttpUse {
    Http(HttpPort),
    /// Clients of this listener.
    WebSocket(Arc<Listener>),
}

/// Two configurations mean the same port.
fn is_same(one: &Listener, other: &Listener) -> bool {
    one.protocol == other.protocol && one.address == other.address && one.name == other.name
}

fn bind_listener(listener: &Listener, inherited: &mut Vec<Inherited>) -> Result<Port, PortError> {
    let protocol = protocol_name(listener.protocol);
    bind(&listener.name, protocol, listener.address, inherited, || match listener.protocol {
        Protocol::Udp => socket::datagrams(listener.address),
        protocol => socket::listen(protocol, listener.address),
    })
}

fn bind_group(group: &PeerGroup, inherited: &mut Vec<Inherited>) -> Result<Port, PortError> {
    bind(&group.name, "peers", group.local, inherited, || socket::datagrams(group.local))
}

fn bind_http(
    kind: HttpPort,
    address: SocketAddr,
    inherited: &mut Vec<Inherited>,
) -> Result<Port, PortError> {
    bind(kind.name(), HTTP, address, inherited, || socket::listen(Protocol::Tcp, address))
}

fn bind(
    name: &str,
    protocol: &'static str,
    address: SocketAddr,
    inherited: &mut Vec<Inherited>,
    new: impl Fn() -> io::Result<Socket>,
) -> Result<Port, PortError> {
    // A renamed port is the same socket; with port 0 only the name tells which it is.
    let is_same = |one: &Inherited| {
        one.protocol == protocol
            && one.address == address
            && (address.port() != 0 || one.name == name)
    };
    if let Some(index) = inherited.iter().position(is_same) {
        return Ok(Port::new(inherited.remove(index).socket));
    }
    let name = name.to_owned();
    new().map(Port::new).map_err(|source| PortError::Bind { name, protocol, address, source })
}
