//! Figures of the system about this process.

use chronoscope_clock as clock;
use std::fs;

/// Memory that the process has in RAM, octets; `None` where `/proc` cannot be read, and in a replay:
/// the kernel's to decide, it is another number in each.
pub(super) fn resident_bytes() -> Option<u64> {
    if clock::is_virtual() {
        return None;
    }
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Files and sockets that the process has open.
pub(super) fn open_files() -> Option<u64> {
    u64::try_from(fs::read_dir("/proc/self/fd").ok()?.count()).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_has_memory_and_files() {
        let files = super::open_files().unwrap();
        assert!(super::resident_bytes().unwrap() > 100_000);
        assert!(files >= 3);
    }
}
