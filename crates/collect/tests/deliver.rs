//! The kept inputs of the fuzz target `deliver`, and what random bytes make of them.
#![allow(clippy::unwrap_used)] // a test may panic

mod deliver_bytes;

use chronoscope_collect::protocol::{AgentMessage, FromAgent, Hello, Rows};
use chronoscope_model::{ClassName, Record};
use chronoscope_store::{ClockReading, StreamId, wire};
use proptest::prelude::*;
use prost::Message;
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/deliver")
}

fn message() -> wire::Message {
    let mut message = wire::Message::default();
    for _ in 0..20 {
        message.batch.push(Record::default(), b"\x01\x01n\0\0\0\0\0\0\0\0");
    }
    message.names.add_class(ClassName { application: "MRTS".into(), class: "decode".into() });
    let host = "radar-1".to_owned();
    message.extras.clocks.push(ClockReading { host, at_ns: 5_000, offset_ns: -7, error_ns: 9 });
    message
}

/// Messages of version 1, as they are kept.
fn messages() -> [(&'static str, FromAgent); 3] {
    let rows = Rows::pack(7, &message()).unwrap();
    let bomb = Rows { size_bytes: 100, ..rows.clone() };
    [
        ("hello", FromAgent::Hello(Hello::new(StreamId(5), "radar-1".into()))),
        ("rows", FromAgent::Rows(rows)),
        ("rows_that_say_less", FromAgent::Rows(bomb)),
    ]
}

/// Writes the kept inputs; run by hand: `cargo test -p chronoscope-collect make_ -- --ignored`.
#[test]
#[ignore = "makes the kept inputs"]
fn make_the_kept_inputs() {
    std::fs::create_dir_all(corpus()).unwrap();
    for (name, kind) in messages() {
        let bytes = AgentMessage { kind: Some(kind) }.encode_to_vec();
        std::fs::write(corpus().join(name), bytes).unwrap();
    }
}

#[test]
fn kept_inputs_are_survived() {
    let mut count = 0;
    for entry in std::fs::read_dir(corpus()).unwrap() {
        deliver_bytes::check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 3);
}

/// The bytes of version 1 are read for ever.
#[test]
fn messages_of_version_1_are_read() {
    let read = |name: &str| {
        let bytes = std::fs::read(corpus().join(name)).unwrap();
        AgentMessage::decode(bytes.as_slice()).unwrap().kind.unwrap()
    };
    let FromAgent::Hello(hello) = read("hello") else { panic!("no hello") };
    assert_eq!((hello.check().unwrap(), hello.host.as_str()), (StreamId(5), "radar-1"));
    let FromAgent::Rows(rows) = read("rows") else { panic!("no rows") };
    assert_eq!((rows.first_row, rows.unpack().unwrap()), (7, message()));
    let FromAgent::Rows(rows) = read("rows_that_say_less") else { panic!("no rows") };
    assert!(rows.unpack().is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        deliver_bytes::check(&bytes);
    }

    /// One byte is wrong.
    #[test]
    fn damage_is_survived(which in 0usize..3, at: prop::sample::Index, byte: u8) {
        let kind = messages()[which].1.clone();
        let mut bytes = AgentMessage { kind: Some(kind) }.encode_to_vec();
        *at.get_mut(&mut bytes) = byte;
        deliver_bytes::check(&bytes);
    }
}
