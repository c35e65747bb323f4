//! The tables of linked foreign chains, of version 5.

/// Statements that add the tables. `linked_rows` and `foreign_chains` are filled on the shards that
/// have the chains' rows, `linkings` on the first one.
pub(crate) const LINKED: &[&str] = &[
    // Rows of whole chains that have foreign rows, with what their chains say of them, as native
    // rows say it of themselves. `minute`: of the root's start. `links` as in segments, and 128
    // where the row's own correlator told no ancestors. All rows of a component (a chain with those
    // that continue it) stand on the shard that the component's id belongs to.
    "CREATE TABLE IF NOT EXISTS linked_rows (
        minute Int64 CODEC(Delta, ZSTD),
        version UInt64 CODEC(ZSTD),
        path LowCardinality(String) CODEC(ZSTD),
        root_start_ns Int64 CODEC(Delta, ZSTD),
        start_ns Int64 CODEC(Delta, ZSTD),
        elapsed_ns Int64 CODEC(ZSTD),
        links UInt8 CODEC(ZSTD),
        host LowCardinality(String) CODEC(ZSTD),
        root_host LowCardinality(String) CODEC(ZSTD),
        component_high UInt64 CODEC(ZSTD),
        component_low UInt64 CODEC(ZSTD)
    ) ENGINE = MergeTree
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, version, path, root_start_ns)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1",
    // The chains among them that need more than that: those that have native rows too, those that
    // belong to a component with others, and those that are not whole (`loose`): their rows are in
    // no `linked_rows`. A line for each minute in which the component has rows, on the shard of the
    // chain and on that of the component.
    "CREATE TABLE IF NOT EXISTS foreign_chains (
        minute Int64 CODEC(Delta, ZSTD),
        version UInt64 CODEC(ZSTD),
        chain_high UInt64 CODEC(ZSTD),
        chain_low UInt64 CODEC(ZSTD),
        component_high UInt64 CODEC(ZSTD),
        component_low UInt64 CODEC(ZSTD),
        loose UInt8 CODEC(ZSTD)
    ) ENGINE = MergeTree
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, version, chain_high, chain_low)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1",
    // Which version of a minute on a shard holds. All lines of a linking are one insert, whose
    // deduplication token is its number: of two that would follow the same one the server takes one.
    "CREATE TABLE IF NOT EXISTS linkings (
        sequence UInt64, version UInt64, minute Int64, shard UInt32, rows UInt64,
        foreign_rows UInt64, linked UInt64, chains UInt64, aliases UInt64, aliases_until Int64,
        at DateTime DEFAULT now()
    ) ENGINE = MergeTree ORDER BY (minute, shard, sequence)
    SETTINGS non_replicated_deduplication_window = 10000,
        fsync_after_insert = 1, fsync_part_directory = 1",
];
