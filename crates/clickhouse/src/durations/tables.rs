//! The tables of linked durations, of versions 8 and 9.

/// Statements that add the tables, and what else questions about leaves need to be aggregated at the
/// shards.
pub(crate) const DURATIONS: &[&str] = &[
    // The durations of a minute's native rows since their roots, path by path in the order of time:
    // what durations to leaves are made of, in some 6 bytes a row. `cell`: the minute and the version
    // under which it was linked, as words, so that a block of rows is compared with those that hold
    // by its dictionary.
    "CREATE TABLE IF NOT EXISTS durations (
        minute Int64 CODEC(Delta, LZ4),
        cell LowCardinality(String) CODEC(LZ4),
        top LowCardinality(String) CODEC(LZ4),
        path LowCardinality(String) CODEC(LZ4),
        root_start_ns Int64 CODEC(Delta, LZ4),
        duration_ns Int64 CODEC(T64, LZ4),
        host LowCardinality(String) CODEC(LZ4)
    ) ENGINE = MergeTree
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, cell, top, path, root_start_ns)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1",
    // How many there are of each path, and from when to when the roots of those started that are not
    // negative. `crossing`: those that begin and end on different hosts, or on unknown ones, whose
    // clocks matter.
    "CREATE TABLE IF NOT EXISTS path_extents (
        minute Int64 CODEC(Delta, LZ4),
        cell LowCardinality(String) CODEC(LZ4),
        top LowCardinality(String) CODEC(LZ4),
        path LowCardinality(String) CODEC(LZ4),
        rows UInt64 CODEC(T64, LZ4),
        negative UInt64 CODEC(T64, LZ4),
        first_ns Int64 CODEC(T64, LZ4),
        last_ns Int64 CODEC(T64, LZ4),
        longest_ns Int64 CODEC(T64, LZ4),
        crossing UInt64 CODEC(T64, LZ4)
    ) ENGINE = MergeTree
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, cell, top, path)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1",
    // Rows of a version in `durations`; 0 for minutes that were linked before there were any.
    "ALTER TABLE sealed_minutes ADD COLUMN IF NOT EXISTS durations UInt64",
];

/// What lets a picture's axis be known before its durations are read.
pub(crate) const SHORTEST: &[&str] = &[
    // The shortest duration that is not negative; -1 where it was not looked for: in minutes that
    // were linked before this column was there.
    "ALTER TABLE path_extents ADD COLUMN IF NOT EXISTS shortest_ns Int64 DEFAULT -1 CODEC(T64, LZ4)",
];
