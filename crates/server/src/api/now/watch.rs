//! State between two requests for `/now`: programs' losses, programs without rows, and the last
//! state of the limits.

use super::alarms::{Alarm, AlarmKind};
use super::attribute_cause::AttributeCauses;
use super::cluster_history::{ClusterMinutes, SpanChains};
use super::history;
use super::judge::LimitReport;
use chronoscope_chain::Thousands;
use chronoscope_collect::{ProcessStatus, Status};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// After this time without another loss, lost rows raise no alarm.
const LOST_WITHIN_NS: i64 = 600_000_000_000;
/// A program that has run for this long without any row is silent.
const SILENT_AFTER_NS: i64 = 120_000_000_000;
/// State that `/now` carries from one request to the next.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(super) cache: history::Cache,
    /// The last hour of a cluster.
    pub(super) minutes: ClusterMinutes,
    /// Chains of spans in a cluster, as they were counted for the limits last.
    pub(super) spans: SpanChains,
    /// Attribute values that stand out above broken limits.
    pub(super) causes: AttributeCauses,
    /// Processes seen since the server started.
    programs: Mutex<BTreeMap<Process, Known>>,
    /// State of the limits when they were last judged; empty before that.
    limits: Mutex<Vec<LimitReport>>,
}

/// A process: its application, its host, its number there.
type Process = (String, String, u32);

/// Observations of a process.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Time at which it was first seen.
    seen_ns: i64,
    lost_rows: u64,
    /// Time of the last growth of `lost_rows` while this server ran.
    lost_ns: Option<i64>,
}

impl Watch {
    /// Processes that have lost rows lately, while this server looked, and those that run without a
    /// row.
    pub(super) fn programs(&self, status: &Status, now_ns: i64) -> Vec<Alarm> {
        let mut known = lock(&self.programs);
        let mut alarms = Vec::new();
        for process in &status.processes {
            let (lost_rows, new) =
                (process.lost_rows, Known { seen_ns: now_ns, lost_rows: 0, lost_ns: None });
            let known = known.entry(key(process)).or_insert(Known { lost_rows, ..new });
            if lost_rows > known.lost_rows {
                (known.lost_rows, known.lost_ns) = (lost_rows, Some(now_ns));
            }
            let lost_ns = known.lost_ns.filter(|at| now_ns - at < LOST_WITHIN_NS);
            alarms.extend(lost_ns.map(|since_ns| lost(process, since_ns)));
            let silent = process.alive && process.rows == 0;
            if silent && now_ns - known.seen_ns >= SILENT_AFTER_NS {
                alarms.push(silent_program(process, known.seen_ns));
            }
        }
        // Ended processes leave this list with the collector's list.
        known.retain(|known, _| status.processes.iter().any(|process| key(process) == *known));
        alarms
    }

    /// State of the limits when they were last judged.
    pub(crate) fn limits(&self) -> Vec<LimitReport> {
        lock(&self.limits).clone()
    }

    /// Stores the state of the limits, and returns the one before.
    pub(super) fn replace_limits(&self, found: Vec<LimitReport>) -> Vec<LimitReport> {
        std::mem::replace(&mut *lock(&self.limits), found)
    }
}

fn key(process: &ProcessStatus) -> Process {
    (process.application.clone(), process.host.clone(), process.pid)
}

fn lost(process: &ProcessStatus, since_ns: i64) -> Alarm {
    let sentence = format!(
        "{} (process {} on {}) overwrote {} rows before they were read: give it a larger ring, or \
         the collector more time",
        process.application,
        process.pid,
        process.host,
        Thousands(process.lost_rows)
    );
    of_program(process, AlarmKind::Lost, since_ns, sentence)
}

fn silent_program(process: &ProcessStatus, since_ns: i64) -> Alarm {
    let sentence = format!(
        "{} (process {} on {}) runs, and no transaction of it has come",
        process.application, process.pid, process.host
    );
    of_program(process, AlarmKind::Silent, since_ns, sentence)
}

fn of_program(process: &ProcessStatus, kind: AlarmKind, since_ns: i64, sentence: String) -> Alarm {
    Alarm {
        what: process.application.clone(),
        kind,
        limit: None,
        host: Some(process.host.clone()),
        attribute: None,
        since_ns,
        value_ns: None,
        usual_ns: None,
        sentence,
        rule: None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_runs_without_a_row_is_silent_after_two_minutes() {
        let watch = Watch::default();
        let status = |rows| {
            let application = "A".to_owned();
            let process = ProcessStatus { application, alive: true, rows, ..Default::default() };
            Status { processes: vec![process], ..Status::default() }
        };
        assert!(watch.programs(&status(0), 7).is_empty(), "it has just been seen");
        assert!(watch.programs(&status(0), 6 + SILENT_AFTER_NS).is_empty());
        let alarms = watch.programs(&status(0), 7 + SILENT_AFTER_NS);
        assert_eq!(
            alarms.iter().map(|it| (it.kind, it.since_ns)).collect::<Vec<_>>(),
            [(AlarmKind::Silent, 7)]
        );
        assert!(watch.programs(&status(1), 8 + SILENT_AFTER_NS).is_empty(), "it has spoken");
    }
}
