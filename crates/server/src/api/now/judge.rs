//! Judges each limit: it holds, it is broken, or it cannot be judged, with the reason.
//!
//! A limit is judged minute by minute over the last hour. A judgement older than two minutes says
//! nothing about now. Chains whose rows do not carry their root (spans of OpenTelemetry) are counted
//! as they come ([`LiveLimits`]), and judged in the minutes that were followed from their beginning.
//! A leaf whose root did not come may be above its limit: then a limit holds only if it would with
//! all of these above it. Arrivals of such chains are not judged here: an exporter may have dropped
//! the leaf (`chronoscope chains --each-root` knows what each has delivered).

use super::history::{ByPath, History, PathMinute, begin_ns};
use crate::limits::Limit;
use crate::metrics::live::{LiveLimits, LiveMinute};
use chronoscope_chain::{Requirement, Thousands, Verdict, VerdictState};
use chronoscope_model::{ClassName, Names};
use chronoscope_store::{MINUTE_NS, Minute};
use serde::Serialize;
use std::collections::HashMap;
use utoipa::ToSchema;

/// Greatest age of a minute's end for a judgement about now: two windows of a minute.
pub(super) const FRESH_NS: i64 = 2 * MINUTE_NS;
/// Longest time from the end of a row until it is seen: a ring is drained within milliseconds, and
/// the store is read once a second.
const COLLECTED_WITHIN_NS: i64 = 5_000_000_000;
/// Longest time from the end of a span until it is seen, as `docs/otlp.md` states it: an SDK exports
/// every five seconds, and tries again.
pub(super) const EXPORTED_WITHIN_NS: i64 = 15_000_000_000;

/// Quantity that a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LimitKind {
    /// The elapsed time of a class.
    Class,
    /// The time from the start of a root to the end of a leaf.
    Chain,
    /// The share of roots that have no leaf within the limit.
    Arrivals,
}

/// State of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Judgement {
    /// It holds in the last minute that could be judged, which ended at most two minutes ago.
    Holds,
    /// It does not hold in that minute.
    Broken,
    /// It cannot be judged; `reason` gives the cause.
    NotJudged,
    /// There was no such traffic within the last hour.
    NoTraffic,
}

/// One limit of `--limits` and its state.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct LimitReport {
    /// The class, or root and leaf, as text.
    pub(crate) what: String,
    pub(crate) kind: LimitKind,
    pub(crate) limit_ns: u64,
    pub(crate) state: Judgement,
    /// UTC ns since 1970. `holds`, `broken`: the beginning of the first minute of the uninterrupted
    /// run with this judgement, at most an hour ago. `not_judged`: the end of the last judged
    /// minute, or the beginning of the first minute whose rows cannot be judged. Null for
    /// `no_traffic`.
    pub(crate) since_ns: Option<i64>,
    /// Transactions, chains or roots in the last judged minute.
    pub(crate) count: u64,
    /// Transactions and chains above the limit, or the least number of roots that did not arrive.
    pub(crate) above: u64,
    /// Least number of roots that are too young to be judged and have no leaf yet; null where
    /// arrivals are not limited.
    pub(crate) in_flight: Option<u64>,
    /// The reason for no judgement; null where there is one.
    pub(crate) reason: Option<String>,
    pub(crate) sentence: String,
}

impl Judgement {
    /// All variants.
    pub(crate) const ALL: [Self; 4] = [Self::Holds, Self::Broken, Self::NotJudged, Self::NoTraffic];

    /// Its name in JSON, metrics and the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken => "broken",
            Self::NotJudged => "not_judged",
            Self::NoTraffic => "no_traffic",
        }
    }
}

impl LimitKind {
    /// Its name in JSON, metrics and the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Chain => "chain",
            Self::Arrivals => "arrivals",
        }
    }
}

/// The classes of paths, keyed by the path's text.
pub(super) struct Paths(HashMap<String, Vec<ClassName>>);

