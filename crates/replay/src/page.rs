//! The page from which processes read time (`docs/formats/virtual-clock.md`).
//!
//! Mapped here as well: setting the time and looking at a slot are no system calls, of which there
//! would be two for every grant.
#![allow(unsafe_code)] // a mapped page

use crate::schedule::Ordinal;
use chronoscope_clock as clock;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Processes that can take part in one replay.
pub const SLOTS: usize = 1024;
const HEAD_BYTES: usize = 4096;
const SLOT_BYTES: usize = 64;
const PAGE_BYTES: usize = HEAD_BYTES + SLOT_BYTES * SLOTS;

/// Activity that a process counted in its slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Reads of the clock.
    pub clock_reads: u64,
    /// System calls that the library looked at.
    pub calls: u64,
    /// Waits of its threads.
    pub waits: u64,
    /// Threads that it ever had.
    pub threads: u64,
}

/// The page as numbers.
type Numbers = [AtomicU64; PAGE_BYTES / 8];

/// The coordinator's side of the page.
#[derive(Debug)]
pub struct Page(NonNull<Numbers>);

// SAFETY: the mapping belongs to no thread, and its numbers are atomic.
unsafe impl Send for Page {}

impl Page {
    /// A new page in a file that must not be there.
    ///
    /// # Errors
    /// When the file is there or cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create_new(true).open(path)?;
        file.set_len(PAGE_BYTES as u64)?;
        let mut head = b"CHRONTIM".to_vec();
        head.extend(u32::from(crate::wire::VERSION).to_le_bytes());
        head.extend(1024u32.to_le_bytes());
        file.write_all_at(&head, 0)?;
        // SAFETY: a fresh mapping of a file that has just got the page's length; nothing else is
        // there.
        let at = unsafe {
            let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), PAGE_BYTES, access, shared, file.as_raw_fd(), 0)
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast()).ok_or_else(|| io::Error::other("mapped at nowhere"))?;
        Ok(Self(at))
    }

    fn numbers(&self) -> &Numbers {
        // SAFETY: mapped, page-aligned and as long as the array until this is dropped; processes
        // write it, which atomics allow.
        unsafe { self.0.as_ref() }
    }

    /// Sets the time; only while no process runs.
    ///
    /// Stamps of recorders are computed in ticks from the last move. They never go back: nothing
    /// may begin before its cause. Where work at an instant took longer than until the next one,
    /// stamps run behind the clock's, until it is idle for as long.
    pub fn set(&self, utc_ns: i64, monotonic_ns: i64) {
        if clock::tick_source() == clock::TickSource::Counter {
            let (now, scale) = (clock::ticks(), clock::Scale::current());
            let [then, base] = [4, 5].map(|at| self.numbers()[at].load(Ordering::Relaxed));
            let passed_ns = scale.to_ns(now.saturating_sub(then));
            let reached_ns = base.cast_signed().saturating_add_unsigned(passed_ns);
            let base_ns = if then == 0 { utc_ns } else { utc_ns.max(reached_ns) };
            let values = [now, base_ns.cast_unsigned(), scale.multiplier()];
            for (at, value) in (4..).zip(values) {
                self.numbers()[at].store(value, Ordering::Release);
            }
        }
        // Read after a packet of the socket, which orders it.
        self.numbers()[2].store(utc_ns.cast_unsigned(), Ordering::Release);
        self.numbers()[3].store(monotonic_ns.cast_unsigned(), Ordering::Release);
    }

    /// Activity of a process so far.
    #[must_use]
    pub fn activity(&self, who: Ordinal) -> Activity {
        let slot = (HEAD_BYTES + SLOT_BYTES * who.min(SLOTS - 1)) / 8;
        let [clock_reads, calls, waits, threads] =
            [0, 1, 2, 3].map(|at| self.numbers()[slot + at].load(Ordering::Acquire));
        Activity { clock_reads, calls, waits, threads }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: this is our mapping, and no borrow of it is left.
        unsafe { libc::munmap(self.0.as_ptr().cast(), PAGE_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_catch_up_with_the_clock_and_never_go_back() {
        let folder = tempfile::tempdir().unwrap();
        let page = Page::create(&folder.path().join("page")).unwrap();
        let base = |utc_ns: i64| {
            page.set(utc_ns, utc_ns);
            page.numbers()[5].load(Ordering::Relaxed).cast_signed()
        };
        if clock::tick_source() != clock::TickSource::Counter {
            return eprintln!("SKIPPED: no counter, and no stamps by it");
        }
        let hour_ns = 3_600_000_000_000;
        // Some counters go up in steps of tens of ticks: two readings in a row may be the same.
        let work = || {
            let begin = clock::ticks();
            while clock::ticks().saturating_sub(begin) < 1_000 {}
        };
        assert_eq!(base(hour_ns), hour_ns);
        work();
        let later = base(hour_ns); // the same instant, and work at it
        work();
        assert!(later > hour_ns && base(hour_ns + 1) > later);
        assert_eq!(base(2 * hour_ns), 2 * hour_ns);
    }
}
