//! A rule: what it is about, its condition, and how its alarm behaves.

use crate::condition::{Condition, MINUTE_NS, PAST_WINDOWS, WindowCounts};
use crate::words::period;
use chronoscope_chain::{
    AttributeFilter, AttributeKey, AttributeSelection, AttributeTest, ClassSelector,
};
use chronoscope_figures::numbers::{grouped, significant};
use chronoscope_statistics::{INTERVALS_MIN, Usual};
use serde::Deserialize;

const SECOND_NS: u64 = 1_000_000_000;
/// A window shorter than a minute has at least so many slots, where whole seconds allow it.
const SLOTS_MIN: u64 = 5;

/// A rule of alarms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, unique in its file.
    pub name: String,
    /// Subject of the rule.
    pub subject: RuleSubject,
    /// Filters of the durations, and the key whose values are judged each by itself; at most one.
    pub attributes: AttributeSelection,
    /// Of a group: name of the rule that it is of.
    pub group_of: Option<String>,
    /// The condition under which it is broken.
    pub condition: Condition,
    /// The alarm fires after so many judgements in a row that are broken; at least 1.
    pub fires_after: u32,
    /// The alarm clears after so many judgements in a row that hold; at least 1.
    pub clears_after: u32,
    /// Interval of reminders while the alarm fires, in nanoseconds; `None` for none.
    pub remind_ns: Option<u64>,
    /// Label that notifications carry.
    pub severity: String,
}

/// Subject of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleSubject {
    /// The elapsed time of a class.
    Class(ClassSelector),
    /// The time from the start of a root to the end of a leaf.
    Chain {
        /// The class that chains begin with.
        root: ClassSelector,
        /// The class that is measured to.
        leaf: ClassSelector,
        /// Steps from the one to the other; `None` for any.
        level: Option<u16>,
    },
}

/// Chains that must arrive at their leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Each root must have a leaf that ends within the limit.
    EachRoot,
}

impl Rule {
    /// The key whose values are judged each by itself.
    pub fn group_key(&self) -> Option<&AttributeKey> {
        self.attributes.by().first()
    }

    /// The rule of one group: the same on durations with this value, with an alarm of its own. It is
    /// named `NAME[KEY=VALUE]`. `None` where the rule has no groups, or as many filters as there may
    /// be.
    pub fn of_group(&self, value: &str) -> Option<Self> {
        let key = self.group_key()?;
        let filter =
            AttributeFilter { key: key.clone(), test: AttributeTest::Is(value.to_owned()) };
        Some(Self {
            name: format!("{}{value}]", self.group_prefix(key)),
            attributes: self.attributes.of_group(filter).ok()?,
            group_of: Some(self.name.clone()),
            ..self.clone()
        })
    }

