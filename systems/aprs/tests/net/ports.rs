//! Families of addresses, access lists, reloads, SCTP.

use super::common::{Client, Sends, Server, free_port, loopback, passes_as_is};
use std::fs;
use std::net::{Ipv6Addr, SocketAddr, TcpStream};

#[test]
fn any_address_takes_both_families_and_shows_ipv4_as_such() {
    let server = Server::start("Listen both fullfeed tcp :: 0\nHTTPStatus 127.0.0.1 0");
    let port = server.port("both").port();
    let mut four = Client::login(SocketAddr::from(([127, 0, 0, 1], port)), "N0FOUR-1");
    let mut six = Client::login((Ipv6Addr::LOCALHOST, port).into(), "N0SIX-1");
    passes_as_is(&mut four, &mut six, "N0FOUR-1>APRS,TCPIP*,qAC,TESTING:>over IPv4");
    passes_as_is(&mut six, &mut four, "N0SIX-1>APRS,TCPIP*,qAC,TESTING:>over IPv6");
    let text = server.get("/status.json");
    assert!(text.contains("\"127.0.0.1:") && !text.contains("::ffff:"), "{text}");
}

#[test]
fn an_access_list_refuses_before_a_word_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("list.acl");
    fs::write(&list, "deny 127.0.0.1/32\nallow 127.0.0.0/8\n").unwrap();
    // The server reads it as another user.
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let server =
        Server::start(&format!("Listen one fullfeed tcp 0.0.0.0 0 acl {}", list.display()));
    let port = server.port("one").port();
    let refused = Client::connect(SocketAddr::from(([127, 0, 0, 1], port))).until_closed();
    assert!(refused.is_empty(), "{refused:?}");
    // From another address of this host.
    let other = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    other.bind(&SocketAddr::from(([127, 0, 0, 2], 0)).into()).unwrap();
    other.connect(&SocketAddr::from(([127, 0, 0, 1], port)).into()).unwrap();
    let mut allowed = Client::accepted(TcpStream::from(other));
    allowed.comment("# ");
}

#[test]
fn a_reload_opens_new_ports_closes_old_ones_and_keeps_clients() {
    let (stays, goes) = (free_port(loopback()), free_port(loopback()));
    let comes = free_port(loopback());
    let listen = |name: &str, at: SocketAddr| {
        format!("Listen {name} fullfeed tcp {} {}", at.ip(), at.port())
    };
    let server = Server::start(&format!("{}\n{}", listen("stays", stays), listen("goes", goes)));
    let mut client = Client::login(stays, "N0AAA-1");
    let config = server.dir().join("aprs-server.conf");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace(&listen("goes", goes), &listen("comes", comes))).unwrap();
    server.signal("USR1");
    let mut tries = 0;
    let mut other = loop {
        match TcpStream::connect(comes) {
            Ok(_) => break Client::login(comes, "N0BBB-1"),
            Err(error) => assert!(tries < 3000, "{error}"),
        }
        tries += 1;
        chronoscope_clock::sleep(std::time::Duration::from_millis(20));
    };
    passes_as_is(&mut other, &mut client, "N0BBB-1>APRS,TCPIP*,qAC,TESTING:>hello");
    // Opened first, closed then.
    let mut tries = 0;
    while TcpStream::connect(goes).is_ok() {
        tries += 1;
        assert!(tries < 3000, "the old port stays open");
        chronoscope_clock::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn sctp_where_the_kernel_has_it() {
    let protocol = Some(socket2::Protocol::SCTP);
    let here = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, protocol);
    let Ok(here) = here else {
        eprintln!("SKIPPED: this kernel has no SCTP, so its ports were not tested");
        return;
    };
    let server = Server::start(
        "Listen sctp fullfeed sctp 127.0.0.1 0\nListen full fullfeed tcp 127.0.0.1 0",
    );
    here.connect(&server.port("sctp").into()).unwrap();
    let mut over_sctp = Client::accepted(TcpStream::from(here));
    let login = format!("user N0SCT-1 pass {} vers test 1", super::common::passcode("N0SCT"));
    over_sctp.send(login);
    over_sctp.logresp();
    let mut over_tcp = Client::login(server.port("full"), "N0TCP-1");
    passes_as_is(&mut over_sctp, &mut over_tcp, "N0SCT-1>APRS,TCPIP*,qAC,TESTING:>over SCTP");
    passes_as_is(&mut over_tcp, &mut over_sctp, "N0TCP-1>APRS,TCPIP*,qAC,TESTING:>over TCP");
}

#[test]
fn a_reload_of_a_file_with_faults_is_a_fault_until_one_without() {
    let server = Server::start("Listen one fullfeed tcp 127.0.0.1 0\nHTTPStatus 127.0.0.1 0\n");
    let config = server.dir().join("aprs-server.conf");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}\nNoSuchThing 1\n")).unwrap();
    server.signal("USR1");
    let is_told =
        |status: &serde_json::Value| status["faults"].to_string().contains("reload_failed");
    server.wait_for("the fault", is_told);
    fs::write(&config, text).unwrap();
    server.signal("USR1");
    server.wait_for("the end of the fault", |status| !is_told(status));
}
