//! Environment of an experiment: programs that it runs to their end, its folder, interruption.

use crate::programs::Programs;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use chronoscope_clock::{monotonic_ns, sleep};
use chronoscope_replay::parent::end_with_parent;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde::de::DeserializeOwned;
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, read_to_string};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// File in the experiment's folder with the programs' messages.
pub(crate) const LOG: &str = "log.txt";
/// In the environment of every program that is started: the folder of its experiment.
const MARK: &str = "CHRONOSCOPE_REPRODUCE";
/// Variables that give local paths, and do not affect the measurement.
const OURS: [&str; 3] = [MARK, "CHRONOSCOPE_DIR", "CHRONOSCOPE_DATA"];
/// Interval between two checks of a running program.
const LOOK: Duration = Duration::from_millis(50);
/// Time for a program to end by itself once it was asked.
const GRACE_NS: u64 = 20_000_000_000;
/// Limit of a program's duration: factor on the expected one, and addition.
const PATIENCE: (f64, f64) = (8.0, 240.0); // times, seconds

/// A signal interrupted the series; finished outcomes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl std::error::Error for Interrupted {}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted; what is finished is kept, the same command goes on")
    }
}

/// One running experiment.
#[derive(Debug)]
pub struct Run<'a> {
    /// The short form.
    pub quick: bool,
    /// Folder of the experiment. Files that programs keep there survive an interruption.
    pub folder: PathBuf,
    /// The root of the repository: scenarios and tools are there.
    pub root: &'a Path,
    programs: &'a Programs,
    stop: Arc<AtomicBool>,
    progress: &'a Progress,
    /// Expected duration of all of it, in seconds.
    expected_s: f64,
    rings: tempfile::TempDir,
    commands: Vec<String>,
}

/// A command line to be.
#[derive(Debug)]
pub struct Call<'r, 'a> {
    run: &'r mut Run<'a>,
    command: Command,
    name: String,
    accepted: Vec<i32>,
}

impl<'a> Run<'a> {
    /// In a folder that is there.
    ///
    /// # Errors
    /// When there is no room for what programs record.
    pub fn new(
        quick: bool,
        folder: PathBuf,
        root: &'a Path,
        programs: &'a Programs,
        stop: Arc<AtomicBool>,
        progress: &'a Progress,
        expected_s: f64,
    ) -> Result<Self> {
        // In memory if possible: recording must not wait for a disk.
        let rings =
            tempfile::Builder::new().prefix("chronoscope-reproduce.").tempdir_in("/dev/shm");
        let rings = rings.or_else(|_| tempfile::tempdir())?;
        let commands = Vec::new();
        Ok(Self { quick, folder, root, programs, stop, progress, expected_s, rings, commands })
    }

    /// The full value, or the one of the short form.
    pub fn either<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The measured programs.
    #[must_use]
    pub fn programs(&self) -> &Programs {
        self.programs
    }

    /// Folder in which programs record by default.
    #[must_use]
    pub fn rings(&self) -> &Path {
        self.rings.path()
    }

    /// A folder of its own, empty.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn fresh(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    /// A program of this workspace.
    ///
    /// # Errors
    /// When it was not built.
    pub fn call<'r>(&'r mut self, name: &str) -> Result<Call<'r, 'a>> {
        let path = self.programs.path(name)?;
        Ok(self.tool(name, &path))
    }

    /// Any other program or script.
    pub fn tool<'r>(&'r mut self, name: &str, path: &Path) -> Call<'r, 'a> {
        let mut command = Command::new(path);
        command.current_dir(self.root).env("CHRONOSCOPE_DIR", self.rings.path());
        // A store of the user must not get these rows.
        command.env("CHRONOSCOPE_DATA", self.folder.join("data")).env_remove("CHRONOSCOPE_STORE");
        Call { run: self, command, name: name.to_owned(), accepted: vec![0] }
    }

    /// The command lines until now.
    #[must_use]
    pub fn commands(&self) -> &[String] {
        &self.commands
    }

    /// Says a command line that is not run by [`Run::call`].
    pub fn note_command(&mut self, line: impl Into<String>) {
        self.commands.push(line.into());
    }

    /// Checks for an interruption.
    ///
    /// # Errors
    /// [`Interrupted`] once a signal arrived.
    pub fn go_on(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { bail!(Interrupted) } else { Ok(()) }
    }

    /// Waits, less when a signal comes.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn wait(&self, time: Duration) -> Result<()> {
        let end_ns = monotonic_ns() + u64::try_from(time.as_nanos())?;
        while monotonic_ns() < end_ns {
            self.go_on()?;
            self.progress.look();
            sleep(LOOK.min(Duration::from_nanos(end_ns.saturating_sub(monotonic_ns()))));
        }
        self.go_on()
    }

    /// The argument without parts that are specific to this machine and moment.
    fn shown(&self, word: &OsStr) -> String {
        let word = word.to_string_lossy();
        let known = [
            (self.folder.as_path(), "out"),
            (self.programs.folder(), "bin"),
            (self.rings.path(), "rings"),
            (self.root, "."),
        ];
        let mut word = word.into_owned();
        for (path, name) in known {
            word = word.replace(&path.display().to_string(), name);
        }
        let plain = |c: char| c.is_alphanumeric() || "-_./=:,%+@".contains(c);
        if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{word}'") }
    }
}

