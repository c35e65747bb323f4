//! Benchmark from rings into durable files: transactions per second of one collector.
//!
//! Two measurements, both with rings that the real recorder wrote. *Filled*: two threads record
//! until their rings are full and end; then the collector alone has both cores, and the measurement
//! is the collector's work. *Live*: programs record while it reads, on the same two cores, so that
//! they bound each other. Sealing continues in both.

use anyhow::{Context, Result, ensure};
use chronoscope_bench::rings::{record_rows, seconds_since, spawn_recorder};
use chronoscope_clock as clock;
use chronoscope_collect::{Collector, Options, Status};
use chronoscope_store::Snapshot;
use clap::Parser;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Transactions a second from rings into durable files
#[derive(Parser)]
struct Arguments {
    /// Number of rows that two threads together leave in their rings, in the measurement with
    /// filled rings
    #[arg(long, default_value_t = 8_000_000)]
    rows: u64,
    /// Duration of the live measurement, in seconds
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Transactions a second that the live programs record, together
    #[arg(long, default_value_t = 1_000_000)]
    rate: u64,
    /// Folder for the store during the run
    #[arg(long, default_value = "/tmp")]
    dir: PathBuf,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// Internal: be the program that records this many rows in each of two threads
    #[arg(long, hide = true)]
    record: Option<u64>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(rows) = arguments.record {
        record_rows(rows, arguments.rate / 2);
        return Ok(());
    }
    let filled = filled(&arguments)?;
    let live = live(&arguments)?;
    let result = json!({ "filled": filled, "live": live });
    if arguments.json {
        println!("{result}");
    } else {
        println!("{result:#}");
    }
    Ok(())
}

fn filled(arguments: &Arguments) -> Result<Value> {
    let rings = tempfile::tempdir_in("/dev/shm").context("the rings' folder")?;
    let data = tempfile::tempdir_in(&arguments.dir)?;
    let rows_each = (arguments.rows / 2).min(1 << 22);
    let begin_ns = clock::monotonic_ns();
    let status = spawn_recorder(rings.path(), rows_each, 0, rows_each)?.wait()?;
    ensure!(status.success(), "the recording program failed");
    let record_s = seconds_since(begin_ns);
    let expected = rows_each / 2 * 2 * 2;
    let measured = collect(rings.path(), data.path(), |status, _| {
        status.rows + status.lost_rows >= expected && status.durable_rows >= status.rows
    })?;
    let mut value = measured.value(data.path())?;
    value["recording_rows_per_second"] = json!(expected as f64 / record_s);
    Ok(value)
}

fn live(arguments: &Arguments) -> Result<Value> {
    let rings = tempfile::tempdir_in("/dev/shm").context("the rings' folder")?;
    let data = tempfile::tempdir_in(&arguments.dir)?;
    let rows_each = arguments.rate / 2 * arguments.seconds;
    let mut recorder = spawn_recorder(rings.path(), rows_each, arguments.rate, 1 << 18)?;
    let measured = collect(rings.path(), data.path(), |status, _| {
        status.rows > 0 && status.processes.is_empty()
    });
    ensure!(recorder.wait()?.success(), "the recording program failed");
    let mut value = measured?.value(data.path())?;
    value["asked_rows_per_second"] = json!(arguments.rate);
    Ok(value)
}

struct Measured {
    status: Status,
    seconds: f64,
    cpu_s: f64,
}

/// Collects until `done`, looked at every millisecond.
fn collect(rings: &Path, data: &Path, done: impl Fn(&Status, f64) -> bool) -> Result<Measured> {
    let mut options = Options::new(rings.to_owned(), data.to_owned());
    options.store.wait = Duration::from_secs(5);
    options.tell_every = Duration::from_millis(20);
    let collector = Collector::new(options)?;
    let stop = AtomicBool::new(false);
    let (begin_ns, cpu_begin_ns) = (clock::monotonic_ns(), clock::process_cpu_ns());
    let mut until = (0.0, 0.0);
    let status = collector.run(&stop, &mut |status| {
        let seconds = seconds_since(begin_ns);
        if !stop.load(Ordering::Relaxed) && (done(status, seconds) || seconds > 120.0) {
            until = (seconds, (clock::process_cpu_ns() - cpu_begin_ns) as f64 * 1e-9);
            stop.store(true, Ordering::Relaxed);
        }
    });
    Ok(Measured { status, seconds: until.0, cpu_s: until.1 })
}

impl Measured {
    fn value(&self, data: &Path) -> Result<Value> {
        let snapshot = Snapshot::open(data)?;
        let rows = self.status.rows as f64;
        ensure!(snapshot.row_count() == self.status.rows, "rows are missing or doubled");
        let sealed: u64 = snapshot.segments().iter().map(|segment| segment.row_count).sum();
        let bytes: u64 = snapshot.segments().iter().map(|segment| segment.size_bytes).sum();
        Ok(json!({
            "rows": self.status.rows, "lost_rows": self.status.lost_rows,
            "seconds": self.seconds, "rows_per_second": rows / self.seconds,
            "cpu_ns_per_row": self.cpu_s * 1e9 / rows,
            "sealed_share": sealed as f64 / rows,
            "segment_bytes_per_row": bytes as f64 / sealed.max(1) as f64,
        }))
    }
}
