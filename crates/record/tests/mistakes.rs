//! What goes wrong in measured programs: every case is defined, counted where something is lost,
//! and harms nobody.
#![cfg(not(feature = "off"))]
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_model::Status;
use chronoscope_record::{self as record, Class, class};
use std::cell::RefCell;
use support::{drain, of_class, one, run};

static OUTER: Class = class!("outer");
static INNER: Class = class!("inner");
static DEEP: Class = class!("deep");

#[test]
fn child_entry() {
    let Some(scenario) = support::asked_for() else { return };
    record::init("TEST");
    match scenario.as_str() {
        "too_deep" => too_deep(),
        "out_of_order" => out_of_order(),
        "leaked" => leaked(),
        "panic" => panics(),
        "thread_end" => thread_end(),
        "ended_thread" => ended_thread(),
        "reused" => reused(),
        "too_many_classes" => too_many_classes(),
        "too_many_started" => too_many_started(),
        "context" => too_much_context(),
        other => panic!("no scenario {other}"),
    }
}

fn too_deep() {
    let mut guards: Vec<_> = (0..70).map(|_| DEEP.begin()).collect();
    println!("level={}", guards[69].correlator().level());
    while let Some(guard) = guards.pop() {
        drop(guard);
    }
    drop(OUTER.begin());
}

#[test]
fn what_is_too_deep_is_counted() {
    let ran = run("too_deep");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    assert_eq!(of_class(&ring, &batch, "deep").len(), 64);
    let counters = ring.counters().unwrap();
    assert_eq!((counters.too_deep, counters.dropped(), counters.out_of_order), (6, 6, 0));
    assert_eq!(ran.value("level"), "63"); // what is not recorded hands on the token around it
    assert_eq!(one(&ring, &batch, "outer").level, 0);
}

fn out_of_order() {
    let outer = OUTER.begin();
    let inner = INNER.begin();
    drop(outer);
    inner.stop(Status::Good); // ended already, with `outer`
    drop(DEEP.begin());
}

#[test]
fn the_outer_one_ends_the_inner_ones() {
    let ran = run("out_of_order");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let (outer, inner) = (one(&ring, &batch, "outer"), one(&ring, &batch, "inner"));
    assert_eq!((outer.status(), inner.status()), (Status::Good, Status::Aborted));
    assert_eq!(inner.parent, outer.id);
    assert_eq!(one(&ring, &batch, "deep").level, 0);
    assert_eq!(ring.counters().unwrap().out_of_order, 2);
}

fn leaked() {
    let outer = OUTER.begin();
    std::mem::forget(INNER.begin());
    drop(DEEP.begin()); // under the leaked one
    drop(outer);
    drop(DEEP.begin());
}

#[test]
fn a_leaked_guard_ends_with_what_is_around_it() {
    let ran = run("leaked");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    assert_eq!(one(&ring, &batch, "inner").status(), Status::Aborted);
    let levels: Vec<_> = of_class(&ring, &batch, "deep").iter().map(|r| r.level).collect();
    assert_eq!(levels, [2, 0]);
}

fn panics() {
    let result = std::panic::catch_unwind(|| {
        let _outer = OUTER.begin();
        let _inner = INNER.begin();
        panic!("on purpose");
    });
    assert!(result.is_err());
    drop(DEEP.begin());
}

#[test]
fn a_panic_aborts() {
    let ran = run("panic");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    for class in ["outer", "inner"] {
        assert_eq!(one(&ring, &batch, class).status(), Status::Aborted, "{class}");
    }
    let deep = one(&ring, &batch, "deep");
    assert_eq!((deep.status(), deep.level), (Status::Good, 0));
}

fn thread_end() {
    let work = || {
        std::mem::forget(OUTER.begin());
        std::mem::forget(INNER.begin());
    };
    std::thread::spawn(work).join().unwrap();
}

