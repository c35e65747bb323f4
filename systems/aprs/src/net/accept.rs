//! Taking connections: bursts of them, refused ones, and what to do when there is no descriptor
//! left.

use super::socket;
use super::sockets::{Arrival, Origin};
use super::worker::{Worker, now};
use crate::engine::LogLevel;
use chronoscope_clock as clock;
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// Connections that are taken from one port before others have their turn.
const PER_ROUND: usize = 128;

/// Pause before the next try when descriptors or memory are short; connections keep waiting in the
/// kernel.
const AFTER_FAILURE_NS: u64 = 100_000_000;

/// Name of the fault for failures to accept.
const FAULT: &str = "accept_failed";

/// Takes connections of a port. Whether there may be more.
pub(super) fn round(worker: &mut Worker, listener: usize, socket: &Socket) -> bool {
    if worker.accept_from_ns.is_some() {
        return true;
    }
    let shared = Arc::clone(&worker.sockets.shared);
    for _ in 0..PER_ROUND {
        match socket.accept4(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) {
            Ok((connected, remote)) => {
                shared.accepting(true);
                let Some(remote) = remote.as_socket() else { continue };
                take(worker, listener, connected, socket::canonical(remote));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) if was_the_clients_fault(&error) => {}
            Err(error) => {
                if shared.accepting(false) {
                    let text = format!("connections cannot be accepted: {error}");
                    (shared.log)(LogLevel::Error, format_args!("{text}; trying again"));
                    shared.server.fault(FAULT, &text, now());
                }
                worker.accept_from_ns = Some(clock::monotonic_ns() + AFTER_FAILURE_NS);
                return true;
            }
        }
    }
    true
}

/// The connection failed before it was accepted: the next one may be there.
fn was_the_clients_fault(error: &io::Error) -> bool {
    let of_network = [
        libc::ENETDOWN,
        libc::EPROTO,
        libc::ENOPROTOOPT,
        libc::EHOSTDOWN,
        libc::ENONET,
        libc::EHOSTUNREACH,
        libc::EOPNOTSUPP,
        libc::ENETUNREACH,
        libc::EPERM,
    ];
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted)
        || error.raw_os_error().is_some_and(|code| of_network.contains(&code))
}

fn take(worker: &mut Worker, index: usize, socket: Socket, remote: std::net::SocketAddr) {
    let shared = Arc::clone(&worker.sockets.shared);
    let listener = Arc::clone(&worker.sockets.plan.config.listeners[index]);
    if listener.acl.as_ref().is_some_and(|acl| !acl.allows(remote.ip())) {
        shared.server.refused(index);
        let line = format_args!("{}: {remote} may not connect: access list", listener.name);
        return (shared.log)(LogLevel::Info, line);
    }
    let arrival = Arrival {
        conn: shared.server.next_conn(),
        local: socket::local(&socket),
        socket,
        origin: Origin::Client(listener),
        remote,
    };
    match shared.least_loaded() {
        0 => worker.arrived(arrival),
        other => shared.give(other, arrival),
    }
}
