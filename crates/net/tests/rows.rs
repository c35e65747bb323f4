//! Rows go into a ring and come out of it as they were.
#![allow(clippy::unwrap_used)]

use chronoscope_model::{Batch, Flags, Transaction};
use chronoscope_net::counters::Counters;
use chronoscope_net::rows::{
    BY_MAX, NAME_MAX, Outcome, RoundTrip, SPEED_NAMES_MAX, ScanRow, Transfer, WHY_MAX, row_name,
};
use chronoscope_record as record;
use chronoscope_record::read::{Cursors, Ring};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::sync::{Mutex, PoisonError};

/// Numbers that a double holds.
const EXACT: std::ops::Range<u64> = 0..1 << 53;

/// What `record` wrote into the ring of this process.
fn recorded(record: impl FnOnce()) -> Vec<Transaction> {
    // One at a time, or another test's rows would be among them.
    static READER: Mutex<Option<(Ring, Cursors)>> = Mutex::new(None);
    let mut reader = READER.lock().unwrap_or_else(PoisonError::into_inner);
    record();
    let (ring, cursors) = reader.get_or_insert_with(|| {
        let path = record::ring_path().expect("recording is on");
        let ring = Ring::open(&path).unwrap();
        std::fs::remove_file(path).unwrap(); // what is mapped and open stays
        (ring, Cursors::default())
    });
    let mut batch = Batch::default();
    while ring.drain(cursors, 10_000, &mut batch).unwrap().read > 0 {}
    ring.refresh_names().unwrap();
    let names = ring.names();
    let words = |record| Transaction::from_record(record, batch.context(record), names);
    batch.records().iter().map(words).collect()
}

fn only(mut rows: Vec<Transaction>) -> Transaction {
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9.:-]{1,60}", "\\PC{1,15}", Just("h".repeat(NAME_MAX))]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let counted = (EXACT, prop::array::uniform8(EXACT), any::<bool>());
    prop_oneof![
        Just(Outcome::First),
        Just(Outcome::NoAnswer),
        "[ -~]{0,120}".prop_map(Outcome::NotUnderstood),
        counted.prop_map(|(interval_ns, values, restarted)| Outcome::Counted {
            interval_ns,
            advance: Counters::from_values(values),
            restarted,
        }),
    ]
}

#[test]
fn what_is_recorded_is_read_back() {
    let times = (0..i64::MAX / 4, EXACT);
    let scans = (name(), "[a-z]{1,12}", times, outcome(), prop::option::of(1..EXACT.end));
    let trips = (name(), name(), "[a-z]{1,12}", any::<bool>(), EXACT, 0..i64::MAX / 4);
    let all = (scans, trips, prop::option::of(EXACT), any::<bool>());
    let check = |(scan, trip, took_ns, complete)| {
        let (host, by, (start_ns, elapsed_ns), outcome, bits_per_s) = scan;
        let mut scan = ScanRow { host, by, start_ns, elapsed_ns, outcome, bits_per_s };
        // There is room for it beside counters, and beside names that are not the longest.
        let counted = matches!(scan.outcome, Outcome::Counted { .. });
        if !counted || scan.host.len() + scan.by.len() > SPEED_NAMES_MAX {
            scan.bits_per_s = None;
        }
        let (from, to, by, first, octets, start_ns) = trip;
        let trip = RoundTrip { from, to, by, first, octets, start_ns, took_ns };
        let (from, to) = (trip.from.clone(), trip.to.clone());
        let took_ns = took_ns.unwrap_or(1);
        let transfer = Transfer { from, to, octets, start_ns, took_ns, complete };
        let rows = recorded(|| {
            scan.record();
            trip.record();
            transfer.record();
        });
        prop_assert!(rows.iter().all(|row| row.flags == Flags::default()), "{:?}", rows);
        let [first, second, third] = &rows[..] else { panic!("{rows:?}") };
        prop_assert_eq!(ScanRow::from_transaction(first), Some(scan));
        prop_assert_eq!(RoundTrip::from_transaction(second), Some(trip));
        prop_assert_eq!(Transfer::from_transaction(third), Some(transfer));
        // A row of one class is none of another.
        prop_assert_eq!(ScanRow::from_transaction(second), None);
        prop_assert_eq!(RoundTrip::from_transaction(third), None);
        prop_assert_eq!(Transfer::from_transaction(first), None);
        Ok(())
    };
    TestRunner::default().run(&all, check).unwrap();
}

/// The longest of everything: it is shorter in the row, which says so, and nothing else is lost.
#[test]
fn what_is_too_long_is_cut_and_said() {
    let advance = Counters::from_values([EXACT.end - 1; 8]);
    let interval_ns = EXACT.end - 1;
    let host = format!("a.{}", "long.".repeat(50));
    let row = ScanRow {
        host: host.clone(),
        by: "b".repeat(50),
        start_ns: 1,
        elapsed_ns: 2,
        outcome: Outcome::Counted { interval_ns, advance, restarted: true },
        bits_per_s: None,
    };
    let stored = only(recorded(|| row.record()));
    assert!(stored.flags.contains(Flags::CONTEXT_CUT));
    let back = ScanRow::from_transaction(&stored).unwrap();
    let expected =
        ScanRow { host: row_name(&host).into_owned(), by: "b".repeat(BY_MAX), ..row.clone() };
    assert_eq!(back, expected);
    assert!(back.host.len() <= NAME_MAX && back.host.starts_with("a.long.long."));

    let why = "é".repeat(WHY_MAX);
    let refused = ScanRow { outcome: Outcome::NotUnderstood(why), ..row };
    let stored = only(recorded(|| refused.record()));
    let back = ScanRow::from_transaction(&stored).unwrap();
    assert_eq!(back.outcome, Outcome::NotUnderstood("é".repeat(WHY_MAX / 2)));

    let (start_ns, octets) = (3, EXACT.end - 1);
    let (by, took_ns) = ("b".repeat(BY_MAX), Some(4));
    let trip =
        RoundTrip { from: host.clone(), to: host, by, first: true, octets, start_ns, took_ns };
    let back = RoundTrip::from_transaction(&only(recorded(|| trip.record()))).unwrap();
    let short = row_name(&trip.to).into_owned();
    assert_eq!(back, RoundTrip { from: short.clone(), to: short, ..trip });
}

#[test]
fn two_long_names_stay_two() {
    let names = ["1", "2"].map(|last| format!("{}{last}", "same.".repeat(30)));
    let [one, two] = names.each_ref().map(|name| row_name(name).into_owned());
    assert_ne!(one, two);
    assert_eq!([one.len(), two.len()], [NAME_MAX; 2]);
    assert_eq!(row_name(&one), one, "what was cut is not cut again");
}

/// The middle of an interval tells where it belongs, so its place in time has to be right.
#[test]
fn an_observation_ends_when_the_host_had_answered() {
    let advance = Counters { in_bytes: 7, ..Counters::default() };
    let row = ScanRow {
        host: "a".to_owned(),
        by: "snmp".to_owned(),
        start_ns: 10_000,
        elapsed_ns: 500,
        outcome: Outcome::Counted { interval_ns: 1_000, advance, restarted: false },
        bits_per_s: None,
    };
    let observation = row.observation().unwrap();
    assert_eq!((observation.start_ns, observation.interval_ns), (9_500, 1_000));
    assert_eq!(ScanRow { outcome: Outcome::First, ..row }.observation(), None);
}
