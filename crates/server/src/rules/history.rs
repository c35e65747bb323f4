//! When a rule would have fired and cleared, from stored rows.

use super::count::{CHUNK_NS, count};
use super::slot_counts::{Group, SlotCounts};
use chronoscope_query::{QueryError, StoreView};
use chronoscope_rules::{AlarmState, Evaluation, Judgement, Rule, Transition};
use chronoscope_statistics::Usual;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// Transitions that a rule would have made in the past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleHistory {
    /// Changes of its alarm, oldest first.
    pub transitions: Vec<Transition>,
    /// Number of judgements that held.
    pub held: u64,
    /// Number of judgements that were broken.
    pub broken: u64,
    /// Number of instants at which it could not be judged.
    pub not_judged: u64,
    /// The reason for the last of these.
    pub not_judged_reason: Option<String>,
    /// Whether its alarm fires at the end.
    pub is_firing: bool,
}

/// The evaluation of each group of a rule.
struct Groups<'r> {
    rule: &'r Rule,
    evaluated: BTreeMap<Group, (Evaluation, RuleHistory)>,
    beyond: u64,
}

impl Groups<'_> {
    /// Takes the counts of slots from `first` on, and judges the windows that end at `ends`.
    fn judge(&mut self, first: i64, counts: &SlotCounts, ends: RangeInclusive<i64>) {
        let new = |rule| (Evaluation::new(rule), RuleHistory::default());
        let beyond = counts.add_groups(self.rule, &mut self.evaluated, new);
        self.beyond = self.beyond.max(beyond);
        for (group, (evaluation, _)) in &mut self.evaluated {
            evaluation.counts.replace_from(first, counts.of(group));
        }
        for end in ends.clone() {
            let groups = self.evaluated.values().map(|(evaluation, _)| evaluation);
            let usual = Evaluation::usual_of(groups, end);
            for (evaluation, history) in self.evaluated.values_mut() {
                history.judge(evaluation, end, usual);
            }
        }
        for (evaluation, _) in self.evaluated.values_mut() {
            let last = ends.end().saturating_sub_unsigned(self.rule.slots_max());
            evaluation.counts.forget_before(last);
        }
    }

    fn finish(self) -> RuleHistories {
        let histories = self.evaluated.into_values().map(|(evaluation, mut history)| {
            history.is_firing = evaluation.alarm.state != AlarmState::Quiet;
            (evaluation.rule, history)
        });
        let mut histories: Vec<_> = histories.collect();
        if histories.is_empty() {
            histories.push((self.rule.clone(), RuleHistory::default()));
        }
        RuleHistories { histories, beyond: self.beyond }
    }
}

/// Histories of the groups of a rule.
#[derive(Clone, Debug, Default)]
pub struct RuleHistories {
    /// By the groups' rules; of a rule without groups its own alone.
    pub histories: Vec<(Rule, RuleHistory)>,
    /// Groups that were not evaluated, because there are more than 1,000.
    pub beyond: u64,
}

/// Evaluates a rule over a time range of a store: UTC, nanoseconds since 1970. Windows that begin
/// before the first stored row have what is stored; the first judgement is made when the rule's
/// shortest window lies in the range. A group is judged from its first duration on.
///
/// # Errors
/// [`QueryError`] when the rows cannot be read.
pub fn rule_histories(
    view: &StoreView,
    rule: &Rule,
    range_ns: Range<i64>,
) -> Result<RuleHistories, QueryError> {
    let mut groups = Groups { rule, evaluated: BTreeMap::new(), beyond: 0 };
    let Some(stored) = view.extent()? else { return Ok(groups.finish()) };
    let begin_ns = range_ns.start.max(stored.start);
    let end = rule.slot(range_ns.end.min(stored.end));
    let shortest_ns = rule.condition.windows_ns().into_iter().min().unwrap_or_default();
    let first = rule.slot(begin_ns.saturating_add_unsigned(shortest_ns).saturating_sub(1)) + 1;
    // Rows of before the range are in the windows that reach back into them.
    let mut slot = first.saturating_sub_unsigned(rule.slots_max()).max(rule.slot(stored.start));
    let chunk = (CHUNK_NS / rule.start_ns(1)).max(1);
    while slot < end {
        let slots = slot..(slot + chunk).min(end);
        let counts = count(view, rule, slots.clone())?;
        groups.judge(slots.start, &counts, (slots.start + 1).max(first)..=slots.end);
        slot = slots.end;
    }
    Ok(groups.finish())
}

impl RuleHistory {
    fn judge(&mut self, evaluation: &mut Evaluation, end: i64, usual: Option<Usual>) {
        let judged = evaluation.judge_beside(end, usual);
        match judged.judgement {
            Judgement::Holds => self.held += 1,
            Judgement::Broken => self.broken += 1,
            Judgement::NotJudged(reason) => {
                self.not_judged += 1;
                self.not_judged_reason = Some(reason.to_string());
            }
        }
        self.transitions.extend(judged.transition);
    }
}
