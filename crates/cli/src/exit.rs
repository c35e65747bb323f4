//! The exit codes, all of them.

use std::fmt::Write;
use std::process::ExitCode;

/// Exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success; for `track compare` and similar: nothing changed.
    Done,
    /// `--check` was given and the requirement does not hold; of `store check`: something is damaged;
    /// of `agent --probe`: the agent is not as asked.
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

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        // 2 is clap's too: the command line cannot be understood.
        match self {
            Self::Done => 0,
            Self::CheckFailed | Self::Moved => 1,
            Self::NoVerdict | Self::Usage => 2,
            Self::Nothing => 3,
            Self::Error => 4,
            Self::Undetermined => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Every exit code: its short meaning, for `--help`, and the whole one, for the manual page.
pub(crate) const CODES: [(u8, &str, &str); 7] = [
    (
        0,
        "done, nothing moved",
        "Done. With --check the requirement holds; for track compare, diff and gate nothing moved; \
         serve and agent were stopped.",
    ),
    (
        1,
        "--check failed, something moved or damaged",
        "With --check the requirement does not hold; for track compare, diff and gate something \
         moved; for store check something is damaged; for agent --probe the agent is not as asked.",
    ),
    (
        2,
        "usage, no verdict",
        "The command line, the configuration file or a file of rules cannot be followed; for track \
         compare, diff and gate no verdict was possible.",
    ),
    (
        3,
        "nothing found",
        "Nothing found: no such chain, no transaction of that class, no ring, no reply.",
    ),
    (4, "error", "An error, which the message on standard error describes."),
    (5, "--check undetermined", "With --check the verdict on the requirement is undetermined."),
    (
        130,
        "interrupted twice",
        "A second Ctrl-C or SIGTERM ended the program before it could end in order.",
    ),
];

/// The codes in one sentence, as `--help` shows them.
pub(crate) fn sentence() -> String {
    let mut line = "Exit codes:".to_owned();
    for (index, (code, meaning, _)) in CODES.iter().enumerate() {
        let _ = write!(line, "{} {code} {meaning}", if index == 0 { "" } else { ";" });
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_same_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/install.md");
        let documentation = std::fs::read_to_string(path).unwrap().replace('`', "");
        for (code, _, meaning) in CODES {
            let row = format!("| {code} | {meaning} |\n");
            assert!(documentation.contains(&row), "docs/install.md lacks {row}");
        }
    }

    #[test]
    fn every_code_is_in_the_table() {
        use Exit::{CheckFailed, Done, Error, Moved, NoVerdict, Nothing, Undetermined, Usage};
        for exit in [Done, CheckFailed, Moved, NoVerdict, Usage, Nothing, Error, Undetermined] {
            assert!(CODES.iter().any(|(code, ..)| *code == exit.code()), "{exit:?}");
        }
        assert!(sentence().starts_with("Exit codes: 0 done, nothing moved; 1 --check failed"));
    }
}
