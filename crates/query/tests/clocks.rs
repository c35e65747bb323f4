//! Clock readings of hosts, and their effect on durations from one host to another.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

#[path = "../../store/tests/support/mod.rs"]
mod support;

use chronoscope_model::{
    Batch, ClassId, ClassName, Flags, Names, PathId, ProcessName, Record, TransactionId,
};
use chronoscope_query::{Answer, ClockQuality, Clocks, DurationKind, Limits, Question, ask};
use chronoscope_store::{Append, ClockReading, MINUTE_NS, Options, Snapshot, Store};
use std::path::Path;

const BEGIN: i64 = 100 * MINUTE_NS;
const MS: i64 = 1_000_000;

/// Chains from a tracker on one host over a server on a second to a display on a third.
struct Radar {
    names: Names,
    classes: Vec<ClassId>,
    hosts: [&'static str; 3],
    /// How far every host's clock is ahead, in nanoseconds.
    ahead_ns: [i64; 3],
    /// From which step on correlators tell nothing.
    foreign_from: usize,
    next: u64,
    batch: Batch,
}

impl Radar {
    fn new(hosts: [&'static str; 3], ahead_ns: [i64; 3]) -> Self {
        let mut names = Names::default();
        let mut classes = Vec::new();
        for (application, class) in [("MRTS", "decodePlots"), ("MSG", "update"), ("CWP", "redraw")]
        {
            names.add_class(ClassName { application: application.into(), class: class.into() });
            classes.push(ClassId::of(application, class));
            names.add_path(PathId::of(&classes), classes.clone());
        }
        for step in 0..3 {
            names.add_process(Self::process(hosts, step));
        }
        let (foreign_from, next, batch) = (3, 1, Batch::default());
        Self { names, classes, hosts, ahead_ns, foreign_from, next, batch }
    }

    fn process(hosts: [&str; 3], step: usize) -> ProcessName {
        let host = hosts[step].into();
        ProcessName { application: "P".into(), host, pid: 10 + step as u32, start_ns: 1 }
    }

    /// A chain that truly takes so long; the middle step is in the middle of it.
    fn chain(&mut self, true_start_ns: i64, true_ns: i64) {
        let first = self.next;
        self.next += 3;
        for step in 0..3usize {
            let foreign = step >= self.foreign_from;
            let after = [0, true_ns / 2, true_ns - true_ns / 10][step];
            let root_start_ns = true_start_ns + self.ahead_ns[0];
            let start_ns = true_start_ns + after + self.ahead_ns[step];
            let process = Self::process(self.hosts, step).id();
            let record = Record {
                start_ns,
                elapsed_ns: (true_ns / 10).unsigned_abs(),
                chain_low: first,
                id: TransactionId(first + step as u64),
                parent: TransactionId(if step == 0 { 0 } else { first + step as u64 - 1 }),
                class: self.classes[step],
                path: if foreign { PathId::NONE } else { PathId::of(&self.classes[..=step]) },
                root_start_ns: if foreign { start_ns } else { root_start_ns },
                root_process: Self::process(self.hosts, 0).id(),
                process,
                level: step as u16,
                flags: if foreign { Flags::FOREIGN.0 } else { 0 },
                ..Record::default()
            };
            self.batch.push(record, b"");
        }
    }

    /// Stores all rows in shares, every share but the last one sealed, and the readings.
    fn store(&self, dir: &Path, shares: &[f64], seal_last: bool, clocks: &[ClockReading]) {
        let store = Store::open(dir, Options::default(), BEGIN).unwrap();
        store.append(&Append { clocks, ..Append::default() }, BEGIN).unwrap();
        let records = self.batch.records();
        let mut from = 0;
        for (index, share) in shares.iter().enumerate() {
            let last = index + 1 == shares.len();
            let count = (records.len() as f64 * share) as usize;
            let to = if last { records.len() } else { from + count };
            let mut batch = Batch::default();
            records[from..to].iter().for_each(|record| batch.push(*record, b""));
            from = to;
            let input =
                Append { batch: Some(&batch), names: Some(&self.names), ..Append::default() };
            store.append(&input, BEGIN).unwrap();
            store.sync().unwrap();
            if !last || seal_last {
                store.seal_all(BEGIN).unwrap();
            }
        }
    }
}

/// A reading of a clock every ten seconds.
fn readings(host: &str, offset_ns: i64, error_ns: u64) -> Vec<ClockReading> {
    let reading = |n: i64| ClockReading {
        host: host.into(),
        at_ns: BEGIN - MINUTE_NS + n * 10_000 * MS,
        offset_ns,
        error_ns,
    };
    (0..24).map(reading).collect()
}

fn redraw(clocks: Clocks, split: bool) -> Question {
    Question { clocks, split, points: true, ..Question::acpd("decodePlots", "CWP::redraw") }
}

fn answer(dir: &Path, question: &Question) -> Answer {
    ask(&Snapshot::open(dir).unwrap(), question, &Limits::default()).unwrap()
}

/// The published evaluation of PHOENIX has a minimum of 2.7 ms from the tracker to the display,
/// "explained by NTP variations": with clocks known to within some ms it is below what it may be
/// off by, and the answer says so.
#[test]
fn a_minimum_of_2_7_ms_is_within_the_error_of_clocks_set_by_ntp() {
    let mut radar = Radar::new(["mrts-1", "mrts-1", "cwp-7"], [0, 0, 0]);
    for n in 0..200 {
        radar.chain(BEGIN + n * 200 * MS, 2_700_000 + n * 2 * MS);
    }
    let mut clocks = readings("mrts-1", 0, 1_500_000);
    clocks.extend(readings("cwp-7", 400_000, 2_000_000));
    let ways: [(&[f64], bool); 3] = [(&[1.0], true), (&[0.4, 0.6], false), (&[1.0], false)];
    for (shares, sealed) in ways {
        let dir = tempfile::tempdir().unwrap();
        radar.store(dir.path(), shares, sealed, &clocks);
        for split in [false, true] {
            let answer = answer(dir.path(), &redraw(Clocks::Raw, split));
            let ClockQuality { corrected, durations, crossings } = answer.clocks.unwrap();
            let what = format!("{shares:?}, sealed {sealed}, split {split}: {crossings:?}");
            assert_eq!((corrected, durations, crossings.count), (false, 200, 200), "{what}");
            let shortest = crossings.shortest.unwrap();
            assert_eq!(answer.distribution.unwrap().min_ns, 2_700_000, "{what}");
            assert_eq!((shortest.duration_ns, shortest.is_explained()), (2_700_000, true));
            // 1.5 + 2.0 ms of error, 0.4 ms of offset, and up to 5 s of drift at 50 ppm for each.
            let error_ns = shortest.error_ns.unwrap();
            assert!((3_900_000..4_410_000).contains(&error_ns), "{what}");
            assert!(crossings.explained >= 1 && crossings.explained < 5, "{what}");
            assert_eq!((crossings.unknown, crossings.negative), (0, 0), "{what}");
        }
    }
}

/// One display is 5 ms behind: short chains end before they begin. Corrected, every duration is
/// within what is said of the truth, whatever way the rows are stored, native and foreign.
#[test]
fn corrected_durations_are_within_what_is_said_of_the_truth() {
    for foreign_from in [3, 2, 1, 0] {
        let mut radar = Radar::new(["a", "b", "c"], [2 * MS, 9 * MS, -3 * MS]);
        radar.foreign_from = foreign_from;
        for n in 0..300 {
            radar.chain(BEGIN + n * 100 * MS, MS + n * 50_000);
        }
        let mut clocks = readings("a", 2 * MS + 90_000, 100_000);
        clocks.extend(readings("b", 9 * MS, 200_000));
        clocks.extend(readings("c", -3 * MS - 150_000, 200_000));
        let mut told: Option<String> = None;
        let ways: [(&[f64], bool); 3] = [(&[1.0], true), (&[0.3, 0.7], true), (&[0.5, 0.5], false)];
        for (shares, sealed) in ways {
            let dir = tempfile::tempdir().unwrap();
            radar.store(dir.path(), shares, sealed, &clocks);
            let raw = answer(dir.path(), &redraw(Clocks::Raw, false));
            let what = format!("foreign from {foreign_from}, {shares:?}, sealed {sealed}");
            let quality = raw.clocks.unwrap();
            assert_eq!(raw.counts.negative, 80, "{what}: true durations below 5 ms");
            let negatives = (quality.crossings.negative, quality.crossings.negative_explained);
            assert_eq!((quality.durations, negatives), (300, (80, 80)), "{what}");
            let corrected = answer(dir.path(), &redraw(Clocks::Corrected, false));
            assert_eq!((corrected.counts.negative, corrected.counts.used), (0, 300), "{what}");
            let quality = corrected.clocks.unwrap();
            assert!(quality.corrected && quality.crossings.error_ns_max < 900_000, "{what}");
            let mut points = corrected.points.clone();
            points.sort_by_key(|point| point.start_ns);
            for (n, point) in (0..300).zip(points) {
                // The root's stamp stays raw.
                assert_eq!(point.start_ns, BEGIN + n * 100 * MS + 2 * MS, "{what}");
                let true_ns = (MS + n * 50_000).unsigned_abs();
                let off = point.duration_ns.abs_diff(true_ns);
                assert!(off <= quality.crossings.error_ns_max, "{what}, chain {n}: off by {off}");
            }
            // Split, the parts add up to what is corrected.
            let split = answer(dir.path(), &redraw(Clocks::Corrected, true));
            let sum = |path: &chronoscope_query::PathAnswer| {
                let parts = path.split.as_ref().unwrap().hops.iter();
                parts.map(|(inside, waiting)| inside.sum_ns() + waiting.sum_ns()).sum::<i128>()
            };
            let all: i128 = split.paths.iter().map(sum).sum();
            let total = split.distribution.unwrap().sum_ns;
            assert_eq!(all, i128::try_from(total).unwrap(), "{what}");
            let this = format!("{:?} {:?}", corrected.durations_ns, quality.crossings.explained);
            assert_eq!(*told.get_or_insert(this.clone()), this, "{what}");
        }
    }
}

#[test]
fn whole_chains_and_those_of_clocks_that_nobody_read() {
    let mut radar = Radar::new(["a", "a", "c"], [0, 0, 0]);
    (0..10).for_each(|n| radar.chain(BEGIN + n * 100 * MS, 3 * MS));
    let dir = tempfile::tempdir().unwrap();
    radar.store(dir.path(), &[1.0], true, &readings("a", 0, 1000));
    for question in [redraw(Clocks::Raw, false), Question::apcd("decodePlots")] {
        let crossings = answer(dir.path(), &question).clocks.unwrap().crossings;
        assert_eq!((crossings.count, crossings.unknown), (10, 10), "{:?}", question.kind);
        assert!(!crossings.shortest.unwrap().is_explained());
    }
    // To a class on the root's own host nothing crosses; one for itself has nothing to do with it.
    let update = answer(dir.path(), &Question::acpd("decodePlots", "update"));
    assert_eq!(update.clocks.unwrap().crossings.count, 0);
    let alone = answer(dir.path(), &Question::sync("redraw"));
    assert_eq!(
        (alone.clocks, alone.counts.used, DurationKind::Sync),
        (None, 10, DurationKind::Sync)
    );
}

#[test]
fn readings_outlive_restarts_and_the_log() {
    let mut radar = Radar::new(["a", "a", "c"], [0, 0, 0]);
    radar.chain(BEGIN, 3 * MS);
    let dir = tempfile::tempdir().unwrap();
    assert!(Store::open(dir.path(), Options::default(), BEGIN).is_ok());
    assert!(Snapshot::open(dir.path()).unwrap().clocks().is_empty());
    let first = readings("a", 700, 1000);
    radar.store(dir.path(), &[1.0], true, &first[..9]);
    let before = Snapshot::open(dir.path()).unwrap().clocks().clone();
    assert_eq!(before.track("a").unwrap().knots().len(), 9);
    // Sealed and opened again, twice: the log of the readings is gone.
    for _ in 0..2 {
        let store = Store::open(dir.path(), Options::default(), BEGIN).unwrap();
        store.seal_all(BEGIN).unwrap();
        assert_eq!(*Snapshot::open(dir.path()).unwrap().clocks(), before);
    }
    // More, in the log again; a torn end costs only what was not durable.
    let store = Store::open(dir.path(), Options::default(), BEGIN).unwrap();
    store.append(&Append { clocks: &first[9..], ..Append::default() }, BEGIN).unwrap();
    store.sync().unwrap();
    drop(store);
    let all = Snapshot::open(dir.path()).unwrap().clocks().clone();
    assert_eq!(all.track("a").unwrap().knots().len(), 24);
    // As if nobody had been told that they are durable.
    std::fs::remove_file(dir.path().join("log/durable")).unwrap();
    let log = std::fs::read_dir(dir.path().join("log")).unwrap();
    let log = log.map(|entry| entry.unwrap().path()).max().unwrap();
    let bytes = std::fs::read(&log).unwrap();
    for cut in [32, 40, 100, bytes.len() - 1] {
        std::fs::write(&log, &bytes[..cut]).unwrap();
        let snapshot = Snapshot::open(dir.path()).unwrap();
        assert_eq!((snapshot.clocks(), snapshot.damage()), (&before, &[][..]), "cut at {cut}");
    }
    let estimate = before.at("a", BEGIN).unwrap();
    assert_eq!(estimate.offset_ns, 700);
    assert_eq!(before.at("c", BEGIN), None);
}
