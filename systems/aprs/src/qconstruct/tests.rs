//! The algorithm's rules, one table each: path as it came, path as it goes on or why not.

use super::{Arrival, Via, process};
use crate::callsign::Callsign;
use crate::packet::{DropReason, Parsed};
use std::net::IpAddr;

const SERVER: &str = "TESTING";
const LOGIN: &str = "N5CAL-1";
/// Logged in over another connection, verified.
const OTHER: &[u8] = b"MYC4LL-5";

fn call(text: &str) -> Callsign {
    Callsign::new(text.as_bytes()).unwrap()
}

fn arrival(via: Via) -> Arrival<'static> {
    Arrival {
        server: call(SERVER),
        via,
        login: call(LOGIN),
        verified: true,
        remote: IpAddr::from([192, 0, 2, 77]),
        q_protocol: b'A',
        disallow_other_q_protocols: false,
        allow_unverified: false,
        is_other_verified_login: &|call| call == OTHER,
    }
}

/// Checks `(source, path, wanted path)`.
#[track_caller]
fn goes_on(arrival: &Arrival<'_>, table: &[(&str, &str, &str)]) {
    for (source, path, want) in table {
        let got = process(&parsed(source, path), arrival).map(|path| text(&path));
        assert_eq!(got.as_deref(), Ok(*want), "{source}>DST,{path}");
    }
}

/// Checks `(source, path, reason)`.
#[track_caller]
fn is_dropped(arrival: &Arrival<'_>, table: &[(&str, &str, DropReason)]) {
    for (source, path, want) in table {
        let got = process(&parsed(source, path), arrival).map(|path| text(&path));
        assert_eq!(got, Err(*want), "{source}>DST,{path}");
    }
}

fn parsed<'a>(source: &'a str, path: &'a str) -> Parsed<'a> {
    Parsed {
        source: source.as_bytes(),
        destination: b"DST",
        path: path.as_bytes(),
        payload: b">text",
    }
}

fn text(path: &[u8]) -> String {
    String::from_utf8(path.to_vec()).unwrap()
}

/// "Packets having srccall == login must have their digipeater path truncated away and replaced
/// with ,TCPIP* and then the q construct" (aprsc, 20qconstr).
#[test]
fn own_packet_of_a_verified_client() {
    let table = [
        (LOGIN, "", "TCPIP*,qAC,TESTING"),
        (LOGIN, "DIGI1,DIGI5*", "TCPIP*,qAC,TESTING"),
        (LOGIN, "TCPIP*", "TCPIP*,qAC,TESTING"),
        (LOGIN, "qAR,N5CAL-1", "TCPIP*,qAC,TESTING"),
        (LOGIN, "WIDE2-2,qAR,N5CAL-1", "TCPIP*,qAC,TESTING"),
        (LOGIN, "WIDE2-2,N5CAL-1,I", "TCPIP*,qAC,TESTING"),
        (LOGIN, "qAZ,TESTING", "TCPIP*,qAC,TESTING"),
    ];
    for via in [Via::Client, Via::ClientOnly, Via::HttpUpload] {
        goes_on(&arrival(via), &table);
    }
}

/// Whose packet it is is a matter of octets, not of letters in either case.
#[test]
fn own_packet_is_compared_exactly() {
    goes_on(
        &arrival(Via::Client),
        &[
            ("n5cal-1", "", "qAS,N5CAL-1"),
            ("N5CAL-11", "", "qAS,N5CAL-1"),
            ("N5CAL", "", "qAS,N5CAL-1"),
        ],
    );
}

