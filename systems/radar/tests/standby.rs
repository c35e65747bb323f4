//! Hot standby, from outside: two trackers on the same plots, of which the one in operation is
//! killed while it is fed, and later started again.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

#[path = "support/programs.rs"]
mod programs;

use chronoscope_clock as clock;
use chronoscope_lab::reserve_port;
use chronoscope_radar::asterix::cat048::Plot;
use chronoscope_radar::asterix::{DataSource, Record, cat062, decode_block, encode_block};
use chronoscope_radar::generator::{Generator, sites::SITES};
use chronoscope_radar::geodesy::Wgs84;
use chronoscope_radar::link::BlockReader;
use chronoscope_radar::tracker::{Precision, Processor, Radars, Settings};
use chronoscope_radar::traffic::circles;
use programs::{Chain, wait_for};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A tracker of a pair; ended whatever happens.
struct Unit(Child);

impl Unit {
    fn start(folder: &Path, unit: &str, listen: &str, peer: &str, plots: &str) -> Self {
        let child = Command::new(env!("CARGO_BIN_EXE_radar-tracker"))
            .args(["--unit", unit, "--listen", listen, "--peer", peer, "--plots", plots, "--json"])
            .arg("--port-file")
            .arg(folder.join(format!("tracks-{unit}")))
            .env("CHRONOSCOPE_DIR", folder.join("rings"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for("a tracker", || folder.join(format!("tracks-{unit}")).exists());
        Self(child)
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    fn signal(&self, signal: &str) {
        // By the id of the process that we started and have not waited for.
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    fn end(mut self) -> serde_json::Value {
        self.signal("-TERM");
        let mut text = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(self.0.wait().unwrap().success());
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a display is sent: of each message about a track when it came, monotonic ns, its address and
/// its number.
type Heard = Arc<Mutex<Vec<(u64, u32, u16)>>>;

fn listen(address: &str, heard: &Heard) {
    let mut stream = TcpStream::connect(address).unwrap();
    let heard = Arc::clone(heard);
    std::thread::spawn(move || {
        let (mut reader, mut buffer) = (BlockReader::default(), vec![0; 65_536]);
        while let Ok(octets @ 1..) = stream.read(&mut buffer) {
            reader.extend(&buffer[..octets]);
            while let Some(block) = reader.next_block().unwrap() {
                for record in decode_block(block) {
                    let Record::Track(track) = record.unwrap() else { continue };
                    let status = track.status.unwrap_or_default();
                    let address = track.derived.and_then(|derived| derived.address);
                    let number = track.track_number.unwrap();
                    if let (Some(address), false) = (address, status.ends) {
                        heard.lock().unwrap().push((clock::monotonic_ns(), address, number));
                    }
                }
            }
        }
    });
}

/// The numbers of each aircraft in messages that came from `from_ns` on.
fn numbers(heard: &Heard, from_ns: u64) -> BTreeMap<u32, BTreeSet<u16>> {
    let mut numbers: BTreeMap<u32, BTreeSet<u16>> = BTreeMap::new();
    for (at_ns, address, number) in heard.lock().unwrap().iter() {
        if *at_ns >= from_ns {
            numbers.entry(*address).or_default().insert(*number);
        }
    }
    numbers
}

/// Waits until the working position tells its page so, which shows it.
fn said_by_the_page(address: &str, words: &str) {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let url = format!("ws://{address}/socket");
    let (mut socket, _) = tungstenite::client(url, stream).unwrap();
    wait_for(words, || match socket.read().unwrap() {
        tungstenite::Message::Text(text) => text.contains(words),
        _ => false,
    });
}

fn local() -> String {
    reserve_port("127.0.0.1".parse().unwrap()).unwrap().to_string()
}

/// 40 aircraft, four times as fast as life, whose plots go to both trackers for a minute.
fn traffic(folder: &Path, plots_one: &str, plots_two: &str) -> Unit {
    let generator = Command::new(env!("CARGO_BIN_EXE_radar-generator"))
        .args(["--scenario", "circles", "--circles", "4", "--flights", "10", "--radars", "3"])
        .args(["--speed", "4", "--duration", "60", "--seed", "5"])
        .args(["--to", plots_one, "--to", plots_two])
        .env("CHRONOSCOPE_DIR", folder.join("rings"))
        .spawn()
        .unwrap();
    Unit(generator)
}

/// A tracker that is stopped is silent, its connections stand: it is missed all the same. When it goes
/// on both are in operation, and the second one stands back.
#[test]
fn a_stopped_tracker_is_replaced_and_comes_back() {
    let chain = Chain::new(1 << 12);
    let folder = chain.folder.path();
    let (one, two, plots_one, plots_two) = (local(), local(), local(), local());
    let first = Unit::start(folder, "1", &one, &two, &plots_one);
    let second = Unit::start(folder, "2", &two, &one, &plots_two);
    let generator = traffic(folder, &plots_one, &plots_two);
    let heard = Heard::default();
    listen(&two, &heard);
    clock::sleep(Duration::from_secs(6));
    assert!(numbers(&heard, 0).is_empty(), "the second one only listens");
    let stopped_ns = clock::monotonic_ns();
    first.signal("-STOP");
    wait_for("tracks of the second", || !numbers(&heard, 0).is_empty());
    let took_ms = (clock::monotonic_ns() - stopped_ns) / 1_000_000;
    eprintln!("tracks came again {took_ms} ms after the stop");
    first.signal("-CONT");
    clock::sleep(Duration::from_secs(3));
    let now_ns = clock::monotonic_ns();
    clock::sleep(Duration::from_secs(3));
    assert!(numbers(&heard, now_ns).is_empty(), "the second one listens again");
    let second = second.end();
    let first = first.end();
    drop(generator);
    assert_eq!(
        (&second["pair"]["takeovers"], &second["pair"]["in_operation"]),
        (&1.into(), &false.into())
    );
    assert_eq!(first["pair"]["in_operation"], true, "{first:#}");
}

#[test]
fn the_standby_goes_on_with_the_numbers_of_a_killed_tracker() {
    let chain = Chain::new(1 << 12);
    let folder = chain.folder.path();
    let (one, two, plots_one, plots_two) = (local(), local(), local(), local());
    let mut first = Unit::start(folder, "1", &one, &two, &plots_one);
    // The second one starts while the first is in operation, and later than the aircraft.
    let generator = traffic(folder, &plots_one, &plots_two);
    clock::sleep(Duration::from_secs(4));
    let second = Unit::start(folder, "2", &two, &one, &plots_two);
    let messages = Command::new(env!("CARGO_BIN_EXE_radar-messages"))
        .args(["--tracker", &one, "--tracker", &two, "--json", "--port-file"])
        .arg(folder.join("updates"))
        .env("CHRONOSCOPE_DIR", folder.join("rings"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let messages = Unit(messages);
    let updates = chain.port("updates");
    let display = Command::new(env!("CARGO_BIN_EXE_radar-display"))
        .args(["--messages", &updates, "--json", "--listen", "127.0.0.1:0", "--port-file"])
        .arg(folder.join("display"))
        .env("CHRONOSCOPE_DIR", folder.join("rings"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let display = Unit(display);
    let heard = Heard::default();
    listen(&updates, &heard);
    clock::sleep(Duration::from_secs(8));
    let before = numbers(&heard, 0);
    assert!(before.len() > 20, "{before:?}");
    assert!(before.values().all(|numbers| numbers.len() == 1), "{before:?}");

    let page = chain.port("display");
    said_by_the_page(&page, "\"tracker\":1");

    let killed_ns = clock::monotonic_ns();
    first.kill();
    wait_for("tracks of the second", || !numbers(&heard, killed_ns + 20_000_000).is_empty());
    wait_for("tracks of all aircraft again", || {
        let since = numbers(&heard, killed_ns + 20_000_000);
        before.keys().all(|address| since.contains_key(address))
    });
    said_by_the_page(&page, "\"tracker\":2");
    let resumed_ns = heard
        .lock()
        .unwrap()
        .iter()
        .map(|(at_ns, ..)| *at_ns)
        .find(|at_ns| *at_ns > killed_ns + 20_000_000)
        .unwrap();
    eprintln!("tracks came again {} ms after the kill", (resumed_ns - killed_ns) / 1_000_000);
    let after = numbers(&heard, 0);
    for (address, numbers) in &before {
        assert_eq!(after.get(address), Some(numbers), "{address:06x}");
    }

    // It comes back and stands by, with the second one's numbers; who started first does not matter.
    let _ = std::fs::remove_file(folder.join("tracks-1"));
    let first = Unit::start(folder, "1", &one, &two, &plots_one);
    clock::sleep(Duration::from_secs(5));
    let (display, messages) = (display.end(), messages.end());
    let second = second.end();
    let first = first.end();
    drop(generator);
    assert_eq!(second["pair"]["takeovers"], 1, "{second:#}");
    assert_eq!(messages["forwarder"]["takeovers"], 1, "{messages:#}");
    assert_eq!(display["position"]["tracker_in_operation"], 2, "{display:#}");
    assert!(first["pair"]["followed"].as_u64().unwrap() > 20, "{first:#}");
    assert!(second["pair"]["followed"].as_u64().unwrap() > 20, "{second:#}");
}

/// A plot as of a radar without Mode S: position, code and level alone.
fn without_address(datagram: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    for record in decode_block(datagram) {
        match record.unwrap() {
            Record::Plot(plot) => {
                let plot = Plot {
                    aircraft_address: None,
                    callsign: None,
                    mode_s_registers: Vec::new(),
                    ..plot
                };
                encode_block(&[plot], &mut octets).unwrap();
            }
            Record::Service(message) => encode_block(&[message], &mut octets).unwrap(),
            other => panic!("{other:?}"),
        }
    }
    octets
}

/// Where a track was said to be, and how it flies.
type Known = (i64, cat062::Position, cat062::Velocity);

fn known(track: &cat062::Track, at_ns: i64) -> Known {
    let time_ns = track.time_of_day.unwrap().to_utc_ns(at_ns);
    (time_ns, track.position.unwrap(), track.velocity.unwrap())
}

/// How far a track is from where another message said that it would be, m.
fn apart_m(earlier: &Known, later: &Known) -> f64 {
    let passed_s = (later.0 - earlier.0) as f64 / 1e9;
    let north_m = (later.1.lat_deg - earlier.1.lat_deg) * 111_200.0;
    let east_m =
        (later.1.lon_deg - earlier.1.lon_deg) * 111_200.0 * later.1.lat_deg.to_radians().cos();
    (north_m - earlier.2.y_m_s * passed_s).hypot(east_m - earlier.2.x_m_s * passed_s)
}

/// Where no aircraft sends an address, numbers are handed over by code, level and place: every track of the one
/// that is gone goes on under its number, where it should be. The second one began later, with other numbers.
#[test]
fn numbers_go_on_without_addresses() {
    const START_NS: i64 = 1_700_000_000_000_000_000;
    let mut generator = Generator::new(circles::compose(4, 10), &SITES[..3], 5, START_NS);
    let processor = |sic| {
        let radars = Radars::new(Wgs84::new(51.0, 10.0, 0.0), Precision::default());
        Processor::new(radars, Settings::default(), DataSource { sac: 25, sic })
    };
    let (mut one, mut two) = (processor(1), processor(2));
    let (mut last, mut since) = (BTreeMap::new(), BTreeMap::<u16, Known>::new());
    let mut followed = 0;
    loop {
        let sent = generator.next_transmission().unwrap().unwrap();
        if sent.at_s > 150.0 {
            break;
        }
        let at_ns = generator.utc_ns(sent.at_s);
        let is_gone = sent.at_s > 120.0;
        for datagram in sent.datagrams.iter().map(|datagram| without_address(datagram)) {
            let mut messages = Vec::new();
            if !is_gone {
                one.datagram(&datagram, at_ns, |message| messages.push(message.to_vec()));
                one.tick(at_ns, |message| messages.push(message.to_vec()));
            }
            let mut own = Vec::new();
            if sent.at_s > 45.0 {
                two.datagram(&datagram, at_ns, |message| own.push(message.to_vec()));
                two.tick(at_ns, |message| own.push(message.to_vec()));
            }
            for track in messages.iter().flat_map(|message| tracks(message)) {
                assert_eq!(track.derived.as_ref().and_then(|d| d.address), None);
                let number = track.track_number.unwrap();
                if track.status.unwrap_or_default().ends {
                    last.remove(&number);
                } else {
                    last.insert(number, known(&track, at_ns));
                }
                followed += u32::from(two.follow(&track, at_ns));
            }
            for track in own.iter().flat_map(|message| tracks(message)).filter(|_| is_gone) {
                if !track.status.unwrap_or_default().ends {
                    since.entry(track.track_number.unwrap()).or_insert(known(&track, at_ns));
                }
            }
        }
    }
    assert!(last.len() >= 20 && followed > 100, "{} {followed}", last.len());
    for (number, before) in &last {
        let after = since.get(number).unwrap_or_else(|| panic!("{number} did not go on"));
        assert!(apart_m(before, after) < 3_000.0, "{number}: {before:?} {after:?}");
    }
    let others: Vec<_> = since.keys().filter(|number| !last.contains_key(number)).collect();
    assert!(others.is_empty(), "{others:?}");
}

fn tracks(message: &[u8]) -> Vec<cat062::Track> {
    let track = |record| match record {
        Ok(Record::Track(track)) => Some(track),
        _ => None,
    };
    decode_block(message).filter_map(track).collect()
}
