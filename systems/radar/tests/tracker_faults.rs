//! Faults that every control centre knows, from outside: what our radars send goes as a capture,
//! spoilt, through the tracker, and its summary and its tracks are judged.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use chronoscope_radar::asterix::cat048::Plot;
use chronoscope_radar::asterix::{Record, TimeOfDay, decode_block, encode_block};
use chronoscope_radar::day::{PLOTS_PORT, SERVER};
use chronoscope_radar::generator::{Bias, Generator, Truth, sites::SITES};
use chronoscope_radar::traffic::patterns::{Crossings, Size, crossings};
use chronoscope_replay::capture::CaptureWriter;
use serde_json::Value;
use std::net::SocketAddrV4;
use std::path::Path;
use std::process::{Command, Output};

/// Noon of some day.
const START_NS: i64 = 20_000 * 86_400_000_000_000 + 43_200_000_000_000;
const S: i64 = 1_000_000_000;

/// Straight flights, in pairs that cross at 10 NM: 22 aircraft.
fn generator(radars: usize) -> Generator {
    let size = Size { places: 11, flights: 2, speed_m_s: 220.0 };
    let shape = Crossings { angle_deg: 90.0, miss_m: 18_520.0 };
    Generator::new(crossings(size, shape), &SITES[..radars], 3, START_NS)
}

/// What becomes of a datagram of a radar: datagrams, and how much later they arrive, ns.
type Spoilt = Vec<(i64, Vec<u8>)>;

/// Writes what the radars send, as `spoil` changes it, and the truth.
fn write(
    folder: &Path,
    mut generator: Generator,
    (from_s, to_s): (f64, f64),
    mut spoil: impl FnMut(usize, f64, &[u8]) -> Spoilt,
) {
    let mut arrivals: Vec<(i64, Vec<u8>)> = Vec::new();
    loop {
        let sent = generator.next_transmission().unwrap().unwrap();
        if sent.at_s > to_s {
            break;
        }
        for datagram in sent.datagrams.iter().filter(|_| sent.at_s >= from_s) {
            let at_ns = generator.utc_ns(sent.at_s);
            let spoilt = spoil(sent.radar, sent.at_s, datagram);
            arrivals.extend(spoilt.into_iter().map(|(later_ns, d)| (at_ns + later_ns, d)));
        }
    }
    arrivals.sort_by_key(|(at_ns, _)| *at_ns);
    let address = SocketAddrV4::new(SERVER, PLOTS_PORT);
    let mut plots = CaptureWriter::new(Vec::new()).unwrap();
    for (at_ns, datagram) in arrivals {
        plots.datagram(u64::try_from(at_ns).unwrap(), address, address, &datagram).unwrap();
    }
    std::fs::write(folder.join("plots.pcapng"), plots.finish().unwrap()).unwrap();
    let file = std::fs::File::create(folder.join("truth.csv")).unwrap();
    let mut truth = Truth::new(std::io::BufWriter::new(file), 1.0).unwrap();
    truth.write_until(&generator, to_s).unwrap();
    truth.finish().unwrap();
}

/// The datagram with other plots, and all stamps later by `late_ns`.
fn altered(datagram: &[u8], late_ns: i64, mut alter: impl FnMut(&mut Plot)) -> Vec<u8> {
    let moved = |time: TimeOfDay| TimeOfDay::from_utc_ns(time.to_utc_ns(START_NS) + late_ns);
    let (mut plots, mut services) = (Vec::new(), Vec::new());
    let mut rest = datagram;
    while let &[_, high, low, ..] = rest {
        let (block, later) = rest.split_at(usize::from(u16::from_be_bytes([high, low])));
        for record in decode_block(block) {
            match record.unwrap() {
                Record::Plot(mut plot) => {
                    plot.time_of_day = plot.time_of_day.map(moved);
                    alter(&mut plot);
                    plots.push(plot);
                }
                Record::Service(mut message) => {
                    message.time_of_day = message.time_of_day.map(moved);
                    services.push(message);
                }
                other => panic!("{other:?}"),
            }
        }
        rest = later;
    }
    let mut octets = Vec::new();
    if !plots.is_empty() {
        encode_block(&plots, &mut octets).unwrap();
    }
    if !services.is_empty() {
        encode_block(&services, &mut octets).unwrap();
    }
    octets
}

