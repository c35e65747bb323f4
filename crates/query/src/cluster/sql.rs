//! Parts of SQL.

use std::ops::RangeInclusive;

/// A condition that a column of numbers lies in a range.
pub(super) fn between(column: &str, range: &RangeInclusive<i64>) -> String {
    format!("{column} BETWEEN {} AND {}", range.start(), range.end())
}

/// The order of the table: native chains whole, by the starts of their roots. Nothing is sorted for it
/// but where the tables are of before: those are in the order of chains' ids, and are sorted on disk
/// where memory is short.
pub(super) const IN_ORDER: &str = "ORDER BY minute, top, root_start, chain_high, chain_low \
    SETTINGS optimize_read_in_order = 1, max_bytes_before_external_sort = 1000000000";

/// A text in SQL.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\0', "\\0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_a_text() {
        assert_eq!(quoted("it's \\ me"), "'it\\'s \\\\ me'");
    }
}
