//! A program run with cold caches, and its cost.
#![allow(unsafe_code)] // wait4 has no safe wrapper in the standard library

use anyhow::{Context, Result, bail};
use std::io::Read;
use std::process::{Command, Stdio};

/// Cost and output of one run.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    /// Time from before the start to after the end, in seconds.
    pub(crate) wall_s: f64,
    /// User and system time of the process, in seconds.
    pub(crate) cpu_s: f64,
    /// Largest resident set, in bytes.
    pub(crate) peak_bytes: u64,
    /// Output of the program.
    pub(crate) said: serde_json::Value,
}

/// Runs a program that prints one JSON object.
pub(crate) fn run(command: &mut Command) -> Result<Cost> {
    let begin_ns = chronoscope_clock::monotonic_ns();
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start")?;
    let mut text = String::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_string(&mut text)?;
    }
    let pid = libc::pid_t::try_from(child.id())?;
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which all zeroes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals of the right types; the process is our child and is
    // waited for only here, since `child` is only dropped, which does not wait.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    let wall_s = (chronoscope_clock::monotonic_ns() - begin_ns) as f64 / 1e9;
    if waited != pid || status != 0 {
        bail!("{command:?} ended with status {status:#x}");
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Cost {
        wall_s,
        cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        peak_bytes: u64::try_from(usage.ru_maxrss)? * 1024,
        said: serde_json::from_str(&text).with_context(|| format!("{command:?} said {text:?}"))?,
    })
}
