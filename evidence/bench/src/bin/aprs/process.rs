//! Resources of the server's process, as the kernel counts them.

use anyhow::{Context, Result};
use std::path::Path;

/// CPU time, memory and context switches of a process, as of now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    /// CPU time of all its threads since the start, in seconds.
    pub(crate) cpu_s: f64,
    /// Of this, what it took itself and what the kernel took for it; counted by the clock's ticks,
    /// so that the two are not as exact as their sum.
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
    /// Resident memory, in kB.
    pub(crate) rss_kb: u64,
    /// Context switches of all its threads since the start.
    pub(crate) switches: Switches,
    /// Threads that it has.
    pub(crate) threads: usize,
}

/// Context switches of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    /// The thread waited for something.
    pub(crate) voluntary: u64,
    /// The scheduler gave the processor to another one.
    pub(crate) involuntary: u64,
}

impl Usage {
    /// Usage of a process. CPU time is the scheduler's, to the nanosecond.
    ///
    /// # Errors
    /// When there is no such process.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn of(process: u32) -> Result<Self> {
        let mut usage = Self::default();
        let mut cpu_ns = 0;
        for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let task = task?.path();
            cpu_ns += cpu_ns_of(&task);
            usage.switches.add(Switches::of_task(&task));
            usage.threads += 1;
        }
        usage.cpu_s = cpu_ns as f64 / 1e9;
        let user = user_share(&std::fs::read_to_string(format!("/proc/{process}/stat"))?);
        (usage.user_s, usage.system_s) = (usage.cpu_s * user, usage.cpu_s * (1.0 - user));
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        usage.rss_kb = count(&status, "VmRSS:").context("the process has ended")?;
        Ok(usage)
    }
}

impl Switches {
    /// Of one thread: its folder in `/proc`. A thread may end while the list is read: it has none.
    fn of_task(task: &Path) -> Self {
        Self::parse(&std::fs::read_to_string(task.join("status")).unwrap_or_default())
    }

    fn parse(status: &str) -> Self {
        let of = |key| count(status, key).unwrap_or(0);
        Self {
            voluntary: of("voluntary_ctxt_switches:"),
            involuntary: of("nonvoluntary_ctxt_switches:"),
        }
    }

    fn add(&mut self, more: Self) {
        self.voluntary += more.voluntary;
        self.involuntary += more.involuntary;
    }
}

fn cpu_ns_of(task: &Path) -> u64 {
    let text = std::fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The part of a process's CPU time that is its own, in [0, 1], by a line of `/proc/…/stat`.
fn user_share(stat: &str) -> f64 {
    // The name of the program is in parentheses and may have blanks in it.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = |at| after_name.split_whitespace().nth(at).and_then(|word| word.parse().ok());
    let (user, system): (f64, f64) = (ticks(11).unwrap_or(0.0), ticks(12).unwrap_or(0.0));
    user / (user + system).max(1.0)
}

/// The machine's load average over a minute; NaN where the system does not tell.
pub(crate) fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}

/// Memory of the kernel's own objects, sockets among them, in kB.
///
/// # Errors
/// When the system does not tell.
pub(crate) fn kernel_kb() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    count(&text, "Slab:").context("/proc/meminfo has no Slab")
}

/// The number after a key at the beginning of a line of `/proc/…/status`.
fn count(status: &str, key: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The names of a process's threads, in alphabetical order.
///
/// # Errors
/// When there is no such process.
pub(crate) fn thread_names(process: u32) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let name = std::fs::read_to_string(task?.path().join("comm"))?;
        names.push(name.trim().to_owned());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::{Switches, Usage, count, kernel_kb, load_average, thread_names, user_share};

    const STATUS: &str = "Name:\tworker-0\nVmRSS:\t   11280 kB\nThreads:\t4\n\
        voluntary_ctxt_switches:\t1234\nnonvoluntary_ctxt_switches:\t56\n";

    #[test]
    fn both_kinds_of_switches_are_told_apart() {
        let switches = Switches::parse(STATUS);
        assert_eq!(switches, Switches { voluntary: 1234, involuntary: 56 });
        assert_eq!(count(STATUS, "VmRSS:"), Some(11_280));
        assert_eq!(Switches::parse(""), Switches::default());
    }

    #[test]
    fn time_of_the_program_and_of_the_kernel() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 500 0 0 0 30 90 0 0 20 0 4 0 100 0 0";
        assert_eq!(user_share(stat), 0.25);
        assert_eq!(user_share("7 (a) S 1 7 7 0 -1 4194560 500 0 0 0 0 0 0"), 0.0);
        assert!(load_average() >= 0.0 && kernel_kb().unwrap() > 0);
    }

    #[test]
    fn this_process_has_used_something() {
        let own = std::process::id();
        let usage = Usage::of(own).unwrap();
        assert!(usage.cpu_s > 0.0 && usage.rss_kb > 1000, "{usage:?}");
        assert!(usage.threads >= 1 && !thread_names(own).unwrap().is_empty());
    }
}
