//! Output held inside the processes: how much longer chains are than what they compute, and where
//! the time is.

use super::args::Buffering;
use super::chain::{self, Setup, live_traffic};
use super::live::LiveResult;
use super::report::{circumstances, number, published};
use super::statistics::{ask, figures, hops, main_chain};
use super::{Bed, Sending};
use crate::machine;
use anyhow::Result;
use chronoscope_query::{LeafLevel, Question};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write;

/// Runs it.
///
/// # Errors
/// When a program fails.
pub fn run(bed: &Bed, options: &Buffering) -> Result<LiveResult> {
    let (began, load) = (chain::now(), machine::load());
    let (scenario, traffic) = live_traffic(bed)?;
    let seconds = bed.either(options.seconds, 15, 60);
    let display = || ["--mpa", "never"].map(OsString::from).to_vec();
    let mut runs = Vec::new();
    let nagle = if options.no_nagle { &[false][..] } else { &[false, true] };
    'all: for &nagle in nagle {
        for flush_ms in &options.flush_ms {
            if bed.is_interrupted() {
                break 'all;
            }
            let sending = Sending { nagle, flush_ms: *flush_ms };
            let setup = Setup {
                name: format!("buffering-{flush_ms}{}", if nagle { "-nagle" } else { "" }),
                scenario: scenario.clone(),
                displays: (0..options.displays).map(|_| display()).collect(),
                display_hosts: 0,
                seconds,
                sending,
                share: 1.0,
                record: true,
            };
            runs.push(about(&setup, bed)?);
        }
    }
    let any = runs.iter().any(|run| !run["chains"].is_null());
    let json = json!({
        "version": 1, "testbed": "buffering", "interrupted": bed.is_interrupted(),
        "traffic": traffic, "displays": options.displays, "runs": runs,
        "document_ratio": published("phoenix.buffering", "ratio")?,
        "circumstances": circumstances(&began, load),
    });
    Ok(LiveResult { words: words(&json), holds: any, any, json })
}

fn about(setup: &Setup, bed: &Bed) -> Result<Value> {
    let ran = setup.run(bed)?;
    let question = Question { split: true, ..main_chain(LeafLevel::Exactly(4)) };
    let answer = ask(&ran.data, &question)?;
    let (chains, hops) = (figures(&answer), hops(&answer));
    let inside: f64 = hops.iter().filter_map(|hop| hop["inside_ms"].as_f64()).sum();
    let ratio = chains["mean_ms"].as_f64().map(|mean| mean / inside);
    Ok(json!({
        "flush_ms": setup.sending.flush_ms, "nagle": setup.sending.nagle, "seconds": ran.seconds,
        "interrupted": ran.interrupted, "chains": chains, "inside_ms": inside, "ratio": ratio,
        "load_meanwhile": ran.load,
        "hops": hops, "data": ran.data,
    }))
}

fn words(json: &Value) -> String {
    let mut text = format!(
        "buffering: {}, {} displays on one computer{}\n\n{:>8} {:>6} {:>10} {:>11} {:>11} {:>8} {:>6}   {}\n",
        json["traffic"].as_str().unwrap_or_default(),
        json["displays"],
        if json["interrupted"] == true { "; INTERRUPTED" } else { "" },
        "flush ms",
        "Nagle",
        "chains",
        "mean ms",
        "inside ms",
        "ratio",
        "load",
        "waiting behind each step, mean ms",
    );
    for run in json["runs"].as_array().into_iter().flatten() {
        let waits = run["hops"].as_array().into_iter().flatten();
        let waits: Vec<String> = waits.map(|hop| number(&hop["waiting_ms"])).collect();
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "{:>8} {:>6} {:>10} {:>11} {:>11} {:>8} {:>6}   {}",
            number(&run["flush_ms"]),
            if run["nagle"] == true { "on" } else { "off" },
            number(&run["chains"]["chains"]),
            number(&run["chains"]["mean_ms"]),
            number(&run["inside_ms"]),
            number(&run["ratio"]),
            number(&run["load_meanwhile"][0]),
            waits.join(" "),
        );
    }
    let _ = writeln!(text, "\nthe document: more than {}", number(&json["document_ratio"]));
    let steps = json["runs"][0]["hops"].as_array().into_iter().flatten();
    let steps: Vec<&str> = steps.filter_map(|hop| hop["hop"].as_str()).collect();
    let _ = writeln!(text, "steps: {}", steps.join(", "));
    text
}
