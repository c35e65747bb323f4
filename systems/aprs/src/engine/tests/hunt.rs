//! A hunt for lost lines: several workers, filtered clients that come, go, read slowly and change
//! their filters, in an order drawn from a seed. Every packet has a sequence tag, and a model knows
//! which client must get which.
//!
//! The short form runs with the other tests. `APRS_HUNT_RUNS=1000` is the long one (`make soak`), and
//! `APRS_HUNT_SEED` plays one run again.

use super::world::*;
use crate::engine::{ConnId, Identity, Input, Now, Server, Worker};
use crate::passcode;
use chronoscope_statistics::Random;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Runs of the short form.
const RUNS: u64 = 12;
/// Steps of a run.
const STEPS: u64 = 1500;
/// First letters of sources; filters name some of them.
const LETTERS: &[u8] = b"ABCDEF";

/// A client, and what the model says that it gets.
struct Reader {
    worker: usize,
    /// Letters that its filter passes; all for a full feed.
    letters: Vec<u8>,
    is_full: bool,
    expected: Vec<u64>,
}

/// A packet that a worker has not taken from its mail.
#[derive(Clone, Copy)]
struct Tagged {
    letter: u8,
    tag: u64,
}

struct Hunt {
    server: Arc<Server>,
    workers: Vec<(Worker, Memory)>,
    /// Packets in the mail of each worker, by the model.
    mail: Vec<VecDeque<Tagged>>,
    senders: Vec<ConnId>,
    readers: BTreeMap<ConnId, Reader>,
    random: Random,
    now: Now,
    tag: u64,
    calls: u64,
}

