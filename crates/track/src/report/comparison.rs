//! Two runs, compared: what a report is made of.

use crate::compare::{PairsVerdict, Verdict};
use crate::run::{Record, process_name};
use crate::system::Load;
use serde::Serialize;

/// Version of a comparison as JSON.
pub const VERSION: u32 = 1;

/// Two runs, compared.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Version of this structure as JSON; grows when something changes its meaning.
    pub version: u32,
    /// The first run.
    pub before: RunHeader,
    /// The second run.
    pub after: RunHeader,
    /// Differences that make the runs hard to compare.
    pub warnings: Vec<String>,
    /// A row for each process.
    pub rows: Vec<Row>,
}

/// Identity of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunHeader {
    /// Name of the run.
    pub id: String,
    /// The commit with its subject.
    pub title: String,
    /// Load of the machine before it.
    pub load_before: Load,
    /// System load after the run.
    pub load_after: Load,
    /// Executions that were discarded because their counters contradicted each other.
    pub discarded: usize,
}

/// A process of an item in both runs.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The item's name.
    pub item: String,
    /// The process's name.
    pub process: String,
    /// Result for the process.
    pub state: ProcessResult,
    /// Verdicts on counts: instructions, and instructions without what interrupts add.
    pub judged: Vec<FigureVerdict>,
    /// Cycles, where there are any: the second channel, for what instructions cannot see.
    pub cycles: Option<Cycles>,
    /// Other figures that differ, before and after: medians.
    pub others: Vec<UnjudgedFigure>,
}

/// Result of the comparison for one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum ProcessResult {
    /// No count changed.
    Unmoved,
    /// A count changed.
    Moved,
    /// All processes of a replay together: shown, and not judged, as its parts are.
    Whole,
    /// The process is only in the second run.
    New,
    /// The process is only in the first run.
    Gone,
    /// There is no verdict.
    NoVerdict {
        /// The reason.
        because: String,
    },
}

/// A verdict on one figure.
#[derive(Clone, Debug, Serialize)]
pub struct FigureVerdict {
    /// The figure's name.
    pub figure: String,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The change as a part of the value before.
    pub change: f64,
    /// The verdict in a sentence, with its method and how often it is wrong.
    pub statement: String,
}

/// Verdict on cycles.
#[derive(Clone, Debug, Serialize)]
pub struct Cycles {
    /// Verdict from pairs of executions.
    #[serde(flatten)]
    pub verdict: PairsVerdict,
    /// The executions of a pair were made one after the other; otherwise what changed on the
    /// machine between the two runs is in the difference.
    pub interleaved: bool,
}

/// A figure that is not judged.
#[derive(Clone, Debug, Serialize)]
pub struct UnjudgedFigure {
    /// Name of the figure.
    pub figure: String,
    /// Median before.
    pub before: f64,
    /// Median after.
    pub after: f64,
}

impl Row {
    /// The main verdict: the largest significant change, else the first verdict.
    pub fn main(&self) -> Option<&FigureVerdict> {
        let moved = self.judged.iter().filter(|judged| judged.verdict.moved);
        let size = |judged: &&FigureVerdict| judged.verdict.log_ratio.abs();
        moved.max_by(|a, b| size(a).total_cmp(&size(b))).or(self.judged.first())
    }

    /// `item`, or `item/process` where the item has several processes.
    pub fn name(&self) -> String {
        process_name(&self.item, &self.process)
    }
}

impl RunHeader {
    pub(super) fn of(record: &Record) -> RunHeader {
        RunHeader {
            id: record.id.clone(),
            title: record.title(),
            load_before: record.load_before,
            load_after: record.load_after,
            discarded: record.items.iter().map(|item| item.discarded.len()).sum(),
        }
    }
}
