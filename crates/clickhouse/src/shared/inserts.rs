//! Settings of statements, and what the tables of the first shard have in common.

use crate::Cluster;
use crate::http::Node;

impl Cluster {
    /// The server that has the collectors' common state.
    pub(super) fn first(&self) -> &Node {
        &self.nodes()[0]
    }
}

/// Settings of inserts that are never sent again: equal rows are rows of their own.
pub(crate) const PLAIN: [(&str, &str); 1] = [("insert_deduplicate", "0")];

/// Settings of deletions: they are waited for at the copy that is asked, because others may be away,
/// and name many versions.
pub(crate) const DELETED_AT_THIS_COPY: [(&str, &str); 2] =
    [("lightweight_deletes_sync", "1"), ("max_query_size", "268435456")];

/// A number in TSV that may be absent.
pub(super) fn optional<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(|| "\\N".to_owned(), |number| number.to_string())
}