/// As a radar without Mode S sees it.
fn without_address(plot: &mut Plot) {
    (plot.aircraft_address, plot.callsign) = (None, None);
}

/// As a primary radar sees it.
fn nameless(plot: &mut Plot) {
    without_address(plot);
    (plot.mode_a, plot.flight_level) = (None, None);
}

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).current_dir(folder).output().unwrap()
}

/// Summary of the tracker, and what it says.
fn track(folder: &Path, more: &[&str]) -> (Value, String) {
    let arguments =
        [&["--capture", "plots.pcapng", "--json", "--out", "tracks.pcapng"], more].concat();
    let output = run(env!("CARGO_BIN_EXE_radar-tracker"), folder, &arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

fn evaluate(folder: &Path) -> Value {
    let arguments = ["--tracks", "tracks.pcapng", "--truth", "truth.csv", "--json"];
    let more = ["--interval", "13", "--skip", "60"];
    let arguments = [&arguments[..], &more].concat();
    let output = run(env!("CARGO_BIN_EXE_radar-evaluate"), folder, &arguments);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name}: {value:#}"))
}

/// Dual networks: every datagram comes twice, 20 ms apart. Without an address each copy was a track
/// of its own.
#[test]
fn datagrams_that_come_twice_make_no_second_tracks() {
    for alter in [without_address, nameless] {
        let folder = tempfile::tempdir().unwrap();
        let once = |_: usize, _: f64, d: &[u8]| vec![(0, altered(d, 0, alter))];
        write(folder.path(), generator(5), (0.0, 120.0), once);
        let (single, _) = track(folder.path(), &[]);
        assert!(number(&single, "tracks") >= 20.0, "{single:#}");
        assert_eq!(single["processor"]["duplicate_plots"], 0);

        let twice = |_: usize, _: f64, d: &[u8]| {
            let datagram = altered(d, 0, alter);
            vec![(0, datagram.clone()), (20_000_000, datagram)]
        };
        write(folder.path(), generator(5), (0.0, 120.0), twice);
        let (doubled, said) = track(folder.path(), &[]);
        for what in ["tracks", "clocks", "registration"] {
            assert_eq!(single[what], doubled[what], "{what}: {said}");
        }
        // Not `extrapolated`: time goes on with every datagram.
        for what in ["plots", "initiated", "confirmed", "updates", "merged", "ended", "repeated"] {
            assert_eq!(single["tracker"][what], doubled["tracker"][what], "{what}: {said}");
        }
        let (plots, copies) = (&doubled["processor"]["plots"], &single["processor"]["plots"]);
        assert_eq!(plots.as_u64().unwrap(), 2 * copies.as_u64().unwrap());
        assert_eq!(&doubled["processor"]["duplicate_plots"], copies);
        assert_eq!(
            doubled["processor"]["duplicate_services"],
            single["processor"]["service_messages"]
        );
    }
}

/// The second network is 700 ms slower, loses every tenth datagram of its own, and the first every
/// eleventh: each plot is used once, whichever copy comes.
#[test]
fn what_one_network_loses_comes_by_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    let dual = |_: usize, _: f64, d: &[u8]| {
        count += 1;
        let datagram = altered(d, 0, without_address);
        let copies = [(count % 11 != 0, 0), (count % 10 != 0, 700_000_000)];
        let came = copies.into_iter().filter(|(came, _)| *came);
        came.map(|(_, later_ns)| (later_ns, datagram.clone())).collect()
    };
    write(folder.path(), generator(5), (0.0, 180.0), dual);
    let (summary, _) = track(folder.path(), &[]);
    let found = evaluate(folder.path());
    assert!(number(&summary["processor"], "duplicate_plots") > 500.0, "{summary:#}");
    assert_eq!(found["duplicates"], 0.0, "{found:#}");
    assert!(number(&found, "detection") > 0.97, "{found:#}");
}

/// One radar is an hour wrong and is heard for half a minute before the others.
#[test]
fn a_radar_an_hour_wrong_that_is_heard_first_harms_no_other() {
    for late_ns in [-3_600 * S, 3_600 * S] {
        let folder = tempfile::tempdir().unwrap();
        let wrong = |radar: usize, at_s: f64, d: &[u8]| match radar {
            0 => vec![(0, altered(d, late_ns, without_address))],
            _ if at_s < 30.0 => Vec::new(),
            _ => vec![(0, altered(d, 0, without_address))],
        };
        write(folder.path(), generator(5), (0.0, 240.0), wrong);
        let (summary, said) = track(folder.path(), &[]);
        let found = evaluate(folder.path());
        assert_eq!(summary["processor"]["unusable"]["off time"], Value::Null, "{summary:#}");
        let clocks = summary["clocks"].as_array().unwrap();
        assert_eq!(clocks[0]["verdict"], "retimed", "{summary:#}");
        let off_s = number(&clocks[0], "offset_s") - late_ns as f64 * 1e-9;
        assert!(off_s.abs() < 1.0, "{summary:#}");
        assert!(clocks[1..].iter().all(|c| c["verdict"] == "agrees" && c["refused"] == 0));
        let named = format!("radar {}: its clock is 3", SITES[0].source);
        assert!(said.contains(&named), "{said}");
        assert!(!said.contains(&format!("radar {}: its", SITES[1].source)), "{said}");
        // Of the first radar are the stamps of the first half minute.
        assert!(number(&found, "detection") > 0.97, "{found:#}");
        assert_eq!((&found["duplicates"], &found["swaps"]), (&0.0.into(), &0.into()), "{found:#}");
    }
}

/// One radar is 20 s ahead. Its plots made tracks of the future, beside which all others were late.
#[test]
fn a_radar_twenty_seconds_ahead_lets_no_track_coast() {
    let folder = tempfile::tempdir().unwrap();
    let right = |_: usize, _: f64, d: &[u8]| vec![(0, altered(d, 0, |_| {}))];
    write(folder.path(), generator(5), (0.0, 240.0), right);
    let (before, _) = track(folder.path(), &[]);
    let without = evaluate(folder.path());
    for (ahead, site) in SITES.iter().enumerate().take(3) {
        let wrong = |radar: usize, _: f64, d: &[u8]| {
            vec![(0, altered(d, if radar == ahead { 20 * S } else { 0 }, |_| {}))]
        };
        write(folder.path(), generator(5), (0.0, 240.0), wrong);
        let (summary, said) = track(folder.path(), &[]);
        let found = evaluate(folder.path());
        let coasted = |summary: &Value| number(&summary["tracker"], "extrapolated");
        assert!(coasted(&summary) <= coasted(&before) + 3.0, "{summary:#}");
        assert_eq!(summary["tracker"]["late"], 0, "{summary:#}");
        assert!(said.contains(&format!("radar {}: its clock is", site.source)), "{said}");
        let (rms, right) = (number(&found, "rms_m"), number(&without, "rms_m"));
        assert!(rms < 1.3 * right, "{rms} {right}");
        assert!(number(&found, "detection") > 0.97, "{found:#}");
    }
}

/// The only radar has errors that its operator knows.
#[test]
fn errors_in_the_list_of_radars_are_taken_out_of_a_single_radar() {
    let folder = tempfile::tempdir().unwrap();
    let mut generator = generator(1);
    let bias = Bias { range_m: 130.0, azimuth_deg: 0.5, time_s: 0.24 };
    assert!(generator.set_bias(SITES[0].source, bias));
    write(folder.path(), generator, (0.0, 240.0), |_, _, d| vec![(0, d.to_vec())]);
    let site = SITES[0].position;
    let rms = |errors: &str| {
        let list = format!(
            "radar,lat_deg,lon_deg,height_m,range_error_m,azimuth_error_deg,time_error_s\n\
             {},{},{},{},{errors}\n",
            SITES[0].source, site.lat_deg, site.lon_deg, site.height_m
        );
        std::fs::write(folder.path().join("radars.csv"), list).unwrap();
        track(folder.path(), &["--radars", "radars.csv"]);
        number(&evaluate(folder.path()), "rms_m")
    };
    let (unknown, known) = (rms(",,"), rms("130,0.5,0.24"));
    eprintln!("RMS {unknown:.0} m, with known errors {known:.0} m");
    assert!(known < 0.35 * unknown, "{known} {unknown}");
}

/// What `--print-config` prints is a configuration, and what a file changes is in it.
#[test]
fn the_settings_are_printed_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let printed = |arguments: &[&str]| {
        let arguments = [arguments, &["--print-config"]].concat();
        let output = run(env!("CARGO_BIN_EXE_radar-tracker"), folder.path(), &arguments);
        // Beside the settings the recorder may say something on standard error.
        let done = output.status.success();
        (done, String::from_utf8(if done { output.stdout } else { output.stderr }).unwrap())
    };
    let (done, all) = printed(&[]);
    assert!(done && all.contains("[initiation]") && all.contains("[sensors.primary]"), "{all}");
    std::fs::write(folder.path().join("all.toml"), &all).unwrap();
    assert_eq!(printed(&["--config", "all.toml"]), (true, all.clone()));
    std::fs::write(folder.path().join("some.toml"), "[coasting]\nturns = 7.0\n").unwrap();
    let (done, some) = printed(&["--config", "some.toml", "--range-sigma", "55"]);
    assert!(done && some.contains("turns = 7.0"), "{some}");
    assert_eq!(some.matches("range_sigma_m = 55.0").count(), 3, "{some}");
    std::fs::write(folder.path().join("bad.toml"), "[coasting]\nturn = 7.0\n").unwrap();
    let (done, said) = printed(&["--config", "bad.toml"]);
    assert!(!done && said.contains("bad.toml") && said.contains("`turn`"), "{said}");
}

