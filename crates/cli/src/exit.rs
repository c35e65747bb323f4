//! The exit codes, all of them.

use std::process::ExitCode;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done = 0,
    /// `--check` was given and the requirement does not hold.
    CheckFailed = 1,
    // 2 is clap's: the command line cannot be understood.
    /// There is nothing to answer from: no such chain, no transaction of that class, no ring.
    Nothing = 3,
    /// Something went wrong: the message on stderr says what and where.
    Error = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The table as `--help` shows it.
pub(crate) const TABLE: &str =
    "Exit codes: 0 done, 1 --check failed, 2 usage, 3 nothing found, 4 error";
