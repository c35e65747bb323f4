//! Scenarios: a fresh state, the same every time, thinned, refused with what is wrong.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_replay::capture::CaptureWriter;
use chronoscope_replay::player::FeedKind;
use chronoscope_replay::scenario::{Options, Report, Scenario, ScenarioError, differences};
use chronoscope_replay::schedule::ScheduleMode;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use support::packets::Sender;

const START_S: u64 = 1_600_000_000;

fn s(s: u64) -> u64 {
    (START_S + s) * 1_000_000_000
}

/// Plots for two hours, two queries, and what listens to them.
fn scenario(folder: &Path) -> Scenario {
    let file = std::fs::File::create(folder.join("day.pcapng")).unwrap();
    let mut out = CaptureWriter::new(file).unwrap();
    let [radar, plots] = ["10.0.0.1:4001", "10.0.0.9:8600"].map(|at| at.parse().unwrap());
    let mut clients =
        ["10.0.0.2:4002", "10.0.0.3:4002"].map(|from| Sender::new(from, "10.0.0.9:80"));
    for minute in 0..120u32 {
        let at_ns = s(u64::from(minute) * 60) + 250_000_000;
        out.datagram(at_ns, radar, plots, format!("plot {minute}").as_bytes()).unwrap();
        if let Some(client) =
            clients.get_mut(usize::from(minute >= 70)).filter(|_| minute % 70 == 10)
        {
            client.open(&mut out, at_ns);
            client.send(&mut out, at_ns, b"who is there");
            client.end(&mut out, at_ns);
        }
    }
    out.finish().unwrap();
    std::fs::create_dir_all(folder.join("state/inner")).unwrap();
    std::fs::write(folder.join("state/inner/known"), "before\n").unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    std::fs::write(folder.join("listen.py"), std::fs::read(script.join("listen.py")).unwrap())
        .unwrap();
    let text = r#"
        version = 1
        name = "listening"
        seed = 7
        step = "10s"
        [ports]
        plots = "udp"
        queries = "tcp"
        [environment]
        KNOWN = "{state}/inner/known"
        [[process]]
        name = "listener"
        command = ["/usr/bin/python3", "{scenario}/listen.py", "{port.plots}", "{port.queries}"]
        [[process]]
        name = "appender"
        command = ["/bin/sh", "-c", "while sleep 600; do date +%s >> inner/known; cat $KNOWN; done"]
        state = "state"
        [[input]]
        name = "plots"
        journal = "day.pcapng"
        select = "udp 8600"
        to = "plots"
        [[input]]
        name = "queries"
        journal = "day.pcapng"
        select = "tcp 80"
        to = "queries"
        kind = "query"
    "#;
    std::fs::write(folder.join("listening.toml"), text).unwrap();
    Scenario::read(&folder.join("listening.toml")).unwrap()
}

fn run(scenario: &Scenario, options: &Options) -> Report {
    let report = scenario.run(options, &mut |_| {}).unwrap();
    assert_eq!(report.failure, None, "{report:#?}");
    report
}

#[test]
fn two_replays_are_the_same_and_begin_from_the_same_state() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path());
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    let reports =
        outs.each_ref().map(|out| run(&scenario, &Options::new("/usr/bin".as_ref(), out)));
    let [first, second] = &reports;
    let read = |name: &str| std::fs::read_to_string(outs[0].join(name)).unwrap();
    let listened = read("listener.stdout");
    assert!(listened.starts_with("1600000000.250000 datagram plot 0\n"), "{listened}");
    assert!(listened.contains("1600004800.250000 stream 12\n"), "{listened}");
    assert_eq!(listened.matches("datagram").count(), 120, "{listened}");
    // The end is ten seconds after the last input.
    assert_eq!(first.virtual_ns, 119 * 60_000_000_000 + 10_250_000_000);
    let known: String = (1..=11).map(|n| format!("{}\n", START_S + n * 600)).collect();
    assert_eq!(read("appender/inner/known"), format!("before\n{known}"));
    assert!(
        read("appender.stdout").starts_with("before\n1600000600\nbefore\n1600000600\n1600001200\n")
    );
    assert_eq!([read("answers/queries.1"), read("answers/queries.2")], ["12\n", "12\n"]);
    let inputs: Vec<_> =
        first.inputs.iter().map(|i| (i.name.as_str(), i.inputs, i.bytes, i.answer_bytes)).collect();
    assert_eq!(inputs, [("plots", 120, 850, 0), ("queries", 6, 24, 6)]);
    assert!(first.strangers.is_empty() && first.coordinator_cpu_ns > 0, "{first:#?}");
    assert!(first.processes[0].usage.user_ns > 0 && first.processes[0].syscalls > 120);
    let found = differences([first, second], [&outs[0], &outs[1]]);
    // Without a network of its own the ports differ, but nobody here says them.
    assert_eq!(found, []);
    let stored: Report = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(stored.outputs, first.outputs);
}

