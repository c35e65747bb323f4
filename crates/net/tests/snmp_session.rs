//! Sessions of version 2c with an agent that is written for these tests, good or bad.
#![allow(clippy::unwrap_used)]

mod agent;

use agent::{answer, if_mib, next, read, respond, tlv};
use chronoscope_net::counters::{Counters, Widths};
use chronoscope_net::scan::Reading;
use chronoscope_net::scan::hosts::Auth;
use chronoscope_net::scan::snmp::{Passwords, Progress, Session, SnmpError};
use proptest::prelude::*;
use std::path::Path;

const VALUES: [u64; 8] = [1000, 2000, 1 << 40, 1 << 50, 5, 6, 7, 8];

/// Asks until the session is done; `agent` answers.
fn walk(
    session: &mut Session,
    mut agent: impl FnMut(&[u8]) -> Vec<u8>,
) -> Result<(Reading, u32), SnmpError> {
    let mut request = session.start(7).unwrap();
    for questions in 1.. {
        match session.answer(&agent(&request), 7)? {
            Progress::Ask(next) => request = next,
            Progress::Done(reading) => return Ok((reading, questions)),
            Progress::Ignored(why) => return Err(why),
        }
    }
    unreachable!()
}

/// The octets of the first question, by RFC 1901 and 3416.
#[test]
fn the_octets_of_a_question() {
    let octets = Session::v2c("public", 0x0102_0303).start(0).unwrap();
    let [high, low] = u16::try_from(octets.len() - 4).unwrap().to_be_bytes();
    let head = [0x30, 0x82, high, low, 2, 1, 1, 4, 6, b'p', b'u', b'b', b'l', b'i', b'c', 0xA5];
    assert_eq!(octets[..head.len()], head);
    let rest = &octets[head.len()..];
    let (_, pdu) = rest.split_at(2); // length
    let numbers = [2, 4, 1, 2, 3, 4, 2, 1, 1, 2, 1, 7];
    assert_eq!(pdu[..numbers.len()], numbers, "request, non-repeaters, max-repetitions");
    let up_time = [0x30, 0x0B, 6, 7, 0x2B, 6, 1, 2, 1, 1, 3, 5, 0];
    let first = pdu.windows(up_time.len()).position(|window| window == up_time);
    assert_eq!(first, Some(numbers.len() + 3), "sysUpTime without its instance, and no value");
    let octets_in = [6, 10, 0x2B, 6, 1, 2, 1, 31, 1, 1, 1, 6, 5, 0];
    assert!(pdu.windows(octets_in.len()).any(|window| window == octets_in));
    let bulk = read(&octets).unwrap();
    assert_eq!((bulk.objects.len(), bulk.once, bulk.repeat), (15, 1, 7));
}

#[test]
fn two_interfaces_in_one_answer() {
    let objects = if_mib(4200, true, &[("lo", [0; 8]), ("eth0", VALUES)]);
    let mut session = Session::v2c("public", 5);
    let (reading, questions) = walk(&mut session, |q| answer(q, &objects).unwrap()).unwrap();
    assert_eq!((reading.up_ns, reading.widths), (Some(42_000_000_000), Widths::WideTraffic));
    assert_eq!(reading.interfaces.len(), 2);
    assert_eq!(reading.interfaces[1].name, "eth0");
    assert_eq!(reading.interfaces[1].counters, Counters::from_values(VALUES));
    assert_eq!(reading.interfaces[1].bits_per_s, Some(1_000_000_000));
    assert_eq!(questions, 1);
    // The next time no more is asked for than there is.
    assert_eq!(read(&session.start(8).unwrap()).unwrap().repeat, 3);
}

