//! The durations of chains: the worked examples of their definitions, and random trees with
//! missing rows against the definitions evaluated by brute force.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_chain::{
    Assembler, CarriedAncestors, Counts, Evaluator, Hop, LeafLevel, Paths, Run, Selection, merge,
};
use chronoscope_model::{ChainId, ClassId, TransactionId};
use proptest::prelude::*;
use std::collections::HashSet;

/// A chain's rows under test, and the questions that a test asks of it.
struct Rows {
    hops: Vec<Hop>,
    /// What correlators carried: the true path and the root's start; `None` for foreign rows.
    told: Vec<Option<(Vec<ClassId>, i64)>>,
}

fn classes(ids: &[u64]) -> HashSet<ClassId> {
    ids.iter().map(|id| ClassId(*id)).collect()
}

fn hop(id: u64, parent: u64, class: u64, start_ns: i64, elapsed_ns: u64) -> Hop {
    let (id, parent) = (TransactionId(id), TransactionId(parent));
    Hop { id, parent, class: ClassId(class), start_ns, elapsed_ns }
}

impl Rows {
    fn foreign(hops: Vec<Hop>) -> Self {
        Self { told: vec![None; hops.len()], hops }
    }

    /// Durations, ascending, with the counts.
    fn ask(&self, selection: Selection, apcd: bool) -> (Vec<u64>, Counts) {
        let (mut paths, mut assembler) = (Paths::default(), Assembler::default());
        let mut evaluator = Evaluator::new(selection);
        let mut durations = Vec::new();
        let told: Vec<Option<CarriedAncestors>> = self
            .told
            .iter()
            .map(|told| {
                let (path, root_start_ns) = told.as_ref()?;
                let level = u16::try_from(path.len() - 1).unwrap();
                Some(CarriedAncestors {
                    path: paths.of(path),
                    level,
                    root_start_ns: *root_start_ns,
                })
            })
            .collect();
        let chain = assembler.assemble(&self.hops, |index| told[index], &mut paths);
        let each = |found: chronoscope_chain::ChainDuration| durations.push(found.duration_ns);
        if apcd {
            evaluator.apcd(&chain, &paths, each);
        } else {
            evaluator.acpd(&chain, &paths, each);
        }
        durations.sort_unstable();
        (durations, evaluator.counts)
    }

    fn acpd(&self, root: u64, leaf: Option<&[u64]>, level: LeafLevel) -> (Vec<u64>, Counts) {
        self.ask(selection(root, leaf, level), false)
    }

    fn apcd(&self, root: u64) -> (Vec<u64>, Counts) {
        self.ask(selection(root, None, LeafLevel::Any), true)
    }
}

fn selection(root: u64, leaf: Option<&[u64]>, level: LeafLevel) -> Selection {
    let root_start_ns = i64::MIN..i64::MAX;
    Selection { roots: classes(&[root]), leaves: leaf.map(classes), level, root_start_ns }
}

/// Image 7: a chain of three that do not wait for each other.
#[test]
fn apcd_of_three_in_a_row() {
    let (t1, t2, t3, dt3) = (100, 130, 170, 25);
    let rows =
        Rows::foreign(vec![hop(1, 0, 1, t1, 40), hop(2, 1, 2, t2, 20), hop(3, 2, 3, t3, dt3)]);
    assert_eq!(rows.apcd(3).0, [dt3]); // a leaf's APCD is its own duration
    assert_eq!(rows.apcd(2).0, [65]); // (t3 + Δt3) − t2
    assert_eq!(rows.apcd(1).0, [95]); // (t3 + Δt3) − t1
}

/// Image 8: T1 has the child T2, and T2 the leaves T3 and T4.
#[test]
fn acpd_of_two_leaves() {
    let (t1, t3, dt3, t4, dt4) = (100, 150, 30, 160, 70);
    let rows = Rows::foreign(vec![
        hop(1, 0, 1, t1, 20),
        hop(2, 1, 2, 125, 10),
        hop(3, 2, 3, t3, dt3),
        hop(4, 2, 4, t4, dt4),
    ]);
    assert_eq!(rows.acpd(1, Some(&[4]), LeafLevel::Any).0, [130]); // (t4 − t1) + Δt4
    assert_eq!(rows.acpd(1, Some(&[3]), LeafLevel::Any).0, [80]); // (t3 − t1) + Δt3
    assert_eq!(rows.acpd(1, None, LeafLevel::Any).0, [80, 130], "as many as there are leaves");
    // ACPD T2/T4: a direct child is at level 1.
    assert_eq!(rows.acpd(2, Some(&[4]), LeafLevel::Exactly(1)).0, [105]);
    assert!(rows.acpd(1, Some(&[4]), LeafLevel::Exactly(1)).0.is_empty());
    // The leaf class need not be childless: T1 to T2.
    assert_eq!(rows.acpd(1, Some(&[2]), LeafLevel::Exactly(1)).0, [35]);
    assert_eq!(rows.apcd(1).0, [130], "T4 starts last");
}

