//! Bytes of a transaction and cost of a scan, for each order of rows in a segment.

use crate::rows::{BEGIN_NS, Chains, Ids};
use anyhow::{Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use chronoscope_clock as clock;
use chronoscope_store::{Order, write_segment};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// The columns that an ACPD question reads.
const SCANNED: [&str; 6] = ["path", "start", "elapsed_ns", "root_start", "level", "links"];
const LEAF: &str = "CWP::TargetView_redraw";

pub(crate) fn compare(dir: &Path, rows: usize, quiet: bool) -> Result<Value> {
    let dir = tempfile::tempdir_in(dir)?;
    let mut results = Vec::new();
    if !quiet {
        println!(
            "{rows} rows of one minute; scan: {} for one leaf, one thread",
            SCANNED.join(", ")
        );
        println!(
            "{:<10} {:<10} {:>8} {:>12} {:>12} {:>12}",
            "ids", "order", "B/row", "write ns/row", "scan ns/row", "skipped"
        );
    }
    for ids in [Ids::Recorder, Ids::Random] {
        let mut chains = Chains::new(1, ids, 0);
        let batch = chains.batch(rows, BEGIN_NS, 59_000_000_000 * 11 / i64::try_from(rows)?);
        for order in [Order::Path, Order::RootStart, Order::Chain] {
            let path = dir.path().join("segment.parquet");
            let begin_ns = clock::thread_cpu_ns();
            let bytes = write_segment(&path, &batch, &chains.names, order)?;
            let write_ns = per_row(clock::thread_cpu_ns() - begin_ns, batch.len());
            let begin_ns = clock::thread_cpu_ns();
            let (sum, skipped) = scan(&path)?;
            let scan_ns = per_row(clock::thread_cpu_ns() - begin_ns, batch.len());
            let bytes_per_row = bytes as f64 / batch.len() as f64;
            let (ids_text, order_text) = (format!("{ids:?}"), format!("{order:?}"));
            if !quiet {
                println!(
                    "{ids_text:<10} {order_text:<10} {bytes_per_row:>8.2} {write_ns:>12.0} {scan_ns:>12.1} {skipped:>11.0}%"
                );
            }
            let columns = column_bytes(&path, batch.len())?;
            results.push(json!({
                "ids": ids_text, "order": order_text, "bytes_per_row": bytes_per_row,
                "write_ns_per_row": write_ns, "scan_ns_per_row": scan_ns,
                "skipped_percent": skipped, "acpd_sum_ns": sum, "column_bytes_per_row": columns,
            }));
            if !quiet && order == Order::Path {
                let text = columns.iter().map(|(name, bytes)| format!("{name} {bytes:.2}"));
                println!("  {}", text.collect::<Vec<_>>().join(", "));
            }
        }
    }
    Ok(Value::Array(results))
}

fn per_row(ns: u64, rows: usize) -> f64 {
    ns as f64 / rows as f64
}

/// Sums the ACPD of one leaf, skipping row groups that cannot have it; the sum, and the share of
/// rows that were skipped in percent.
fn scan(path: &Path) -> Result<(i64, f64)> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let metadata = builder.metadata().clone();
    let mask = ProjectionMask::columns(builder.parquet_schema(), SCANNED);
    let groups: Vec<usize> =
        (0..metadata.num_row_groups()).filter(|group| may_have_leaf(&metadata, *group)).collect();
    let read: i64 = groups.iter().map(|group| metadata.row_group(*group).num_rows()).sum();
    let total = metadata.file_metadata().num_rows();
    let reader =
        builder.with_projection(mask).with_row_groups(groups).with_batch_size(65_536).build()?;
    let mut sum = 0;
    for batch in reader {
        let batch = batch?;
        let column = |name: &str| batch.column_by_name(name).context("column missing");
        let paths = column("path")?.as_dictionary::<Int32Type>();
        let texts = paths.values().as_string::<i32>();
        let wanted: Vec<bool> =
            texts.iter().map(|text| text.is_some_and(|text| text.ends_with(LEAF))).collect();
        let instants = |name: &str| {
            Ok::<_, anyhow::Error>(
                column(name)?
                    .as_primitive::<arrow_array::types::TimestampNanosecondType>()
                    .values(),
            )
        };
        let (starts, roots) = (instants("start")?, instants("root_start")?);
        let elapsed = column("elapsed_ns")?.as_primitive::<Int64Type>().values();
        for (row, key) in paths.keys().values().iter().enumerate() {
            if wanted[usize::try_from(*key)?] {
                sum += starts[row] + elapsed[row] - roots[row];
            }
        }
    }
    Ok((sum, 100.0 * (total - read) as f64 / total as f64))
}

fn may_have_leaf(metadata: &ParquetMetaData, group: usize) -> bool {
    let columns = metadata.row_group(group).columns();
    let path = columns.iter().find(|column| column.column_path().string() == "path");
    let statistics = path.and_then(|column| column.statistics());
    // The only paths that end in the leaf are the longest: alphabetically behind all others.
    statistics
        .and_then(|statistics| statistics.max_bytes_opt())
        .is_none_or(|max| max.ends_with(LEAF.as_bytes()))
}

fn column_bytes(path: &Path, rows: usize) -> Result<BTreeMap<String, f64>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let mut bytes: BTreeMap<String, f64> = BTreeMap::new();
    for group in builder.metadata().row_groups() {
        for column in group.columns() {
            let size = column.compressed_size() as f64 / rows as f64;
            *bytes.entry(column.column_path().string()).or_default() += size;
        }
    }
    Ok(bytes)
}
