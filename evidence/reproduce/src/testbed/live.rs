//! Live traffic and many working positions, each update redrawn on each of them.

use super::args::Live;
use super::chain::{self, Ran, Setup, live_traffic};
use super::report::{self, circumstances, number, published, row};
use super::statistics::{ask, clocks, corrected, figures, hops, main_chain, mean_ms, without_plot};
use super::{Bed, Sending};
use crate::machine;
use anyhow::Result;
use chronoscope_query::{Answer, LeafLevel, Question};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write;

/// Result: JSON, the same as text, and whether it is as required.
pub struct LiveResult {
    /// The result as JSON, version 1.
    pub json: Value,
    /// The result as text for people.
    pub words: String,
    /// Whether `--check` holds, and there is anything at all.
    pub holds: bool,
    /// Whether there is anything.
    pub any: bool,
}

/// Runs it.
///
/// # Errors
/// When a program fails.
pub fn run(bed: &Bed, options: &Live) -> Result<LiveResult> {
    let (began, load) = (chain::now(), machine::load());
    let (scenario, traffic) = live_traffic(bed)?;
    let displays = usize::from(options.displays);
    let seconds = bed.either(options.seconds, 60, 1800);
    let averaging = usize::from(options.averaging);
    let display = |number: usize| -> Vec<OsString> {
        let policy = if number < displays { "auto" } else { "always" };
        ["--size", &options.size, "--mpa", policy].map(OsString::from).to_vec()
    };
    let setup = Setup {
        name: "live".to_owned(),
        scenario,
        displays: (0..displays + averaging).map(display).collect(),
        display_hosts: usize::from(options.display_hosts).min(displays),
        seconds,
        sending: Sending::default(),
        share: 1.0,
        record: true,
    };
    let ran = setup.run(bed)?;
    bed.say("live: asking the store");
    let mut json = about(&ran)?;
    json["traffic"] = traffic.into();
    json["circumstances"] = circumstances(&began, load);
    let words = words(&json, &ran)?;
    let lost = json["lost"]["updates"] != 0 || json["lost"]["rows"] != 0;
    let holds = json["chains"]["holds"] == true && !lost;
    Ok(LiveResult { words, holds, any: !json["chains"].is_null(), json })
}

/// Counts of the programs beside what the store has.
fn about(ran: &Ran) -> Result<Value> {
    let count = |value: &Value, at: &str| value.pointer(at).and_then(Value::as_u64).unwrap_or(0);
    let updates =
        count(&ran.messages, "/forwarder/updates") - count(&ran.messages, "/forwarder/ends");
    let drawn = |one: &Value| count(one, "/position/standard") + count(one, "/position/averaged");
    let redrawn: u64 = ran.displays.iter().map(drawn).sum();
    let raw = ask(&ran.data, &main_chain(LeafLevel::Any))?;
    let by_one_clock = ask(&ran.data, &corrected(ran, main_chain(LeafLevel::Any)))?;
    let [normal, mpa] = [4, 5].map(|level| {
        let question = Question { split: level == 4, ..main_chain(LeafLevel::Exactly(level)) };
        ask(&ran.data, &corrected(ran, question))
    });
    let normal = normal?;
    let extrapolated = ask(&ran.data, &corrected(ran, without_plot()))?;
    let of = |answer: &Answer| answer.counts.used + answer.counts.negative;
    let stored = of(&by_one_clock) + of(&extrapolated);
    let displays = ran.displays.len() as u64;
    let expected = updates * displays;
    let tracks = ran.displays.first().map_or(0, |one| count(one, "/targets"));
    let quality = by_one_clock.clocks.map(|quality| {
        json!({
            "crossings": quality.crossings.count, "unknown": quality.crossings.unknown,
            "bound_ms_max": quality.crossings.error_ns_max as f64 / 1e6,
        })
    });
    Ok(json!({
        "version": 1, "testbed": "live", "interrupted": ran.interrupted,
        "apart": ran.apart, "hosts": ran.hosts, "carried": ran.carried,
        "seconds": ran.seconds, "displays": displays, "tracks": tracks,
        "updates": updates, "updates_per_s": updates as f64 / ran.seconds,
        "redraws": redrawn, "redraws_per_s": redrawn as f64 / ran.seconds,
        "updates_per_s_per_display": redrawn as f64 / ran.seconds / displays as f64,
        "chains": figures(&by_one_clock), "chains_raw": figures(&raw),
        "extrapolated": figures(&extrapolated),
        "normal": figures(&normal), "mpa": figures(&mpa?),
        "crossing_clocks": quality, "clocks": clocks(ran)?,
        "lost": {
            "expected": expected,
            "updates": expected.saturating_sub(redrawn),
            "rows": redrawn.saturating_sub(stored),
            "recorder": by_one_clock.losses.lost_rows,
            "displays_cut": count(&ran.messages, "/displays/cut_slow"),
        },
        "roles": ran.roles, "load_meanwhile": ran.load,
        "chain_split": report::chain_split(&ran.roles, &hops(&normal), mean_ms(&normal)),
        "data": ran.data, "picture": ran.picture,
        "tracker": ran.tracker, "messages": ran.messages, "display_summaries": ran.displays,
        "agents": ran.agents, "collector": ran.collector,
    }))
}

