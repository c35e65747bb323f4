//! A ClickHouse cluster beside the files of the embedded store: the same rows put into both, and
//! the same question asked of both, in the same run. Answers are compared exactly.
//!
//! The servers run on this machine and share its processors with us; each side's processor time
//! is measured apart.

mod servers;
// The rows are those of the bench of the store.
#[allow(dead_code)]
#[path = "../store/rows.rs"]
mod rows;

use anyhow::{Result, ensure};
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_model::Batch;
use chronoscope_query::StoreLocation;
use chronoscope_query::{Answer, Limits, Question};
use chronoscope_store::{Append, Options, Store};
use clap::Parser;
use rows::{BEGIN_NS, Chains, Ids};
use serde_json::{Value, json};
use servers::Servers;
use std::path::{Path, PathBuf};

/// Nanoseconds from root to root: 1.2 million rows a minute.
const EVERY_NS: i64 = 550_000;

/// A ClickHouse cluster beside the embedded store
#[derive(Parser)]
struct Arguments {
    /// Number of rows to insert
    #[arg(long, default_value_t = 14_000_000)]
    rows: usize,
    /// Number of rows in one insert
    #[arg(long, default_value_t = 65_536)]
    batch: usize,
    /// Number of servers, one for each shard
    #[arg(long, default_value_t = 2)]
    shards: usize,
    /// Number of runs of each query; the fastest counts
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Folder for the data during the run
    #[arg(long, default_value = "/tmp")]
    dir: PathBuf,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let dir = tempfile::tempdir_in(&arguments.dir)?;
    let servers = Servers::start(&dir.path().join("servers"), arguments.shards)?;
    let data = dir.path().join("store");
    let mut results = insert(&arguments, &servers, &data)?;
    let clickhouse = StoreLocation::open(servers.url())?;
    let files = StoreLocation::Files(data);
    let questions = [
        ("acpd", Question::acpd("MRTS::decodePlots", "CWP::TargetView_redraw")),
        ("apcd", Question::apcd("MRTS::decodePlots")),
        ("sync", Question::sync("CWP::TargetView_redraw")),
    ];
    for (name, question) in questions {
        let before = servers.network_bytes()?.1;
        let (mut ours, told) = ask(&clickhouse, &question, arguments.repeat, || servers.cpu_ns())?;
        let read = (servers.network_bytes()?.1 - before) / u64::from(arguments.repeat.max(1));
        ours["received_bytes"] = read.into();
        let (theirs, expected) = ask(&files, &question, arguments.repeat, || Ok(0))?;
        ensure!(
            told.durations_ns == expected.durations_ns && told.counts == expected.counts,
            "{name}: the answers differ"
        );
        results[name] = json!({ "clickhouse": ours, "files": theirs });
    }
    if arguments.json {
        println!("{results}");
    } else {
        println!("{:#}", results);
    }
    Ok(())
}

/// Puts the rows into both, in turns; what each took.
fn insert(arguments: &Arguments, servers: &Servers, data: &Path) -> Result<Value> {
    let cluster = Cluster::new(servers.url())?;
    cluster.prepare(&TableOptions::default())?;
    let sink = ClusterWriter::new(cluster);
    let store = Store::open(data, Options::default(), BEGIN_NS)?;
    let mut chains = Chains::new(7, Ids::Random, 10);
    let mut begin_ns = BEGIN_NS;
    let mut rows = 0;
    let mut took = [Took::default(), Took::default()];
    let before = servers.network_bytes()?.0;
    while rows < arguments.rows {
        let batch: Batch = chains.batch(arguments.batch, begin_ns, EVERY_NS);
        begin_ns += EVERY_NS * i64::try_from(batch.len() / 11)?;
        took[0].run(servers, || Ok(sink.insert(&batch, &chains.names, rows as u128)?))?;
        took[1].run(servers, || {
            let (batch, names) = (Some(&batch), Some(&chains.names));
            store.append(&Append { batch, names, ..Append::default() }, begin_ns)?;
            store.sync()?;
            while store.maintain(begin_ns)?.again {}
            Ok(())
        })?;
        rows += batch.len();
    }
    let sent = servers.network_bytes()?.0 - before;
    took[1].run(servers, || Ok(store.seal_all(begin_ns).map(drop)?))?;
    let bytes = servers.bytes_on_disk()?;
    let files: u64 = chronoscope_store::Snapshot::open(data)?
        .segments()
        .iter()
        .map(|segment| segment.size_bytes)
        .sum();
    let [mut clickhouse, mut embedded] = took;
    // What the servers did while the files had their turn is merging what they had been given.
    clickhouse.servers_ns += std::mem::take(&mut embedded.servers_ns);
    Ok(json!({
        "rows": rows, "shards": arguments.shards, "rows_of_an_insert": arguments.batch,
        "inserts": rows.div_ceil(arguments.batch),
        "sent_bytes_per_row": sent as f64 / rows as f64,
        "insert": {
            "clickhouse": clickhouse.value(rows, bytes),
            "files": embedded.value(rows, files),
        },
    }))
}

/// Time of the clock and of processors, ours and the servers'.
#[derive(Clone, Copy, Default)]
struct Took {
    wall_ns: u64,
    ours_ns: u64,
    servers_ns: u64,
}

impl Took {
    fn run(&mut self, servers: &Servers, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let before = (clock::monotonic_ns(), clock::process_cpu_ns(), servers.cpu_ns()?);
        work()?;
        self.wall_ns += clock::monotonic_ns() - before.0;
        self.ours_ns += clock::process_cpu_ns() - before.1;
        self.servers_ns += servers.cpu_ns()? - before.2;
        Ok(())
    }

    fn value(self, rows: usize, bytes: u64) -> Value {
        let seconds = self.wall_ns as f64 * 1e-9;
        let per_million = |ns: u64| ns as f64 * 1e-9 / (rows as f64 * 1e-6);
        json!({
            "seconds": seconds,
            "rows_per_second": rows as f64 / seconds,
            "our_cpu_s_per_million": per_million(self.ours_ns),
            "servers_cpu_s_per_million": per_million(self.servers_ns),
            "bytes_per_row": bytes as f64 / rows as f64,
        })
    }
}

/// Asks several times; the quickest, and the answer.
fn ask(
    source: &StoreLocation,
    question: &Question,
    repeat: u32,
    servers_ns: impl Fn() -> Result<u64>,
) -> Result<(Value, Answer)> {
    let mut best: Option<(f64, f64, f64)> = None;
    let mut last = None;
    for _ in 0..repeat.max(1) {
        let before = (clock::monotonic_ns(), clock::process_cpu_ns(), servers_ns()?);
        let answer = source.ask(question, &Limits::default())?;
        let wall = (clock::monotonic_ns() - before.0) as f64 * 1e-9;
        let ours = (clock::process_cpu_ns() - before.1) as f64 * 1e-9;
        let servers = (servers_ns()? - before.2) as f64 * 1e-9;
        if best.is_none_or(|best| wall < best.0) {
            best = Some((wall, ours, servers));
        }
        last = Some(answer);
    }
    let (wall, ours, servers) = best.unwrap_or_default();
    let Some(answer) = last else { anyhow::bail!("it was not asked") };
    let value = json!({
        "seconds": wall, "our_cpu_s": ours, "servers_cpu_s": servers,
        "durations": answer.counts.used,
    });
    Ok((value, answer))
}