/// What programs say of their numbers, their children's, orphans' and `/proc`'s included.
#[test]
fn process_numbers_are_the_replays_own() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"
        version = 1
        name = "numbers"
        [[process]]
        name = "first"
        command = ["/bin/sh", "{scenario}/numbers.sh"]
        [[process]]
        name = "second"
        command = ["/bin/sh", "{scenario}/numbers.sh"]
    "#;
    let script = r#"
        (sleep 5; sh -c 'echo orphan $$') &
        sh -c 'echo child $$ of $PPID'
        echo self $$ of $PPID
        read -r number rest < /proc/self/stat; echo proc $number
        test -d /proc/$$ && echo there
        exec sleep 3
    "#;
    std::fs::write(folder.path().join("numbers.toml"), text).unwrap();
    std::fs::write(folder.path().join("numbers.sh"), script).unwrap();
    let scenario = Scenario::read(&folder.path().join("numbers.toml")).unwrap();
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    let reports = outs.each_ref().map(|out| run(&scenario, &Options::new("/bin".as_ref(), out)));
    if let Some(why) = reports[0].remarks.iter().find(|remark| remark.contains("process numbers")) {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let said = std::fs::read_to_string(outs[0].join("first.stdout")).unwrap();
    assert!(said.contains("self 2 of 0\n") && said.contains("proc 2\nthere\n"), "{said}");
    assert!(said.contains("child 5 of 2\n") && said.contains("orphan "), "{said}");
    let [first, second] = &reports;
    assert_eq!(differences([first, second], [&outs[0], &outs[1]]), []);
}

#[test]
fn a_difference_is_found_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path());
    let outs = ["one", "two"].map(|name| folder.path().join(name));
    let all = Options::new("/usr/bin".as_ref(), &outs[0]);
    let [first, second] = [
        all.clone(),
        Options { duration: Some(Duration::from_secs(3000)), out: outs[1].clone(), ..all },
    ]
    .map(|options| run(&scenario, &options));
    assert_eq!(second.virtual_ns, 3_000_000_000_000);
    let found = differences([&first, &second], [&outs[0], &outs[1]]);
    let words: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert!(
        words.contains(&"answers/queries.2 is only in the first replay".to_owned()),
        "{words:?}"
    );
    assert!(
        words.iter().any(|w| w.starts_with("appender/inner/known differs from octet 62")),
        "{words:?}"
    );
    assert!(words.iter().any(|w| w.starts_with("listener: ") && w.contains(" waits")), "{words:?}");
}

#[test]
fn load_is_thinned() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path());
    let options = |out: &str| Options::new("/usr/bin".as_ref(), &folder.path().join(out));
    let count = |report: &Report| report.inputs.iter().map(|i| i.inputs).collect::<Vec<_>>();
    let only = run(&scenario, &Options { only: Some(FeedKind::State), ..options("only") });
    assert_eq!(count(&only), [120]);
    let hour = Some(Duration::from_secs(3600));
    let hour = run(&scenario, &Options { queries: hour, ..options("hour") });
    assert_eq!(count(&hour), [120, 3]);
}

/// Inputs of ten seconds come together at their end; both processes work on the same instant.
#[test]
fn inputs_of_a_step_come_together_when_parallel() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path());
    let out = folder.path().join("out");
    let options =
        Options { mode: ScheduleMode::Parallel, ..Options::new("/usr/bin".as_ref(), &out) };
    let report = run(&scenario, &options);
    assert_eq!(report.inputs.iter().map(|i| i.inputs).sum::<u64>(), 126);
    let listened = std::fs::read_to_string(out.join("listener.stdout")).unwrap();
    assert!(listened.starts_with("1600000010.000000 datagram plot 0\n"), "{listened}");
    assert_eq!(listened.matches("0.000000 datagram plot").count(), 120, "{listened}");
    assert!(listened.contains("1600000610.000000 stream 12\n"), "{listened}");
    let known = std::fs::read_to_string(out.join("appender/inner/known")).unwrap();
    assert_eq!(known.lines().count(), 12, "{known}");
}

