//! Hot standby, from outside: two trackers on the same plots, of which the one in operation is
//! killed while it is fed, and later started again.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

#[path = "support/programs.rs"]
mod programs;

use chronoscope_clock as clock;
use chronoscope_lab::reserve_port;
use chronoscope_radar::asterix::{Record, decode_block};
use chronoscope_radar::link::BlockReader;
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
        .args(["--messages", &updates, "--json"])
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

    let killed_ns = clock::monotonic_ns();
    first.kill();
    wait_for("tracks of the second", || !numbers(&heard, killed_ns + 20_000_000).is_empty());
    clock::sleep(Duration::from_secs(5));
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
    let since = numbers(&heard, killed_ns + 20_000_000);
    assert!(2 * since.len() > before.len(), "{} of {}", since.len(), before.len());

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
