//! The line that a process converts with at present, shared by its threads without a lock.
//!
//! A thread that finds the line at its end reads the next anchor and replaces the line, by one
//! compare-and-swap of a number that names it. A thread that loses takes the winner's line. A lock
//! would be held up with its holder, and held for ever in a child that was forked meanwhile.

use crate::{Anchor, Scale, UtcLine};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, fence};

/// Places for lines: the present one, and one for each thread that is about to replace it.
const SLOTS: usize = 16;

static LINES: Lines = Lines::new();

impl UtcLine {
    /// The line for the present instant. Most calls find it; one in 10 ms reads an anchor, which
    /// takes about 100 ns, and may measure the scale anew ([`Scale::refine`]).
    ///
    /// A stamp that is taken after the call is on the line if it is below [`Self::end_ticks`].
    pub fn current() -> Self {
        if crate::is_virtual() {
            // Its stamps follow the coordinator's anchors, which are exact.
            let line = Self::from_anchor(&Anchor::now(), Scale::current());
            return Self { end_ticks: line.start_ticks, ..line };
        }
        LINES.at(crate::ticks(), || (Scale::refine(), Anchor::now()))
    }
}

/// The present line, replaced as a whole.
struct Lines {
    /// Number of the present line: its slot, and how many there were before, so that no number
    /// comes twice. 0: no line yet.
    number: AtomicU64,
    slots: [Slot; SLOTS],
}

struct Slot {
    /// Whether the present line is here, or a thread writes here.
    taken: AtomicBool,
    words: [AtomicU64; 4],
}

impl Lines {
    const fn new() -> Self {
        Self { number: AtomicU64::new(0), slots: [const { Slot::new() }; SLOTS] }
    }

    /// The line of an instant that is not past, by a new anchor where the present line has ended.
    /// Lock-free: an attempt fails only where another thread's has succeeded.
    fn at(&self, now: u64, measure: impl Fn() -> (Scale, Anchor)) -> UtcLine {
        loop {
            let number = self.number.load(Acquire);
            let former = (number != 0).then(|| self.slot(number).read());
            // Pairs with the fence in `write`: whoever reads words of a slot's next line sees here
            // that the number has changed.
            fence(Acquire);
            if self.number.load(Relaxed) != number {
                continue;
            }
            if let Some(line) = former.filter(|line| now < line.end_ticks) {
                return line;
            }
            let (scale, anchor) = measure();
            let next = match former {
                Some(former) => former.next(&anchor, scale),
                None => UtcLine::from_anchor(&anchor, scale),
            };
            if self.replace(number, &next) {
                return next;
            }
        }
    }

    /// Makes `next` the present line, if the one with this number still is. False: another thread
    /// has replaced it.
    fn replace(&self, number: u64, next: &UtcLine) -> bool {
        let free = self.slots.iter().position(|slot| !slot.taken.swap(true, Acquire));
        // So many threads are stopped amid their attempts: the line is this thread's alone, and
        // the next try is due when it ends.
        let Some(free) = free else { return true };
        let slot = &self.slots[free];
        slot.write(next);
        let count = number / SLOTS as u64 + 1;
        let next_number = count * SLOTS as u64 + free as u64;
        let replaced = self.number.compare_exchange(number, next_number, AcqRel, Relaxed).is_ok();
        if !replaced {
            slot.taken.store(false, Release);
        } else if number != 0 {
            self.slot(number).taken.store(false, Release);
        }
        replaced
    }

    #[allow(clippy::cast_possible_truncation)] // a remainder below SLOTS
    fn slot(&self, number: u64) -> &Slot {
        &self.slots[(number % SLOTS as u64) as usize]
    }
}

impl Slot {
    const fn new() -> Self {
        Self { taken: AtomicBool::new(false), words: [const { AtomicU64::new(0) }; 4] }
    }

