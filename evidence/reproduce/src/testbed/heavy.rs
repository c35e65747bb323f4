//! 3000 tracks in 30 circles and one display on one computer: the document's rule for collecting
//! updates beside ours, run in turn with the same traffic.

use super::args::Heavy;
use super::chain::{self, Ran};
use super::live::LiveResult;
use super::one_display::{CIRCLES, FLIGHTS_MAX, one_display};
use super::report::{self, circumstances, number, published, row};
use super::statistics::{ask, figures, hops, main_chain, mean_ms};
use super::swing::{folded, near_and_elsewhere};
use super::{Bed, limit};
use crate::machine;
use anyhow::Result;
use chronoscope_query::{LeafLevel, Question};
use serde_json::{Value, json};
use std::fmt::Write;

/// Runs it.
///
/// # Errors
/// When a program fails.
pub fn run(bed: &Bed, options: &Heavy) -> Result<LiveResult> {
    let (began, load) = (chain::now(), machine::load());
    let (mut flights, mut share) = (options.flights, options.share);
    let mut found_limit = Value::Null;
    if options.find_limit {
        let limit = limit::find(bed, options)?;
        if let Some(step) = limit.found {
            let wanted = f64::from(step.flights) * options.factor;
            share = step.share;
            // Beyond what the tracker takes, the display gets less instead.
            if wanted > f64::from(FLIGHTS_MAX) {
                share *= f64::from(FLIGHTS_MAX) / wanted;
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 1..=650
            let clamped = wanted.clamp(1.0, f64::from(FLIGHTS_MAX)) as u16;
            flights = clamped;
        }
        found_limit = json!(limit);
    }
    let seconds = bed.either(options.seconds, 60, 300);
    let (mut runs, mut processors) = (Vec::new(), Vec::new());
    'all: for round in 1..=options.rounds {
        for rule in &options.rules {
            if bed.is_interrupted() {
                break 'all;
            }
            let name = format!("heavy-{rule}-{round}");
            let setup = one_display(&name, flights, rule, &options.size, seconds, share);
            let ran = setup.run(bed)?;
            let run = about(&ran, rule)?;
            let splits = report::splits(&ran.roles, ran.seconds, &run["chain_split"]);
            processors.push(report::roles(&ran.roles) + &splits);
            runs.push(run);
        }
    }
    let any = runs.iter().any(|run| !run["chains"].is_null());
    let json = json!({
        "version": 1, "testbed": "heavy", "interrupted": bed.is_interrupted(),
        "circles": CIRCLES, "flights": flights, "tracks": f64::from(flights) * CIRCLES,
        "share": share, "limit": found_limit, "runs": runs,
        "circumstances": circumstances(&began, load),
    });
    Ok(LiveResult { words: words(&json, &processors)?, holds: any, any, json })
}

fn about(ran: &Ran, rule: &str) -> Result<Value> {
    let display = &ran.displays[0];
    let with_points = Question { points: true, ..main_chain(LeafLevel::Any) };
    let main = ask(&ran.data, &with_points)?;
    let [normal, mpa] = [4, 5].map(|level| {
        let question = Question { split: level == 4, ..main_chain(LeafLevel::Exactly(level)) };
        ask(&ran.data, &question)
    });
    let normal = normal?;
    let to_display = Question {
        points: true,
        ..Question::acpd("MSG::TrackStore_updateTrack", "CWP::TargetView_redraw")
    };
    let to_display = ask(&ran.data, &to_display)?;
    let changes = display["changes"].as_array().into_iter().flatten();
    let changes_ns: Vec<i64> = changes.filter_map(|change| change["utc_ns"].as_i64()).collect();
    Ok(json!({
        "rule": rule, "seconds": ran.seconds, "interrupted": ran.interrupted,
        "chains": figures(&main), "normal": figures(&normal), "mpa": figures(&mpa?),
        "to_display": figures(&to_display),
        "swing": near_and_elsewhere(&main.points, &changes_ns),
        "swing_to_display": near_and_elsewhere(&to_display.points, &changes_ns),
        "folded": folded(&to_display.points, &changes_ns),
        "display": display, "tracker": ran.tracker, "messages": ran.messages,
        "roles": ran.roles, "load_meanwhile": ran.load,
        "chain_split": report::chain_split(&ran.roles, &hops(&normal), mean_ms(&normal)),
        "data": ran.data, "picture": ran.picture,
    }))
}

/// `processors`: of each run, what its programs used.
fn words(json: &Value, processors: &[String]) -> Result<String> {
    let mut text = format!(
        "heavy: {} tracks in 30 circles, one display on one computer, share {} of a processor{}\n",
        json["tracks"],
        json["share"],
        if json["interrupted"] == true { "; INTERRUPTED" } else { "" },
    );
    for step in json["limit"]["steps"].as_array().into_iter().flatten() {
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "  {} tracks, {} updates/s, share {}: {}",
            number(&step["tracks"]),
            number(&step["updates_per_s"]),
            number(&step["share"]),
            if step["overloaded"] == true { "overloaded" } else { "fits" },
        );
    }
    let theirs = |item: &str, figure: &str| published(item, figure);
    let runs = json["runs"].as_array().into_iter().flatten();
    for (run, processors) in runs.zip(processors) {
        let rule = run["rule"].as_str().unwrap_or_default();
        text += &format!("\n--mpa {rule}\n{}", row("", &"ours".into(), &"document".into()));
        let document = rule == "document";
        let beside = |value: Value| if document { value } else { Value::Null };
        text +=
            &row("chains", &run["chains"]["chains"], &beside(theirs("phoenix.image13", "chains")?));
        text += &row(
            "mean ms",
            &run["chains"]["mean_ms"],
            &beside(theirs("phoenix.image13", "mean_ms")?),
        );
        text += &row(
            "longest, message server on, ms",
            &run["to_display"]["max_ms"],
            &beside(theirs("phoenix.image14", "peak_ms")?),
        );
        for (what, level) in [("normal mode (level 4)", "normal"), ("MPA mode (level 5)", "mpa")] {
            text += &row(&format!("{what}: chains"), &run[level]["chains"], &Value::Null);
            text += &row(&format!("{what}: mean ms"), &run[level]["mean_ms"], &Value::Null);
        }
        text += &row("changes of the mode", &run["display"]["mode_changes"], &Value::Null);
        text += &row("load meanwhile: mean", &run["load_meanwhile"][0], &Value::Null);
        text += &row("load meanwhile: largest", &run["load_meanwhile"][1], &Value::Null);
        for (what, group) in [("within 2 s of a change", "near"), ("elsewhere", "elsewhere")] {
            let group = &run["swing"][group];
            for (name, key) in [
                ("mean ms", "mean_ms"),
                ("99 % within ms", "p99_ms"),
                ("above 1 s, %", "above_limit_pct"),
            ] {
                text += &row(&format!("{what}: {name}"), &group[key], &Value::Null);
            }
        }
        text += processors;
    }
    Ok(text)
}
