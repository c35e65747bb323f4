//! The rows of the benchmark: chains of the radar system, from a seed.
//!
//! Roots uniform over 1.27 chains' worth of every 11 rows;
//! `decodePlots → Correlate → MSG update → f × (CWP update → redraw)` with f geometric of mean 4,
//! cut at 110; transfer and service times log-normal; 128-bit chain ids and 64-bit transaction ids
//! at random (they do not compress); 113 processes on 30 hosts. Invented rows, not measured ones:
//! what is measured is how long questions about them take.

use anyhow::Result;
use chronoscope_bench::radar_names::RadarNames;
use chronoscope_model::{
    Batch, ClassId, Flags, NO_PROCESS_CPU, Names, PathId, ProcessId, Record, TransactionId,
};
use chronoscope_statistics::Random;
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use std::path::Path;

/// Begin of the rows, 2026-11-21T00:00 UTC.
const BEGIN_NS: i64 = 1_795_219_200_000_000_000;
/// Rows in one append.
const APPEND_ROWS: usize = 100_000;
/// Rows of a minute at the rate of the reference scenario.
const MINUTE_ROWS: u64 = 46_600;

/// Log-normal around a median, in nanoseconds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most seconds
fn log_normal_ns(random: &mut Random, median_ns: f64, sigma: f64) -> u64 {
    random.log_normal(median_ns, sigma) as u64
}

/// Geometric with mean 4, in `[1, 110]`.
fn displays(random: &mut Random) -> usize {
    let mut count = 1;
    while count < 110 && random.share() < 0.75 {
        count += 1;
    }
    count
}

/// Generator of chains.
pub(crate) struct Chains {
    pub(crate) names: Names,
    random: Random,
    classes: Vec<ClassId>,
    paths: Vec<PathId>,
    processes: Vec<ProcessId>,
    foreign: bool,
}

impl Chains {
    pub(crate) fn new(seed: u64, foreign: bool) -> Self {
        let RadarNames { names, classes, paths, processes } = RadarNames::new(113);
        Self { names, random: Random(seed), classes, paths, processes, foreign }
    }

    /// Adds one chain; its root starts at `root_start_ns`.
    fn push(&mut self, root_start_ns: i64, batch: &mut Batch) {
        let chain = (self.random.bits(), self.random.bits());
        let root = self.row(0, TransactionId::NONE, root_start_ns, root_start_ns, chain, batch);
        let correlate = self.after(1, root, root_start_ns, chain, batch);
        let message = self.after(2, correlate, root_start_ns, chain, batch);
        for _ in 0..displays(&mut self.random) {
            let update = self.after(3, message, root_start_ns, chain, batch);
            self.after(4, update, root_start_ns, chain, batch);
        }
    }

    /// Adds a row some transfer time after its parent's start.
    fn after(
        &mut self,
        step: usize,
        parent: (TransactionId, i64),
        root_start_ns: i64,
        chain: (u64, u64),
        batch: &mut Batch,
    ) -> (TransactionId, i64) {
        let median_ns = [0.0, 200e3, 4e6, 5e6, 2e6][step];
        let start =
            parent.1.saturating_add_unsigned(log_normal_ns(&mut self.random, median_ns, 0.7));
        self.row(step, parent.0, start, root_start_ns, chain, batch)
    }

    fn row(
        &mut self,
        step: usize,
        parent: TransactionId,
        start_ns: i64,
        root_start_ns: i64,
        (chain_high, chain_low): (u64, u64),
        batch: &mut Batch,
    ) -> (TransactionId, i64) {
        let id = TransactionId(self.random.bits() | 1);
        let median_ns = [300e3, 150e3, 80e3, 120e3, 900e3][step];
        let elapsed_ns = log_normal_ns(&mut self.random, median_ns, 0.5);
        let process = match step {
            0 | 1 => 0,
            2 => 1,
            _ => 2 + usize::try_from(self.random.bits() % 111).unwrap_or(0),
        };
        let foreign = self.foreign;
        let record = Record {
            start_ns,
            elapsed_ns,
            cpu_ns: elapsed_ns - elapsed_ns / 5,
            process_cpu_ns: NO_PROCESS_CPU,
            chain_high,
            chain_low,
            id,
            parent,
            class: self.classes[step],
            path: if foreign { PathId::NONE } else { self.paths[step] },
            root_start_ns: if foreign { start_ns } else { root_start_ns },
            root_process: if foreign { ProcessId::NONE } else { self.processes[0] },
            process: self.processes[process],
            context_offset: 0,
            context_len: 0,
            level: if foreign { 0 } else { u16::try_from(step).unwrap_or(u16::MAX) },
            thread: 7,
            status: 0,
            flags: if foreign { Flags::FOREIGN.0 } else { u8::from(step > 0) },
            reserved: 0,
        };
        batch.push(record, b"");
        (id, start_ns)
    }
}

/// Counts of generated rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Generated {
    pub(crate) rows: u64,
    pub(crate) chains: u64,
}

/// Fills a store with at least `rows` rows and seals it. Rows arrive chain by chain, minutes in
/// order. `progress` is called with the rows so far.
pub(crate) fn generate(
    dir: &Path,
    rows: u64,
    foreign: bool,
    mut progress: impl FnMut(u64),
) -> Result<Generated> {
    let store = Store::open(dir, Options::default(), BEGIN_NS)?;
    let mut chains = Chains::new(42, foreign);
    let mut done = Generated::default();
    let mut batch = Batch::default();
    let mut now_ns = BEGIN_NS;
    let names = chains.names.clone();
    store.append(&Append { names: Some(&names), ..Append::default() }, now_ns)?;
    while done.rows < rows {
        let root_start_ns = now_ns;
        chains.push(root_start_ns, &mut batch);
        done.chains += 1;
        // 11 rows a chain on average.
        let gap_ns = MINUTE_NS as f64 * 11.0 / MINUTE_ROWS as f64;
        #[allow(clippy::cast_possible_truncation)] // some milliseconds
        let gap_ns = (gap_ns * chains.random.exponential(1.0)) as i64;
        now_ns += gap_ns;
        if batch.len() >= APPEND_ROWS || done.rows + batch.len() as u64 >= rows {
            store.append(&Append { batch: Some(&batch), ..Append::default() }, now_ns)?;
            done.rows += batch.len() as u64;
            batch.clear();
            while store.maintain(now_ns)?.again {}
            progress(done.rows);
        }
    }
    store.sync()?;
    store.seal_all(now_ns)?;
    Ok(done)
}
