//! The test bed, small: one host, several hosts where they can be made, and a signal.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use chronoscope_clock::{monotonic_ns, sleep};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Five times as fast as life: antennas have to turn a few times before there are tracks. Without
/// recorded flights, which not everybody has.
fn testbed(out: &Path, words: &[&str]) -> Command {
    let own = Path::new(env!("CARGO_BIN_EXE_radar-testbed"));
    for program in ["chronoscope", "radar-generator", "radar-display"] {
        assert!(
            own.with_file_name(program).exists(),
            "{program} is not built: cargo build --workspace --bins, or make test"
        );
    }
    let mut command = Command::new(own);
    command.args(words).args(["--speed", "5", "--json", "--root", "/nonexistent", "--out"]);
    command.arg(out).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

const SMALL: [&str; 6] = ["live", "--displays", "3", "--display-hosts", "2", "--size"];

/// Where the time of the programs and of a mean chain went is known, and the load meanwhile.
fn assert_split(found: &Value) {
    let split = &found["chain_split"];
    let of = |part: &str| split[part].as_f64().unwrap();
    assert_eq!(split["processes"].as_array().unwrap().len(), 3, "{split:#}");
    assert!((of("computing_ms") + of("run_queue_ms") - of("mean_ms")).abs() < 1e-6, "{split:#}");
    assert!(of("computing_ms") > 0.0, "{split:#}");
    let roles = found["roles"].as_array().unwrap();
    let looked_at = roles.iter().filter(|role| !role["split"].is_null());
    assert!(looked_at.filter(|role| role["split"]["turns"].as_u64() > Some(0)).count() >= 4);
    let [mean, most] = [0, 1].map(|at| found["load_meanwhile"][at].as_f64().unwrap());
    // The mean of equal readings may be rounded to a little more.
    assert!(0.0 <= mean && mean <= most + 1e-9, "{mean} {most}");
}

/// Every update was drawn by every display, and what was drawn is stored.
fn assert_whole(found: &Value) {
    let (updates, redraws) =
        (found["updates"].as_u64().unwrap(), found["redraws"].as_u64().unwrap());
    assert!(updates > 100 && redraws == 3 * updates, "{found:#}");
    // Extrapolated updates begin chains of their own, without a plot.
    let no_plot = found["tracker"]["tracker"]["extrapolated"].as_u64().unwrap();
    let of = |chains: &Value| {
        ["chains", "negative"].map(|key| chains[key].as_u64().unwrap_or(0)).iter().sum::<u64>()
    };
    assert_eq!(of(&found["chains"]), redraws - 3 * no_plot, "{found:#}");
    assert_eq!(of(&found["extrapolated"]), 3 * no_plot, "{found:#}");
    for lost in ["updates", "rows", "recorder", "displays_cut"] {
        assert_eq!(found["lost"][lost], 0, "{lost}: {found:#}");
    }
}

#[test]
fn an_error_is_one_line_without_a_backtrace() {
    let out = tempfile::tempdir().unwrap();
    for (words, code, what) in [
        (["live", "--bin", "/nowhere"], 4, "radar-testbed: /nowhere: "),
        (["live", "--recording", "/nowhere"], 4, "radar-testbed: /nowhere: no such recording"),
        (["heavy", "--share", "7"], 2, "error: invalid value '7' for '--share <SHARE>'"),
    ] {
        let mut command = testbed(out.path(), &words);
        let output = command.env("RUST_BACKTRACE", "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.starts_with(what) && !said.contains("backtrace"), "{said}");
        assert!(said.lines().count() == 1 || code == 2, "{said}");
    }
}

#[test]
fn on_one_host_every_update_is_drawn_by_every_display() {
    let out = tempfile::tempdir().unwrap();
    let words = [&SMALL[..], &["320x240", "--seconds", "5", "--one-host"]].concat();
    let output = testbed(out.path(), &words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = json(&output);
    assert_eq!(found["apart"], false);
    assert_whole(&found);
    assert_split(&found);
    assert!(out.path().join("live/display.png").exists());
}

/// Clocks that are milliseconds wrong are put right to within what the exchange of stamps promises.
#[test]
fn on_several_hosts_the_clocks_errors_are_found() {
    let out = tempfile::tempdir().unwrap();
    let words = [&SMALL[..], &["320x240", "--seconds", "5"]].concat();
    let output = testbed(out.path(), &words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = json(&output);
    assert_whole(&found);
    if found["apart"] == false {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("ALL ON ONE HOST"), "{said}");
        eprintln!("SKIPPED: no right to make network namespaces");
        return;
    }
    let clocks = found["clocks"].as_array().unwrap();
    assert_eq!(clocks.len(), 4, "{found:#}");
    for host in clocks {
        let ms = |key: &str| host[key].as_f64().unwrap();
        assert!(ms("residual_ms").abs() <= ms("bound_ms"), "{host:#}");
    }
    assert!(clocks.iter().any(|host| host["injected_ms"] == -9.0), "{found:#}");
    // As they were stamped some chains end before they began.
    assert!(found["chains_raw"]["negative"].as_u64().unwrap() > 0, "{found:#}");
    assert_eq!(found["chains"]["negative"], 0, "{found:#}");
}

#[test]
fn a_signal_ends_it_early_with_what_it_had() {
    let out = tempfile::tempdir().unwrap();
    let words = [&SMALL[..], &["320x240", "--seconds", "600", "--one-host"]].concat();
    let child = testbed(out.path(), &words).spawn().unwrap();
    let log = out.path().join("live/generator.log");
    let end_ns = monotonic_ns() + 60_000_000_000;
    while !log.exists() && monotonic_ns() < end_ns {
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_secs(4));
    let process = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let found = json(&output);
    assert_eq!(found["interrupted"], true);
    assert_whole(&found);
}

/// Both rules see the same traffic.
#[test]
fn both_rules_run_in_turn() {
    let out = tempfile::tempdir().unwrap();
    let words = ["heavy", "--flights", "5", "--seconds", "5", "--size", "320x240"];
    let output = testbed(out.path(), &words).output().unwrap();
    let found = json(&output);
    let runs = found["runs"].as_array().unwrap();
    let rules: Vec<&Value> = runs.iter().map(|run| &run["rule"]).collect();
    assert_eq!(rules, ["document", "auto"]);
    for run in runs {
        assert!(run["chains"]["chains"].as_u64().unwrap() > 50, "{run:#}");
    }
}

/// Held output makes chains longer and leaves the computing as it is: the time is in the waits.
#[test]
fn held_output_is_seen_as_waiting() {
    let out = tempfile::tempdir().unwrap();
    let words = ["buffering", "--flush-ms", "300", "--seconds", "5", "--displays", "1"];
    let found = json(&testbed(out.path(), &words).output().unwrap());
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        let of = |value: &Value| value.as_f64().unwrap();
        let waits: f64 = run["hops"].as_array().unwrap().iter().map(|h| of(&h["waiting_ms"])).sum();
        let mean = of(&run["chains"]["mean_ms"]);
        assert!(mean > 20.0 && (waits + of(&run["inside_ms"]) - mean).abs() < mean / 100.0);
        assert!(of(&run["ratio"]) > 10.0, "{run:#}");
    }
}
