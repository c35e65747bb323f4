//! Sorting keys and codecs of the table of transactions, compared on the first shard's rows.

use crate::servers::Servers;
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use serde_json::{Value, json};

/// A sorting key, and the columns whose codecs are others than the table's.
struct Layout {
    name: &'static str,
    order: &'static str,
    codecs: &'static [(&'static str, &'static str)],
}

const BY_CHAIN: &str = "minute, top, chain_high, chain_low";
const BY_ROOT_START: &str = "minute, top, root_start, chain_high, chain_low";
const IDS: [&str; 4] = ["id", "parent", "chain_high", "chain_low"];
const NUMBERS: [&str; 3] = ["elapsed_ns", "cpu_ns", "thread"];

const LAYOUTS: [Layout; 8] = [
    Layout { name: "as it is: by chain, ZSTD", order: BY_CHAIN, codecs: &[] },
    Layout { name: "by root start", order: BY_ROOT_START, codecs: &[] },
    Layout {
        name: "by path and root start, as segments",
        order: "minute, path, root_start, chain_high, chain_low",
        codecs: &[],
    },
    Layout { name: "by chain, ids not compressed", order: BY_CHAIN, codecs: &[("ids", "NONE")] },
    Layout { name: "by chain, LZ4", order: BY_CHAIN, codecs: &[("all", "LZ4")] },
    Layout { name: "by chain, numbers T64", order: BY_CHAIN, codecs: &[("numbers", "T64, ZSTD")] },
    Layout {
        name: "by chain, ZSTD(3)",
        order: BY_CHAIN,
        codecs: &[("ids", "ZSTD(3)"), ("numbers", "ZSTD(3)")],
    },
    Layout {
        name: "by root start, starts DoubleDelta",
        order: BY_ROOT_START,
        codecs: &[("starts", "DoubleDelta, ZSTD")],
    },
];

/// Inserts the rows of the first shard into a table of each layout; bytes, and what inserting and
/// scanning took.
pub(crate) fn compare(servers: &Servers) -> Result<Value> {
    let rows: u64 = servers.first("SELECT count() FROM chronoscope.transactions")?.parse()?;
    let mut results = Vec::new();
    for Layout { name, order, codecs } in LAYOUTS {
        servers.first(&format!(
            "CREATE TABLE chronoscope.layout AS chronoscope.transactions ENGINE = MergeTree \
             PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC')) ORDER BY ({order})"
        ))?;
        for (columns, codec) in codecs {
            let columns: Vec<&str> = match *columns {
                "ids" => IDS.to_vec(),
                "numbers" => NUMBERS.to_vec(),
                "starts" => vec!["start", "root_start"],
                _ => IDS.iter().chain(&NUMBERS).copied().chain(["start", "root_start"]).collect(),
            };
            for column in columns {
                servers.first(&format!(
                    "ALTER TABLE chronoscope.layout MODIFY COLUMN {column} CODEC({codec})"
                ))?;
            }
        }
        let (inserting, cpu) = timed(servers, || {
            servers.first(
                "INSERT INTO chronoscope.layout SELECT * FROM chronoscope.transactions \
                 SETTINGS max_insert_threads = 1",
            )
        })?;
        servers.first("OPTIMIZE TABLE chronoscope.layout FINAL")?;
        let bytes = servers.first(
            "SELECT sum(bytes_on_disk) FROM system.parts WHERE active \
             AND database = 'chronoscope' AND table = 'layout'",
        )?;
        let bytes: u64 = bytes.parse().context("bytes_on_disk")?;
        let mut scan = f64::MAX;
        for _ in 0..3 {
            let (seconds, _) = timed(servers, || {
                servers.first(
                    "SELECT count(), sum(toUnixTimestamp64Nano(start) + elapsed_ns \
                     - toUnixTimestamp64Nano(root_start)) FROM chronoscope.layout \
                     WHERE path LIKE '%redraw' AND top = 'MRTS::decodePlots'",
                )
            })?;
            scan = scan.min(seconds);
        }
        results.push(json!({
            "layout": name, "bytes_per_row": bytes as f64 / rows as f64,
            "insert_seconds": inserting, "insert_cpu_s_per_million": cpu / (rows as f64 * 1e-6),
            "scan_seconds": scan,
        }));
        servers.first("DROP TABLE chronoscope.layout SYNC")?;
    }
    Ok(json!({ "rows": rows, "layouts": results }))
}

/// Seconds of the clock, and of the servers' processors.
fn timed(servers: &Servers, work: impl FnOnce() -> Result<String>) -> Result<(f64, f64)> {
    let before = (clock::monotonic_ns(), servers.cpu_ns()?);
    work()?;
    let wall = (clock::monotonic_ns() - before.0) as f64 * 1e-9;
    Ok((wall, (servers.cpu_ns()? - before.1) as f64 * 1e-9))
}
