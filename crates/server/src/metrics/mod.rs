//! The answer to `GET /metrics`: the collector's status, and counts of incoming rows, in
//! Prometheus's text format (0.0.4). Described in `docs/export.md`.

mod follow;
mod live;
mod page;
mod tally;

pub(crate) use follow::Follower;
pub(crate) use live::{LiveLimits, LiveMinute};

use crate::api::{Judgement, LimitReport};
use crate::rules::RuleStanding;
use chronoscope_chain::live::LiveCounts;
use chronoscope_collect::{AgentStatus, ProcessStatus, Status};
use chronoscope_rules::AlarmState;
use page::Page;
use std::collections::BTreeSet;
use tally::{BOUNDS_NS, Buckets, Tally};

/// The page; `limits` and `rules`: how they stood last; `cut`: connections that were ended because the peer did
/// not read.
pub(crate) fn page(
    status: &Status,
    follower: &Follower,
    (limits, rules): (&[LimitReport], &[RuleStanding]),
    cut: u64,
) -> String {
    let mut page = Page::default();
    of_status(&mut page, status);
    let cuts = "cut_connections_total";
    page.family(cuts, "counter", "Connections ended because the peer did not read its answer.");
    page.sample(cuts, &[], cut);
    of_processes(&mut page, status);
    of_agents(&mut page, status);
    // Copied, so that the lock is not held while the answer is written.
    let (tally, foreign, errors, following) = {
        let seen = follower.seen();
        let foreign = (seen.chains.counts(), seen.chains.bytes());
        (seen.tally.clone(), foreign, seen.errors, seen.following)
    };
    of_counting(&mut page, &tally, errors);
    of_foreign(&mut page, foreign.0, foreign.1);
    page.family("metrics_following", "gauge", "1 while rows are counted by class.");
    page.sample("metrics_following", &[], u8::from(following));
    of_classes(&mut page, &tally);
    of_chains(&mut page, &tally);
    of_limits(&mut page, limits);
    of_rules(&mut page, rules);
    page.finish()
}

/// A series for each limit and state: 1 for the state that it is in, as Prometheus's own state sets.
fn of_limits(page: &mut Page, limits: &[LimitReport]) {
    let labels = |report: &LimitReport| [report.what.clone(), report.limit_ns.to_string()];
    let mut said = BTreeSet::new();
    let name = "limit_state";
    let help =
        "1 for the state that a limit of --limits is in, as judged for the last whole minute.";
    page.family(name, "gauge", help);
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
            page.sample(name, &labels, u8::from(report.state == state));
        }
    }
}

