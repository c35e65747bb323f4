//! What reports say of an aircraft beside its position, against what is true: address, Mode 3/A code,
//! target identification, level.
//!
//! A report counts where the true value is known. It says the right value, a wrong one or none.

use crate::asterix::Callsign;
use std::collections::BTreeMap;

/// Values of an aircraft, as a report says them or as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) address: Option<u32>,
    pub(super) mode_a: Option<u16>,
    pub(super) callsign: Option<Callsign>,
    /// Hundreds of feet.
    pub(super) level: Option<f64>,
}

/// Names of the items, in the order of [`Said`].
const NAMES: [&str; 4] = ["address", "mode_a", "callsign", "level"];

/// How often reports say one item, and rightly. Shares are in `[0, 1]`; `None` where there was nothing
/// to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Content {
    /// The item: `address`, `mode_a`, `callsign`, `level`.
    pub item: &'static str,
    /// Reports about aircraft whose true value is known.
    pub reports: u64,
    /// Share of them that say any value.
    pub present: Option<f64>,
    /// Share of them that say the true value.
    pub correct: Option<f64>,
    /// Share of them that say another one.
    pub wrong: Option<f64>,
    /// Share of the aircraft-seconds at which the true value was said within the interval of update.
    pub correct_in_time: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    reports: u64,
    correct: u64,
    wrong: u64,
    samples: u64,
    in_time: u64,
}

/// Counts what reports say.
#[derive(Debug)]
pub(super) struct Contents {
    /// Levels that differ by more are wrong, hundreds of feet.
    level_off_max: f64,
    counts: [Counts; 4],
    /// When each item was last said rightly of an aircraft, s.
    last_s: BTreeMap<u32, [f64; 4]>,
}

impl Contents {
    /// Levels that are off by more than so many feet are wrong.
    pub(super) fn new(level_off_ft_max: f64) -> Self {
        let level_off_max = level_off_ft_max / 100.0;
        Self { level_off_max, counts: Default::default(), last_s: BTreeMap::new() }
    }

    /// Whether each item is said rightly; `None` where it is not said, or the truth is not known.
    fn right(&self, said: &Said, real: &Said) -> [Option<bool>; 4] {
        [
            said.address.zip(real.address).map(|(a, b)| a == b),
            said.mode_a.zip(real.mode_a).map(|(a, b)| a == b),
            said.callsign.zip(real.callsign).map(|(a, b)| a == b),
            said.level.zip(real.level).map(|(a, b)| (a - b).abs() <= self.level_off_max),
        ]
    }

    /// Takes in a report about the aircraft `name`, of the state at `utc_s`.
    pub(super) fn add(&mut self, name: u32, utc_s: f64, said: &Said, real: &Said) {
        let right = self.right(said, real);
        let last_s = self.last_s.entry(name).or_insert([f64::NEG_INFINITY; 4]);
        for (item, is_known) in known(real).into_iter().enumerate() {
            let counts = &mut self.counts[item];
            counts.reports += u64::from(is_known);
            counts.correct += u64::from(right[item] == Some(true));
            counts.wrong += u64::from(right[item] == Some(false));
            if right[item] == Some(true) {
                last_s[item] = last_s[item].max(utc_s);
            }
        }
    }

    /// Takes in that the aircraft `name` is there at `now_s`, after the reports of that time.
    pub(super) fn sample(&mut self, name: u32, now_s: f64, interval_s: f64, real: &Said) {
        let last_s = self.last_s.get(&name).copied().unwrap_or([f64::NEG_INFINITY; 4]);
        for (item, is_known) in known(real).into_iter().enumerate() {
            let is_in_time = is_known && now_s - last_s[item] <= interval_s;
            self.counts[item].samples += u64::from(is_known);
            self.counts[item].in_time += u64::from(is_in_time);
        }
    }

    pub(super) fn finish(&self) -> Vec<Content> {
        let share = |of: u64, all: u64| (all > 0).then(|| of as f64 / all as f64);
        let content = |(item, c): (&'static str, &Counts)| Content {
            item,
            reports: c.reports,
            present: share(c.correct + c.wrong, c.reports),
            correct: share(c.correct, c.reports),
            wrong: share(c.wrong, c.reports),
            correct_in_time: share(c.in_time, c.samples),
        };
        NAMES.into_iter().zip(&self.counts).map(content).collect()
    }
}

fn known(real: &Said) -> [bool; 4] {
    [real.address.is_some(), real.mode_a.is_some(), real.callsign.is_some(), real.level.is_some()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: Said =
        Said { address: Some(7), mode_a: Some(0o1000), callsign: None, level: Some(330.0) };

    #[test]
    fn absent_and_wrong_are_two_things_and_what_nobody_knows_is_neither() {
        let mut contents = Contents::new(300.0);
        let level = |level| Said { level: Some(level), ..REAL };
        contents.add(7, 10.0, &level(333.0), &REAL);
        contents.add(7, 14.0, &level(333.25), &REAL);
        contents.add(7, 18.0, &Said { mode_a: Some(0o2000), ..Said::default() }, &REAL);
        contents.add(7, 22.0, &Said::default(), &REAL);
        let found = contents.finish();
        let of = |index: usize| {
            let c: Content = found[index];
            (c.reports, c.present, c.correct, c.wrong)
        };
        assert_eq!(of(0), (4, Some(0.5), Some(0.5), Some(0.0)), "address");
        assert_eq!(of(1), (4, Some(0.75), Some(0.5), Some(0.25)), "Mode A");
        assert_eq!(of(2), (0, None, None, None), "callsign");
        assert_eq!(of(3), (4, Some(0.5), Some(0.25), Some(0.25)), "level");
    }

    #[test]
    fn an_aircraft_is_identified_while_its_last_right_report_is_not_too_old() {
        let mut contents = Contents::new(300.0);
        contents.add(7, 10.0, &REAL, &REAL);
        for second in 9..=19_u32 {
            contents.sample(7, f64::from(second), 5.0, &REAL);
        }
        // From 9 s, of which nothing is known yet but the report of 10 s, to 15 s: 7 of 11.
        assert_eq!(contents.finish()[1].correct_in_time, Some(7.0 / 11.0));
        contents.sample(8, 12.0, 5.0, &REAL);
        assert_eq!(contents.finish()[1].correct_in_time, Some(7.0 / 12.0), "of another one");
    }
}
