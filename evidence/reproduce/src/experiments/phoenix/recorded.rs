//! Images 1, 2 and 3: processes, classes and what passes between them, as the store has them.

use super::super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::{Flow, Picture};
use anyhow::{Context, Result};
use chronoscope_model::ClassName;
use chronoscope_published::{Cell, Published};
use chronoscope_query::{Progress, paths};
use chronoscope_store::Snapshot;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The steps and processes of a store.
pub(super) struct Recorded {
    /// Steps by their shortest distance from the root.
    steps: BTreeMap<ClassName, usize>,
    /// Transactions by the steps of parent and child.
    passed: BTreeMap<(ClassName, ClassName), u64>,
    /// Processes (host and process id) by application.
    processes: BTreeMap<String, BTreeSet<(String, u32)>>,
}

impl Recorded {
    /// Reads a store.
    ///
    /// # Errors
    /// When a file of it cannot be read.
    pub(super) fn read(data: &Path) -> Result<Self> {
        let snapshot = Snapshot::open(data)?;
        let (found, damage) = paths(&snapshot, &(i64::MIN..i64::MAX), &Progress::default())?;
        anyhow::ensure!(damage.is_empty(), "{}: {damage:?}", data.display());
        let (mut steps, mut passed) = (BTreeMap::new(), BTreeMap::new());
        for path in found.values() {
            for (level, step) in path.hops.iter().enumerate() {
                let known = steps.entry(step.clone()).or_insert(level);
                *known = level.min(*known);
            }
            if let [.., parent, child] = &path.hops[..] {
                let edge = (parent.clone(), child.clone());
                *passed.entry(edge).or_insert(0) += path.since_root.count();
            }
        }
        let mut processes = BTreeMap::<String, BTreeSet<(String, u32)>>::new();
        for transaction in snapshot.transactions(i64::MIN..i64::MAX) {
            if let Some(process) = transaction?.process {
                let of = processes.entry(process.application).or_default();
                of.insert((process.host, process.pid));
            }
        }
        Ok(Self { steps, passed, processes })
    }

    fn count(&self, application: &str) -> f64 {
        self.processes.get(application).map_or(0, BTreeSet::len) as f64
    }

    /// Applications in the order in which a chain reaches them.
    fn applications(&self) -> Vec<&str> {
        let mut first = BTreeMap::new();
        for (step, level) in &self.steps {
            let known = first.entry(step.application.as_str()).or_insert(*level);
            *known = (*level).min(*known);
        }
        let mut order: Vec<_> = first.into_iter().collect();
        order.sort_by_key(|(_, level)| *level);
        order.into_iter().map(|(application, _)| application).collect()
    }

    /// Steps of an application in the order in which a chain reaches them.
    fn steps_of(&self, application: &str) -> Vec<&ClassName> {
        let own = self.steps.iter().filter(|(step, _)| step.application == application);
        let mut own: Vec<_> = own.collect();
        own.sort_by_key(|(_, level)| **level);
        own.into_iter().map(|(step, _)| step).collect()
    }
}

/// The three items of a run. `classes`: what `chronoscope classes` says of it.
///
/// # Errors
/// When the output lacks a figure.
pub(super) fn items(recorded: &Recorded, classes: &Value) -> Result<Vec<ItemResults>> {
    Ok(vec![image1(classes)?, image2(recorded), image3(recorded, classes)?])
}

fn image1(classes: &Value) -> Result<ItemResults> {
    let mut image1 = ItemResults::new("phoenix.image1");
    let rows = list(classes, "/classes/rows")?.iter().map(|row| -> Result<Vec<Cell>> {
        Ok(vec![
            format!("{}::{}", word(row, "application"), word(row, "class")).into(),
            number(row, "/elapsed/count")?.into(),
            (number(row, "/elapsed/mean_ns")? / 1e3).into(),
            (number(row, "/elapsed/p99_ns")? / 1e3).into(),
        ])
    });
    let rows = rows.collect::<Result<_>>()?;
    image1.table("classes of transactions", &["class", "count", "mean µs", "p99 µs"], rows);
    image1.say(
        "The window is the page that `chronoscope serve` shows (docs/page.md): its graph view has these \
         classes as boxes. Here are the figures behind it.",
    );
    Ok(image1)
}

