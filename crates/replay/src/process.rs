//! Processes of a replay: started with the same environment and addresses every time; the kernel's
//! figures when they have ended.
#![allow(unsafe_code)] // what a child does between fork and exec; wait4 has no safe wrapper

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// A program that takes part.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Name in reports.
    pub name: String,
    /// Path and arguments.
    pub command: Vec<OsString>,
    /// All of its environment, but for what the replay adds.
    pub environment: Vec<(OsString, OsString)>,
    /// Working folder.
    pub folder: PathBuf,
    /// File for its standard output; `None` discards it.
    pub output: Option<PathBuf>,
    /// File for its standard error; `None` for that of `output`.
    pub error: Option<PathBuf>,
    /// Libraries that are loaded after the replay's own and before all others, in this order.
    pub preload: Vec<PathBuf>,
}

/// Resources of a process, as reported by the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// In user space, nanoseconds.
    pub user_ns: u64,
    /// In the kernel, nanoseconds.
    pub system_ns: u64,
    /// Most memory that it had at once, octets; 0 where that is not known.
    pub rss_bytes_max: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Times that it waited.
    pub voluntary_switches: u64,
    /// Times that it was taken off the processor.
    pub involuntary_switches: u64,
}

impl Usage {
    /// Takes out what was used before; memory stays what it was at most.
    pub(crate) fn subtract(&mut self, before: &Self) {
        let less = |all: &mut u64, part: u64| *all = all.saturating_sub(part);
        less(&mut self.user_ns, before.user_ns);
        less(&mut self.system_ns, before.system_ns);
        less(&mut self.minor_faults, before.minor_faults);
        less(&mut self.major_faults, before.major_faults);
        less(&mut self.voluntary_switches, before.voluntary_switches);
        less(&mut self.involuntary_switches, before.involuntary_switches);
    }
}

/// A process that was started here. Dropped while it runs, it runs on.
#[derive(Debug)]
pub struct Running {
    pid: i32,
    over: Option<(ExitStatus, Usage)>,
}

impl Running {
    /// The kernel's process number, which is also that of its process group.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Exit status and resources, children that it waited for included; `None` while it runs.
    ///
    /// # Errors
    /// When the kernel does not know the process.
    pub fn poll(&mut self) -> io::Result<Option<(ExitStatus, Usage)>> {
        self.reap(libc::WNOHANG)
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// When the kernel does not know the process.
    pub fn wait(&mut self) -> io::Result<Option<(ExitStatus, Usage)>> {
        self.reap(0)
    }

    fn reap(&mut self, options: i32) -> io::Result<Option<(ExitStatus, Usage)>> {
        while self.over.is_none() {
            let mut status = 0;
            // SAFETY: zeroes are a valid rusage.
            let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
            // SAFETY: both are valid places for the answers.
            let pid = unsafe { libc::wait4(self.pid, &raw mut status, options, &raw mut usage) };
            match pid {
                0 => return Ok(None),
                -1 => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
                _ => self.over = Some((ExitStatus::from_raw(status), used(&usage))),
            }
        }
        Ok(self.over)
    }
}

fn used(usage: &libc::rusage) -> Usage {
    let ns = |t: libc::timeval| {
        t.tv_sec.cast_unsigned() * 1_000_000_000 + t.tv_usec.cast_unsigned() * 1000
    };
    Usage {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        rss_bytes_max: usage.ru_maxrss.cast_unsigned() * 1024,
        minor_faults: usage.ru_minflt.cast_unsigned(),
        major_faults: usage.ru_majflt.cast_unsigned(),
        voluntary_switches: usage.ru_nvcsw.cast_unsigned(),
        involuntary_switches: usage.ru_nivcsw.cast_unsigned(),
    }
}

/// Fields of `/proc/PID/stat` from the third on: those behind the program's name, which may contain
/// anything. A field that is no number is 0.
fn stat_fields(pid: i32) -> Option<Vec<u64>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit(')').next()?.split_whitespace();
    Some(fields.map(|field| field.parse().unwrap_or(0)).collect())
}

/// Figures of `/proc` for a process that ended and was not waited for yet; memory and switches are
/// gone by then. In hundredths of a second.
#[must_use]
pub fn usage_of(pid: i32) -> Option<Usage> {
    let fields = stat_fields(pid)?;
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Usage {
        user_ns: field(14)? * 10_000_000,
        system_ns: field(15)? * 10_000_000,
        minor_faults: field(10)?,
        major_faults: field(12)?,
        ..Usage::default()
    })
}

