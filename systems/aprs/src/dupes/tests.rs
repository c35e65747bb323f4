use super::{DupeKind, Dupes, FORGOTTEN_MAX};
use crate::packet::{Packet, parse};
use proptest::prelude::*;
use std::collections::HashMap;

const SECOND: u64 = 1_000_000_000;
const WINDOW: u64 = 30 * SECOND;
/// Some uptime: nothing may depend on a clock that begins at 0.
const START: u64 = 1_000 * SECOND;

fn packet(line: &[u8]) -> Packet {
    let parsed = parse(line).unwrap();
    let path = [parsed.path, b"qAR,GATE".as_slice()].join(&b","[..]);
    parsed.build(path.strip_prefix(b",").unwrap_or(&path)).unwrap()
}

fn payload(payload: &[u8]) -> Packet {
    packet(&[b"SRC>DST:".as_slice(), payload].concat())
}

fn dupes() -> Dupes {
    Dupes::new(7, WINDOW)
}

/// What is a duplicate of `SRC>DST:foo`, as in aprsc's `tests/t/10dupecheck.t`.
#[test]
fn source_destination_and_payload_make_a_duplicate() {
    for (line, want) in [
        (&b"SRC>DST:foo"[..], Some(DupeKind::Exact)),
        (b"SRC>DST,DIGI1*:foo", Some(DupeKind::Exact)),
        (b"SRC>DST-2:foo", Some(DupeKind::Exact)),
        (b"src>DST:foo", None),
        (b"SRC-1>DST:foo", None),
        (b"SRC>DST2:foo", None),
        (b"SRC>DST:foo  ", None),
        (b"SRC>DST:fooo", None),
        (b"SRC>DSTf:oo", None),
    ] {
        let mut dupes = dupes();
        assert_eq!(dupes.check(&packet(b"SRC>DST,WIDE1-1:foo"), START), None);
        assert_eq!(dupes.check(&packet(line), START + 1), want, "{}", line.escape_ascii());
    }
}

#[test]
fn every_mangled_form_is_found_by_its_kind() {
    let cases: [(&[u8], &[u8], DupeKind); 9] = [
        (b">text  ", b">text", DupeKind::SpaceTrim),
        (b">t\xe4xt\xff", b">txt", DupeKind::Strip8bit),
        (b">t\xe4xt\xff", b">tdxt\x7f", DupeKind::Clear8bit),
        (b">t\xe4xt\xff.", b">t xt .", DupeKind::Spaced8bit),
        (b">t\x01xt\x1f.", b">txt.", DupeKind::LowStrip),
        (b">t\x01xt\x1f.", b">t xt .", DupeKind::LowSpaced),
        (b">t\x7fxt", b">txt", DupeKind::DelStrip),
        (b">t\x7fxt", b">t xt", DupeKind::DelSpaced),
        // Several of them each on their own, as aprsc does: never two changes in one form.
        (b">\x01\x7f\xe4 ", b">\x01\x7f\xe4", DupeKind::SpaceTrim),
    ];
    for (first, copy, kind) in cases {
        let mut dupes = dupes();
        assert_eq!(dupes.check(&payload(first), START), None);
        let got = dupes.check(&payload(copy), START + 1);
        assert_eq!(got, Some(kind), "{}", copy.escape_ascii());
        let mut found = [0; DupeKind::COUNT];
        found[kind.index()] = 1;
        assert_eq!((dupes.found(), dupes.passed()), (&found, 1));
    }
}

/// NUL is none of the low octets, and two changes at once are none of the forms.
#[test]
fn what_is_no_mangled_form() {
    for (first, copy) in [
        (&b">t\x00xt"[..], &b">txt"[..]),
        (b">t\x00xt", b">t xt"),
        (b">\x01\x7f", b">"),
        (b">  text", b">text"),
    ] {
        let mut dupes = dupes();
        assert_eq!(dupes.check(&payload(first), START), None);
        assert_eq!(dupes.check(&payload(copy), START), None, "{}", copy.escape_ascii());
    }
}

/// A copy that was mangled elsewhere comes first: the packet itself still passes.
#[test]
fn mangled_copy_does_not_stop_the_packet() {
    let mut dupes = dupes();
    assert_eq!(dupes.check(&payload(b">txt"), START), None);
    assert_eq!(dupes.check(&payload(b">t\xe4xt"), START + 1), None);
    assert_eq!(dupes.check(&payload(b">t\xe4xt"), START + 2), Some(DupeKind::Exact));
    // It was there as itself before it was there as a form.
    assert_eq!(dupes.check(&payload(b">txt"), START + 3), Some(DupeKind::Exact));
}

#[test]
fn window_ends() {
    let mut dupes = dupes();
    let foo = payload(b">foo");
    assert_eq!(dupes.check(&foo, START), None);
    assert_eq!(dupes.check(&foo, START + WINDOW), Some(DupeKind::Exact), "30 s are within");
    assert_eq!(dupes.check(&foo, START + WINDOW + 1), None, "a duplicate lengthens nothing");
    assert_eq!(dupes.check(&foo, START + 2 * WINDOW + 1), Some(DupeKind::Exact));
}

