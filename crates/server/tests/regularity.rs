//! Rules on regularity: streams that are named by an attribute, one of which is irregular.

#![allow(clippy::unwrap_used, clippy::cast_possible_wrap, reason = "helpers of tests")]

mod world;

use chronoscope_clock as clock;
use chronoscope_collect::Status;
use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{Batch, ClassId, NO_PROCESS_CPU, PathId, Record, TransactionId};
use chronoscope_query::StoreLocation;
use chronoscope_rules::{Change, RuleFile};
use chronoscope_server::{RuleHistories, rule_histories};
use chronoscope_statistics::Random;
use chronoscope_store::MINUTE_NS;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use world::{BEGIN_NS, World, fill_rows};

const FILE: &str =
    "[[limit]]\nname = 'irregular'\nclass = 'A::in'\nby = 'radar'\nirregular = 3\nwindow = '5min'";
const SECOND_NS: i64 = 1_000_000_000;

/// An arrival: nanoseconds after the beginning, and the radar's number.
type Arrival = (i64, u32);

/// Arrivals of five radars over half an hour, one in 400 to 800 ms each with a jitter of 5 %.
fn regular(seed: u64) -> Vec<Arrival> {
    let mut random = Random(seed);
    let mut all = Vec::new();
    for radar in 0..5_u32 {
        let (mut at, period) = (0.0, 0.4 + 0.1 * f64::from(radar));
        while at < 1800.0 {
            #[allow(clippy::cast_possible_truncation)] // half an hour
            all.push(((at * 1e9) as i64, radar));
            at += period * (1.0 + 0.05 * random.normal()).max(0.1);
        }
    }
    all
}

/// The same with what `change` makes of each arrival of the third radar.
fn faulty(change: impl Fn(i64) -> Option<i64>) -> Vec<Arrival> {
    let changed = |(at, radar)| match radar {
        2 => change(at).map(|at| (at, radar)),
        _ => Some((at, radar)),
    };
    regular(1).into_iter().filter_map(changed).collect()
}

/// Stores an arrival as a transaction of 10 ms, with the property `radar`.
fn store(dir: &Path, begin_ns: i64, arrivals: &[Arrival], now_ns: i64) -> chronoscope_store::Store {
    let class = ClassId::of("A", "in");
    let mut batch = Batch::default();
    for (id, (at, radar)) in (1..).zip(arrivals) {
        let mut octets = [0; 40];
        let radar = format!("98/{radar}");
        let radar = ContextEntry::Property("radar", &radar);
        let len = context::append(&mut octets, 0, radar).unwrap();
        let start_ns = begin_ns + at - 10_000_000;
        let record = Record {
            start_ns,
            root_start_ns: start_ns,
            elapsed_ns: 10_000_000,
            process_cpu_ns: NO_PROCESS_CPU,
            chain_low: id,
            id: TransactionId(id),
            class,
            path: PathId::of(&[class]),
            ..Record::default()
        };
        batch.push(record, &octets[..len]);
    }
    fill_rows(dir, &batch, now_ns)
}

/// What the rule would have done.
fn histories(arrivals: &[Arrival]) -> RuleHistories {
    let dir = tempfile::tempdir().unwrap();
    let now_ns = BEGIN_NS + 300 * MINUTE_NS;
    store(dir.path(), BEGIN_NS, arrivals, now_ns).seal_all(now_ns).unwrap();
    let rule = RuleFile::parse(FILE).unwrap().rules.remove(0);
    let store = StoreLocation::Files(dir.path().to_owned());
    store.with(|view| rule_histories(view, &rule, i64::MIN..i64::MAX)).unwrap()
}

/// Changes of each alarm with their minutes.
fn changes(arrivals: &[Arrival]) -> Vec<(String, i64, Change)> {
    let minute = |at_ns: i64| (at_ns - BEGIN_NS).div_euclid(MINUTE_NS);
    let found = histories(arrivals).histories.into_iter();
    let named = found.flat_map(|(rule, history)| {
        let changes = history.transitions.into_iter();
        changes.map(move |it| (rule.name.clone(), minute(it.at_ns), it.change))
    });
    named.collect()
}

const NAME: &str = "irregular[radar=98/2]";

#[test]
fn regular_streams_raise_no_alarm() {
    for seed in 1..=10 {
        assert_eq!(changes(&regular(seed)), [], "seed {seed}");
    }
}

