//! Transactions hang where they should: guards, handles, correlators, futures.
#![cfg(not(feature = "off"))]
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_clock as clock;
use chronoscope_model::{Flags, NO_PROCESS_CPU, PathId, Status, context};
use chronoscope_record::{self as record, Class, Correlator, class, transaction};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use support::{drain, of_class, one, run};

static OUTER: Class = class!("outer");
static INNER: Class = class!("inner");
static OTHER: Class = class!("other");
static PROCESS: Class = class!("process", process_cpu);

#[test]
fn child_entry() {
    let Some(scenario) = support::asked_for() else { return };
    record::init("TEST");
    match scenario.as_str() {
        "nested" => nested(),
        "explicit" => explicit(),
        "handles" => handles(),
        "functions" => functions(),
        "futures" => futures(),
        "stamps" => stamps(),
        other => panic!("no scenario {other}"),
    }
}

fn nested() {
    let mut outer = OUTER.begin();
    outer.property("callsign", "DLH123");
    clock::sleep(Duration::from_millis(5));
    {
        let mut inner = INNER.begin();
        inner.metric("plots", 12.0);
        let until = clock::thread_cpu_ns() + 3_000_000;
        while clock::thread_cpu_ns() < until {}
        inner.stop(Status::Failed);
    }
    drop(outer);
    PROCESS.begin().stop(Status::Unknown);
}

#[test]
fn guards_nest() {
    let ran = run("nested");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let (outer, inner) = (one(&ring, &batch, "outer"), one(&ring, &batch, "inner"));
    assert_eq!((outer.level, inner.level), (0, 1));
    assert!(outer.parent.is_none() && inner.parent == outer.id && !outer.id.is_none());
    assert_eq!((outer.chain(), outer.chain().low()), (inner.chain(), outer.id.0));
    assert_eq!((inner.root_start_ns, outer.root_start_ns), (outer.start_ns, outer.start_ns));
    assert_eq!((outer.root_process, outer.process), (ring.process_id(), ring.process_id()));
    assert_eq!(inner.path, PathId::of(&[outer.class, inner.class]));
    assert_eq!(ring.names().path_text(inner.path), "TEST::outer/TEST::inner");
    assert_eq!((outer.status(), inner.status()), (Status::Good, Status::Failed));
    assert_eq!(outer.process_cpu_ns, NO_PROCESS_CPU);
    let words: Vec<_> = context::entries(batch.context(&outer)).collect();
    assert_eq!(words, [context::ContextEntry::Property("callsign", "DLH123")]);
    let words: Vec<_> = context::entries(batch.context(&inner)).collect();
    assert_eq!(words, [context::ContextEntry::Metric("plots", 12.0)]);
    // 5 ms asleep, then 3 ms of work: elapsed has both, CPU has the work.
    assert!(outer.elapsed_ns > 7_900_000 && inner.elapsed_ns > 2_900_000);
    assert!((2_900_000..=outer.elapsed_ns - 4_900_000).contains(&outer.cpu_ns), "{outer:?}");
    assert!((2_900_000..=inner.elapsed_ns).contains(&inner.cpu_ns), "{inner:?}");
    let process = one(&ring, &batch, "process");
    assert!(process.process_cpu_ns < 1_000_000_000 && process.parent.is_none());
    assert_eq!(process.status(), Status::Unknown);
    // The stamps are UTC: within the test's own time.
    assert!((0..60_000_000_000).contains(&(clock::utc_now_ns() - outer.start_ns)));
}

fn explicit() {
    let outer = OUTER.begin();
    let sent = outer.correlator().with_flags(true, true).to_bytes(512);
    drop(outer);
    let received = Correlator::decode(&sent).unwrap();
    let other = OTHER.begin();
    let inner = INNER.begin_with(&received); // not under `other`
    drop(OUTER.begin()); // under `inner`
    println!("inner_level={}", inner.correlator().level());
    drop(inner);
    drop(other);
    let foreign = Correlator::foreign(received.chain(), received.parent());
    let first = PROCESS.begin_with(&foreign);
    drop(PROCESS.begin());
    drop(first);
}