/// All radars fail for two minutes, in which every aircraft flies straight on.
#[test]
fn who_comes_back_after_two_minutes_keeps_the_number() {
    for alter in [|_: &mut Plot| {}, without_address] {
        let folder = tempfile::tempdir().unwrap();
        let gap = |_: usize, at_s: f64, d: &[u8]| match at_s {
            120.0..240.0 => Vec::new(),
            _ => vec![(0, altered(d, 0, alter))],
        };
        write(folder.path(), generator(5), (0.0, 340.0), gap);
        let (summary, _) = track(folder.path(), &[]);
        let found = evaluate(folder.path());
        let recalled = number(&summary["tracker"], "recalled");
        eprintln!("{recalled} got their number back");
        assert!(recalled >= 18.0, "{summary:#}");
        assert!(number(&found, "renumbered") <= 1.0 && found["swaps"] == 0, "{found:#}");
    }
}

/// Paths smoothed by later plots are nearer to the truth than the tracks, and as good a reference.
#[test]
fn smoothed_paths_stand_in_for_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), generator(1), (0.0, 300.0), |_, _, d| vec![(0, d.to_vec())]);
    track(folder.path(), &["--smoothed", "smoothed.csv"]);
    let tracks = number(&evaluate(folder.path()), "rms_m");
    // Both files have the same times and addresses: the mean distance of their positions.
    let read = |name: &str| -> Vec<(String, String, f64, f64)> {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        let lines = text.lines().skip(1).map(|line| {
            let columns: Vec<&str> = line.split(',').collect();
            let degrees = |at: usize| columns[at].parse::<f64>().unwrap();
            (columns[0].to_owned(), columns[1].to_owned(), degrees(2), degrees(3))
        });
        lines.collect()
    };
    let truth = read("truth.csv");
    let (mut squares, mut count) = (0.0, 0.0);
    for (utc_s, address, lat, lon) in read("smoothed.csv") {
        let at: f64 = utc_s.parse().unwrap();
        let own: Vec<_> = truth.iter().filter(|line| line.1 == address).collect();
        let Some(pair) = own.windows(2).find(|pair| {
            let time = |index: usize| pair[index].0.parse::<f64>().unwrap();
            (time(0)..time(1)).contains(&at)
        }) else {
            continue;
        };
        let part = at - pair[0].0.parse::<f64>().unwrap();
        let (real_lat, real_lon) = (
            pair[0].2 + part * (pair[1].2 - pair[0].2),
            pair[0].3 + part * (pair[1].3 - pair[0].3),
        );
        let north = 111_200.0 * (lat - real_lat);
        let east = 111_200.0 * real_lat.to_radians().cos() * (lon - real_lon);
        squares += north * north + east * east;
        count += 1.0;
    }
    assert!(count > 300.0, "{count}");
    let smooth = f64::sqrt(squares / count);
    eprintln!("tracks {tracks:.0} m, smoothed {smooth:.0} m RMS");
    assert!(smooth < 0.8 * tracks, "{smooth} {tracks}");
}
