//! Real programs that tell counters: net-snmp's `snmpd` and Prometheus' `node_exporter`, from
//! Debian's packages.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // each test uses a part of it

use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Whether a program is there, or could be installed.
pub fn installed(command: &str, package: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = format!(". tools/env.sh; PATH=$PATH:/usr/sbin:/sbin; need {command} {package}");
    let status =
        Command::new("sh").arg("-c").arg(script).current_dir(root).stdout(Stdio::null()).status();
    let there = status.is_ok_and(|status| status.success());
    if !there {
        eprintln!("SKIPPED: {command}: Debian's package {package} cannot be had here");
    }
    there
}

/// A program that ends with the test.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts snmpd in `dir`, answering at `addresses`, which are waited for. Users and communities are
/// lines of its configuration; what it remembers of itself is in `dir`.
pub fn snmpd(dir: &Path, addresses: &[SocketAddr], lines: &str) -> Running {
    let agent: Vec<String> = addresses.iter().map(|address| format!("udp:{address}")).collect();
    let configuration = format!("agentaddress {}\n{lines}\n", agent.join(","));
    std::fs::write(dir.join("snmpd.conf"), configuration).unwrap();
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let child = Command::new("snmpd")
        .args(["-f", "-Ln", "-C", "-I", "-smux", "-c", "snmpd.conf"])
        .env("PATH", path)
        .env("SNMP_PERSISTENT_DIR", dir)
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let running = Running(child);
    answers(*addresses.last().unwrap());
    running
}

/// Waits until an agent says who it is: to version 3 it says so whoever asks (RFC 3414, 4).
fn answers(address: SocketAddr) {
    use chronoscope_net::scan::snmp::{Passwords, Session};
    let socket = UdpSocket::bind((address.ip(), 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut session = Session::v3("nobody", Passwords::new(None, None), 1, 1);
    let question = session.start(0).unwrap();
    for _ in 0..400 {
        let _ = socket.send_to(&question, address); // refused until it listens
        if socket.recv(&mut [0; 2048]).is_ok() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(10));
    }
    panic!("snmpd does not answer at {address}");
}

/// A port of `ip` that nobody gets until this process ends.
pub fn free_port(ip: &str) -> SocketAddr {
    chronoscope_lab::reserve_port(ip.parse().unwrap()).unwrap()
}

/// Starts node_exporter at a port of its own.
pub fn node_exporter() -> (Running, u16) {
    let port = free_port("127.0.0.1").port();
    let child = Command::new("prometheus-node-exporter")
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let running = Running(child);
    for _ in 0..1000 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return (running, port);
        }
        chronoscope_clock::sleep(Duration::from_millis(10));
    }
    panic!("node_exporter does not listen");
}
