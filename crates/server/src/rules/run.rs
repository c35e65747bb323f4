//! The rules of a running server, evaluated as their windows settle.

use super::count::{CHUNK_NS, count};
use super::notify::{Notifier, SlowChains};
use super::slot_counts::SlotCounts;
use super::watch::{Counted, DueSlots, WaitingTransition};
use crate::api::Api;
use crate::log::LogLine;
use chronoscope_clock as clock;
use chronoscope_collect::Status;
use chronoscope_query::{QueryError, StoreView};
use chronoscope_rules::{Change, Judged, Judgement, Rule, Transition};
use std::time::Duration;

/// Interval at which rules are looked at.
const EVERY: Duration = Duration::from_secs(1);
/// Time after a slot until its rows are counted: they are drained and read within seconds.
const SETTLED_AFTER_NS: i64 = 6_000_000_000;
/// The same where spans of OpenTelemetry come, which are exported later.
const SPANS_SETTLED_AFTER_NS: i64 = 16_000_000_000;
/// Time after which a transition is given up that the collector that notifies does not make.
const DISAGREES_AFTER_NS: u64 = 60_000_000_000;
/// A collector whose last status is older than this does not collect.
const COLLECTS_WITHIN_NS: i64 = 10_000_000_000;

impl Api {
    /// Evaluates the rules as their windows settle; ends with the server.
    pub(crate) async fn watch_rules(self) {
        loop {
            let api = self.clone();
            let runtime = tokio::runtime::Handle::current();
            let judged = tokio::task::spawn_blocking(move || {
                let _runtime = runtime.enter();
                api.judge_rules(clock::utc_now_ns());
            });
            if let Err(error) = judged.await {
                LogLine::error("rules_not_judged").with("error", error).say();
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Judges the rules whose windows have settled at `now_ns`, and logs what has changed.
    fn judge_rules(&self, now_ns: i64) {
        let settled_after_ns = match self.has_spans() {
            true => SPANS_SETTLED_AFTER_NS,
            false => SETTLED_AFTER_NS,
        };
        let Some(notifier) = &self.rules.notifier else { return };
        let is_refreshed = self.refresh_rules(notifier);
        if notifier.may_notify() {
            notifier.end_silences();
        }
        for (index, rule, due) in self.rules.due(now_ns - settled_after_ns) {
            let counted = match self.count_rule(&rule, &due, now_ns) {
                Ok(counted) => counted,
                Err(error) => Counted::Not(format!("the rows cannot be read: {error}")),
            };
            let judged_ns = clock::monotonic_ns();
            let judged = self.rules.judge(index, &due, counted).into_iter();
            self.rules.waiting().extend(judged.map(|(rule, judged, transition)| {
                WaitingTransition { rule, judged, transition, judged_ns }
            }));
        }
        if is_refreshed {
            self.note_transitions(notifier);
        }
    }

    /// Reads what other collectors have written of the alarms; false where that is not possible.
    fn refresh_rules(&self, notifier: &Notifier) -> bool {
        if notifier.collectors().is_none() {
            return true;
        }
        let mut journal = notifier.journal();
        if let Err(error) = journal.refresh() {
            LogLine::error("rules_journal").with("error", error).say();
            return false;
        }
        let own = self.rules.waiting().iter().map(|waiting| waiting.rule.name.clone()).collect();
        self.rules.follow(&journal, &own);
        true
    }

    /// Notes the transitions that this server is to note: all of them, or, before a cluster, those
    /// that it has not, if this is the collector that notifies. The others wait for the collector
    /// that does; what it does not make of the same rows for [`DISAGREES_AFTER_NS`] was a mistake
    /// here.
    fn note_transitions(&self, notifier: &Notifier) {
        let now_ns = clock::monotonic_ns();
        let waiting = std::mem::take(&mut *self.rules.waiting());
        let mut kept = Vec::new();
        for one in waiting {
            let WaitingTransition { rule, judged, transition, judged_ns } = &one;
            // Of one rule in their order: the first decides whether the next is news.
            let waits = kept.iter().any(|it: &WaitingTransition| it.rule.name == rule.name);
            if !waits && notifier.journal().has(rule, transition) {
                continue;
            }
            if notifier.may_notify() && !waits {
                let slow = self.slow_chains(rule, transition);
                if notifier.queue(rule, judged, transition, slow) {
                    line(rule, judged, transition).say();
                    continue;
                }
                if notifier.collectors().is_none() {
                    continue; // it is noted in memory
                }
            }
            let has_other = notifier.collectors().is_some_and(|it| it.has_other_leader());
            if !(has_other && now_ns.saturating_sub(*judged_ns) > DISAGREES_AFTER_NS) {
                kept.push(one);
            }
        }
        // Nothing else adds to them: one thread judges.
        *self.rules.waiting() = kept;
    }

    /// What is slow in the windows of an alarm that fires.
    fn slow_chains(&self, rule: &Rule, transition: &Transition) -> SlowChains {
        if transition.change == Change::Cleared {
            return SlowChains::default();
        }
        let find =
            |view: &StoreView, _| SlowChains::find((view, &self.durations), rule, transition);
        // A notification without it is better than none.
        self.recently(find).unwrap_or_else(|error| {
            let line = LogLine::warn("cause_not_found").with("rule", &rule.name);
            line.with("error", error).say();
            SlowChains::default()
        })
    }

    fn count_rule(&self, rule: &Rule, due: &DueSlots, now_ns: i64) -> Result<Counted, QueryError> {
        let status = Status::read(&self.data_dir).unwrap_or_default(); // told by `/status`
        let collects = |status: &Status| {
            status.running && now_ns.abs_diff(status.at_ns) < COLLECTS_WITHIN_NS.unsigned_abs()
        };
        self.recently(|view, _| {
            if matches!(view, StoreView::Files(_)) && !status.as_ref().is_some_and(collects) {
                let reason = "no collector has reported within the last 10 s: rows may be missing";
                return Ok(Counted::Not(reason.to_owned()));
            }
            let chunk = (CHUNK_NS / rule.start_ns(1)).max(1);
            let mut counts = SlotCounts::default();
            let mut slot = due.count_from;
            while slot < due.end {
                let until = (slot + chunk).min(due.end);
                counts.append(count(view, rule, slot..until)?);
                slot = until;
            }
            Ok(Counted::Slots(counts))
        })
    }
}

/// A transition's line in the log.
fn line(rule: &Rule, judged: &Judged, transition: &Transition) -> LogLine {
    let line = match transition.change {
        Change::Fired => LogLine::warn("alarm_fired"),
        Change::Reminded => LogLine::warn("alarm_reminded"),
        Change::Cleared => LogLine::info("alarm_cleared"),
    };
    let window = judged.windows.first().copied().unwrap_or_default();
    let reason = match &judged.judgement {
        Judgement::NotJudged(reason) => Some(reason.to_string()),
        Judgement::Holds | Judgement::Broken => None,
    };
    line.with("rule", &rule.name)
        .with("severity", &rule.severity)
        .with("at", crate::log::instant(transition.at_ns))
        .with("since", crate::log::instant(transition.since_ns))
        .with("count", window.count)
        .with("above", window.above)
        .with_some("not_judged", reason)
}
