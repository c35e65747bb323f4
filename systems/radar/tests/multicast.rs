//! Plots and tracks by multicast, in a network of the test's own: a namespace with one interface, which is
//! removed and made again. Skipped, loudly, where no namespace or interface can be made.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

#[path = "support/programs.rs"]
mod programs;

use chronoscope_lab::{Namespace, tun};
use chronoscope_radar::asterix::cat034::{RadarPosition, ServiceMessage};
use chronoscope_radar::asterix::cat048::{Plot, Position};
use chronoscope_radar::asterix::{DataSource, Record, TimeOfDay, decode_block, encode_block};
use programs::{Chain, wait_for};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::Ipv4Addr;

const OURS: Ipv4Addr = Ipv4Addr::new(10, 81, 7, 1);
const RADAR: Ipv4Addr = Ipv4Addr::new(10, 81, 7, 9);
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 81, 7, 1);
const PORT: u16 = 4801;

/// A packet as it comes from the network: IPv4 and UDP (without its checksum, as is allowed).
fn packet(to: Ipv4Addr, content: &[u8]) -> Vec<u8> {
    let octets = u16::try_from(28 + content.len()).unwrap();
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 8, 17, 0, 0];
    packet[2..4].copy_from_slice(&octets.to_be_bytes());
    packet.extend(RADAR.octets());
    packet.extend(to.octets());
    let sum: u32 = packet.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    packet[10..12].copy_from_slice(&(!u16::try_from(folded).unwrap()).to_be_bytes());
    packet.extend(5000_u16.to_be_bytes());
    packet.extend(PORT.to_be_bytes());
    packet.extend((octets - 20).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend_from_slice(content);
    packet
}

/// A service message of another time each, so that none is a copy.
fn service(second: u32) -> Vec<u8> {
    let message = ServiceMessage {
        source: DataSource { sac: 25, sic: 7 },
        time_of_day: Some(TimeOfDay::from_ticks(128 * second)),
        ..ServiceMessage::default()
    };
    let mut octets = Vec::new();
    encode_block(&[message], &mut octets).unwrap();
    octets
}

/// Sends a service message, and waits until the process has taken it.
fn send(interface: &mut File, to: Ipv4Addr, second: u32, pid: u32) {
    interface.write_all(&packet(to, &service(second))).unwrap();
    wait_for("an empty queue", || {
        let table = std::fs::read_to_string(format!("/proc/{pid}/net/udp")).unwrap();
        table.lines().skip(1).all(|line| {
            line.split_whitespace().nth(4).is_some_and(|queues| queues.ends_with(":00000000"))
        })
    });
}

/// Whether the group is joined in the process's network: its address is there as the kernel keeps
/// it in memory.
fn is_joined(pid: u32) -> bool {
    let name = format!("{:08X}", u32::from_ne_bytes(GROUP.octets()));
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/igmp")).unwrap();
    // Interfaces begin a line, their groups stand below.
    let mut ours = false;
    table.lines().any(|line| {
        if !line.starts_with('\t') {
            ours = line.contains("radar0");
        }
        ours && line.contains(&name)
    })
}

#[test]
fn a_group_is_heard_on_the_interface_of_an_address_also_when_that_is_made_again() {
    let network = match Namespace::new() {
        Ok(network) => network,
        Err(error) => {
            eprintln!("SKIPPED: no network namespace can be made here: {error}");
            return;
        }
    };
    let interface = || {
        let mask = Ipv4Addr::new(255, 255, 255, 0);
        network.run(|| tun::open("radar0", OURS, mask, 1500)).unwrap()
    };
    let mut radar = match interface() {
        Ok(interface) => interface,
        Err(error) => {
            eprintln!("SKIPPED: no interface can be made here: {error}");
            return;
        }
    };
    let chain = Chain::new(1 << 10);
    let (at, group) = (format!("{OURS}:{PORT}"), GROUP.to_string());
    let arguments = ["--plots", &at, "--join", &group];
    let tracker = network.run(|| chain.tracker_with(&arguments)).unwrap();
    let pid = tracker.pid();
    assert!(is_joined(pid));
    send(&mut radar, GROUP, 1, pid);
    send(&mut radar, OURS, 2, pid);
    send(&mut radar, Ipv4Addr::new(239, 81, 7, 2), 3, pid);

    drop(radar);
    wait_for("the interface is gone", || !is_joined(pid));
    let mut radar = interface().unwrap();
    wait_for("the group is joined again", || is_joined(pid));
    send(&mut radar, GROUP, 4, pid);
    send(&mut radar, OURS, 5, pid);

    let summary = tracker.end();
    // All but the one to a group that nobody joined.
    assert_eq!(summary["processor"]["service_messages"], 4, "{summary:#}");
    assert_eq!(summary["processor"]["duplicate_services"], 0, "{summary:#}");
    assert_eq!(summary["rejoined"], 1, "{summary:#}");
}

