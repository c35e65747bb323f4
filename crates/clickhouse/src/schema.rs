//! The tables on every shard, their versions, and how older ones become newer.
//!
//! Rule: a version only adds (columns at the end, tables). Who writes or serves brings older tables up
//! to date and refuses newer ones; who only asks needs tables of its own version.

use crate::durations::tables::{DURATIONS, SHORTEST};
use crate::error::ClickHouseError;
use crate::http::Node;
use crate::linked::links_tables::LINKS;
use crate::linked::tables::LINKED;
use crate::shared::tables::SHARED;
use crate::sketches::tables::SKETCHES;
use crate::url::Url;
use std::time::Duration;

/// Options of the tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableOptions {
    /// Days whose rows are all older than this are deleted by the servers; `None` keeps what the
    /// tables say.
    pub keep: Option<Duration>,
}

/// Written to `versions` first, where the tables are made anew with all that losses need.
const FROM_THE_START: u32 = 0;
/// The version that brought the table of losses.
const LOSSES: u32 = 4;

/// Columns of `versions` that say since when the losses of senders are kept.
pub(crate) fn losses_since() -> String {
    format!("min(version), toInt64(toUnixTimestamp(minIf(at, version = {LOSSES})))")
}

/// Since when losses are kept, from [`losses_since`]: UTC, nanoseconds since 1970.
pub(crate) fn losses_since_ns(answer: &str) -> Option<i64> {
    let (oldest, seconds) = answer.trim().split_once('\t')?;
    if oldest.parse::<u32>().ok()? == FROM_THE_START {
        return Some(i64::MIN);
    }
    // To the end of the second, which is all that the table knows.
    Some((seconds.parse::<i64>().ok()? + 1).saturating_mul(1_000_000_000))
}

/// The version that this program makes.
pub(crate) const VERSION: u32 = 9;

/// Statements that bring the tables from the version before to the one at this index plus 1.
const MIGRATIONS: [&[&str]; VERSION as usize] =
    [FIRST, EXTRAS, SEALED, SHARED, LINKED, SKETCHES, LINKS, DURATIONS, SHORTEST];

const FIRST: &[&str] = &[
    // The columns are those of `model::schema::transactions`, but for `links`, which says what the
    // rest of the chain says and is found out when asked. Added in front of them:
    // `minute` – of the root's start, for rows without ancestors of their own start; since 1970.
    // `top`    – the root's class in words, empty where it is not known.
    // A minute's rows of one root class stand together, chain by chain in the order of time: a
    // question reads the minutes and the root classes that it asks for, and gets chains whole. Rows
    // come nearly in that order, which makes merging cheap. Key and codecs are chosen by measurement
    // (docs/clickhouse.md); tables of before have chains in the order of their ids.
    "CREATE TABLE IF NOT EXISTS transactions (
        minute Int64 CODEC(Delta, LZ4),
        top LowCardinality(String) CODEC(LZ4),
        application LowCardinality(String) CODEC(LZ4),
        class LowCardinality(String) CODEC(LZ4),
        host LowCardinality(String) CODEC(LZ4),
        process UInt32 CODEC(LZ4),
        thread UInt32 CODEC(LZ4),
        start DateTime64(9, 'UTC') CODEC(T64, LZ4),
        elapsed_ns Int64 CODEC(T64, LZ4),
        cpu_ns Int64 CODEC(T64, LZ4),
        process_cpu_ns Nullable(Int64) CODEC(LZ4),
        status LowCardinality(String) CODEC(LZ4),
        id UInt64 CODEC(LZ4),
        parent UInt64 CODEC(LZ4),
        chain_high UInt64 CODEC(LZ4),
        chain_low UInt64 CODEC(LZ4),
        flags UInt8 CODEC(LZ4),
        level UInt16 CODEC(LZ4),
        path LowCardinality(String) CODEC(LZ4),
        root_application LowCardinality(Nullable(String)) CODEC(LZ4),
        root_class LowCardinality(Nullable(String)) CODEC(LZ4),
        root_start DateTime64(9, 'UTC') CODEC(Delta, LZ4),
        root_host LowCardinality(Nullable(String)) CODEC(LZ4),
        root_process UInt32 CODEC(LZ4),
        properties Map(LowCardinality(String), String) CODEC(ZSTD),
        metrics Map(LowCardinality(String), Float64) CODEC(ZSTD),
        INDEX chain chain_low TYPE bloom_filter(0.01) GRANULARITY 1
    ) ENGINE = MergeTree
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, top, root_start, chain_high, chain_low)
    SETTINGS non_replicated_deduplication_window = 10000,
        fsync_after_insert = 1, fsync_part_directory = 1,
        min_rows_to_fsync_after_merge = 1,
        ttl_only_drop_parts = 1",
    // Names, by the ids that records and streams use; on every shard. A path's text may contain
    // the separators, so that it cannot be taken apart for sure.
    "CREATE TABLE IF NOT EXISTS classes (
        id UInt64, application String, class String
    ) ENGINE = ReplacingMergeTree ORDER BY id
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
    "CREATE TABLE IF NOT EXISTS paths (
        id UInt64, path String, classes Array(UInt64)
    ) ENGINE = ReplacingMergeTree ORDER BY (id, path)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
    "CREATE TABLE IF NOT EXISTS processes (
        id UInt64, application String, host String, pid UInt32, start_ns Int64
    ) ENGINE = ReplacingMergeTree ORDER BY id
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
    // How far each sender's stream is in: rows below `end_row` are.
    "CREATE TABLE IF NOT EXISTS streams (
        stream UInt128, end_row UInt64
    ) ENGINE = ReplacingMergeTree(end_row) ORDER BY stream
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
];

