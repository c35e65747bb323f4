//! Choice of the next commit, as a pure function: a binary search for the first bad commit.

/// State of a commit in the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitState {
    /// Not measured yet.
    Nothing,
    /// The count is that of the first commit.
    Good,
    /// The count changed as in the last commit.
    Bad,
    /// The commit cannot be measured.
    Skipped,
}

/// Next step of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Measure this one, by its index.
    Try(usize),
    /// The first bad commit is one of these indices: a single one, or a bad one and skipped ones
    /// before it.
    Found(Vec<usize>),
}

/// Halves the range between the last good and the first bad commit. `known[0]` is good and the last
/// one bad; skipped commits are tried only when no others remain.
pub(super) fn next(known: &[CommitState]) -> Next {
    let bad = known.iter().position(|known| *known == CommitState::Bad).unwrap_or(known.len() - 1);
    let good = known[..bad].iter().rposition(|known| *known == CommitState::Good).unwrap_or(0);
    let middle = (good + bad) / 2;
    let open = (good + 1..bad).filter(|index| known[*index] == CommitState::Nothing);
    match open.min_by_key(|index| index.abs_diff(middle)) {
        Some(index) => Next::Try(index),
        None => Next::Found((good + 1..=bad).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches in `count` commits of which those from `first` on are bad; returns the commits
    /// tried and the result.
    fn search(count: usize, first: usize, skipped: &[usize]) -> (usize, Vec<usize>) {
        let mut known = vec![CommitState::Nothing; count];
        (known[0], known[count - 1]) = (CommitState::Good, CommitState::Bad);
        for tried in 0.. {
            match next(&known) {
                Next::Found(found) => return (tried, found),
                Next::Try(index) => {
                    assert_eq!(known[index], CommitState::Nothing, "tried twice");
                    known[index] = match index {
                        index if skipped.contains(&index) => CommitState::Skipped,
                        index if index >= first => CommitState::Bad,
                        _ => CommitState::Good,
                    };
                }
            }
        }
        unreachable!("it ends")
    }

    #[test]
    fn the_first_bad_commit_is_found_in_few_steps() {
        for count in 2..40 {
            for first in 1..count {
                let (tried, found) = search(count, first, &[]);
                assert_eq!(found, [first], "{first} of {count}");
                let halvings = usize::BITS - (count - 1).leading_zeros();
                assert!(tried <= halvings as usize, "{tried} of {count}");
            }
        }
    }

    #[test]
    fn what_cannot_be_measured_is_among_the_suspects_only_beside_the_step() {
        assert_eq!(search(12, 7, &[3, 9]).1, [7]);
        assert_eq!(search(12, 7, &[6]).1, [6, 7]);
        assert_eq!(search(12, 7, &[5, 6, 7]).1, [5, 6, 7, 8]);
        let all: Vec<usize> = (1..11).collect();
        assert_eq!(search(12, 7, &all).1, (1..12).collect::<Vec<_>>());
    }
}
