//! A replay that is being watched: paused, stepped, paced, and interrupted while it stands.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_clock as clock;
use chronoscope_replay::coordinator::{Command, Control, Progress};
use chronoscope_replay::journal::{Input, Limits, Writer};
use chronoscope_replay::scenario::{Difference, Options, Report, Scenario, differences};
use chronoscope_replay::schedule::ScheduleMode;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// 2020-09-14T00:00:00Z.
const START_NS: i64 = 1_600_041_600_000_000_000;
const S: i64 = 1_000_000_000;

/// A plot every ten seconds for ten minutes, a program that takes them, and one that works at its
/// own times.
fn scenario(folder: &Path) -> Scenario {
    let mut journal = Writer::new(&folder.join("day"), Limits::default()).unwrap();
    for number in 0..60 {
        let octets = number.to_string().into_bytes();
        let at_ns = START_NS + number * 10 * S;
        journal.append(&Input { at_ns, channel: "plots".to_owned(), octets }).unwrap();
    }
    journal.close().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/recent.py");
    std::fs::copy(script, folder.join("recent.py")).unwrap();
    let text = r#"
        version = 1
        name = "watched"
        start = "2020-09-14T00:00:00Z"
        [ports]
        plots = "udp"
        [[process]]
        name = "recent"
        command = ["/usr/bin/python3", "{scenario}/recent.py", "{port.plots}"]
        [[process]]
        name = "ticker"
        command = ["/bin/sh", "-c", "while sleep 3; do date +%s; done"]
        [[input]]
        name = "plots"
        journal = "day"
        to = "plots"
    "#;
    std::fs::write(folder.join("watched.toml"), text).unwrap();
    Scenario::read(&folder.join("watched.toml")).unwrap()
}

/// A replay in a thread of its own, under control.
struct Watched {
    control: Control,
    interrupt: Arc<AtomicBool>,
    told: Receiver<Progress>,
    last: Mutex<Progress>,
    done: Receiver<Report>,
}

impl Watched {
    fn begin(scenario: Scenario, out: &Path, mode: ScheduleMode) -> Self {
        let (control, interrupt) = (Control::default(), Arc::new(AtomicBool::new(false)));
        let (tell, told): (Sender<Progress>, _) = channel();
        let (end, done) = channel();
        let options = Options {
            mode,
            control: Some(control.clone()),
            paused: true,
            interrupt: Some(interrupt.clone()),
            ..Options::new(Path::new("/usr/bin"), out)
        };
        std::thread::spawn(move || {
            let report = scenario
                .run(&options, &mut |now| {
                    let _ = tell.send(now);
                })
                .unwrap();
            end.send(report).unwrap();
        });
        Self { control, interrupt, told, last: Mutex::default(), done }
    }

    /// Sends an order and waits until the replay has gone on and stands again.
    fn order(&self, command: Command) -> Progress {
        self.control.send(command);
        self.until(|now| !now.paused);
        self.stands()
    }

    fn stands(&self) -> Progress {
        self.until(|now| now.paused)
    }

    fn until(&self, is: impl Fn(&Progress) -> bool) -> Progress {
        loop {
            let now = self.told.recv_timeout(Duration::from_secs(60)).unwrap();
            *self.last.lock().unwrap() = now;
            if is(&now) {
                return now;
            }
        }
    }

    fn end(self) -> Report {
        self.done.recv_timeout(Duration::from_secs(60)).unwrap()
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// CPU time of this process's children and what they wrote do not grow; whoever is there waits.
fn nothing_happens(out: &Path) {
    let sizes = || ["recent.stdout", "ticker.stdout"].map(|name| read(&out.join(name)).len());
    let before = sizes();
    clock::sleep(Duration::from_millis(300));
    assert_eq!(sizes(), before);
}

#[test]
fn a_paused_replay_stands_is_stepped_and_does_the_same_as_another() {
    for mode in [ScheduleMode::Serial, ScheduleMode::Parallel] {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        let options = Options { mode, ..Options::new(Path::new("/usr/bin"), &one) };
        let freely = scenario(folder.path()).run(&options, &mut |_| {}).unwrap();
        std::fs::remove_dir_all(folder.path().join("day")).unwrap();

        let watched = Watched::begin(scenario(folder.path()), &two, mode);
        let begin = watched.stands();
        assert_eq!((begin.elapsed, begin.inputs), (Duration::ZERO, 0));
        nothing_happens(&two);
        let step = watched.order(Command::Step(1));
        assert_eq!(step.inputs, 1);
        assert_eq!(read(&two.join("recent.stdout")).lines().count(), 1, "it is worked off");
        let three = watched.order(Command::Step(3));
        assert_eq!(three.inputs, 4);
        nothing_happens(&two);
        let until = watched.order(Command::Until("00:05".parse().unwrap()));
        assert_eq!((until.elapsed, until.utc_ns), (Duration::from_secs(300), START_NS + 300 * S));
        assert_eq!(until.inputs, 31, "what is due then is delivered");
        assert_eq!(read(&two.join("ticker.stdout")).lines().count(), 100);
        let minute = watched.order(Command::For(Duration::from_secs(60)));
        assert_eq!(minute.elapsed, Duration::from_secs(360));
        nothing_happens(&two);
        watched.control.send(Command::Resume);
        let report = watched.end();
        assert_eq!(report.failure, None, "{report:#?}");
        assert!(report.paused_ns > 900_000_000, "{}", report.paused_ns);
        let mut found = differences([&freely, &report], [&one, &two]);
        if mode == ScheduleMode::Parallel {
            // Calls of processes that run together are not the same every time.
            found.retain(|difference| matches!(difference, Difference::Output { .. }));
        }
        assert_eq!(found, [], "{mode:?}");
        assert_eq!(report.virtual_ns, freely.virtual_ns);
    }
}

#[test]
fn an_interrupt_ends_a_paused_replay() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let watched = Watched::begin(scenario(folder.path()), &out, ScheduleMode::Serial);
    watched.stands();
    watched.order(Command::Step(2));
    watched.interrupt.store(true, Ordering::Relaxed);
    let report = watched.end();
    assert_eq!(report.failure.as_deref(), Some("interrupted"));
    assert_eq!(report.inputs[0].inputs, 2);
    assert!(out.join("report.json").exists());
}

/// The clock waits for real time, and the replay does the same. (How long is not checked beyond
/// that it cannot be less.)
#[test]
fn a_pace_holds_the_clock_back() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    let freely = Options::new(Path::new("/usr/bin"), &one);
    let freely = scenario(folder.path()).run(&freely, &mut |_| {}).unwrap();
    std::fs::remove_dir_all(folder.path().join("day")).unwrap();
    let paced = Options { pace: Some(600.0), ..Options::new(Path::new("/usr/bin"), &two) };
    let report = scenario(folder.path()).run(&paced, &mut |_| {}).unwrap();
    assert_eq!(report.failure, None);
    assert!(report.factor <= 600.0 * 1.001, "{}", report.factor);
    assert_eq!(differences([&freely, &report], [&one, &two]), []);
}
