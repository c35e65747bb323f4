//! Servers of a cluster that die, networks that are split, disks that are full: what was
//! acknowledged is there, once, and an answer is whole or says what is missing.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod cluster;
mod world;

use chronoscope_chain::VerdictState;
use chronoscope_clickhouse::{ClickHouseError, Cluster, ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, ChainId, Record};
use chronoscope_query::{Clocks, Limits, Progress, Question, StoreLocation, VerdictSubject};
use cluster::proxy::{Network, Proxy};
use cluster::{Servers, Start};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use world::World;

fn batch(records: &[Record]) -> Batch {
    let mut batch = Batch::default();
    records.iter().for_each(|record| batch.push(*record, b""));
    batch
}

fn writer(url: &str) -> ClusterWriter {
    let cluster = Cluster::new(url).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    ClusterWriter::new(cluster)
}

fn expected(world: &World, question: &Question) -> Vec<u64> {
    let dir = tempfile::tempdir().unwrap();
    world.store(dir.path(), &[1.0], true);
    let files = StoreLocation::Files(dir.path().to_owned());
    files.ask(question, &Limits::default()).unwrap().durations_ns
}

#[test]
fn failures() {
    let Some(mut servers) = Servers::start(2) else { return };
    another_copy_answers_when_one_is_cut_off(&servers);
    a_split_network_loses_and_doubles_nothing(&servers);
    a_missing_shard_is_refused_or_said(&mut servers);
}

/// A disk that is full: rows are refused, wait at their sender, and go in once there is room.
#[test]
fn a_full_disk() {
    // A file system of its own, in a name space of its own.
    let namespaces = ["-Urm", "--propagation", "private"];
    let can = std::process::Command::new("unshare").args(namespaces).arg("true").output();
    if !can.is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED: no name spaces here (unshare -Urm): no disk is filled");
    }
    let servers = Servers::start_as(1, |dir| {
        let mount = "mount -t tmpfs -o size=64m tmpfs \"$0\" && exec \"$@\"";
        let data = dir.join("0").display().to_string();
        let words = ["unshare"].into_iter().chain(namespaces).chain(["sh", "-c", mount]);
        let launcher = words.map(str::to_owned).chain([data]).collect();
        // With a second disk new rows would go there.
        let one_disk = "<merge_tree><storage_policy>default</storage_policy></merge_tree>";
        Start { launcher, more_config: one_disk.to_owned() }
    });
    let Some(servers) = servers else { return };
    let world = World::new(15, 2000).with_long_texts();
    let sink = writer(&servers.url("full"));
    let of = |records: &[Record]| world.batch(records);
    let pieces: Vec<Batch> = world.records.chunks(2000).map(of).collect();
    sink.insert(&pieces[0], &world.names, 1).unwrap();
    let free = || -> u64 {
        let free = "SELECT free_space FROM system.disks WHERE name = 'default'";
        servers.sql(0, free).parse().unwrap()
    };
    assert!(free() < 64 << 20, "the disk is small");
    servers.sql(0, "CREATE TABLE ballast (text String) ENGINE = MergeTree ORDER BY tuple()");
    let ballast = free() - (600 << 10);
    servers.sql(0, &format!("INSERT INTO ballast SELECT randomString({ballast})"));
    let insert = |index: usize| sink.insert(&pieces[index], &world.names, index as u128 + 1);
    let full = (1..pieces.len()).find_map(|index| insert(index).err().map(|error| (index, error)));
    let (stopped, error) = full.expect("the disk is full");
    assert!(error.is_passing(), "{error}");
    let count = || servers.sql(0, "SELECT count() FROM full.transactions");
    assert_eq!(count(), (2000 * stopped).to_string(), "what was acknowledged, and nothing else");
    servers.sql(0, "DROP TABLE ballast SYNC");
    (stopped..pieces.len()).for_each(|index| insert(index).unwrap());
    // Those that went in before are known.
    (0..pieces.len()).for_each(|index| insert(index).unwrap());
    assert_eq!(count(), world.records.len().to_string());
}

