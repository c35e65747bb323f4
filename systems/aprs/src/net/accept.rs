//! Taking connections: bursts of them, refused ones, and what to do when there is no descriptor
//! left.

use super::arrival::{Arrival, Origin};
use super::plan::Plan;
use super::socket;
use super::threads::Threads;
use crate::clock::now;
use crate::engine::LogLevel;
use chronoscope_clock as clock;
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;

/// Connections that are taken from one port before others have their turn.
const PER_ROUND: usize = 128;

/// Pause before the next try when descriptors or memory are short; connections keep waiting in the
/// kernel.
const AFTER_FAILURE_NS: u64 = 100_000_000;

/// Name of the fault for failures to accept.
const FAULT: &str = "accept_failed";

/// Result of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    /// No connection waits any more.
    All,
    /// There may be more.
    More,
    /// Descriptors or memory are short: there may be more from this instant on, monotonic.
    Failed {
        /// Time of the next attempt on the monotonic clock, in nanoseconds.
        again_ns: u64,
    },
}

/// Takes connections of a port: `arrived` gets those that this worker is to serve.
pub(super) fn round(
    threads: &Threads,
    plan: &Plan,
    listener: usize,
    socket: &Socket,
    mut arrived: impl FnMut(Arrival),
) -> Accepted {
    for _ in 0..PER_ROUND {
        match socket.accept4(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) {
            Ok((connected, remote)) => {
                threads.accepting(true);
                let Some(remote) = remote.as_socket() else { continue };
                take(threads, plan, listener, connected, socket::canonical(remote), &mut arrived);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Accepted::All,
            Err(error) if was_the_clients_fault(&error) => {}
            Err(error) => {
                if threads.accepting(false) {
                    let text = format!("connections cannot be accepted: {error}");
                    (threads.log)(LogLevel::Error, format_args!("{text}; trying again"));
                    threads.server.fault(FAULT, &text, now());
                }
                return Accepted::Failed { again_ns: clock::monotonic_ns() + AFTER_FAILURE_NS };
            }
        }
    }
    Accepted::More
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

fn take(
    threads: &Threads,
    plan: &Plan,
    index: usize,
    socket: Socket,
    remote: SocketAddr,
    arrived: &mut impl FnMut(Arrival),
) {
    let listener = Arc::clone(&plan.config.listeners[index]);
    if listener.acl.as_ref().is_some_and(|acl| !acl.allows(remote.ip())) {
        threads.server.refused(index);
        let line = format_args!("{}: {remote} may not connect: access list", listener.name);
        return (threads.log)(LogLevel::Info, line);
    }
    let arrival = Arrival {
        conn: threads.server.next_conn(),
        local: socket::local(&socket),
        socket,
        origin: Origin::Client(listener),
        remote,
    };
    match threads.least_loaded() {
        0 => arrived(arrival),
        other => threads.give(other, arrival),
    }
}
