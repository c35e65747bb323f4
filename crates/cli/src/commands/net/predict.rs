//! `chronoscope net predict`: how long a round trip takes, from the elements on its way.

use super::collection::Collection;
use super::measure::BELOW_RESOLUTION;
use super::{probing, stored, topology};
use crate::args::net::path::{By, Predict};
use crate::exit::Exit;
use crate::screen::show;
use crate::text::{Table, bar, duration};
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::Result;
use chronoscope_figures::numbers::{percent, signed_percent};
use chronoscope_formats::json;
use chronoscope_net::path::message::{DATAGRAM_MAX, Message, Transport};
use chronoscope_net::path::parts::{PathChange, mtu, parts};
use chronoscope_net::path::predict::{ElementPrediction, Prediction, predict as sum};
use chronoscope_net::path::topology::{ElementType, Topology};
use chronoscope_net::path::utilisation::{Busy, apply};
use chronoscope_net::rows::{self, ScanRow};
use serde_json::{Value, json};
use std::fmt::Write;

/// Runs the command.
pub(crate) fn predict(args: &Predict) -> Result<Exit> {
    let mut topology = topology::read(&args.network)?;
    let message = message(args, &topology)?;
    let busy = utilisation(args, &mut topology)?;
    let changes = changes(args);
    let ask = |changes: &[PathChange]| -> Result<Prediction> {
        Ok(sum(&parts(&topology, &args.from, &args.to, message, changes)?))
    };
    let now = ask(&[])?;
    if args.keep {
        let collection = Collection::begin(&args.data)?;
        let of = (args.from.as_str(), args.to.as_str(), args.size);
        rows::Prediction::of(of, &now, chronoscope_clock::utc_now_ns()).record();
        collection.end()?;
    }
    let then = if changes.is_empty() { None } else { Some(ask(&changes)?) };
    let carried = Carried::of(message, mtu(&topology, &args.from, &args.to)?);
    if args.json {
        let part = document(args, &carried, (&now, then.as_ref()), &busy)?;
        show(&format!("{:#}\n", json::document("predict", part)))?;
    } else {
        show(&said(args, &carried, &now, then.as_ref()))?;
    }
    for warning in warnings(&topology, &now) {
        say!("{warning}");
    }
    Ok(Exit::Done)
}

/// The request, carried as asked for, or as the host is asked by probes.
fn message(args: &Predict, topology: &Topology) -> Result<Message> {
    let by = args.by.unwrap_or_else(|| probing::by(topology, &args.to));
    if by == By::Udp && args.size > DATAGRAM_MAX {
        return Err(Usage::new(format!(
            "--size {}: a datagram has {DATAGRAM_MAX} octets at most; longer messages need --by tcp",
            args.size
        ))
        .into());
    }
    if by == By::Udp && args.window.is_some() {
        return Err(
            Usage::new("--window: only connections have one; add --by tcp".to_owned()).into()
        );
    }
    Ok(by.message(args.size, args.window))
}

/// How messages are carried in the present network.
struct Carried {
    by: &'static str,
    mtu: u32,
    packets: usize,
}

impl Carried {
    fn of(message: Message, mtu: u32) -> Self {
        let by = match message.transport {
            Transport::Udp => "udp",
            Transport::Tcp { .. } => "tcp",
        };
        Self { by, mtu, packets: message.packets(mtu).len() }
    }
}

/// Utilisation of elements that name scanned hosts, from the given time until now.
fn utilisation(args: &Predict, topology: &mut Topology) -> Result<Vec<Busy>> {
    let Some(since) = &args.utilisation_from_store else { return Ok(Vec::new()) };
    let now_ns = chronoscope_clock::utc_now_ns();
    let wrong = |reason| Usage::new(format!("--utilisation-from-store: {reason}"));
    let since_ns = Zone::new(false).parse(since, now_ns).map_err(wrong)?;
    let mut observations = Vec::new();
    let mut take = |row: ScanRow| observations.extend(row.observation());
    stored::scans(&args.data.source()?, &(since_ns..now_ns), &mut take)?;
    let all = apply(topology, &observations);
    for busy in &all {
        if !busy.missing.is_empty() {
            say!(
                "{}: nothing was scanned of {} since then (chronoscope net scan)",
                busy.element,
                busy.missing.join(", ")
            );
        }
        if busy.intervals > 0 {
            say!(
                "{}: {} ± {} busy, by {} intervals",
                busy.element,
                percent(busy.share, 1),
                percent(busy.error, 1),
                busy.intervals
            );
        }
    }
    if all.is_empty() {
        say!("no element names scanned hosts (docs/formats/topology.md)");
    }
    Ok(all)
}

fn changes(args: &Predict) -> Vec<PathChange> {
    let replace = args.replace.iter().cloned();
    let replace = replace.map(|(element, by)| PathChange::Replace { element, by });
    let add = args.add.iter().cloned().map(|type_name| PathChange::Add { type_name });
    replace.chain(add).chain(args.load.map(|factor| PathChange::Load { factor })).collect()
}