impl Paths {
    pub(super) fn of(names: &Names) -> Self {
        let named = |classes: &[_]| classes.iter().map(|id| names.class(*id).cloned()).collect();
        let paths = names.paths().filter_map(|(id, classes)| {
            let hops: Option<Vec<ClassName>> = named(classes);
            Some((names.path_text(id), hops?))
        });
        Self(paths.collect())
    }

    pub(super) fn hops(&self, path: &str) -> &[ClassName] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }
}

/// The last hour, and the context for judging it.
pub(super) struct Judge<'a> {
    pub(super) history: &'a History,
    pub(super) paths: &'a Paths,
    /// Chains of spans, as they came.
    pub(super) spans: &'a LiveLimits,
    /// The instant of the live view: UTC, nanoseconds since 1970.
    pub(super) at_ns: i64,
    /// Instant before which all rows have been collected; `i64::MAX` where there is no collector.
    pub(super) collected_ns: i64,
}

impl Judge<'_> {
    /// State of every limit. A limit with arrivals has two entries: for its chains, and for the
    /// arrivals.
    pub(super) fn reports(&self, limits: &[Limit]) -> Vec<LimitReport> {
        let kinds = |limit: &Limit| match (limit.is_of_chains(), limit.is_of_arrivals()) {
            (false, _) => &[LimitKind::Class][..],
            (true, false) => &[LimitKind::Chain],
            (true, true) => &[LimitKind::Chain, LimitKind::Arrivals],
        };
        let each =
            limits.iter().flat_map(|limit| kinds(limit).iter().map(move |kind| (limit, *kind)));
        each.map(|(limit, kind)| self.report(limit, kind)).collect()
    }

    fn report(&self, limit: &Limit, kind: LimitKind) -> LimitReport {
        let judged = self.judged(limit, kind);
        let last = judged.last().copied();
        let waits_ns = if kind == LimitKind::Arrivals { waits_ns(limit) } else { 0 };
        let ended = |minute: Minute| minute.end_ns().saturating_add(waits_ns);
        let is_fresh = |minute: Minute| ended(minute).saturating_add(FRESH_NS) >= self.at_ns;
        let fresh = last.filter(|(minute, _)| is_fresh(*minute));
        let foreign = self.foreign(limit, kind);
        let unknown = foreign.as_ref().filter(|foreign| fresh.is_none() || is_fresh(foreign.last));
        let (state, since_ns, reason) = match (fresh, unknown, last) {
            (Some((_, verdict)), _, _) if verdict.state() == VerdictState::DoesNotHold => {
                (Judgement::Broken, Some(since_ns(&judged)), None)
            }
            (_, Some(foreign), _) => {
                (Judgement::NotJudged, Some(begin_ns(foreign.first)), Some(foreign.reason()))
            }
            (Some((minute, verdict)), None, _) if !verdict.holds() => {
                let undecided = Thousands(verdict.undecided);
                let reason = if kind == LimitKind::Arrivals {
                    format!(
                        "{undecided} roots may have a leaf below a transaction that took them over a \
                         link: ask chronoscope chains --inputs all"
                    )
                } else {
                    format!(
                        "the root of {undecided} leaves did not come within a minute: they may be \
                         above the limit"
                    )
                };
                (Judgement::NotJudged, Some(begin_ns(minute)), Some(reason))
            }
            (Some(_), None, _) => (Judgement::Holds, Some(since_ns(&judged)), None),
            (None, None, Some((minute, verdict))) => {
                let was = if verdict.holds() { "held" } else { "was broken" };
                let reason = format!("nothing has come since; it {was} then");
                (Judgement::NotJudged, Some(minute.end_ns()), Some(reason))
            }
            (None, None, None) => (Judgement::NoTraffic, None, None),
        };
        let verdict = fresh.or(last).map(|(_, verdict)| verdict);
        let (count, above) = verdict.map_or((0, 0), |verdict| (verdict.count, verdict.above()));
        let sentence = sentence(limit, kind, state, (count, above), reason.as_deref());
        LimitReport {
            what: limit.what(),
            kind,
            limit_ns: limit.limit_ns,
            state,
            since_ns,
            count,
            above,
            in_flight: (kind == LimitKind::Arrivals).then(|| self.in_flight(limit)),
            reason,
            sentence,
        }
    }

    /// The minutes with something to judge, oldest first.
    fn judged(&self, limit: &Limit, kind: LimitKind) -> Vec<(Minute, Verdict)> {
        let minutes = self.history.minutes.iter();
        let judged = minutes.filter_map(|(minute, paths)| match kind {
            LimitKind::Arrivals => self.is_ripe(*minute, limit).then(|| {
                let (roots, arrived) = self.arrived(*minute, paths, limit);
                let missing = roots.saturating_sub(arrived);
                let judged = verdict(limit, roots, missing);
                let undecided = if self.live_of(*minute, limit).linked > 0 { missing } else { 0 };
                (*minute, Verdict { undecided, ..judged })
            }),
            _ => Some((*minute, self.took(*minute, paths, limit))),
        });
        judged.filter(|(_, verdict)| verdict.count > 0).collect()
    }

    /// Durations of a minute against the limit.
    fn took(&self, minute: Minute, paths: &ByPath, limit: &Limit) -> Verdict {
        let LiveMinute { mut count, mut above, unreached, .. } = self.spans_of(minute, limit);
        for (path, rows) in paths {
            let of_path = limit.is_of_path(self.paths.hops(path));
            for row in rows {
                if limit.is_of_class(&row.class) {
                    count += row.count;
                    above += row.elapsed.above(limit.limit_ns);
                } else if of_path && !row.foreign {
                    count += row.count;
                    above += row.since_root.above(limit.limit_ns);
                }
            }
        }
        let judged = verdict(limit, count, above);
        Verdict { count: count + unreached, undecided: unreached, ..judged }
    }

    /// Chains of spans of a minute, where it was followed and they have had the time to come.
    fn spans_of(&self, minute: Minute, limit: &Limit) -> LiveMinute {
        let came = minute.end_ns().saturating_add(EXPORTED_WITHIN_NS) <= self.at_ns;
        if came { self.live_of(minute, limit) } else { LiveMinute::default() }
    }

    /// Chains of a minute that were counted as they came, where it was followed.
    fn live_of(&self, minute: Minute, limit: &Limit) -> LiveMinute {
        if self.spans.covers(minute) { self.spans.of(limit, minute) } else { LiveMinute::default() }
    }

    /// True when all leaves within the limit of a minute's roots have been collected.
    fn is_ripe(&self, minute: Minute, limit: &Limit) -> bool {
        minute.end_ns().saturating_add(waits_ns(limit)) <= self.collected_ns
    }

    /// Roots that started in a minute and have ended, and their leaves that ended within the limit:
    /// native rows lie in the minute of their root's start. A root with several leaves makes up for
    /// others without one, so the difference is a lower bound of the missing roots.
    fn arrived(&self, minute: Minute, paths: &ByPath, limit: &Limit) -> (u64, u64) {
        let over_links = self.live_of(minute, limit);
        let (mut roots, mut arrived) = (0, over_links.count - over_links.above);
        for (path, rows) in paths {
            let hops = self.paths.hops(path);
            let native = rows.iter().filter(|row| !row.foreign);
            if limit.is_of_path(hops) {
                let within = |row: &PathMinute| {
                    row.count.saturating_sub(row.since_root.above(limit.limit_ns))
                };
                arrived += native.map(within).sum::<u64>();
            } else if let [root] = hops
                && limit.is_of_root(root)
            {
                roots += native.map(|row| row.count).sum::<u64>();
            }
        }
        (roots, arrived)
    }

    /// Roots of minutes that are too young to be judged, less the leaves that are here.
    fn in_flight(&self, limit: &Limit) -> u64 {
        let young =
            self.history.minutes.iter().filter(|(minute, _)| !self.is_ripe(**minute, limit));
        let running = (Minute::of(self.at_ns), &self.history.running);
        let young = young.map(|(minute, paths)| (*minute, paths)).chain([running]);
        let open = young.map(|(minute, paths)| self.arrived(minute, paths, limit));
        open.map(|(roots, arrived)| roots.saturating_sub(arrived)).sum()
    }

    /// The rows of a limit's root or leaf that lack their chain's root and were not followed as they
    /// came, where there are any.
    fn foreign(&self, limit: &Limit, kind: LimitKind) -> Option<Foreign> {
        let ended = self.history.minutes.iter().map(|(minute, paths)| (*minute, paths));
        let running = (Minute::of(self.at_ns), &self.history.running);
        let mut found: Option<Foreign> = None;
        for (minute, paths) in ended.chain([running]) {
            if kind == LimitKind::Chain && self.spans.covers(minute) {
                continue;
            }
            for row in paths.values().flatten().filter(|row| row.foreign) {
                let end = if limit.is_of_leaf(&row.class) {
                    "leaf"
                } else if limit.is_of_root(&row.class) {
                    "root"
                } else {
                    continue;
                };
                let class = &row.class;
                let class = class.clone();
                let new = || Foreign { end, class, kind, first: minute, last: minute };
                found.get_or_insert_with(new).last = minute;
            }
        }
        found
    }
}

