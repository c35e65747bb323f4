//! Options of a store.

use std::time::Duration;

/// Options of a store. The default suits one computer with a few GB to spare.
#[derive(Clone, Debug)]
pub struct Options {
    /// Time after its end that a minute is kept open for late rows. Default: 2 minutes.
    pub wait: Duration,
    /// Rows held in memory before minutes are sealed early, in parts. Default: 256 MiB.
    /// Four times as much is the end: then [`crate::StoreError::Backlog`] is the answer.
    pub buffer_bytes: u64,
    /// Bytes of log before minutes are sealed early, so that the log can go. Default: 4 GiB.
    pub log_bytes: u64,
    /// Bytes at which a log file is closed and the next begun. Default: 128 MiB.
    pub log_file_bytes: u64,
    /// Most rows of a minute that are merged into one segment. Default: 4 million (some 1.5 GB of
    /// memory while it lasts); a minute with more stays in parts.
    pub merge_rows_max: u64,
    /// Minutes older than this are deleted; `None` keeps them. Default: none.
    pub keep: Option<Duration>,
    /// Oldest minutes are deleted while the store takes more than this; `None` for no bound.
    /// Default: none.
    pub keep_bytes: Option<u64>,
    /// Whether the owner's group may read what is written. Default: no, nobody but the owner may.
    /// Directories that are there already stay as they are.
    pub group_readable: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            wait: Duration::from_mins(2),
            buffer_bytes: 256 << 20,
            log_bytes: 4 << 30,
            log_file_bytes: 128 << 20,
            merge_rows_max: 4_000_000,
            keep: None,
            keep_bytes: None,
            group_readable: false,
        }
    }
}
