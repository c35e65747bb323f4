//! Random trees of begins and ends, against what the ring says of them; and rings that somebody
//! has damaged.
#![cfg(not(feature = "off"))]
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_model::{Batch, ChainId, ClassId, PathId, Status, TransactionId};
use chronoscope_record::read::{Cursors, Ring, RingError};
use chronoscope_record::{self as record, Class, Correlator, Guard, Started, class};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;
use support::run;

static CLASSES: [Class; 4] = [class!("a"), class!("b"), class!("c"), class!("d", process_cpu)];
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[test]
fn child_entry() {
    match support::asked_for().as_deref() {
        Some("trees") => trees(),
        Some("some") => some(),
        _ => {}
    }
}

/// One step of a program.
#[derive(Clone, Debug)]
enum Step {
    Begin(usize),
    /// Under the token of the transaction that ended or was sent last but so many.
    BeginWith(usize, usize),
    End(Status),
    Start(usize),
    Stop(usize, Status),
    /// Ends the outermost, and with it everything.
    EndAll,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let status = (0u8..4).prop_map(Status::from_number);
    let step = prop_oneof![
        4 => (0usize..4).prop_map(Step::Begin),
        2 => (0usize..4, 0usize..9).prop_map(|(class, back)| Step::BeginWith(class, back)),
        4 => status.clone().prop_map(Step::End),
        1 => (0usize..4).prop_map(Step::Start),
        1 => (0usize..9, status).prop_map(|(which, status)| Step::Stop(which, status)),
        1 => Just(Step::EndAll),
    ];
    prop::collection::vec(step, 1..120)
}

/// The expected transaction in the ring.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    id: TransactionId,
    parent: TransactionId,
    chain: ChainId,
    classes: Vec<ClassId>,
    status: Status,
}

impl Expected {
    fn of(token: &Correlator, class: usize, parent: Option<&Self>) -> Self {
        let mut classes = parent.map(|parent| parent.classes.clone()).unwrap_or_default();
        classes.push(ClassId::of("TEST", NAMES[class]));
        let id = token.parent();
        let chain = parent.map_or(token.chain(), |parent| parent.chain);
        let parent = parent.map_or(TransactionId::NONE, |parent| parent.id);
        Self { id, parent, chain, classes, status: Status::Good }
    }
}

#[derive(Default)]
struct Program {
    open: Vec<(Guard, Expected)>,
    started: Vec<(Started, Expected)>,
    sent: Vec<(Vec<u8>, Expected)>,
    ended: Vec<Expected>,
}

impl Program {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Begin(class) if self.open.len() < 60 => {
                let guard = CLASSES[class].begin();
                self.push(guard, class, self.open.last().map(|(_, e)| e.clone()));
            }
            Step::BeginWith(class, back) if !self.sent.is_empty() && self.open.len() < 60 => {
                let (bytes, parent) = &self.sent[self.sent.len() - 1 - back % self.sent.len()];
                let guard = CLASSES[class].begin_with(&Correlator::decode(bytes).unwrap());
                self.push(guard, class, Some(parent.clone()));
            }
            Step::End(status) => {
                if let Some((guard, mut expected)) = self.open.pop() {
                    self.sent.push((guard.correlator().to_bytes(512).to_vec(), expected.clone()));
                    guard.stop(status);
                    expected.status = status;
                    self.ended.push(expected);
                }
            }
            Step::Start(class) => {
                let started = CLASSES[class].start();
                let parent = self.open.last().map(|(_, expected)| expected);
                let expected = Expected::of(&started.correlator(), class, parent);
                self.started.push((started, expected));
            }
            Step::Stop(which, status) if !self.started.is_empty() => {
                let (started, mut expected) = self.started.swap_remove(which % self.started.len());
                self.sent.push((started.correlator().to_bytes(512).to_vec(), expected.clone()));
                started.stop(status);
                expected.status = status;
                self.ended.push(expected);
            }
            Step::EndAll => self.end_all(),
            _ => {}
        }
    }

    fn push(&mut self, guard: Guard, class: usize, parent: Option<Expected>) {
        let expected = Expected::of(&guard.correlator(), class, parent.as_ref());
        self.open.push((guard, expected));
    }

    /// The outermost guard goes first: those inside end with it, innermost first, ABORTED.
    fn end_all(&mut self) {
        let count = self.open.len();
        let all = std::mem::take(&mut self.open);
        let (guards, mut expected): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        drop(guards); // a vector drops its elements in order
        expected.iter_mut().skip(1).for_each(|inner| inner.status = Status::Aborted);
        expected.reverse();
        self.ended.extend(expected);
        assert!(self.open.is_empty() && record::current().is_none(), "{count} were open");
    }
}

