//! Sorting keys, codecs and projections of the table of transactions: the same rows go into a
//! database of each layout by our own writer, are linked, and are asked for durations and for chains.

use crate::load::{self, Load};
use crate::pictures::acpd;
use crate::rows::BEGIN_NS;
use crate::servers::Servers;
use crate::took::{Best, Took};
use anyhow::{Result, ensure};
use chronoscope_clickhouse::{Cluster, TableOptions};
use chronoscope_model::ChainId;
use chronoscope_query::{Limits, StoreLocation};
use chronoscope_store::MINUTE_NS;
use serde_json::{Value, json};

/// A database whose table differs from that of the product.
struct Layout {
    name: &'static str,
    /// The sorting key; empty for that of the product.
    order: &'static str,
    codecs: &'static [(&'static str, &'static str)],
    /// Statements on the table, after ALTER TABLE.
    alters: &'static [&'static str],
}

const BY_PATH: &str = "minute, top, path, root_start, chain_high, chain_low";
const BY_CHAIN: &str = "minute, top, chain_high, chain_low";
const IDS: [&str; 4] = ["id", "parent", "chain_high", "chain_low"];
const NUMBERS: [&str; 3] = ["elapsed_ns", "cpu_ns", "thread"];
const STARTS: [&str; 2] = ["start", "root_start"];
const WORDS: [&str; 12] = [
    "top",
    "application",
    "class",
    "host",
    "path",
    "status",
    "root_application",
    "root_class",
    "root_host",
    "process",
    "flags",
    "level",
];
/// Columns that leaves are made of, path by path.
const LEAVES: &str = "ADD PROJECTION leaves (SELECT minute, top, path, host, root_host, start, \
    elapsed_ns, root_start, flags ORDER BY minute, top, path, root_start)";

const LAYOUTS: [Layout; 9] = [
    Layout { name: "as it is: by root start, LZ4 and T64", order: "", codecs: &[], alters: &[] },
    Layout {
        name: "of tables before: by chain, ZSTD",
        order: BY_CHAIN,
        codecs: &[("all", "ZSTD"), ("starts", "Delta, ZSTD")],
        alters: &[],
    },
    Layout {
        name: "by root start, ZSTD",
        order: "",
        codecs: &[("all", "ZSTD"), ("starts", "Delta, ZSTD")],
        alters: &[],
    },
    Layout { name: "by chain, LZ4 and T64", order: BY_CHAIN, codecs: &[], alters: &[] },
    Layout { name: "by path, as segments, LZ4 and T64", order: BY_PATH, codecs: &[], alters: &[] },
    Layout { name: "without T64", order: "", codecs: &[("numbers", "LZ4")], alters: &[] },
    Layout {
        name: "starts Delta, ZSTD",
        order: "",
        codecs: &[("starts", "Delta, ZSTD")],
        alters: &[],
    },
    Layout {
        name: "without the Bloom filter",
        order: "",
        codecs: &[],
        alters: &["DROP INDEX chain"],
    },
    Layout { name: "a projection of leaves by path", order: "", codecs: &[], alters: &[LEAVES] },
];

/// Compares the layouts whose names contain `only`.
pub(crate) fn compare(load: Load, servers: &Servers, only: Option<&str>) -> Result<Value> {
    let mut results = Vec::new();
    let chosen = LAYOUTS.iter().filter(|layout| only.is_none_or(|only| layout.name.contains(only)));
    let chosen: Vec<&Layout> = chosen.collect();
    let mut expected = None;
    // The first one twice: servers that have just started take longer for everything.
    for (number, layout) in chosen.first().into_iter().chain(&chosen).enumerate() {
        let database = format!("layout_{number}");
        make(layout, servers, &database)?;
        let mut result = load::into_cluster(load, servers, &database)?;
        result["layout"] = layout.name.into();
        result["linking"] = load::link(servers, &database)?["took"].take();
        let durations = ask(servers, &database, &mut result)?;
        ensure!(
            *expected.get_or_insert(durations) == durations,
            "{}: {durations} durations",
            layout.name
        );
        servers.on_all(&format!("DROP DATABASE {database} SYNC"))?;
        eprintln!("{result}");
        if number > 0 {
            results.push(result);
        }
    }
    Ok(json!({ "layouts": results }))
}

fn make(layout: &Layout, servers: &Servers, database: &str) -> Result<()> {
    Cluster::new(&servers.url_of(database))?.prepare(&TableOptions::default())?;
    let table = format!("{database}.transactions");
    if !layout.order.is_empty() {
        let partition = "PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))";
        servers.on_all(&format!("RENAME TABLE {table} TO {table}_before"))?;
        servers.on_all(&format!(
            "CREATE TABLE {table} AS {table}_before ENGINE = MergeTree {partition} ORDER BY ({}) \
             SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, \
             fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1",
            layout.order
        ))?;
    }
    for (columns, codec) in layout.codecs {
        let all = || IDS.iter().chain(&NUMBERS).chain(&WORDS).copied().collect();
        let columns: Vec<&str> = match *columns {
            "ids" => IDS.to_vec(),
            "numbers" => NUMBERS.to_vec(),
            "starts" => STARTS.to_vec(),
            _ => all(),
        };
        for column in columns {
            servers
                .on_all(&format!("ALTER TABLE {table} MODIFY COLUMN {column} CODEC({codec})"))?;
        }
    }
    layout
        .alters
        .iter()
        .try_for_each(|alter| servers.on_all(&format!("ALTER TABLE {table} {alter}")))
}

/// What questions take: durations of linked chains, a chain by its id, and whole minutes. The result
/// is the number of durations.
fn ask(servers: &Servers, database: &str, result: &mut Value) -> Result<u64> {
    let url = servers.url_of(database);
    let (mut acpds, mut chains, mut minutes) = (Best::default(), Best::default(), Took::default());
    let mut durations = 0;
    let limits = Limits::default();
    for _ in 0..3 {
        let clickhouse = StoreLocation::open(&url)?;
        durations = acpds.run(servers, || Ok(clickhouse.ask(&acpd(), &limits)?.counts.used))?;
        chains.run(servers, || Ok(clickhouse.chain(ChainId(7), None)?))?;
    }
    let minute = BEGIN_NS..BEGIN_NS + MINUTE_NS;
    let rows = minutes.run(servers, || {
        let (rows, _) = StoreLocation::open(&url)?.transactions(minute)?;
        Ok(rows.filter(Result::is_ok).count())
    })?;
    result["acpd"] = acpds.took()?.of_question();
    result["chain"] = chains.took()?.of_question();
    result["minute"] = minutes.of_rows(rows, 0);
    Ok(durations)
}
