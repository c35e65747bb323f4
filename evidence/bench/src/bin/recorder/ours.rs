//! The recorder and the clocks that it is measured by.

use crate::measure::Case;
use chronoscope_clock as clock;
use chronoscope_model::Batch;
use chronoscope_record::read::{Cursors, Ring};
use chronoscope_record::{
    Class, Correlator, Status, chronoscope_begin, chronoscope_class, chronoscope_end, class,
};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Waker};

static PAIR: Class = class!("pair");
static OUTER: Class = class!("outer");
static MIDDLE: Class = class!("middle");
static INNER: Class = class!("inner");
static FUTURE: Class = class!("future");
static HANDLE: Class = class!("handle");
static SENDER: Class = class!("sender");
static RECEIVER: Class = class!("receiver");
static BATCH: Class = class!("batch");

/// The yardstick, first of all cases.
pub(crate) fn clocks() -> Vec<Case> {
    vec![
        Case::new("two clock reads", |count| {
            for _ in 0..count {
                black_box(clock::ticks());
                black_box(clock::ticks());
            }
        }),
        Case::new("std::time::Instant twice", |count| {
            for _ in 0..count {
                #[allow(clippy::disallowed_methods)] // it is what is measured
                let begin = black_box(std::time::Instant::now());
                black_box(begin.elapsed());
            }
        }),
        Case::new("2 MONOTONIC + 2 THREAD_CPUTIME", |count| {
            for _ in 0..count {
                let begin = (clock::monotonic_ns(), clock::thread_cpu_ns());
                let end = (clock::monotonic_ns(), clock::thread_cpu_ns());
                black_box((end.0 - begin.0, end.1 - begin.1));
            }
        }),
    ]
}

/// The plain pair alone.
pub(crate) fn pair(name: &'static str) -> Case {
    Case::new(name, |count| {
        for _ in 0..count {
            PAIR.begin().stop(Status::Good);
        }
    })
}

/// All cases of our recorder.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = vec![pair("record: pair with thread CPU"), nested(), c_path()];
    cases.push(Case::new("record: future, one poll", |count| {
        for _ in 0..count {
            let mut context = Context::from_waker(Waker::noop());
            let _ = black_box(pin!(FUTURE.measure(async {})).poll(&mut context));
        }
    }));
    cases.push(Case::new("record: handle, start and stop", |count| {
        for _ in 0..count {
            HANDLE.start().stop(Status::Good);
        }
    }));
    cases.push(Case::new("record: pair, correlator encoded", |count| {
        for _ in 0..count {
            let guard = SENDER.begin();
            black_box(guard.correlator().to_bytes(512));
            guard.stop(Status::Good);
        }
    }));
    let sent = SENDER.begin().correlator().to_bytes(512);
    cases.push(Case::new("record: pair, correlator decoded", move |count| {
        for _ in 0..count {
            if let Ok(parent) = Correlator::decode(black_box(&sent)) {
                RECEIVER.begin_with(&parent).stop(Status::Good);
            }
        }
    }));
    cases.push(batch());
    cases.push(two_threads());
    cases.extend(drain());
    cases
}

/// A reader's cost a record: the ring of this process, whose main thread's slots are all full by
/// then, read as another process reads it.
fn drain() -> Option<Case> {
    let mut ring = Ring::open(&chronoscope_record::ring_path()?).ok()?;
    let pairs = u64::from(ring.slot_count());
    (0..pairs).for_each(|_| PAIR.begin().stop(Status::Good));
    let mut batch = Batch::default();
    let mut before = Cursors::default();
    let run = move |count| {
        // What all threads have recorded meanwhile counts as read; all slots of the main thread's
        // block, which is the first, are read again.
        let _ = ring.drain(&mut before, usize::MAX, &mut batch);
        if let Some(main) = before.0.get_mut(&0) {
            *main -= pairs;
        }
        for _ in 0..count {
            batch.clear();
            let mut cursors = before.clone();
            let drained = ring.drain(&mut cursors, usize::MAX, &mut batch);
            assert_eq!(drained.map_or(0, |drained| drained.read), pairs);
        }
    };
    Some(Case { pairs, ..Case::new("read: drain, each record", run) })
}

/// A batch of messages of as many chains: the whole pair, a message.
fn batch() -> Case {
    const MESSAGES: usize = 100;
    let sent: Vec<Correlator> = (0..MESSAGES).map(|_| SENDER.begin().correlator()).collect();
    let run = move |count| {
        for _ in 0..count {
            BATCH.begin_with_all(black_box(&sent)).stop(Status::Good);
        }
    };
    Case { pairs: MESSAGES as u64, ..Case::new("record: batch of 100, each message", run) }
}

fn nested() -> Case {
    let run = |count| {
        for _ in 0..count {
            let outer = OUTER.begin();
            let middle = MIDDLE.begin();
            let inner = INNER.begin();
            PAIR.begin().stop(Status::Good);
            inner.stop(Status::Good);
            middle.stop(Status::Good);
            outer.stop(Status::Good);
        }
    };
    Case { pairs: 4, ..Case::new("record: four nested, each", run) }
}

#[allow(unsafe_code)] // the interface of C
fn c_path() -> Case {
    // SAFETY: a text that ends in NUL.
    let class = unsafe { chronoscope_class(c"through C".as_ptr()) } as usize;
    let begin: unsafe extern "C" fn(_) -> _ = chronoscope_begin;
    Case::new("record: pair through the C functions", move |count| {
        let begin = black_box(begin); // through a pointer, as from a library
        for _ in 0..count {
            // SAFETY: the class comes from the interface, and is not null.
            let token = unsafe { begin(class as *const Class) };
            black_box(chronoscope_end as extern "C" fn(_, _))(token, 0);
        }
    })
}

/// Two threads at once, each so many: CPU time a pair.
fn two_threads() -> Case {
    let run = |count| {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..count {
                        PAIR.begin().stop(Status::Good);
                    }
                });
            }
        });
    };
    Case { pairs: 2, cpu_ns: clock::process_cpu_ns, ..Case::new("record: pair, two threads", run) }
}
