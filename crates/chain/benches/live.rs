//! Chains of spans put together as they come: time for a span, and memory for a minute of them.
//!
//! The spans are invented: chains of five that come child before parent, interleaved with those of
//! 2,000 other chains, so that each root comes last. The clock is simulated, at 100,000 spans a second
//! for three minutes unless `--rate` says otherwise; the time is measured.
//!
//! `cargo bench -p chronoscope-chain --bench live [-- --rate N]`

use chronoscope_chain::live::{Bounds, LiveChains, LiveEvent};
use chronoscope_model::{ChainId, ClassId, Record, TransactionId};
use std::collections::VecDeque;

/// Aims: spans a second on one core, and memory for a minute of them.
const AIM_PER_S: f64 = 100_000.0;
const AIM_BYTES: f64 = 512.0 * 1024.0 * 1024.0;
const MINUTES: u64 = 3;
/// Chains that are under way at a time.
const OPEN_CHAINS: usize = 2_000;
const DEPTH: u64 = 5;

/// Resident memory of this process, and its peak, in bytes.
fn resident() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
        let kb: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kb * 1024.0
    };
    (of("VmRSS:"), of("VmHWM:"))
}

/// Spans of one chain, the deepest first.
fn chain(number: u64) -> Vec<(ChainId, Record)> {
    // Ids as an SDK draws them: at random.
    let id = |step: u64| {
        let mut random = chronoscope_statistics::Random(number * 8 + step);
        TransactionId(random.bits() | 1)
    };
    let chain = ChainId(u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834));
    let span = |step: u64| Record {
        id: id(step),
        parent: if step == 0 { TransactionId::NONE } else { id(step - 1) },
        class: ClassId(step + 1),
        start_ns: i64::try_from(number * 1_000 + step).unwrap_or(0),
        elapsed_ns: 500,
        ..Record::default()
    };
    (0..DEPTH).rev().map(|step| (chain, span(step))).collect()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.iter().any(|arg| arg == "--list") {
        return; // asked by a test runner
    }
    let rate = args.iter().skip_while(|arg| *arg != "--rate").nth(1);
    let rate: u64 = rate.map_or(100_000, |rate| rate.parse().expect("--rate N"));
    let before = resident().0;
    let mut live = LiveChains::new(Bounds::default());
    let (mut reached, mut unreached) = (0_u64, 0_u64);
    let mut open: VecDeque<std::vec::IntoIter<(ChainId, Record)>> = VecDeque::new();
    let (mut chains, mut spans, mut busy_ns) = (0, 0_u64, 0_u128);
    let mut block = Vec::new();
    while spans < rate * 60 * MINUTES {
        block.clear();
        while block.len() < 10_000 {
            while open.len() < OPEN_CHAINS {
                chains += 1;
                open.push_back(chain(chains).into_iter());
            }
            let Some(mut next) = open.pop_front() else { break };
            block.extend(next.next());
            if next.len() > 0 {
                open.push_back(next);
            }
        }
        let now_ns =
            i64::try_from(u128::from(spans) * 1_000_000_000 / u128::from(rate)).unwrap_or(0);
        #[allow(clippy::disallowed_methods)] // a measurement of real time
        let start = std::time::Instant::now();
        for (chain, record) in &block {
            live.add(record, &[*chain], None, now_ns, |event| match event {
                LiveEvent::Reached(_) => reached += 1,
                LiveEvent::Unreached(_) => unreached += 1,
            });
        }
        busy_ns += start.elapsed().as_nanos();
        spans += block.len() as u64;
    }
    let counts = live.counts();
    let (after, peak) = resident();
    let per_s = spans as f64 / (busy_ns as f64 / 1e9);
    println!("{spans} spans in chains of {DEPTH}, {rate} a second of simulated time");
    println!(
        "reached {reached}, unreached {unreached}, waiting {}, kept {}",
        counts.waiting, counts.kept
    );
    println!("{:<28} {:>12} {:>12} {:>7}", "", "ours", "aim", "ratio");
    println!(
        "{:<28} {per_s:>12.0} {AIM_PER_S:>12.0} {:>7.2}",
        "spans/s on one core",
        per_s / AIM_PER_S
    );
    for (name, bytes) in [
        ("memory kept, MB", live.bytes() as f64),
        ("resident, MB", after - before),
        ("peak resident, MB", peak - before),
    ] {
        let (mb, aim) = (bytes / 1048576.0, AIM_BYTES / 1048576.0);
        println!("{name:<28} {mb:>12.1} {aim:>12.1} {:>7.2}", bytes / AIM_BYTES);
    }
}
