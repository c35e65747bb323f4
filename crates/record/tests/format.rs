//! A ring of each version is kept, and read for ever.
#![cfg(not(feature = "off"))]
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]

mod support;

use chronoscope_model::{Batch, Status, context};
use chronoscope_record::read::{Cursors, Ring};
use chronoscope_record::{self as record, Class, class};

static DECODE: Class = class!("decodePlots");
static CORRELATE: Class = class!("Correlate");

const VERSIONS: [&str; 2] = [include_str!("data/ring-1.txt"), include_str!("data/ring-2.txt")];

/// Writes the ring that is kept. To make a new version's, run with `CHRONOSCOPE_KEEP_RING` set to
/// the file to write.
#[test]
fn child_entry() {
    if support::asked_for().is_none() {
        return;
    }
    record::init("MRTS");
    for plots in 0..3 {
        let mut decode = DECODE.begin();
        decode.metric("plots", f64::from(plots));
        CORRELATE.begin().stop(Status::Failed);
    }
    std::mem::forget(DECODE.begin());
    support::leave_at_once();
}

/// Words that are not zero, each as its offset and value in hexadecimal.
fn to_text(bytes: &[u8]) -> String {
    let mut text = format!("bytes {:x}\n", bytes.len());
    for (at, word) in bytes.chunks_exact(8).enumerate() {
        let value = u64::from_le_bytes(word.try_into().unwrap());
        if value != 0 {
            text.push_str(&format!("{:x} {value:x}\n", at * 8));
        }
    }
    text
}

fn from_text(text: &str) -> Vec<u8> {
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let mut lines = text.lines().map(|line| line.split_once(' ').unwrap());
    let mut bytes = vec![0; number(lines.next().unwrap().1) as usize];
    for (at, value) in lines {
        let at = number(at) as usize;
        bytes[at..at + 8].copy_from_slice(&number(value).to_le_bytes());
    }
    bytes
}

#[test]
fn rings_of_all_versions_read() {
    if let Some(keep) = std::env::var_os("CHRONOSCOPE_KEEP_RING") {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut command = support::command("keep", folder.path());
        command.env("CHRONOSCOPE_SLOTS", "16").env("CHRONOSCOPE_WORST", "2");
        assert!(command.output().unwrap().status.success());
        let path = chronoscope_record::read::find_rings(folder.path()).remove(0);
        std::fs::write(keep, to_text(&std::fs::read(path).unwrap())).unwrap();
        return;
    }
    for (version, text) in (1u32..).zip(VERSIONS) {
        let bytes = from_text(text);
        assert_eq!(bytes[8..12], version.to_le_bytes());
        assert_eq!(from_text(&to_text(&bytes)), bytes);
        check(Ring::from_bytes(bytes).unwrap());
    }
}

fn check(mut ring: Ring) {
    assert_eq!((ring.process().application.as_str(), ring.slot_count()), ("MRTS", 16));
    let mut batch = Batch::default();
    let drained = ring.drain(&mut Cursors::default(), 100, &mut batch).unwrap();
    assert_eq!((drained.read, drained.lapped), (6, 0));
    let text = |at: usize| ring.names().path_text(batch.records()[at].path);
    assert_eq!(text(0), "MRTS::decodePlots/MRTS::Correlate");
    assert_eq!(text(1), "MRTS::decodePlots");
    assert_eq!(batch.records()[0].status(), Status::Failed);
    assert_eq!(batch.records()[0].parent, batch.records()[1].id);
    let words: Vec<_> = context::entries(batch.context(&batch.records()[5])).collect();
    assert_eq!(words, [context::ContextEntry::Metric("plots", 2.0)]);
    let statistics = ring.statistics().unwrap();
    assert_eq!((statistics.len(), statistics[0].count, statistics[1].count), (2, 3, 3));
    assert_eq!(statistics[1].worst.len(), 2);
    assert!(statistics[0].enabled);
    assert_eq!(ring.open_transactions().unwrap().len(), 1);
    assert_eq!(ring.counters().unwrap().dropped(), 0);
}
