//! Linking fan-in: rows with further parents join chains into components.
//!
//! The links of minutes that are linked are read from their rows. Components are those that links of
//! minutes around have already, and new ones; where a link joins two of them, one takes the other's
//! id in all minutes within reach, and so where an alias does. As with chains, what lies more than an
//! hour apart is not looked for. A component may be larger than it should be when links were deleted,
//! and never smaller.

use super::super::take::FetchError;
use super::{Linking, REACH_MINUTES};
use chronoscope_clickhouse::{ChainLink, ClickHouseError, ResultRows, shard_of};
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, Flags, TransactionId};
use std::collections::{BTreeSet, HashMap};

/// Chains that are looked for at once.
const AT_ONCE: usize = 2000;

/// Chains, and ids of components, that are joined; each is the id of a chain.
#[derive(Debug, Default)]
struct Joined {
    above: HashMap<ChainId, ChainId>,
    /// The ids among them that stored links have.
    stored: BTreeSet<ChainId>,
}

impl Joined {
    fn top(&mut self, of: ChainId) -> ChainId {
        let mut at = of;
        while let Some(next) = self.above.get(&at).copied().filter(|next| *next != at) {
            // Half of the way for the next one.
            let over = self.above.get(&next).copied().unwrap_or(next);
            self.above.insert(at, over);
            at = over;
        }
        at
    }

    /// Joins two: an id that is stored stays, and of two the smaller one.
    fn join(&mut self, a: ChainId, b: ChainId) {
        let [a, b] = [a, b].map(|of| self.top(of));
        let rank = |of: ChainId| (!self.stored.contains(&of), of);
        let (stays, goes) = if rank(a) <= rank(b) { (a, b) } else { (b, a) };
        self.above.insert(goes, stays);
    }
}