/// Two ways to each server stand for two copies that their servers keep equal.
fn another_copy_answers_when_one_is_cut_off(servers: &Servers) {
    let world = World::new(11, 200);
    let ways: Vec<Proxy> = [0, 0, 1, 1].map(|index| Proxy::before(&servers.name(index))).into();
    let name = |way: usize| ways[way].name();
    let url = format!("clickhouse://{}|{},{}|{}/copies", name(0), name(1), name(2), name(3));
    let sink = writer(&url);
    let source = StoreLocation::open(&url).unwrap();
    let question = Question::acpd("X::a", "c");
    let pieces: Vec<Batch> = world.records.chunks(200).map(batch).collect();
    assert!(pieces.len() > 4);
    // The way in use says nothing any more; of the other shard it is closed.
    for (index, piece) in pieces.iter().enumerate() {
        match index {
            1 => ways[0].set(Network::Split),
            2 => ways[2].set(Network::Closed),
            3 => {
                ways[0].set(Network::Whole);
                ways[1].set(Network::Closed);
            }
            _ => {}
        }
        sink.insert(piece, &world.names, index as u128 + 1).unwrap();
        source.ask(&question, &Limits::default()).unwrap();
    }
    assert_eq!(
        source.ask(&question, &Limits::default()).unwrap().durations_ns,
        expected(&world, &question)
    );
    ways[0].set(Network::Closed);
    let error = sink.insert(&pieces[0], &world.names, 99).unwrap_err();
    assert!(error.is_passing(), "{error}");
    let text = error.to_string();
    let said = ["none of its copies", &name(0), &name(1)];
    assert!(said.iter().all(|part| text.contains(*part)), "{text}");
}

/// A collector whose way to a shard is cut again and again, in the middle of inserts.
fn a_split_network_loses_and_doubles_nothing(servers: &Servers) {
    let world = World::new(12, 600);
    let way = Proxy::before(&servers.name(1));
    let url = format!("clickhouse://{},{}/split", servers.name(0), way.name());
    let sink = writer(&url);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let states = [Network::Split, Network::Whole, Network::Closed, Network::Whole];
            for state in states.into_iter().cycle() {
                if done.load(Ordering::SeqCst) {
                    break;
                }
                way.set(state);
                clock::sleep(Duration::from_millis(120));
            }
            way.set(Network::Whole);
        });
        deliver(&sink, &world, 40, &AtomicU64::new(0));
        done.store(true, Ordering::SeqCst);
    });
    let all = world.records.len() as u64;
    let (counts, different) = servers.different_rows("split");
    assert_eq!((counts.iter().sum::<u64>(), different), (all, all), "{counts:?}");
    let question = Question::acpd("X::a", "c");
    let source = StoreLocation::open(&url).unwrap();
    let answer = source.ask(&question, &Limits::default()).unwrap();
    assert_eq!(answer.durations_ns, expected(&world, &question));
}

/// Sends the rows of a world as an agent does: numbered, again until they are acknowledged.
fn deliver(sink: &ClusterWriter, world: &World, rows_of_a_piece: usize, acknowledged: &AtomicU64) {
    for (index, records) in world.records.chunks(rows_of_a_piece).enumerate() {
        let first = (index * rows_of_a_piece) as u64;
        loop {
            match sink.insert_stream(3, first, &batch(records), &world.names) {
                Ok(next) => {
                    assert_eq!(next, first + records.len() as u64);
                    acknowledged.store(next, Ordering::SeqCst);
                    break;
                }
                Err(error) => assert!(is_of_failure(&error), "{error}"),
            }
            clock::sleep(Duration::from_millis(20));
        }
    }
}

fn is_of_failure(error: &ClickHouseError) -> bool {
    error.is_passing()
}