impl Call<'_, '_> {
    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    /// A variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// In this folder instead of the repository's.
    #[must_use]
    pub fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Ends well with this code, too.
    #[must_use]
    pub fn accept(mut self, code: i32) -> Self {
        self.accepted.push(code);
        self
    }

    /// Runs it to its end, and returns its standard output.
    ///
    /// # Errors
    /// When it fails, with the end of its messages; when it takes too long; [`Interrupted`].
    pub fn text(self) -> Result<String> {
        let output = self.run.folder.join(format!("{}.out", self.name));
        self.finish(&output)?;
        read_to_string(&output).with_context(|| output.display().to_string())
    }

    /// Runs it as [`Call::text`] does, and parses the output as JSON.
    ///
    /// # Errors
    /// As [`Call::text`], and when the output is not such JSON.
    pub fn json<T: DeserializeOwned>(self) -> Result<T> {
        let name = self.name.clone();
        let text = self.text()?;
        serde_json::from_str(&text).with_context(|| format!("what {name} printed"))
    }

    /// Starts it in the background: it is ended by [`Background::end`], or when that is dropped.
    ///
    /// # Errors
    /// When it cannot be started; [`Interrupted`].
    pub fn start(mut self, name: &str) -> Result<Background> {
        let output = self.run.folder.join(format!("{name}.out"));
        let (child, _) = self.spawn(&output)?;
        Ok(Background { child, name: name.to_owned(), output })
    }

    fn finish(mut self, output: &Path) -> Result<()> {
        let (child, begin) = self.spawn(output)?;
        let status = self.attend(child)?;
        if status.code().is_some_and(|code| self.accepted.contains(&code)) {
            return Ok(());
        }
        let said = read_to_string(self.run.folder.join(LOG)).unwrap_or_default();
        let said = usize::try_from(begin).ok().and_then(|begin| said.get(begin..)).unwrap_or("");
        let last: Vec<&str> = said.lines().rev().take(3).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        bail!("{}: {status}: {}", self.name, last.join(" / "))
    }

    /// The process, and where in the log it begins to talk.
    fn spawn(&mut self, output: &Path) -> Result<(Attended, u64)> {
        self.run.go_on()?;
        let words = std::iter::once(OsString::from(&self.name));
        let words = words.chain(self.command.get_args().map(OsStr::to_owned));
        let words: Vec<String> = words.map(|word| self.run.shown(&word)).collect();
        let line = words.join(" ");
        let variables: Vec<String> = (self.command.get_envs())
            .filter(|(name, _)| !OURS.iter().any(|own| *name == OsStr::new(own)))
            .filter_map(|(name, value)| {
                Some(format!("{}={}", name.to_string_lossy(), self.run.shown(value?)))
            })
            .collect();
        let line = [variables.join(" "), line].join(" ").trim().to_owned();
        self.run.commands.push(line.clone());
        let log = self.run.folder.join(LOG);
        let talk = OpenOptions::new().create(true).append(true).open(&log)?;
        let begin = talk.metadata()?.len();
        writeln_to(&talk, &format!("$ {line}"))?;
        let command = self.command.env(MARK, &self.run.folder);
        let child = end_with_parent(command)
            .stdin(Stdio::null())
            .stdout(File::create(output)?)
            .stderr(talk)
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {}", self.name))?;
        Ok((Attended(child), begin))
    }

    /// Waits until it ends. Its whole process group is ended when a signal arrives or it takes too
    /// long.
    fn attend(&self, mut child: Attended) -> Result<ExitStatus> {
        let patience_s = self.run.expected_s * PATIENCE.0 + PATIENCE.1;
        let begin_ns = monotonic_ns();
        loop {
            if let Some(status) = child.0.try_wait()? {
                return Ok(status);
            }
            if let Err(interrupted) = self.run.go_on() {
                child.stop(Signal::SIGINT)?;
                return Err(interrupted);
            }
            if (monotonic_ns() - begin_ns) as f64 / 1e9 > patience_s {
                child.stop(Signal::SIGINT)?;
                bail!("{} was stopped: it took more than {patience_s:.0} s", self.name);
            }
            self.run.progress.look();
            sleep(LOOK);
        }
    }
}

