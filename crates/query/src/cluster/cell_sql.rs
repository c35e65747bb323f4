//! The cells of a picture in SQL: the same as [`Edges::cell`], value by value.

use chronoscope_statistics::{Edges, Scale};
use std::fmt::Write;

/// Most buckets of a logarithmic axis that are listed in a statement.
const BUCKETS_MAX: usize = 1 << 14;
/// Bits of a Float64 below its exponent.
const MANTISSA_BITS: u32 = 52;
/// Numbers up to this one are exact as Float64.
const EXACT_MAX: u64 = 1 << 53;

/// An expression, with those that it refers to by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CellSql {
    /// `EXPRESSION AS NAME`, for `WITH`, each after those that it refers to.
    pub(super) with: Vec<String>,
    /// The number of the cell.
    pub(super) cell: String,
}

impl CellSql {
    /// The cell of an integer expression whose values lie within the axis.
    pub(super) fn of(edges: &Edges, value: &str) -> Self {
        let fast = match edges.scale() {
            Scale::Linear => linear(edges, value),
            Scale::Log => logarithmic(edges, value),
        };
        fast.unwrap_or_else(|| searched(edges, value))
    }

    /// The beginning of a statement that uses them.
    pub(super) fn with_all(cells: &[&Self]) -> String {
        let all: Vec<&str> = cells.iter().flat_map(|cell| &cell.with).map(String::as_str).collect();
        if all.is_empty() { String::new() } else { format!("WITH {} ", all.join(", ")) }
    }
}

/// Cell i begins at the first value for which value · count ≥ i · width, so that it is a quotient;
/// `None` where the product is too large.
fn linear(edges: &Edges, value: &str) -> Option<CellSql> {
    let (from, until) = (*edges.all().first()?, *edges.all().last()?);
    let count = edges.count();
    let largest = u128::from(until - from) * count as u128;
    let cell = format!("intDiv((toInt64({value}) - {from}) * {count}, {})", until - from);
    let fits = largest < 1 << 62 && i64::try_from(until).is_ok();
    fits.then_some(CellSql { with: Vec::new(), cell })
}

/// By the leading bits of the value as Float64, and one comparison with an edge; `None` where cells
/// are so narrow that this needs too many bits.
fn logarithmic(edges: &Edges, value: &str) -> Option<CellSql> {
    let (from, until) = (*edges.all().first()?, *edges.all().last()?);
    if until > EXACT_MAX {
        return None;
    }
    let (bits, first) = (4..=14).find_map(|bits| Some((bits, first_cells(edges, bits)?)))?;
    let origin = bucket(from.max(1), bits);
    let name = "row_of_bucket";
    let bucket =
        format!("bitShiftRight(reinterpretAsUInt64(toFloat64({value})), {})", MANTISSA_BITS - bits);
    // Values below 1 lie in the first cell.
    let place = match from {
        0 => format!("greatest(toInt64({bucket}) - {origin} + 1, 1)"),
        _ => format!("{bucket} - {}", origin - 1),
    };
    let with = format!("arrayElement({}, {place}) AS {name}", unsigned(&first));
    let behind: Vec<u64> = edges.all()[1..].to_vec();
    let last = edges.count() - 1;
    // No value is behind the last edge.
    let step = format!(
        "({name} < {last} AND {value} >= arrayElement({}, least({name}, {last}) + 1))",
        unsigned(&behind)
    );
    Some(CellSql { with: vec![with], cell: format!("({name} + {step})") })
}

/// The cell of the smallest value of each bucket; `None` where they are too many, or one lies in more
/// than two cells.
fn first_cells(edges: &Edges, bits: u32) -> Option<Vec<u64>> {
    let (from, until) = (*edges.all().first()?, *edges.all().last()?);
    let (origin, end) = (bucket(from.max(1), bits), bucket((until - 1).max(1), bits));
    if usize::try_from(end - origin).is_ok_and(|count| count >= BUCKETS_MAX) {
        return None;
    }
    let mut first = Vec::new();
    for number in origin..=end {
        // The first one has all values from the beginning of the axis on, also 0.
        let smallest = if number == origin { from } else { bucket_min(number, bits) };
        let smallest = smallest.min(until - 1);
        let largest = (bucket_min(number + 1, bits) - 1).clamp(smallest, until - 1);
        let cell = edges.cell(smallest);
        if edges.cell(largest) > cell + 1 {
            return None;
        }
        first.push(cell as u64);
    }
    Some(first)
}

