//! The program `radar-generator` from outside: what it sends, when, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use chronoscope_radar::asterix::{Record, TimeOfDay, decode_block};
use chronoscope_radar::geodesy::METRES_PER_NM;
use chronoscope_radar::traffic::plans;
use std::collections::HashSet;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn listener() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

fn start(arguments: &[&str], to: &[SocketAddr]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_radar-generator"));
    for address in to {
        command.args(["--to", &address.to_string()]);
    }
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn circles(arguments: &[&str], to: &[SocketAddr]) -> Child {
    let scenario = ["--scenario", "circles", "--circles", "4", "--flights", "10"];
    start(&[&scenario, arguments].concat(), to)
}

fn summary(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All that waits in a socket, once the sender has ended.
fn received(socket: &UdpSocket) -> Vec<Vec<u8>> {
    socket.set_nonblocking(true).unwrap();
    let mut datagrams = Vec::new();
    let mut buffer = [0; 2048];
    while let Ok(size) = socket.recv(&mut buffer) {
        datagrams.push(buffer[..size].to_vec());
    }
    datagrams
}

fn records(datagrams: &[Vec<u8>]) -> Vec<Record> {
    datagrams.iter().flat_map(|datagram| decode_block(datagram).map(Result::unwrap)).collect()
}

#[test]
fn what_the_summary_counts_arrives() {
    let (a, b) = (listener(), listener());
    let child =
        circles(&["--radars", "2", "--duration", "3", "--speed", "6", "--json"], &[a.1, b.1]);
    let summary = summary(&child.wait_with_output().unwrap());
    let datagrams = received(&a.0);
    assert_eq!(datagrams, received(&b.0), "both destinations get the same");
    assert_eq!(summary["version"], 1);
    assert_eq!(summary["send_errors"], 0);
    assert_eq!(summary["datagrams"], datagrams.len());
    assert_eq!(summary["octets"], datagrams.iter().map(Vec::len).sum::<usize>());
    let plots = records(&datagrams).iter().filter(|r| matches!(r, Record::Plot(_))).count();
    assert_eq!(summary["plots"], plots);
    assert!(plots > 40, "18 s of the scenario, two radars, forty aircraft: {plots}");
    assert_eq!(summary["radars"].as_array().unwrap().len(), 2);
}

#[test]
fn times_of_day_are_utc_and_plots_come_at_once() {
    let (socket, address) = listener();
    let child = circles(&["--radars", "9", "--duration", "4"], &[address]);
    let mut delays_s = Vec::new();
    let mut buffer = [0; 2048];
    // Nine radars of 32 sectors in 5 to 12 s: more than 30 messages a second.
    while delays_s.len() < 60 {
        let size = socket.recv(&mut buffer).unwrap();
        let now_ns = chronoscope_clock::utc_now_ns();
        for record in decode_block(&buffer[..size]) {
            if let Record::Service(message) = record.unwrap() {
                let stamp_ns = message.time_of_day.unwrap().to_utc_ns(now_ns);
                delays_s.push((now_ns - stamp_ns) as f64 / 1e9);
            }
        }
    }
    assert!(child.wait_with_output().unwrap().status.success());
    delays_s.sort_by(f64::total_cmp);
    // A stamp is cut to 1/128 s; never ahead, and the median is not late even on a busy machine.
    assert!(delays_s[0] >= 0.0, "{}", delays_s[0]);
    assert!(delays_s[30] < 0.05, "{}", delays_s[30]);
}

#[test]
fn a_multicast_group_hears_it() {
    let group = std::net::Ipv4Addr::new(239, 255, 48, 34);
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    if let Err(error) = socket.join_multicast_v4(&group, &std::net::Ipv4Addr::UNSPECIFIED) {
        eprintln!("SKIPPED: this host has no interface for multicast: {error}");
        return;
    }
    let to = SocketAddr::from((group, socket.local_addr().unwrap().port()));
    // Few enough for the socket to hold until they are read.
    let few = ["--radars", "2", "--duration", "2", "--speed", "8", "--json"];
    let child = circles(&few, &[to]);
    let summary = summary(&child.wait_with_output().unwrap());
    assert_eq!(summary["send_errors"], 0);
    assert_eq!(summary["datagrams"], received(&socket).len());
}

#[test]
fn each_radar_can_have_its_port() {
    // Two neighbouring ports that are free now; another process may take the second meanwhile.
    let (first, second) = loop {
        let (first, address) = listener();
        if let Some(next) = address.port().checked_add(1)
            && let Ok(second) = UdpSocket::bind(("127.0.0.1", next))
        {
            break (first, second);
        }
    };
    let to = first.local_addr().unwrap();
    let child =
        circles(&["--radars", "2", "--port-per-radar", "--duration", "2", "--speed", "8"], &[to]);
    assert!(child.wait_with_output().unwrap().status.success());
    for (socket, sic) in [(first, 1), (second, 2)] {
        let records = records(&received(&socket));
        assert!(!records.is_empty());
        for record in records {
            let source = match record {
                Record::Plot(plot) => plot.source,
                Record::Service(message) => message.source,
                other => panic!("{other:?}"),
            };
            assert_eq!((source.sac, source.sic), (98, sic));
        }
    }
}

#[test]
fn a_signal_ends_it_with_its_summary() {
    for signal in ["INT", "TERM"] {
        let (socket, address) = listener();
        let child = circles(&["--json"], &[address]);
        // It is running once something comes.
        socket.recv(&mut [0; 2048]).unwrap();
        let killed =
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(killed.unwrap().success());
        let summary = summary(&child.wait_with_output().unwrap());
        assert!(summary["datagrams"].as_u64().unwrap() > 0, "{signal}");
    }
}

#[test]
fn plans_and_truth_belong_to_the_plots() {
    let dir = tempfile::tempdir().unwrap();
    let (plans_file, truth_file) = (dir.path().join("plans.csv"), dir.path().join("truth.csv"));
    let (socket, address) = listener();
    let files =
        ["--flight-plans", plans_file.to_str().unwrap(), "--truth", truth_file.to_str().unwrap()];
    let child = circles(&[&files[..], &["--duration", "2", "--speed", "8"]].concat(), &[address]);
    assert!(child.wait_with_output().unwrap().status.success());
    let plans = plans::read(&std::fs::read_to_string(plans_file).unwrap()).unwrap();
    let planned: HashSet<(u32, String)> =
        plans.iter().map(|plan| (plan.address, plan.callsign.clone())).collect();
    assert_eq!(planned.len(), 40);
    let truth = std::fs::read_to_string(truth_file).unwrap();
    // Sixteen seconds of the scenario and its beginning.
    assert_eq!(truth.lines().count(), 1 + 40 * 17);
    for record in records(&received(&socket)) {
        if let Record::Plot(plot) = record {
            let name = (plot.aircraft_address.unwrap(), plot.callsign.unwrap().to_string());
            assert!(planned.contains(&name), "{name:?}");
        }
    }
}

#[test]
fn wrong_arguments_say_what_to_do() {
    let output = start(&[], &["127.0.0.1:9".parse().unwrap()]).wait_with_output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("run tools/flights"), "{said}");
    for (arguments, expected) in [
        (["--fault", "98/99=clutter,5"], "the scenario has no radar with this SAC/SIC"),
        (["--fault", "98/1=clutter"], "expected clutter,PLOTS"),
        (["--fault", "rain"], "expected SAC/SIC=KIND"),
        (["--levels", "300-200"], "expected LOW-HIGH"),
    ] {
        let output = circles(&arguments, &["127.0.0.1:9".parse().unwrap()]).wait_with_output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(expected), "{arguments:?}: {said}");
    }
}

