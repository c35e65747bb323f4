//! Histories: a figure in run after run, with its change points.

mod chart;
mod page;
mod picture;
mod scale;
mod series;

pub use series::{ChangePoint, Histories, HistoryHeader, Options, Point, Series, VERSION};
use std::collections::BTreeMap;

use crate::compare::Exactness;

use crate::report::alike;
use crate::run::{Measured, Record};

pub use chart::svg;
use chronoscope_statistics::change_points::{self, Floor};
pub use page::html;
pub use picture::picture;

/// The histories that these runs, the oldest first, have in common with the last of them.
pub fn histories(records: &[Record], options: &Options) -> Histories {
    let mut found = Histories { version: VERSION, of: None, series: Vec::new(), left_out: 0 };
    let Some(last) = records.last() else { return found };
    let (suite, system, method) = (last.suite.clone(), last.system.clone(), last.method.clone());
    found.of = Some(HistoryHeader { suite, system, method });
    let mut points = BTreeMap::<(String, String), (Exactness, Vec<Point>)>::new();
    for record in records {
        if !alike(record, last) {
            found.left_out += 1;
            continue;
        }
        let wanted =
            |item: &&Measured| options.only.is_empty() || options.only.contains(&item.name);
        for item in record.items.iter().filter(wanted).filter(|item| item.failure.is_none()) {
            let whole = item.whole_system();
            for process in item.processes.iter().chain(&whole) {
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
    let changes = steps.into_iter().map(|(index, before, after)| ChangePoint {
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

impl Histories {
    /// The histories as versioned JSON.
    ///
    /// # Errors
    /// None that histories made here can cause.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}