/// What a process that runs has used until now, as [`Running::wait`] will count it: children that it
/// waited for included; times in hundredths of a second. `None` when there is no such process.
pub(crate) fn usage_so_far(pid: i32) -> Option<Usage> {
    let fields = stat_fields(pid)?;
    let field = |number: usize| fields.get(number - 3).copied();
    let mut usage = Usage {
        user_ns: (field(14)? + field(16)?) * 10_000_000,
        system_ns: (field(15)? + field(17)?) * 10_000_000,
        minor_faults: field(10)? + field(11)?,
        major_faults: field(12)? + field(13)?,
        ..Usage::default()
    };
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    for task in tasks {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        usage.voluntary_switches += number_after(&status, "voluntary_ctxt_switches:");
        usage.involuntary_switches += number_after(&status, "nonvoluntary_ctxt_switches:");
    }
    Some(usage)
}

/// Memory of a process that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Resident now, octets.
    pub(crate) rss_bytes: u64,
    /// Most that was resident since it executed its program, octets. (The kernel's figure at its
    /// end includes the memory of who started it.)
    pub(crate) rss_bytes_max: u64,
}

/// Memory of a process; `None` when there is no such process, or it has ended.
pub(crate) fn memory_of(pid: i32) -> Option<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let bytes = |name: &str| number_after(&status, name) * 1024;
    let memory = Memory { rss_bytes: bytes("VmRSS:"), rss_bytes_max: bytes("VmHWM:") };
    (memory.rss_bytes > 0).then_some(memory)
}

/// The number in a line of `/proc/PID/status`; 0 without it.
fn number_after(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The kernel's number of a process that its parent, or who took its parent's children, knows by
/// another.
pub(crate) fn child_of(parent: i32, pid: i32) -> Option<i32> {
    let numbers = |path: String, after: &str| -> Vec<i32> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(after)).unwrap_or_default();
        line.split_whitespace().filter_map(|number| number.parse().ok()).collect()
    };
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?.flatten();
    let children =
        threads.flat_map(|thread| numbers(format!("{}/children", thread.path().display()), ""));
    let mut children = children.collect::<Vec<_>>().into_iter();
    children.find(|child| numbers(format!("/proc/{child}/status"), "NSpid:").last() == Some(&pid))
}

/// Starts a program without address space randomisation. `own_numbers`: it is the child of a
/// thread that has process numbers of its own.
///
/// # Errors
/// When there is no such program, or the output cannot be made.
pub fn start(
    program: &Program,
    preload: &Path,
    time: &Path,
    own_numbers: bool,
) -> io::Result<Running> {
    let Some((path, arguments)) = program.command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
    };
    let mut command = Command::new(path);
    command.args(arguments).current_dir(&program.folder).stdin(Stdio::null());
    command.env_clear().envs(program.environment.iter().map(|(name, value)| (name, value)));
    command.env("LD_PRELOAD", preloads(preload, &program.preload)).env("CHRONOSCOPE_TIME", time);
    match &program.output {
        Some(output) => {
            let file = File::create(output)?;
            command.stdout(file.try_clone()?);
            command.stderr(program.error.as_ref().map_or(Ok(file), File::create)?);
        }
        None => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
    }
    // SAFETY: the closures make system calls and touch no memory of the parent's.
    unsafe {
        command.pre_exec(fixed_addresses);
        if own_numbers {
            command.pre_exec(own_proc);
        }
    }
    command.process_group(0); // a signal for this program is not for it
    let pid = command.spawn()?.id().cast_signed();
    Ok(Running { pid, over: None })
}

/// The value of `LD_PRELOAD`: the replay's library first, which must see every call before others.
fn preloads(own: &Path, more: &[PathBuf]) -> OsString {
    let mut all = own.as_os_str().to_owned();
    for library in more {
        all.push(":");
        all.push(library);
    }
    all
}

fn fixed_addresses() -> io::Result<()> {
    use nix::sys::personality::{Persona, get, set};
    set(get()? | Persona::ADDR_NO_RANDOMIZE)?;
    Ok(())
}

/// A `/proc` by the process's own numbers, for it and its children alone. Where it may not be
/// mounted it stays the host's, in which `/proc/self` is right and `/proc/NUMBER` is not.
fn own_proc() -> io::Result<()> {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};
    let none = None::<&'static [u8]>;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    let _ = unshare(CloneFlags::CLONE_NEWNS)
        .and_then(|()| mount(none, "/", none, private, none))
        .and_then(|()| mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), none));
    Ok(())
}
