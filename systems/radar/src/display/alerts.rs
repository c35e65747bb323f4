//! From what is found in each cycle to what is alerted: confirmation, and hysteresis.
//!
//! A controller who is alerted for nothing does not look the next time. An alert begins when the same
//! finding was made in enough of the last `CYCLES` cycles, the fewer the more urgent it is; it ends
//! when it was not made, by wider limits, in [`HOLD`] cycles one after the other. So none is shorter
//! than those.

use std::collections::BTreeMap;

/// Cycles that are remembered.
const CYCLES: u32 = 5;
/// Cycles without the finding after which an alert ends: with one a second, 5 s.
pub const HOLD: u32 = 5;

/// How a finding of one cycle counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// By the limits themselves: it is alerted when it was made in so many of the last cycles.
    Strict(u32),
    /// By the wider limits alone: it keeps an alert.
    Wide,
}

/// Cycles of the last five in which a conflict has to be found before it is alerted; it begins in
/// `in_s` seconds.
#[must_use]
pub fn needed(in_s: f64) -> u32 {
    match in_s {
        s if s <= 0.0 => 2,
        s if s < 60.0 => 3,
        _ => 4,
    }
}

#[derive(Clone, Debug)]
struct Watched<V> {
    /// A bit for each of the last cycles, the latest the lowest.
    seen: u32,
    missed: u32,
    is_alerted: bool,
    latest: V,
}

/// Findings that are followed from cycle to cycle, by what they are about.
#[derive(Clone, Debug)]
pub struct Alerts<K, V> {
    watched: BTreeMap<K, Watched<V>>,
    begun: u64,
}

impl<K, V> Default for Alerts<K, V> {
    fn default() -> Self {
        Self { watched: BTreeMap::new(), begun: 0 }
    }
}

impl<K: Ord + Copy, V: Clone> Alerts<K, V> {
    /// Takes the findings of one cycle in; returns what is alerted now, as it was last found.
    pub fn cycle(&mut self, findings: impl IntoIterator<Item = (K, V, Finding)>) -> Vec<V> {
        for watched in self.watched.values_mut() {
            watched.seen = (watched.seen << 1) & ((1 << CYCLES) - 1);
            watched.missed += 1;
        }
        for (key, value, finding) in findings {
            let watched = self.watched.entry(key).or_insert_with(|| Watched {
                seen: 0,
                missed: 0,
                is_alerted: false,
                latest: value.clone(),
            });
            watched.latest = value;
            watched.missed = 0;
            if let Finding::Strict(needed) = finding {
                watched.seen |= 1;
                if !watched.is_alerted && watched.seen.count_ones() >= needed {
                    watched.is_alerted = true;
                    self.begun += 1;
                }
            }
        }
        self.watched.retain(|_, watched| watched.missed < HOLD);
        let alerted = self.watched.values().filter(|watched| watched.is_alerted);
        alerted.map(|watched| watched.latest.clone()).collect()
    }

    /// Alerts that have begun so far.
    #[must_use]
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// Forgets what is about something that is gone.
    pub fn forget(&mut self, is_gone: impl Fn(&K) -> bool) {
        self.watched.retain(|key, _| !is_gone(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Cycles as letters: s strict, w wide, - nothing. Returns the cycles in which it was alerted.
    fn run(cycles: &str, needed: u32) -> String {
        let mut alerts = Alerts::default();
        let finding = |letter| match letter {
            's' => Some((1_u8, (), Finding::Strict(needed))),
            'w' => Some((1, (), Finding::Wide)),
            _ => None,
        };
        cycles
            .chars()
            .map(|letter| if alerts.cycle(finding(letter)).is_empty() { '.' } else { 'A' })
            .collect()
    }

    #[test]
    fn an_alert_is_confirmed_first() {
        assert_eq!(run("ssssss", 4), "...AAA");
        assert_eq!(run("sss", 3), "..A");
        assert_eq!(run("ss", 2), ".A");
        // One that flickers is none, though it comes again and again.
        assert_eq!(run("s--s--s--s--s--s--", 3), "..................");
        assert_eq!(run("swswss", 4), "......");
        assert_eq!(run("sswss", 4), "....A");
    }

    #[test]
    fn an_alert_ends_when_it_was_not_found_for_some_cycles() {
        assert_eq!(run("ss-----", 2), ".AAAAA.");
        // By the wider limits it is held.
        assert_eq!(run("ssw---w----s", 2), ".AAAAAAAAAAA");
        // It is confirmed anew after its end.
        assert_eq!(run("ss------ss", 2), ".AAAAA...A");
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let mut alerts = Alerts::default();
        let pair = || [((1_u16, 2_u16), "close", Finding::Strict(1))];
        assert_eq!(alerts.cycle(pair()), ["close"]);
        alerts.forget(|(a, b)| *a == 2 || *b == 2);
        assert!(alerts.cycle([]).is_empty());
        assert_eq!(alerts.begun(), 1);
    }

    #[test]
    fn the_more_urgent_the_sooner() {
        assert_eq!([0.0, 1.0, 59.9, 60.0, 119.0].map(needed), [2, 3, 3, 4, 4]);
    }

    proptest! {
        /// No alert is shorter than five cycles.
        #[test]
        fn none_is_short(cycles in "[sw-]{0,120}", needed in 1..=5_u32) {
            let mut alerted = run(&cycles, needed);
            alerted.push_str("AAAAA"); // one that goes on at the end
            for alert in alerted.split('.').filter(|run| !run.is_empty()) {
                prop_assert!(alert.len() >= 5, "{cycles} {alerted}");
            }
        }
    }
}