/// A program that runs beside.
#[derive(Debug)]
pub struct Background {
    child: Attended,
    name: String,
    output: PathBuf,
}

impl Background {
    /// Process number.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.0.id()
    }

    /// Asks it to end, and returns its output.
    ///
    /// # Errors
    /// When it had to be killed, or its output cannot be read.
    pub fn end(mut self) -> Result<String> {
        self.child.stop(Signal::SIGTERM).with_context(|| self.name.clone())?;
        read_to_string(&self.output).with_context(|| self.output.display().to_string())
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// When that cannot be known.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.0.try_wait()?.is_none())
    }
}

/// A program that is not left behind, whatever happens.
#[derive(Debug)]
pub(crate) struct Attended(Child);

impl Attended {
    /// A program that leads a process group of its own.
    pub(crate) fn new(child: Child) -> Self {
        Self(child)
    }

    /// Its status, once it has ended.
    pub(crate) fn try_wait(&mut self) -> std::io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    fn group(&self) -> Result<Pid> {
        Ok(Pid::from_raw(i32::try_from(self.0.id())?))
    }

    /// Asks it to end; where it does not, kills it and those that it started.
    pub(crate) fn stop(&mut self, signal: Signal) -> Result<()> {
        let group = self.group()?;
        // One that has just ended needs none.
        let _ = killpg(group, signal);
        let end_ns = monotonic_ns() + GRACE_NS;
        while self.0.try_wait()?.is_none() && monotonic_ns() < end_ns {
            sleep(LOOK);
        }
        let _ = killpg(group, Signal::SIGKILL);
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        if let (Ok(None), Ok(group)) = (self.0.try_wait(), self.group()) {
            let _ = killpg(group, Signal::SIGKILL);
            let _ = self.0.wait();
        }
    }
}

/// Ends programs that a killed run of this experiment left behind: every program that was started
/// for this folder has a mark in its environment, and so have its children. The kernel kills those
/// that the run itself started; it does not wait for their end, and does not kill their children.
pub(crate) fn end_leftovers(folder: &Path) {
    let mark = format!("{MARK}={}", folder.display());
    let end_ns = monotonic_ns() + GRACE_NS;
    loop {
        let (left, is_one_ending) = leftovers(&mark);
        if left.is_empty() && !is_one_ending || monotonic_ns() > end_ns {
            break;
        }
        for process in left {
            eprintln!("ending process {process}, which an earlier, killed run left behind");
            // It may have ended by itself.
            let _ = kill(process, Signal::SIGKILL);
        }
        sleep(LOOK);
    }
}

/// Processes that run with this in their environment, and whether any process of this user is
/// ending: such a one has no environment any more (some kernels then say ESRCH), but still has its
/// files and their locks.
fn leftovers(mark: &str) -> (Vec<Pid>, bool) {
    let (mut marked, mut is_one_ending) = (Vec::new(), false);
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let environment = match std::fs::read(entry.path().join("environ")) {
            Ok(environment) => environment,
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Vec::new(),
            Err(_) => continue, // of another user, or it has ended
        };
        if environment.split(|octet| *octet == 0).any(|variable| variable == mark.as_bytes()) {
            marked.push(Pid::from_raw(process));
        }
        is_one_ending |= environment.is_empty() && is_ending(&entry.path());
    }
    (marked, is_one_ending)
}

/// Whether a thread of a process has begun to end and still has its files.
fn is_ending(process: &Path) -> bool {
    /// `PF_EXITING` of the kernel's `include/linux/sched.h`.
    const EXITING: u32 = 4;
    let threads = std::fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| read_to_string(thread.path().join("stat")).ok()).any(|stat| {
        // State and flags are fields 3 and 9 (proc(5)); the name before may have blanks in it.
        let Some((_, fields)) = stat.rsplit_once(") ") else { return false };
        let fields: Vec<&str> = fields.split(' ').collect();
        let flags: u32 = fields.get(6).and_then(|flags| flags.parse().ok()).unwrap_or(0);
        // A zombie has closed its files.
        flags & EXITING != 0 && !matches!(fields[0], "Z" | "X")
    })
}

fn writeln_to(mut file: &File, line: &str) -> Result<()> {
    use std::io::Write;
    writeln!(file, "{line}").context("the log")
}
