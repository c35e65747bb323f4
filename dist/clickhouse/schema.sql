-- The tables of one shard of a store, version 2, with copies. Run it on every server, before the
-- first writer starts (clickhouse client --multiquery <schema.sql); servers need Keeper and the macros
-- of config.d/cluster.xml. Where a shard has no copies, writers make the tables themselves.
CREATE DATABASE IF NOT EXISTS chronoscope;

CREATE TABLE IF NOT EXISTS chronoscope.transactions (
    minute Int64 CODEC(Delta, ZSTD),
    top LowCardinality(String) CODEC(ZSTD),
    application LowCardinality(String) CODEC(ZSTD),
    class LowCardinality(String) CODEC(ZSTD),
    host LowCardinality(String) CODEC(ZSTD),
    process UInt32 CODEC(ZSTD),
    thread UInt32 CODEC(ZSTD),
    start DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    elapsed_ns Int64 CODEC(ZSTD),
    cpu_ns Int64 CODEC(ZSTD),
    process_cpu_ns Nullable(Int64) CODEC(ZSTD),
    status LowCardinality(String) CODEC(ZSTD),
    id UInt64 CODEC(ZSTD),
    parent UInt64 CODEC(ZSTD),
    chain_high UInt64 CODEC(ZSTD),
    chain_low UInt64 CODEC(ZSTD),
    flags UInt8 CODEC(ZSTD),
    level UInt16 CODEC(ZSTD),
    path LowCardinality(String) CODEC(ZSTD),
    root_application LowCardinality(Nullable(String)) CODEC(ZSTD),
    root_class LowCardinality(Nullable(String)) CODEC(ZSTD),
    root_start DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    root_host LowCardinality(Nullable(String)) CODEC(ZSTD),
    root_process UInt32 CODEC(ZSTD),
    properties Map(LowCardinality(String), String) CODEC(ZSTD),
    metrics Map(LowCardinality(String), Float64) CODEC(ZSTD),
    arrival Nullable(DateTime64(9, 'UTC')) CODEC(ZSTD),
    run_queue_ns Nullable(Int64) CODEC(ZSTD),
    blocked_ns Nullable(Int64) CODEC(ZSTD),
    sampling_threshold Nullable(UInt64) CODEC(ZSTD),
    further_parents Array(Tuple(
        chain_high UInt64, chain_low UInt64, id UInt64,
        root_start Nullable(DateTime64(9, 'UTC')), root_process Nullable(UInt64),
        level Nullable(UInt16), path Nullable(UInt64))) CODEC(ZSTD),
    INDEX chain chain_low TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, top, chain_high, chain_low)
SETTINGS replicated_deduplication_window = 10000,
    fsync_after_insert = 1, fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS chronoscope.classes (
    id UInt64, application String, class String
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.paths (
    id UInt64, path String, classes Array(UInt64)
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY (id, path)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.processes (
    id UInt64, application String, host String, pid UInt32, start_ns Int64
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.streams (
    stream UInt128, end_row UInt64
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', end_row) ORDER BY stream
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.versions (
    version UInt32, shard UInt32, shards UInt32, at DateTime DEFAULT now()
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY version
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
