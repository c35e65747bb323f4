//! Programs in two PID namespaces that come and go without end, as containers do, and a collector
//! outside that is itself restarted: no row is lost or doubled, no ring of a living program removed.
//!
//! It takes 5 s, or as long as `CHRONOSCOPE_SOAK_SECONDS` says: `make soak` has it for ten minutes.
#![allow(clippy::unwrap_used)] // a test may panic

use chronoscope_clock as clock;
use chronoscope_collect::{Collector, Options, Status};
use chronoscope_record::{self as record, Class, class, read};
use chronoscope_store::Snapshot;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ROLE: &str = "CHRONOSCOPE_TEST_ROLE";
const NAME: &str = "CHRONOSCOPE_TEST_NAME";
const RING_DIR: &str = "CHRONOSCOPE_DIR";
const SOAK: &str = "CHRONOSCOPE_SOAK_SECONDS";
/// Rows that a program records at a time, and how often: all of them fit into its ring.
const ROWS: u64 = 100;
const TIMES_MAX: u64 = 6;
/// Programs at a time in each namespace.
const PROGRAMS: usize = 3;
/// How long a collector is at work before the next one is.
const COLLECTOR_NS: u64 = 1_700_000_000;
/// What a test waits for comes long before.
const LATE_NS: u64 = 60_000_000_000;

static WORK: Class = class!("work");

/// What this program does as a child of a test.
#[test]
fn child() {
    match std::env::var(ROLE).as_deref() {
        Ok("program") => program(),
        Ok("namespace") => namespace(),
        _ => {}
    }
}

/// Records whenever it is told to; says how much it has recorded, and whether its ring is there.
fn program() {
    let name = std::env::var(NAME).unwrap();
    record::init(&name);
    let folder = PathBuf::from(std::env::var(RING_DIR).unwrap());
    let is_there = || {
        let rings = read::find_rings(&folder);
        let prefix = format!("{name}.");
        rings.iter().any(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&prefix))
    };
    let mut line = String::new();
    let mut recorded = 0;
    loop {
        (0..ROWS).for_each(|_| drop(WORK.begin()));
        recorded += ROWS;
        println!("\nrecorded {recorded} {}", is_there());
        line.clear();
        if std::io::stdin().read_line(&mut line).unwrap() == 0 {
            return;
        }
    }
}

/// What became of the programs of one namespace.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    programs: u64,
    killed: u64,
    rows: u64,
    /// How often a living program's ring was not there.
    gone: u64,
}

/// One program, as its namespace knows it.
struct Running {
    child: Child,
    said: BufReader<ChildStdout>,
    recorded: u64,
    left: u64,
}

impl Running {
    fn start(name: &str, times: u64) -> Self {
        let mut child = command("program").env(NAME, name).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said, recorded: 0, left: times }
    }

    /// Hears what was recorded since it was told to.
    fn hear(&mut self, tally: &mut Tally) {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "a program ended by itself");
            let Some(rest) = line.strip_prefix("recorded ") else { continue };
            let (rows, is_there) = rest.trim_end().split_once(' ').unwrap();
            self.recorded = rows.parse().unwrap();
            tally.gone += u64::from(is_there != "true");
            return;
        }
    }

    /// Ends it: by itself, or killed.
    fn end(mut self, is_killed: bool, tally: &mut Tally) {
        if is_killed {
            self.child.kill().unwrap();
        }
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
        tally.programs += 1;
        tally.killed += u64::from(is_killed);
        tally.rows += self.recorded;
    }
}

/// Starts and ends programs until its input ends; says what became of them.
fn namespace() {
    let stop = AtomicBool::new(false);
    let name = std::env::var(NAME).unwrap();
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::stdin().read_line(&mut String::new());
            stop.store(true, Ordering::Relaxed);
        });
        let mut number = 0;
        let mut running: Vec<Running> = Vec::new();
        while !stop.load(Ordering::Relaxed) || !running.is_empty() {
            while running.len() < PROGRAMS && !stop.load(Ordering::Relaxed) {
                number += 1;
                let mut program = Running::start(&format!("{name}{number}"), number % TIMES_MAX);
                program.hear(&mut tally);
                running.push(program);
            }
            let mut program = running.remove(0);
            if program.left == 0 || stop.load(Ordering::Relaxed) {
                program.end(number % 3 == 0, &mut tally);
            } else {
                program.left -= 1;
                writeln!(program.child.stdin.as_mut().unwrap()).unwrap();
                program.hear(&mut tally);
                running.push(program);
            }
            clock::sleep(Duration::from_millis(20));
        }
    });
    let Tally { programs, killed, rows, gone } = tally;
    println!("\ntally {programs} {killed} {rows} {gone}");
}

