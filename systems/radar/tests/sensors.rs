//! Sensors of all kinds, from outside: what our radars and made-up stations of ADS-B and
//! multilateration send goes as a capture or a raw recording through the tracker.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use chronoscope_radar::asterix::cat048::{Detection, Plot};
use chronoscope_radar::asterix::cat062::Cartesian;
use chronoscope_radar::asterix::{
    DataSource, EncodeRecord, LatLon, Record, TimeOfDay, cat001, cat002, cat010, cat020, cat021,
    cat065, decode_block, encode_block, source_of,
};
use chronoscope_radar::day::{PLOTS_PORT, SERVER};
use chronoscope_radar::generator::{Bias, Generator, Truth, sites::SITES};
use chronoscope_radar::geodesy::{LocalFrame, Wgs84};
use chronoscope_radar::traffic::patterns::{Crossings, Size, crossings};
use chronoscope_replay::capture::CaptureWriter;
use chronoscope_statistics::Random;
use serde_json::Value;
use std::net::SocketAddrV4;
use std::path::Path;
use std::process::Command;

/// Noon of some day.
const START_NS: i64 = 20_000 * 86_400_000_000_000 + 43_200_000_000_000;
const STATION: DataSource = DataSource { sac: 98, sic: 80 };

/// Straight flights, in pairs that cross at 10 NM: 22 aircraft.
fn generator(radars: usize) -> Generator {
    let size = Size { places: 11, flights: 2, speed_m_s: 220.0 };
    let shape = Crossings { angle_deg: 90.0, miss_m: 18_520.0 };
    Generator::new(crossings(size, shape), &SITES[..radars], 3, START_NS)
}

/// Datagrams and when they arrive, UTC, ns.
type Arrivals = Vec<(i64, Vec<u8>)>;

/// An aircraft at an instant.
#[derive(Clone, Copy)]
struct There {
    utc_ns: i64,
    address: u32,
    at: LatLon,
    level: f64,
}

/// The truth, once a second, which is written into `folder` as well.
fn truth(folder: &Path, generator: &Generator, to_s: f64) -> Vec<There> {
    let path = folder.join("truth.csv");
    let file = std::fs::File::create(&path).unwrap();
    let mut truth = Truth::new(std::io::BufWriter::new(file), 1.0).unwrap();
    truth.write_until(generator, to_s).unwrap();
    truth.finish().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let there = text.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split(',').collect();
        let number = |at: usize| columns[at].parse::<f64>().unwrap();
        There {
            utc_ns: nanoseconds(columns[0]),
            address: u32::from_str_radix(columns[1], 16).unwrap(),
            at: LatLon { lat_deg: number(2), lon_deg: number(3) },
            level: number(4),
        }
    });
    there.collect()
}

/// Seconds with three decimals.
fn nanoseconds(seconds: &str) -> i64 {
    seconds.replace('.', "").parse::<i64>().unwrap() * 1_000_000
}

