//! Radars that are irregular on purpose: what the generator then sends, measured, and whether the
//! tracker points at them, and at nobody else.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use chronoscope_radar::asterix::cat048::Plot;
use chronoscope_radar::asterix::{DataSource, Record, decode_block};
use chronoscope_radar::day::{PLOTS_PORT, SERVER};
use chronoscope_radar::generator::{Generator, sites::SITES};
use chronoscope_radar::geodesy::Wgs84;
use chronoscope_radar::tracker::regularity::RadarReport;
use chronoscope_radar::tracker::{Precision, Processor, Radars, Settings};
use chronoscope_radar::traffic::circles;
use chronoscope_replay::capture::CaptureWriter;
use std::net::SocketAddrV4;
use std::process::Command;

/// Noon of some day.
const START_NS: i64 = 20_000 * 86_400_000_000_000 + 43_200_000_000_000;
/// The third of the radars, which is the one with faults.
const BAD: usize = 2;

fn generator(faults: &[&str], radars: usize, seed: u64) -> Generator {
    let mut generator = Generator::new(circles::compose(8, 20), &SITES[..radars], seed, START_NS);
    for fault in faults {
        assert!(generator.add_fault(Some(SITES[BAD].source), fault.parse().unwrap()));
    }
    generator
}

/// Times and records that the radar with the fault sends in `seconds`.
fn sent(faults: &[&str], seconds: f64) -> Vec<(f64, Vec<Record>)> {
    let mut generator = generator(faults, 3, 5);
    let mut all = Vec::new();
    loop {
        let sent = generator.next_transmission().unwrap().unwrap();
        if sent.at_s > seconds {
            return all;
        }
        if sent.radar == BAD && !sent.datagrams.is_empty() {
            let blocks = sent.datagrams.iter().flat_map(|datagram| decode_block(datagram));
            all.push((sent.at_s, blocks.map(Result::unwrap).collect()));
        }
    }
}

fn plots(sent: &[(f64, Vec<Record>)]) -> Vec<(f64, &Plot)> {
    sent.iter()
        .flat_map(|(at_s, records)| {
            records.iter().filter_map(move |record| match record {
                Record::Plot(plot) => Some((*at_s, plot)),
                _ => None,
            })
        })
        .collect()
}

fn stamp_s(plot: &Plot) -> f64 {
    (plot.time_of_day.unwrap().to_utc_ns(START_NS) - START_NS) as f64 * 1e-9
}

fn period_s() -> f64 {
    SITES[BAD].period_s
}

#[test]
fn a_silent_radar_sends_as_ever_before_and_after() {
    let (clean, faulty) = (sent(&[], 120.0), sent(&["outage,40,70"], 120.0));
    let outside = |at_s: f64| !(40.0..70.0).contains(&at_s);
    let expected: Vec<_> = clean.into_iter().filter(|(at_s, _)| outside(*at_s)).collect();
    assert_eq!(faulty, expected);
}

#[test]
fn clutter_comes_on_top_of_the_same_plots() {
    let (clean, faulty) = (sent(&[], 200.0), sent(&["clutter,50"], 200.0));
    let real = |all: &[(f64, Vec<Record>)]| {
        let plots = plots(all).into_iter().filter(|(_, plot)| plot.aircraft_address.is_some());
        plots.map(|(_, plot)| plot.clone()).collect::<Vec<Plot>>()
    };
    assert_eq!(real(&clean), real(&faulty));
    let more = plots(&faulty).len() - plots(&clean).len();
    let a_turn = more as f64 * period_s() / 200.0;
    // Four standard errors of a Poisson number.
    let error = 4.0 * (50.0 * period_s() / 200.0_f64).sqrt();
    assert!((a_turn - 50.0).abs() < error + 1.0, "{a_turn}");
    for (at_s, plot) in plots(&faulty) {
        let age_s = at_s - stamp_s(plot);
        assert!((-0.01..period_s() / 32.0 + 0.01).contains(&age_s), "{age_s}");
    }
}

#[test]
fn a_share_of_the_plots_comes_twice() {
    let faulty = sent(&["duplicates,0.1"], 200.0);
    let plots = plots(&faulty);
    let twice = plots.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
    let share = twice / (plots.len() as f64 - twice);
    assert!((share - 0.1).abs() < 0.03, "{share}");
}

