//! A rule with its counts and its alarm.

use crate::alarm::{Alarm, Transition};
use crate::condition::{Condition, Judgement, PAST_WINDOWS, Unjudged, WindowCounts};
use crate::rule::Rule;
use crate::series::CountSeries;
use chronoscope_statistics::Usual;

/// A group that was silent for so long is gone: its alarm clears.
const GONE_AFTER_NS: u64 = 86_400_000_000_000;

/// The evaluation of a rule over time.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The rule.
    pub rule: Rule,
    /// Counts of its slots.
    pub counts: CountSeries,
    /// Its alarm.
    pub alarm: Alarm,
    /// Judgements in a row without an interval ([`Condition::Irregular`]).
    silent: u64,
}

/// Result of judging a rule at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The counts of the rule's windows, in the order of
    /// [`Condition::windows_ns`](crate::Condition::windows_ns).
    pub windows: Vec<WindowCounts>,
    /// Outcome of the condition.
    pub judgement: Judgement,
    /// Change of the alarm, where there is one.
    pub transition: Option<Transition>,
    /// What was usual, where the rule is on regularity.
    pub usual: Option<Usual>,
}

impl Evaluation {
    /// A quiet rule without counts.
    pub fn new(rule: Rule) -> Self {
        Self { rule, counts: CountSeries::default(), alarm: Alarm::default(), silent: 0 }
    }

    /// Judges the windows that end where slot `end` begins. The ends ascend from call to call.
    pub fn judge(&mut self, end: i64) -> Judged {
        self.judge_beside(end, None)
    }

    /// Judges them beside what is usual for the groups of the rule ([`Self::usual_of`]); without it
    /// beside the group's own past.
    pub fn judge_beside(&mut self, end: i64, others: Option<Usual>) -> Judged {
        let windows = self.windows(end);
        if !matches!(self.rule.condition, Condition::Irregular { .. }) {
            let judgement = self.rule.condition.judge(&windows);
            return self.step(end, windows, judgement, None);
        }
        let is_silent = windows.first().is_none_or(|window| window.intervals.count == 0);
        self.silent = if is_silent { self.silent.saturating_add(1) } else { 0 };
        let usual = others.or_else(|| self.past(end));
        let judgement = match self.silent.saturating_mul(self.rule.step_ns()) > GONE_AFTER_NS {
            true => Judgement::Holds,
            false => self.rule.condition.judge_beside(&windows, usual),
        };
        self.step(end, windows, judgement, usual)
    }

