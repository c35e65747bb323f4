//! The alarms of a running server.

use super::count::RECOUNT_NS;
use super::journal::Journal;
use super::journal_content::{Acknowledgement, Handling, Silence};
use super::notify::Notifier;
use super::slot_counts::{Group, SlotCounts};
use crate::collectors::Collectors;
use chronoscope_clock as clock;
use chronoscope_rules::{
    Alarm, AlarmState, Condition, Evaluation, Judged, Rule, RuleFile, Transition, Unjudged,
};
use chronoscope_statistics::Usual;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Transitions that the journal of a cluster does not have yet.
    pub(super) waiting: Mutex<Vec<WaitingTransition>>,
}

#[derive(Debug)]
struct Watched {
    rule: Rule,
    /// By value; of a rule without groups one, under `None`.
    groups: BTreeMap<Group, WatchedGroup>,
    /// Groups that were not judged the last time, because there are too many.
    beyond: u64,
    /// The slot at whose begin the last judged windows end; `None` before the first judgement.
    end: Option<i64>,
    /// The slot before which all are counted; `None` before the first were.
    counted: Option<i64>,
}

#[derive(Debug)]
struct WatchedGroup {
    evaluation: Evaluation,
    last: Option<Judged>,
}

impl WatchedGroup {
    fn new(rule: Rule) -> Self {
        Self { evaluation: Evaluation::new(rule), last: None }
    }

    /// Whether nothing would be lost with it: it is quiet, and its windows are empty.
    fn is_idle(&self) -> bool {
        let is_empty = |last: &Judged| last.windows.iter().all(|window| window.count == 0);
        self.evaluation.alarm.state == AlarmState::Quiet && self.last.as_ref().is_some_and(is_empty)
    }
}

impl Watched {
    fn new(rule: &Rule) -> Self {
        let groups = match rule.group_key() {
            None => BTreeMap::from([(None, WatchedGroup::new(rule.clone()))]),
            Some(_) => BTreeMap::new(),
        };
        Self { rule: rule.clone(), groups, beyond: 0, end: None, counted: None }
    }

    /// Adds the groups whose alarms fire in a journal, and gives every alarm its state there.
    fn restore(&mut self, journal: &Journal) {
        self.add_firing(journal);
        for WatchedGroup { evaluation, .. } in self.groups.values_mut() {
            evaluation.alarm = Alarm::restored(journal.state(&evaluation.rule.name));
        }
    }

    /// The same for alarms whose state is another one there, and whose rules are not `own`.
    fn follow(&mut self, journal: &Journal, own: &BTreeSet<String>) {
        self.add_firing(journal);
        for WatchedGroup { evaluation, .. } in self.groups.values_mut() {
            let (name, alarm) = (&evaluation.rule.name, &mut evaluation.alarm);
            if own.contains(name) {
                continue;
            }
            let state = journal.state(name);
            match (alarm.state, state) {
                (AlarmState::Quiet, AlarmState::Quiet) => {}
                // Only reminders: what speaks against it goes on being counted.
                (AlarmState::Firing { .. }, AlarmState::Firing { .. }) => alarm.state = state,
                _ => {
                    let unjudged = alarm.unjudged.take();
                    *alarm = Alarm::restored(state);
                    alarm.unjudged = unjudged;
                }
            }
        }
    }

    fn add_firing(&mut self, journal: &Journal) {
        let firing = journal.firing_names().filter_map(|name| {
            let value = self.rule.value_of_group(name)?;
            Some((Some(value.to_owned()), self.rule.of_group(value)?))
        });
        for (group, rule) in firing.collect::<Vec<_>>() {
            self.groups.entry(group).or_insert_with(|| WatchedGroup::new(rule));
        }
    }

    /// Why groups of the rule are not judged; `None` where all are.
    fn missing_groups(&self) -> Option<Unjudged> {
        let is_empty = self.groups.is_empty().then_some(Unjudged::NoTraffic);
        let too_many = (self.beyond > 0).then_some(Unjudged::Groups(self.beyond));
        too_many.or(is_empty)
    }

    /// Judges the groups that are counted, and those that were before.
    fn judge(&mut self, due: &DueSlots, counts: &SlotCounts) -> Vec<(Rule, Judged, Transition)> {
        self.beyond = counts.add_groups(&self.rule, &mut self.groups, WatchedGroup::new);
        let kept = self.rule.slots_max().saturating_add(RECOUNT_SLOTS_MAX);
        for (group, watched) in &mut self.groups {
            let counted = &mut watched.evaluation.counts;
            counted.replace_from(due.count_from, counts.of(group));
            counted.forget_before(due.end.saturating_sub_unsigned(kept));
        }
        let evaluations = || self.groups.values().map(|watched| &watched.evaluation);
        let ends = due.judge_from..=due.end;
        let usual: Vec<_> = ends.map(|end| Evaluation::usual_of(evaluations(), end)).collect();
        let judged = self.groups.values_mut().flat_map(|watched| watched.judge(due, Ok(&usual)));
        let told = judged.collect();
        self.counted = Some(due.end);
        let has_groups = self.rule.group_key().is_some();
        self.groups.retain(|_, watched| !(has_groups && watched.is_idle()));
        told
    }
}

