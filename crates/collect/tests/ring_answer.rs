//! Answers about rings: what goes in comes out, the kept inputs of the fuzz target `ring_answer`, and
//! what random bytes make of them.
#![allow(clippy::unwrap_used)] // a test may panic

mod ring_answer_bytes;

use chronoscope_collect::protocol::Hello;
use chronoscope_collect::rings::{
    LAST_MAX, ListRings, Packed, PackedRing, RingAnswer, RingAnswerKind, RingList, RingReport,
    RingSummary, RingsFromAgent, RingsMessage,
};
use chronoscope_model::{Batch, ClassId, ClassName, Names, ProcessName, Record, TransactionId};
use chronoscope_record::read::ClassStatistics;
use chronoscope_statistics::Histogram;
use chronoscope_store::StreamId;
use proptest::prelude::*;
use prost::Message;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/ring_answer")
}

fn summary(pid: u32) -> RingSummary {
    let process =
        ProcessName { application: "MRTS".into(), host: "radar-1".into(), pid, start_ns: 7 };
    RingSummary { id: process.id(), process, alive: true, recorded: 12, lost: 1, open: 2 }
}

fn list() -> RingList {
    let failed = vec!["/dev/shm/x.ring: byte 0: not the start of a ring".to_owned()];
    RingList { rings: (1..=3).map(summary).collect(), failed, left_out: 4 }
}

fn rows(ids: std::ops::Range<u64>) -> Batch {
    let class = ClassId::of("MRTS", "decode");
    let mut batch = Batch::default();
    for id in ids {
        let record = Record { id: TransactionId(id), elapsed_ns: id, class, ..Record::default() };
        batch.push(record, b"\x01\x01n\0\0\0\0\0\0\0\0");
    }
    batch
}

fn report() -> RingReport {
    let name = ClassName { application: "MRTS".into(), class: "decode".into() };
    let mut names = Names::default();
    names.add_class(name.clone());
    let mut elapsed = Histogram::default();
    [5, 5, 70, 1_000_000].into_iter().for_each(|value| elapsed.add(value));
    let class = ClassStatistics {
        class: ClassId::of("MRTS", "decode"),
        name,
        enabled: true,
        count: 4,
        elapsed,
        cpu: Histogram::default(),
        process_cpu_sum_ns: 9,
        worst: rows(20..24),
        worst_cpu: rows(30..32),
    };
    RingReport {
        summary: summary(5),
        measures_cpu: true,
        classes: vec![class],
        classes_left_out: 1,
        last: rows(1..11),
        open: rows(40..41),
        names,
        damage: vec!["statistics: byte 7: cut".to_owned()],
    }
}

