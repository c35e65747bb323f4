//! Live upgrade: the same process, other program; clients stay, and lose and double nothing.

use super::common::{Client, Sends, Server, passes_as_is, text};
use chronoscope_clock as clock;
use std::fs;
use std::time::Duration;

const PORTS: &str = "Listen full fullfeed tcp 127.0.0.1 0\nListen igate igate tcp 127.0.0.1 0\n\
                     Listen submit udpsubmit udp 127.0.0.1 0\nHTTPStatus 127.0.0.1 0\n";

/// Upgrades, and waits for the file that says so.
#[track_caller]
fn upgrade(server: &Server) {
    let done = server.dir().join("liveupgrade.json.old");
    drop(fs::remove_file(&done));
    server.signal("USR2");
    for _ in 0..1000 {
        if done.exists() {
            return;
        }
        clock::sleep(Duration::from_millis(10));
    }
    panic!("no upgrade within 10 s:\n{}", server.said());
}

fn packet(number: usize) -> String {
    format!("N0SEND>APRS,TCPIP*,qAC,TESTING:>number {number}")
}

#[test]
fn clients_stay_connected_and_keep_login_filter_and_counters() {
    let mut server = Server::start(PORTS);
    let process = server.id();
    let mut sender = Client::login(server.port("full"), "N0SEND");
    let mut filtered = Client::filtered(server.port("igate"), "N0READ", "p/N0SEND");
    passes_as_is(&mut sender, &mut filtered, packet(0));
    for number in 1..4 {
        upgrade(&server);
        passes_as_is(&mut sender, &mut filtered, packet(number));
    }
    // A new client finds the same port.
    let mut fresh = Client::login(server.port("full"), "N0NEW");
    passes_as_is(&mut sender, &mut fresh, packet(4));
    assert_eq!(server.id(), process);
    let status = server.status();
    assert_eq!(status["clients"].as_array().unwrap().len(), 3, "{status:#}");
    server.signal("TERM");
    assert!(server.ended().success());
}

#[test]
fn nothing_is_lost_or_doubled_while_packets_flow() {
    let server = Server::start(PORTS);
    let mut sender = Client::login(server.port("full"), "N0SEND");
    let mut readers: Vec<Client> = (0..4)
        .map(|number| Client::login(server.port("full"), &format!("N{number}READ")))
        .collect();
    let count = 20_000;
    let sending = std::thread::spawn(move || {
        for number in 0..count {
            // In pieces that end anywhere in a line.
            let line = packet(number) + "\r\n";
            let (one, other) = line.as_bytes().split_at(number % line.len());
            sender.write(one);
            sender.write(other);
        }
        sender
    });
    for _ in 0..3 {
        upgrade(&server);
    }
    for reader in &mut readers {
        for number in 0..count {
            assert_eq!(text(&reader.packet()), packet(number));
        }
    }
    sending.join().unwrap();
}

#[test]
fn a_duplicate_is_known_after_an_upgrade() {
    let server = Server::start(PORTS);
    let mut sender = Client::login(server.port("full"), "N0SEND");
    let mut reader = Client::login(server.port("full"), "N0READ");
    passes_as_is(&mut sender, &mut reader, packet(1));
    upgrade(&server);
    sender.send(packet(1));
    passes_as_is(&mut sender, &mut reader, packet(2));
}

#[test]
fn a_configuration_with_faults_stops_an_upgrade_before_it_begins() {
    let server = Server::start(PORTS);
    let mut sender = Client::login(server.port("full"), "N0SEND");
    let mut reader = Client::login(server.port("full"), "N0READ");
    let config = server.dir().join("aprs-server.conf");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}\nNoSuchThing 1\n")).unwrap();
    server.signal("USR2");
    let mut tries = 0;
    while !server.said().contains("going on as before") {
        tries += 1;
        assert!(tries < 500, "{}", server.said());
        clock::sleep(Duration::from_millis(10));
    }
    passes_as_is(&mut sender, &mut reader, packet(1));
    fs::write(&config, text).unwrap();
    upgrade(&server);
    passes_as_is(&mut sender, &mut reader, packet(2));
}

#[test]
fn a_port_or_certificate_that_the_next_program_could_not_have_stops_an_upgrade() {
    let server = Server::start(PORTS);
    let mut sender = Client::login(server.port("full"), "N0SEND");
    let mut reader = Client::login(server.port("full"), "N0READ");
    let config = server.dir().join("aprs-server.conf");
    let text = fs::read_to_string(&config).unwrap();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().port();
    let faulty = [
        format!("Listen new fullfeed tcp 127.0.0.1 {taken}\n"),
        "Listen new fullfeed tcp 127.0.0.1 0 tlskey /nowhere tlscert /nowhere\n".to_owned(),
    ];
    for (number, line) in faulty.iter().enumerate() {
        fs::write(&config, format!("{text}{line}")).unwrap();
        server.signal("USR2");
        let mut tries = 0;
        while server.said().matches("going on as before").count() <= number {
            tries += 1;
            assert!(tries < 500, "{}", server.said());
            clock::sleep(Duration::from_millis(10));
        }
        passes_as_is(&mut sender, &mut reader, packet(number));
    }
    let faults = server.status()["alarms"].to_string();
    assert!(faults.contains("live_upgrade_failed"), "{faults}");
}
