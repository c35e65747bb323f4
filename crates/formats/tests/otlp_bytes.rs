//! Whatever arrives as OTLP is refused or understood, within its bounds. The fuzz targets `otlp`
//! and `otlp_json` share [`check`] and [`check_json`] with the corpora replayed here, which have
//! what SDKs sent, and what broke.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_formats::otlp::{self, Limits, Request, Vocabulary};
use chronoscope_model::Transaction;

const LIMITS: Limits = Limits {
    spans_max: 64,
    rows_bytes_max: 256 << 10,
    name_bytes_max: 64,
    minutes_max: 8,
    until_ns: i64::MAX,
};

/// Reads bytes; what is understood is within its bounds, and is the same once it went out and
/// came in again.
pub fn check(bytes: &[u8]) {
    let vocabulary = Vocabulary::new(16);
    let Ok(received) = otlp::read(bytes, &LIMITS, &vocabulary) else { return };
    let batch = &received.batch;
    assert!(batch.len() <= LIMITS.spans_max);
    assert!(batch.contexts().len() <= LIMITS.rows_bytes_max);
    assert!(received.names.classes().count() <= 17 && received.names.processes().count() <= 16);
    assert!(received.errors.len() as u64 <= received.refused);
    let mut request = Request::default();
    for record in batch.records() {
        assert!(record.cpu_ns <= record.elapsed_ns && !record.id.is_none());
        assert!(record.context_len <= 16_384, "the bound of docs/otlp.md");
        request.push(&Transaction::from_record(record, batch.context(record), &received.names));
    }
    // What was cut, or had no class of its own, has changed its place in the request.
    let again = otlp::read(&request.take(), &Limits::default(), &Vocabulary::default()).unwrap();
    assert_eq!(again.batch.len() as u64 + again.refused, batch.len() as u64);
}

/// The same for bytes as JSON: what is understood grows no more than it may.
pub fn check_json(bytes: &[u8]) {
    let Ok(octets) = otlp::from_json(bytes) else { return };
    assert!(octets.len() <= otlp::GROWTH * bytes.len());
    // A message that we wrote is one.
    otlp::read(&octets, &LIMITS, &Vocabulary::new(16)).unwrap();
    check(&octets);
}

#[test]
fn the_corpus_is_replayed() {
    replay("otlp", check, 4);
    replay("otlp_json", check_json, 3);
}

fn replay(target: &str, check: impl Fn(&[u8]), least: usize) {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let mut count = 0;
    for file in std::fs::read_dir(&corpus).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        check(&bytes);
        // And cut anywhere, and with an octet changed anywhere.
        for at in 0..bytes.len() {
            check(&bytes[..at]);
            let mut broken = bytes.clone();
            broken[at] = !broken[at];
            check(&broken);
        }
        count += 1;
    }
    assert!(count >= least, "{count} files in {}", corpus.display());
}
