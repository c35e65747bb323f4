//! The collectors before a cluster, and the heartbeats by which they know each other.

use super::inserts::PLAIN;
use crate::Cluster;
use crate::error::ClickHouseError;
use crate::insert::escaped;
use crate::rows::ResultRows;
use arrow_array::types::{UInt8Type, UInt32Type};

/// A collector as its last heartbeat tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectorRow {
    /// Its number, which it drew at random when it began.
    pub id: u64,
    /// Number of the heartbeat, ascending.
    pub beat: u64,
    /// Beginning of its uninterrupted heartbeats: UTC by the first shard's clock, in nanoseconds
    /// since 1970.
    pub since_ns: i64,
    /// When it was started, by its own clock, likewise.
    pub started_ns: i64,
    /// Its host.
    pub host: String,
    /// Its process there.
    pub pid: u32,
    /// Program and version.
    pub program: String,
    /// Where it listens, as a URL.
    pub address: String,
    /// Number of its rules; only a collector with rules notifies.
    pub rules: u64,
    /// Whether spans of OpenTelemetry have come to it.
    pub has_spans: bool,
    /// Number of what it published last; 0 before that.
    pub round: u64,
    /// Time since the heartbeat, by the first shard's clock, in nanoseconds; negative when that was
    /// set back. Not part of what is written.
    pub age_ns: i64,
}

impl Cluster {
    /// Time of the first shard's clock: UTC, nanoseconds since 1970.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn shard_time_ns(&self) -> Result<i64, ClickHouseError> {
        let node = self.first();
        let text = node.execute(&[], "SELECT toUnixTimestamp64Nano(now64(9, 'UTC'))")?;
        text.parse().map_err(|_| node.unexpected_column("now64"))
    }

    /// Writes a collector's heartbeat.
    ///
    /// # Errors
    /// [`ClickHouseError`]; it may have been written.
    pub fn beat(&self, row: &CollectorRow) -> Result<(), ClickHouseError> {
        let CollectorRow { id, beat, since_ns, started_ns, pid, rules, round, .. } = row;
        let (host, program) = (escaped(&row.host), escaped(&row.program));
        let (address, spans) = (escaped(&row.address), u8::from(row.has_spans));
        let line = format!(
            "{id}\t{beat}\t{since_ns}\t{started_ns}\t{host}\t{pid}\t{program}\t{address}\t{rules}\t\
             {spans}\t{round}\n"
        );
        let sql = "INSERT INTO collectors (id, beat, since_ns, started_ns, host, pid, program, \
                   address, rules, spans, round) FORMAT TSV";
        self.first().insert(&PLAIN, sql, line.as_bytes())
    }

    /// The collectors of the last day, by their numbers.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn collectors(&self) -> Result<Vec<CollectorRow>, ClickHouseError> {
        let node = self.first();
        let sql = "SELECT id, beat, since_ns, started_ns, host, pid, program, address, rules, spans, \
                   round, toUnixTimestamp64Nano(now64(9, 'UTC')) - toUnixTimestamp64Nano(at) AS age \
                   FROM collectors FINAL ORDER BY id SETTINGS select_sequential_consistency = 1";
        let mut seen = Vec::new();
        node.query(sql, |batch| {
            let rows = ResultRows { node, batch };
            for row in 0..batch.num_rows() {
                let text =
                    |name: &str| Ok::<_, ClickHouseError>(rows.texts(name)?.value(row).to_owned());
                seen.push(CollectorRow {
                    id: rows.ids("id")?[row],
                    beat: rows.ids("beat")?[row],
                    since_ns: rows.times("since_ns")?[row],
                    started_ns: rows.times("started_ns")?[row],
                    host: text("host")?,
                    pid: rows.numbers::<UInt32Type>("pid")?[row],
                    program: text("program")?,
                    address: text("address")?,
                    rules: rows.ids("rules")?[row],
                    has_spans: rows.numbers::<UInt8Type>("spans")?[row] != 0,
                    round: rows.ids("round")?[row],
                    age_ns: rows.times("age")?[row],
                });
            }
            Ok(())
        })?;
        Ok(seen)
    }
}
