//! Arrivals checked against the truth: whole graphs are generated, rows are lost and sources held
//! back, and the states judged from the remaining rows must agree with what happened.

use super::*;
use crate::{
    Assembler, CarriedAncestors, Hop, LeafLevel, Paths, Requirement, Selection, VerdictState,
};
use chronoscope_model::{ClassId, Status, TransactionId};
use chronoscope_statistics::Quantile;
use proptest::prelude::*;
use std::collections::HashMap;

const R: ClassId = ClassId(1);
const M: ClassId = ClassId(2);
const L: ClassId = ClassId(3);
const LIMIT_NS: u64 = 100;

/// A transaction as it happened.
#[derive(Clone, Copy, Debug)]
struct Happened {
    hop: Hop,
    process: u32,
    failed: bool,
}

/// The rows that a store has.
#[derive(Clone, Debug)]
struct Seen {
    /// By process: its rows that ended before are here.
    delivered_ns: [i64; PROCESSES],
    /// By process: its rows that ended within are lost.
    lost_ns: [RangeInclusive<i64>; PROCESSES],
}

const PROCESSES: usize = 3;

impl Seen {
    fn everything() -> Self {
        #[allow(clippy::reversed_empty_ranges)] // nothing is lost
        Self { delivered_ns: [i64::MAX; PROCESSES], lost_ns: [1..=0, 1..=0, 1..=0] }
    }

    fn has(&self, row: &Happened) -> bool {
        let (process, end_ns) = (row.process as usize, row.hop.end_ns());
        end_ns < self.delivered_ns[process] && !self.lost_ns[process].contains(&end_ns)
    }

    /// Deliveries and losses of the sources, as a store has them.
    fn evidence(&self, rows: &[Happened]) -> Evidence {
        let is_lost = |row: &&Happened| {
            let end_ns = row.hop.end_ns();
            self.lost_ns[row.process as usize].contains(&end_ns)
        };
        // A store is told of a loss only when there is one.
        let lossy =
            |process: usize| rows.iter().filter(is_lost).any(|r| r.process as usize == process);
        let losses = (0..PROCESSES).filter(|p| lossy(*p)).map(|p| self.lost_ns[p].clone());
        let evidence = Evidence {
            horizon_ns: self.delivered_ns.iter().min().copied(),
            newest_ns: self.delivered_ns.iter().max().copied(),
            ..Evidence::default()
        };
        evidence.with_losses(losses.collect())
    }
}

fn selection() -> Selection {
    Selection {
        roots: [R].into(),
        leaves: Some([L].into()),
        level: LeafLevel::Any,
        root_start_ns: 0..1_000,
    }
}

/// Judges one chain from the rows that are here. `native`: its rows carry their ancestors.
fn judge(
    rows: &[Happened],
    seen: &Seen,
    native: bool,
    rule: ArrivalRule,
) -> (Vec<(Option<TransactionId>, RootVerdict)>, ArrivalTotals) {
    let here: Vec<&Happened> = rows.iter().filter(|row| seen.has(row)).collect();
    let hops: Vec<Hop> = here.iter().map(|row| row.hop).collect();
    let mut paths = Paths::default();
    let told: Vec<Option<CarriedAncestors>> =
        here.iter().map(|row| native.then(|| told(rows, row, &mut paths))).collect();
    let mut assembler = Assembler::default();
    let chain = assembler.assemble(&hops, |row| told[row], &mut paths);
    let outcome = |row: usize| RowOutcome {
        status: if here[row].failed { Status::Failed } else { Status::Good },
        receiver: here[row].process,
    };
    let (evidence, mut judged) = (seen.evidence(rows), Vec::new());
    let mut totals = ArrivalTotals::default();
    let mut finder = ArrivalFinder::new(selection());
    finder.find(
        &chain,
        &paths,
        Doubts::default(),
        outcome,
        |row| hops[row].start_ns,
        |root| {
            let one = rule.judge(root, &evidence);
            totals.add(root, one, rule.limit_ns);
            judged.push((root.row.map(|row| hops[row].id), one));
        },
    );
    totals.unlinked_leaves = finder.unlinked_leaves;
    // A whole store would contain such a chain elsewhere.
    totals.nested = rows.iter().any(|row| {
        row.hop.class == R && ancestors(rows, row)[1..].iter().any(|above| above.hop.class == R)
    });
    (judged, totals)
}

