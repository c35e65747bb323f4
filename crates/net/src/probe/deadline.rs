//! Deadlines of replies, and reasons of lost round trips.

use chronoscope_clock as clock;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// Reason why a round trip is lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// No reply arrived in time.
    Late,
    /// The host reports that the port is closed.
    Refused,
    /// The network reports that the host is unreachable.
    Unreachable,
    /// The connection was closed before the reply was complete.
    Closed,
    /// A whole reply arrived that reports a failure, with its text.
    Denied(String),
    /// The reply is invalid: the fault, and its octet where that is known.
    Wrong(String),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late => f.write_str("no reply in time"),
            Self::Refused => f.write_str("refused: no program listens on this port"),
            Self::Unreachable => f.write_str("the network reports: unreachable"),
            Self::Closed => f.write_str("closed before the reply was complete"),
            Self::Denied(what) => write!(f, "answered with {what}"),
            Self::Wrong(what) => write!(f, "malformed reply: {what}"),
        }
    }
}

/// Result of one request: the whole reply arrived, or the reason of the loss. It excludes errors of
/// this host.
pub(crate) type ProbeResult = Result<(), Loss>;

/// The loss that `error` of a socket reports about the peer.
///
/// # Errors
/// The same error, when it is one of this host.
pub(crate) fn loss_of(error: io::Error) -> io::Result<Loss> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(Loss::Late),
        ErrorKind::ConnectionRefused => Ok(Loss::Refused),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            Ok(Loss::Unreachable)
        }
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::NotConnected
        | ErrorKind::UnexpectedEof => Ok(Loss::Closed),
        _ => Err(error),
    }
}

/// Time until which something is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(u64);

impl Deadline {
    /// Deadline in `timeout` from now.
    pub(crate) fn after(timeout: Duration) -> Self {
        let ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        Self(clock::monotonic_ns().saturating_add(ns))
    }

    /// Remaining time; `None` when it has passed. Never zero, which sockets take for "for ever".
    pub(crate) fn left(self) -> Option<Duration> {
        let left_ns = self.0.saturating_sub(clock::monotonic_ns());
        (left_ns > 0).then(|| Duration::from_nanos(left_ns.max(1000)))
    }
}

/// Address of `host`. A name is looked up in a thread of its own, because the system's resolver may
/// take much longer than the deadline.
///
/// # Errors
/// [`ErrorKind::NotFound`] when there is no such name, or it was not found in time.
pub(crate) fn resolve(host: &str, port: u16, deadline: Deadline) -> io::Result<SocketAddr> {
    if let Ok(address) = host.parse() {
        return Ok(SocketAddr::new(address, port));
    }
    let unknown = |why: String| io::Error::new(ErrorKind::NotFound, why);
    let (sender, receiver) = std::sync::mpsc::channel();
    let name = host.to_owned();
    std::thread::Builder::new().name("resolve".to_owned()).spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(|mut all| all.next());
        // The receiver is gone after the deadline; then the result is not needed.
        let _ = sender.send(found);
    })?;
    let left = deadline.left().unwrap_or_default();
    match receiver.recv_timeout(left) {
        Ok(Ok(Some(address))) => Ok(address),
        Ok(Ok(None)) => Err(unknown(format!("{host} has no address"))),
        Ok(Err(error)) => Err(unknown(format!("{host} cannot be looked up: {error}"))),
        Err(_) => Err(unknown(format!("{host}: no name server answered within {left:.1?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_no_name_server_and_a_name_may_have_none() {
        let soon = Deadline::after(Duration::from_millis(300));
        assert_eq!(resolve("::1", 7, soon).unwrap(), "[::1]:7".parse().unwrap());
        let error = resolve("no-such-host.invalid", 7, soon).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().starts_with("no-such-host.invalid"), "{error}");
    }

    #[test]
    fn errors_of_the_peer_are_losses_and_those_of_this_host_are_not() {
        let of = |kind: ErrorKind| loss_of(io::Error::from(kind));
        assert_eq!(of(ErrorKind::ConnectionReset).unwrap(), Loss::Closed);
        assert_eq!(of(ErrorKind::WouldBlock).unwrap(), Loss::Late);
        assert_eq!(of(ErrorKind::NetworkUnreachable).unwrap(), Loss::Unreachable);
        assert_eq!(
            of(ErrorKind::PermissionDenied).unwrap_err().kind(),
            ErrorKind::PermissionDenied
        );
    }
}
