//! Relations of whole chains that rows tell: links to transactions of other chains, and for a foreign
//! chain the one that it continues by an alias that came late, and a source that records only a
//! sample.

use crate::arrivals::Arriving;
use crate::minutes::Minutes;
use crate::task::Task;
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, Extras, Flags, FurtherParent};
use chronoscope_store::segment_file::further_parents;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{RowKind, Segment, Snapshot, StoreError};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::collections::{BTreeSet, HashMap, HashSet};

impl Task<'_> {
    /// Finds the chains that rows name as a further parent, or continue without saying so in
    /// their chain's id: into what all threads share.
    pub(crate) fn find_linked(
        &self,
        snapshot: &Snapshot,
        minutes: &Minutes<'_>,
        arriving: &mut Arriving,
    ) -> Result<(), StoreError> {
        let aliases = &snapshot.ledger().aliases;
        let segments: Vec<&Segment> = minutes.all_segments().collect();
        let states = self.spread(&segments, Linked::default, |linked, segment: &&Segment| {
            let read = SegmentFile::open(segment).and_then(|file| {
                let mut mine = Linked::default();
                if segment.slot.kind == RowKind::Foreign || may_have_links(&file) {
                    mine.read(&file, |chain| aliases.resolve(chain))?;
                }
                Ok(mine)
            });
            if let Some(mine) = self.or_damage(segment, read)? {
                linked.merge(mine);
            }
            Ok(())
        })?;
        let mut all = Linked::default();
        states.into_iter().for_each(|state| all.merge(state));
        for record in minutes.all_unsealed() {
            if record.flags().contains(Flags::SAMPLED) {
                all.sampled.insert(record.chain());
            }
            if record.flags().contains(Flags::FURTHER_PARENTS) {
                let extras = Extras::of(snapshot.unsealed().context(record));
                all.take(&extras.further_parents);
            }
        }
        arriving.evidence.links_unknown |= all.unnamed;
        // A chain may be named by the id that it had before it was joined to another.
        for (chain, links) in all.chains {
            *arriving.linked.entry(aliases.resolve(chain)).or_default() += links;
        }
        arriving.continued = all.continued;
        arriving.sampled = all.sampled.iter().map(|chain| aliases.resolve(*chain)).collect();
        Ok(())
    }
}

/// Whether a row may have links, by the largest value of the flags: the bit of links is above all
/// others that native rows have, so that most segments are only opened.
fn may_have_links(file: &SegmentFile) -> bool {
    let without = i64::from(Flags::FURTHER_PARENTS.0) - 1;
    file.range(column::FLAGS).is_none_or(|range| *range.end() > without)
}

/// Chains that rows speak of besides their own.
#[derive(Default)]
struct Linked {
    chains: HashMap<ChainId, u64>,
    continued: BTreeSet<ChainId>,
    /// Chains with a row of a source that keeps only a share.
    sampled: HashSet<ChainId>,
    /// A row had more links than its context held.
    unnamed: bool,
}

impl Linked {
    fn merge(&mut self, other: Self) {
        for (chain, links) in other.chains {
            *self.chains.entry(chain).or_default() += links;
        }
        self.continued.extend(other.continued);
        self.sampled.extend(other.sampled);
        self.unnamed |= other.unnamed;
    }

    /// Takes in what a row says of its links that are not followed: none, where its context had no
    /// room for them.
    fn take(&mut self, parents: &[FurtherParent]) {
        self.unnamed |= parents.is_empty();
        for parent in parents {
            *self.chains.entry(parent.chain).or_default() += 1;
        }
    }

    fn read(
        &mut self,
        file: &SegmentFile,
        resolve: impl Fn(ChainId) -> ChainId,
    ) -> Result<(), StoreError> {
        let mut selectors: Vec<RowSelector> = Vec::new();
        let mut last = ChainId::NONE;
        for batch in
            file.read(&[column::FLAGS, column::CHAIN_HIGH, column::CHAIN_LOW], None, None)?
        {
            let batch = batch.map_err(file.unreadable())?;
            let columns = SegmentColumns { file, batch: &batch };
            let chains =
                columns.ids(column::CHAIN_HIGH)?.iter().zip(columns.ids(column::CHAIN_LOW)?);
            for (flags, (high, low)) in columns.bits(column::FLAGS)?.iter().zip(chains) {
                let chain = ChainId::from_halves(*high, *low);
                if chain != last {
                    last = chain;
                    let continues = resolve(chain);
                    if continues != chain {
                        self.continued.insert(continues);
                    }
                }
                if Flags(*flags).contains(Flags::SAMPLED) {
                    self.sampled.insert(chain);
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
        let selection = Some(RowSelection::from(selectors));
        for batch in file.read(&[column::FURTHER_PARENTS], None, selection)? {
            let batch = batch.map_err(file.unreadable())?;
            let parents = batch.column_by_name(column::FURTHER_PARENTS);
            let parents = parents.ok_or_else(|| file.unexpected_column(column::FURTHER_PARENTS))?;
            for row in 0..batch.num_rows() {
                let of_row = further_parents(parents, row);
                self.take(&of_row.ok_or_else(|| file.unexpected_column(column::FURTHER_PARENTS))?);
            }
        }
        Ok(())
    }
}
