//! `GET /now`: current load, and alarms.
//!
//! The window's numbers come from the rows that are not sealed yet, and from sketches where it
//! reaches further back or nothing is live; the alarms from the minutes of the last hour.

mod alarms;
mod attribute_cause;
mod cluster;
mod cluster_history;
mod history;
mod judge;
mod limit_log;
mod slower;
mod watch;

use super::error::{ApiError, ErrorBody};
use super::parameters::{PlainParameters, QuestionName};
use super::rings::rings_in;
use super::stored::quantiles;
use super::{Api, cpu};
use crate::limits::Limit;
use crate::metrics::live::LiveLimits;
use alarms::{Alarm, slow_host};
use attribute_cause::AttributeCause;
use axum::Json;
use axum::extract::State;
use chronoscope_chain::{Requirement, Verdict};
use chronoscope_collect::Status;
use chronoscope_model::{ClassName, Names, Status as Ended};
use chronoscope_query::{Limits, Progress, QueryEnvironment, QueryError, StoreView};
use chronoscope_statistics::{Histogram, bucket_min};
use chronoscope_store::{Snapshot, StoreError, read_sketch};
use history::History;
use judge::{Judge, Paths};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use utoipa::{IntoParams, ToSchema};

#[cfg(test)]
pub(crate) use judge::LimitKind;
pub(crate) use judge::{Judgement, LimitReport};
pub(crate) use watch::Watch;

/// Seconds of a window.
const WINDOW_S: std::ops::RangeInclusive<u64> = 1..=3600;
/// A collector whose last status is older than this is not live.
const LIVE_WITHIN_NS: i64 = 10_000_000_000;

/// Length of the window.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Window {
    /// Seconds; the default is 60.
    #[param(minimum = 1, maximum = 3600)]
    window_s: Option<u64>,
}

/// Current load and alarms.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Now {
    /// The window's end: UTC ns since 1970. Now; where nothing is live, the end of the last minute
    /// that has rows; 0 where nothing is stored.
    at_ns: i64,
    /// Time at which the store was read, at most a second ago: UTC ns since 1970.
    as_of_ns: i64,
    window_s: u64,
    /// Whether somebody collects into this store.
    live: bool,
    /// Applications, by name.
    applications: Vec<Application>,
    alarms: Vec<Alarm>,
    /// Every limit of `--limits`, with its state.
    limits: Vec<LimitReport>,
    /// Unreadable parts of the store, in words.
    damage: Vec<String>,
}

/// One application.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Application {
    application: String,
    /// Number of live processes, as reported by the collector.
    processes: u64,
    hosts: Vec<String>,
    /// Rows that its processes overwrote before they were read, ever.
    lost_rows: u64,
    /// Rings of its processes in which damage was found: each has lost rows, of unknown number.
    damaged_rings: u64,
    /// Transactions that have not ended: of processes on this host; where the store is a cluster, on
    /// all hosts with agents.
    open: u64,
    classes: Vec<Class>,
}

/// One class. Quantiles are at most 3.125 % too large.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Class {
    class: String,
    /// Transactions in the window.
    count: u64,
    rate_per_s: f64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
    /// Processors that its threads kept busy, those of transactions inside them among it; null
    /// where no transaction in the window has a CPU time.
    cpu_share: Option<f64>,
    /// Transactions that have not ended: of processes on this host; where the store is a cluster, on
    /// all hosts with agents.
    open: u64,
    /// Transactions whose status is not GOOD.
    not_good: u64,
    /// The limit on its elapsed time, where there is one.
    limit: Option<LimitState>,
}

/// A limit, in the window.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(super) struct LimitState {
    limit_ns: u64,
    /// Transactions that took longer, but for those in the limit's own bucket of 3.125 %.
    above: u64,
    /// In [0, 1].
    share_above: f64,
    /// Whether less than 0.3 % took longer.
    holds: bool,
}

/// Sums over the transactions of a class in the window.
#[derive(Default)]
struct Sums {
    elapsed: Histogram,
    cpu_ns: u64,
    not_good: u64,
    open: u64,
}

