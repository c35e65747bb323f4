//! Durations with several parents, against the definitions read aloud: all simple ways, one by one.

use chronoscope_chain::fan_in::{
    FanInCounts, FoundDuration, Graph, Input, InputCase, KnownRoot, Options, Row,
};
use chronoscope_chain::{Hop, LeafLevel, Selection};
use chronoscope_model::{ChainId, ClassId, TransactionId};
use proptest::prelude::*;
use std::collections::BTreeSet;

const ROOT: ClassId = ClassId(1);
const LEAF: ClassId = ClassId(3);

fn row(chain: u64, id: u64, parent: u64, class: u64, start_ns: i64, elapsed_ns: u64) -> Row {
    let (id, parent, class) = (TransactionId(id), TransactionId(parent), ClassId(class));
    let hop = Hop { id, parent, class, start_ns, elapsed_ns };
    Row { chain: ChainId::from_halves(0, chain), hop, root: None }
}

fn input(row: usize, chain: u64, id: u64) -> Input {
    Input { row, chain: ChainId::from_halves(0, chain), id: TransactionId(id), root: None }
}

fn selection(level: LeafLevel) -> Selection {
    Selection {
        roots: [ROOT].into(),
        leaves: Some([LEAF].into()),
        level,
        root_start_ns: i64::MIN..i64::MAX,
    }
}

fn ask(
    graph: &Graph,
    level: LeafLevel,
    case: InputCase,
    links_max: u8,
) -> (Vec<FoundDuration>, FanInCounts) {
    let mut found = Vec::new();
    let options = Options { links_max, ..Options::default() };
    let counts = graph.durations(&selection(level), case, options, |one| found.push(one));
    (found, counts.expect("fewer steps than the limit"))
}

fn starts(graph: &Graph, level: LeafLevel, case: InputCase) -> Vec<i64> {
    ask(graph, level, case, 8).0.iter().map(|found| found.start_ns).collect()
}

/// Three producers, a batch consumer, and a leaf below it.
fn batch() -> (Vec<Row>, Vec<Input>) {
    let rows = vec![
        row(1, 11, 0, 1, 100, 5),
        row(2, 21, 0, 1, 200, 5),
        row(3, 31, 0, 1, 300, 5),
        row(1, 12, 11, 2, 400, 50), // takes the first as its parent
        row(1, 13, 12, 3, 420, 30),
    ];
    (rows, vec![input(3, 2, 21), input(3, 3, 31), input(3, 2, 21), input(3, 1, 11)])
}

#[test]
fn a_leaf_has_a_duration_for_each_root() {
    let (rows, inputs) = batch();
    let graph = Graph::new(rows, &inputs);
    let (found, counts) = ask(&graph, LeafLevel::Any, InputCase::All, 8);
    let durations: Vec<u64> = found.iter().map(|found| found.duration_ns).collect();
    assert_eq!(durations, [350, 250, 150]);
    assert_eq!((counts.used, counts.incomplete, counts.beyond_links), (3, 0, 0));
    assert_eq!(starts(&graph, LeafLevel::Any, InputCase::Best), [300]);
    assert_eq!(starts(&graph, LeafLevel::Any, InputCase::Worst), [100]);
    assert_eq!(starts(&graph, LeafLevel::Exactly(2), InputCase::All), [100, 200, 300]);
    assert_eq!(starts(&graph, LeafLevel::Exactly(1), InputCase::All), [0_i64; 0]);
    // Whichever of the inputs is the primary one.
    let (mut rows, _) = batch();
    (rows[3].chain, rows[3].hop.parent) = (rows[2].chain, TransactionId(31));
    rows[4].chain = rows[2].chain;
    let other = Graph::new(rows, &[input(3, 1, 11), input(3, 2, 21)]);
    assert_eq!(ask(&other, LeafLevel::Any, InputCase::All, 8).0, found);
}

#[test]
fn age_is_from_the_start_of_a_message_to_the_start_of_its_consumer() {
    let (mut rows, inputs) = batch();
    rows[3].hop.class = LEAF;
    rows.pop();
    let (found, _) = ask(&Graph::new(rows, &inputs), LeafLevel::Any, InputCase::Age, 8);
    let ages: Vec<u64> = found.iter().map(|found| found.duration_ns).collect();
    assert_eq!(ages, [300, 200, 100]);
}

