//! The memory order between a thread that writes a ring and a reader in another process, checked by
//! loom in all orders that the language's memory model allows, which are more than a processor has:
//! `tools/test-loom`. Loom has atomics of its own, so these are models of `src/commit.rs` (records
//! and contexts), `src/open.rs` (open transactions) and `src/read`, with the same operations in the
//! same order, on a few slots of a few words. docs/formats/ring.md ("Memory order") has the argument
//! in words; each of its steps is left out once here, and loom then finds the harm.
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
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
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
    loom::model(move || {
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

/// Open transactions: a frame is whole if its id was the same, and not 0, before, in and after the
/// copy.
fn frames(steps: Steps) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
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
