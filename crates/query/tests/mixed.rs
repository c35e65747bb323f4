//! Chains that go from native rows to foreign ones, and on.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod world;

use chronoscope_chain::{
    Assembler, CarriedAncestors, Chain, Counts, Evaluator, Hop, LeafLevel, Paths, Selection,
};
use chronoscope_model::{
    ClassId, ClassName, Flags, NO_PROCESS_CPU, Names, PathId, Record, TransactionId,
};
use chronoscope_query::{Answer, DurationKind, Limits, Question, ask};
use chronoscope_store::{MINUTE_NS, Snapshot};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use world::World;

const NATIVE: bool = false;
const FOREIGN: bool = true;
const T: i64 = 100 * MINUTE_NS;

/// A row: its id, its parent's, its class, whether it is foreign, its start and its duration.
type Row = (u64, u64, &'static str, bool, i64, u64);

fn class(name: &str) -> ClassId {
    ClassId::of("X", name)
}

/// A world of these chains; native rows know all their ancestors, of whatever kind.
fn world(chains: &[&[Row]]) -> World {
    let mut names = Names::default();
    let mut records = Vec::new();
    for (chain, rows) in (1..).zip(chains) {
        for (id, parent, name, foreign, start_ns, elapsed_ns) in *rows {
            names.add_class(ClassName { application: "X".into(), class: (*name).into() });
            let above = |id: u64| rows.iter().find(|row| row.0 == id);
            let up = std::iter::successors(above(*id), |row| above(row.1));
            let way: Vec<_> = up.collect();
            let classes: Vec<_> = way.iter().rev().map(|row| class(row.2)).collect();
            let root_start_ns = way.last().map_or(*start_ns, |row| row.4);
            let path = if *foreign { PathId::NONE } else { PathId::of(&classes) };
            if !foreign {
                names.add_path(path, classes);
            }
            records.push(Record {
                start_ns: T + start_ns,
                elapsed_ns: *elapsed_ns,
                process_cpu_ns: NO_PROCESS_CPU,
                chain_high: 0,
                chain_low: chain,
                id: TransactionId(chain * 1000 + id),
                parent: TransactionId(if *parent == 0 { 0 } else { chain * 1000 + parent }),
                class: class(name),
                path,
                root_start_ns: T + if *foreign { *start_ns } else { root_start_ns },
                level: if *foreign { 0 } else { way.len() as u16 - 1 },
                flags: if *foreign { Flags::FOREIGN.0 } else { 0 },
                ..Record::default()
            });
        }
    }
    World::of(names, records)
}

/// How rows may lie: sealed, in parts, half sealed, not sealed.
const WAYS: [(&str, &[f64], bool); 4] = [
    ("sealed", &[1.0], true),
    ("in parts", &[0.4, 0.3, 0.3], true),
    ("half sealed", &[0.5, 0.5], false),
    ("unsealed", &[1.0], false),
];

/// Asks in every way, with much and with little memory.
fn ask_all(world: &World, question: &Question, mut check: impl FnMut(&Answer, &str)) {
    for (way, shares, sealed) in WAYS {
        let dir = tempfile::tempdir().unwrap();
        world.store(dir.path(), shares, sealed);
        let snapshot = Snapshot::open(dir.path()).unwrap();
        let little = Limits { threads: 3, memory_bytes: 2_000, ..Limits::default() };
        for limits in [Limits { threads: 1, ..Limits::default() }, little] {
            check(&ask(&snapshot, question, &limits).unwrap(), way);
        }
    }
}

fn durations(world: &World, question: &Question, expected: &[u64]) {
    ask_all(world, question, |answer, way| {
        assert_eq!(answer.durations_ns, expected, "{question:?}, {way}");
        let Counts { used, incomplete, root_missing, .. } = answer.counts;
        assert_eq!((used, incomplete, root_missing), (expected.len() as u64, 0, 0), "{way}");
    });
}

fn leaves(root: &str) -> Question {
    Question { leaf: None, ..Question::acpd(root, "") }
}

/// A native root, a foreign service, and a native one below it; another chain is native throughout,
/// a third one foreign.
fn there_and_back(gap_ns: i64) -> World {
    let there: &[Row] = &[
        (1, 0, "root", NATIVE, 0, 5),
        (2, 1, "native", NATIVE, 10, 5),
        (3, 1, "span", FOREIGN, 20 + gap_ns, 10),
        (4, 3, "back", NATIVE, 40 + gap_ns, 2),
    ];
    let native: &[Row] = &[(1, 0, "root", NATIVE, 100, 5), (2, 1, "native", NATIVE, 200, 50)];
    let foreign: &[Row] = &[(1, 0, "root", FOREIGN, 300, 5), (2, 1, "span", FOREIGN, 310, 1)];
    world(&[there, native, foreign])
}

#[test]
fn from_native_to_foreign_and_back() {
    for gap_ns in [0, 2 * MINUTE_NS] {
        let gap = gap_ns as u64; // the foreign row lies in its own minute
        let world = there_and_back(gap_ns);
        // 40 + 2; 200 + 50 − 100; 310 + 1 − 300.
        durations(&world, &Question::apcd("root"), &sorted([gap + 42, 150, 11]));
        // Childless below the roots: `native` and `back`, `native`, `span`.
        durations(&world, &leaves("root"), &sorted([15, gap + 42, 150, 11]));
        durations(&world, &Question::acpd("root", "span"), &sorted([gap + 30, 11]));
        durations(&world, &Question::acpd("root", "back"), &[gap + 42]);
        durations(&world, &Question::acpd("span", "back"), &[22]);
        durations(&world, &Question::apcd("span"), &sorted([22, 1]));
        durations(&world, &Question::acpd("root", "native"), &[15, 150]);
    }
}

fn sorted<const N: usize>(mut durations: [u64; N]) -> [u64; N] {
    durations.sort_unstable();
    durations
}

#[test]
fn a_native_row_above_a_foreign_one_is_no_leaf() {
    for gap_ns in [0, MINUTE_NS] {
        let gap = gap_ns as u64;
        let world = world(&[
            &[
                (1, 0, "root", NATIVE, 0, 5),
                (2, 1, "native", NATIVE, 10, 5),
                (3, 2, "span", FOREIGN, 30 + gap_ns, 70),
            ],
            // As long as nothing is below it, the same row is a leaf.
            &[(1, 0, "root", NATIVE, 0, 5), (2, 1, "native", NATIVE, 10, 7)],
        ]);
        durations(&world, &leaves("root"), &[17, gap + 100]);
        durations(&world, &Question::apcd("root"), &[17, gap + 100]);
        durations(&world, &Question::apcd("native"), &[7, gap + 90]);
        durations(&world, &Question::acpd("root", "native"), &[15, 17]);
        let split = Question { split: true, ..leaves("root") };
        durations(&world, &split, &[17, gap + 100]);
        if gap > 0 {
            // The foreign row's own minute: its root started before it, as native rows know.
            let start_ns = T + MINUTE_NS..T + 2 * MINUTE_NS;
            for question in [leaves("root"), Question::apcd("root")] {
                durations(&world, &Question { start_ns: start_ns.clone(), ..question }, &[]);
            }
        }
    }
}

/// The time that is asked for holds for the root, wherever its chain's other rows lie.
#[test]
fn a_chain_belongs_to_the_minute_of_its_root() {
    let world = there_and_back(2 * MINUTE_NS);
    let of = |minute: i64, question: Question| Question {
        start_ns: T + minute * MINUTE_NS..T + (minute + 1) * MINUTE_NS,
        ..question
    };
    let gap = 2 * MINUTE_NS as u64;
    durations(&world, &of(0, Question::apcd("root")), &[11, 150, gap + 42]);
    durations(&world, &of(0, leaves("root")), &[11, 15, 150, gap + 42]);
    durations(&world, &of(2, Question::apcd("root")), &[]);
    durations(&world, &of(2, leaves("root")), &[]);
    durations(&world, &of(2, Question::apcd("span")), &[22]);
    durations(&world, &of(2, Question::acpd("span", "back")), &[22]);
}

/// Every chain grouped whole, with nothing clever.
fn expected(world: &World, question: &Question) -> (Vec<u64>, Counts) {
    let mut chains: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
    for record in &world.records {
        chains.entry(record.chain_low).or_default().push(record);
    }
    let selected = |selector: &chronoscope_query::ClassSelector| -> HashSet<ClassId> {
        let classes = world.names.classes().filter(|(_, name)| selector.selects(name));
        classes.map(|(id, _)| id).collect()
    };
    let mut evaluator = Evaluator::new(Selection {
        roots: selected(&question.root),
        leaves: question.leaf.as_ref().map(selected),
        level: question.level,
        root_start_ns: question.start_ns.clone(),
    });
    let (mut paths, mut durations) = (Paths::default(), Vec::new());
    for records in chains.values() {
        let hops: Vec<Hop> = records.iter().map(|record| Hop::from(*record)).collect();
        let told: Vec<_> = records
            .iter()
            .map(|record| {
                let native = !record.flags().contains(Flags::FOREIGN);
                let path = native.then(|| world.names.path(record.path).unwrap());
                path.map(|classes| CarriedAncestors {
                    path: paths.of(classes),
                    level: record.level,
                    root_start_ns: record.root_start_ns,
                })
            })
            .collect();
        let mut assembler = Assembler::default();
        let chain: Chain<'_> = assembler.assemble(&hops, |row| told[row], &mut paths);
        let each = |found: chronoscope_chain::ChainDuration| durations.push(found.duration_ns);
        match question.kind {
            DurationKind::Apcd => evaluator.apcd(&chain, &paths, each),
            _ => evaluator.acpd(&chain, &paths, each),
        }
    }
    durations.sort_unstable();
    (durations, evaluator.counts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn as_if_everything_were_grouped(
        seed in 0u64..1_000_000,
        kind in 0usize..6,
        minute in any::<bool>(),
        late in any::<bool>(),
    ) {
        let mut world = World::new(seed, 80);
        let mut question = match kind {
            0 => leaves("a"),
            1 => leaves("b"),
            2 => Question::apcd("a"),
            3 => Question::apcd("b"),
            4 => Question::acpd("a", "c"),
            _ => Question { level: LeafLevel::Exactly(1), ..Question::acpd("b", "d") },
        };
        if minute {
            question.start_ns = 101 * MINUTE_NS..102 * MINUTE_NS;
        }
        // Foreign rows in other minutes than their roots.
        let foreign = world.records.iter_mut().filter(|row| row.flags().contains(Flags::FOREIGN));
        for record in foreign.filter(|record| late && record.id.0 % 3 == 0) {
            record.start_ns += MINUTE_NS;
            record.root_start_ns = record.start_ns;
        }
        let (durations, counts) = expected(&world, &question);
        ask_all(&world, &question, |answer, way| {
            assert_eq!(answer.durations_ns, durations, "{question:?}, {way}");
            assert_eq!(answer.counts, counts, "{question:?}, {way}");
        });
    }
}