/// At a level a root is every transaction of its class, as for durations: the one around another
/// has no leaf there, and the inner one's leaf is not left out.
#[test]
fn at_a_level_a_root_within_a_root_has_its_leaf() {
    let hop = |id, parent, class, start_ns| Hop {
        id: TransactionId(id),
        parent: TransactionId(parent),
        class,
        start_ns,
        elapsed_ns: 5,
    };
    let hops = [hop(1, 0, R, 0), hop(2, 1, R, 10), hop(3, 2, L, 20)];
    let leaves = |level| {
        let mut paths = Paths::default();
        let mut assembler = Assembler::default();
        let chain = assembler.assemble(&hops, |_| None, &mut paths);
        let mut finder = ArrivalFinder::new(Selection { level, ..selection() });
        let mut found = Vec::new();
        let (good, start_ns) = (|_: usize| RowOutcome::default(), |row: usize| hops[row].start_ns);
        finder.find(&chain, &paths, Doubts::default(), good, start_ns, |root| {
            let leaves = root.leaves.iter().map(|leaf| leaf.duration_ns).collect::<Vec<_>>();
            found.push((root.row.unwrap(), leaves));
        });
        (found, finder.nested)
    };
    assert_eq!(leaves(LeafLevel::Any), (vec![(0, vec![25])], true));
    assert_eq!(leaves(LeafLevel::Exactly(1)), (vec![(0, vec![]), (1, vec![15])], false));
    assert_eq!(leaves(LeafLevel::Exactly(2)), (vec![(0, vec![25]), (1, vec![])], false));
}

/// Ancestors that the correlator of a row carried.
fn told(rows: &[Happened], row: &Happened, paths: &mut Paths) -> CarriedAncestors {
    let mut way = ancestors(rows, row);
    way.reverse();
    let classes: Vec<ClassId> = way.iter().map(|row| row.hop.class).collect();
    CarriedAncestors {
        path: paths.of(&classes),
        level: u16::try_from(classes.len() - 1).unwrap(),
        root_start_ns: way[0].hop.start_ns,
    }
}

/// A row and those above it, nearest first.
fn ancestors<'a>(rows: &'a [Happened], row: &'a Happened) -> Vec<&'a Happened> {
    let parent = |row: &&Happened| rows.iter().find(|other| other.hop.id == row.hop.parent);
    std::iter::successors(Some(row), parent).collect()
}

/// The truth: the roots of the chain with the ends of their good leaves.
fn truth(rows: &[Happened]) -> HashMap<TransactionId, Vec<(u64, u32)>> {
    let outermost = |row| {
        let way = ancestors(rows, row);
        let root = way.iter().rev().find(|row| row.hop.class == R).unwrap();
        (root.hop.id, root.hop.start_ns)
    };
    let mut roots: HashMap<TransactionId, Vec<(u64, u32)>> = HashMap::new();
    for row in rows.iter().filter(|row| row.hop.class == R) {
        roots.entry(outermost(row).0).or_default();
    }
    for leaf in rows.iter().filter(|row| row.hop.class == L && !row.failed) {
        if ancestors(rows, leaf).iter().any(|row| row.hop.class == R) {
            let (root, start_ns) = outermost(leaf);
            let ns = leaf.hop.end_ns().abs_diff(start_ns);
            roots.entry(root).or_default().push((ns, leaf.process));
        }
    }
    roots
}

/// Whether a root meets a rule in the end, read aloud.
fn meets(rule: ArrivalRule, leaves: &[(u64, u32)]) -> bool {
    let mut by_receiver: Vec<u64> = Vec::new();
    if rule.distinct {
        for process in 0..PROCESSES {
            let of = leaves.iter().filter(|leaf| leaf.1 as usize == process);
            by_receiver.extend(of.map(|leaf| leaf.0).min());
        }
    } else {
        by_receiver.extend(leaves.iter().map(|leaf| leaf.0));
    }
    let within = |ns: u64| by_receiver.iter().filter(|leaf| **leaf <= ns).count();
    match rule.required {
        Required::AtLeast(count) => within(rule.limit_ns) >= count as usize,
        Required::Exactly(count) => {
            within(rule.limit_ns) == count as usize && within(rule.timeout_ns) == count as usize
        }
    }
}

/// A chain that grows from its first row: parent, class, pause, elapsed, process, failed.
fn graph() -> impl Strategy<Value = Vec<Happened>> {
    let row = (any::<prop::sample::Index>(), 0u64..4, 0i64..60, 0u64..60, 0u32..3, 0u8..8);
    prop::collection::vec(row, 1..12).prop_map(|rows| {
        let mut all: Vec<Happened> = Vec::new();
        for (number, (parent, class, pause, elapsed_ns, process, failed)) in
            rows.into_iter().enumerate()
        {
            let above = (number > 0).then(|| all[parent.index(number)].hop);
            let class = [R, M, L, L][usize::try_from(class).unwrap()];
            let hop = Hop {
                id: TransactionId(number as u64 + 1),
                parent: above.map_or(TransactionId::NONE, |above| above.id),
                class: if number == 0 { R } else { class },
                start_ns: above.map_or(10, |above| above.start_ns) + pause,
                elapsed_ns,
            };
            all.push(Happened { hop, process, failed: failed == 0 });
        }
        all
    })
}

