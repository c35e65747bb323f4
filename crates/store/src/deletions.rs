//! Ranges of time of which rows were deleted on request.
//!
//! Every question over such a range says so: what is not there any more may have been a duration, an
//! arrival or an ancestor.
//!
//! Limits: at most [`DELETIONS_MAX`] ranges; beyond, the two that lie closest together become one that
//! covers both, which makes more of the time doubtful and none less.

use std::ops::Range;

/// Most ranges that are told apart: some 60 kB of the manifest.
pub const DELETIONS_MAX: usize = 1_000;

/// Longest name of who deleted, in octets; longer ones are cut.
pub(crate) const BY_MAX: usize = 256;

/// One deletion.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deletion {
    /// Rows were deleted whose root started then or later: UTC, nanoseconds since 1970. Foreign rows
    /// go by their own start.
    pub from_ns: i64,
    /// Rows were deleted whose root started before: as `from_ns`.
    pub until_ns: i64,
    /// When it was done: UTC, nanoseconds since 1970.
    pub at_ns: i64,
    /// Number of rows.
    pub rows: u64,
    /// Who did it: the name of a token, or of a user of the command line; empty where that has none,
    /// or where several deletions were joined.
    pub by: String,
}

impl Deletion {
    /// Whether the deletion is about some of a range.
    pub fn touches(&self, range: &Range<i64>) -> bool {
        self.from_ns < range.end && range.start < self.until_ns
    }
}

/// All deletions, by their beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deletions(Vec<Deletion>);

impl Deletions {
    /// All of them, by their beginning.
    pub fn iter(&self) -> impl Iterator<Item = &Deletion> {
        self.0.iter()
    }

    /// Whether nothing was ever deleted on request.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Rows of all deletions that are about some of a range: so many of its rows are gone at most.
    pub fn rows_within(&self, range: &Range<i64>) -> u64 {
        let within = self.0.iter().filter(|deletion| deletion.touches(range));
        within.fold(0, |sum, deletion| sum.saturating_add(deletion.rows))
    }

    /// Takes in a deletion.
    pub fn insert(&mut self, deletion: Deletion) {
        let at = self.0.partition_point(|known| known <= &deletion);
        self.0.insert(at, deletion);
        if self.0.len() > DELETIONS_MAX {
            self.join_closest();
        }
    }

    fn join_closest(&mut self) {
        let gap = |at: &usize| self.0[*at + 1].from_ns.saturating_sub(self.0[*at].until_ns);
        let Some(at) = (0..self.0.len().saturating_sub(1)).min_by_key(gap) else { return };
        let next = self.0.remove(at + 1);
        let first = &mut self.0[at];
        first.until_ns = first.until_ns.max(next.until_ns);
        first.at_ns = first.at_ns.max(next.at_ns);
        first.rows = first.rows.saturating_add(next.rows);
        if first.by != next.by {
            first.by.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deletion(from_ns: i64, until_ns: i64, by: &str) -> Deletion {
        Deletion { from_ns, until_ns, at_ns: 9, rows: 2, by: by.into() }
    }

    #[test]
    fn a_range_is_touched_from_its_first_to_before_its_last_nanosecond() {
        let mut deletions = Deletions::default();
        deletions.insert(deletion(10, 20, "a"));
        for (range, rows) in [(0..10, 0), (0..11, 2), (19..30, 2), (20..30, 0)] {
            assert_eq!(deletions.rows_within(&range), rows, "{range:?}");
        }
    }

    #[test]
    fn too_many_are_joined_and_cover_what_they_covered() {
        let mut deletions = Deletions::default();
        for n in 0..1_200_i64 {
            deletions.insert(deletion(
                n * 100,
                n * 100 + 10 + n % 7,
                if n < 600 { "a" } else { "b" },
            ));
        }
        assert_eq!(deletions.iter().count(), DELETIONS_MAX);
        assert_eq!(deletions.rows_within(&(i64::MIN..i64::MAX)), 2_400);
        assert!((0..1_200_i64).all(|n| deletions.rows_within(&(n * 100..n * 100 + 1)) > 0));
    }
}
