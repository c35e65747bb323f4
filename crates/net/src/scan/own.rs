//! This host's own interfaces, read locally: rows that an agent sends without a query.

use super::readings::Readings;
use super::{Reading, proc_net};
use crate::counters::Widths;
use crate::rows::{Outcome, ScanRow};
use chronoscope_clock as clock;
use std::path::PathBuf;

/// Value of [`ScanRow::by`] in such rows.
pub const BY: &str = "agent";

/// The host that this program runs on; in a network namespace, the interfaces there.
#[derive(Clone, Debug)]
pub struct OwnHost {
    name: String,
    file: PathBuf,
    readings: Readings,
}

impl OwnHost {
    /// This host, under the name that the kernel has for it.
    ///
    /// # Errors
    /// Error of the system.
    pub fn new() -> std::io::Result<Self> {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname")?;
        Ok(Self::named(name.trim()))
    }

    /// This host, under another name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self::reading(name, PathBuf::from(proc_net::PATH))
    }

    /// A host whose counters are in a file like [`proc_net::PATH`].
    fn reading(name: &str, file: PathBuf) -> Self {
        Self { name: name.to_owned(), file, readings: Readings::default() }
    }

    /// Reads the counters, and returns their difference since the last reading.
    pub fn look(&mut self) -> ScanRow {
        let (start_ns, at_ns) = (clock::utc_now_ns(), clock::monotonic_ns());
        let outcome = self.outcome(at_ns);
        let elapsed_ns = clock::monotonic_ns().saturating_sub(at_ns);
        let (host, by) = (self.name.clone(), BY.to_owned());
        ScanRow { host, by, start_ns, elapsed_ns, outcome, bits_per_s: None }
    }

    fn outcome(&mut self, at_ns: u64) -> Outcome {
        let text = match std::fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) => return Outcome::NotUnderstood(format!("{}: {error}", proc_net::PATH)),
        };
        let interfaces = match proc_net::read(&text) {
            Ok(interfaces) => interfaces,
            Err(error) => return Outcome::NotUnderstood(error.to_string()),
        };
        let reading = Reading { at_ns, up_ns: None, widths: Widths::Wide, interfaces };
        match self.readings.take(&self.name, reading) {
            None => Outcome::First,
            Some(step) => Outcome::Counted {
                interval_ns: step.interval_ns,
                advance: step.counters,
                restarted: step.restarted,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dev(octets: u64) -> String {
        let zeros = "0 ".repeat(14);
        format!("Inter-|\n face |\n    lo: 9 9 {zeros}\n  eth0: {octets} 1 {zeros}\n")
    }

    #[test]
    fn how_far_a_host_went_since_it_was_looked_at() {
        let file = std::env::temp_dir().join(format!("net-dev-{}", std::process::id()));
        let mut host = OwnHost::reading("me", file.clone());
        std::fs::write(&file, dev(100)).unwrap();
        assert_eq!(host.look().outcome, Outcome::First);
        std::fs::write(&file, dev(700)).unwrap();
        let row = host.look();
        let Outcome::Counted { advance, restarted, .. } = row.outcome else { panic!("{row:?}") };
        assert_eq!((advance.in_bytes, restarted), (600, false), "without loopback");
        std::fs::write(&file, dev(5)).unwrap();
        let Outcome::Counted { restarted, .. } = host.look().outcome else { panic!() };
        assert!(restarted);
        std::fs::write(&file, "Inter-|\n face |\neth0 nonsense\n").unwrap();
        assert!(matches!(host.look().outcome, Outcome::NotUnderstood(_)));
        std::fs::remove_file(&file).unwrap();
        let Outcome::NotUnderstood(why) = host.look().outcome else { panic!() };
        assert!(why.contains("/proc/net/dev"), "{why}");
    }
}
