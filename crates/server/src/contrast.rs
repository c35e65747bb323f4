//! Attribute values by which two sets of durations differ, as JSON: the same in the API and in
//! `--json`.

use chronoscope_query::{AttributeContrast, AttributeDifference, AttributeFilter, ContrastSide};
use serde::Serialize;
use utoipa::ToSchema;

/// Two sets of durations, and the attribute values by which they differ.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ContrastView {
    /// The usual durations: those that are not slow or not selected, or A.
    usual: ContrastSideView,
    /// The others: the slow or the selected ones, or B.
    other: ContrastSideView,
    /// The limit above which durations are slow; null where another selection divides them, and
    /// without durations.
    limit_ns: Option<u64>,
    /// The values that differ, the largest difference of shares first; at most 100.
    differences: Vec<DifferenceRow>,
    /// Number of values that were looked at: probabilities are corrected for it.
    looked_at: u64,
    /// Number of values that were not looked at, because fewer than ten sampled durations have
    /// them.
    rare: u64,
    /// The largest difference in words, of a value that the others have more often where there is
    /// one; or why there is none.
    sentence: String,
    /// Unreadable segments, in words.
    damage: Vec<String>,
}

/// One of the two sets.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct ContrastSideView {
    /// Number of durations.
    total: u64,
    /// Number of durations whose attributes were read. Of the usual durations as many are drawn as
    /// there are others at the same time, where slow or selected durations are compared.
    sampled: u64,
}

/// An attribute value that differs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DifferenceRow {
    /// The durations that have it, as `where` takes it: `KEY=VALUE`, or `KEY` where it is the
    /// attribute itself that only some durations have.
    filter: String,
    /// Others of nearly the same durations.
    same: Vec<String>,
    /// Number of sampled usual durations that have it.
    usual: u64,
    /// Number of sampled other durations that have it.
    other: u64,
    /// Share of the sampled usual durations, in [0, 1].
    usual_share: f64,
    /// Share of the sampled other durations, in [0, 1].
    other_share: f64,
    /// `other_share` less `usual_share`.
    difference: f64,
    /// `other_share` divided by `usual_share`; null where that is 0.
    ratio: Option<f64>,
    /// Mean of the durations with it less the mean of those without it, over both sets, each
    /// weighted by its true size; null where all have it.
    mean_shift_ns: Option<f64>,
    /// The same for their medians.
    median_shift_ns: Option<i64>,
    /// p-value of Fisher's exact test of this value alone, of independent durations.
    p_value: f64,
    /// The chance of such a difference anywhere, corrected for the number of values looked at and
    /// for the dependence of durations in time; at most 0.02.
    p_corrected: f64,
}

impl From<&AttributeContrast> for ContrastView {
    fn from(of: &AttributeContrast) -> Self {
        let side =
            |ContrastSide { total, sampled }: ContrastSide| ContrastSideView { total, sampled };
        Self {
            usual: side(of.usual),
            other: side(of.other),
            limit_ns: of.limit_ns,
            differences: of.differences.iter().map(DifferenceRow::from).collect(),
            looked_at: of.looked_at,
            rare: of.rare,
            sentence: of.sentence.clone(),
            damage: of.damage.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<&AttributeDifference> for DifferenceRow {
    fn from(of: &AttributeDifference) -> Self {
        Self {
            filter: of.filter.to_string(),
            same: of.same.iter().map(AttributeFilter::to_string).collect(),
            usual: of.usual,
            other: of.other,
            usual_share: of.usual_share,
            other_share: of.other_share,
            difference: of.difference(),
            ratio: of.ratio(),
            mean_shift_ns: of.mean_shift_ns,
            median_shift_ns: of.median_shift_ns,
            p_value: of.p_value,
            p_corrected: of.p_corrected,
        }
    }
}
