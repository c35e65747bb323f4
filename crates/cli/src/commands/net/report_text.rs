//! The document's tables and figures in words, ours first.

use super::findings::Findings;
use super::group_text;
use super::table_text::{active, activity};
use super::tables::Tables;
use crate::args::net::Bars;
use crate::text::{Table, count, duration};
use crate::times::Zone;
use chronoscope_net::path::topology::ElementKind;
use chronoscope_net::report::{Measured, Published};
use std::fmt::Write;

const MS: f64 = 1e6; // nanoseconds

/// The whole report.
pub(super) fn page(found: &Findings, zone: &Zone) -> String {
    let mut parts = vec![
        distribution(found),
        over_time(found, zone),
        responses(found),
        machines(found),
        text(found),
    ];
    let missing = found.missing();
    if !missing.is_empty() {
        let mut part = String::from("Not measured in this time\n");
        for (what, how) in missing {
            let _ = writeln!(part, "{what}: {how}");
        }
        parts.push(part);
    }
    parts.join("\n")
}

fn distribution(found: &Findings) -> String {
    let mut text = String::from("TABLE 1  Distribution of load\n\nOurs\n");
    text += &found.load.as_ref().map_or_else(nothing, |load| active(load, Bars::X));
    let groups = found.load.as_ref().and_then(|load| group_text::table(&load.by_group()));
    text.extend(groups.map(|groups| format!("\n{groups}")));
    let table = &found.published.table1;
    let _ = writeln!(
        text,
        "\nPublished (40 machines of a ring in {} s, from {} % on; the packets of fsPCR are\n\
         misprints: they do not fit the shares)",
        table.interval_s, table.threshold_percent
    );
    let mut rows = Table::new(&["host", "input packets", "%", "output packets", "%"]);
    for host in &table.hosts {
        rows.row(vec![
            host.host.clone(),
            count(host.in_packets),
            format!("{:.2}", host.in_percent),
            count(host.out_packets),
            format!("{:.2}", host.out_percent),
        ]);
    }
    text + &rows.to_string()
}

fn nothing() -> String {
    "not measured\n".to_owned()
}

fn over_time(found: &Findings, zone: &Zone) -> String {
    let table = &found.published.table2;
    let mut text = String::from("TABLE 2  Activity of hosts\n\nOurs\n");
    let ours = |load: &Tables| activity(load, zone);
    text += &found.load.as_ref().map_or_else(nothing, ours);
    let _ = writeln!(
        text,
        "\nPublished (a scan each {} s, from {} % on)",
        table.interval_s, table.threshold_percent
    );
    let scans = table.hosts.first().map_or(0, |host| host.percent.len());
    let heading: Vec<String> =
        std::iter::once("host".to_owned()).chain((1..=scans).map(|n| n.to_string())).collect();
    let mut rows = Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>());
    for host in &table.hosts {
        let dot = |percent: &f64| match *percent {
            0.0 => ".".to_owned(),
            percent => format!("{percent:.1}"),
        };
        rows.row(std::iter::once(host.host.clone()).chain(host.percent.iter().map(dot)).collect());
    }
    text + &rows.to_string()
}

fn responses(found: &Findings) -> String {
    let mut text = String::from("TABLE 3  Response time, the best of many\n\nOurs\n");
    text += &pairs(found, &found.between);
    text += "\nPublished\n";
    let mut rows = Table::new(&["ring", "from", "ring", "to", "best"]);
    for row in &found.published.table3 {
        let best = duration(row.best_ms * MS);
        let from_ring = row.from_ring.clone();
        rows.row(vec![from_ring, row.from.clone(), row.ring.clone(), row.to.clone(), best]);
    }
    text + &rows.to_string()
}

