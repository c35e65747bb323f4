//! The alarm of a rule: hysteresis and reminders over judgements.

use crate::condition::{Judgement, Unjudged};
use crate::rule::Rule;

/// State of an alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlarmState {
    /// It does not fire.
    #[default]
    Quiet,
    /// It fires.
    Firing {
        /// Instant at which it fired: UTC, nanoseconds since 1970.
        since_ns: i64,
        /// Instant at which it fired or was last reminded of, likewise.
        told_ns: i64,
    },
}

/// Kind of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The alarm begins to fire.
    Fired,
    /// The alarm still fires, and a reminder is due.
    Reminded,
    /// The alarm no longer fires.
    Cleared,
}

impl Change {
    /// Its name in JSON, notifications and the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Reminded => "reminded",
            Self::Cleared => "cleared",
        }
    }
}

/// A change of an alarm's state, or a reminder of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Kind of the transition.
    pub change: Change,
    /// End of the windows that led to it: UTC, nanoseconds since 1970.
    pub at_ns: i64,
    /// Instant at which the alarm fired, likewise.
    pub since_ns: i64,
}

/// An alarm between two judgements.
///
/// It fires after a number of windows in a row that are broken, and clears after a number in a row
/// that hold. A window that cannot be judged counts for neither row and interrupts none: an alarm
/// does not clear because nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alarm {
    /// Whether it fires.
    pub state: AlarmState,
    /// Why the last windows could not be judged; `None` where they could.
    pub unjudged: Option<Unjudged>,
    /// Judgements in a row that speak against the state.
    against: u32,
}

impl Alarm {
    /// An alarm in a state that was stored before.
    pub const fn restored(state: AlarmState) -> Self {
        Self { state, unjudged: None, against: 0 }
    }

    /// Takes the judgement of the windows that end at `at_ns`. Instants ascend from call to call.
    pub fn step(&mut self, rule: &Rule, at_ns: i64, judgement: &Judgement) -> Option<Transition> {
        self.unjudged = match judgement {
            Judgement::NotJudged(reason) => Some(reason.clone()),
            Judgement::Holds | Judgement::Broken => None,
        };
        let is_firing = self.state != AlarmState::Quiet;
        let (speaks_against, after) = match is_firing {
            false => (*judgement == Judgement::Broken, rule.fires_after),
            true => (*judgement == Judgement::Holds, rule.clears_after),
        };
        match judgement {
            Judgement::NotJudged(_) => {}
            _ if speaks_against => self.against += 1,
            _ => self.against = 0,
        }
        if speaks_against && self.against >= after {
            self.against = 0;
            return Some(self.turn(at_ns));
        }
        self.remind(rule, at_ns)
    }

    /// Changes the state.
    const fn turn(&mut self, at_ns: i64) -> Transition {
        match self.state {
            AlarmState::Quiet => {
                self.state = AlarmState::Firing { since_ns: at_ns, told_ns: at_ns };
                Transition { change: Change::Fired, at_ns, since_ns: at_ns }
            }
            AlarmState::Firing { since_ns, .. } => {
                self.state = AlarmState::Quiet;
                Transition { change: Change::Cleared, at_ns, since_ns }
            }
        }
    }

