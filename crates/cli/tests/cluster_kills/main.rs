//! Servers of a cluster, and of two `serve` before it the one that links chains, are killed with
//! SIGKILL, one after the other and again and again, while native and foreign rows go in, chains are linked, what was replaced is deleted,
//! and questions are asked: what was acknowledged is there, once, every answer was whole or an error,
//! and in the end the tables have what they have where nothing was killed.

#![allow(clippy::unwrap_used)] // helpers of tests
#![allow(dead_code)] // the helpers of other tests have more

#[path = "../agent/certificates.rs"]
mod certificates;
#[path = "../../../query/tests/cluster/mod.rs"]
mod cluster;
mod happened;
mod killing;
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
use happened::{Happened, add, count};
use killing::Killing;
use rows::{Expected, Rows};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use stored::{assert_all_there, link, view, writer};
use world::World;

/// Chains for each kill; the rows of an insert.
const CHAINS: u64 = 100;
const PIECE_ROWS: usize = 50;
/// How long replaced durations are kept here: longer than a question of these takes.
const DURATIONS_KEPT: Duration = Duration::from_mins(3);

#[test]
fn what_is_killed_now_and_then_loses_and_doubles_nothing() {
    let Some(mut servers) = Servers::start(2) else { return };
    kills(&mut servers, "killed_often", 6);
}

/// `make soak`: eleven minutes at least, because a `serve` takes over 10 to 12 s after the other one was
/// killed; beside compilers several times as long. `CHRONOSCOPE_SOAK_KILLS` is another number of kills.
#[test]
#[ignore = "many minutes"]
fn two_hundred_kills() {
    let count = std::env::var("CHRONOSCOPE_SOAK_KILLS");
    let count = count.map_or(200, |count| count.parse().expect("CHRONOSCOPE_SOAK_KILLS"));
    let Some(mut servers) = Servers::start(2) else { return };
    kills(&mut servers, "two_hundred", count);
}

fn kills(servers: &mut Servers, database: &str, kills: u64) {
    let rows = Rows::new(CHAINS * kills);
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
    let (happened, linking) = (Happened::default(), Mutex::new(()));
    let all = rows.world.records.len() as u64;
    std::thread::scope(|scope| {
        scope.spawn(|| deliver(&sink, &rows.world, &happened));
        scope.spawn(|| link_and_prune(&url, &happened, &linking));
        scope.spawn(|| ask(&url, &questions, &happened));
        // Threads end also where a check below fails.
        let _end = End(&happened.is_done);
        Killing::new((servers, database), (&happened, &linking), (all, kills)).kill_all();
        happened.wait_for_rows(all);
    });
    eprintln!("{happened:?}, {all} rows");
    assert!(count(&happened.answered) > 0);
    let (collectors, in_a_turn) = (count(&happened.collectors), count(&happened.in_a_turn));
    assert!(collectors >= (kills / 8).max(1), "{collectors} kills of serve");
    assert!(in_a_turn >= collectors / 2, "{in_a_turn} of {collectors} in a turn");
    assert_all_there(servers, database, &rows, &files);
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Sends the rows as an agent does: numbered, again until they are acknowledged; not more of them than
/// are due, so that every kill falls into them.
fn deliver(sink: &ClusterWriter, world: &World, happened: &Happened) {
    for (index, records) in world.records.chunks(PIECE_ROWS).enumerate() {
        let first = (index * PIECE_ROWS) as u64;
        while first >= count(&happened.due) && !happened.is_done() {
            clock::sleep(Duration::from_millis(10));
        }
        if happened.is_done() {
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
            if happened.is_done() {
                return;
            }
            clock::sleep(Duration::from_millis(20));
        }
    }
}

/// Links beside `serve`, and deletes what was replaced at once; what fails is done the next time.
fn link_and_prune(url: &str, happened: &Happened, linking: &Mutex<()>) {
    let (view, all) = (view(url), i64::MIN..=i64::MAX);
    while !happened.is_done() {
        // Who waits for the lock gets it meanwhile.
        clock::sleep(Duration::from_millis(20));
        let _lock = linking.lock().unwrap_or_else(PoisonError::into_inner);
        add(&happened.foreign_rows, link(&view).map_or(0, |sealed| sealed.foreign));
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
        if happened.is_done() {
            break;
        }
        let acknowledged = count(&happened.acknowledged);
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
