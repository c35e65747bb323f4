//! When a rule would have fired and cleared, from stored rows.

use super::count::{CHUNK_NS, count};
use chronoscope_query::{QueryError, StoreView};
use chronoscope_rules::{AlarmState, Evaluation, Judgement, Rule, Transition};
use std::ops::Range;

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

/// Evaluates a rule over a time range of a store: UTC, nanoseconds since 1970. Windows that begin
/// before the first stored row have what is stored; the first judgement is made when the rule's
/// shortest window lies in the range.
///
/// # Errors
/// [`QueryError`] when the rows cannot be read.
pub fn rule_history(
    view: &StoreView,
    rule: &Rule,
    range_ns: Range<i64>,
) -> Result<RuleHistory, QueryError> {
    let mut history = RuleHistory::default();
    let Some(stored) = view.extent()? else { return Ok(history) };
    let begin_ns = range_ns.start.max(stored.start);
    let end = rule.slot(range_ns.end.min(stored.end));
    let shortest_ns = rule.condition.windows_ns().into_iter().min().unwrap_or_default();
    let first = rule.slot(begin_ns.saturating_add_unsigned(shortest_ns).saturating_sub(1)) + 1;
    let mut evaluation = Evaluation::new(rule.clone());
    // Rows of before the range are in the windows that reach back into them.
    let mut slot = first.saturating_sub_unsigned(rule.slots_max()).max(rule.slot(stored.start));
    let chunk = (CHUNK_NS / rule.start_ns(1)).max(1);
    while slot < end {
        let slots = slot..(slot + chunk).min(end);
        evaluation.counts.replace_from(slot, count(view, rule, slots.clone())?);
        for judged in (slots.start + 1).max(first)..=slots.end {
            history.judge(&mut evaluation, judged);
        }
        slot = slots.end;
        evaluation.counts.forget_before(slot.saturating_sub_unsigned(rule.slots_max()));
    }
    history.is_firing = evaluation.alarm.state != AlarmState::Quiet;
    Ok(history)
}

impl RuleHistory {
    fn judge(&mut self, evaluation: &mut Evaluation, end: i64) {
        let judged = evaluation.judge(end);
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
