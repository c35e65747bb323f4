//! Description of the machine on which figures were measured.

use crate::outcome::Machine;
use std::fs::read_to_string;

impl Machine {
    /// Description of this machine.
    #[must_use]
    pub fn this() -> Self {
        let read = |path: &str| read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let memory = read("/proc/meminfo");
        let memory_kb = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let memory_kb = memory_kb.and_then(|text| text.split_whitespace().next()?.parse().ok());
        Self {
            cpu: cpu.map_or("unknown", |(_, name)| name).to_owned(),
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            memory_mb: memory_kb.unwrap_or(0_u64) / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

/// Programs that wanted a processor in the last minute, on average; 0 where the system does not say.
#[must_use]
pub fn load() -> f64 {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// UTC in words, to the second.
#[must_use]
pub fn utc(at_ns: i64) -> String {
    let time = jiff::Timestamp::from_nanosecond(at_ns.into());
    time.map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()).unwrap_or_default()
}
