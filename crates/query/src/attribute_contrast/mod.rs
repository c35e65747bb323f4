//! Attribute values that distinguish slow durations from others, or one set of durations from
//! another.
//!
//! Which attribute counts for a duration is defined as for filters and groups (`docs/glossary.md`,
//! "Attributes"). The attributes of a sample of both sets are read, and every value is counted in
//! both. A value is named where Fisher's exact test, corrected by Holm's rule for the number of
//! values looked at, finds a difference, and so does a test that relabels blocks of time
//! ([`BlockTest`](chronoscope_statistics::BlockTest)): durations near in time are alike, and a
//! value that only came at the same time is no cause. So of comparisons of equal sets at most one
//! in twenty names any value, as far as durations depend on each other for less than a block.
//!
//! Slow durations are compared with others *of the same time*: in each of sixteen blocks, which
//! have as many slow durations each, as many others are drawn. What was slow because of its time
//! alone, whatever its attributes, names nothing. Two times, or two stores, are cut into eight
//! blocks each.

mod decide;
mod sets;
mod tally;

use crate::chunk::DurationFilter;
use crate::draws::{Selected, Sides};
use crate::gather::{QueryEnvironment, gather};
use crate::question::Question;
use chronoscope_chain::AttributeFilter;
use chronoscope_statistics::Quantile;
use chronoscope_store::{Damage, Snapshot, StoreError};
use sets::{DrawnSet, DrawnSets, quantile_ns};
use std::ops::Range;

/// Usual number of durations that are drawn of each set.
pub const CONTRAST_SAMPLE: usize = 4_000;
/// Values that fewer sampled durations have are not looked at: nothing could be said of them, and
/// an id that each duration has for itself would only make the correction larger.
pub const CONTRAST_CHAINS_MIN: u64 = 10;
/// Largest number of values that are named.
pub const CONTRAST_NAMED_MAX: usize = 100;
/// Values with a corrected probability up to this are named. Of comparisons of equal sets at most one
/// in twenty names any: the rest is margin for blocks that depend on each other a little.
pub const CONTRAST_P_MAX: f64 = 0.02;
/// Two values are of nearly the same durations where at least this share of the durations that have
/// one of them have both.
pub const CONTRAST_SAME_MIN: f64 = 0.9;

/// How a sentence names the usual set and the other one, and says that one of them is empty.
struct SetWords {
    usual: &'static str,
    other: &'static str,
    no_usual: &'static str,
    no_other: &'static str,
}

const SLOW: SetWords = SetWords {
    usual: "the others of the same time",
    other: "the slow",
    no_usual: "there are no other durations of the same time: compare with another time",
    no_other: "nothing is slow",
};

const SELECTED: SetWords =
    SetWords { other: "the selected", no_other: "nothing is selected", ..SLOW };

const COMPARED: SetWords = SetWords {
    usual: "A",
    other: "B",
    no_usual: "A has no durations",
    no_other: "B has no durations",
};

/// Which durations of a question are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowLimit {
    /// Those longer than this, in nanoseconds.
    Above(u64),
    /// Those longer than this quantile of all that are asked for.
    AboveQuantile(Quantile),
}

impl Default for SlowLimit {
    /// The slowest hundredth.
    fn default() -> Self {
        Self::AboveQuantile(Quantile::P99)
    }
}

/// Two sets of durations, and the attribute values by which they differ.
#[derive(Clone, Debug)]
pub struct AttributeContrast {
    /// The usual set: those that are not slow or not selected, or A.
    pub usual: ContrastSide,
    /// The other set: the slow or selected ones, or B.
    pub other: ContrastSide,
    /// The limit above which durations are slow, in nanoseconds; `None` where another selection
    /// divides them, and where there are none.
    pub limit_ns: Option<u64>,
    /// The values that differ, the largest difference of shares first; at most
    /// [`CONTRAST_NAMED_MAX`]. A value of nearly the same durations as one before it is in its
    /// [`AttributeDifference::same`].
    pub differences: Vec<AttributeDifference>,
    /// Number of values that were looked at, for which probabilities are corrected: with names of
    /// attributes that only some durations have.
    pub looked_at: u64,
    /// Number of values that were not looked at, because fewer than [`CONTRAST_CHAINS_MIN`] sampled
    /// durations have them.
    pub rare: u64,
    /// The largest difference in words, of a value that the other set has more often where there is
    /// one; or why there is none.
    pub sentence: String,
    /// Segments that could not be read.
    pub damage: Vec<Damage>,
}