/// "If a q construct is last in the path (no call following the qPT) delete the qPT."
#[test]
fn q_construct_without_a_call_is_deleted() {
    let table = [
        ("SRC", "DIGI1,DIGI5*,qAR", "DIGI1,DIGI5*,qAS,N5CAL-1"),
        ("SRC", "qAR", "qAS,N5CAL-1"),
        ("SRC", "D1,q,X", "D1,qAS,N5CAL-1"),
        ("SRC", "D1,qABC,X", "D1,qAS,N5CAL-1"),
        ("SRC", "qABC,X", "qAS,N5CAL-1"),
        ("SRC", "D1,XqA,X", "D1,XqA,X,qAS,N5CAL-1"),
    ];
    goes_on(&arrival(Via::Client), &table);
    goes_on(&arrival(Via::ClientOnly), &[("SRC", "DIGI1,qAR", "DIGI1,qAO,N5CAL-1")]);
}

/// "If the packet entered the server directly (without login) from an UDP port: if a q construct
/// exists, replace the q construct with ,qAU,SERVERLOGIN else append ,qAU,SERVERLOGIN", with a
/// TCPIP* where none is (aprsc, 63udp-submit).
#[test]
fn udp_submission() {
    goes_on(
        &arrival(Via::UdpSubmit),
        &[
            (LOGIN, "TCPIP*", "TCPIP*,qAU,TESTING"),
            (LOGIN, "", "TCPIP*,qAU,TESTING"),
            (LOGIN, "DIGI", "DIGI,TCPIP*,qAU,TESTING"),
            (LOGIN, "DIGI,TCPIP*", "DIGI,TCPIP*,qAU,TESTING"),
            (LOGIN, "XTCPIP*", "XTCPIP*,TCPIP*,qAU,TESTING"),
            (LOGIN, "TCPIP*,qAC,ELSE", "TCPIP*,qAU,TESTING"),
            ("SRC", "WIDE1*,qAR,GATE,SRV", "WIDE1*,TCPIP*,qAU,TESTING"),
            ("SRC", "WIDE1*,qAI,GATE", "WIDE1*,TCPIP*,qAU,TESTING"),
        ],
    );
    let unverified = Arrival { verified: false, allow_unverified: true, ..arrival(Via::UdpSubmit) };
    is_dropped(&unverified, &[(LOGIN, "", DropReason::Unverified)]);
}

/// "If the packet entered the server from an unverified connection AND the FROMCALL equals the
/// client login" (aprsc, 21qconstr-unver).
#[test]
fn own_packet_of_a_client_that_is_not_verified() {
    let unverified = Arrival { verified: false, allow_unverified: true, ..arrival(Via::Client) };
    goes_on(
        &unverified,
        &[
            (LOGIN, "DIGI,qAR,BLAH", "TCPXX*,qAX,TESTING"),
            (LOGIN, "DIGI", "TCPXX*,qAX,TESTING"),
            (LOGIN, "", "TCPXX*,qAX,TESTING"),
            (LOGIN, "DIGI1,DIGI5*,N0CALL,I", "TCPXX*,qAX,TESTING"),
            (LOGIN, "DIGI,qAZ,N5CAL-1", "TCPXX*,qAX,TESTING"),
            (LOGIN, "DIGI,qAR", "TCPXX*,qAX,TESTING"),
        ],
    );
    is_dropped(&unverified, &[(LOGIN, "qAR,CALL1,CALL2", DropReason::QManyUnverified)]);
}

/// "All packets not deemed OK from an unverified connection should be dropped."
#[test]
fn other_packets_of_a_client_that_is_not_verified() {
    let table = [
        ("OH7LZB", "", DropReason::Unverified),
        ("OH7LZB", "qAR,N5CAL-1", DropReason::Unverified),
        ("OH7LZB", "N5CAL-1,I", DropReason::Unverified),
    ];
    let allowed = Arrival { verified: false, allow_unverified: true, ..arrival(Via::Client) };
    is_dropped(&allowed, &table);
    let refused = Arrival { verified: false, ..arrival(Via::Client) };
    is_dropped(&refused, &table);
    is_dropped(&refused, &[(LOGIN, "", DropReason::Unverified)]);
}

