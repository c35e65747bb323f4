//! Into the background, with a parent that waits to hear how the start went.
#![allow(unsafe_code)] // fork

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout, fork as os_fork, setsid};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

/// Notification of the parent process, which waits until the server serves.
#[derive(Debug)]
#[must_use = "a parent waits to hear of it"]
pub struct Ready {
    parent: Option<UnixStream>,
    /// `/dev/null`, opened before a chroot.
    null: Option<File>,
    closes_stderr: bool,
}

impl Ready {
    /// A server in the foreground: no parent waits.
    pub(super) fn foreground() -> Self {
        Self { parent: None, null: None, closes_stderr: false }
    }

    pub(super) fn closing_stderr(self, closes_stderr: bool) -> Self {
        Self { closes_stderr, ..self }
    }

    /// Reports that everything is bound: the parent exits with success, and a background process
    /// lets go of the terminal.
    ///
    /// # Errors
    /// When standard error cannot be redirected.
    pub fn tell(self) -> io::Result<()> {
        if let Some(mut parent) = self.parent {
            // A parent that is gone needs no telling.
            let _ = parent.write_all(b"+");
        }
        match self.null {
            Some(null) if self.closes_stderr => Ok(dup2_stderr(&null)?),
            _ => Ok(()),
        }
    }
}

/// Forks. Only the child returns.
pub(super) fn fork() -> io::Result<Ready> {
    let (mut here, there) = UnixStream::pair()?;
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    // SAFETY: there are no other threads yet, so nothing that the child needs can be locked.
    match unsafe { os_fork()? } {
        ForkResult::Child => {
            drop(here);
            setsid()?;
            dup2_stdin(&null)?;
            dup2_stdout(&null)?;
            Ok(Ready { parent: Some(there), null: Some(null), closes_stderr: false })
        }
        ForkResult::Parent { child } => {
            drop(there);
            let mut told = [0];
            if here.read_exact(&mut told).is_ok() {
                std::process::exit(0);
            }
            // The child ended before it served; it has reported the reason itself.
            match waitpid(child, None) {
                Ok(WaitStatus::Exited(_, code)) if code != 0 => std::process::exit(code),
                _ => std::process::exit(1),
            }
        }
    }
}
