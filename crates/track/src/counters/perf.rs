//! The processor's counters of a program that is started: opened in the child just before exec, and
//! sent to who reads them.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;

use chronoscope_replay::counters::{Counter, CounterSubject, OpenCounter};

/// The hardware counters of a measurement, in the order of their counts.
pub(super) const HARDWARE: [Counter; 3] =
    [Counter::Instructions, Counter::Branches, Counter::Cycles];

/// Room for the header and four descriptors of a control message, aligned as its header is.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Opens counters that begin with the next exec of this process, on it, its threads and its
/// children, and sends them to `to`. For the child between fork and exec: no allocation, no lock.
pub(super) fn open_at_exec_and_send(counters: &[Counter], to: &UnixDatagram) -> io::Result<()> {
    for counter in counters {
        let opened = OpenCounter::new(*counter, CounterSubject::AtExec)?;
        send(to, opened.as_fd().as_raw_fd())?;
    }
    Ok(())
}

/// A message of one octet that carries descriptors in `control`.
fn message(vector: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: all zeros is a valid msghdr: no name, no vectors, no control, no flags.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = vector;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message
}

/// Octets of a descriptor in a control message.
const FD_BYTES: u32 = 4;
const _: () = assert!(size_of::<RawFd>() == FD_BYTES as usize);

fn send(to: &UnixDatagram, fd: RawFd) -> io::Result<()> {
    let (mut octet, mut control) = (0_u8, Control([0; 64]));
    let mut vector = libc::iovec { iov_base: (&raw mut octet).cast(), iov_len: 1 };
    let mut message = message(&mut vector, &mut control);
    // SAFETY: the room for one descriptor, 24 octets, fits into `control`, which is aligned for
    // the header; all pointers outlive the call.
    let sent = unsafe {
        message.msg_controllen = libc::CMSG_SPACE(FD_BYTES) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(FD_BYTES) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd);
        libc::sendmsg(to.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL)
    };
    if sent == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes the next counter that a child sent; it must have been sent already.
pub(super) fn receive(from: &UnixDatagram) -> io::Result<OpenCounter> {
    let (mut octet, mut control) = (0_u8, Control([0; 64]));
    let mut vector = libc::iovec { iov_base: (&raw mut octet).cast(), iov_len: 1 };
    let mut message = message(&mut vector, &mut control);
    message.msg_controllen = 64 as _;
    let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
    // SAFETY: the message points at live memory of the sizes that it says.
    if unsafe { libc::recvmsg(from.as_raw_fd(), &raw mut message, flags) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has filled `control` in and said how far; the header is checked before
    // its data are read, and the descriptor is new and ours.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return Err(io::Error::other("a counter was announced but not sent"));
        }
        let fd = libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned();
        Ok(OwnedFd::from_raw_fd(fd).into())
    }
}

/// Switches address space randomisation off for what this process executes next. For the child
/// between fork and exec.
pub(super) fn without_address_randomisation() -> io::Result<()> {
    // SAFETY: numbers only; 0xffffffff asks for the present personality.
    let now = unsafe { libc::personality(0xffff_ffff) };
    let wanted = libc::c_ulong::from(now.unsigned_abs()) | libc::ADDR_NO_RANDOMIZE as libc::c_ulong;
    // SAFETY: as above.
    if unsafe { libc::personality(wanted) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
