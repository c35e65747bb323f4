//! The alarms of a running server.

use super::count::count;
use super::notify::{Notifier, slowest};
use super::{CHUNK_NS, RECOUNT_NS};
use crate::api::Api;
use crate::log::LogLine;
use chronoscope_clock as clock;
use chronoscope_collect::Status;
use chronoscope_query::{Point, QueryError, StoreView};
use chronoscope_rules::{
    Alarm, AlarmState, Change, Condition, Evaluation, Judged, Judgement, Rule, RuleFile,
    Transition, Unjudged,
};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which rules are looked at.
const EVERY: Duration = Duration::from_secs(1);
/// Time after a slot until its rows are counted: they are drained and read within seconds.
const SETTLED_AFTER_NS: i64 = 6_000_000_000;
/// The same where spans of OpenTelemetry come, which are exported later.
const SPANS_SETTLED_AFTER_NS: i64 = 16_000_000_000;
/// A collector whose last status is older than this does not collect.
const COLLECTS_WITHIN_NS: i64 = 10_000_000_000;
/// Judgements that are made up for at a time, after the server could not judge for a while.
const BEHIND_MAX: i64 = 60;

/// The rules of a server with their alarms.
#[derive(Debug, Default)]
pub(crate) struct RuleWatch {
    watched: Mutex<Vec<Watched>>,
    /// `None` without rules.
    notifier: Option<Arc<Notifier>>,
}

#[derive(Debug)]
struct Watched {
    evaluation: Evaluation,
    /// The slot at whose begin the last judged windows end; `None` before the first judgement.
    end: Option<i64>,
    /// The slot before which all are counted; `None` before the first were.
    counted: Option<i64>,
    last: Option<Judged>,
}

/// State of a rule and its alarm.
#[derive(Clone, Debug)]
pub(crate) struct RuleStanding {
    pub(crate) rule: Rule,
    pub(crate) state: AlarmState,
    /// Why the last windows could not be judged.
    pub(crate) unjudged: Option<Unjudged>,
    /// End of the last judged windows (UTC, nanoseconds since 1970), and their result.
    pub(crate) last: Option<(i64, Judged)>,
}

impl RuleStanding {
    /// The counts of the last windows, in a sentence.
    pub(crate) fn finding(&self) -> String {
        self.rule.finding(self.last.as_ref().map_or(&[], |(_, last)| &last.windows))
    }
}

impl RuleWatch {
    /// The rules of a file, with the states that their alarms had in the journal of a data folder.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn start(file: &RuleFile, data_dir: &Path) -> io::Result<Self> {
        if file.rules.is_empty() {
            return Ok(Self::default());
        }
        let notifier = Notifier::start(data_dir, file)?;
        let mut watch = Self::new(&file.rules);
        for watched in &mut *watch.watched() {
            let state = notifier.journal().state(&watched.evaluation.rule.name);
            watched.evaluation.alarm = Alarm::restored(state);
        }
        watch.notifier = Some(notifier);
        Ok(watch)
    }

    /// Rules whose alarms are quiet and notify nobody.
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let watched = |rule: &Rule| Watched {
            evaluation: Evaluation::new(rule.clone()),
            end: None,
            counted: None,
            last: None,
        };
        Self { watched: Mutex::new(rules.iter().map(watched).collect()), notifier: None }
    }

    /// State of every rule, in the order of the file.
    pub(crate) fn standings(&self) -> Vec<RuleStanding> {
        let watched = self.watched();
        let standing = |watched: &Watched| {
            let Evaluation { rule, alarm, .. } = &watched.evaluation;
            RuleStanding {
                rule: rule.clone(),
                state: alarm.state,
                unjudged: alarm.unjudged.clone(),
                last: watched.end.map(|end| rule.start_ns(end)).zip(watched.last.clone()),
            }
        };
        watched.iter().map(standing).collect()
    }

    fn watched(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rules whose next windows have settled, with the slots at which these end.
    fn due(&self, settled_ns: i64) -> Vec<(usize, Rule, DueSlots)> {
        let watched = self.watched();
        let due = watched.iter().enumerate().filter_map(|(index, watched)| {
            let rule = &watched.evaluation.rule;
            let waits_ns = match &rule.condition {
                Condition::Arrivals { limit_ns, .. } => {
                    i64::try_from(*limit_ns).unwrap_or(i64::MAX)
                }
                _ => 0,
            };
            let end = rule.slot(settled_ns.saturating_sub(waits_ns));
            let before = watched.end;
            let late = RECOUNT_NS / rule.start_ns(1);
            let longest = end.saturating_sub_unsigned(rule.slots_max());
            let count_from = match watched.counted {
                None => longest,
                Some(counted) => counted.min(end - late).max(longest.min(end - late)),
            };
            let judge_from = before.map_or(end, |before| (before + 1).max(end - BEHIND_MAX));
            let due = DueSlots { count_from, judge_from, end };
            (before != Some(end)).then(|| (index, rule.clone(), due))
        });
        due.collect()
    }

    /// Takes the counts of a rule's slots, or the reason why there are none, and judges.
    fn judge(
        &self,
        index: usize,
        due: &DueSlots,
        counted: Counted,
    ) -> Vec<(Rule, Judged, Transition)> {
        let mut watched = self.watched();
        let Some(watched) = watched.get_mut(index) else { return Vec::new() };
        let evaluation = &mut watched.evaluation;
        let reason = match counted {
            Counted::Slots(counts) => {
                evaluation.counts.replace_from(due.count_from, counts);
                let kept = evaluation.rule.slots_max().saturating_add(RECOUNT_SLOTS_MAX);
                evaluation.counts.forget_before(due.end.saturating_sub_unsigned(kept));
                watched.counted = Some(due.end);
                None
            }
            Counted::Not(reason) => Some(reason),
        };
        let mut told = Vec::new();
        for end in due.judge_from..=due.end {
            let judged = match &reason {
                None => evaluation.judge(end),
                Some(reason) => evaluation.not_counted(end, reason.clone()),
            };
            if let Some(transition) = judged.transition {
                told.push((evaluation.rule.clone(), judged.clone(), transition));
            }
            watched.last = Some(judged);
        }
        watched.end = Some(due.end);
        told
    }
}

