//! The exit codes, all of them.

use std::process::ExitCode;

/// Exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success; for `track compare` and similar: nothing changed.
    Done,
    /// `--check` was given and the requirement does not hold; of `store check`: something is damaged.
    CheckFailed,
    /// `track compare` and its kin: something moved.
    Moved,
    /// `track compare` and similar: no verdict was possible.
    NoVerdict,
    /// The arguments contradict each other, or a value is out of range.
    Usage,
    /// There is no data for an answer: no such chain, no transaction of that class, no ring.
    Nothing,
    /// An error: the message on stderr describes it.
    Error,
    /// With `--check`: the verdict on the requirement is undetermined.
    Undetermined,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // 2 is clap's too: the command line cannot be understood.
        Self::from(match exit {
            Exit::Done => 0,
            Exit::CheckFailed | Exit::Moved => 1,
            Exit::NoVerdict | Exit::Usage => 2,
            Exit::Nothing => 3,
            Exit::Error => 4,
            Exit::Undetermined => 5,
        })
    }
}

/// The table as `--help` shows it.
pub(crate) const TABLE: &str = "Exit codes: 0 done, nothing moved; 1 --check failed, something \
                                moved or damaged; 2 usage, no verdict; 3 nothing found; 4 error; \
                                5 --check undetermined";
