//! Rows a second that become durable, sealing included, beside what the disk does.

use crate::rows::{Chains, Ids};
use anyhow::Result;
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Record};
use chronoscope_store::{Append, Options, Snapshot, Store};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Rows of an append, as a collector makes them at full load.
const BATCH_ROWS: usize = 65_536;

pub(crate) fn run(dir: &Path, seconds: u64, quiet: bool) -> Result<Value> {
    let dir = tempfile::tempdir_in(dir)?;
    let data = dir.path().join("store");
    let options = Options { wait: Duration::from_secs(5), ..Options::default() };
    let store = Store::open(&data, options, clock::utc_now_ns())?;
    let cpu_begin_ns = clock::process_cpu_ns();
    let begin_ns = clock::monotonic_ns();
    let taken = take_in(&store, begin_ns + seconds * 1_000_000_000)?;
    let taken_s = (clock::monotonic_ns() - begin_ns) as f64 * 1e-9;
    let waiting = store.backlog().unsealed_rows;
    let cpu_s = (clock::process_cpu_ns() - cpu_begin_ns) as f64 * 1e-9;
    let seal_begin_ns = clock::monotonic_ns();
    store.seal_all(clock::utc_now_ns())?;
    let all_s = taken_s + (clock::monotonic_ns() - seal_begin_ns) as f64 * 1e-9;
    let snapshot = Snapshot::open(&data)?;
    anyhow::ensure!(snapshot.row_count() == taken.rows, "rows are missing");
    let segment_bytes: u64 = snapshot.segments().iter().map(|segment| segment.size_bytes).sum();
    let disk_mb_s = disk_speed(dir.path(), taken.log_bytes.min(4 << 30))?;
    let rows = taken.rows as f64;
    let result = json!({
        "rows": taken.rows, "seconds": taken_s, "rows_per_second": rows / taken_s,
        "rows_per_second_all_sealed": rows / all_s,
        "unsealed_rows_at_end": waiting, "refusals": taken.refusals,
        "cpu_ns_per_row": cpu_s * 1e9 / rows,
        "slowest_append_ms": taken.slowest_ns as f64 * 1e-6,
        "log_bytes_per_row": taken.log_bytes as f64 / rows,
        "segment_bytes_per_row": segment_bytes as f64 / rows,
        "segments": snapshot.segments().len(),
        "disk_mb_per_second": disk_mb_s,
        "disk_rows_per_second": disk_mb_s * 1e6 / (taken.log_bytes as f64 / rows),
    });
    if !quiet {
        println!(
            "{seconds} s of rows as fast as they are taken, synced every 25 ms and sealed meanwhile:"
        );
        println!("{result:#}");
    }
    Ok(result)
}

struct Taken {
    rows: u64,
    log_bytes: u64,
    refusals: u64,
    slowest_ns: u64,
}

fn take_in(store: &Store, until_ns: u64) -> Result<Taken> {
    let mut chains = Chains::new(3, Ids::Recorder, 10);
    let (every_ns, span_ns) = (5_500, 5_500 * (BATCH_ROWS as i64 / 11));
    let model = chains.batch(BATCH_ROWS, 0, every_ns);
    let stop = AtomicBool::new(false);
    let mut taken = Taken { rows: 0, log_bytes: 0, refusals: 0, slowest_ns: 0 };
    std::thread::scope(|scope| {
        let syncs = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                store.sync()?;
                clock::sleep(Duration::from_millis(25));
            }
            store.sync()
        });
        let seals = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                if !store.maintain(clock::utc_now_ns())?.again {
                    clock::sleep(Duration::from_millis(20));
                }
            }
            Ok::<_, chronoscope_store::StoreError>(())
        });
        let mut at_ns = clock::utc_now_ns();
        let mut named = false;
        while clock::monotonic_ns() < until_ns {
            let batch = shifted(&model, at_ns, taken.rows);
            let input = Append {
                batch: Some(&batch),
                names: (!named).then_some(&chains.names),
                ..Append::default()
            };
            let begin_ns = clock::monotonic_ns();
            match store.append(&input, at_ns) {
                Ok(_) => {
                    named = true;
                    taken.rows += batch.len() as u64;
                    taken.log_bytes +=
                        (batch.len() * size_of::<Record>() + batch.contexts().len()) as u64;
                    at_ns += span_ns;
                }
                Err(error) if error.is_passing() => {
                    taken.refusals += 1;
                    clock::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(error.into()),
            }
            taken.slowest_ns = taken.slowest_ns.max(clock::monotonic_ns() - begin_ns);
        }
        stop.store(true, Ordering::Relaxed);
        syncs.join().map_err(|_| anyhow::anyhow!("sync thread"))??;
        seals.join().map_err(|_| anyhow::anyhow!("maintenance thread"))??;
        Ok(taken)
    })
}

/// The rows of `model` at another time and with other ids: cheaper than making chains, and as much
/// to write. A copy of 120 bytes stands for the copy out of a ring.
fn shifted(model: &Batch, at_ns: i64, count: u64) -> Batch {
    let shift = |record: &Record| Record {
        start_ns: record.start_ns + at_ns,
        root_start_ns: record.root_start_ns + at_ns,
        id: chronoscope_model::TransactionId(record.id.0 + count),
        chain_low: record.chain_low + count,
        ..*record
    };
    Batch::from_parts(model.records().iter().map(shift).collect(), model.contexts().to_vec())
}

/// MB/s of a sequential write of `bytes` with one fdatasync at every 8 MiB.
fn disk_speed(dir: &Path, bytes: u64) -> Result<f64> {
    let mut file = std::fs::File::create(dir.join("raw"))?;
    let block: Vec<u8> =
        (0..8u32 << 20).map(|at| (at.wrapping_mul(31) >> 3).to_le_bytes()[0]).collect();
    let begin_ns = clock::monotonic_ns();
    let blocks = (bytes / block.len() as u64).max(8);
    for _ in 0..blocks {
        file.write_all(&block)?;
        file.sync_data()?;
    }
    let seconds = (clock::monotonic_ns() - begin_ns) as f64 * 1e-9;
    Ok(blocks as f64 * block.len() as f64 / seconds * 1e-6)
}
