//! The answer to `GET /metrics`: the collector's status, and counts of incoming rows, for Prometheus
//! in three formats, and the same sent to a receiver of remote write. Described in
//! `docs/prometheus.md`.

mod accept;
mod exposition;
pub(crate) mod follow;
mod histogram;
pub(crate) mod live;
mod protobuf;
pub(crate) mod remote_write;
mod tally;
mod text;

pub(crate) use accept::Format;
pub(crate) use exposition::Family;

use crate::api::{self, Judgement, LimitReport};
use crate::rules::{RuleStanding, RuleWatch};
use chronoscope_chain::live::LiveCounts;
use chronoscope_clock as clock;
use chronoscope_collect::{AgentStatus, Ingest, ProcessStatus, Status};
use chronoscope_rules::AlarmState;
use exposition::{Kind, Page};
use follow::Follower;
use histogram::seconds;
use remote_write::{RemoteWriteCounts, RemoteWriteState};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tally::Tally;
use text::TextFormat;

/// Everything that the metrics are taken from.
#[derive(Clone)]
pub(crate) struct MetricsSource {
    pub(crate) data_dir: PathBuf,
    /// Where rows of agents come in, if that is a cluster: nothing else has a status then.
    pub(crate) cluster: Option<Ingest>,
    pub(crate) follower: Arc<Follower>,
    /// Last state of the limits.
    pub(crate) watch: Arc<api::Watch>,
    pub(crate) rules: Arc<RuleWatch>,
    /// Number of peers that were cut because they did not read.
    pub(crate) cut: Arc<AtomicU64>,
    pub(crate) remote_write: Option<Arc<RemoteWriteState>>,
}

impl MetricsSource {
    /// All metrics as they stand.
    ///
    /// # Errors
    /// When the collector's status cannot be read.
    pub(crate) fn families(&self) -> std::io::Result<Vec<Family>> {
        let status = match &self.cluster {
            Some(ingest) => Status {
                running: true,
                at_ns: clock::utc_now_ns(),
                agents: ingest.agents(),
                ..Status::default()
            },
            None => Status::read(&self.data_dir)?.unwrap_or_default(),
        };
        let judged = (&self.watch.limits()[..], &self.rules.standings()[..]);
        let cut = self.cut.load(Ordering::Relaxed);
        let sent = self.remote_write.as_ref().map(|state| state.counts());
        Ok(families(&status, &self.follower, judged, cut, sent))
    }
}

/// All metrics; `limits` and `rules`: how they stood last; `cut`: connections that were ended because
/// the peer did not read; `sent`: counts of remote write, where there is one.
fn families(
    status: &Status,
    follower: &Follower,
    (limits, rules): (&[LimitReport], &[RuleStanding]),
    cut: u64,
    sent: Option<RemoteWriteCounts>,
) -> Vec<Family> {
    let mut page = Page::default();
    of_status(&mut page, status);
    let help = "Connections ended because the peer did not read its answer.";
    page.family("cut_connections_total", Kind::Counter, help);
    page.sample(&[], cut);
    of_processes(&mut page, status);
    of_agents(&mut page, status);
    of_rows(&mut page, follower);
    of_limits(&mut page, limits);
    of_rules(&mut page, rules);
    if let Some(counts) = sent {
        of_remote_write(&mut page, &counts);
    }
    page.finish()
}

/// Metrics in a format.
pub(crate) fn write(families: &[Family], format: Format) -> Vec<u8> {
    match format {
        Format::Text => text::write(families, TextFormat::Prometheus).into_bytes(),
        Format::OpenMetrics => text::write(families, TextFormat::OpenMetrics).into_bytes(),
        Format::Protobuf => protobuf::write(families),
    }
}

