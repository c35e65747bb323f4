-- The tables of one shard of a store, version 9, with copies. Run it on every server, before the
-- first writer starts (clickhouse client --multiquery <schema.sql); servers need Keeper and the macros
-- of config.d/cluster.xml. Where a shard has no copies, writers make the tables themselves.
CREATE DATABASE IF NOT EXISTS chronoscope;

CREATE TABLE IF NOT EXISTS chronoscope.transactions (
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
    arrival Nullable(DateTime64(9, 'UTC')) CODEC(ZSTD),
    run_queue_ns Nullable(Int64) CODEC(ZSTD),
    blocked_ns Nullable(Int64) CODEC(ZSTD),
    sampling_threshold Nullable(UInt64) CODEC(ZSTD),
    further_parents Array(Tuple(
        chain_high UInt64, chain_low UInt64, id UInt64,
        root_start Nullable(DateTime64(9, 'UTC')), root_process Nullable(UInt64),
        level Nullable(UInt16), path Nullable(UInt64))) CODEC(ZSTD),
    INDEX chain chain_low TYPE bloom_filter(0.01) GRANULARITY 1,
    PROJECTION minute_rows (
        SELECT minute, count(), countIf(bitAnd(flags, 4) != 0), countIf(bitAnd(flags, 32) != 0)
        GROUP BY minute)
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, top, root_start, chain_high, chain_low)
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

