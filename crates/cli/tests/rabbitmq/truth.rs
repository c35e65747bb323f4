//! What the programs really did, from the files that they write.

use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;

/// One order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// The chain's root began within: UTC, nanoseconds.
    pub(crate) placed_ns: Range<i64>,
    /// When the last program that it needs had shipped it. The span around that ends later.
    pub(crate) shipped_ns: Option<i64>,
}

/// The orders that were placed, by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth(pub(crate) BTreeMap<u64, Order>);

impl Truth {
    /// Reads the files of a folder, which programs may be writing: one of each. An order is
    /// shipped when so many of them have shipped it. What is delivered again is shipped again;
    /// the first time counts.
    pub(crate) fn read(folder: &Path, programs: usize) -> Self {
        let mut truth = Self::default();
        let mut shipped: BTreeMap<u64, BTreeMap<OsString, i64>> = BTreeMap::new();
        for file in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let text = std::fs::read_to_string(file.path()).unwrap();
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
                        let programs = shipped.entry(number).or_default();
                        programs.entry(file.file_name()).or_insert(stamp("at_ns"));
                    }
                }
            }
        }
        for (number, order) in &mut truth.0 {
            let by_program = shipped.remove(number).unwrap_or_default();
            let mut shipped_ns: Vec<i64> = by_program.into_values().collect();
            shipped_ns.sort_unstable();
            order.shipped_ns = shipped_ns.get(programs - 1).copied();
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
        self.0.values().filter(|order| order.shipped_ns.is_some()).count()
    }
}
