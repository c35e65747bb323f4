//! `chronoscope net report`: the document's tables and figures, ours beside them.

use super::findings::Findings;
use super::table::{activity, range, silent};
use super::tables::{Tables, over_time, speeds};
use super::{grouping, report_text as words, stored, table_text};
use crate::args::net::{Direction, Report};
use crate::exit::Exit;
use crate::screen::show;
use crate::times::Zone;
use anyhow::{Context, Result};
use chronoscope_formats::json::document;
use chronoscope_net::path::topology::Topology;
use chronoscope_net::probe::Timer;
use chronoscope_net::report::{Measured, Published, RoundTrips, add_transfer, references};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Runs the command.
pub(crate) fn report(args: &Report) -> Result<Exit> {
    let zone = Zone::new(args.utc);
    let found = find(args, &zone)?;
    if args.json {
        show(&format!("{:#}\n", document("report", json(&found))))?;
    } else {
        show(&words::page(&found, &zone))?;
    }
    Ok(Exit::Done)
}

fn find(args: &Report, zone: &Zone) -> Result<Findings> {
    let range = range(&args.from, args.until.as_deref(), zone)?;
    let references = args.topology.as_deref().map_or_else(
        || Ok(Vec::new()),
        |path| types(path, args.measured.as_deref()).map(|topology| references(&topology)),
    )?;
    let groups = grouping::listed(&args.groups)?;
    let published = Published::read().context("the published figures")?;
    let source = args.data.source()?;
    let measure = Direction::Packets;
    let mut activity = activity(&source, &range, over_time(measure), None)?;
    let load = (activity.rows() > 0).then(|| Tables {
        overview: activity.overview(),
        picture: activity.picture(if args.json { usize::MAX } else { table_text::INTERVALS }),
        silent: silent(&activity),
        measure,
        threshold_percent: published.table1.threshold_percent,
        groups: groups.clone(),
        speeds: speeds(&activity),
    });
    let mut trips = RoundTrips::default();
    stored::round_trips(&source, &range, &mut |row| trips.add(&row))?;
    if trips.left_out() > 0 {
        say!("{} round trips of too many pairs of hosts were left out", trips.left_out());
    }
    let (mut transfers, mut left_out) = (Vec::new(), 0_u64);
    stored::transfers(&source, &range, &mut |row| {
        left_out += u64::from(!add_transfer(&mut transfers, &row));
    })?;
    if left_out > 0 {
        say!("{left_out} transfers of too many pairs of hosts were left out");
    }
    let (within, between) = trips.measured().partition(|pair| pair.from == pair.to);
    let activation_ns = trips.activation_ns();
    let timer = Timer::measure();
    Ok(Findings {
        published,
        load,
        groups,
        between,
        within,
        speeds: transfers,
        references,
        activation_ns,
        timer,
    })
}

fn types(path: &Path, measured: Option<&Path>) -> Result<Topology> {
    let read = |path: &Path| fs::read_to_string(path).with_context(|| path.display().to_string());
    let measured = measured.map(read).transpose()?;
    Topology::read(&read(path)?, measured.as_deref()).with_context(|| path.display().to_string())
}

fn json(found: &Findings) -> Value {
    let missing: Vec<Value> = found
        .missing()
        .into_iter()
        .map(|(what, how)| json!({ "what": what, "command": how }))
        .collect();
    let load = found.load.as_ref().map(|load| {
        let active: Vec<&str> = load.active().iter().map(|line| line.host.as_str()).collect();
        json!({
            "overview": load.overview, "active": active, "over_time": load.picture,
            "groups": load.by_group(),
        })
    });
    let between: Vec<Value> = found.between.iter().map(|pair| between(found, pair)).collect();
    json!({
        "load": load,
        "between_hosts": between,
        "within_hosts": found.within,
        "transfers": found.speeds,
        "types": found.references,
        "activation_ns": found.activation_ns,
        "timer": found.timer,
        "published": found.published,
        "missing": missing,
    })
}

/// A pair of hosts with their groups.
fn between(found: &Findings, pair: &Measured) -> Value {
    let mut row = json!(pair);
    row["from_group"] = json!(found.groups.of(&pair.from));
    row["to_group"] = json!(found.groups.of(&pair.to));
    row
}
