//! The q construct: who says where a packet entered the network.

use crate::common::{
    Client, LINE_LEN_MAX, Sends, Server, Upstream, drops, passes, passes_as_is, text,
};

const LOGIN: &str = "N5CAL-1";

fn pair(server: &Server, port: &str) -> (Client, Client) {
    (Client::login(server.port(port), LOGIN), Client::login(server.port("full"), "N5CAL-2"))
}

/// What a packet with one protocol letter becomes with another.
fn lettered(line: &str, letter: char) -> String {
    line.replace("qA", &format!("q{letter}"))
}

fn packets_of_the_login(letter: char, directives: &str, port: &str) {
    let server = Server::with(directives);
    let (mut tx, mut rx) = pair(&server, port);
    let paths = ["", ",DIGI1,DIGI5*", ",TCPIP*", ",qAR,N5CAL-1", ",WIDE2-2,qAR,N5CAL-1"];
    for (number, path) in paths.iter().enumerate() {
        let sent = format!("{LOGIN}>DST{}:own {number}", lettered(path, letter));
        let expected = format!("{LOGIN}>DST,TCPIP*,qAC,TESTING:own {number}");
        passes(&mut tx, &mut rx, sent, lettered(&expected, letter));
    }
}

#[test]
fn packets_of_the_login_itself_are_qac() {
    packets_of_the_login('A', "", "client");
    packets_of_the_login('A', "", "igate");
}

/// From a verified login at a client-only port, of another source.
fn gated_at_a_client_only_port(letter: char, directives: &str) {
    let server = Server::with(directives);
    let (mut tx, mut rx) = pair(&server, "client");
    let cases = [
        // A q construct with nobody after it counts for nothing.
        ("SRC>DST,DIGI1,DIGI5*,qAR:a", "SRC>DST,DIGI1,DIGI5*,qAO,N5CAL-1:a"),
        ("SRCCALL>DST,DIGI1*,qAR,N5CAL-1:b", "SRCCALL>DST,DIGI1*,qAo,N5CAL-1:b"),
        ("SRCCALL>DST,DIGI1*,N5CAL-1,I:c", "SRCCALL>DST,DIGI1*,qAo,N5CAL-1:c"),
        ("SRCCALL>DST,DIGI1*,IGATE,I:d", "SRCCALL>DST,DIGI1*,qAo,IGATE:d"),
        ("SRCCALL>DST,DIGI1*:e", "SRCCALL>DST,DIGI1*,qAO,N5CAL-1:e"),
        // One that nobody has defined is passed.
        ("SRCCALL>DST,DIGI1*,qAF,N5CAL-1:f", "SRCCALL>DST,DIGI1*,qAF,N5CAL-1:f"),
    ];
    for (sent, expected) in cases {
        passes(&mut tx, &mut rx, lettered(sent, letter), lettered(expected, letter));
    }
    let other = if letter == 'A' { 'O' } else { 'A' };
    drops(&mut tx, &mut rx, format!("SRCCALL>DST,q{other}R,GATES:h"), "SRC>DST:dummy");
    let starred = lettered("SRCCALL>DST,DIGI1*,qAR,GATES*:g", letter);
    drops(&mut tx, &mut rx, starred, "SRC>DST:dummy");
}

#[test]
fn client_only_port() {
    gated_at_a_client_only_port('A', "");
}

/// At any other port, of another source.
fn gated(letter: char, directives: &str) {
    let server = Server::with(directives);
    for port in ["igate", "full"] {
        let (mut tx, mut rx) = pair(&server, port);
        let _other = Client::login(server.port("full"), "MYC4LL-5");
        let cases = [
            ("SRC>DST,DIGI1,DIGI5*,N5CAL-1,I:a", "SRC>DST,DIGI1,DIGI5*,qAR,N5CAL-1:a"),
            ("SRC>DST,DIGI1,DIGI5*,N5CAL,I:b", "SRC>DST,DIGI1,DIGI5*,qAr,N5CAL:b"),
            ("SRC>DST,DIGI1,DIGI2*:c", "SRC>DST,DIGI1,DIGI2*,qAS,N5CAL-1:c"),
            ("SRC>DST:d", "SRC>DST,qAS,N5CAL-1:d"),
            ("SRC>DST,qAR,IGATE:e", "SRC>DST,qAR,IGATE:e"),
            // A trace: the login where it is not there yet, and the server.
            ("SRC>DST,D*,qAI,FOOBAR:f", "SRC>DST,D*,qAI,FOOBAR,N5CAL-1,TESTING:f"),
            ("SRC>DST,D*,qAI,N5CAL-1:g", "SRC>DST,D*,qAI,N5CAL-1,TESTING:g"),
            // A gateway without a destination: a second q construct is not added to it.
            ("K1FRA>qAR,K1RFI-C,qAS,N5CAL-1:/h", "K1FRA>qAR,K1RFI-C,qAS,N5CAL-1:/h"),
        ];
        for (sent, expected) in cases {
            let of_port = |line: &str| format!("{} at {port}", lettered(line, letter));
            passes(&mut tx, &mut rx, of_port(sent), of_port(expected));
        }
        for (what, sent) in [
            ("qAZ", "SRCCALL>DST,DIGI1*,qAZ,N5CAL-1:i"),
            ("the server was there", "SRCCALL>DST,DIGI1*,qAR,TESTING:j"),
            ("somebody was there twice", "SRCCALL>DST,DIGI1*,qAI,FOOBAR,ASDF,ASDF,BARFOO:k"),
            ("another login of ours", "SRCCALL>DST,DIGI*,qAI,MYC4LL-5,N5CAL-1:l"),
            ("the login is not last", "SRCCALL>DST,DIGI*,qAI,N5CAL-1,M0RE:m"),
        ] {
            eprintln!("{what}");
            drops(&mut tx, &mut rx, lettered(sent, letter), "SRC>DST:dummy");
        }
    }
}

