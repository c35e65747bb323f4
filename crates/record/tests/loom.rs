//! The memory order between a thread that writes a ring and a reader in another process, checked by
//! loom in all orders that the language's memory model allows with at most three preemptions, which
//! are more than a processor has: `tools/test-loom`. Loom has atomics of its own, so these are models
//! of `src/commit.rs` (records, contexts and worst cases), `src/open.rs` (open transactions) and
//! `src/read`, with the same operations in the same order, on a few slots of a few words.
//! docs/formats/ring.md ("Memory order") has the argument in words; each barrier of writer and
//! reader is left out once here, and loom then finds the harm.
#![cfg(loom)]
#![allow(clippy::unwrap_used)]

use loom::sync::Arc;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicU64, Ordering, fence};
use loom::thread;

/// The steps that order writer and reader.
#[derive(Clone, Copy)]
struct Steps {
    /// How a slot is marked as being written.
    mark: Ordering,
    /// The writer's barrier between the mark and the words.
    writer: bool,
    /// The reader's barrier after each copy.
    reader: bool,
}

/// As in the code.
const ALL: Steps = Steps { mark: Release, writer: true, reader: true };

/// Bounds the preemptions: all orders without a bound are too many for models of this size.
fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

fn barrier(is_there: bool, order: Ordering) {
    if is_there {
        fence(order);
    }
}

/// A thread's block: `M` slots with a sequence number and two words each.
struct Block<const M: usize> {
    next_sequence: AtomicU64,
    slots: [[AtomicU64; 3]; M],
}

impl<const M: usize> Block<M> {
    fn new() -> Self {
        let word = |_| AtomicU64::new(0);
        Self {
            next_sequence: AtomicU64::new(0),
            slots: std::array::from_fn(|_| std::array::from_fn(word)),
        }
    }

    /// `commit::write`.
    fn write(&self, sequence: u64, steps: Steps) {
        let slot = &self.slots[usize::try_from(sequence).unwrap() % M];
        slot[0].store(0, steps.mark);
        barrier(steps.writer, Release);
        slot[1].store(sequence + 100, Relaxed);
        slot[2].store(sequence + 100, Relaxed);
        slot[0].store(sequence + 1, Release);
        self.next_sequence.store(sequence + 1, Release);
    }

    /// `BlockReader::piece`, for one record: it is read whole, or known to be overwritten.
    fn read(&self, sequence: u64, steps: Steps) {
        let slot = &self.slots[usize::try_from(sequence).unwrap() % M];
        let copied = |word: &AtomicU64| {
            let value = word.load(Relaxed);
            barrier(steps.reader, Acquire);
            value
        };
        if sequence >= copied(&self.next_sequence) {
            return; // not there yet
        }
        // One copy: its words come in any order.
        let [found, first, second] = [0, 1, 2].map(|word: usize| slot[word].load(Relaxed));
        barrier(steps.reader, Acquire);
        let written = copied(&self.next_sequence);
        let oldest = written.saturating_sub(M as u64);
        if sequence < oldest {
            return; // overwritten
        }
        let is_oldest = sequence == oldest && written >= M as u64;
        if is_oldest && (found != sequence + 1 || copied(&slot[0]) != sequence + 1) {
            return; // being overwritten
        }
        assert_eq!(found, sequence + 1, "a whole ring is taken for a damaged one");
        assert_eq!([first, second], [sequence + 100; 2], "a torn record is taken for a whole one");
    }
}

fn records<const M: usize>(written: u64, steps: Steps) {
    check(move || {
        let block = Arc::new(Block::<M>::new());
        let writer = {
            let block = Arc::clone(&block);
            thread::spawn(move || (0..written).for_each(|sequence| block.write(sequence, steps)))
        };
        (0..2).for_each(|sequence| block.read(sequence, steps));
        writer.join().unwrap();
    });
}

#[test]
fn a_record_is_read_whole_or_known_to_be_overwritten() {
    records::<1>(3, ALL);
    records::<2>(4, ALL);
}

#[test]
#[should_panic(expected = "a torn record")]
fn without_the_writers_barrier_a_torn_record_is_taken() {
    records::<1>(2, Steps { writer: false, ..ALL });
}

#[test]
#[should_panic(expected = "a torn record")]
fn without_the_readers_barrier_a_torn_record_is_taken() {
    records::<1>(2, Steps { reader: false, ..ALL });
}

/// The mark of record *n* + *M* must not be seen before the number of records is: it would look like
/// a slot that nobody wrote.
#[test]
#[should_panic(expected = "a damaged one")]
fn with_a_relaxed_mark_a_whole_ring_looks_damaged() {
    records::<2>(4, Steps { mark: Relaxed, ..ALL });
}