impl WatchedGroup {
    /// Judges its windows, beside what was usual at the end of each; or the reason why they could
    /// not be counted.
    fn judge(
        &mut self,
        due: &DueSlots,
        usual: Result<&[Option<Usual>], &str>,
    ) -> Vec<(Rule, Judged, Transition)> {
        let mut told = Vec::new();
        for (index, end) in (due.judge_from..=due.end).enumerate() {
            let judged = match usual {
                Ok(usual) => self.evaluation.judge_beside(end, usual.get(index).copied().flatten()),
                Err(reason) => self.evaluation.not_counted(end, reason.to_owned()),
            };
            if let Some(transition) = judged.transition {
                told.push((self.evaluation.rule.clone(), judged.clone(), transition));
            }
            self.last = Some(judged);
        }
        told
    }
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
        let last = self.last.as_ref().map(|(_, last)| last);
        let windows = last.map_or(&[][..], |last| &last.windows);
        self.rule.finding(windows, last.and_then(|last| last.usual))
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
        Ok(Self::with_notifier(file, Notifier::start(data_dir, file)?))
    }

    /// The same before a cluster, with the states that their alarms have for all collectors.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn start_shared(file: &RuleFile, collectors: Arc<Collectors>) -> io::Result<Self> {
        if file.rules.is_empty() {
            return Ok(Self::default());
        }
        Ok(Self::with_notifier(file, Notifier::start_shared(collectors, file)?))
    }

    fn with_notifier(file: &RuleFile, notifier: Arc<Notifier>) -> Self {
        let mut watch = Self::new(&file.rules);
        watch.watched().iter_mut().for_each(|watched| watched.restore(&notifier.journal()));
        watch.notifier = Some(notifier);
        watch
    }

    /// Takes over the states of the alarms that others have judged; those of `own` rules are being
    /// decided here.
    pub(super) fn follow(&self, journal: &Journal, own: &BTreeSet<String>) {
        for watched in &mut *self.watched() {
            watched.follow(journal, own);
        }
    }

    /// Rules whose alarms are quiet and notify nobody.
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let watched = rules.iter().map(Watched::new).collect();
        Self { watched: Mutex::new(watched), ..Self::default() }
    }

    /// State of every rule, in the order of the file; of a rule with groups, of each group by value,
    /// and before them of the rule itself where groups are missing.
    pub(crate) fn standings(&self) -> Vec<RuleStanding> {
        let watched = self.watched();
        let mut standings = Vec::new();
        for watched in watched.iter() {
            let judged_ns = watched.end.map(|end| watched.rule.start_ns(end));
            standings.extend(watched.missing_groups().into_iter().map(|unjudged| RuleStanding {
                rule: watched.rule.clone(),
                state: AlarmState::Quiet,
                unjudged: Some(unjudged),
                last: None,
                handling: self.handling(&watched.rule),
            }));
            standings.extend(watched.groups.values().map(|group| {
                let Evaluation { rule, alarm, .. } = &group.evaluation;
                RuleStanding {
                    rule: rule.clone(),
                    state: alarm.state,
                    unjudged: alarm.unjudged.clone(),
                    last: judged_ns.zip(group.last.clone()),
                    handling: self.handling(rule),
                }
            }));
        }
        standings
    }

    /// State of the rule with a name, or of the group with it.
    pub(crate) fn standing(&self, name: &str) -> Option<RuleStanding> {
        let found = self.standings().into_iter().find(|standing| standing.rule.name == name);
        // A rule with groups is not among them while its groups are judged.
        found.or_else(|| {
            let watched = self.watched();
            let rule =
                watched.iter().map(|watched| &watched.rule).find(|rule| rule.name == name)?;
            Some(RuleStanding {
                handling: self.handling(rule),
                rule: rule.clone(),
                state: AlarmState::Quiet,
                unjudged: None,
                last: None,
            })
        })
    }

    fn handling(&self, rule: &Rule) -> Handling {
        let handling =
            |notifier: &Arc<Notifier>| notifier.journal().handling(rule, clock::utc_now_ns());
        self.notifier.as_ref().map(handling).unwrap_or_default()
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

    /// The transitions that the journal does not have yet.
    pub(super) fn waiting(&self) -> MutexGuard<'_, Vec<WaitingTransition>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rules whose next windows have settled, with the slots at which these end.
    pub(super) fn due(&self, settled_ns: i64) -> Vec<(usize, Rule, DueSlots)> {
        let watched = self.watched();
        let due = watched.iter().enumerate().filter_map(|(index, watched)| {
            let rule = &watched.rule;
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
        watched.end = Some(due.end);
        match counted {
            Counted::Slots(counts) => watched.judge(due, &counts),
            Counted::Not(reason) => {
                let groups = watched.groups.values_mut();
                groups.flat_map(|group| group.judge(due, Err(&reason))).collect()
            }
        }
    }
}

/// A transition that this server judged, and that the journal of its cluster does not have yet.
#[derive(Debug)]
pub(super) struct WaitingTransition {
    pub(super) rule: Rule,
    pub(super) judged: Judged,
    pub(super) transition: Transition,
    /// When it was judged: monotonic nanoseconds.
    pub(super) judged_ns: u64,
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
    Slots(SlotCounts),
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
        WindowCounts { count: 10, above: 5, ..WindowCounts::default() }
    }

    #[test]
    fn at_first_the_longest_window_is_counted_and_then_what_may_be_late() {
        let watch = watch();
        let due = watch.due(100 * MINUTE_NS + 7);
        let [(0, _, DueSlots { count_from: 95, judge_from: 100, end: 100 })] = &due[..] else {
            panic!("{} are due", due.len())
        };
        let told = watch.judge(0, &due[0].2, Counted::Slots(SlotCounts::of_all(vec![slow(); 5])));
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
        watch.judge(0, &due, Counted::Slots(SlotCounts::of_all(vec![slow(); 5])));
        let due = watch.due(101 * MINUTE_NS).remove(0).2;
        assert!(watch.judge(0, &due, Counted::Not("no rows".to_owned())).is_empty());
        let standing = watch.standings().remove(0);
        assert_ne!(standing.state, AlarmState::Quiet);
        assert_eq!(standing.unjudged, Some(Unjudged::NotCounted("no rows".to_owned())));
    }
}