#[test]
fn verified_clients_of_other_ports() {
    gated('A', "");
}

#[test]
fn another_protocol_letter() {
    packets_of_the_login('O', "Q_Protocol_Id O\n", "client");
    gated_at_a_client_only_port('O', "Q_Protocol_Id O\n");
    gated('O', "Q_Protocol_Id O\n");
}

#[test]
fn the_server_s_name_is_not_a_part_of_another() {
    let server = Server::basic();
    let (mut tx, mut rx) = pair(&server, "igate");
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,TESTING-1:a");
    passes_as_is(&mut tx, &mut rx, "SRC>DST,TESTING*,qAR,IGATE:b");
}

/// Where the operator lets unverified clients send at all.
#[test]
fn unverified_clients_are_qax() {
    let server = Server::with("Disallow_Unverified no\n");
    let mut tx = Client::unverified(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    let at = "!6028.51N/02505.68E# Testing";
    for (number, path) in [",DIGI,qAR,BLAH", ",DIGI", ",DIGI1,DIGI5*,N5CAL-1,I"].iter().enumerate()
    {
        let sent = format!("N5CAL-1>DST{path}:{at}{number}");
        passes(&mut tx, &mut rx, sent, format!("N5CAL-1>DST,TCPXX*,qAX,TESTING:{at}{number}"));
    }
}

/// `TESTING` with uplinks that are played by the test.
fn below(upstream: &Upstream, kind: &str) -> (Server, Client, Client) {
    let server = Server::with(&upstream.directive(kind));
    let (up, _) = upstream.login();
    let rx = Client::login(server.port("full"), "N0CAL-2");
    (server, up, rx)
}

#[test]
fn from_an_uplink() {
    let upstream = Upstream::new("CORE1");
    let (_server, mut up, mut rx) = below(&upstream, "ro");
    for (sent, expected) in [
        ("SRC>DST,D1,D2*,qAR,IGATE:a", "SRC>DST,D1,D2*,qAR,IGATE:a"),
        ("SRC>DST,D1,D2*,qAI,FOOBA,BLAA:b", "SRC>DST,D1,D2*,qAI,FOOBA,BLAA,CORE1,TESTING:b"),
        ("SRC>DST,D1,D2*,IGATE,I:c", "SRC>DST,D1,D2*,qAr,IGATE:c"),
    ] {
        passes(&mut up, &mut rx, sent, expected);
    }
    // Where nobody said how it came: the address of the server, in hexadecimal.
    let std::net::IpAddr::V4(ip) = upstream.address().ip() else { panic!("IPv4") };
    let expected = format!("SRC>DST,D1,D2*,qAS,{:08X}:d", u32::from(ip));
    passes(&mut up, &mut rx, "SRC>DST,D1,D2*:d", expected);
    drops(&mut up, &mut rx, "SRC>DST,qAR,TESTING:e", "SRC>DST,qAR,IGATE:dummy");
    drops(&mut up, &mut rx, "SRC>DST,qAX,SOMEONE:f", "SRC>DST,qAR,IGATE:dummy");
}

/// Paths of any length come through with what is appended, up to the longest packet; longer ones
/// are dropped.
#[test]
fn long_paths() {
    let upstream = Upstream::new("CORE1");
    let (_server, mut up, mut rx) = below(&upstream, "ro");
    let mut lines = Vec::new();
    for number in 0..500 {
        let mut calls: Vec<String> = (0..number / 7).map(|at| format!("DIG{at:03}")).collect();
        match (number % 7, calls.last_mut()) {
            (0, Some(last)) => last.push('*'),
            (0, None) => {}
            (rest, _) => calls.push("D".repeat(rest)),
        }
        calls.push("qAI,IGATE".to_owned());
        lines.push((calls.join(","), number));
    }
    let (mut expected, mut longest) = (Vec::new(), 0);
    for (path, number) in &lines {
        up.send(format!("SRC>DST,{path}:packet {number}"));
        let line = format!("SRC>DST,{path},CORE1,TESTING:packet {number}");
        if line.len() <= LINE_LEN_MAX {
            longest = longest.max(line.len());
            expected.push(line);
        }
    }
    up.send("SRC>DST,qAR,IGATE:last");
    expected.push("SRC>DST,qAR,IGATE:last".to_owned());
    assert!(longest > 500 && expected.len() > 300, "{longest} {}", expected.len());
    let mut received = rx.packet();
    for line in expected {
        assert_eq!(text(&received), line);
        if !line.ends_with("last") {
            received = rx.packet();
        }
    }
}

#[test]
fn an_uplink_by_ipv6() {
    let upstream = Upstream::on("CORE6", std::net::Ipv6Addr::LOCALHOST.into());
    let (_server, mut up, mut rx) = below(&upstream, "ro");
    let sent = "SRC>DST,DIGI1,DIGI2*,qAI,FOOBAR,BLAA:v6";
    passes(&mut up, &mut rx, sent, "SRC>DST,DIGI1,DIGI2*,qAI,FOOBAR,BLAA,CORE6,TESTING:v6");
}
