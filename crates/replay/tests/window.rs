//! A window of a recorded day, its lead-in, several days, and thinning.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_replay::capture::CaptureWriter;
use chronoscope_replay::player::FeedKind;
use chronoscope_replay::scenario::{
    Options, Report, Scenario, ScenarioError, Window, differences, window_differences,
};
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::packets::Sender;

/// 2020-09-14T00:00:00Z.
const START_S: u64 = 1_600_041_600;
const S: u64 = 1_000_000_000;

struct Days {
    folder: tempfile::TempDir,
}

impl Days {
    /// A scenario with the recordings that `[[input]] plots` names.
    fn new(journal: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        for name in ["recent.py", "lines.py"] {
            std::fs::copy(script.join(name), folder.path().join(name)).unwrap();
        }
        let text = format!(
            r#"
            version = 1
            name = "recent"
            start = "2020-09-14T00:00:00Z"
            [ports]
            plots = "udp"
            lines = "tcp"
            [[process]]
            name = "recent"
            command = ["/usr/bin/python3", "{{scenario}}/recent.py", "{{port.plots}}"]
            [[process]]
            name = "lines"
            command = ["/usr/bin/python3", "{{scenario}}/lines.py", "{{port.lines}}"]
            [[input]]
            name = "plots"
            journal = {journal}
            select = "udp"
            to = "plots"
            [[input]]
            name = "clients"
            journal = "day.pcapng"
            select = "tcp"
            to = "lines"
            kind = "query"
            login_lines = 1
        "#
        );
        std::fs::write(folder.path().join("recent.toml"), text).unwrap();
        let days = Self { folder };
        days.record("day.pcapng", 0);
        days
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Twenty minutes from `day` on: a plot every seven seconds, and two clients that log in at
    /// the begin and send a line a minute, one of them in two parts ten seconds apart.
    fn record(&self, name: &str, day: u64) {
        let file = std::fs::File::create(self.path(name)).unwrap();
        let mut out = CaptureWriter::new(file).unwrap();
        let [radar, plots] = ["10.0.0.1:4001", "10.0.0.9:8600"].map(|at| at.parse().unwrap());
        let mut clients =
            ["10.0.0.2:4002", "10.0.0.3:4002"].map(|from| Sender::new(from, "10.0.0.9:80"));
        for second in 0..1200u64 {
            let at_ns = (START_S + day * 86_400 + second) * S + 250_000_000;
            if second % 7 == 0 {
                out.datagram(at_ns, radar, plots, (second / 7).to_string().as_bytes()).unwrap();
            }
            for (number, client) in clients.iter_mut().enumerate() {
                match second {
                    1 => client.open(&mut out, at_ns),
                    2 => client.send(&mut out, at_ns, format!("login {number}\n").as_bytes()),
                    _ if second % 60 == 55 && number == 0 => {
                        client.send(
                            &mut out,
                            at_ns,
                            format!("minute {}\n", second / 60).as_bytes(),
                        );
                    }
                    _ if second % 60 == 55 => client.send(&mut out, at_ns, b"minute "),
                    _ if second % 60 == 5 && second > 60 && number == 1 => {
                        client.send(&mut out, at_ns, format!("{}\n", second / 60).as_bytes());
                    }
                    _ => {}
                }
            }
        }
        out.finish().unwrap();
    }

    fn replay(&self, out: &str, change: impl FnOnce(&mut Options)) -> Report {
        let report = self.try_replay(out, change).unwrap();
        assert_eq!(report.failure, None, "{report:#?}");
        report
    }

    fn try_replay(
        &self,
        out: &str,
        change: impl FnOnce(&mut Options),
    ) -> Result<Report, ScenarioError> {
        let mut options = Options::new(Path::new("/usr/bin"), &self.path(out));
        change(&mut options);
        Scenario::read(&self.path("recent.toml"))?.run(&options, &mut |_| {})
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

fn window(from: &str, to: &str, lead_in_s: Option<u64>) -> Option<Window> {
    let lead_in = lead_in_s.map(Duration::from_secs);
    Some(Window { from: Some(from.parse().unwrap()), to: to.parse().ok(), lead_in })
}

/// Lines whose first word is a time of the window, in seconds of the day.
fn within(text: &str, from_s: u64, to_s: u64) -> Vec<&str> {
    let at = |line: &str| line.split(' ').next().unwrap().parse::<f64>().unwrap();
    let is_within =
        |line: &&str| ((START_S + from_s) as f64..(START_S + to_s) as f64).contains(&at(line));
    text.lines().filter(is_within).collect()
}

/// The program remembers a minute: with a minute before it a window is the whole day's, with less
/// it is not.
#[test]
fn a_window_with_its_lead_in_is_that_of_the_whole_day() {
    let days = Days::new("\"day.pcapng\"");
    days.replay("whole", |_| {});
    let whole = days.read("whole/recent.stdout");
    let in_whole = within(&whole, 600, 900);
    assert_eq!(in_whole.len(), 43, "{whole}");
    let run = |out: &str, lead_in_s| {
        days.replay(out, |options| options.window = window("00:10", "00:15", lead_in_s))
    };
    let minute = run("minute", Some(60));
    let said = days.read("minute/recent.stdout");
    assert_eq!(within(&said, 600, 900), in_whole);
    assert_eq!(said.lines().count(), 43 + 8, "the lead-in and the window: {said}");
    let short = run("short", Some(20));
    assert_ne!(within(&days.read("short/recent.stdout"), 600, 900), in_whole);
    let all = run("all", None);

    // What was written in the window, by the digests of its octets.
    assert_eq!(window_differences([&minute, &all]), [""; 0]);
    assert_eq!(window_differences([&short, &all]), ["recent.stdout"]);
    // Figures are the window's.
    for report in [&minute, &all] {
        assert_eq!(report.virtual_ns, 300 * S);
        assert_eq!(report.inputs[0].inputs, 43);
        assert_eq!(report.moves, minute.moves);
        let grants =
            |report: &Report| report.processes.iter().map(|p| p.grants).collect::<Vec<_>>();
        assert_eq!(grants(report), grants(&minute));
    }
    let before = |report: &Report| {
        let window = report.window.unwrap();
        assert_eq!(window.from_utc_ns.unsigned_abs(), (START_S + 600) * S);
        (window.lead_in_virtual_ns / S, report.inputs[0].lead_in_inputs, report.inputs[0].skipped)
    };
    assert_eq!(before(&minute), (60, 8, 78));
    assert_eq!(before(&all), (600, 86, 0));
}

/// Connections that are open when the window begins are opened then and log in; of a line that had
/// begun before, the end is left out.
#[test]
fn connections_of_before_the_window_log_in() {
    let days = Days::new("\"day.pcapng\"");
    let report = days.replay("out", |options| options.window = window("00:10", "00:12", None));
    let said = days.read("out/lines.stdout");
    assert_eq!(
        said, "login 0 minute 10\nlogin 1 minute 11\nlogin 0 minute 11\n",
        "{:#?}",
        report.inputs
    );
    assert_eq!(days.read("out/answers/clients.2"), "minute 11\n");
    // Twice an opening and a login; three lines, and the begin of one that the end cuts.
    assert_eq!((report.inputs[1].inputs, report.inputs[1].lead_in_inputs), (9, 0));
}

#[test]
fn two_replays_of_a_window_are_the_same() {
    let days = Days::new("\"day.pcapng\"");
    let outs = ["one", "two"].map(|name| days.path(name));
    let [one, two] = ["one", "two"].map(|out| {
        days.replay(out, |options| {
            options.window = window("00:05", "00:08:30", Some(90));
            options.thin = vec![("plots".to_owned(), 3), ("query".to_owned(), 2)];
        })
    });
    assert_eq!(differences([&one, &two], [&outs[0], &outs[1]]), []);
    assert_eq!(window_differences([&one, &two]), [""; 0]);
    assert_eq!(one.inputs, two.inputs);
}

#[test]
fn a_window_that_is_not_in_the_recording_is_refused() {
    let days = Days::new("\"day.pcapng\"");
    let refused = |out: &str, window| {
        let error = days.try_replay(out, |options| options.window = window).unwrap_err();
        error.to_string()
    };
    let error = refused("before", window("2020-09-13T23:00", "", None));
    assert!(error.contains("the window begins at 23:00:00, before the recording does"), "{error}");
    let error = refused("empty", window("00:10", "2020-09-14T00:10", None));
    assert!(error.contains("the window ends at 00:10:00, not after its begin"), "{error}");
    // Where the recording ends is not known before it is read.
    let report = days.replay("after", |options| {
        options.window = window("12:00", "12:10", Some(60));
        options.only = Some(FeedKind::State);
    });
    assert!(report.remarks.contains(&"no input was delivered in the window".to_owned()));
}

/// One of three, the same ones in a window as in the whole day, and counted.
#[test]
fn inputs_are_thinned_by_name_and_kind() {
    let days = Days::new("\"day.pcapng\"");
    let thin = || vec![("state".to_owned(), 3), ("clients".to_owned(), 4)];
    let whole = days.replay("whole", |options| options.thin = thin());
    let counts = |report: &Report, at: usize| {
        let input = &report.inputs[at];
        (input.one_of, input.inputs, input.thinned)
    };
    // 172 plots: 57 groups of three, and one more that is chosen or not.
    let (one_of, delivered, left_out) = counts(&whole, 0);
    assert_eq!((one_of, delivered + left_out), (3, 172));
    assert!((57..=58).contains(&delivered), "{delivered}");
    let said = days.read("whole/recent.stdout");
    let numbers = |text: &str| -> Vec<u64> {
        let number = |line: &str| line.split(' ').nth(1).unwrap().parse().unwrap();
        text.lines().map(number).collect()
    };
    let groups: Vec<u64> = numbers(&said).iter().map(|number| number / 3).collect();
    assert_eq!(groups[..57], (0..57).collect::<Vec<_>>(), "one of each group: {said}");
    // Of 39 whole lines a fourth, and both logins.
    let lines = days.read("whole/lines.stdout");
    assert!((9..=11).contains(&lines.lines().count()), "{lines}");
    assert!(lines.lines().all(|line| line.starts_with("login ")), "{lines}");
    let part = days.replay("part", |options| {
        options.thin = thin();
        options.window = window("00:10", "00:15", Some(60));
    });
    let in_whole = within(&said, 600, 900).join("\n");
    let in_part = days.read("part/recent.stdout");
    assert_eq!(numbers(&within(&in_part, 600, 900).join("\n")), numbers(&in_whole));
    assert_eq!(counts(&part, 0).0, 3);
    let error = days
        .try_replay("none", |options| options.thin = vec![("radar".to_owned(), 2)])
        .unwrap_err()
        .to_string();
    assert!(error.contains("there is no input \"radar\" to thin: the scenario has plots, clients"));
}

/// The clock jumps over the night between two days; the report has it.
#[test]
fn several_days_are_one_replay() {
    let days = Days::new("[\"day.pcapng\", \"next.pcapng\"]");
    days.record("next.pcapng", 1);
    let outs = ["one", "two"].map(|name| days.path(name));
    let [one, two] = ["one", "two"].map(|out| days.replay(out, |_| {}));
    assert_eq!(differences([&one, &two], [&outs[0], &outs[1]]), []);
    let said = days.read("one/recent.stdout");
    assert_eq!(said.lines().count(), 2 * 172, "{said}");
    assert_eq!(within(&said, 86_400, 2 * 86_400).len(), 172);
    let [first, second] = &one.inputs[0].recordings[..] else { panic!("{:#?}", one.inputs) };
    assert_eq!((first.arrivals, first.gap_ns), (172, None));
    assert_eq!((second.arrivals, second.gap_ns), (172, Some((86_400 - 171 * 7) * S)));
    assert_eq!(second.first_utc_ns.unwrap().unsigned_abs(), (START_S + 86_400) * S + 250_000_000);
    assert!(one.inputs[1].recordings.is_empty(), "one recording needs no list");
    // A window of the second day, with what it needs of it.
    let part = days.replay("part", |options| {
        options.window = window("2020-09-15T00:10", "00:15", Some(60));
    });
    assert_eq!((part.inputs[0].inputs, part.inputs[0].lead_in_inputs), (43, 8));
    let in_whole = within(&said, 86_400 + 600, 86_400 + 900);
    assert_eq!(within(&days.read("part/recent.stdout"), 86_400 + 600, 86_400 + 900), in_whole);
}

#[test]
fn days_in_the_wrong_order_are_refused_and_an_overlap_is_counted() {
    let days = Days::new("[\"next.pcapng\", \"day.pcapng\"]");
    days.record("next.pcapng", 1);
    let error = days.try_replay("wrong", |_| {}).unwrap_err().to_string();
    assert!(error.contains("day.pcapng begins before") && error.contains("next.pcapng"), "{error}");
    let twice = Days::new("[\"day.pcapng\", \"day.pcapng\"]");
    let report = twice.replay("twice", |_| {});
    let second = &report.inputs[0].recordings[1];
    assert_eq!((second.arrivals, second.overlapping, second.gap_ns), (172, 171, Some(0)));
    assert_eq!(report.virtual_ns, 171 * 7 * S + 10 * S + 250_000_000);
}
