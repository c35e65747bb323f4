//! Report: the measurements of a replay.

use crate::coordinator::{HeapUse, Outcome};
use crate::player::Delivered;
use crate::process::Usage;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Method of counting instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Count {
    /// Instructions are not counted.
    None,
    /// By the processor, where the machine has counters.
    #[default]
    Counters,
    /// By Callgrind: everywhere, exact, some fifty times slower.
    Callgrind,
}

/// A replay's result, complete or not. Version 1: fields are only added.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Version of this report.
    pub version: u32,
    /// The scenario's name.
    pub scenario: String,
    /// `serial` or `parallel`.
    pub mode: String,
    /// UTC at the beginning, ns since 1970.
    pub start_utc_ns: i64,
    /// Reason why it ended early; `None` for a complete replay.
    pub failure: Option<String>,
    /// Virtual time that passed, ns.
    pub virtual_ns: u64,
    /// Real time that passed, ns.
    pub real_ns: u64,
    /// Virtual by real time.
    pub factor: f64,
    /// Times that a process was granted the run.
    pub grants: u64,
    /// Times that the clock moved.
    pub moves: u64,
    /// Result of each input.
    pub inputs: Vec<Delivered>,
    /// CPU time of the coordinator and its player, ns.
    pub coordinator_cpu_ns: u64,
    /// Whether the replay had a network of its own.
    pub isolated: bool,
    /// Method of counting instructions.
    pub count: Count,
    /// All processes that took part, in the order of their start.
    pub processes: Vec<ProcessReport>,
    /// Every file that the programs wrote, standard output and error included.
    pub outputs: Vec<OutputReport>,
    /// Destination addresses that no process of the replay owns.
    pub strangers: Vec<String>,
    /// Further remarks.
    pub remarks: Vec<String>,
    /// Rows of the programs' recorders in a store, where they were collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<StoredReport>,
    /// The window, where one was asked for: then all figures are those of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowReport>,
    /// Real time for which it was paused, ns; not in `real_ns`.
    #[serde(default)]
    pub paused_ns: u64,
    /// Libraries that every process loaded besides the replay's own, as an allocator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preload: Vec<PathBuf>,
}

/// The window of a replay, and what came before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowReport {
    /// UTC at its begin, ns since 1970.
    pub from_utc_ns: i64,
    /// Virtual time of the lead-in, ns.
    pub lead_in_virtual_ns: u64,
    /// Real time of the lead-in, ns.
    pub lead_in_real_ns: u64,
    /// CPU time of all processes in the lead-in, ns, in hundredths of a second.
    pub lead_in_cpu_ns: u64,
    /// Times that a process was granted the run in the lead-in.
    pub lead_in_grants: u64,
}

impl WindowReport {
    /// A replay that ended before its window has a lead-in of nothing.
    pub(super) fn of(from_utc_ns: i64, outcome: &Outcome) -> Self {
        let lead_in = outcome.lead_in.unwrap_or_default();
        let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self {
            from_utc_ns,
            lead_in_virtual_ns: ns(lead_in.elapsed),
            lead_in_real_ns: ns(lead_in.real),
            lead_in_cpu_ns: ns(lead_in.cpu),
            lead_in_grants: lead_in.grants,
        }
    }
}

impl Report {
    /// Name of the file in the output folder.
    pub const FILE: &str = "report.json";
    /// Folder of the rings in the output folder.
    pub const RINGS: &str = "rings";

    /// Writes it into the output folder, over one that is there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, out: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        std::fs::write(out.join(Self::FILE), text + "\n")
    }
}

/// Number of recorded rows of a replay's processes, and of those that came into a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredReport {
    /// The store's folder.
    pub data: PathBuf,
    /// Transactions that are in it, durable.
    pub rows: u64,
    /// Transactions that were overwritten in their ring before they were read.
    pub lost_rows: u64,
    /// Transactions that a process did not record, for want of space in its tables.
    pub unrecorded: u64,
    /// Rings, one of each process that recorded.
    pub rings: usize,
    /// Rings that cannot be read, and why.
    pub unreadable: Vec<String>,
    /// Reason why the rings were not read completely into the store.
    pub error: Option<String>,
}

/// Report on one process of a replay.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ProcessReport {
    /// The scenario's name for it; of children their command line.
    pub name: String,
    /// Program of the process.
    pub program: String,
    /// Exit status; unknown for children.
    pub exit: Option<String>,
    /// Instructions in user mode, as counted.
    pub instructions: Option<u64>,
    /// Branches in user mode.
    pub branches: Option<u64>,
    /// Comparable instructions: less branches, which takes interrupts out, where the processor
    /// counted; without the preload library's own, where Callgrind did.
    pub corrected: Option<u64>,
    /// `counters`, `callgrind` or `none`.
    pub method: String,
    /// Resources that the kernel reports, children that it waited for included.
    pub usage: Usage,
    /// System calls that waited, moved octets, read time or might have.
    pub syscalls: u64,
    /// Waits of its threads.
    pub waits: u64,
    /// Threads that it ever had.
    pub threads: u64,
    /// Times that it was granted the run.
    pub grants: u64,
    /// Reads of the clock through libc; those of our own `clock` are loads and not counted.
    pub clock_reads: u64,
    /// Resident memory at the end, before the process was asked to end, octets; `None` when it had
    /// ended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes_end: Option<u64>,
    /// Its heap, where that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<HeapUse>,
}

impl ProcessReport {
    /// Number by which two replays are compared.
    #[must_use]
    pub fn comparable_instructions(&self) -> Option<u64> {
        self.corrected.or(self.instructions)
    }
}

/// A file that a program wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputReport {
    /// Path in the output folder.
    pub path: String,
    /// Size in octets.
    pub bytes: u64,
    /// SHA-256 of the content, hexadecimal.
    pub digest: String,
    /// Octets of it that were written before the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_in_bytes: Option<u64>,
    /// SHA-256 of the octets after those: of what was written in the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_digest: Option<String>,
}