/// More datagrams in one step than a socket holds: none is lost.
#[test]
fn a_step_that_is_larger_than_a_sockets_queue_is_delivered_whole() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path());
    let file = std::fs::File::create(folder.path().join("day.pcapng")).unwrap();
    let mut out = CaptureWriter::new(file).unwrap();
    let [radar, plots] = ["10.0.0.1:4001", "10.0.0.9:8600"].map(|at| at.parse().unwrap());
    for n in 0..3000u32 {
        out.datagram(s(3) + u64::from(n) + 1, radar, plots, format!("{n:0400}").as_bytes())
            .unwrap();
    }
    out.finish().unwrap();
    let out = folder.path().join("out");
    let options =
        Options { mode: ScheduleMode::Parallel, ..Options::new("/usr/bin".as_ref(), &out) };
    run(&scenario, &options);
    let listened = std::fs::read_to_string(out.join("listener.stdout")).unwrap();
    let numbers: Vec<u32> =
        listened.lines().filter_map(|line| line.split("datagram ").nth(1)?.parse().ok()).collect();
    assert!(numbers.iter().copied().eq(0..3000), "in order, each once: {}", numbers.len());
    assert!(listened.lines().all(|line| line.starts_with("1600000013.0")), "one instant");
}

#[test]
fn an_interrupted_replay_keeps_what_it_measured() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path());
    let flag = Arc::new(AtomicBool::new(true));
    let out = folder.path().join("out");
    let options = Options { interrupt: Some(flag), ..Options::new("/usr/bin".as_ref(), &out) };
    let report = scenario.run(&options, &mut |_| {}).unwrap();
    assert_eq!(report.failure.as_deref(), Some("interrupted"));
    assert!(out.join("report.json").exists());
    assert!(matches!(scenario.run(&options, &mut |_| {}), Err(ScenarioError::NotFresh { .. })));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    scenario(folder.path());
    let path = folder.path().join("listening.toml");
    let good = std::fs::read_to_string(&path).unwrap();
    let refused = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
        Scenario::read(&path).unwrap_err().to_string()
    };
    let error = refused("version = 1", "version = 2");
    assert!(error.contains("version 2, this program reads version 1"), "{error}");
    let error = refused("seed = 7", "sead = 7");
    assert!(error.contains("unknown field `sead`") && error.contains("line 4"), "{error}");
    let error = refused("to = \"plots\"", "to = \"plot\"");
    assert!(error.contains("input plots: there is no port \"plot\""), "{error}");
    let error = refused("name = \"appender\"", "name = \"listener\"");
    assert!(error.contains("the name is taken"), "{error}");
    let error = refused("step = \"10s\"", "step = \"10\"");
    assert!(error.contains("\"10\" is not a duration"), "{error}");
    let error = refused("udp 8600", "upd 8600");
    assert!(error.contains("input plots: \"upd\""), "{error}");
    let error = refused("state = \"state\"", "state = \"state\"\nfill = [\"../known\"]");
    assert!(error.contains("fill: ../known is not in its working folder"), "{error}");
    std::fs::write(&path, good.replacen("{port.plots}", "{port.plot}", 1)).unwrap();
    let out = folder.path().join("out");
    let error = Scenario::read(&path)
        .unwrap()
        .run(&Options::new("/usr/bin".as_ref(), &out), &mut |_| {})
        .unwrap_err();
    assert!(error.to_string().contains("{port.plot} in"), "{error}");
}

/// A recording of a later version, one that ends within a packet, and one that is none.
#[test]
fn recordings_that_are_not_whole_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = scenario(folder.path());
    let path = folder.path().join("day.pcapng");
    let whole = std::fs::read(&path).unwrap();
    let options = |out: &str| Options::new("/usr/bin".as_ref(), &folder.path().join(out));

    std::fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    let report = run(&scenario, &options("cut"));
    assert_eq!(report.inputs[0].inputs, 119, "{report:#?}");
    assert!(
        report.remarks.iter().any(|r| r.contains("ends within the block at octet")),
        "{report:#?}"
    );

    let mut later = whole.clone();
    later[12] = 2;
    std::fs::write(&path, &later).unwrap();
    let error = scenario.run(&options("later"), &mut |_| {}).unwrap_err().to_string();
    assert!(
        error.contains("day.pcapng") && error.contains("version 2, this program reads version 1"),
        "{error}"
    );

    let mut broken = whole.clone();
    let half = whole.len() / 2;
    broken[half..half + 400].fill(0xff);
    std::fs::write(&path, &broken).unwrap();
    let report = scenario.run(&options("broken"), &mut |_| {}).unwrap();
    let failure = report.failure.unwrap();
    assert!(failure.contains("day.pcapng: block at octet"), "{failure}");
    assert!(
        report.inputs[0].inputs > 20 && !report.outputs.is_empty(),
        "what was measured is kept"
    );
}