#[test]
fn a_link_to_nothing_is_an_unknown_input_unless_it_carries_its_root() {
    let (mut rows, mut inputs) = batch();
    rows.remove(2);
    inputs.iter_mut().for_each(|input| input.row -= 1);
    let graph = Graph::new(rows.clone(), &inputs);
    assert_eq!(graph.unknown_inputs, 1);
    let (found, counts) = ask(&graph, LeafLevel::Any, InputCase::All, 8);
    assert_eq!((found.len(), counts.used, counts.incomplete), (2, 2, 2));
    inputs[1].root = Some(KnownRoot { class: ROOT, start_ns: 290, level: 3 });
    let graph = Graph::new(rows, &inputs);
    assert_eq!(graph.unknown_inputs, 0);
    assert_eq!(starts(&graph, LeafLevel::Any, InputCase::Best), [290]);
    assert_eq!(starts(&graph, LeafLevel::Exactly(5), InputCase::All), [290]);
    assert_eq!(starts(&graph, LeafLevel::Exactly(5), InputCase::Worst), [290]);
}

#[test]
fn a_missing_parent_leaves_what_the_correlator_carried() {
    let mut leaf = row(1, 13, 12, 3, 420, 30);
    assert_eq!(
        ask(&Graph::new(vec![leaf], &[]), LeafLevel::Any, InputCase::All, 8).1.root_missing,
        1
    );
    leaf.root = Some(KnownRoot { class: ROOT, start_ns: 100, level: 2 });
    let graph = Graph::new(vec![leaf], &[]);
    assert_eq!(starts(&graph, LeafLevel::Exactly(2), InputCase::All), [100]);
    // With the root's own row there is one root, not two.
    let graph = Graph::new(vec![leaf, row(1, 11, 0, 1, 100, 5)], &[]);
    assert_eq!(starts(&graph, LeafLevel::Any, InputCase::All), [100]);
}

/// Consumers that take from each other: a cycle has no beginning.
#[test]
fn cycles_are_cut_and_said() {
    let rows = vec![
        row(1, 11, 0, 1, 100, 5),
        row(1, 12, 11, 2, 200, 5),
        row(2, 21, 0, 2, 250, 5),
        row(2, 22, 21, 3, 300, 5),
    ];
    let graph = Graph::new(rows, &[input(1, 2, 21), input(2, 1, 12)]);
    assert_eq!(graph.cut_edges, 2);
    let (found, counts) = ask(&graph, LeafLevel::Any, InputCase::All, 8);
    assert_eq!((found.len(), counts.root_missing), (0, 1));
}

/// A track that lives for a day and takes a plot every four seconds: each update has the one
/// before as its parent. The best and the worst input of each are found in linear time; all
/// pairs are refused with their number.
#[test]
fn a_track_of_a_day_does_not_melt_into_one() {
    const UPDATES: u64 = 21_600;
    let (mut rows, mut inputs) = (Vec::new(), Vec::new());
    for update in 1..=UPDATES {
        let start_ns = update as i64 * 4_000_000_000;
        rows.push(row(update + 1, 1, 0, 1, start_ns - 1_000_000_000, 1));
        inputs.push(input(rows.len(), update + 1, 1));
        rows.push(row(1, update + 1, update, 3, start_ns, 1_000_000));
    }
    let graph = Graph::new(rows, &inputs);
    let (best, counts) = ask(&graph, LeafLevel::Any, InputCase::Best, 8);
    assert_eq!(counts.used, UPDATES);
    assert!(best.iter().all(|found| found.duration_ns == 1_001_000_000));
    let (latest, _) = ask(&graph, LeafLevel::Exactly(1), InputCase::All, 8);
    let without_root = |found: &FoundDuration| FoundDuration { root: None, ..*found };
    assert!(latest.iter().map(without_root).eq(best));
    let options = Options { visits_max: 1_000_000, ..Options::default() };
    let refused = graph.durations(&selection(LeafLevel::Any), InputCase::All, options, |_| {});
    assert!(refused.unwrap_err().to_string().contains("ask for the best or the worst input"));
}

