//! aprsc: the APRS-IS server under load.

use super::{list, number};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Flow, Picture, Series};
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;
use std::collections::BTreeMap;

/// Runs the load generator, which starts a server of its own for each point.
///
/// # Errors
/// When it fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let quick = run.quick;
    let mut call = run.call("aprs")?.arg("--json");
    if quick {
        call = call.arg("--quick");
    }
    let series = ["paper", "live", "full-feed", "filters", "clients", "ceiling"];
    let printed: Value = call.args(series).json()?;
    Ok(vec![
        requirements(&printed)?,
        threads(&printed)?,
        memory(&printed)?,
        full_feed(&printed)?,
        status(&printed)?,
        filtered(&printed)?,
        live(&printed)?,
    ])
}

/// Whether all packets reached all clients, in order and once.
fn is_complete(outcome: &Value) -> bool {
    ["missing", "misordered", "cut"].iter().all(|key| outcome[*key].as_u64() == Some(0))
}

fn requirements(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.requirements");
    let ceiling = list(printed, "/ceiling")?;
    let whole = ceiling.iter().filter(|outcome| is_complete(outcome));
    let mbit =
        whole.filter_map(|outcome| outcome["octets_per_s"].as_f64()).fold(f64::NAN, f64::max) * 8.0
            / 1e6;
    if mbit.is_finite() {
        found.figure("throughput_mbit_per_s", mbit).note("400 full feeds, every line arrived");
    } else {
        found.say("No run of the series “ceiling” was complete: throughput is not shown.");
    }
    let adaptive = adaptive(printed)?;
    let largest = adaptive.last().context("no run with full feeds")?;
    let outcome = &largest["outcome"];
    let note = format!("{} full feeds, 1000 packets/s: median to 99 % within", largest["clients"]);
    found.range("latency_ms", number(outcome, "/p50_ms")?, number(outcome, "/p99_ms")?).note(note);
    let most = list(printed, "/clients")?.iter().filter_map(|row| row["clients"].as_f64());
    found.figure("clients", most.fold(0.0, f64::max)).note("logged in at once");
    Ok(found)
}

fn threads(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.drawing1");
    let mut names = BTreeMap::new();
    for name in list(printed, "/live/threads")?.iter().filter_map(Value::as_str) {
        *names.entry(name.to_owned()).or_insert(0) += 1;
    }
    let boxes = names.into_iter().map(|(name, count)| {
        (name, format!("{count} thread{}", if count == 1 { "" } else { "s" }))
    });
    found.pictures.push(Picture::Flow(Flow {
        title: "threads of our server while 150 clients are connected, by name".to_owned(),
        columns: vec![("aprs-server".to_owned(), boxes.collect())],
        arrows: Vec::new(),
    }));
    found.say(
        "The duplicate check is part of the worker here (systems/aprs/src/engine), so that a packet \
         needs no queue between threads.",
    );
    Ok(found)
}

fn memory(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.memory");
    let (mut rows, mut lines) = (Vec::new(), BTreeMap::<String, Vec<(f64, f64)>>::new());
    for row in list(printed, "/clients")? {
        let port = row["port"].as_str().unwrap_or("");
        let name = if port == "full" { "full feed" } else { "with a filter" };
        let (clients, kb) = (number(row, "/clients")?, number(row, "/kb_each")?);
        lines.entry(name.to_owned()).or_default().push((clients, kb));
        let login = number(row, "/seconds")?;
        rows.push(vec![
            name.into(),
            clients.into(),
            kb.into(),
            (number(row, "/rss_kb")? / 1e3).into(),
            login.into(),
        ]);
        if name == "full feed" && clients == 10_000.0 {
            found.figure("aprsc_kb", kb).note("10,000 idle clients with a full feed");
        }
    }
    found.table(
        "idle clients",
        &["", "clients", "kB each", "RSS MB", "all logged in after s"],
        rows,
    );
    let series = lines.into_iter().map(|(name, points)| Series::line(&name, points));
    found.pictures.push(Picture::Chart(Chart {
        title: "Memory of an idle client".to_owned(),
        x: Axis::new("clients"),
        y: Axis::new("kB a client"),
        series: series.collect(),
        marks: Vec::new(),
    }));
    Ok(found)
}

