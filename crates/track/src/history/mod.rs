//! Histories: a figure in run after run, with its change points.

mod chart;
mod page;
mod picture;
mod scale;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::compare::Exactness;
use crate::counters::Method;
use crate::report::alike;
use crate::run::{Measured, Record};
use crate::system::System;
pub use chart::svg;
use chronoscope_statistics::change_points::{self, Floor};
pub use page::html;
pub use picture::picture;

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
    pub changes: Vec<Change>,
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
pub struct Change {
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
    pub of: Option<Head>,
    /// A series for each process.
    pub series: Vec<Series>,
    /// Runs that cannot be held against the last one: of another machine, method or suite.
    pub left_out: usize,
}

/// Properties that all runs of a history share: those of the last one.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
    /// The suite's name.
    pub suite: String,
    /// System of the measurement.
    pub system: System,
    /// Method of counting instructions.
    pub method: Method,
}

/// The histories that these runs, the oldest first, have in common with the last of them.
pub fn histories(records: &[Record], options: &Options) -> Histories {
    let mut found = Histories { version: VERSION, of: None, series: Vec::new(), left_out: 0 };
    let Some(last) = records.last() else { return found };
    let (suite, system, method) = (last.suite.clone(), last.system.clone(), last.method.clone());
    found.of = Some(Head { suite, system, method });
    let mut points = BTreeMap::<(String, String), (Exactness, Vec<Point>)>::new();
    for record in records {
        if !alike(record, last) {
            found.left_out += 1;
            continue;
        }
        let wanted =
            |item: &&Measured| options.only.is_empty() || options.only.contains(&item.name);
        for item in record.items.iter().filter(wanted).filter(|item| item.failure.is_none()) {
            for process in &item.processes {
                let Some(value) = process.median(&options.figure) else { continue };
                let key = (item.name.clone(), process.name.clone());
                let entry = points.entry(key).or_insert((item.exactness, Vec::new()));
                entry.0 = item.exactness;
                entry.1.push(point(record, value));
            }
        }
    }
    let series = points.into_iter();
    found.series = series.map(|((i, p), (e, points))| of(i, p, e, points, options)).collect();
    found
}

fn point(record: &Record, value: f64) -> Point {
    let (run, title) = (record.id.clone(), record.title());
    Point { run, title, started_ns: record.started_ns, value }
}

fn of(
    item: String,
    process: String,
    exactness: Exactness,
    points: Vec<Point>,
    options: &Options,
) -> Series {
    let part = options.floor.unwrap_or(exactness.floor());
    // A count that repeats exactly has no outliers: what moved for one run did move.
    let length = if exactness == Exactness::Serialised { 1 } else { Floor::default().length };
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let history = change_points::find(&values, Floor { part, length });
    let steps: Vec<(usize, f64, f64)> = if values.len() < FEW && length == 1 {
        neighbours(&values, part)
    } else {
        let steps = history.iter().flat_map(|history| &history.points);
        steps.map(|step| (step.index, step.before, step.after)).collect()
    };
    let changes = steps.into_iter().map(|(index, before, after)| Change {
        index,
        run: points[index].run.clone(),
        title: points[index].title.clone(),
        before,
        after,
        change: after / before - 1.0,
    });
    let changes = changes.collect();
    let (figure, noise) = (options.figure.clone(), history.map(|history| history.noise));
    Series { item, process, figure, exactness, floor: part, points, changes, noise }
}

/// With fewer values, steps cannot be distinguished from noise.
const FEW: usize = 5;

/// Steps from each value to the next, of counts that repeat exactly: that they do is known.
fn neighbours(values: &[f64], floor: f64) -> Vec<(usize, f64, f64)> {
    let pairs = values.windows(2).enumerate();
    let steps = pairs.filter(|(_, pair)| (pair[1] / pair[0]).ln().abs() > floor.ln_1p());
    steps.map(|(index, pair)| (index + 1, pair[0], pair[1])).collect()
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

impl Histories {
    /// The histories as versioned JSON.
    ///
    /// # Errors
    /// None that histories made here can cause.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}