/// "If the packet entered the server from a verified client-only connection AND the FROMCALL does
/// not match the login" (aprsc, 20qconstr-clientonly).
#[test]
fn client_only_port() {
    goes_on(
        &arrival(Via::ClientOnly),
        &[
            ("SRCCALL", "DIGI1*,qAR,N5CAL-1", "DIGI1*,qAo,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qAr,N5CAL-1", "DIGI1*,qAo,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qAR,IGATE", "DIGI1*,qAo,IGATE"),
            ("SRCCALL", "DIGI1*,qAS,N5CAL-1", "DIGI1*,qAO,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qAC,N5CAL-1", "DIGI1*,qAO,N5CAL-1"),
            ("SRCCALL", "DIGI1*,N5CAL-1,I", "DIGI1*,qAo,N5CAL-1"),
            ("SRCCALL", "DIGI1*,IGATE,I", "DIGI1*,qAo,IGATE"),
            ("SRCCALL", "DIGI1*", "DIGI1*,qAO,N5CAL-1"),
            ("SRCCALL", "", "qAO,N5CAL-1"),
            ("SRCCALL", "I", "I,qAO,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qAF,N5CAL-1", "DIGI1*,qAF,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qOR,N5CAL-1", "DIGI1*,qOR,N5CAL-1"),
            (LOGIN, "DIGI,qAI,N5CAL-1", "DIGI,qAC,TESTING"),
        ],
    );
    is_dropped(
        &arrival(Via::ClientOnly),
        &[("SRCCALL", "DIGI1*,qAC,TESTING", DropReason::QOwnCall)],
    );
}

/// "If a q construct exists in the header: skip to 'All packets with q constructs'."
#[test]
fn q_construct_of_a_client_stays() {
    goes_on(
        &arrival(Via::Client),
        &[
            ("SRCCALL", "DIGI1*,qAR,N5CAL-1", "DIGI1*,qAR,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qAF,N5CAL-1", "DIGI1*,qAF,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qAO,GATE,SRV,N5CAL-1", "DIGI1*,qAO,GATE,SRV,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qAR,GATE,I", "DIGI1*,qAR,GATE,I"),
            // A gateway that left out the destination: the first q construct is the destination.
            ("K1FRA", "K1RFI-C,qAS,N5CAL-1", "K1RFI-C,qAS,N5CAL-1"),
        ],
    );
}

/// "If header is terminated with ,I: if the VIACALL preceding the ,I matches the login: change from
/// ,VIACALL,I to ,qAR,VIACALL, else change from ,VIACALL,I to ,qAr,VIACALL." The login in the path
/// is compared without regard to case, and what stands there goes on.
#[test]
fn old_gateways_i() {
    goes_on(
        &arrival(Via::Client),
        &[
            ("SRC", "DIGI1,DIGI5*,N5CAL-1,I", "DIGI1,DIGI5*,qAR,N5CAL-1"),
            ("SRC", "DIGI1,DIGI5*,n5cal-1,I", "DIGI1,DIGI5*,qAR,n5cal-1"),
            ("SRC", "DIGI1,DIGI5*,N5CAL,I", "DIGI1,DIGI5*,qAr,N5CAL"),
            ("SRC", "N5CAL-1,I", "qAR,N5CAL-1"),
            ("SRC", "GATE,I", "qAr,GATE"),
            // Not checked for loops: another gateway of this server may be named (40messaging).
            ("SRC", "MYC4LL-5,I", "qAr,MYC4LL-5"),
        ],
    );
    is_dropped(&arrival(Via::Client), &[("SRC", "I", DropReason::QNoVia)]);
}

/// "Else append ,qAS,login."
#[test]
fn packet_without_any_q_construct() {
    goes_on(
        &arrival(Via::Client),
        &[
            ("SRC", "DIGI1,DIGI2*", "DIGI1,DIGI2*,qAS,N5CAL-1"),
            ("SRC", "", "qAS,N5CAL-1"),
            ("SRC", "DIGI,XI", "DIGI,XI,qAS,N5CAL-1"),
        ],
    );
}

