//! Status of a collector, for its caller and in the file `status.json`.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Version of the file's form. Fields are only ever added.
const VERSION: u32 = 1;

/// Status of a collector. Counts are since its start, unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Version of this form.
    pub version: u32,
    /// The collector's process number.
    pub pid: u32,
    /// Whether the collector runs; its last status has `false`.
    pub running: bool,
    /// Time of the status: UTC, nanoseconds since 1970.
    pub at_ns: i64,
    /// When it started: UTC, nanoseconds since 1970.
    pub started_ns: i64,
    /// Rows taken out of rings.
    pub rows: u64,
    /// Rows a second, over the last second or so.
    pub rows_per_second: f64,
    /// Rows in the store's log ever, and how many of them survive anything.
    pub stored_rows: u64,
    /// See [`Self::stored_rows`].
    pub durable_rows: u64,
    /// Rows that were lost, over the store's whole life, by all processes.
    pub lost_rows: u64,
    /// Rows of the log that could not be read back, over the store's whole life.
    pub damaged_rows: u64,
    /// Rows that came after their minute had been sealed, over the store's whole life.
    pub late_rows: u64,
    /// Rows deleted for their age or for space.
    pub expired_rows: u64,
    /// Rows sealed into segments.
    pub sealed_rows: u64,
    /// Rows that wait for being sealed, and the bytes of memory they take.
    pub unsealed_rows: u64,
    /// See [`Self::unsealed_rows`].
    pub unsealed_bytes: u64,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Bytes that are free on the store's disk; `None` when the system does not tell.
    pub disk_free_bytes: Option<u64>,
    /// Whether rows are refused for now: disk full, log failed or sealing behind. Rings are not
    /// read meanwhile, and count what they overwrite.
    pub refused: bool,
    /// The last error, until the operation succeeds again.
    pub error: Option<String>,
    /// The last reading of the whole store.
    pub scrub: ScrubStatus,
    /// The processes whose rings are there, and those that lost rows.
    pub processes: Vec<ProcessStatus>,
    /// Rings that wait for being opened: no more may be open at once under the limit of open
    /// files. They follow as others are read to their ends.
    pub waiting_rings: u64,
    /// Rings in which damage was found since the start: each has lost rows, of unknown number.
    pub damaged_rings: u64,
    /// Rings that cannot be read, or not to their ends; or the folder of the rings.
    pub failed_rings: Vec<FailedRing>,
    /// Agents that have delivered here since the start.
    pub agents: Vec<AgentStatus>,
    /// State of an agent's delivery; `None` where rows stay on this host.
    pub delivery: Option<DeliveryStatus>,
}

/// Result of the last reading of the whole store; a store is read once a week.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScrubStatus {
    /// When it ended: UTC, nanoseconds since 1970; `None` where the store was never read as a
    /// whole.
    pub ended_ns: Option<i64>,
    /// Segments that were read since the collector started.
    pub segments: u64,
    /// Bytes of them and of their sketches.
    pub bytes: u64,
    /// Segments without checksums among them.
    pub unverified_segments: u64,
    /// Files that are not what was written.
    pub damaged_files: u64,
    /// The remedy for damage, or the reason why the store could not be read.
    pub error: Option<String>,
}

/// An agent, as the collector sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentStatus {
    /// The id of its spool, in hexadecimal digits.
    pub id: String,
    /// Host name.
    pub host: String,
    /// Program and version of the agent.
    pub program: String,
    /// Whether the agent is connected.
    pub connected: bool,
    /// When its last connection ended: UTC, nanoseconds since 1970; `None` while it is connected.
    pub away_since_ns: Option<i64>,
    /// Whether it answers questions about the rings of its host; older agents do not.
    pub answers_rings: bool,
    /// When it was heard last: UTC, nanoseconds since 1970.
    pub heard_ns: i64,
    /// Rows that it sent since the collector started, those that were here already among them.
    pub rows: u64,
    /// Rows of its count below this number are here.
    pub next_row: u64,
    /// Rows of it that are of the class `(other)` since the collector started, because it brought
    /// in too many names.
    pub other_rows: u64,
    /// Rows that its numbers left out since the collector started and that it had not declared as
    /// dropped: a spool was damaged, or somebody else spoke under its name. They are lost rows.
    pub gap_rows: u64,
    /// Its host's clock minus the collector's, in nanoseconds, as measured last.
    pub clock_offset_ns: Option<i64>,
    /// Bound of the error of `clock_offset_ns`, in nanoseconds.
    pub clock_error_ns: Option<u64>,
}

