//! The limits between requests: judged after every minute, and their changes logged.

use super::super::Api;
use super::judge::{EXPORTED_WITHIN_NS, Judgement, LimitReport};
use super::{cluster, instant, reports};
use crate::log::LogLine;
use chronoscope_clock as clock;
use chronoscope_collect::Status;
use chronoscope_query::{QueryError, StoreView};
use chronoscope_store::MINUTE_NS;
use std::time::Duration;

/// Delays after a minute until its limits are judged: its last rows are still being collected, and
/// spans still being exported.
const SETTLED_AFTER_NS: [i64; 2] = [6_000_000_000, EXPORTED_WITHIN_NS + 1_000_000_000];

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
        let everybody = self.collectors.as_ref().map(|them| them.everybody()).transpose()?;
        let collector = match &everybody {
            Some(everybody) => Some(everybody.status(now_ns)),
            None => Status::read(&self.data_dir).unwrap_or_default(), // told by `/status`
        };
        let collector = collector.as_ref();
        let found = self.recently(|view, _| match view {
            StoreView::Files(snapshot) => {
                let (live, at_ns) = instant(snapshot, collector, now_ns);
                let history = self.watch.cache.history(snapshot, at_ns)?;
                let known = (snapshot.names(), &self.metrics.live_limits());
                Ok(reports(&history, self, known, (live, at_ns)))
            }
            StoreView::Cluster(remote) => {
                let (live, at_ns) = cluster::instant(remote, collector, now_ns)?;
                let history = self.watch.minutes.history(remote, at_ns)?;
                let names = remote.class_and_path_names()?;
                let known = (&history, &names);
                let spans = self.watch.spans.count(remote, &self.limits, known, at_ns)?;
                Ok(reports(&history, self, (&names, &spans), (live, at_ns)))
            }
        })?;
        let before = self.watch.replace_limits(found.clone());
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

#[cfg(test)]
mod tests {
    use super::super::judge::LimitKind;
    use super::*;

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
