//! Servers of a cluster and the `serve` that links chains before it are killed with SIGKILL, one after
//! the other, while native and foreign rows go in, chains are linked, what was replaced is deleted,
//! and questions are asked: what was acknowledged is there, once, every answer was whole or an error,
//! and in the end the tables have what they have where nothing was killed.

#![allow(clippy::unwrap_used)] // helpers of tests
#![allow(dead_code)] // the helpers of other tests have more

#[path = "../agent/certificates.rs"]
mod certificates;
#[path = "../../../query/tests/cluster/mod.rs"]
mod cluster;
#[path = "../agent/world.rs"]
mod programs;
mod rows;
mod stored;
#[path = "../../../query/tests/world/mod.rs"]
mod world;

use chronoscope_clickhouse::ClusterWriter;
use chronoscope_clock as clock;
use chronoscope_query::{Limits, Question, StoreLocation};
use cluster::Servers;
use programs::{Program, wait_until};
use rows::{Expected, Rows};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use stored::{assert_all_there, link, view, writer};
use world::World;

/// Chains for each kill; the rows of an insert.
const CHAINS: u64 = 100;
const PIECE_ROWS: usize = 50;
/// How long replaced durations are kept here: longer than a question of these takes.
const DURATIONS_KEPT: Duration = Duration::from_mins(3);
/// What `serve` says when it begins to link, and after a turn.
const TAKEN_OVER: &str = "info linking_taken_over";
const TURN_ENDED: &str = "minutes_linked";

#[test]
fn what_is_killed_now_and_then_loses_and_doubles_nothing() {
    let Some(mut servers) = Servers::start(2) else { return };
    kills(&mut servers, "killed_often", 6);
}

/// `make soak`: some twenty minutes beside compilers. `CHRONOSCOPE_SOAK_KILLS` is another number of them.
#[test]
#[ignore = "many minutes"]
fn two_hundred_kills() {
    let count = std::env::var("CHRONOSCOPE_SOAK_KILLS");
    let count = count.map_or(200, |count| count.parse().expect("CHRONOSCOPE_SOAK_KILLS"));
    let Some(mut servers) = Servers::start(2) else { return };
    kills(&mut servers, "two_hundred", count);
}

/// What has happened so far.
#[derive(Debug, Default)]
struct Happened {
    /// Rows that were acknowledged, in their order.
    acknowledged: AtomicU64,
    /// Kills, of all that are planned.
    kills: AtomicU64,
    /// Of these of `serve`, and of these in the middle of a turn.
    collectors: AtomicU64,
    in_a_turn: AtomicU64,
    answered: AtomicU64,
    refused: AtomicU64,
    /// Linked by the test itself, while no `serve` does.
    foreign_rows: AtomicU64,
    replaced: AtomicU64,
    unpublished: AtomicU64,
    durations: AtomicU64,
    /// Whether a `serve` links.
    is_served: AtomicBool,
    is_done: AtomicBool,
}

impl Happened {
    /// Waits until so many rows are acknowledged; panics where none is for a minute.
    fn wait_for_rows(&self, rows: u64) {
        let acknowledged = || self.acknowledged.load(Ordering::SeqCst);
        while acknowledged() < rows {
            let before = acknowledged();
            wait_until("further rows are in", || acknowledged() > before);
        }
    }
}

fn add(to: &AtomicU64, count: u64) {
    to.fetch_add(count, Ordering::SeqCst);
}