/// Pairs of hosts; with their rings where there are groups.
fn pairs(found: &Findings, measured: &[Measured]) -> String {
    if measured.is_empty() {
        return nothing();
    }
    let has_groups = !found.groups.is_empty();
    let hosts: &[&str] = if has_groups { &["ring", "from", "ring", "to"] } else { &["from", "to"] };
    let heading = [hosts, &["by", "best", "p50", "first", "steady", "lost"]].concat();
    let mut rows = Table::new(&heading);
    let ring = |host: &str| found.groups.of(host).map_or("-".to_owned(), printable);
    for pair in measured {
        let time = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| duration(ns as f64));
        let mut cells = Vec::new();
        for host in [&pair.from, &pair.to] {
            cells.extend(has_groups.then(|| ring(host)));
            cells.push(printable(host));
        }
        cells.extend([
            printable(&pair.by),
            time(pair.best_ns),
            time(pair.p50_ns),
            pair.first_ns.map_or("-".to_owned(), span_of),
            count(pair.count),
            count(pair.lost),
        ]);
        rows.row(cells);
    }
    rows.to_string()
}

/// A name that does nothing to a terminal.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn span_of([least, most]: [u64; 2]) -> String {
    span([least as f64, most as f64])
}

/// A range in nanoseconds.
fn span([least, most]: [f64; 2]) -> String {
    let (least, most) = (duration(least), duration(most));
    if least == most { least } else { format!("{least} to {most}") }
}

fn machines(found: &Findings) -> String {
    let mut text =
        String::from("TYPES OF MACHINES  Round trip with both ends on one host\n\nOurs\n");
    if !found.within.is_empty() {
        text += &pairs(found, &found.within);
    }
    text += &types(found, &[ElementKind::Host]);
    if found.within.is_empty() && !found.references.iter().any(|r| r.kind == ElementKind::Host) {
        text += &nothing();
    }
    text += "\nPublished\n";
    for host in &found.published.host_types {
        let _ = writeln!(text, "{}: {}", host.name, span(host.ms.map(|ms| ms * MS)));
    }
    text
}

/// Types of these kinds.
fn types(found: &Findings, kinds: &[ElementKind]) -> String {
    let mut rows = Table::new(&["type", "kind", "octets", "best", ""]);
    let these: Vec<_> = found.references.iter().filter(|r| kinds.contains(&r.kind)).collect();
    if these.is_empty() {
        return String::new();
    }
    for reference in these {
        rows.row(vec![
            reference.name.clone(),
            reference.kind.to_string(),
            reference.octets.to_string(),
            duration(reference.best_ns.max(0.0)),
            if reference.measured { "measured" } else { "entered" }.to_owned(),
        ]);
    }
    rows.to_string()
}

/// Findings on the statements in the document's text.
fn text(found: &Findings) -> String {
    let published = &found.published;
    let mut text = String::from("THE TEXT'S FIGURES\n\n");
    text += &between(found, published);
    let activation = found.activation_ns.map_or("not measured".to_owned(), span_of);
    let _ = writeln!(
        text,
        "First request: {activation}; published {}, by the load of the host",
        span(published.text.activation_ms.map(|ms| ms * MS))
    );
    let _ = writeln!(
        text,
        "Step of the clock: {} (a reading takes {}); published {}",
        duration(found.timer.step_ns as f64),
        duration(found.timer.read_ns),
        duration(published.text.timer_ms * MS)
    );
    for speed in &found.speeds {
        let (from, to) = (printable(&speed.from), printable(&speed.to));
        let mbit = speed.best_bits_per_s / 1e6;
        let _ = writeln!(
            text,
            "Bulk transfer from {from} to {to}: {mbit:.1} Mbit/s, the best of {}",
            count(speed.count)
        );
    }
    let _ = writeln!(
        text,
        "Bottleneck: chronoscope net bulk says it for a path; published: {}",
        published.text.bottleneck
    );
    text
}

/// Section on bridges and gateways.
fn between(found: &Findings, published: &Published) -> String {
    let ours = types(found, &[ElementKind::Bridge, ElementKind::Gateway]);
    let ours = if ours.is_empty() { nothing() } else { ours };
    format!(
        "Bridges and gateways add to a round trip\n{ours}published: bridges {}, gateways {}\n",
        published.text.bridge,
        span(published.text.gateway_ms.map(|ms| ms * MS))
    )
}
