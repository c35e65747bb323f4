//! Probability that a track is of an aircraft.
//!
//! The logarithm of the odds begins with how seldom a new aircraft is beside a false plot at that
//! place, and grows or falls with each turn by the likelihood ratio of what was seen: a plot where
//! one was expected and false ones are few, a plot that many false ones could be, or none
//! (integrated probabilistic data association: Musicki, Evans, Stankovic, IEEE Trans. AC 39(6),
//! 1994).

use super::settings::Initiation;

/// One plot says at most so much for a track, …
const GAIN_MAX: f64 = 14.0;
/// … and all of them together, so that a track that turns false can end.
const SCORE_MAX: f64 = 10.0;
/// Turns in which a radar may not have reached as far yet count no further.
const MISSED_BEFORE_MAX: f64 = 3.0;
/// A tentative track whose odds have fallen by so much from their highest is given up.
const FALL_MAX: f64 = 6.0;

/// Existence of one track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Existence {
    /// Logarithm of the odds.
    score: f64,
    peak: f64,
    /// Chances missed since the latest plot.
    pub(super) missed: u32,
}

/// What a plot says about its track beside where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    /// Natural logarithm of the likelihood of its position, 1/m².
    pub(super) log_likelihood: f64,
    /// Logarithm of the likelihood ratio of its code, address and level.
    pub(super) identity: f64,
    /// Density of false plots there, a turn and m².
    pub(super) clutter_m2: f64,
}

impl Existence {
    /// Of a track that begins with a plot where there are so many false ones, a turn of `period_s`
    /// and m².
    pub(super) fn new(clutter_m2: f64, period_s: f64, settings: &Initiation) -> Self {
        let score = (settings.arrivals_m2(period_s) / clutter_m2).ln().min(0.0);
        Self { score, peak: score, missed: 0 }
    }

    /// The same, less by `doubt`.
    pub(super) fn doubted(self, doubt: f64) -> Self {
        Self { score: self.score - doubt, peak: self.peak - doubt, ..self }
    }

    pub(super) fn hit(&mut self, evidence: Evidence, settings: &Initiation) {
        let gain = settings.detection.ln() + evidence.log_likelihood - evidence.clutter_m2.ln()
            + evidence.identity;
        // Either the plot is of the aircraft, or that was missed and the plot is false.
        let gain = (gain.exp() + 1.0 - settings.detection).ln().min(GAIN_MAX);
        let gain = if gain.is_finite() { gain } else { 0.0 };
        self.score = (self.score + gain).min(SCORE_MAX);
        self.peak = self.peak.max(self.score);
        self.missed = 0;
    }

    /// Takes in a plot of a believed track that a name or a code gave to it.
    pub(super) fn seen(&mut self) {
        (self.score, self.missed) = (SCORE_MAX, 0);
    }

    /// By how much less likely it is because a radar, which sees there with the probability `sees`, has
    /// not seen it in so many turns.
    pub(super) fn doubt(turns: f64, sees: f64, settings: &Initiation) -> f64 {
        let missed = (1.0 - settings.detection).powf(turns.floor().max(0.0));
        -(1.0 - sees + sees * missed).ln()
    }

    pub(super) fn miss(&mut self, settings: &Initiation) {
        self.score += (1.0 - settings.detection).ln();
        self.missed += 1;
    }

    /// Takes in that a radar, which sees there with the probability `sees`, sees it for the first time
    /// and did not in so many turns before.
    pub(super) fn miss_before(&mut self, turns: f64, sees: f64, settings: &Initiation) {
        let turns = turns.floor().clamp(0.0, MISSED_BEFORE_MAX);
        self.score += sees.ln() + turns * (1.0 - settings.detection).ln();
    }

    pub(super) fn probability(self) -> f64 {
        self.probability_without(0.0)
    }

    /// Probability where radars that have not seen it yet take `doubt` from the logarithm of its odds.
    pub(super) fn probability_without(self, doubt: f64) -> f64 {
        1.0 / (1.0 + (doubt - self.score).exp())
    }

    /// Whether a tentative track, seen by `radars`, is not worth waiting for.
    pub(super) fn is_hopeless(self, radars: usize) -> bool {
        let missed = usize::try_from(self.missed).unwrap_or(usize::MAX);
        missed >= 2 * radars.max(1) || self.score < self.peak - FALL_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M2_PER_KM2: f64 = 1e6;

    /// Position known to 150 m: the density at its middle is 1 / (2π · 150²), at a mean distance
    /// 1/e of that.
    fn near(clutter_km2: f64) -> Evidence {
        let log_likelihood = -(std::f64::consts::TAU * 150.0_f64.powi(2)).ln() - 1.0;
        Evidence { log_likelihood, identity: 0.0, clutter_m2: clutter_km2 / M2_PER_KM2 }
    }

    fn after(clutter_km2: f64, hits: u32) -> f64 {
        let settings = Initiation::default();
        let mut existence = Existence::new(clutter_km2 / M2_PER_KM2, 8.0, &settings);
        for _ in 0..hits {
            existence.hit(near(clutter_km2), &settings);
        }
        existence.probability()
    }

    #[test]
    fn where_false_plots_are_few_two_more_are_enough_and_in_clutter_they_are_not() {
        assert!(after(1e-4, 0) < 0.01);
        assert!(after(1e-4, 2) > 0.999);
        assert!(after(0.3, 2) < 0.01);
        assert!(after(0.3, 12) > 0.9, "it is believed in the end");
    }

    /// Of five radars that all should see it one alone does, by chance: with five false plots.
    #[test]
    fn radars_that_do_not_see_it_make_it_unlikely() {
        let settings = Initiation::default();
        let doubt = Existence::doubt(2.0, 0.98, &settings);
        // 0.02 that it does not see there, and 0.98 · 0.1².
        assert!((doubt + 0.0298_f64.ln()).abs() < 1e-9, "{doubt}");
        assert_eq!(Existence::doubt(0.9, 0.98, &settings), 0.0, "it was not there yet");
        let mut existence = Existence::new(1e-10, 8.0, &settings);
        (0..3).for_each(|_| existence.hit(near(1e-4), &settings));
        assert!(existence.probability() > 0.999);
        assert!(existence.probability_without(4.0 * doubt) < existence.probability());
        let before = existence.score;
        existence.miss_before(1.5, 0.5, &settings);
        assert!((existence.score - before - 0.05_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn misses_end_hope() {
        let settings = Initiation::default();
        let mut existence = Existence::new(1e-10, 8.0, &settings);
        existence.miss(&settings);
        assert!(!existence.is_hopeless(1));
        existence.miss(&settings);
        assert!(existence.is_hopeless(1) && !existence.is_hopeless(2));
        existence.hit(near(1e-4), &settings);
        assert!(!existence.is_hopeless(1));
    }
}
