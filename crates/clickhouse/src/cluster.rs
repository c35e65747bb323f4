//! The shards of a cluster, and which of them has a chain's rows.

use crate::error::ClickHouseError;
use crate::http::{self, Node};
use crate::schema::{self, TableOptions};
use crate::url::{self, MissingShards, Url};
use chronoscope_model::ChainId;
use std::fmt;
use std::sync::Arc;

/// A cluster: its shards, and the database in each.
#[derive(Clone)]
pub struct Cluster {
    url: Arc<Url>,
    nodes: Arc<[Node]>,
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

    /// Number of shards; at least 1.
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
    /// The first error of `work`.
    ///
    /// # Panics
    /// When `work` panics.
    pub fn on_all<T: Send>(
        &self,
        work: impl Fn(usize, &Node) -> Result<T, ClickHouseError> + Sync,
    ) -> Result<Vec<T>, ClickHouseError> {
        self.on_each(work).into_iter().collect()
    }

    /// Asks every shard at the same time, as [`Self::on_all`]; where the URL has `missing=say`, a
    /// shard that cannot be reached is left out and told in `missing`, as long as another answers.
    /// A shard that `missing` has already is not asked.
    ///
    /// # Errors
    /// The first error of `work` that is not of a missing shard; that too when all are missing.
    ///
    /// # Panics
    /// When `work` panics.
    pub fn ask_all<T: Send>(
        &self,
        missing: &mut Vec<MissingShard>,
        work: impl Fn(usize, &Node) -> Result<T, ClickHouseError> + Sync,
    ) -> Result<Vec<T>, ClickHouseError> {
        let is_known = |node: &Node| missing.iter().any(|known| known.is(node));
        let known: Vec<bool> = self.nodes.iter().map(is_known).collect();
        let asked = self.on_each(|index, node| match known[index] {
            true => Ok(None),
            false => work(index, node).map(Some),
        });
        let mut answers = Vec::new();
        let mut away = None;
        for (answer, node) in asked.into_iter().zip(&*self.nodes) {
            match answer {
                Ok(answer) => answers.extend(answer),
                Err(error) => match self.left_out(node, &error) {
                    Some(shard) => {
                        missing.push(shard);
                        away = Some(error);
                    }
                    None => return Err(error),
                },
            }
        }
        match away {
            Some(error) if answers.is_empty() => Err(error),
            _ => Ok(answers),
        }
    }

    /// Whether a question goes on without the shard that this error is of.
    pub fn goes_on_after(&self, error: &ClickHouseError) -> bool {
        self.url.missing == MissingShards::Say
            && matches!(error, ClickHouseError::Unreachable { .. })
    }

    /// The shard that a question goes on without, after this error of it; `None` where it fails.
    pub fn left_out(&self, node: &Node, error: &ClickHouseError) -> Option<MissingShard> {
        match error {
            ClickHouseError::Unreachable { reason, .. } if self.goes_on_after(error) => {
                Some(MissingShard { name: node.name.clone(), reason: reason.clone() })
            }
            _ => None,
        }
    }

    /// The results by shard.
    fn on_each<T: Send>(
        &self,
        work: impl Fn(usize, &Node) -> Result<T, ClickHouseError> + Sync,
    ) -> Vec<Result<T, ClickHouseError>> {
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

/// A shard that an answer is without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingShard {
    /// `HOST:PORT`; of several copies with `|` between them.
    pub name: String,
    /// Why it did not answer.
    pub reason: String,
}

impl MissingShard {
    /// Whether it is the shard of these servers.
    pub fn is(&self, node: &Node) -> bool {
        self.name == node.name
    }
}

impl From<MissingShard> for ClickHouseError {
    /// The error of an answer that may not be without the shard.
    fn from(MissingShard { name, reason }: MissingShard) -> Self {
        Self::Unreachable { node: name, reason }
    }
}

/// The shard, of `count`, that has a chain's rows. It may never change: rows stay where they are.
#[allow(clippy::cast_possible_truncation)] // the result is below `count`
pub fn shard_of(chain: ChainId, count: usize) -> usize {
    // Ids may be counters or have one half empty: mix before cutting the range.
    let mixed = mixed(chain.low() ^ chain.high().rotate_left(32));
    ((u128::from(mixed) * count as u128) >> 64) as usize
}

/// A number all of whose bits depend on all bits of another one (SplitMix64's end). It may never
/// change either.
pub(crate) const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl fmt::Display for Cluster {
    /// Writes the URL, without user and password.
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
        assert!(error.contains("is not a port number") && !error.contains("secret"), "{error}");
        let cluster = Cluster::new("clickhouse://me:secret@h/d").unwrap();
        let said = format!("{cluster} {cluster:?}");
        assert!(!said.contains("secret"), "{said}");
    }
}