/// One of the two sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContrastSide {
    /// Number of durations.
    pub total: u64,
    /// Number of durations whose attributes were read.
    pub sampled: u64,
}

/// An attribute value that differs between two sets.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeDifference {
    /// The durations that have it, as a filter: `KEY=VALUE`, or `KEY` where it is the attribute
    /// itself that some durations have and others do not.
    pub filter: AttributeFilter,
    /// Others of nearly the same durations ([`CONTRAST_SAME_MIN`]).
    pub same: Vec<AttributeFilter>,
    /// Number of sampled durations of the usual set that have it.
    pub usual: u64,
    /// Number of sampled durations of the other set that have it.
    pub other: u64,
    /// Share of the usual set's sample, in `[0, 1]`.
    pub usual_share: f64,
    /// Share of the other set's sample, in `[0, 1]`.
    pub other_share: f64,
    /// Mean of the durations with it less the mean of those without it, over both sets, in
    /// nanoseconds; `None` where there are none without it. Each set counts as it is, not as it was
    /// sampled.
    pub mean_shift_ns: Option<f64>,
    /// The same for their medians.
    pub median_shift_ns: Option<i64>,
    /// The chance of such a difference of shares where there is none, by Fisher's exact test, as
    /// if it were the only value and durations did not depend on each other.
    pub p_value: f64,
    /// The chance of such a difference anywhere, corrected for the number of values and for
    /// dependence in time.
    pub p_corrected: f64,
}

impl AttributeDifference {
    /// The other set's share less the usual set's, in `[-1, 1]`.
    pub fn difference(&self) -> f64 {
        self.other_share - self.usual_share
    }

    /// The other set's share divided by the usual set's; `None` where the usual set has none.
    pub fn ratio(&self) -> Option<f64> {
        (self.usual > 0).then(|| self.other_share / self.usual_share)
    }
}

/// The attribute values by which the slow durations of a question differ from its others of the
/// same time, by a sample of up to `most` slow ones and as many others.
///
/// The sample is drawn as that of [`hops`](crate::hops()): from up to 24 minutes, each as probable
/// as it has slow durations. Cost: what [`scatter`](crate::scatter()) costs, and the attributes of
/// the rows of the chains drawn, which are kept for the next question.
///
/// # Errors
/// As [`ask_watched`](crate::ask_watched).
pub fn slow_attributes(
    snapshot: &Snapshot,
    question: &Question,
    (slow, most): (SlowLimit, usize),
    asking: &QueryEnvironment<'_>,
) -> Result<AttributeContrast, StoreError> {
    let ((sets, limit_ns), losses) = gather(snapshot, question, asking, |gathered| {
        let limit_ns = match slow {
            SlowLimit::Above(limit_ns) => Some(limit_ns),
            SlowLimit::AboveQuantile(quantile) => quantile_ns(gathered, quantile)?,
        };
        let Some(limit_ns) = limit_ns else { return Ok((DrawnSets::default(), None)) };
        let asked = question.duration_ns.clone();
        let from = limit_ns.saturating_add(1).max(*asked.start());
        let selected = Question { duration_ns: from..=*asked.end(), ..question.clone() };
        let sides = two_sides(&selected, question);
        let sets = DrawnSets::of_same_time(snapshot, question, (gathered, &sides), (most, asking))?;
        Ok((sets, Some(limit_ns)))
    })?;
    let mut contrast = AttributeContrast::of(&sets, SLOW);
    contrast.limit_ns = limit_ns;
    contrast.damage = losses.damage;
    Ok(contrast)
}