/// Version 2: what few rows have (`model::Extras`).
const EXTRAS: &[&str] = &[
    "ALTER TABLE transactions
        ADD COLUMN IF NOT EXISTS arrival Nullable(DateTime64(9, 'UTC')) CODEC(ZSTD),
        ADD COLUMN IF NOT EXISTS run_queue_ns Nullable(Int64) CODEC(ZSTD),
        ADD COLUMN IF NOT EXISTS blocked_ns Nullable(Int64) CODEC(ZSTD),
        ADD COLUMN IF NOT EXISTS sampling_threshold Nullable(UInt64) CODEC(ZSTD),
        ADD COLUMN IF NOT EXISTS further_parents Array(Tuple(
            chain_high UInt64, chain_low UInt64, id UInt64,
            root_start Nullable(DateTime64(9, 'UTC')), root_process Nullable(UInt64),
            level Nullable(UInt16), path Nullable(UInt64))) CODEC(ZSTD)",
    // Made anew below with the new columns, where the URL names a cluster; it holds no rows itself.
    "DROP TABLE IF EXISTS transactions_all",
];

/// Version 3: what chains say of their native rows ([`crate::SealedMinute`]).
const SEALED: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS unusual_rows (
        minute Int64 CODEC(Delta, ZSTD),
        version UInt64 CODEC(ZSTD),
        top LowCardinality(String) CODEC(ZSTD),
        path LowCardinality(String) CODEC(ZSTD),
        root_start_ns Int64 CODEC(Delta, ZSTD),
        start_ns Int64 CODEC(Delta, ZSTD),
        elapsed_ns Int64 CODEC(ZSTD),
        level UInt16 CODEC(ZSTD),
        links UInt8 CODEC(ZSTD),
        host LowCardinality(String) CODEC(ZSTD),
        root_host LowCardinality(String) CODEC(ZSTD),
        chain_high UInt64 CODEC(ZSTD),
        chain_low UInt64 CODEC(ZSTD),
        id UInt64 CODEC(ZSTD)
    ) ENGINE = MergeTree
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, version, path, root_start_ns)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1",
    "CREATE TABLE IF NOT EXISTS sealed_minutes (
        minute Int64, version UInt64, rows UInt64, unusual UInt64, at DateTime DEFAULT now()
    ) ENGINE = MergeTree
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, version)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1",
    // Chains whose rows belong to others, on every shard.
    "CREATE TABLE IF NOT EXISTS aliases (
        chain_high UInt64, chain_low UInt64, continues_high UInt64, continues_low UInt64,
        at DateTime64(9, 'UTC') DEFAULT now64(9), position UInt32
    ) ENGINE = ReplacingMergeTree ORDER BY (chain_high, chain_low, continues_high, continues_low)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
];

/// Tables whose parts are deleted by age.
const AGING: [&str; 9] = [
    "transactions",
    "unusual_rows",
    "sealed_minutes",
    "linked_rows",
    "foreign_chains",
    "sketches",
    "chain_links",
    "durations",
    "path_extents",
];