fn trees() {
    record::init("TEST");
    let ring = Ring::open(&record::ring_path().unwrap()).unwrap();
    let reader = RefCell::new((ring, Cursors::default()));
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&steps(), |steps| {
            let mut program = Program::default();
            steps.iter().for_each(|step| program.step(step));
            program.end_all();
            for (started, mut expected) in program.started.drain(..) {
                drop(started);
                expected.status = Status::Aborted;
                program.ended.push(expected);
            }
            let (ring, cursors) = &mut *reader.borrow_mut();
            check(ring, cursors, &program.ended)
        })
        .unwrap();
    println!("cases=300");
}

fn check(ring: &mut Ring, cursors: &mut Cursors, ended: &[Expected]) -> Result<(), TestCaseError> {
    let mut batch = Batch::default();
    ring.drain(cursors, usize::MAX, &mut batch).unwrap();
    ring.refresh_names().unwrap();
    prop_assert_eq!(batch.len(), ended.len());
    for (record, expected) in batch.records().iter().zip(ended) {
        let read = Expected {
            id: record.id,
            parent: record.parent,
            chain: record.chain(),
            classes: expected.classes.clone(),
            status: record.status(),
        };
        prop_assert_eq!(&read, expected);
        prop_assert_eq!(record.path, PathId::of(&expected.classes));
        prop_assert_eq!(usize::from(record.level) + 1, expected.classes.len());
        prop_assert!(record.cpu_ns <= record.elapsed_ns);
        prop_assert!(record.root_start_ns <= record.start_ns + 1_000);
        // Readers get the path's classes, with a gap where a token has lost its middle.
        let known = ring.names().path(record.path).unwrap();
        prop_assert_eq!(known.first(), expected.classes.first());
        prop_assert_eq!(known.last(), expected.classes.last());
        if expected.classes.len() < 29 {
            prop_assert_eq!(known, &expected.classes[..]);
        }
    }
    prop_assert!(ring.open_transactions().unwrap().is_empty());
    Ok(())
}

#[test]
fn the_ring_says_what_the_program_did() {
    let ran = run("trees");
    assert!(ran.status.success(), "{}{}", ran.said, ran.complained);
    assert_eq!(ran.value("cases"), "300");
}

fn some() {
    record::init("TEST");
    for number in 0..40 {
        let mut a = CLASSES[0].begin();
        a.metric("number", f64::from(number));
        drop(CLASSES[1].begin());
    }
    let open = CLASSES[2].begin();
    std::mem::forget(CLASSES[3].start_with(&open.correlator()));
    std::mem::forget(open);
    support::leave_at_once();
}

/// Everything that can be asked of a ring.
fn ask_everything(bytes: Vec<u8>) -> Result<usize, RingError> {
    let mut ring = Ring::from_bytes(bytes)?;
    let mut batch = Batch::default();
    ring.drain(&mut Cursors::default(), 100_000, &mut batch)?;
    ring.last(10)?;
    let statistics = ring.statistics()?;
    let open = ring.open_transactions()?;
    ring.counters()?;
    for record in batch.records() {
        chronoscope_model::Transaction::from_record(record, batch.context(record), ring.names());
    }
    Ok(batch.len() + statistics.len() + open.len())
}

/// Somebody scribbles on a ring or cuts it: an error with a position, or numbers that are wrong;
/// never a panic, a hang, or more memory than the ring is long.
#[test]
fn a_damaged_ring_is_refused_or_read() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let status = support::command("some", folder.path()).output().unwrap().status;
    assert!(status.success());
    let path = chronoscope_record::read::find_rings(folder.path()).remove(0);
    let bytes = std::fs::read(path).unwrap();
    assert!(ask_everything(bytes.clone()).unwrap() >= 84);
    // Damage goes where something is: most of a ring is zero.
    let used: Vec<usize> = (0..bytes.len() / 8)
        .filter(|word| bytes[word * 8..word * 8 + 8] != [0; 8])
        .map(|word| word * 8)
        .collect();
    let word = prop_oneof![Just(u64::MAX), Just(0), Just(1 << 31), 0u64..5000, any::<u64>()];
    let place =
        prop_oneof![prop::sample::select(used), (0..bytes.len() / 8).prop_map(|word| word * 8)];
    let damage = prop::collection::vec((place, word), 1..4);
    let cut = prop_oneof![4 => Just(bytes.len()), 1 => 0..bytes.len()];
    let mut runner =
        TestRunner::new(Config { cases: 600, failure_persistence: None, ..Config::default() });
    let mut refused = 0;
    runner
        .run(&(damage, cut), |(damage, cut)| {
            let mut bytes = bytes.clone();
            for (at, word) in damage {
                bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            }
            bytes.truncate(cut);
            if let Err(error) = ask_everything(bytes) {
                let text = error.to_string();
                prop_assert!(text.starts_with("byte "), "{}", text);
            }
            Ok(())
        })
        .unwrap();
    for cut in (0..bytes.len()).step_by(bytes.len() / 50) {
        refused += u32::from(ask_everything(bytes[..cut].to_vec()).is_err());
    }
    assert!(refused > 40, "{refused} of 51 cut rings were refused");
}
