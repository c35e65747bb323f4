//! Clients that are stuck, flood, or dawdle; and no descriptors left. The others must not notice.

use super::common::{Client, Sends, Server, passes_as_is, text};
use chronoscope_clock as clock;
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Packets that are all different.
fn packet(call: &str, number: usize) -> String {
    format!("{call}>APRS,TCPIP*,qAC,TESTING:>{number} {}", "x".repeat(200))
}

/// All that was sent comes, in its order, once.
#[track_caller]
fn receives(client: &mut Client, call: &str, numbers: std::ops::Range<usize>) {
    for number in numbers {
        assert_eq!(text(&client.packet()), packet(call, number));
    }
}

#[test]
fn a_stuck_reader_is_cut_and_others_get_everything() {
    let server = Server::start("Listen full fullfeed tcp 127.0.0.1 0\nHTTPStatus 127.0.0.1 0");
    let stuck = Client::login(server.port("full"), "N0STUCK");
    let mut reader = Client::login(server.port("full"), "N0READ");
    let mut sender = Client::login(server.port("full"), "N0SEND");
    let mut number = 0;
    // Enough to fill what the kernel takes for one who does not read.
    for _ in 0..13 {
        for _ in 0..4 {
            let from = number;
            let mut lines = Vec::new();
            while number < from + 1000 {
                lines.extend_from_slice(packet("N0SEND", number).as_bytes());
                lines.extend_from_slice(b"\r\n");
                number += 1;
            }
            sender.write(&lines);
            receives(&mut reader, "N0SEND", from..number);
        }
        if server.status()["clients"].as_array().is_none_or(|clients| clients.len() < 3) {
            break;
        }
        clock::sleep(Duration::from_secs(1));
    }
    server.wait_for("the stuck client is gone", |status| {
        !status["clients"].to_string().contains("N0STUCK")
    });
    drop(stuck);
    sender.send(packet("N0SEND", number));
    receives(&mut reader, "N0SEND", number..number + 1);
}

#[test]
fn a_flooding_client_does_not_starve_others() {
    let server = Server::start(
        "WorkerThreads 1\nListen full fullfeed tcp 127.0.0.1 0\nListen in igate tcp 127.0.0.1 0",
    );
    let mut reader = Client::filtered(server.port("in"), "N0READ", "p/N0OTH");
    let mut other = Client::login(server.port("in"), "N0OTH");
    let flood = Client::login(server.port("in"), "N0FLOOD");
    let stream = flood.stream().try_clone().unwrap();
    let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let poured = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let flooding = {
        let (over, poured) = (std::sync::Arc::clone(&over), std::sync::Arc::clone(&poured));
        std::thread::spawn(move || pour(stream, &over, &poured))
    };
    // At least so many, and until what came beside them was a flood.
    let is_flood = || poured.load(std::sync::atomic::Ordering::Relaxed) > 100_000;
    let mut number = 0;
    while number < 50 || !is_flood() && number < 100_000 {
        passes_as_is(&mut other, &mut reader, packet("N0OTH", number));
        number += 1;
    }
    assert!(is_flood(), "{poured:?} octets are no flood");
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    flooding.join().unwrap();
}

/// Writes lines until told to stop, and counts the octets that went.
fn pour(
    mut stream: TcpStream,
    over: &std::sync::atomic::AtomicBool,
    poured: &std::sync::atomic::AtomicUsize,
) {
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    let mut number = 0;
    while !over.load(relaxed) && poured.load(relaxed) < 1 << 30 {
        let lines: String = (0..100)
            .map(|_| {
                number += 1;
                packet("N0FLOOD", number) + "\r\n"
            })
            .collect();
        match stream.write_all(lines.as_bytes()) {
            Ok(()) => {
                poured.fetch_add(lines.len(), relaxed);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}

#[test]
fn who_does_not_log_in_is_cut_while_others_go_on() {
    let server = Server::start("LoginTimeout 1s\nListen full fullfeed tcp 127.0.0.1 0");
    let mut slow = Client::connect(server.port("full"));
    slow.comment("# ");
    slow.write("user N0SL");
    let mut reader = Client::login(server.port("full"), "N0READ");
    let mut sender = Client::login(server.port("full"), "N0SEND");
    passes_as_is(&mut sender, &mut reader, packet("N0SEND", 1));
    slow.until_closed();
    passes_as_is(&mut sender, &mut reader, packet("N0SEND", 2));
}

#[test]
fn without_descriptors_connections_wait_and_clients_are_served() {
    let server = Server::start(
        "FileLimit 64\nMaxClients 200\nListen full fullfeed tcp 127.0.0.1 0 maxclients 200",
    );
    let mut reader = Client::login(server.port("full"), "N0READ");
    let mut sender = Client::login(server.port("full"), "N0SEND");
    let mut many: Vec<Client> = (0..80).map(|_| Client::connect(server.port("full"))).collect();
    let mut tries = 0;
    while !server.said().contains("connections cannot be accepted") {
        tries += 1;
        assert!(tries < 6000, "{}", server.said());
        clock::sleep(Duration::from_millis(10));
    }
    passes_as_is(&mut sender, &mut reader, packet("N0SEND", 1));
    clock::sleep(Duration::from_millis(500));
    let said = server.said().matches("connections cannot be accepted").count();
    assert_eq!(said, 1, "it is said once, and not tried in a loop");
    // Those who waited are taken when others leave.
    let mut last = many.pop().unwrap();
    drop(many);
    last.comment("# ");
    Client::login(server.port("full"), "N0LAST");
}

#[test]
fn thousands_may_come_at_once() {
    let server = Server::start(
        "MaxClients 3000\nListen full fullfeed tcp 127.0.0.1 0 maxclients 3000\n\
         HTTPStatus 127.0.0.1 0",
    );
    let port = server.port("full");
    let mut clients: Vec<Client> = (0..1000).map(|_| Client::connect(port)).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(format!("user N{number}X pass -1 vers test 1"));
    }
    for (number, client) in clients.iter_mut().enumerate() {
        let answer = client.logresp();
        assert!(answer.contains(&format!(" N{number}X unverified")), "{answer}");
    }
    assert_eq!(server.status()["clients"].as_array().unwrap().len(), 1000);
}
