//! The alarms of a running server.

use super::count::RECOUNT_NS;
use super::journal::{Acknowledgement, Handling, Silence};
use super::notify::Notifier;
use chronoscope_clock as clock;
use chronoscope_rules::{
    Alarm, AlarmState, Condition, Evaluation, Judged, Rule, RuleFile, Transition, Unjudged,
};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Judgements that are made up for at a time, after the server could not judge for a while.
const BEHIND_MAX: i64 = 60;

/// The rules of a server with their alarms.
#[derive(Debug, Default)]
pub(crate) struct RuleWatch {
    watched: Mutex<Vec<Watched>>,
    /// `None` without rules.
    pub(super) notifier: Option<Arc<Notifier>>,
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
    /// What people have said of it.
    pub(crate) handling: Handling,
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
        let now_ns = clock::utc_now_ns();
        let handling = |rule: &Rule| {
            let notifier = self.notifier.as_ref();
            notifier.map(|notifier| notifier.journal().handling(&rule.name, now_ns))
        };
        let watched = self.watched();
        let standing = |watched: &Watched| {
            let Evaluation { rule, alarm, .. } = &watched.evaluation;
            RuleStanding {
                rule: rule.clone(),
                state: alarm.state,
                unjudged: alarm.unjudged.clone(),
                last: watched.end.map(|end| rule.start_ns(end)).zip(watched.last.clone()),
                handling: handling(rule).unwrap_or_default(),
            }
        };
        watched.iter().map(standing).collect()
    }

    /// Acknowledges the alarm of a rule; false when it does not fire.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub(crate) fn acknowledge(&self, rule: &str, by: String) -> io::Result<bool> {
        let Some(notifier) = &self.notifier else { return Ok(false) };
        let at_ns = clock::utc_now_ns();
        notifier.journal().acknowledge(rule, Acknowledgement { at_ns, by })
    }

    /// Tells nobody of a rule until then.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub(crate) fn silence(&self, rule: &str, until_ns: i64, by: String) -> io::Result<()> {
        let Some(notifier) = &self.notifier else { return Ok(()) };
        notifier.journal().silence_rule(rule, Silence { until_ns, by })
    }

    fn watched(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rules whose next windows have settled, with the slots at which these end.
    pub(super) fn due(&self, settled_ns: i64) -> Vec<(usize, Rule, DueSlots)> {
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
    pub(super) fn judge(
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
pub(super) struct DueSlots {
    pub(super) count_from: i64,
    judge_from: i64,
    pub(super) end: i64,
}

/// Counts of the slots of a rule, or the reason why there are none.
pub(super) enum Counted {
    Slots(Vec<chronoscope_rules::WindowCounts>),
    Not(String),
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