    /// The line here; torn where another one is being written.
    fn read(&self) -> UtcLine {
        let [start_ticks, start_utc_ns, slope, end_ticks] =
            std::array::from_fn(|index| self.words[index].load(Relaxed));
        UtcLine {
            start_ticks,
            start_utc_ns: start_utc_ns.cast_signed(),
            slope: Scale::from_multiplier(slope),
            end_ticks,
        }
    }

    /// Writes a line, by the thread that has taken the slot.
    fn write(&self, line: &UtcLine) {
        fence(Release); // the number has changed before the words do
        let words = [
            line.start_ticks,
            line.start_utc_ns.cast_unsigned(),
            line.slope.multiplier(),
            line.end_ticks,
        ];
        for (word, value) in self.words.iter().zip(words) {
            word.store(value, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tick a millisecond: a line is ten ticks long, and is replaced often.
    const MILLISECONDS: Scale = Scale::from_multiplier(1_000_000 << 32);

    /// An anchor that is off by up to 100 ns, by another amount at every tick.
    fn anchor(ticks: u64) -> Anchor {
        let off_ns = (ticks.wrapping_mul(7_919) % 201).cast_signed() - 100;
        Anchor { ticks, utc_ns: ticks.cast_signed() * 1_000_000 + off_ns, error_ns_max: 100 }
    }

    #[test]
    fn a_line_is_replaced_at_its_end() {
        let lines = Lines::new();
        let first = lines.at(1_000, || (MILLISECONDS, anchor(1_000)));
        let same = lines.at(1_009, || panic!("the line has not ended"));
        assert_eq!((first, first.end_ticks()), (same, 1_010));
        let next = lines.at(1_010, || (MILLISECONDS, anchor(1_010)));
        assert_eq!(next.start_utc_ns(), first.utc_ns_of(1_010));
        assert_eq!(next.end_ticks(), 1_020);
    }

    /// Threads that stamp as the recorder does: whatever thread took them, stamps in the order of
    /// their ticks are in the order of their UTC, and every one is within its bound.
    #[test]
    fn threads_replace_lines_at_once_and_convert_as_one() {
        const STAMPS: usize = 100_000;
        let (lines, ticks) = (Lines::new(), AtomicU64::new(1_000_000));
        let now = || ticks.fetch_add(1, Relaxed);
        let stamps = || -> Vec<(u64, i64)> {
            let stamp = |line: &mut UtcLine| {
                loop {
                    let stamp = now();
                    if stamp < line.end_ticks {
                        return (stamp, line.utc_ns_of(stamp));
                    }
                    *line = lines.at(stamp, || (MILLISECONDS, anchor(now())));
                }
            };
            let mut line = lines.at(now(), || (MILLISECONDS, anchor(now())));
            (0..STAMPS).map(|_| stamp(&mut line)).collect()
        };
        let mut all: Vec<(u64, i64)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(stamps)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert_eq!(all.len(), 4 * STAMPS);
        for pair in all.windows(2) {
            assert!(pair[0].1 < pair[1].1, "{pair:?}");
        }
        for (ticks, utc_ns) in all {
            let off_ns = utc_ns - ticks.cast_signed() * 1_000_000;
            assert!(off_ns.abs() <= 102, "{off_ns} ns off at {ticks}");
        }
    }

    /// As when sixteen threads were stopped amid replacing, or a fork has left them behind.
    #[test]
    fn a_thread_without_a_slot_goes_on_with_a_line_of_its_own() {
        let lines = Lines::new();
        let first = lines.at(1_000, || (MILLISECONDS, anchor(1_000)));
        lines.slots.iter().for_each(|slot| slot.taken.store(true, Relaxed));
        let own = lines.at(1_010, || (MILLISECONDS, anchor(1_010)));
        assert_eq!((own.start_ticks(), own.end_ticks()), (1_010, 1_020));
        assert_eq!(own.start_utc_ns(), first.utc_ns_of(1_010));
    }
}
