//! The load of each class over time.

use chronoscope_model::Load;
use std::collections::BTreeMap;

/// Load of a system in a span of time, by class, in bins of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Length of a bin, s.
    pub bin_s: u64,
    /// Bins of the span; those without transactions count.
    pub bin_count: usize,
    /// By class, the loads of its bins by bin number in `0..bin_count`.
    pub classes: BTreeMap<String, BTreeMap<usize, Load>>,
}

impl Profile {
    /// Length of the span, s.
    #[must_use]
    pub const fn span_s(&self) -> u64 {
        self.bin_s * self.bin_count as u64
    }

    /// The sum of a class's loads in a range of bins.
    #[must_use]
    pub fn sum(&self, class: &str, bins: std::ops::Range<usize>) -> Load {
        let mut sum = Load::default();
        if let Some(loads) = self.classes.get(class) {
            loads.range(bins).for_each(|(_, load)| sum.add(load));
        }
        sum
    }
}
