//! Annotated dumps of captures: whole sessions, damaged ones, and any octets.
#![allow(clippy::unwrap_used)]

mod capture;
mod check;
#[path = "../codec/operations.rs"]
mod operations;
mod program;

use bytes::Bytes;
use capture::{ACK, FIN, Packets, URG, sessions, unhex};
use chronoscope_sle::codec::Codec;
use chronoscope_sle::dump::{
    CaptureDump, DumpContent, DumpEntry, DumpField, DumpParts, DumpService, DumpSettings, annotate,
};
use chronoscope_sle::pdu::{AssociationRole, Pdu, ServiceType};
use operations::any_operation;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// A context message: heartbeat interval 30 s, dead factor 3.
const CONTEXT: &str = "020000000000000c4953503100000001001e0003";

fn entries(capture: &[u8]) -> Vec<DumpEntry> {
    CaptureDump::new(capture, DumpSettings::default()).unwrap().map(Result::unwrap).collect()
}

/// Sessions of all services and versions have no fault, every return its invocation.
#[test]
fn whole_sessions_are_understood_however_they_are_cut() {
    let mut before = None;
    for cut in [1, 7, 65_000] {
        let entries = check::check(&sessions(cut));
        let faults: Vec<String> = entries
            .iter()
            .filter(|entry| entry.fault().is_some())
            .map(|entry| entry.text(DumpParts { fields: true, octets: false }))
            .collect();
        assert!(faults.is_empty(), "{}", faults.join(""));
        let mut names = BTreeMap::<String, u32>::new();
        for entry in &entries {
            *names.entry(entry.operation()).or_default() += 1;
            if let DumpContent::Pdu(pdu) = &entry.content
                && pdu.operation.ends_with("return")
                && pdu.invoke_id.is_some()
            {
                assert!(pdu.answers.is_some(), "{}", entry.summary());
            }
        }
        for name in [
            "context",
            "FCLTU v2 BIND invocation",
            "FCLTU v5 TRANSFER-DATA invocation",
            "RAF v3 TRANSFER-BUFFER",
            "ROCF v4 GET-PARAMETER return",
            "RCF v5 STATUS-REPORT invocation",
            "CSTS PROCESS-DATA invocation",
            "peer-abort",
        ] {
            assert!(names.contains_key(name), "{name} in {names:?}");
        }
        let summaries: Vec<String> = entries.iter().map(without_time).collect();
        assert!(before.is_none_or(|before| before == summaries), "cut in {cut}");
        before = Some(summaries);
    }
}

/// The summary without the time between invocation and return, which the cutting changes.
fn without_time(entry: &DumpEntry) -> String {
    let summary = entry.summary();
    summary.split(", after ").next().unwrap().to_owned()
}

/// The recorded session of an independent implementation, with the values in it.
#[test]
fn a_recorded_session_is_told_in_words() {
    let mut packets = Packets::new();
    packets.open();
    packets.segment(true, ACK, &unhex(CONTEXT));
    for line in include_str!("../golden/cltu.txt").lines().skip(1) {
        let words: Vec<&str> = line.split(' ').collect();
        let [direction, _, _, digits] = words[..] else { break };
        let pdu = unhex(digits);
        let length = u32::try_from(pdu.len()).unwrap().to_be_bytes();
        packets.segment(direction == "TX", ACK, &[&[1, 0, 0, 0], &length[..], &pdu].concat());
    }
    packets.segment(true, ACK | FIN, &[]);
    let entries = entries(&packets.finish());
    let summary = |number: usize| entries[number - 1].summary();
    assert_eq!(summary(1), "10.0.0.1:40001 connects to 10.0.0.2:5008");
    assert_eq!(
        summary(2),
        "context message: ISP1 version 1, heartbeat interval 30 s, dead factor 3"
    );
    assert!(
        summary(3).starts_with(
            "FCLTU v5 BIND invocation: initiatorIdentifier \"TEST-USER\", responderPortIdentifier \
             \"P\", serviceType fwdCltu (16), versionNumber 5"
        ),
        "{}",
        summary(3)
    );
    assert!(summary(6).ends_with("(of #5, after 1000 µs)"), "{}", summary(6));
    let text = entries[5].text(DumpParts { fields: true, octets: true });
    assert!(text.contains("result: positiveResult"), "{text}");
    assert!(text.contains("startRadiationTime: ccsdsFormat 2026-"), "{text}");
    assert!(text.contains("    000000  01 00 00 00"), "{text}");
    assert_eq!(entries[0].time(), "2023-11-14T22:13:20.000000000Z");
    assert_eq!(entries.last().unwrap().summary(), "end of the stream");
}