/// Rows that cannot be judged because they lack their chain's root.
struct Foreign {
    /// Their end of the chain: root or leaf.
    end: &'static str,
    class: ClassName,
    kind: LimitKind,
    /// The first minute of the last hour that has such rows.
    first: Minute,
    last: Minute,
}

impl Foreign {
    fn reason(&self) -> String {
        let why = match self.kind {
            LimitKind::Arrivals => {
                "an exporter may have dropped a leaf that seems to be missing: ask chronoscope chains \
                 --each-root, which knows what each source has delivered"
            }
            _ => {
                "which do not carry the root of their chain: such chains are counted as they come, \
                 in whole minutes since the server has followed them, and these came before"
            }
        };
        format!("its {} {} comes from a source of OpenTelemetry spans, {why}", self.end, self.class)
    }
}

/// Time after a minute until all leaves within the limit have been collected.
fn waits_ns(limit: &Limit) -> i64 {
    i64::try_from(limit.limit_ns).unwrap_or(i64::MAX).saturating_add(COLLECTED_WITHIN_NS)
}

fn verdict(limit: &Limit, count: u64, above: u64) -> Verdict {
    let within = count - above.min(count);
    Verdict {
        requirement: Requirement::within(limit.limit_ns),
        count,
        within,
        ..Verdict::default()
    }
}

