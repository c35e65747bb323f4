//! ETFMS: a recorded day through the real processes.

use super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Picture, Series};
use crate::run::Run;
use anyhow::{Context, Result};
use serde_json::Value;

/// Runs the bench, which stores its results in its folder.
///
/// # Errors
/// When it fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let flights = run.root.join("tools/flights");
    let recording = run.tool("flights", &flights).text();
    run.go_on()?; // whatever the recording's end, it was not the signal
    let (folder, quick) = (run.folder.join("day"), run.quick);
    let mut call = run.call("day")?.arg("--json").arg("--out").arg(folder);
    if let Ok(path) = &recording {
        call = call.arg("--recording").arg(path.trim());
    }
    if quick {
        call = call.arg("--quick");
    }
    let printed: Value = call.json()?;
    let steps = list(&printed, "/steps")?;
    let [day, hour, callgrind] = steps else {
        anyhow::bail!("{} replays instead of three", steps.len());
    };
    let traffic = if recording.is_ok() { "along recorded flights" } else { "flights are made up" };
    Ok(vec![volume(&printed, day, traffic)?, replay(&printed, day, hour, callgrind)?])
}

fn volume(printed: &Value, day: &Value, traffic: &str) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.peak_day");
    found.figure("flights", number(printed, "/flights")?).note(traffic);
    found.figure("radar_positions", number(printed, "/positions")?);
    found.figure("queries", number(printed, "/queries")?);
    let length_h = number(printed, "/length_s")? / 3600.0;
    found.own("length of what is replayed", "h", length_h);
    let inputs = list(day, "/report/inputs")?;
    let sum = |key: &str| inputs.iter().filter_map(|input| input[key].as_f64()).sum::<f64>();
    found.own("inputs given to the processes", "", sum("inputs"));
    found.figure("undelivered", sum("undelivered"));
    let rate = number(printed, "/positions")? / length_h / 3600.0;
    found.own("radar positions a second", "1/s", rate).note("11.6 million in 24 h are 134");
    Ok(found)
}

fn replay(printed: &Value, day: &Value, hour: &Value, callgrind: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.replay");
    let real_h = |step: &Value| number(step, "/report/real_ns").map(|ns| ns / 3.6e12);
    let length_h = number(printed, "/length_s")? / 3600.0;
    let day_h = real_h(day)? * 24.0 / length_h;
    let whole = length_h >= 24.0;
    let note = if whole { "measured" } else { "reckoned from an hour with the day's rates" };
    found.figure("day_h", day_h).note(note);
    found.figure("accelerated", 24.0 / day_h).note(note);
    let callgrind_s = number(printed, "/callgrind_s")?;
    let hour_h = real_h(callgrind)? * 3600.0 / callgrind_s;
    found.figure("callgrind_hour_h", hour_h).note(format!("reckoned from {callgrind_s} s of it"));
    let rows = [day, hour, callgrind].into_iter().map(|step| {
        let of = |pointer: &str| number(step, pointer);
        let processes = list(step, "/report/processes")?;
        let cpu = |key: &str| {
            processes.iter().filter_map(|process| process["usage"][key].as_f64()).sum::<f64>() / 1e9
        };
        let all_s = cpu("user_ns") + cpu("system_ns") + of("/report/coordinator_cpu_ns")? / 1e9;
        Ok(vec![
            word(step, "title").into(),
            (of("/report/virtual_ns")? / 1e9).into(),
            (of("/report/real_ns")? / 1e9).into(),
            of("/report/factor")?.into(),
            all_s.into(),
        ])
    });
    let rows = rows.collect::<Result<Vec<_>>>().context("a replay's report")?;
    found.table("replays", &["", "virtual s", "real s", "factor", "CPU of all, s"], rows);
    let usage = list(day, "/report/processes")?.iter().map(|process| {
        let s = |key: &str| process["usage"][key].as_f64().map(|ns| ns / 1e9).into();
        vec![
            word(process, "name").into(),
            s("user_ns"),
            s("system_ns"),
            process["syscalls"].as_f64().into(),
            process["grants"].as_f64().into(),
        ]
    });
    found.table(
        "processes of the first",
        &["process", "user s", "system s", "system calls", "grants"],
        usage.collect(),
    );
    found.pictures.push(Picture::Chart(Chart {
        title: "Time of a day's replay, and of an hour under Callgrind".to_owned(),
        x: Axis::new("1: one day; 2: one hour under Callgrind").within(0.5, 2.5),
        y: Axis::log("hours"),
        series: vec![
            Series::points("ours", [(1.0, day_h), (2.0, hour_h)]),
            Series::points("document", [(1.0, 13.0), (2.0, 26.0)]),
        ],
        marks: Vec::new(),
    }));
    Ok(found)
}
