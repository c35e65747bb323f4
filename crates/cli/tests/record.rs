//! `chronoscope record` and the playing of what it wrote, as their users run them; read by tools of
//! others.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const ANY: (&str, u16) = ("127.0.0.1", 0);

fn chronoscope(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).env("TZ", "UTC");
    command
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn patient(socket: UdpSocket) -> UdpSocket {
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// Records thirty datagrams and a connection; returns the summary and where it listened.
fn recorded(folder: &Path) -> (Value, SocketAddr, SocketAddr) {
    let plots = patient(UdpSocket::bind(ANY).unwrap());
    let queries = TcpListener::bind(ANY).unwrap();
    let udp = format!("127.0.0.1:0={}", plots.local_addr().unwrap());
    let tcp = format!("127.0.0.1:0={}", queries.local_addr().unwrap());
    let into = folder.to_str().unwrap();
    let mut command = chronoscope(&["record", "--into", into, "--udp", &udp, "--tcp", &tcp]);
    command.args(["--json", "--file-size", "1k"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut recorder = command.spawn().unwrap();
    let mut says = BufReader::new(recorder.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut listens =
        || -> SocketAddr { says.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap() };
    let (udp, tcp) = (listens(), listens());
    let sender = UdpSocket::bind(ANY).unwrap();
    let mut octets = [0; 100];
    for n in 0..30_u8 {
        sender.send_to(&[n; 60], udp).unwrap();
        assert_eq!(plots.recv(&mut octets).unwrap(), 60);
    }
    let mut stream = TcpStream::connect(tcp).unwrap();
    let (mut accepted, _) = queries.accept().unwrap();
    stream.write_all(b"user N0CALL pass -1\r\n").unwrap();
    accepted.write_all(b"# logresp\r\n").unwrap();
    stream.read_exact(&mut [0; 11]).unwrap();
    drop(stream);
    accepted.read_to_end(&mut Vec::new()).unwrap();
    drop(accepted);
    let pid = recorder.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    says.for_each(drop);
    let output = recorder.wait_with_output().unwrap();
    assert!(output.status.success());
    (serde_json::from_slice(&output.stdout).unwrap(), udp, tcp)
}

#[test]
fn what_a_relay_recorded_is_read_by_others_and_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let (summary, udp, tcp) = recorded(folder.path());
    let summary = &summary["record"];
    assert_eq!(
        (&summary["relay"]["datagrams"], &summary["relay"]["connections"]),
        (&30.into(), &1.into())
    );
    assert_eq!(summary["durable"], summary["arrived"]);
    assert_eq!(summary["overrun"], 0);
    assert!(summary["files"].as_u64().unwrap() > 2);
    read_by_tools_of_others(folder.path(), udp, tcp);

    let plots = patient(UdpSocket::bind(ANY).unwrap());
    let queries = TcpListener::bind(ANY).unwrap();
    let answers = folder.path().join("answers");
    let udp = format!("udp {}={}", udp.port(), plots.local_addr().unwrap());
    let tcp = format!("tcp:{}", queries.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut accepted, _) = queries.accept().unwrap();
        let mut octets = Vec::new();
        accepted.write_all(b"# another answer\r\n").unwrap();
        accepted.read_to_end(&mut octets).unwrap();
        octets
    });
    let mut play = chronoscope(&["replay", folder.path().to_str().unwrap(), "--factor", "10"]);
    play.args(["--map", &udp, "--to", &tcp, "--json", "--out", answers.to_str().unwrap()]);
    let output = play.output().unwrap();
    assert!(output.status.success(), "{}", words(&output.stderr));
    let played: Value = serde_json::from_slice(&output.stdout).unwrap();
    let inputs = played["played"]["inputs"].as_array().unwrap();
    let total: u64 = inputs.iter().map(|input| input["inputs"].as_u64().unwrap()).sum();
    assert_eq!(total, 30 + 3, "datagrams; opened, octets, ended: {played}");
    let mut octets = [0; 100];
    for n in 0..30_u8 {
        let length = plots.recv(&mut octets).unwrap();
        assert_eq!(octets[..length], [n; 60], "in their order");
    }
    assert_eq!(server.join().unwrap(), b"user N0CALL pass -1\r\n");
    let kept = std::fs::read_dir(answers).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(kept, ["# another answer\r\n"]);
}

/// tcpdump and Wireshark's capinfos and tshark, where they are.
fn read_by_tools_of_others(folder: &Path, udp: SocketAddr, tcp: SocketAddr) {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|suffix| suffix == "pcapng"));
    files.sort();
    let run = |program: &str, args: &[&str], file: &Path| -> Option<Output> {
        let output = Command::new(program).args(args).arg(file).output();
        if output.is_err() {
            eprintln!("SKIPPED: no {program} (Debian packages tcpdump, tshark)");
        }
        let output = output.ok()?;
        assert!(output.status.success(), "{program}: {}", words(&output.stderr));
        Some(output)
    };
    let (mut by_tcpdump, mut by_tshark) = (String::new(), String::new());
    for file in &files {
        let Some(output) = run("tcpdump", &["-nnv", "-r"], file) else { break };
        by_tcpdump += &words(&output.stdout);
    }
    if !by_tcpdump.is_empty() {
        let to = format!("> 127.0.0.1.{}", udp.port());
        assert_eq!(by_tcpdump.matches(&to).count(), 30, "{by_tcpdump}");
        let to = format!("> 127.0.0.1.{}", tcp.port());
        assert!(
            by_tcpdump.matches(&to).count() >= 3 && !by_tcpdump.contains("bad"),
            "{by_tcpdump}"
        );
    }
    for file in &files {
        let fields = ["-T", "fields", "-e", "udp.dstport", "-e", "tcp.payload", "-r"];
        let Some(output) = run("tshark", &fields, file) else { return };
        by_tshark += &words(&output.stdout);
        run("capinfos", &["-c"], file);
    }
    let port = udp.port().to_string();
    let datagrams = by_tshark.lines().filter(|line| line.split('\t').next() == Some(&port));
    assert_eq!(datagrams.count(), 30, "{by_tshark}");
    assert!(by_tshark.contains("75736572204e3043414c4c"), "user N0CALL: {by_tshark}");
}