/// Makes one shard's tables, or brings them up to date.
pub(crate) fn prepare(
    node: &Node,
    shard: usize,
    shards: usize,
    url: &Url,
    options: &TableOptions,
) -> Result<(), ClickHouseError> {
    // The database that is spoken to need not be there yet.
    node.execute_in("default", &[], &format!("CREATE DATABASE IF NOT EXISTS {}", url.database))?;
    node.execute(
        &[],
        "CREATE TABLE IF NOT EXISTS versions (
            version UInt32, shard UInt32, shards UInt32, at DateTime DEFAULT now()
        ) ENGINE = MergeTree ORDER BY version
        SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
    )?;
    let wrong = |reason| ClickHouseError::Tables { node: node.name.clone(), reason };
    let known = node.execute(&[], "SELECT max(version), max(shard), max(shards) FROM versions")?;
    let known: Vec<u32> = known.split('\t').map_while(|text| text.parse().ok()).collect();
    let [version, its_shard, its_shards] = known[..] else {
        return Err(wrong(format!("versions says {known:?}")));
    };
    if version > VERSION {
        return Err(wrong(format!(
            "its tables are of version {version}, this program knows up to {VERSION}: use a newer one"
        )));
    }
    if version > 0 && (its_shard as usize, its_shards as usize) != (shard, shards) {
        return Err(wrong(format!(
            "its database {} is shard {its_shard} of {its_shards}, and the URL makes it shard \
             {shard} of {shards}: give all shards, in their order",
            url.database
        )));
    }
    let note = |version: u32| {
        let columns = "version, shard, shards";
        let sql = format!("INSERT INTO versions ({columns}) VALUES ({version}, {shard}, {shards})");
        node.execute(&[], &sql)
    };
    if version == 0 {
        // The tables are made by this program or a later one: they had every table before any row.
        note(FROM_THE_START)?;
    }
    for (version, statements) in (1u32..).zip(MIGRATIONS).skip(version as usize) {
        for statement in statements {
            node.execute(&[], statement)?;
        }
        note(version)?;
    }
    for table in AGING {
        let cold_days = url.cold_days.filter(|_| table == "transactions");
        if let Some(expression) = ages(cold_days, options.keep) {
            let alter = format!("ALTER TABLE {table} MODIFY TTL {expression}");
            node.execute(&[("materialize_ttl_after_modify", "0")], &alter)?;
        }
    }
    if let Some(cluster) = &url.cluster {
        let database = &url.database;
        for table in ["transactions", "sketches"] {
            let sql = format!(
                "CREATE TABLE IF NOT EXISTS {table}_all AS {table} \
                 ENGINE = Distributed({cluster}, {database}, {table})"
            );
            node.execute(&[], &sql)?;
        }
    }
    Ok(())
}

/// The ages at which rows go to the volume `cold`, and are deleted; `None` leaves what the table
/// has.
fn ages(cold_days: Option<u32>, keep: Option<Duration>) -> Option<String> {
    // ClickHouse's instants end in 2106, and have none before 1970.
    let at = "toDateTime(least(greatest(minute, 0), 71000000) * 60)";
    let cold = cold_days.map(|days| format!("{at} + toIntervalDay({days}) TO VOLUME 'cold'"));
    let keep = keep.map(|keep| format!("{at} + toIntervalSecond({})", keep.as_secs().max(1)));
    let ages: Vec<String> = cold.into_iter().chain(keep).collect();
    (!ages.is_empty()).then(|| ages.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::schema::{column, transactions};

    /// Names of the columns that the migrations give to the table of transactions, in their order.
    fn table_columns() -> Vec<&'static str> {
        let made = FIRST[0].lines().skip(1).map(str::trim);
        let made = made.take_while(|line| !line.starts_with("INDEX"));
        let added = EXTRAS[0].lines().map(str::trim);
        let added = added.filter_map(|line| line.strip_prefix("ADD COLUMN IF NOT EXISTS "));
        made.chain(added).filter_map(|line| line.split(' ').next()).collect()
    }

    #[test]
    fn losses_are_known_from_the_start_or_since_their_table() {
        assert_eq!(losses_since_ns("0\t1795219200"), Some(i64::MIN));
        assert_eq!(losses_since_ns("1\t1795219200\n"), Some(1_795_219_201_000_000_000));
        assert_eq!(losses_since_ns("nonsense"), None);
    }

    #[test]
    fn ages_are_given_or_left_alone() {
        assert_eq!(ages(None, None), None);
        let both = ages(Some(7), Some(Duration::from_secs(30))).unwrap();
        assert!(both.contains("toIntervalDay(7) TO VOLUME 'cold', to"), "{both}");
        assert!(both.ends_with("+ toIntervalSecond(30)"), "{both}");
    }

    /// The texts of migrations are literal: a column that is added to the schema needs one.
    #[test]
    fn the_table_has_the_columns_of_the_schema() {
        let schema = transactions();
        let stored = schema.fields().iter().map(|field| field.name().as_str());
        let stored = stored.filter(|name| *name != column::LINKS);
        let expected: Vec<&str> = ["minute", "top"].into_iter().chain(stored).collect();
        assert_eq!(table_columns(), expected);
    }
}
