//! Rows into a cluster and into files.

use crate::rows::{BEGIN_NS, Chains, Ids};
use crate::servers::Servers;
use crate::took::Took;
use anyhow::{Context, Result};
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_model::Batch;
use chronoscope_query::{ClusterView, Progress, Sealed};
use chronoscope_store::{Append, Options, Snapshot, Store};
use serde_json::{Value, json};
use std::path::Path;

/// Nanoseconds from root to root: 109,000 chains a minute.
const EVERY_NS: i64 = 550_000;
/// Every so many rows have a property and a metric.
const CONTEXT_EVERY: u64 = 10;

/// How many rows, and how they go in.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// Number of chains.
    pub(crate) chains: usize,
    /// Displays of a chain: 3 rows and two for each of them.
    pub(crate) displays: usize,
    /// Most rows of one insert.
    pub(crate) batch: usize,
    /// Inserts that are under way at a time.
    pub(crate) writers: usize,
}

/// Batches of rows from the same seed.
struct Batches {
    load: Load,
    chains: Chains,
    begin_ns: i64,
    left: usize,
}

impl Load {
    /// Rows of a chain.
    pub(crate) const fn chain_rows(self) -> usize {
        3 + 2 * self.displays
    }

    fn batches(self) -> Batches {
        let mut chains = Chains::new(7, Ids::Random, CONTEXT_EVERY);
        chains.displays = self.displays;
        Batches { load: self, chains, begin_ns: BEGIN_NS, left: self.chains }
    }
}

impl Iterator for Batches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let chain_rows = self.load.chain_rows();
        let chains = (self.load.batch / chain_rows).clamp(1, self.left.max(1)).min(self.left);
        if chains == 0 {
            return None;
        }
        let batch = self.chains.batch(chains * chain_rows, self.begin_ns, EVERY_NS);
        self.begin_ns += EVERY_NS * i64::try_from(chains).unwrap_or(i64::MAX);
        self.left -= chains;
        Some(batch)
    }
}

/// Puts rows into a database of the servers, several inserts at a time. Rows are made between the
/// inserts, and their time is not counted. What the servers do meanwhile, which is merging, is.
pub(crate) fn into_cluster(load: Load, servers: &Servers, database: &str) -> Result<Value> {
    let cluster = Cluster::new(&servers.url_of(database))?;
    cluster.prepare(&TableOptions::default())?;
    let sink = ClusterWriter::new(cluster);
    let before = (servers.network_bytes()?.0, servers.cpu_ns()?);
    let (mut took, mut rows, mut inserts) = (Took::default(), 0, 0);
    let mut batches = load.batches();
    loop {
        let group: Vec<Batch> = batches.by_ref().take(2 * load.writers).collect();
        if group.is_empty() {
            break;
        }
        let numbered: Vec<(u128, &Batch)> = (inserts..).zip(&group).collect();
        let names = &batches.chains.names;
        took.run(servers, || {
            std::thread::scope(|scope| {
                let writers = (0..load.writers).map(|writer| {
                    let mine = numbered.iter().skip(writer).step_by(load.writers);
                    let sink = &sink;
                    scope.spawn(move || {
                        for (key, batch) in mine {
                            sink.insert(batch, names, *key)?;
                        }
                        Ok(())
                    })
                });
                let writers: Vec<_> = writers.collect();
                writers.into_iter().try_for_each(|writer| {
                    writer.join().ok().context("an insert ended in a panic")?
                })
            })
        })?;
        inserts += group.len() as u128;
        rows += group.iter().map(Batch::len).sum::<usize>();
    }
    let sent = servers.network_bytes()?.0 - before.0;
    let waiting = servers.unmerged_parts(database)?;
    servers.merge(database)?;
    let merged_ns = servers.cpu_ns()? - before.1;
    took.servers_ns = took.servers_ns.max(merged_ns);
    let bytes = servers.bytes_on_disk(database)?;
    let mut value = took.of_rows(rows, bytes);
    value["rows"] = rows.into();
    value["inserts"] = json!(u64::try_from(inserts)?);
    value["writers"] = load.writers.into();
    value["parts_at_the_end"] = waiting.into();
    value["sent_bytes_per_row"] = (sent as f64 / rows as f64).into();
    Ok(value)
}

/// Puts the same rows into files.
pub(crate) fn into_files(load: Load, servers: &Servers, data: &Path) -> Result<Value> {
    let store = Store::open(data, Options::default(), BEGIN_NS)?;
    let (mut took, mut rows) = (Took::default(), 0);
    let mut batches = load.batches();
    while let Some(batch) = batches.next() {
        let (names, now_ns) = (&batches.chains.names, batches.begin_ns);
        took.run(servers, || {
            let (batch, names) = (Some(&batch), Some(names));
            store.append(&Append { batch, names, ..Append::default() }, now_ns)?;
            store.sync()?;
            while store.maintain(now_ns)?.again {}
            Ok(())
        })?;
        rows += batch.len();
    }
    took.run(servers, || Ok(store.seal_all(batches.begin_ns)?))?;
    let bytes = Snapshot::open(data)?.segments().iter().map(|segment| segment.size_bytes).sum();
    Ok(took.of_rows(rows, bytes))
}

/// Links the chains of all minutes; what it took, merging included.
pub(crate) fn link(servers: &Servers, database: &str) -> Result<Value> {
    let view = ClusterView::new(Cluster::new(&servers.url_of(database))?);
    let (mut took, mut sealed) = (Took::default(), Sealed::default());
    took.run(servers, || {
        sealed = view.seal(&(i64::MIN..=i64::MAX), &Progress::default())?;
        // What the servers would do later is part of the cost.
        servers.on_all(&format!("OPTIMIZE TABLE {database}.durations FINAL"))
    })?;
    let rows = usize::try_from(sealed.rows)?;
    let bytes = servers.other_bytes_on_disk(database)?;
    Ok(json!({
        "minutes": sealed.minutes, "rows": rows, "unusual": sealed.unusual,
        "took": took.of_rows(rows.max(1), bytes),
    }))
}