#[test]
fn a_correlator_is_the_parent() {
    let ran = run("explicit");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let outers = of_class(&ring, &batch, "outer");
    let (inner, other) = (one(&ring, &batch, "inner"), one(&ring, &batch, "other"));
    assert_eq!((inner.parent, inner.chain()), (outers[0].id, outers[0].chain()));
    assert_eq!(inner.root_start_ns, outers[0].start_ns);
    assert!(inner.flags().contains(Flags::ASYNCHRONOUS.with(Flags::INDEPENDENT)));
    assert_eq!((outers[1].parent, outers[1].level), (inner.id, 2));
    assert_eq!(ring.names().path_text(outers[1].path), "TEST::outer/TEST::inner/TEST::outer");
    assert!(outers[1].flags() == Flags(0) && other.parent.is_none());
    assert_eq!(ran.value("inner_level"), "1");
    for foreign in of_class(&ring, &batch, "process") {
        assert!(foreign.flags().contains(Flags::FOREIGN) && foreign.path.is_none());
        assert_eq!((foreign.chain(), foreign.level), (outers[0].chain(), 0));
        assert_eq!(foreign.since_root_ns(), None);
        assert_eq!(foreign.root_start_ns, foreign.start_ns);
    }
}

fn handles() {
    let outer = OUTER.begin();
    let mut started = INNER.start();
    started.property("who", "me");
    let from = started.correlator();
    drop(outer);
    let stopper = std::thread::spawn(move || {
        drop(OTHER.begin_with(&from));
        started.stop(Status::Failed);
    });
    stopper.join().unwrap();
    drop(OUTER.start()); // ABORTED
    let same = OTHER.start();
    let until = clock::thread_cpu_ns() + 3_000_000;
    while clock::thread_cpu_ns() < until {}
    same.stop(Status::Good);
}

#[test]
fn a_handle_may_be_stopped_elsewhere() {
    let ran = run("handles");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let (outers, others) = (of_class(&ring, &batch, "outer"), of_class(&ring, &batch, "other"));
    let inner = one(&ring, &batch, "inner");
    assert_eq!((inner.parent, inner.level, inner.status()), (outers[0].id, 1, Status::Failed));
    assert_eq!((inner.cpu_ns, inner.thread), (0, outers[0].thread));
    let words: Vec<_> = context::entries(batch.context(&inner)).collect();
    assert_eq!(words, [context::ContextEntry::Property("who", "me")]);
    let elsewhere = others.iter().find(|other| other.level == 2).unwrap();
    assert!(elsewhere.parent == inner.id && elsewhere.thread != inner.thread);
    assert_eq!(ring.names().path_text(elsewhere.path), "TEST::outer/TEST::inner/TEST::other");
    let same = others.iter().find(|other| other.level == 0).unwrap();
    assert!((2_900_000..=same.elapsed_ns).contains(&same.cpu_ns), "{same:?}");
    assert_eq!(outers[1].status(), Status::Aborted);
    assert!(ring.open_transactions().unwrap().is_empty());
}

#[transaction]
fn plain(text: &str) -> usize {
    text.len()
}

#[transaction("renamed", result)]
fn fallible(ok: bool) -> Result<u32, String> {
    if !ok {
        return Err("no".to_owned());
    }
    Ok(7)
}

struct Tracker(u32);

impl Tracker {
    #[transaction(result)]
    fn update(&mut self, by: u32) -> Result<&u32, std::num::ParseIntError> {
        let more: u32 = "1".parse()?;
        self.0 += by + more;
        Ok(&self.0)
    }
}

fn functions() {
    assert_eq!(plain("four"), 4);
    assert_eq!(fallible(true), Ok(7));
    assert!(fallible(false).is_err());
    assert_eq!(Tracker(1).update(2), Ok(&4));
}

