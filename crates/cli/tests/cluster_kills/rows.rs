//! The rows that come in while servers and collectors are killed, and what a question may say of them.

use crate::world::World;
use chronoscope_clock as clock;
use chronoscope_model::Flags;
use chronoscope_query::{Answer, Limits, Question, StoreLocation};
use chronoscope_store::MINUTE_NS;
use std::collections::HashMap;

/// Minutes that the roots start in, and how long ago the first of them was: `serve` looks at the last
/// two hours in each turn.
const MINUTES: i64 = 12;
const MINUTES_AGO: i64 = 30;
/// A quarter of the chains is foreign (as spans are), and others have foreign rows below native ones.
const SEED: u64 = 14;

/// Rows, and by whom they are known.
pub(crate) struct Rows {
    /// In the order in which they come in: chains of all minutes at random, so that every minute has
    /// late rows again and again, and of every seventh chain a half long after the other one.
    pub(crate) world: World,
    /// By the start of its root, how many rows have come when a chain is whole.
    whole_at: HashMap<i64, usize>,
}

impl Rows {
    pub(crate) fn new(chains: u64) -> Self {
        let mut world = World::new(SEED, chains).without_dropped_ancestors().with_links();
        let begin = clock::utc_now_ns().div_euclid(MINUTE_NS) - MINUTES_AGO;
        for row in &mut world.records {
            let chain = i64::try_from(row.id.0 / 100).unwrap();
            // The world has three minutes, from the hundredth on.
            let spread = (MINUTES - 3) * MINUTE_NS / i64::try_from(chains).unwrap() * chain;
            let moved = (begin - 100) * MINUTE_NS + spread;
            row.start_ns += moved;
            row.root_start_ns += moved;
        }
        let order = |id: u64| {
            let chain = id / 100;
            let at = chain.wrapping_mul(0x9e37_79b9_7f4a_7c15) % chains;
            let is_late = chain.is_multiple_of(7) && !id.is_multiple_of(2);
            (if is_late { at + chains / 20 } else { at }, id)
        };
        world.records.sort_by_key(|row| order(row.id.0));
        let mut whole_at = HashMap::new();
        let mut roots = HashMap::new();
        for (at, row) in world.records.iter().enumerate() {
            let is_foreign = row.flags().contains(Flags::FOREIGN);
            if !is_foreign || row.parent.is_none() {
                roots.insert(row.id.0 / 100, row.root_start_ns);
            }
            whole_at.insert(row.id.0 / 100, at + 1);
        }
        let by_root = roots.iter().map(|(chain, start_ns)| (*start_ns, whole_at[chain]));
        Self { whole_at: by_root.collect(), world }
    }
}

/// A question, and all that it finds in the end.
pub(crate) struct Expected {
    pub(crate) question: Question,
    /// Start and length of each duration, and how many rows have come when its chain is whole.
    points: Vec<(i64, u64, usize)>,
}

impl Expected {
    /// What files say of all rows.
    pub(crate) fn of(rows: &Rows, files: &StoreLocation, question: Question) -> Self {
        let pointed = Question { points: true, ..question.clone() };
        let answer = files.ask(&pointed, &Limits::default()).unwrap();
        let points = answer.points.iter();
        let points: Vec<_> = points
            .map(|point| (point.start_ns, point.duration_ns, rows.whole_at[&point.start_ns]))
            .collect();
        let expected = Self { question, points };
        assert!(expected.points.len() > 100, "{}", expected.points.len());
        expected
    }

    /// Panics unless an answer has the durations of all chains that were whole before it was asked,
    /// as often as they are there, and none that there never is.
    pub(crate) fn judge(&self, answer: &Answer, acknowledged: usize) {
        assert_eq!(answer.losses.damage, []);
        let all = || self.points.iter();
        let before = || self.points.iter().filter(|point| point.2 <= acknowledged);
        if self.question.points {
            let found = answer.points.iter().map(|point| (point.start_ns, point.duration_ns));
            let least = before().map(|point| (point.0, point.1));
            let most = all().map(|point| (point.0, point.1));
            within(least.collect(), found.collect(), most.collect());
        } else {
            let least = before().map(|point| point.1).collect();
            let most = all().map(|point| point.1).collect();
            within(least, answer.durations_ns.clone(), most);
        }
    }
}

fn within<T: Ord>(mut least: Vec<T>, mut found: Vec<T>, mut most: Vec<T>) {
    [&mut least, &mut found, &mut most].into_iter().for_each(|of| of.sort_unstable());
    let counts = [&least, &found, &most].map(Vec::len);
    assert!(has_all(&found, &least), "a whole chain's duration is missing: {counts:?}");
    assert!(has_all(&most, &found), "a duration is there that never is, or twice: {counts:?}");
}

/// Whether ascending `all` has each of ascending `some`, as often.
fn has_all<T: Ord>(all: &[T], some: &[T]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|one| rest.any(|other| other == one))
}

#[test]
fn the_judge_sees_what_is_missing_and_what_is_doubled() {
    assert!(has_all(&[1, 2, 2, 3], &[2, 2]) && has_all(&[1], &[]));
    assert!(!has_all(&[1, 2, 3], &[2, 2]) && !has_all(&[1, 3], &[2]) && !has_all(&[], &[1]));
}
