//! Response times of paths put together from their elements, beside measured ones.

use super::super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use crate::report::number as words;
use crate::run::Run;
use anyhow::{Context, Result};
use serde_json::Value;

/// Names of the loads, in their order.
const LOADS: [&str; 3] = ["idle", "half busy", "four fifths busy"];
/// The judged figures of each load: median and 90th percentile.
const FIGURES: [[&str; 2]; 3] = [
    ["p50_error_pct", "p90_error_pct"],
    ["half_busy_p50_error_pct", "half_busy_p90_error_pct"],
    ["busy_p50_error_pct", "busy_p90_error_pct"],
];

/// Predicted beside measured paths.
///
/// # Errors
/// When the bench fails, and where no lab can be made.
pub fn synthesis(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let quick = run.quick;
    let mut call = run.call("path")?.arg("--json");
    if quick {
        call = call.arg("--quick");
    }
    let text = call.text()?;
    let printed: Value = serde_json::from_str(&text).context(
        "the network of namespaces cannot be made on this machine (log.txt gives the reason)",
    )?;
    results(&printed).map(|found| vec![found])
}

fn results(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("sps-lep.synthesis");
    let scores = list(printed, "/scores")?;
    let idle = scores.first().context("no score")?;
    found
        .figure("best_error_pct", number(idle, "/best_error_pct")?)
        .note("the worst of 15 paths of 1 to 4 gateways that were measured one by one");
    let lengths = list(printed, "/lengths")?;
    let (worst, error) = worst_length(lengths)?;
    found.figure("packets_error_pct", error).note(format!("the worst: {worst}"));
    for ((score, figures), load) in scores.iter().zip(FIGURES).zip(LOADS) {
        for (figure, quantile) in figures.into_iter().zip(["p50", "p90"]) {
            let of = |what: &str| number(score, &format!("/{quantile}_{what}_pct"));
            let note = format!(
                "{load}, the worst of 15 paths, {} probes each; its measured value is known to \
                 ± {} % (95 %), and the largest error beyond that of any path is {} %",
                words(number(score, "/probes")?),
                words(of("chance")?),
                words(of("beyond")?)
            );
            found.figure(figure, of("error")?).note(note);
        }
    }
    tables(&mut found, scores, lengths);
    found.pictures.push(Picture::Chart(chart(scores)));
    Ok(found)
}

/// The message of several packets whose median was estimated worst.
fn worst_length(lengths: &[Value]) -> Result<(String, f64)> {
    let mut worst = None;
    for row in lengths.iter().filter(|row| row["packets"].as_u64() > Some(1)) {
        let error = number(row, "/error_pct")?;
        if worst.as_ref().is_none_or(|(_, most): &(String, f64)| error.abs() > *most) {
            let name = format!("{} octets, {}", words(number(row, "/octets")?), word(row, "path"));
            worst = Some((name, error.abs()));
        }
    }
    worst.context("no message of several packets")
}

fn tables(found: &mut ItemResults, scores: &[Value], lengths: &[Value]) {
    let rows = scores.iter().map(|score| {
        let of = |key: &str| score[key].as_f64();
        let share = |key: &str| of(key).zip(of("quantiles")).map(|(part, all)| part * 100.0 / all);
        vec![
            of("utilisation").map(|part| part * 100.0).into(),
            of("p50_error_pct").into(),
            of("p90_error_pct").into(),
            of("p50_beyond_pct").into(),
            of("p90_beyond_pct").into(),
            share("inside").into(),
            share("met").into(),
        ]
    });
    found.table(
        "by how busy gateways are",
        &[
            "busy %",
            "median off by at most %",
            "p90 off by at most %",
            "median beyond its interval %",
            "p90 beyond its interval %",
            "in the band %",
            "band not refuted %",
        ],
        rows.collect(),
    );
    let rows = lengths.iter().map(|row| {
        let ms = |key: &str| row[key].as_f64().map(|ns| ns / 1e6).into();
        vec![
            word(row, "path").into(),
            row["octets"].as_f64().into(),
            row["packets"].as_f64().into(),
            ms("predicted_ns"),
            ms("p50_ns"),
            row["error_pct"].as_f64().into(),
            ms("whole_ns"),
        ]
    });
    found.table(
        "messages of one and of several packets, on idle paths",
        &[
            "path",
            "octets",
            "packets",
            "predicted ms",
            "median ms",
            "error %",
            "whole message on each link, ms",
        ],
        rows.collect(),
    );
}

fn chart(scores: &[Value]) -> Chart {
    let points = |score: &Value| -> Vec<(f64, f64)> {
        let paths = score["paths"].as_array().into_iter().flatten();
        paths
            .filter_map(|path| {
                Some((path["measured_ns"].as_f64()? / 1e6, path["predicted_ns"].as_f64()? / 1e6))
            })
            .collect()
    };
    let mut series: Vec<Series> =
        scores.iter().zip(LOADS).map(|(score, name)| Series::points(name, points(score))).collect();
    let most = scores.iter().flat_map(points).map(|(ms, _)| ms).fold(0.0, f64::max);
    series.push(Series::line("the same", [(1.0, 1.0), (most, most)]));
    Chart {
        title: "Every path and quantile: predicted against measured".to_owned(),
        x: Axis::log("measured, ms"),
        y: Axis::log("predicted, ms"),
        series,
        marks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Verdict;
    use chronoscope_published::Published;
    use serde_json::json;

    /// What the bench prints, with one error of a busy path and one of a long message.
    fn printed(busy_p90: f64, long_error: f64) -> Value {
        let score = |utilisation: f64, p90: f64| {
            json!({
                "utilisation": utilisation, "best_error_pct": 1.0, "probes": 144,
                "p50_error_pct": 2.0, "p50_chance_pct": 3.0, "p50_beyond_pct": 0.0,
                "p90_error_pct": p90, "p90_chance_pct": 9.0, "p90_beyond_pct": 0.5,
                "quantiles": 30, "inside": 28, "met": 30,
                "paths": [{ "measured_ns": 2e6, "predicted_ns": 2.1e6 }],
            })
        };
        let length = |octets: u32, packets: u32, error: f64| {
            json!({
                "path": "3 rings, udp", "octets": octets, "packets": packets, "error_pct": error,
                "predicted_ns": 1e6, "p50_ns": 1e6, "whole_ns": null,
            })
        };
        let long = length(14_000, 10, -long_error);
        let lengths = [length(64, 1, 50.0), length(4000, 3, -1.0), long];
        json!({
            "scores": [score(0.0, 3.0), score(0.5, 4.0), score(0.8, busy_p90)],
            "lengths": lengths,
        })
    }

    #[test]
    fn busy_paths_and_long_messages_are_judged() {
        let published = Published::read().unwrap();
        let item = published.item("sps-lep.synthesis").unwrap();
        let verdict = |busy_p90, length| {
            let found = results(&printed(busy_p90, length)).unwrap();
            found.verdict(item).0
        };
        assert_eq!(verdict(9.0, 2.0), Verdict::Confirmed);
        assert_eq!(verdict(11.0, 2.0), Verdict::Differs);
        assert_eq!(verdict(9.0, 6.0), Verdict::Differs);
        let found = results(&printed(11.0, 2.0)).unwrap();
        let note = &found.of("busy_p90_error_pct").unwrap().note;
        assert!(note.contains("144 probes") && note.contains("± 9 %"), "{note}");
        let note = &found.of("packets_error_pct").unwrap().note;
        assert!(note.contains("14,000 octets, 3 rings, udp"), "{note}");
    }
}
