//! Rows from a shard, as they come.

use super::decode::NotDecoded;
use crate::error::QueryError;
use chronoscope_clickhouse::{Node, ResultRows};
use std::sync::atomic::{AtomicU64, Ordering};

/// Why minutes could not be fetched.
pub(super) enum FetchError {
    /// A row's path was named after the names were read: read them anew.
    NewPath,
    Failed(QueryError),
}

impl<E: Into<QueryError>> From<E> for FetchError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl FetchError {
    pub(super) fn from_decoding(error: NotDecoded) -> Self {
        match error {
            NotDecoded::NewPath => Self::NewPath,
            NotDecoded::Strange(error) => Self::Failed(error.into()),
        }
    }
}

/// Asks a shard and takes its rows in. An error of ours ends the answer.
pub(super) fn take_in(
    node: &Node,
    sql: &str,
    mut take: impl FnMut(&ResultRows<'_>) -> Result<(), FetchError>,
) -> Result<(), FetchError> {
    let mut ended = None;
    let read = node.query(sql, |batch| {
        take(&ResultRows { node, batch }).map_err(|error| {
            ended = Some(error);
            node.unexpected_column("none") // the error is kept aside
        })
    });
    match ended {
        Some(error) => Err(error),
        None => Ok(read?),
    }
}

/// A number that no other file of this process has.
pub(super) fn new_file_number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}
