//! Rows at a rate, as spans tell them.

use crate::load::Load;
use crate::rows::{BEGIN_NS, Chains, Ids};
use anyhow::Result;
use chronoscope_clickhouse::ClusterWriter;
use chronoscope_model::{Batch, Flags, PathId, ProcessId, Record};

/// Rows of so many chains a second; `load` says how they go in.
pub(crate) struct Flow {
    chains: Chains,
    every_ns: i64,
    /// When the next chain begins.
    pub(crate) begin_ns: i64,
    inserts: u128,
}

impl Flow {
    /// Rows from [`BEGIN_NS`] on.
    pub(crate) fn new(load: Load, rate: u32) -> Result<Self> {
        let mut chains = Chains::new(7, Ids::Random, 0);
        chains.displays = load.displays;
        let every_ns = 1_000_000_000 * i64::try_from(load.chain_rows())? / i64::from(rate.max(1));
        Ok(Self { chains, every_ns: every_ns.max(1), begin_ns: BEGIN_NS, inserts: 0 })
    }

    /// Number of chains of some time.
    pub(crate) fn chains_of(&self, ns: i64) -> u64 {
        (ns / self.every_ns).unsigned_abs()
    }

    /// Inserts rows of some time.
    pub(crate) fn insert(&mut self, sink: &ClusterWriter, ns: i64, load: Load) -> Result<usize> {
        let (mut left, mut rows) = (ns / self.every_ns, 0);
        while left > 0 {
            let chains = left.min(i64::try_from(load.batch / load.chain_rows())?.max(1));
            let count = usize::try_from(chains)? * load.chain_rows();
            let native = self.chains.batch(count, self.begin_ns, self.every_ns);
            let mut batch = Batch::default();
            let records = native.records();
            records.iter().for_each(|row| batch.push(foreign(*row), native.context(row)));
            self.inserts += 1;
            sink.insert(&batch, &self.chains.names, self.inserts)?;
            self.begin_ns += self.every_ns * chains;
            left -= chains;
            rows += batch.len();
        }
        Ok(rows)
    }
}

/// The same row as spans tell it.
fn foreign(row: Record) -> Record {
    Record {
        flags: row.flags | Flags::FOREIGN.0,
        path: PathId::NONE,
        root_process: ProcessId::NONE,
        root_start_ns: row.start_ns,
        level: 0,
        ..row
    }
}
