//! Benchmark of a packet's cost between parser and filters: q construct (with the parser that it
//! needs), duplicate check, last position.
//!
//! `cargo bench -p chronoscope-aprs --bench dupes`. The tables are as full as after 30 s at 1000,
//! 10,000 and 100,000 packets/s. Of the packets a third come a second time (as from a second
//! gateway), one of 20 has octets of 128 and above, one of 20 ends with a space. CPU time of this
//! thread, the best of five runs.

use chronoscope_aprs::callsign::Callsign;
use chronoscope_aprs::dupes::Dupes;
use chronoscope_aprs::history::{History, NAMES_MAX};
use chronoscope_aprs::packet::{Packet, parse};
use chronoscope_aprs::qconstruct::{Arrival, Via, process};
use chronoscope_clock as clock;
use std::hint::black_box;

const SECOND: u64 = 1_000_000_000;
const RUNS: usize = 5;
/// Stations that send by turns.
const STATIONS: usize = 40_000;

fn main() {
    println!(
        "{:>10} {:>9} {:>9} {:>14} {:>12} {:>10} {:>10}",
        "packets/s", "packets", "forms", "octets a form", "dupes ns", "parse+q ns", "place ns"
    );
    for rate in [1_000, 10_000, 100_000] {
        let packets = packets(rate * 31);
        let pause_ns = SECOND / rate as u64;
        let (mut check, mut forms, mut octets) = (f64::MAX, 0, 0);
        for _ in 0..RUNS {
            let mut dupes = Dupes::new(7, 30 * SECOND);
            let (warm, measured) = packets.split_at(packets.len() * 30 / 31);
            for (number, packet) in warm.iter().enumerate() {
                dupes.check(packet, number as u64 * pause_ns);
            }
            (forms, octets) = (dupes.len(), dupes.size_bytes());
            check = check.min(ns_each(measured, |number, packet| {
                dupes.check(packet, (warm.len() + number) as u64 * pause_ns);
            }));
        }
        let packets = &packets[..packets.len().min(200_000)];
        println!(
            "{rate:>10} {:>9} {forms:>9} {:>14.1} {check:>12.0} {:>10.0} {:>10.0}",
            packets.len(),
            octets as f64 / forms as f64,
            (0..RUNS).map(|_| q_construct(packets)).fold(f64::MAX, f64::min),
            (0..RUNS).map(|_| last_position(packets)).fold(f64::MAX, f64::min),
        );
    }
}

fn q_construct(packets: &[Packet]) -> f64 {
    let arrival = Arrival {
        server: Callsign::new(b"T2TEST").expect("a callsign"),
        via: Via::Client,
        login: Callsign::new(b"GATE-10").expect("a callsign"),
        verified: true,
        remote: [192, 0, 2, 1].into(),
        q_protocol: b'A',
        disallow_other_q_protocols: true,
        allow_unverified: false,
        is_other_verified_login: &|_| false,
    };
    ns_each(packets, |_, packet| {
        let line = &packet.line[..packet.line.len() - 2];
        let parsed = parse(line).expect("parsed before");
        black_box(process(&parsed, &arrival)).expect("nothing to drop");
    })
}

fn last_position(packets: &[Packet]) -> f64 {
    let mut history = History::new(7, 24 * 3600 * SECOND, NAMES_MAX);
    for (number, packet) in packets.iter().enumerate() {
        history.record(packet, number as u64);
    }
    ns_each(packets, |number, packet| {
        black_box(history.record(packet, number as u64));
    })
}

fn ns_each(packets: &[Packet], mut each: impl FnMut(usize, &Packet)) -> f64 {
    let start = clock::thread_cpu_ns();
    for (number, packet) in packets.iter().enumerate() {
        each(number, packet);
    }
    (clock::thread_cpu_ns() - start) as f64 / packets.len() as f64
}

fn packets(count: usize) -> Vec<Packet> {
    let mut random = 1_u64;
    (0..count)
        .map(|number| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let draw = random >> 33;
            // Every third is the packet before last once more, by another gateway.
            let number = if number % 3 == 2 { number - 2 } else { number };
            let station = number * 7 % STATIONS;
            let end: &[u8] = match number % 20 {
                3 => b" T\xe4sters\xf6",
                9 => b" ",
                _ => b"",
            };
            let line = format!(
                "OH{station}>APRS:!{:02}{:05.2}N/02505.68E# number {number}",
                station % 80,
                (number % 5_900) as f32 / 100.0,
            );
            let path = format!("WIDE1-1,DIGI{}*,WIDE2,qAR,GATE-10", draw % 100);
            parse(&[line.as_bytes(), end].concat())
                .and_then(|parsed| parsed.build(path.as_bytes()))
                .expect("a packet")
        })
        .collect()
}
