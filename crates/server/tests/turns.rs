//! Questions that take long: who waits, who is cancelled, and that a turn comes back.
//!
//! What makes a question long is a segment that is a pipe: reading it begins when a test says so.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use chronoscope_query::StoreLocation;
use chronoscope_store::MINUTE_NS;
use serde_json::Value;
use std::fs::{self, File};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use world::{ALL, BEGIN_NS, World, received};

/// As Linux has it.
const O_NONBLOCK: i32 = 0o4000;
/// Minutes so far apart that no question about one looks at the other.
const APART_NS: i64 = 300 * MINUTE_NS;

/// A segment whose reading waits.
struct Pipe(PathBuf);

impl Pipe {
    fn instead_of(segment: &Path) -> Self {
        fs::remove_file(segment).unwrap();
        assert!(Command::new("mkfifo").arg(segment).status().unwrap().success());
        Self(segment.to_owned())
    }

    /// Lets whoever reads find nothing, as soon as somebody does. Who was cancelled before he began
    /// never does: he is not waited for very long.
    fn end(&self) {
        for _ in 0..500 {
            // Refused while nobody reads.
            if File::options().write(true).custom_flags(O_NONBLOCK).open(&self.0).is_ok() {
                return;
            }
            chronoscope_clock::sleep(Duration::from_millis(10));
        }
    }
}

/// A store of two minutes whose segments are pipes.
fn pipes() -> (World, [Pipe; 2]) {
    let world = World::with(&[BEGIN_NS, BEGIN_NS + APART_NS], |_| ());
    let snapshot = chronoscope_store::Snapshot::open(world.dir.path()).unwrap();
    let paths: Vec<_> = snapshot.segments().iter().map(|segment| &segment.path).collect();
    let [first, second] = &paths[..] else { panic!("two segments are expected: {paths:?}") };
    let pipes = [first, second].map(|path| Pipe::instead_of(path));
    (world, pipes)
}

/// A question about the first or the second minute, under a name.
fn question(name: &str, minute: i64) -> String {
    let from = BEGIN_NS + minute * APART_NS;
    format!("histogram?{ALL}&from_ns={from}&until_ns={}&question={name}", from + MINUTE_NS)
}

impl World {
    /// Asks, and waits until it is so far.
    fn ask(&self, path: &str, name: &str, state: &str) -> TcpStream {
        let stream = self.send("GET", path);
        self.until(name, state);
        stream
    }

    /// Waits until a question is so far.
    fn until(&self, name: &str, state: &str) -> Value {
        for _ in 0..3000 {
            let progress = self.answer(&format!("questions/{name}"));
            if progress["state"] == state {
                return progress;
            }
            chronoscope_clock::sleep(Duration::from_millis(10));
        }
        panic!(
            "30 s passed and {name} is not {state}: {}",
            self.answer(&format!("questions/{name}"))
        );
    }
}

#[test]
fn who_is_cancelled_by_name_is_told() {
    let (world, [pipe, _]) = pipes();
    assert_eq!(world.answer("questions/a")["state"], "unknown");
    assert_eq!(received(world.send("DELETE", "questions/a")).0, 404);
    let asked = world.ask(&question("a", 0), "a", "running");
    assert_eq!(received(world.send("DELETE", "questions/a")).0, 204);
    pipe.end();
    let (status, body) = received(asked);
    assert_eq!((status, &body["error"]), (409, &"cancelled".into()));
    assert_eq!(world.until("a", "cancelled")["unit"], "segments");
    assert_eq!(received(world.send("DELETE", "questions/a")).0, 204, "it has ended: so be it");
}

#[test]
fn a_closed_connection_gives_its_turn_back() {
    let (world, [first, second]) = pipes();
    let one = world.ask(&question("one", 0), "one", "running");
    let two = world.ask(&question("two", 1), "two", "running");
    // Both turns are taken.
    let three = world.ask("classes?question=three", "three", "waiting");
    drop(one);
    world.until("one", "cancelled");
    first.end();
    assert_eq!(received(three).0, 200, "the turn of the first one");
    assert_eq!(world.answer("questions/two")["state"], "running");
    assert_eq!(world.answer("questions/three")["state"], "answered");
    second.end();
    let (status, body) = received(two);
    // What could not be read is left out, and said.
    assert_eq!((status, &body["distribution"]), (200, &Value::Null), "{body}");
    assert!(body["losses"]["damaged_rows"].as_u64() > Some(0), "{body}");
    assert_eq!(world.until("two", "answered")["done"], 1);
}

#[test]
fn two_who_ask_the_same_share_the_reading() {
    let (world, [pipe, _]) = pipes();
    let one = world.ask(&question("one", 0), "one", "running");
    let two = world.ask(&question("two", 0), "two", "running");
    // One of them reads, the other waits for it; who waits can be cancelled.
    received(world.send("DELETE", "questions/two"));
    received(world.send("DELETE", "questions/one"));
    pipe.end();
    assert_eq!((received(one).0, received(two).0), (409, 409));
}

#[test]
fn a_cluster_that_is_away_is_named_in_every_refusal() {
    let world = World::with(&[BEGIN_NS], |options| {
        // Nobody listens there.
        options.source = Some(StoreLocation::open("clickhouse://127.0.0.1:1/db").unwrap());
    });
    let asked = ["scatter", "histogram", "chains", "hops"].map(|path| format!("{path}?{ALL}"));
    let others = ["paths", "graph", "worst", "status", "now"].map(str::to_owned);
    for path in asked.iter().chain(&others) {
        let (status, body) = world.get(path);
        assert!(status >= 500 && status != 501, "{path}: {status} {body}");
        assert!(body.to_string().contains("127.0.0.1:1"), "{path}: {body}");
    }
}
