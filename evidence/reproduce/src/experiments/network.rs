//! SPS/LEP: who loads a network, and how long a path through it takes.

use super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Cell;
use serde_json::Value;

pub mod lab;
mod synthesis;

pub use synthesis::synthesis;

/// Scans of a lab of namespaces, whose traffic is known.
///
/// # Errors
/// When a program fails, and where no lab can be made.
pub fn load(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let printed = in_lab(run, "load")?;
    let mut table1 = ItemResults::new("sps-lep.table1");
    table1.figure("interval_s", number(&printed, "/load/interval_s")?);
    table1.figure("threshold_pct", 1.5);
    table1.figure("machines", number(&printed, "/load/machines")?);
    table1.figure("error_points", number(&printed, "/load/error_points")?);
    let rows = list(&printed, "/load/rows")?.iter().map(|row| {
        let of = |key: &str| row[key].as_f64().into();
        vec![
            word(row, "host").into(),
            of("in"),
            of("in_pct"),
            of("out"),
            of("out_pct"),
            of("sent_in_pct"),
            of("sent_out_pct"),
        ]
    });
    table1.table(
        "hosts above the threshold, as `chronoscope net table` says",
        &[
            "host",
            "in, packets",
            "in, %",
            "out, packets",
            "out, %",
            "sent to it, %",
            "sent by it, %",
        ],
        rows.collect(),
    );
    table1.say(
        "The traffic is made here to the document's shares (fsPCR by its percentages: its packet \
         counts are misprints); what is reproduced is that a scan and the table tell them.",
    );
    let mut table2 = ItemResults::new("sps-lep.table2");
    table2.figure("interval_s", number(&printed, "/activity/interval_s")?);
    table2.figure("threshold_pct", 1.0);
    let scans = number(&printed, "/activity/scans")?;
    table2.figure("scans", scans);
    table2.figure("error_points", number(&printed, "/activity/error_points")?);
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for row in list(&printed, "/activity/rows")? {
        let shares: Vec<f64> =
            list(row, "/percent")?.iter().map(|v| v.as_f64().unwrap_or(0.0)).collect();
        let cells = shares.iter().map(|share| -> Cell {
            if *share < 1.0 { ".".into() } else { ((share * 10.0).round() / 10.0).into() }
        });
        rows.push([vec![word(row, "host").into()], cells.collect()].concat());
        if ["fsPCR", "aldev5", "cons14"].contains(&word(row, "host")) {
            let points = (1..).zip(&shares).map(|(scan, share)| (f64::from(scan), *share));
            lines.push(Series::line(word(row, "host"), points.collect::<Vec<_>>()));
        }
    }
    let heads: Vec<String> = (1..rows.first().map_or(1, Vec::len)).map(|n| n.to_string()).collect();
    let mut columns = vec!["host"];
    columns.extend(heads.iter().map(String::as_str));
    table2.table("activity in percent of each scan's total", &columns, rows);
    table2.pictures.push(Picture::Chart(Chart {
        title: "Activity over time of three hosts".to_owned(),
        x: Axis::new("scan").within(0.5, scans + 0.5),
        y: Axis::new("% of the total").within(0.0, 100.0),
        series: lines,
        marks: Vec::new(),
    }));
    Ok(vec![table1, table2])
}

