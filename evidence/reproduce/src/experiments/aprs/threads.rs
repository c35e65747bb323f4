//! The server's threads: their number, and what the scheduler does with them.

use super::{is_complete, list, number};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Flow, Picture, Series};
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn threads(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.drawing1");
    let idle = number(printed, "/paper/threads/0")?;
    let then = number(printed, "/paper/threads/1")?;
    let note = format!("{idle} threads with none, {then} with 640");
    found.figure("threads_more", then - idle).note(note);
    workers(&mut found, list(printed, "/workers")?)?;
    found.pictures.insert(0, Picture::Flow(by_name(printed)?));
    found.say(
        "The duplicate check is part of the worker here (systems/aprs/src/engine), so that a packet \
         needs no queue between threads.",
    );
    Ok(found)
}

/// Boxes of the threads with 150 clients.
fn by_name(printed: &Value) -> Result<Flow> {
    let mut names = BTreeMap::new();
    for name in list(printed, "/live/threads")?.iter().filter_map(Value::as_str) {
        *names.entry(name.to_owned()).or_insert(0) += 1;
    }
    let boxes = names.into_iter().map(|(name, count)| {
        (name, format!("{count} thread{}", if count == 1 { "" } else { "s" }))
    });
    Ok(Flow {
        title: "threads of our server while 150 clients are connected, by name".to_owned(),
        columns: vec![("aprs-server".to_owned(), boxes.collect())],
        arrows: Vec::new(),
    })
}

/// The same load with more and more workers.
fn workers(found: &mut ItemResults, runs: &[Value]) -> Result<()> {
    let (mut rows, mut voluntary, mut involuntary) = (Vec::new(), Vec::new(), Vec::new());
    for run in runs {
        let (outcome, workers) = (&run["outcome"], number(run, "/workers")?);
        let of = |key: &str| number(outcome, &format!("/{key}"));
        let (waits, taken) = (of("voluntary_per_s")?, of("involuntary_per_s")?);
        let per_packet = (waits + taken) / of("delivered_per_s")?;
        voluntary.push((workers, waits));
        involuntary.push((workers, taken));
        rows.push(vec![
            workers.into(),
            number(outcome, "/threads/1")?.into(),
            (of("cpu")? * 100.0).into(),
            of("cpu_s_per_million")?.into(),
            waits.into(),
            taken.into(),
            per_packet.into(),
            of("p50_ms")?.into(),
            of("p99_ms")?.into(),
            Cell::from(if is_complete(outcome) { "yes" } else { "NO" }),
        ]);
        if workers == 1.0 {
            let note = format!("one worker: {:.0} a second", waits + taken);
            found.figure("switches_per_packet", per_packet).note(note);
        }
    }
    runs.first().context("no run with workers")?;
    found.table(
        "worker threads: 400 full feeds, 1000 packets/s",
        &[
            "workers",
            "threads",
            "CPU, % of a core",
            "CPU-s a million",
            "voluntary switches/s",
            "involuntary",
            "of both a packet delivered",
            "p50 ms",
            "p99 ms",
            "complete",
        ],
        rows,
    );
    found.pictures.push(Picture::Chart(Chart {
        title: "Context switches by worker threads, 400 full feeds".to_owned(),
        x: Axis::new("workers"),
        y: Axis::new("switches a second"),
        series: vec![
            Series::line("voluntary", voluntary),
            Series::line("involuntary", involuntary),
        ],
        marks: Vec::new(),
    }));
    Ok(())
}