/// Of the artificial scenarios each is seen where its truth says that it is, and all radars can
/// have a fault.
#[test]
fn every_artificial_scenario_is_flown_and_spoilt() {
    for (scenario, flights, heard) in
        [("crossings", "6", 6), ("climbs", "8", 6), ("holds", "12", 12)]
    {
        let (socket, address) = listener();
        let dir = tempfile::tempdir().unwrap();
        let truth = dir.path().join("truth.csv");
        let arguments = [
            "--scenario",
            scenario,
            "--places",
            "1",
            "--flights",
            flights,
            // Few enough for the socket to hold until they are read.
            "--radars",
            "2",
            "--speed",
            "8",
            "--duration",
            "2",
            "--fault",
            "all=duplicates,1",
            "--json",
        ];
        let arguments = [&arguments[..], &["--truth", truth.to_str().unwrap()]].concat();
        let summary = summary(&start(&arguments, &[address]).wait_with_output().unwrap());
        let records = records(&received(&socket));
        let plots: Vec<_> = records
            .iter()
            .filter_map(|record| match record {
                Record::Plot(plot) => Some(plot),
                _ => None,
            })
            .collect();
        assert!(plots.len() > 20, "{scenario}: {}", plots.len());
        assert_eq!(summary["plots"], plots.len());
        assert!(plots.chunks(2).all(|pair| pair[0] == pair[1]), "{scenario}");
        let seen: HashSet<u32> = plots.iter().filter_map(|plot| plot.aircraft_address).collect();
        let text = std::fs::read_to_string(&truth).unwrap();
        let address = |line: &str| u32::from_str_radix(line.split(',').nth(1)?, 16).ok();
        let there: HashSet<u32> = text.lines().skip(1).filter_map(address).collect();
        assert!(seen.is_subset(&there), "{scenario}");
        assert!(there.len() >= heard && seen.len() >= heard / 2, "{scenario}: {there:?} {seen:?}");
    }
}

