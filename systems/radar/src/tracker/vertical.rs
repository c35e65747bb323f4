//! Flight level and rate of climb from Mode C.
//!
//! Mode C comes in steps of 25 or 100 ft, so the difference of two readings says little about the
//! rate; a two-state Kalman filter with the step as measurement noise does.

/// Standard deviation of a Mode C reading, in flight levels: 100 ft steps, uniformly rounded.
const READING_SIGMA: f64 = 0.29;
/// Density of the vertical acceleration noise, FL²/s³: a level-off within some 20 s.
const ACCELERATION_Q: f64 = 0.0006;
/// A reading further from the prediction than this many standard deviations is garbled.
const GATE_SIGMAS: f64 = 5.0;
/// Number of consecutive refused readings after which they are not garbled: the aircraft really is
/// elsewhere.
const REFUSALS_MAX: u8 = 2;

/// Before it has taken so many readings in, its own level may be the garbled one.
const READINGS_MIN: u8 = 3;

/// The vertical state of one aircraft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertical {
    level: f64,
    rate: f64,
    /// Covariance: level, level with rate, rate.
    p: [f64; 3],
    time_s: f64,
    refused: u8,
    /// Readings taken in, up to [`READINGS_MIN`].
    readings: u8,
}

impl Vertical {
    /// Starts from one reading of Mode C, in flight levels, at `time_s`.
    pub fn new(level: f64, time_s: f64) -> Self {
        // 0.3 FL/s is 1800 ft/min, a usual rate of climb.
        let p = [READING_SIGMA * READING_SIGMA, 0.0, 0.3 * 0.3];
        Self { level, rate: 0.0, p, time_s, refused: 0, readings: 1 }
    }

    /// Takes a reading in; one that is older than the state or garbled changes nothing.
    pub fn update(&mut self, level: f64, time_s: f64) {
        let dt = time_s - self.time_s;
        if dt < 0.0 {
            return;
        }
        let (predicted, [ll, lr, rr]) = self.predicted(dt);
        let s = ll + READING_SIGMA * READING_SIGMA;
        let nu = level - predicted;
        if nu * nu > GATE_SIGMAS * GATE_SIGMAS * s {
            self.refused += 1;
            if self.refused > REFUSALS_MAX {
                *self = Self::new(level, time_s);
            }
            return;
        }
        let (kl, kr) = (ll / s, lr / s);
        self.level = predicted + kl * nu;
        self.rate += kr * nu;
        self.p = [ll - kl * ll, lr - kl * lr, rr - kr * lr];
        self.time_s = time_s;
        self.refused = 0;
        self.readings = (self.readings + 1).min(READINGS_MIN);
    }

    /// Level and covariance `dt` seconds later.
    fn predicted(&self, dt: f64) -> (f64, [f64; 3]) {
        let [ll, lr, rr] = self.p;
        let p = [
            ll + 2.0 * dt * lr + dt * dt * rr + ACCELERATION_Q * dt.powi(3) / 3.0,
            lr + dt * rr + ACCELERATION_Q * dt * dt / 2.0,
            rr + ACCELERATION_Q * dt,
        ];
        (self.level + self.rate * dt, p)
    }

    /// Squared distance of a reading at `time_s` from what is expected then, in standard deviations, of
    /// which the first `slack` flight levels do not count.
    pub(super) fn distance_squared(&self, reading: f64, time_s: f64, slack: f64) -> f64 {
        let dt = time_s - self.time_s;
        let (_, [ll, ..]) = self.predicted(dt.abs());
        let apart = (reading - self.level_at(time_s)).abs() - slack;
        apart.max(0.0).powi(2) / (ll + READING_SIGMA * READING_SIGMA)
    }

    /// Level, with its standard deviation, to use at `time_s` in place of `reading`; `None` where
    /// the reading is to be used or nothing better is known.
    pub(super) fn instead_of(&self, reading: Option<f64>, time_s: f64) -> Option<(f64, f64)> {
        let (predicted, [ll, ..]) = self.predicted((time_s - self.time_s).max(0.0));
        let s = ll + READING_SIGMA * READING_SIGMA;
        let refused = reading.is_none_or(|reading| {
            self.refused < REFUSALS_MAX
                && (reading - predicted).powi(2) > GATE_SIGMAS * GATE_SIGMAS * s
        });
        (refused && self.readings >= READINGS_MIN).then_some((self.level_at(time_s), ll.sqrt()))
    }

    /// Whether it rests on several readings.
    pub(super) fn is_known(&self) -> bool {
        self.readings >= READINGS_MIN
    }

    /// The flight level, hundreds of feet, at `time_s`.
    pub fn level_at(&self, time_s: f64) -> f64 {
        // Not extrapolated for long: the level at which a climb ends is unknown.
        self.level + self.rate * (time_s - self.time_s).clamp(0.0, 10.0)
    }

    /// Rate of climb, ft/min; negative in a descent.
    pub fn climb_ft_min(&self) -> f64 {
        self.rate * 6000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_climb_in_steps_of_a_hundred_feet_is_seen_at_its_rate() {
        // 2400 ft/min, one reading every 5 s: 2 FL each.
        let mut vertical = Vertical::new(100.0, 0.0);
        for step in 1..=24 {
            let t = 5.0 * f64::from(step);
            vertical.update((100.0 + 0.4 * t).round(), t);
        }
        assert!((vertical.climb_ft_min() - 2400.0).abs() < 100.0, "{}", vertical.climb_ft_min());
        assert!((vertical.level_at(120.0) - 148.0).abs() < 0.5);
    }

    #[test]
    fn one_garbled_reading_is_ignored_and_a_lasting_change_is_not() {
        let mut vertical = Vertical::new(350.0, 0.0);
        for step in 1..=10 {
            vertical.update(350.0, 5.0 * f64::from(step));
        }
        let (level, sigma) = vertical.instead_of(Some(1200.0), 55.0).unwrap();
        assert!((level - 350.0).abs() < 0.5 && sigma < 1.0, "{level} {sigma}");
        assert_eq!(vertical.instead_of(Some(350.0), 55.0), None);
        assert!(vertical.instead_of(None, 55.0).is_some());
        vertical.update(1200.0, 55.0);
        vertical.update(350.0, 57.0);
        assert!((vertical.level_at(55.0) - 350.0).abs() < 0.5);
        for step in 12..=14 {
            let believed = vertical.instead_of(Some(90.0), 5.0 * f64::from(step)).is_none();
            assert_eq!(believed, step == 14, "the third in a row is taken");
            vertical.update(90.0, 5.0 * f64::from(step));
        }
        assert_eq!(vertical.instead_of(None, 75.0), None, "who knows how long it stays there");
        assert!((vertical.level_at(70.0) - 90.0).abs() < 0.5);
    }
}
