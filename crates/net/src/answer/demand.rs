//! Server on demand: started by its first request, and ended when no request comes for a time.
//!
//! One process keeps the port and only waits. When something arrives, it starts the answering
//! program, with the connections as its standard input and the datagrams as its standard output (as
//! `inetd` does it, with both), and waits for its end. Requests that arrived meanwhile are in the
//! sockets and are answered, the first one late by the start of the program: this is the activation
//! time that the document measured.

use super::{AnswerError, Sockets};
use chronoscope_clock as clock;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval between two checks for the program's end.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Pause after the program could not be started.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Starts `program` whenever something has arrived, until `stop` is set. Returns the number of
/// starts. `told` is called at each start.
///
/// # Errors
/// When the program cannot be started, or the sockets cannot be waited for.
pub fn on_demand(
    sockets: &Sockets,
    program: &mut dyn FnMut() -> Command,
    stop: &AtomicBool,
    told: &mut dyn FnMut(u64),
) -> Result<u64, AnswerError> {
    let mut starts = 0;
    while !stop.load(Ordering::Relaxed) {
        if !has_come(sockets)? {
            continue;
        }
        let mut child = program()
            .stdin(Stdio::from(OwnedFd::from(sockets.tcp.try_clone()?)))
            .stdout(Stdio::from(OwnedFd::from(sockets.udp.try_clone()?)))
            .spawn()?;
        starts += 1;
        told(starts);
        if !is_well(&mut child, stop)? && !stop.load(Ordering::Relaxed) {
            clock::sleep(RETRY_AFTER);
        }
    }
    Ok(starts)
}

/// Waits for a while; whether a datagram or a connection has come.
fn has_come(sockets: &Sockets) -> io::Result<bool> {
    let mut fds = [
        PollFd::new(sockets.udp.as_fd(), PollFlags::POLLIN),
        PollFd::new(sockets.tcp.as_fd(), PollFlags::POLLIN),
    ];
    let wait = u16::try_from(LOOK_EVERY.as_millis()).unwrap_or(u16::MAX);
    match poll(&mut fds, PollTimeout::from(wait)) {
        Ok(count) => Ok(count > 0),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Waits for the end of a program, which comes with `stop`; whether it ended well.
fn is_well(child: &mut Child, stop: &AtomicBool) -> io::Result<bool> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if stop.load(Ordering::Relaxed) {
            // It may have ended just now; then there is nothing to be killed.
            let _ = child.kill();
            return Ok(child.wait()?.success());
        }
        clock::sleep(LOOK_EVERY);
    }
}

/// The sockets that a program got from [`on_demand`].
///
/// # Errors
/// When standard input and output are none.
pub fn given() -> Result<Sockets, AnswerError> {
    let tcp = TcpListener::from(io::stdin().as_fd().try_clone_to_owned()?);
    let udp = UdpSocket::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (one, other) = (tcp.local_addr()?, udp.local_addr()?);
    if one != other {
        let why = format!("standard input listens on {one} and standard output on {other}");
        return Err(io::Error::other(why).into());
    }
    Ok(Sockets { udp, tcp })
}
