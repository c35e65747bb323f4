//! The 64-bit hash behind class, path and process ids, and wherever a choice by hash must not
//! depend on the host or the order of work.
//!
//! These ids travel between hosts in correlators and stay in files for ever, so the function may
//! never change. FNV-1a with a 64-bit finaliser (the one of SplitMix64): no table, no dependency,
//! and good enough for the few thousand names of a system (two of 10,000 names collide with
//! probability 3e-12).

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Hash of `bytes`; never 0, which means "none" wherever an id is stored.
pub const fn hash_bytes(bytes: &[u8]) -> u64 {
    finish(update(OFFSET, bytes))
}

/// Hash of two byte strings with a separator that neither contains by convention (NUL).
pub(crate) const fn hash_pair(first: &[u8], second: &[u8]) -> u64 {
    finish(update(update(update(OFFSET, first), &[0]), second))
}

/// Hash of a hash followed by another: the order matters.
pub(crate) const fn combine(left: u64, right: u64) -> u64 {
    finish(left.rotate_left(23).wrapping_mul(PRIME) ^ right)
}

const fn update(mut state: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        state = (state ^ bytes[i] as u64).wrapping_mul(PRIME);
        i += 1;
    }
    state
}

const fn finish(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    if z == 0 { 1 } else { z }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written down once: a change of the function would orphan every stored id.
    #[test]
    fn values_are_kept_for_ever() {
        assert_eq!(update(OFFSET, b"a"), 0xaf63_dc4c_8601_ec8c); // FNV-1a's published vector
        assert_eq!(update(OFFSET, b"foobar"), 0x8594_4171_f739_67e8);
        assert_ne!(hash_pair(b"ab", b"c"), hash_pair(b"a", b"bc"));
        assert_ne!(combine(1, 2), combine(2, 1));
    }
}
