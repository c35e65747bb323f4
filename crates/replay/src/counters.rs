//! `perf_event_open(2)`: the processor's counters of a thread, of a program that is about to be
//! executed, or of a running process. The only place that opens them.
//!
//! User space only. Every interrupt adds one instruction and one branch, which makes their
//! difference free of interrupts.
#![allow(unsafe_code)] // perf_event_open has no safe wrapper

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use serde::{Deserialize, Serialize};

/// Counted event. At most four at a time: with six, virtual machines returned wrong counts without
/// any sign of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// Thread or process that is counted, and the begin of the counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterSubject {
    /// The calling thread, between [`OpenCounter::start`] and [`OpenCounter::stop`].
    ThisThread,
    /// The program that this thread executes next (`execve`), from then on: with its threads, and
    /// with its children when they end.
    AtExec,
    /// The process of this number from now on, with its threads. Its children are not counted:
    /// each can have counters of its own.
    Process(i32),
}

/// Reading of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Number of events.
    pub count: u64,
    /// Time for which it was enabled, nanoseconds.
    pub enabled_ns: u64,
    /// Time for which it counted: less when it had to share the hardware.
    pub running_ns: u64,
}

/// An open counter. It counts for as long as any process has its descriptor.
#[derive(Debug)]
pub struct OpenCounter(OwnedFd);

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

/// Size `PERF_ATTR_SIZE_VER0` of the attributes.
const ATTR_BYTES: u32 = 64;
const _: () = assert!(size_of::<Attr>() == ATTR_BYTES as usize);

const FORMAT_TIME_ENABLED: u64 = 1;
const FORMAT_TIME_RUNNING: u64 = 2;
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
/// Threads inherit, children do not.
const INHERIT_THREAD: u64 = 1 << 35;
const FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
const IOC_RESET: libc::c_ulong = 0x2403;

impl OpenCounter {
    /// Opens a counter. Safe between fork and exec: it makes one system call, allocates nothing and
    /// takes no lock.
    ///
    /// # Errors
    /// When the machine has no such counter or does not give it to this user.
    pub fn new(counter: Counter, whom: CounterSubject) -> io::Result<OpenCounter> {
        let (kind, config) = counter.code();
        let (pid, flags) = match whom {
            CounterSubject::ThisThread => (0, DISABLED),
            CounterSubject::AtExec => (0, DISABLED | INHERIT | ENABLE_ON_EXEC),
            CounterSubject::Process(pid) => (pid, INHERIT | INHERIT_THREAD),
        };
        let attr = Attr {
            kind,
            size: ATTR_BYTES,
            config,
            read_format: FORMAT_TIME_ENABLED | FORMAT_TIME_RUNNING,
            flags: flags | EXCLUDE_KERNEL | EXCLUDE_HV,
            ..Attr::default()
        };
        // SAFETY: `attr` has the size that it states and outlives the call; the rest are numbers.
        let fd = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attr, pid, -1, -1, FLAG_FD_CLOEXEC)
        };
        let fd = RawFd::try_from(fd).map_err(io::Error::other)?;
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given us this descriptor; it has no other owner.
        Ok(OpenCounter(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Counts from 0, from now on.
    ///
    /// # Errors
    /// Error of the system.
    pub fn start(&self) -> io::Result<()> {
        self.ioctl(IOC_RESET)?;
        self.ioctl(IOC_ENABLE)
    }

    /// Stops counting.
    ///
    /// # Errors
    /// Error of the system.
    pub fn stop(&self) -> io::Result<()> {
        self.ioctl(IOC_DISABLE)
    }

    fn ioctl(&self, request: libc::c_ulong) -> io::Result<()> {
        // SAFETY: a request without argument on a descriptor that we own.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), request, 0) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// The count until now; for an ended process, until its end.
    ///
    /// # Errors
    /// Error of the system.
    pub fn read(&self) -> io::Result<Reading> {
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

impl AsFd for OpenCounter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A counter that another process opened and sent.
impl From<OwnedFd> for OpenCounter {
    fn from(fd: OwnedFd) -> OpenCounter {
        OpenCounter(fd)
    }
}

/// Events of a process since the counters were attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Instructions, one more for every interrupt.
    pub instructions: u64,
    /// Branches, one more for every interrupt.
    pub branches: u64,
}

impl Counts {
    /// Instructions less branches, which interrupts do not change.
    #[must_use]
    pub fn corrected(self) -> u64 {
        self.instructions.saturating_sub(self.branches)
    }
}

/// Open counters of one process of a replay.
#[derive(Debug)]
pub struct Counters {
    instructions: OpenCounter,
    branches: OpenCounter,
}

impl Counters {
    /// Counts what this process does from now on.
    ///
    /// # Errors
    /// As [`OpenCounter::new`].
    pub fn attach(pid: i32) -> io::Result<Self> {
        let open = |counter| OpenCounter::new(counter, CounterSubject::Process(pid));
        Ok(Self { instructions: open(Counter::Instructions)?, branches: open(Counter::Branches)? })
    }

    /// The counts so far; of a dead process its last.
    ///
    /// # Errors
    /// When the kernel does not say, or counted only part of the time.
    pub fn read(&self) -> io::Result<Counts> {
        Ok(Counts { instructions: whole(&self.instructions)?, branches: whole(&self.branches)? })
    }
}

/// A count that is no estimate.
fn whole(counter: &OpenCounter) -> io::Result<u64> {
    let Reading { count, enabled_ns, running_ns } = counter.read()?;
    if enabled_ns != running_ns {
        return Err(io::Error::other(format!("counted {running_ns} of {enabled_ns} ns")));
    }
    Ok(count)
}
