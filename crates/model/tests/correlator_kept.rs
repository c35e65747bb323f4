//! The kept corpus of correlators, as the fuzz target reads it.
#![allow(clippy::unwrap_used)]

mod correlator_bytes;

use chronoscope_model::{Ancestor, ChainId, ClassId, Correlator, ProcessId, TransactionId};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/correlator")
}

fn corpus() -> Vec<Vec<u8>> {
    let files = std::fs::read_dir(folder()).unwrap();
    files.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
}

/// How the corpus was begun: `cargo test -p chronoscope-model --test correlator_kept -- --ignored`.
#[test]
#[ignore = "writes the corpus"]
fn correlators_are_written() {
    std::fs::create_dir_all(folder()).unwrap();
    let keep = |name: &str, bytes: &[u8]| std::fs::write(folder().join(name), bytes).unwrap();
    let own = |class| Ancestor { class: ClassId(class), start_ns: 1_782_882_000_000_000_000 };
    let chain = ChainId(0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
    let mut deep = Correlator::root(chain, TransactionId(1), ProcessId(2), own(3));
    keep("root", &deep.to_bytes(512));
    for level in 1..100 {
        deep = deep.child(TransactionId(level), own(level));
        if level.is_power_of_two() || level == 99 {
            keep(&format!("level-{level}"), &deep.to_bytes(512));
        }
    }
    keep("ancestors-dropped", &deep.to_bytes(80));
    let foreign = Correlator::foreign(chain, TransactionId(0xb7ad_6b71_6920_3331));
    keep("foreign", &foreign.to_bytes(512));
    keep("foreign-child", &foreign.child(TransactionId(5), own(6)).to_bytes(512));
    let root = Correlator::root(chain, TransactionId(1), ProcessId(2), own(3)).to_bytes(512);
    keep("cut", &root[..root.len() - 1]);
    // The octets that say which layout it is, in which version, and how long.
    for at in 0..8 {
        let mut wrong = root.to_vec();
        wrong[at] ^= 0x81;
        keep(&format!("octet-{at}"), &wrong);
    }
}

#[test]
fn kept_correlators_are_read_or_refused() {
    let all = corpus();
    let read = all.iter().filter(|bytes| correlator_bytes::check(bytes)).count();
    assert!(read >= 5 && all.len() - read >= 5, "{read} of {} are read", all.len());
}

#[test]
fn kept_correlators_that_are_cut_short_are_refused() {
    for bytes in corpus().into_iter().filter(|bytes| correlator_bytes::check(bytes)) {
        for len in 0..bytes.len() {
            assert!(!correlator_bytes::check(&bytes[..len]), "{bytes:02x?} cut to {len}");
        }
    }
}

proptest! {
    #[test]
    fn a_changed_correlator_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let corpus = corpus();
        let mut bytes = corpus[which.index(corpus.len())].clone();
        prop_assume!(!bytes.is_empty());
        for (at, octet) in changes {
            let at = at.index(bytes.len());
            bytes[at] = octet;
        }
        correlator_bytes::check(&bytes);
    }
}
