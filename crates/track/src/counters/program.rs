//! Runs a program once, in surroundings that are always the same.

#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chronoscope_clock as clock;

use super::{Counter, Reading, perf};

/// A program to measure.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
    /// Variables beside those that every measured program gets: `PATH`, `LC_ALL=C`, `TZ=UTC`.
    /// Nothing is inherited, since the environment's size and content move counts.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder that it runs in; otherwise this process's.
    pub folder: Option<PathBuf>,
    /// Time limit: the program is killed then, with its process group.
    pub limit: Duration,
    /// Cancellation flag: when it is set, the program is killed.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Program {
    /// The program at `path` without arguments; at most ten minutes.
    pub fn new(path: impl Into<PathBuf>) -> Program {
        Program {
            path: path.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            limit: Duration::from_secs(600),
            stop: None,
        }
    }

    /// The same program with one more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Program {
        self.arguments.push(argument.into());
        self
    }

    /// The same program run by a tool such as Valgrind.
    pub(super) fn under(&self, tool: &str, arguments: Vec<OsString>) -> Program {
        let mut all = arguments;
        all.push(self.path.clone().into());
        all.extend(self.arguments.iter().cloned());
        Program { path: tool.into(), arguments: all, ..self.clone() }
    }
}

/// Reason why a program could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program could not be started or observed.
    #[error("{path}: {doing}: {source}")]
    Io {
        /// The program.
        path: PathBuf,
        /// The failed step.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The program's exit status is not 0: its counts do not belong to the intended work.
    #[error("{path} ended with {status}{}", said(stderr))]
    Failed {
        /// The program.
        path: PathBuf,
        /// Exit status or signal.
        status: ExitStatus,
        /// End of its output on stderr.
        stderr: String,
    },
    /// The program exceeded its time limit and was killed.
    #[error("{path} ran longer than {} s and was killed{}", limit.as_secs_f64(), said(stderr))]
    TooLong {
        /// The program.
        path: PathBuf,
        /// The limit.
        limit: Duration,
        /// End of its output on stderr.
        stderr: String,
    },
    /// The measurement was cancelled, and the program killed.
    #[error("{path} was stopped")]
    Stopped {
        /// The program.
        path: PathBuf,
    },
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it said: {stderr}") }
}

/// Resource usage of a process that has ended, and of its children that it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Time from before its start to after its end, nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time in user space, nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, nanoseconds.
    pub system_ns: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Times that it waited.
    pub voluntary_switches: u64,
    /// Times that it was taken off the processor.
    pub involuntary_switches: u64,
    /// Largest resident memory, bytes.
    pub rss_bytes_max: u64,
}

/// Runs the program to its end; returns the kernel's resource usage, and the counters in their
/// order.
pub(super) fn run(
    program: &Program,
    counters: &[Counter],
) -> Result<(Usage, Vec<Reading>), RunError> {
    let io = |doing: &'static str| {
        let path = program.path.clone();
        move |source| RunError::Io { path, doing, source }
    };
    let (ours, theirs) = UnixDatagram::pair().map_err(io("a pair of sockets"))?;
    let mut stderr = tempfile::tempfile().map_err(io("a file for stderr"))?;
    let said = stderr.try_clone().map_err(io("a file for stderr"))?;
    let wanted = counters.to_vec();
    let at_exec = move || perf::open_at_exec_and_send(&wanted, &theirs);
    let mut command = command(program, said, at_exec);
    let begin_ns = clock::monotonic_ns();
    let child = command.spawn().map_err(io("starting it"))?;
    drop(command);
    let pid = libc::pid_t::try_from(child.id()).expect("a pid is a pid");
    let end = wait_until_ended(pid, program);
    if !matches!(end, Ok(End::ByItself)) {
        // SAFETY: signals the group that the child was made the leader of; it has not been waited
        // for, so its number is still its own.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
    }
    let (status, mut usage) = reap(pid).map_err(io("waiting for it"))?;
    usage.elapsed_ns = clock::monotonic_ns().saturating_sub(begin_ns);
    let path = program.path.clone();
    match end {
        Err(source) => return Err(io("watching it")(source)),
        Ok(End::Stopped) => return Err(RunError::Stopped { path }),
        Ok(End::TooLong) => {
            return Err(RunError::TooLong {
                path,
                limit: program.limit,
                stderr: tail(&mut stderr),
            });
        }
        Ok(End::ByItself) if !status.success() => {
            return Err(RunError::Failed { path, status, stderr: tail(&mut stderr) });
        }
        Ok(End::ByItself) => {}
    }
    let readings = counters.iter().map(|_| perf::receive(&ours)?.read());
    let readings = readings.collect::<io::Result<Vec<_>>>().map_err(io("reading its counters"))?;
    Ok((usage, readings))
}