/// A graph as plain lists: for each row its class, start, duplicates left out, and edges.
struct Plain {
    rows: Vec<Row>,
    edges: Vec<Vec<(usize, bool)>>,
}

impl Plain {
    fn new(rows: &[Row], inputs: &[Input]) -> Self {
        let find = |chain: ChainId, id: TransactionId| {
            rows.iter().position(|row| row.chain == chain && row.hop.id == id)
        };
        let mut edges: Vec<Vec<(usize, bool)>> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let mut own: Vec<_> =
                find(row.chain, row.hop.parent).map(|to| (to, false)).into_iter().collect();
            for input in inputs.iter().filter(|input| input.row == at) {
                if let Some(to) = find(input.chain, input.id)
                    && own.iter().all(|(other, _)| *other != to)
                {
                    own.push((to, true));
                }
            }
            edges.push(own);
        }
        let mut plain = Self { rows: rows.to_vec(), edges };
        let cut: Vec<Vec<(usize, bool)>> = plain
            .edges
            .iter()
            .enumerate()
            .map(|(at, own)| {
                own.iter().copied().filter(|(to, _)| !plain.reaches(*to, at)).collect()
            })
            .collect();
        plain.edges = cut;
        plain
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.edges[at].iter().map(|(to, _)| *to));
            }
        }
        false
    }

    /// Every way up from a row: the row that it ends at, its steps and its links.
    fn ways(&self, at: usize, steps: u16, links: u8, all: &mut Vec<(usize, u16, u8)>) {
        all.push((at, steps, links));
        for (to, is_link) in &self.edges[at] {
            self.ways(*to, steps + 1, links + u8::from(*is_link), all);
        }
    }

    /// Leaf and root of each pair.
    fn pairs(&self, level: LeafLevel, links_max: u8) -> BTreeSet<(usize, usize)> {
        let is_root = |at: usize| self.rows[at].hop.class == ROOT;
        let ways = |at: usize| {
            let mut all = Vec::new();
            self.ways(at, 0, 0, &mut all);
            all
        };
        let inner = |at: usize| ways(at).iter().any(|(to, steps, _)| *steps > 0 && is_root(*to));
        let mut pairs = BTreeSet::new();
        for leaf in (0..self.rows.len()).filter(|at| self.rows[*at].hop.class == LEAF) {
            for (to, steps, links) in ways(leaf) {
                let fits = match level {
                    LeafLevel::Any => steps > 0 && !inner(to),
                    LeafLevel::Exactly(level) => steps == level,
                };
                if fits && links <= links_max && is_root(to) {
                    pairs.insert((leaf, to));
                }
            }
        }
        pairs
    }
}