impl Hunt {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut config = config();
        config.workers = 1 + random.place(3);
        config.peer_groups.clear();
        config.batching = [
            crate::config::Batching::Adaptive,
            crate::config::Batching::Latency,
            crate::config::Batching::Throughput,
        ][random.place(3)];
        let count = config.workers;
        let now = Now { monotonic_ns: 1_000_000_000, utc_ns: 0 };
        let identity = Identity { software: "test".into(), version: "1".into() };
        let server = Server::new(Arc::new(config), seed, identity, now);
        let workers = (0..count)
            .map(|index| (server.worker(index, Box::new(|| ())), Memory::default()))
            .collect();
        let mut hunt = Self {
            server,
            workers,
            mail: vec![VecDeque::new(); count],
            senders: Vec::new(),
            readers: BTreeMap::new(),
            random,
            now,
            tag: 0,
            calls: 0,
        };
        for worker in 0..count {
            let sender = hunt.open(worker, FULL, &format!("S3ND-{worker}"), "");
            // It is a full feed itself: what it gets does not matter.
            hunt.senders.push(sender);
        }
        for _ in 0..20 + hunt.random.place(180) {
            hunt.join();
        }
        hunt
    }

    fn input(&mut self, worker: usize, input: Input<'_>) {
        let (engine, out) = &mut self.workers[worker];
        engine.input(self.now, input, out);
    }

    fn says(&mut self, worker: usize, conn: ConnId, line: &str) {
        self.input(worker, Input::Received { conn, bytes: format!("{line}\r\n").as_bytes() });
    }

    fn open(&mut self, worker: usize, listener: usize, call: &str, more: &str) -> ConnId {
        let conn = self.server.next_conn();
        let (remote, local) = (address("192.0.2.1:4000"), address("127.0.0.1:14000"));
        self.input(worker, Input::Opened { conn, listener, remote, local, certificate: None });
        let code = passcode::of(call.as_bytes());
        self.says(worker, conn, &format!("user {call} pass {code} vers test 1.0 {more}"));
        conn
    }

    fn letters(&mut self) -> Vec<u8> {
        let some: Vec<u8> = LETTERS.iter().copied().filter(|_| self.random.place(3) == 0).collect();
        if some.is_empty() { vec![LETTERS[0]] } else { some }
    }

    fn join(&mut self) {
        self.calls += 1;
        let worker = self.random.place(self.workers.len());
        let is_full = self.random.place(10) == 0;
        let letters = if is_full { LETTERS.to_vec() } else { self.letters() };
        let (listener, more) = match is_full {
            true => (FULL, String::new()),
            false => (IGATE, format!("filter {}", filter(&letters))),
        };
        let conn = self.open(worker, listener, &format!("R{}", self.calls), &more);
        if self.random.place(2) == 0 {
            self.workers[worker].1.room.insert(conn, 0);
        }
        self.readers.insert(conn, Reader { worker, letters, is_full, expected: Vec::new() });
    }

    fn any_reader(&mut self) -> Option<ConnId> {
        let at = self.random.place(self.readers.len().max(1));
        self.readers.keys().nth(at).copied()
    }

    /// A worker reads its mail: its clients are told to get what waits there.
    fn delivered(&mut self, worker: usize) {
        while let Some(packet) = self.mail[worker].pop_front() {
            for reader in self.readers.values_mut().filter(|reader| reader.worker == worker) {
                if reader.letters.contains(&packet.letter) {
                    reader.expected.push(packet.tag);
                }
            }
        }
    }

    fn send(&mut self) {
        let from = self.random.place(self.senders.len());
        let letter = LETTERS[self.random.place(LETTERS.len())];
        self.tag += 1;
        let (tag, letter_) = (self.tag, char::from(letter));
        self.says(from, self.senders[from], &format!("{letter_}1X>APRS,qAR,S3ND-{from}:>{tag}"));
        for mail in &mut self.mail {
            mail.push_back(Tagged { letter, tag });
        }
        // A worker delivers at once what it sent, after what others sent before.
        self.delivered(from);
    }

    fn step(&mut self) {
        match self.random.place(100) {
            0..45 => self.send(),
            45..60 => {
                let worker = self.random.place(self.workers.len());
                let (engine, out) = &mut self.workers[worker];
                engine.mail(self.now, out);
                self.delivered(worker);
            }
            60..75 => {
                self.now.monotonic_ns += self.random.place(30) as u64 * 1_000_000;
                let worker = self.random.place(self.workers.len());
                let (engine, out) = &mut self.workers[worker];
                engine.tick(self.now, out);
            }
            75..92 => self.give_room(),
            92..95 => self.leave(),
            95..97 => self.join(),
            _ => self.refilter(),
        }
    }

    /// A client reads, so that some octets more have room.
    fn give_room(&mut self) {
        let Some(conn) = self.any_reader() else { return };
        let worker = self.readers[&conn].worker;
        let more = self.random.place(400);
        if let Some(room) = self.workers[worker].1.room.get_mut(&conn) {
            *room += more;
            self.input(worker, Input::Writable { conn });
        }
    }

    fn leave(&mut self) {
        let Some(conn) = self.any_reader() else { return };
        let worker = self.readers[&conn].worker;
        self.readers.remove(&conn);
        self.input(worker, Input::Closed { conn, reason: "left" });
    }

    fn refilter(&mut self) {
        let Some(conn) = self.any_reader() else { return };
        if self.readers[&conn].is_full {
            return;
        }
        let (worker, letters) = (self.readers[&conn].worker, self.letters());
        self.says(worker, conn, &format!("#filter {}", filter(&letters)));
        if let Some(reader) = self.readers.get_mut(&conn) {
            reader.letters = letters;
        }
    }

    /// All mail is read, all sockets take everything, and what is due is done.
    fn drain(&mut self) {
        for worker in 0..self.workers.len() {
            let (engine, out) = &mut self.workers[worker];
            engine.mail(self.now, out);
            self.delivered(worker);
        }
        let conns: Vec<(ConnId, usize)> =
            self.readers.iter().map(|(conn, reader)| (*conn, reader.worker)).collect();
        for (conn, worker) in conns {
            if self.workers[worker].1.room.remove(&conn).is_some() {
                self.input(worker, Input::Writable { conn });
            }
        }
        for _ in 0..20 {
            self.now.monotonic_ns += 100_000_000;
            for (engine, out) in &mut self.workers {
                engine.tick(self.now, out);
            }
        }
    }

    fn check(&mut self, seed: u64) {
        for (conn, reader) in &self.readers {
            let out = &self.workers[reader.worker].1;
            let octets = out.written.get(conn).map(Vec::as_slice).unwrap_or_default();
            let tags: Vec<u64> = std::str::from_utf8(octets)
                .unwrap()
                .lines()
                .filter(|line| !line.starts_with('#'))
                .map(|line| line.rsplit_once(":>").unwrap().1.parse().unwrap())
                .collect();
            let cut = out.closed.iter().find(|(closed, ..)| closed == conn);
            assert_eq!(cut.map(|(.., reason)| reason), None, "APRS_HUNT_SEED={seed}: {conn:?}");
            assert_eq!(tags, reader.expected, "APRS_HUNT_SEED={seed}: {conn:?}");
        }
    }
}

fn filter(letters: &[u8]) -> String {
    let names: String = letters.iter().flat_map(|letter| ['/', char::from(*letter)]).collect();
    format!("p{names}")
}

fn run(seed: u64) -> u64 {
    let mut hunt = Hunt::new(seed);
    for _ in 0..STEPS {
        hunt.step();
    }
    hunt.drain();
    hunt.check(seed);
    hunt.readers.values().map(|reader| reader.expected.len() as u64).sum()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn nobody_loses_a_line() {
    if let Some(seed) = number("APRS_HUNT_SEED") {
        run(seed);
        return;
    }
    let runs = number("APRS_HUNT_RUNS").unwrap_or(RUNS);
    let lines: u64 = (1..=runs).map(run).sum();
    assert!(lines > runs * 1000, "{lines} lines in {runs} runs");
    println!("{runs} runs, {lines} lines, none lost, doubled or out of order");
}