fn kills(servers: &mut Servers, database: &str, count: u64) {
    let rows = Rows::new(CHAINS * count);
    let dir = tempfile::tempdir().unwrap();
    rows.world.store(dir.path(), &[1.0], true);
    let files = StoreLocation::Files(dir.path().to_owned());
    let questions = [Question::acpd("X::a", "c"), Question::acpd("X::a", "Y::d")];
    let pointed = questions.iter().map(|of| Question { points: true, ..of.clone() });
    let questions: Vec<Expected> = questions
        .iter()
        .cloned()
        .chain(pointed)
        .map(|of| Expected::of(&rows, &files, of))
        .collect();
    let url = servers.url(database);
    let sink = writer(&url);
    let happened = Happened::default();
    std::thread::scope(|scope| {
        scope.spawn(|| deliver(&sink, &rows.world, &happened, count));
        scope.spawn(|| link_and_prune(&url, &happened));
        scope.spawn(|| ask(&url, &questions, &happened));
        // Threads end also where a check below fails.
        let _end = End(&happened.is_done);
        let all = rows.world.records.len() as u64;
        kill_all(servers, database, (&happened, all), count);
        happened.wait_for_rows(all);
    });
    eprintln!("{happened:?}, {} rows", rows.world.records.len());
    let happened = [&happened.answered, &happened.collectors].map(|of| of.load(Ordering::SeqCst));
    assert!(happened.iter().all(|count| *count > 0));
    assert_all_there(servers, database, &rows, &files);
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Sends the rows as an agent does: numbered, again until they are acknowledged; not more of them than
/// there were kills, so that every kill falls into them.
fn deliver(sink: &ClusterWriter, world: &World, happened: &Happened, count: u64) {
    let all = world.records.len() as u64;
    for (index, records) in world.records.chunks(PIECE_ROWS).enumerate() {
        let first = (index * PIECE_ROWS) as u64;
        let is_early = || {
            let kills = happened.kills.load(Ordering::SeqCst) + 1;
            first > all * kills.min(count) / count
        };
        while is_early() && !happened.is_done.load(Ordering::SeqCst) {
            clock::sleep(Duration::from_millis(10));
        }
        if happened.is_done.load(Ordering::SeqCst) {
            // A check has failed.
            return;
        }
        loop {
            match sink.insert_stream(3, first, &world.batch(records), &world.names) {
                Ok(next) => {
                    assert_eq!(next, first + records.len() as u64);
                    happened.acknowledged.store(next, Ordering::SeqCst);
                    break;
                }
                Err(error) => assert!(error.is_passing(), "{error}"),
            }
            if happened.is_done.load(Ordering::SeqCst) {
                return;
            }
            clock::sleep(Duration::from_millis(20));
        }
    }
}

/// Links while no `serve` does, and deletes what was replaced at once; what fails is done the next time.
fn link_and_prune(url: &str, happened: &Happened) {
    let (view, all) = (view(url), i64::MIN..=i64::MAX);
    while !happened.is_done.load(Ordering::SeqCst) {
        match happened.is_served.load(Ordering::SeqCst) {
            true => clock::sleep(Duration::from_millis(50)),
            false => add(&happened.foreign_rows, link(&view).map_or(0, |sealed| sealed.foreign)),
        }
        let pruned = view.cluster().prune_linkings(&all, Duration::ZERO).unwrap_or_default();
        add(&happened.replaced, pruned.replaced);
        add(&happened.unpublished, pruned.unpublished);
        let durations = view.cluster().prune_durations(&all, DURATIONS_KEPT);
        add(&happened.durations, durations.unwrap_or(0));
    }
}

/// Asks one question after the other. An answer is whole, or an error.
fn ask(url: &str, questions: &[Expected], happened: &Happened) {
    let source = StoreLocation::open(url).unwrap();
    for expected in questions.iter().cycle() {
        if happened.is_done.load(Ordering::SeqCst) {
            break;
        }
        let acknowledged = happened.acknowledged.load(Ordering::SeqCst);
        match source.ask(&expected.question, &Limits::default()) {
            Ok(answer) => {
                expected.judge(&answer, usize::try_from(acknowledged).unwrap());
                add(&happened.answered, 1);
            }
            Err(_) => add(&happened.refused, 1),
        }
        clock::sleep(Duration::from_millis(5));
    }
}

/// A `serve` before the cluster. It takes over some 10 s after the one before was killed, and ends at
/// once where a server is away when it starts.
fn serve(url: &str) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.env_remove("CHRONOSCOPE_TOKEN").env_remove("CHRONOSCOPE_DATA");
    command.args(["serve", "--store", url, "--listen", "127.0.0.1:0", "--wait-late", "1s"]);
    Program::start(&mut command)
}

/// Kills a server, or the `serve` that links whenever there is one.
fn kill_all(servers: &mut Servers, database: &str, (happened, all): (&Happened, u64), count: u64) {
    let url = servers.url(database);
    let mut collector = serve(&url);
    for kill in 0..count {
        // So that every kill falls into the rows.
        happened.wait_for_rows(all * kill.saturating_sub(2) / count);
        // Somewhere in the rows, another place every time.
        clock::sleep(Duration::from_millis(30 + kill * 37 % 170));
        if collector.has_ended() {
            collector = serve(&url);
        }
        let is_served = collector.said().contains(TAKEN_OVER);
        happened.is_served.store(is_served, Ordering::SeqCst);
        // Every third time it goes on while a server is killed.
        if is_served && kill % 3 > 0 {
            clock::sleep(Duration::from_millis(kill * 91 % 700));
            collector = kill_collector(collector, &url, happened);
        } else {
            let index = usize::from(kill % 2 > 0);
            servers.kill(index);
            servers.restart(index);
        }
        add(&happened.kills, 1);
        let promised = happened.acknowledged.load(Ordering::SeqCst);
        let there = servers.different_rows(database).1;
        assert!(there >= promised, "kill {kill}: {there} of {promised}");
        if kill % 20 == 19 {
            let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
            eprintln!("{} kills, load {}", kill + 1, load.trim());
        }
    }
    if happened.collectors.load(Ordering::SeqCst) == 0 {
        wait_until("a collector links", || {
            if collector.has_ended() {
                collector = serve(&url);
            }
            collector.said().contains(TAKEN_OVER)
        });
        kill_collector(collector, &url, happened);
    }
    happened.is_served.store(false, Ordering::SeqCst);
}

/// Kills a `serve` that links; the next one.
fn kill_collector(mut collector: Program, url: &str, happened: &Happened) -> Program {
    collector.kill();
    add(&happened.collectors, 1);
    if !collector.said().contains(TURN_ENDED) {
        add(&happened.in_a_turn, 1);
    }
    happened.is_served.store(false, Ordering::SeqCst);
    serve(url)
}
