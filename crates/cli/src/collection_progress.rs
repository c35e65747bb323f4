//! Progress of long commands, and each new fault once.

use crate::environment;
use crate::screen::progress;
use chronoscope_collect::Status;

/// Without a terminal a line of progress is printed this often, in seconds.
const TALK_EVERY_S: i64 = 10;

/// State of the last message.
pub(crate) struct CollectionProgress {
    quiet: bool,
    last_s: i64,
    error: Option<String>,
}

impl CollectionProgress {
    /// `quiet` suppresses progress and leaves faults.
    pub(crate) const fn new(quiet: bool) -> Self {
        Self { quiet, last_s: 0, error: None }
    }

    /// Prints progress; `error` is the current fault.
    pub(crate) fn say(
        &mut self,
        status: &Status,
        error: Option<&str>,
        line: &dyn Fn(&Status) -> String,
    ) {
        if self.error.as_deref() != error {
            if let Some(error) = error {
                progress("");
                say!("trouble: {error} (retrying)");
            }
            self.error = error.map(str::to_owned);
        }
        if self.quiet {
            return;
        }
        if environment::stderr_is_terminal() {
            return progress(&line(status));
        }
        let second = status.at_ns / 1_000_000_000;
        if second >= self.last_s + TALK_EVERY_S {
            self.last_s = second;
            say!("{}", line(status));
        }
    }
}