    /// The value of the group that a rule with this name is of.
    pub fn value_of_group<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix(&self.group_prefix(self.group_key()?))?.strip_suffix(']')
    }

    fn group_prefix(&self, key: &AttributeKey) -> String {
        format!("{}[{key}=", self.name)
    }

    /// The class, or root and leaf, with the filters.
    pub fn what(&self) -> String {
        let mut what = self.subject.to_string();
        for (index, filter) in self.attributes.filters().iter().enumerate() {
            what += if index == 0 { " with " } else { " and " };
            what += &filter.to_string();
        }
        what
    }

    /// Interval between judgements, and length of a slot, in nanoseconds: a minute; of a shorter
    /// window a fifth or less, in whole seconds.
    pub fn step_ns(&self) -> u64 {
        let shortest_ns = self.condition.windows_ns().into_iter().min().unwrap_or(MINUTE_NS);
        if shortest_ns >= MINUTE_NS {
            return MINUTE_NS;
        }
        let seconds = (shortest_ns / SECOND_NS).max(1);
        let divides = |step: &u64| seconds.is_multiple_of(*step);
        (1..=seconds / SLOTS_MIN).rev().find(divides).unwrap_or(1) * SECOND_NS
    }

    /// Start of a slot: UTC, nanoseconds since 1970.
    pub fn start_ns(&self, slot: i64) -> i64 {
        slot.saturating_mul(i64::try_from(self.step_ns()).unwrap_or(i64::MAX))
    }

    /// The slot of an instant.
    pub fn slot(&self, at_ns: i64) -> i64 {
        at_ns.div_euclid(i64::try_from(self.step_ns()).unwrap_or(i64::MAX))
    }

    /// Slots of the longest window; of a rule on regularity also those of the past that it is
    /// compared with.
    pub fn slots_max(&self) -> u64 {
        let longest_ns = self.condition.windows_ns().into_iter().max().unwrap_or_default();
        let windows = match self.condition {
            Condition::Irregular { .. } => 1 + PAST_WINDOWS,
            _ => 1,
        };
        longest_ns / self.step_ns() * windows
    }

    /// Whether `/now` judges the rule minute by minute as a limit of 0.3 %, with an alarm that
    /// changes with every judgement.
    pub fn is_plain_limit(&self) -> bool {
        let is_quick = self.fires_after == 1 && self.clears_after == 1;
        let is_arrivals = matches!(self.condition, Condition::Arrivals { .. });
        let is_of_all = self.attributes.is_empty();
        is_of_all && is_quick && (is_arrivals || self.condition.is_default())
    }

    /// The counts of the rule's windows, in a sentence, and what was usual.
    pub fn finding(&self, windows: &[WindowCounts], usual: Option<Usual>) -> String {
        if let Condition::Irregular { window_ns, .. } = &self.condition {
            let window = windows.first().copied().unwrap_or_default();
            return self.regularity(window, *window_ns, usual);
        }
        let (what, limit) = (self.what(), period(self.condition.limit_ns().unwrap_or_default()));
        let lengths = self.condition.windows_ns();
        if let Condition::Absence { window_ns } = &self.condition {
            let count = windows.first().copied().unwrap_or_default().count;
            return format!("{what}: {} ended in {}", grouped(count), period(*window_ns));
        }
        let parts = lengths.iter().zip(windows).map(|(length_ns, counts)| {
            let (above, count) = (grouped(counts.above), grouped(counts.count));
            format!("{above} of {count} in {}", period(*length_ns))
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        match &self.condition {
            Condition::Arrivals { .. } => format!("{what}: no leaf within {limit}: {parts}"),
            _ => format!("{what}: longer than {limit}: {parts}"),
        }
    }

    /// How regularly its group came, in a sentence.
    fn regularity(&self, window: WindowCounts, window_ns: u64, usual: Option<Usual>) -> String {
        let (what, length, count) = (self.what(), period(window_ns), window.intervals.count);
        let percent = |share: f64| format!("{} %", significant(100.0 * share));
        let spread = match window.intervals.spread() {
            _ if count == 0 => return format!("{what}: nothing ended in {length}"),
            None => return format!("{what}: {count} intervals in {length}"),
            Some(spread) => percent(spread),
        };
        let usual = match usual {
            Some(usual) if usual.median.is_finite() => {
                format!("; usual: {}", percent(usual.median))
            }
            _ => String::new(),
        };
        let gap = match window.intervals.open_ns {
            open_ns if open_ns > INTERVALS_MIN * window.intervals.sum_ns / count => {
                format!("; nothing has ended for {}", period(open_ns))
            }
            _ => String::new(),
        };
        let count = grouped(count);
        format!("{what}: {count} intervals in {length} vary by {spread} of their mean{usual}{gap}")
    }

    /// Meaning of the rule, in a sentence.
    pub fn sentence(&self) -> String {
        let times = |count: u32, words: &str| match count {
            1 => String::new(),
            count => format!("{count} judgements in a row {words}"),
        };
        let condition = self.condition.sentence(&self.what());
        let mut text = format!("{}: fires when {condition}", self.name);
        if let Some(key) = self.group_key() {
            text += &format!(", for each {key} by itself");
        }
        let fires = times(self.fires_after, "");
        if !fires.is_empty() {
            text += &format!(", in {}", fires.trim_end());
        }
        text += &format!("; judged every {}", period(self.step_ns()));
        let clears = times(self.clears_after, "that hold");
        text += &match clears.is_empty() {
            true => "; clears with the first judgement that holds".to_owned(),
            false => format!("; clears after {clears}"),
        };
        match self.remind_ns {
            Some(remind_ns) => text += &format!("; reminds every {}.", period(remind_ns)),
            None => text.push('.'),
        }
        text
    }
}

impl std::fmt::Display for RuleSubject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Class(class) => write!(f, "{class}"),
            Self::Chain { root, leaf, level: None } => write!(f, "{root} → {leaf}"),
            Self::Chain { root, leaf, level: Some(level) } => {
                write!(f, "{root} → {leaf} at level {level}")
            }
        }
    }
}
