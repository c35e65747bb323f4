use crate::packet::{DropReason, PACKET_LEN_MAX, parse};
use proptest::prelude::*;

#[test]
fn the_parts_are_where_they_should_be() {
    let parsed = parse(b"OH2RDP-1>BEACON-15,OH2RDG*,WIDE:!6028.51N/02505.68E#").unwrap();
    let packet = parsed.build(b"OH2RDG*,WIDE,qAR,OH7AA,SERVER1").unwrap();
    let line = b"OH2RDP-1>BEACON-15,OH2RDG*,WIDE,qAR,OH7AA,SERVER1:!6028.51N/02505.68E#\r\n";
    assert_eq!(&*packet.line, line);
    assert_eq!(packet.source(), b"OH2RDP-1");
    assert_eq!(packet.destination(), b"BEACON-15");
    assert_eq!(packet.digis().collect::<Vec<_>>(), [&b"OH2RDG*"[..], b"WIDE"]);
    assert_eq!(packet.q(), b"qAR");
    assert_eq!(packet.entries().collect::<Vec<_>>(), [&b"OH7AA"[..], b"SERVER1"]);
    assert_eq!(packet.payload(), b"!6028.51N/02505.68E#");

    let direct = parsed.build(b"qAC,SERVER1").unwrap();
    assert_eq!(direct.digis().count(), 0);
    assert_eq!(direct.q(), b"qAC");
}

#[test]
fn without_q_construct() {
    let parsed = parse(b"OH2RDP-1>BEACON-15:>text").unwrap();
    for path in [&b""[..], b"TCPIP*", b"qA,SERVER1", b"aqAC,SERVER1"] {
        assert_eq!(parsed.build(path), Err(DropReason::NoQConstruct));
    }
}

/// What goes out is as long as what comes in may be: 512 octets with CR LF. aprsc lets one fewer out.
#[test]
fn a_line_of_510_octets_goes_out() {
    let head = b"SRC>DST:";
    let path = b"qAC,SERVER1";
    let longest = PACKET_LEN_MAX - 2 - head.len() - path.len() - 1;
    let line = |len: usize| [&head[..], &vec![b'x'; len]].concat();
    let line_longest = line(longest);
    let packet = parse(&line_longest).unwrap().build(path).unwrap();
    assert_eq!(packet.line.len(), 512);
    let line_longer = line(longest + 1);
    assert_eq!(parse(&line_longer).unwrap().build(path), Err(DropReason::TooLong));
}

/// Text of the form of a packet, in whose parts anything may be wrong.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let call = "[A-Z0-9q*-]{0,10}";
    let path = proptest::collection::vec(call, 0..6).prop_map(|calls| calls.join(","));
    let text = prop_oneof![
        "[!=/@:;)>`'$_#*<?{}T][ -~]{0,60}",
        "[!=](([0-9 ]{4}\\.[0-9 ]{2}[NSx])[/\\\\A-Z0-9,]){1}[0-9 ]{5}\\.[0-9 ]{2}[EWx].?",
        "\\$G[PN](RMC,1,A|GGA,1|GLL|WPL),[0-9.,NSEWA]{0,40}",
        "}[A-Z0-9-]{0,10}>[A-Z0-9,*-]{0,20}:[!:;>`}][ -~]{0,40}",
    ];
    let payload = prop_oneof![
        text.prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..80),
    ];
    (call, call, path, payload).prop_map(|(source, destination, path, payload)| {
        [format!("{source}>{destination},{path}:").as_bytes(), &payload].concat()
    })
}

proptest! {
    /// What is taken keeps its payload octet by octet, and what is known of it is inside of it.
    #[test]
    fn payload_goes_out_as_it_came(line in line()) {
        let Ok(parsed) = parse(&line) else { return Ok(()) };
        let Ok(packet) = parsed.build(b"WIDE*,qAR,IGATE,SERVER1") else { return Ok(()) };
        prop_assert_eq!(packet.payload(), parsed.payload);
        prop_assert_eq!(packet.source(), parsed.source);
        prop_assert_eq!(packet.destination(), parsed.destination);
        prop_assert!(packet.line.ends_with(b"\r\n"));
        for part in [packet.name(), packet.addressee(), packet.inner_source()].into_iter().flatten() {
            prop_assert!(parsed.payload.windows(part.len()).any(|window| window == part));
            prop_assert!((1..=9).contains(&part.len()));
        }
        if let Some(position) = packet.position {
            prop_assert!(position.latitude.abs() <= 90.0 && position.longitude.abs() <= 180.0);
        }
        // What went out comes in again as the same packet, but for a third party's TCPIP.
        let again = parse(packet.line.strip_suffix(b"\r\n").unwrap()).unwrap();
        prop_assert_eq!(again.build(again.path), Ok(packet));
    }

    #[test]
    fn any_octets_are_taken_or_refused(line in proptest::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(parsed) = parse(&line) {
            let _ = parsed.build(b"qAC,SERVER1");
        }
    }
}