/// Metrics of the rows that came in.
fn of_rows(page: &mut Page, follower: &Follower) {
    // Copied, so that the lock is not held while the answer is written.
    let (tally, foreign, errors, following) = {
        let seen = follower.seen();
        let foreign = (seen.chains.counts(), seen.chains.bytes());
        (seen.tally.clone(), foreign, seen.errors, seen.following)
    };
    of_counting(page, &tally, errors);
    of_foreign(page, foreign.0, foreign.1);
    page.family("metrics_following", Kind::Gauge, "1 while rows are counted by class.");
    page.sample(&[], following);
    let now_ns = clock::utc_now_ns();
    of_classes(page, &tally, now_ns);
    of_chains(page, tally, now_ns);
}

/// A series for each limit and state: 1 for the state that it is in, as Prometheus's own state sets.
fn of_limits(page: &mut Page, limits: &[LimitReport]) {
    let labels = |report: &LimitReport| [report.what.clone(), report.limit_ns.to_string()];
    let mut said = BTreeSet::new();
    let help =
        "1 for the state that a limit of --limits is in, as judged for the last whole minute.";
    page.family("limit_state", Kind::Gauge, help);
    for report in limits {
        let [what, limit_ns] = labels(report);
        // A file may have a limit twice, a page may not.
        if !said.insert((what.clone(), report.kind, limit_ns.clone())) {
            continue;
        }
        for state in Judgement::ALL {
            let labels = [
                ("limit", what.as_str()),
                ("kind", report.kind.name()),
                ("limit_ns", &limit_ns),
                ("state", state.name()),
            ];
            page.sample(&labels, report.state == state);
        }
    }
}

/// A series for each rule: whether its alarm fires, and whether it can be judged.
fn of_rules(page: &mut Page, rules: &[RuleStanding]) {
    let mut family = |name: &str, help: &str, value: &dyn Fn(&RuleStanding) -> bool| {
        page.family(name, Kind::Gauge, help);
        for standing in rules {
            let rule = &standing.rule;
            let labels = [("rule", rule.name.as_str()), ("severity", rule.severity.as_str())];
            page.sample(&labels, value(standing));
        }
    };
    let fires = |standing: &RuleStanding| standing.state != AlarmState::Quiet;
    family("alarm_firing", "1 while the alarm of a rule of --limits fires.", &fires);
    let is_judged = |standing: &RuleStanding| standing.unjudged.is_none();
    family("alarm_judged", "1 if the last windows of a rule could be judged.", &is_judged);
}

fn of_status(page: &mut Page, status: &Status) {
    let on = |on: bool| f64::from(u8::from(on));
    let counters = [
        ("collected_rows_total", "Rows taken out of rings.", status.rows),
        ("durable_rows_total", "Rows that survive anything.", status.durable_rows),
        ("sealed_rows_total", "Rows in segments.", status.sealed_rows),
        ("lost_rows_total", "Rows overwritten before they were read.", status.lost_rows),
        ("damaged_rings_total", "Rings that lost rows to damage.", status.damaged_rings),
        ("late_rows_total", "Rows that came after sealing.", status.late_rows),
        ("damaged_rows_total", "Rows that could not be read back.", status.damaged_rows),
        ("expired_rows_total", "Rows deleted for age or space.", status.expired_rows),
    ];
    for (name, help, value) in counters {
        page.family(name, Kind::Counter, help);
        page.sample(&[], value);
    }
    let gauges = [
        ("unsealed_rows", "Rows that wait for sealing.", status.unsealed_rows as f64),
        (
            "unsealed_bytes",
            "Memory taken by rows that wait for sealing.",
            status.unsealed_bytes as f64,
        ),
        ("log_bytes", "Bytes of the write-ahead log.", status.log_bytes as f64),
        ("waiting_rings", "Rings that wait for being opened.", status.waiting_rings as f64),
        ("unreadable_rings", "Rings that cannot be read.", status.failed_rings.len() as f64),
        ("refused", "1 while rows are refused.", on(status.refused)),
        ("running", "1 while the collector is at work.", on(status.running)),
    ];
    for (name, help, value) in gauges {
        page.family(name, Kind::Gauge, help);
        page.sample(&[], value);
    }
    if let Some(bytes) = status.disk_free_bytes {
        page.family("disk_free_bytes", Kind::Gauge, "Bytes that are free on the store's disk.");
        page.sample(&[], bytes);
    }
}

