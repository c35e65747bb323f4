//! Insertion into hash maps and trees, of 16,384 to 2,097,152 entries.

use std::collections::{BTreeMap, HashMap};

use super::Extent;
use super::table::{Table, timed};

/// The keys: every number once, in no order.
fn key(number: u64) -> u64 {
    let mixed = (number ^ number >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

pub(crate) fn run(extent: Extent, table: &mut Table) {
    table.section("insertion into an empty map, all entries (ns an entry)");
    let largest = if extent.quick { 17 } else { 21 };
    for power in 14..=largest {
        let count = 1_u64 << power;
        // Batches of about the same time.
        let batches = usize::try_from((1 << 22) / count).unwrap().clamp(3, 41);
        let hash = timed(batches, || {
            let mut map = HashMap::new();
            map.extend((0..count).map(|number| (key(number), number)));
            map.len() as u64
        });
        // The one figure of that column which can be read is its last.
        let document = (power == 21).then_some(145.91);
        table.row(&format!("hash map (std), {count} entries"), document, hash);
        let tree = timed(batches, || {
            let mut map = BTreeMap::new();
            for number in 0..count {
                map.insert(key(number), number);
            }
            map.len() as u64
        });
        table.row(&format!("tree (BTreeMap), {count} entries"), document, tree);
    }
    table.note("  (the document does not say which of its structures the column is of; of its other sizes\n   only 130.50 and 140.84 can be read, and not of which; batches: 41 to 3, by size)");
}