impl Linking<'_> {
    /// Links the further parents of rows in the minutes that are linked, and joins the components of
    /// chains that were renamed.
    pub(super) fn link_inputs(&mut self, renamed: &[ChainId]) -> Result<(), FetchError> {
        let new = self.new_links()?;
        let mut ends: BTreeSet<ChainId> =
            new.iter().flat_map(|link| [link.chain, link.of]).collect();
        ends.extend(renamed);
        if ends.is_empty() {
            return Ok(());
        }
        // By whatever id its rows are stored.
        let own: Vec<ChainId> = ends.iter().map(|end| self.names.aliases.resolve(*end)).collect();
        for component in own {
            ends.extend(self.joined.get(&component).into_iter().flatten());
        }
        let everywhere = !renamed.is_empty();
        let known = self.links_at(&ends, everywhere)?;
        let mut joined = Joined::default();
        joined.stored.extend(known.iter().map(|link| link.component));
        for end in &ends {
            joined.join(*end, self.names.aliases.resolve(*end));
        }
        for link in &known {
            let component = link.component;
            for end in [link.chain, link.of] {
                joined.join(self.names.aliases.resolve(end), component);
            }
        }
        for link in &new {
            joined.join(link.chain, link.of);
        }
        let replaced: BTreeSet<ChainId> =
            known.iter().map(|link| link.component).filter(|id| joined.top(*id) != *id).collect();
        let old = self.links_of(&replaced, everywhere)?;
        self.rows += (new.len() + old.len()) as u64;
        for link in new.into_iter().chain(old.iter().copied()) {
            // Of an old one what its component has become, of a new one that of its chain.
            let is_old = replaced.contains(&link.component);
            let of = if is_old { link.component } else { link.chain };
            let component = joined.top(of);
            for at in self.cells_of(&link) {
                if is_old {
                    let links = &mut self.writer.changed.entry(at).or_default().links;
                    links.insert(link.component);
                }
                self.writer.add_link(at, ChainLink { component, ..link })?;
            }
        }
        Ok(())
    }

    /// The cells that have a link: of its row's minute, on the shards of both chains.
    fn cells_of(&self, link: &ChainLink) -> BTreeSet<(i64, usize)> {
        let shards = self.cluster.shard_count();
        [link.chain, link.of].map(|chain| (link.minute, shard_of(chain, shards))).into()
    }

    /// The links of rows in the minutes that are linked.
    fn new_links(&self) -> Result<BTreeSet<ChainLink>, ClickHouseError> {
        let mut links = BTreeSet::new();
        let has_links = |minute: &&i64, shard: usize| {
            self.counts.get(minute).is_some_and(|rows| rows[shard].links > 0)
        };
        for (shard, node) in self.cluster.nodes().iter().enumerate() {
            let minutes = self.dirty.iter().filter(|minute| has_links(minute, shard));
            let minutes = minutes.map(i64::to_string).collect::<Vec<_>>().join(",");
            if minutes.is_empty() {
                continue;
            }
            let sql = format!(
                "SELECT minute, chain_high, chain_low, id, \
                 tupleElement(parent, 'chain_high') AS of_high, \
                 tupleElement(parent, 'chain_low') AS of_low, tupleElement(parent, 'id') AS of_id \
                 FROM transactions ARRAY JOIN further_parents AS parent \
                 WHERE minute IN ({minutes}) AND bitAnd(flags, {}) != 0",
                Flags::FURTHER_PARENTS.0
            );
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let (high, low) = (rows.ids(column::CHAIN_HIGH)?, rows.ids(column::CHAIN_LOW)?);
                let (of_high, of_low) = (rows.ids("of_high")?, rows.ids("of_low")?);
                let (ids, of_ids) = (rows.ids(column::ID)?, rows.ids("of_id")?);
                for (row, minute) in rows.times("minute")?.iter().enumerate() {
                    links.insert(ChainLink {
                        minute: *minute,
                        chain: ChainId::from_halves(high[row], low[row]),
                        id: TransactionId(ids[row]),
                        of: ChainId::from_halves(of_high[row], of_low[row]),
                        of_id: TransactionId(of_ids[row]),
                        component: ChainId::NONE,
                    });
                }
                Ok(())
            })?;
        }
        Ok(links)
    }

    /// Stored links to or from some chains, in minutes that are not linked anew.
    fn links_at(
        &self,
        ends: &BTreeSet<ChainId>,
        everywhere: bool,
    ) -> Result<BTreeSet<ChainLink>, ClickHouseError> {
        let shards = self.cluster.shard_count();
        let mut found = BTreeSet::new();
        for shard in 0..shards {
            let here = ends.iter().filter(|end| shard_of(**end, shards) == shard);
            let here: Vec<&ChainId> = here.collect();
            for some in here.chunks(AT_ONCE) {
                let list = pairs(some.iter().copied());
                let condition =
                    format!("(chain_high, chain_low) IN ({list}) OR (of_high, of_low) IN ({list})");
                found.extend(self.stored_links(shard, &condition, everywhere)?);
            }
        }
        Ok(found)
    }

    /// The stored links of some components, likewise.
    fn links_of(
        &self,
        components: &BTreeSet<ChainId>,
        everywhere: bool,
    ) -> Result<BTreeSet<ChainLink>, ClickHouseError> {
        let mut found = BTreeSet::new();
        let components: Vec<&ChainId> = components.iter().collect();
        for some in components.chunks(AT_ONCE) {
            let condition =
                format!("(component_high, component_low) IN ({})", pairs(some.iter().copied()));
            for shard in 0..self.cluster.shard_count() {
                found.extend(self.stored_links(shard, &condition, everywhere)?);
            }
        }
        Ok(found)
    }

    fn stored_links(
        &self,
        shard: usize,
        condition: &str,
        everywhere: bool,
    ) -> Result<Vec<ChainLink>, ClickHouseError> {
        let (first, last) = (self.dirty.first(), self.dirty.last());
        let near = first.zip(last).map(|(first, last)| {
            first.saturating_sub(REACH_MINUTES)..=last.saturating_add(REACH_MINUTES)
        });
        let wanted = |minute: i64| {
            let is_near = everywhere || near.as_ref().is_some_and(|near| near.contains(&minute));
            is_near && !self.dirty.contains(&minute)
        };
        self.cluster.chain_links(shard, self.state, (&wanted, condition))
    }
}

fn pairs<'a>(chains: impl Iterator<Item = &'a ChainId>) -> String {
    chains.map(|chain| format!("({},{})", chain.high(), chain.low())).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_stored_id_stays() {
        let mut joined = Joined::default();
        joined.stored.extend([ChainId(5), ChainId(7)]);
        let pairs = [(9, 8), (8, 7), (3, 2), (2, 1), (5, 3)];
        pairs.iter().for_each(|(a, b)| joined.join(ChainId(*a), ChainId(*b)));
        let tops = |joined: &mut Joined| [9, 8, 7, 1, 2, 3, 5].map(|of| joined.top(ChainId(of)).0);
        assert_eq!(tops(&mut joined), [7, 7, 7, 5, 5, 5, 5]);
        joined.join(ChainId(1), ChainId(9));
        assert_eq!(tops(&mut joined), [5; 7]);
        assert_eq!(joined.top(ChainId(4)), ChainId(4), "nothing joins it");
    }
}
