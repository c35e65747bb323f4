//! Replies that were kept, good and bad: what probes make of them stays so.
#![allow(clippy::unwrap_used)]

use chronoscope_net::probe::{Loss, judge};
use proptest::prelude::*;
use std::path::Path;

const KINDS: [(u8, &str); 7] = [
    (b't', "tcp"),
    (b'h', "http"),
    (b'd', "dns"),
    (b's', "snmp"),
    (b'e', "exec"),
    (b'f', "ftp"),
    (b'r', "rpc"),
];

/// Each file's name, kind and octets.
fn corpus() -> Vec<(String, &'static str, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/probe_reply");
    let files = std::fs::read_dir(dir).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let all = std::fs::read(entry.path()).unwrap();
        let (kind, octets) = all.split_first().unwrap();
        let by = KINDS.into_iter().find(|(letter, _)| letter == kind).unwrap().1;
        (entry.file_name().into_string().unwrap(), by, octets.to_vec())
    });
    files.collect()
}

#[test]
fn kept_replies_are_what_their_names_say() {
    let corpus = corpus();
    for (_, by) in KINDS.into_iter().filter(|(letter, _)| *letter != b't') {
        for outcome in ["good", "lost"] {
            let is_it = |name: &String, of: &str| name.starts_with(outcome) && of == by;
            assert!(corpus.iter().any(|(name, of, _)| is_it(name, of)), "{outcome} {by}");
        }
    }
    for (name, by, octets) in corpus {
        let came = judge(by, &octets).unwrap();
        assert_eq!(came.is_ok(), name.starts_with("good"), "{name}: {came:?}");
    }
    assert_eq!(judge("udp", b""), None);
}

#[test]
fn what_is_cut_short_is_lost() {
    for (name, by, octets) in corpus() {
        // Lines have no end here, and a body until the end has none of its own.
        if !name.starts_with("good") || by == "exec" || name.ends_with("closed") {
            continue;
        }
        // The question is what a name server has to repeat; what follows is not looked at.
        let least = if by == "dns" { 27 } else { octets.len() };
        for len in 0..least {
            assert!(judge(by, &octets[..len]).unwrap().is_err(), "{name} cut at {len}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is changed in a reply, it is judged, in bounded words.
    #[test]
    fn nothing_panics(
        file in 0_usize..1000,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        more in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let corpus = corpus();
        let (_, by, mut octets) = corpus[file % corpus.len()].clone();
        octets.extend(more);
        for (at, octet) in changes {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        if let Some(Err(Loss::Wrong(why) | Loss::Denied(why))) = judge(by, &octets) {
            prop_assert!(why.len() < 2000, "{}", why.len());
        }
    }
}
