//! Parts of SQL.

use std::ops::RangeInclusive;

/// A condition that a column of numbers lies in a range.
pub(super) fn between(column: &str, range: &RangeInclusive<i64>) -> String {
    format!("{column} BETWEEN {} AND {}", range.start(), range.end())
}

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
