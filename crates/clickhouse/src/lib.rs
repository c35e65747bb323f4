//! Stored transactions past one machine: a ClickHouse cluster by URL.
//!
//! Every shard is a ClickHouse server of its own, with the same tables in it; a chain's rows are
//! all on one shard, which [`shard_of`] names. We write to the shards and ask them ourselves, in
//! parallel, and no server needs to know of another. `docs/clickhouse.md` has the tables and what
//! an operator chooses.
//!
//! What it promises: when [`ClusterWriter::insert`] returns, every row is on its shard's disk; the same
//! batch under the same key is taken once, however often it is sent; an answer is of all shards,
//! or an error that names the one that is missing. Answers are the same as those of files, to the
//! last digit: rows are put together by the same code.
//!
//! Limits: at most 2^18 rows in one insert; keys are remembered for the last 10,000 inserts into
//! each day of each shard; the shards of a database are fixed when it is made.
//!
//! Not here: starting servers, copies of a shard (`docs/clickhouse.md`).

mod http;
mod insert;
mod rows;
mod schema;
mod url;

pub use http::Node;
pub use insert::{ClusterWriter, root_class_text};
pub use rows::ResultRows;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

use chronoscope_model::ChainId;

/// Why a cluster could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ClickHouseError {
    /// The URL is none.
    #[error(
        "store {url:?}: {reason}; expected is clickhouse://[user[:password]@]host[:port][,host…]/database"
    )]
    Url {
        /// What was given, without user and password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The certificate that was named cannot be used.
    #[error("{}: {reason}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A server does not answer.
    #[error("shard {node} cannot be reached: {reason}")]
    Unreachable {
        /// `HOST:PORT`.
        node: String,
        /// Why.
        reason: String,
    },
    /// A server answers with an error of its own.
    #[error("shard {node}: ClickHouse error {code}: {text}")]
    Refused {
        /// `HOST:PORT`.
        node: String,
        /// ClickHouse's number for it; 0 where it gave none.
        code: u32,
        /// ClickHouse's words, cut at 2000 bytes.
        text: String,
    },
    /// A server's answer ended in the middle.
    #[error("shard {node}: the answer broke off: {reason}")]
    BrokenOff {
        /// `HOST:PORT`.
        node: String,
        /// How that showed.
        reason: String,
    },
    /// A server's answer is not what was asked for.
    #[error("shard {node}: the column {column} is missing in the answer or of another type")]
    Strange {
        /// `HOST:PORT`.
        node: String,
        /// Which column.
        column: String,
    },
    /// A server's tables are another shard's, or were made by a newer program.
    #[error("shard {node}: {reason}")]
    Tables {
        /// `HOST:PORT`.
        node: String,
        /// What is wrong.
        reason: String,
    },
    /// Rows could not be turned into columns.
    #[error("the rows cannot be sent: {reason}")]
    Rows {
        /// Why.
        reason: String,
    },
}

impl ClickHouseError {
    /// Whether the same call may succeed later without anybody's doing: the server is away, or has
    /// too much to do.
    pub fn is_passing(&self) -> bool {
        // TOO_MANY_SIMULTANEOUS_QUERIES, MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS, NOT_ENOUGH_SPACE,
        // TIMEOUT_EXCEEDED, SOCKET_TIMEOUT, NETWORK_ERROR, TABLE_IS_READ_ONLY.
        const PASSING: [u32; 8] = [202, 241, 252, 243, 159, 209, 210, 242];
        match self {
            Self::Unreachable { .. } | Self::BrokenOff { .. } => true,
            Self::Refused { code, .. } => PASSING.contains(code),
            _ => false,
        }
    }
}

/// A cluster: its shards, and the database in each.
#[derive(Clone)]
pub struct Cluster {
    url: Arc<Url>,
    nodes: Arc<[Node]>,
}

/// What an operator may choose about the tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableOptions {
    /// Days whose rows are all older than this are deleted by the servers; `None` keeps what the
    /// tables say.
    pub keep: Option<Duration>,
}

impl Cluster {
    /// The cluster of a URL; no server is spoken to yet.
    ///
    /// # Errors
    /// [`ClickHouseError::Url`] and [`ClickHouseError::Certificate`].
    pub fn new(url: &str) -> Result<Self, ClickHouseError> {
        let parsed = Url::parse(url)
            .map_err(|reason| ClickHouseError::Url { url: url::without_password(url), reason })?;
        let nodes = http::nodes(&parsed)?;
        Ok(Self { nodes: nodes.into(), url: Arc::new(parsed) })
    }

    /// Makes the database and its tables where they are not there yet, and brings older tables up
    /// to date. Every writer does so when it begins.
    ///
    /// # Errors
    /// [`ClickHouseError`]; [`ClickHouseError::Tables`] when the tables belong to another place in
    /// the list of shards, or a newer program made them.
    pub fn prepare(&self, options: &TableOptions) -> Result<(), ClickHouseError> {
        self.on_all(|index, node| {
            schema::prepare(node, index, self.nodes.len(), &self.url, options)
        })
        .map(drop)
    }

    /// How many shards there are; at least 1.
    pub fn shard_count(&self) -> usize {
        self.nodes.len()
    }

    /// The servers of the shards, in the order of the URL.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Does something on every shard at the same time; the results by shard, or the first error.
    ///
    /// # Errors
    /// Those of `work`.
    ///
    /// # Panics
    /// When `work` panics.
    pub fn on_all<T: Send>(
        &self,
        work: impl Fn(usize, &Node) -> Result<T, ClickHouseError> + Sync,
    ) -> Result<Vec<T>, ClickHouseError> {
        std::thread::scope(|scope| {
            let work = &work;
            let nodes = self.nodes.iter().enumerate();
            let threads: Vec<_> =
                nodes.map(|(index, node)| scope.spawn(move || work(index, node))).collect();
            let joined = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            joined.collect()
        })
    }
}

/// The shard, of `count`, that has a chain's rows. It may never change: rows stay where they are.
#[allow(clippy::cast_possible_truncation)] // the result is below `count`
pub fn shard_of(chain: ChainId, count: usize) -> usize {
    // Ids may be counters or have one half empty: mix before cutting the range (SplitMix64's end).
    let mut mixed = chain.low() ^ chain.high().rotate_left(32);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    ((u128::from(mixed) * count as u128) >> 64) as usize
}

impl fmt::Display for Cluster {
    /// Its URL, without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.url, f)
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.url, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written down once: a change would look for chains where they are not.
    #[test]
    fn a_chain_stays_on_its_shard() {
        let shards = |count| (0..8u128).map(move |id| shard_of(ChainId(id), count));
        assert_eq!(shards(1).collect::<Vec<_>>(), [0; 8]);
        assert_eq!(shards(4).collect::<Vec<_>>(), [0, 1, 3, 0, 2, 2, 3, 0]);
        let mut counts = [0u32; 3];
        (0..30_000u128).for_each(|id| counts[shard_of(ChainId(id << 64), 3)] += 1);
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
    }

    #[test]
    fn no_password_is_said() {
        let error = Cluster::new("clickhouse://me:secret@h:x/d").unwrap_err().to_string();
        assert!(error.contains("is no port") && !error.contains("secret"), "{error}");
        let cluster = Cluster::new("clickhouse://me:secret@h/d").unwrap();
        let said = format!("{cluster} {cluster:?}");
        assert!(!said.contains("secret"), "{said}");
    }
}
