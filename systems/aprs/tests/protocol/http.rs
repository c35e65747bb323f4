//! The status port and the upload port.

use crate::common::{Client, Sends, Server, passes_as_is, text};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Posts a body as it is; the answer's status line.
fn post(server: &Server, body: &str, kind: &str) -> String {
    let mut stream = TcpStream::connect(server.port("HTTPUpload")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let length = body.len();
    let head = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nAccept-Type: text/plain\r\n\
         Connection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

const OCTETS: &str = "application/octet-stream";

#[test]
fn a_packet_is_uploaded() {
    let server = Server::basic();
    let mut rx = Client::login(server.port("full"), "N5CAL-1");
    let login = "user TEST pass 29939 vers httptester 1.0\r\n";
    let status = post(&server, &format!("{login}TEST>HTAPRS,TCPIP*:>by http\r\n"), OCTETS);
    assert!(status.contains(" 200"), "{status}");
    let received = text(&rx.packet());
    assert_eq!(received, "TEST>HTAPRS,TCPIP*,qAC,TESTING:>by http");
}

#[test]
fn what_is_no_packet_is_refused() {
    let server = Server::basic();
    let mut rx = Client::login(server.port("full"), "N5CAL-1");
    let login = "user TEST pass 29939 vers httptester 1.0\r\n";
    for body in [
        "user TEST pass 12345 vers httptester 1.0\r\nTEST>HTAPRS:>x\r\n".to_owned(),
        "TEST>HTAPRS:>x\r\n".to_owned(),
        format!("{login}nothing\r\n"),
        login.to_owned(),
        String::new(),
    ] {
        let status = post(&server, &body, OCTETS);
        assert!(!status.contains(" 200"), "{body:?}: {status}");
    }
    let status = post(&server, &format!("{login}TEST>HTAPRS:>y\r\n"), "text/html");
    assert!(!status.contains(" 200"), "{status}");
    post(&server, &format!("{login}TEST>HTAPRS:>good\r\n"), OCTETS);
    assert!(text(&rx.packet()).ends_with(":>good"));
}

#[test]
fn the_page_and_its_data() {
    let server = Server::basic();
    assert!(server.get("/").contains("<html"));
    let status = server.status();
    assert_eq!(status["server"]["server_id"], "TESTING");
    for part in ["server", "totals", "dupecheck", "listeners", "clients", "uplinks", "rx_errs"] {
        assert!(!status[part].is_null(), "{part} is missing in {status:#}");
    }
    let data: serde_json::Value =
        serde_json::from_str(&server.get("/counterdata?totals.tcp_bytes_rx")).unwrap();
    assert!(data["interval"].is_number() && data["values"].is_array(), "{data}");
}

#[test]
fn clients_are_on_the_page_with_what_they_sent() {
    let server = Server::basic();
    let mut tx = Client::filtered(server.port("igate"), "N5CAL-1", "p/OH r/60/25/10");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    for number in 0..5 {
        passes_as_is(&mut tx, &mut rx, format!("SRC>APRS,qAR,N5CAL-1:>{number}"));
    }
    tx.send("SRC>APRS,NOGATE,qAR,N5CAL-1:>dropped");
    server.wait_for("six packets are counted", |status| {
        let clients = status["clients"].as_array().unwrap();
        let client = |call: &str| clients.iter().find(|client| client["username"] == call);
        let (Some(tx), Some(rx)) = (client("N5CAL-1"), client("N5CAL-2")) else { return false };
        tx["pkts_rx"] == 6 && tx["pkts_ign"] == 1 && rx["pkts_tx"] == 5
    });
    let status = server.status();
    let clients = status["clients"].as_array().unwrap();
    let tx = clients.iter().find(|client| client["username"] == "N5CAL-1").unwrap();
    assert_eq!(tx["filter"], "p/OH r/60/25/10");
    assert_eq!((&tx["app_name"], &tx["app_version"]), (&"test".into(), &"1.0".into()));
    assert_eq!(tx["verified"], 1);
    assert_eq!(status["totals"]["clients"], 2);
}

#[test]
fn nonsense_is_answered_and_does_no_harm() {
    let server = Server::basic();
    for request in
        ["GET /nothing HTTP/1.0\r\n\r\n", "GET /../etc/passwd HTTP/1.0\r\n\r\n", "\0\0\r\n\r\n"]
    {
        let mut stream = TcpStream::connect(server.port("HTTPStatus")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = text(&answer);
        assert!(!answer.contains(" 200 ") && !answer.contains("root:"), "{request:?}: {answer}");
    }
    server.status();
}
