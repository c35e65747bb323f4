//! A server with threads whose costs are known, for proofs that changes of them are found: the
//! flights that cross an area, asked over TCP.
//!
//! Four clients ask on a connection each; a thread per connection reads requests and queues them;
//! two workers take them from the queue (mutex, condition variable), count under a lock that is
//! shared by readers and taken alone by updates, and answer. The clients are threads of the same
//! process, so that it is measured as any program is. Every run does the same work; who does it
//! when is left to the threads.
//!
//! `server [REQUESTS]` of each client, 48 without it. The features `slower-1`, `slower-3` and
//! `slower-10` put so many thousandths more work into `crossing`, and nowhere else.

#![allow(clippy::unwrap_used)] // an error here is the end of the measurement

use std::collections::{BTreeMap, VecDeque};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;

const CLIENTS: u64 = 4;
const WORKERS: usize = 2;
const FLIGHTS: u32 = 40;
const POINTS: usize = 24;

/// Rounds of `unnecessary` in each call of `crossing`: of its cost, so many thousandths.
const SLOWER: u32 = if cfg!(feature = "slower-10") {
    10 * ROUNDS_PER_THOUSANDTH
} else if cfg!(feature = "slower-3") {
    3 * ROUNDS_PER_THOUSANDTH
} else if cfg!(feature = "slower-1") {
    ROUNDS_PER_THOUSANDTH
} else {
    0
};
const ROUNDS_PER_THOUSANDTH: u32 = 36;

struct Flight {
    points: [(i32, i32); POINTS],
    level: u32,
}

struct Area {
    west: i32,
    south: i32,
    east: i32,
    north: i32,
}

enum Request {
    Crossing(Area),
    Climb(u32, u32),
}

struct Job {
    request: Request,
    answer: TcpStream,
}

#[derive(Default)]
struct Queue {
    jobs: Mutex<(VecDeque<Job>, bool)>,
    more: Condvar,
}

type Flights = RwLock<BTreeMap<u32, Flight>>;

fn main() {
    let requests = std::env::args().nth(1).map_or(48, |word| word.parse().unwrap());
    let flights: Arc<Flights> = Arc::new(RwLock::new(flights()));
    let queue = Arc::new(Queue::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let (queue, flights) = (Arc::clone(&queue), Arc::clone(&flights));
            thread::spawn(move || work(&queue, &flights))
        })
        .collect();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|seed| {
            thread::spawn(move || client(TcpStream::connect(address).unwrap(), seed, requests))
        })
        .collect();
    let connections: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (stream, queue) = (listener.accept().unwrap().0, Arc::clone(&queue));
            thread::spawn(move || connection(stream, &queue))
        })
        .collect();
    let sum: u64 = clients.into_iter().map(|client| client.join().unwrap()).sum();
    connections.into_iter().for_each(|connection| connection.join().unwrap());
    queue.jobs.lock().unwrap().1 = true;
    queue.more.notify_all();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    println!("{sum} crossings");
}

fn random(state: &mut u64) -> i32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    i32::try_from(*state >> 44).unwrap() // 20 bits
}

fn flights() -> BTreeMap<u32, Flight> {
    let mut state = 7;
    let mut flight = |number| {
        let mut at = (random(&mut state), random(&mut state));
        let points = [(); POINTS].map(|()| {
            at = (at.0 + random(&mut state) / 16, at.1 + random(&mut state) / 16);
            at
        });
        (number, Flight { points, level: 0 })
    };
    (0..FLIGHTS).map(&mut flight).collect()
}

/// Asks and awaits each answer; every eighth request is an update.
fn client(stream: TcpStream, seed: u64, requests: u32) -> u64 {
    stream.set_nodelay(true).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let (mut stream, mut state, mut sum, mut line) = (stream, seed, 0, String::new());
    for number in 0..requests {
        let request = if number % 8 == 7 {
            format!(
                "climb {} {}\n",
                random(&mut state).unsigned_abs() % FLIGHTS,
                100 + number % 300
            )
        } else {
            let (west, south) = (random(&mut state), random(&mut state));
            format!("crossing {west} {south} {} {}\n", west + 90_000, south + 90_000)
        };
        stream.write_all(request.as_bytes()).unwrap();
        line.clear();
        answers.read_line(&mut line).unwrap();
        sum += line.trim().parse::<u64>().unwrap();
    }
    sum
}

fn connection(stream: TcpStream, queue: &Queue) {
    stream.set_nodelay(true).unwrap();
    let mut requests = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while requests.read_line(&mut line).unwrap() > 0 {
        let job = Job { request: read(&line), answer: stream.try_clone().unwrap() };
        queue.jobs.lock().unwrap().0.push_back(job);
        queue.more.notify_one();
        line.clear();
    }
}

fn read(line: &str) -> Request {
    let mut words = line.split_ascii_whitespace();
    let kind = words.next().unwrap();
    let mut number = || words.next().unwrap().parse::<i32>().unwrap();
    match kind {
        "climb" => Request::Climb(number().unsigned_abs(), number().unsigned_abs()),
        "crossing" => Request::Crossing(Area {
            west: number(),
            south: number(),
            east: number(),
            north: number(),
        }),
        _ => panic!("{line} is no request"),
    }
}

fn work(queue: &Queue, flights: &Flights) {
    loop {
        let mut jobs = queue.jobs.lock().unwrap();
        let job = loop {
            match jobs.0.pop_front() {
                Some(job) => break job,
                None if jobs.1 => return,
                None => jobs = queue.more.wait(jobs).unwrap(),
            }
        };
        drop(jobs);
        let answer = match job.request {
            Request::Crossing(area) => crossing(&flights.read().unwrap(), &area),
            Request::Climb(flight, level) => climb(&mut flights.write().unwrap(), flight, level),
        };
        let mut stream = job.answer;
        stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
    }
}

/// Number of flights with a leg that meets the area.
#[inline(never)]
fn crossing(flights: &BTreeMap<u32, Flight>, area: &Area) -> usize {
    for round in 0..black_box(SLOWER) {
        black_box(round); // what somebody forgot here
    }
    flights.values().filter(|flight| flight.points.windows(2).any(|leg| meets(leg, area))).count()
}

#[inline(never)]
fn climb(flights: &mut BTreeMap<u32, Flight>, flight: u32, level: u32) -> usize {
    let flight = flights.get_mut(&flight).unwrap();
    flight.level = flight.level.max(level);
    0
}

/// Whether a leg meets an area: by sixteen points on it.
#[inline(never)]
fn meets(leg: &[(i32, i32)], area: &Area) -> bool {
    let at = |a: i32, b: i32, part: i32| a + (b - a) / 16 * part;
    (0..16).any(|part| {
        let (x, y) = (at(leg[0].0, leg[1].0, part), at(leg[0].1, leg[1].1, part));
        (area.west..area.east).contains(&x) && (area.south..area.north).contains(&y)
    })
}
