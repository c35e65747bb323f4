//! Cost of a begin/end pair beside the two clock reads that bound it, without the peers and the
//! dependencies of `bench`: quick to build, small to profile.
//!
//! `pair` prints a table; `pair only NAME COUNT` runs one case COUNT times, for perf and callgrind:
//!
//! ```text
//! cargo run --profile bench -p chronoscope-record --example pair
//! valgrind --tool=callgrind --toggle-collect='*::transaction::begin*' .../pair only pair 20000
//! ```
//!
//! Every case runs in every round, one after the other: a disturbance then hits all alike.

use chronoscope_clock as clock;
use chronoscope_record::{Class, Status, class};
use chronoscope_statistics::median;
use std::hint::black_box;

static PAIR: Class = class!("pair");
static OUTER: Class = class!("outer");
static MIDDLE: Class = class!("middle");
static INNER: Class = class!("inner");

/// A case: name, function that runs it a number of times, and pairs in one time.
type Case = (&'static str, fn(u64), u64);

const CASES: [Case; 4] = [
    ("clock", two_clock_reads, 1),
    ("pair", pair, 1),
    ("nested", four_nested, 4),
    ("child", child, 1),
];
const ROUNDS: usize = 600;
/// A round is about 0.1 ms a case: most rounds see no switch.
const COUNT: u64 = 2_000;

fn main() {
    chronoscope_record::init("pair");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["only", name, count] => {
            let count = count.parse().expect("a number");
            CASES.iter().filter(|case| case.0 == name).for_each(|case| (case.1)(count));
        }
        _ => table(),
    }
    if let Some(ring) = chronoscope_record::ring_path() {
        std::fs::remove_file(ring).expect("the ring of this run");
    }
}

fn two_clock_reads(count: u64) {
    for _ in 0..count {
        black_box(clock::ticks());
        black_box(clock::ticks());
    }
}

fn pair(count: u64) {
    for _ in 0..count {
        PAIR.begin().stop(Status::Good);
    }
}

fn four_nested(count: u64) {
    for _ in 0..count {
        let outer = OUTER.begin();
        let middle = MIDDLE.begin();
        let inner = INNER.begin();
        PAIR.begin().stop(Status::Good);
        inner.stop(Status::Good);
        middle.stop(Status::Good);
        outer.stop(Status::Good);
    }
}

/// Pairs under one open transaction.
fn child(count: u64) {
    let outer = OUTER.begin();
    pair(count);
    outer.stop(Status::Good);
}

fn table() {
    let mut costs = [const { Vec::new() }; CASES.len()];
    for round in 0..ROUNDS + 20 {
        for (case, costs) in CASES.iter().zip(&mut costs) {
            let begin = clock::monotonic_ns();
            (case.1)(COUNT / case.2);
            let ns = clock::monotonic_ns() - begin;
            if round >= 20 {
                costs.push(ns as f64 / COUNT as f64);
            }
        }
    }
    let method = chronoscope_record::cpu_method().map_or("off", |method| method.name());
    println!("{:22} {:>9} {:>9} {:>6}", format!("CPU by {method}"), "min", "median", "ratio");
    let clock = costs[0].clone();
    for (case, cost) in CASES.iter().zip(&costs) {
        let ratios = cost.iter().zip(&clock).map(|(cost, clock)| cost / clock);
        let min = cost.iter().copied().fold(f64::MAX, f64::min);
        println!(
            "{:22} {min:>6.1} ns {:>6.1} ns {:>6.2}",
            case.0,
            median(cost.iter().copied()).unwrap_or(f64::NAN),
            median(ratios).unwrap_or(f64::NAN)
        );
    }
}
