//! Two runs beside each other: a verdict for each process of each item.

mod comparison;
mod detail;
mod markdown;
mod rows;
mod text;
mod threshold;

pub use comparison::{
    Comparison, Cycles, FigureVerdict, ProcessResult, Row, RunHeader, UnjudgedFigure, VERSION,
};

use crate::run::Record;

pub use detail::{ComparedRun, Detail, DetailError, detail};
pub use markdown::markdown;
pub use text::{figure, text};
pub use threshold::Unchanged;
pub(crate) use threshold::alike;

impl Comparison {
    /// Compares two runs. `unchanged` has the known spreads of unchanged programs; `interleaved`
    /// states that the executions of both were made in turns.
    pub fn of(before: &Record, after: &Record, unchanged: &Unchanged, interleaved: bool) -> Self {
        Comparison {
            version: VERSION,
            before: RunHeader::of(before),
            after: RunHeader::of(after),
            warnings: rows::warnings(before, after),
            rows: rows::rows(before, after, unchanged, interleaved),
        }
    }

    /// Rows of processes that moved.
    pub fn moved(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.state == ProcessResult::Moved)
    }

    /// Rows without a verdict that should have one.
    pub fn without_verdict(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| matches!(row.state, ProcessResult::NoVerdict { .. }))
    }

    /// The comparison as versioned JSON.
    ///
    /// # Errors
    /// None that a comparison made here can cause.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}
