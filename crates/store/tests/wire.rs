//! What goes over the wire is read back, and what anybody else sends is refused where it is wrong.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;
mod wire_bytes;

use chronoscope_model::context::STORED_MAX_BYTES;
use chronoscope_model::{Batch, ChainId, ClassId, Names, PathId, ProcessId, Record};
use chronoscope_store::wire::{self, Extras};
use chronoscope_store::{ChainAlias, ClockReading, DELIVERED_ALL, Loss};
use proptest::prelude::*;
use support::Chains;

fn extras() -> Extras {
    let process = ProcessId(3);
    Extras {
        losses: vec![Loss { process, from_ns: -5, until_ns: 6, rows: 90 }],
        delivered: vec![(process, 7), (ProcessId(4), DELIVERED_ALL)],
        ..extras_without_times()
    }
}

/// The content of the kept input of version 1.
fn extras_without_times() -> Extras {
    Extras {
        lost: vec![(ProcessId(3), 99)],
        gone: vec![ProcessId(4)],
        aliases: vec![ChainAlias { chain: ChainId(1 << 90), continues: ChainId(5) }],
        clocks: vec![ClockReading { host: "radar-1".into(), at_ns: 5, offset_ns: -7, error_ns: 9 }],
        ..Extras::default()
    }
}

fn message() -> Vec<u8> {
    telling(&extras())
}

fn telling(extras: &Extras) -> Vec<u8> {
    let mut chains = Chains::default();
    let batch = chains.batch(100, 3);
    wire::encode(&batch, &chains.names, extras)
}

/// The bytes with their checksum made right again.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let crc = crc32fast::hash(&bytes[12..]);
    bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Writes the kept inputs; run by hand: `cargo test -p chronoscope-store make_ -- --ignored`.
#[test]
#[ignore = "makes the kept inputs"]
fn make_the_kept_inputs() {
    std::fs::create_dir_all(wire_bytes::corpus()).unwrap();
    let empty = wire::encode(&Batch::default(), &Names::default(), &Extras::default());
    for (name, bytes) in [("losses", message()), ("empty", empty)] {
        std::fs::write(wire_bytes::corpus().join(name), bytes).unwrap();
    }
}

#[test]
fn the_bytes_of_version_1_are_read_and_written_for_ever() {
    let kept = std::fs::read(wire_bytes::corpus().join("version_1")).unwrap();
    let read = wire::decode(&kept).unwrap();
    assert_eq!(read, wire::decode(&telling(&extras_without_times())).unwrap());
    assert_eq!((read.batch.len(), read.extras), (15, extras_without_times()));
    assert_eq!(read.names, Chains::default().names);
}

#[test]
fn what_is_wrong_is_refused_at_its_place() {
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = message();
        change(&mut bytes);
        wire::decode(&sealed(bytes)).unwrap_err().to_string()
    };
    let row = 32 + 120; // the second one
    assert_eq!(
        refused(&|bytes| bytes[row + 108] = 255),
        "byte 272 of the message: a row whose context does not follow the context of the row before"
    );
    assert_eq!(
        refused(&|bytes| bytes[row + 109] = 255),
        "byte 272 of the message: a row whose context does not follow the context of the row before"
    );
    assert_eq!(
        refused(&|bytes| bytes[row + 104] ^= 1),
        "byte 152 of the message: a row whose context does not follow the context of the row before"
    );
    assert_eq!(
        refused(&|bytes| bytes[12..16].fill(255)),
        "byte 12 of the message: more rows than a batch may have"
    );
    assert_eq!(
        refused(&|bytes| bytes.truncate(900)),
        "byte 12 of the message: the lengths in the head do not match the message"
    );
    assert_eq!(refused(&|bytes| bytes[7] = b'2'), "byte 7 of the message: an unknown version");
    let mut bytes = message();
    bytes[700] ^= 1;
    assert_eq!(wire::decode(&bytes).unwrap_err().position, 8);
}

/// Names are for ever: a path under a wrong id would be wrong for all that comes later.
#[test]
fn names_that_would_spoil_others_are_refused() {
    let with = |names: &Names| {
        wire::decode(&wire::encode(&Batch::default(), names, &Extras::default())).map(|m| m.names)
    };
    let mut names = Names::default();
    names.add_path(PathId(7), vec![ClassId(1), ClassId(2)]);
    assert_eq!(
        with(&names).unwrap_err().to_string(),
        "byte 32 of the message: the id of a path is already used by another path"
    );
    let mut names = Names::default();
    names.add_path(PathId(7), vec![ClassId(1), ClassId::NONE, ClassId(2)]);
    assert_eq!(with(&names), Ok(names));
}

/// Rows that share one context would grow to gigabytes when they are taken apart.
#[test]
fn rows_that_share_a_context_are_refused_and_encoded_apart() {
    let shared = Record { context_len: 100, ..Record::default() };
    let batch = Batch::from_parts(vec![shared; 3], vec![7; 100]);
    let bytes = wire::encode(&batch, &Names::default(), &Extras::default());
    let read = wire::decode(&bytes).unwrap().batch;
    assert_eq!(read.contexts().len(), 300);
    let mut twice = bytes;
    let second = 32 + 120;
    let first: Vec<u8> = twice[32..second].to_vec();
    twice[second..second + 120].copy_from_slice(&first);
    assert_eq!(wire::decode(&sealed(twice)).unwrap_err().position, second);
}

proptest! {
    #[test]
    fn a_message_reads_back(
        contexts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..40),
        long in 0..=STORED_MAX_BYTES,
        start_ns: i64,
        flags: u8,
    ) {
        let mut batch = Batch::default();
        for context in contexts.iter().chain([&vec![9; long]]) {
            batch.push(Record { start_ns, flags, status: 9, ..Record::default() }, context);
        }
        let names = Chains::default().names;
        let read = wire::decode(&wire::encode(&batch, &names, &extras())).unwrap();
        prop_assert_eq!((read.batch, read.names, read.extras), (batch, names, extras()));
    }

    /// Changed anywhere: refused with a position inside, or a batch that a store takes.
    #[test]
    fn damage_is_survived(at in 12usize..5000, byte: u8, cut in 0usize..5000) {
        let mut bytes = message();
        let at = at.min(bytes.len() - 1);
        bytes[at] = byte;
        wire_bytes::check(&sealed(bytes.clone()));
        bytes.truncate(cut);
        wire_bytes::check(&bytes);
    }
}
