//! Where a route begins and ends.

use std::fmt;
use std::io;
use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use socket2::Socket;

use crate::net::{SocketOptions, connect, connect_local};

/// An address of a network, or a local link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// Host and port, TCP.
    Network(String),
    /// Path of a Unix socket.
    Local(PathBuf),
}

/// Text that is no endpoint, or no route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// Neither kind of endpoint.
    #[error("{0:?} is neither host:port nor unix:PATH")]
    Endpoint(String),
    /// Without the two endpoints.
    #[error("{0:?} is no route: write LISTEN=TO, for example 0.0.0.0:5008=unix:/run/sle.sock")]
    Route(String),
}

impl Endpoint {
    /// Connects, for at most `timeout` for each address of a host.
    ///
    /// # Errors
    /// The kernel's, of the last address.
    pub(super) fn connect(&self, options: &SocketOptions, timeout: Duration) -> io::Result<Socket> {
        let host = match self {
            Self::Local(path) => return connect_local(path, timeout),
            Self::Network(host) => host,
        };
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in host.to_socket_addrs()? {
            match connect(address, options, timeout) {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl FromStr for Endpoint {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let no = || RouteError::Endpoint(text.to_owned());
        match text.strip_prefix("unix:") {
            Some("") => Err(no()),
            Some(path) => Ok(Self::Local(path.into())),
            None => {
                let (host, port) = text.rsplit_once(':').ok_or_else(no)?;
                match port.parse::<u16>() {
                    Ok(_) if !host.is_empty() => Ok(Self::Network(text.to_owned())),
                    _ => Err(no()),
                }
            }
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(address) => f.write_str(address),
            Self::Local(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A listening end, and where what connects there is led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whoever connects here is the initiator of an association.
    pub listen: Endpoint,
    /// Its responder.
    pub to: Endpoint,
}

impl FromStr for Route {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        let (listen, to) =
            text.split_once('=').ok_or_else(|| RouteError::Route(text.to_owned()))?;
        Ok(Self { listen: listen.parse()?, to: to.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::{Endpoint, Route, RouteError};

    #[test]
    fn routes_are_read_and_written() {
        let route: Route = "[::1]:5008=unix:/run/sle/provider.sock".parse().unwrap();
        assert_eq!(route.listen, Endpoint::Network("[::1]:5008".to_owned()));
        assert_eq!(route.to.to_string(), "unix:/run/sle/provider.sock");
        for wrong in ["", "5008", ":5008", "host:", "host:http", "unix:", "host:70000"] {
            let error = wrong.parse::<Endpoint>().unwrap_err();
            assert_eq!(error, RouteError::Endpoint(wrong.to_owned()));
        }
        assert!(matches!("a:1".parse::<Route>(), Err(RouteError::Route(_))));
    }
}
