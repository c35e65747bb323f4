//! The kernel's clocks.
#![allow(unsafe_code)] // clock_gettime and clock_nanosleep

use std::sync::OnceLock;
use std::time::Duration;

const NS_PER_S: i64 = 1_000_000_000;

/// UTC now, in nanoseconds since 1970. Steps when the clock is set. About 20 ns.
///
/// For test beds with wrong clocks, `CHRONOSCOPE_CLOCK_OFFSET_NS` (read once, in nanoseconds,
/// positive or negative) is added to this process's clock; the process reports that on standard
/// error when it first reads the time.
#[inline]
pub fn utc_now_ns() -> i64 {
    let utc_ns = match crate::replay::now_ns() {
        Some((utc_ns, _)) => utc_ns,
        None => read(libc::CLOCK_REALTIME),
    };
    utc_ns + offset_ns()
}

/// Offset that is added to this process's clock, in nanoseconds.
#[inline]
pub(crate) fn offset_ns() -> i64 {
    *OFFSET_NS.get_or_init(offset_from_environment)
}

static OFFSET_NS: OnceLock<i64> = OnceLock::new();

#[cold]
fn offset_from_environment() -> i64 {
    let Ok(text) = std::env::var("CHRONOSCOPE_CLOCK_OFFSET_NS") else { return 0 };
    let Ok(offset_ns) = text.parse::<i64>() else {
        eprintln!("chronoscope: CHRONOSCOPE_CLOCK_OFFSET_NS={text} is not a number and is ignored");
        return 0;
    };
    if offset_ns != 0 {
        // Printed, because impossible stamps would otherwise be hard to explain.
        eprintln!(
            "chronoscope: CHRONOSCOPE_CLOCK_OFFSET_NS is set: this process's clock is shifted by \
             {offset_ns} ns on purpose"
        );
    }
    offset_ns
}

/// The monotonic clock, in nanoseconds since an origin of the kernel's choice (the boot, not
/// counting suspension). Never steps; its rate follows NTP. About 20 ns.
#[inline]
pub fn monotonic_ns() -> u64 {
    let ns = match crate::replay::now_ns() {
        Some((_, monotonic_ns)) => monotonic_ns,
        None => read(libc::CLOCK_MONOTONIC),
    };
    ns.cast_unsigned()
}

/// CPU time that the calling thread has used, in nanoseconds. A system call: about 300 ns to 2 µs.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID).cast_unsigned()
}

/// CPU time that another thread of the process has used, by its kernel number, in nanoseconds;
/// `None` when there is no such thread. A system call.
pub fn thread_cpu_ns_of(thread: u32) -> Option<u64> {
    // The kernel's own encoding (include/linux/posix-timers.h): the number inverted above three
    // bits, which say "scheduler's clock, of a thread".
    let clock = (!thread.cast_signed()).wrapping_shl(3) | 6;
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the answer.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut now) } != 0;
    (!failed).then(|| (now.tv_sec * NS_PER_S + now.tv_nsec).cast_unsigned())
}

/// CPU time that all threads of the process have used, in nanoseconds. A system call.
#[inline]
pub fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID).cast_unsigned()
}

/// Waits for at least `duration`, whatever signals arrive.
pub fn sleep(duration: Duration) {
    let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    sleep_until(monotonic_ns().saturating_add(ns));
}

/// Waits until [`monotonic_ns`] has reached `deadline_ns`; returns at once when it has.
pub fn sleep_until(deadline_ns: u64) {
    let deadline = timespec_of(deadline_ns);
    loop {
        // SAFETY: `deadline` is a valid timespec; with TIMER_ABSTIME the remainder is not written,
        // therefore its pointer may be null.
        let error = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const deadline,
                std::ptr::null_mut(),
            )
        };
        if error != libc::EINTR {
            return;
        }
    }
}

fn timespec_of(ns: u64) -> libc::timespec {
    // A deadline beyond i64 nanoseconds (292 years) is as good as never.
    let ns = i64::try_from(ns).unwrap_or(i64::MAX);
    libc::timespec { tv_sec: ns / NS_PER_S, tv_nsec: ns % NS_PER_S }
}

#[inline]
fn read(clock: libc::clockid_t) -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the answer. The four clocks exist on every Linux, so the
    // call cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec * NS_PER_S + now.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_lasts_and_uses_no_cpu() {
        let (begin, cpu) = (monotonic_ns(), thread_cpu_ns());
        sleep(Duration::from_millis(20));
        assert!(monotonic_ns() - begin >= 20_000_000);
        assert!(thread_cpu_ns() - cpu < 10_000_000);
    }

    #[test]
    fn a_past_deadline_returns_at_once() {
        let begin = monotonic_ns();
        sleep_until(begin.saturating_sub(1));
        sleep_until(0);
        assert!(monotonic_ns() - begin < 1_000_000_000);
    }

    #[test]
    fn work_counts_as_cpu_of_thread_and_process() {
        let (thread, process) = (thread_cpu_ns(), process_cpu_ns());
        while thread_cpu_ns() - thread < 5_000_000 {
            std::hint::black_box([0u8; 64]);
        }
        assert!(process_cpu_ns() - process >= 4_000_000);
    }

    #[test]
    fn another_threads_cpu_can_be_asked_for() {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let worker = std::thread::spawn(move || {
            while thread_cpu_ns() < 5_000_000 {}
            // SAFETY: no argument, cannot fail.
            let own = unsafe { libc::gettid() }.cast_unsigned();
            tell.send((own, thread_cpu_ns())).unwrap();
            let _ = ended.recv();
        });
        let (thread, least) = told.recv().unwrap();
        assert!(thread_cpu_ns_of(thread).unwrap() >= least);
        drop(end);
        worker.join().unwrap();
        assert_eq!(thread_cpu_ns_of(u32::MAX / 16), None);
    }

    #[test]
    fn utc_is_this_century() {
        assert!(utc_now_ns() > 1_700_000_000 * NS_PER_S);
        assert_eq!(timespec_of(1_500_000_000).tv_nsec, 500_000_000);
    }
}