/// The recording; `None`, loudly, when it cannot be had.
fn recording() -> Option<PathBuf> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/flights");
    let output = Command::new(tool).output();
    match output {
        Ok(output) if output.status.success() => {
            Some(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
        }
        other => {
            eprintln!("SKIPPED: no recorded flights, so the live scenario is not run: {other:?}");
            None
        }
    }
}

/// Every call of the program in the README works as it stands there.
#[test]
fn the_readme_works() {
    let dir = tempfile::tempdir().unwrap();
    let readme = include_str!("../README.md").replace("\\\n", " ");
    let calls: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.split_once("--bin radar-generator -- ").map(|(_, call)| call))
        .collect();
    assert_eq!(calls.len(), 5);
    for call in calls {
        let mut arguments: Vec<String> = call.split_whitespace().map(str::to_owned).collect();
        if let Some(path) = arguments.iter_mut().find(|argument| *argument == "\"$recording\"") {
            let Some(recording) = recording() else { continue };
            *path = recording.to_str().unwrap().to_owned();
        }
        let output = Command::new(env!("CARGO_BIN_EXE_radar-generator"))
            .args(&arguments)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{call}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty());
    }
    if recording().is_some() {
        assert!(dir.path().join("plans.csv").exists() && dir.path().join("truth.csv").exists());
    }
}

#[test]
fn the_live_scenario_is_as_dense_as_it_says() {
    use chronoscope_radar::generator::sites::SITES;
    use chronoscope_radar::geodesy::LocalFrame;
    use chronoscope_radar::traffic::{flights, live};
    let Some(recording) = recording() else { return };
    let recorded = flights::read(std::fs::File::open(recording).unwrap()).unwrap();
    assert_eq!(recorded.len(), 1244);
    let aircraft = live::compose(&recorded, None);
    let addresses: HashSet<u32> = aircraft.iter().map(|plane| plane.address).collect();
    assert_eq!(addresses.len(), aircraft.len());
    let radars = &SITES[..5];
    let frames: Vec<LocalFrame> =
        radars.iter().map(|site| LocalFrame::new(site.position)).collect();
    for minute in 0..60 {
        let at_s = 60.0 * f64::from(minute);
        let there: Vec<_> = aircraft.iter().filter_map(|plane| plane.at(at_s)).collect();
        assert!((680..=820).contains(&there.len()), "minute {minute}: {}", there.len());
        for state in there {
            let position = state.position;
            assert!((46.5..55.5).contains(&position.lat_deg), "{position:?}");
            assert!((4.5..16.5).contains(&position.lon_deg), "{position:?}");
            let seen = frames.iter().zip(radars).any(|(frame, site)| {
                frame.to_polar(position).range_m < site.range_nm * METRES_PER_NM
            });
            assert!(seen, "no radar of the first five reaches {position:?}");
        }
    }
    // Smoothed paths move as aircraft do: 100 to 330 m/s, save for a few bad stretches.
    let speeds: Vec<f64> = aircraft
        .iter()
        .filter_map(|plane| Some((plane.at(500.0)?, plane.at(501.0)?)))
        .map(|(a, b)| a.position.ground_distance_m(b.position))
        .collect();
    let odd = speeds.iter().filter(|speed| !(100.0..330.0).contains(*speed)).count();
    assert!(odd * 50 < speeds.len(), "{odd} of {} have odd speeds", speeds.len());
}

