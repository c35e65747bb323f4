//! Queried objects of IF-MIB, and the table made of the answers.

use super::super::{INTERFACES_MAX, Interface};
use super::error::SnmpError;
use super::message::{Bound, Oid, Value};
use crate::counters::{Counters, Widths};
use std::collections::{BTreeMap, HashSet};

/// sysUpTime.0 (RFC 3418).
pub(super) const UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];

/// Value that a column holds; several columns add to one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnValue {
    Name,
    /// ifSpeed, in bits per second.
    Speed,
    /// ifHighSpeed, in millions of bits per second.
    MegaSpeed,
    InPackets,
    OutPackets,
    InBytes,
    OutBytes,
    InErrors,
    OutErrors,
    InDrops,
    OutDrops,
}

/// A column: its object without the interface's index.
pub(super) type Column = (&'static [u32], ColumnValue);

/// ifTable (RFC 2863).
macro_rules! if_table {
    ($column:literal) => {
        &[1, 3, 6, 1, 2, 1, 2, 2, 1, $column]
    };
}

/// ifXTable (RFC 2863).
macro_rules! if_x_table {
    ($column:literal) => {
        &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, $column]
    };
}

/// Columns with 64 bits for traffic. The first column lists the interfaces.
pub(super) const WIDE: [Column; 14] = [
    (if_x_table!(6), ColumnValue::InBytes),
    (if_x_table!(1), ColumnValue::Name),
    (if_x_table!(10), ColumnValue::OutBytes),
    (if_x_table!(7), ColumnValue::InPackets),
    (if_x_table!(8), ColumnValue::InPackets),
    (if_x_table!(9), ColumnValue::InPackets),
    (if_x_table!(11), ColumnValue::OutPackets),
    (if_x_table!(12), ColumnValue::OutPackets),
    (if_x_table!(13), ColumnValue::OutPackets),
    (if_table!(13), ColumnValue::InDrops),
    (if_table!(14), ColumnValue::InErrors),
    (if_table!(19), ColumnValue::OutDrops),
    (if_table!(20), ColumnValue::OutErrors),
    (if_x_table!(15), ColumnValue::MegaSpeed),
];

/// For agents without ifXTable.
pub(super) const NARROW: [Column; 12] = [
    (if_table!(10), ColumnValue::InBytes),
    (if_table!(2), ColumnValue::Name),
    (if_table!(16), ColumnValue::OutBytes),
    (if_table!(11), ColumnValue::InPackets),
    (if_table!(12), ColumnValue::InPackets),
    (if_table!(17), ColumnValue::OutPackets),
    (if_table!(18), ColumnValue::OutPackets),
    (if_table!(13), ColumnValue::InDrops),
    (if_table!(14), ColumnValue::InErrors),
    (if_table!(19), ColumnValue::OutDrops),
    (if_table!(20), ColumnValue::OutErrors),
    (if_table!(5), ColumnValue::Speed),
];

/// An interface, as far as it was received.
#[derive(Clone, Debug, Default)]
struct Row {
    name: String,
    counters: Counters,
    bits_per_s: Option<u64>,
}

/// Values received so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    rows: BTreeMap<Vec<u32>, Row>,
    octets: bool,
    packets: bool,
}

impl Rows {
    /// Stores a value of a column. A name that is not text is shown as far as it is text.
    pub(super) fn take(
        &mut self,
        index: &[u32],
        what: ColumnValue,
        bound: &Bound,
    ) -> Result<(), SnmpError> {
        if self.rows.len() >= INTERFACES_MAX && !self.rows.contains_key(index) {
            return Err(SnmpError::TooMany(INTERFACES_MAX));
        }
        self.octets |= what == ColumnValue::InBytes;
        self.packets |= what == ColumnValue::InPackets;
        let Row { name, counters, bits_per_s } = self.rows.entry(index.to_vec()).or_default();
        let speed = |unit: u64| match bound.value {
            // 0: the agent does not know it.
            Value::Number(number) if number > 0 => Some(number.saturating_mul(unit)),
            _ => None,
        };
        let target = match what {
            ColumnValue::Name => {
                if let Value::Text(text) = &bound.value {
                    let text = String::from_utf8_lossy(text);
                    *name = text.chars().filter(|c| !c.is_control()).take(64).collect();
                }
                return Ok(());
            }
            ColumnValue::Speed => {
                *bits_per_s = speed(1);
                return Ok(());
            }
            ColumnValue::MegaSpeed => {
                *bits_per_s = speed(1_000_000);
                return Ok(());
            }
            ColumnValue::InPackets => &mut counters.in_packets,
            ColumnValue::OutPackets => &mut counters.out_packets,
            ColumnValue::InBytes => &mut counters.in_bytes,
            ColumnValue::OutBytes => &mut counters.out_bytes,
            ColumnValue::InErrors => &mut counters.in_errors,
            ColumnValue::OutErrors => &mut counters.out_errors,
            ColumnValue::InDrops => &mut counters.in_drops,
            ColumnValue::OutDrops => &mut counters.out_drops,
        };
        if let Value::Number(number) = bound.value {
            *target = target.saturating_add(number);
        }
        Ok(())
    }

    /// The interfaces, each with a name of its own: one without a name is called by its index, and
    /// one that has another's name (`ifDescr` need not differ) has the index after it.
    pub(super) fn interfaces(self) -> Vec<Interface> {
        let mut names = HashSet::new();
        let interface = |(index, row): (Vec<u32>, Row)| {
            let Row { name, counters, bits_per_s } = row;
            let index: Vec<String> = index.iter().map(u32::to_string).collect();
            let index = index.join(".");
            let name = if name.is_empty() { index.clone() } else { name };
            let name = if names.contains(&name) { format!("{name}#{index}") } else { name };
            names.insert(name.clone());
            Interface { name, counters, bits_per_s }
        };
        self.rows.into_iter().map(interface).collect()
    }

    /// Whether there is any with both octets and packets. Agents without ifXTable may have the
    /// other columns, as they are of ifTable, and those with a part of it may lack the packets.
    pub(super) fn have_traffic(&self) -> bool {
        self.octets && self.packets
    }
}

/// The index of an interface in an object of this column; `None`: it is of another column.
pub(super) fn index<'a>(object: &'a Oid, column: &Column) -> Option<&'a [u32]> {
    object.strip_prefix(column.0).filter(|index| !index.is_empty() && index.len() <= 8)
}

/// Width of the counters of a table.
pub(super) fn widths(columns: &[Column]) -> Widths {
    if columns.len() == WIDE.len() { Widths::WideTraffic } else { Widths::Narrow }
}
