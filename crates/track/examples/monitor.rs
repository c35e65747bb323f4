//! An optimisation that is a pessimisation: Ada's rendezvous, as far as the story needs it.
//!
//! A task guards a number of locks. Its callers meet it at entries: they wait until the task has
//! taken the call and done what is in the entry's body. An entry without a body is cheaper: the
//! caller hands the call over and goes on, and the task does the rest on its own time.
//!
//! * As it was: `unlock` has no body, `lock_count` has one, since it answers.
//! * With the feature `volatile-count`: the number is an atomic that `lock_count` just reads. But
//!   now a caller that has unlocked must not read the number from before: so `unlock` is given a
//!   body. `lock_count` has become nearly free, and `unlock`, which is called far more often, waits
//!   for the task each time.
//!
//! Calls and answers go through a pair of sockets, so that a wait costs the same whoever of the two
//! threads is faster. `monitor [ROUNDS]`: 4000 without it; of 40 rounds one asks for the number.

#![allow(clippy::unwrap_used)] // an error here is the end of the measurement

use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

/// Entry at which callers meet the task.
#[derive(Clone, Copy, PartialEq)]
enum Entry {
    Lock,
    Unlock,
    Count,
}

impl Entry {
    /// Whether its callers wait for the end of a body.
    fn has_body(self) -> bool {
        self != Entry::Unlock || cfg!(feature = "volatile-count")
    }
}

struct Monitor {
    task: UnixStream,
    locks: Arc<AtomicU64>,
}

impl Monitor {
    /// Calls an entry; what its body answered, 0 without one.
    #[inline(never)]
    fn meet(&self, entry: Entry) -> u64 {
        (&self.task).write_all(&[entry as u8]).unwrap();
        let mut answer = [0; 8];
        if entry.has_body() {
            (&self.task).read_exact(&mut answer).unwrap();
        }
        u64::from_ne_bytes(answer)
    }

    #[inline(never)]
    fn lock(&self) {
        self.meet(Entry::Lock);
    }

    #[inline(never)]
    fn unlock(&self) {
        self.meet(Entry::Unlock);
    }

    #[inline(never)]
    fn lock_count(&self) -> u64 {
        if cfg!(feature = "volatile-count") {
            self.locks.load(SeqCst)
        } else {
            self.meet(Entry::Count)
        }
    }
}

/// The task: takes one call after the other, until there is nobody to call.
#[inline(never)]
fn task(callers: UnixStream, locks: &AtomicU64) {
    let mut callers = callers;
    let mut call = [0];
    while callers.read(&mut call).unwrap() == 1 {
        let entry = [Entry::Lock, Entry::Unlock, Entry::Count][usize::from(call[0])];
        match entry {
            Entry::Lock => drop(locks.fetch_add(1, SeqCst)),
            Entry::Unlock => drop(locks.fetch_sub(1, SeqCst)),
            Entry::Count => {}
        }
        if entry.has_body() {
            callers.write_all(&locks.load(SeqCst).to_ne_bytes()).unwrap();
        }
    }
}

/// Work done under the lock.
#[inline(never)]
fn route(seed: u64) -> u64 {
    (0..100).fold(seed, |sum, step| black_box(sum.wrapping_mul(31).wrapping_add(step)))
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(4000, |word| word.parse().unwrap());
    let (ours, theirs) = UnixStream::pair().unwrap();
    let locks = Arc::new(AtomicU64::new(0));
    let monitor = Monitor { task: ours, locks: Arc::clone(&locks) };
    let task = thread::spawn(move || task(theirs, &locks));
    let (mut sum, mut counted) = (0, 0);
    for round in 0..rounds {
        monitor.lock();
        sum ^= route(round);
        monitor.unlock();
        if round % 40 == 0 {
            counted += monitor.lock_count();
        }
    }
    assert_eq!(counted, 0, "the number from before the unlock was seen");
    drop(monitor);
    task.join().unwrap();
    println!("{sum}");
}
