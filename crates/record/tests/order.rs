//! Order of stamps while the system's clock is read with an error.
//!
//! In this program `clock_gettime` tells UTC alternately 4 µs late and 4 µs early: more than anchors
//! are off, so that no luck is needed, and less than what counts as a step. And a thread is
//! away between a new anchor and its stamp, as on a busy machine.
#![cfg(not(feature = "off"))]
#![allow(unsafe_code, clippy::unwrap_used)]

mod support;

use chronoscope_clock as clock;
use chronoscope_record::{self as record, Class, class};
use libc::{c_int, clockid_t, timespec};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;
use support::run_with;

static PARENT: Class = class!("parent");
static CHILD: Class = class!("child");

/// By how much UTC is read early or late, in nanoseconds.
const OFF_NS: i64 = 4_000;
/// Time away, in nanoseconds: longer than an anchor is used.
const AWAY_NS: i64 = 12_000_000;

/// How often UTC was read.
static READINGS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Whether the thread is away when it reads its CPU clock next.
    static AWAY_NEXT: Cell<bool> = const { Cell::new(false) };
}

/// `clock_gettime`, for everything in this program but the C library itself.
///
/// # Safety
/// As `clock_gettime`.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, now: *mut timespec) -> c_int {
    // SAFETY: the caller's promise.
    let failed = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, now) } != 0;
    if clock == libc::CLOCK_REALTIME {
        let late = READINGS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        // SAFETY: the kernel has filled it.
        unsafe { shift(&mut *now, if late { -OFF_NS } else { OFF_NS }) };
    }
    if clock == libc::CLOCK_THREAD_CPUTIME_ID && AWAY_NEXT.replace(false) {
        let time = timespec { tv_sec: 0, tv_nsec: AWAY_NS };
        // SAFETY: a valid time, and no place for the rest of it.
        unsafe { libc::nanosleep(&raw const time, std::ptr::null_mut()) };
    }
    c_int::from(failed)
}

fn shift(time: &mut timespec, ns: i64) {
    let sum = time.tv_sec * 1_000_000_000 + time.tv_nsec + ns;
    (time.tv_sec, time.tv_nsec) = (sum / 1_000_000_000, sum % 1_000_000_000);
}

/// Start of an open transaction, in nanoseconds since 1970.
fn start_ns(open: &record::Guard) -> i64 {
    open.correlator().ancestors().last().unwrap().start_ns
}

/// Runs `turn` for as long as some tens of anchors, with the scale measured well enough that nothing
/// but the shifted readings is corrected.
fn for_some_anchors(mut turn: impl FnMut()) {
    let until_ns = clock::monotonic_ns() + 600_000_000;
    while clock::monotonic_ns() < until_ns {
        turn();
    }
}

/// Number of children that started before their parents, or parents before the last child.
fn nested() -> u64 {
    let (mut last_ns, mut early) = (0, 0);
    for_some_anchors(|| {
        let parent = PARENT.begin();
        let child = CHILD.begin();
        for now_ns in [start_ns(&parent), start_ns(&child)] {
            early += u64::from(now_ns < last_ns);
            last_ns = now_ns;
        }
    });
    early
}

/// Two threads, one of which is away now and then while it stamps: number of transactions that
/// started before another that either thread had begun already.
fn across_threads() -> u64 {
    let last_ns = AtomicI64::new(0);
    let one = |is_away: bool| {
        let (mut early, mut turn) = (0, 0);
        for_some_anchors(|| {
            turn += 1;
            let before_ns = last_ns.load(Ordering::SeqCst);
            AWAY_NEXT.set(is_away && turn % 5 == 0);
            let open = PARENT.begin();
            AWAY_NEXT.set(false);
            let now_ns = start_ns(&open);
            early += u64::from(now_ns < before_ns);
            last_ns.fetch_max(now_ns, Ordering::SeqCst);
        });
        early
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| one(true));
        one(false) + other.join().unwrap()
    })
}

#[test]
fn child_entry() {
    let Some(scenario) = support::asked_for() else { return };
    record::init("TEST");
    clock::Scale::current();
    clock::sleep(Duration::from_millis(1_100));
    clock::Scale::refine();
    READINGS.store(0, Ordering::Relaxed);
    let early = if scenario == "nested" { nested() } else { across_threads() };
    println!("\nearly={early}\nreadings={}", READINGS.load(Ordering::Relaxed));
}

fn check(scenario: &str, cpu: &str) {
    let ran = run_with(scenario, &[("CHRONOSCOPE_CPU", cpu)]);
    assert!(ran.status.success(), "{}{}", ran.said, ran.complained);
    assert!(ran.value("readings").parse::<u64>().unwrap() > 10, "{}", ran.said);
    assert_eq!(ran.value("early"), "0", "{}", ran.said);
}

#[test]
fn a_child_never_starts_before_its_parent() {
    check("nested", "rseq");
}

/// With a system call between the other thread's stamp and the own one: ticks are read without a
/// barrier, and might be read before it.
#[test]
fn stamps_of_all_threads_of_a_process_are_in_order() {
    check("threads", "exact");
}