    /// What is usual for these groups of a rule in the windows that end where slot `end` begins;
    /// `None` where the rule is not on regularity, or fewer than three of them tell.
    pub fn usual_of<'e>(groups: impl Iterator<Item = &'e Self>, end: i64) -> Option<Usual> {
        let spreads: Vec<f64> = groups.filter_map(|group| group.spread(end, 0)).collect();
        Usual::of(&spreads)
    }

    /// Spread of the intervals in the window that ends so many windows before slot `end`.
    fn spread(&self, end: i64, before: u64) -> Option<f64> {
        let Condition::Irregular { window_ns, .. } = &self.rule.condition else { return None };
        let slots = window_ns / self.rule.step_ns();
        self.counts.window(end.saturating_sub_unsigned(before * slots), slots).intervals.spread()
    }

    /// What was usual for the group in the windows before.
    fn past(&self, end: i64) -> Option<Usual> {
        let spreads = (1..=PAST_WINDOWS).filter_map(|before| self.spread(end, before));
        // Before its first arrival it was not silent.
        let spreads: Vec<f64> = spreads.filter(|spread| spread.is_finite()).collect();
        Usual::of(&spreads)
    }

    /// Notes that the windows that end where slot `end` begins cannot be judged.
    pub fn not_counted(&mut self, end: i64, reason: String) -> Judged {
        let windows = self.windows(end);
        self.step(end, windows, Judgement::NotJudged(Unjudged::NotCounted(reason)), None)
    }

    fn windows(&self, end: i64) -> Vec<WindowCounts> {
        let windows_ns = self.rule.condition.windows_ns().into_iter();
        windows_ns.map(|ns| self.counts.window(end, ns / self.rule.step_ns())).collect()
    }

    fn step(
        &mut self,
        end: i64,
        windows: Vec<WindowCounts>,
        judgement: Judgement,
        usual: Option<Usual>,
    ) -> Judged {
        let at_ns = self.rule.start_ns(end);
        let transition = self.alarm.step(&self.rule, at_ns, &judgement);
        Judged { windows, judgement, transition, usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarm::Change;
    use crate::file::RuleFile;

    /// Minutes of intervals: of 100 ms each, or of 10 ms and 2 s in turn; of a silent one none.
    fn minute(kind: char, open_ns: u64) -> WindowCounts {
        let mut counts = WindowCounts::default();
        let pair = match kind {
            'r' => [100_000_000; 2],
            'b' => [10_000_000, 2_000_000_000],
            _ => [0; 2],
        };
        if pair[0] > 0 {
            counts.count = 60;
            pair.repeat(30).into_iter().for_each(|ns| counts.intervals.add(ns));
        }
        counts.intervals.open_ns = open_ns;
        counts
    }

    /// Changes of the alarm of the first of the streams, one minute a letter, window 2 min.
    fn changes(streams: &[&str]) -> Vec<(i64, Change)> {
        let text = "[[limit]]\nclass = 'a'\nby = 'k'\nirregular = 3\nwindow = '2min'";
        let rule = RuleFile::parse(text).unwrap().rules.remove(0);
        let mut groups: Vec<Evaluation> =
            streams.iter().map(|name| Evaluation::new(rule.of_group(name).unwrap())).collect();
        let mut found = Vec::new();
        for end in 1..=i64::try_from(streams[0].len()).unwrap() {
            for (group, stream) in groups.iter_mut().zip(streams) {
                let at = usize::try_from(end).unwrap() - 1;
                let kind = stream.chars().nth(at).unwrap();
                let silent = stream[..=at].chars().rev().take_while(|kind| *kind == 's').count();
                let open_ns = silent as u64 * 60_000_000_000;
                group.counts.replace_from(end - 1, [minute(kind, open_ns)]);
            }
            let usual = Evaluation::usual_of(groups.iter(), end);
            let judged = groups[0].judge_beside(end, usual);
            found.extend(judged.transition.map(|it| (end, it.change)));
        }
        found
    }

    #[test]
    fn bursts_of_one_fire_and_clear_and_of_all_do_not() {
        let (quiet, bursts) = ("rrrrrrrrrr", "rrrrbbrrrr");
        assert_eq!(changes(&[bursts, quiet, quiet]), [(5, Change::Fired), (8, Change::Cleared)]);
        assert_eq!(changes(&[bursts, bursts, bursts]), []);
        assert_eq!(changes(&[quiet, quiet, quiet]), []);
    }

    #[test]
    fn a_stream_that_stops_fires_until_it_comes_again() {
        let (quiet, stops) = ("rrrrrrrrrr", "rrrsssssrr");
        assert_eq!(changes(&[stops, quiet, quiet]), [(4, Change::Fired), (9, Change::Cleared)]);
        assert_eq!(changes(&[stops, stops, stops]), [], "all at once is nobody's own");
    }

    #[test]
    fn a_stream_alone_is_judged_by_its_past() {
        let stream = "rrrrrrrrrrrrbbrrrr";
        assert_eq!(changes(&[stream]), [(13, Change::Fired), (16, Change::Cleared)]);
        // Half of the past is irregular: that is usual now.
        let for_good = format!("{}{}", "r".repeat(20), "b".repeat(30));
        let [(21, Change::Fired), (cleared, Change::Cleared)] = changes(&[&for_good])[..] else {
            panic!("{:?}", changes(&[&for_good]))
        };
        assert!((28..35).contains(&cleared), "{cleared}");
    }

    #[test]
    fn what_was_silent_for_a_day_is_gone() {
        let (quiet, stops) = ("r".repeat(1_460), format!("rrr{}", "s".repeat(1_457)));
        let found = changes(&[&stops, &quiet, &quiet]);
        let [(4, Change::Fired), (at, Change::Cleared)] = found[..] else { panic!("{found:?}") };
        assert!((1_440..1_450).contains(&at), "{at}");
    }
}
