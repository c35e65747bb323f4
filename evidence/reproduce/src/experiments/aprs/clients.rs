//! Clients that idle, clients with filters, and the paper's 150 real ones.

use super::line::largest_distance_pct;
use super::{list, number};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use anyhow::Result;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn memory(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.memory");
    let (mut rows, mut lines) = (Vec::new(), BTreeMap::<&str, Vec<(f64, f64)>>::new());
    for row in list(printed, "/clients")? {
        let name = match (row["port"].as_str(), row["filters"].as_str()) {
            (Some("full"), _) => "full feed",
            (_, Some("each its own")) => "each with a filter of its own",
            _ => "with a filter",
        };
        let (clients, mb) = (number(row, "/clients")?, number(row, "/rss_kb")? / 1e3);
        let line = lines.entry(name).or_default();
        if line.is_empty() {
            line.push((0.0, number(row, "/rss_before_kb")? / 1e3));
        }
        line.push((clients, mb));
        rows.push(vec![
            name.into(),
            clients.into(),
            number(row, "/counted")?.into(),
            number(row, "/kb_each")?.into(),
            mb.into(),
            number(row, "/seconds")?.into(),
        ]);
        if clients == 10_000.0 {
            let what = format!("per idle client, {name}, 10,000 clients");
            found.own(&what, "kB", number(row, "/kb_each")?);
        }
    }
    // Each line must be straight; one that cannot be judged makes the figure missing.
    let off: Option<Vec<f64>> = lines.values().map(|points| largest_distance_pct(points)).collect();
    let worst = off.and_then(|off| off.into_iter().reduce(f64::max));
    found.figure("line_off_pct", worst.unwrap_or(f64::NAN)).note("the worst of the lines");
    found.table(
        "idle clients",
        &["", "clients", "by the server", "kB each", "RSS MB", "all logged in after s"],
        rows,
    );
    found.pictures.push(Picture::Chart(Chart {
        title: "Memory of the server with idle clients".to_owned(),
        x: Axis::new("clients"),
        y: Axis::new("MB"),
        series: lines.into_iter().map(|(name, points)| Series::line(name, points)).collect(),
        marks: Vec::new(),
    }));
    Ok(found)
}

pub(super) fn filtered(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.filtered");
    let (mut rows, mut line) = (Vec::new(), Vec::new());
    let (mut due, mut got, mut last) = (0.0, 0.0, None);
    for row in list(printed, "/filters")? {
        let (outcome, clients) = (&row["outcome"], number(row, "/clients")?);
        let of = |key: &str| number(outcome, &format!("/{key}"));
        let cost = |key: &str| number(row, &format!("/cost/{key}"));
        line.push((clients, of("cpu")? * 100.0));
        due += of("named/0")?;
        got += of("named/1")?;
        last = Some(cost("uniques_per_s")?);
        rows.push(vec![
            clients.into(),
            cost("uniques_per_s")?.into(),
            of("delivered_per_s")?.into(),
            (of("cpu")? * 100.0).into(),
            cost("us_per_packet_in")?.into(),
            cost("us_per_packet")?.into(),
            cost("ns_per_pair")?.into(),
            of("p99_ms")?.into(),
        ]);
        if clients == 4000.0 {
            let note = "4000 clients; CPU of the whole server";
            found.own("CPU a packet received", "µs", cost("us_per_packet_in")?).note(note);
            let note = format!("{:.0} such packets a second", cost("uniques_per_s")?);
            found
                .own("CPU a packet that reaches the filters", "µs", cost("us_per_packet")?)
                .note(note);
            let note = format!("{:.2} million such pairs a second", cost("pairs_per_s")? / 1e6);
            found
                .own("CPU a packet and client with a filter", "ns", cost("ns_per_pair")?)
                .note(note);
        }
    }
    found.figure("unique_per_s", last.unwrap_or(f64::NAN)).note("by the server's duplicate check");
    let note = format!("{got} of {due}, all runs");
    found.figure("named_passed", if due > 0.0 { got / due } else { f64::NAN }).note(note);
    found.table(
        "1000 packets/s, none repeated, to clients with filters; CPU of the whole server",
        &[
            "clients",
            "packets to the filters/s",
            "packets out/s",
            "CPU, % of a core",
            "µs a packet in",
            "µs a packet to the filters",
            "ns a packet and client",
            "p99 ms",
        ],
        rows,
    );
    found.pictures.push(Picture::Chart(Chart {
        title: "CPU with filtered clients, 1000 packets/s in, none repeated".to_owned(),
        x: Axis::new("clients"),
        y: Axis::new("% of a core"),
        series: vec![Series::line("ours", line)],
        marks: Vec::new(),
    }));
    Ok(found)
}

pub(super) fn live(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.live");
    let live = &printed["live"];
    found.figure("clients", number(live, "/clients")?).note("with filters, 50 packets/s in");
    found.figure("rss_mb", number(live, "/outcome/rss_kb")? / 1e3);
    found.figure("cpu_pct_of_core", number(live, "/outcome/cpu")? * 100.0);
    found.figure("threads", list(live, "/threads")?.len() as f64);
    Ok(found)
}
