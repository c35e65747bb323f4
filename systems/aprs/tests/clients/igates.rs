//! Debian's igates, each with a radio that is played by the test.

use super::{Program, root};
use crate::common::{Client, Server, free_port, loopback, passcode, text};
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The program, installed where that may be done.
fn installed(package: &str) -> bool {
    let script = format!(". tools/env.sh; need {package} {package}");
    let status =
        Command::new("sh").arg("-c").arg(script).current_dir(root()).stdout(Stdio::null()).status();
    let there = status.is_ok_and(|status| status.success());
    if !there {
        eprintln!("SKIPPED: {package}: Debian's package {package} cannot be had here");
    }
    there
}

/// An AX.25 UI frame as a radio's modem gives it to programs: KISS.
fn kiss(source: &str, destination: &str, payload: &str) -> Vec<u8> {
    let mut frame = vec![0xC0, 0];
    for (call, last) in [(destination, 0), (source, 1)] {
        frame.extend(format!("{call:6}").bytes().map(|octet| octet << 1));
        frame.push(0x60 | last);
    }
    frame.extend([0x03, 0xF0]);
    frame.extend(payload.bytes());
    frame.push(0xC0);
    frame
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn aprx() {
    if !installed("aprx") {
        return;
    }
    let server = Server::basic();
    let mut full = Client::login(server.port("full"), "N5CAL-2");
    let address = server.port("igate");
    let modem = TcpListener::bind((loopback(), 0)).unwrap();
    let radio = modem.local_addr().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let config = format!(
        "mycall N0APX-1\n<aprsis>\npasscode {}\nserver {} {}\n</aprsis>\n\
         <logging>\npidfile {}\nrflog {}\naprxlog {}\nerlangfile {}\n</logging>\n\
         <interface>\ntcp-device {} {} KISS\ncallsign N0APX-1\ntx-ok false\n</interface>\n",
        passcode("N0APX"),
        address.ip(),
        address.port(),
        file("pid"),
        file("rf"),
        file("log"),
        file("erlang"),
        radio.ip(),
        radio.port(),
    );
    write(&dir.path().join("conf"), &config);
    let mut command = Command::new("aprx");
    command.arg("-d").arg("-f").arg(dir.path().join("conf")).stderr(Stdio::null());
    let _program = Program::start(&mut command);
    let (mut stream, _) = modem.accept().unwrap();
    // It connects to its server ten seconds after its start: the radio says something until then.
    for number in 0..60 {
        let payload = format!("!6028.51N/02505.68E#by radio {number}");
        stream.write_all(&kiss("OH2RDP", "APRS", &payload)).unwrap();
        if let Some(line) = full.packet_within(Duration::from_millis(500)) {
            let line = text(&line);
            assert!(line.starts_with("OH2RDP>APRS,qA"), "{line}");
            assert!(line.contains(",N0APX-1:!6028.51N/02505.68E#by radio "), "{line}");
            return;
        }
    }
    panic!("nothing of the radio reached the server");
}

#[test]
fn direwolf() {
    if !installed("direwolf") {
        return;
    }
    let address = free_port(loopback());
    let (ip, port) = (address.ip(), address.port());
    let server = Server::with(&format!("Listen low igate tcp {ip} {port}\n"));
    let mut full = Client::login(server.port("full"), "N5CAL-2");
    let dir = tempfile::tempdir().unwrap();
    // No sound: samples come by stdin, and none do. It sends some seconds after its login.
    let config = format!(
        "ADEVICE stdin null\nACHANNELS 1\nCHANNEL 0\nMYCALL N0DRW-1\nAGWPORT 0\nKISSPORT 0\n\
         IGSERVER {ip} {port}\nIGLOGIN N0DRW-1 {}\nIGFILTER p/OH\n\
         PBEACON sendto=IG delay=0:15 every=10:00 symbol=\"igate\" lat=60^28.51N long=025^05.68E\n",
        passcode("N0DRW"),
    );
    write(&dir.path().join("conf"), &config);
    let mut command = Command::new("direwolf");
    command.arg("-t").arg("0").arg("-c").arg(dir.path().join("conf")).arg("-");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let received = full.packet_within(Duration::from_secs(90)).map(|line| text(&line));
    let _ = child.kill();
    let _ = child.wait();
    let received = received.unwrap_or_default();
    assert!(received.starts_with("N0DRW-1>"), "{received}");
    assert!(received.contains(",TCPIP*,qAC,TESTING:"), "{received}");
}
