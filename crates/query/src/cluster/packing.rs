//! A duration and a start in one number, so that a shard finds the longest and the first of equal ones
//! by one comparison.

use chronoscope_statistics::Edges;

/// A duration and the start of its root in one number: the greatest is the longest duration, and of
/// equal ones the one that starts first. The start counts within its column, in the lower bits.
#[derive(Clone, Copy)]
pub(super) struct Packing {
    /// Start of the first column.
    start_ns: i64,
    /// Nanoseconds of a column, rounded down.
    width_ns: u64,
    bits: u32,
}

impl Packing {
    pub(super) fn of(start_ns: i64, columns: &Edges) -> Self {
        let count = columns.count() as u64;
        let width_ns = columns.all().last().copied().unwrap_or(0) / count;
        // A column begins at most its number and two more behind so many widths.
        let most = width_ns.saturating_add(count).saturating_add(2);
        Self { start_ns, width_ns, bits: u64::BITS - most.leading_zeros() }
    }

    const fn mask(self) -> u64 {
        (1_u64 << self.bits) - 1
    }

    /// The number for a row of the column with a number, in SQL.
    pub(super) fn sql(self, column: &str) -> String {
        let Self { start_ns, width_ns, bits } = self;
        format!(
            "bitOr(bitShiftLeft(toUInt64(duration), {bits}), \
             toUInt64({} - (root_ns - toInt64({start_ns}) - toInt64({column}) * {width_ns})))",
            self.mask()
        )
    }

    /// Whether a duration has room.
    pub(super) const fn holds(self, duration_ns: u64) -> bool {
        self.bits <= 48 && duration_ns >> (u64::BITS - self.bits) == 0
    }

    /// The duration and the start in a number of a column.
    pub(super) fn parts(self, packed: u64, column: usize) -> (u64, i64) {
        let since = (column as u64).saturating_mul(self.width_ns);
        let since = since.saturating_add(self.mask() - (packed & self.mask()));
        (packed >> self.bits, self.start_ns.saturating_add_unsigned(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_statistics::Scale;
    use proptest::prelude::*;

    proptest! {
        /// A duration and a start are found again in the number that they are packed into.
        #[test]
        fn durations_and_starts_are_packed(
            span in (1u64..1 << 62).prop_map(|v| v >> (v % 61)),
            count in 1usize..3000,
            since in any::<u64>(),
            start_ns in -1_000_000i64..1_000_000,
        ) {
            let (span, since) = (span.max(1), since % span.max(1));
            let columns = Edges::new(Scale::Linear, 0..span, count);
            let packing = Packing::of(start_ns, &columns);
            prop_assume!(packing.holds(0));
            let column = columns.cell(since);
            let within = since - column as u64 * packing.width_ns;
            prop_assert!(within <= packing.mask());
            let duration_ns = u64::MAX >> packing.bits;
            prop_assert!(packing.holds(duration_ns) && !packing.holds(duration_ns + 1));
            let packed = duration_ns << packing.bits | (packing.mask() - within);
            prop_assert_eq!(
                packing.parts(packed, column),
                (duration_ns, start_ns + since.cast_signed())
            );
        }
    }
}