fn of_processes(page: &mut Page, status: &Status) {
    type Of = fn(&ProcessStatus) -> u64;
    let families: [(&str, Kind, &str, Of); 2] = [
        (
            "process_lost_rows_total",
            Kind::Counter,
            "Rows a process overwrote before they were read.",
            |process| process.lost_rows,
        ),
        (
            "process_ring_damaged",
            Kind::Gauge,
            "1 where a process's ring has lost rows to damage.",
            |process| u64::from(process.damage.is_some()),
        ),
    ];
    for (name, kind, help, of) in families {
        page.family(name, kind, help);
        for process in &status.processes {
            let pid = process.pid.to_string();
            let (application, host) = (process.application.as_str(), process.host.as_str());
            let labels = [("application", application), ("host", host), ("pid", &pid)];
            page.sample(&labels, of(process));
        }
    }
}

fn of_agents(page: &mut Page, status: &Status) {
    type Of = fn(&AgentStatus) -> Option<f64>;
    let families: [(&str, Kind, &str, Of); 7] = [
        ("agent_connected", Kind::Gauge, "1 while the agent is connected.", |agent| {
            Some(f64::from(u8::from(agent.connected)))
        }),
        ("agent_rows_total", Kind::Counter, "Rows that the agent has sent.", |agent| {
            Some(agent.rows as f64)
        }),
        (
            "agent_other_rows_total",
            Kind::Counter,
            "Rows of the agent that are of the class (other): it brought in too many names.",
            |agent| Some(agent.other_rows as f64),
        ),
        (
            "agent_gap_rows_total",
            Kind::Counter,
            "Rows that the agent's numbers left out and that it had not declared as dropped.",
            |agent| Some(agent.gap_rows as f64),
        ),
        (
            "agent_heard_timestamp_seconds",
            Kind::Gauge,
            "When the agent was heard last, seconds since 1970.",
            |agent| Some(agent.heard_ns as f64 / 1e9),
        ),
        (
            "agent_clock_offset_seconds",
            Kind::Gauge,
            "The clock of the agent's host minus the collector's.",
            |agent| agent.clock_offset_ns.map(|ns| ns as f64 / 1e9),
        ),
        (
            "agent_clock_error_seconds",
            Kind::Gauge,
            "How far the offset may be wrong, either way.",
            |agent| agent.clock_error_ns.map(|ns| ns as f64 / 1e9),
        ),
    ];
    for (name, kind, help, value) in families {
        page.family(name, kind, help);
        for agent in &status.agents {
            if let Some(value) = value(agent) {
                let labels = [("agent", agent.id.as_str()), ("host", &agent.host)];
                page.sample(&labels, value);
            }
        }
    }
}

/// Metrics about the counting itself.
fn of_counting(page: &mut Page, tally: &Tally, errors: u64) {
    let counters = [
        (
            "metrics_missed_rows_total",
            "Rows that came into the store and are in no metric by class.",
            tally.missed_rows,
        ),
        (
            "metrics_rows_without_series_total",
            "Rows of classes beyond the first 500 series of class and host.",
            tally.rows_without_series,
        ),
        ("metrics_errors_total", "Times that the log could not be read for metrics.", errors),
        (
            "chain_foreign_rows_total",
            "Rows of spans of OpenTelemetry: each counts in its chain when its root has come.",
            tally.foreign_rows,
        ),
        (
            "chain_negative_total",
            "Chains that ended before they began, by clocks that disagree.",
            tally.negative,
        ),
    ];
    for (name, help, value) in counters {
        page.family(name, Kind::Counter, help);
        page.sample(&[], value);
    }
}

