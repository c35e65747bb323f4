//! Summary of a recording, in words and as JSON.

use super::Parts;
use crate::text::count;
use chronoscope_replay::recorder::{Recorded, RelayCounts};
use serde_json::{Value, json};
use std::path::Path;

/// Packets that the kernel dropped before anybody saw them.
fn kernel_dropped(parts: &Parts) -> u64 {
    let captured: u64 = parts.captures.values().map(|sniffed| sniffed.kernel_dropped_count).sum();
    captured + parts.relay.as_ref().map_or(0, |passed| passed.kernel_dropped_count)
}

/// Whether something that arrived is not in the recording.
pub(super) fn is_incomplete(recorded: &Recorded, parts: &Parts) -> bool {
    recorded.lost_count() + kernel_dropped(parts) > 0
}

/// Progress in one line.
pub(super) fn line(recorded: &Recorded, parts: &Parts) -> String {
    let mut line = format!(
        "{} inputs, {} recorded in {} files ({:.1} MB), {} durable",
        count(recorded.arrived_count),
        count(recorded.written_count),
        count(recorded.file_count),
        recorded.written_bytes as f64 / 1e6,
        count(recorded.durable_count),
    );
    if let Some(passed) = &parts.relay {
        line += &format!(
            "; passed on {} datagrams, {} connections ({} open, {:.1} MB)",
            count(passed.datagram_count - passed.undelivered_count.min(passed.datagram_count)),
            count(passed.connection_count),
            count(passed.open_count),
            passed.inward_bytes as f64 / 1e6
        );
    }
    if recorded.removed_count > 0 {
        line += &format!("; {} old files removed", count(recorded.removed_count));
    }
    let lost = recorded.lost_count() + kernel_dropped(parts);
    if lost > 0 {
        line += &format!("; {} NOT RECORDED", count(lost));
    }
    line
}

/// Missing input with its cause, a line each.
pub(super) fn troubles(recorded: &Recorded, parts: &Parts) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |n: u64, what: &str| {
        if n > 0 {
            lines.push(format!("{} {what}", count(n)));
        }
    };
    say(kernel_dropped(parts), "packets were dropped by the kernel: they came too fast");
    say(recorded.overrun_count, "inputs were not recorded: the disk is too slow (--queue)");
    say(recorded.refused_count, "inputs were not recorded: the disk refused them");
    say(recorded.doubtful_count, "recorded inputs may not be durable: the disk could not say so");
    if let Some(passed) = &parts.relay {
        say(passed.undelivered_count, "datagrams could not be passed on");
        say(passed.refused_count, "connections were not accepted by the system");
        if let Some(error) = &passed.last_error {
            lines.push(format!("the last of these: {error}"));
        }
    }
    for trouble in &recorded.troubles {
        lines.push(format!(
            "the disk refused {} inputs: {}",
            count(trouble.lost_count),
            trouble.reason
        ));
    }
    for (name, imported) in &parts.imports {
        if let Some(position) = imported.torn_at {
            lines.push(format!(
                "{name}: ends within the block at octet {position}; the {} packets before it are \
                 imported",
                count(imported.packet_count)
            ));
        }
    }
    if let Some(error) = &recorded.keep_error {
        lines.push(format!("old files could not be removed: {error}"));
    }
    lines
}

/// The summary.
pub(super) fn json(folder: &Path, recorded: &Recorded, parts: &Parts) -> Value {
    let troubles = each(&recorded.troubles, |trouble| {
        json!({
            "since_ns": trouble.since_ns,
            "until_ns": trouble.until_ns,
            "reason": trouble.reason,
            "lost": trouble.lost_count,
        })
    });
    let captures = each(
        &parts.captures,
        |(name, sniffed)| json!({ "interface": name, "packets": sniffed.packet_count }),
    );
    let sources = each(&parts.sources, |(name, read)| {
        json!({
            "channel": name,
            "inputs": read.input_count,
            "bytes": read.bytes,
            "restarts": read.restart_count,
        })
    });
    let imports = each(&parts.imports, |(name, imported)| {
        json!({
            "file": name,
            "packets": imported.packet_count,
            "torn_at": imported.torn_at,
            "skipped_blocks": imported.skipped_count,
        })
    });
    json!({
        "folder": folder.display().to_string(),
        "arrived": recorded.arrived_count,
        "arrived_bytes": recorded.arrived_bytes,
        "written": recorded.written_count,
        "written_bytes": recorded.written_bytes,
        "durable": recorded.durable_count,
        "kernel_dropped": kernel_dropped(parts),
        "overrun": recorded.overrun_count,
        "refused_by_disk": recorded.refused_count,
        "doubtful": recorded.doubtful_count,
        "files": recorded.file_count,
        "removed_files": recorded.removed_count,
        "troubles": troubles,
        "relay": parts.relay.as_ref().map(relay_json),
        "captures": captures,
        "sources": sources,
        "imports": imports,
    })
}

fn each<T>(all: impl IntoIterator<Item = T>, json: impl Fn(T) -> Value) -> Vec<Value> {
    all.into_iter().map(json).collect()
}

fn relay_json(passed: &RelayCounts) -> Value {
    json!({
        "datagrams": passed.datagram_count,
        "undelivered": passed.undelivered_count,
        "answers": passed.answer_count,
        "connections": passed.connection_count,
        "refused": passed.refused_count,
        "inward_bytes": passed.inward_bytes,
        "outward_bytes": passed.outward_bytes,
        "last_error": passed.last_error,
    })
}