/// "If packet entered the server from an outbound connection and no q construct exists in the
/// header" (aprsc, 22qconstr-uplink).
#[test]
fn packet_of_an_uplink_without_q_construct() {
    let uplink = arrival(Via::Uplink);
    goes_on(
        &uplink,
        &[
            ("SRC", "DIGI", "DIGI,qAS,C000024D"),
            ("SRC", "", "qAS,C000024D"),
            ("SRC", "DIGI,GATE,I", "DIGI,qAr,GATE"),
            ("SRC", "DIGI,N5CAL-1,I", "DIGI,qAr,N5CAL-1"),
            (LOGIN, "TCPIP*", "TCPIP*,qAS,C000024D"),
        ],
    );
    is_dropped(&uplink, &[("SRC", "I", DropReason::QNoVia)]);
    let six = Arrival { remote: "2001:db8::1".parse().unwrap(), ..uplink };
    goes_on(&six, &[("SRC", "D", "D,qAS,20010DB8000000000000000000000001")]);
    let mapped = Arrival { remote: "::ffff:192.0.2.77".parse().unwrap(), ..uplink };
    goes_on(&mapped, &[("SRC", "D", "D,qAS,C000024D")]);
}

#[test]
fn q_construct_of_a_server_stays() {
    for via in [Via::Uplink, Via::Peer] {
        goes_on(
            &arrival(via),
            &[
                ("SRC", "TCPIP*,qAC,T2SERVER", "TCPIP*,qAC,T2SERVER"),
                (LOGIN, "TCPIP*,qAC,T2SERVER", "TCPIP*,qAC,T2SERVER"),
                // From the other side the login need not be last.
                ("SRC", "qAS,N5CAL-1,T2SERVER", "qAS,N5CAL-1,T2SERVER"),
            ],
        );
    }
}

#[test]
fn packet_of_a_peer_without_q_construct() {
    is_dropped(
        &arrival(Via::Peer),
        &[
            ("SRC", "DIGI", DropReason::NoQConstruct),
            ("SRC", "DIGI,qAR", DropReason::NoQConstruct),
            ("SRC", "GATE,I", DropReason::NoQConstruct),
        ],
    );
}

/// "If ,qAZ, is the q construct: dump to the packet to the reject log, quit processing."
#[test]
fn qaz_and_qax_are_dropped() {
    for via in [Via::Client, Via::ClientOnly, Via::Uplink, Via::Peer] {
        is_dropped(
            &arrival(via),
            &[
                ("SRCCALL", "DIGI1*,qAZ,N5CAL-1", DropReason::QServerOnly),
                ("SRCCALL", "DIGI1*,qAX,N5CAL-1", DropReason::QNotVerified),
            ],
        );
        let allowed = Arrival { allow_unverified: true, ..arrival(via) };
        goes_on(&allowed, &[("SRCCALL", "TCPXX*,qAX,ELSE", "TCPXX*,qAX,ELSE")]);
    }
}

/// "If ,SERVERLOGIN is found after the q construct": as a whole element.
#[test]
fn loop_through_this_server() {
    is_dropped(
        &arrival(Via::Client),
        &[
            ("SRCCALL", "DIGI1*,qAR,TESTING", DropReason::QOwnCall),
            ("SRCCALL", "qAR,TESTING1,TESTING", DropReason::QOwnCall),
        ],
    );
    goes_on(
        &arrival(Via::Client),
        &[
            ("SRCCALL", "TESTING,qAR,GATE", "TESTING,qAR,GATE"),
            ("SRCCALL", "qAR,TESTING1", "qAR,TESTING1"),
            ("SRCCALL", "qAR,XTESTING", "qAR,XTESTING"),
        ],
    );
}

/// "If a callsign-SSID is found twice in the q construct": in the same letters.
#[test]
fn loop_through_another_server() {
    is_dropped(
        &arrival(Via::Client),
        &[
            ("SRCCALL", "DIGI1*,qAI,FOOBAR,ASDF,ASDF,BARFOO", DropReason::QCallTwice),
            ("SRCCALL", "qAI,FOO1,FOO1,N5CAL-1", DropReason::QCallTwice),
            ("SRCCALL", "qAI,A,B,C,A", DropReason::QCallTwice),
        ],
    );
    goes_on(&arrival(Via::Client), &[("SRCCALL", "qAS,FOO,foo,FOO-1", "qAS,FOO,foo,FOO-1")]);
}

