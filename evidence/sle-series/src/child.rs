//! Programs that are measured: started where the path wants them, heard by lines of JSON.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A program that runs; killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    name: String,
}

/// CPU time of a process, and how often its threads lost or gave up a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) used_ns: u64,
    /// Ready, while somebody else computed.
    pub(crate) waited_ns: u64,
    /// Context switches, voluntary and not.
    pub(crate) switches: u64,
}

impl Cpu {
    fn plus(self, other: Self) -> Self {
        Self {
            used_ns: self.used_ns + other.used_ns,
            waited_ns: self.waited_ns + other.waited_ns,
            switches: self.switches + other.switches,
        }
    }

    /// Since an earlier look; nothing where threads have ended in between.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            used_ns: self.used_ns.saturating_sub(earlier.used_ns),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            switches: self.switches.saturating_sub(earlier.switches),
        }
    }
}

impl Process {
    /// Starts `command`; its standard output is heard, its standard error is ours.
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped()) // ends with us: ours end then, too
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {name}: {command:?}"))?;
        let output = child.stdout.take().context("no standard output")?;
        let (sender, lines) = channel();
        thread::Builder::new().name(format!("{name}'s output")).spawn(move || {
            // Until it ends, or nobody listens any longer.
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { child, lines, name: name.to_owned() })
    }

    /// The next line.
    pub(crate) fn line(&mut self, within: Duration) -> Result<String> {
        match self.lines.recv_timeout(within) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                bail!("{} printed nothing for {} s", self.name, within.as_secs())
            }
            Err(RecvTimeoutError::Disconnected) => {
                bail!("{} ended: {}", self.name, self.child.wait()?)
            }
        }
    }

    /// The next event, as in `{"event": ...}`; one called `failed` is an error.
    pub(crate) fn event(&mut self, within: Duration) -> Result<Value> {
        loop {
            let line = self.line(within)?;
            // Whatever else a program prints is for people.
            let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
            if event["event"] == "failed" {
                bail!("{}: {}", self.name, event["why"].as_str().unwrap_or("failed"));
            }
            if event["event"].is_string() {
                return Ok(event);
            }
        }
    }

    /// The next event of this name; others are passed over.
    pub(crate) fn expect(&mut self, event: &str, within: Duration) -> Result<Value> {
        loop {
            let next = self.event(within)?;
            if next["event"] == event {
                return Ok(next);
            }
        }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// CPU time of all its threads so far, and how long they were ready and had no CPU; of those
    /// that there are.
    pub(crate) fn cpu(&self) -> Cpu {
        // The kernel's sum over threads is in ticks of 10 ms; schedstat has nanoseconds, of the
        // threads that there are.
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id()));
        let of = |task: fs::DirEntry| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            let mut numbers = text.split(' ').map(str::parse::<u64>);
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            Some(Cpu {
                used_ns: numbers.next()?.ok()?,
                waited_ns: numbers.next()?.ok()?,
                switches: switches(&status),
            })
        };
        tasks.into_iter().flatten().flatten().filter_map(of).fold(Cpu::default(), Cpu::plus)
    }

    /// Ends it, at once.
    pub(crate) fn end(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Sum of a thread's voluntary and other context switches, from its `/proc/.../status`.
fn switches(status: &str) -> u64 {
    let lines = status.lines().filter_map(|line| line.split_once("voluntary_ctxt_switches:"));
    lines.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::switches;

    #[test]
    fn both_kinds_of_switches_count() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        assert_eq!(switches(status), 695);
        assert_eq!(switches("Name:\tx\n"), 0);
    }
}
