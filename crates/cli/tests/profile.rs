//! `chronoscope track profile` on stores with known rates and costs, and on one of a real program.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const START_NS: i64 = 1_782_882_000_000_000_000; // 2026-07-01T05:00:00Z
const MINUTE_NS: i64 = 60_000_000_000;
const DAY_NS: i64 = 1440 * MINUTE_NS;

fn chronoscope(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).env("TZ", "UTC").env("CHRONOSCOPE_DATA", "/nowhere/at/all").output().unwrap()
}

fn text(args: &[&str]) -> String {
    let output = chronoscope(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(&[args, &["--json"]].concat())).unwrap()
}

/// Rows as CSV, and numbers that look like chance and are the same every time.
struct Rows {
    csv: String,
    id: u64,
    dice: u64,
}

impl Rows {
    fn new(seed: u64) -> Self {
        let csv = "application,class,host,process,thread,start,elapsed_ns,cpu_ns,id,parent,\
                   chain_high,chain_low,flags,level\r\n";
        Self { csv: csv.to_owned(), id: 0, dice: seed }
    }

    /// A number in `0..most`.
    fn dice(&mut self, most: u64) -> i64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
        i64::try_from((self.dice >> 33) % most).unwrap()
    }

    /// A transaction of `SYS`; returns its id. A parent's chain is its own number's.
    fn add(
        &mut self,
        class: &str,
        (host, thread): (&str, u32),
        start_ns: i64,
        (elapsed_ns, cpu_ns): (i64, i64),
        parent: Option<u64>,
    ) -> u64 {
        self.id += 1;
        let (id, chain, level) = (self.id, parent.unwrap_or(self.id), u8::from(parent.is_some()));
        let parent = parent.unwrap_or(0);
        let flags = u8::from(class == "send"); // asynchronous
        writeln!(
            self.csv,
            "SYS,{class},{host},7,{thread},{start_ns},{elapsed_ns},{cpu_ns},{id},{parent},1,\
             {chain},{flags},{level}\r"
        )
        .unwrap();
        id
    }

    fn import(&self, folder: &Path, name: &str) -> String {
        let csv = folder.join(format!("{name}.csv"));
        std::fs::write(&csv, &self.csv).unwrap();
        let data = folder.join(name);
        let (data, csv) = (data.to_str().unwrap(), csv.to_str().unwrap());
        text(&["import", "--data", data, csv]);
        format!("file:{data}")
    }
}

/// Four hours: ten plots a minute, each with a store inside and a send on another host; a class
/// beside them. `cpu_percent` scales what plots use themselves.
fn hours(seed: u64, cpu_percent: i64, beside: &str) -> Rows {
    let mut rows = Rows::new(seed);
    for minute in 0..240 {
        for n in 0..10 {
            let start_ns = START_NS + minute * MINUTE_NS + n * 5_000_000_000;
            let own_ns = (1_000_000 + rows.dice(20_000)) * cpu_percent / 100;
            let store_ns = 300_000 + rows.dice(10_000);
            let cost = (5_000_000, own_ns + store_ns);
            let plot = rows.add("plot", ("radar", 1), start_ns, cost, None);
            let inside = start_ns + 1_000_000;
            rows.add("store", ("radar", 1), inside, (1_000_000, store_ns), Some(plot));
            let after = start_ns + 6_000_000;
            rows.add("send", ("display", 2), after, (2_000_000, 700_000), Some(plot));
        }
        let start_ns = START_NS + minute * MINUTE_NS + 55_000_000_000;
        rows.add(beside, ("radar", 3), start_ns, (1_000_000, 500_000), None);
    }
    rows
}