/// A capture with a gap, a stream of another protocol, and a cut message.
fn broken() -> Vec<u8> {
    let context = unhex(CONTEXT);
    let stop = unhex("010000000000000aa20880000204");
    let heartbeat = unhex("0300000000000000");
    let mut packets = Packets::new();
    packets.open();
    packets.segment(true, ACK, &context);
    packets.segment(true, ACK, &stop[..9]);
    packets.miss(true, 100);
    packets.segment(true, ACK, &[&[9, 9, 9][..], &heartbeat, &heartbeat].concat());
    packets.segment(false, ACK, b"HTTP/1.0 400 Bad Request\r\n\r\n");
    packets.segment(false, ACK | FIN, &[]);
    packets.finish()
}

/// A capture with an octet of PEER-ABORT of the provider.
fn aborted(flags: u8) -> Vec<u8> {
    let mut packets = Packets::new();
    packets.open();
    packets.segment(true, ACK, &unhex(CONTEXT));
    packets.segment(false, flags, &[2]);
    packets.segment(false, ACK | FIN, &[]);
    packets.finish()
}

/// A capture with a connection of another protocol, and one of which the beginning is missing.
fn late() -> Vec<u8> {
    let mut packets = Packets::new();
    packets.open();
    packets.segment(true, ACK, b"GET / HTTP/1.0\r\n\r\n");
    packets.segment(true, ACK | FIN, &[]);
    packets.segment(false, ACK | FIN, &[]);
    packets.open();
    packets.segment(true, ACK, &unhex("010000000000000aa0088000020107020109"));
    packets.finish()
}

/// What is lost, cut or of another protocol is told with its place, and the rest is read.
#[test]
fn broken_streams_are_told_where_and_why() {
    let entries = entries(&broken());
    let told: Vec<(u64, String)> =
        entries[2..].iter().map(|entry| (entry.position, entry.summary())).collect();
    let told: Vec<(u64, &str)> = told.iter().map(|(at, said)| (*at, said.as_str())).collect();
    assert_eq!(
        told,
        [
            (0, "BROKEN: the word 48545450 is no type of message; the capture may begin within it"),
            (0, "BROKEN: 28 octets without a message"),
            (28, "end of the stream"),
            (20, "BROKEN: 9 of 18 octets: octets are missing behind them"),
            (29, "BROKEN: 100 octets are not in the capture"),
            (129, "BROKEN: 3 octets without a message"),
            (132, "heartbeat"),
            (140, "heartbeat"),
        ]
    );
}

#[test]
fn an_abort_is_urgent_data_or_perhaps_the_last_octet() {
    for (flags, said) in [
        (ACK | URG, "PEER-ABORT: OperationalRequirement (2)"),
        (ACK, "PEER-ABORT: OperationalRequirement (2), if the octet was urgent data"),
    ] {
        let port = DumpSettings { ports: vec![5008], ..DumpSettings::default() };
        let capture = aborted(flags);
        let entries: Vec<_> = CaptureDump::new(&capture[..], port).unwrap().flatten().collect();
        assert_eq!(entries[2].summary(), said);
    }
}

#[test]
fn other_protocols_are_counted_and_a_late_capture_needs_its_service() {
    let capture = late();
    let mut dump = CaptureDump::new(&capture[..], DumpSettings::default()).unwrap();
    let entries: Vec<_> = dump.by_ref().map(Result::unwrap).collect();
    assert_eq!((dump.counts().connections, dump.counts().others), (1, 1));
    let fault = entries.iter().find_map(DumpEntry::fault).unwrap();
    assert!(fault.ends_with("name it with --service"), "{fault}");
    let service = DumpService::named("fsp");
    let settings = DumpSettings { service, ..DumpSettings::default() };
    let dump = CaptureDump::new(&capture[..], settings).unwrap();
    let summaries: Vec<_> = dump.map(|entry| entry.unwrap().summary()).collect();
    assert!(
        summaries[1].starts_with("FSP START invocation: invokeId 7, firstPacketIdentification"),
        "{summaries:?}"
    );
}

