//! At which level aircraft of a speed fly, learnt from those that tell their level.
//!
//! A primary plot has no level, and its slant range alone puts an aircraft at FL370 up to some
//! kilometres too far out near the radar. But who flies at 240 m/s is high, and who flies at 50 m/s is
//! low: the levels of the other traffic at that speed say how high, and how surely.

/// Width of a class of speed, m/s, and their number; the last has no upper limit.
const CLASS_M_S: f64 = 20.0;
const CLASSES: usize = 16;
/// A speed is known when its standard deviation is below this, m/s.
const KNOWN_M_S: f64 = 30.0;
/// Level and standard deviation before any traffic is known, hundreds of feet, and the number of
/// plots that they count for.
const FIRST: (f64, f64) = (200.0, 115.0);
const FIRST_PLOTS: f64 = 50.0;
/// Plots after which older ones count half.
const PLOTS_MAX: f64 = 5_000.0;
/// No traffic is known better than so, hundreds of feet: who tells nothing may be of another sort.
const SIGMA_MIN: f64 = 20.0;

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    plots: f64,
    /// Sum of levels, and of their squares.
    sum: f64,
    squares: f64,
}

impl Class {
    fn add(&mut self, level: f64) {
        self.plots += 1.0;
        self.sum += level;
        self.squares += level * level;
        if self.plots > PLOTS_MAX {
            *self =
                Self { plots: 0.5 * self.plots, sum: 0.5 * self.sum, squares: 0.5 * self.squares };
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            plots: self.plots + other.plots,
            sum: self.sum + other.sum,
            squares: self.squares + other.squares,
        }
    }

    fn level(self) -> (f64, f64) {
        let (level, sigma) = FIRST;
        let first = FIRST_PLOTS * (level * level + sigma * sigma);
        let plots = self.plots + FIRST_PLOTS;
        let mean = (self.sum + FIRST_PLOTS * level) / plots;
        let variance = (self.squares + first) / plots - mean * mean;
        (mean, variance.max(SIGMA_MIN * SIGMA_MIN).sqrt())
    }
}

/// Levels of the traffic by speed.
#[derive(Debug, Default)]
pub(super) struct TrafficLevels {
    classes: [Class; CLASSES],
    all: Class,
}

impl TrafficLevels {
    /// Takes in that an aircraft with this speed, and standard deviation of that, m/s, is at `level`.
    pub(super) fn add(&mut self, (speed, sigma): (f64, f64), level: f64) {
        if sigma < KNOWN_M_S {
            self.classes[class(speed)].add(level);
            self.all.add(level);
        }
    }

    /// Level, with its standard deviation, of an aircraft that tells none, hundreds of feet.
    pub(super) fn of(&self, (speed, sigma): (f64, f64)) -> (f64, f64) {
        if sigma >= KNOWN_M_S {
            return self.all.level();
        }
        let class = class(speed);
        let around = self.classes[class.saturating_sub(1)..(class + 2).min(CLASSES)].iter();
        around.fold(Class::default(), |sum, class| sum.plus(*class)).level()
    }
}

fn class(speed: f64) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
    let class = (speed / CLASS_M_S).clamp(0.0, 1_000.0) as usize;
    class.min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_fast_is_high_where_the_others_are() {
        let mut levels = TrafficLevels::default();
        assert_eq!(levels.of((240.0, 5.0)), FIRST);
        for step in 0..1_000 {
            let off = f64::from(step % 21 - 10);
            levels.add((240.0, 5.0), 370.0 + 2.0 * off);
            levels.add((60.0, 5.0), 40.0 + off);
        }
        let (high, sigma) = levels.of((235.0, 5.0));
        assert!((high - 370.0).abs() < 10.0 && sigma < 50.0, "{high} {sigma}");
        let (low, sigma) = levels.of((70.0, 5.0));
        assert!((low - 40.0).abs() < 10.0 && sigma < 50.0, "{low} {sigma}");
        // Whose speed is not known may be either.
        let (level, sigma) = levels.of((240.0, 100.0));
        assert!((190.0..220.0).contains(&level) && sigma > 150.0, "{level} {sigma}");
        levels.add((500.0, 100.0), 1.0);
        assert_eq!(levels.classes[CLASSES - 1].plots, 0.0);
    }
}
