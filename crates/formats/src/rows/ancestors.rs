//! Path, level and root of rows that do not say them, from their ancestors.

use chronoscope_model::{ChainId, Flags, Names, PathId, ProcessId, Record, TransactionId};
use std::collections::{HashMap, HashSet};

/// Deepest level that is computed. Each level's path is stored, so that the size grows with the
/// square of a chain's depth.
const LEVELS_MAX: u16 = 256;

/// Completes the rows numbered `incomplete`; rows without all their ancestors become foreign.
pub(super) fn complete(records: &mut [Record], incomplete: &[usize], names: &mut Names) {
    if incomplete.is_empty() {
        return;
    }
    let chains: HashSet<ChainId> = incomplete.iter().map(|row| records[*row].chain()).collect();
    let by_id: HashMap<(ChainId, TransactionId), usize> = records
        .iter()
        .enumerate()
        .filter(|(_, record)| chains.contains(&record.chain()))
        .map(|(row, record)| ((record.chain(), record.id), row))
        .collect();
    let mut waiting: HashSet<usize> = incomplete.iter().copied().collect();
    let mut way = Vec::new();
    for row in incomplete {
        // Up to the first ancestor that is complete, or missing; then down again.
        let mut at = *row;
        let mut parent = None;
        while waiting.remove(&at) {
            way.push(at);
            let record = &records[at];
            parent = by_id.get(&(record.chain(), record.parent)).copied();
            match parent {
                Some(above) if !record.parent.is_none() => at = above,
                _ => break,
            }
        }
        // A row that is on the way itself closes a circle, and is nobody's ancestor.
        let mut above = parent.filter(|above| !way.contains(above));
        while let Some(row) = way.pop() {
            let from = above.map(|above| records[above]);
            finish(&mut records[row], from.as_ref(), names);
            above = Some(row);
        }
    }
}

fn finish(record: &mut Record, parent: Option<&Record>, names: &mut Names) {
    let is_root = record.parent.is_none();
    match parent {
        _ if is_root => {
            record.path = PathId::root(record.class);
            names.add_path(record.path, vec![record.class]);
            record.level = 0;
            record.root_start_ns = record.start_ns;
            record.root_process = record.process;
        }
        Some(parent) if !parent.flags().contains(Flags::FOREIGN) && parent.level < LEVELS_MAX => {
            record.path = parent.path.child(record.class);
            if let Some(classes) = names.path(parent.path) {
                let classes = classes.iter().copied().chain([record.class]).collect();
                names.add_path(record.path, classes);
            }
            record.level = parent.level + 1;
            record.root_start_ns = parent.root_start_ns;
            record.root_process = parent.root_process;
        }
        _ => {
            record.flags |= Flags::FOREIGN.0;
            record.path = PathId::NONE;
            record.root_start_ns = record.start_ns;
            record.root_process = ProcessId::NONE;
        }
    }
}
