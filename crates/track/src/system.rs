//! The system of a measurement: counts of one machine are hardly comparable with those of another.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// A machine, and what on it moves counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// Name of the machine.
    pub machine: String,
    /// Model of its processor; libraries choose code by it.
    pub cpu: String,
    /// Processors that this may use.
    pub cpus: usize,
    /// Size of memory, bytes.
    pub memory_bytes: u64,
    /// Release of its kernel.
    pub kernel: String,
    /// Version of its C library.
    pub libc: Option<String>,
    /// Version of its Valgrind.
    pub valgrind: Option<String>,
    /// Version of this software.
    pub chronoscope: String,
}

/// Load average: mean number of runnable threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Mean over one minute.
    pub one: f64,
    /// Mean over five minutes.
    pub five: f64,
    /// Mean over fifteen minutes.
    pub fifteen: f64,
}

impl System {
    /// The system of this machine. Unknown properties are empty.
    pub fn here() -> System {
        System {
            machine: line("/proc/sys/kernel/hostname"),
            cpu: field("/proc/cpuinfo", "model name"),
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            memory_bytes: kibibytes(&field("/proc/meminfo", "MemTotal")).saturating_mul(1024),
            kernel: line("/proc/sys/kernel/osrelease"),
            libc: says("getconf", &["GNU_LIBC_VERSION"]),
            valgrind: says("valgrind", &["--version"]),
            chronoscope: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Differences from `other` that affect counts, in words. `callgrind`: the counts are
    /// Valgrind's.
    pub fn differences(&self, other: &System, callgrind: bool) -> Vec<String> {
        let some = |value: &Option<String>| value.clone().unwrap_or_default();
        let mut all = vec![
            ("machine", self.machine.clone(), other.machine.clone()),
            ("processor", self.cpu.clone(), other.cpu.clone()),
            ("kernel", self.kernel.clone(), other.kernel.clone()),
            ("C library", some(&self.libc), some(&other.libc)),
        ];
        if callgrind {
            all.push(("Valgrind", some(&self.valgrind), some(&other.valgrind)));
        }
        let differ = all.into_iter().filter(|(_, before, after)| before != after);
        differ.map(|(what, before, after)| format!("{what}: {before:?}, then {after:?}")).collect()
    }
}

impl Load {
    /// The load now; zeros where the kernel does not say.
    pub fn now() -> Load {
        let text = line("/proc/loadavg");
        let mut numbers = text.split(' ').map(|word| word.parse().unwrap_or(0.0));
        let mut next = || numbers.next().unwrap_or(0.0);
        Load { one: next(), five: next(), fifteen: next() }
    }
}

fn line(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// The value of the first line `name : value`.
fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    let found = pairs.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
    found.map(str::to_owned).next().unwrap_or_default()
}

fn kibibytes(text: &str) -> u64 {
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Version text of a tool; `None` where it is not installed.
fn says(tool: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(tool).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_name_a_kernel_and_memory() {
        let here = System::here();
        assert!(!here.machine.is_empty() && !here.kernel.is_empty(), "{here:?}");
        assert!(here.memory_bytes > 1 << 20 && here.cpus > 0, "{here:?}");
    }

    #[test]
    fn what_differs_is_named_when_it_matters() {
        let one =
            System { kernel: "6.1".into(), valgrind: Some("3.19".into()), ..System::default() };
        let two = System { valgrind: Some("3.20".into()), cpus: 7, ..one.clone() };
        assert_eq!(one.differences(&two, false), Vec::<String>::new());
        assert_eq!(one.differences(&two, true), ["Valgrind: \"3.19\", then \"3.20\""]);
        let other = System { kernel: "6.2".into(), ..one.clone() };
        assert_eq!(one.differences(&other, true), ["kernel: \"6.1\", then \"6.2\""]);
    }
}