/// A series for each rule: whether its alarm fires, and whether it can be judged.
fn of_rules(page: &mut Page, rules: &[RuleStanding]) {
    if rules.is_empty() {
        return;
    }
    let mut family = |name: &str, help: &str, value: &dyn Fn(&RuleStanding) -> bool| {
        page.family(name, "gauge", help);
        for standing in rules {
            let rule = &standing.rule;
            let labels = [("rule", rule.name.as_str()), ("severity", rule.severity.as_str())];
            page.sample(name, &labels, u8::from(value(standing)));
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
        page.family(name, "counter", help);
        page.sample(name, &[], value);
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
        page.family(name, "gauge", help);
        page.sample(name, &[], value);
    }
    if let Some(bytes) = status.disk_free_bytes {
        page.family("disk_free_bytes", "gauge", "Bytes that are free on the store's disk.");
        page.sample("disk_free_bytes", &[], bytes);
    }
}

fn of_processes(page: &mut Page, status: &Status) {
    type Of = fn(&ProcessStatus) -> u64;
    let families: [(&str, &str, &str, Of); 2] = [
        (
            "process_lost_rows_total",
            "counter",
            "Rows a process overwrote before they were read.",
            |process| process.lost_rows,
        ),
        (
            "process_ring_damaged",
            "gauge",
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
            page.sample(name, &labels, of(process));
        }
    }
}

fn of_agents(page: &mut Page, status: &Status) {
    type Of = fn(&AgentStatus) -> Option<f64>;
    let families: [(&str, &str, &str, Of); 7] = [
        ("agent_connected", "gauge", "1 while the agent is connected.", |agent| {
            Some(f64::from(u8::from(agent.connected)))
        }),
        ("agent_rows_total", "counter", "Rows that the agent has sent.", |agent| {
            Some(agent.rows as f64)
        }),
        (
            "agent_other_rows_total",
            "counter",
            "Rows of the agent that are of the class (other): it brought in too many names.",
            |agent| Some(agent.other_rows as f64),
        ),
        (
            "agent_gap_rows_total",
            "counter",
            "Rows that the agent's numbers left out and that it had not declared as dropped.",
            |agent| Some(agent.gap_rows as f64),
        ),
        (
            "agent_heard_timestamp_seconds",
            "gauge",
            "When the agent was heard last, seconds since 1970.",
            |agent| Some(agent.heard_ns as f64 / 1e9),
        ),
        (
            "agent_clock_offset_seconds",
            "gauge",
            "The clock of the agent's host minus the collector's.",
            |agent| agent.clock_offset_ns.map(|ns| ns as f64 / 1e9),
        ),
        (
            "agent_clock_error_seconds",
            "gauge",
            "How far the offset may be wrong, either way.",
            |agent| agent.clock_error_ns.map(|ns| ns as f64 / 1e9),
        ),
    ];
    for (name, kind, help, value) in families {
        page.family(name, kind, help);
        for agent in &status.agents {
            if let Some(value) = value(agent) {
                let labels = [("agent", agent.id.as_str()), ("host", &agent.host)];
                page.sample(name, &labels, value);
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
        page.family(name, "counter", help);
        page.sample(name, &[], value);
    }
}

/// Metrics about the chains of spans that are being put together.
fn of_foreign(page: &mut Page, counts: LiveCounts, bytes: usize) {
    let name = "chain_foreign_unreached_total";
    page.family(
        name,
        "counter",
        "Rows of spans that are in no chain here: their root did not come within a minute, or they \
         had to make room.",
    );
    for (reason, rows) in [("window", counts.unreached), ("room", counts.unreached_for_room)] {
        page.sample(name, &[("reason", reason)], rows);
    }
    let gauges = [
        ("chain_foreign_kept_rows", "Rows kept to put chains of spans together.", counts.kept),
        ("chain_foreign_waiting_rows", "Those whose root has not come yet.", counts.waiting),
        ("chain_foreign_bytes", "Memory that they take.", bytes),
    ];
    for (name, help, value) in gauges {
        page.family(name, "gauge", help);
        page.sample(name, &[], value);
    }
}

fn of_classes(page: &mut Page, tally: &Tally) {
    let labels = |index: usize| {
        let series = &tally.classes[index];
        [
            ("application", series.application.as_str()),
            ("class", series.class.as_str()),
            ("host", series.host.as_str()),
        ]
    };
    let series = || (0..tally.classes.len()).map(|index| (labels(index), &tally.classes[index]));
    page.family("transactions_total", "counter", "Transactions, since the server started.");
    for (labels, series) in series() {
        let count: u64 = series.status.iter().sum();
        page.sample("transactions_total", &labels, count);
    }
    let name = "transactions_not_good_total";
    page.family(name, "counter", "Transactions with another status than GOOD.");
    for (labels, series) in series() {
        let count: u64 = series.status[1..].iter().sum();
        page.sample(name, &labels, count);
    }
    let name = "transaction_cpu_seconds_total";
    page.family(name, "counter", "CPU time of the transactions' threads meanwhile.");
    for (labels, series) in series() {
        page.sample(name, &labels, seconds(series.cpu_ns));
    }
    let name = "transaction_elapsed_seconds";
    page.family(name, "histogram", "How long transactions took, from start to stop.");
    for (labels, series) in series() {
        histogram(page, name, &labels, &series.elapsed);
    }
}

fn of_chains(page: &mut Page, tally: &Tally) {
    let name = "chain_duration_seconds";
    page.family(
        name,
        "histogram",
        "From the start of a chain's root to the end of a transaction below it (ACPD).",
    );
    for series in &tally.chains {
        let level = series.level.to_string();
        let labels = [("root", series.root.as_str()), ("leaf", &series.leaf), ("level", &level)];
        histogram(page, name, &labels, &series.duration);
    }
}

fn histogram(page: &mut Page, name: &str, labels: &[(&str, &str)], buckets: &Buckets) {
    let bucket = format!("{name}_bucket");
    let mut below = 0;
    let bounds = BOUNDS_NS.iter().map(|ns| seconds(u128::from(*ns)).to_string());
    for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(buckets.counts) {
        below += count;
        let labels: Vec<_> = labels.iter().copied().chain([("le", bound.as_str())]).collect();
        page.sample(&bucket, &labels, below);
    }
    page.sample(&format!("{name}_sum"), labels, seconds(buckets.sum_ns));
    page.sample(&format!("{name}_count"), labels, below);
}

#[allow(clippy::cast_precision_loss)] // 53 bits are enough for a sum
fn seconds(ns: u128) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests;
