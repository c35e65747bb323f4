//! Durations over several parents, from a store in each of its forms: log, segments, and both.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

#[path = "../../store/tests/support/mod.rs"]
mod support;

use chronoscope_chain::VerdictState;
use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Batch, ClassId, Flags, FurtherParent, ParentRoot, PathId, ProcessId, Record, TransactionId,
};
use chronoscope_query::{
    FanInAnswer, InputCase, Limits, Progress, QueryError, Question, Required, VerdictSubject,
    ask_inputs,
};
use chronoscope_store::{Append, MINUTE_NS, Options, Snapshot, Store};
use std::path::Path;
use support::{Chains, open, push};

const MINUTE: i64 = 100;
const START_NS: i64 = MINUTE * MINUTE_NS;
const MS: i64 = 1_000_000;
const PRODUCERS: usize = 5;

/// Roots of five chains, and a consumer below the first that takes messages of all.
struct Batched {
    chains: Chains,
    roots: Vec<Record>,
    consumer: Record,
}

impl Batched {
    fn new() -> Self {
        let mut chains = Chains::default();
        let rows: Vec<Vec<Record>> =
            (0..PRODUCERS).map(|n| chains.chain(START_NS + n as i64 * 100 * MS)).collect();
        let roots: Vec<Record> = rows.iter().map(|rows| rows[0]).collect();
        let leaf = rows[0].last().unwrap();
        let consumer = Record {
            id: TransactionId(1 << 40),
            parent: roots[0].id,
            start_ns: START_NS + 700 * MS,
            elapsed_ns: 50 * MS as u64,
            flags: leaf.flags | Flags::FURTHER_PARENTS.0,
            ..*leaf
        };
        Self { chains, roots, consumer }
    }

    /// Stores roots and consumer, which has `links`.
    fn store(&self, dir: &Path, form: fn(Record) -> Record, links: &[FurtherParent]) -> Store {
        let mut batch = Batch::default();
        self.roots.iter().for_each(|root| push(&mut batch, form(*root)));
        let mut bytes = [0; 1024];
        let len = links.iter().fold(0, |len, link| {
            context::append(&mut bytes, len, ContextEntry::Parent(*link)).unwrap()
        });
        batch.push(form(self.consumer), &bytes[..len]);
        let store = open(dir, Options::default(), MINUTE);
        // All sources have delivered everything.
        let delivered: Vec<(ProcessId, i64)> =
            self.chains.names.processes().map(|(id, _)| (id, START_NS + MINUTE_NS)).collect();
        let input = Append {
            batch: Some(&batch),
            names: Some(&self.chains.names),
            delivered: &delivered,
            ..Append::default()
        };
        store.append(&input, START_NS).unwrap();
        store.sync().unwrap();
        store
    }

    fn class(&self, class: ClassId) -> String {
        self.chains.names.classes().find(|(id, _)| *id == class).unwrap().1.to_string()
    }

    fn question(&self) -> Question {
        let (root, leaf) = (self.class(self.roots[0].class), self.class(self.consumer.class));
        Question { limit_ns: Some(1_000_000_000), points: true, ..Question::acpd(&root, &leaf) }
    }

    fn ask(&self, dir: &Path, case: InputCase) -> FanInAnswer {
        let snapshot = Snapshot::open(dir).unwrap();
        let (limits, progress) = (Limits::default(), Progress::default());
        ask_inputs(&snapshot, &self.question(), case, &limits, &progress).unwrap()
    }
}

fn native(record: Record) -> Record {
    record
}

/// The same row without ancestors.
fn foreign(record: Record) -> Record {
    let flags = record.flags | Flags::FOREIGN.0;
    let (path, root_process) = (PathId::NONE, ProcessId::NONE);
    Record { flags, path, root_process, root_start_ns: record.start_ns, level: 0, ..record }
}

fn plain(root: &Record) -> FurtherParent {
    FurtherParent { chain: root.chain(), id: root.id, root: None }
}

fn durations_ms(found: &FanInAnswer) -> Vec<u64> {
    found.answer.durations_ns.iter().map(|ns| ns / MS as u64).collect()
}

#[test]
fn a_batch_has_a_duration_for_each_message() {
    let batched = Batched::new();
    let links: Vec<FurtherParent> = batched.roots[1..].iter().map(plain).collect();
    for form in [native, foreign] {
        let dir = tempfile::tempdir().unwrap();
        let store = batched.store(dir.path(), form, &links);
        let check = || {
            let all = batched.ask(dir.path(), InputCase::All);
            assert_eq!(durations_ms(&all), [350, 450, 550, 650, 750]);
            assert_eq!((all.links, all.unknown_inputs, all.answer.rows_read), (4, 0, 6));
            assert_eq!(all.answer.verdict.unwrap().count, 5);
            let chain = batched.consumer.chain();
            assert!(all.slowest.iter().all(|(_, of)| *of == chain));
            assert_eq!(all.slowest[0].0.start_ns, START_NS);
            assert_eq!(durations_ms(&batched.ask(dir.path(), InputCase::Best)), [350]);
            assert_eq!(durations_ms(&batched.ask(dir.path(), InputCase::Worst)), [750]);
            let age = batched.ask(dir.path(), InputCase::Age);
            assert_eq!(durations_ms(&age), [300, 400, 500, 600, 700]);
        };
        check();
        store.seal_all(START_NS).unwrap();
        check();
        drop(store);
        let _store = open(dir.path(), Options::default(), MINUTE + 1);
        check();
    }
}

