//! Two neighbouring words of a record, moved at once.
//!
//! Stores are the cost of a begin/end pair beside the clock (a core retires one or two each cycle),
//! so words that are only copied from frame to frame and from frame to slot go by sixteen bytes.
//! Each word is still written whole: x86-64 never tears an aligned 8-byte half, and the order of
//! stores is the program's there. Other processors move two atomic words.
//!
//! Written and read by the same width: a processor forwards a store to a load of two words only
//! when it was one store.
#![allow(unsafe_code)] // moves of 16 bytes

use crate::layout::{Frame, RECORD_WORDS, Slot};
use std::cell::Cell;

/// A pair of words in private memory.
#[derive(Debug, Default)]
#[repr(C, align(16))]
pub(crate) struct CellPair(pub(crate) [Cell<u64>; 2]);

impl CellPair {
    #[inline(always)]
    pub(crate) fn set(&self, low: u64, high: u64) {
        self.0[0].set(low);
        self.0[1].set(high);
    }
}

#[cfg(target_arch = "x86_64")]
mod moves {
    use super::CellPair;
    use core::arch::x86_64::{__m128i, _mm_adds_epu16, _mm_and_si128, _mm_set_epi64x};
    use std::sync::atomic::AtomicU64;

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Pair(__m128i);

    impl Pair {
        #[inline(always)]
        pub(crate) fn of_cells(cells: &CellPair) -> Self {
            // SAFETY: 16 aligned bytes that only this thread touches.
            Self(unsafe { cells.0.as_ptr().cast::<__m128i>().read() })
        }

        #[inline(always)]
        pub(crate) fn put(self, cells: &CellPair) {
            // SAFETY: as above; cells may be written through a shared reference.
            unsafe { cells.0.as_ptr().cast::<__m128i>().cast_mut().write(self.0) };
        }

        /// # Safety
        /// `words` is the lower of two in the ring, at a multiple of 16 bytes, which no other
        /// thread of this process writes.
        #[inline(always)]
        pub(crate) unsafe fn load(words: *const AtomicU64) -> Self {
            // SAFETY: the caller's promise. Volatile: never split.
            Self(unsafe { words.cast::<__m128i>().read_volatile() })
        }

        /// # Safety
        /// As for [`Self::load`].
        #[inline(always)]
        pub(crate) unsafe fn store(self, words: *const AtomicU64) {
            // SAFETY: the caller's promise. Volatile: never split, never left out.
            unsafe { words.cast::<__m128i>().cast_mut().write_volatile(self.0) };
        }

        /// The last two words of a child's record from its parent's: one level deeper, saturating;
        /// of thread and flags what `mask` keeps.
        #[inline(always)]
        pub(crate) fn below(self, mask: u64) -> Self {
            // SAFETY: SSE2 is part of x86-64.
            Self(unsafe {
                let kept = _mm_and_si128(self.0, _mm_set_epi64x(mask.cast_signed(), -1));
                _mm_adds_epu16(kept, _mm_set_epi64x(0, 1 << 48))
            })
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod moves {
    use super::CellPair;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Pair([u64; 2]);

    impl Pair {
        #[inline(always)]
        pub(crate) fn of_cells(cells: &CellPair) -> Self {
            Self([cells.0[0].get(), cells.0[1].get()])
        }

        #[inline(always)]
        pub(crate) fn put(self, cells: &CellPair) {
            cells.set(self.0[0], self.0[1]);
        }

        /// # Safety
        /// `words` is the lower of two in the ring, at a multiple of 16 bytes, which no other
        /// thread of this process writes.
        #[inline(always)]
        pub(crate) unsafe fn load(words: *const AtomicU64) -> Self {
            // SAFETY: the caller's promise.
            Self(unsafe { [(*words).load(Relaxed), (*words.add(1)).load(Relaxed)] })
        }

        /// # Safety
        /// As for [`Self::load`].
        #[inline(always)]
        pub(crate) unsafe fn store(self, words: *const AtomicU64) {
            // SAFETY: the caller's promise.
            unsafe {
                (*words).store(self.0[0], Relaxed);
                (*words.add(1)).store(self.0[1], Relaxed);
            }
        }

        /// The last two words of a child's record from its parent's: one level deeper, saturating;
        /// of thread and flags what `mask` keeps.
        #[inline(always)]
        pub(crate) fn below(self, mask: u64) -> Self {
            let level = (self.0[0] >> 48).saturating_add(1).min(0xffff);
            Self([level << 48 | (self.0[0] & 0xffff_ffff_ffff), self.0[1] & mask])
        }
    }
}

pub(crate) use moves::Pair;

impl Slot {
    /// Writes the words `index`, which must be odd, and `index + 1`.
    #[inline(always)]
    pub(crate) fn put(&self, index: usize, pair: Pair) {
        debug_assert!(index % 2 == 1 && index + 1 < RECORD_WORDS);
        // SAFETY: slots are at multiples of 128 bytes, and the thread's own to write.
        unsafe { pair.store(&raw const self.words[index]) };
    }
}

impl Frame {
    /// Writes the words `index`, which must be odd, and `index + 1`.
    #[inline(always)]
    pub(crate) fn put(&self, index: usize, pair: Pair) {
        debug_assert!(index % 2 == 1 && index + 1 < RECORD_WORDS);
        // SAFETY: frames are at multiples of 128 bytes, and the thread's own to write.
        unsafe { pair.store(&raw const self.words[index]) };
    }

    /// The words `index`, which must be odd, and `index + 1`.
    #[inline(always)]
    pub(crate) fn pair(&self, index: usize) -> Pair {
        debug_assert!(index % 2 == 1 && index + 1 < RECORD_WORDS);
        // SAFETY: as above.
        unsafe { Pair::load(&raw const self.words[index]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A level one deeper, at most what 16 bits hold; of the other word what the mask keeps.
    #[test]
    fn below_goes_down_a_level_and_stays_at_the_last() {
        for (level, deeper) in [(0, 1), (0x7fff, 0x8000), (0xfffe, 0xffff), (0xffff, 0xffff)] {
            let (above, got) = (CellPair::default(), CellPair::default());
            above.set(level << 48, 0xaf_1234_5678);
            Pair::of_cells(&above).below(0xf0_ffff_ffff).put(&got);
            assert_eq!([got.0[0].get(), got.0[1].get()], [deeper << 48, 0xa0_1234_5678]);
        }
    }
}
