//! Histories of figures over commits.

use crate::compare::Exactness;
use crate::counters::Method;
use crate::system::System;
use serde::Serialize;

/// Version of histories as JSON.
pub const VERSION: u32 = 1;

/// Selection of histories.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the figure.
    pub figure: String,
    /// Only these items; all when empty.
    pub only: Vec<String>,
    /// Steps up to this part are none; by how exactly an item's counts repeat when it does not say.
    pub floor: Option<f64>,
}

/// The history of one process's figure.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Name of the item.
    pub item: String,
    /// Name of the process.
    pub process: String,
    /// Name of the figure.
    pub figure: String,
    /// Repeatability of the figure.
    pub exactness: Exactness,
    /// Steps up to this part are none.
    pub floor: f64,
    /// Values, the oldest first.
    pub points: Vec<Point>,
    /// Change points.
    pub changes: Vec<ChangePoint>,
    /// Usual relative distance of a value from the level around it; `None` when a value is 0.
    pub noise: Option<f64>,
}

/// A value of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The run.
    pub run: String,
    /// The commit with its subject.
    pub title: String,
    /// Time of the measurement, nanoseconds since 1970 (UTC).
    pub started_ns: i64,
    /// The median of its executions.
    pub value: f64,
}

/// A change point.
#[derive(Clone, Debug, Serialize)]
pub struct ChangePoint {
    /// Index of the first value after it.
    pub index: usize,
    /// The run that has it.
    pub run: String,
    /// Commit of that run.
    pub title: String,
    /// Level before the change.
    pub before: f64,
    /// Level after the change.
    pub after: f64,
    /// The step as a part of the level before.
    pub change: f64,
}

/// Histories of a project.
#[derive(Clone, Debug, Serialize)]
pub struct Histories {
    /// Version of this structure as JSON; grows when something changes its meaning.
    pub version: u32,
    /// Suite, system and method of the runs; `None` without runs.
    pub of: Option<HistoryHeader>,
    /// A series for each process.
    pub series: Vec<Series>,
    /// Runs that cannot be held against the last one: of another machine, method or suite.
    pub left_out: usize,
}

/// Properties that all runs of a history share: those of the last one.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryHeader {
    /// The suite's name.
    pub suite: String,
    /// System of the measurement.
    pub system: System,
    /// Method of counting instructions.
    pub method: Method,
}

impl Series {
    /// `item`, or `item/process` where the item has several processes.
    pub fn name(&self) -> String {
        if self.process == self.item {
            self.item.clone()
        } else {
            format!("{}/{}", self.item, self.process)
        }
    }
}
