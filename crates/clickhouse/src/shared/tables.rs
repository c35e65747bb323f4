//! The tables of the collectors' common state, of version 4.

/// Statements that add the tables. They are made on every shard, as all tables are, and filled on
/// the first one.
pub(crate) const SHARED: &[&str] = &[
    // One row for each process of `serve`, replaced by each heartbeat. `since_ns`: beginning of its
    // uninterrupted heartbeats. `rules`: number of its rules. `round`: what it
    // published last in the three tables below. `at` is the server's time, so that collectors'
    // clocks need not agree.
    "CREATE TABLE IF NOT EXISTS collectors (
        id UInt64, beat UInt64, since_ns Int64, started_ns Int64, host String, pid UInt32,
        program String, address String, rules UInt64, spans UInt8, round UInt64,
        at DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
    ) ENGINE = ReplacingMergeTree(beat) ORDER BY id
    TTL toDateTime(at) + toIntervalDay(1)",
    "CREATE TABLE IF NOT EXISTS agents (
        collector UInt64, round UInt64, id String, host String, program String, connected UInt8,
        away_since_ns Nullable(Int64), answers_rings UInt8, heard_ns Int64, rows UInt64,
        next_row UInt64, other_rows UInt64, gap_rows UInt64, clock_offset_ns Nullable(Int64),
        clock_error_ns Nullable(UInt64), at DateTime DEFAULT now()
    ) ENGINE = MergeTree ORDER BY (collector, round)
    TTL at + toIntervalHour(1)",
    // The processes whose rings the agents read.
    "CREATE TABLE IF NOT EXISTS programs (
        collector UInt64, round UInt64, agent String, host String, application String, pid UInt32,
        alive UInt8, recorded UInt64, lost UInt64, open UInt64, at DateTime DEFAULT now()
    ) ENGINE = MergeTree ORDER BY (collector, round)
    TTL at + toIntervalHour(1)",
    // Open transactions by class.
    "CREATE TABLE IF NOT EXISTS open (
        collector UInt64, round UInt64, host String, application String, class String,
        count UInt64, oldest_start_ns Int64, at DateTime DEFAULT now()
    ) ENGINE = MergeTree ORDER BY (collector, round)
    TTL at + toIntervalHour(1)",
    // Rows that were lost between two instants by the clock of their host; `rows` is 0 where the
    // number is not known. The same interval again replaces what was said of it.
    "CREATE TABLE IF NOT EXISTS losses (
        process UInt64, application String, host String, pid UInt32, start_ns Int64,
        from_ns Int64, until_ns Int64, rows UInt64,
        minute Int64 MATERIALIZED intDiv(until_ns, 60000000000),
        at DateTime DEFAULT now()
    ) ENGINE = ReplacingMergeTree(at) ORDER BY (process, from_ns, until_ns)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
    // Rows that a process lost in all, those of `losses` among them.
    "CREATE TABLE IF NOT EXISTS lost (
        process UInt64, application String, host String, pid UInt32, start_ns Int64, rows UInt64,
        at DateTime DEFAULT now()
    ) ENGINE = ReplacingMergeTree(rows) ORDER BY process
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
    // Everything of a process that ended before `until_ns` (by the clock of its host) is in
    // `transactions`, or known to be lost.
    "CREATE TABLE IF NOT EXISTS deliveries (
        process UInt64, until_ns Int64, exports UInt8, at DateTime DEFAULT now()
    ) ENGINE = ReplacingMergeTree(until_ns) ORDER BY process
    TTL at + toIntervalDay(400)",
    // Readings of the hosts' clocks beside the clock of the first shard's server: the true offset is
    // within `offset_ns` ± `error_ns`.
    "CREATE TABLE IF NOT EXISTS clocks (
        host LowCardinality(String), at_ns Int64 CODEC(Delta, ZSTD), offset_ns Int64 CODEC(ZSTD),
        error_ns UInt64 CODEC(ZSTD)
    ) ENGINE = ReplacingMergeTree ORDER BY (host, at_ns)",
    // Ranges of time of which rows were deleted on request.
    "CREATE TABLE IF NOT EXISTS deletions (
        from_ns Int64, until_ns Int64, at_ns Int64, rows UInt64, by String
    ) ENGINE = MergeTree ORDER BY (from_ns, at_ns)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
    // Alarms: `kind` is transition (by its key), firing, acknowledged and silence (by the rule's
    // name), or pending (a notification); an empty value ends the entry. The last one counts.
    "CREATE TABLE IF NOT EXISTS alarms (
        kind LowCardinality(String), name String, value String, collector UInt64,
        written DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
    ) ENGINE = ReplacingMergeTree(written) ORDER BY (kind, name)
    TTL toDateTime(written) + toIntervalDay(30) WHERE kind = 'transition' OR value = ''
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
    // Marks (by their number) and named views, likewise.
    "CREATE TABLE IF NOT EXISTS annotations (
        kind LowCardinality(String), name String, value String, collector UInt64,
        written DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
    ) ENGINE = ReplacingMergeTree(written) ORDER BY (kind, name)
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
];