/// A form that comes up again is remembered from then on, under the kind that it had.
#[test]
fn form_that_comes_up_again() {
    let mut dupes = dupes();
    assert_eq!(dupes.check(&payload(b">a "), START), None);
    assert_eq!(dupes.check(&payload(b">a\x80"), START + 20 * SECOND), None);
    let got = dupes.check(&payload(b">a"), START + 45 * SECOND);
    assert_eq!(got, Some(DupeKind::SpaceTrim));
    assert_eq!(dupes.check(&payload(b">a"), START + 51 * SECOND), None);
}

#[test]
fn memory_comes_back_and_is_small() {
    let mut dupes = dupes();
    let count = 20_000_u64;
    for number in 0..count {
        let line = format!("SRC>DST:>{number}");
        assert_eq!(dupes.check(&packet(line.as_bytes()), START + number), None);
    }
    assert_eq!(dupes.len() as u64, count);
    assert!(dupes.size_bytes() as u64 / count < 100, "{} octets", dupes.size_bytes());
    // One packet in a while forgets more than it adds.
    let later = START + WINDOW + count;
    assert_eq!(dupes.check(&payload(b">later"), later), None);
    assert_eq!(dupes.len() as u64, count - FORGOTTEN_MAX as u64 + 1);
    dupes.expire(later, usize::MAX);
    assert_eq!((dupes.len(), dupes.is_empty()), (1, false));
}

#[test]
fn another_process_goes_on() {
    let mut dupes = dupes();
    dupes.check(&payload(b">old"), START);
    dupes.check(&payload(b">t\xe4xt"), START + 10 * SECOND);
    dupes.check(&payload(b">t\xe4xt"), START + 11 * SECOND);
    let saved = dupes.save(START + 31 * SECOND);
    let text = serde_json::to_string(&saved).unwrap();
    // Its clock may be another one.
    let mut other = Dupes::restore(&serde_json::from_str(&text).unwrap(), 5_000 * SECOND);
    assert_eq!((other.found(), other.passed()), (dupes.found(), dupes.passed()));
    assert_eq!(other.save(5_000 * SECOND), saved);
    assert_eq!(other.check(&payload(b">old"), 5_001 * SECOND), None, "was too old already");
    let kind = other.check(&payload(b">txt"), 5_001 * SECOND);
    assert_eq!(kind, Some(DupeKind::Strip8bit));
    assert_eq!(other.check(&payload(b">t\xe4xt"), 5_010 * SECOND), None, "its 30 s are over");
}

#[test]
fn kinds_have_names_and_places() {
    for (index, kind) in DupeKind::ALL.iter().enumerate() {
        assert_eq!(kind.index(), index);
    }
    let names: std::collections::HashSet<_> =
        DupeKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), DupeKind::COUNT);
}

/// The promise in the docs, with whole packets in a map instead of hashes and a queue.
#[derive(Default)]
struct Model {
    since: HashMap<Vec<u8>, u64>,
}

impl Model {
    fn check(&mut self, payload: &[u8], now: u64) -> bool {
        let live = self.since.get(payload).is_some_and(|since| now - since <= WINDOW);
        if live {
            return true;
        }
        self.since.insert(payload.to_vec(), now);
        let only = |which: &dyn Fn(u8) -> bool, to: Option<u8>| -> Vec<u8> {
            payload
                .iter()
                .filter_map(|octet| if which(*octet) { to } else { Some(*octet) })
                .collect()
        };
        let high = |octet: u8| octet >= 128;
        let low = |octet: u8| octet > 0 && octet < 32;
        let del = |octet: u8| octet == 127;
        let end = payload.iter().rposition(|octet| *octet != b' ').map_or(0, |at| at + 1);
        let mut forms =
            vec![payload[..end].to_vec(), payload.iter().map(|octet| octet & 127).collect()];
        for which in [&high as &dyn Fn(u8) -> bool, &low, &del] {
            forms.push(only(which, None));
            forms.push(only(which, Some(b' ')));
        }
        for form in forms.into_iter().filter(|form| form != payload) {
            self.since.insert(form, now);
        }
        false
    }
}

proptest! {
    #[test]
    fn agrees_with_whole_packets(
        packets in prop::collection::vec(
            (prop::collection::vec(
                prop::sample::select(b"ab \x01\x7f\x81\xa0\xff\x00".to_vec()), 0..4),
             0_u64..20 * SECOND),
            1..60,
        ),
        seed in any::<u64>(),
    ) {
        let (mut dupes, mut model, mut now) = (Dupes::new(seed, WINDOW), Model::default(), START);
        for (octets, pause) in packets {
            now += pause;
            let octets = [b">".as_slice(), &octets].concat();
            let got = dupes.check(&payload(&octets), now).is_some();
            prop_assert_eq!(got, model.check(&octets, now), "{}", octets.escape_ascii());
        }
    }
}
