//! Waiting for a socket, a wake-up from another thread, and an instant, whichever comes first.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;

/// Wakes a thread that waits.
#[derive(Debug)]
pub(crate) struct Waker(EventFd);

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        Ok(Self(EventFd::from_value_and_flags(0, flags)?))
    }

    /// Wakes it, or whoever waits next.
    pub(crate) fn wake(&self) {
        // The one way to fail is a counter near 2^64, and then it is awake.
        let _ = self.0.write(1);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Readiness of a socket to be read. A write finds out itself whether there is space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SocketReadiness {
    /// Octets, the end, or an error.
    pub(super) readable: bool,
    /// An urgent octet, in front of which there may be others.
    pub(super) urgent: bool,
}

/// Events that a thread waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SocketInterest {
    pub(super) read: bool,
    pub(super) write: bool,
}

/// Waits. `until_ns` is on the monotonic clock; `None` waits for ever. Errors and the end of a
/// connection make it readable whatever the interest.
pub(super) fn wait(
    socket: &impl AsFd,
    waker: &Waker,
    interest: SocketInterest,
    now_ns: u64,
    until_ns: Option<u64>,
) -> io::Result<SocketReadiness> {
    let mut events = PollFlags::POLLPRI;
    events.set(PollFlags::POLLIN, interest.read);
    events.set(PollFlags::POLLOUT, interest.write);
    let mut descriptors =
        [PollFd::new(socket.as_fd(), events), PollFd::new(waker.0.as_fd(), PollFlags::POLLIN)];
    let timeout = until_ns.map(|ns| {
        let left_ns = ns.saturating_sub(now_ns);
        // Years are enough; whoever waits looks at the clock again.
        let seconds = i64::from(u32::try_from(left_ns / 1_000_000_000).unwrap_or(u32::MAX));
        TimeSpec::new(seconds, i64::from(u32::try_from(left_ns % 1_000_000_000).unwrap_or(0)))
    });
    match ppoll(&mut descriptors, timeout, None) {
        Ok(_) => {}
        Err(Errno::EINTR) => return Ok(SocketReadiness::default()),
        Err(error) => return Err(error.into()),
    }
    let of_socket = descriptors[0].revents().unwrap_or(PollFlags::empty());
    let woken = descriptors[1].revents().is_some_and(|flags| !flags.is_empty());
    if woken {
        // Its count does not matter, and another thread's wake-up may have been read already.
        let _ = waker.0.read();
    }
    let ended = PollFlags::POLLERR | PollFlags::POLLHUP | PollFlags::POLLNVAL;
    Ok(SocketReadiness {
        readable: of_socket.intersects(PollFlags::POLLIN | ended),
        urgent: of_socket.contains(PollFlags::POLLPRI),
    })
}