fn rule() -> impl Strategy<Value = ArrivalRule> {
    let required =
        prop_oneof![(1u32..4).prop_map(Required::AtLeast), (1u32..4).prop_map(Required::Exactly)];
    (required, any::<bool>(), 0u64..100).prop_map(|(required, distinct, more)| ArrivalRule {
        required,
        distinct,
        limit_ns: LIMIT_NS,
        timeout_ns: LIMIT_NS + more,
    })
}

fn seen() -> impl Strategy<Value = Seen> {
    let delivered = prop_oneof![Just(i64::MAX), 0i64..400];
    let lost = prop_oneof![3 => Just((1, 0)), 1 => (0i64..300, 0i64..80)];
    let lost = lost.prop_map(|(from, length)| from..=from + length.max(-1));
    (prop::array::uniform3(delivered), prop::array::uniform3(lost)).prop_map(
        |(delivered_ns, lost_ns)| {
            #[allow(clippy::reversed_empty_ranges)] // nothing is lost
            let lost_ns = lost_ns.map(|lost| if lost == (1..=1) { 1..=0 } else { lost });
            Seen { delivered_ns, lost_ns }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    /// Whatever is lost and however few rows are present, every certain statement is true.
    #[test]
    fn what_is_certain_is_true(
        rows in graph(), seen in seen(), native in any::<bool>(), rule in rule(),
        share_millionths in 0u32..=1_000_000,
    ) {
        let truth = truth(&rows);
        let (judged, totals) = judge(&rows, &seen, native, rule);
        for (id, judged) in judged {
            // A root without a row is the chain's first.
            let id = id.unwrap_or(TransactionId(1));
            // Where ancestors are missing the row may be no root: the verdict allows for that.
            let Some(leaves) = truth.get(&id) else { continue };
            let meets = meets(rule, leaves);
            if let Some(in_time) = judged.in_time {
                prop_assert_eq!(in_time, meets, "{:?} of {:?}", judged, id);
            }
            if let (Some(at_least), Some(at_most)) = (judged.at_least_ns, judged.at_most_ns) {
                prop_assert!(at_least <= at_most);
            }
        }
        let met = truth.values().filter(|leaves| meets(rule, leaves)).count() as u64;
        let all = truth.len() as u64;
        // Roots without any row are at most as many as rows were lost or held back.
        let unseen = rows.iter().filter(|row| !seen.has(row)).count() as u64;
        let requirement = Requirement { limit_ns: LIMIT_NS, share_millionths };
        let holds = all == met || (all - met) * 1_000_000 < all * u64::from(1_000_000 - share_millionths);
        match totals.verdict(requirement, unseen).state() {
            VerdictState::Holds => prop_assert!(holds),
            VerdictState::DoesNotHold => prop_assert!(!holds),
            VerdictState::Undetermined => {}
        }
    }

    /// Where nothing is lost and all is delivered, every root is certain and correct.
    #[test]
    fn with_all_rows_everything_is_certain(
        rows in graph(), native in any::<bool>(), rule in rule(),
    ) {
        let truth = truth(&rows);
        let (judged, totals) = judge(&rows, &Seen::everything(), native, rule);
        prop_assert_eq!(judged.len(), truth.len());
        for (id, judged) in judged {
            let leaves = &truth[&id.unwrap()];
            prop_assert_eq!(judged.in_time, Some(meets(rule, leaves)));
            let arrived = match judged.state {
                RootState::Arrived => true,
                RootState::Failed | RootState::Missing => false,
                state => return Err(TestCaseError::fail(format!("{state:?}"))),
            };
            prop_assert!(arrived || !meets(rule, leaves));
            prop_assert_eq!(judged.at_least_ns, judged.at_most_ns, "it is known exactly");
        }
        prop_assert_eq!(totals.unknown_roots() + totals.open, 0);
    }
}

fn row(id: u64, parent: u64, class: ClassId, start_ns: i64, elapsed_ns: u64) -> Happened {
    let (id, parent) = (TransactionId(id), TransactionId(parent));
    Happened { hop: Hop { id, parent, class, start_ns, elapsed_ns }, process: 0, failed: false }
}

const EACH: ArrivalRule = ArrivalRule {
    required: Required::AtLeast(1),
    distinct: false,
    limit_ns: LIMIT_NS,
    timeout_ns: LIMIT_NS,
};

fn only(rows: &[Happened], seen: &Seen, rule: ArrivalRule) -> RootVerdict {
    let (judged, _) = judge(rows, seen, true, rule);
    assert_eq!(judged.len(), 1);
    judged[0].1
}

#[test]
fn a_root_without_a_leaf_is_missing_only_when_its_time_is_delivered() {
    let rows = [row(1, 0, R, 10, 5)];
    let delivered = |until| Seen { delivered_ns: [until; PROCESSES], ..Seen::everything() };
    let state = |until| only(&rows, &delivered(until), EACH).state;
    assert_eq!(state(110), RootState::Open, "one that ends at 110 would be in time");
    assert_eq!(state(111), RootState::Missing);
    let mut one_silent = delivered(500);
    one_silent.delivered_ns[2] = 50;
    let unknown = only(&rows, &one_silent, EACH);
    assert_eq!(unknown.state, RootState::Unknown(Unknown::Silent));
    assert_eq!(unknown.in_time, None);
}

#[test]
fn a_loss_in_its_time_makes_a_root_unknown_and_one_after_it_does_not() {
    let rows = [row(1, 0, R, 10, 5), row(2, 9, M, 100, 10), row(3, 9, M, 100, 11)];
    let lost = |at| Seen { lost_ns: [at..=at, at..=at, at..=at], ..Seen::everything() };
    assert_eq!(only(&rows, &lost(110), EACH).state, RootState::Unknown(Unknown::Lost));
    assert_eq!(only(&rows, &lost(111), EACH).state, RootState::Missing);
}

#[test]
fn a_failed_leaf_is_no_arrival() {
    let mut rows = [row(1, 0, R, 10, 5), row(2, 1, L, 20, 5), row(3, 1, L, 20, 40)];
    rows[1].failed = true;
    assert_eq!(only(&rows[..2], &Seen::everything(), EACH).state, RootState::Failed);
    let judged = only(&rows, &Seen::everything(), EACH);
    assert_eq!((judged.state, judged.at_most_ns), (RootState::Arrived, Some(50)));
}

#[test]
fn a_doubled_receiver_does_not_stand_in_for_a_silent_one() {
    let mut rows = [row(1, 0, R, 10, 5), row(2, 1, L, 20, 5), row(3, 1, L, 20, 40)];
    let two = ArrivalRule { required: Required::AtLeast(2), distinct: true, ..EACH };
    assert_eq!(only(&rows, &Seen::everything(), two).state, RootState::Missing);
    rows[2].process = 1;
    assert_eq!(only(&rows, &Seen::everything(), two).at_most_ns, Some(50));
}

#[test]
fn exactly_so_many_is_decided_when_the_timeout_has_passed() {
    let rows = [row(1, 0, R, 10, 5), row(2, 1, L, 20, 5), row(3, 1, L, 130, 20)];
    let one = ArrivalRule { required: Required::Exactly(1), timeout_ns: 150, ..EACH };
    let until = |until| Seen { delivered_ns: [until; PROCESSES], ..Seen::everything() };
    assert_eq!(only(&rows, &until(140), one).state, RootState::Open);
    assert_eq!(only(&rows, &until(151), one).state, RootState::Failed, "there is a second one");
    assert_eq!(only(&rows[..2], &until(161), one).state, RootState::Arrived);
}

#[test]
fn quantiles_are_bounds_where_roots_are_not_decided() {
    let totals = ArrivalTotals {
        exact_ns: vec![10, 20, 30, u64::MAX],
        bounds_ns: vec![(5, u64::MAX)],
        ..ArrivalTotals::default()
    };
    let durations = totals.durations();
    let at = |millionths| {
        let bounds = durations.quantile(Quantile::from_millionths(millionths).unwrap()).unwrap();
        (bounds.at_least_ns, bounds.at_most_ns)
    };
    assert_eq!(at(200_000), (5, 10));
    assert_eq!(at(600_000), (20, 30));
    assert_eq!(at(1_000_000), (u64::MAX, u64::MAX));
    assert_eq!(RootDurations::default().quantile(Quantile::P50), None);
}

#[test]
fn a_number_of_leaves_is_read() {
    assert_eq!("5..".parse(), Ok(Required::AtLeast(5)));
    assert_eq!("1".parse(), Ok(Required::Exactly(1)));
    for wrong in ["", "..", "0", "0..", "-1", "1...", "..5", "x"] {
        assert_eq!(wrong.parse::<Required>(), Err(RequiredError(wrong.to_owned())));
    }
}

#[test]
fn losses_that_touch_are_one() {
    let evidence = Evidence::default().with_losses(vec![30..=40, 10..=20, 20..=25]);
    assert_eq!(evidence.losses_ns, [10..=25, 30..=40]);
    assert!(evidence.lost_within(25, 26) && !evidence.lost_within(26, 29));
    assert!(evidence.lost_within(0, 100) && !evidence.lost_within(41, 100));
}
