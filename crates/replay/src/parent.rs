//! Children that the kernel kills when their parent has ended, even if it was killed.
#![allow(unsafe_code)] // what a child does between fork and exec

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes a program end with this one: the kernel kills it (SIGKILL) when the thread that starts it
/// has ended. Its own children are not killed.
///
/// The parent is the thread and not the process (`PR_SET_PDEATHSIG`, prctl(2)): not for programs
/// that a thread starts and leaves to others.
pub fn end_with_parent(command: &mut Command) -> &mut Command {
    let parent = std::process::id();
    let ask = move || {
        kill_when_parent_ends()?;
        // One that has ended before the call above sends no signal.
        let is_alive = std::os::unix::process::parent_id() == parent;
        if is_alive { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: the closure makes two system calls and touches no memory of the parent's.
    unsafe { command.pre_exec(ask) }
}

/// Asks the kernel to kill the calling process when the thread that made it has ended.
///
/// # Errors
/// Error of the system.
pub(crate) fn kill_when_parent_ends() -> io::Result<()> {
    // SAFETY: only sets an attribute of the calling process.
    match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_program_is_killed_when_the_thread_that_started_it_has_ended() {
        let start = || end_with_parent(Command::new("sleep").arg("600")).spawn().unwrap();
        let mut child = std::thread::spawn(start).join().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }
}
