//! `send` ends when every CLTU's fate is known, and its exit code says whether all were radiated.

use crate::station::{Station, results, until};
use serde_json::Value;
use std::collections::HashMap;
use std::net::UdpSocket;
use std::process::Output;
use std::time::Duration;

/// An FCLTU instance with these settings.
fn station(forward: &str) -> Station {
    let id = "sagr=1.spack=A.fsl-fg=1.cltu=cltu1";
    Station::of(&format!("[[instance]]\nid = \"{id}\"\n[instance.forward]\n{forward}\n"), &[])
}

/// A modem that receives CLTUs, and an instance that radiates to it at a bit rate.
fn radiating(bit_rate: u32, more: &str) -> (Station, UdpSocket) {
    let modem = UdpSocket::bind("127.0.0.1:0").unwrap();
    // CLTUs wait here until the test looks: none may be lost.
    socket2::SockRef::from(&modem).set_recv_buffer_size(8 << 20).unwrap();
    modem.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let address = modem.local_addr().unwrap();
    (station(&format!("bit_rate = {bit_rate}\nmodem = \"{address}\"\n{more}")), modem)
}

/// The counters of so many CLTUs that the modem has received.
fn received(modem: &UdpSocket, count: usize) -> Vec<u64> {
    let mut octets = [0; 65_536];
    let mut one = || {
        let length = modem.recv(&mut octets).unwrap();
        assert!(length >= 8);
        u64::from_be_bytes(octets[..8].try_into().unwrap())
    };
    (0..count).map(|_| one()).collect()
}

fn by_fate(output: &Output) -> (HashMap<String, u64>, Value) {
    let mut all = results(output);
    let summary = all.pop().unwrap();
    let mut fates = HashMap::new();
    for one in &all {
        let fate = one["fate"].as_str().unwrap().to_owned();
        *fates.entry(fate).or_insert(0) += one["count"].as_u64().unwrap();
    }
    (fates, summary)
}

/// STOP went out after the last acknowledgement, the station discarded its queue, and the exit code
/// was 0.
#[test]
fn send_does_not_stop_before_the_last_cltu_is_radiated() {
    // 200 CLTUs of 1000 octets at 4 Mbit/s are on the air for 0.4 s.
    let (station, modem) = radiating(4_000_000, "");
    let output = station.user(&["--json", "send", "--generate", "200"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (fates, summary) = by_fate(&output);
    assert_eq!(fates, HashMap::from([("radiated".to_owned(), 200)]), "{summary}");
    assert_eq!(received(&modem, 200), (0..200).collect::<Vec<_>>());
}

#[test]
fn the_fast_one_says_that_it_may_discard() {
    let (station, _modem) = radiating(1_000_000, "");
    let output = station.user(&["--json", "send", "--generate", "200", "--acknowledged"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (_, summary) = by_fate(&output);
    assert_eq!((&summary["acknowledged"], &summary["journal"]), (&200.into(), &Value::Null));
    assert!(station.count("cltu1", "discarded") > 0, "STOP discards the queue");
}

#[test]
fn what_expires_has_an_exit_code_of_its_own() {
    // Each is on the air for 80 ms, and must be radiated within 0.3 s.
    let (station, _modem) = radiating(100_000, "");
    let args = ["--json", "send", "--generate", "20", "--latest-s", "0.3"];
    let output = station.user(&args);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let (fates, summary) = by_fate(&output);
    assert_eq!(fates["expired"], 1, "{summary}");
    assert!(fates["radiated"] >= 1 && fates["discarded"] >= 1, "{summary}");
    assert_eq!(fates.values().sum::<u64>(), 20);
}

#[test]
fn a_refusal_is_told_and_what_was_before_it_is_radiated() {
    let (station, modem) = radiating(1_000_000, "cltu_max = 100");
    let file = station.folder.path().join("cltus");
    // The last piece is shorter: that of 101 octets cannot be the last one.
    std::fs::write(&file, vec![7; 250]).unwrap();
    let path = file.to_str().unwrap();
    let good = station.user(&["--json", "send", "--file", path, "--octets", "100"]);
    assert_eq!(good.status.code(), Some(0), "{good:?}");
    received(&modem, 3);
    let output = station.user(&["--json", "send", "--file", path, "--octets", "101"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let all = results(&output);
    assert_eq!(all[0]["fate"], "refused");
    assert_eq!(all[0]["diagnostic"], "CLTU error", "{all:?}");
}

/// 31 MB crossed the link for 1 MB, because all was sent again every 5 ms.
#[test]
fn a_full_buffer_is_waited_for_and_not_flooded() {
    // 300 CLTUs of 1000 octets into a buffer of 20,000, radiated at 8 Mbit/s: 0.3 s.
    let (station, modem) = radiating(8_000_000, "buffer = 20000");
    let output = station.user(&["--json", "send", "--generate", "300"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (fates, summary) = by_fate(&output);
    assert_eq!(fates, HashMap::from([("radiated".to_owned(), 300)]), "one fate each: {summary}");
    assert_eq!(received(&modem, 300), (0..300).collect::<Vec<_>>());
    let again = summary["resent_octets"].as_u64().unwrap();
    assert!(again <= 150_000, "at most half of the data again: {summary}");
}

/// Production stops in the middle: what was lost is told, and nobody waits for ever.
#[test]
fn an_interruption_of_production_ends_it() {
    let (station, _modem) = radiating(100_000, "");
    let child = station.command(&["--json", "send", "--generate", "50"]).spawn().unwrap();
    until(|| station.count("cltu1", "received") == 50);
    assert_eq!(station.order("interrupt cltu1"), "ok");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let (fates, summary) = by_fate(&output);
    assert_eq!(fates["interrupted"], 1, "{summary}");
    assert!(fates["discarded"] > 1, "{summary}");
}
