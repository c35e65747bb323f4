//! Columns of a text table.

/// A table's first column: as wide as the widest name, at least as its head.
pub(super) fn width<'a>(names: impl Iterator<Item = &'a str>, head: &str) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0).max(head.len())
}