/// The octets of the tracks' port in a packet that came out of the interface.
fn sent(packet: &[u8], to: Ipv4Addr, port: u16) -> Option<&[u8]> {
    let head = usize::from(packet.first()? & 15) * 4;
    let is_udp = packet.get(9)? == &17 && packet.get(16..20)? == to.octets();
    let is_port = packet.get(head + 2..head + 4)? == port.to_be_bytes();
    (is_udp && is_port).then(|| packet.get(head + 8..)).flatten()
}

/// Category 062 leaves by multicast, on the interface with an address, and the status messages with it.
#[test]
fn tracks_are_sent_to_a_group_on_the_interface_of_an_address() {
    let network = match Namespace::new() {
        Ok(network) => network,
        Err(error) => {
            eprintln!("SKIPPED: no network namespace can be made here: {error}");
            return;
        }
    };
    let mask = Ipv4Addr::new(255, 255, 255, 0);
    let mut interface = match network.run(|| tun::open("radar0", OURS, mask, 1500)).unwrap() {
        Ok(interface) => interface,
        Err(error) => {
            eprintln!("SKIPPED: no interface can be made here: {error}");
            return;
        }
    };
    let chain = Chain::new(1 << 10);
    let (at, ours) = (format!("{OURS}:{PORT}"), OURS.to_string());
    let to = format!("{GROUP}:4802");
    let arguments =
        ["--plots", &at, "--to", &to, "--to-interface", &ours, "--status-interval", "0.5"];
    let tracker = network.run(|| chain.tracker_with(&arguments)).unwrap();
    let now_ns = chronoscope_clock::utc_now_ns();
    let source = DataSource { sac: 25, sic: 7 };
    for turn in 0..4_i64 {
        let time_of_day = Some(TimeOfDay::from_utc_ns(now_ns + (turn - 3) * 2_000_000_000));
        let service = ServiceMessage {
            source,
            time_of_day,
            antenna_period_s: Some(2.0),
            position: Some(RadarPosition { height_m: 100.0, lat_deg: 50.0, lon_deg: 8.0 }),
            ..ServiceMessage::default()
        };
        let plot = Plot {
            source,
            time_of_day,
            position: Some(Position { range_nm: 50.0 + 0.25 * turn as f64, azimuth_deg: 0.0 }),
            aircraft_address: Some(0x3C_6444),
            ..Plot::default()
        };
        let mut octets = Vec::new();
        encode_block(&[service], &mut octets).unwrap();
        encode_block(&[plot], &mut octets).unwrap();
        interface.write_all(&packet(OURS, &octets)).unwrap();
    }
    let (mut tracks, mut systems, mut buffer) = (0, 0, vec![0; 2048]);
    wait_for("a track and a status by multicast", || {
        while let Ok(octets) = interface.read(&mut buffer) {
            let Some(block) = sent(&buffer[..octets], GROUP, 4802) else { continue };
            for record in decode_block(block) {
                match record.unwrap() {
                    Record::Track(track) => {
                        assert_eq!(track.derived.unwrap().address, Some(0x3C_6444));
                        tracks += 1;
                    }
                    Record::SystemStatus(_) => systems += 1,
                    Record::SensorStatus(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        tracks > 0 && systems > 0
    });
    let summary = tracker.end();
    assert_eq!(summary["processor"]["plots"], 4, "{summary:#}");
}