#[test]
fn standard_input_is_passed_on_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().to_str().unwrap();
    let mut command = chronoscope(&["record", "--into", into, "--stdin", "--quiet"]);
    let mut recorder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let sent: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let mut input = recorder.stdin.take().unwrap();
    let octets = sent.clone();
    let writes = std::thread::spawn(move || input.write_all(&octets).unwrap());
    let output = recorder.wait_with_output().unwrap();
    writes.join().unwrap();
    assert!(output.status.success() && output.stdout == sent);
    let (inputs, _) =
        chronoscope_replay::journal::read_all(&folder.path().join("journal")).unwrap();
    let octets: Vec<u8> = inputs.into_iter().flat_map(|input| input.octets).collect();
    assert!(octets == sent);
}

#[test]
fn a_missing_privilege_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-net_raw", "--inh-caps=-net_raw"]);
    command.arg(env!("CARGO_BIN_EXE_chronoscope")).args(["record", "--capture", "lo", "--into"]);
    let Ok(output) = command.arg(folder.path()).output() else {
        return eprintln!("SKIPPED: no setpriv (Debian package util-linux)");
    };
    let says = words(&output.stderr);
    if says.contains("setpriv:") {
        return eprintln!("SKIPPED: {says}");
    }
    assert_eq!(output.status.code(), Some(4), "{says}");
    for part in ["CAP_NET_RAW", "setcap", "--udp", "--import"] {
        assert!(says.contains(part), "{part}: {says}");
    }
}
