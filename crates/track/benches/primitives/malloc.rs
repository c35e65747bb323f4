//! Patterns of allocation: those by which the document's unit tests came to opposite conclusions.
#![allow(unsafe_code)] // malloc and free as they are: the compiler takes pairs of Box out

use std::hint::black_box;
use std::sync::mpsc;
use std::thread;

use super::Extent;
use super::table::{Table, each, timed};

/// A block of so many octets, of which the first is written.
struct Block(*mut u8);

// SAFETY: a block belongs to who has it; libc takes it back from any thread.
unsafe impl Send for Block {}

impl Block {
    fn new(bytes: usize) -> Block {
        // SAFETY: a size; the result is checked, and has room for the octet that is written.
        let block = unsafe { libc::malloc(bytes.max(1)) }.cast::<u8>();
        assert!(!block.is_null(), "no memory");
        // SAFETY: as above.
        unsafe { block.write(1) };
        black_box(Block(block))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: given by malloc, and given back once.
        unsafe { libc::free(self.0.cast()) };
    }
}

/// Sizes as a program has them: many small, few large.
fn size(number: usize) -> usize {
    match number % 64 {
        0 => 4096,
        1..8 => 512,
        part => 16 + part * 2,
    }
}

fn many(count: usize) -> Vec<Block> {
    (0..count).map(|number| Block::new(size(number))).collect()
}

pub(crate) fn run(extent: Extent, table: &mut Table) {
    table.section("malloc and free of this machine's libc (ns a block)");
    let batches = extent.batches / 5 + 1;
    let count = if extent.quick { 20_000 } else { 200_000 };
    table.row(
        "one block, again and again",
        None,
        each(extent.batches, 20_000, || drop(Block::new(64))),
    );
    for threads in [1, 2, 6] {
        let found = timed(batches, || {
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| drop(many(count)));
                }
            });
            (threads * count) as u64
        });
        table.row(&format!("{count} given, then all freed, {threads} threads"), None, found);
    }
    let found = timed(batches, || freed_elsewhere(2, count));
    table.row("given in two threads, freed in the main one", None, found);
    for loops in [1, 8] {
        let found = timed(batches, || {
            for _ in 0..loops {
                freed_elsewhere(2, count / 8);
                thread::scope(|scope| drop(scope.spawn(|| drop(many(count / 8)))));
            }
            (loops * (count / 8) * 3) as u64
        });
        table.row(&format!("threads started and stopped, {loops} times over"), None, found);
    }
    let found = timed(batches, || {
        let mut blocks = 0;
        for power in 4..20 {
            for step in 0..64 {
                drop(Block::new((1 << power) + step * (1 << power) / 64));
                blocks += 1;
            }
        }
        blocks
    });
    table.row("growing from 16 octets to 1 MB, one at a time", None, found);
}

/// Threads give, the main one takes back.
fn freed_elsewhere(threads: usize, count: usize) -> u64 {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || sender.send(many(count)).unwrap());
        }
        drop(sender);
        receiver.iter().for_each(drop);
    });
    (threads * count) as u64
}
