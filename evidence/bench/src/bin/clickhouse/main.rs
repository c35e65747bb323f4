//! A ClickHouse cluster beside the files of the embedded store: the same rows put into both, and
//! the same question asked of both, in the same run. Answers are compared exactly.
//!
//! The servers run on this machine and share its processors with us; each side's processor time
//! is measured apart.

mod layouts;
mod servers;
// The rows are those of the bench of the store.
#[allow(dead_code)]
#[path = "../store/rows.rs"]
mod rows;

use anyhow::{Result, ensure};
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_model::Batch;
use chronoscope_query::{
    ClusterView, DurationCache, Limits, Progress, QueryEnvironment, Question, Raster, Sealed,
    StoreLocation, ask_again, scatter,
};
use chronoscope_statistics::Scale;
use chronoscope_store::{Append, MINUTE_NS, Options, Snapshot, Store, StoreError};
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
    /// Compare sorting keys and codecs too
    #[arg(long)]
    layouts: bool,
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
    let files = StoreLocation::Files(data);
    let acpd = || Question::acpd("MRTS::decodePlots", "CWP::TargetView_redraw");
    let questions = [
        ("acpd, not linked", acpd()),
        ("apcd", Question::apcd("MRTS::decodePlots")),
        ("sync", Question::sync("CWP::TargetView_redraw")),
    ];
    for (name, question) in questions {
        results[name] = beside(&arguments, &servers, &files, |location| {
            let answer = location.ask(&question, &Limits::default())?;
            Ok((answer.counts.used, format!("{:?} {:?}", answer.counts, answer.distribution)))
        })?;
    }
    results["linking"] = link(&servers)?;
    let pictures = Pictures { question: acpd(), begin_ns: BEGIN_NS };
    results["acpd"] = beside(&arguments, &servers, &files, |location| pictures.ask(location))?;
    for (name, brushed) in [("scatter", false), ("brush", true)] {
        let picture = |location: &StoreLocation| pictures.scatter(location, brushed);
        results[name] = beside(&arguments, &servers, &files, picture)?;
    }
    results["histogram"] =
        beside(&arguments, &servers, &files, |location| pictures.histogram(location))?;
    if arguments.layouts {
        results["layouts"] = layouts::compare(&servers)?;
    }
    results["load_average"] = json!(std::fs::read_to_string("/proc/loadavg")?.trim());
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
    let files: u64 =
        Snapshot::open(data)?.segments().iter().map(|segment| segment.size_bytes).sum();
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

/// Links the chains of all minutes; what it took.
fn link(servers: &Servers) -> Result<Value> {
    let view = ClusterView::new(Cluster::new(servers.url())?);
    let mut took = Took::default();
    let mut sealed = Sealed::default();
    took.run(servers, || {
        sealed = view.seal(&(i64::MIN..=i64::MAX), &Progress::default())?;
        Ok(())
    })?;
    let rows = usize::try_from(sealed.rows)?;
    Ok(json!({
        "minutes": sealed.minutes, "rows": rows, "unusual": sealed.unusual,
        "took": took.value(rows.max(1), 0),
    }))
}

/// What the page asks.
struct Pictures {
    question: Question,
    begin_ns: i64,
}

impl Pictures {
    fn ask(&self, location: &StoreLocation) -> Result<(u64, String)> {
        let answer = location.ask(&self.question, &Limits::default())?;
        Ok((answer.counts.used, format!("{:?} {:?}", answer.counts, answer.distribution)))
    }

    /// A picture of all, or of some minutes and of the slower durations.
    fn scatter(&self, location: &StoreLocation, brushed: bool) -> Result<(u64, String)> {
        let question = match brushed {
            true => Question {
                start_ns: self.begin_ns..self.begin_ns + 3 * MINUTE_NS,
                duration_ns: 30_000_000..=u64::MAX,
                ..self.question.clone()
            },
            false => self.question.clone(),
        };
        with_rows(location, (&question, true), |rows, asking| {
            let raster = Raster { width: 600, height: 300, scale: Scale::Log };
            let picture = scatter(rows, &question, raster, asking)?;
            Ok((picture.total, format!("{:?} {:?}", picture.cells, picture.paths)))
        })
    }

    fn histogram(&self, location: &StoreLocation) -> Result<(u64, String)> {
        with_rows(location, (&self.question, false), |rows, asking| {
            let answer = ask_again(rows, &self.question, asking)?;
            Ok((answer.counts.used, format!("{:?} {:?}", answer.counts, answer.distribution)))
        })
    }
}

/// Asks with durations that nobody has found before.
fn with_rows<T>(
    location: &StoreLocation,
    (question, with_chains): (&Question, bool),
    ask: impl Fn(&Snapshot, &QueryEnvironment<'_>) -> Result<T, StoreError>,
) -> Result<T> {
    let (limits, progress, cache) =
        (Limits::default(), Progress::default(), DurationCache::default());
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    Ok(location.with(|view| {
        let rows = view.leaf_rows_of(question, with_chains, &limits, &progress)?;
        Ok(ask(&rows, &asking)?)
    })?)
}

/// Asks the cluster and the files the same; the answers have to be the same. Of the cluster what it
/// costs when nothing was fetched yet, and when it was.
fn beside(
    arguments: &Arguments,
    servers: &Servers,
    files: &StoreLocation,
    ask: impl Fn(&StoreLocation) -> Result<(u64, String)>,
) -> Result<Value> {
    let (mut first, mut again, mut local) = (Best::default(), Best::default(), Best::default());
    for _ in 0..arguments.repeat.max(1) {
        let clickhouse = StoreLocation::open(servers.url())?;
        let found = first.run(servers, || ask(&clickhouse))?;
        let kept = again.run(servers, || ask(&clickhouse))?;
        let expected = local.run(servers, || ask(files))?;
        ensure!(
            found == expected && kept == expected,
            "the answers differ: {found:?} {expected:?}"
        );
    }
    Ok(json!({
        "clickhouse": first.value(), "clickhouse_again": again.value(), "files": local.value(),
        "wall_by_files": first.seconds() / local.seconds(),
        "our_cpu_by_files": first.cpu_seconds() / local.cpu_seconds(),
    }))
}

/// The quickest of several runs.
#[derive(Default)]
struct Best {
    took: Option<Took>,
    durations: u64,
}

impl Best {
    fn run(
        &mut self,
        servers: &Servers,
        ask: impl FnOnce() -> Result<(u64, String)>,
    ) -> Result<(u64, String)> {
        let mut took = Took::default();
        let mut answer = None;
        took.run(servers, || {
            answer = Some(ask()?);
            Ok(())
        })?;
        if self.took.is_none_or(|best| took.wall_ns < best.wall_ns) {
            self.took = Some(took);
        }
        let answer = answer.ok_or_else(|| anyhow::anyhow!("it was not asked"))?;
        self.durations = answer.0;
        Ok(answer)
    }

    fn seconds(&self) -> f64 {
        self.took.unwrap_or_default().wall_ns as f64 * 1e-9
    }

    fn cpu_seconds(&self) -> f64 {
        self.took.unwrap_or_default().ours_ns as f64 * 1e-9
    }

    fn value(&self) -> Value {
        let servers = self.took.unwrap_or_default().servers_ns as f64 * 1e-9;
        json!({
            "seconds": self.seconds(), "our_cpu_s": self.cpu_seconds(), "servers_cpu_s": servers,
            "durations": self.durations,
        })
    }
}
