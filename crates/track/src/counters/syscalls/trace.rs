//! A tracer of a program with all its threads and children.
//!
//! ptrace(2) binds a tracee to the thread that traces it, as its child. The tracer therefore runs
//! in a thread of its own, and other threads of this process may start and await programs
//! meanwhile. A second thread enforces the time limit.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::mpsc;

use super::super::program::{self, Program, RunError};
use super::counts::{ProcessSyscalls, Syscalls};
use super::names;

/// Runs it to its end, or to the end of its time.
pub(super) fn run(program: &Program) -> Result<Syscalls, RunError> {
    let io = |doing: &'static str| {
        move |source| RunError::Io { path: program.path.clone(), doing, source }
    };
    let mut stderr = tempfile::tempfile().map_err(io("a file for stderr"))?;
    let said = stderr.try_clone().map_err(io("a file for stderr"))?;
    let (started, starts) = mpsc::channel();
    let (ended, ends) = mpsc::channel::<()>();
    let (traced, in_time) = std::thread::scope(|scope| {
        let tracer = scope.spawn(move || {
            let _ended = ended; // dropped however this ends
            let child = start(program, said).map_err(io("starting it to be traced"))?;
            let handle = pidfd(child).map_err(io("watching it"))?;
            // The receiver is gone only if the watching thread has panicked.
            let _ = started.send(handle);
            Tracer::default().follow(child).map_err(io("tracing it"))
        });
        let mut in_time = true;
        if let Ok(handle) = starts.recv() {
            let waited = ends.recv_timeout(program.limit);
            in_time = !matches!(waited, Err(mpsc::RecvTimeoutError::Timeout));
            if !in_time {
                kill(&handle);
            }
        }
        (tracer.join(), in_time)
    });
    let traced = match traced {
        Ok(traced) => traced,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let path = program.path.clone();
    if !in_time {
        let limit = program.limit;
        return Err(RunError::TooLong { path, limit, stderr: program::tail(&mut stderr) });
    }
    let (status, found) = traced?;
    if !status.success() {
        return Err(RunError::Failed { path, status, stderr: program::tail(&mut stderr) });
    }
    Ok(found)
}

/// Starts it, stopped before its first instruction, as a tracee of the calling thread.
fn start(program: &Program, stderr: std::fs::File) -> io::Result<libc::pid_t> {
    // SAFETY: numbers only; makes a request to the kernel, as must be between fork and exec.
    let traced = || match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    let child = program::command(program, stderr, traced).spawn()?;
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: `status` lives during the call.
    if unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) } == -1 {
        return Err(io::Error::last_os_error());
    }
    if !libc::WIFSTOPPED(status) {
        let ended = ExitStatus::from_raw(status);
        return Err(io::Error::other(format!("it ended before its first instruction: {ended}")));
    }
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SETOPTIONS, pid, options.into())?;
    Ok(pid)
}

fn pidfd(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: numbers only.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = libc::c_int::try_from(fd).map_err(io::Error::other)?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Kills the process of a descriptor; has no effect on one that has ended.
fn kill(handle: &OwnedFd) {
    let no_info: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: our descriptor, a signal, and no further information.
    unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            handle.as_raw_fd(),
            libc::SIGKILL,
            no_info,
            0_u32,
        )
    };
}