fn command(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// The namespace's supervisor, in a PID namespace of its own; `None`, said loudly, where none can be
/// had. The second has a `/proc` of its own besides, where that is granted.
fn start_namespace(name: &str, folder: &Path) -> Option<Child> {
    let base = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    let granted = |more: &[&str]| {
        let output = Command::new("unshare").args(base).args(more).arg("true").output();
        output.is_ok_and(|output| output.status.success())
    };
    if !granted(&[]) {
        eprintln!("SKIPPED: this machine grants no PID namespace (unshare --user --pid)");
        return None;
    }
    let with_proc: &[&str] = match name {
        "B" if granted(&["--mount-proc"]) => &["--mount-proc"],
        _ => &[],
    };
    let inner = command("namespace");
    let mut command = Command::new("unshare");
    command.args(base).args(with_proc).arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.env(NAME, name).env(RING_DIR, folder).env("CHRONOSCOPE_SLOTS", "16384");
    Some(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
}

/// Ends a namespace; what became of its programs.
fn end_namespace(mut child: Child) -> Tally {
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let tally = said.lines().find_map(|line| line.strip_prefix("tally "));
    let numbers = tally.unwrap_or_else(|| panic!("{said}")).split(' ');
    let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
    let [programs, killed, rows, gone] = numbers[..] else { panic!("{said}") };
    Tally { programs, killed, rows, gone }
}

/// Collects until `done`; the last status.
fn collect(rings: &Path, data: &Path, mut done: impl FnMut(&Status) -> bool) -> Status {
    let mut options = Options::new(rings.into(), data.into());
    options.tell_every = Duration::from_millis(50);
    let collector = Collector::new(options).unwrap();
    let stop = AtomicBool::new(false);
    collector.run(&stop, &mut |status| {
        if done(status) {
            stop.store(true, Ordering::Relaxed);
        }
    })
}

#[test]
fn programs_of_two_pid_namespaces_come_and_go_and_nothing_is_lost() {
    let seconds = std::env::var(SOAK).map_or(5, |text| text.parse().unwrap());
    let rings = tempfile::tempdir_in("/dev/shm").unwrap();
    let data = tempfile::tempdir().unwrap();
    let Some(first) = start_namespace("A", rings.path()) else { return };
    let Some(second) = start_namespace("B", rings.path()) else { return };
    let begun_ns = clock::monotonic_ns();
    let ends_ns = begun_ns + seconds * 1_000_000_000;
    let (mut collectors, mut lost_rows) = (0_u64, 0);
    while clock::monotonic_ns() < ends_ns {
        let until_ns = clock::monotonic_ns() + COLLECTOR_NS;
        let last = collect(rings.path(), data.path(), |_| clock::monotonic_ns() > until_ns);
        (collectors, lost_rows) = (collectors + 1, last.lost_rows);
    }
    let tallies = [first, second].map(end_namespace);
    let late_ns = clock::monotonic_ns() + LATE_NS;
    let rows: u64 = tallies.iter().map(|tally| tally.rows).sum();
    let last = collect(rings.path(), data.path(), |status| {
        let is_read = status.processes.is_empty() && status.stored_rows >= rows;
        is_read || clock::monotonic_ns() > late_ns
    });
    let seconds = (clock::monotonic_ns() - begun_ns) / 1_000_000_000;
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    eprintln!(
        "{seconds} s: {} programs of two PID namespaces ({} killed), {} collectors, {rows} rows \
         recorded, {} stored, {} lost, {} living rings removed",
        sum(|tally| tally.programs),
        sum(|tally| tally.killed),
        collectors + 1,
        last.stored_rows,
        last.lost_rows.max(lost_rows),
        sum(|tally| tally.gone),
    );
    assert!(tallies.iter().all(|tally| tally.programs > 5), "{tallies:?}");
    assert_eq!(sum(|tally| tally.gone), 0, "a ring of a living program was removed");
    assert_eq!((last.stored_rows, last.lost_rows), (rows, 0), "{:?}", last.failed_rings);
    assert_eq!(read::find_rings(rings.path()), Vec::<PathBuf>::new());
    let snapshot = Snapshot::open(data.path()).unwrap();
    // Ids are a process's own: of some ten thousand processes a few begin with the same.
    let (mut read, mut distinct) = (0, std::collections::HashSet::new());
    for row in snapshot.transactions(i64::MIN..i64::MAX) {
        let row = row.unwrap();
        read += 1;
        distinct.insert((row.process.map(|process| process.id()), row.id));
    }
    assert_eq!((read, distinct.len() as u64), (rows, rows), "each row once");
}
