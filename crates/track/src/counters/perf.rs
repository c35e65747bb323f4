//! `perf_event_open(2)`: counters of the processor, on this thread or on a program that is started.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;

/// What is counted, in user space only. At most four at a time: with six, virtual machines were
/// seen to return counts that are wrong without any sign of it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Instructions that completed.
    Instructions,
    /// Branches that completed, taken or not.
    Branches,
    /// Cycles of the core's own clock.
    Cycles,
    /// Page faults, counted by the kernel: there on any machine.
    PageFaults,
}

/// The hardware counters of a measurement, in the order of their counts.
pub(super) const HARDWARE: [Counter; 3] =
    [Counter::Instructions, Counter::Branches, Counter::Cycles];

impl Counter {
    /// `type` and `config` of linux/perf_event.h.
    fn code(self) -> (u32, u64) {
        match self {
            Counter::Cycles => (0, 0),
            Counter::Instructions => (0, 1),
            Counter::Branches => (0, 4),
            Counter::PageFaults => (1, 2),
        }
    }
}

/// `struct perf_event_attr` in its first version, which every kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    config1: u64,
}

/// `PERF_ATTR_SIZE_VER0`.
const ATTR_BYTES: u32 = 64;
const _: () = assert!(size_of::<Attr>() == ATTR_BYTES as usize);

const FORMAT_TIME_ENABLED: u64 = 1;
const FORMAT_TIME_RUNNING: u64 = 2;
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
const IOC_RESET: libc::c_ulong = 0x2403;

/// What a counter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reading {
    /// The count.
    pub count: u64,
    /// How long it was to count, nanoseconds.
    pub enabled_ns: u64,
    /// How long it did: less when it had to share the hardware.
    pub running_ns: u64,
}

/// An open counter.
#[derive(Debug)]
pub(super) struct Open(OwnedFd);

/// Opens a counter on the calling thread. Safe between fork and exec: it only makes a system call.
fn open(counter: Counter, flags: u64) -> io::Result<Open> {
    let (kind, config) = counter.code();
    let attr = Attr {
        kind,
        size: ATTR_BYTES,
        config,
        read_format: FORMAT_TIME_ENABLED | FORMAT_TIME_RUNNING,
        flags: flags | EXCLUDE_KERNEL | EXCLUDE_HV,
        ..Attr::default()
    };
    // SAFETY: `attr` has the size it says and outlives the call; the rest are numbers.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attr, 0, -1, -1, FLAG_FD_CLOEXEC)
    };
    let fd = RawFd::try_from(fd).map_err(io::Error::other)?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor; nobody else owns it.
    Ok(Open(unsafe { OwnedFd::from_raw_fd(fd) }))
}

impl Open {
    /// A counter on this thread, which counts nothing yet.
    pub(super) fn on_this_thread(counter: Counter) -> io::Result<Open> {
        open(counter, DISABLED)
    }

    fn ioctl(&self, request: libc::c_ulong) -> io::Result<()> {
        // SAFETY: a request without argument on a descriptor that we own.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), request, 0) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    pub(super) fn start(&self) -> io::Result<()> {
        self.ioctl(IOC_RESET)?;
        self.ioctl(IOC_ENABLE)
    }

    pub(super) fn stop(&self) -> io::Result<()> {
        self.ioctl(IOC_DISABLE)
    }

    /// What was counted; of a program, with its threads and with the children that have ended.
    pub(super) fn read(&self) -> io::Result<Reading> {
        let mut words = [0_u64; 3];
        // SAFETY: `words` has the 24 octets that are asked for.
        let got = unsafe {
            libc::read(self.0.as_raw_fd(), words.as_mut_ptr().cast(), size_of_val(&words))
        };
        match got {
            -1 => Err(io::Error::last_os_error()),
            24 => Ok(Reading { count: words[0], enabled_ns: words[1], running_ns: words[2] }),
            _ => Err(io::Error::other(format!("a counter gave {got} octets instead of 24"))),
        }
    }
}

/// Room for the header and four descriptors of a control message, aligned as its header is.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Opens counters that begin with the next exec of this process, on it, its threads and its
/// children, and sends them to `to`. For the child between fork and exec: no allocation, no lock.
pub(super) fn open_at_exec_and_send(counters: &[Counter], to: &UnixDatagram) -> io::Result<()> {
    // Children are counted when they end.
    for counter in counters {
        let opened = open(*counter, DISABLED | INHERIT | ENABLE_ON_EXEC)?;
        send(to, opened.0.as_raw_fd())?;
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
pub(super) fn receive(from: &UnixDatagram) -> io::Result<Open> {
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
            return Err(io::Error::other("a counter was announced and not sent"));
        }
        Ok(Open(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned())))
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
