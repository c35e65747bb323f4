//! Outcome of a row's check.

use chronoscope_published::coverage::CoverageRow;
use serde::Serialize;

/// A row, and what came of its check.
#[derive(Debug)]
pub struct CoveredRow<'a> {
    /// The row of the table.
    pub row: &'a CoverageRow,
    /// Outcome of its check.
    pub checked: CheckResult,
    /// Details: what does not hold, or where it is checked.
    pub words: String,
}

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// The item is confirmed, shown or not comparable; the command did what the table says.
    Holds,
    /// The item differs or is missing; the command did something else.
    Fails,
    /// A test: `make test` runs it.
    ByMakeTest,
    /// It was not run, or there is no check.
    NotRun,
}

impl CheckResult {
    pub(crate) const ALL: [Self; 4] = [Self::Holds, Self::Fails, Self::ByMakeTest, Self::NotRun];

    /// Name for display.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "does not hold",
            Self::ByMakeTest => "by make test",
            Self::NotRun => "not run",
        }
    }

    /// Class of the style sheet.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Holds => "confirmed",
            Self::Fails => "differs",
            Self::ByMakeTest => "shown",
            Self::NotRun => "not_comparable",
        }
    }
}
