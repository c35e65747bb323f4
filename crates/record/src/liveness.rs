//! Whether the process that writes a ring still runs.
//!
//! The process holds a lock on the first byte of its ring (`F_OFD_SETLK`, fcntl(2)). The lock
//! belongs to the open file and not to the process or to a descriptor: it lasts as long as the file
//! is mapped in any process. A program that closes all descriptors keeps it, and it goes with the
//! last mapping, however the program ends. A reader queries it by the file alone. That is right in
//! every PID namespace, where a process number is not: a number of another namespace means another
//! process or none.
//!
//! A forked child inherits the mapping and with it the lock of its parent's ring. Where the number
//! is reliable ([`number_tells`]) the parent is known to have ended all the same; elsewhere its
//! ring counts as alive until the child ends. In doubt a ring counts as alive: removing the ring of
//! a living process loses rows, and keeping that of an ended process only takes room.
#![allow(unsafe_code)] // fcntl

use crate::layout::Header;
use crate::os;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

/// The lock of one byte at the start of the file.
#[allow(clippy::cast_possible_truncation)] // the constants are below 3
fn first_byte() -> libc::flock {
    // SAFETY: all zeroes is a lock that asks for nothing.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_len = 1;
    lock
}

/// Takes the lock of a ring that no other process has.
///
/// # Errors
/// When the file system has no such locks, or another process holds it.
pub(crate) fn hold(file: &File) -> io::Result<()> {
    let lock = first_byte();
    // SAFETY: reads `lock`, which lives through the call.
    let failed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether somebody holds the lock. Asks only: a reader that took it would look like a writer.
fn is_held(file: &File) -> io::Result<bool> {
    let mut lock = first_byte();
    // SAFETY: writes `lock`, which lives through the call.
    let failed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}

/// Whether the process that writes `file`, a ring with this header, still runs.
pub(crate) fn is_alive(file: &File, header: &Header) -> bool {
    let runs = || os::process_start(header.pid) == Some((header.start_time, true));
    if header.version < 2 {
        // The ring has neither the namespace of its process number nor a lock.
        return runs();
    }
    let number_tells = || number_tells(file, header.pid_namespace);
    match (header.locked != 0).then(|| is_held(file)) {
        Some(Ok(false)) => false,
        Some(Ok(true) | Err(_)) | None => !number_tells() || runs(),
    }
}

/// Whether the process that writes `file`, a ring with this header, has ended for certain, wherever
/// it ran: the file is in this machine's memory, where everybody sees the same locks, and nobody
/// holds the one that the process took. On a disk that is no proof: it may be another machine's too.
pub(crate) fn has_ended_here(file: &File, header: &Header) -> bool {
    header.version >= 2
        && header.locked != 0
        && os::is_in_memory(file)
        && matches!(is_held(file), Ok(false))
}

/// Whether a process number of this namespace can be looked up in `/proc`: it is our own namespace,
/// `/proc` shows it, and it does not hide the processes of the file's owner (`hidepid`, proc(5)).
fn number_tells(file: &File, pid_namespace: u64) -> bool {
    static SHOWN: OnceLock<u64> = OnceLock::new();
    let shown = *SHOWN.get_or_init(|| {
        let is_own = std::fs::read_link("/proc/self")
            .is_ok_and(|link| link.to_str() == Some(&std::process::id().to_string()));
        if is_own { os::pid_namespace() } else { 0 }
    });
    let user = os::user();
    shown != 0
        && shown == pid_namespace
        && (user == 0 || file.metadata().is_ok_and(|metadata| metadata.uid() == user))
}
