//! Limits on chains of spans, counted as the spans come: by limit, and by the minute of the root's
//! start, which is where the chains of our recorder are counted as well.

use crate::limits::Limit;
use chronoscope_chain::live::{LiveEvent, Reached, Unreached};
use chronoscope_model::{ClassId, Names};
use chronoscope_store::Minute;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Minutes that are kept: those of the view of now, and the one that runs.
const MINUTES: i64 = 61;
/// Classes and chains that are looked up once; then all are looked up again.
const KNOWN_MAX: usize = 65_536;

/// Counts of one limit in one minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LiveMinute {
    /// Chains that have reached the leaf, and whose root is known.
    pub(crate) count: u64,
    /// Number of these above the limit.
    pub(crate) above: u64,
    /// Leaves that ended in the minute and whose root did not come within the window.
    pub(crate) unreached: u64,
    /// Roots that a transaction of another class than the leaf took over a link, and rows with
    /// links that are not known: leaves may lie below, of roots of the minute.
    pub(crate) linked: u64,
}

/// Counts of all limits.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveLimits {
    limits: Arc<[Limit]>,
    /// Instant since when all rows have been seen: UTC, nanoseconds since 1970; `None` when none is.
    since_ns: Option<i64>,
    /// By limit.
    minutes: Vec<BTreeMap<Minute, LiveMinute>>,
    /// Limits by root, leaf and level.
    of_chain: HashMap<(ClassId, ClassId, u16), Box<[usize]>>,
    /// Limits by leaf.
    of_leaf: HashMap<ClassId, Box<[usize]>>,
    /// Limits by a link's root and the class that takes it.
    of_link: HashMap<(ClassId, ClassId), Box<[usize]>>,
}

impl LiveLimits {
    pub(crate) fn new(limits: Arc<[Limit]>) -> Self {
        Self { minutes: vec![BTreeMap::new(); limits.len()], limits, ..Self::default() }
    }

    /// Counts that were made from stored rows: of each limit by minute, of all minutes after
    /// `since_ns` (UTC, nanoseconds since 1970).
    pub(crate) fn counted(
        limits: Arc<[Limit]>,
        minutes: Vec<BTreeMap<Minute, LiveMinute>>,
        since_ns: i64,
    ) -> Self {
        Self { limits, minutes, since_ns: Some(since_ns), ..Self::default() }
    }

    /// Begins to see all rows at `now_ns` (UTC), at first or after rows were missed.
    pub(crate) fn begin(&mut self, now_ns: i64) {
        self.since_ns = Some(now_ns);
    }

    /// True when all rows of a minute were seen as they came.
    pub(crate) fn covers(&self, minute: Minute) -> bool {
        self.since_ns.is_some_and(|since_ns| Minute::of(since_ns) < minute)
    }

    /// Counts of a limit in a minute.
    pub(crate) fn of(&self, limit: &Limit, minute: Minute) -> LiveMinute {
        let index = self.limits.iter().position(|known| known == limit);
        index.and_then(|index| self.minutes[index].get(&minute)).copied().unwrap_or_default()
    }

    /// Counts a row that was reached or left, at `now_ns` (UTC).
    pub(crate) fn add(&mut self, event: LiveEvent, names: &Names, now_ns: i64) {
        if self.limits.is_empty() {
            return;
        }
        match event {
            LiveEvent::Reached(reached) if reached.level > 0 => {
                self.reached(reached, names, now_ns)
            }
            LiveEvent::Reached(_) => {}
            LiveEvent::Unreached(unreached) => self.unreached(unreached, names, now_ns),
        }
    }

    /// Notes that a row reached its root over a link. For limits on arrivals at other classes than
    /// the row's it is not known which leaves are below it.
    pub(crate) fn linked(&mut self, reached: &Reached, names: &Names, now_ns: i64) {
        let key = (reached.root, reached.class);
        if !self.of_link.contains_key(&key) {
            let (Some(root), Some(class)) = (names.class(key.0), names.class(key.1)) else {
                return self.links_unknown(reached.root_start_ns, now_ns);
            };
            let is_of = |limit: &Limit| {
                limit.is_of_arrivals() && limit.is_of_root(root) && !limit.is_of_leaf(class)
            };
            let found = self.indices(is_of);
            make_room(&mut self.of_link);
            self.of_link.insert(key, found);
        }
        let minute = Minute::of(reached.root_start_ns);
        for index in self.of_link.get(&key).into_iter().flatten() {
            if let Some(counts) = entry(&mut self.minutes[*index], minute, now_ns) {
                counts.linked += 1;
            }
        }
    }

    /// Notes a row with links that are not known, which ended at `end_ns`: any root that started
    /// within a limit before may have arrived by it.
    pub(crate) fn links_unknown(&mut self, end_ns: i64, now_ns: i64) {
        for (limit, minutes) in self.limits.iter().zip(&mut self.minutes) {
            if !limit.is_of_arrivals() {
                continue;
            }
            let limit_ns = i64::try_from(limit.limit_ns).unwrap_or(i64::MAX);
            let last = Minute::of(end_ns);
            let first = Minute::of(end_ns.saturating_sub(limit_ns)).0.max(last.0 - MINUTES);
            for minute in first..=last.0 {
                if let Some(counts) = entry(minutes, Minute(minute), now_ns) {
                    counts.linked += 1;
                }
            }
        }
    }

