//! Judges each limit: it holds, it is broken, or it cannot be judged, with the reason.
//!
//! A limit is judged minute by minute over the last hour. A judgement older than two minutes says
//! nothing about now. Chains whose rows do not carry their root (spans of OpenTelemetry) are
//! assembled only on request, and are not judged here.

use super::history::{ByPath, History, PathMinute, begin_ns};
use crate::limits::Limit;
use chronoscope_chain::{Requirement, Thousands, Verdict};
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

    fn hops(&self, path: &str) -> &[ClassName] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }
}

/// The last hour, and the context for judging it.
pub(super) struct Judge<'a> {
    pub(super) history: &'a History,
    pub(super) paths: &'a Paths,
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
        let foreign = self.foreign(limit);
        let unknown = foreign.as_ref().filter(|foreign| fresh.is_none() || is_fresh(foreign.last));
        let (state, since_ns, reason) = match (fresh, unknown, last) {
            (Some((_, verdict)), _, _) if !verdict.holds() => {
                (Judgement::Broken, Some(since_ns(&judged)), None)
            }
            (_, Some(foreign), _) => {
                (Judgement::NotJudged, Some(begin_ns(foreign.first)), Some(foreign.reason()))
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
                let (roots, arrived) = self.arrived(paths, limit);
                (*minute, verdict(limit, roots, roots.saturating_sub(arrived)))
            }),
            _ => Some((*minute, self.took(paths, limit))),
        });
        judged.filter(|(_, verdict)| verdict.count > 0).collect()
    }

    /// Durations of a minute against the limit.
    fn took(&self, paths: &ByPath, limit: &Limit) -> Verdict {
        let (mut count, mut above) = (0, 0);
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
        verdict(limit, count, above)
    }

    /// True when all leaves within the limit of a minute's roots have been collected.
    fn is_ripe(&self, minute: Minute, limit: &Limit) -> bool {
        minute.end_ns().saturating_add(waits_ns(limit)) <= self.collected_ns
    }

    /// Roots that started in a minute and have ended, and their leaves that ended within the limit:
    /// native rows lie in the minute of their root's start. A root with several leaves makes up for
    /// others without one, so the difference is a lower bound of the missing roots.
    fn arrived(&self, paths: &ByPath, limit: &Limit) -> (u64, u64) {
        let (mut roots, mut arrived) = (0, 0);
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
        let young = young.map(|(_, paths)| paths).chain([&self.history.running]);
        let open = young.map(|paths| self.arrived(paths, limit));
        open.map(|(roots, arrived)| roots.saturating_sub(arrived)).sum()
    }

    /// The rows of a limit's root or leaf that lack their chain's root, where there are any.
    fn foreign(&self, limit: &Limit) -> Option<Foreign> {
        let ended = self.history.minutes.iter().map(|(minute, paths)| (*minute, paths));
        let running = (Minute::of(self.at_ns), &self.history.running);
        let mut found: Option<Foreign> = None;
        for (minute, paths) in ended.chain([running]) {
            for row in paths.values().flatten().filter(|row| row.foreign) {
                let end = if limit.is_of_leaf(&row.class) {
                    "leaf"
                } else if limit.is_of_root(&row.class) {
                    "root"
                } else {
                    continue;
                };
                let class = &row.class;
                let new = || Foreign { end, class: class.clone(), first: minute, last: minute };
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
    /// The first minute of the last hour that has such rows.
    first: Minute,
    last: Minute,
}

impl Foreign {
    fn reason(&self) -> String {
        format!(
            "its {} {} comes from a source of OpenTelemetry spans, which do not carry the root of \
             their chain: such chains are put together when somebody asks (chronoscope chains), and \
             are not counted as they come",
            self.end, self.class
        )
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
