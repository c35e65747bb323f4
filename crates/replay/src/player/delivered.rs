//! Result of an input: deliveries, what was left out of them, and the recordings that it came from.

use super::select::FeedKind;
use std::path::PathBuf;

/// Result of an input. With a window, counts of deliveries are those within it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Delivered {
    /// Name of the input.
    pub name: String,
    /// Purpose of the input.
    pub kind: FeedKind,
    /// Datagrams, and pieces, beginnings and ends of streams delivered.
    pub inputs: u64,
    /// Octets of them.
    pub bytes: u64,
    /// Recorded arrivals that could not be delivered: of the wrong transport, of a stream whose
    /// beginning is missing, or not accepted by any process.
    pub undelivered: u64,
    /// Octets of replies.
    pub answer_bytes: u64,
    /// Deliveries of the lead-in, before the window.
    #[serde(default)]
    pub lead_in_inputs: u64,
    /// Recorded arrivals before the part that is replayed; connections that were open then are
    /// opened when it begins.
    #[serde(default)]
    pub skipped: u64,
    /// Datagrams, connections or lines from which one of so many is delivered; 1: all.
    #[serde(default = "all")]
    pub one_of: u64,
    /// Datagrams, pieces, beginnings and ends of connections, or lines of the replayed part that were
    /// left out by that.
    #[serde(default)]
    pub thinned: u64,
    /// Recordings of the input in their order, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<RecordingReport>,
}

fn all() -> u64 {
    1
}

/// One of several recordings of an input. Times are of its selected arrivals that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RecordingReport {
    /// A file or folder.
    pub path: PathBuf,
    /// UTC of the first arrival, ns since 1970; `None` where nothing of it was read.
    pub first_utc_ns: Option<i64>,
    /// UTC of the last arrival that was read, ns since 1970.
    pub last_utc_ns: Option<i64>,
    /// Number of arrivals.
    pub arrivals: u64,
    /// Time without recording since the end of the one before, ns; the clock jumps over it.
    pub gap_ns: Option<u64>,
    /// Arrivals from before the end of the recording before: delivered when that one has ended.
    pub overlapping: u64,
}
