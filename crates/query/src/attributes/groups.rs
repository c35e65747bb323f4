//! Durations by the values of attributes.

use super::rows::AttributeReader;
use super::values::{GroupNumbers, NONE, OTHERS};
use crate::question::Question;
use crate::series::Point;
use chronoscope_chain::{AttributeKey, Distribution};
use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Largest number of groups of an answer; those with fewer durations are brought together.
pub const GROUPS_MAX: usize = 1_000;

/// The value of a group for one key. Displays as the value, `(none)` or `(others)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupValue {
    /// What has this value.
    Text(Arc<str>),
    /// What does not have the attribute.
    None,
    /// Values that are not told apart.
    Others,
}

impl fmt::Display for GroupValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(text) => text,
            Self::None => "(none)",
            Self::Others => "(others)",
        })
    }
}

/// The durations of a question by the values of one or two attributes. Every duration is in exactly
/// one group.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeGroups {
    /// The keys.
    pub by: Vec<AttributeKey>,
    /// Most durations first, then by value; at last those that were brought together.
    pub groups: Vec<AttributeGroup>,
    /// Number of groups that were brought together as `(others)`, because they are not among the
    /// [`GROUPS_MAX`] largest.
    pub merged: u64,
    /// For each key whether it has more values than are told apart.
    pub cut: Vec<bool>,
}

/// The durations with the same values.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeGroup {
    /// The value for each key.
    pub values: Vec<GroupValue>,
    /// Statistics of the durations.
    pub distribution: Distribution,
    /// Number of durations above the limit, where one was asked for.
    pub above: Option<u64>,
    /// Every duration with its start, shortest first, where [`Question::points`] asks for them.
    pub points: Vec<Point>,
}

impl AttributeGroup {
    /// The group of these durations, which ascend; `None` without any.
    fn of(values: Vec<GroupValue>, points: &[Point], question: &Question) -> Option<Self> {
        let durations_ns: Vec<u64> = points.iter().map(|point| point.duration_ns).collect();
        let above = |limit_ns| {
            let within = durations_ns.partition_point(|ns| *ns <= limit_ns);
            (durations_ns.len() - within) as u64
        };
        Some(Self {
            values,
            distribution: Distribution::of_ascending(&durations_ns)?,
            above: question.limit_ns.map(above),
            points: if question.points { points.to_vec() } else { Vec::new() },
        })
    }
}

/// The largest groups, and the others.
pub(crate) struct Ranked<T> {
    /// The groups with their values, largest first.
    pub(crate) groups: Vec<(Vec<GroupValue>, T)>,
    /// Those beyond the largest, and those of which no value is told apart.
    pub(crate) others: Vec<T>,
    /// Number of groups beyond the largest.
    pub(crate) merged: u64,
}

impl AttributeReader<'_> {
    /// Numbers of a group with those that are no longer told apart as [`OTHERS`].
    pub(crate) fn resolve<'b>(&self, groups: impl Iterator<Item = &'b mut GroupNumbers>) {
        let tables: Vec<_> = (0..self.selection().by().len()).map(|key| self.values(key)).collect();
        for group in groups {
            for (table, number) in tables.iter().zip(group) {
                if *number != NONE && table.text(*number).is_none() {
                    *number = OTHERS;
                }
            }
        }
    }

    /// Ranks groups by their size: the `most` largest, ties by their values.
    pub(crate) fn rank<T>(&self, groups: Vec<(GroupNumbers, u64, T)>, most: usize) -> Ranked<T> {
        let tables: Vec<_> = (0..self.selection().by().len()).map(|key| self.values(key)).collect();
        let text = |(key, number): (usize, &u32)| match *number {
            NONE => GroupValue::None,
            number => match tables[key].text(number) {
                Some(text) => GroupValue::Text(text.clone()),
                None => GroupValue::Others,
            },
        };
        let mut ranked = Vec::new();
        let mut others = Vec::new();
        for (numbers, size, group) in groups {
            let values: Vec<GroupValue> =
                numbers.iter().take(tables.len()).enumerate().map(text).collect();
            if !values.is_empty() && values.iter().all(|value| *value == GroupValue::Others) {
                others.push(group);
            } else {
                ranked.push((Reverse(size), values, group));
            }
        }
        ranked.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let beyond = ranked.split_off(most.min(ranked.len()));
        let merged = beyond.len() as u64;
        others.extend(beyond.into_iter().map(|(.., group)| group));
        let groups = ranked.into_iter().map(|(_, values, group)| (values, group)).collect();
        Ranked { groups, others, merged }
    }

    /// Whether each key to group by has more values than are told apart.
    pub(crate) fn cut(&self) -> Vec<bool> {
        (0..self.selection().by().len()).map(|key| self.values(key).is_cut()).collect()
    }

    /// The groups of durations; `None` where none are asked for.
    pub(crate) fn groups(
        &self,
        mut found: Vec<(GroupNumbers, Point)>,
        question: &Question,
    ) -> Option<AttributeGroups> {
        let by = self.selection().by();
        if by.is_empty() {
            return None;
        }
        self.resolve(found.iter_mut().map(|(numbers, _)| numbers));
        found
            .sort_unstable_by_key(|(numbers, point)| (*numbers, point.duration_ns, point.start_ns));
        let points: Vec<Point> = found.iter().map(|(_, point)| *point).collect();
        let mut groups: Vec<(GroupNumbers, u64, Range<usize>)> = Vec::new();
        for of_group in found.chunk_by(|a, b| a.0 == b.0) {
            let from = groups.last().map_or(0, |(.., range)| range.end);
            let range = from..from + of_group.len();
            groups.push((of_group[0].0, of_group.len() as u64, range));
        }
        drop(found);
        let Ranked { groups, others, merged } = self.rank(groups, GROUPS_MAX);
        let mut groups: Vec<AttributeGroup> = groups
            .into_iter()
            .filter_map(|(values, range)| AttributeGroup::of(values, &points[range], question))
            .collect();
        let mut others: Vec<Point> =
            others.into_iter().flat_map(|range| points[range].iter().copied()).collect();
        others.sort_unstable_by_key(|point| point.duration_ns);
        groups.extend(AttributeGroup::of(vec![GroupValue::Others; by.len()], &others, question));
        Some(AttributeGroups { by: by.to_vec(), groups, merged, cut: self.cut() })
    }
}