/// Response times in a lab, and what its elements add.
///
/// # Errors
/// When a program fails.
pub fn paths(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let printed = in_lab(run, "paths")?;
    let mut table3 = ItemResults::new("sps-lep.table3");
    let (mut rows, mut best, mut worst) = (Vec::new(), f64::INFINITY, 0_f64);
    for row in list(&printed, "/table3")? {
        let of = |key: &str| row[key].as_f64();
        let ours = of("best_ms").context("a host without an answer")?;
        (best, worst) = (best.min(ours), worst.max(ours));
        rows.push(vec![
            word(row, "ring").into(),
            word(row, "host").into(),
            of("published_ms").into(),
            ours.into(),
            of("predicted_ms").into(),
            of("median_ms").into(),
            of("gateways_ms").into(),
        ]);
    }
    table3.range("response_ms", best, worst);
    let estimates = list(&printed, "/table3")?;
    table3.figure("in_order_pct", in_order_pct(estimates)?);
    table3
        .figure("estimate_error_pct", largest_error_pct(estimates)?)
        .note("the worst of the eight hosts");
    table3.table(
        "responses from aldev5",
        &[
            "ring",
            "host",
            "published ms",
            "best ms",
            "predicted median ms",
            "median ms",
            "gateways as set, ms",
        ],
        rows,
    );
    table3.say(
        "The lab has two gateways on each path, that of the PCR ring and that of the host's ring, with \
         delays in the document's range; the document does not print which gateways are on which path. \
         Its response times have 60 to 100 ms of the hosts in them, ours hardly any.",
    );
    let mut rtrt = ItemResults::new("sps-lep.rtrt");
    let ours_ms = number(&printed, "/rtrt_ms/best")?;
    rtrt.figure("i80286_ms", ours_ms).note("client and server on one host of the lab, best");
    rtrt.figure("i80386_ms", ours_ms);
    rtrt.own("median", "ms", number(&printed, "/rtrt_ms/median")?);
    let mut clock = ItemResults::new("sps-lep.clock");
    clock.figure("clock_quantum_ms", number(&printed, "/timer_step_ns")? / 1e6);
    Ok(vec![table3, rtrt, elements(&printed)?, clock, activation(&printed)?])
}

/// Share of the pairs of hosts in different rings whose medians are in the estimated order.
fn in_order_pct(rows: &[Value]) -> Result<f64> {
    let (mut pairs, mut right) = (0.0, 0.0);
    for (at, a) in rows.iter().enumerate() {
        for b in rows[at + 1..].iter().filter(|b| b["ring"] != a["ring"]) {
            let later = |key: &str| -> Result<bool> {
                Ok(number(a, &format!("/{key}"))? > number(b, &format!("/{key}"))?)
            };
            pairs += 1.0;
            right += f64::from(u8::from(later("predicted_ms")? == later("median_ms")?));
        }
    }
    Ok(right * 100.0 / pairs)
}

/// Largest error of an estimated median.
fn largest_error_pct(rows: &[Value]) -> Result<f64> {
    let error = |row: &Value| -> Result<f64> {
        Ok((number(row, "/predicted_ms")? / number(row, "/median_ms")? - 1.0).abs() * 100.0)
    };
    rows.iter().try_fold(0.0, |most: f64, row| Ok(most.max(error(row)?)))
}

/// The first request, which starts the server: on an idle host and on a busy one.
fn activation(printed: &Value) -> Result<ItemResults> {
    let mut activation = ItemResults::new("sps-lep.activation");
    let of = |host: &str, key: &str| number(printed, &format!("/activation/{host}/{key}"));
    let (idle, busy) = (of("idle", "first_ms")?, of("busy", "first_ms")?);
    let steady = of("idle", "steady_ms")?;
    let requests = of("idle", "count")?;
    let programs = number(printed, "/activation/busy/programs")?;
    activation
        .range("activation_ms", idle.min(busy), idle.max(busy))
        .note("net answer --on-demand starts a process; medians on an idle and on a busy host");
    activation.figure("to_steady", idle / steady).note(format!(
        "medians of {requests} first requests to as many servers, and of all later ones to them"
    ));
    activation.figure("busy_to_idle", busy / idle).note(format!(
        "medians of {requests}; on the busy host {programs} programs compute on {} processors",
        number(printed, "/activation/busy/processors")?
    ));
    let row = |host: &str| -> Result<Vec<Cell>> {
        let of = |key: &str| of(host, key).map(Cell::from);
        Ok(vec![
            host.into(),
            of("shortest_ms")?,
            of("first_ms")?,
            of("longest_ms")?,
            of("steady_ms")?,
        ])
    };
    activation.table(
        "first requests",
        &["host", "shortest ms", "median ms", "longest ms", "steady median ms"],
        vec![row("idle")?, row("busy")?],
    );
    Ok(activation)
}