/// Messages of the first version of these questions, as they are kept.
fn messages() -> [(&'static str, RingsMessage); 4] {
    let answer = |kind| RingsMessage::Answer(RingAnswer { number: 3, kind: Some(kind) });
    [
        ("hello", RingsMessage::Hello(Hello::new(StreamId(5), "radar-1".into()))),
        ("list", answer(RingAnswerKind::List(Packed::of_list(list()).unwrap()))),
        ("ring", answer(RingAnswerKind::Ring(PackedRing::pack(report()).unwrap()))),
        ("missing", answer(RingAnswerKind::Missing(ListRings {}))),
    ]
}

/// Writes the kept inputs; run by hand: `cargo test -p chronoscope-collect make_ -- --ignored`.
#[test]
#[ignore = "makes the kept inputs"]
fn make_the_kept_inputs_about_rings() {
    std::fs::create_dir_all(corpus()).unwrap();
    for (name, kind) in messages() {
        let bytes = RingsFromAgent { kind: Some(kind) }.encode_to_vec();
        std::fs::write(corpus().join(name), bytes).unwrap();
    }
}

#[test]
fn kept_inputs_are_survived() {
    let mut count = 0;
    for entry in std::fs::read_dir(corpus()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        ring_answer_bytes::check(&bytes);
        ring_answer_bytes::check_inside(&bytes);
        count += 1;
    }
    assert!(count >= 4);
}

fn same(report: &RingReport, expected: &RingReport) {
    assert_eq!(report.summary, expected.summary);
    assert_eq!((&report.last, &report.open), (&expected.last, &expected.open));
    assert_eq!((&report.names.class_text(ClassId::of("MRTS", "decode"))[..]), "MRTS::decode");
    assert_eq!((report.measures_cpu, report.classes_left_out), (true, 1));
    assert_eq!(report.damage, expected.damage);
    let [class] = &report.classes[..] else { panic!("{report:?}") };
    let [wanted] = &expected.classes[..] else { panic!("{expected:?}") };
    assert_eq!((&class.name, class.count, class.enabled), (&wanted.name, 4, true));
    assert_eq!((&class.elapsed, &class.cpu), (&wanted.elapsed, &wanted.cpu));
    assert_eq!((&class.worst, &class.worst_cpu), (&wanted.worst, &wanted.worst_cpu));
    assert_eq!(class.process_cpu_sum_ns, 9);
}

/// The bytes of the first version are read for ever.
#[test]
fn messages_of_the_first_version_are_read() {
    let read = |name: &str| {
        let bytes = std::fs::read(corpus().join(name)).unwrap();
        RingsFromAgent::decode(bytes.as_slice()).unwrap().kind.unwrap()
    };
    let RingsMessage::Hello(hello) = read("hello") else { panic!("no hello") };
    assert_eq!((hello.check().unwrap(), hello.rings), (StreamId(5), true));
    let RingsMessage::Answer(answer) = read("list") else { panic!("no list") };
    let Some(RingAnswerKind::List(packed)) = &answer.kind else { panic!("{answer:?}") };
    assert_eq!((answer.number, packed.list().unwrap()), (3, list()));
    let RingsMessage::Answer(answer) = read("ring") else { panic!("no ring") };
    let Some(RingAnswerKind::Ring(packed)) = answer.kind else { panic!("{answer:?}") };
    same(&packed.unpack().unwrap(), &report());
}

#[test]
fn what_does_not_fit_is_left_out_and_counted() {
    let long = |pid| {
        let mut ring = summary(pid);
        ring.process.application = "A".repeat(2000);
        ring
    };
    let list = RingList { rings: (0..1000).map(long).collect(), ..RingList::default() };
    let packed = Packed::of_list(list).unwrap().list().unwrap();
    assert_eq!(packed.rings.len() as u64 + packed.left_out, 1000);
    assert!(packed.left_out > 0);
    let mut many = report();
    let mut wide = many.classes[0].clone();
    (0..1920).for_each(|bucket| wide.elapsed.add_bucket(bucket, 1 << 30));
    many.classes = vec![wide; 256];
    many.last = rows(0..LAST_MAX as u64);
    let packed = PackedRing::pack(many).unwrap().unpack().unwrap();
    assert_eq!(packed.classes.len() as u64 + packed.classes_left_out, 257);
    assert_eq!(packed.last.len(), LAST_MAX);
}

#[test]
fn what_contradicts_itself_is_refused_by_name() {
    let RingsMessage::Answer(RingAnswer { kind: Some(RingAnswerKind::Ring(sound)), .. }) =
        messages()[2].1.clone()
    else {
        panic!("no ring")
    };
    let said = |ring: &PackedRing| ring.unpack().unwrap_err().to_string();
    assert_eq!(said(&PackedRing { head: None, ..sound.clone() }), "the answer has no head");
    assert_eq!(said(&PackedRing { rows: None, ..sound.clone() }), "the answer has no rows");
    let bomb = Packed { size_bytes: u32::MAX, content: Vec::new() };
    assert_eq!(
        said(&PackedRing { head: Some(bomb), ..sound.clone() }),
        "a message of 4294967295 bytes, at most 524288 are allowed"
    );
    // The rows of a ring with fewer rows.
    let mut short = report();
    short.last = Batch::default();
    let rows = PackedRing::pack(short).unwrap().rows;
    assert!(said(&PackedRing { rows, ..sound }).starts_with("the answer has "));
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        ring_answer_bytes::check(&bytes);
        ring_answer_bytes::check_inside(&bytes);
    }

    /// One byte is wrong.
    #[test]
    fn damage_is_survived(which in 0usize..4, at: prop::sample::Index, byte: u8) {
        let kind = messages()[which].1.clone();
        let mut bytes = RingsFromAgent { kind: Some(kind) }.encode_to_vec();
        *at.get_mut(&mut bytes) = byte;
        ring_answer_bytes::check(&bytes);
    }
}
