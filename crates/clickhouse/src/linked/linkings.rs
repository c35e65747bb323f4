//! What linkings say, and reading which of them holds.

use crate::cluster::{Cluster, mixed};
use crate::error::ClickHouseError;
use crate::rows::ResultRows;
use arrow_array::types::UInt32Type;
use chronoscope_clock::utc_now_ns;
use chronoscope_model::ChainId;
use chronoscope_store::{Aliases, ChainAlias};
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Minute and shard of the line of a linking that is of no minute.
pub(super) const NO_MINUTE: (i64, u32) = (i64::MIN, u32::MAX);

/// A row of a whole chain, linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedRow {
    /// The minute of the root's start, since 1970.
    pub minute: i64,
    /// The path in words.
    pub path: Arc<str>,
    /// Start of the root: UTC, nanoseconds since 1970.
    pub root_start_ns: i64,
    /// Start: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Elapsed time, in nanoseconds.
    pub elapsed_ns: i64,
    /// What its chain says about it: `chronoscope_chain::links::bits`.
    pub links: u8,
    /// The host, and that of the root; empty where they are not known.
    pub hosts: [Arc<str>; 2],
    /// The chain that it belongs to, by whatever id it was stored.
    pub component: ChainId,
}

/// A chain with foreign rows that is not on one shard, has native rows, or is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignChain {
    /// A minute in which its component has rows, since 1970.
    pub minute: i64,
    /// The id by which its rows are stored.
    pub chain: ChainId,
    /// The chain that they belong to.
    pub component: ChainId,
    /// The component is not whole: its rows are put together by each question.
    pub loose: bool,
}

/// What holds for a minute on a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkedCell {
    /// The version of its rows and chains.
    pub version: u64,
    /// Rows of `transactions` when it was linked, and how many of them were foreign.
    pub rows: u64,
    /// Of these the foreign ones.
    pub foreign: u64,
    /// Number of [`LinkedRow`]s, at most.
    pub linked: u64,
    /// Number of [`ForeignChain`]s, at most.
    pub chains: u64,
    /// Of the rows those with further parents.
    pub links: u64,
}

/// The linked chains at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linkings {
    /// Number of the last linking; 0 before the first one.
    pub sequence: u64,
    /// [`fingerprint`] of the aliases under which chains were linked.
    pub aliases: u64,
    /// Aliases that were told before (UTC, nanoseconds since 1970, by the first shard's clock) are
    /// surely among them.
    pub aliases_until_ns: i64,
    /// By minute and shard.
    pub cells: BTreeMap<(i64, usize), LinkedCell>,
}

/// The linking that follows another one.
#[derive(Debug)]
pub struct Publication {
    /// Its version: of no other linking.
    pub version: u64,
    /// As in [`Linkings`].
    pub aliases: u64,
    /// As in [`Linkings`].
    pub aliases_until_ns: i64,
    /// The cells that it changes, by minute and shard.
    pub cells: BTreeMap<(i64, usize), LinkedCell>,
}

impl Linkings {
    /// The same after a linking that followed it.
    pub fn follow(&mut self, publication: Publication) {
        self.sequence += 1;
        self.aliases = publication.aliases;
        self.aliases_until_ns = publication.aliases_until_ns;
        self.cells.extend(publication.cells);
    }
}

/// A version that no other linking has: the time, and twenty bits at random.
pub fn new_version() -> u64 {
    const RANDOM: u64 = (1 << 20) - 1;
    let random = RandomState::new().build_hasher().finish();
    (utc_now_ns().cast_unsigned() & !RANDOM) | (random & RANDOM)
}

/// A number that tells sets of aliases apart, whatever their order.
pub fn fingerprint(aliases: &Aliases) -> u64 {
    let of = |ChainAlias { chain, continues }: ChainAlias| {
        [chain.high(), chain.low(), continues.high(), continues.low()]
            .into_iter()
            .fold(1, |hash: u64, half| mixed(hash.rotate_left(5) ^ half))
    };
    aliases.iter().map(of).fold(0, u64::wrapping_add)
}

impl Cluster {
    /// The last linking, without cells.
    pub(super) fn newest_linking(&self) -> Result<Linkings, ClickHouseError> {
        let node = &self.nodes()[0];
        let mut linkings = Linkings::default();
        let newest = "SELECT max(sequence) AS newest, argMax(aliases, sequence) AS newest_aliases, \
            argMax(aliases_until, sequence) AS newest_until FROM linkings \
            SETTINGS select_sequential_consistency = 1";
        node.query(newest, |batch| {
            let rows = ResultRows { node, batch };
            for (row, sequence) in rows.ids("newest")?.iter().enumerate() {
                linkings.sequence = *sequence;
                linkings.aliases = rows.ids("newest_aliases")?[row];
                linkings.aliases_until_ns = rows.times("newest_until")?[row];
            }
            Ok(())
        })?;
        Ok(linkings)
    }

    /// The cells of some minutes (since 1970) as they are now.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn linkings(&self, minutes: &RangeInclusive<i64>) -> Result<Linkings, ClickHouseError> {
        let node = &self.nodes()[0];
        let mut linkings = self.newest_linking()?;
        if linkings.sequence == 0 {
            return Ok(linkings);
        }
        // Those that came meanwhile are left out: what is published of one number is all there.
        let sql = format!(
            "SELECT minute, shard, argMax(version, sequence) AS newest_version, \
             argMax(rows, sequence) AS newest_rows, argMax(foreign_rows, sequence) AS newest_foreign, \
             argMax(linked, sequence) AS newest_linked, argMax(chains, sequence) AS newest_chains, \
             argMax(links, sequence) AS newest_links \
             FROM linkings WHERE sequence <= {} AND minute BETWEEN {} AND {} \
             AND minute != {} GROUP BY minute, shard SETTINGS select_sequential_consistency = 1",
            linkings.sequence,
            minutes.start(),
            minutes.end(),
            NO_MINUTE.0
        );
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (minutes, shards) = (rows.times("minute")?, rows.numbers::<UInt32Type>("shard")?);
            let (versions, counts) = (rows.ids("newest_version")?, rows.ids("newest_rows")?);
            let (foreign, linked) = (rows.ids("newest_foreign")?, rows.ids("newest_linked")?);
            let (chains, links) = (rows.ids("newest_chains")?, rows.ids("newest_links")?);
            for (row, minute) in minutes.iter().enumerate() {
                let cell = LinkedCell {
                    version: versions[row],
                    rows: counts[row],
                    foreign: foreign[row],
                    linked: linked[row],
                    chains: chains[row],
                    links: links[row],
                };
                linkings.cells.insert((*minute, shards[row] as usize), cell);
            }
            Ok(())
        })?;
        Ok(linkings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn versions_differ() {
        let versions: BTreeSet<u64> = (0..100).map(|_| new_version()).collect();
        assert_eq!(versions.len(), 100);
    }

    #[test]
    fn a_set_of_aliases_has_one_fingerprint() {
        let of = |pairs: &[(u128, u128)]| {
            let mut aliases = Aliases::default();
            for (chain, continues) in pairs {
                let (chain, continues) = (ChainId(*chain), ChainId(*continues));
                aliases.insert(ChainAlias { chain, continues }, 0);
            }
            fingerprint(&aliases)
        };
        assert_eq!(of(&[(1, 2), (3, 4)]), of(&[(3, 4), (1, 2)]));
        let others = [of(&[]), of(&[(1, 2)]), of(&[(2, 1)]), of(&[(1, 4), (3, 2)])];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(*other, of(&[(1, 2), (3, 4)]));
            assert!(!others[..index].contains(other), "{index}");
        }
    }
}
