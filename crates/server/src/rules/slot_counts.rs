//! Counts of consecutive slots, by group.

use chronoscope_rules::{GROUPS_MAX, Rule, WindowCounts};
use std::collections::BTreeMap;

/// Value of a group; `None` for all durations of a rule that has no groups.
pub(super) type Group = Option<String>;

/// Counts of consecutive slots, by group. A group that is not there has counted nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotCounts {
    groups: BTreeMap<Group, Vec<WindowCounts>>,
    /// By slot: what may belong to any group.
    unknown: Vec<WindowCounts>,
    /// Number of groups beyond those that are told apart.
    beyond: u64,
}

impl SlotCounts {
    /// No counts of so many slots.
    pub(super) fn new(slots: usize) -> Self {
        let unknown = vec![WindowCounts::default(); slots];
        Self { groups: BTreeMap::new(), unknown, beyond: 0 }
    }

    /// Counts of a rule without groups.
    pub(super) fn of_all(counts: Vec<WindowCounts>) -> Self {
        let unknown = vec![WindowCounts::default(); counts.len()];
        Self { groups: BTreeMap::from([(None, counts)]), unknown, beyond: 0 }
    }

    /// The slots of a group, for more counts.
    pub(super) fn slots_of(&mut self, group: Group) -> &mut [WindowCounts] {
        let slots = self.unknown.len();
        let counts = self.groups.entry(group).or_default();
        counts.resize(slots, WindowCounts::default());
        counts
    }

    /// The slots of what may belong to any group.
    pub(super) fn unknown(&mut self) -> &mut [WindowCounts] {
        &mut self.unknown
    }

    /// Notes how many groups were brought together, because there are too many.
    pub(super) fn set_beyond(&mut self, beyond: u64) {
        self.beyond = beyond;
    }

    /// Adds the counts of the slots that follow.
    pub(super) fn append(&mut self, following: Self) {
        let before = self.unknown.len();
        for (group, counts) in following.groups {
            let known = self.groups.entry(group).or_default();
            known.resize(before, WindowCounts::default());
            known.extend(counts);
        }
        self.unknown.extend(following.unknown);
        self.beyond = self.beyond.max(following.beyond);
    }

    /// Adds the groups that are new, each made from its rule, up to [`GROUPS_MAX`]. Returns the number
    /// of groups that are not judged.
    pub(super) fn add_groups<T>(
        &self,
        rule: &Rule,
        known: &mut BTreeMap<Group, T>,
        new: impl Fn(Rule) -> T,
    ) -> u64 {
        let mut beyond = self.beyond;
        for group in self.groups.keys() {
            if known.contains_key(group) {
                continue;
            }
            if known.len() >= GROUPS_MAX {
                beyond += 1;
                continue;
            }
            let of_group = |value| rule.of_group(value);
            if let Some(rule) = group.as_deref().map_or_else(|| Some(rule.clone()), of_group) {
                known.insert(group.clone(), new(rule));
            }
        }
        beyond
    }

    /// The counts of a group, slot by slot, with what may belong to it.
    pub(super) fn of(&self, group: &Group) -> Vec<WindowCounts> {
        let mut counts = self.unknown.clone();
        let known = self.groups.get(group).into_iter().flatten();
        counts.iter_mut().zip(known).for_each(|(sum, counts)| sum.add(*counts));
        counts
    }
}
