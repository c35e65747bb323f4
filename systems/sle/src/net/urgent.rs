//! Urgent data of TCP: one octet, in line, with a mark in front of it.
#![allow(unsafe_code)] // sockatmark(3), which no crate here has

use std::ffi::c_int;
use std::io;
use std::os::fd::AsRawFd;

use socket2::Socket;

unsafe extern "C" {
    fn sockatmark(descriptor: c_int) -> c_int;
}

/// Whether the next octet of the stream is the urgent one.
///
/// It is also true when the peer announced an urgent octet that has not come, and all in front of
/// it was read.
pub(crate) fn at_mark(socket: &Socket) -> io::Result<bool> {
    // SAFETY: POSIX.1-2001; it takes a descriptor, which is open while `socket` is borrowed, and
    // touches no memory of ours.
    match unsafe { sockatmark(socket.as_raw_fd()) } {
        -1 => Err(io::Error::last_os_error()),
        mark => Ok(mark != 0),
    }
}
