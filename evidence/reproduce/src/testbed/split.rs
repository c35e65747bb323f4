//! Where the time of processes went: computing, waiting for a processor, blocked.
//!
//! The kernel counts for each thread how long it ran, how long it could have run and had no processor,
//! and how often it got one (`/proc/PID/task/TID/schedstat`, Linux, `sched-stats.rst`). For the rest of
//! the elapsed time it was blocked: it waited for input, a timer or a lock. A chain that is slow because
//! other programs have the processors is told from one that is slow by itself.

use serde::Serialize;
use std::fs::{read_dir, read_to_string};

/// Times of all threads of processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Split {
    /// On a processor, in seconds.
    pub computing_s: f64,
    /// On a run queue, in seconds.
    pub run_queue_s: f64,
    /// How often a thread got a processor.
    pub turns: u64,
}

impl Split {
    /// Times of a process until now; zero when it is gone, or the kernel does not say.
    #[must_use]
    pub fn of(process: u32) -> Self {
        let tasks = read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let texts = tasks.filter_map(|task| read_to_string(task.path().join("schedstat")).ok());
        texts.filter_map(|text| Self::parse(&text)).fold(Self::default(), Self::plus)
    }

    /// Time on a processor and on a run queue in ns, and the number of turns.
    fn parse(schedstat: &str) -> Option<Self> {
        let mut numbers = schedstat.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        let [computing_ns, run_queue_ns] = [next()?, next()?];
        Some(Self {
            computing_s: computing_ns as f64 / 1e9,
            run_queue_s: run_queue_ns as f64 / 1e9,
            turns: next()?,
        })
    }

    /// Mean time on a run queue before a turn, in seconds; 0 without a turn.
    #[must_use]
    pub fn wait_s(self) -> f64 {
        self.run_queue_s / (self.turns.max(1) as f64)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            computing_s: self.computing_s + other.computing_s,
            run_queue_s: self.run_queue_s + other.run_queue_s,
            turns: self.turns + other.turns,
        }
    }

    /// Without what had been used before.
    #[must_use]
    pub fn less(self, before: Self) -> Self {
        Self {
            computing_s: (self.computing_s - before.computing_s).max(0.0),
            run_queue_s: (self.run_queue_s - before.run_queue_s).max(0.0),
            turns: self.turns.saturating_sub(before.turns),
        }
    }

    /// The larger of each: a thread that has ended takes its times with it.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        Self {
            computing_s: self.computing_s.max(other.computing_s),
            run_queue_s: self.run_queue_s.max(other.run_queue_s),
            turns: self.turns.max(other.turns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_three_numbers() {
        let split = Split::parse("1500000000 250000000 50\n").unwrap();
        assert_eq!((split.computing_s, split.run_queue_s, split.turns), (1.5, 0.25, 50));
        assert_eq!(split.wait_s(), 0.005);
        assert_eq!(Split::parse("12 7\n"), None);
        assert_eq!(Split::parse("x y z"), None);
        let before = Split { computing_s: 1.0, run_queue_s: 1.0, turns: 20 };
        assert_eq!(split.less(before), Split { computing_s: 0.5, run_queue_s: 0.0, turns: 30 });
        assert_eq!(Split::default().wait_s(), 0.0);
    }

    #[test]
    fn this_process_has_computed() {
        let own = std::process::id();
        let before = Split::of(own);
        let mut sum = 0_u64;
        while Split::of(own).less(before).computing_s < 0.01 {
            sum = sum.wrapping_add(before.computing_s.to_bits());
        }
        assert!(Split::of(own).turns > 0, "{sum}");
        // Above the largest number that Linux gives a process.
        assert_eq!(Split::of(u32::MAX), Split::default());
    }
}
