//! Status of a chain: the worst of its transactions' statuses, without those that ARM 4.1 calls
//! independent.
//!
//! The status of an independent transaction has no effect on its parent's, nor have those of the
//! transactions below it: whoever called it did not depend on it. A row whose parent is missing
//! counts, because nothing shows that it stands below an independent one. Not here: whether a root
//! arrived at its leaf ([`crate::arrivals`]): who names a leaf asks for the leaf's own status.

use crate::tree::in_tree_order;
use chronoscope_model::{Flags, Status, Transaction, TransactionId};
use std::collections::HashMap;

/// Status of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainStatus {
    /// The worst status that counts: FAILED, else ABORTED, else UNKNOWN, else GOOD.
    pub status: Status,
    /// Transactions that are not GOOD and count.
    pub not_good: u64,
    /// Transactions that are not GOOD and do not count: independent, or below an independent one.
    pub independent_not_good: u64,
    /// By row, in the order of the rows: whether its status counts.
    pub counts: Vec<bool>,
}

impl ChainStatus {
    /// Of the rows of one chain, in any order.
    pub fn of(rows: &[Transaction]) -> Self {
        let counts = counting(rows);
        let mut found = Self::default();
        for (row, counts) in rows.iter().zip(&counts).filter(|(row, _)| row.status != Status::Good)
        {
            match counts {
                true => {
                    found.not_good += 1;
                    found.status = worse(found.status, row.status);
                }
                false => found.independent_not_good += 1,
            }
        }
        Self { counts, ..found }
    }
}

/// Whether the status of each row counts for its chain.
fn counting(rows: &[Transaction]) -> Vec<bool> {
    let mut by_id: HashMap<TransactionId, bool> = HashMap::with_capacity(rows.len());
    let mut counts = vec![true; rows.len()];
    for (index, _) in in_tree_order(rows) {
        let row = &rows[index];
        // A root has no parent that its status could leave alone.
        let is_independent = row.flags.contains(Flags::INDEPENDENT) && !row.parent.is_none();
        counts[index] = !is_independent && by_id.get(&row.parent).copied().unwrap_or(true);
        if !row.id.is_none() {
            by_id.entry(row.id).or_insert(counts[index]);
        }
    }
    counts
}

/// The worse of two statuses.
const fn worse(a: Status, b: Status) -> Status {
    if severity(a) >= severity(b) { a } else { b }
}

const fn severity(status: Status) -> u8 {
    match status {
        Status::Good => 0,
        Status::Unknown => 1,
        Status::Aborted => 2,
        Status::Failed => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Names, Record};

    fn row(id: u64, parent: u64, status: Status, flags: Flags) -> Transaction {
        let record = Record {
            id: TransactionId(id),
            parent: TransactionId(parent),
            status: status as u8,
            flags: flags.0,
            ..Record::default()
        };
        Transaction::from_record(&record, &[], &Names::default())
    }

    const PLAIN: Flags = Flags(0);

    #[test]
    fn without_the_flag_the_worst_status_is_the_chains() {
        let rows = [
            row(1, 0, Status::Good, PLAIN),
            row(2, 1, Status::Aborted, PLAIN),
            row(3, 2, Status::Failed, Flags::ASYNCHRONOUS),
            row(4, 9, Status::Unknown, PLAIN),
        ];
        let found = ChainStatus::of(&rows);
        assert_eq!((found.status, found.not_good), (Status::Failed, 3));
        assert_eq!((found.independent_not_good, &found.counts[..]), (0, &[true; 4][..]));
        assert_eq!(ChainStatus::of(&[]).status, Status::Good);
    }

    #[test]
    fn an_independent_transaction_and_all_below_it_do_not_count() {
        let rows = [
            row(4, 3, Status::Failed, PLAIN),
            row(3, 2, Status::Good, PLAIN),
            row(2, 1, Status::Failed, Flags::INDEPENDENT),
            row(5, 1, Status::Aborted, PLAIN),
            row(1, 0, Status::Good, PLAIN),
        ];
        let found = ChainStatus::of(&rows);
        assert_eq!((found.status, found.not_good), (Status::Aborted, 1));
        assert_eq!(found.independent_not_good, 2);
        assert_eq!(found.counts, [false, false, false, true, true]);
    }

    #[test]
    fn a_root_depends_on_itself_and_a_row_without_parent_counts() {
        let root = row(1, 0, Status::Failed, Flags::INDEPENDENT);
        assert_eq!(ChainStatus::of(&[root]).status, Status::Failed);
        let orphan = row(7, 99, Status::Failed, PLAIN);
        assert_eq!(ChainStatus::of(&[orphan]).status, Status::Failed);
        let cut_off = row(7, 99, Status::Failed, Flags::INDEPENDENT);
        assert_eq!(ChainStatus::of(&[cut_off]).status, Status::Good);
        let circle = [row(1, 2, Status::Failed, PLAIN), row(2, 1, Status::Good, PLAIN)];
        assert_eq!(ChainStatus::of(&circle).status, Status::Failed);
    }
}
