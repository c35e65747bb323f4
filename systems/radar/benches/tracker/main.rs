//! Benchmark of plots per second of the tracker on one core.
//!
//! `cargo bench -p chronoscope-radar --bench tracker`. The traffic is made beforehand; measured is
//! what the process does with each plot, in CPU time of this thread:
//! * *correlate*: conversion to the plane, association, filter;
//! * *datagram*: all of it, from the octets of category 048 to the octets of category 062.
//!
//! The yardstick: 700 aircraft seen by 5 radars every 8 s are 437 plots/s, 3000 aircraft 1875.
//!
//! Then the same plots through our tracker and through Stone Soup ([`stone_soup`]); `-- --peers` does
//! that alone.

#[path = "../../tests/support/scenario.rs"]
mod scenario;
mod stone_soup;

use chronoscope_clock as clock;
use chronoscope_radar::asterix::{DataSource, cat048::Plot, encode_block};
use chronoscope_radar::geodesy::Wgs84;
use chronoscope_radar::tracker::{Measurement, Precision, Processor, Radars, Settings, Tracker};
use scenario::{Sensors, Sky};

/// One block with the time at which it was received.
struct Arrival {
    utc_ns: i64,
    plots: Vec<Plot>,
}

fn record(aircraft: usize, mode_s: bool, seconds: f64) -> (Vec<Arrival>, Radars, f64) {
    let sensors = Sensors { clutter: 5.0, ..scenario::sensors(5, 8.0, 370_000.0, 180_000.0) };
    let traffic =
        scenario::Traffic { half_side_m: 350_000.0, ..scenario::en_route(aircraft, mode_s) };
    let mut sky = Sky::new(traffic, sensors, 7);
    let mut radars = Radars::new(Wgs84::new(51.0, 10.0, 0.0), Precision::default());
    for (source, site) in sky.sites().collect::<Vec<_>>() {
        radars.place(source, site).expect("five radars");
    }
    let mut arrivals = Vec::new();
    while sky.time_s < seconds {
        let blocks = sky.step();
        let utc_ns = sky.now_ns();
        arrivals.extend(blocks.into_iter().map(|plots| Arrival { utc_ns, plots }));
    }
    (arrivals, radars, sensors.period_s)
}

/// CPU seconds that `run` takes.
fn cpu_s(run: impl FnOnce()) -> f64 {
    let begin = clock::thread_cpu_ns();
    run();
    (clock::thread_cpu_ns() - begin) as f64 * 1e-9
}

fn correlate(aircraft: usize, mode_s: bool, seconds: f64) -> (f64, usize) {
    let (arrivals, mut radars, period_s) = record(aircraft, mode_s, seconds);
    let mut tracker = Tracker::new(Settings::default());
    for radar in 0..5 {
        tracker.set_period(radar, period_s);
    }
    let mut plots = 0;
    let mut block: Vec<Measurement> = Vec::new();
    let cpu = cpu_s(|| {
        let mut advanced_ns = 0;
        for arrival in &arrivals {
            block.clear();
            block.extend(
                arrival.plots.iter().filter_map(|p| radars.convert(p, arrival.utc_ns).ok()),
            );
            tracker.begin_block(block.len());
            for index in 0..block.len() {
                std::hint::black_box(tracker.correlate(&block, index));
            }
            plots += block.len();
            if arrival.utc_ns - advanced_ns > 1_000_000_000 {
                advanced_ns = arrival.utc_ns;
                tracker.advance(radars.plot_time_s(arrival.utc_ns), |_| {});
            }
        }
    });
    (plots as f64 / cpu, tracker.confirmed_count())
}

fn datagram(aircraft: usize, mode_s: bool, seconds: f64) -> (f64, usize) {
    let (arrivals, radars, _) = record(aircraft, mode_s, seconds);
    let datagrams: Vec<(i64, Vec<u8>)> = arrivals
        .iter()
        .map(|a| {
            let mut octets = Vec::new();
            encode_block(&a.plots, &mut octets).expect("plots of a made-up sky");
            (a.utc_ns, octets)
        })
        .collect();
    let mut processor =
        Processor::new(radars, Settings::default(), DataSource { sac: 25, sic: 100 });
    let mut octets = 0;
    let cpu = cpu_s(|| {
        for (utc_ns, datagram) in &datagrams {
            processor.datagram(datagram, *utc_ns, |message| octets += message.len());
            processor.tick(*utc_ns, |message| octets += message.len());
        }
    });
    std::hint::black_box(octets);
    (processor.counts().plots as f64 / cpu, processor.confirmed_count())
}

fn main() {
    if !std::env::args().any(|argument| argument == "--peers") {
        ours_alone();
    }
    if let Err(why) = stone_soup::compare() {
        println!("\nbeside Stone Soup: {why}");
    }
}

fn ours_alone() {
    println!(
        "{:>8} {:>10} {:>10} {:>12} {:>10} {:>8}",
        "aircraft", "identity", "path", "plots/s", "required", "ratio"
    );
    for (aircraft, seconds) in [(700, 240.0), (3000, 120.0)] {
        let required = aircraft as f64 * 5.0 / 8.0;
        for (identity, mode_s) in [("Mode S", true), ("Mode A/C", false)] {
            for (path, run) in [
                ("correlate", correlate as fn(usize, bool, f64) -> (f64, usize)),
                ("datagram", datagram),
            ] {
                let (rate, tracks) = run(aircraft, mode_s, seconds);
                println!(
                    "{aircraft:>8} {identity:>10} {path:>10} {rate:>12.0} {required:>10.1} {:>8.0}   {tracks} tracks",
                    rate / required
                );
            }
        }
    }
}
