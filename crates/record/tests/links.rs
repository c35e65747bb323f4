//! Transactions with several inputs: what a reader of the ring has of their links.
#![cfg(not(feature = "off"))]
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{Batch, Extras, Flags, FurtherParent, Record};
use chronoscope_record::read::{Ring, find_rings};
use chronoscope_record::{self as record, Class, Correlator, Status, class};
use support::{drain, of_class, one, run, run_with, wait_for_test};

static PRODUCE: Class = class!("produce");
static SEND: Class = class!("send");
static CONSUME: Class = class!("consume");
static INNER: Class = class!("inner");

/// Messages of a batch: more than a frame, a record of the 16-bit lengths of old, or one page holds.
const MESSAGES: usize = 1000;

#[test]
fn child_entry() {
    let Some(scenario) = support::asked_for() else { return };
    record::init("TEST");
    match scenario.as_str() {
        "batch" => batch(),
        "handles" => handles(),
        "nested" => nested(),
        "nobody" => nobody(),
        "open" => open(),
        other => panic!("no scenario {other}"),
    }
}

/// A message's correlator, as it came over the wire.
fn message() -> Correlator {
    let _root = PRODUCE.begin();
    let sent = SEND.begin().correlator().to_bytes(512);
    Correlator::decode(&sent).unwrap()
}

fn messages(count: usize) -> Vec<Correlator> {
    (0..count).map(|_| message()).collect()
}

fn batch() {
    let inputs = messages(MESSAGES);
    let mut consume = CONSUME.begin_with_all(&inputs);
    consume.property("topic", "plots");
    INNER.begin().stop(Status::Good);
    consume.metric("messages", 1000.0);
    drop(consume);
    CONSUME.begin_with_all(&[]).stop(Status::Failed);
}

fn extras(batch: &Batch, record: &Record) -> Vec<FurtherParent> {
    Extras::of(batch.context(record)).further_parents
}

fn said(batch: &Batch, record: &Record) -> Vec<String> {
    let words = context::entries(batch.context(record)).filter_map(|entry| match entry {
        ContextEntry::Property(key, value) => Some(format!("{key}={value}")),
        ContextEntry::Metric(key, value) => Some(format!("{key}={value}")),
        _ => None,
    });
    words.collect()
}

fn has_links(record: &Record) -> bool {
    record.flags().contains(Flags::FURTHER_PARENTS)
}

#[test]
fn a_batch_has_a_link_to_each_of_a_thousand_messages() {
    let ran = run_with("batch", &[("CHRONOSCOPE_SLOTS", "8192")]);
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let senders = of_class(&ring, &batch, "send");
    let consumers = of_class(&ring, &batch, "consume");
    let [consumer, root] = consumers[..] else { panic!("{consumers:?}") };
    assert_eq!((consumer.chain(), consumer.parent), (senders[0].chain(), senders[0].id));
    assert!(has_links(&consumer) && !consumer.flags().contains(Flags::CONTEXT_CUT));
    assert_eq!(said(&batch, &consumer), ["topic=plots", "messages=1000"]);
    let links = extras(&batch, &consumer);
    assert_eq!(links.len(), MESSAGES - 1);
    for (link, sender) in links.iter().zip(&senders[1..]) {
        assert_eq!((link.chain, link.id), (sender.chain(), sender.id));
        let root = link.root.unwrap();
        assert_eq!((root.start_ns, root.process), (sender.root_start_ns, ring.process_id()));
        assert_eq!((root.level, root.path), (1, sender.path));
    }
    assert!(!has_links(&one(&ring, &batch, "inner")), "links are not inherited");
    assert!(root.parent.is_none() && !has_links(&root) && root.status() == Status::Failed);
    assert_eq!(ring.counters().unwrap().dropped(), 0);
}

#[test]
fn without_room_for_all_links_there_are_none_and_the_flag_says_so() {
    // A context ring of 16 KiB: room for 315.
    let ran = run("batch");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let consumer = of_class(&ring, &batch, "consume")[0];
    assert!(has_links(&consumer));
    assert_eq!(extras(&batch, &consumer), []);
    assert_eq!(said(&batch, &consumer), ["topic=plots", "messages=1000"]);
}

#[test]
fn a_worst_case_keeps_its_words_and_says_that_it_had_links() {
    let ran = run_with("batch", &[("CHRONOSCOPE_SLOTS", "8192")]);
    let mut ring = ran.ring();
    let statistics = ring.statistics().unwrap();
    let found = statistics.iter().find(|of| of.worst.records().iter().any(has_links)).unwrap();
    let worst = found.worst.records().iter().find(|record| has_links(record)).unwrap();
    assert_eq!(said(&found.worst, worst), ["topic=plots", "messages=1000"]);
}

fn handles() {
    let inputs = messages(5);
    let mut started = CONSUME.start_with_all(&inputs[..3]);
    started.property("topic", "plots");
    started.link(&inputs[3]);
    std::thread::spawn(move || started.stop(Status::Good)).join().unwrap();
    // In the same place.
    CONSUME.start_with(&inputs[4]).stop(Status::Failed);
}

#[test]
fn a_handle_takes_its_links_to_the_thread_that_stops_it() {
    let ran = run("handles");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let senders = of_class(&ring, &batch, "send");
    let consumers = of_class(&ring, &batch, "consume");
    let good = consumers.iter().find(|record| record.status() == Status::Good).unwrap();
    let ids: Vec<_> = extras(&batch, good).iter().map(|link| link.id).collect();
    assert_eq!(ids, [senders[1].id, senders[2].id, senders[3].id]);
    assert_eq!(said(&batch, good), ["topic=plots"]);
    let next = consumers.iter().find(|record| record.status() == Status::Failed).unwrap();
    assert!(!has_links(next) && next.parent == senders[4].id);
}

fn nested() {
    let inputs = messages(4);
    let mut outer = CONSUME.begin_with(&inputs[0]);
    outer.link(&inputs[1]);
    let mut inner = INNER.begin();
    inner.link(&inputs[2]);
    outer.link(&inputs[3]); // while the inner one has links too
    drop(inner);
    drop(outer);
    INNER.begin().stop(Status::Failed); // in a frame that had links
}

#[test]
fn each_open_transaction_has_its_own_links() {
    let ran = run("nested");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let senders = of_class(&ring, &batch, "send");
    let ids =
        |record: &Record| -> Vec<_> { extras(&batch, record).iter().map(|link| link.id).collect() };
    assert_eq!(ids(&one(&ring, &batch, "consume")), [senders[1].id, senders[3].id]);
    let inner = of_class(&ring, &batch, "inner");
    assert_eq!(ids(&inner[0]), [senders[2].id]);
    assert!(!has_links(&inner[1]));
}

fn nobody() {
    SEND.set_enabled(false);
    let sent = SEND.begin().correlator();
    let mut consume = CONSUME.begin();
    consume.link(&sent);
    drop(consume);
}

#[test]
fn a_message_of_a_transaction_that_nobody_records_is_no_link() {
    let ran = run("nobody");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    assert!(!has_links(&one(&ring, &batch, "consume")));
}

fn open() {
    let inputs = messages(2);
    let _open = CONSUME.begin_with_all(&inputs);
    let _started = INNER.start_with_all(&inputs);
    wait_for_test();
}

#[test]
fn an_open_transaction_shows_that_it_has_links() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut child = support::spawn("open", folder.path());
    let rings = find_rings(folder.path());
    let open = Ring::open(&rings[0]).unwrap().open_transactions().unwrap();
    assert_eq!(open.len(), 2);
    assert!(open.iter().all(|open| has_links(&open.record) && open.context.is_empty()));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