/// Up to 9 rows in 3 chains, with links to any of them: cycles, links to the parent, doubled links
/// and links to nothing all occur.
fn graphs() -> impl Strategy<Value = (Vec<Row>, Vec<Input>)> {
    let one = (1u64..4, 0u64..11, 1u64..4, 0i64..40, 0u64..9);
    (2usize..10).prop_flat_map(move |count| {
        let rows = prop::collection::vec(one.clone(), count).prop_map(|all| {
            let numbered = all.into_iter().enumerate();
            numbered
                .map(|(at, (chain, parent, class, start, elapsed))| {
                    row(chain, at as u64 + 1, parent, class, start, elapsed)
                })
                .collect::<Vec<_>>()
        });
        let links = prop::collection::vec((0..count, 1u64..4, 0u64..11), 0..10)
            .prop_map(|all| all.into_iter().map(|(at, chain, id)| input(at, chain, id)).collect());
        (rows, links)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn as_the_definitions_say(
        (rows, inputs) in graphs(),
        level in prop_oneof![Just(LeafLevel::Any), (0u16..5).prop_map(LeafLevel::Exactly)],
        links_max in prop_oneof![Just(8u8), 0u8..3],
    ) {
        let graph = Graph::new(rows.clone(), &inputs);
        let plain = Plain::new(&rows, &inputs);
        let pairs = plain.pairs(level, links_max);
        let of = |case| {
            let (found, _) = ask(&graph, level, case, links_max);
            let mut found: Vec<_> = found.iter().map(|f| (f.leaf, f.start_ns, f.duration_ns)).collect();
            found.sort_unstable();
            found
        };
        let told = |(leaf, start_ns): (usize, i64)| {
            let ns = u64::try_from(rows[leaf].hop.end_ns() - start_ns);
            ns.ok().map(|ns| (leaf, start_ns, ns))
        };
        let start = |root: usize| rows[root].hop.start_ns;
        let mut all: Vec<_> = pairs.iter().filter_map(|(l, r)| told((*l, start(*r)))).collect();
        all.sort_unstable();
        prop_assert_eq!(of(InputCase::All), all);
        let leaves: BTreeSet<usize> = pairs.iter().map(|(leaf, _)| *leaf).collect();
        let roots = |leaf| pairs.iter().filter(move |(l, _)| *l == leaf).map(|(_, r)| start(*r));
        let best: Vec<_> = leaves.iter().filter_map(|l| told((*l, roots(*l).max()?))).collect();
        prop_assert_eq!(of(InputCase::Best), best);
        let worst: Vec<_> = leaves.iter().filter_map(|l| told((*l, roots(*l).min()?))).collect();
        prop_assert_eq!(of(InputCase::Worst), worst);
    }

    /// Rows that are lost on the way make a root unknown, never missing: whoever reached a leaf
    /// still does, or its chain is doubtful.
    #[test]
    fn a_root_that_arrived_is_not_missing_when_a_row_is_lost(
        (rows, inputs) in graphs(),
        lost in prop::collection::vec(any::<bool>(), 9),
    ) {
        let plain = Plain::new(&rows, &inputs);
        let pairs = plain.pairs(LeafLevel::Any, u8::MAX);
        // Rows with links, roots and leaves stay: with them more is lost than a way.
        let stays = |at: usize| {
            !lost[at % lost.len()]
                || [ROOT, LEAF].contains(&rows[at].hop.class)
                || inputs.iter().any(|input| input.row == at)
        };
        let kept: Vec<usize> = (0..rows.len()).filter(|at| stays(*at)).collect();
        let at = |old: usize| kept.iter().position(|kept| *kept == old);
        let rest = inputs.iter().filter_map(|input| Some(Input { row: at(input.row)?, ..*input }));
        let graph = Graph::new(kept.iter().map(|old| rows[*old]).collect(), &rest.collect::<Vec<_>>());
        let (found, _) = ask(&graph, LeafLevel::Any, InputCase::All, u8::MAX);
        let known = graph.roots(&selection(LeafLevel::Any));
        for (leaf, root) in pairs {
            let (Some(leaf), Some(root)) = (at(leaf), at(root)) else { continue };
            let Some(root) = known.roots.iter().find(|one| one.index == root) else { continue };
            let negative = rows[kept[leaf]].hop.end_ns() < root.start_ns;
            let reached = found.iter().any(|one| one.leaf == leaf && one.root == Some(root.index));
            prop_assert!(negative || reached || known.doubtful.contains(&root.chain));
        }
    }

    /// With links to nothing but parents, a tree's durations are those of its chain.
    #[test]
    fn the_order_of_rows_does_not_matter((rows, inputs) in graphs(), turn in 0usize..9) {
        let count = rows.len();
        let turned: Vec<Row> = (0..count).map(|at| rows[(at + turn) % count]).collect();
        let moved: Vec<Input> = inputs
            .iter()
            .map(|input| Input { row: (input.row + count - turn % count) % count, ..*input })
            .collect();
        for case in [InputCase::All, InputCase::Best, InputCase::Worst, InputCase::Age] {
            let told = |rows: &[Row], inputs: &[Input]| {
                let graph = Graph::new(rows.to_vec(), inputs);
                let (found, counts) = ask(&graph, LeafLevel::Any, case, 8);
                let mut found: Vec<_> =
                    found.iter().map(|f| (rows[f.leaf].hop.id.0, f.start_ns, f.duration_ns)).collect();
                found.sort_unstable();
                (found, counts)
            };
            prop_assert_eq!(told(&rows, &inputs), told(&turned, &moved));
        }
    }
}