/// A root that is not in the store: a native link says when it started, a foreign one does not.
#[test]
fn an_input_that_is_not_there() {
    let mut batched = Batched::new();
    let gone = batched.roots.remove(4);
    let carried = |root: &Record| {
        let (start_ns, process, path) = (root.start_ns, root.process, root.path);
        FurtherParent {
            root: Some(ParentRoot { start_ns, process, level: 0, path }),
            ..plain(root)
        }
    };
    let best = |last: FurtherParent| {
        let mut links: Vec<FurtherParent> = batched.roots[1..].iter().map(carried).collect();
        links.push(last);
        let dir = tempfile::tempdir().unwrap();
        let store = batched.store(dir.path(), native, &links);
        let from_the_log = durations_ms(&batched.ask(dir.path(), InputCase::Best));
        store.seal_all(START_NS).unwrap();
        let found = batched.ask(dir.path(), InputCase::Best);
        assert_eq!(durations_ms(&found), from_the_log);
        assert_eq!(found.links, 4);
        found
    };
    let known = best(carried(&gone));
    assert_eq!((durations_ms(&known), known.unknown_inputs), (vec![350], 0));
    let unknown = best(plain(&gone));
    assert_eq!((durations_ms(&unknown), unknown.unknown_inputs), (vec![450], 1));
    assert_eq!(unknown.counts.incomplete, 1);
    assert_eq!(unknown.answer.verdict.unwrap().state(), VerdictState::Undetermined);
}

#[test]
fn more_rows_than_memory_holds_are_refused() {
    let batched = Batched::new();
    let dir = tempfile::tempdir().unwrap();
    let _store = batched.store(dir.path(), native, &[]);
    let snapshot = Snapshot::open(dir.path()).unwrap();
    let limits = Limits { memory_bytes: 1024, ..Limits::default() };
    let asked =
        ask_inputs(&snapshot, &batched.question(), InputCase::All, &limits, &Progress::default());
    let Err(error @ QueryError::TooManyRows { .. }) = asked else { panic!("{asked:?}") };
    assert!(error.to_string().contains("6 rows to join"), "{error}");
}

impl Batched {
    fn judged(&self, dir: &Path, judged: VerdictSubject) -> FanInAnswer {
        let snapshot = Snapshot::open(dir).unwrap();
        let (limits, progress) = (Limits::default(), Progress::default());
        let question = Question { judged, ..self.question() };
        ask_inputs(&snapshot, &question, InputCase::All, &limits, &progress).unwrap()
    }
}

const EACH_ROOT: VerdictSubject =
    VerdictSubject::Roots { required: Required::AtLeast(1), receivers: None, timeout_ns: None };

/// A verdict on roots follows links: a root that a batch took has arrived, one that none took has
/// not, and with something unknown above a leaf nobody can tell.
#[test]
fn a_root_arrives_over_a_link() {
    let batched = Batched::new();
    let links: Vec<FurtherParent> = batched.roots[1..].iter().map(plain).collect();
    let nowhere = FurtherParent { id: TransactionId(77), ..links[3] };
    let cases: [(&[FurtherParent], u64, u64, VerdictState); 4] = [
        (&links, 5, 0, VerdictState::Holds),
        (&links[..3], 4, 1, VerdictState::DoesNotHold),
        // A transaction of the last chain that is not in the store.
        (&[links[0], links[1], links[2], nowhere], 4, 0, VerdictState::Undetermined),
        // Links without room in the context: of any chain.
        (&[], 1, 0, VerdictState::Undetermined),
    ];
    for form in [native, foreign] {
        for (links, arrived, missing, state) in cases {
            let dir = tempfile::tempdir().unwrap();
            let store = batched.store(dir.path(), form, links);
            let check = || {
                for judged in [EACH_ROOT, VerdictSubject::Described] {
                    let found = batched.judged(dir.path(), judged).answer;
                    let arrivals = found.arrivals.unwrap();
                    assert_eq!(arrivals.totals.roots, 5);
                    assert_eq!(
                        (arrivals.totals.arrived, arrivals.totals.missing),
                        (arrived, missing)
                    );
                    assert_eq!(arrivals.named.len() as u64, 5 - arrived);
                    // What is described is the leaves that are there: it does not hold while a
                    // root is missing, and is not violated by it.
                    let state = match (judged, state) {
                        (VerdictSubject::Described, VerdictState::DoesNotHold) => {
                            VerdictState::Undetermined
                        }
                        _ => state,
                    };
                    assert_eq!(found.verdict.unwrap().state(), state, "{judged:?} {links:?}");
                }
            };
            check();
            store.seal_all(START_NS).unwrap();
            check();
        }
    }
}

/// The best and the worst input say nothing about roots: their verdict is on leaves.
#[test]
fn the_best_input_has_no_arrivals() {
    let batched = Batched::new();
    let dir = tempfile::tempdir().unwrap();
    let links: Vec<FurtherParent> = batched.roots[1..4].iter().map(plain).collect();
    let _store = batched.store(dir.path(), native, &links);
    let found = batched.ask(dir.path(), InputCase::Best).answer;
    assert!(found.arrivals.is_none());
    assert_eq!(found.verdict.unwrap().state(), VerdictState::Holds);
}
