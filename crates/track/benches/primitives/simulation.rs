//! Starting a simulation: the traffic of a day is taken over, and 20 million entries of indexes
//! are made anew: one thread decodes flights, one builds them, six make an index each.

use std::sync::{Arc, mpsc};
use std::thread;

use chronoscope_clock as clock;

use super::Extent;
use super::table::Table;

/// A point of a flight's route.
#[derive(Clone, Copy)]
struct Point {
    time_s: u32,
    /// Of each kind that there is an index of: sector, airspace, route, aerodrome, waypoint, cell.
    places: [u16; INDEXES],
}

struct Flight {
    number: u32,
    points: Vec<Point>,
}

const INDEXES: usize = 6;
/// The document's limit, for 20 million entries.
const LIMIT_S: f64 = 4.0;
const POINTS: usize = 90;
const POINT_BYTES: usize = 4 + 2 * INDEXES;
/// Flights that go from one thread to the next together.
const TOGETHER: usize = 64;

/// Places are numbered from 0, below this.
const PLACES: [u16; INDEXES] = [4000, 800, 12_000, 3000, 30_000, 60_000];

/// By place, the flights that are there, with the time. An array, as places are numbered without
/// gaps: finding them in a tree took four fifths of the whole start.
type Index = Vec<Vec<(u32, u32)>>;

pub(crate) fn run(extent: Extent, table: &mut Table) {
    table.section("start of a simulation: 1 thread decodes, 1 builds, 6 make indexes");
    let entries = if extent.quick { 2_000_000 } else { 20_000_000 };
    let flights = entries / (POINTS * INDEXES);
    let sent = encoded(flights);
    let (mut times, mut cpu_s) = (Vec::new(), f64::INFINITY);
    for _ in 0..3 {
        let (begin, cpu_begin) = (clock::monotonic_ns(), clock::process_cpu_ns());
        let indexes = start(&sent);
        times.push((clock::monotonic_ns() - begin) as f64 / 1e9);
        cpu_s = cpu_s.min((clock::process_cpu_ns() - cpu_begin) as f64 / 1e9);
        let made: usize = indexes.iter().flatten().map(Vec::len).sum();
        assert_eq!(made, flights * POINTS * INDEXES);
    }
    times.sort_by(f64::total_cmp);
    let entries = flights * POINTS * INDEXES;
    let (median, least) = (times[1], times[0]);
    let limit = if extent.quick {
        "no ratio to the document's limit: that is for 20 million".to_owned()
    } else {
        format!("the document's limit: {LIMIT_S} s, ratio {:.2}", median / LIMIT_S)
    };
    table.fact(
        &format!(
            "{entries} entries of {flights} flights: {median:.2} s, {least:.2} s at best, \
             {cpu_s:.2} s of CPU; {limit}"
        ),
        serde_json::json!({
            "entries": entries, "median_s": median, "least_s": least, "cpu_s": cpu_s,
        }),
    );
}

/// The traffic as a server sends it.
fn encoded(flights: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(flights * (4 + POINTS * POINT_BYTES));
    let mut state = 11_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from(state >> 33).unwrap()
    };
    for number in 0..u32::try_from(flights).unwrap() {
        out.extend(number.to_le_bytes());
        for point in 0..u32::try_from(POINTS).unwrap() {
            out.extend((random() % 86_400 + point * 60).to_le_bytes());
            for places in PLACES {
                let place = random() % u32::from(places);
                out.extend(u16::try_from(place).unwrap().to_le_bytes());
            }
        }
    }
    out
}

fn start(sent: &[u8]) -> Vec<Index> {
    let (decoded, raw) = mpsc::sync_channel::<Vec<Vec<Point>>>(16);
    let feeds: [_; INDEXES] = std::array::from_fn(|_| mpsc::sync_channel::<Arc<Vec<Flight>>>(16));
    let (to_indexes, feeds): (Vec<_>, Vec<_>) = feeds.into_iter().unzip();
    thread::scope(|scope| {
        scope.spawn(move || decode(sent, &decoded));
        scope.spawn(move || build(&raw, &to_indexes));
        let makers: Vec<_> = (feeds.into_iter().enumerate())
            .map(|(kind, feed)| scope.spawn(move || index(kind, &feed)))
            .collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    })
}

fn decode(sent: &[u8], to: &mpsc::SyncSender<Vec<Vec<Point>>>) {
    let half = |octets: &[u8]| u16::from_le_bytes([octets[0], octets[1]]);
    let point = |octets: &[u8]| Point {
        time_s: u32::from_le_bytes([octets[0], octets[1], octets[2], octets[3]]),
        places: std::array::from_fn(|kind| half(&octets[4 + 2 * kind..])),
    };
    let flight = |octets: &[u8]| octets[4..].chunks_exact(POINT_BYTES).map(point).collect();
    let flight_bytes = 4 + POINTS * POINT_BYTES;
    for some in sent.chunks(flight_bytes * TOGETHER) {
        to.send(some.chunks_exact(flight_bytes).map(flight).collect()).unwrap();
    }
}

/// Makes flights of points, in the order of time, and gives them to all who make indexes.
fn build(from: &mpsc::Receiver<Vec<Vec<Point>>>, to: &[mpsc::SyncSender<Arc<Vec<Flight>>>]) {
    let mut next = 0;
    for some in from {
        let flights = some.into_iter().map(|mut points| {
            points.sort_by_key(|point| point.time_s);
            next += 1;
            Flight { number: next - 1, points }
        });
        let flights = Arc::new(flights.collect::<Vec<_>>());
        to.iter().for_each(|index| index.send(Arc::clone(&flights)).unwrap());
    }
}

fn index(kind: usize, from: &mpsc::Receiver<Arc<Vec<Flight>>>) -> Index {
    let mut index = Index::new();
    index.resize(PLACES[kind].into(), Vec::new());
    for flights in from {
        for flight in flights.iter() {
            for point in &flight.points {
                index[usize::from(point.places[kind])].push((point.time_s, flight.number));
            }
        }
    }
    index
}
