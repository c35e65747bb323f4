//! The rows of one chain in the order of their tree, for whoever shows them.

use chronoscope_model::{Transaction, TransactionId};
use std::collections::{HashMap, HashSet};

/// Indices of the rows with their depth: every parent before its children, children by start. Rows
/// whose parent is missing follow as further roots. A circle of parents, which only damaged rows
/// form, is cut where the walk meets it.
pub fn in_tree_order(rows: &[Transaction]) -> Vec<(usize, usize)> {
    let mut sorted: Vec<usize> = (0..rows.len()).collect();
    sorted.sort_by_key(|row| (rows[*row].start_ns, rows[*row].id));
    let ids: HashSet<TransactionId> = rows.iter().map(|row| row.id).collect();
    let mut children: HashMap<TransactionId, Vec<usize>> = HashMap::new();
    for row in &sorted {
        children.entry(rows[*row].parent).or_default().push(*row);
    }
    let tops = sorted.iter().filter(|row| !ids.contains(&rows[**row].parent));
    // Tops first, then whatever a circle hides from them.
    let starts: Vec<usize> = tops.chain(&sorted).copied().collect();
    let (mut order, mut seen) = (Vec::with_capacity(rows.len()), vec![false; rows.len()]);
    for start in starts {
        let mut stack = vec![(start, 0)];
        while let Some((row, depth)) = stack.pop() {
            if std::mem::replace(&mut seen[row], true) {
                continue;
            }
            order.push((row, depth));
            // Rows without an id are nobody's parents.
            let below = children.get(&rows[row].id).filter(|_| !rows[row].id.is_none());
            stack.extend(below.into_iter().flatten().rev().map(|child| (*child, depth + 1)));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Names, Record};

    fn row(id: u64, parent: u64, start_ns: i64) -> Transaction {
        let (id, parent) = (TransactionId(id), TransactionId(parent));
        let record = Record { id, parent, start_ns, ..Record::default() };
        Transaction::from_record(&record, &[], &Names::default())
    }

    fn ids(rows: &[Transaction]) -> Vec<(u64, usize)> {
        in_tree_order(rows).iter().map(|(row, depth)| (rows[*row].id.0, *depth)).collect()
    }

    #[test]
    fn parents_come_before_children_and_orphans_stand_alone() {
        let rows = [row(4, 2, 30), row(1, 0, 0), row(3, 1, 20), row(2, 1, 10), row(9, 77, 15)];
        assert_eq!(ids(&rows), [(1, 0), (2, 1), (4, 2), (3, 1), (9, 0)]);
    }

    #[test]
    fn damage_is_drawn_once_and_not_followed_for_ever() {
        assert_eq!(ids(&[row(1, 2, 0), row(2, 1, 1), row(3, 3, 2)]), [(1, 0), (2, 1), (3, 0)]);
        assert_eq!(ids(&[row(0, 0, 0), row(0, 0, 1)]).len(), 2);
    }
}
