//! System calls that no crate wraps safely.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Octets in the send queue of a stream: those not acknowledged by the other host, and those not
/// sent yet. 0 where the kernel does not say.
pub(crate) fn send_queue_bytes(fd: &impl AsRawFd) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request (SIOCOUTQ is TIOCOUTQ) writes one int, which lives until the call is over.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == 0 { usize::try_from(bytes).unwrap_or(0) } else { 0 }
}

/// Takes a descriptor that the program before this one left open in a live upgrade.
///
/// # Errors
/// When no file is open under this number.
pub(crate) fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: asking for the flags of any number is sound; a closed one is an error.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: setting the flag touches no memory. Children of this program must not have the
    // descriptor.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, flags | libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and the program that left it open says in its file that it is for us
    // alone; nothing in this program opened it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets whether a descriptor stays open in the program that takes this one's place.
///
/// # Errors
/// Error of the system.
pub(crate) fn keep_across_exec(fd: &impl AsRawFd, keep: bool) -> io::Result<()> {
    let flags = if keep { 0 } else { libc::FD_CLOEXEC };
    // SAFETY: the descriptor is open as long as its owner is borrowed; the call touches no memory.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::IntoRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn the_queue_is_what_the_other_side_has_not_read() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        assert_eq!(send_queue_bytes(&ours), 0);
        ours.write_all(b"0123456789").unwrap();
        assert!(send_queue_bytes(&ours) >= 10);
        theirs.read_exact(&mut [0; 10]).unwrap();
        assert_eq!(send_queue_bytes(&ours), 0);
    }

    #[test]
    fn an_inherited_descriptor_is_open_or_refused() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut ours = UnixStream::from(inherited(ours.into_raw_fd()).unwrap());
        ours.write_all(b"x").unwrap();
        theirs.read_exact(&mut [0]).unwrap();
        assert!(inherited(1_000_000).is_err());
    }
}