/// Slots that are kept beside the longest window, because they may be counted again: seconds.
const RECOUNT_SLOTS_MAX: u64 = 120;

/// Slots to count and to judge: from the first of each to before `end`.
struct DueSlots {
    count_from: i64,
    judge_from: i64,
    end: i64,
}

enum Counted {
    Slots(Vec<chronoscope_rules::WindowCounts>),
    Not(String),
}

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
        let settled_after_ns = match self.metrics.has_spans() {
            true => SPANS_SETTLED_AFTER_NS,
            false => SETTLED_AFTER_NS,
        };
        for (index, rule, due) in self.rules.due(now_ns - settled_after_ns) {
            let counted = match self.count_rule(&rule, &due, now_ns) {
                Ok(counted) => counted,
                Err(error) => Counted::Not(format!("the rows cannot be read: {error}")),
            };
            for (rule, judged, transition) in self.rules.judge(index, &due, counted) {
                line(&rule, &judged, &transition).say();
                if let Some(notifier) = &self.rules.notifier {
                    let slowest = self.slowest(&rule, &transition);
                    notifier.queue(&rule, &judged, &transition, slowest);
                }
            }
        }
    }

    /// The slowest chain of the windows of an alarm that fires.
    fn slowest(&self, rule: &Rule, transition: &Transition) -> Option<(Point, String)> {
        if transition.change == Change::Cleared {
            return None;
        }
        // A notification without it is better than none.
        self.recently(|view, _| slowest(view, rule, transition)).ok().flatten()
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
            let mut counts = Vec::new();
            let mut slot = due.count_from;
            while slot < due.end {
                let until = (slot + chunk).min(due.end);
                counts.extend(count(view, rule, slot..until)?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_rules::{RuleFile, WindowCounts};

    const MINUTE_NS: i64 = 60_000_000_000;

    fn watch() -> RuleWatch {
        let text = "[[limit]]\nclass = 'a'\nlimit = '1s'\nwindow = '5min'";
        RuleWatch::new(&RuleFile::parse(text).unwrap().rules)
    }

    fn slow() -> WindowCounts {
        WindowCounts { count: 10, above: 5, undecided: 0 }
    }

    #[test]
    fn at_first_the_longest_window_is_counted_and_then_what_may_be_late() {
        let watch = watch();
        let due = watch.due(100 * MINUTE_NS + 7);
        let [(0, _, DueSlots { count_from: 95, judge_from: 100, end: 100 })] = &due[..] else {
            panic!("{} are due", due.len())
        };
        let told = watch.judge(0, &due[0].2, Counted::Slots(vec![slow(); 5]));
        assert_eq!(told.len(), 1);
        assert!(watch.due(100 * MINUTE_NS + 8).is_empty(), "nothing new has settled");
        let due = watch.due(102 * MINUTE_NS);
        let [(0, _, DueSlots { count_from: 100, judge_from: 101, end: 102 })] = &due[..] else {
            panic!("{} are due", due.len())
        };
    }

    #[test]
    fn an_alarm_that_cannot_be_judged_says_so_and_stays() {
        let watch = watch();
        let due = watch.due(100 * MINUTE_NS).remove(0).2;
        watch.judge(0, &due, Counted::Slots(vec![slow(); 5]));
        let due = watch.due(101 * MINUTE_NS).remove(0).2;
        assert!(watch.judge(0, &due, Counted::Not("no rows".to_owned())).is_empty());
        let standing = watch.standings().remove(0);
        assert_ne!(standing.state, AlarmState::Quiet);
        assert_eq!(standing.unjudged, Some(Unjudged::NotCounted("no rows".to_owned())));
    }
}
