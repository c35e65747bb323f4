//! Findings of a check.

use std::fmt;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Correct.
    Right,
    /// It works but is probably not intended.
    Doubtful,
    /// It does not work.
    Wrong,
}

/// One thing that was found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its severity.
    pub severity: Severity,
    /// The line of the table that it is about, from 1.
    pub line: Option<usize>,
    /// Description, and the remedy.
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
