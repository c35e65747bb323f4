//! A rule with its counts and its alarm.

use crate::alarm::{Alarm, Transition};
use crate::condition::{Judgement, Unjudged, WindowCounts};
use crate::rule::Rule;
use crate::series::CountSeries;

/// The evaluation of a rule over time.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The rule.
    pub rule: Rule,
    /// Counts of its slots.
    pub counts: CountSeries,
    /// Its alarm.
    pub alarm: Alarm,
}

/// Result of judging a rule at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The counts of the rule's windows, in the order of
    /// [`Condition::windows_ns`](crate::Condition::windows_ns).
    pub windows: Vec<WindowCounts>,
    /// Outcome of the condition.
    pub judgement: Judgement,
    /// Change of the alarm, where there is one.
    pub transition: Option<Transition>,
}

impl Evaluation {
    /// A quiet rule without counts.
    pub fn new(rule: Rule) -> Self {
        Self { rule, counts: CountSeries::default(), alarm: Alarm::default() }
    }

    /// Judges the windows that end where slot `end` begins. The ends ascend from call to call.
    pub fn judge(&mut self, end: i64) -> Judged {
        let windows = self.windows(end);
        let judgement = self.rule.condition.judge(&windows);
        self.step(end, windows, judgement)
    }

    /// Notes that the windows that end where slot `end` begins cannot be judged.
    pub fn not_counted(&mut self, end: i64, reason: String) -> Judged {
        let windows = self.windows(end);
        self.step(end, windows, Judgement::NotJudged(Unjudged::NotCounted(reason)))
    }

    fn windows(&self, end: i64) -> Vec<WindowCounts> {
        let windows_ns = self.rule.condition.windows_ns().into_iter();
        windows_ns.map(|ns| self.counts.window(end, ns / self.rule.step_ns())).collect()
    }

    fn step(&mut self, end: i64, windows: Vec<WindowCounts>, judgement: Judgement) -> Judged {
        let at_ns = self.rule.start_ns(end);
        let transition = self.alarm.step(&self.rule, at_ns, &judgement);
        Judged { windows, judgement, transition }
    }
}
