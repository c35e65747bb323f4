//! How many may come, and how long they may be silent.

use crate::common::{Client, Sends, Server, passes_as_is, text};

#[test]
fn of_a_port() {
    let server = Server::with("Listen small fullfeed tcp 127.0.0.1 0 maxclients 2\n");
    let first = Client::login(server.port("small"), "N5CAL-1");
    let _second = Client::login(server.port("small"), "N5CAL-2");
    let lines = Client::connect(server.port("small")).until_closed();
    let lines: Vec<String> = lines.iter().map(|line| text(line)).collect();
    assert!(!lines.iter().any(|line| line.contains("logresp")), "{lines:?}");
    Client::login(server.port("full"), "N5CAL-3");
    drop(first);
    server.wait_for("there is room", |status| {
        let ports = status["listeners"].as_array().unwrap();
        ports.iter().any(|port| port["name"] == "small" && port["clients"] == 1)
    });
    Client::login(server.port("small"), "N5CAL-4");
}

#[test]
fn of_the_server() {
    let server = Server::with("MaxClients 2\n");
    let _first = Client::login(server.port("full"), "N5CAL-1");
    let _second = Client::login(server.port("igate"), "N5CAL-2");
    Client::connect(server.port("client")).until_closed();
}

#[test]
fn silent_clients_are_cut_where_the_operator_says_so() {
    let server = Server::with("ClientTimeout 1s\n");
    let mut client = Client::login(server.port("full"), "N5CAL-1");
    client.until_closed();
}

#[test]
fn who_may_not_connect() {
    let dir = tempfile::tempdir().unwrap();
    let acl = dir.path().join("acl");
    std::fs::write(&acl, "# nobody of this host\ndeny 127.0.0.0/8\nallow 0.0.0.0/0\n").unwrap();
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let directive = format!("Listen closed fullfeed tcp 127.0.0.1 0 acl \"{}\"\n", acl.display());
    let server = Server::with(&directive);
    let lines = Client::connect(server.port("closed")).until_closed();
    assert!(!lines.iter().any(|line| line.starts_with(b"# logresp")), "{lines:?}");
    Client::login(server.port("full"), "N5CAL-1");
}

#[test]
fn ipv6() {
    let server = Server::with("Listen six fullfeed tcp ::1 0\n");
    let mut rx = Client::login(server.port("six"), "N5CAL-2");
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    passes_as_is(&mut tx, &mut rx, "SRC>DST,qAR,N5CAL-1:six");
    rx.send("SRC>DST,qAR,N5CAL-2:back");
}
