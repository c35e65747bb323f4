use super::{DropReason, Parsed, Unverified, parse};

fn reason(line: &[u8]) -> DropReason {
    parse(line).unwrap_err()
}

#[test]
fn the_parts_of_a_line() {
    let parsed =
        parse(b"OH2RDP-1>BEACON-15,OH2RDG*,WIDE,qAR,OH7AA:!6028.51N: colons: stay").unwrap();
    assert_eq!(
        parsed,
        Parsed {
            source: b"OH2RDP-1",
            destination: b"BEACON-15",
            path: b"OH2RDG*,WIDE,qAR,OH7AA",
            payload: b"!6028.51N: colons: stay",
        }
    );
    let elements: Vec<_> = parsed.path_elements().collect();
    assert_eq!(elements, [&b"OH2RDG*"[..], b"WIDE", b"qAR", b"OH7AA"]);
    assert_eq!(parse(b"A1A>B1B:>").unwrap().path_elements().count(), 0);
}

#[test]
fn payload_is_any_octets() {
    let parsed = parse(b"A1A>B1B,C:\x00\xff\x80\x1c`").unwrap();
    assert_eq!(parsed.payload, b"\x00\xff\x80\x1c`");
}

#[test]
fn lengths() {
    assert_eq!(reason(b""), DropReason::Empty);
    assert_eq!(reason(b"A1A>B1B"), DropReason::TooShort);
    assert_eq!(reason(b"A1A>B1B:"), DropReason::NoPayload);
    let mut line = b"A1A>B1B:".to_vec();
    line.resize(510, b'x');
    assert!(parse(&line).is_ok());
    line.push(b'x');
    assert_eq!(reason(&line), DropReason::TooLong);
}

#[test]
fn no_header() {
    assert_eq!(reason(b"no colon in here"), DropReason::NoColon);
    assert_eq!(reason(b"SRC,DST,DIGI:>text"), DropReason::NoDestination);
    assert_eq!(reason(b"SRC>:>text that is long"), DropReason::NoPath);
    assert_eq!(reason(b"SRCXXXXXXX>APRS,qAR,N5CAL-1:>text"), DropReason::NoDestination);
}

#[test]
fn callsigns_of_source_and_destination() {
    for source in [&b"SRC\x08"[..], b" SRC", b"\0SRC", b"S\\RC", b"S\xefRC", b"SRC-", b"", b"S*"] {
        let line = [source, b">DST,DIGI:>text"].concat();
        assert_eq!(reason(&line), DropReason::InvalidSource, "{source:?}");
    }
    for destination in [&b"DST\x08"[..], b"APRSXXXXXX", b"DST*", b"-", b"D ST"] {
        let line = [b"SRC>", destination, b",DIGI:>text"].concat();
        assert_eq!(reason(&line), DropReason::InvalidDestination, "{destination:?}");
    }
    for line in [&b"EL-DH5FFL>DST:>text"[..], b"SRC-111>DST:>text", b"src>dst:>text"] {
        assert!(parse(line).is_ok(), "{line:?}");
    }
}

#[test]
fn nobodys_callsigns() {
    for source in [&b"N0CALL"[..], b"NOCALL", b"NOCALL-1", b"SERVER", b"SERVER1"] {
        let line = [source, b">DST,DIGI:>text"].concat();
        assert_eq!(reason(&line), DropReason::DisallowedSource, "{source:?}");
    }
}

#[test]
fn paths_that_stay_on_the_air() {
    for path in [&b"RFONLY"[..], b"NOGATE", b"DIGI,NOGATE*", b"DIGI,RFONLY,qAR,CALL"] {
        let line = [b"SRC>DST,", path, b":>text"].concat();
        assert_eq!(reason(&line), DropReason::NoGate, "{path:?}");
    }
    for path in [&b"TCPXX"[..], b"DIGI,TCPXX*,qAR,CALL"] {
        let line = [b"SRC>DST,", path, b":>text"].concat();
        assert_eq!(reason(&line), DropReason::UnverifiedPath, "{path:?}");
    }
    assert!(parse(b"NOGATE>DST,DIGI:>as a source").is_ok());
}

#[test]
fn callsigns_in_the_path() {
    for path in [
        &b"OH2DIGI-12"[..],
        b"RELAY,WIDE,WIDE/V",
        b"DIG*I",
        b"DI\x08GI",
        b"A,,B",
        b",A",
        b",",
        b"200106F8020204020000000000000002",
        b"q\x01\x02,CALL",
        b"A**",
        b"OH2DIGI-12*",
        b"DIGI-0",
        b"DIGI-01",
        b"WIDE1-",
        b"WIDE1-*",
        b"WIDE1-1-1",
        b"DIGI-ABC",
        b"-1",
        b"*",
    ] {
        let line = [b"SRC>DST,", path, b":>text"].concat();
        assert_eq!(reason(&line), DropReason::InvalidPathCall, "{path:?}");
    }
    for path in [
        &b"OH2DIG-12*,OH2DIG-1*,qAR,200106F8020204020000000000000002,N5CAL-1"[..],
        b"OH2DIG-12*",
        b"A,B,",
        b"DIGI-X1,WIDE2-2*",
        b"qAR,GATE-0",
        b"",
    ] {
        let line = [b"SRC>DST,", path, b":>text"].concat();
        assert!(parse(&line).is_ok(), "{path:?}");
    }
    assert_eq!(parse(b"SRC>DST,A,:>x").unwrap().path, b"A");
    // The rules of the q construct decide on a comma behind it.
    assert_eq!(parse(b"SRC>DST,A,qAR,B,:>x").unwrap().path, b"A,qAR,B,");
}

#[test]
fn third_party_from_the_internet() {
    for payload in [
        &b"}SRC2>DST,DIGI,TCPIP*:>text"[..],
        b"}SRC3>DST,DIGI,TCPXX*:>text",
        b"}S>D,TCPIP,GATE*::message",
    ] {
        let line = [b"SRC>DST,DIGI:", payload].concat();
        assert_eq!(reason(&line), DropReason::ThirdPartyInternet, "{payload:?}");
    }
    assert!(parse(b"SRC>DST:}TCPIP>D,NET,GATE*:>TCPIP is no path here").is_ok());
    assert!(parse(b"SRC>DST:} no header,TCPIP").is_ok());
}

#[test]
fn spots_of_a_dx_cluster() {
    assert_eq!(reason(b"SRC>DST,DIGI:DX de FOO: BAR"), DropReason::DxSpot);
    assert!(parse(b"SRC>DST,DIGI:DX is fine today").is_ok());
}

#[test]
fn header_alone_leaves_the_rules_to_the_caller() {
    assert!(super::header(b"N0CALL>DST,NOGATE:>text").is_ok());
    let unverified = super::header(b"SRC>DST,TCPXX*:>text").unwrap();
    assert_eq!(unverified.check(Unverified::Taken), Ok(()));
    assert_eq!(unverified.check(Unverified::Refused), Err(DropReason::UnverifiedPath));
}
