//! Mutexes of libc and of std, an object that they protect, atomics, and a volatile write.
#![allow(unsafe_code)] // pthread mutexes

use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

use super::Extent;
use super::table::{Batch, Table, each, timed};

const BATCH: u64 = 20_000;

pub(crate) fn run(extent: Extent, table: &mut Table) {
    let batches = extent.batches;
    table.section("lock and unlock, or once (ns)");
    let alone = Pthread::new(libc::PTHREAD_MUTEX_NORMAL);
    let only = thread_count() == 1;
    let found = each(batches, BATCH, || alone.with(|| ()));
    if only {
        table.row("pthread mutex NORMAL, in a program with one thread", None, found);
    }
    // From now on libc takes no short cut for programs that never had a second thread.
    thread::spawn(|| ()).join().unwrap();
    for (name, kind, document) in [
        ("pthread mutex NORMAL", libc::PTHREAD_MUTEX_NORMAL, Some(13.32)),
        ("pthread mutex RECURSIVE", libc::PTHREAD_MUTEX_RECURSIVE, Some(13.65)),
        ("pthread mutex ERRORCHECK", libc::PTHREAD_MUTEX_ERRORCHECK, Some(16.12)),
        ("pthread mutex DEFAULT", libc::PTHREAD_MUTEX_DEFAULT, None),
    ] {
        let mutex = Arc::new(Pthread::new(kind));
        table.row(name, document, each(batches, BATCH, || mutex.with(|| ())));
        let contended = contended(batches, move || mutex.with(|| ()));
        table.row(&format!("{name}, two threads at it"), None, contended);
    }
    let mutex = Mutex::new(());
    table.row("std Mutex", None, each(batches, BATCH, || drop(mutex.lock().unwrap())));
    let mutex = Arc::new(Mutex::new(()));
    let at_it = contended(batches, move || drop(mutex.lock().unwrap()));
    table.row("std Mutex, two threads at it", None, at_it);
    let shared = RwLock::new(());
    table.row("std RwLock, read", None, each(batches, BATCH, || drop(shared.read().unwrap())));
    let counter = Mutex::new(0_u64);
    let increment = each(batches, BATCH, || *counter.lock().unwrap() += 1);
    table.row("protected counter, increment (std Mutex)", Some(5.39), increment);
    let counter = Arc::new(Mutex::new(0_u64));
    let at_it = contended(batches, move || *counter.lock().unwrap() += 1);
    table.row("protected counter, two threads at it", None, at_it);
    let atomic = AtomicU64::new(0);
    let increment = || black_box(&atomic).fetch_add(1, Ordering::SeqCst);
    table.row("atomic increment", Some(4.53), each(batches, BATCH, increment));
    let atomic = Arc::new(AtomicU64::new(0));
    let at_it = contended(batches, move || atomic.fetch_add(1, Ordering::SeqCst));
    table.row("atomic increment, two threads at it", None, at_it);
    let mut cell = 0_u64;
    let write = timed(batches, || {
        for value in 0..BATCH * 10 {
            // SAFETY: a valid place of this function's own.
            unsafe { std::ptr::write_volatile(&raw mut cell, value) };
        }
        BATCH * 10
    });
    table.row("volatile write", Some(0.24), write);
}

fn thread_count() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Waiting time of one of two threads for its turn, while the other does the same without a pause.
fn contended<T>(batches: usize, operation: impl Fn() -> T + Send + Sync + 'static) -> Vec<Batch> {
    let operation = Arc::new(operation);
    let over = Arc::new(AtomicBool::new(false));
    let other = {
        let (operation, over) = (Arc::clone(&operation), Arc::clone(&over));
        thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                black_box(operation());
            }
        })
    };
    let found = each(batches, BATCH / 4, || operation());
    over.store(true, Ordering::Relaxed);
    other.join().unwrap();
    found
}

/// A mutex of libc of one of its kinds.
struct Pthread(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: threads meet at a mutex; that is what it is for. It does not move: it is boxed.
unsafe impl Send for Pthread {}
// SAFETY: as above.
unsafe impl Sync for Pthread {}

impl Pthread {
    fn new(kind: libc::c_int) -> Pthread {
        let mutex = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        // SAFETY: the attributes are initialised before their use, and the mutex by them, in its
        // place for good.
        unsafe {
            let mut attributes: libc::pthread_mutexattr_t = std::mem::zeroed();
            assert_eq!(libc::pthread_mutexattr_init(&raw mut attributes), 0);
            assert_eq!(libc::pthread_mutexattr_settype(&raw mut attributes, kind), 0);
            assert_eq!(libc::pthread_mutex_init(mutex.get(), &raw const attributes), 0);
            libc::pthread_mutexattr_destroy(&raw mut attributes);
        }
        Pthread(mutex)
    }

    fn with(&self, what: impl FnOnce()) {
        // SAFETY: initialised, and unlocked by the thread that locked it.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
        what();
        // SAFETY: as above.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
}

impl Drop for Pthread {
    fn drop(&mut self) {
        // SAFETY: nobody has it any more.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}
