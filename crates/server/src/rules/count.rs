//! Counts of a rule's slots, from stored rows.

use super::slot_counts::{Group, SlotCounts};
use chronoscope_query::{
    AttributeGroups, DurationKind, GroupValue, LeafLevel, Limits, Point, QueryError, Question,
    Required, StoreView, VerdictSubject,
};
use chronoscope_rules::{Condition, Rule, RuleSubject, WindowCounts};
use std::ops::Range;

/// Time for which slots are counted again: rows that are this late are still seen.
pub(super) const RECOUNT_NS: i64 = 120_000_000_000;
/// Slots that are counted at a time span at most so long, which bounds the memory.
pub(super) const CHUNK_NS: i64 = 3_600_000_000_000;
/// Longest duration that is counted: rows are looked for whose root started so long before a slot.
const REACH_NS: i64 = 600_000_000_000;

/// Counts the durations that ended in each of these slots, by group where the rule has groups, with
/// the intervals between their ends where the rule is on regularity; for
/// arrivals, the roots that started in it. Durations without the attribute are in no group.
///
/// # Errors
/// [`QueryError`] when the rows cannot be read.
pub(super) fn count(
    view: &StoreView,
    rule: &Rule,
    slots: Range<i64>,
) -> Result<SlotCounts, QueryError> {
    if matches!(rule.condition, Condition::Arrivals { .. }) {
        let counts = slots.map(|slot| arrivals(view, rule, slot));
        return Ok(SlotCounts::of_all(counts.collect::<Result<_, _>>()?));
    }
    let within = rule.start_ns(slots.start)..rule.start_ns(slots.end);
    let answer = view.ask(
        &Question {
            start_ns: within.start.saturating_sub(REACH_NS)..within.end,
            points: true,
            ..question(rule)
        },
        &Limits::default(),
    )?;
    let mut counts = SlotCounts::new(usize::try_from(slots.end - slots.start).unwrap_or(0));
    match answer.groups {
        None => add(&mut counts, None, rule, slots.start, &answer.points),
        Some(AttributeGroups { groups, merged, .. }) => {
            counts.set_beyond(merged);
            for group in groups {
                if let [GroupValue::Text(value)] = &group.values[..] {
                    add(&mut counts, Some(value.to_string()), rule, slots.start, &group.points);
                }
            }
        }
    }
    if answer.counts.root_missing > 0 {
        undecided(view, rule, slots, counts.unknown())?;
    }
    Ok(counts)
}

/// Adds the durations of a group to the slots in which they ended.
fn add(counts: &mut SlotCounts, group: Group, rule: &Rule, first: i64, points: &[Point]) {
    let limit_ns = rule.condition.limit_ns().unwrap_or(u64::MAX);
    let slots = counts.slots_of(group);
    for point in points {
        let end_ns = point.start_ns.saturating_add_unsigned(point.duration_ns);
        let index = usize::try_from(rule.slot(end_ns) - first).ok();
        if let Some(counts) = index.and_then(|index| slots.get_mut(index)) {
            counts.count += 1;
            counts.above += u64::from(point.duration_ns > limit_ns);
        }
    }
    if matches!(rule.condition, Condition::Irregular { .. }) {
        add_intervals(slots, rule, first, points);
    }
}

/// Adds the intervals between the ends of these durations to the slots in which they end. The first
/// of a slot begins before it, with the last end of the past that was read.
fn add_intervals(slots: &mut [WindowCounts], rule: &Rule, first: i64, points: &[Point]) {
    let end_ns = |point: &Point| point.start_ns.saturating_add_unsigned(point.duration_ns);
    let mut ends: Vec<i64> = points.iter().map(end_ns).collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let mut last = std::iter::from_fn(|| ends.next_if(|at| *at < rule.start_ns(first))).last();
    for (slot, counts) in (first..).zip(slots) {
        let until_ns = rule.start_ns(slot + 1);
        while let Some(at) = ends.next_if(|at| *at < until_ns) {
            if let Some(last) = last {
                counts.intervals.add(at.abs_diff(last));
            }
            last = Some(at);
        }
        counts.intervals.open_ns = last.map_or(0, |last| until_ns.abs_diff(last));
    }
}

/// Adds leaves whose root is missing, by the slot of their start: halves that have none are not
/// looked at again.
fn undecided(
    view: &StoreView,
    rule: &Rule,
    slots: Range<i64>,
    counts: &mut [WindowCounts],
) -> Result<(), QueryError> {
    let start_ns = rule.start_ns(slots.start)..rule.start_ns(slots.end);
    let answer = view.ask(&Question { start_ns, ..question(rule) }, &Limits::default())?;
    let missing = answer.counts.root_missing;
    match counts {
        _ if missing == 0 => {}
        [] => {}
        [slot] => {
            slot.count += missing;
            slot.undecided += missing;
        }
        _ => {
            let half = counts.len() / 2;
            let (before, after) = counts.split_at_mut(half);
            let middle = slots.start.saturating_add_unsigned(half as u64);
            undecided(view, rule, slots.start..middle, before)?;
            undecided(view, rule, middle..slots.end, after)?;
        }
    }
    Ok(())
}

/// Roots that started in a slot, and those of them without a leaf within the limit.
fn arrivals(view: &StoreView, rule: &Rule, slot: i64) -> Result<WindowCounts, QueryError> {
    let judged =
        VerdictSubject::Roots { required: Required::AtLeast(1), receivers: None, timeout_ns: None };
    let start_ns = rule.start_ns(slot)..rule.start_ns(slot + 1);
    let limit_ns = rule.condition.limit_ns();
    let question = Question { start_ns, limit_ns, judged, ..question(rule) };
    let Some(verdict) = view.ask(&question, &Limits::default())?.verdict else {
        return Ok(WindowCounts::default());
    };
    let (count, above, undecided) = (verdict.count, verdict.above(), verdict.undecided);
    Ok(WindowCounts { count, above, undecided, ..WindowCounts::default() })
}

/// The question about a rule's subject, over all time.
pub(super) fn question(rule: &Rule) -> Question {
    let subject = match &rule.subject {
        RuleSubject::Class(class) => {
            Question { kind: DurationKind::Sync, root: class.clone(), ..Question::sync("") }
        }
        RuleSubject::Chain { root, leaf, level } => Question {
            root: root.clone(),
            leaf: Some(leaf.clone()),
            level: level.map_or(LeafLevel::Any, LeafLevel::Exactly),
            ..Question::acpd("", "")
        },
    };
    Question { attributes: rule.attributes.clone(), ..subject }
}
