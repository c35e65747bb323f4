//! Arrivals of roots as JSON: the same in the API and in `--json`.

use chronoscope_chain::arrivals::{RootState, Unknown};
use chronoscope_chain::{QUANTILES, Verdict};
use chronoscope_query::{Arrivals, RootWithoutLeaf, SilentSource};
use chronoscope_store::DELIVERED_ALL;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Verdict on a requirement, by exact counts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct VerdictView {
    limit_ns: u64,
    /// The share that has to be within the limit.
    share: f64,
    /// `holds`, `does_not_hold` or `undetermined`.
    state: &'static str,
    /// Counted population: `roots` or `chains`.
    population: &'static str,
    count: u64,
    /// Number certainly within the limit.
    within: u64,
    /// Number certainly above the limit, or never to arrive.
    above: u64,
    share_above: f64,
    /// Number that is undecided.
    undecided: u64,
    /// Largest number of further ones; null where it is not known.
    unseen: Option<u64>,
    /// Number of roots that did not arrive, where no arrival was required.
    not_arrived: u64,
    holds: bool,
    sentence: String,
}

impl From<&Verdict> for VerdictView {
    fn from(of: &Verdict) -> Self {
        Self {
            limit_ns: of.requirement.limit_ns,
            share: f64::from(of.requirement.share_millionths) / 1e6,
            state: of.state().name(),
            population: of.population.name(),
            count: of.count,
            within: of.within,
            above: of.above(),
            share_above: of.share_above(),
            undecided: of.undecided,
            unseen: finite(of.unseen),
            not_arrived: of.not_arrived,
            holds: of.holds(),
            sentence: of.to_string(),
        }
    }
}

/// Number of roots in each state, with reasons.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ArrivalsView {
    /// Number of all roots.
    roots: u64,
    /// Number of judged roots: those that started before `judged_until_ns`.
    judged: u64,
    /// Roots that ended before are here: UTC ns since 1970; null where that is not known, and where
    /// all sources have ended. The verdict is on roots that started before.
    judged_until_ns: Option<i64>,
    /// Number of roots known from their descendants only.
    from_descendants: u64,
    arrived: u64,
    /// Number of arrived roots above the limit.
    late: u64,
    failed: u64,
    open: u64,
    missing: u64,
    unknown: u64,
    /// The unknown by reason.
    unknown_because: BTreeMap<&'static str, u64>,
    /// Certain to have arrived within the limit.
    in_time: u64,
    /// Certain not to have arrived within the limit.
    not_in_time: u64,
    leaves: u64,
    /// Number of leaves within the limit.
    leaves_in_time: u64,
    /// Leaves that FAILED or were ABORTED.
    failed_leaves: u64,
    /// Leaves below no known root, because rows are missing.
    unlinked_leaves: u64,
    /// Transactions of the leaf's class below no such root.
    leaves_elsewhere: u64,
    /// Links of other transactions to the chains of the roots, which were not followed.
    unfollowed_links: u64,
    /// Roots that may have been lost: at most so many; null where nobody knows.
    roots_lost_max: Option<u64>,
    /// Whether any source of the leaf's class reports how far it has delivered.
    horizon_known: bool,
    /// All sources of the leaf's class have delivered the rows that ended before this time: UTC ns
    /// since 1970; null where it is not known, and where all sources have ended.
    horizon_ns: Option<i64>,
    /// Over all roots, by name: p50 and so on.
    quantiles_ns: BTreeMap<String, BoundsView>,
    /// Sources of the leaf's class that have delivered less than others.
    silent: Vec<SilentView>,
    /// The first roots that did not arrive, by start.
    named: Vec<NamedRoot>,
}

/// A duration between two bounds; a bound that is null is infinite.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct BoundsView {
    at_least_ns: Option<u64>,
    at_most_ns: Option<u64>,
}

/// A source that is behind others.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SilentView {
    application: String,
    host: String,
    pid: u32,
    /// UTC ns since 1970; null where the source reported nothing.
    delivered_ns: Option<i64>,
}

impl From<&SilentSource> for SilentView {
    fn from(of: &SilentSource) -> Self {
        let process = &of.process;
        Self {
            application: process.application.clone(),
            host: process.host.clone(),
            pid: process.pid,
            delivered_ns: of.delivered_ns,
        }
    }
}

/// A root that did not arrive or whose arrival is unknown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct NamedRoot {
    /// UTC ns since 1970.
    start_ns: i64,
    chain: String,
    /// `failed`, `open`, `missing` or `unknown`.
    state: &'static str,
    /// Reason why it is unknown.
    why: Option<&'static str>,
}

impl From<&RootWithoutLeaf> for NamedRoot {
    fn from(of: &RootWithoutLeaf) -> Self {
        let why = match of.state {
            RootState::Unknown(why) => Some(why.name()),
            _ => None,
        };
        Self { start_ns: of.start_ns, chain: of.chain.to_string(), state: of.state.name(), why }
    }
}

impl From<&Arrivals> for ArrivalsView {
    fn from(of: &Arrivals) -> Self {
        let totals = &of.totals;
        let unknown = Unknown::ALL.iter().zip(totals.unknown).filter(|(_, roots)| *roots > 0);
        let quantiles = QUANTILES.iter().filter_map(|quantile| {
            let bounds = of.durations.quantile(*quantile)?;
            let view = BoundsView {
                at_least_ns: finite(bounds.at_least_ns),
                at_most_ns: finite(bounds.at_most_ns),
            };
            Some((quantile.to_string(), view))
        });
        let instant = |at: Option<i64>| at.filter(|at| *at < DELIVERED_ALL);
        Self {
            roots: totals.roots,
            judged: of.judged.roots,
            judged_until_ns: instant(of.roots_until_ns),
            from_descendants: totals.from_descendants,
            arrived: totals.arrived,
            late: totals.late,
            failed: totals.failed,
            open: totals.open,
            missing: totals.missing,
            unknown: totals.unknown_roots(),
            unknown_because: unknown.map(|(why, roots)| (why.name(), roots)).collect(),
            in_time: totals.in_time,
            not_in_time: totals.not_in_time,
            leaves: totals.leaves,
            leaves_in_time: totals.leaves_in_time,
            failed_leaves: totals.failed_leaves,
            unlinked_leaves: totals.unlinked_leaves,
            leaves_elsewhere: totals.leaves_elsewhere,
            unfollowed_links: of.unfollowed_links,
            roots_lost_max: finite(of.roots_lost_max),
            horizon_known: of.horizon_ns.is_some(),
            horizon_ns: instant(of.horizon_ns),
            quantiles_ns: quantiles.collect(),
            silent: of.silent.iter().map(SilentView::from).collect(),
            named: of.named.iter().map(NamedRoot::from).collect(),
        }
    }
}

/// The number; `None` for the largest, which stands for infinity.
fn finite(number: u64) -> Option<u64> {
    (number < u64::MAX).then_some(number)
}