#[test]
fn the_end_of_a_thread_aborts_what_is_open() {
    let ran = run("thread_end");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    assert_eq!(one(&ring, &batch, "outer").status(), Status::Aborted);
    assert_eq!(one(&ring, &batch, "inner").level, 1);
    assert!(ring.open_transactions().unwrap().is_empty());
}

thread_local! {
    static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
}

struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        drop(INNER.begin());
        INNER.start().stop(Status::Good);
    }
}

fn ended_thread() {
    let work = || {
        // Registered before the recorder's own, so that it runs after it.
        LATE.with_borrow_mut(|late| *late = Some(Late));
        drop(OUTER.begin());
    };
    std::thread::spawn(work).join().unwrap();
}

#[test]
fn thread_local_destructors_may_record_or_are_counted() {
    let ran = run("ended_thread");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    assert_eq!(one(&ring, &batch, "outer").status(), Status::Good);
    let recorded = of_class(&ring, &batch, "inner").len() as u64;
    assert_eq!(recorded + ring.counters().unwrap().thread_ended, 2);
}

fn reused() {
    for _ in 0..20 {
        std::thread::spawn(|| drop(OUTER.begin())).join().unwrap();
    }
}

#[test]
fn blocks_of_ended_threads_are_reused_and_keep_their_statistics() {
    let ran = run("reused");
    let size = std::fs::metadata(&ran.rings()[0]).unwrap().len();
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let outers = of_class(&ring, &batch, "outer");
    let ids: std::collections::HashSet<_> = outers.iter().map(|r| r.id).collect();
    let threads: std::collections::HashSet<_> = outers.iter().map(|r| r.thread).collect();
    assert_eq!((outers.len(), ids.len(), threads.len()), (20, 20, 20));
    assert_eq!(ring.statistics().unwrap()[0].count, 20);
    assert!(size < 1_000_000, "{size} bytes: 20 blocks instead of one");
}

fn too_many_classes() {
    for number in 0..4_200 {
        drop(Class::named(None, &format!("class{number}"), false).begin());
    }
}

#[test]
fn classes_that_find_no_number_are_counted() {
    let ran = run("too_many_classes");
    let mut ring = ran.ring();
    assert_eq!(ring.counters().unwrap().classes_full, 4_200 - 4_095);
    assert_eq!(ring.statistics().unwrap().len(), 4_095);
}

fn too_many_started() {
    let mut all: Vec<_> = (0..65_600).map(|_| OUTER.start()).collect();
    let left = all.split_off(65_000);
    all.into_iter().for_each(|started| started.stop(Status::Good));
    drop(left);
    drop(INNER.start());
}

#[test]
fn handles_that_find_no_place_are_counted() {
    let ran = run("too_many_started");
    let mut ring = ran.ring();
    assert_eq!(ring.counters().unwrap().started_full, 65_600 - 65_536);
    let statistics = ring.statistics().unwrap();
    assert_eq!((statistics[0].count, statistics[1].count), (65_536, 1));
}

fn too_much_context() {
    let mut outer = OUTER.begin();
    for number in 0..20 {
        outer.property("key", &format!("value number {number}"));
    }
    outer.property("k", &"x".repeat(300));
    outer.stop(Status::Good);
    let mut inner = INNER.begin();
    inner.metric("fits", 1.0);
    drop(inner);
}

#[test]
fn context_beyond_the_bound_is_cut_and_said() {
    use chronoscope_model::{Flags, context};
    let ran = run("context");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let (outer, inner) = (one(&ring, &batch, "outer"), one(&ring, &batch, "inner"));
    assert!(outer.flags().contains(Flags::CONTEXT_CUT));
    assert!(!inner.flags().contains(Flags::CONTEXT_CUT));
    let words = context::entries(batch.context(&outer)).count();
    assert!((10..20).contains(&words) && batch.context(&outer).len() <= context::MAX_BYTES);
    assert_eq!(context::entries(batch.context(&inner)).count(), 1);
}
