//! Cost of recording in the chain: instructions, nanoseconds, and CPU time of pairs of runs.

use super::args::Cost;
use super::chain::{self, Ran, Setup, live_traffic};
use super::live::LiveResult;
use super::program::Program;
use super::report::{circumstances, number, row};
use super::{Bed, Sending, replayed};
use crate::machine;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Write;

/// Programs that record.
const ROLES: [&str; 3] = ["tracker", "message server", "displays"];
/// Pairs of the program `recorder`: the plain one, and the dearest that the chain has.
const PAIRS: [&str; 2] = ["record: pair with thread CPU", "record: pair, correlator decoded"];

/// Measures the cost.
///
/// # Errors
/// When a program fails. Without Valgrind, or the stored day, instructions are missing, which is
/// reported.
pub fn run(bed: &Bed, options: &Cost) -> Result<LiveResult> {
    let (began, load) = (chain::now(), machine::load());
    let instructions = or_said(bed, replayed::count(bed, options.displays))?;
    let pair = or_said(bed, ns_a_pair(bed))?;
    let (scenario, traffic) = live_traffic(bed)?;
    let seconds = bed.either(options.seconds, 20, 120);
    let (mut pairs, mut recorded, mut loads) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=bed.either(options.pairs, 2, 5) {
        // In turn, and the first in turn too: what drifts hits both alike.
        let order = if number % 2 == 1 { [false, true] } else { [true, false] };
        let (mut cpu_s, mut load_meanwhile) = ([0.0; 2], [[0.0; 2]; 2]);
        for record in order {
            if bed.is_interrupted() {
                break;
            }
            let display = || ["--mpa", "never"].map(OsString::from).to_vec();
            let setup = Setup {
                name: format!("cost-{}", if record { "on" } else { "off" }),
                scenario: scenario.clone(),
                displays: (0..options.displays).map(|_| display()).collect(),
                display_hosts: 0,
                seconds,
                sending: Sending::default(),
                share: 1.0,
                record,
            };
            let ran = setup.run(bed)?;
            cpu_s[usize::from(record)] = cpu(&ran);
            load_meanwhile[usize::from(record)] = ran.load;
            loads.push(ran.load);
            if record {
                recorded.push([transactions(&ran) / ran.seconds, cpu(&ran) / ran.seconds]);
            }
        }
        if !bed.is_interrupted() {
            let [off, on] = load_meanwhile;
            pairs.push(json!({
                "off_s": cpu_s[0], "on_s": cpu_s[1], "ratio": cpu_s[1] / cpu_s[0],
                "load_meanwhile": { "off": off, "on": on },
            }));
        }
    }
    let any = !instructions.is_null() || !pairs.is_empty();
    let json = json!({
        "version": 1, "testbed": "cost", "interrupted": bed.is_interrupted(),
        "traffic": traffic, "displays": options.displays, "seconds": seconds,
        "switched": "at run time: CHRONOSCOPE_RECORD=off",
        "instructions": instructions, "pair": reckoned(&pair, &recorded),
        "cpu": confidence(&pairs), "cpu_pairs": pairs, "load_meanwhile": meanwhile(&loads),
        "aim_pct": 0.3,
        "circumstances": circumstances(&began, load),
    });
    Ok(LiveResult { words: words(&json), holds: any, any, json })
}

/// Mean and largest load average of several runs, from those of each; nothing of none.
fn meanwhile(loads: &[[f64; 2]]) -> Value {
    if loads.is_empty() {
        return Value::Null;
    }
    let mean = loads.iter().map(|load| load[0]).sum::<f64>() / loads.len() as f64;
    json!([mean, loads.iter().map(|load| load[1]).fold(0.0, f64::max)])
}

/// Replaces a failed measurement by its reason; a signal ends all.
fn or_said(bed: &Bed, found: Result<Value>) -> Result<Value> {
    found.or_else(|error| {
        bed.go_on()?;
        eprintln!("radar-testbed: MISSING: {error:#}");
        Ok(Value::Null)
    })
}

fn cpu(ran: &Ran) -> f64 {
    ran.roles.iter().filter(|one| ROLES.contains(&one.role)).map(|one| one.cpu_s).sum()
}

fn transactions(ran: &Ran) -> f64 {
    ran.collector["durable_rows"].as_f64().unwrap_or(0.0)
}

/// Nanoseconds of a pair on this machine, by the recorder's own benchmark.
fn ns_a_pair(bed: &Bed) -> Result<Value> {
    bed.say("cost: what a pair takes");
    let folder = bed.fresh("cost-pair")?;
    let mut command = bed.program("recorder")?;
    command.args(["--json", "--rounds", "5"]).env("CHRONOSCOPE_DIR", &folder);
    let text = Program::start(&folder, "recorder", &mut command)?.wait()?;
    let printed: Value = serde_json::from_str(text.trim())?;
    let costs = printed["costs"].as_array().context("recorder printed no costs")?;
    let median = |name: &str| {
        let cost = costs.iter().find(|cost| cost["name"] == name);
        cost.map_or(Value::Null, |cost| cost["median_ns"].clone())
    };
    Ok(json!({ "plain_ns": median(PAIRS[0]), "dearest_ns": median(PAIRS[1]) }))
}