/// FSP is known to the dump alone: an invocation by hand, along its module.
#[test]
fn space_packets_are_annotated() {
    let pdu = unhex(concat!(
        "aa2b",
        "8000",
        "020107",
        "02010c",
        "8000",
        "8000",
        "020100",
        "020101",
        "810105",
        "020101",
        "020100",
        "020101",
        "020101",
        "0407",
        "1865c000000001"
    ));
    let length = u32::try_from(pdu.len()).unwrap().to_be_bytes();
    let mut pdu = [&[1, 0, 0, 0], &length[..], &pdu].concat();
    pdu[9] = u8::try_from(pdu.len() - 10).unwrap();
    let message = Bytes::from(pdu);
    let pdu = annotate(Some(DumpService::Fsp), Some(5), AssociationRole::User, &message);
    assert_eq!(pdu.fault, None, "{pdu:?}");
    let values: Vec<String> =
        pdu.fields.iter().map(|field| format!("{} {}", field.name, field.value)).collect();
    assert_eq!(values[6], "transmissionMode expedited (1)");
    assert_eq!(values[7], "map mapUsed 5");
    assert_eq!(values[12], "fspData 7 octets: 1865c000000001");
}

fn covered(fields: &[DumpField], from: usize, until: usize) -> bool {
    let mut ends = fields.iter().map(|field| (field.range.start, field.range.end));
    ends.try_fold(from, |at, (start, end)| (at == start).then_some(end)) == Some(until)
}

proptest! {
    /// The tables of the dump have the same fields as the declarations of the codec, and every octet
    /// behind the operation's tag and length belongs to one of them.
    #[test]
    fn the_dump_knows_every_field((sender, message) in any_operation(), version in 1..=5u16) {
        let codec = Codec { service: ServiceType::Fcltu, version };
        // A service that no book has is told as a fault, and refused by its number when it is bound.
        let is_unknown = |pdu: &Pdu| {
            matches!(pdu, Pdu::Bind(bind) if bind.service.is_err_and(|n| !(0..=16).contains(&n)))
        };
        prop_assume!(!is_unknown(&message.pdu));
        let mut octets = vec![0; 8];
        prop_assume!(codec.encode(&message, &mut octets).is_ok());
        let octets = Bytes::from(octets);
        let service = Some(DumpService::Sle(ServiceType::Fcltu));
        let pdu = annotate(service, Some(version), sender, &octets);
        prop_assert_eq!(&pdu.fault, &None, "{:?}", message);
        if !matches!(message.pdu, Pdu::PeerAbort(_)) {
            let first = pdu.fields[0].range.start;
            prop_assert!(covered(&pdu.fields, first, octets.len()), "{:?}", pdu.fields);
        }
    }
}

proptest! {
    // Each case dumps whole sessions four times.
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Sessions with octets changed, and cut anywhere: everything is told, nothing panics.
    #[test]
    fn damaged_captures_are_dumped(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        end in any::<prop::sample::Index>(),
        cut in 1..2000usize,
    ) {
        let mut capture = sessions(cut);
        for (at, octet) in changes {
            let at = at.index(capture.len());
            capture[at] = octet;
        }
        check::check(&capture);
        capture.truncate(end.index(capture.len()));
        check::check(&capture);
    }

    #[test]
    fn any_octets_are_dumped(octets in prop::collection::vec(any::<u8>(), 0..400)) {
        check::check(&octets);
        // As the stream of a connection, too.
        let mut packets = Packets::new();
        packets.open();
        packets.segment(true, ACK, &octets);
        packets.segment(false, ACK, &octets);
        check::check(&packets.finish());
    }
}

/// The kept corpus of the fuzz target `sle_dump`: captures that these tests make.
#[test]
fn kept_inputs_hold() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sle_dump");
    let mut changed = Vec::new();
    for (name, capture) in [
        ("sessions", sessions(1400)),
        ("broken", broken()),
        ("abort_urgent", aborted(ACK | URG)),
        ("abort_unmarked", aborted(ACK)),
        ("late", late()),
    ] {
        if std::fs::read(corpus.join(name)).ok().as_ref() != Some(&capture) {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            std::fs::write(&path, &capture).unwrap();
            changed.push(path);
        }
    }
    assert!(changed.is_empty(), "these captures are others now: {changed:?}");
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        assert!(!check::check(&std::fs::read(&path).unwrap()).is_empty(), "{}", path.display());
    }
}
