//! Single keys of a terminal, read without waiting for a line.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use std::io::{IsTerminal, Stdin, stdin};
use std::time::Duration;

/// Keyboard input one key at a time without echo. Dropping it restores the terminal, also during a
/// panic.
pub(crate) struct Keys {
    stdin: Stdin,
    before: Termios,
}

impl Keys {
    /// Takes the keyboard; `None` where stdin is no terminal, or belongs to another job: a job in
    /// the background that changed the terminal would be stopped.
    pub(crate) fn take() -> Option<Self> {
        let stdin = stdin();
        if !stdin.is_terminal() {
            return None;
        }
        // A terminal that does not control this process has no foreground job.
        let owner = tcgetpgrp(&stdin);
        if owner.is_ok_and(|owner| owner != rustix::process::getpgrp()) {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut single = before.clone();
        // Ctrl-C and Ctrl-Z stay signals.
        single.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        single.special_codes[SpecialCodeIndex::VMIN] = 1;
        single.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&stdin, OptionalActions::Now, &single).ok()?;
        Some(Self { stdin, before })
    }

    /// Whether `q` is pressed within `time`, or the terminal has disappeared. Other keys are
    /// ignored.
    pub(crate) fn is_quit_pressed(&self, time: Duration) -> bool {
        self.pressed(time).is_none_or(|keys| keys.iter().any(|key| matches!(key, b'q' | b'Q')))
    }

    /// Keys that are pressed within `time`; `None` when the terminal has disappeared.
    pub(crate) fn pressed(&self, time: Duration) -> Option<Vec<u8>> {
        let timeout = Timespec::try_from(time).ok();
        let mut fds = [PollFd::new(&self.stdin, PollFlags::IN)];
        // A signal ends the waiting; whoever asks looks for it.
        if poll(&mut fds, timeout.as_ref()).unwrap_or(0) == 0 {
            return Some(Vec::new());
        }
        let mut keys = [0; 64];
        match rustix::io::read(&self.stdin, &mut keys) {
            Ok(count @ 1..) => Some(keys[..count].to_vec()),
            Err(Errno::INTR | Errno::AGAIN) => Some(Vec::new()),
            // The terminal has disappeared: no key will be pressed.
            Ok(0) | Err(_) => None,
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // A terminal that has disappeared has no modes to restore.
        let _ = tcsetattr(&self.stdin, OptionalActions::Now, &self.before);
    }
}
