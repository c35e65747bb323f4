//! Instructions counted by Callgrind within a replay: the same every time, without hardware.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_replay::journal::{Input, Limits, Writer};
use chronoscope_replay::scenario::{
    Count, INSTRUCTIONS_PPM_MAX, Options, Report, Scenario, ScenarioError, Window, differences,
};
use std::path::Path;
use support::compiled;

/// Replays twice under Callgrind; `None` where there is no Valgrind.
fn twice(folder: &Path, text: &str) -> Option<[Report; 2]> {
    let path = folder.join("scenario.toml");
    std::fs::write(&path, text).unwrap();
    let scenario = Scenario::read(&path).unwrap();
    let outs = ["first", "second"].map(|name| folder.join(name));
    let mut reports = Vec::new();
    for out in &outs {
        // The same path for both, as it is in their environment.
        let work = folder.join("work");
        let options = Options { count: Count::Callgrind, ..Options::new(folder, &work) };
        match scenario.run(&options, &mut |_| {}) {
            Err(ScenarioError::NoValgrind(error)) => {
                eprintln!("SKIPPED: no valgrind (Debian package valgrind): {error}");
                return None;
            }
            done => reports.push(done.unwrap()),
        }
        std::fs::rename(&work, out).unwrap();
    }
    let reports: [Report; 2] = reports.try_into().unwrap();
    for report in &reports {
        assert_eq!(report.failure, None, "{:?}", report.remarks);
    }
    for (a, b) in reports[0].processes.iter().zip(&reports[1].processes) {
        let [x, y] = [a, b].map(|p| p.comparable_instructions().unwrap_or(0));
        let ppm = x.abs_diff(y) as f64 * 1e6 / x.max(1) as f64;
        eprintln!("{}: {x} and {y} instructions, {ppm:.2} ppm", a.name);
        assert!(x > 100_000, "{}: {x} instructions: {:?}", a.name, reports[0].remarks);
        assert!(ppm <= INSTRUCTIONS_PPM_MAX, "{}: {ppm} ppm", a.name);
    }
    let found = differences([&reports[0], &reports[1]], [&outs[0], &outs[1]]);
    assert_eq!(found, []);
    Some(reports)
}

/// Condition variables, semaphores, joins, timers: within libc, where Valgrind lets nobody trap.
#[test]
fn threads_are_counted_the_same_twice() {
    let folder = tempfile::tempdir().unwrap();
    compiled("threads", folder.path());
    let text = r#"
        version = 1
        name = "threads"
        [[process]]
        name = "threads"
        command = ["{bin}/threads"]
    "#;
    let Some([report, _]) = twice(folder.path(), text) else { return };
    let said = std::fs::read_to_string(folder.path().join("first/threads.stdout")).unwrap();
    assert!(
        said.contains("5.150000 produced\n") && said.contains(" joined, 200 taken\n"),
        "{said}"
    );
    assert!(report.virtual_ns > 5_000_000_000, "{}", report.virtual_ns);
}

/// Of a window only its own instructions are counted, the same ones with any lead-in.
#[test]
fn a_window_is_counted_without_its_lead_in() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"
        version = 1
        name = "window"
        start = "2020-09-14T00:00:00Z"
        duration = "30m"
        [[process]]
        name = "worker"
        command = ["/bin/sh", "-c", "while sleep 20; do n=0; while [ $n -lt 500 ]; do n=$((n+1)); done; done"]
    "#;
    let path = folder.path().join("scenario.toml");
    std::fs::write(&path, text).unwrap();
    let scenario = Scenario::read(&path).unwrap();
    let count = |name: &str, window: Option<(&str, u64)>| {
        let window = window.map(|(until, lead_in_s)| Window {
            from: "00:20".parse().ok(),
            to: until.parse().ok(),
            lead_in: Some(std::time::Duration::from_secs(lead_in_s)),
        });
        let (out, count) = (folder.path().join(name), Count::Callgrind);
        let options = Options { count, window, ..Options::new(folder.path(), &out) };
        let report = scenario.run(&options, &mut |_| {});
        if let Err(ScenarioError::NoValgrind(error)) = &report {
            eprintln!("SKIPPED: no valgrind (Debian package valgrind): {error}");
            return None;
        }
        let report = report.unwrap();
        assert_eq!(report.failure, None, "{report:#?}");
        let process = report.processes.iter().find(|process| process.name == "worker").unwrap();
        process.comparable_instructions()
    };
    let Some(whole) = count("whole", None) else { return };
    let minutes = |name, lead_in_s| count(name, Some(("00:25", lead_in_s))).unwrap();
    let (short, long) = (minutes("short", 60), minutes("long", 600));
    // 15 of 89 rounds, and what begin and end cost.
    assert!(short > whole / 10 && short < whole / 3, "{short} of {whole}");
    let ppm = short.abs_diff(long) as f64 * 1e6 / short as f64;
    assert!(ppm < 2000.0, "{short} and {long}: {ppm} ppm");
}