/// Processes and hosts, of those that recorded a transaction.
fn image2(recorded: &Recorded) -> ItemResults {
    let mut found = ItemResults::new("phoenix.image2");
    for (figure, application) in [("mrts", "MRTS"), ("msg", "MSG"), ("cwp", "CWP")] {
        found
            .figure(figure, recorded.count(application))
            .note(format!("processes of {application} that recorded a transaction"));
    }
    let all: usize = recorded.processes.values().map(BTreeSet::len).sum();
    found.figure("processes", all as f64).note("those that recorded a transaction");
    let hosts = recorded.processes.values().flatten().map(|(host, _)| host);
    found.own("hosts that they ran on", "", hosts.collect::<BTreeSet<_>>().len() as f64);
    let order = recorded.applications();
    let column = |application: &&str| {
        let processes = format!("{} processes", recorded.count(application));
        ((*application).to_owned(), vec![((*application).to_owned(), processes)])
    };
    let place = |application: &str| order.iter().position(|one| *one == application);
    let mut between = BTreeMap::<[usize; 2], u64>::new();
    for ((from, to), count) in &recorded.passed {
        if let (Some(from), Some(to)) = (place(&from.application), place(&to.application))
            && from != to
        {
            *between.entry([from, to]).or_default() += count;
        }
    }
    let arrow = |([from, to], count): ([usize; 2], u64)| {
        ([from, 0], [to, 0], crate::report::number(count as f64))
    };
    found.pictures.push(Picture::Flow(Flow {
        title: "recording processes, and transactions that one caused in another".to_owned(),
        columns: order.iter().map(column).collect(),
        arrows: between.into_iter().map(arrow).collect(),
    }));
    found
}

/// The steps, how often and how long, and which caused which.
fn image3(recorded: &Recorded, classes: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("phoenix.image3");
    let published = Published::read()?;
    let wanted = published.rows("phoenix.image3")?;
    let is_there = |row: &&Vec<Cell>| {
        let [Cell::Text(application), Cell::Text(class)] = &row[..] else { return false };
        let step = ClassName { application: application.clone(), class: class.clone() };
        recorded.steps.contains_key(&step)
    };
    let there = wanted.iter().filter(is_there).count();
    found.figure("steps", there as f64).note("of the document's, by name, in the recorded chains");
    let rows = list(classes, "/classes/rows")?;
    let below = |step: &ClassName| -> Result<String> {
        let own = rows.iter().find(|row| {
            word(row, "application") == step.application && word(row, "class") == step.class
        });
        let own = own.with_context(|| format!("no statistics of {step}"))?;
        let (count, us) = (number(own, "/elapsed/count")?, number(own, "/elapsed/mean_ns")? / 1e3);
        Ok(format!("{} × {} µs", crate::report::number(count), crate::report::number(us)))
    };
    let (mut columns, mut places) = (Vec::new(), BTreeMap::new());
    for application in recorded.applications() {
        let mut boxes = Vec::new();
        for step in recorded.steps_of(application) {
            places.insert(step.clone(), [columns.len(), boxes.len()]);
            boxes.push((step.class.clone(), below(step)?));
        }
        columns.push((application.to_owned(), boxes));
    }
    let arrows = recorded.passed.iter().filter_map(|((from, to), count)| {
        Some((*places.get(from)?, *places.get(to)?, crate::report::number(*count as f64)))
    });
    found.pictures.push(Picture::Flow(Flow {
        title: "steps of the recorded chains: how often, how long on average, which caused which"
            .to_owned(),
        arrows: arrows.collect(),
        columns,
    }));
    Ok(found)
}