/// Start of the last uninterrupted run of minutes with the same judgement.
fn since_ns(judged: &[(Minute, Verdict)]) -> i64 {
    let mut backwards = judged.iter().rev();
    let Some((last, verdict)) = backwards.next() else { return 0 };
    let mut first = *last;
    for (minute, before) in backwards {
        if before.holds() != verdict.holds() || minute.0 + 1 != first.0 {
            break;
        }
        first = *minute;
    }
    begin_ns(first)
}

fn sentence(
    limit: &Limit,
    kind: LimitKind,
    state: Judgement,
    (count, above): (u64, u64),
    reason: Option<&str>,
) -> String {
    let (what, within) = (limit.what(), words(limit.limit_ns as f64));
    let (count, above) = (Thousands(count), Thousands(above));
    match (state, kind) {
        (Judgement::NoTraffic, _) => format!("{what}: nothing of it ran within the last hour"),
        (Judgement::NotJudged, _) => {
            format!("{what}: it cannot be judged: {}", reason.unwrap_or_default())
        }
        (_, LimitKind::Arrivals) => format!(
            "{what}: at least {above} of {count} roots of the last judged minute did not arrive \
             within {within}"
        ),
        _ => {
            format!("{what}: {above} of {count} in the last whole minute took longer than {within}")
        }
    }
}