fn class<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let classes = comparison["classes"].as_array().unwrap();
    classes.iter().find(|class| class["class"] == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn a_day_against_another_says_what_differs_is_new_and_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let base = hours(1, 100, "audit").import(folder.path(), "operations");
    let other = hours(2, 105, "report").import(folder.path(), "replayed");
    let args = ["track", "profile", "--store", &other, "--against", &base, "--utc"];
    let found = &json(&args)["comparison"];
    assert_eq!((&found["blocks"], &found["paired"]), (&24.into(), &true.into()));
    let plot = class(found, "SYS::plot");
    assert_eq!((&plot["base"]["count"], &plot["base"]["per_hour"]), (&2400.into(), &600.0.into()));
    assert_eq!(
        (&plot["rate"]["differs"], &plot["elapsed"]["differs"]),
        (&false.into(), &false.into())
    );
    // 1.01 of 1.315 ms are scaled by 5 %.
    let percent = plot["cpu"]["percent"].as_f64().unwrap();
    assert!((percent - 5.0 * 1.01 / 1.315).abs() < 0.1, "{percent}");
    assert_eq!(plot["cpu"]["differs"], true);
    // Its own share: 1.01 ms of 1.01 + 0.305 + 0.7 a plot and 0.5 a minute.
    let share = plot["base"]["share"].as_f64().unwrap();
    assert!((share - 10.1 / (20.15 + 0.5)).abs() < 0.001, "{share}");
    let store = class(found, "SYS::store");
    assert!(["rate", "elapsed", "cpu"].iter().all(|figure| store[figure]["differs"] == false));
    assert_eq!(class(found, "SYS::audit")["fate"], "gone");
    assert_eq!(class(found, "SYS::report")["fate"], "new");

    let words = text(&args);
    for part in [
        "SYS::plot: CPU +",
        "SYS::report: new, 60.00 an hour",
        "SYS::audit: gone",
        "block by block",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let svg = folder.path().join("a.svg");
    let png = folder.path().join("a.png");
    text(&[&args[..], &["--svg", svg.to_str().unwrap(), "--png", png.to_str().unwrap()]].concat());
    assert!(std::fs::read_to_string(svg).unwrap().contains("SYS::plot"));
    assert_eq!(image::open(png).unwrap().to_rgb8().width(), 1200);
    let checked = chronoscope(&[&args[..], &["--check"]].concat());
    assert_eq!(checked.status.code(), Some(1));
}

#[test]
fn two_hours_of_one_store_are_alike_and_nothing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let store = hours(3, 100, "audit").import(folder.path(), "store");
    let times = ["--from", "2026-07-01T07:00:00Z", "--until", "2026-07-01T09:00:00Z"];
    let base =
        ["--against-from", "2026-07-01T05:00:00Z", "--against-until", "2026-07-01T07:00:00Z"];
    let args = [&["track", "profile", "--store", &store, "--check", "--utc"][..], &times, &base];
    let words = text(&args.concat());
    assert!(words.contains("nothing differs beyond chance"), "{words}");
    assert!(words.contains("2026-07-01 07:00:00.000 to 2026-07-01 09:00:00.000"), "{words}");
}

