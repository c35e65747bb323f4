//! Questions to two real ClickHouse shards while rows come in: a chain is counted once whatever comes
//! between the statements of a question.

#![allow(clippy::unwrap_used)] // helpers of tests
#![allow(dead_code)] // the helpers of other tests have more

mod cluster;

use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_model::{
    Batch, ClassId, ClassName, Flags, NO_PROCESS_CPU, Names, PathId, Record, TransactionId,
};
use chronoscope_query::{ClusterView, Limits, Progress, Question};
use chronoscope_store::MINUTE_NS;
use cluster::Servers;
use std::sync::atomic::{AtomicBool, Ordering};

/// Chains of two native rows each.
const CHAINS: u64 = 4000;
/// Chains whose foreign row one insert brings.
const AT_ONCE: u64 = 50;

fn names() -> Names {
    let mut names = Names::default();
    for class in ["in", "out", "span"] {
        names.add_class(ClassName { application: "A".into(), class: class.into() });
    }
    let [root, leaf] = ["in", "out"].map(|class| ClassId::of("A", class));
    names.add_path(PathId::of(&[root]), vec![root]);
    names.add_path(PathId::of(&[root, leaf]), vec![root, leaf]);
    names
}

/// A row of a chain: the root (0), its child (1), or a span below the root (2), which came from
/// elsewhere.
fn record(chain: u64, row: u64) -> Record {
    let [root, leaf, span] = ["in", "out", "span"].map(|class| ClassId::of("A", class));
    let root_start_ns = 100 * MINUTE_NS + chain.cast_signed() * 1000;
    let start_ns = root_start_ns + row.cast_signed() * 100;
    let of_root = Record {
        start_ns,
        root_start_ns,
        elapsed_ns: 500,
        process_cpu_ns: NO_PROCESS_CPU,
        chain_low: chain + 1,
        id: TransactionId(chain * 10 + row + 1),
        class: root,
        path: PathId::of(&[root]),
        ..Record::default()
    };
    let parent = TransactionId(chain * 10 + 1);
    match row {
        0 => of_root,
        1 => {
            let path = PathId::of(&[root, leaf]);
            Record { class: leaf, path, parent, level: 1, ..of_root }
        }
        _ => Record {
            class: span,
            path: PathId::NONE,
            parent,
            root_start_ns: start_ns,
            flags: Flags::FOREIGN.0,
            ..of_root
        },
    }
}

fn batch(rows: impl Iterator<Item = Record>) -> Batch {
    let mut batch = Batch::default();
    rows.for_each(|row| batch.push(row, b""));
    batch
}

#[test]
fn a_chain_whose_first_foreign_row_comes_is_counted_once() {
    let Some(servers) = Servers::start(2) else { return };
    let cluster = Cluster::new(&servers.url("inflow")).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    let (sink, names) = (ClusterWriter::new(cluster), names());
    let native = (0..CHAINS).flat_map(|chain| [record(chain, 0), record(chain, 1)]);
    sink.insert(&batch(native), &names, 1).unwrap();
    let view = ClusterView::new(Cluster::new(&servers.url("inflow")).unwrap());
    let has_all = AtomicBool::new(false);
    let mut asked = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for from in (0..CHAINS).step_by(usize::try_from(AT_ONCE).unwrap()) {
                let spans = (from..from + AT_ONCE).map(|chain| record(chain, 2));
                sink.insert(&batch(spans), &names, u128::from(from) + 2).unwrap();
            }
            has_all.store(true, Ordering::Relaxed);
        });
        // Durations of whole chains are put together at each question.
        let question = Question::apcd("A::in");
        while !has_all.load(Ordering::Relaxed) {
            let answer = view.ask(&question, &Limits::default(), &Progress::default()).unwrap();
            assert_eq!(answer.counts.used, CHAINS, "{:?}", answer.counts);
            asked += 1;
        }
    });
    assert!(asked > 1);
    let answer = view.ask(&Question::apcd("A::in"), &Limits::default(), &Progress::default());
    let counts = answer.unwrap().counts;
    assert_eq!((counts.used, counts.foreign), (CHAINS, CHAINS));
}
