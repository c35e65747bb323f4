//! Counts of consecutive slots, by group.

use chronoscope_rules::{Rule, WindowCounts};
use std::collections::BTreeMap;

/// Value of a group; `None` for all durations of a rule that has no groups.
pub(super) type Group = Option<String>;

/// The rule of a group; `None` where its rule has as many filters as there may be.
pub(super) fn rule_of(rule: &Rule, group: &Group) -> Option<Rule> {
    group.as_deref().map_or_else(|| Some(rule.clone()), |value| rule.of_group(value))
}

/// Counts of consecutive slots, by group. A group that is not there has counted nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotCounts {
    groups: BTreeMap<Group, Vec<WindowCounts>>,
    /// By slot: what may belong to any group.
    unknown: Vec<WindowCounts>,
    /// Number of groups beyond those that are told apart.
    pub(super) beyond: u64,
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

    /// The groups that have counted something.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.keys()
    }

    /// The counts of a group, slot by slot, with what may belong to it.
    pub(super) fn of(&self, group: &Group) -> Vec<WindowCounts> {
        let mut counts = self.unknown.clone();
        let known = self.groups.get(group).into_iter().flatten();
        counts.iter_mut().zip(known).for_each(|(sum, counts)| sum.add(*counts));
        counts
    }
}
