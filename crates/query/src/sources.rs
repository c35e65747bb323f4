//! Evidence about the sources of a class: their delivery state and their losses.

use chronoscope_chain::ClassSelector;
use chronoscope_chain::arrivals::Evidence;
use chronoscope_model::{ProcessId, ProcessName};
use chronoscope_store::{DELIVERED_ALL, Ledger, Loss, SPANS_WITHIN_NS, Snapshot};
use std::collections::BTreeSet;

/// A source that has delivered less than others by this is silent: they note how far they are
/// about once a second.
const SILENT_AFTER_NS: i64 = 5_000_000_000;

/// Time after a range by which transactions that started in it are taken to have ended.
pub(crate) const ENDS_WITHIN_NS: i64 = 3_600_000_000_000;

/// The application of the process under which an agent's collector counts what a spool dropped
/// begins so: any program of the agent's host may have lost it.
const SPOOL_PREFIX: &str = "chronoscope agent ";

/// A source that is behind others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentSource {
    /// The process.
    pub process: ProcessName,
    /// All that ended before this instant is stored: UTC, nanoseconds since 1970; `None` without
    /// any delivery note.
    pub delivered_ns: Option<i64>,
}

/// The processes that may record a class.
pub(crate) struct Sources<'a> {
    ledger: &'a Ledger,
    processes: Vec<(ProcessId, &'a ProcessName)>,
    /// Spools of agents, whose losses may be anybody's.
    spools: Vec<ProcessId>,
}

impl<'a> Sources<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot, class: &ClassSelector) -> Self {
        let ledger = snapshot.ledger();
        let classes = ledger.names.classes().filter(|(_, name)| class.selects(name));
        let applications: BTreeSet<&str> =
            classes.map(|(_, name)| name.application.as_str()).collect();
        let may = |name: &ProcessName| applications.contains(name.application.as_str());
        let processes = ledger.names.processes().filter(|(_, name)| may(name)).collect();
        let is_spool = |name: &ProcessName| name.application.starts_with(SPOOL_PREFIX);
        let spools = ledger.names.processes().filter(|(_, name)| is_spool(name));
        Self { ledger, processes, spools: spools.map(|(id, _)| id).collect() }
    }

    /// Whether any of them exports spans.
    fn exports(&self) -> bool {
        self.processes.iter().any(|(id, _)| self.ledger.deliveries.exports(*id))
    }

    /// A process of which nobody knows yet may have recorded the class, but no row that ended
    /// before: its ring would have been seen, its first spans would be here.
    fn as_of_ns(&self) -> i64 {
        let deliveries = &self.ledger.deliveries;
        let finite = deliveries.iter().map(|(_, known)| known.until_ns);
        let newest = || finite.filter(|at| *at < DELIVERED_ALL).max();
        let looked = deliveries.collector_ns();
        match looked.or_else(newest) {
            Some(at_ns) if self.exports() => at_ns.saturating_sub(SPANS_WITHIN_NS),
            Some(at_ns) => at_ns,
            None => DELIVERED_ALL,
        }
    }

    /// All of them have delivered what ended before.
    pub(crate) fn horizon_ns(&self) -> Option<i64> {
        let delivered = |(id, _): &(ProcessId, _)| self.ledger.deliveries.of(*id);
        let all: Option<Vec<i64>> = self.processes.iter().map(delivered).collect();
        Some(all?.into_iter().min()?.min(self.as_of_ns()))
    }

    /// Roots that ended before are here. A source of spans that is silent is taken to have nothing
    /// to say: what its exporter drops while the collector is there, nobody can know.
    pub(crate) fn roots_until_ns(&self) -> Option<i64> {
        let deliveries = &self.ledger.deliveries;
        let rings = self.processes.iter().filter(|(id, _)| !deliveries.exports(*id));
        let all: Option<Vec<i64>> = rings.map(|(id, _)| deliveries.of(*id)).collect();
        let all = all.filter(|_| !self.processes.is_empty())?;
        Some(all.into_iter().min().unwrap_or(DELIVERED_ALL).min(self.as_of_ns()))
    }

    /// The sources that are behind.
    pub(crate) fn silent(&self) -> Vec<SilentSource> {
        let behind_ns = self.as_of_ns().saturating_sub(SILENT_AFTER_NS);
        let delivered = self.processes.iter().map(|(id, name)| SilentSource {
            process: (*name).clone(),
            delivered_ns: self.ledger.deliveries.of(*id),
        });
        let mut silent: Vec<SilentSource> = delivered
            .filter(|source| source.delivered_ns.is_none_or(|at| at < behind_ns))
            .collect();
        // The same order every time: answers are compared.
        silent.sort_by_cached_key(|SilentSource { process, delivered_ns }| {
            let (application, host) = (process.application.clone(), process.host.clone());
            (*delivered_ns, process.pid, process.start_ns, application, host)
        });
        silent
    }

    /// Processes whose losses may concern the question. For spans, also losses while no collector
    /// was there; for all, losses that a lost manifest may have recorded.
    fn ids(&self) -> impl Iterator<Item = ProcessId> {
        let of_all = self.ledger.losses.iter().any(Loss::is_forgotten);
        let exporters = (of_all || self.exports()).then_some(ProcessId::NONE);
        let own = self.processes.iter().map(|(id, _)| *id);
        own.chain(self.spools.iter().copied()).chain(exporters)
    }

    /// Number of their rows with an end in a time range that may be lost; `u64::MAX` where nobody
    /// counted them.
    pub(crate) fn lost_rows(&self, from_ns: i64, until_ns: i64) -> u64 {
        let ids: BTreeSet<ProcessId> = self.ids().collect();
        let losses = self.ledger.losses.iter().filter(|loss| {
            ids.contains(&loss.process) && loss.until_ns >= from_ns && loss.from_ns <= until_ns
        });
        let counted = |rows: u64| if rows == 0 { u64::MAX } else { rows };
        let timed = losses.fold(0_u64, |sum, loss| sum.saturating_add(counted(loss.rows)));
        let untimed = ids.iter().map(|id| self.ledger.lost_at_unknown_times(*id));
        untimed.fold(timed, u64::saturating_add).saturating_add(self.ledger.damaged_rows)
    }
}

/// Evidence about the sources of a leaf's class.
pub(crate) fn evidence(snapshot: &Snapshot, leaf: &ClassSelector) -> Evidence {
    let (ledger, sources) = (snapshot.ledger(), Sources::of(snapshot, leaf));
    let ids: BTreeSet<ProcessId> = sources.ids().collect();
    let losses = ledger.losses.iter().filter(|loss| ids.contains(&loss.process));
    let losses = losses.map(|loss| loss.from_ns..=loss.until_ns).collect();
    let untimed = ids.iter().any(|id| ledger.lost_at_unknown_times(*id) > 0);
    let as_of_ns = sources.as_of_ns();
    let evidence = Evidence {
        horizon_ns: sources.horizon_ns(),
        newest_ns: Some(as_of_ns).map(|at| match at {
            DELIVERED_ALL => at,
            at => at.saturating_sub(SILENT_AFTER_NS),
        }),
        damaged: untimed || ledger.damaged_rows > 0 || !snapshot.damage().is_empty(),
        expired_until_ns: ledger.expired_until_ns,
        deleted_ns: ledger.deletions.iter().map(|of| of.from_ns..of.until_ns).collect(),
        aliases_dropped: ledger.aliases.dropped() > 0,
        ..Evidence::default()
    };
    evidence.with_losses(losses)
}