/// The delays of the lab's elements, as set and as measured by probes around them.
fn elements(printed: &Value) -> Result<ItemResults> {
    let mut elements = ItemResults::new("sps-lep.elements");
    let gateways = list(printed, "/gateways")?;
    let measured = |name: &str| {
        let found = gateways.iter().find(|one| word(one, "name") == name);
        found.and_then(|one| one["measured_ms"].as_f64())
    };
    for (figure, name) in [
        ("bridge_ms", "bridge"),
        ("gateway_best_ms", "gw-lma"),
        ("gateway_worst_ms", "gw-ldev"),
        ("gateway_80286_ms", "gw-pcr"),
    ] {
        if let Some(ms) = measured(name) {
            elements
                .figure(figure, ms)
                .note(format!("{name}: set in the lab, found by two probes around it"));
        }
    }
    elements.say(
        "The delays are set in the lab and read back by probes around each element: this shows that \
         probes find them, and reproduces no delay of the document.",
    );
    let rows = gateways.iter().map(|one| {
        vec![
            word(one, "name").into(),
            one["set_ms"].as_f64().into(),
            one["measured_ms"].as_f64().into(),
        ]
    });
    elements.table(
        "elements as set and as measured",
        &["", "set ms", "measured ms"],
        rows.collect(),
    );
    Ok(elements)
}

/// The lab is a program of its own: namespaces belong to whoever made them.
fn in_lab(run: &mut Run<'_>, what: &str) -> Result<Value> {
    let (folder, own) = (run.fresh(what)?, std::env::current_exe()?);
    let (bin, quick) = (run.programs().folder().to_owned(), run.quick);
    let mut call = run.tool("reproduce", &own).args(["lab", what, "--out"]).arg(folder);
    call = call.arg("--bin").arg(bin);
    if quick {
        call = call.arg("--quick");
    }
    let printed: Value = call.json()?;
    for line in list(&printed, "/commands")?.iter().filter_map(Value::as_str) {
        run.note_command(line);
    }
    Ok(printed)
}

/// A scan of many hosts.
///
/// # Errors
/// When the bench fails.
pub fn scan(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let quick = run.quick;
    let mut call = run.call("scan")?.arg("--json");
    if quick {
        call = call.arg("--quick");
    }
    let text = call.text()?;
    let rows = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let mut found = ItemResults::new("sps-lep.scan");
    let of = |row: &Value, key: &str| -> Cell { row[key].as_f64().into() };
    let slowest = rows.iter().filter(|row| row["hosts"] == 300 && row["slowest_ms"].is_f64());
    let slowest_ms = slowest.filter_map(|row| row["slowest_ms"].as_f64()).fold(f64::NAN, f64::max);
    found.figure("hosts", 300.0);
    if slowest_ms.is_finite() {
        found
            .figure("ring_s", slowest_ms / 1e3)
            .note("the slowest scan of 300 hosts, a ring has 40");
    }
    let table = rows.iter().map(|row| {
        vec![
            word(row, "who").into(),
            of(row, "hosts"),
            of(row, "median_ms"),
            of(row, "slowest_ms"),
            of(row, "scanner_core_pct"),
            of(row, "lost"),
        ]
    });
    found.table(
        "scans of loopback addresses, one a second",
        &["who answers", "hosts", "median ms", "slowest ms", "scanner, % of a core", "lost"],
        table.collect(),
    );
    Ok(vec![found])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hosts(medians: [f64; 3]) -> Vec<Value> {
        let rows = [("lma", 60.0), ("lma", 60.0), ("lsv", 70.0)].into_iter().zip(medians);
        rows.map(|((ring, predicted), median)| {
            json!({ "ring": ring, "predicted_ms": predicted, "median_ms": median })
        })
        .collect()
    }

    #[test]
    fn the_order_of_rings_is_judged_and_not_that_within_one() {
        assert_eq!(in_order_pct(&hosts([61.0, 62.0, 71.0])).unwrap(), 100.0);
        assert_eq!(in_order_pct(&hosts([61.0, 75.0, 71.0])).unwrap(), 50.0);
        assert!(in_order_pct(&[json!({ "ring": "a" }), json!({ "ring": "b" })]).is_err());
    }

    #[test]
    fn the_largest_error_counts() {
        let error = largest_error_pct(&hosts([60.0, 50.0, 70.0])).unwrap();
        assert!((error - 20.0).abs() < 1e-9, "{error}");
    }
}
