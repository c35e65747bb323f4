//! Chains that go on in another one's name.
//!
//! A consumer that was not handed its producer's trace begins one of its own and links to the
//! producer's. Then rows of its chain belong to the producer's chain: an alias says so, and rows
//! are read and sealed under the chain that it leads to.
//!
//! Limits: an alias is kept for [`ALIAS_AGE_NS`] after it was told, by the collector's clock, and
//! at most [`ALIASES_MAX`] are; those that go before their time are counted
//! ([`Aliases::dropped`]). Rows that were sealed before their alias came keep their own chain.

use chronoscope_model::{ChainId, Record};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Time that an alias is kept: an hour. Rows are usually sealed some 3 minutes after they start.
pub const ALIAS_AGE_NS: u64 = 3_600_000_000_000;

/// Most aliases that are kept, oldest dropped first; some 20 MB of memory.
pub const ALIASES_MAX: usize = 1 << 18;

/// Most aliases that are followed from one to the next.
const STEPS_MAX: u32 = 64;

/// Rows of one chain belong to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainAlias {
    /// The chain that rows say they are of.
    pub chain: ChainId,
    /// The chain that they belong to.
    pub continues: ChainId,
}

/// The aliases that hold now. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    kept: Arc<Kept>,
    dropped: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Kept {
    continues: HashMap<ChainId, ChainId>,
    /// When they were told (UTC, nanoseconds since 1970), in the order of telling.
    told: VecDeque<(i64, ChainId)>,
}

impl Aliases {
    /// Takes in an alias that was told at `at_ns` (UTC, nanoseconds since 1970), and forgets those
    /// whose time is over then. One that would close a circle is not taken.
    pub fn insert(&mut self, alias: ChainAlias, at_ns: i64) {
        let ChainAlias { chain, continues } = alias;
        let known = self.kept.continues.get(&chain).copied();
        if known == Some(continues) || self.resolve(continues) == chain {
            return;
        }
        let kept = Arc::make_mut(&mut self.kept);
        if kept.continues.insert(chain, continues).is_none() {
            kept.told.push_back((at_ns, chain));
        }
        let over = |kept: &Kept| match kept.told.front() {
            // A clock that is set back must not keep them for ever.
            Some((told_ns, _)) if told_ns.abs_diff(at_ns) > ALIAS_AGE_NS => Some(false),
            Some(_) if kept.told.len() > ALIASES_MAX => Some(true),
            _ => None,
        };
        while let Some(too_many) = over(kept) {
            self.dropped += u64::from(too_many);
            if let Some((_, chain)) = kept.told.pop_front() {
                kept.continues.remove(&chain);
            }
        }
    }

    /// The chain that rows of `chain` belong to.
    pub fn resolve(&self, chain: ChainId) -> ChainId {
        let mut at = chain;
        for _ in 0..STEPS_MAX {
            match self.kept.continues.get(&at) {
                Some(next) => at = *next,
                None => break,
            }
        }
        at
    }

    /// The chains whose rows belong to `chain`, itself among them.
    pub fn continued_by(&self, chain: ChainId) -> Vec<ChainId> {
        let others = self.kept.continues.keys().copied().filter(|other| *other != chain);
        let mut chains: Vec<ChainId> =
            others.filter(|other| self.resolve(*other) == chain).collect();
        if self.resolve(chain) == chain {
            chains.push(chain);
        }
        chains.sort_unstable();
        chains
    }

    /// Puts `chain` and those that it continues into `chains`, the one that it belongs to last.
    pub fn steps(&self, chain: ChainId, chains: &mut Vec<ChainId>) {
        chains.clear();
        chains.push(chain);
        for _ in 0..STEPS_MAX {
            match chains.last().and_then(|at| self.kept.continues.get(at)) {
                Some(next) => chains.push(*next),
                None => break,
            }
        }
    }

    /// Gives records the chain that they belong to.
    pub(crate) fn apply(&self, records: &mut [Record]) {
        if self.is_empty() {
            return;
        }
        for record in records {
            let chain = self.resolve(record.chain());
            (record.chain_high, record.chain_low) = (chain.high(), chain.low());
        }
    }

    /// All aliases, in no order.
    pub fn iter(&self) -> impl Iterator<Item = ChainAlias> {
        let alias = |(chain, continues): (&ChainId, &ChainId)| ChainAlias {
            chain: *chain,
            continues: *continues,
        };
        self.kept.continues.iter().map(alias)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.continues.is_empty()
    }

    /// Number of aliases.
    pub fn len(&self) -> usize {
        self.kept.continues.len()
    }

    /// Number of aliases that were ever dropped before [`ALIAS_AGE_NS`], because there were too
    /// many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn set_dropped(&mut self, dropped: u64) {
        self.dropped = dropped;
    }

    /// All aliases with the instants they were told at, oldest first.
    pub(crate) fn told(&self) -> impl Iterator<Item = (ChainAlias, i64)> {
        let alias = |(at_ns, chain): &(i64, ChainId)| {
            let continues = *self.kept.continues.get(chain)?;
            Some((ChainAlias { chain: *chain, continues }, *at_ns))
        };
        self.kept.told.iter().filter_map(alias)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alias(chain: u128, continues: u128) -> ChainAlias {
        ChainAlias { chain: ChainId(chain), continues: ChainId(continues) }
    }

    #[test]
    fn aliases_are_followed_and_never_in_circles() {
        let mut aliases = Aliases::default();
        for (chain, continues) in [(3, 2), (2, 1), (1, 3), (1, 1), (9, 3)] {
            aliases.insert(alias(chain, continues), 0);
        }
        assert_eq!(aliases.len(), 3);
        assert_eq!([1, 2, 3, 9, 8].map(|chain| aliases.resolve(ChainId(chain)).0), [1, 1, 1, 1, 8]);
        assert_eq!(aliases.continued_by(ChainId(1)), [1, 2, 3, 9].map(ChainId));
        assert_eq!(aliases.continued_by(ChainId(3)), []);
        let mut steps = vec![ChainId(5)];
        aliases.steps(ChainId(9), &mut steps);
        assert_eq!(steps, [9, 3, 2, 1].map(ChainId));
    }

    #[test]
    fn aliases_go_after_their_time_and_oldest_first_when_there_are_too_many() {
        let mut aliases = Aliases::default();
        aliases.insert(alias(1, 2), 5);
        aliases.insert(alias(3, 4), 5 + i64::try_from(ALIAS_AGE_NS).unwrap());
        assert_eq!((aliases.len(), aliases.dropped()), (2, 0));
        aliases.insert(alias(5, 6), 6 + i64::try_from(ALIAS_AGE_NS).unwrap());
        assert_eq!((aliases.len(), aliases.dropped()), (2, 0));
        assert_eq!(aliases.resolve(ChainId(1)), ChainId(1));
        for n in 0..ALIASES_MAX as u128 {
            aliases.insert(alias(100 + n, 7), 6 + i64::try_from(ALIAS_AGE_NS).unwrap());
        }
        assert_eq!((aliases.len(), aliases.dropped()), (ALIASES_MAX, 2));
        assert_eq!(aliases.resolve(ChainId(5)), ChainId(5));
        assert_eq!(aliases.resolve(ChainId(100)), ChainId(7));
    }
}
