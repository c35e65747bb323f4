//! The table of sketches, of version 6.

/// Statements that add the table, and the number of rows by minute.
pub(crate) const SKETCHES: &[&str] = &[
    // Rows of each minute: all, foreign ones, those with further parents. Kept by the servers with every
    // part, so that it is exact whatever is inserted, merged, deleted or copied. Parts of before are
    // counted row by row. The text is that of the questions (query, `row_counts`), by which servers
    // recognise it.
    "ALTER TABLE transactions ADD PROJECTION IF NOT EXISTS minute_rows
        (SELECT minute, count(), countIf(bitAnd(flags, 4) != 0), countIf(bitAnd(flags, 32) != 0)
        GROUP BY minute)",
    // The columns of sketch files (docs/formats/segment.md), and in front of them the minute, the root's
    // class, whether the rows are foreign, and the version. The version that was made last holds
    // for its minute, where it counted as many rows as the minute has. Merges remove older ones.
    "CREATE TABLE IF NOT EXISTS sketches (
        minute Int64 CODEC(Delta, ZSTD),
        version UInt64 CODEC(Delta, ZSTD),
        top LowCardinality(String) CODEC(ZSTD),
        application LowCardinality(String) CODEC(ZSTD),
        class LowCardinality(String) CODEC(ZSTD),
        path LowCardinality(String) CODEC(ZSTD),
        foreign_row UInt8 CODEC(ZSTD),
        cpu_ns UInt128 CODEC(ZSTD),
        cpu_known UInt64 CODEC(ZSTD),
        not_good UInt64 CODEC(ZSTD),
        before_root UInt64 CODEC(ZSTD),
        roots UInt64 CODEC(ZSTD),
        elapsed_count UInt64 CODEC(ZSTD),
        elapsed_sum UInt128 CODEC(ZSTD),
        elapsed_squares Float64 CODEC(ZSTD),
        elapsed_min UInt64 CODEC(ZSTD),
        elapsed_max UInt64 CODEC(ZSTD),
        elapsed_buckets Array(UInt16) CODEC(ZSTD),
        elapsed_counts Array(UInt64) CODEC(ZSTD),
        since_root_count UInt64 CODEC(ZSTD),
        since_root_sum UInt128 CODEC(ZSTD),
        since_root_squares Float64 CODEC(ZSTD),
        since_root_min UInt64 CODEC(ZSTD),
        since_root_max UInt64 CODEC(ZSTD),
        since_root_buckets Array(UInt16) CODEC(ZSTD),
        since_root_counts Array(UInt64) CODEC(ZSTD)
    ) ENGINE = ReplacingMergeTree(version)
    PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
    ORDER BY (minute, top, path, application, class, foreign_row)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1",
];