/// The attribute values by which the durations that a question is about differ from all others of
/// the same root, leaf, level and path that started in `context_ns`, at the same time; as
/// [`slow_attributes`].
///
/// # Errors
/// As [`ask_watched`](crate::ask_watched).
pub fn selected_attributes(
    snapshot: &Snapshot,
    question: &Question,
    (context_ns, most): (Range<i64>, usize),
    asking: &QueryEnvironment<'_>,
) -> Result<AttributeContrast, StoreError> {
    let context = Question {
        start_ns: context_ns,
        hosts: Vec::new(),
        duration_ns: 0..=u64::MAX,
        ..question.clone()
    };
    let from = context.start_ns.start.min(question.start_ns.start);
    let until = context.start_ns.end.max(question.start_ns.end);
    let all = Question { start_ns: from..until, ..context.clone() };
    let (sets, losses) = gather(snapshot, &all, asking, |gathered| {
        let sides = two_sides(question, &context);
        DrawnSets::of_same_time(snapshot, &all, (gathered, &sides), (most, asking))
    })?;
    let mut contrast = AttributeContrast::of(&sets, SELECTED);
    contrast.damage = losses.damage;
    Ok(contrast)
}

/// The attribute values by which the durations of a second question differ from those of a first,
/// by samples of up to `most` of each. Both may be of one store, or of two.
///
/// # Errors
/// As [`ask_watched`](crate::ask_watched).
pub fn compared_attributes(
    (snapshot_a, question_a): (&Snapshot, &Question),
    (snapshot_b, question_b): (&Snapshot, &Question),
    most: usize,
    asking: &QueryEnvironment<'_>,
) -> Result<AttributeContrast, StoreError> {
    let side = |snapshot: &Snapshot, question: &Question| {
        gather(snapshot, question, asking, |gathered| {
            DrawnSets::side(snapshot, question, gathered, (most, asking))
        })
    };
    let (a, losses) = side(snapshot_a, question_a)?;
    let (b, more) = side(snapshot_b, question_b)?;
    let mut contrast = AttributeContrast::of(&DrawnSets::dealt(a, b), COMPARED);
    contrast.damage = losses.damage;
    contrast.damage.extend(more.damage);
    Ok(contrast)
}

fn two_sides(selected: &Question, context: &Question) -> Sides {
    let (selected, context) = (DurationFilter::by(selected), DurationFilter::by(context));
    Sides::Two(Box::new(Selected { selected, context }))
}

impl AttributeContrast {
    /// Decides by what was drawn.
    fn of(sets: &DrawnSets, words: SetWords) -> Self {
        let decided = decide::decide(sets);
        let [usual, other] = [0, 1].map(|set| {
            let DrawnSet { total, durations } = &sets.sets[set];
            ContrastSide { total: *total, sampled: durations.len() as u64 }
        });
        let mut contrast = Self {
            usual,
            other,
            limit_ns: None,
            differences: decided.differences,
            looked_at: decided.looked_at,
            rare: decided.rare,
            sentence: String::new(),
            damage: Vec::new(),
        };
        contrast.sentence = contrast.sentence(words);
        contrast
    }

    /// The values that the other set has more often, the largest difference of shares first.
    pub fn more_often(&self) -> impl Iterator<Item = &AttributeDifference> {
        self.differences.iter().filter(|difference| difference.difference() > 0.0)
    }

    fn sentence(&self, words: SetWords) -> String {
        // A value that the other set has less often says less of it.
        let Some(first) = self.more_often().next().or_else(|| self.differences.first()) else {
            return match (self.usual.sampled, self.other.sampled) {
                (_, 0) => words.no_other.to_owned(),
                (0, _) => words.no_usual.to_owned(),
                _ => format!(
                    "no attribute differs for certain ({} values looked at)",
                    self.looked_at
                ),
            };
        };
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let (of_other, of_usual) = (percent(first.other_share), percent(first.usual_share));
        let same = first.same.first().map(|same| format!(" (and {same})")).unwrap_or_default();
        let SetWords { usual, other, .. } = words;
        format!("{}{same}: {of_other} of {other}, {of_usual} of {usual}", first.filter)
    }
}