    fn reached(&mut self, reached: Reached, names: &Names, now_ns: i64) {
        let key = (reached.root, reached.class, reached.level);
        if !self.of_chain.contains_key(&key) {
            // A class that is not named yet is looked up when it comes again.
            let (Some(root), Some(leaf)) = (names.class(key.0), names.class(key.1)) else { return };
            let is_of = |limit: &Limit| limit.is_of_chain(root, leaf, key.2);
            let found = self.indices(is_of);
            make_room(&mut self.of_chain);
            self.of_chain.insert(key, found);
        }
        let minute = Minute::of(reached.root_start_ns);
        for index in self.of_chain.get(&key).into_iter().flatten() {
            // Clocks that disagree: a chain that ends before it begins took no time.
            let took_ns = u64::try_from(reached.duration_ns).unwrap_or(0);
            let above = took_ns > self.limits[*index].limit_ns;
            if let Some(counts) = entry(&mut self.minutes[*index], minute, now_ns) {
                counts.count += 1;
                counts.above += u64::from(above);
            }
        }
    }

    fn unreached(&mut self, row: Unreached, names: &Names, now_ns: i64) {
        if !self.of_leaf.contains_key(&row.class) {
            let Some(leaf) = names.class(row.class) else { return };
            let found = self.indices(|limit| limit.is_of_leaf(leaf));
            make_room(&mut self.of_leaf);
            self.of_leaf.insert(row.class, found);
        }
        let minute = Minute::of(row.end_ns);
        for index in self.of_leaf.get(&row.class).into_iter().flatten() {
            if let Some(counts) = entry(&mut self.minutes[*index], minute, now_ns) {
                counts.unreached += 1;
            }
        }
    }

    fn indices(&self, is_of: impl Fn(&Limit) -> bool) -> Box<[usize]> {
        let all = self.limits.iter().enumerate();
        all.filter(|(_, limit)| is_of(limit)).map(|(index, _)| index).collect()
    }
}

fn make_room<K, V>(known: &mut HashMap<K, V>) {
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
}

/// The counts of a minute of the last hour; those before it are forgotten.
fn entry(
    minutes: &mut BTreeMap<Minute, LiveMinute>,
    minute: Minute,
    now_ns: i64,
) -> Option<&mut LiveMinute> {
    let now = Minute::of(now_ns);
    let first = Minute(now.0.saturating_sub(MINUTES));
    // A clock may be ahead of ours a little.
    if minute < first || minute.0 > now.0.saturating_add(1) {
        return None;
    }
    while minutes.first_key_value().is_some_and(|(oldest, _)| *oldest < first) {
        minutes.pop_first();
    }
    Some(minutes.entry(minute).or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limited;
    use chronoscope_model::ClassName;
    use chronoscope_query::ClassSelector;
    use chronoscope_store::MINUTE_NS;

    #[test]
    fn chains_count_for_their_limit_in_the_minute_of_their_root() {
        let mut names = Names::default();
        let class = |application: &str, class: &str| ClassName {
            application: application.to_owned(),
            class: class.to_owned(),
        };
        names.add_class(class("A", "in"));
        names.add_class(class("B", "out"));
        let (root, leaf) = (ClassId::of("A", "in"), ClassId::of("B", "out"));
        let selector = |class: &str| ClassSelector(class.to_owned());
        let of = |level| Limit {
            of: Limited::Chain {
                root: selector("A::in"),
                leaf: selector("out"),
                level,
                arrivals: None,
            },
            limit_ns: 100,
        };
        let mut live = LiveLimits::new(vec![of(None), of(Some(2))].into());
        let now_ns = 100 * MINUTE_NS;
        let reached = |level, root_start_ns, duration_ns| {
            LiveEvent::Reached(Reached { root, class: leaf, level, root_start_ns, duration_ns })
        };
        let unreached =
            |class| LiveEvent::Unreached(Unreached { class, end_ns: now_ns, for_room: false });
        for event in [
            reached(1, now_ns, 100),
            reached(1, now_ns, 101),
            reached(2, now_ns - MINUTE_NS, 101),
            reached(1, 0, 101), // not of the last hour
            reached(0, now_ns, 5),
            unreached(leaf),
            unreached(root),
        ] {
            live.add(event, &names, now_ns);
        }
        let counts = |limit: &Limit, minute| live.of(limit, Minute(minute));
        let minute = |count, above, unreached| LiveMinute { count, above, unreached, linked: 0 };
        assert_eq!(counts(&of(None), 100), minute(2, 1, 1));
        assert_eq!(counts(&of(Some(2)), 100), minute(0, 0, 1));
        assert_eq!(counts(&of(Some(2)), 99), minute(1, 1, 0));
        assert_eq!(counts(&of(None), 0), LiveMinute::default());
        assert!(!live.covers(Minute(100)));
        live.begin(now_ns);
        assert!(live.covers(Minute(101)) && !live.covers(Minute(100)));
    }
}