#[test]
fn late_plots_are_those_that_would_have_come_with_their_stamps() {
    let (clean, faulty) = (sent(&[], 200.0), sent(&["late,0.2,3"], 200.0));
    let (clean, faulty) = (plots(&clean), plots(&faulty));
    assert!(faulty.iter().all(|(_, plot)| clean.iter().any(|(_, same)| same == plot)));
    let late: Vec<f64> = faulty
        .iter()
        .map(|(at_s, plot)| at_s - stamp_s(plot))
        .filter(|age_s| *age_s > period_s() / 32.0 + 0.01)
        .collect();
    let share = late.len() as f64 / faulty.len() as f64;
    assert!((share - 0.2).abs() < 0.04, "{share}");
    // Half of it to all of it, and the sectors around.
    assert!(late.iter().all(|age_s| (1.4..3.9).contains(age_s)), "{late:?}");
    assert!(clean.len() - faulty.len() < 30, "nothing is lost but what is still on its way");
}

#[test]
fn bursts_have_everything_in_order_and_their_time_apart() {
    let (clean, faulty) = (sent(&[], 100.0), sent(&["bursts,2.5"], 100.0));
    for pair in faulty.windows(2) {
        let apart_s = pair[1].0 - pair[0].0;
        assert!((2.5 - apart_s).abs() < period_s() / 32.0 + 1e-6, "{apart_s}");
    }
    let all = |sent: Vec<(f64, Vec<Record>)>| sent.into_iter().flat_map(|(_, records)| records);
    let faulty: Vec<Record> = all(faulty).collect();
    assert!(faulty.len() > 500);
    let clean: Vec<Record> = all(clean).take(faulty.len()).collect();
    assert_eq!(clean, faulty);
}

#[test]
fn a_share_of_the_stamps_is_wrong_by_as_much_as_said() {
    let (clean, faulty) = (sent(&[], 200.0), sent(&["jumps,0.2,1.5"], 200.0));
    let (clean, faulty) = (plots(&clean), plots(&faulty));
    assert_eq!(clean.len(), faulty.len());
    let off = clean.iter().zip(&faulty).map(|((_, a), (_, b))| stamp_s(b) - stamp_s(a));
    let wrong: Vec<f64> = off.filter(|off_s| off_s.abs() > 0.01).collect();
    let share = wrong.len() as f64 / clean.len() as f64;
    assert!((share - 0.2).abs() < 0.04, "{share}");
    // Stamps are cut to 1/128 s.
    assert!(wrong.iter().all(|off_s| (0.74..1.51).contains(&off_s.abs())));
    let early = wrong.iter().filter(|off_s| **off_s < 0.0).count() as f64 / wrong.len() as f64;
    assert!((early - 0.5).abs() < 0.12, "{early}");
}

#[test]
fn a_share_of_the_sector_messages_is_missing_and_no_plot() {
    let (clean, faulty) = (sent(&[], 200.0), sent(&["sectors,0.3"], 200.0));
    let services = |all: &[(f64, Vec<Record>)]| {
        let records = all.iter().flat_map(|(_, records)| records);
        records.filter(|record| matches!(record, Record::Service(_))).count() as f64
    };
    let missing = 1.0 - services(&faulty) / services(&clean);
    // Four standard errors of some 1,000.
    assert!((missing - 0.3).abs() < 0.06, "{missing}");
    assert_eq!(plots(&clean).len(), plots(&faulty).len());
}

#[test]
fn turns_vary_around_the_same_mean() {
    let faulty = sent(&["turns,0.2"], 600.0);
    let norths: Vec<f64> = faulty
        .iter()
        .flat_map(|(_, records)| records)
        .filter_map(|record| match record {
            Record::Service(message) if message.antenna_period_s.is_some() => {
                Some((message.time_of_day.unwrap().to_utc_ns(START_NS) - START_NS) as f64 * 1e-9)
            }
            _ => None,
        })
        .collect();
    let turns: Vec<f64> = norths.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = turns.iter().sum::<f64>() / turns.len() as f64;
    assert!((mean / period_s() - 1.0).abs() < 0.01, "{mean}");
    let off = turns.iter().map(|turn_s| turn_s / period_s() - 1.0);
    assert!(off.clone().all(|off| off.abs() < 0.202));
    // The difference of two even distributions of that width.
    let sd = (off.map(|off| off * off).sum::<f64>() / turns.len() as f64).sqrt();
    assert!((sd - 0.2 / 6.0_f64.sqrt()).abs() < 0.02, "{sd}");
}

