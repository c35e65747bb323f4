//! Output of a test bed: text for people, with the figures of its JSON.

use super::chain::{Ran, Role};
use crate::machine;
use crate::outcome::Machine;
use anyhow::Result;
use chronoscope_published::Published;
use serde_json::{Value, json};
use std::fmt::Write;

/// A published figure of an item, as the number that it is; `null` where it is none.
pub(super) fn published(item: &str, figure: &str) -> Result<Value> {
    let published = Published::read()?;
    let figure = published.item(item).and_then(|item| item.figure(figure));
    Ok(figure.map_or(Value::Null, |figure| json!(figure.value.bounds()[0])))
}

/// Circumstances in every test bed's report.
pub(super) fn circumstances(began: &str, load_before: f64) -> Value {
    json!({
        "machine": Machine::this(), "began": began,
        "load": [load_before, machine::load()],
        "build": if cfg!(debug_assertions) { "dev" } else { "release" },
    })
}

/// The machine, and its load before, meanwhile and after, as text.
pub(super) fn machine(circumstances: &Value, [mean, most]: [f64; 2]) -> String {
    let [before, after] = [0, 1].map(|at| number(&circumstances["load"][at]));
    format!(
        "\n{} x {}, {} build, load before {before}, meanwhile {mean:.2} (at most {most:.2}), after \
         {after}\n",
        circumstances["machine"]["cpus"],
        circumstances["machine"]["cpu"].as_str().unwrap_or_default(),
        circumstances["build"].as_str().unwrap_or_default(),
    )
}

/// Resources used by the programs, as text.
pub(super) fn roles(roles: &[Role]) -> String {
    let mut text = String::from("\nCPU                processes    seconds  processors\n");
    for role in roles {
        let Role { role, processes, cpu_s, processors, split: _ } = role;
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{role:<18} {processes:>9} {cpu_s:>10.2} {processors:>11.3}");
    }
    text
}

/// Processes that a chain passes through: the application of their steps, and their role.
const PASSED: [(&str, &str); 3] =
    [("MRTS::", "tracker"), ("MSG::", "message server"), ("CWP::", "displays")];

/// Where a mean chain of `mean_ms` in normal mode spends its time, by process, and in which state.
///
/// `hops` are its steps ([`hops`](super::statistics::hops)); the gap behind a step is of the process with
/// the next one. A process that a chain has reached has input, so that it computes or waits for a
/// processor, in the proportion in which its threads do; it is blocked only while no chain is there,
/// unless output is held. `null` where nothing is known.
pub(super) fn chain_split(roles: &[Role], hops: &[Value], mean_ms: Option<f64>) -> Value {
    let of = |hop: &Value| {
        let name = hop["hop"].as_str().unwrap_or_default();
        PASSED.iter().position(|(application, _)| name.starts_with(application))
    };
    let mut stays_ms = [0.0; PASSED.len()];
    for (at, hop) in hops.iter().enumerate() {
        let mut add = |process: Option<usize>, part: &str| {
            if let (Some(process), Some(ms)) = (process, hop[part].as_f64()) {
                stays_ms[process] += ms;
            }
        };
        add(of(hop), "inside_ms");
        add(hops.get(at + 1).and_then(of), "waiting_ms");
    }
    // Steps overlap where one is within another, so that only their proportion counts.
    let (Some(mean_ms), all_ms) = (mean_ms, stays_ms.iter().sum::<f64>()) else {
        return Value::Null;
    };
    let processes: Vec<Value> = PASSED
        .iter()
        .zip(stays_ms)
        .filter_map(|((_, role), stay_ms)| {
            let split = roles.iter().find(|one| one.role == *role)?.split?;
            let busy_s = split.computing_s + split.run_queue_s;
            let run_queue = split.run_queue_s / busy_s;
            let ms = mean_ms * stay_ms / all_ms;
            let (run_queue_ms, computing_ms) = (ms * run_queue, ms * (1.0 - run_queue));
            (busy_s > 0.0 && all_ms > 0.0).then(|| {
                json!({ "role": role, "computing_ms": computing_ms, "run_queue_ms": run_queue_ms })
            })
        })
        .collect();
    let sum = |part: &str| processes.iter().filter_map(|one| one[part].as_f64()).sum::<f64>();
    if processes.len() < PASSED.len() {
        return Value::Null;
    }
    json!({
        "mean_ms": mean_ms, "computing_ms": sum("computing_ms"),
        "run_queue_ms": sum("run_queue_ms"), "processes": processes,
    })
}

