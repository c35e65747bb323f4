//! A network of a replay's own, with only its loopback interface: port numbers are the same every
//! time, and no other host is reached.
#![allow(unsafe_code)] // interface flags have no safe wrapper

use nix::sched::{CloneFlags, unshare};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

static PROCESS_IS_ISOLATED: AtomicBool = AtomicBool::new(false);

/// Moves this process, while it has one thread, into namespaces of its own, for users who may not
/// do so otherwise. Root needs no such thing: each replay has a network of its own.
///
/// # Errors
/// When the machine does not allow it, or the process has several threads; nothing has changed
/// then.
pub fn enter_process() -> io::Result<()> {
    let (uid, gid) = (nix::unistd::getuid(), nix::unistd::getgid());
    if uid.is_root() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
    // Files keep their owner: the user is itself in there.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    loopback_up()?;
    PROCESS_IS_ISOLATED.store(true, Ordering::Relaxed);
    Ok(())
}

/// Moves the calling thread, and its later children, into a network of its own.
///
/// # Errors
/// When this is not permitted.
pub(super) fn enter_thread() -> io::Result<()> {
    if PROCESS_IS_ISOLATED.load(Ordering::Relaxed) {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWNET)?;
    loopback_up()
}

fn loopback_up() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind(("0.0.0.0", 0))?;
    // SAFETY: zeroes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    let flags = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = i16::try_from(flags).unwrap_or(0);
    // SAFETY: the kernel reads the request and keeps no pointer.
    let failed =
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}