fn document(
    args: &Predict,
    carried: &Carried,
    (now, then): (&Prediction, Option<&Prediction>),
    busy: &[Busy],
) -> Result<Value> {
    Ok(json!({
        "from": args.from,
        "to": args.to,
        "octets": args.size,
        "by": carried.by,
        "mtu": carried.mtu,
        "packets": carried.packets,
        "model": MODEL,
        "confidence": 0.95,
        "utilisation": serde_json::to_value(busy)?,
        "now": serde_json::to_value(now)?,
        "what_if": then.map(serde_json::to_value).transpose()?,
    }))
}

const MODEL: &str = "packets of a message follow each other; independent delays, convolved; \
                     waiting in M/G/1 queues (Pollaczek-Khinchine)";

/// The prediction in words and bars.
fn said(args: &Predict, carried: &Carried, now: &Prediction, then: Option<&Prediction>) -> String {
    let Carried { by, mtu, packets } = carried;
    let packets = match packets {
        1 => "one packet".to_owned(),
        packets => format!("{packets} packets of {mtu} octets at most"),
    };
    let mut text = format!(
        "{} to {} and back, {} octets each way by {by}, in {packets}\n{MODEL}\n\n",
        args.from, args.to, args.size
    );
    let _ = write!(text, "{}", elements(now, then));
    let _ = writeln!(text, "\n{}", ends("round trip", now));
    if let Some(then) = then {
        let _ = writeln!(text, "{}", ends("what if", then));
        let change = |now: f64, then: f64| signed_percent(then / now - 1.0, 1);
        let (p50, p90) = (change(now.p50_ns, then.p50_ns), change(now.p90_ns, then.p90_ns));
        let _ = writeln!(text, "{:<10}  p50 {p50}, p90 {p90}", "change");
    }
    text
}

fn ends(what: &str, found: &Prediction) -> String {
    let with = |ns: f64, [low, high]: [f64; 2]| {
        format!("{} ({} to {})", duration(ns), duration(low), duration(high))
    };
    format!(
        "{what:<10}  p50 {}, p90 {}; in brackets: 95 % confidence",
        with(found.p50_ns, found.p50_band_ns),
        with(found.p90_ns, found.p90_band_ns)
    )
}

/// One row for each element: its time now, and with the changes.
fn elements(now: &Prediction, then: Option<&Prediction>) -> Table {
    const WIDTH: usize = 20;
    let mut heading = vec!["element", "type", "p50", "p90", "mean wait", "busy"];
    heading.extend(if then.is_some() {
        &["what if: type", "p50", "mean wait", ""][..]
    } else {
        &[""]
    });
    let mut table = Table::new(&heading);
    let shown = then.unwrap_or(now);
    let largest = now.parts.iter().chain(&shown.parts).map(weight).max().unwrap_or(0);
    for (index, part) in shown.parts.iter().enumerate() {
        let mut cells = match now.parts.get(index) {
            Some(now) => vec![
                now.name.clone(),
                now.type_name.clone(),
                added(now.p50_ns),
                added(now.p90_ns),
                waiting(now),
                busy(now),
            ],
            None => std::iter::once(part.name.clone()).chain((0..5).map(|_| "–".into())).collect(),
        };
        if then.is_some() {
            let kind = if now.parts.get(index).is_some_and(|now| now.type_name == part.type_name) {
                "same".to_owned()
            } else {
                part.type_name.clone()
            };
            cells.extend([kind, added(part.p50_ns), waiting(part)]);
        }
        cells.push(format!("{:<WIDTH$}", bar(weight(part), largest, WIDTH)));
        table.row(cells);
    }
    table
}

/// Length of an element's bar: its median plus its mean waiting time.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` keeps to the range
fn weight(part: &ElementPrediction) -> u64 {
    (part.p50_ns + part.waiting_ns) as u64
}

/// Time that an element adds. A negative value is noise: it was measured as a difference of round
/// trips.
fn added(ns: f64) -> String {
    if ns < 0.0 { BELOW_RESOLUTION.to_owned() } else { duration(ns) }
}

fn waiting(part: &ElementPrediction) -> String {
    if part.waiting_ns > 0.0 { duration(part.waiting_ns) } else { "–".to_owned() }
}

/// Share of the time it is busy, of either direction where they differ.
fn busy(part: &ElementPrediction) -> String {
    match part.utilisation {
        [there, back] if there == back => percent(there, 0),
        [there, back] => format!("{:.0}/{}", there * 100.0, percent(back, 0)),
    }
}

/// Remarks on the reliability of the prediction.
fn warnings(topology: &Topology, now: &Prediction) -> Vec<String> {
    let mut warnings = Vec::new();
    for part in &now.parts {
        let busy = part.utilisation.iter().any(|share| *share > 0.0);
        if busy && part.waiting_ns == 0.0 {
            warnings.push(format!(
                "{}: it is busy, and nobody says how long others occupy it: no wait is reckoned \
                 with; give type {} a `service` (docs/formats/topology.md)",
                part.name, part.type_name
            ));
        }
        let known = topology.types.get(&part.type_name);
        if known.is_some_and(ElementType::is_unknown) {
            warnings.push(format!(
                "{}: nothing is known of type {}, it counts as no delay; measure it (chronoscope \
                 net measure) or enter delay_us or rate_bits",
                part.name, part.type_name
            ));
        }
    }
    warnings.dedup();
    warnings
}
