//! The cheapest one-to-one assignment of plots to tracks.
//!
//! Where several plots compete for the same tracks, taking the nearest each time gives the later
//! ones a wrong partner; the sum of all costs decides instead (global nearest neighbour).
//! The algorithm is the Hungarian method with potentials, O(n²·m) (Kuhn 1955; Munkres 1957).

/// Assigns rows to columns at the least total cost.
///
/// `cost[row][column]`; every row has the same length. `miss` is the cost of leaving a row
/// without a column, so a column dearer than `miss` is never taken. Returns the column of each
/// row.
pub fn assign(cost: &[Vec<f64>], miss: f64) -> Vec<Option<usize>> {
    let rows = cost.len();
    let real = cost.first().map_or(0, Vec::len);
    // One private dummy column a row makes leaving it out an ordinary choice, and guarantees
    // that there are at least as many columns as rows.
    let columns = real + rows;
    let price = |row: usize, column: usize| {
        if column < real {
            cost[row][column].min(FORBIDDEN)
        } else if column - real == row {
            miss
        } else {
            FORBIDDEN
        }
    };

    // Row and column 0 are the method's sentinels.
    let mut row_potential = vec![0.0; rows + 1];
    let mut column_potential = vec![0.0; columns + 1];
    let mut row_of = vec![0usize; columns + 1];
    let mut way = vec![0usize; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut column = 0;
        let mut slack = vec![f64::INFINITY; columns + 1];
        let mut used = vec![false; columns + 1];
        while row_of[column] != 0 {
            used[column] = true;
            let current = row_of[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for j in (1..=columns).filter(|&j| !used[j]) {
                let reduced =
                    price(current - 1, j - 1) - row_potential[current] - column_potential[j];
                if reduced < slack[j] {
                    slack[j] = reduced;
                    way[j] = column;
                }
                if slack[j] < delta {
                    delta = slack[j];
                    next = j;
                }
            }
            for j in 0..=columns {
                if used[j] {
                    row_potential[row_of[j]] += delta;
                    column_potential[j] -= delta;
                } else {
                    slack[j] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[way[column]];
            column = way[column];
        }
    }
    let mut result = vec![None; rows];
    for column in 1..=real {
        if row_of[column] != 0 && price(row_of[column] - 1, column - 1) < FORBIDDEN {
            result[row_of[column] - 1] = Some(column - 1);
        }
    }
    result
}

/// A cost that marks a pair as impossible. Large beside any sum of real costs, small enough for
/// the potentials to keep their precision.
pub const FORBIDDEN: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_nearest_is_not_always_the_right_one() {
        // Row 0 likes column 0 best, but then row 1 would pay 90.
        let cost = vec![vec![1.0, 3.0], vec![2.0, 90.0]];
        assert_eq!(assign(&cost, 100.0), [Some(1), Some(0)]);
    }

    #[test]
    fn a_row_is_left_out_when_that_is_cheaper() {
        assert_eq!(assign(&[vec![30.0]], 16.0), [None]);
        assert_eq!(assign(&[vec![FORBIDDEN], vec![4.0]], 16.0), [None, Some(0)]);
        assert_eq!(assign(&[Vec::new(), Vec::new()], 16.0), [None, None]);
    }

    /// The cheapest total by trying everything.
    fn exhaustive(cost: &[Vec<f64>], row: usize, taken: &mut Vec<bool>, miss: f64) -> f64 {
        if row == cost.len() {
            return 0.0;
        }
        let mut best = miss + exhaustive(cost, row + 1, taken, miss);
        for column in 0..taken.len() {
            if !taken[column] && cost[row][column] < FORBIDDEN {
                taken[column] = true;
                best = best.min(cost[row][column] + exhaustive(cost, row + 1, taken, miss));
                taken[column] = false;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_total_is_the_least_possible(
            cost in (1usize..5, 1usize..6).prop_flat_map(|(rows, columns)| {
                prop::collection::vec(prop::collection::vec(0f64..40.0, columns), rows)
            }),
            miss in 0f64..40.0,
        ) {
            let chosen = assign(&cost, miss);
            let total: f64 =
                chosen.iter().enumerate().map(|(r, c)| c.map_or(miss, |c| cost[r][c])).sum();
            let best = exhaustive(&cost, 0, &mut vec![false; cost[0].len()], miss);
            prop_assert!((total - best).abs() < 1e-6, "{total} instead of {best}");
            let mut columns: Vec<usize> = chosen.into_iter().flatten().collect();
            let count = columns.len();
            columns.sort_unstable();
            columns.dedup();
            prop_assert_eq!(count, columns.len());
        }
    }
}
