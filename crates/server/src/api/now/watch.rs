//! State between two requests for `/now`: programs' losses, programs without rows, and the last
//! state of the limits.

use super::super::Api;
use super::alarms::{Alarm, AlarmKind};
use super::judge::{EXPORTED_WITHIN_NS, Judgement, LimitReport};
use super::{history, instant, reports};
use crate::log::LogLine;
use chronoscope_chain::Thousands;
use chronoscope_clock as clock;
use chronoscope_collect::{ProcessStatus, Status};
use chronoscope_query::{QueryError, StoreView};
use chronoscope_store::MINUTE_NS;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// After this time without another loss, lost rows raise no alarm.
const LOST_WITHIN_NS: i64 = 600_000_000_000;
/// A program that has run for this long without any row is silent.
const SILENT_AFTER_NS: i64 = 120_000_000_000;
/// Delays after a minute until its limits are judged: its last rows are still being collected, and
/// spans still being exported.
const SETTLED_AFTER_NS: [i64; 2] = [6_000_000_000, EXPORTED_WITHIN_NS + 1_000_000_000];

/// State that `/now` carries from one request to the next.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(super) cache: history::Cache,
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
        since_ns,
        value_ns: None,
        usual_ns: None,
        sentence,
    }
}

impl Api {
    /// Judges the limits now and twice after every minute, for the log and for `/metrics`. Costs two
    /// looks at the store a minute; ends with the server.
    pub(crate) async fn watch_limits(self) {
        loop {
            let api = self.clone();
            let judged = tokio::task::spawn_blocking(move || api.judge_limits()).await;
            match judged {
                Ok(Ok(())) => {}
                Ok(Err(error)) => LogLine::warn("limits_not_judged").with("error", error).say(),
                Err(error) => LogLine::error("limits_not_judged").with("error", error).say(),
            }
            tokio::time::sleep(until_settled(clock::utc_now_ns())).await;
        }
    }

    /// Judges the limits, stores their state, and logs what has changed.
    fn judge_limits(&self) -> Result<(), QueryError> {
        let now_ns = clock::utc_now_ns();
        let collector = Status::read(&self.data_dir).unwrap_or_default(); // told by `/status`
        let found = self.recently(|view, _| match view {
            StoreView::Files(snapshot) => {
                let (live, at_ns) = instant(snapshot, collector.as_ref(), now_ns);
                let history = self.watch.cache.history(snapshot, at_ns)?;
                Ok(reports(&history, self, snapshot, (live, at_ns)))
            }
            StoreView::Cluster(_) => Ok(Vec::new()),
        })?;
        let before = std::mem::replace(&mut *lock(&self.watch.limits), found.clone());
        for report in changed(&before, &found) {
            told(report).say();
        }
        Ok(())
    }
}

/// The limits that stand otherwise than before; at first all of them.
fn changed<'a>(before: &[LimitReport], now: &'a [LimitReport]) -> Vec<&'a LimitReport> {
    let same = |report: &LimitReport, index: usize| {
        before.get(index).is_some_and(|before| before.state == report.state)
    };
    let all = now.iter().enumerate();
    all.filter(|(index, report)| !same(report, *index)).map(|(_, report)| report).collect()
}

/// A limit's line in the log.
fn told(report: &LimitReport) -> LogLine {
    let line = match report.state {
        Judgement::Holds => LogLine::info("limit_holds"),
        Judgement::Broken => LogLine::warn("limit_broken"),
        Judgement::NotJudged => LogLine::warn("limit_not_judged"),
        Judgement::NoTraffic => LogLine::info("limit_no_traffic"),
    };
    let since = report.since_ns.map(crate::log::instant);
    line.with("limit", &report.what)
        .with("kind", report.kind.name())
        .with("limit_ns", report.limit_ns)
        .with("count", report.count)
        .with("above", report.above)
        .with_some("since", since)
        .with_some("reason", report.reason.as_ref())
}

/// Time from `now_ns` until the rows or the spans of the last minute, or of this one, have come.
fn until_settled(now_ns: i64) -> Duration {
    let until_ns = |after_ns: &i64| MINUTE_NS - (now_ns - after_ns).rem_euclid(MINUTE_NS);
    let next_ns = SETTLED_AFTER_NS.iter().map(until_ns).min().unwrap_or(MINUTE_NS);
    Duration::from_nanos(next_ns.unsigned_abs())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::judge::LimitKind;
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

    #[test]
    fn the_log_tells_a_limit_at_first_and_when_its_state_changes() {
        let report = |state| LimitReport {
            what: "A::in".to_owned(),
            kind: LimitKind::Class,
            limit_ns: 5,
            state,
            since_ns: Some(0),
            count: 2,
            above: 1,
            in_flight: None,
            reason: None,
            sentence: String::new(),
        };
        let (holds, broken) = ([report(Judgement::Holds)], [report(Judgement::Broken)]);
        assert_eq!(changed(&[], &holds).len(), 1);
        assert_eq!(changed(&holds, &holds).len(), 0);
        assert_eq!(changed(&holds, &broken).len(), 1);
        assert_eq!(
            told(&broken[0]).at(0),
            "1970-01-01T00:00:00.000Z warn limit_broken limit=A::in kind=class limit_ns=5 count=2 \
             above=1 since=1970-01-01T00:00:00.000Z"
        );
    }
}
