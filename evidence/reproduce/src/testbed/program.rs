//! A program of the test bed: started, asked for its CPU time, ended and heard.

use super::split::Split;
use anyhow::{Context, Result, bail};
use chronoscope_clock::{monotonic_ns, sleep};
use chronoscope_radar::port_files::{ChainPort, PortFiles};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::{File, read_to_string};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Time for a program to end once it was asked.
const GRACE_NS: u64 = 30_000_000_000;
/// The kernel's unit of CPU time in `/proc` (`USER_HZ`), which is the same on every Linux.
const TICKS_PER_S: f64 = 100.0;

/// A program that runs. Killed when this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    name: String,
    output: PathBuf,
    log: PathBuf,
    /// CPU time when it was asked to end, in seconds.
    cpu_s: f64,
    /// Where its time had gone then.
    split: Split,
    asked: bool,
}

impl Program {
    /// Starts a command; its standard output goes to `NAME.out`, its standard error to `NAME.log`.
    /// It is not in the terminal's process group: Ctrl-C is passed on by this program, in the right
    /// order.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(folder: &Path, name: &str, command: &mut Command) -> Result<Self> {
        let (output, log) =
            (folder.join(format!("{name}.out")), folder.join(format!("{name}.log")));
        let command = command.stdin(Stdio::null()).process_group(0);
        let child = command.stdout(File::create(&output)?).stderr(File::create(&log)?).spawn();
        let child = child.with_context(|| format!("starting {name}"))?;
        Ok(Self {
            child,
            name: name.to_owned(),
            output,
            log,
            cpu_s: 0.0,
            split: Split::default(),
            asked: false,
        })
    }

    /// The kernel's number of its process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its messages so far.
    #[must_use]
    pub fn said(&self) -> String {
        read_to_string(&self.log).unwrap_or_default()
    }

    /// Whether it has ended by itself.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn is_over(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// CPU time of all its threads, in seconds, to 10 ms; of one that was asked to end, until then.
    #[must_use]
    pub fn cpu_s(&self) -> f64 {
        cpu_s_of(self.id()).unwrap_or(self.cpu_s).max(self.cpu_s)
    }

    /// Where the time of all its threads went; of one that was asked to end, until then.
    #[must_use]
    pub fn split(&self) -> Split {
        Split::of(self.id()).most(self.split)
    }

    /// Stores its times until now, which are lost once it has ended.
    pub fn note_cpu(&mut self) {
        self.cpu_s = self.cpu_s();
        self.split = self.split();
    }

    /// Asks it to end, without waiting. Only once: a second signal would end it at once.
    pub fn ask_to_end(&mut self) {
        if std::mem::replace(&mut self.asked, true) {
            return;
        }
        self.note_cpu();
        // It may have ended by itself: then there is nothing to ask of it.
        let _ = kill(Pid::from_raw(self.id().cast_signed()), Signal::SIGTERM);
    }

    /// Waits until it has ended, and returns its output.
    ///
    /// # Errors
    /// When it failed or did not end, with its last message.
    pub fn wait(&mut self) -> Result<String> {
        let begin_ns = monotonic_ns();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if monotonic_ns() - begin_ns > GRACE_NS {
                bail!("{} did not end within 30 s ({})", self.name, self.log.display());
            }
            sleep(Duration::from_millis(10));
        };
        if !status.success() {
            let said = self.said();
            let last = said.lines().last().unwrap_or("it said nothing");
            bail!("{}: {status}: {last} ({})", self.name, self.log.display());
        }
        read_to_string(&self.output).with_context(|| self.output.display().to_string())
    }

    /// Ends it: the JSON that it printed.
    ///
    /// # Errors
    /// As [`Program::wait`], and when it printed something else.
    pub fn end(&mut self) -> Result<Value> {
        if !self.is_over()? {
            self.ask_to_end();
        }
        let text = self.wait()?;
        serde_json::from_str(text.trim()).with_context(|| format!("what {} printed", self.name))
    }

    /// Waits until it listens, and returns the address.
    ///
    /// # Errors
    /// When it ends before, or takes more than 60 s.
    pub fn listens(&mut self, files: &PortFiles, port: ChainPort) -> Result<String> {
        for _ in 0..3000 {
            if let Some(address) = files.address(port) {
                return Ok(address);
            }
            self.must_run()?;
            sleep(Duration::from_millis(20));
        }
        bail!("{} did not write {} within 60 s", self.name, files.path(port).display())
    }

    /// Waits until it has printed a message.
    ///
    /// # Errors
    /// As [`Program::listens`].
    pub fn says(&mut self, what: impl Fn(&str) -> bool) -> Result<String> {
        for _ in 0..3000 {
            let said = self.said();
            if what(&said) {
                return Ok(said);
            }
            self.must_run()?;
            sleep(Duration::from_millis(20));
        }
        bail!("{} is not ready after 60 s ({})", self.name, self.log.display())
    }

    /// # Errors
    /// When it has ended, with its last message.
    pub fn must_run(&mut self) -> Result<()> {
        if self.is_over()? {
            let said = self.said();
            let last = said.lines().last().unwrap_or("it said nothing");
            bail!("{} ended early: {last} ({})", self.name, self.log.display());
        }
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU time of a process, in seconds; `None` when it is gone.
pub(super) fn cpu_s_of(process: u32) -> Option<f64> {
    let text = read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Fields 14 and 15 (proc(5)); the name before them may have blanks in it.
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_S)
}
