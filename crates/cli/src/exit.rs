//! The exit codes, all of them.

use std::process::ExitCode;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked; of `track compare` and its kin: nothing moved.
    Done,
    /// `--check` was given and the requirement does not hold; of `store check`: something is damaged.
    CheckFailed,
    /// `track compare` and its kin: something moved.
    Moved,
    /// `track compare` and its kin: whether something moved cannot be said.
    NoVerdict,
    /// The arguments contradict each other, or a value is out of range.
    Usage,
    /// There is nothing to answer from: no such chain, no transaction of that class, no ring.
    Nothing,
    /// Something went wrong: the message on stderr says what and where.
    Error,
    /// `--check` was given, and whether the requirement holds cannot be said yet, or at all.
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
