//! What the programs really did, from the files that they write.

use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// One order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// The chain's root began within: UTC, nanoseconds.
    pub(crate) placed_ns: Range<i64>,
    /// Instants at which it was shipped: an order that is delivered again is shipped again. The
    /// span around it ends later.
    pub(crate) shipped_ns: Vec<i64>,
}

/// The orders that were placed, by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth(pub(crate) BTreeMap<u64, Order>);

impl Truth {
    /// Reads the files of a folder, which programs may be writing.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut truth = Self::default();
        let mut shipped: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            // The last line may not be written to its end.
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            for line in whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                let stamp = |key: &str| line[key].as_i64().unwrap();
                match line["placed"].as_u64() {
                    Some(number) => {
                        let placed_ns = stamp("from_ns")..stamp("until_ns");
                        truth.0.insert(number, Order { placed_ns, ..Order::default() });
                    }
                    None => {
                        let number = line["shipped"].as_u64().unwrap();
                        shipped.entry(number).or_default().push(stamp("at_ns"));
                    }
                }
            }
        }
        for (number, order) in &mut truth.0 {
            order.shipped_ns = shipped.remove(number).unwrap_or_default();
        }
        truth
    }

    /// Orders that were placed within a range. It must not cut through one.
    pub(crate) fn placed(&self, range: &Range<i64>) -> Vec<&Order> {
        let inside = |order: &&Order| {
            let within = range.contains(&order.placed_ns.start);
            assert_eq!(within, range.contains(&order.placed_ns.end), "{range:?} cuts {order:?}");
            within
        };
        self.0.values().filter(inside).collect()
    }

    /// How many were shipped.
    pub(crate) fn shipped(&self) -> usize {
        self.0.values().filter(|order| !order.shipped_ns.is_empty()).count()
    }
}
