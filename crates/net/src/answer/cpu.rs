//! Processor time of a transfer at one end.

use chronoscope_clock as clock;
use serde::{Deserialize, Serialize};
use std::fs;

/// Processor time during some wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Elapsed time of the observation, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the working thread, in nanoseconds: at most `wall_ns`.
    pub thread_ns: u64,
    /// For how long that thread could have computed and had no processor, in nanoseconds; `None`
    /// where the kernel does not say.
    pub waited_ns: Option<u64>,
    /// CPU time of its whole process, in nanoseconds.
    pub process_ns: u64,
    /// Share of all processors of the host that was busy, in `[0, 1]`; `None` where the kernel does
    /// not say, or the time was too short to tell.
    pub host_busy: Option<f64>,
    /// Processors of the host.
    pub processors: u64,
}

impl Cpu {
    /// Share of the time in which the thread computed, of that in which no other program had its
    /// processor: near 1, it always has something to do, and the host is what limits it. A thread
    /// that waits for the network computes little of that time, however busy its host is with
    /// others.
    #[must_use]
    pub fn wanted(&self) -> f64 {
        let own_ns = self.wall_ns.saturating_sub(self.waited_ns.unwrap_or(0));
        (self.thread_ns as f64 / own_ns.max(1) as f64).min(1.0)
    }

    /// Share of the time in which the thread computed.
    #[must_use]
    pub fn computed(&self) -> f64 {
        (self.thread_ns as f64 / self.wall_ns.max(1) as f64).min(1.0)
    }
}

/// Looks at the calling thread, its process and its host, from now on.
#[derive(Debug)]
pub struct Meter {
    wall_ns: u64,
    thread_ns: u64,
    waited_ns: Option<u64>,
    process_ns: u64,
    host: Option<Jiffies>,
}

impl Meter {
    /// Begins an observation.
    #[must_use]
    pub fn start() -> Self {
        Self {
            wall_ns: clock::monotonic_ns(),
            thread_ns: clock::thread_cpu_ns(),
            waited_ns: waited_ns(),
            process_ns: clock::process_cpu_ns(),
            host: host(),
        }
    }

    /// Usage since the start; to be called by the same thread.
    #[must_use]
    pub fn stop(&self) -> Cpu {
        let host = host();
        let waited_ns = waited_ns().zip(self.waited_ns);
        Cpu {
            wall_ns: clock::monotonic_ns().saturating_sub(self.wall_ns),
            thread_ns: clock::thread_cpu_ns().saturating_sub(self.thread_ns),
            waited_ns: waited_ns.map(|(now, then)| now.saturating_sub(then)),
            process_ns: clock::process_cpu_ns().saturating_sub(self.process_ns),
            host_busy: host.zip(self.host).and_then(|(now, then)| now.busy_since(then)),
            processors: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
        }
    }
}

/// For how long this thread has waited for a processor so far.
fn waited_ns() -> Option<u64> {
    waited(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// The second of the three numbers: time spent on a run queue (Linux, `sched-stats.rst`).
fn waited(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Time of all processors so far, in the kernel's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Jiffies {
    busy: u64,
    all: u64,
}

fn host() -> Option<Jiffies> {
    jiffies(&fs::read_to_string("/proc/stat").ok()?)
}

/// The first line: user, nice, system, idle, iowait, irq, softirq, steal; what follows is in those
/// already (`proc_stat(5)`).
fn jiffies(stat: &str) -> Option<Jiffies> {
    let numbers = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let numbers: Vec<u64> = numbers.take(8).map_while(|number| number.parse().ok()).collect();
    let [_, _, _, idle, waiting, ..] = numbers[..] else { return None };
    let all: u64 = numbers.iter().sum();
    Some(Jiffies { busy: all.saturating_sub(idle + waiting), all })
}

impl Jiffies {
    /// With less than this, one unit more or less is too much.
    const ENOUGH: u64 = 20;

    fn busy_since(self, then: Self) -> Option<f64> {
        let all = self.all.checked_sub(then.all).filter(|all| *all >= Self::ENOUGH)?;
        let busy = self.busy.saturating_sub(then.busy);
        Some((busy as f64 / all as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_by_hand() {
        let then = jiffies("cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!(then, Jiffies { busy: 20, all: 100 });
        let now = jiffies("cpu  30 0 20 130 10 5 0 5 0 0\n").unwrap();
        assert_eq!(now.busy_since(then), Some(0.4));
        assert_eq!(then.busy_since(then), None, "too short");
        assert_eq!(jiffies("cpu  1 2 3\n"), None);
        assert_eq!(jiffies("intr 5"), None);
        assert_eq!(waited("123 456 7\n"), Some(456));
    }

    #[test]
    fn a_thread_that_computes_wants_the_whole_time() {
        let meter = Meter::start();
        let until_ns = clock::thread_cpu_ns() + 20_000_000;
        while clock::thread_cpu_ns() < until_ns {}
        let cpu = meter.stop();
        assert!(cpu.thread_ns >= 20_000_000 && cpu.process_ns >= 20_000_000, "{cpu:?}");
        assert!(cpu.computed() <= cpu.wanted() && cpu.wanted() <= 1.0, "{cpu:?}");
    }
}
