//! Frames through the programs: offline out of a store, and timely to one who does not keep up.

use crate::station::{Station, results, signal, until};
use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::frame::ReceivedFrame;
use chronoscope_sle::pdu::FrameQuality;
use chronoscope_sle::source::StoreWriter;
use std::fs::{self, File};
use std::net::UdpSocket;

/// 2026-11-22T08:00:00Z, in nanoseconds since 1970.
const EIGHT_NS: u64 = 1_795_334_400_000_000_000;

fn store(path: &std::path::Path) {
    let mut writer = StoreWriter::new(File::create(path).unwrap()).unwrap();
    // One a second, from eight o'clock on, with its second in it.
    for second in 0..600u64 {
        let frame = ReceivedFrame {
            data: Bytes::from(second.to_be_bytes().repeat(10)),
            received_utc_ns: EIGHT_NS + second * 1_000_000_000,
            quality: FrameQuality::Good,
            annotation: None,
        };
        writer.write(&frame).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn offline_a_span_of_the_store_is_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pass.frames");
    store(&file);
    let instances = format!(
        "[[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=offl1\"\n[instance.return]\n\
         delivery = \"offline\"\nfile = \"{}\"\n",
        file.display()
    );
    let station = Station::of(&instances, &[]);
    let out = folder.path().join("out");
    let span = |from: &str, until: &str| {
        let span = ["receive", "--raw", "--out", out.to_str().unwrap(), "--from", from, "--until"];
        station.user(&[&["--json"], &span[..], &[until]].concat())
    };
    // Twice: a store can be asked again, and from anywhere.
    for (from, until, seconds) in [
        ("2026-11-22T08:01:00Z", "2026-11-22T08:02:30Z", 60..=150),
        ("2026-11-22T08:00:00Z", "2026-11-22T08:00:09.5Z", 0..=9),
    ] {
        let output = span(from, until);
        assert!(output.status.success(), "{output:?}");
        let got = results(&output).pop().unwrap();
        let expected: Vec<u8> =
            seconds.clone().flat_map(|second: u64| second.to_be_bytes().repeat(10)).collect();
        assert_eq!(got["frames"], seconds.count(), "{got}");
        assert_eq!(got["end_of_data"], true);
        assert_eq!(fs::read(&out).unwrap(), expected);
    }
    let refused = station.user(&["receive", "--from", "2026-11-22T08:00:00Z"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("START was refused: missing time value"), "{said}");
}

/// A user that is stopped (SIGSTOP) loses frames and is told that he did; the modem is not held up.
#[test]
fn timely_what_is_not_taken_in_time_is_discarded_and_told() {
    let instances = "[transport]\noutput_max = 65536\nsend_buffer = 16384\nreceive_buffer = 16384\n\
                     [[instance]]\nid = \"sagr=1.spack=A.rsl-fg=1.raf=onlt1\"\n[instance.return]\n\
                     delivery = \"timely\"\nudp = \"127.0.0.1:0\"\n";
    let station = Station::of(instances, &[]);
    let user = station.command(&["--json", "receive"]).spawn().unwrap();
    until(|| station.status("onlt1").contains("Active"));
    let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut sent = 0;
    let mut send = |count: u64| {
        for _ in 0..count {
            modem.send_to(&[0x1a; 1000], &station.sources[0]).unwrap();
        }
        sent += count;
        // No more than the socket keeps. What the kernel drops all the same is not missed.
        let patience_ns = clock::monotonic_ns() + 5_000_000_000;
        until(|| station.count("onlt1", "received") == sent || clock::monotonic_ns() > patience_ns);
        sent = station.count("onlt1", "received");
    };
    send(100);
    signal(&user, "-STOP");
    while station.count("onlt1", "discarded") == 0 {
        send(100);
    }
    signal(&user, "-CONT");
    let discarded = || station.count("onlt1", "discarded");
    let mut before = discarded();
    loop {
        send(80);
        let now = discarded();
        if now == before {
            break; // it is taken again
        }
        before = now;
    }
    until(|| station.count("onlt1", "delivered") + station.count("onlt1", "discarded") == sent);
    signal(&user, "-INT");
    let output = user.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let got = results(&output).pop().unwrap();
    assert!(got["backlogs"].as_u64().unwrap() > 0, "he was told: {got}");
    assert_eq!(got["frames"], sent - station.count("onlt1", "discarded"), "{got}");
}
