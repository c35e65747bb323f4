//! Benchmark of finding the clients of a packet: the index beside a walk over all clients.
//!
//! `cargo bench -p chronoscope-aprs --bench filter [CLIENTS...]`. Filters as clients of APRS-IS
//! have them: by first letter r 55 %, a 23 %, b 8 %, p 8 %, t 6 %, a fifth of them with up to four
//! terms, one of which may exclude. Places, of clients and stations alike, are towns, few of which
//! have most of the stations. CPU time of this thread, the best of five runs; the walk takes each
//! twentieth packet, and looks at it anew for each client. Memory is what the process grew by. Seeded: every run has the same filters.

#![allow(clippy::cast_possible_truncation, reason = "made-up stations, all numbers small")]

use chronoscope_aprs::callsign::Callsign;
use chronoscope_aprs::filter::{
    ClientSlot, Context, Facts, Filter, FilterIndex, FilterSet, IndexedClient,
};
use chronoscope_aprs::packet::{Packet, Position, parse};
use chronoscope_clock as clock;
use chronoscope_statistics::Random;
use std::hint::black_box;
use std::sync::Arc;

const RUNS: usize = 5;
const PACKETS: usize = 20_000;
const TOWNS: usize = 300;
const STATIONS: usize = 30_000;

fn main() {
    println!(
        "{:>8} {:>10} {:>11} {:>11} {:>10} {:>11} {:>8} {:>9} {:>10} {:>10}",
        "clients",
        "matches",
        "index us",
        "ns a match",
        "walk us",
        "walk/index",
        "kB each",
        "insert us",
        "remove us",
        "moved ns"
    );
    let asked: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let counts = if asked.is_empty() { vec![100, 400, 1000, 2000, 4000, 10_000] } else { asked };
    let towns = Towns::new(&mut Random(7));
    let packets = packets(&towns, &mut Random(11));
    for count in counts {
        let clients = clients(count, &towns, &mut Random(13));
        measure(&clients, &packets);
    }
}

fn measure(clients: &[IndexedClient], packets: &[(Packet, Facts)]) {
    let count = clients.len() as f64;
    let before = resident_bytes();
    let mut index = FilterIndex::new(3);
    // The filters themselves are counted with the index.
    let filters: Vec<_> = clients
        .iter()
        .map(|client| {
            let user = client.filters.user.as_ref().map_or("", |filter| filter.text());
            let user = Some(Arc::new(Filter::parse(user).expect("a filter")));
            IndexedClient { filters: Arc::new(FilterSet { forced: None, user }), ..client.clone() }
        })
        .collect();
    let insert = ns(|| {
        for (slot, client) in (0..).zip(filters) {
            index.insert(ClientSlot(slot), client, &|_| None);
        }
    });
    let kilobytes = (resident_bytes() - before) / 1000.0 / count;

    let mut found = Vec::with_capacity(clients.len());
    let mut matches = 0;
    let mut each = f64::MAX;
    for _ in 0..RUNS {
        matches = 0;
        each = each.min(ns(|| {
            for (packet, facts) in packets {
                found.clear();
                index.matches(packet, *facts, &mut found);
                matches += found.len();
            }
        }));
    }
    let each = each / packets.len() as f64;
    let matches_each = matches as f64 / packets.len() as f64;

    let sample: Vec<_> = packets.iter().step_by(20).collect();
    let walk = ns(|| {
        for (packet, facts) in &sample {
            for client in clients {
                black_box(client.filters.matches(packet, *facts, &Nobody));
            }
        }
    }) / sample.len() as f64;
    let moved = ns(|| {
        for (packet, facts) in packets {
            index.moved(packet.source(), facts.position);
        }
    }) / packets.len() as f64;
    let remove = ns(|| {
        for slot in (0..).take(clients.len()) {
            index.remove(ClientSlot(slot));
        }
    });
    println!(
        "{count:>8} {matches_each:>10.1} {:>11.2} {:>11.1} {:>10.1} {:>11.0} {kilobytes:>8.2} {:>9.2} \
         {:>10.2} {moved:>10.0}",
        each / 1e3,
        each / matches_each,
        walk / 1e3,
        walk / each,
        insert / 1e3 / count,
        remove / 1e3 / count,
    );
}

/// A context without positions: no filter here refers to a station.
struct Nobody;

impl Context for Nobody {
    fn position_of(&self, _: &[u8]) -> Option<Position> {
        None
    }

    fn own_position(&self) -> Option<Position> {
        None
    }
}

