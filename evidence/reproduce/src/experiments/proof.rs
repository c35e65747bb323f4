//! ETFMS: whether one pair of runs tells a difference of less than 1 %.

use super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Mark, Picture, Series};
use crate::run::Run;
use anyhow::{Context, Result};
use serde_json::Value;

/// Changes that are made on purpose, in percent.
const CHANGES: [(&str, f64); 4] = [("none", 0.0), ("+0.1 %", 0.1), ("+0.3 %", 0.3), ("+1 %", 1.0)];

/// Runs the bench, which appends to its results.
///
/// # Errors
/// When it fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let (results, pairs) = (run.folder.join("proof.jsonl"), run.either("4,2", "60,20"));
    let call = run.call("proof")?.args(["--json", "--pairs", pairs]).arg("--results").arg(results);
    // 1: it proved the contrary, which is what the figures then say.
    let printed: Value = call.accept(1).json()?;
    let mut found = ItemResults::new("etfms.target");
    let (mut rows, mut points, mut smallest) = (Vec::new(), Vec::new(), f64::INFINITY);
    let mut false_alarms = 0.0;
    for row in list(&printed, "/rows")? {
        let change = CHANGES.iter().find(|(name, _)| *name == word(row, "change"));
        let (name, pct) = change.context("a change that was not asked for")?;
        let changes = list(row, "/changes")?;
        let changes: Vec<f64> =
            changes.iter().filter_map(Value::as_f64).map(|v| v * 100.0).collect();
        let moved = number(row, "/moved")?;
        let all = moved == changes.len() as f64 && !changes.is_empty();
        if *pct == 0.0 {
            false_alarms += moved;
        } else if all {
            smallest = smallest.min(*pct);
        }
        points.extend(changes.iter().map(|found| (*pct, *found)));
        let (least, most) = (changes.first().copied(), changes.last().copied());
        rows.push(vec![
            (*name).into(),
            (changes.len() as f64).into(),
            moved.into(),
            least.into(),
            chronoscope_statistics::median(changes.iter().copied()).into(),
            most.into(),
        ]);
    }
    found
        .figure("detect_pct", smallest)
        .note("smallest change that was made and found in every pair of one run each");
    found.figure("false_alarms", false_alarms);
    found.table(
        "pairs of one run each, a server with threads",
        &["change", "pairs", "called moved", "least %", "median %", "most %"],
        rows,
    );
    let threshold = number(&printed, "/threshold")? * 100.0;
    found.pictures.push(Picture::Chart(Chart {
        title: "Every pair: what was changed, and what one pair of runs said".to_owned(),
        x: Axis::new("change that was made, %").within(-0.05, 1.1),
        y: Axis::new("change that was found, %").within(-0.1, 1.15),
        series: vec![Series::points("", points)],
        marks: vec![Mark { upright: false, at: threshold, label: "threshold".to_owned() }],
    }));
    found.say(format!("Instructions counted by: {}.", word(&printed, "method")));
    Ok(vec![found])
}