/// All that the radars send, each datagram as `alter` changes it.
fn radars(
    mut generator: Generator,
    to_s: f64,
    mut alter: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> (Arrivals, Generator) {
    let mut arrivals = Vec::new();
    loop {
        let sent = generator.next_transmission().unwrap().unwrap();
        if sent.at_s > to_s {
            return (arrivals, generator);
        }
        let at_ns = generator.utc_ns(sent.at_s);
        arrivals.extend(sent.datagrams.iter().filter_map(|d| Some((at_ns, alter(d)?))));
    }
}

/// What a station sends of each aircraft, 0.3 s later, `sigma_m` off, as `report` says it.
fn station<R: EncodeRecord>(
    there: &[There],
    sigma_m: f64,
    report: impl Fn(&There, LatLon) -> R,
) -> Arrivals {
    let mut random = Random(5);
    let sent = there.iter().map(|there| {
        let mut off = || sigma_m * random.normal() / 111_200.0;
        let at = LatLon {
            lat_deg: there.at.lat_deg + off(),
            lon_deg: there.at.lon_deg + off() / there.at.lat_deg.to_radians().cos(),
        };
        let mut octets = Vec::new();
        encode_block(&[report(there, at)], &mut octets).unwrap();
        (there.utc_ns + 300_000_000, octets)
    });
    sent.collect()
}

fn adsb(there: &There, at: LatLon) -> cat021::Report {
    cat021::Report {
        source: STATION,
        position_time: Some(TimeOfDay::from_utc_ns(there.utc_ns)),
        fine_position: Some(at),
        address: Some(there.address),
        flight_level: Some(there.level),
        // What the generator's heights are: the level's, over the ellipsoid.
        geometric_height_ft: Some((there.level * 16.0).round() / 16.0 * 100.0),
        quality: Some(cat021::Quality {
            accuracy: Some(cat021::PositionAccuracy { category: 9, ..Default::default() }),
            ..Default::default()
        }),
        ..cat021::Report::default()
    }
}

/// The same in an early edition.
fn early(there: &There, at: LatLon) -> cat021::EarlyReport {
    cat021::EarlyReport {
        source: STATION,
        time_of_day: Some(TimeOfDay::from_utc_ns(there.utc_ns)),
        position: Some(at),
        address: Some(there.address),
        descriptor: Some(cat021::EarlyDescriptor { address_type: 1, ..Default::default() }),
        flight_level: Some((there.level * 4.0).round() / 4.0),
        merit: Some(cat021::Merit { position: 7, ..Default::default() }),
        ..cat021::EarlyReport::default()
    }
}

fn capture(folder: &Path, mut arrivals: Arrivals) {
    arrivals.sort_by_key(|(at_ns, _)| *at_ns);
    let address = SocketAddrV4::new(SERVER, PLOTS_PORT);
    let mut plots = CaptureWriter::new(Vec::new()).unwrap();
    for (at_ns, datagram) in arrivals {
        plots.datagram(u64::try_from(at_ns).unwrap(), address, address, &datagram).unwrap();
    }
    std::fs::write(folder.join("plots.pcapng"), plots.finish().unwrap()).unwrap();
}

/// Summary of the tracker, and what it says.
fn track(folder: &Path, arguments: &[&str]) -> (Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_radar-tracker"))
        .args(["--json", "--out", "tracks.pcapng", "--capture"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

fn evaluate(folder: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_radar-evaluate"))
        .args(["--tracks", "tracks.pcapng", "--truth", "truth.csv", "--json", "--skip", "60"])
        .args(["--interval", "13"])
        .current_dir(folder)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name}: {value:#}"))
}

#[test]
fn adsb_alone_is_tracked_as_well_as_it_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let there = truth(folder.path(), &generator(0), 150.0);
    capture(folder.path(), station(&there, 20.0, adsb));
    let (summary, said) = track(folder.path(), &["plots.pcapng"]);
    assert_eq!(summary["processor"]["adsb_reports"], there.len(), "{summary:#}");
    assert_eq!(summary["processor"]["unusable"], serde_json::json!({}), "{said}");
    let found = evaluate(folder.path());
    assert!(number(&found, "detection") > 0.99, "{found:#}");
    assert!(number(&found, "rms_m") < 25.0, "{found:#}");
    assert_eq!((&found["duplicates"], &found["swaps"]), (&0.0.into(), &0.into()), "{found:#}");
}

/// A station of edition 0.26 is tracked as one of today where its edition is said; where it is not, nothing
/// of it is tracked, and what is missing is said.
#[test]
fn adsb_of_an_early_edition_is_tracked_where_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let there = truth(folder.path(), &generator(0), 100.0);
    let sent = station(&there, 20.0, early);
    capture(folder.path(), sent);
    std::fs::write(folder.path().join("old.toml"), "[surveillance]\nadsb_edition = \"0.26\"\n")
        .unwrap();
    let (summary, said) = track(folder.path(), &["plots.pcapng", "--config", "old.toml"]);
    assert_eq!(summary["processor"]["adsb_reports"], there.len(), "{summary:#}");
    assert_eq!(summary["processor"]["malformed"], 0, "{said}");
    let found = evaluate(folder.path());
    assert!(number(&found, "detection") > 0.99, "{found:#}");
    assert!(number(&found, "rms_m") < 25.0, "{found:#}");
    assert_eq!(found["address"], 1.0, "{found:#}");

    let (summary, said) = track(folder.path(), &["plots.pcapng"]);
    assert!(number(&summary["processor"], "malformed") > 0.0, "{summary:#}");
    assert!(said.contains("adsb_edition"), "{said}");
    assert_eq!(summary["processor"]["messages"], 0, "{summary:#}");
}

/// Two stations of different editions beside each other: the list of radars says which is which.
#[test]
fn each_station_has_its_own_edition() {
    let folder = tempfile::tempdir().unwrap();
    let there = truth(folder.path(), &generator(0), 60.0);
    let old = DataSource { sac: 98, sic: 81 };
    let sent =
        station(&there, 20.0, |there, at| cat021::EarlyReport { source: old, ..early(there, at) });
    let count = sent.len();
    capture(folder.path(), [sent.clone(), station(&there, 20.0, adsb)].concat());
    let list =
        "radar,lat_deg,lon_deg,height_m,adsb_edition\n98/81,51,10,100,0.26\n98/80,51,10,100,\n";
    std::fs::write(folder.path().join("radars.csv"), list).unwrap();
    let (summary, said) = track(folder.path(), &["plots.pcapng", "--radars", "radars.csv"]);
    assert_eq!(summary["processor"]["adsb_reports"], 2 * count, "{summary:#}");
    assert_eq!(summary["processor"]["malformed"], 0, "{said}");
    assert_eq!(summary["processor"]["unusable"], serde_json::json!({}), "{said}");
    // Also where the recording's times come from the stamps.
    let raw: Vec<u8> = sent.into_iter().flat_map(|(_, octets)| octets).collect();
    std::fs::write(folder.path().join("plots.ast"), raw).unwrap();
    let (summary, said) = track(folder.path(), &["plots.ast", "--radars", "radars.csv"]);
    assert_eq!(summary["processor"]["adsb_reports"], count, "{summary:#}");
    assert!(number(&summary, "tracks") > 20.0, "{said}");
}

/// Surface movement radar and multilateration of an aerodrome, in the plane of its reference point.
#[test]
fn an_aerodromes_reports_are_tracked_in_its_own_plane() {
    let folder = tempfile::tempdir().unwrap();
    let there = truth(folder.path(), &generator(0), 120.0);
    let one: Vec<There> = there.iter().filter(|t| t.address == there[0].address).copied().collect();
    let site = one[0].at;
    let frame = LocalFrame::new(Wgs84::new(site.lat_deg, site.lon_deg, 0.0));
    let sent = station(&one, 5.0, |there, at| {
        let height_m = there.level * 30.48;
        let local = frame.to_local(Wgs84::new(at.lat_deg, at.lon_deg, height_m));
        cat010::Report {
            source: STATION,
            kind: Some(1),
            time_of_day: Some(TimeOfDay::from_utc_ns(there.utc_ns)),
            descriptor: Some(cat010::Descriptor { detection: 1, ..Default::default() }),
            cartesian: Some(Cartesian { x_m: local.east_m.round(), y_m: local.north_m.round() }),
            address: Some(there.address),
            accuracy: Some(cat010::Accuracy { x_m: 10.0, y_m: 10.0, ..Default::default() }),
            ..cat010::Report::default()
        }
    });
    let count = sent.len();
    capture(folder.path(), sent);
    let list = format!(
        "radar,lat_deg,lon_deg,height_m\n98/80,{:.6},{:.6},0\n",
        site.lat_deg, site.lon_deg
    );
    std::fs::write(folder.path().join("radars.csv"), list).unwrap();
    let (summary, said) = track(folder.path(), &["plots.pcapng", "--radars", "radars.csv"]);
    assert_eq!(summary["processor"]["multilateration_reports"], count, "{summary:#}");
    assert_eq!(summary["processor"]["unusable"], serde_json::json!({}), "{said}");
    let found = evaluate(folder.path());
    assert!(number(&found, "rms_m") < 60.0 && number(&found, "reports") > 50.0, "{found:#}");
    assert_eq!(found["address"], 1.0, "{found:#}");
    // Without the reference point a position in the plane is nowhere.
    let (summary, said) = track(folder.path(), &["plots.pcapng"]);
    assert_eq!(summary["processor"]["unusable"]["radar position unknown"], count, "{said}");
}

/// Without addresses, in its own plane: what a wide-area system without Mode S sends.
#[test]
fn multilateration_is_tracked_by_codes_and_places() {
    let folder = tempfile::tempdir().unwrap();
    let there = truth(folder.path(), &generator(0), 150.0);
    let sent = station(&there, 30.0, |there, at| cat020::Report {
        source: STATION,
        time_of_day: Some(TimeOfDay::from_utc_ns(there.utc_ns)),
        position: Some(at),
        flight_level: Some(chronoscope_radar::asterix::cat048::FlightLevel {
            level: (there.level * 4.0).round() / 4.0,
            ..Default::default()
        }),
        accuracy: Some(cat020::Accuracy { sigma_m: Some((30.0, 30.0, 0.0)), ..Default::default() }),
        ..cat020::Report::default()
    });
    // Both networks deliver it.
    let copies: Arrivals = sent.iter().map(|(at, d)| (at + 20_000_000, d.clone())).collect();
    let count = sent.len();
    capture(folder.path(), [sent, copies].concat());
    let (summary, _) = track(folder.path(), &["plots.pcapng"]);
    assert_eq!(summary["processor"]["multilateration_reports"], 2 * count, "{summary:#}");
    assert_eq!(summary["processor"]["duplicate_plots"], count, "{summary:#}");
    let found = evaluate(folder.path());
    assert!(number(&found, "detection") > 0.98, "{found:#}");
    assert!(number(&found, "rms_m") < 45.0, "{found:#}");
    assert_eq!(found["swaps"], 0, "{found:#}");
}

/// A single radar with errors that nobody knows, where some aircraft say where they are.
#[test]
fn the_errors_of_a_single_radar_are_found_by_adsb() {
    let folder = tempfile::tempdir().unwrap();
    let mut generator = generator(1);
    let bias = Bias { range_m: 130.0, azimuth_deg: 0.5, time_s: 0.24 };
    assert!(generator.set_bias(SITES[0].source, bias));
    let (plots, generator) = radars(generator, 400.0, |d| Some(d.to_vec()));
    let there = truth(folder.path(), &generator, 400.0);
    capture(folder.path(), plots.clone());
    track(folder.path(), &["plots.pcapng"]);
    let alone = number(&evaluate(folder.path()), "rms_m");

    // Every second aircraft, so that the tracks of the others are of the radar alone.
    let equipped: Vec<There> = there.iter().filter(|t| t.address % 2 == 0).copied().collect();
    assert!(equipped.len() > 2_000 && equipped.len() < there.len() - 2_000);
    capture(folder.path(), [plots, station(&equipped, 15.0, adsb)].concat());
    let (summary, _) = track(folder.path(), &["plots.pcapng"]);
    let found = summary["registration"]
        .as_array()
        .unwrap()
        .iter()
        .find(|radar| radar["sic"] == SITES[0].source.sic)
        .unwrap_or_else(|| panic!("{summary:#}"));
    eprintln!("{found:#}");
    assert!(number(found, "references") > 100.0, "{found:#}");
    assert!((number(found, "range_m") - 130.0).abs() < 25.0, "{found:#}");
    assert!((number(found, "azimuth_deg") - 0.5).abs() < 0.02, "{found:#}");
    assert!((number(found, "time_s") - 0.24).abs() < 0.08, "{found:#}");

    // Of the aircraft without ADS-B alone.
    let text = std::fs::read_to_string(folder.path().join("truth.csv")).unwrap();
    let odd: String = text
        .lines()
        .filter(|line| {
            let address = line.split(',').nth(1).unwrap();
            u32::from_str_radix(address, 16).is_ok_and(|address| address % 2 == 1)
                || line.starts_with("utc_s")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(folder.path().join("truth.csv"), odd).unwrap();
    let with = number(&evaluate(folder.path()), "rms_m");
    eprintln!("RMS of those that the radar alone sees {with:.0} m, without ADS-B {alone:.0} m");
    assert!(with < 0.4 * alone, "{with} {alone}");
}

/// The same traffic by radars of the older categories: the tracks are as good.
#[test]
fn older_radars_are_tracked_as_newer_ones() {
    let folder = tempfile::tempdir().unwrap();
    let plain = |d: &[u8]| {
        Some(translated(d, |plot| (plot.aircraft_address, plot.callsign) = (None, None)))
    };
    let (new, generator) = radars(generator(3), 180.0, |d| plain(d).map(|(new, _)| new));
    truth(folder.path(), &generator, 180.0);
    capture(folder.path(), new);
    track(folder.path(), &["plots.pcapng"]);
    let newer = evaluate(folder.path());

    let (old, _) = radars(self::generator(3), 180.0, |d| plain(d).map(|(_, old)| old));
    capture(folder.path(), old);
    let sites: String = SITES[..3]
        .iter()
        .map(|site| {
            let at = site.position;
            format!("{},{},{},{}\n", site.source, at.lat_deg, at.lon_deg, at.height_m)
        })
        .collect();
    let list = format!("radar,lat_deg,lon_deg,height_m\n{sites}");
    std::fs::write(folder.path().join("radars.csv"), list).unwrap();
    let (summary, said) = track(folder.path(), &["plots.pcapng", "--radars", "radars.csv"]);
    assert_eq!(summary["processor"]["malformed"], 0, "{said}");
    assert_eq!(summary["processor"]["unusable"], serde_json::json!({}), "{said}");
    let older = evaluate(folder.path());
    eprintln!("RMS newer {} m, older {} m", newer["rms_m"], older["rms_m"]);
    assert!(number(&older, "detection") > 0.97, "{older:#}");
    // Ranges in steps of 14.5 m instead of 7.2 m.
    assert!(number(&older, "rms_m") < 1.1 * number(&newer, "rms_m"), "{older:#} {newer:#}");
}

/// A datagram of categories 048 and 034 as itself, and as one of 001 and 002.
fn translated(datagram: &[u8], alter: impl Fn(&mut Plot)) -> (Vec<u8>, Vec<u8>) {
    let (mut new, mut old) = (Vec::new(), Vec::new());
    for record in decode_block(datagram) {
        match record.unwrap() {
            Record::Plot(mut plot) => {
                alter(&mut plot);
                encode_block(&[older(&plot)], &mut old).unwrap();
                encode_block(&[plot], &mut new).unwrap();
            }
            Record::Service(message) => {
                let older = cat002::ServiceMessage {
                    source: message.source,
                    kind: Some(2),
                    sector_deg: message.sector_deg,
                    time_of_day: message.time_of_day,
                    antenna_period_s: message.antenna_period_s,
                    ..cat002::ServiceMessage::default()
                };
                encode_block(&[older], &mut old).unwrap();
                encode_block(&[message], &mut new).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    (new, old)
}

fn older(plot: &Plot) -> cat001::Report {
    let d = plot.descriptor.unwrap_or_default();
    let detection = match d.detection {
        Detection::None => 0,
        Detection::Psr => 1,
        Detection::Ssr | Detection::ModeSAllCall | Detection::ModeSRollCall => 2,
        _ => 3,
    };
    cat001::Report {
        source: plot.source,
        descriptor: Some(cat001::Descriptor { detection, ..Default::default() }),
        position: plot
            .position
            .map(|p| cat001::Position { range_nm: p.range_nm, azimuth_deg: p.azimuth_deg }),
        mode_a: plot.mode_a,
        flight_level: plot.flight_level,
        truncated_time: plot
            .time_of_day
            .map(|t| cat001::TruncatedTime(u16::try_from(t.ticks() & 0xFFFF).unwrap())),
        ..cat001::Report::default()
    }
}

/// A raw recording has the same blocks, and no times of arrival: the same tracks come of it.
#[test]
fn a_raw_recording_makes_the_tracks_of_the_capture() {
    let folder = tempfile::tempdir().unwrap();
    let (plots, generator) = radars(generator(3), 150.0, |d| Some(d.to_vec()));
    truth(folder.path(), &generator, 150.0);
    let mut raw: Vec<u8> = plots.iter().flat_map(|(_, d)| d.clone()).collect();
    capture(folder.path(), plots);
    let (captured, _) = track(folder.path(), &["plots.pcapng"]);
    std::fs::write(folder.path().join("plots.ast"), &raw).unwrap();
    let (recorded, said) = track(folder.path(), &["plots.ast"]);
    assert_eq!(recorded["tracks"], captured["tracks"], "{said}");
    assert_eq!(recorded["processor"]["plots"], captured["processor"]["plots"]);
    assert_eq!(recorded["processor"]["malformed"], 0);
    let confirmed = |summary: &Value| number(&summary["tracker"], "confirmed");
    assert_eq!(confirmed(&recorded), confirmed(&captured));

    // Cut, it is used up to there, and says where.
    raw.truncate(raw.len() - 2);
    std::fs::write(folder.path().join("plots.ast"), &raw).unwrap();
    let (cut, said) = track(folder.path(), &["plots.ast"]);
    let failure = cut["capture_failure"].as_str().unwrap();
    assert!(failure.contains("the last block is cut") && said.contains(failure), "{failure}");
    let (status, said) = {
        std::fs::write(folder.path().join("notes.txt"), "no recording\n").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_radar-tracker"))
            .args(["--capture", "notes.txt"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(!status.success() && said.contains("notes.txt") && said.contains("raw"), "{said}");
}

/// A clock an hour or 20 s wrong, also of the radar that is heard first: the clock of a raw recording is
/// that of the others, as the receiver's is that of a capture.
#[test]
fn a_wrong_clock_is_found_in_a_raw_recording_too() {
    let folder = tempfile::tempdir().unwrap();
    for error_s in [3_600, 20, -20, -3_600] {
        let alter = |octets: &[u8]| Some(with_clock(octets, SITES[0].source, error_s));
        let (plots, generator) = radars(generator(3), 150.0, alter);
        let there = truth(folder.path(), &generator, 150.0);
        let first = plots.iter().position(|(_, octets)| source_of(octets) == Some(SITES[0].source));
        let raw = plots[first.unwrap()..].iter().flat_map(|(_, octets)| octets.clone());
        std::fs::write(folder.path().join("plots.ast"), raw.collect::<Vec<u8>>()).unwrap();
        let (summary, said) = track(folder.path(), &["plots.ast"]);
        for clock in summary["clocks"].as_array().unwrap() {
            let is_wrong = clock["sic"] == SITES[0].source.sic;
            let verdict = if is_wrong { "retimed" } else { "agrees" };
            assert_eq!(clock["verdict"], verdict, "{error_s}: {summary:#}");
            let off_s = if is_wrong { f64::from(error_s) } else { 0.0 };
            assert!((number(clock, "offset_s") - off_s).abs() < 1.0, "{error_s}: {summary:#}");
        }
        let aircraft: std::collections::BTreeSet<u32> = there.iter().map(|t| t.address).collect();
        assert!(number(&summary, "tracks") <= aircraft.len() as f64, "{said}");
    }
}

/// A datagram in which the stamps of one radar are ahead.
fn with_clock(datagram: &[u8], source: DataSource, ahead_s: i32) -> Vec<u8> {
    let moved = |time: Option<TimeOfDay>| {
        let ticks = |time: TimeOfDay| i64::from(time.ticks()) + 128 * i64::from(ahead_s);
        time.map(|time| {
            TimeOfDay::from_ticks(u32::try_from(ticks(time).rem_euclid(128 * 86_400)).unwrap())
        })
    };
    let mut octets = Vec::new();
    for record in decode_block(datagram) {
        match record.unwrap() {
            Record::Plot(mut plot) if plot.source == source => {
                plot.time_of_day = moved(plot.time_of_day);
                encode_block(&[plot], &mut octets).unwrap();
            }
            Record::Service(mut message) if message.source == source => {
                message.time_of_day = moved(message.time_of_day);
                encode_block(&[message], &mut octets).unwrap();
            }
            _ => return datagram.to_vec(),
        }
    }
    octets
}

/// Tracks and status go out by UDP, in datagrams of one block each.
#[test]
fn tracks_and_status_are_sent_by_udp() {
    let folder = tempfile::tempdir().unwrap();
    let (plots, generator) = radars(generator(3), 60.0, |d| Some(d.to_vec()));
    truth(folder.path(), &generator, 60.0);
    capture(folder.path(), [plots, vec![(START_NS, vec![247, 0, 4, 1])]].concat());
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    let to = socket.local_addr().unwrap().to_string();
    // Slowly enough for the socket to be emptied.
    let receiver = std::thread::spawn(move || {
        let mut buffer = [0; 65_536];
        let (mut tracks, mut statuses) = (0_u64, 0_u64);
        let (mut systems, mut sensors) = (Vec::new(), Vec::new());
        while let Ok(octets) = socket.recv(&mut buffer) {
            if buffer[..octets] == *b"end" {
                break;
            }
            // The first may come when only some of the sensors were heard: it has as many records.
            statuses += u64::from(buffer[0] != 62);
            for record in decode_block(&buffer[..octets]) {
                match record.unwrap() {
                    Record::Track(_) => tracks += 1,
                    Record::SystemStatus(status) => systems.push(status),
                    Record::SensorStatus(status) => sensors.push(status),
                    other => panic!("{other:?}"),
                }
            }
        }
        (tracks, statuses, systems, sensors)
    });
    let arguments = ["plots.pcapng", "--speed", "20", "--to", &to, "--status-interval", "0.5"];
    let (summary, said) = track(folder.path(), &arguments);
    std::net::UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"end", &to).unwrap();
    let (tracks, statuses, systems, sensors) = receiver.join().unwrap();
    assert_eq!(summary["processor"]["messages"], tracks, "{said}");
    assert_eq!(summary["status_messages"], statuses, "{summary:#}");
    let own = DataSource { sac: 25, sic: 100 };
    let is_ours = |s: &cat065::SystemStatus| {
        s.source == own && s.kind == Some(1) && s.status.is_some_and(|status| status.operation == 0)
    };
    assert!(systems.len() >= 3 && systems.iter().all(is_ours), "{systems:?}");
    // Those of before the first plots have no sensor yet.
    let last = &sensors[sensors.len() - 3..];
    let named: Vec<_> = last.iter().filter_map(|s| s.sensor).collect();
    assert_eq!(named, SITES[..3].iter().map(|site| site.source).collect::<Vec<_>>());
    assert!(last.iter().all(|s| s.status.unwrap().connection == 0), "{last:?}");
    // A category that is not used is named once, with its count at the end.
    assert!(said.contains("ASTERIX category 247 is not used"), "{said}");
    assert!(said.contains("ASTERIX category 247 was not used: 1 blocks"), "{said}");
}