/// "If a verified login other than this login is found in the q construct".
#[test]
fn loop_through_another_login() {
    for via in [Via::Client, Via::ClientOnly, Via::Uplink, Via::Peer] {
        is_dropped(
            &arrival(via),
            &[("SRCCALL", "DIGI*,qAI,MYC4LL-5,N5CAL-1", DropReason::QCallIsLocal)],
        );
    }
}

/// "If the packet is from an inbound port and the login is found after the q construct but is not
/// the LAST VIACALL".
#[test]
fn login_that_is_not_last() {
    for via in [Via::Client, Via::ClientOnly, Via::HttpUpload] {
        is_dropped(
            &arrival(via),
            &[
                ("SRCCALL", "DIGI*,qAI,N5CAL-1,M0RE", DropReason::QLoginNotLast),
                ("SRCCALL", "DIGI*,qAR,n5cal-1,M0RE", DropReason::QLoginNotLast),
            ],
        );
    }
}

/// Not in the algorithm, as aprsc does: no callsign of a server or gateway has an asterisk.
#[test]
fn asterisk_after_the_q_construct() {
    is_dropped(
        &arrival(Via::Client),
        &[("SRCCALL", "DIGI1*,qAR,GATES*", DropReason::QInvalidCall)],
    );
}

/// Not in the algorithm, as aprsc does: whoever submits by UDP is no server.
#[test]
fn qau_with_the_source_itself() {
    is_dropped(&arrival(Via::Uplink), &[("SRC", "TCPIP*,qAU,SRC", DropReason::QUdpIsSource)]);
    goes_on(
        &arrival(Via::Uplink),
        &[
            ("SRC", "TCPIP*,qAU,SRC-1", "TCPIP*,qAU,SRC-1"),
            ("SRC", "TCPIP*,qAC,SRC", "TCPIP*,qAC,SRC"),
        ],
    );
}

/// "If the q construct is qAI: if the packet is from a verified port where the login is not found
/// after the q construct: append ,login […] append ,SERVERLOGIN" (aprsc, 20qconstr, 22path-trace).
#[test]
fn trace_of_a_client() {
    goes_on(
        &arrival(Via::Client),
        &[
            ("SRC", "DIGI1,DIGI2*,qAI,FOOBAR", "DIGI1,DIGI2*,qAI,FOOBAR,N5CAL-1,TESTING"),
            ("SRC", "DIGI1,DIGI2*,qAI,N5CAL-1", "DIGI1,DIGI2*,qAI,N5CAL-1,TESTING"),
            (LOGIN, "DIGI,qAI,BLAH", "DIGI,qAI,BLAH,N5CAL-1,TESTING"),
            (LOGIN, "DIGI,qAI,N5CAL-1", "DIGI,qAI,N5CAL-1,TESTING"),
        ],
    );
}

/// "Else if the packet is from an outbound connection append ,IPADDR": the callsign of the server
/// there, as aprsc does (22qconstr-uplink, 23qconstr-long).
#[test]
fn trace_of_a_server() {
    for via in [Via::Uplink, Via::Peer] {
        let server = Arrival { login: call("FAKEUP"), verified: false, ..arrival(via) };
        goes_on(
            &server,
            &[
                ("SRC", "D1,D2*,qAI,FOOBA,BLAA", "D1,D2*,qAI,FOOBA,BLAA,FAKEUP,TESTING"),
                ("SRC", "qAI,FAKEUP", "qAI,FAKEUP,TESTING"),
            ],
        );
    }
}

