//! Findings of a check.

use std::fmt;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// As it should be.
    Right,
    /// It works, and is worth a thought.
    Doubtful,
    /// It does not work.
    Wrong,
}

/// One thing that was found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// The line of the table that it is about, from 1.
    pub line: Option<usize>,
    /// What, and what to do.
    pub says: String,
}

impl Finding {
    /// Whether nothing works with it.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.severity == Severity::Wrong
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Right => "right: ",
            Severity::Doubtful => "doubtful: ",
            Severity::Wrong => "wrong: ",
        })?;
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.says)
    }
}