/// A program asks where its stack is, as Rust's runtime does: that costs the same however much is
/// mapped, and the answer is the C library's under Valgrind, too.
#[test]
fn a_mapping_more_is_no_instruction_more() {
    let folder = tempfile::tempdir().unwrap();
    compiled("stack", folder.path());
    let process = |name: &str, more: &str| {
        format!("[[process]]\nname = \"{name}\"\ncommand = [\"{{bin}}/stack\"{more}]\n")
    };
    let asked = process("asked", "");
    let (kept, dropped) = (process("kept", ", \"keep\""), process("gone", ", \"drop\""));
    let text = format!("version = 1\nname = \"stack\"\n{asked}{kept}{dropped}");
    let Some([report, _]) = twice(folder.path(), &text) else { return };
    let said = std::fs::read_to_string(folder.path().join("first/asked.stdout")).unwrap();
    assert!(
        said.lines().count() == 6 && said.lines().all(|line| line.ends_with(": same")),
        "{said}"
    );
    let count = |name: &str| {
        let process = report.processes.iter().find(|process| process.name == name).unwrap();
        assert_eq!(process.exit.as_deref(), Some("exit status: 0"));
        process.comparable_instructions().unwrap()
    };
    let (kept, dropped) = (count("kept"), count("gone"));
    assert!(kept.abs_diff(dropped) < 1000, "{kept} with 200 mappings more than {dropped}");
}

/// Redis with its threads, fed from a journal: a key that lives two seconds.
#[test]
fn a_foreign_server_is_counted_the_same_twice() {
    let redis = "/usr/bin/redis-server";
    if !Path::new(redis).exists() {
        return eprintln!("SKIPPED: no {redis} (Debian package redis-server)");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Writer::new(&folder.path().join("journal"), Limits::default()).unwrap();
    let start_ns = 1_600_000_000_000_000_000;
    for (at_ms, line) in
        [(500, "SET key value PX 2000"), (2499, "EXISTS key"), (2501, "EXISTS key"), (2600, "TIME")]
    {
        let octets = format!("{line}\r\n").into_bytes();
        let (at_ns, channel) = (start_ns + at_ms * 1_000_000, "client".to_owned());
        journal.append(&Input { at_ns, channel, octets }).unwrap();
    }
    journal.close().unwrap();
    let text = format!(
        r#"
        version = 1
        name = "redis"
        duration = "4s"
        [ports]
        redis = "tcp"
        [[process]]
        name = "redis"
        command = ["{redis}", "--port", "{{port.redis}}", "--bind", "127.0.0.1", "--save", "", "--logfile", "/dev/null"]
        [[input]]
        name = "client"
        journal = "journal"
        to = "redis"
    "#
    );
    let Some([report, _]) = twice(folder.path(), &text) else { return };
    let said = std::fs::read_to_string(folder.path().join("first/answers/client.1")).unwrap();
    assert_eq!(said, "+OK\r\n:1\r\n:0\r\n*2\r\n$10\r\n1600000002\r\n$6\r\n600000\r\n");
    assert!(report.processes[0].threads >= 3, "{:?}", report.processes[0]);
}
