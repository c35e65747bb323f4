//! Counts of attribute values in two sets of durations.

use super::CONTRAST_CHAINS_MIN;
use super::sets::{BLOCKS, DrawnDuration, DrawnSets};
use chronoscope_chain::{AttributeFilter, AttributeKey, AttributePlace, AttributeTest};
use std::collections::HashMap;

/// A value of an attribute; without a value, that the attribute is there.
type ValueName<'a> = (&'a str, Option<&'a str>);

/// The values that are looked at, with their counts.
pub(super) struct Tally<'a> {
    pub(super) values: Vec<ValueTally<'a>>,
    /// Number of values that too few durations have.
    pub(super) rare: u64,
    /// By set and duration the values that it has, by their index in `values`.
    of_durations: [Vec<Vec<u32>>; 2],
}

/// Counts of one value.
pub(super) struct ValueTally<'a> {
    name: ValueName<'a>,
    /// Durations of each set that have it.
    pub(super) counts: [u64; 2],
    /// The same by block.
    pub(super) by_block: [[u32; BLOCKS]; 2],
}

impl ValueTally<'_> {
    /// The durations that have it, as a filter.
    pub(super) fn filter(&self) -> AttributeFilter {
        let (key, value) = self.name;
        let test = value.map_or(AttributeTest::Exists, |value| AttributeTest::Is(value.to_owned()));
        let key = AttributeKey { place: AttributePlace::Any, key: key.to_owned() };
        AttributeFilter { key, test }
    }

    /// Whether it is a value, and not the attribute itself.
    pub(super) const fn has_value(&self) -> bool {
        self.name.1.is_some()
    }
}

impl<'a> Tally<'a> {
    /// Counts the values of both sets.
    pub(super) fn of(sets: &'a DrawnSets) -> Self {
        let mut numbers: HashMap<ValueName<'a>, u32> = HashMap::new();
        let mut counts: Vec<(ValueName<'a>, [u64; 2])> = Vec::new();
        let mut of_durations = [Vec::new(), Vec::new()];
        for (set, of_set) in sets.sets.iter().enumerate() {
            for duration in &of_set.durations {
                let mut mine = Vec::with_capacity(2 * duration.attributes.len());
                for name in names(duration) {
                    let number = *numbers.entry(name).or_insert_with(|| {
                        counts.push((name, [0; 2]));
                        u32::try_from(counts.len() - 1).unwrap_or(u32::MAX)
                    });
                    if let Some((_, counts)) = counts.get_mut(number as usize) {
                        counts[set] += 1;
                    }
                    mine.push(number);
                }
                of_durations[set].push(mine);
            }
        }
        Self::looked_at(counts, of_durations, sets)
    }

    /// Leaves the values that can be looked at, and counts them by block.
    fn looked_at(
        counts: Vec<(ValueName<'a>, [u64; 2])>,
        mut of_durations: [Vec<Vec<u32>>; 2],
        sets: &DrawnSets,
    ) -> Self {
        let all = of_durations.iter().map(Vec::len).sum::<usize>() as u64;
        let (mut values, mut rare) = (Vec::new(), 0);
        let mut index: Vec<Option<u32>> = Vec::with_capacity(counts.len());
        for (name, counts) in counts {
            let sum = counts[0] + counts[1];
            // What all have does not differ.
            let looked_at = (CONTRAST_CHAINS_MIN..all).contains(&sum);
            rare += u64::from(name.1.is_some() && sum < CONTRAST_CHAINS_MIN);
            index.push(u32::try_from(values.len()).ok().filter(|_| looked_at));
            if looked_at {
                values.push(ValueTally { name, counts, by_block: [[0; BLOCKS]; 2] });
            }
        }
        for (set, of_set) in of_durations.iter_mut().enumerate() {
            for (mine, duration) in of_set.iter_mut().zip(&sets.sets[set].durations) {
                let known = |number: &u32| index.get(*number as usize).copied().flatten();
                *mine = mine.iter().filter_map(known).collect();
                let Some(block) = duration.block else { continue };
                for at in mine {
                    let blocks = &mut values[*at as usize].by_block[set];
                    if let Some(count) = blocks.get_mut(block) {
                        *count += 1;
                    }
                }
            }
        }
        Self { values, rare, of_durations }
    }

    /// For some values, by their index: whether each duration has it, set by set.
    pub(super) fn members(&self, chosen: &[usize]) -> Vec<Vec<bool>> {
        let all = self.of_durations.iter().map(Vec::len).sum();
        let mut members = vec![vec![false; all]; chosen.len()];
        let mut at: HashMap<u32, usize> = HashMap::new();
        for (number, value) in chosen.iter().enumerate() {
            at.extend(u32::try_from(*value).ok().map(|value| (value, number)));
        }
        for (duration, values) in self.of_durations.iter().flatten().enumerate() {
            for number in values.iter().filter_map(|value| at.get(value)) {
                members[*number][duration] = true;
            }
        }
        members
    }
}

/// The values of a duration, and each attribute for itself.
fn names(duration: &DrawnDuration) -> impl Iterator<Item = ValueName<'_>> {
    duration.attributes.iter().flat_map(|attribute| {
        let value = attribute.value.as_deref().map(Some);
        std::iter::once(None).chain(value).map(|value| (&*attribute.key, value))
    })
}