-- What chains say of their native rows, and chains whose rows belong to others.
CREATE TABLE IF NOT EXISTS chronoscope.unusual_rows (
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
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, version, path, root_start_ns)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS chronoscope.sealed_minutes (
    minute Int64, version UInt64, rows UInt64, unusual UInt64, at DateTime DEFAULT now(),
    durations UInt64
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, version)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS chronoscope.aliases (
    chain_high UInt64, chain_low UInt64, continues_high UInt64, continues_low UInt64,
    at DateTime64(9, 'UTC') DEFAULT now64(9), position UInt32
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY (chain_high, chain_low, continues_high, continues_low)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What the rows of whole chains with foreign rows say once they were put together.
CREATE TABLE IF NOT EXISTS chronoscope.linked_rows (
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
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, version, path, root_start_ns)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS chronoscope.foreign_chains (
    minute Int64 CODEC(Delta, ZSTD),
    version UInt64 CODEC(ZSTD),
    chain_high UInt64 CODEC(ZSTD),
    chain_low UInt64 CODEC(ZSTD),
    component_high UInt64 CODEC(ZSTD),
    component_low UInt64 CODEC(ZSTD),
    loose UInt8 CODEC(ZSTD)
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, version, chain_high, chain_low)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1;

-- Links of rows to further parents, with the component of the chains that links join.
CREATE TABLE IF NOT EXISTS chronoscope.chain_links (
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
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, version, chain_high, chain_low, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1;

-- Which version of a minute on a shard holds, filled on the first shard.
CREATE TABLE IF NOT EXISTS chronoscope.linkings (
    sequence UInt64, version UInt64, minute Int64, shard UInt32, rows UInt64,
    foreign_rows UInt64, linked UInt64, chains UInt64, aliases UInt64, aliases_until Int64,
    at DateTime DEFAULT now(), links UInt64 DEFAULT 0
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY (minute, shard, sequence)
SETTINGS replicated_deduplication_window = 10000,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- Counts and histograms of each minute by class and path.
CREATE TABLE IF NOT EXISTS chronoscope.sketches (
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
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version)
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, top, path, application, class, foreign_row)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1;

-- Native rows of linked minutes once more, for questions about leaves.
CREATE TABLE IF NOT EXISTS chronoscope.durations (
    minute Int64 CODEC(Delta, LZ4),
    cell LowCardinality(String) CODEC(LZ4),
    top LowCardinality(String) CODEC(LZ4),
    path LowCardinality(String) CODEC(LZ4),
    root_start_ns Int64 CODEC(Delta, LZ4),
    duration_ns Int64 CODEC(T64, LZ4),
    host LowCardinality(String) CODEC(LZ4)
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, cell, top, path, root_start_ns)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS chronoscope.path_extents (
    minute Int64 CODEC(Delta, LZ4),
    cell LowCardinality(String) CODEC(LZ4),
    top LowCardinality(String) CODEC(LZ4),
    path LowCardinality(String) CODEC(LZ4),
    rows UInt64 CODEC(T64, LZ4),
    negative UInt64 CODEC(T64, LZ4),
    first_ns Int64 CODEC(T64, LZ4),
    last_ns Int64 CODEC(T64, LZ4),
    longest_ns Int64 CODEC(T64, LZ4),
    crossing UInt64 CODEC(T64, LZ4),
    shortest_ns Int64 DEFAULT -1 CODEC(T64, LZ4)
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PARTITION BY toYYYYMMDD(toDateTime64(minute * 60, 0, 'UTC'))
ORDER BY (minute, cell, top, path)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1;

-- The collectors' common state, filled on the first shard.
CREATE TABLE IF NOT EXISTS chronoscope.collectors (
    id UInt64, beat UInt64, since_ns Int64, started_ns Int64, host String, pid UInt32,
    program String, address String, rules UInt64, spans UInt8, round UInt64,
    at DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', beat) ORDER BY id
TTL toDateTime(at) + toIntervalDay(1);

CREATE TABLE IF NOT EXISTS chronoscope.agents (
    collector UInt64, round UInt64, id String, host String, program String, connected UInt8,
    away_since_ns Nullable(Int64), answers_rings UInt8, heard_ns Int64, rows UInt64,
    next_row UInt64, other_rows UInt64, gap_rows UInt64, clock_offset_ns Nullable(Int64),
    clock_error_ns Nullable(UInt64), at DateTime DEFAULT now()
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY (collector, round)
TTL at + toIntervalHour(1);

CREATE TABLE IF NOT EXISTS chronoscope.programs (
    collector UInt64, round UInt64, agent String, host String, application String, pid UInt32,
    alive UInt8, recorded UInt64, lost UInt64, open UInt64, at DateTime DEFAULT now()
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY (collector, round)
TTL at + toIntervalHour(1);

CREATE TABLE IF NOT EXISTS chronoscope.open (
    collector UInt64, round UInt64, host String, application String, class String,
    count UInt64, oldest_start_ns Int64, at DateTime DEFAULT now()
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY (collector, round)
TTL at + toIntervalHour(1);

CREATE TABLE IF NOT EXISTS chronoscope.losses (
    process UInt64, application String, host String, pid UInt32, start_ns Int64,
    from_ns Int64, until_ns Int64, rows UInt64,
    minute Int64 MATERIALIZED intDiv(until_ns, 60000000000),
    at DateTime DEFAULT now()
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', at) ORDER BY (process, from_ns, until_ns)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.lost (
    process UInt64, application String, host String, pid UInt32, start_ns Int64, rows UInt64,
    at DateTime DEFAULT now()
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', rows) ORDER BY process
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.deliveries (
    process UInt64, until_ns Int64, exports UInt8, at DateTime DEFAULT now()
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', until_ns) ORDER BY process
TTL at + toIntervalDay(400);

CREATE TABLE IF NOT EXISTS chronoscope.clocks (
    host LowCardinality(String), at_ns Int64 CODEC(Delta, ZSTD), offset_ns Int64 CODEC(ZSTD),
    error_ns UInt64 CODEC(ZSTD)
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY (host, at_ns);

CREATE TABLE IF NOT EXISTS chronoscope.deletions (
    from_ns Int64, until_ns Int64, at_ns Int64, rows UInt64, by String
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY (from_ns, at_ns)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.alarms (
    kind LowCardinality(String), name String, value String, collector UInt64,
    written DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', written) ORDER BY (kind, name)
TTL toDateTime(written) + toIntervalDay(30) WHERE kind = 'transition' OR value = ''
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.annotations (
    kind LowCardinality(String), name String, value String, collector UInt64,
    written DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', written) ORDER BY (kind, name)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS chronoscope.versions (
    version UInt32, shard UInt32, shards UInt32, at DateTime DEFAULT now()
) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ORDER BY version
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
