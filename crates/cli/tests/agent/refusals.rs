//! What is refused, by name, while others go on.

use crate::certificates::{self, CertificateKind};
use crate::world::{Collector, Host, Program, TOKEN, wait_until};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

/// What an agent with this command line says about its connection.
fn trouble(host: &Host, command: &mut Command) -> String {
    let agent = Program::start(command);
    wait_until("the agent is in trouble", || agent.said().contains("trouble: "));
    assert_eq!(host.status()["delivery"]["connected"], false);
    let said = agent.said();
    let (_, trouble) = said.split_once("trouble: ").unwrap();
    trouble.lines().next().unwrap().to_owned()
}

#[test]
fn strangers_are_refused_by_name_and_harm_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let collector = Collector::new(Some(certificates::make(dir.path(), CertificateKind::Good)));
    let (serve, address) = collector.serve();
    let files = collector.tls.as_ref().unwrap();
    let good = Host::new();
    let agent = Program::start(&mut good.trusted_agent(address.port(), files));
    let mut measured = good.measured(1500, 1, 1 << 15);

    let url = format!("https://localhost:{}", address.port());
    let said = |change: &dyn Fn(&mut Command) -> &mut Command| {
        let host = Host::new();
        let mut command = host.trusted_agent(address.port(), files);
        trouble(&host, change(&mut command))
    };
    let wrong = said(&|command| command.env("CHRONOSCOPE_TOKEN", "another"));
    assert_eq!(wrong, "the collector refuses the token: the token is wrong (retrying)");
    let none = said(&|command| command.env_remove("CHRONOSCOPE_TOKEN"));
    assert!(none.contains("refuses the token: a token is needed"), "{none}");
    let other = certificates::make(&dir.path().join("other"), CertificateKind::Good);
    let host = Host::new();
    let mut command = host.agent(&url);
    let command = command.arg("--ca").arg(&other.authority).env("CHRONOSCOPE_TOKEN", TOKEN);
    let unknown = trouble(&host, command);
    assert!(
        unknown.contains("certificate") && unknown.contains("BadSignature")
            || unknown.contains("UnknownIssuer"),
        "{unknown}"
    );
    let host = Host::new();
    let mut command = host.agent(&format!("http://localhost:{}", address.port()));
    let plain = trouble(&host, command.env("CHRONOSCOPE_TOKEN", TOKEN));
    assert!(plain.contains("; where the port speaks TLS, the URL begins with https://"), "{plain}");
    garbage(address);
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(garbage).unwrap();
    }

    assert!(measured.wait().unwrap().success());
    wait_until("all is delivered", || good.is_done());
    agent.stop();
    let high_water = memory_high_water(serve.id());
    assert!(high_water < 256 << 20, "{high_water} bytes");
    serve.stop();
    collector.assert_all_once(3000);
}

/// Bytes that are no TLS, no HTTP and no end.
fn garbage(address: SocketAddr) {
    let mut state = 1u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    })
    .take(1 << 20)
    .collect();
    for from in 0..8 {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // It may be closed before all is out.
        let _ = stream.write_all(&noise[from..]);
        let mut answer = Vec::new();
        let _ = stream.take(4096).read_to_end(&mut answer);
        assert!(answer.len() < 4096);
    }
}

/// The most memory that a process has had, in bytes.
fn memory_high_water(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn certificates_of_yesterday_and_of_others_are_refused_by_name() {
    for (kind, reason) in
        [(CertificateKind::Expired, "expired"), (CertificateKind::OtherName, "not valid for name")]
    {
        let dir = tempfile::tempdir().unwrap();
        let collector = Collector::new(Some(certificates::make(dir.path(), kind)));
        let (_serve, address) = collector.serve();
        let host = Host::new();
        let files = collector.tls.as_ref().unwrap();
        let said = trouble(&host, &mut host.trusted_agent(address.port(), files));
        assert!(said.starts_with("cannot connect: ") && said.contains(reason), "{said}");
    }
}

#[test]
fn tls_to_a_plain_port_is_told() {
    let collector = Collector::new(None);
    let (_serve, address) = collector.serve();
    let dir = tempfile::tempdir().unwrap();
    let files = certificates::make(dir.path(), CertificateKind::Good);
    let host = Host::new();
    let said = trouble(&host, &mut host.trusted_agent(address.port(), &files));
    assert!(said.starts_with("cannot connect: "), "{said}");
}

#[test]
fn an_open_door_is_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(args).env("CHRONOSCOPE_DATA", dir.path()).env_remove("CHRONOSCOPE_TOKEN");
        let output = command.env("CHRONOSCOPE_DIR", dir.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = run(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(said.contains("TLS and a token are missing"), "{said}");
    let said = run(&["agent", "--to", "http://192.0.2.1:7000"]);
    assert!(said.contains("http://192.0.2.1:7000 is not on this host"), "{said}");
}