#[test]
fn bursts_of_one_radar_fire_with_its_name_and_clear() {
    // What arrives in three minutes is held and comes every ten seconds.
    let held = |at: i64| match at / (60 * SECOND_NS) {
        12..15 => Some((at / (10 * SECOND_NS) + 1) * 10 * SECOND_NS),
        _ => Some(at),
    };
    let found = changes(&faulty(held));
    let fired = (NAME.to_owned(), 13, Change::Fired);
    // The last of them ends an interval of ten seconds in minute 15.
    assert_eq!(found, [fired, (NAME.to_owned(), 21, Change::Cleared)]);
}

#[test]
fn a_gap_fires_before_it_ends() {
    let silent = |at: i64| (!(720..900).contains(&(at / SECOND_NS))).then_some(at);
    let found = changes(&faulty(silent));
    // The interval of three minutes ends in minute 15, and leaves the window with it.
    let fired = (NAME.to_owned(), 13, Change::Fired);
    assert_eq!(found, [fired, (NAME.to_owned(), 21, Change::Cleared)]);
}

#[test]
fn a_radar_that_stops_altogether_goes_on_firing() {
    let found = changes(&faulty(|at| (at < 720 * SECOND_NS).then_some(at)));
    assert_eq!(found, [(NAME.to_owned(), 13, Change::Fired)]);
}

#[test]
fn a_clock_that_jumps_is_of_no_radar() {
    for jump_s in [600, -60, 3] {
        let jumped = regular(1).into_iter().map(|(at, radar)| match at {
            at if at > 900 * SECOND_NS => (at + jump_s * SECOND_NS, radar),
            at => (at, radar),
        });
        let jumped: Vec<Arrival> = jumped.collect();
        assert_eq!(changes(&jumped), [], "by {jump_s} s");
    }
}

#[test]
fn of_ten_thousand_values_a_thousand_are_judged_and_the_others_counted() {
    let arrivals = (0..10_000_u32).flat_map(|radar| {
        (0..15_i64).map(move |at| (at * 20 * SECOND_NS + i64::from(radar) * 1_000, radar))
    });
    let found = histories(&arrivals.collect::<Vec<_>>());
    assert_eq!((found.histories.len(), found.beyond), (1_000, 9_000));
    assert!(found.histories.iter().all(|(_, history)| history.transitions.is_empty()));
}

/// The alarms of kind `rule` in Now, when all groups have been judged.
fn alarms(world: &World) -> Vec<Value> {
    for _ in 0..100 {
        let rules = world.answer("rules")["rules"].as_array().unwrap().clone();
        if rules.len() >= 5 && rules.iter().all(|rule| !rule["judged_ns"].is_null()) {
            let now = world.answer("now");
            let alarms = now["alarms"].as_array().unwrap().iter();
            return alarms.filter(|alarm| alarm["kind"] == "rule").cloned().collect();
        }
        clock::sleep(Duration::from_millis(100));
    }
    panic!("not judged within 10 s: {}", world.answer("rules"));
}

#[test]
fn now_names_the_irregular_radar() {
    let now_ns = clock::utc_now_ns();
    let begin_ns = now_ns - 1_800 * SECOND_NS;
    let held = |at: i64| match at / (60 * SECOND_NS) {
        27.. => Some((at / (10 * SECOND_NS) + 1) * 10 * SECOND_NS),
        _ => Some(at),
    };
    let served = |arrivals: &[Arrival]| {
        let fill = |dir: &Path| {
            drop(store(dir, begin_ns, arrivals, now_ns));
            let at_ns = now_ns + 9_000_000_000; // it may report ahead of a slow machine
            let status = Status { running: true, at_ns, ..Status::default() };
            std::fs::write(Status::path(dir), serde_json::to_vec(&status).unwrap()).unwrap();
        };
        World::of(fill, |options| options.rules = RuleFile::parse(FILE).unwrap())
    };
    let world = served(&faulty(held));
    let alarms_now = alarms(&world);
    let [alarm] = &alarms_now[..] else { panic!("one is expected: {alarms_now:?}") };
    let sentence = alarm["sentence"].as_str().unwrap();
    assert!(sentence.starts_with(&format!("{NAME}: A::in with radar=98/2: ")), "{sentence}");
    assert!(sentence.contains(" % of their mean; usual: "), "{sentence}");
    assert_eq!(alarm["attribute"], "radar=98/2");
    let rules = world.answer("rules");
    let window = |name: &str| {
        let rules = rules["rules"].as_array().unwrap().iter();
        rules.clone().find(|rule| rule["name"] == name).unwrap()["windows"][0].clone()
    };
    let (bad, good) = (window(NAME), window("irregular[radar=98/1]"));
    assert!(bad["spread"].as_f64() > Some(1.0) && good["spread"].as_f64() < Some(0.1), "{rules}");
    assert_eq!(bad["usual_spread"], good["usual_spread"]);
    assert!(alarms(&served(&regular(1))).is_empty());
}
