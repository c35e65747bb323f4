//! Counts, and means and medians as values come.

use super::traits::Trait;

/// A radar is not judged before so many turns of a window, and counts as unknown only what comes
/// after as many turns of its life: at first all aircraft are.
pub(super) const TURNS_MIN: u64 = 5;
/// Nor before so many plots.
pub(super) const PLOTS_MIN: u64 = 30;
/// Least number of events: one or two can be chance.
const EVENTS_MIN: u64 = 3;

/// Mean and standard deviation as values come (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    pub(super) count: u64,
    pub(super) mean: f64,
    squares: f64,
}

impl Spread {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1;
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (value - self.mean);
    }

    pub(super) fn sd(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }
}

/// A median as values come: it steps towards each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Median {
    count: u64,
    value: f64,
}

impl Median {
    /// Takes a value in and returns by how much it is over the median before.
    pub(super) fn over(&mut self, value: f64) -> f64 {
        self.count += 1;
        if self.count == 1 {
            self.value = value;
        }
        let off = value - self.value;
        let step = (0.5 / self.count as f64).max(0.002);
        self.value += off.clamp(-step, step);
        off
    }
}

/// Counts of a window, or of all time.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) plots: u64,
    pub(super) late: u64,
    /// Plots whose stamp could be compared with the antenna's.
    pub(super) stamped: u64,
    pub(super) stamps: u64,
    /// Sector messages that should have come, and those that did not.
    pub(super) sectors: u64,
    pub(super) missing: u64,
    /// Sector messages that followed another, and those that arrived together with it.
    pub(super) steps: u64,
    pub(super) together: u64,
    pub(super) turns: Spread,
    /// Plots in whole turns.
    pub(super) turned_plots: u64,
    pub(super) duplicates: u64,
    pub(super) repeated: u64,
    /// Plots after the first turns, and those of them that began a track.
    pub(super) associated: u64,
    pub(super) initiated: u64,
    pub(super) silence_s: f64,
}

impl Tally {
    /// Share of `what`; `None` where there are too few data, or `what` is no share.
    pub(super) fn share(&self, what: Trait) -> Option<f64> {
        let share = |events: u64, all: u64| {
            let events = if events < EVENTS_MIN { 0 } else { events };
            (all >= PLOTS_MIN).then(|| events as f64 / all as f64)
        };
        match what {
            Trait::Late => share(self.late, self.stamped),
            Trait::Stamps => share(self.stamps, self.stamped),
            Trait::Bursts => share(self.together, self.steps),
            Trait::Sectors => share(self.missing, self.sectors),
            Trait::Duplicates => share(self.duplicates.max(self.repeated), self.plots),
            Trait::Unknown => share(self.initiated, self.associated),
            Trait::Turns => {
                (self.turns.count >= TURNS_MIN).then(|| self.turns.sd() / self.turns.mean.max(0.1))
            }
            Trait::Silence => None,
        }
    }
}