/// Current load per application and class, and alarms.
#[utoipa::path(get, path = "/now", tag = "now", params(Window, QuestionName),
    responses((status = 200, body = Now), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn now(
    State(api): State<Api>,
    PlainParameters { id, own: Window { window_s } }: PlainParameters<Window>,
) -> Result<Json<Now>, ApiError> {
    let window_s = window_s.unwrap_or(60);
    if !WINDOW_S.contains(&window_s) {
        return Err(ApiError::question("window_s: from 1 to 3600"));
    }
    let now_ns = chronoscope_clock::utc_now_ns();
    api.ask(id, move |api, progress| {
        let everybody = api.everybody()?;
        let collector = api.collector_status()?;
        let open = everybody.as_ref().map_or(&[][..], |everybody| &everybody.published.open);
        let seen = api.recently(|view, as_of_ns| {
            let times = (now_ns, as_of_ns);
            let asked = (window_s, progress);
            Ok(match view {
                StoreView::Files(snapshot) => {
                    Seen::new(api, (view, snapshot), collector.as_ref(), times, asked)?
                }
                StoreView::Cluster(remote) => {
                    let remote = (view, remote);
                    Seen::of_cluster(api, remote, collector.as_ref(), (times, open), asked)?
                }
            })
        })?;
        Ok(seen.into_now(collector.as_ref(), &api.limits, window_s))
    })
    .await
}

/// Whether somebody collects, and the instant that is called now: where nobody does, the end of the
/// last minute that has rows.
fn instant(snapshot: &Snapshot, collector: Option<&Status>, now_ns: i64) -> (bool, i64) {
    let live = is_live(collector, now_ns);
    let at_ns = match live {
        true => now_ns,
        false => snapshot.extent().map_or(0, |extent| extent.end),
    };
    (live, at_ns)
}

/// Whether somebody collects.
fn is_live(collector: Option<&Status>, now_ns: i64) -> bool {
    let said = collector.filter(|status| status.running);
    said.is_some_and(|status| now_ns.abs_diff(status.at_ns) < LIVE_WITHIN_NS as u64)
}

/// State of the limits at an instant.
fn reports(
    history: &History,
    api: &Api,
    (names, spans): (&Names, &LiveLimits),
    (live, at_ns): (bool, i64),
) -> Vec<LimitReport> {
    if api.limits.is_empty() {
        return Vec::new();
    }
    let paths = &Paths::of(names);
    let collected_ns = if live { at_ns } else { i64::MAX };
    Judge { history, paths, spans, at_ns, collected_ns }.reports(&api.limits)
}

/// The attribute values that stand out above the broken limits, in the order of the reports.
fn causes(
    api: &Api,
    reports: &[LimitReport],
    at: (&StoreView, i64),
    progress: &Progress,
) -> Result<Vec<Option<AttributeCause>>, QueryError> {
    let limits = Limits::default();
    let asking = QueryEnvironment { limits: &limits, progress, cache: &api.durations };
    api.watch.causes.of(reports, at, &api.limits, &asking)
}

/// Rows and open transactions found in the window.
struct Seen {
    at_ns: i64,
    as_of_ns: i64,
    live: bool,
    classes: BTreeMap<ClassName, Sums>,
    hosts: BTreeMap<String, BTreeSet<String>>,
    alarms: Vec<Alarm>,
    limits: Vec<LimitReport>,
    damage: Vec<String>,
}

impl Seen {
    fn new(
        api: &Api,
        (view, snapshot): (&StoreView, &Snapshot),
        collector: Option<&Status>,
        (now_ns, as_of_ns): (i64, i64),
        (window_s, progress): (u64, &Progress),
    ) -> Result<Self, QueryError> {
        let (live, at_ns) = instant(snapshot, collector, now_ns);
        let window_ns = i64::try_from(window_s * 1_000_000_000).unwrap_or(i64::MAX);
        let window = at_ns.saturating_sub(window_ns)..at_ns;
        let history = api.watch.cache.history(snapshot, at_ns)?;
        let mut seen = Self {
            at_ns,
            as_of_ns,
            live,
            classes: BTreeMap::new(),
            hosts: BTreeMap::new(),
            alarms: Vec::new(),
            limits: reports(
                &history,
                api,
                (snapshot.names(), &api.metrics.live_limits()),
                (live, at_ns),
            ),
            damage: history.damage.clone(),
        };
        seen.add_sealed(snapshot, &window)?;
        seen.add_unsealed(snapshot, &window);
        let ran = seen.ran();
        seen.add_open(&api.rings);
        let causes = causes(api, &seen.limits, (view, at_ns), progress)?;
        let slow_host = |class: &ClassName, part: &str| Ok(slow_host(snapshot, class, part));
        let slow = alarms::slow(&history, at_ns, &slow_host)?;
        let collector = collector.map(|status| (status, now_ns));
        seen.add_alarms(api, (causes, slow), (&history, &ran), collector);
        Ok(seen)
    }

    /// The classes that ran in the window.
    fn ran(&self) -> BTreeSet<ClassName> {
        let ran = self.classes.iter().filter(|(_, sums)| sums.elapsed.count() > 0);
        ran.map(|(class, _)| class.clone()).collect()
    }

    /// Adds all alarms: those of the limits with their causes, of the rules, of slow hops, and where
    /// somebody collects those of classes and programs that are silent.
    fn add_alarms(
        &mut self,
        api: &Api,
        (causes, slow): (Vec<Option<AttributeCause>>, Vec<Alarm>),
        (history, ran): (&History, &BTreeSet<ClassName>),
        collector: Option<(&Status, i64)>,
    ) {
        self.alarms.extend(alarms::limits(&self.limits, causes));
        self.alarms.extend(alarms::rules(&api.rules.standings()));
        self.alarms.extend(slow);
        if self.live
            && let Some((status, now_ns)) = collector
        {
            let silent = alarms::silent(history, ran, &status.processes);
            self.alarms.extend(silent);
            self.alarms.extend(api.watch.programs(status, now_ns));
        }
        self.alarms.sort_by(|a, b| (a.kind, &a.what).cmp(&(b.kind, &b.what)));
    }

    /// Minutes that begin in the window.
    fn add_sealed(&mut self, snapshot: &Snapshot, window: &Range<i64>) -> Result<(), StoreError> {
        for segment in snapshot.segments() {
            if !window.contains(&segment.slot.minute.start_ns()) {
                continue;
            }
            let rows = match read_sketch(segment) {
                Ok(rows) => rows,
                Err(error) if error.is_missing() => return Err(error),
                Err(_) => continue, // the history has told it
            };
            for row in rows {
                let class = ClassName { application: row.application, class: row.class };
                let sums = self.classes.entry(class).or_default();
                sums.elapsed.merge(&row.elapsed);
                sums.cpu_ns = sums.cpu_ns.saturating_add(row.cpu_ns);
                sums.not_good += row.not_good;
            }
        }
        Ok(())
    }

    /// Rows that are not sealed yet and ended in the window.
    fn add_unsealed(&mut self, snapshot: &Snapshot, window: &Range<i64>) {
        let names = snapshot.names();
        for record in snapshot.unsealed().records() {
            let Some(class) = names.class(record.class) else { continue }; // named with the next
            if !window.contains(&record.end_ns()) {
                continue;
            }
            if !self.classes.contains_key(class) {
                self.classes.insert(class.clone(), Sums::default());
            }
            let Some(sums) = self.classes.get_mut(class) else { continue };
            sums.elapsed.add(record.elapsed_ns);
            sums.cpu_ns = sums.cpu_ns.saturating_add(record.cpu_ns);
            sums.not_good += u64::from(record.status() != Ended::Good);
            if let Some(process) = names.process(record.process) {
                let hosts = self.hosts.entry(class.application.clone()).or_default();
                if !hosts.contains(&process.host) {
                    hosts.insert(process.host.clone());
                }
            }
        }
    }

    /// Counts the open transactions in the rings of this host.
    fn add_open(&mut self, folder: &Path) {
        for mut ring in rings_in(folder) {
            // `/rings` reports a damaged ring.
            let open = ring.open_transactions().unwrap_or_default();
            for open in open.iter().filter(|_| ring.is_alive()) {
                if let Some(class) = ring.names().class(open.record.class) {
                    self.classes.entry(class.clone()).or_default().open += 1;
                }
            }
        }
    }

    fn into_now(self, collector: Option<&Status>, limits: &[Limit], window_s: u64) -> Now {
        let mut applications: BTreeMap<String, Application> = BTreeMap::new();
        let empty = |name: &str| Application {
            application: name.to_owned(),
            processes: 0,
            hosts: Vec::new(),
            lost_rows: 0,
            damaged_rings: 0,
            open: 0,
            classes: Vec::new(),
        };
        let mut hosts = self.hosts;
        for process in collector.into_iter().flat_map(|status| &status.processes) {
            let name = &process.application;
            let of = applications.entry(name.clone()).or_insert_with(|| empty(name));
            of.processes += u64::from(process.alive && self.live);
            of.lost_rows += process.lost_rows;
            of.damaged_rings += u64::from(process.damage.is_some());
            hosts.entry(name.clone()).or_default().insert(process.host.clone());
        }
        for (name, sums) in self.classes {
            let of = &name.application;
            let of = applications.entry(of.clone()).or_insert_with(|| empty(of));
            of.open += sums.open;
            of.classes.push(sums.into_class(&name, limits, window_s));
        }
        for (name, application) in &mut applications {
            application.hosts = hosts.remove(name).into_iter().flatten().collect();
        }
        Now {
            at_ns: self.at_ns,
            as_of_ns: self.as_of_ns,
            window_s,
            live: self.live,
            applications: applications.into_values().collect(),
            alarms: self.alarms,
            limits: self.limits,
            damage: self.damage,
        }
    }
}

impl Sums {
    fn into_class(self, name: &ClassName, limits: &[Limit], window_s: u64) -> Class {
        let seconds = window_s as f64;
        let (count, (p50_ns, p99_ns, max_ns)) = (self.elapsed.count(), quantiles(&self.elapsed));
        let limit = limits.iter().find(|limit| limit.is_of_class(name)).map(|limit| {
            let buckets = self.elapsed.buckets();
            let above = buckets.filter(|(bucket, _)| bucket_min(*bucket) > limit.limit_ns);
            let above: u64 = above.map(|(_, count)| count).sum();
            let requirement = Requirement::within(limit.limit_ns);
            let verdict =
                Verdict { requirement, count, within: count - above, ..Verdict::default() };
            LimitState {
                limit_ns: limit.limit_ns,
                above,
                share_above: verdict.share_above(),
                // Without a measurement a limit is not broken.
                holds: count == 0 || verdict.holds(),
            }
        });
        Class {
            class: name.class.clone(),
            count,
            rate_per_s: count as f64 / seconds,
            p50_ns,
            p99_ns,
            max_ns,
            cpu_share: cpu::of_sum(self.cpu_ns).map(|ns| ns as f64 / 1e9 / seconds),
            open: self.open,
            not_good: self.not_good,
            limit,
        }
    }
}