fn a_missing_shard_is_refused_or_said(servers: &mut Servers) {
    let world = World::new(13, 200);
    let strict = servers.url("missing");
    let sink = writer(&strict);
    sink.insert(&batch(&world.records), &world.names, 1).unwrap();
    let saying = format!("{strict}&missing=say");
    let question = Question::acpd("X::a", "c");
    let ask = |url: &str| StoreLocation::open(url).unwrap().ask(&question, &Limits::default());
    let whole = ask(&saying).unwrap();
    assert_eq!(whole.losses.damage, []);
    assert_eq!(whole.durations_ns, expected(&world, &question));
    servers.kill(1);
    let error = ask(&strict).unwrap_err().to_string();
    assert!(error.contains(&servers.name(1)), "{error}");
    let half = ask(&saying).unwrap();
    let [missing] = &half.losses.damage[..] else { panic!("{:?}", half.losses.damage) };
    let text = missing.to_string();
    assert!(text.contains(&format!("shard {} is missing", servers.name(1))), "{text}");
    assert!(half.counts.used > 0 && half.counts.used < whole.counts.used, "{:?}", half.counts);
    let limited = Question { limit_ns: Some(u64::MAX / 2), ..question.clone() };
    let verdict = StoreLocation::open(&saying).unwrap().ask(&limited, &Limits::default()).unwrap();
    assert_eq!(verdict.verdict.unwrap().unseen, u64::MAX, "what is missing may be above the limit");
    what_needs_whole_minutes_is_answered_too(&saying, &strict, half.counts.used);
    let source = StoreLocation::open(&saying).unwrap();
    let (classes, damage) = source.classes(&(i64::MIN..i64::MAX)).unwrap();
    assert!(!classes.is_empty() && damage.len() == 1, "{damage:?}");
    // A chain is on the shard that is there, or is said to be missing.
    let chains: BTreeSet<ChainId> = world.records.iter().map(Record::chain).collect();
    let found: Vec<bool> = chains
        .iter()
        .map(|chain| {
            let (rows, damage) = source.chain(*chain, None).unwrap();
            assert_ne!(rows.is_empty(), damage.is_empty(), "{chain:?}: {damage:?}");
            damage.is_empty()
        })
        .collect();
    assert!(found.contains(&true) && found.contains(&false));
    // All shards missing is no answer.
    servers.kill(0);
    let error = ask(&saying).unwrap_err().to_string();
    assert!(error.contains("cannot be reached"), "{error}");
    servers.restart(0);
    servers.restart(1);
    assert_eq!(ask(&saying).unwrap().durations_ns, whole.durations_ns);
}

/// Arrivals, hops, hosts, and what is counted by path; not a copy, which would look whole.
fn what_needs_whole_minutes_is_answered_too(saying: &str, strict: &str, used: u64) {
    let source = StoreLocation::open(saying).unwrap();
    let plain = Question { limit_ns: Some(u64::MAX / 2), ..Question::acpd("X::a", "c") };
    let described = Question { judged: VerdictSubject::Described, ..plain.clone() };
    let split = Question { split: true, ..plain.clone() };
    let corrected = Question { clocks: Clocks::Corrected, ..plain.clone() };
    for question in [described, split, corrected] {
        for _ in 0..2 {
            let answer = source.ask(&question, &Limits::default()).unwrap();
            assert_eq!((answer.counts.used, answer.losses.damage.len()), (used, 1), "{question:?}");
            let verdict = answer.verdict.unwrap();
            assert_eq!(verdict.state(), VerdictState::Undetermined, "{question:?}");
        }
        let refused = StoreLocation::open(strict).unwrap();
        assert!(refused.ask(&question, &Limits::default()).is_err(), "{question:?}");
    }
    let all = i64::MIN..i64::MAX;
    let (limits, progress) = (Limits::default(), Progress::default());
    source
        .with(|view| {
            let rows = view.rows_of(&[&plain], &limits, &progress)?;
            assert_eq!(rows.damage().len(), 1);
            let (paths, damage) = view.paths(&all, &progress)?;
            assert!(!paths.is_empty() && damage.len() == 1, "{damage:?}");
            assert!(view.extent()?.is_some() && view.row_count()? > 0);
            Ok(())
        })
        .unwrap();
    let copied = source.transactions(all).and_then(|(rows, _)| rows.collect::<Result<Vec<_>, _>>());
    assert!(copied.is_err(), "half a copy");
}