/// Metrics about the chains of spans that are being put together.
fn of_foreign(page: &mut Page, counts: LiveCounts, bytes: usize) {
    page.family(
        "chain_foreign_unreached_total",
        Kind::Counter,
        "Rows of spans that are in no chain here: their root did not come within a minute, or they \
         had to make room.",
    );
    for (reason, rows) in [("window", counts.unreached), ("room", counts.unreached_for_room)] {
        page.sample(&[("reason", reason)], rows);
    }
    let gauges = [
        ("chain_foreign_kept_rows", "Rows kept to put chains of spans together.", counts.kept),
        ("chain_foreign_waiting_rows", "Those whose root has not come yet.", counts.waiting),
        ("chain_foreign_bytes", "Memory that they take.", bytes),
    ];
    for (name, help, value) in gauges {
        page.family(name, Kind::Gauge, help);
        page.sample(&[], value);
    }
}

fn of_remote_write(page: &mut Page, counts: &RemoteWriteCounts) {
    let help = "Samples that the receiver of remote write has acknowledged.";
    page.family("remote_write_samples_total", Kind::Counter, help);
    page.sample(&[], counts.sent);
    let help = "Samples that the receiver does not have: refused by it, or given up for newer ones \
                while it was away.";
    page.family("remote_write_lost_samples_total", Kind::Counter, help);
    for (reason, samples) in [("refused", counts.refused), ("room", counts.dropped)] {
        page.sample(&[("reason", reason)], samples);
    }
    let counters = [
        ("remote_write_failures_total", "Requests that are sent again.", counts.failures),
        (
            "remote_write_missed_total",
            "Times that metrics were due and were not taken: a request took too long, or the \
             collector's status could not be read.",
            counts.missed,
        ),
    ];
    for (name, help, value) in counters {
        page.family(name, Kind::Counter, help);
        page.sample(&[], value);
    }
    let gauges = [
        ("remote_write_waiting_samples", "Samples that wait to be sent.", counts.waiting),
        ("remote_write_waiting_bytes", "Memory that they take.", counts.waiting_bytes as u64),
    ];
    for (name, help, value) in gauges {
        page.family(name, Kind::Gauge, help);
        page.sample(&[], value);
    }
    let help = "When the receiver acknowledged samples last, seconds since 1970.";
    page.family("remote_write_success_timestamp_seconds", Kind::Gauge, help);
    if let Some(at_ns) = counts.success_ns {
        page.sample(&[], at_ns as f64 / 1e9);
    }
}

fn of_classes(page: &mut Page, tally: &Tally, now_ns: i64) {
    let labels = |index: usize| {
        let series = &tally.classes[index];
        [
            ("application", series.application.as_str()),
            ("class", series.class.as_str()),
            ("host", series.host.as_str()),
        ]
    };
    let series = || (0..tally.classes.len()).map(|index| (labels(index), &tally.classes[index]));
    let help = "Transactions, since the server started.";
    page.family("transactions_total", Kind::Counter, help);
    for (labels, series) in series() {
        page.sample(&labels, series.status.iter().sum::<u64>());
    }
    let help = "Transactions with another status than GOOD.";
    page.family("transactions_not_good_total", Kind::Counter, help);
    for (labels, series) in series() {
        page.sample(&labels, series.status[1..].iter().sum::<u64>());
    }
    let help = "CPU time of the transactions' threads meanwhile.";
    page.family("transaction_cpu_seconds_total", Kind::Counter, help);
    for (labels, series) in series() {
        page.sample(&labels, seconds(series.cpu_ns));
    }
    let help = "How long transactions took, from start to stop.";
    page.family("transaction_elapsed_seconds", Kind::Histogram, help);
    for (labels, series) in series() {
        page.sample(&labels, series.elapsed.clone().at(now_ns));
    }
}

fn of_chains(page: &mut Page, tally: Tally, now_ns: i64) {
    page.family(
        "chain_duration_seconds",
        Kind::Histogram,
        "From the start of a chain's root to the end of a transaction below it (ACPD).",
    );
    for series in tally.chains {
        let level = series.level.to_string();
        let labels = [("root", series.root.as_str()), ("leaf", &series.leaf), ("level", &level)];
        page.sample(&labels, series.duration.at(now_ns));
    }
}

#[cfg(test)]
mod tests;
