//! Reading clocks, and timing an action: by four reads as the document does, and by our recorder.
#![allow(unsafe_code)] // the raw system call

use std::hint::black_box;

use chronoscope_clock as clock;
use chronoscope_record::{Class, Status, class};

use super::Extent;
use super::table::{Table, each};

static ACTION: Class = class!("action");
const BATCH: u64 = 5_000;

/// Data that the document's package keeps of an action: a histogram of both times, and the worst.
struct Statistics {
    elapsed: [u64; 64],
    cpu: [u64; 64],
    worst: u64,
}

impl Statistics {
    fn action(&mut self) {
        let begin = (clock::monotonic_ns(), clock::thread_cpu_ns());
        black_box(&mut *self);
        let (end, cpu_end) = (clock::monotonic_ns(), clock::thread_cpu_ns());
        let (elapsed, cpu) = (end - begin.0, cpu_end - begin.1);
        self.elapsed[elapsed.max(1).ilog2() as usize] += 1;
        self.cpu[cpu.max(1).ilog2() as usize] += 1;
        self.worst = self.worst.max(elapsed);
    }
}

pub(crate) fn run(extent: Extent, table: &mut Table) {
    let batches = extent.batches;
    table.section("clocks (ns)");
    let read = each(batches, BATCH, clock::monotonic_ns);
    table.row("CLOCK_MONOTONIC (vDSO)", Some(14.65), read);
    let read = each(batches, BATCH / 5, clock::thread_cpu_ns);
    table.row("CLOCK_THREAD_CPUTIME_ID", Some(397.33), read);
    let ticks = each(batches, BATCH, clock::ticks);
    table.row("the processor's own counter (ours)", None, ticks);
    let call = each(batches, BATCH / 5, || {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `now` is a valid place for the answer.
        unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut now) };
        black_box(now.tv_nsec);
    });
    table.row("clock by a system call", None, call);
    table.note(
        "  (the document's 3.33 of a \"clock system call\" is less than any entry to a kernel)",
    );
    let mut statistics = Statistics { elapsed: [0; 64], cpu: [0; 64], worst: 0 };
    let timing = each(batches, BATCH / 5, || statistics.action());
    table.row("timing an action: 4 reads and statistics", Some(839.22), timing);
    chronoscope_record::init("primitives");
    let ours = each(batches, BATCH, || ACTION.begin().stop(Status::Good));
    table.row("the same by our recorder's begin and end", Some(839.22), ours);
    if let Some(ring) = chronoscope_record::ring_path() {
        drop(std::fs::remove_file(ring)); // a leaving: the next start clears it away too
    }
}
