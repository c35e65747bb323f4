//! Recorded inputs: the kept bytes, real captures, a writer that is killed.
#![allow(clippy::unwrap_used)]

#[path = "bytes/capture.rs"]
mod capture;
#[path = "bytes/clock_packet.rs"]
mod clock_packet;
#[path = "bytes/journal.rs"]
mod journal;

use chronoscope_clock as clock;
use chronoscope_replay::capture::{
    Arrival, ArrivalContent, Arrivals, CaptureReader, CaptureWriter,
};
use chronoscope_replay::journal::{Input, Limits, Tail, Writer, read_all};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A kept corpus, and every file of it cut at every octet and with every octet flipped.
fn replay(name: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        check(&bytes);
        for at in 0..bytes.len() {
            check(&bytes[..at]);
            let mut flipped = bytes.clone();
            flipped[at] ^= 0xff;
            check(&flipped);
        }
        count += 1;
    }
    assert!(count > 0, "no corpus of {name}");
}

#[test]
fn kept_captures_never_break_the_reader() {
    replay("capture", capture::check);
}

#[test]
fn kept_journals_never_break_the_reader() {
    replay("journal", journal::check);
}

#[test]
fn kept_packets_never_break_the_coordinator() {
    replay("clock_packet", clock_packet::check);
}

/// The kept journal of version 1 is read for ever.
#[test]
fn version_1_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/journal/version_1");
    std::fs::copy(kept, folder.path().join("0000000000.journal")).unwrap();
    let (inputs, torn) = read_all(folder.path()).unwrap();
    let input = |at_ns, channel: &str, octets: &[u8]| Input {
        at_ns,
        channel: channel.to_owned(),
        octets: octets.to_vec(),
    };
    assert_eq!(
        inputs,
        [input(-1, "radar", b"plot"), input(1_600_000_000_000_000_000, "query", b"")]
    );
    assert!(torn.is_empty());
}

/// tcpdump's own capture of this test's traffic on the loopback interface.
#[test]
fn a_capture_made_by_tcpdump_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.pcap");
    let receiver = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let (udp, tcp) = (receiver.local_addr().unwrap(), listener.local_addr().unwrap());
    let filter = format!("udp port {} or tcp port {}", udp.port(), tcp.port());
    let mut command = Command::new("tcpdump");
    command.args([
        "-i",
        "lo",
        "-U",
        "--immediate-mode",
        "--time-stamp-precision=nano",
        "-Z",
        "root",
    ]);
    command.arg("-w").arg(&path).arg(filter).stderr(Stdio::piped()).stdout(Stdio::null());
    let Ok(mut tcpdump) = command.spawn() else {
        return eprintln!("SKIPPED: no tcpdump (Debian package tcpdump)");
    };
    let mut says = String::new();
    let mut lines = BufReader::new(tcpdump.stderr.take().unwrap());
    while !says.contains("listening on") {
        if lines.read_line(&mut says).unwrap() == 0 {
            tcpdump.wait().unwrap();
            return eprintln!("SKIPPED: tcpdump may not capture here: {says}");
        }
    }
    let before_ns = clock::utc_now_ns();
    let sender = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
    let big: Vec<u8> = (0..=250).cycle().take(20_000).collect();
    sender.send_to(b"first", udp).unwrap();
    sender.send_to(&big, udp).unwrap();
    let mut stream = TcpStream::connect(tcp).unwrap();
    stream.write_all(&big).unwrap();
    drop(stream);
    let mut received = Vec::new();
    listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
    // tcpdump has the last packet when the file ends with what is read below.
    let mut arrived: Vec<Arrival> = Vec::new();
    for _ in 0..200 {
        if let Ok(reader) = CaptureReader::new(std::fs::File::open(&path).unwrap()) {
            arrived = Arrivals::new(reader).filter_map(Result::ok).collect();
        }
        if arrived
            .iter()
            .any(|arrival| arrival.to == tcp.into() && arrival.what == ArrivalContent::Ended)
        {
            break;
        }
        clock::sleep(Duration::from_millis(50));
    }
    tcpdump.kill().unwrap();
    tcpdump.wait().unwrap();
    let to_udp: Vec<_> =
        arrived.iter().filter(|a| a.to == udp.into()).map(|a| a.what.clone()).collect();
    assert_eq!(
        to_udp,
        [ArrivalContent::Datagram(b"first".to_vec()), ArrivalContent::Datagram(big.clone())]
    );
    let mut octets: Vec<u8> = Vec::new();
    for arrival in arrived.iter().filter(|a| a.to == tcp.into()) {
        if let ArrivalContent::Octets(some) = &arrival.what {
            octets.extend(some);
        }
    }
    assert_eq!(octets, big);
    assert!(arrived.iter().any(|a| a.to == tcp.into() && a.what == ArrivalContent::Opened));
    assert!(arrived.iter().all(|a| a.at_ns >= before_ns), "nanoseconds of UTC");
}

#[test]
fn tcpdump_reads_what_we_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ours.pcapng");
    let mut writer = CaptureWriter::new(std::fs::File::create(&path).unwrap()).unwrap();
    let [from, to] = ["10.0.0.1:4000", "10.0.0.2:8600"].map(|a| a.parse::<SocketAddrV4>().unwrap());
    writer.datagram(1_600_000_000_123_456_789, from, to, b"plots").unwrap();
    writer.finish().unwrap();
    let mut command = Command::new("tcpdump");
    command.args(["-nn", "-tt", "--time-stamp-precision=nano", "-v", "-r"]).arg(&path);
    let Ok(output) = command.output() else {
        return eprintln!("SKIPPED: no tcpdump (Debian package tcpdump)");
    };
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("1600000000.123456789 IP"), "{text}");
    assert!(text.contains("10.0.0.1.4000 > 10.0.0.2.8600: UDP, length 5"), "{text}");
    assert!(!text.contains("bad cksum"), "{text}");
}

const CHILD: &str = "CHRONOSCOPE_TEST_JOURNAL";

fn nth(n: u32) -> Input {
    let octets = n.to_le_bytes().repeat(1 + n as usize % 300);
    Input { at_ns: i64::from(n), channel: format!("channel {}", n % 3), octets }
}

/// What the killed process runs: it appends for ever and says what is durable.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let limits = Limits { file_bytes_max: 100_000, ..Limits::default() };
    let mut writer = Writer::new(Path::new(&folder), limits).unwrap();
    for n in 0..10_000_000 {
        writer.append(&nth(n)).unwrap();
        if n % 10 == 9 {
            writer.sync().unwrap();
            println!("\ndurable {n}");
        }
    }
}

#[test]
fn what_was_synced_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    for after in [3, 40] {
        let journal = folder.path().join(after.to_string());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_writes_until_it_is_killed", "--nocapture"])
            .env(CHILD, &journal)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let durable = lines
            .by_ref()
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("durable ")?.parse::<u32>().ok())
            .nth(after)
            .unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let (inputs, torn) = read_all(&journal).unwrap();
        assert!(inputs.len() as u64 > u64::from(durable), "{} of {durable}", inputs.len());
        let expected = (0..).take(inputs.len()).map(nth);
        assert!(inputs.iter().cloned().eq(expected), "in order, each once");
        assert!(torn.iter().all(|(_, tail)| matches!(tail, Tail::Torn { .. })) && torn.len() <= 1);
    }
}