/// Numbers values from 1 on by their leading bits.
fn bucket(value: u64, bits: u32) -> u64 {
    (value as f64).to_bits() >> (MANTISSA_BITS - bits)
}

/// The smallest integer of a bucket.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // of an axis: at most EXACT_MAX
fn bucket_min(number: u64, bits: u32) -> u64 {
    f64::from_bits(number << (MANTISSA_BITS - bits)).ceil() as u64
}

/// Searched among the edges, whatever they are.
fn searched(edges: &Edges, value: &str) -> CellSql {
    let last = edges.count() - 1;
    let (mut at, mut cells): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    for (cell, edge) in edges.all()[..=last].iter().enumerate() {
        // Of cells without values the last one begins where they do.
        if at.last() == Some(edge) {
            at.pop();
            cells.pop();
        }
        at.push(*edge);
        cells.push(cell as u64);
    }
    let edge = format!("roundDown(toUInt64({value}), {})", unsigned(&at));
    let cell = format!("transform({edge}, {}, {}, 0)", unsigned(&at), unsigned(&cells));
    CellSql { with: Vec::new(), cell }
}

/// A list of numbers, as text: the server takes far longer to read one that is written as an
/// expression.
fn unsigned(of: &[u64]) -> String {
    let mut text = "CAST('[".to_owned();
    for (index, number) in of.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{number}"); // a String takes everything
    }
    text.push_str("]', 'Array(UInt64)')");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let edges = Edges::new(Scale::Linear, 10..20, 4);
        assert_eq!(CellSql::of(&edges, "d").cell, "intDiv((toInt64(d) - 10) * 4, 10)");
        let wide = Edges::new(Scale::Linear, 0..1 << 62, 4);
        assert!(
            CellSql::of(&wide, "d").cell.starts_with("transform(roundDown(toUInt64(d), CAST('[0,")
        );
        let edges = Edges::new(Scale::Log, 1..1 << 60, 4);
        assert!(CellSql::of(&edges, "d").cell.starts_with("transform("));
    }

    /// The cell that the statement of a logarithmic axis computes.
    fn of_buckets(edges: &Edges, bits: u32, first: &[u64], value: u64) -> u64 {
        let origin = bucket(edges.all()[0].max(1), bits);
        let number = if value == 0 { 0 } else { bucket(value, bits) };
        let place = usize::try_from(number.saturating_sub(origin)).unwrap();
        let cell = first[place];
        let last = edges.count() as u64 - 1;
        let behind = edges.all()[usize::try_from(cell).unwrap() + 1];
        cell + u64::from(cell < last && value >= behind)
    }

    proptest! {
        /// As the edges have it.
        #[test]
        fn quotients_and_buckets_are_cells(
            from in (0u64..1 << 50).prop_map(|v| v >> (v % 50)),
            width in (1u64..1 << 50).prop_map(|v| v >> (v % 50)),
            count in 1usize..1000,
            values in prop::collection::vec(any::<u64>(), 1..50),
        ) {
            let range = from..from + width.max(1);
            let linear = Edges::new(Scale::Linear, range.clone(), count);
            let log = Edges::new(Scale::Log, range.clone(), count);
            let first = (4..=14).find_map(|bits| Some((bits, first_cells(&log, bits)?)));
            for value in values.iter().map(|value| range.start + value % (range.end - range.start)) {
                let quotient = u128::from(value - range.start) * count as u128
                    / u128::from(range.end - range.start);
                prop_assert_eq!(quotient, linear.cell(value) as u128);
                if let Some((bits, first)) = &first {
                    prop_assert_eq!(of_buckets(&log, *bits, first, value), log.cell(value) as u64);
                }
            }
        }
    }
}