/// State of an agent's delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveryStatus {
    /// The collector's URL.
    pub to: String,
    /// Whether the agent is connected and has received its welcome message.
    pub connected: bool,
    /// Connections that were welcomed since the start.
    pub connections: u64,
    /// Why the last try or connection ended; `None` while connected.
    pub error: Option<String>,
    /// Number of times since the start that the spool took a new number, because somebody else had
    /// delivered under the old one.
    pub renumbered: u64,
    /// Description of the last such event.
    pub notice: Option<String>,
    /// Rows below this number of the spool's count are durable at the collector.
    pub acknowledged_rows: u64,
    /// Rows that wait in the spool for being acknowledged.
    pub waiting_rows: u64,
    /// Rows that were dropped, oldest first, because the spool was full; over its whole life.
    pub dropped_rows: u64,
    /// Bytes of the spool's files.
    pub spool_bytes: u64,
    /// This host's clock minus the collector's, in nanoseconds, as measured last.
    pub clock_offset_ns: Option<i64>,
    /// Bound of the error of `clock_offset_ns`, in nanoseconds.
    pub clock_error_ns: Option<u64>,
}

/// One measured process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessStatus {
    /// Application name.
    pub application: String,
    /// Host name.
    pub host: String,
    /// Process number on that host.
    pub pid: u32,
    /// Whether the process runs.
    pub alive: bool,
    /// Rows taken out of its ring.
    pub rows: u64,
    /// Rows that it overwrote before they were read, ever.
    pub lost_rows: u64,
    /// Transactions that it did not record, ever, for want of space in its tables.
    pub unrecorded: u64,
    /// The last damage that was found in its ring; rows are lost with it, and unless it is a
    /// single slot nobody knows how many. `None` where the ring is whole.
    pub damage: Option<String>,
}

/// A ring that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedRing {
    /// Path of the ring file.
    pub path: PathBuf,
    /// Reason of the failure.
    pub reason: String,
}

impl Status {
    /// The status of a collector that begins.
    pub(crate) fn begin(now_ns: i64) -> Self {
        Self {
            version: VERSION,
            pid: std::process::id(),
            running: true,
            at_ns: now_ns,
            started_ns: now_ns,
            ..Self::default()
        }
    }

    /// Path of the status file of a store's collector.
    pub fn path(data_dir: &Path) -> PathBuf {
        data_dir.join("status.json")
    }

    /// Last status of the collector of the store in `data_dir`; `None` when there never was one.
    ///
    /// # Errors
    /// When the file cannot be read or is not what a collector writes.
    pub fn read(data_dir: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(Self::path(data_dir)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file. Readers see the old one or the new one; it need not survive a crash.
    pub(crate) fn write(&self, data_dir: &Path) -> io::Result<()> {
        let new = data_dir.join("status.json.part");
        std::fs::write(&new, serde_json::to_vec_pretty(self)?)?;
        std::fs::rename(new, Self::path(data_dir))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_reads_back_and_one_with_fewer_fields_too() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Status::read(dir.path()).unwrap(), None);
        let status = Status { rows: 5, error: Some("full".into()), ..Status::begin(7) };
        status.write(dir.path()).unwrap();
        assert_eq!(Status::read(dir.path()).unwrap(), Some(status));
        std::fs::write(Status::path(dir.path()), r#"{"rows":3,"later":1}"#).unwrap();
        assert_eq!(Status::read(dir.path()).unwrap().unwrap().rows, 3);
    }
}