/// The program in its surroundings. `at_exec` is called in the child between fork and exec: it may
/// make system calls only, allocate nothing and take no lock.
pub(super) fn command(
    program: &Program,
    stderr: File,
    mut at_exec: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) -> Command {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C").env("TZ", "UTC");
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).process_group(0);
    // SAFETY: between fork and exec the closure makes system calls only, as `at_exec` does by its
    // contract; it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || {
            perf::without_address_randomisation()?;
            at_exec()
        });
    }
    command
}

/// Reason why the wait for a child ended.
enum End {
    ByItself,
    TooLong,
    Stopped,
}

/// Interval at which the cancellation flag is read, milliseconds.
const LOOK_EVERY_MS: u64 = 100;

/// Waits for the end of a child without taking it.
fn wait_until_ended(pid: libc::pid_t, program: &Program) -> io::Result<End> {
    // SAFETY: numbers only.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = libc::c_int::try_from(fd).map_err(io::Error::other)?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let limit_ns = u64::try_from(program.limit.as_nanos()).unwrap_or(u64::MAX);
    let end_ns = clock::monotonic_ns().saturating_add(limit_ns);
    loop {
        if program.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(End::Stopped);
        }
        let left_ms = end_ns.saturating_sub(clock::monotonic_ns()) / 1_000_000;
        let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let slice_ms = if program.stop.is_some() { LOOK_EVERY_MS } else { u64::MAX };
        let timeout = libc::c_int::try_from(left_ms.min(slice_ms)).unwrap_or(libc::c_int::MAX);
        // SAFETY: one entry, which lives during the call.
        match unsafe { libc::poll(&raw mut poll, 1, timeout) } {
            0 if left_ms <= 1 => return Ok(End::TooLong),
            0 => {}
            1 => return Ok(End::ByItself),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

fn reap(pid: libc::pid_t) -> io::Result<(ExitStatus, Usage)> {
    loop {
        let mut status = 0;
        // SAFETY: all zeros is a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to live memory of the right type.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            return Ok((ExitStatus::from_raw(status), usage_of(&usage)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn usage_of(usage: &libc::rusage) -> Usage {
    // The kernel gives no negative ones.
    let count = |value: i64| u64::try_from(value).unwrap_or(0);
    let ns = |time: libc::timeval| count(time.tv_sec) * 1_000_000_000 + count(time.tv_usec) * 1000;
    Usage {
        elapsed_ns: 0,
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        rss_bytes_max: count(usage.ru_maxrss) * 1024,
    }
}

/// The last 2000 octets of a file.
pub(super) fn tail(file: &mut File) -> String {
    let mut octets = Vec::new();
    let read = file.seek(SeekFrom::End(0)).and_then(|size| {
        file.seek(SeekFrom::Start(size.saturating_sub(2000)))?;
        file.read_to_end(&mut octets)
    });
    match read {
        Ok(_) => String::from_utf8_lossy(&octets).trim().to_owned(),
        Err(error) => format!("(what it said cannot be read: {error})"),
    }
}