    fn remind(&mut self, rule: &Rule, at_ns: i64) -> Option<Transition> {
        let AlarmState::Firing { since_ns, told_ns } = &mut self.state else { return None };
        let due_ns = told_ns.saturating_add_unsigned(rule.remind_ns?);
        if at_ns < due_ns {
            return None;
        }
        *told_ns = at_ns;
        Some(Transition { change: Change::Reminded, at_ns, since_ns: *since_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::RuleFile;
    use proptest::prelude::*;

    fn rule(fires_after: u32, clears_after: u32, remind: &str) -> Rule {
        let text = format!(
            "[[limit]]\nclass = 'a'\nlimit = '1s'\nfires_after = {fires_after}\nclears_after = \
             {clears_after}\n{remind}"
        );
        RuleFile::parse(&text).unwrap().rules.remove(0)
    }

    fn not_judged() -> Judgement {
        Judgement::NotJudged(Unjudged::NoTraffic)
    }

    /// The transitions of judgements, one a second.
    fn changes(rule: &Rule, judgements: &[Judgement]) -> Vec<(usize, Change)> {
        let mut alarm = Alarm::default();
        let steps = judgements.iter().enumerate().filter_map(|(index, judgement)| {
            let at_ns = i64::try_from(index).unwrap() * 1_000_000_000;
            alarm.step(rule, at_ns, judgement).map(|transition| (index, transition.change))
        });
        steps.collect()
    }

    #[test]
    fn it_fires_after_n_windows_and_clears_after_m() {
        use Judgement::{Broken, Holds};
        let rule = rule(2, 3, "");
        let judged = [Broken, Holds, Broken, Broken, Holds, Holds, Broken, Holds, Holds, Holds];
        assert_eq!(changes(&rule, &judged), [(3, Change::Fired), (9, Change::Cleared)]);
    }

    #[test]
    fn what_cannot_be_judged_neither_clears_nor_interrupts() {
        use Judgement::{Broken, Holds};
        let rule = rule(2, 2, "");
        let judged = [Broken, not_judged(), Broken, not_judged(), Holds, not_judged(), Holds];
        assert_eq!(changes(&rule, &judged), [(2, Change::Fired), (6, Change::Cleared)]);
        let mut alarm = Alarm::default();
        alarm.step(&rule, 0, &not_judged());
        assert_eq!(alarm.unjudged, Some(Unjudged::NoTraffic));
        alarm.step(&rule, 1, &Holds);
        assert_eq!(alarm.unjudged, None);
    }

    #[test]
    fn it_reminds_while_it_fires_also_when_it_cannot_be_judged() {
        let rule = rule(1, 1, "remind = '2s'");
        let judged = [
            Judgement::Broken,
            Judgement::Broken,
            not_judged(),
            Judgement::Broken,
            not_judged(),
            Judgement::Holds,
            Judgement::Holds,
        ];
        let expected = [
            (0, Change::Fired),
            (2, Change::Reminded),
            (4, Change::Reminded),
            (5, Change::Cleared),
        ];
        assert_eq!(changes(&rule, &judged), expected);
    }

    proptest! {
        /// Fired and cleared alternate; each follows from the last N or M judged windows; reminders
        /// come only between the two, and never closer than the interval.
        #[test]
        fn transitions_follow_from_the_windows_before(
            fires_after in 1_u32..5, clears_after in 1_u32..5, remind in 0_u32..4,
            judged in prop::collection::vec(0_u8..3, 0..200),
        ) {
            let judged: Vec<Judgement> = judged.iter().map(|kind| match kind {
                0 => Judgement::Holds,
                1 => Judgement::Broken,
                _ => not_judged(),
            }).collect();
            let remind_line = if remind == 0 { String::new() } else { format!("remind = '{remind}s'") };
            let rule = rule(fires_after, clears_after, &remind_line);
            let mut is_firing = false;
            let mut told = 0;
            for (index, change) in changes(&rule, &judged) {
                let before = judged[..=index].iter().rev().filter(|it| !matches!(it, Judgement::NotJudged(_)));
                let all = |count: u32, wanted: Judgement| {
                    let last: Vec<_> = before.clone().take(count as usize).collect();
                    last.len() == count as usize && last.iter().all(|it| **it == wanted)
                };
                match change {
                    Change::Fired => {
                        prop_assert!(!is_firing && all(fires_after, Judgement::Broken));
                        (is_firing, told) = (true, index);
                    }
                    Change::Cleared => {
                        prop_assert!(is_firing && all(clears_after, Judgement::Holds));
                        is_firing = false;
                    }
                    Change::Reminded => {
                        prop_assert!(is_firing && remind > 0 && index - told >= remind as usize);
                        told = index;
                    }
                }
            }
        }
    }
}