/// A request about a stopped tracee that takes a number.
fn request(what: libc::c_uint, tid: libc::pid_t, data: libc::c_long) -> io::Result<()> {
    // SAFETY: these requests read no memory of ours: `data` is a number to them.
    match unsafe { libc::ptrace(what, tid, 0_usize, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// State of the tracees.
#[derive(Default)]
struct Tracer {
    /// By thread: its process image, and whether it has stopped once.
    tasks: HashMap<libc::pid_t, Task>,
    /// By process: its current image.
    images: HashMap<libc::pid_t, usize>,
    /// All images, each with the index of its process in order of creation.
    found: Vec<(usize, ProcessSyscalls)>,
    made: usize,
}

#[derive(Clone, Copy)]
struct Task {
    process: libc::pid_t,
    begun: bool,
}

impl Tracer {
    /// Follows everything until the first process has ended.
    fn follow(mut self, first: libc::pid_t) -> io::Result<(ExitStatus, Syscalls)> {
        self.executed(first);
        resume(first, 0)?;
        loop {
            let mut status = 0;
            // SAFETY: `status` lives during the call. Only children and tracees of this thread.
            let tid =
                unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
            if tid == -1 {
                let error = io::Error::last_os_error();
                if error.kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return Err(error);
            }
            if libc::WIFSTOPPED(status) {
                let signal = self.stopped(tid, status)?;
                resume(tid, signal)?;
                continue;
            }
            self.tasks.remove(&tid);
            self.images.remove(&tid);
            if tid == first {
                return Ok((ExitStatus::from_raw(status), self.sum()));
            }
        }
    }

    fn sum(mut self) -> Syscalls {
        self.found.sort_by_key(|(number, _)| *number); // stable: images of a process as they came
        let processes = self.found.into_iter().map(|(_, image)| image).collect();
        Syscalls { processes, left: self.images.len() as u64 }
    }

    /// Notes why a tracee stopped; the signal that it is to get when it goes on, or 0.
    fn stopped(&mut self, tid: libc::pid_t, status: libc::c_int) -> io::Result<libc::c_int> {
        self.meet(tid);
        let signal = libc::WSTOPSIG(status);
        if signal == libc::SIGTRAP | 0x80 {
            self.count(tid)?;
            return Ok(0);
        }
        match status >> 16 {
            0 => {}
            libc::PTRACE_EVENT_EXEC => {
                self.executed(tid);
                return Ok(0);
            }
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                if let Some(new) = message(tid)? {
                    self.meet(new); // now, so that the order is that of the forks
                }
                return Ok(0);
            }
            _ => return Ok(0),
        }
        let begun =
            self.tasks.get_mut(&tid).is_none_or(|task| std::mem::replace(&mut task.begun, true));
        // The kernel stops a new tracee by a signal that nobody sent.
        if signal == libc::SIGSTOP && !begun { Ok(0) } else { Ok(signal) }
    }

    /// Registers a thread with its process; creates the process where it is new.
    fn meet(&mut self, tid: libc::pid_t) {
        if self.tasks.contains_key(&tid) {
            return;
        }
        let process = process_of(tid).unwrap_or(tid);
        self.tasks.insert(tid, Task { process, begun: false });
        let image = match self.images.get(&process) {
            Some(image) => *image,
            None => self.new_image(process, true),
        };
        self.found[image].1.threads += 1;
    }

    fn new_image(&mut self, process: libc::pid_t, forked: bool) -> usize {
        let image = self.found.len();
        let program = program_of(process);
        let number = self.images.get(&process).map_or(self.made, |before| self.found[*before].0);
        self.made = self.made.max(number + 1);
        self.found.push((number, ProcessSyscalls { program, forked, ..Default::default() }));
        self.images.insert(process, image);
        image
    }

    /// A process executes another program, which ends its other threads.
    fn executed(&mut self, process: libc::pid_t) {
        self.tasks.retain(|tid, task| task.process != process || *tid == process);
        self.tasks.insert(process, Task { process, begun: true });
        let image = self.new_image(process, false);
        self.found[image].1.threads = 1;
    }

    /// Counts the call that a thread begins.
    fn count(&mut self, tid: libc::pid_t) -> io::Result<()> {
        let Some(number) = entered(tid)? else { return Ok(()) };
        let image = self.tasks.get(&tid).and_then(|task| self.images.get(&task.process));
        if let Some(image) = image {
            let calls = &mut self.found[*image].1.calls;
            let name = names::name(number);
            match calls.get_mut(&*name) {
                Some(count) => *count += 1,
                None => drop(calls.insert(name.into_owned(), 1)),
            }
        }
        Ok(())
    }
}

/// Resumes a tracee until its next stop. One that was killed meanwhile is ignored.
fn resume(tid: libc::pid_t, signal: libc::c_int) -> io::Result<()> {
    unless_gone(request(libc::PTRACE_SYSCALL, tid, signal.into())).map(|_| ())
}

/// `None` when the tracee has ended.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The thread that an event is about.
fn message(tid: libc::pid_t) -> io::Result<Option<libc::pid_t>> {
    let mut said: libc::c_ulong = 0;
    // SAFETY: the kernel writes one long to `said`.
    let failed = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, tid, 0_usize, &raw mut said) };
    let result = if failed == -1 { Err(io::Error::last_os_error()) } else { Ok(()) };
    Ok(unless_gone(result)?.and_then(|()| libc::pid_t::try_from(said).ok()))
}

/// The number of the call that a thread begins; `None` at its end.
fn entered(tid: libc::pid_t) -> io::Result<Option<u64>> {
    // SAFETY: all zeros is a valid value of this structure of numbers.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = size_of_val(&info);
    // SAFETY: the kernel writes at most `size` octets to `info`.
    let got = unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, tid, size, &raw mut info) };
    let result = if got == -1 { Err(io::Error::last_os_error()) } else { Ok(()) };
    if unless_gone(result)?.is_none() || info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return Ok(None);
    }
    // SAFETY: at an entry the kernel has filled this variant in.
    Ok(Some(unsafe { info.u.entry.nr }))
}

/// The process of a thread.
fn process_of(tid: libc::pid_t) -> Option<libc::pid_t> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Last part of the path of a process's program; `?` when it has ended.
fn program_of(process: libc::pid_t) -> String {
    let path = std::fs::read_link(format!("/proc/{process}/exe")).ok();
    let name = path.as_deref().and_then(std::path::Path::file_name);
    name.map_or_else(|| "?".to_owned(), |name| name.to_string_lossy().into_owned())
}