fn ns(run: impl FnOnce()) -> f64 {
    let start = clock::thread_cpu_ns();
    run();
    (clock::thread_cpu_ns() - start) as f64
}

/// Resident memory of the process in bytes; 0 where the system does not report it.
fn resident_bytes() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0) * 4096.0
}

/// A number in [0, 1).
fn unit(random: &mut Random) -> f32 {
    random.place(1 << 24) as f32 / (1 << 24) as f32
}

struct Towns(Vec<Position>);

impl Towns {
    fn new(random: &mut Random) -> Self {
        let mut town = || Position {
            latitude: unit(random) * 100.0 - 38.0,
            longitude: unit(random) * 350.0 - 175.0,
        };
        Self((0..TOWNS).map(|_| town()).collect())
    }

    /// A place in or around a town: half of all are in a twelfth of the towns.
    fn position(&self, random: &mut Random) -> Position {
        let town = self.0[(unit(random).powf(3.6) * TOWNS as f32) as usize];
        Position {
            latitude: town.latitude + (unit(random) - 0.5) * 2.0,
            longitude: town.longitude + (unit(random) - 0.5) * 3.0,
        }
    }
}

fn callsign(number: usize) -> String {
    let letter = |place: usize| char::from(b'A' + (number / place % 26) as u8);
    format!("{}{}{}{}{}", letter(1), letter(31), number % 10, letter(7), letter(173))
}

fn packets(towns: &Towns, random: &mut Random) -> Vec<(Packet, Facts)> {
    let homes: Vec<_> = (0..STATIONS).map(|_| towns.position(random)).collect();
    (0..PACKETS)
        .map(|_| {
            let station = random.place(STATIONS);
            let payload = match random.place(20) {
                0..12 => "!6028.51N/02505.68E#PHG7220 on the air",
                12..15 => "@100857z5241.73N/00611.14E_086/002g008t064r000h63b10102",
                15 => "T#931,113,000,000,000,000,00000000",
                16 => ":N5CAL-1  :how are you?{12",
                17 => ";OBJ1     *090902z6010.78N/02451.11E-an object",
                _ => ">nothing to report",
            };
            let line = format!("{}>APRS,WIDE1-1,WIDE2-1*,qAR,GATE-10:{payload}", callsign(station));
            let parsed = parse(line.as_bytes()).expect("a packet");
            let mut packet = parsed.build(parsed.path).expect("a packet");
            packet.position = packet.position.map(|_| homes[station]);
            let facts = Facts { position: Some(homes[station]), ..Facts::default() };
            (packet, facts)
        })
        .collect()
}

fn clients(count: usize, towns: &Towns, random: &mut Random) -> Vec<IndexedClient> {
    let login = Callsign::new(b"N5CAL-1").expect("a callsign");
    (0..count)
        .map(|_| {
            let mut text = term(towns, random);
            if random.place(5) == 0 {
                for _ in 0..random.place(3) {
                    text = format!("{text} {}", term(towns, random));
                }
                let excluded = ["t/w", "p/CW/DW", "b/A*", "t/to"][random.place(4)];
                text = format!("{text} -{excluded}");
            }
            let user = Some(Arc::new(Filter::parse(&text).expect("a filter")));
            let filters = Arc::new(FilterSet { forced: None, user });
            IndexedClient { filters, login, position: None }
        })
        .collect()
}

fn term(towns: &Towns, random: &mut Random) -> String {
    let Position { latitude, longitude } = towns.position(random);
    match random.place(100) {
        0..55 => {
            let km = [10, 25, 50, 50, 100, 100, 150, 200, 300, 500][random.place(10)];
            format!("r/{latitude:.2}/{longitude:.2}/{km}")
        }
        55..78 => {
            let half = [0.5, 1.0, 2.0, 4.0][random.place(4)];
            let (north, south) = (latitude + half, latitude - half);
            let west = (longitude - half * 1.5).max(-180.0);
            let east = (longitude + half * 1.5).min(180.0);
            format!("a/{north:.2}/{west:.2}/{south:.2}/{east:.2}")
        }
        78..86 => {
            let calls = (0..=random.place(9)).map(|_| callsign(random.place(STATIONS)));
            format!("b/{}", calls.collect::<Vec<_>>().join("/"))
        }
        86..94 => format!("p/{}", &callsign(random.place(STATIONS))[..2 + random.place(2)]),
        _ => ["t/n", "t/m", "t/o", "t/w", "t/nq", "t/s"][random.place(6)].to_owned(),
    }
}