/// Points of the full feed with the default batching, by clients.
fn adaptive(printed: &Value) -> Result<Vec<&Value>> {
    let rows = list(printed, "/full-feed")?.iter();
    Ok(rows.filter(|row| row["batching"] == "adaptive").collect())
}

fn full_feed(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.full_feed");
    let (mut rows, mut lines) = (Vec::new(), BTreeMap::<String, Vec<(f64, f64)>>::new());
    for row in list(printed, "/full-feed")? {
        let (outcome, batching) = (&row["outcome"], row["batching"].as_str().unwrap_or(""));
        let clients = number(row, "/clients")?;
        let of = |key: &str| number(outcome, &format!("/{key}"));
        let core_pct = of("cpu")? * 100.0;
        lines.entry(batching.to_owned()).or_default().push((clients, core_pct));
        rows.push(vec![
            clients.into(),
            batching.into(),
            core_pct.into(),
            of("cpu_s_per_million")?.into(),
            of("p50_ms")?.into(),
            of("p99_ms")?.into(),
            Cell::from(if is_complete(outcome) { "yes" } else { "NO" }),
        ]);
        if batching == "adaptive" && clients == 400.0 {
            found.figure("input_per_s", of("rate")?);
            found.figure("output_per_s", of("delivered_per_s")? / clients);
            found.figure("aprsc_cpu_s_per_million", of("cpu_s_per_million")?);
        }
    }
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
    let series = lines.into_iter().map(|(name, points)| Series::line(&name, points));
    found.pictures.push(Picture::Chart(Chart {
        title: "CPU with full-feed clients, 1000 packets/s in, by batching".to_owned(),
        x: Axis::new("clients"),
        y: Axis::new("% of a core"),
        series: series.collect(),
        marks: Vec::new(),
    }));
    Ok(found)
}

fn status(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.status");
    let outcome = &printed["paper"];
    let of = |key: &str| number(outcome, &format!("/{key}"));
    let rate = of("rate")?;
    let repeated = rate * of("repeated")? / of("sent")?;
    found.figure("clients", 640.0);
    found.figure("rx_packets_per_s", rate);
    found.figure("tx_packets_per_s", of("delivered_per_s")?);
    found.figure("tx_bytes_per_s", of("octets_per_s")?).note("our packets are of other lengths");
    found.figure("dupes_per_s", repeated);
    found.figure("unique_per_s", rate - repeated);
    found.own("CPU", "% of a core", of("cpu")? * 100.0);
    found.own("99 % of packets within", "ms", of("p99_ms")?);
    let lost = ["missing", "misordered", "cut"].iter().filter_map(|key| outcome[*key].as_f64());
    found.own("packets missing, out of order, clients cut", "", lost.sum());
    Ok(found)
}

fn filtered(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.filtered");
    let (mut rows, mut line) = (Vec::new(), Vec::new());
    for row in list(printed, "/filters")? {
        let (outcome, clients) = (&row["outcome"], number(row, "/clients")?);
        let of = |key: &str| number(outcome, &format!("/{key}"));
        let core_pct = of("cpu")? * 100.0;
        line.push((clients, core_pct));
        rows.push(vec![
            clients.into(),
            core_pct.into(),
            of("cpu_s_per_million_in")?.into(),
            of("delivered_per_s")?.into(),
            of("p99_ms")?.into(),
        ]);
        if clients == 4000.0 {
            found.figure("aprsc_cpu_s_per_million_in", of("cpu_s_per_million_in")?);
        }
    }
    found.table(
        "1000 packets/s to clients with filters",
        &["clients", "CPU, % of a core", "CPU-s a million in", "packets out/s", "p99 ms"],
        rows,
    );
    found.pictures.push(Picture::Chart(Chart {
        title: "CPU with filtered clients, 1000 packets/s in".to_owned(),
        x: Axis::new("clients"),
        y: Axis::new("% of a core"),
        series: vec![Series::line("ours", line)],
        marks: Vec::new(),
    }));
    Ok(found)
}

fn live(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.live");
    let live = &printed["live"];
    found.figure("clients", number(live, "/clients")?).note("with filters, 50 packets/s in");
    found.figure("rss_mb", number(live, "/outcome/rss_kb")? / 1e3);
    found.figure("cpu_pct_of_core", number(live, "/outcome/cpu")? * 100.0);
    found.figure("threads", list(live, "/threads")?.len() as f64);
    Ok(found)
}
