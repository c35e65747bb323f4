//! Shares of a program's CPU by `perf`, sampled by the CPU clock.

use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Percent of a process's samples that lie in functions of which `is_it` says so, over `time`.
///
/// # Errors
/// When there is no perf, or it may not look.
pub(crate) fn share_pct(pid: u32, time: Duration, is_it: impl Fn(&str) -> bool) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("perf.data");
    let recorded = Command::new("perf")
        .args(["record", "--quiet", "--event", "cpu-clock", "--freq", "997", "--output"])
        .arg(&data)
        .args(["--pid", &pid.to_string(), "--", "sleep", &time.as_secs_f64().to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context("no perf")?;
    if !recorded.status.success() {
        bail!("perf record: {}", String::from_utf8_lossy(&recorded.stderr).trim());
    }
    let report = Command::new("perf")
        .args(["report", "--stdio", "--no-children", "--fields", "overhead,symbol", "--input"])
        .arg(&data)
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&report.stdout);
    let lines: Vec<(f64, &str)> = text.lines().filter_map(line).collect();
    if lines.is_empty() {
        bail!("perf saw nothing");
    }
    Ok(lines.iter().filter(|(_, symbol)| is_it(symbol)).map(|(percent, _)| percent).sum())
}

/// Percent and symbol of a line such as `  6.42%  [.] name`.
fn line(line: &str) -> Option<(f64, &str)> {
    let (percent, rest) = line.trim_start().split_once('%')?;
    let (_, symbol) = rest.split_once("] ")?;
    Some((percent.parse().ok()?, symbol.trim()))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_has_a_share_and_a_name() {
        assert_eq!(line("     6.42%  [.] a::b<c>::d  "), Some((6.42, "a::b<c>::d")));
        assert_eq!(line("     0.31%  [k] clear_page"), Some((0.31, "clear_page")));
        assert_eq!(line("# Overhead  Symbol"), None);
        assert_eq!(line(""), None);
    }
}
