//! Several workers: each in turn here, as threads would in some order.

use super::world::*;
use crate::engine::{ConnId, Identity, Input, Now, Server, Worker};
use crate::passcode;
use crate::status::Posted;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

struct Pair {
    server: Arc<Server>,
    workers: Vec<(Worker, Memory)>,
    woken: [Arc<AtomicU64>; 2],
    now: Now,
}

impl Pair {
    fn new() -> Self {
        let mut config = config();
        config.workers = 2;
        let now = Now { monotonic_ns: 1_000_000_000, utc_ns: 0 };
        let identity = Identity { software: "test".into(), version: "1".into() };
        let server = Server::new(Arc::new(config), 7, identity, now);
        let woken = [Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0))];
        let worker = |index: usize| {
            let woken = Arc::clone(&woken[index]);
            let wake = move || {
                woken.fetch_add(1, Ordering::Relaxed);
            };
            (server.worker(index, Box::new(wake)), Memory::default())
        };
        let workers = vec![worker(0), worker(1)];
        Self { server, workers, woken, now }
    }

    fn client(&mut self, worker: usize, listener: usize, call: &str, more: &str) -> ConnId {
        let conn = self.server.next_conn();
        let (remote, local) = (address("192.0.2.1:4000"), address("127.0.0.1:14000"));
        let opened = Input::Opened { conn, listener, remote, local, certificate: None };
        self.input(worker, opened);
        let code = passcode::of(call.as_bytes());
        self.says(worker, conn, &format!("user {call} pass {code} vers test 1.0 {more}"));
        self.workers[worker].1.written.remove(&conn);
        conn
    }

    fn input(&mut self, worker: usize, input: Input<'_>) {
        let (worker, out) = &mut self.workers[worker];
        worker.input(self.now, input, out);
    }

    fn says(&mut self, worker: usize, conn: ConnId, line: &str) {
        self.input(worker, Input::Received { conn, bytes: format!("{line}\r\n").as_bytes() });
    }

    /// Mail is read and what is due soon is done.
    fn settle(&mut self) {
        self.now.monotonic_ns += 300_000_000;
        for (worker, out) in &mut self.workers {
            worker.mail(self.now, out);
            worker.tick(self.now, out);
        }
    }

    fn packets(&mut self, worker: usize, conn: ConnId) -> Vec<String> {
        self.settle();
        let octets = self.workers[worker].1.written.remove(&conn).unwrap_or_default();
        let text = String::from_utf8(octets).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }
}

#[test]
fn packets_reach_the_clients_of_all_workers_in_one_order() {
    let mut pair = Pair::new();
    let senders = [pair.client(0, IGATE, "OH7AA", ""), pair.client(1, IGATE, "OH7BB", "")];
    let readers = [pair.client(0, FULL, "OH7CC", ""), pair.client(1, FULL, "OH7DD", "")];
    let filtered = pair.client(1, IGATE, "OH7EE", "filter p/S1");
    for number in 0..20 {
        let from = number % 2;
        let login = ["OH7AA", "OH7BB"][from];
        pair.says(from, senders[from], &format!("S{from}S>DST,qAR,{login}:{number}"));
    }
    let read = [pair.packets(0, readers[0]), pair.packets(1, readers[1])];
    assert_eq!(read[0].len(), 20);
    assert_eq!(read[0], read[1]);
    assert_eq!(pair.packets(1, filtered).len(), 10);
    assert!(pair.woken[0].load(Ordering::Relaxed) > 0 && pair.woken[1].load(Ordering::Relaxed) > 0);
}

#[test]
fn what_one_worker_took_is_a_duplicate_for_the_other() {
    let mut pair = Pair::new();
    let first = pair.client(0, IGATE, "OH7AA", "");
    let second = pair.client(1, IGATE, "OH7BB", "");
    let reader = pair.client(1, FULL, "OH7CC", "");
    pair.says(0, first, "SRC>DST,qAR,OH7AA:same");
    pair.says(1, second, "SRC>DST,qAR,OH7BB:same");
    assert_eq!(pair.packets(1, reader), ["SRC>DST,qAR,OH7AA:same"]);
}

#[test]
fn a_login_ends_its_elder_with_another_worker() {
    let mut pair = Pair::new();
    let elder = pair.client(1, FULL, "OH7AA", "");
    pair.client(0, FULL, "OH7AA", "");
    pair.settle();
    let closed: Vec<_> = pair.workers[1].1.closed.iter().map(|(conn, ..)| *conn).collect();
    assert_eq!(closed, [elder]);
}

#[test]
fn questions_and_uploads_are_answered_by_mail() {
    let mut pair = Pair::new();
    pair.client(0, FULL, "OH7AA", "");
    let reader = pair.client(1, FULL, "OH7BB", "");
    let mut answers = pair.server.worker_statuses();
    let code = passcode::of(b"TEST");
    let body = format!("user TEST pass {code} vers x 1\r\nTEST>APRS,TCPIP*:>up\r\n");
    let mut posted = pair.server.post(address("192.0.2.7:4000"), body.into_bytes());
    pair.settle();
    let rows: Vec<_> = answers.iter_mut().map(|answer| answer.try_recv().unwrap()).collect();
    // The peers are worker 0's.
    assert_eq!([rows[0].connections.len(), rows[1].connections.len()], [1 + 2, 1]);
    assert_eq!(posted.try_recv().unwrap(), Posted::Accepted);
    assert_eq!(pair.packets(1, reader), ["TEST>APRS,TCPIP*,qAC,TESTING:>up"]);
}