#[test]
fn an_old_agent_has_narrow_counters_and_names_twice() {
    let mut objects = if_mib(1, false, &[("Ethernet", VALUES), ("Ethernet", [1; 8])]);
    // 0: the agent does not know it.
    for (index, speed) in [(1, 0), (2, 4_000_000)] {
        let if_speed = vec![1, 3, 6, 1, 2, 1, 2, 2, 1, 5, index];
        objects.insert(if_speed, agent::number(0x42, speed));
    }
    let mut session = Session::v2c("public", 5);
    let (reading, _) = walk(&mut session, |q| answer(q, &objects).unwrap()).unwrap();
    assert_eq!(reading.widths, Widths::Narrow);
    let names: Vec<_> = reading.interfaces.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names, ["Ethernet", "Ethernet#2"]);
    let narrow = [1000, 2000, 0, 0, 5, 6, 7, 8]; // octets are multiples of 2^32
    assert_eq!(reading.interfaces[0].counters, Counters::from_values(narrow));
    let speeds: Vec<_> = reading.interfaces.iter().map(|i| i.bits_per_s).collect();
    assert_eq!(speeds, [None, Some(4_000_000)]);
}

/// Bad agents: what each answers to a question, and what becomes of it.
#[test]
fn agents_that_misbehave_are_named() {
    let objects = if_mib(1, true, &[("eth0", VALUES)]);
    let refused =
        |agent: &dyn Fn(&[u8]) -> Vec<u8>| walk(&mut Session::v2c("public", 5), agent).unwrap_err();
    let bulk = |question: &[u8]| read(question).unwrap();
    assert_eq!(
        refused(&|q| respond(b"public", bulk(q).request, 16, &[])).to_string(),
        "the agent answers error 16 (authorization error)"
    );
    assert_eq!(refused(&|q| respond(b"public", bulk(q).request, 0, &[])), SnmpError::Empty);
    let echo = |q: &[u8]| {
        let bulk = bulk(q);
        let value = || agent::number(agent::COUNTER64, 1);
        let binds: Vec<_> =
            bulk.objects.iter().map(|o| ([&o[..], &[1]].concat(), value())).collect();
        let same: Vec<_> = [&binds[..], &binds[1..]].concat();
        respond(b"public", bulk.request, 0, &same)
    };
    assert_eq!(refused(&echo), SnmpError::NotIncreasing);
    assert_eq!(refused(&|q| answer(q, &if_mib(1, true, &[])).unwrap()), SnmpError::NoInterfaces);
    let not_his = [
        respond(b"private", 6, 0, &[]),
        respond(b"public", 7, 0, &[]),
        tlv(0x30, &vec![0; 9000]),
        vec![0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
        Vec::new(),
    ];
    for octets in not_his {
        let why = refused(&|_| octets.clone());
        assert!(!why.is_final(), "{why}");
    }
    // After all of that the right answer is still taken.
    let mut session = Session::v2c("public", 5);
    let question = session.start(1).unwrap();
    assert!(matches!(session.answer(b"nonsense", 2), Ok(Progress::Ignored(SnmpError::Message(_)))));
    let right = answer(&question, &objects).unwrap();
    assert!(matches!(session.answer(&right, 3), Ok(Progress::Done(_))));
    assert!(matches!(session.answer(&right, 3), Ok(Progress::Ignored(_))), "a second time");
}

/// A table without an end is given up, and one with more interfaces than any host has.
#[test]
fn a_table_has_an_end() {
    let mut count = 0;
    let mut rows = |q: &[u8], step: u32| {
        let bulk = read(q).unwrap();
        count += step;
        let value = || agent::number(agent::COUNTER64, 1);
        let bind = |o: &Vec<u32>| {
            let column = if o.len() > 10 && o[6] == 31 { 11 } else { 10 };
            ([&o[..column.min(o.len())], &[count]].concat(), value())
        };
        respond(b"public", bulk.request, 0, &bulk.objects.iter().map(bind).collect::<Vec<_>>())
    };
    let endless = walk(&mut Session::v2c("public", 5), |q| rows(q, 1)).unwrap_err();
    assert_eq!(endless, SnmpError::Endless(1024));
    let many: Vec<_> = (0..5000).map(|n| (format!("port{n}"), [n; 8])).collect();
    let many: Vec<_> = many.iter().map(|(name, values)| (name.as_str(), *values)).collect();
    let objects = if_mib(1, true, &many);
    let error = walk(&mut Session::v2c("public", 5), |q| answer(q, &objects).unwrap()).unwrap_err();
    assert_eq!(error, SnmpError::TooMany(4096));
}

#[test]
fn an_agent_with_little_room_asks_for_less() {
    let objects = if_mib(1, true, &[("a", VALUES), ("b", VALUES), ("c", [9; 8])]);
    let agent = |q: &[u8]| {
        let bulk = read(q).unwrap();
        let error = u8::from(bulk.repeat > 1);
        respond(b"public", bulk.request, error, &next(&bulk, &objects, 100))
    };
    let (reading, _) = walk(&mut Session::v2c("public", 5), agent).unwrap();
    assert_eq!(reading.interfaces.len(), 3);
    assert_eq!(reading.interfaces[2].counters, Counters::from_values([9; 8]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// However many interfaces there are and wherever the agent ends its answers, each is read once.
    #[test]
    fn every_table_is_read_whole(
        values in prop::collection::vec(prop::array::uniform8(0u64..1 << 32), 1..30),
        binds_max in 2usize..120,
        wide: bool,
    ) {
        let names: Vec<_> = (0..values.len()).map(|n| format!("eth{n}")).collect();
        let table: Vec<_> = names.iter().map(String::as_str).zip(values.iter().copied()).collect();
        let objects = if_mib(1, wide, &table);
        let agent = |q: &[u8]| {
            let bulk = read(q).unwrap();
            respond(b"public", bulk.request, 0, &next(&bulk, &objects, binds_max))
        };
        let (reading, _) = walk(&mut Session::v2c("public", 5), agent).unwrap();
        prop_assert_eq!(reading.interfaces.len(), values.len());
        for (interface, (name, values)) in reading.interfaces.iter().zip(&table) {
            prop_assert_eq!(&interface.name, name);
            prop_assert_eq!(interface.counters.values(), *values);
        }
    }

    /// Whatever octets of a right answer are changed or cut, it is read or refused.
    #[test]
    fn broken_answers_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let objects = if_mib(1, true, &[("lo", [0; 8]), ("eth0", VALUES)]);
        let mut session = Session::v2c("public", 5);
        let question = session.start(1).unwrap();
        let mut octets = answer(&question, &objects).unwrap();
        for (at, octet) in changes {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        octets.truncate(cut.index(octets.len() * 4).max(1));
        let _ = session.answer(&octets, 2);
    }
}

/// What is kept for the fuzz target of that name: whatever comes is read or refused, and what
/// becomes of a datagram is the first word of its name.
#[test]
fn the_corpus_snmp_answer() {
    let closed = Passwords::new(Some((Auth::Sha1, "long-password")), Some("other-password"));
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/snmp_answer");
    let mut count = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let entry = entry.unwrap();
        let data = std::fs::read(entry.path()).unwrap();
        let mut session = match data[0] % 3 {
            0 => Session::v2c("public", 0),
            1 => Session::v3("open", Passwords::new(None, None), 0, 1),
            _ => Session::v3("closed", closed.clone(), 0, 1),
        };
        session.start(1).unwrap();
        let became = match session.answer(&data[1..], 2) {
            Ok(Progress::Done(_)) => "done",
            Ok(Progress::Ask(_)) => "asks",
            Ok(Progress::Ignored(_)) => "passed",
            Err(_) => "refused",
        };
        let name = entry.file_name().into_string().unwrap();
        assert!(name.starts_with(became), "{name} is {became}");
        for now_ns in 3..8 {
            let _ = session.answer(&data[1..], now_ns);
        }
        count += 1;
    }
    assert!(count > 15, "{count} kept");
}