/// Nanoseconds a pair times pairs a second, as a share of what the chain uses.
fn reckoned(pair: &Value, recorded: &[[f64; 2]]) -> Value {
    let runs = recorded.len() as f64;
    if recorded.is_empty() {
        return pair.clone();
    }
    let [pairs_s, processors] =
        [0, 1].map(|at| recorded.iter().map(|one| one[at]).sum::<f64>() / runs);
    let pct = |key: &str| pair[key].as_f64().map(|ns| ns * 1e-7 * pairs_s / processors);
    json!({
        "plain_ns": pair["plain_ns"], "dearest_ns": pair["dearest_ns"], "pairs_per_s": pairs_s,
        "processors": processors, "pct": pct("plain_ns"), "pct_max": pct("dearest_ns"),
    })
}

/// Mean of the ratios and its 95 % confidence interval (Student's t).
fn confidence(pairs: &[Value]) -> Value {
    /// Quantiles of 0.975 for 1 to 9 degrees of freedom; 2.0 is near enough beyond.
    const T: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
    let ratios: Vec<f64> = pairs.iter().filter_map(|pair| pair["ratio"].as_f64()).collect();
    let count = ratios.len() as f64;
    if ratios.len() < 2 {
        return json!({ "pairs": ratios.len() });
    }
    let mean = ratios.iter().sum::<f64>() / count;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = T.get(ratios.len() - 2).copied().unwrap_or(2.0) * (variance / count).sqrt();
    let pct = |ratio: f64| (ratio - 1.0) * 100.0;
    json!({
        "pairs": ratios.len(), "pct": pct(mean), "pct_low": pct(mean - half),
        "pct_high": pct(mean + half),
    })
}

fn words(json: &Value) -> String {
    let mut text = format!(
        "cost: recorder on and off ({}){}\n\n{:<18} {:>16} {:>16} {:>8}\n",
        json["switched"].as_str().unwrap_or_default(),
        if json["interrupted"] == true { "; INTERRUPTED" } else { "" },
        "instructions",
        "off",
        "on",
        "%",
    );
    let counted = &json["instructions"];
    let mut line = |name: &str, of: &Value| {
        // Writing into a string cannot fail.
        let cells = ["off", "on", "pct"].map(|key| number(&of[key]));
        let _ = writeln!(text, "{name:<18} {:>16} {:>16} {:>8}", cells[0], cells[1], cells[2]);
    };
    for process in counted["processes"].as_array().into_iter().flatten() {
        line(process["process"].as_str().unwrap_or_default(), process);
    }
    line("all", counted);
    text += "\n";
    let (pair, cpu, load) = (&json["pair"], &json["cpu"], &json["load_meanwhile"]);
    for (what, value) in [
        ("displays", &json["displays"]),
        ("reckoned for these displays, %", &counted["pct_displays"]),
        ("ns a pair", &pair["plain_ns"]),
        ("ns of the dearest pair", &pair["dearest_ns"]),
        ("pairs/s", &pair["pairs_per_s"]),
        ("processors that the chain uses", &pair["processors"]),
        ("ns a pair x pairs/s, %", &pair["pct"]),
        ("if all were the dearest, %", &pair["pct_max"]),
        ("CPU time, pairs of runs", &cpu["pairs"]),
        ("CPU time, %", &cpu["pct"]),
        ("  95 % confidence from", &cpu["pct_low"]),
        ("  to", &cpu["pct_high"]),
        ("load meanwhile: mean", &load[0]),
        ("load meanwhile: largest", &load[1]),
    ] {
        text += &row(what, value, &Value::Null);
    }
    text += &format!("\naim: at most {} %\n", number(&json["aim_pct"]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_reckoned_of_what_the_chain_uses() {
        // 100 ns 15,000 times a second are 1.5 ms of 0.5 s.
        let pair = json!({ "plain_ns": 100.0, "dearest_ns": 200.0 });
        let found = reckoned(&pair, &[[10_000.0, 0.4], [20_000.0, 0.6]]);
        let of = |key: &str| found[key].as_f64().unwrap_or(f64::NAN);
        assert!((of("pct") - 0.3).abs() < 1e-9 && (of("pct_max") - 0.6).abs() < 1e-9, "{found}");
    }

    #[test]
    fn the_load_meanwhile_is_printed() {
        let found = json!({ "load_meanwhile": meanwhile(&[[1.5, 2.0], [2.5, 7.0]]) });
        assert_eq!(found["load_meanwhile"], json!([2.0, 7.0]));
        let words = words(&found);
        let line = |what: &str| words.lines().find(|line| line.contains(what)).unwrap_or_default();
        assert!(line("load meanwhile: mean").contains('2'), "{words}");
        assert!(line("load meanwhile: largest").contains('7'), "{words}");
        assert_eq!(meanwhile(&[]), Value::Null);
    }

    #[test]
    fn the_confidence_interval_is_students() {
        let pairs = [1.01, 1.03].map(|ratio| json!({ "ratio": ratio }));
        let found = confidence(&pairs);
        let of = |key: &str| found[key].as_f64().unwrap_or(f64::NAN);
        // Mean 2 %, standard error 1 %, t of one degree of freedom 12.706.
        assert!(
            (of("pct") - 2.0).abs() < 1e-9 && (of("pct_high") - 14.706).abs() < 1e-6,
            "{found}"
        );
        assert_eq!(confidence(&pairs[..1]), json!({ "pairs": 1 }));
    }
}