/// A duration as text.
pub(super) fn words(ns: f64) -> String {
    match ns.abs() {
        size if size < 1e3 => format!("{ns:.0} ns"),
        size if size < 1e6 => format!("{:.3} µs", ns / 1e3),
        size if size < 1e9 => format!("{:.3} ms", ns / 1e6),
        _ => format!("{:.3} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::Buckets;
    use super::*;
    use crate::limits::Limited;
    use chronoscope_chain::live::{LiveEvent, Reached, Unreached};
    use chronoscope_model::{ClassId, PathId};
    use chronoscope_query::ClassSelector;

    const LIMIT_NS: u64 = 10_000_000;

    /// Minutes 5 to 8 have spans of `A::in` and `B::out`; the server has followed since minute 5.
    struct World {
        names: Names,
        history: History,
        spans: LiveLimits,
        limit: Limit,
    }

    impl World {
        fn new() -> Self {
            let class = |application: &str, class: &str| ClassName {
                application: application.to_owned(),
                class: class.to_owned(),
            };
            let classes = [class("A", "in"), class("B", "out")];
            let mut names = Names::default();
            let mut paths = ByPath::new();
            for class in classes {
                names.add_class(class.clone());
                let (elapsed, since_root) = (Buckets::default(), Buckets::default());
                let row = PathMinute { class, foreign: true, count: 9, elapsed, since_root };
                paths.insert(row.class.to_string(), vec![row]);
            }
            let minutes = (5..9).map(|minute| (Minute(minute), paths.clone())).collect();
            let selector = |class: &str| ClassSelector(class.to_owned());
            let (root, leaf) = (selector("A::in"), selector("B::out"));
            let arrivals = Some(chronoscope_rules::Arrivals::EachRoot);
            let of = Limited::Chain { root, leaf, level: Some(1), arrivals };
            let limit = Limit { of, limit_ns: LIMIT_NS };
            let mut spans = LiveLimits::new(vec![limit.clone()].into());
            spans.begin(5 * MINUTE_NS + 1);
            let history = History { minutes, ..History::default() };
            Self { names, history, spans, limit }
        }

        fn come(&mut self, minute: i64, count: u64, duration_ns: u64) {
            let reached = Reached {
                root: ClassId::of("A", "in"),
                class: ClassId::of("B", "out"),
                level: 1,
                root_start_ns: minute * MINUTE_NS,
                duration_ns: duration_ns.cast_signed(),
            };
            for _ in 0..count {
                self.spans.add(LiveEvent::Reached(reached), &self.names, 9 * MINUTE_NS);
            }
        }

        fn lose(&mut self, minute: i64, count: u64) {
            let (class, end_ns) = (ClassId::of("B", "out"), minute * MINUTE_NS);
            for _ in 0..count {
                let event = LiveEvent::Unreached(Unreached { class, end_ns, for_room: false });
                self.spans.add(event, &self.names, 9 * MINUTE_NS);
            }
        }

        /// At `after_ns` after the end of minute 8: the state of the limit, its beginning in
        /// minutes, and the counts.
        fn judged(&self, after_ns: i64) -> (Judgement, Option<i64>, u64, u64, String) {
            let at_ns = 9 * MINUTE_NS + after_ns;
            let paths = &Paths::of(&self.names);
            let (history, spans) = (&self.history, &self.spans);
            let judge = Judge { history, paths, spans, at_ns, collected_ns: at_ns };
            let [chain, arrivals] = &judge.reports(std::slice::from_ref(&self.limit))[..] else {
                panic!("a limit with arrivals has two states")
            };
            let reason = arrivals.reason.clone().unwrap_or_default();
            assert!(reason.contains("an exporter may have dropped a leaf"), "{reason}");
            let since = chain.since_ns.map(|ns| ns / MINUTE_NS);
            let reason = chain.reason.clone().unwrap_or_default();
            (chain.state, since, chain.count, chain.above, reason)
        }
    }

    #[test]
    fn a_limit_on_chains_of_spans_is_judged_once_they_have_had_the_time_to_come() {
        let mut world = World::new();
        for minute in 5..8 {
            world.come(minute, 1000, LIMIT_NS);
        }
        world.come(8, 100, LIMIT_NS + 1);
        let quick = (Judgement::Holds, Some(6), 1000, 0, String::new());
        assert_eq!(world.judged(EXPORTED_WITHIN_NS - 1), quick, "minute 8 is too young");
        let slow = (Judgement::Broken, Some(8), 100, 100, String::new());
        assert_eq!(world.judged(EXPORTED_WITHIN_NS), slow);
    }

    #[test]
    fn leaves_whose_root_did_not_come_may_be_above_the_limit() {
        let mut world = World::new();
        world.come(8, 1000, LIMIT_NS);
        world.lose(8, 1);
        assert_eq!(
            world.judged(EXPORTED_WITHIN_NS).0,
            Judgement::Holds,
            "one in a thousand may be"
        );
        world.lose(8, 3);
        let (state, since, count, above, reason) = world.judged(EXPORTED_WITHIN_NS);
        assert_eq!((state, since, count, above), (Judgement::NotJudged, Some(8), 1004, 0));
        assert!(reason.starts_with("the root of 4 leaves did not come"), "{reason}");
        world.come(8, 4, LIMIT_NS + 1);
        assert_eq!(world.judged(EXPORTED_WITHIN_NS).0, Judgement::Broken, "whatever they were");
    }

    /// A thousand roots of our recorder a minute, of which no row below is in their chains.
    fn native_roots() -> World {
        let mut world = World::new();
        for paths in world.history.minutes.values_mut() {
            paths.retain(|path, _| path == "A::in");
            paths.values_mut().flatten().for_each(|row| (row.foreign, row.count) = (false, 1000));
        }
        let root = ClassId::of("A", "in");
        world.names.add_path(PathId::root(root), vec![root]);
        world
    }

    fn arrivals(world: &World) -> (Judgement, u64, String) {
        let at_ns = 9 * MINUTE_NS + EXPORTED_WITHIN_NS;
        let paths = &Paths::of(&world.names);
        let (history, spans) = (&world.history, &world.spans);
        let judge = Judge { history, paths, spans, at_ns, collected_ns: at_ns };
        let report = judge.reports(std::slice::from_ref(&world.limit)).pop().unwrap();
        (report.state, report.above, report.reason.unwrap_or_default())
    }

    #[test]
    fn roots_that_a_batch_takes_over_links_have_arrived() {
        let mut world = native_roots();
        assert_eq!(arrivals(&world), (Judgement::Broken, 1000, String::new()));
        world.come(8, 999, LIMIT_NS);
        world.come(8, 1, LIMIT_NS + 1);
        assert_eq!(arrivals(&world), (Judgement::Holds, 1, String::new()));
    }

    /// Below a transaction that is not the leaf there may be a leaf, and it is not known of which
    /// roots.
    #[test]
    fn roots_that_another_class_takes_over_links_may_have_arrived() {
        for of_unknown in [false, true] {
            let mut world = native_roots();
            world.come(8, 900, LIMIT_NS);
            let now_ns = 9 * MINUTE_NS;
            if of_unknown {
                world.spans.links_unknown(8 * MINUTE_NS + 5, now_ns);
            } else {
                let merge = ClassName { application: "B".to_owned(), class: "merge".to_owned() };
                let class = ClassId::of("B", "merge");
                world.names.add_class(merge);
                let (root, root_start_ns) = (ClassId::of("A", "in"), 8 * MINUTE_NS);
                let reached = Reached { root, class, level: 1, root_start_ns, duration_ns: 5 };
                world.spans.linked(&reached, &world.names, now_ns);
            }
            let (state, _, reason) = arrivals(&world);
            assert_eq!(state, Judgement::NotJudged);
            assert!(reason.starts_with("100 roots may have a leaf below"), "{reason}");
        }
    }

    #[test]
    fn spans_that_came_before_the_server_are_not_judged() {
        let mut world = World::new();
        world.spans.begin(8 * MINUTE_NS);
        world.come(8, 100, LIMIT_NS + 1);
        let (state, since, .., reason) = world.judged(EXPORTED_WITHIN_NS);
        assert_eq!((state, since), (Judgement::NotJudged, Some(5)));
        assert!(reason.contains("in whole minutes since the server has followed them"), "{reason}");
    }
}