/// The whole of aprsc's 24qconstr-protocols: another letter makes another network.
#[test]
fn another_protocols_letter() {
    let other =
        |via| Arrival { q_protocol: b'O', disallow_other_q_protocols: true, ..arrival(via) };
    goes_on(
        &other(Via::ClientOnly),
        &[
            (LOGIN, "", "TCPIP*,qOC,TESTING"),
            (LOGIN, "DIGI1,DIGI5*", "TCPIP*,qOC,TESTING"),
            (LOGIN, "WIDE2-2,qOR,N5CAL-1", "TCPIP*,qOC,TESTING"),
            ("SRC", "DIGI1,DIGI5*,qOR", "DIGI1,DIGI5*,qOO,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qOR,N5CAL-1", "DIGI1*,qOo,N5CAL-1"),
            ("SRCCALL", "DIGI1*,N5CAL-1,I", "DIGI1*,qOo,N5CAL-1"),
            ("SRCCALL", "DIGI1*,IGATE,I", "DIGI1*,qOo,IGATE"),
            ("SRCCALL", "DIGI1*", "DIGI1*,qOO,N5CAL-1"),
            ("SRCCALL", "DIGI1*,qOF,N5CAL-1", "DIGI1*,qOF,N5CAL-1"),
        ],
    );
    is_dropped(
        &other(Via::ClientOnly),
        &[
            ("SRCCALL", "qAR,GATES", DropReason::QProtocol),
            ("SRCCALL", "DIGI1*,qOR,GATES*", DropReason::QInvalidCall),
        ],
    );
    goes_on(
        &other(Via::Client),
        &[
            ("SRC", "DIGI1,DIGI5*,N5CAL-1,I", "DIGI1,DIGI5*,qOR,N5CAL-1"),
            ("SRC", "DIGI1,DIGI5*,N5CAL,I", "DIGI1,DIGI5*,qOr,N5CAL"),
            ("SRC", "DIGI1,DIGI2*", "DIGI1,DIGI2*,qOS,N5CAL-1"),
            ("SRC", "D1,qOI,FOOBAR", "D1,qOI,FOOBAR,N5CAL-1,TESTING"),
            ("SRC", "D1,qOI,N5CAL-1", "D1,qOI,N5CAL-1,TESTING"),
        ],
    );
    is_dropped(
        &other(Via::Client),
        &[
            ("SRCCALL", "qOZ,N5CAL-1", DropReason::QServerOnly),
            ("SRCCALL", "qOR,TESTING", DropReason::QOwnCall),
            ("SRCCALL", "qAZ,N5CAL-1", DropReason::QProtocol),
        ],
    );
}

/// Where other protocols are let through, their q constructs mean nothing here.
#[test]
fn other_protocols_pass_by_default() {
    goes_on(
        &arrival(Via::Client),
        &[
            ("SRC", "qOI,FOO", "qOI,FOO"),
            ("SRC", "qOZ,FOO", "qOZ,FOO"),
            ("SRC", "qOX,FOO", "qOX,FOO"),
        ],
    );
}

proptest::proptest! {
    /// Whatever the path: no panic, and what goes on has one q construct with a callsign after it.
    #[test]
    fn every_path_has_an_answer(
        source in "[A-Z0-9]{1,9}",
        path in "([A-Zq*0-9-]{0,4},?){0,12}",
        via in proptest::sample::select(vec![
            Via::Client, Via::ClientOnly, Via::UdpSubmit, Via::HttpUpload, Via::Uplink, Via::Peer,
        ]),
        verified in proptest::bool::ANY,
    ) {
        let path = path.trim_end_matches(',');
        let arrival = Arrival { verified, allow_unverified: true, ..arrival(via) };
        if let Ok(new) = process(&parsed(&source, path), &arrival) {
            let new = text(&new);
            let elements: Vec<_> = new.split(',').collect();
            let at = elements.iter().position(|element| element.starts_with('q')).unwrap();
            proptest::prop_assert_eq!(elements[at].len(), 3);
            proptest::prop_assert!(elements.get(at + 1).is_some_and(|call| !call.is_empty()));
        }
    }
}