#[test]
fn a_biased_radar_reports_what_the_others_do_not() {
    let plots = |more: &[&str]| -> Vec<_> {
        let (socket, address) = listener();
        let arguments = [&["--radars", "2", "--duration", "1", "--speed", "12"], more].concat();
        let output = circles(&arguments, &[address]).wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let positions = |record| match record {
            Record::Plot(plot) => Some((plot.source, plot.position.unwrap())),
            _ => None,
        };
        records(&received(&socket)).into_iter().filter_map(positions).collect()
    };
    let (with, without) = (plots(&["--bias", "98/1=500,-0.5,0.1"]), plots(&[]));
    let mut biased = 0;
    for ((source, with), (same, without)) in with.iter().zip(&without) {
        assert_eq!(source, same);
        let range_m = (with.range_nm - without.range_nm) * METRES_PER_NM;
        let azimuth_deg =
            (with.azimuth_deg - without.azimuth_deg + 180.0).rem_euclid(360.0) - 180.0;
        let expected = if source.sic == 1 { (500.0, -0.5) } else { (0.0, 0.0) };
        biased += u32::from(source.sic == 1);
        // Steps of the items: 7.2 m and 0.0055°.
        assert!((range_m - expected.0).abs() < 7.3, "{range_m}");
        assert!((azimuth_deg - expected.1).abs() < 0.006, "{azimuth_deg}");
    }
    assert!(biased > 10, "{biased} of {}", with.len());
    for refused in ["98/3=1,1", "98/1=1", "98/1=1,x", "1=1,1", "98/1=1,11"] {
        let (_socket, address) = listener();
        let arguments = ["--radars", "2", "--duration", "1", "--bias", refused];
        let output = circles(&arguments, &[address]).wait_with_output().unwrap();
        assert!(!output.status.success(), "{refused}");
    }
}

#[test]
fn stamps_do_not_jump_at_midnight() {
    // The plots of a radar that turns over midnight: pure, so no need to wait for it.
    use chronoscope_radar::generator::{Generator, sites::SITES};
    use chronoscope_radar::traffic::circles;
    let midnight_ns = 20_000 * 86_400_000_000_000_i64;
    let aircraft = circles::compose(2, 10);
    let mut generator = Generator::new(aircraft, &SITES[..1], 1, midnight_ns - 30_000_000_000);
    let mut last = f64::NEG_INFINITY;
    for _ in 0..300 {
        let transmission = generator.next_transmission().unwrap().unwrap();
        let now_ns = generator.utc_ns(transmission.at_s);
        for record in records(&transmission.datagrams) {
            if let Record::Service(message) = record {
                let stamp: TimeOfDay = message.time_of_day.unwrap();
                assert!(stamp.seconds() < 86_400.0);
                let utc_s = stamp.to_utc_ns(now_ns) as f64 / 1e9;
                assert!(utc_s >= last, "{utc_s} after {last}");
                last = utc_s;
            }
        }
    }
    assert!(last > midnight_ns as f64 / 1e9);
}
