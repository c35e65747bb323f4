//! Hardware counters of one process: instructions and branches in user mode, all its threads.
//!
//! Every interrupt adds one to both, so that their difference is free of interrupts.
#![allow(unsafe_code)] // perf_event_open has no safe wrapper

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

/// What a process has executed in user mode since it was attached.
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

/// Open counters of one process.
#[derive(Debug)]
pub struct Counters {
    instructions: File,
    branches: File,
}

/// The first 112 octets of the kernel's `perf_event_attr` (`PERF_ATTR_SIZE_VER5`).
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    rest: [u64; 8],
}

const HARDWARE: u32 = 0;
const INSTRUCTIONS: u64 = 1;
const BRANCHES: u64 = 4;
const TIME_ENABLED_AND_RUNNING: u64 = 1 | 2;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// Threads inherit, children do not: each of them has counters of its own.
const INHERIT_THREAD: u64 = 1 << 35;
const CLOSE_ON_EXEC: u64 = 1 << 3;

impl Counters {
    /// Counts what this process does from now on.
    ///
    /// # Errors
    /// When the machine has no counters or does not give them to this user.
    pub fn attach(pid: i32) -> io::Result<Self> {
        Ok(Self { instructions: open(pid, INSTRUCTIONS)?, branches: open(pid, BRANCHES)? })
    }

    /// The counts so far; of a dead process its last.
    ///
    /// # Errors
    /// When the kernel does not say, or counted only part of the time.
    pub fn read(&self) -> io::Result<Counts> {
        Ok(Counts { instructions: read(&self.instructions)?, branches: read(&self.branches)? })
    }
}

fn open(pid: i32, config: u64) -> io::Result<File> {
    let attributes = Attributes {
        kind: HARDWARE,
        size: u32::try_from(size_of::<Attributes>()).unwrap_or(0),
        config,
        period: 0,
        sample_type: 0,
        read_format: TIME_ENABLED_AND_RUNNING,
        flags: INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | INHERIT_THREAD,
        rest: [0; 8],
    };
    // SAFETY: the kernel reads `size` octets of the attributes and keeps no pointer.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, pid, -1, -1, CLOSE_ON_EXEC)
    };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor, which nobody else has.
    Ok(unsafe { File::from_raw_fd(fd) })
}

fn read(mut counter: &File) -> io::Result<u64> {
    let mut octets = [0; 24];
    counter.read_exact(&mut octets)?;
    let [count, enabled, running] =
        [0, 8, 16].map(|at| (at..at + 8).rev().fold(0, |n, i| n << 8 | u64::from(octets[i])));
    if enabled != running {
        return Err(io::Error::other(format!("counted {running} of {enabled} ns")));
    }
    Ok(count)
}