/// Five radars through the tracker as its process runs it.
fn track(faults: &[&str], seconds: f64, seed: u64) -> Vec<RadarReport> {
    let mut generator = generator(faults, 5, seed);
    let radars = Radars::new(Wgs84::new(51.0, 10.0, 0.0), Precision::default());
    let source = DataSource { sac: 25, sic: 100 };
    let mut processor = Processor::new(radars, Settings::default(), source);
    loop {
        let sent = generator.next_transmission().unwrap().unwrap();
        if sent.at_s > seconds {
            return processor.radar_reports();
        }
        let now_ns = generator.utc_ns(sent.at_s);
        for datagram in &sent.datagrams {
            processor.datagram(datagram, now_ns, |_| {});
        }
        processor.tick(now_ns, |_| {});
    }
}

fn named(reports: &[RadarReport]) -> Vec<String> {
    let all = reports.iter().flat_map(|radar| {
        let name = format!("{}/{}", radar.sac, radar.sic);
        radar.irregular.iter().map(move |found| format!("{name} {}", found.what.name()))
    });
    all.collect()
}

#[test]
fn the_irregular_radar_is_named_with_what_is_irregular() {
    let bad = SITES[BAD].source;
    for (fault, what, value) in [
        ("late,0.1,2", "late", 0.1),
        ("bursts,2", "bursts", 0.9),
        ("jumps,0.1,1", "stamps", 0.1),
        ("sectors,0.1", "sectors", 0.1),
        ("turns,0.1", "turns", 0.1 / 6.0_f64.sqrt()),
        ("duplicates,0.05", "duplicates", 0.05),
        ("clutter,50", "unknown", f64::NAN),
        ("outage,60,90", "silence", 30.0 / period_s()),
    ] {
        for seed in 1..=3 {
            let reports = track(&[fault], 150.0, seed);
            assert_eq!(named(&reports), [format!("{bad} {what}")], "{fault}: {reports:#?}");
            let found = reports[BAD].irregular[0];
            eprintln!(
                "{fault}, seed {seed}: {} ({:?})",
                found.what.describe(found.value),
                found.others
            );
            assert!(found.others.is_some_and(|others| 3.0 * others < found.value), "{found:?}");
            let off = (found.value / value - 1.0).abs();
            assert!(value.is_nan() || off < 0.35, "{fault}: {found:?}");
        }
    }
}

/// It falls silent where one window of five minutes ends, and says nothing in the next.
#[test]
fn a_radar_that_has_gone_for_good_is_named() {
    let reports = track(&["outage,300,86400"], 420.0, 1);
    assert_eq!(named(&reports), [format!("{} silence", SITES[BAD].source)], "{reports:#?}");
    let turns = reports[BAD].irregular[0].value;
    assert!((turns - 120.0 / period_s()).abs() < 2.0, "{turns}");
}

#[test]
fn nobody_is_named_when_all_are_regular() {
    for seed in 1..=20 {
        let reports = track(&[], 130.0, seed);
        assert_eq!(reports.len(), 5);
        assert!(named(&reports).is_empty(), "seed {seed}: {reports:#?}");
    }
}

#[test]
fn the_program_names_the_radar() {
    let folder = tempfile::tempdir().unwrap();
    for (faults, verdict) in
        [(&["late,0.15,2"][..], "radar 98/3 is irregular: 1"), (&[], "no radar is irregular")]
    {
        let mut generator = generator(faults, 5, 1);
        let mut capture = CaptureWriter::new(Vec::new()).unwrap();
        let address = SocketAddrV4::new(SERVER, PLOTS_PORT);
        loop {
            let sent = generator.next_transmission().unwrap().unwrap();
            if sent.at_s > 100.0 {
                break;
            }
            let at_ns = u64::try_from(generator.utc_ns(sent.at_s)).unwrap();
            for datagram in &sent.datagrams {
                capture.datagram(at_ns, address, address, datagram).unwrap();
            }
        }
        std::fs::write(folder.path().join("plots.pcapng"), capture.finish().unwrap()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_radar-tracker"))
            .args(["--capture", "plots.pcapng", "--report"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(verdict), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("is irregular")).count(), 1, "{text}");
        let told = String::from_utf8(output.stderr).unwrap().contains("is irregular");
        assert_eq!(told, !faults.is_empty());
    }
}
