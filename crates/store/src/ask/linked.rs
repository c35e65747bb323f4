//! Chains that rows speak of besides their own: by links to further parents, and by aliases that
//! came after the rows were stored.

use super::arrivals::Arriving;
use super::file::{Columns, SegmentFile};
use super::run::{Minutes, Task};
use crate::{Segment, Snapshot, StoreError};
use arrow_array::cast::AsArray;
use arrow_array::{Array, MapArray, StringArray};
use chronoscope_model::context::{Entry, UNFOLLOWED_LINKS, entries};
use chronoscope_model::{ChainId, Flags};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::collections::{BTreeSet, HashMap};

impl Task<'_> {
    /// Finds the chains that rows name as a further parent, or continue without saying so in
    /// their chain's id: into what all threads share.
    pub(super) fn find_linked(
        &self,
        snapshot: &Snapshot,
        minutes: &Minutes<'_>,
        arriving: &mut Arriving,
    ) -> Result<(), StoreError> {
        let aliases = &snapshot.ledger().aliases;
        let states =
            self.spread(&minutes.foreign, Linked::default, |linked, segment: &&Segment| {
                let read = SegmentFile::open(&segment.path).and_then(|file| {
                    let mut mine = Linked::default();
                    mine.read(&file, |chain| aliases.resolve(chain))?;
                    Ok(mine)
                });
                if let Some(mine) = self.or_damage(segment, read)? {
                    linked.merge(mine);
                }
                Ok(())
            })?;
        let mut all = Linked::default();
        states.into_iter().for_each(|state| all.merge(state));
        for record in &minutes.foreign_unsealed {
            if record.flags().contains(Flags::FURTHER_PARENTS) {
                all.take(entries(snapshot.unsealed().context(record)).find_map(
                    |entry| match entry {
                        Entry::Property(UNFOLLOWED_LINKS, chains) => Some(chains),
                        _ => None,
                    },
                ));
            }
        }
        arriving.evidence.aliases_dropped |= all.unnamed;
        // A chain may be named by the id that it had before it was joined to another.
        for (chain, links) in all.chains {
            *arriving.linked.entry(aliases.resolve(chain)).or_default() += links;
        }
        arriving.continued = all.continued;
        Ok(())
    }
}

/// Chains that rows speak of besides their own.
#[derive(Default)]
struct Linked {
    chains: HashMap<ChainId, u64>,
    continued: BTreeSet<ChainId>,
    /// A row had more links than its context held.
    unnamed: bool,
}

impl Linked {
    fn merge(&mut self, other: Self) {
        for (chain, links) in other.chains {
            *self.chains.entry(chain).or_default() += links;
        }
        self.continued.extend(other.continued);
        self.unnamed |= other.unnamed;
    }

    /// Takes in what a row says of its unfollowed links.
    fn take(&mut self, chains: Option<&str>) {
        let Some(chains) = chains else {
            self.unnamed = true;
            return;
        };
        for chain in chains.split(' ') {
            match chain.parse() {
                Ok(chain) => *self.chains.entry(chain).or_default() += 1,
                Err(_) => self.unnamed = true,
            }
        }
    }

    fn read(
        &mut self,
        file: &SegmentFile,
        resolve: impl Fn(ChainId) -> ChainId,
    ) -> Result<(), StoreError> {
        let mut selectors: Vec<RowSelector> = Vec::new();
        let mut last = ChainId::NONE;
        for batch in file.read(&["flags", "chain_high", "chain_low"], None, None)? {
            let batch = batch.map_err(file.unreadable())?;
            let columns = Columns { file, batch: &batch };
            let chains = columns.ids("chain_high")?.iter().zip(columns.ids("chain_low")?);
            for (flags, (high, low)) in columns.bits("flags")?.iter().zip(chains) {
                let chain = ChainId::from_halves(*high, *low);
                if chain != last {
                    last = chain;
                    let continues = resolve(chain);
                    if continues != chain {
                        self.continued.insert(continues);
                    }
                }
                let skip = !Flags(*flags).contains(Flags::FURTHER_PARENTS);
                match selectors.last_mut() {
                    Some(known) if known.skip == skip => known.row_count += 1,
                    _ => selectors.push(RowSelector { row_count: 1, skip }),
                }
            }
        }
        if selectors.iter().all(|selector| selector.skip) {
            return Ok(());
        }
        for batch in file.read(&["properties"], None, Some(RowSelection::from(selectors)))? {
            let batch = batch.map_err(file.unreadable())?;
            let column: Option<&MapArray> =
                batch.column_by_name("properties").and_then(|column| column.as_map_opt());
            let column = column.ok_or_else(|| file.strange("properties"))?;
            for row in 0..batch.num_rows() {
                self.take(property(column, row, UNFOLLOWED_LINKS));
            }
        }
        Ok(())
    }
}

/// A property of a row.
fn property<'a>(column: &'a MapArray, row: usize, key: &str) -> Option<&'a str> {
    if column.is_null(row) {
        return None;
    }
    let keys: &StringArray = column.keys().as_string_opt::<i32>()?;
    let values: &StringArray = column.values().as_string_opt::<i32>()?;
    let offsets = column.value_offsets();
    let at = |index: usize| usize::try_from(offsets[index]).unwrap_or(0);
    let found = (at(row)..at(row + 1)).find(|at| keys.value(*at) == key)?;
    Some(values.value(found))
}