/// Where the time of the programs went, and the parts of a mean chain ([`chain_split`]), as text.
pub(super) fn splits(roles: &[Role], seconds: f64, chain: &Value) -> String {
    let mut text = format!(
        "\n{:<18} {:>11} {:>12} {:>10} {:>22}\n",
        "time of a process", "computing %", "run queue %", "blocked %", "run queue a turn, ms"
    );
    for role in roles {
        let Role { role, processes: processes @ 1.., split: Some(split), .. } = role else {
            continue;
        };
        let percent = |part_s: f64| 100.0 * part_s / (seconds * *processes as f64);
        let (computing, run_queue) = (percent(split.computing_s), percent(split.run_queue_s));
        // Several threads of a process may compute and wait at once.
        let blocked = (100.0 - computing - run_queue).max(0.0);
        let wait_ms = split.wait_s() * 1e3;
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "{role:<18} {computing:>11.3} {run_queue:>12.3} {blocked:>10.3} {wait_ms:>22.3}"
        );
    }
    if !chain.is_null() {
        let mean = number(&chain["mean_ms"]);
        let _ = writeln!(text, "\na mean chain in normal mode: {mean} ms, of these");
    }
    for process in chain["processes"].as_array().into_iter().flatten() {
        let _ = writeln!(
            text,
            "{:<18} computing {:>8} ms, run queue {:>8} ms",
            process["role"].as_str().unwrap_or_default(),
            number(&process["computing_ms"]),
            number(&process["run_queue_ms"]),
        );
    }
    text
}

/// A row of a table: ours beside the document's.
pub(super) fn row(what: &str, ours: &Value, theirs: &Value) -> String {
    format!("{what:<34} {:>14} {:>14}\n", number(ours), number(theirs))
}

/// A number of a table.
pub(super) fn number(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number.fract() == 0.0 || number.abs() >= 1e5 => format!("{number:.0}"),
            Some(number) => format!("{number:.3}"),
            None => number.to_string(),
        },
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// State of the hosts, as text.
pub(super) fn hosts(ran: &Ran) -> String {
    match ran.carried {
        Some([packets, lost]) => format!(
            "{} hosts (network namespaces), {packets} packets between them, {lost} lost",
            ran.hosts.len()
        ),
        None => "ALL ON ONE HOST".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::split::Split;
    use super::*;

    fn role(role: &'static str, computing_s: f64, run_queue_s: f64) -> Role {
        let split = Some(Split { computing_s, run_queue_s, turns: 10 });
        Role { role, processes: 1, cpu_s: computing_s, processors: 0.0, split }
    }

    #[test]
    fn a_chain_waits_as_the_processes_that_it_passes_do() {
        let roles = [
            role("tracker", 1.0, 1.0),
            role("message server", 1.0, 3.0),
            role("displays", 1.0, 0.0),
        ];
        let hop = |hop, inside_ms, waiting_ms| json!({ "hop": hop, "inside_ms": inside_ms, "waiting_ms": waiting_ms });
        // The tracker has 2 of 10 ms, the message server 1 behind it and 3 within, a display 4.
        let hops = [
            hop("MRTS::decodePlots", 2.0, 1.0),
            hop("MSG::TrackStore_updateTrack", 3.0, 4.0),
            json!({ "hop": "CWP::TargetView_redraw", "inside_ms": 0.0, "waiting_ms": null }),
        ];
        let split = chain_split(&roles, &hops, Some(100.0));
        assert_eq!(split["processes"][0]["run_queue_ms"], 10.0);
        assert_eq!(split["processes"][1]["run_queue_ms"], 30.0);
        assert_eq!(split["processes"][2]["computing_ms"], 40.0);
        assert_eq!((&split["run_queue_ms"], &split["computing_ms"]), (&json!(40.0), &json!(60.0)));
        let text = splits(&roles, 2.0, &split);
        let words: Vec<&str> = text.split_whitespace().collect();
        let says = |line: [&str; 4]| words.windows(4).any(|row| row == line);
        assert!(says(["server", "50.000", "150.000", "0.000"]), "{text}");
        assert!(says(["displays", "computing", "40", "ms,"]), "{text}");
        assert_eq!(chain_split(&roles, &[], Some(1.0)), Value::Null);
        assert_eq!(chain_split(&roles[..2], &hops, Some(1.0)), Value::Null);
        assert_eq!(chain_split(&roles, &hops, None), Value::Null);
    }
}