/// The last leaf is the one that *starts* last, even where another ends later.
#[test]
fn the_last_leaf_starts_last() {
    let rows = Rows::foreign(vec![hop(1, 0, 1, 0, 5), hop(2, 1, 2, 10, 500), hop(3, 1, 2, 20, 5)]);
    assert_eq!(rows.apcd(1).0, [25]);
}

/// Normal mode ends at level 4 and averaging mode at level 5.
#[test]
fn levels_tell_the_modes_apart() {
    let rows = Rows::foreign(vec![
        hop(1, 0, 1, 0, 5),
        hop(2, 1, 2, 1, 1),
        hop(3, 2, 3, 3, 1),
        hop(4, 3, 4, 5, 1),
        hop(5, 4, 9, 7, 1), // redraw, normal
        hop(6, 3, 4, 6, 1),
        hop(7, 6, 5, 7, 1),   // averaging
        hop(8, 7, 9, 400, 3), // redraw, averaged
    ]);
    assert_eq!(rows.acpd(1, Some(&[9]), LeafLevel::Any).0, [8, 403]);
    assert_eq!(rows.acpd(1, Some(&[9]), LeafLevel::Exactly(4)).0, [8]);
    assert_eq!(rows.acpd(1, Some(&[9]), LeafLevel::Exactly(5)).0, [403]);
    assert_eq!(rows.acpd(3, Some(&[9]), LeafLevel::Exactly(2)).0, [5], "an inner root");
}

#[test]
fn what_is_missing_is_counted() {
    // The middle, 2, is missing.
    let hops = vec![hop(1, 0, 1, 0, 5), hop(3, 2, 3, 30, 5)];
    let foreign = Rows::foreign(hops.clone());
    let (durations, counts) = foreign.acpd(1, Some(&[3]), LeafLevel::Any);
    assert_eq!((durations, counts.root_missing), (vec![], 1));
    let path = |ids: &[u64]| ids.iter().map(|id| ClassId(*id)).collect::<Vec<_>>();
    let told = vec![Some((path(&[1]), 0)), Some((path(&[1, 2, 3]), 0))];
    let native = Rows { hops, told };
    let (durations, counts) = native.acpd(1, Some(&[3]), LeafLevel::Exactly(2));
    assert_eq!((durations, counts.used, counts.incomplete), (vec![35], 1, 1));
    let (durations, counts) = native.acpd(2, Some(&[3]), LeafLevel::Any);
    assert_eq!(
        (durations, counts.root_missing),
        (vec![], 1),
        "the inner root's start is not known"
    );
    // All are below the only root, so that its APCD is known all the same.
    for rows in [&foreign, &native] {
        let (durations, counts) = rows.apcd(1);
        assert_eq!((durations, counts.incomplete), (vec![35], 1));
    }
}

#[test]
fn clocks_that_disagree_are_counted() {
    let rows = Rows::foreign(vec![
        hop(1, 0, 1, 1000, 5),
        hop(2, 1, 2, 900, 150), // before its parent, and its end is after the root's start
        hop(3, 1, 3, 900, 50),  // over before the root begins
    ]);
    let (durations, counts) = rows.acpd(1, None, LeafLevel::Any);
    assert_eq!(durations, [50]);
    assert_eq!((counts.used, counts.before_parent, counts.negative), (1, 1, 1));
}

#[test]
fn a_doubled_row_counts_once() {
    let rows = Rows::foreign(vec![hop(1, 0, 1, 0, 5), hop(2, 1, 2, 10, 5), hop(2, 1, 2, 10, 5)]);
    let (durations, counts) = rows.acpd(1, None, LeafLevel::Any);
    assert_eq!((durations, counts.duplicates), (vec![15], 1));
    assert_eq!(rows.apcd(1).0, [15]);
}

/// A random tree: for every row its parent among the earlier ones, its class, start, elapsed, and
/// whether its row is missing.
fn tree() -> impl Strategy<Value = Vec<(usize, u64, i64, u64, bool)>> {
    let row = (any::<usize>(), 1u64..5, 0i64..60, 0u64..20, prop::bool::weighted(0.15));
    prop::collection::vec(row, 1..40)
}

/// The tree as it was, before rows went missing.
struct Truth {
    hops: Vec<Hop>,
    parents: Vec<Option<usize>>,
    present: Vec<bool>,
}

impl Truth {
    fn of(tree: &[(usize, u64, i64, u64, bool)]) -> Self {
        let mut truth = Self { hops: Vec::new(), parents: Vec::new(), present: Vec::new() };
        for (index, (parent, class, start, elapsed, missing)) in tree.iter().enumerate() {
            let parent = (index > 0).then(|| parent % index);
            let id = |index: usize| index as u64 + 1;
            truth.hops.push(hop(id(index), parent.map_or(0, id), *class, *start, *elapsed));
            truth.parents.push(parent);
            truth.present.push(!missing);
        }
        truth
    }

    /// The row and its ancestors, nearest first.
    fn way(&self, index: usize) -> Vec<usize> {
        std::iter::successors(Some(index), |at| self.parents[*at]).collect()
    }

