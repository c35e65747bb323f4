//! The table of fan-in links, and what `linkings` says of them.

/// The table's name.
pub(super) const CHAIN_LINKS: &str = "chain_links";

/// Statements that add them.
pub(crate) const LINKS: &[&str] = &[
    // Links of rows to further parents, of other chains as a rule: `id` in `chain` takes a message of
    // `of_id` in `of`. `minute`: of the row that has the link. All chains that links join, directly
    // or over others, have the same component, which is the id of one of them. A line on the shard
    // of the row's chain and, where that is another, on that of the further parent's.
    "CREATE TABLE IF NOT EXISTS chain_links (
        minute Int64 CODEC(Delta, ZSTD),
        version UInt64 CODEC(ZSTD),
        chain_high UInt64 CODEC(ZSTD),
        chain_low UInt64 CODEC(ZSTD),
        id UInt64 CODEC(ZSTD),
        of_high UInt64 CODEC(ZSTD),
        of_low UInt64 CODEC(ZSTD),
        of_id UInt64 CODEC(ZSTD),
        component_high UInt64 CODEC(ZSTD),
        component_low UInt64 CODEC(ZSTD)
    ) ENGINE = MergeTree
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, version, chain_high, chain_low, id)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1",
    // Rows with links when the minute was linked: minutes that were linked before are linked again.
    "ALTER TABLE linkings ADD COLUMN IF NOT EXISTS links UInt64 DEFAULT 0",
];
