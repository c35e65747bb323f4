//! `/now` of a cluster: the same numbers from the shards' rows, and what all collectors publish.

use super::alarms::{self, host_that_stands_out};
use super::{Api, Seen, Sums, causes, is_live, reports};
use chronoscope_clickhouse::OpenRow;
use chronoscope_collect::Status;
use chronoscope_model::ClassName;
use chronoscope_query::{ClusterView, HostMeasure, Progress, QueryError, StoreView};
use chronoscope_store::Minute;
use std::collections::BTreeMap;

/// Minutes over which hosts are compared: those of rows that files have not sealed yet.
const COMPARED_MINUTES: i64 = 3;

/// Whether somebody collects, and the instant that is called now, as [`super::instant`].
pub(super) fn instant(
    remote: &ClusterView,
    collector: Option<&Status>,
    now_ns: i64,
) -> Result<(bool, i64), QueryError> {
    if is_live(collector, now_ns) {
        return Ok((true, now_ns));
    }
    Ok((false, remote.extent()?.map_or(0, |extent| extent.end)))
}

impl Seen {
    /// What a cluster has of now; `open`: what all collectors publish of open transactions.
    pub(super) fn of_cluster(
        api: &Api,
        (view, remote): (&StoreView, &ClusterView),
        collector: Option<&Status>,
        ((now_ns, as_of_ns), open): ((i64, i64), &[OpenRow]),
        (window_s, progress): (u64, &Progress),
    ) -> Result<Self, QueryError> {
        let (live, at_ns) = instant(remote, collector, now_ns)?;
        let window_ns = i64::try_from(window_s * 1_000_000_000).unwrap_or(i64::MAX);
        let history = api.watch.minutes.history(remote, at_ns)?;
        let limits = match api.limits.is_empty() {
            true => Vec::new(),
            false => {
                let (names, spans) = (remote.class_and_path_names()?, api.watch.spans.counted());
                reports(&history, api, (&names, &spans), (live, at_ns))
            }
        };
        let mut seen = Self {
            at_ns,
            as_of_ns,
            live,
            classes: BTreeMap::new(),
            hosts: BTreeMap::new(),
            alarms: Vec::new(),
            limits,
            damage: Vec::new(),
        };
        for (class, ended) in remote.ended(&(at_ns.saturating_sub(window_ns)..at_ns))? {
            seen.hosts.entry(class.application.clone()).or_default().extend(ended.hosts);
            let sums = Sums {
                elapsed: ended.elapsed,
                cpu_ns: ended.cpu_ns,
                not_good: ended.not_good,
                open: 0,
            };
            seen.classes.insert(class, sums);
        }
        let ran = seen.ran();
        for row in open {
            let class =
                ClassName { application: row.application.clone(), class: row.class.clone() };
            seen.classes.entry(class).or_default().open += row.count;
        }
        let minute = Minute::of(at_ns);
        let compared = Minute(minute.0 - COMPARED_MINUTES)..=minute;
        let slow_host = |class: &ClassName, part: &str| {
            let measure = match part {
                "work" => HostMeasure::Elapsed,
                _ => HostMeasure::StartSinceRoot,
            };
            let medians = remote.host_medians(class, measure, &compared)?;
            let medians = medians.iter().map(|(host, median)| (host.as_str(), *median));
            Ok(host_that_stands_out(medians.collect()))
        };
        let slow = alarms::slow(&history, at_ns, &slow_host)?;
        let causes = causes(api, &seen.limits, (view, at_ns), progress)?;
        let collector = collector.map(|status| (status, now_ns));
        seen.add_alarms(api, (causes, slow), (&history, &ran), collector);
        Ok(seen)
    }
}
