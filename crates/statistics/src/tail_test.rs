//! Whether one of two sets is more often slow: Fisher's exact test above the 99th percentile of
//! both.
//!
//! Kolmogorov and Smirnov's test looks at the largest gap of the two shares, which a hundredth of
//! the values cannot make wide. This one looks at nothing but that hundredth.

use crate::fisher_exact;

/// Division of the slowest hundredth of two joint sets between the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TailTest {
    /// Values of the first that are above the 99th percentile of both together.
    pub above_a: u64,
    /// Of the second.
    pub above_b: u64,
    /// The chance of a division at most as likely where both are the same, in `[0, 1]`: Fisher's
    /// exact test, two-sided (R. A. Fisher, The Design of Experiments, 1935).
    pub p_value: f64,
}

impl TailTest {
    /// Compares two ascending sets; `None` where one is empty. Fewer than a hundred values have no
    /// hundredth: nothing is above then, and the chance is 1.
    pub fn of_ascending<T: PartialOrd + Copy>(a: &[T], b: &[T]) -> Option<Self> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let threshold = nth_from_above(a, b, (a.len() + b.len()) / 100);
        let above = |set: &[T]| (set.len() - set.partition_point(|v| *v <= threshold)) as u64;
        let (above_a, above_b) = (above(a), above(b));
        let p_value = fisher_exact([above_a, above_b], [a.len() as u64, b.len() as u64]);
        Some(Self { above_a, above_b, p_value })
    }
}

/// The value of both ascending sets that `count` others are at least as large as. Neither is empty.
fn nth_from_above<T: PartialOrd + Copy>(a: &[T], b: &[T], count: usize) -> T {
    let (mut i, mut j) = (a.len(), b.len());
    for _ in 0..count {
        if j == 0 || (i > 0 && a[i - 1] >= b[j - 1]) {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    match (i, j) {
        (0, _) => b[j - 1],
        (_, 0) => a[i - 1],
        _ if a[i - 1] >= b[j - 1] => a[i - 1],
        _ => b[j - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A change in one value of fifty escapes the Kolmogorov-Smirnov test; this test finds it.
    #[test]
    fn sees_a_tail_that_the_other_test_does_not() {
        let usual: Vec<i64> = (0..2000).collect();
        let mut other = usual.clone();
        other.iter_mut().rev().take(40).for_each(|value| *value += 100_000);
        let found = TailTest::of_ascending(&usual, &other).unwrap();
        assert_eq!((found.above_a, found.above_b), (0, 40));
        assert!(found.p_value < 1e-9, "{found:?}");
        let gap = crate::KolmogorovSmirnov::of_ascending(&usual, &other).unwrap();
        assert!(gap.p_value > 0.5, "{gap:?}");
        assert_eq!(TailTest::of_ascending(&[1], &[2]).unwrap().p_value, 1.0);
        assert_eq!(TailTest::of_ascending::<i64>(&[], &[1]), None);
    }

    proptest! {
        /// At most a hundredth of both sets is above, even with equal values; and the sides may be
        /// exchanged.
        #[test]
        fn a_hundredth_is_above(
            mut a in prop::collection::vec(0i64..500, 1..400),
            mut b in prop::collection::vec(0i64..500, 1..400),
        ) {
            a.sort_unstable();
            b.sort_unstable();
            let found = TailTest::of_ascending(&a, &b).unwrap();
            prop_assert!(found.above_a + found.above_b <= ((a.len() + b.len()) / 100) as u64);
            let turned = TailTest::of_ascending(&b, &a).unwrap();
            prop_assert_eq!((found.above_a, found.above_b), (turned.above_b, turned.above_a));
            prop_assert!((found.p_value - turned.p_value).abs() < 1e-9);
        }
    }
}
