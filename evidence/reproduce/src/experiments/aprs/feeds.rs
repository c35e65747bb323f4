//! CPU with full feeds: made packets, and recorded ones.

use super::line::largest_distance_pct;
use super::{is_complete, list, number};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use anyhow::Result;
use chronoscope_published::Cell;
use serde_json::Value;
use std::collections::BTreeMap;

/// The way of batching that is judged: the server's default.
const DEFAULT: &str = "adaptive";

pub(super) fn full_feed(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.full_feed");
    let (mut rows, mut lines) = (Vec::new(), BTreeMap::<&str, Vec<(f64, f64)>>::new());
    let mut share: Option<(f64, f64)> = None;
    for row in list(printed, "/full-feed")? {
        let (outcome, batching) = (&row["outcome"], row["batching"].as_str().unwrap_or(""));
        let clients = number(row, "/clients")?;
        let of = |key: &str| number(outcome, &format!("/{key}"));
        let status = |key: &str| number(outcome, &format!("/status/{key}"));
        let core_pct = of("cpu")? * 100.0;
        lines.entry(batching).or_default().push((clients, core_pct));
        rows.push(vec![
            clients.into(),
            batching.into(),
            core_pct.into(),
            of("cpu_s_per_million")?.into(),
            of("p50_ms")?.into(),
            of("p99_ms")?.into(),
            Cell::from(if is_complete(outcome) { "yes" } else { "NO" }),
        ]);
        if batching == DEFAULT {
            let sent = status("sent_per_s")? / clients;
            let one = (sent / status("uniques_per_s")?, clients);
            // The worst of all is shown.
            let worse = |share: &(f64, f64)| (one.0 - 1.0).abs() > (share.0 - 1.0).abs();
            if share.as_ref().is_none_or(worse) {
                share = Some(one);
            }
            if clients == 400.0 {
                found.figure("input_per_s", status("received_per_s")?);
                found.figure("output_per_s", sent).note("a quarter is repeated");
                found
                    .own("CPU of a million packets delivered", "s", of("cpu_s_per_million")?)
                    .note("400 clients");
            }
        }
    }
    let (share, clients) = share.unwrap_or((f64::NAN, f64::NAN));
    let note = format!("by the server's counters; the run farthest from it, {clients} clients");
    found.figure("output_of_unique", share).note(note);
    let off = lines.get(DEFAULT).and_then(|points| largest_distance_pct(points));
    found.figure("line_off_pct", off.unwrap_or(f64::NAN)).note(format!("batching {DEFAULT}"));
    found.table(
        "1000 packets/s, a quarter repeated, to full feeds",
        &[
            "clients",
            "batching",
            "CPU, % of a core",
            "CPU-s a million",
            "p50 ms",
            "p99 ms",
            "complete",
        ],
        rows,
    );
    found.pictures.push(Picture::Chart(Chart {
        title: "CPU with full-feed clients, 1000 packets/s in, by batching".to_owned(),
        x: Axis::new("clients"),
        y: Axis::new("% of a core"),
        series: lines.into_iter().map(|(name, points)| Series::line(name, points)).collect(),
        marks: Vec::new(),
    }));
    recorded(&mut found, printed)?;
    Ok(found)
}

/// Packets that were recorded, at their own rate.
fn recorded(found: &mut ItemResults, printed: &Value) -> Result<()> {
    let recorded = &printed["recorded"];
    if recorded.is_null() {
        found.say("Recorded packets are not available (tools/packets): all packets are made.");
        return Ok(());
    }
    let mut rows = Vec::new();
    for row in list(recorded, "/rows")? {
        let outcome = &row["outcome"];
        let of = |key: &str| number(outcome, &format!("/{key}"));
        rows.push(vec![
            row["clients"].as_str().unwrap_or("").into(),
            of("rate")?.into(),
            (of("octets_per_s")? / of("delivered_per_s")?).into(),
            of("delivered_per_s")?.into(),
            (of("cpu")? * 100.0).into(),
            of("cpu_s_per_million")?.into(),
            of("p50_ms")?.into(),
            of("p99_ms")?.into(),
            Cell::from(if is_complete(outcome) { "yes" } else { "NO" }),
        ]);
    }
    found.table(
        "recorded packets, none repeated, at the rate at which they were recorded",
        &[
            "",
            "packets in/s",
            "octets a packet",
            "delivered/s",
            "CPU, % of a core",
            "CPU-s a million",
            "p50 ms",
            "p99 ms",
            "complete",
        ],
        rows,
    );
    found.say(format!(
        "The recorded packets are {} of a minute of the Open Glider Network's full feed on \
         2020-05-30; each has the sender's login instead of its igate, and 20 octets of mark behind \
         it.",
        number(recorded, "/packets")?
    ));
    Ok(())
}
