//! Registration against known errors: the generator's radars over its traffic, through the tracker
//! as its process runs it, judged by where the aircraft really are.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use chronoscope_radar::asterix::{DataSource, Record, decode_block};
use chronoscope_radar::generator::{Bias, Generator, sites::SITES};
use chronoscope_radar::geodesy::Wgs84;
use chronoscope_radar::tracker::{Precision, Processor, RadarBias, Radars, Settings};
use chronoscope_radar::traffic::{Aircraft, circles};
use std::collections::HashMap;

/// Noon of some day.
const START_NS: i64 = 20_000 * 86_400_000_000_000 + 43_200_000_000_000;
/// The first part is left for the errors to be found, s.
const LEARNT_S: f64 = 120.0;
const SECONDS: f64 = 300.0;

struct Run {
    found: Vec<RadarBias>,
    /// Horizontal, of all messages about tracks after `LEARNT_S`.
    rms_m: f64,
}

/// 160 aircraft in circles, seen by as many radars as there are `biases`.
fn run(biases: &[Bias], seed: u64, registration: bool) -> Run {
    let aircraft = circles::compose(8, 20);
    let truth: HashMap<u32, Aircraft> =
        aircraft.iter().map(|plane| (plane.address, plane.clone())).collect();
    let mut generator = Generator::new(aircraft, &SITES[..biases.len()], seed, START_NS);
    for (site, bias) in SITES.iter().zip(biases) {
        assert!(generator.set_bias(site.source, *bias));
    }
    let mut radars = Radars::new(Wgs84::new(51.0, 10.0, 0.0), Precision::default());
    if !registration {
        radars = radars.without_registration();
    }
    let source = DataSource { sac: 25, sic: 100 };
    let mut processor = Processor::new(radars, chosen(), source);
    let (mut squares, mut count) = (0.0, 0.0);
    loop {
        let sent = generator.next_transmission().unwrap().unwrap();
        if sent.at_s > SECONDS {
            break;
        }
        let now_ns = generator.utc_ns(sent.at_s);
        for datagram in &sent.datagrams {
            processor.datagram(datagram, now_ns, |message| {
                let Some(Ok(Record::Track(track))) = decode_block(message).next() else {
                    panic!("no track");
                };
                let at_ns = track.time_of_day.unwrap().to_utc_ns(now_ns);
                let at_s = (at_ns - START_NS) as f64 * 1e-9;
                let position = track.position.unwrap();
                let real = truth[&track.derived.unwrap().address.unwrap()].at(at_s).unwrap();
                let heard =
                    Wgs84 { lat_deg: position.lat_deg, lon_deg: position.lon_deg, ..real.position };
                if at_s > LEARNT_S {
                    squares += heard.ground_distance_m(real.position).powi(2);
                    count += 1.0;
                }
            });
            processor.tick(now_ns, |_| {});
        }
    }
    assert!(count > 1000.0);
    Run { found: processor.registration(), rms_m: (squares / count).sqrt() }
}

fn bias(range_m: f64, azimuth_deg: f64, time_s: f64) -> Bias {
    Bias { range_m, azimuth_deg, time_s }
}

/// Every error within four standard deviations and what the model leaves out (stamps are cut to
/// 1/128 s, velocities are the tracks'): 10 m, 0.01°, 0.02 s. Times against the mean of all radars,
/// as only differences of clocks show.
fn check(found: &[RadarBias], biases: &[Bias]) {
    assert_eq!(found.len(), biases.len());
    let mean_s = biases.iter().map(|b| b.time_s).sum::<f64>() / biases.len() as f64;
    for (found, real) in found.iter().zip(biases) {
        eprintln!("{found:?} of {real:?}");
        let range = (found.range_m - real.range_m).abs();
        let azimuth = (found.azimuth_deg - real.azimuth_deg).abs();
        let time = (found.time_s - (real.time_s - mean_s)).abs();
        assert!(range < 4.0 * found.range_sd_m + 10.0, "{found:?} {real:?}");
        assert!(azimuth < 4.0 * found.azimuth_sd_deg + 0.01, "{found:?} {real:?}");
        assert!(time < 4.0 * found.time_sd_s + 0.02, "{found:?} {real:?}");
        assert!(found.range_sd_m < 20.0 && found.azimuth_sd_deg < 0.02, "{found:?}");
    }
}

#[test]
fn known_errors_of_five_radars_are_found_and_removed() {
    let biases = [
        bias(250.0, -0.15, 0.0),
        bias(-120.0, 0.20, 0.1),
        bias(0.0, 0.0, 0.0),
        bias(400.0, 0.05, -0.2),
        bias(-300.0, -0.30, 0.05),
    ];
    for seed in 1..=3 {
        let (with, without) = (run(&biases, seed, true), run(&biases, seed, false));
        eprintln!("seed {seed}: RMS {:.0} m with, {:.0} m without", with.rms_m, without.rms_m);
        check(&with.found, &biases);
        assert!(without.found.is_empty());
        let none = run(&[Bias::default(); 5], seed, false);
        assert!(with.rms_m < 1.05 * none.rms_m, "{} {}", with.rms_m, none.rms_m);
        assert!(with.rms_m < 0.5 * without.rms_m, "{} {}", with.rms_m, without.rms_m);
    }
}

#[test]
fn two_radars_are_enough() {
    let biases = [bias(300.0, 0.1, 0.1), bias(-200.0, -0.2, -0.1)];
    for seed in 1..=3 {
        let (with, without) = (run(&biases, seed, true), run(&biases, seed, false));
        eprintln!("seed {seed}: RMS {:.0} m with, {:.0} m without", with.rms_m, without.rms_m);
        check(&with.found, &biases);
        assert!(with.rms_m < 0.7 * without.rms_m, "{} {}", with.rms_m, without.rms_m);
    }
}

/// A velocity that has taken the clocks' difference in would hide a part of it.
#[test]
fn of_a_clocks_error_nothing_is_hidden() {
    for time_s in [0.1, 0.25] {
        let errors = [bias(0.0, 0.0, time_s), bias(0.0, 0.0, -time_s)];
        let found = (11..19).map(|seed| run(&errors, seed, true).found[0].time_s);
        let mean_s = found.sum::<f64>() / 8.0;
        eprintln!("{time_s} s found as {mean_s:.4} s");
        // Three standard errors of the mean of eight; one run has 0.014 s.
        assert!((mean_s - time_s).abs() < 0.015, "{mean_s} {time_s}");
    }
}

#[test]
fn radars_without_errors_are_left_as_they_are() {
    for (radars, seed) in [(5, 1), (5, 2), (5, 3), (2, 1), (1, 1)] {
        let biases = vec![Bias::default(); radars];
        let (with, without) = (run(&biases, seed, true), run(&biases, seed, false));
        eprintln!("{radars} radars: RMS {:.1} m with, {:.1} m without", with.rms_m, without.rms_m);
        if radars == 1 {
            assert!(with.found.is_empty(), "one radar is compared with nobody: {:?}", with.found);
            assert_eq!(with.rms_m, without.rms_m);
            continue;
        }
        check(&with.found, &biases);
        assert!(with.rms_m < 1.02 * without.rms_m, "{} {}", with.rms_m, without.rms_m);
    }
}
#[allow(dead_code)]
fn chosen() -> chronoscope_radar::tracker::Settings {
    chronoscope_radar::tracker::Settings::from_toml("[outliers]\nshare = 0.03\nfactor = 3.5\n").unwrap()
}