    fn rows(&self, native: bool) -> Rows {
        let mut rows = Rows { hops: Vec::new(), told: Vec::new() };
        for index in (0..self.hops.len()).filter(|index| self.present[*index]) {
            let way = self.way(index);
            let path = way.iter().rev().map(|at| self.hops[*at].class).collect();
            rows.hops.push(self.hops[index]);
            rows.told.push(native.then_some((path, self.hops[0].start_ns)));
        }
        rows
    }

    fn is_leaf(&self, index: usize) -> bool {
        let named = |child: usize| self.present[child] && self.parents[child] == Some(index);
        self.present[index] && !(0..self.hops.len()).any(named)
    }

    /// ACPD by the definition: the outermost ancestor of the class, or the one at the level. For
    /// foreign rows everything on the way has to be there; for native ones the root's row, unless
    /// it is the chain's root.
    fn acpd(
        &self,
        root: u64,
        leaf: Option<u64>,
        level: LeafLevel,
        native: bool,
    ) -> (Vec<u64>, u64) {
        let (mut durations, mut negative) = (Vec::new(), 0);
        for index in (0..self.hops.len()).filter(|index| self.present[*index]) {
            let fits = leaf.map_or(self.is_leaf(index), |class| self.hops[index].class.0 == class);
            let mut way = self.way(index);
            if !native {
                let whole = way.iter().take_while(|at| self.present[**at]).count();
                way.truncate(whole);
            }
            let mut fitting = way.iter().enumerate().filter(|(steps, at)| {
                let at_level = match level {
                    LeafLevel::Any => *steps > 0,
                    LeafLevel::Exactly(exactly) => *steps == usize::from(exactly),
                };
                at_level && self.hops[**at].class.0 == root
            });
            let Some((steps, root)) = fitting.next_back().filter(|_| fits) else { continue };
            let between = way[..=steps].iter().all(|at| self.present[*at]);
            let carried = native && *root == 0;
            if !between && !carried {
                continue;
            }
            let end =
                self.hops[index].start_ns + i64::try_from(self.hops[index].elapsed_ns).unwrap();
            match u64::try_from(end - self.hops[*root].start_ns) {
                Ok(duration) => durations.push(duration),
                Err(_) => negative += 1,
            }
        }
        durations.sort_unstable();
        (durations, negative)
    }

    /// APCD by the definition, of complete trees.
    fn apcd(&self, root: u64) -> Vec<u64> {
        let mut durations = Vec::new();
        for root in (0..self.hops.len()).filter(|index| self.hops[*index].class.0 == root) {
            let below = (0..self.hops.len()).filter(|at| self.way(*at).contains(&root));
            let leaves = below.filter(|at| self.is_leaf(*at)).map(|at| self.hops[at]);
            let last = leaves.max_by_key(|hop| (hop.start_ns, hop.elapsed_ns)).unwrap();
            durations.extend(u64::try_from(last.end_ns() - self.hops[root].start_ns));
        }
        durations.sort_unstable();
        durations
    }
}

fn level() -> impl Strategy<Value = LeafLevel> {
    prop_oneof![Just(LeafLevel::Any), (0u16..6).prop_map(LeafLevel::Exactly)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn acpd_is_its_definition(
        tree in tree(), root in 1u64..5, leaf in prop::option::of(1u64..5), level in level(),
        native in any::<bool>(),
    ) {
        let truth = Truth::of(&tree);
        let leaves = leaf.map(|leaf| [leaf]);
        let leaves = leaves.as_ref().map(|leaf| leaf.as_slice());
        let (durations, counts) = truth.rows(native).acpd(root, leaves, level);
        let (expected, negative) = truth.acpd(root, leaf, level, native);
        prop_assert_eq!(&durations, &expected);
        prop_assert_eq!((counts.used, counts.negative), (expected.len() as u64, negative));
        if !tree.iter().any(|row| row.4) {
            prop_assert_eq!((counts.incomplete, counts.root_missing, counts.duplicates), (0, 0, 0));
        }
    }

    #[test]
    fn apcd_is_its_definition(tree in tree(), root in 1u64..5, native in any::<bool>()) {
        let mut truth = Truth::of(&tree);
        truth.present.fill(true);
        prop_assert_eq!(truth.rows(native).apcd(root).0, truth.apcd(root));
    }

    /// Rows spread over several runs, in any order, give the durations of the whole.
    #[test]
    fn spread_over_runs_it_is_the_same(tree in tree(), root in 1u64..5, places in any::<u64>()) {
        let rows = Truth::of(&tree).rows(false);
        let mut runs = vec![Run::default(), Run::default(), Run::default()];
        for (index, hop) in rows.hops.iter().enumerate().rev() {
            let place = places.rotate_left(u32::try_from(index).unwrap()) % 3;
            runs[usize::try_from(place).unwrap()].push(ChainId(5), *hop, None);
        }
        let mut durations = Vec::new();
        merge(&runs, |_, rows| {
            durations = Rows::foreign(rows.hops.clone()).acpd(root, None, LeafLevel::Any).0;
        });
        prop_assert_eq!(durations, rows.acpd(root, None, LeafLevel::Any).0);
    }
}