fn words(json: &Value, ran: &Ran) -> Result<String> {
    let mut text = format!(
        "live: {} displays, {:.0} s, {}; {}{}\n\n{}",
        json["displays"],
        ran.seconds,
        json["traffic"].as_str().unwrap_or_default(),
        report::hosts(ran),
        if ran.interrupted { "; INTERRUPTED" } else { "" },
        row("", &"ours".into(), &"document".into()),
    );
    let theirs = |figure: &str| published("phoenix.image10", figure);
    text += &row("tracks", &json["tracks"], &published("phoenix.image4", "tracks")?);
    text += &row("track updates/s", &json["updates_per_s"], &Value::Null);
    text += &row("updates/s of each display", &json["updates_per_s_per_display"], &Value::Null);
    text += &row("chains, plot to redraw", &json["chains"]["chains"], &theirs("chains")?);
    text += &row("working positions", &json["displays"], &theirs("cwp")?);
    for (what, figure) in [
        ("mean ms", "mean_ms"),
        ("median ms", "median_ms"),
        ("standard deviation ms", "sd_ms"),
        ("longest ms", "max_ms"),
        ("shortest ms", "min_ms"),
        ("above 1 s, %", "above_limit_pct"),
        ("median + 3 standard deviations ms", "three_sigma_ms"),
        ("chains above that", "above_3_sigma"),
        ("their share, %", "above_3_sigma_pct"),
    ] {
        text += &row(what, &json["chains"][figure], &theirs(figure)?);
    }
    let lost = &json["lost"];
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "\nexpected {} = {} updates x {} displays, {} of them extrapolated without a plot; not \
         redrawn {}, redrawn but not stored {}, lost by recorders {}",
        lost["expected"],
        json["updates"],
        json["displays"],
        json["extrapolated"]["chains"].as_u64().unwrap_or(0),
        lost["updates"],
        lost["rows"],
        lost["recorder"],
    );
    if ran.apart {
        text += &clock_words(json);
    }
    text += &report::roles(&ran.roles);
    text += &report::splits(&ran.roles, ran.seconds, &json["chain_split"]);
    text += &report::machine(&json["circumstances"], ran.load);
    Ok(text)
}

/// The hosts' clocks as they were set and as they were found, and the chains without correction.
fn clock_words(json: &Value) -> String {
    let mut text = "\nclock of     given ms    found ms   bound ms   error left ms\n".to_owned();
    for host in json["clocks"].as_array().into_iter().flatten() {
        let of = |key: &str| number(&host[key]);
        let _ = writeln!(
            text,
            "{:<10} {:>10} {:>11} {:>10} {:>15}",
            host["host"].as_str().unwrap_or_default(),
            of("injected_ms"),
            of("found_ms"),
            of("bound_ms"),
            of("residual_ms"),
        );
    }
    let raw = &json["chains_raw"];
    let _ = writeln!(
        text,
        "without correction: mean {} ms, shortest {} ms, {} negative",
        number(&raw["mean_ms"]),
        number(&raw["min_ms"]),
        raw["negative"],
    );
    text
}
