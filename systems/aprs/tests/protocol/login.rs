//! Logging in, and being refused.

use crate::common::{Client, Sends, Server, passcode, text};
use std::time::Duration;

#[test]
fn the_greeting_comes_before_the_login() {
    let server = Server::basic();
    let mut client = Client::connect(server.port("igate"));
    let greeting = client.comment("# ");
    assert_eq!(greeting.split(' ').count(), 3, "software and version: {greeting:?}");
}

#[test]
fn a_passcode_verifies() {
    let server = Server::basic();
    for port in ["full", "igate", "client"] {
        let mut client = Client::connect(server.port(port));
        client.send(format!("user N5CAL-1 pass {} vers test 1.0", passcode("N5CAL")));
        assert_eq!(client.logresp(), "# logresp N5CAL-1 verified, server TESTING");
    }
}

#[test]
fn the_words_of_a_login_have_any_case_and_blanks() {
    let server = Server::basic();
    let mut client = Client::connect(server.port("igate"));
    client.send(format!("USER   n5cal-1  PASS {}   VERS test 1.0", passcode("N5CAL")));
    assert_eq!(client.logresp(), "# logresp n5cal-1 verified, server TESTING");
}

#[test]
fn a_wrong_or_missing_passcode_does_not_verify() {
    let server = Server::basic();
    let wrong = passcode("N5CAL") + 1;
    for words in [format!("pass {wrong} "), "pass -1 ".to_owned(), "pass x ".to_owned()] {
        let mut client = Client::connect(server.port("igate"));
        client.send(format!("user N5CAL-1 {words}vers test 1.0"));
        assert_eq!(client.logresp(), "# logresp N5CAL-1 unverified, server TESTING");
    }
}

#[test]
fn comments_and_blank_lines_before_the_login_do_not_matter() {
    let server = Server::basic();
    let mut client = Client::connect(server.port("igate"));
    client.send("# hello");
    client.send("");
    client.send(format!("user N5CAL-1 pass {} vers test 1.0", passcode("N5CAL")));
    client.logresp();
}

#[test]
fn a_login_may_come_in_pieces_and_with_packets_behind_it() {
    let server = Server::basic();
    let mut receiver = Client::login(server.port("full"), "N5CAL-2");
    let mut client = Client::connect(server.port("igate"));
    let login =
        format!("user N5CAL-1 pass {} vers test 1.0\r\nN5CAL-1>DST:>behind\r\n", passcode("N5CAL"));
    let (first, rest) = login.split_at(9);
    client.write(first);
    chronoscope_clock::sleep(Duration::from_millis(30));
    client.write(rest);
    client.logresp();
    assert_eq!(receiver.packet(), b"N5CAL-1>DST,TCPIP*,qAC,TESTING:>behind");
}

#[test]
fn lines_end_with_cr_or_lf_or_both() {
    let server = Server::basic();
    let mut receiver = Client::login(server.port("full"), "N5CAL-2");
    let mut client = Client::connect(server.port("igate"));
    client.write(format!("user N5CAL-1 pass {} vers test 1.0\n", passcode("N5CAL")));
    client.logresp();
    client.write("N5CAL-1>DST:>lf\nN5CAL-1>DST:>cr\rN5CAL-1>DST:>crlf\r\n");
    for end in ["lf", "cr", "crlf"] {
        let expected = format!("N5CAL-1>DST,TCPIP*,qAC,TESTING:>{end}");
        assert_eq!(String::from_utf8(receiver.packet()).unwrap(), expected);
    }
}

/// Calls that no server takes, and those that the operator disallows.
#[test]
fn disallowed_calls_are_refused() {
    let server = Server::with("DisallowLoginCall LOGINA loginb 0pr* M??REJ *SUF\n");
    let refused =
        ["pass", "LOGINA", "loginb", "0prrej", "MI0REJ", "AASUF", "TESTING", "N0-CALL-1", "A/B"];
    for call in refused {
        let mut client = Client::connect(server.port("full"));
        client.comment("# ");
        client.send(format!("user {call} pass {} vers test 1.0", passcode(call)));
        let answer = text(&client.line());
        assert!(answer.starts_with("# ") && !answer.contains("logresp"), "{call}: {answer}");
    }
    Client::login(server.port("full"), "MI0RE");
}

#[test]
fn who_does_not_log_in_is_cut() {
    let server = Server::with("LoginTimeout 1s\n");
    let mut client = Client::connect(server.port("full"));
    client.until_closed();
}

/// A verified login replaces an earlier one of the same callsign.
#[test]
fn the_second_login_of_a_call_ends_the_first() {
    let server = Server::basic();
    let mut first = Client::login(server.port("full"), "N5CAL-1");
    let mut second = Client::login(server.port("igate"), "N5CAL-1");
    first.until_closed();
    let mut receiver = Client::login(server.port("full"), "N5CAL-2");
    second.send("N5CAL-1>DST:>still here");
    assert_eq!(receiver.packet(), b"N5CAL-1>DST,TCPIP*,qAC,TESTING:>still here");
}

#[test]
fn an_unverified_login_does_not_end_a_verified_one() {
    let server = Server::basic();
    let mut first = Client::login(server.port("igate"), "N5CAL-1");
    let _second = Client::unverified(server.port("igate"), "N5CAL-1");
    let mut receiver = Client::login(server.port("full"), "N5CAL-2");
    first.send("N5CAL-1>DST:>still here");
    assert_eq!(receiver.packet(), b"N5CAL-1>DST,TCPIP*,qAC,TESTING:>still here");
}

#[test]
fn a_server_ends_cleanly() {
    let mut server = Server::basic();
    let mut client = Client::login(server.port("full"), "N5CAL-1");
    server.signal("TERM");
    assert_eq!(server.ended().code(), Some(0));
    client.until_closed();
}
