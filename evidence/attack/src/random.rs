//! Random numbers that can be had again.

/// A sequence of random numbers (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
pub(crate) struct Random(u64);

impl Random {
    /// The sequence that begins there.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A place in something that long, which is not empty.
    #[allow(clippy::cast_possible_truncation)] // below `length`
    pub(crate) fn place(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// So many octets.
    pub(crate) fn octets(&mut self, count: usize) -> Vec<u8> {
        let mut octets: Vec<u8> = std::iter::repeat_with(|| self.next().to_le_bytes())
            .take(count.div_ceil(8))
            .flatten()
            .collect();
        octets.truncate(count);
        octets
    }
}