#[test]
fn more_of_a_class_needs_what_it_causes_on_every_host() {
    let folder = tempfile::tempdir().unwrap();
    let store = hours(4, 100, "audit").import(folder.path(), "store");
    let args = ["track", "profile", "--store", &store, "--capacity", "plot=3", "--utc"];
    let found = &json(&args)["capacity"];
    let close = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value / expected - 1.0).abs() < 0.002, "{value} {expected}");
    };
    // A minute: ten plots of 1.01 + 0.305 ms on radar, 0.7 on display, and 0.5 beside.
    close(&found["cores"]["mean"], 20.65e-3 / 60.0);
    close(&found["cores"]["mean_then"], (20.15e-3 * 3.0 + 0.5e-3) / 60.0);
    let hosts = found["hosts"].as_array().unwrap();
    assert_eq!((&hosts[0]["host"], &hosts[1]["host"]), (&"radar".into(), &"display".into()));
    close(&hosts[0]["cores"]["busiest_then"], (13.15e-3 * 3.0 + 0.5e-3) / 60.0);
    close(&hosts[1]["cores"]["busiest_then"], 21e-3 / 60.0);
    let words = text(&args);
    assert!(words.contains("SYS::plot × 3") && words.contains("all hosts"), "{words}");
    let unknown = chronoscope(&["track", "profile", "--store", &store, "--capacity", "nosuch=2"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no transaction of nosuch"));
}

#[test]
fn growth_is_the_line_through_whole_weeks() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = Rows::new(5);
    let midnight_ns = START_NS.div_euclid(DAY_NS) * DAY_NS;
    for day in 0..30 {
        // 14, 16, 18, 20 a day: two a day more every week, of 17 in the mean. What is before the
        // first midnight and after the last is no whole day.
        for n in 0..14 + day / 7 * 2 {
            let start_ns = midnight_ns + DAY_NS + day * DAY_NS + n * 3_600_000_000_000;
            rows.add("plot", ("radar", 1), start_ns, (2_000_000, 1_000_000), None);
        }
    }
    rows.add("plot", ("radar", 1), midnight_ns + 5, (2_000_000, 1_000_000), None);
    let store = rows.import(folder.path(), "store");
    let args = ["track", "profile", "--store", &store, "--growth", "--utc"];
    let found = &json(&args)["growth"];
    assert_eq!(found["starts_ns"].as_array().unwrap().len(), 4);
    let plot = class(found, "SYS::plot");
    assert_eq!(plot["counts"], serde_json::json!([98, 112, 126, 140]));
    let percent = plot["rate_per_hour"]["percent_a_week"].as_f64().unwrap();
    assert!((percent - 200.0 / 17.0).abs() < 1e-6, "{percent}");
    assert_eq!(plot["rate_per_hour"]["certain"], true);
    assert_eq!(plot["cpu_each_ns"]["mean"], 1_000_000.0);
    let days = &json(&[&args[..], &["--by", "day"]].concat())["growth"];
    assert_eq!(days["starts_ns"].as_array().unwrap().len(), 29, "the last day may not be whole");
    let svg = folder.path().join("a.svg");
    let words = text(&[&args[..], &["--svg", svg.to_str().unwrap()]].concat());
    assert!(
        words.contains("4 whole weeks from 2026-07-02") && words.contains("+11.8 %"),
        "{words}"
    );
    assert!(std::fs::read_to_string(svg).unwrap().contains("2026-07-02"));
}

/// A measured program, collected as in operations.
#[test]
fn a_store_of_a_real_program_has_its_profile() {
    let folder = tempfile::tempdir().unwrap();
    let (rings, data) = (folder.path().join("rings"), folder.path().join("data"));
    std::fs::create_dir(&rings).unwrap();
    let program = |path: PathBuf| {
        let mut command = Command::new(path);
        command.env("CHRONOSCOPE_DIR", &rings).env("CHRONOSCOPE_DATA", &data).env("TZ", "UTC");
        command
    };
    let own = PathBuf::from(env!("CARGO_BIN_EXE_chronoscope"));
    let mut serve =
        program(own.clone()).args(["serve", "--quiet"]).stderr(Stdio::null()).spawn().unwrap();
    let hops = own.with_file_name("examples").join("two_hops");
    let ran = program(hops).args(["400", "0"]).stdout(Stdio::null()).status();
    assert!(ran.unwrap().success());
    let store = format!("file:{}", data.display());
    let count = || {
        let output = chronoscope(&["track", "profile", "--store", &store, "--json"]);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        found["profile"]["classes"]["hops::answer"]["count"].as_u64()
    };
    let mut tries = 0;
    while count() != Some(400) {
        tries += 1;
        assert!(tries < 300, "30 s passed and not yet all rows");
        chronoscope_clock::sleep(Duration::from_millis(100));
    }
    let found = &json(&["track", "profile", "--store", &store])["profile"];
    let shares: f64 = ["hops::request", "hops::answer"]
        .iter()
        .map(|class| found["classes"][class]["share"].as_f64().unwrap())
        .sum();
    assert!((shares - 1.0).abs() < 1e-9, "nothing is counted twice: {shares}");
    serve.kill().unwrap();
    serve.wait().unwrap();
}
