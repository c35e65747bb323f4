//! Programs that run meanwhile.

use crate::http::{self, Answer};
use crate::world::World;
use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longest wait for an expected event, also on a busy machine.
const LATE: Duration = Duration::from_secs(30);

/// The monotonic clock so long from now.
fn deadline_ns(after: Duration) -> u64 {
    clock::monotonic_ns().saturating_add(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX))
}

/// Waits for the end of a program, at most so long; `None` when it had to be killed.
///
/// # Errors
/// When it cannot be waited for.
pub(crate) fn finish(child: &mut Child, at_most: Duration) -> Result<Option<ExitStatus>> {
    let deadline_ns = deadline_ns(at_most);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if clock::monotonic_ns() > deadline_ns {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        clock::sleep(Duration::from_millis(2));
    }
}

/// Most time for one command on little data.
const COMMAND_LATE: Duration = Duration::from_secs(20);
/// Exit code of a panic in Rust.
const PANIC: i32 = 101;

/// Runs a command to its end; `None` when it hangs.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn output(command: &mut Command) -> Result<Option<Output>> {
    // Output goes to files: a pipe that is not read would block a command with much output.
    let dir = tempfile::tempdir()?;
    let (out, err) = (dir.path().join("out"), dir.path().join("err"));
    command.stdout(std::fs::File::create(&out)?).stderr(std::fs::File::create(&err)?);
    let mut child = command.spawn()?;
    let Some(status) = finish(&mut child, COMMAND_LATE)? else { return Ok(None) };
    Ok(Some(Output { status, stdout: std::fs::read(out)?, stderr: std::fs::read(err)? }))
}

/// Whether a program ended by a signal or a panic.
pub(crate) fn fell(status: ExitStatus) -> bool {
    status.code().is_none_or(|code| code == PANIC)
}

/// Waits until something holds, at most [`LATE`]; whether it does.
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) -> bool {
    let deadline_ns = deadline_ns(LATE);
    while !holds() {
        if clock::monotonic_ns() > deadline_ns {
            return false;
        }
        clock::sleep(Duration::from_millis(10));
    }
    true
}

/// A running program, with its output on standard error; killed when dropped.
pub(crate) struct Running {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Running {
    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let said = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().context("its standard error")?);
        let heard = said.clone();
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                if let Ok(mut heard) = heard.lock() {
                    heard.push_str(&line);
                    heard.push('\n');
                }
            }
        });
        Ok(Self { child, said })
    }

    /// Its output on standard error so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().map(|said| said.clone()).unwrap_or_default()
    }

    /// The text behind a word in its output, once it has printed it.
    ///
    /// # Errors
    /// When it ends, or does not print it in time.
    pub(crate) fn says(&mut self, word: &str) -> Result<String> {
        let mut found = None;
        let mut ended = None;
        wait_until(|| {
            ended = self.child.try_wait().ok().flatten();
            let said = self.said();
            found = said.lines().find_map(|line| Some(line.split_once(word)?.1.to_owned()));
            found.is_some() || ended.is_some()
        });
        found.with_context(|| format!("it never printed {word:?} ({ended:?}): {}", self.said()))
    }

    /// Standard input of the program.
    pub(crate) fn input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Standard output of the program.
    pub(crate) fn output(&mut self) -> Option<impl Read + use<>> {
        self.child.stdout.take()
    }

    /// Process number of the program.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it runs still.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The most memory it has taken (VmHWM of proc(5)), in octets; 0 where it has ended.
    pub(crate) fn memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
        kibibytes.unwrap_or(0) * 1024
    }

    /// Kills it, as by a crash.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }

    /// Ends it as an operator does; `None` when it had to be killed.
    ///
    /// # Errors
    /// When there is no such process.
    pub(crate) fn stop(&mut self) -> Result<Option<ExitStatus>> {
        kill(Pid::from_raw(i32::try_from(self.child.id())?), Signal::SIGTERM)?;
        finish(&mut self.child, LATE)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A running `chronoscope serve`.
pub(crate) struct Server {
    /// Process of the server.
    pub(crate) running: Running,
    /// Address on which it listens.
    pub(crate) address: SocketAddr,
    /// The folder of rings that it reads.
    rings: PathBuf,
}

impl Server {
    /// The command line: a store, a folder of rings, a port of the kernel's choice.
    pub(crate) fn command(world: &World, data: &Path, rings: &Path) -> Command {
        Self::command_at(world, data, rings, "127.0.0.1:0")
    }

    /// Command as by [`Self::command`], on a port that agents know already.
    pub(crate) fn command_at(world: &World, data: &Path, rings: &Path, listen: &str) -> Command {
        let mut command = world.chronoscope(&["serve", "--quiet", "--listen", listen]);
        command.args(["--wait-late", "1s", "--data"]).arg(data).arg("--rings").arg(rings);
        command
    }

    /// Starts it and waits until it listens.
    ///
    /// # Errors
    /// When it does not come to that.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let rings = command.get_args().skip_while(|argument| *argument != "--rings").nth(1);
        let rings = PathBuf::from(rings.context("no --rings")?);
        let mut running = Running::start(command)?;
        let url = running.says("the page is at http://")?;
        let address = url.trim_end_matches('/').parse().context("where it listens")?;
        Ok(Self { running, address, rings })
    }

    /// The answer to `GET PATH`.
    ///
    /// # Errors
    /// When there is none in time.
    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        http::request(self.address, &format!("GET {path}"), "", b"")
    }

    /// Status of the server.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) fn status(&self) -> Result<Value> {
        let answer = self.get("/status")?;
        if answer.code != 200 {
            bail!("/status: {}", answer.code);
        }
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// Waits until the rings of ended programs have been read and removed, and every row is
    /// durable. Returns the last status, and whether this state was reached.
    pub(crate) fn drained(&self) -> (Value, bool) {
        let mut last = Value::Null;
        let is_drained = wait_until(|| {
            if !rings(&self.rings).is_empty() {
                return false;
            }
            let Ok(status) = self.status() else { return false };
            last = status;
            last["stored_rows"] == last["durable_rows"]
        });
        (last, is_drained)
    }
}

/// The rings in a folder.
pub(crate) fn rings(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "ring")).collect()
}

/// A program that records until it is stopped.
pub(crate) struct Recorder {
    running: Running,
}

impl Recorder {
    /// Starts it, with so many rows a second.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(world: &World, rings: &Path, rate: u64) -> Result<Self> {
        let mut command = world.recorder(rings, &["--rate", &rate.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(Self { running: Running::start(&mut command)? })
    }

    /// Ends it; how many rows it has recorded.
    ///
    /// # Errors
    /// When it does not say.
    pub(crate) fn end(mut self) -> Result<u64> {
        drop(self.running.input());
        let mut said = String::new();
        self.running.output().context("its output")?.read_to_string(&mut said)?;
        Ok(said.trim().parse()?)
    }
}
