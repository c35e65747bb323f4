//! Import of captures made by other programs.

use super::log::{Log, LogEntry};
use crate::capture::{CaptureError, CaptureReader};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reasons why a capture could not be imported, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file is damaged, or not a capture. Packets before the damage are kept.
    #[error("after {packets} packets, which are kept: {source}")]
    Capture {
        /// Packets before the damage.
        packets: u64,
        /// Fault and its position.
        source: CaptureError,
    },
}

/// Result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Packets, with their own times.
    pub packet_count: u64,
    /// Begin of the torn last block, if the writer was killed.
    pub torn_at: Option<u64>,
    /// Blocks that say nothing about packets; they are not kept.
    pub skipped_count: u64,
}

/// Reads a capture (pcapng, or pcap of micro- or nanoseconds) and writes its packets as they are,
/// with their own times, into the folder's files. A capture whose writer was killed is taken as far
/// as it is whole. Stops early when `stop` is set.
///
/// # Errors
/// [`ImportError`] when the capture is damaged.
pub fn import(
    input: impl io::Read,
    log: &Log,
    stop: &AtomicBool,
    mut each: impl FnMut(Imported),
) -> Result<Imported, ImportError> {
    let mut imported = Imported::default();
    let fail = |packets, source| ImportError::Capture { packets, source };
    let mut reader = CaptureReader::new(input).map_err(|source| fail(0, source))?;
    for packet in reader.by_ref() {
        let packet = match packet {
            Ok(packet) => packet,
            Err(CaptureError::Truncated { position }) => {
                imported.torn_at = Some(position);
                break;
            }
            Err(source) => return Err(fail(imported.packet_count, source)),
        };
        log.push_patiently(LogEntry::Packet {
            at_ns: packet.at_ns,
            link: packet.link,
            original_bytes: packet.original_bytes,
            octets: packet.octets,
        });
        imported.packet_count += 1;
        if imported.packet_count.is_multiple_of(8192) {
            each(imported);
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
    }
    imported.skipped_count = reader.skipped_count;
    Ok(imported)
}
