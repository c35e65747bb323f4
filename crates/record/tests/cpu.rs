//! CPU time of transactions whose thread is switched away while the recorder reads the clock of it.
//!
//! In this program `clock_gettime` is a busy machine's: asked for the thread's CPU time it is away
//! for a while, before or after the kernel is asked.
#![cfg(not(feature = "off"))]
#![allow(unsafe_code, clippy::unwrap_used)]

mod support;

use chronoscope_record::{self as record, Class, class};
use libc::{c_int, clockid_t, timespec};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use support::{drain, run_with};

static GUARD: Class = class!("guard");
static HANDLE: Class = class!("handle");
static POLLS: Class = class!("polls");

const TRANSACTIONS: usize = 300;
/// By how much the recorder may be wrong at a stamp, in nanoseconds (`src/reckon.rs`).
const OFF_NS: u64 = 1_000;
/// Time away, in nanoseconds.
const AWAY_NS: i64 = 300_000;

static READINGS: AtomicU32 = AtomicU32::new(0);

/// `clock_gettime`, for everything in this program but the C library itself.
///
/// # Safety
/// As `clock_gettime`.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, now: *mut timespec) -> c_int {
    if clock != libc::CLOCK_THREAD_CPUTIME_ID {
        // SAFETY: the caller's promise.
        return unsafe { ask(clock, now) };
    }
    // Three in a row, so that begin and end (and two polls) meet in all ways.
    let turn = READINGS.fetch_add(1, Ordering::Relaxed);
    if turn % 3 == 1 {
        away();
    }
    // SAFETY: the caller's promise.
    let failed = unsafe { ask(clock, now) };
    if turn % 3 == 2 {
        away();
    }
    failed
}

/// Asks the kernel.
///
/// # Safety
/// As `clock_gettime`.
unsafe fn ask(clock: clockid_t, now: *mut timespec) -> c_int {
    // SAFETY: the caller's promise.
    let failed = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, now) };
    c_int::from(failed != 0)
}

fn away() {
    let time = timespec { tv_sec: 0, tv_nsec: AWAY_NS };
    // SAFETY: a valid time, and no place for the rest of it.
    unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) };
}

/// CPU time of the thread by the kernel's clock, in nanoseconds.
fn cpu_ns() -> u64 {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place for the answer.
    unsafe { ask(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    (now.tv_sec * 1_000_000_000 + now.tv_nsec).cast_unsigned()
}

/// Works for some microseconds: CPU time of the work, in nanoseconds.
fn work() -> u64 {
    let begin_ns = cpu_ns();
    loop {
        let now_ns = cpu_ns();
        if now_ns >= begin_ns + 20_000 {
            return now_ns - begin_ns;
        }
    }
}

/// Pending once, then ready.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn work_twice() -> u64 {
    let first_ns = work();
    Yield(false).await;
    first_ns + work()
}

/// A transaction of one of three kinds: CPU time of the work in it, in nanoseconds.
fn transaction(kind: usize) -> u64 {
    match kind {
        0 => {
            let _guard = GUARD.begin();
            work()
        }
        1 => {
            let started = HANDLE.start();
            let inside_ns = work();
            started.stop(record::Status::Good);
            inside_ns
        }
        _ => {
            let mut polls = pin!(POLLS.measure(work_twice()));
            let mut context = Context::from_waker(Waker::noop());
            assert!(polls.as_mut().poll(&mut context).is_pending());
            let Poll::Ready(inside_ns) = polls.as_mut().poll(&mut context) else {
                panic!("pending twice");
            };
            inside_ns
        }
    }
}

#[test]
fn child_entry() {
    if support::asked_for().is_none() {
        return;
    }
    record::init("TEST");
    let mut readings = Vec::new();
    for number in 0..TRANSACTIONS {
        let around_ns = cpu_ns();
        let inside_ns = transaction(number % 3);
        readings.push((inside_ns, cpu_ns() - around_ns));
    }
    println!(); // the harness has begun a line
    for (inside_ns, around_ns) in readings {
        println!("cpu {inside_ns} {around_ns}");
    }
}

/// Whenever the thread is switched away, a transaction has at least the CPU time of the work in it,
/// and at most that from before its begin until after its end.
#[test]
fn time_away_beside_the_clock_is_not_taken_from_cpu_time() {
    for method in ["exact", "perf", "rseq"] {
        let ran = run_with("away", &[("CHRONOSCOPE_CPU", method)]);
        let mut ring = ran.ring();
        let batch = drain(&mut ring);
        let readings: Vec<(u64, u64)> = ran
            .said
            .lines()
            .filter_map(|line| line.strip_prefix("cpu ")?.split_once(' '))
            .map(|(inside, around)| (inside.parse().unwrap(), around.parse().unwrap()))
            .collect();
        assert_eq!((batch.records().len(), readings.len()), (TRANSACTIONS, TRANSACTIONS));
        for (record, (inside_ns, around_ns)) in batch.records().iter().zip(readings) {
            // Two polls have four stamps.
            let range = inside_ns.saturating_sub(4 * OFF_NS)..=around_ns + 4 * OFF_NS;
            let class = ring.names().class_text(record.class);
            assert!(range.contains(&record.cpu_ns), "{method}, {class}: {record:?} not {range:?}");
        }
    }
}