#[test]
fn a_function_is_a_transaction() {
    let ran = run("functions");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    assert_eq!(one(&ring, &batch, "plain").status(), Status::Good);
    assert_eq!(one(&ring, &batch, "update").status(), Status::Good);
    let renamed: Vec<_> = of_class(&ring, &batch, "renamed").iter().map(|r| r.status()).collect();
    assert_eq!(renamed, [Status::Good, Status::Failed]);
}

/// Pending once, then ready.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

fn burn() {
    let until = clock::thread_cpu_ns() + 2_000_000;
    while clock::thread_cpu_ns() < until {}
}

#[transaction(result)]
async fn request(fail: bool) -> Result<(), ()> {
    drop(INNER.begin());
    burn();
    Yield(false).await;
    drop(OTHER.begin());
    burn();
    if fail { Err(()) } else { Ok(()) }
}

#[transaction]
async fn forgotten() {
    Yield(false).await;
    Yield(false).await;
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn futures() {
    let mut moved = Box::pin(request(true));
    let outer = OUTER.begin();
    assert!(poll(moved.as_mut()).is_pending());
    drop(PROCESS.begin()); // between polls: under `outer`
    drop(outer);
    clock::sleep(Duration::from_millis(5));
    let elsewhere = std::thread::spawn(move || assert!(poll(moved.as_mut()).is_ready()));
    elsewhere.join().unwrap();
    let mut unfinished = Box::pin(forgotten());
    assert!(poll(unfinished.as_mut()).is_pending());
    drop(unfinished);
    drop(forgotten()); // never polled: nothing to record
    assert!(poll(pin!(forgotten())).is_pending());
}

#[test]
fn a_future_is_a_transaction() {
    let ran = run("futures");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let (outer, request) = (one(&ring, &batch, "outer"), one(&ring, &batch, "request"));
    assert_eq!((request.parent, request.status()), (outer.id, Status::Failed));
    for class in ["inner", "other"] {
        let child = one(&ring, &batch, class);
        assert_eq!((child.parent, child.level), (request.id, 2), "{class}");
    }
    assert_ne!(one(&ring, &batch, "other").thread, request.thread);
    assert_eq!(one(&ring, &batch, "process").parent, outer.id);
    // Two polls of 2 ms each by the kernel's clock of CPU time, 5 ms apart: holds on a busy machine
    // and under an emulator too (tests/cpu.rs).
    assert!(request.elapsed_ns > 8_900_000, "{request:?}");
    assert!((3_900_000..=request.elapsed_ns - 4_900_000).contains(&request.cpu_ns), "{request:?}");
    let forgotten = of_class(&ring, &batch, "forgotten");
    assert_eq!(forgotten.len(), 2);
    assert!(forgotten.iter().all(|r| r.status() == Status::Aborted && r.parent.is_none()));
    assert!(ring.open_transactions().unwrap().is_empty());
}

fn stamps() {
    for _ in 0..300 {
        let before = clock::utc_now_ns();
        let mut outer = OUTER.begin();
        let after = clock::utc_now_ns();
        outer.property("between", &format!("{before} {after}"));
        drop(outer);
        clock::sleep(Duration::from_millis(5));
    }
}

/// Stamps are UTC to 10 µs while anchors age and are renewed, and across refinements of the scale.
#[test]
fn stamps_are_utc() {
    let ran = run("stamps");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let mut off = Vec::new();
    for record in of_class(&ring, &batch, "outer") {
        let context::ContextEntry::Property(_, text) =
            context::entries(batch.context(&record)).next().unwrap()
        else {
            panic!("no property");
        };
        let (before, after) = text.split_once(' ').unwrap();
        let (before, after): (i64, i64) = (before.parse().unwrap(), after.parse().unwrap());
        off.push((before - record.start_ns).max(record.start_ns - after).max(0));
    }
    off.sort_unstable();
    assert_eq!(off.len(), 300);
    // An anchor may have been read around a preemption now and then, on a busy machine.
    assert!(off[295] < 10_000, "{:?} ns off", &off[290..]);
}