/// Contexts: the writer says how far it will write before it does.
fn contexts(steps: Steps) {
    check(move || {
        let (head, byte) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicU64::new(10)));
        let writer = {
            let (head, byte) = (Arc::clone(&head), Arc::clone(&byte));
            thread::spawn(move || {
                head.store(2, Relaxed);
                barrier(steps.writer, Release);
                byte.store(20, Relaxed);
            })
        };
        let copied = byte.load(Relaxed);
        barrier(steps.reader, Acquire);
        if head.load(Relaxed) == 1 {
            assert_eq!(copied, 10, "a context that was overwritten is taken for the old one");
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_context_that_changes_while_it_is_copied_is_known_to() {
    contexts(ALL);
}

#[test]
#[should_panic(expected = "a context that was overwritten")]
fn without_the_writers_barrier_another_context_is_taken() {
    contexts(Steps { writer: false, ..ALL });
}

#[test]
#[should_panic(expected = "a context that was overwritten")]
fn without_the_readers_barrier_another_context_is_taken() {
    contexts(Steps { reader: false, ..ALL });
}

/// Open transactions: a frame is whole if its id was the same, and not 0, before, in and after the
/// copy.
fn frames(steps: Steps) {
    check(move || {
        let frame: Arc<[AtomicU64; 3]> = Arc::new([7, 7, 7].map(AtomicU64::new));
        let writer = {
            let frame = Arc::clone(&frame);
            thread::spawn(move || {
                for id in [8, 9] {
                    frame[0].store(0, Relaxed);
                    barrier(steps.writer, Release);
                    frame[1].store(id, Relaxed);
                    frame[2].store(id, Relaxed);
                    frame[0].store(id, Release);
                }
            })
        };
        let before = frame[0].load(Relaxed);
        barrier(steps.reader, Acquire);
        let [id, first, second] = [0, 1, 2].map(|word: usize| frame[word].load(Relaxed));
        barrier(steps.reader, Acquire);
        let after = frame[0].load(Relaxed);
        if before == after && id == after && after != 0 {
            assert_eq!([first, second], [id; 2], "a torn frame is taken for a whole one");
        }
        writer.join().unwrap();
    });
}

#[test]
fn an_open_transaction_is_read_whole_or_not_at_all() {
    frames(ALL);
}

#[test]
#[should_panic(expected = "a torn frame")]
fn without_the_readers_barrier_a_torn_frame_is_taken() {
    frames(Steps { reader: false, ..ALL });
}

#[test]
#[should_panic(expected = "a torn frame")]
fn without_the_writers_barrier_a_torn_frame_is_taken() {
    frames(Steps { writer: false, ..ALL });
}

/// Worst cases of a class: `commit::write_worst` and `commit::write_done`, and `statistics::add_worst`
/// of the reader. They are whole if the version was the same, and even, before and after the copy.
fn worst_cases(steps: Steps) {
    check(move || {
        let statistics: Arc<[AtomicU64; 3]> = Arc::new([0, 0, 0].map(AtomicU64::new));
        let writer = {
            let statistics = Arc::clone(&statistics);
            thread::spawn(move || {
                for value in [1, 2] {
                    let version = statistics[0].load(Relaxed);
                    statistics[0].store(version | 1, Relaxed);
                    barrier(steps.writer, Release);
                    statistics[1].store(value, Relaxed);
                    statistics[2].store(value, Relaxed);
                    let version = statistics[0].load(Relaxed);
                    statistics[0].store(version + 1, Release);
                }
            })
        };
        let before = statistics[0].load(Relaxed);
        barrier(steps.reader, Acquire);
        let copied = [1, 2].map(|word: usize| statistics[word].load(Relaxed));
        barrier(steps.reader, Acquire);
        let after = statistics[0].load(Relaxed);
        if before == after && after % 2 == 0 {
            assert_eq!(copied, [after / 2; 2], "a torn worst case is taken for a whole one");
        }
        writer.join().unwrap();
    });
}

#[test]
fn worst_cases_are_read_whole_or_not_at_all() {
    worst_cases(ALL);
}

#[test]
#[should_panic(expected = "a torn worst case")]
fn without_the_writers_barrier_a_torn_worst_case_is_taken() {
    worst_cases(Steps { writer: false, ..ALL });
}

#[test]
#[should_panic(expected = "a torn worst case")]
fn without_the_readers_barrier_a_torn_worst_case_is_taken() {
    worst_cases(Steps { reader: false, ..ALL });
}
