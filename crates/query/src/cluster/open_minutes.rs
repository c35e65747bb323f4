//! The rows of minutes that are not linked yet, and which chains straddle: they have rows there and in
//! minutes that are linked.
//!
//! A question takes the rows of these minutes at one moment, and everything else follows from them.
//! The shards say which chains have rows in both; of these the ones count that are among the rows that
//! were taken, so that rows that come meanwhile are of no chain for this question.

use super::ask::ClusterView;
use super::fetched::FetchedMinute;
use super::missing::Missing;
use super::names::ClusterNames;
use super::needed::NeededMinutes;
use super::sql::between;
use super::take::FetchError;
use crate::progress::Progress;
use chronoscope_clickhouse::{Cluster, ResultRows};
use chronoscope_model::ChainId;
use chronoscope_model::schema::column;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Most chains that straddle: their ids are in the questions to the shards.
const STRADDLING_MAX: usize = 50_000;

/// Rows of open minutes, and the chains that straddle.
pub(super) struct OpenRows {
    pub(super) minutes: Vec<Arc<FetchedMinute>>,
    /// By whatever id their rows are stored, and the ids of their components.
    pub(super) straddling: BTreeSet<ChainId>,
}

impl ClusterView {
    /// The rows of open minutes as they are now; `None` where too many chains straddle, a path was
    /// named meanwhile, or a shard is missing.
    pub(super) fn open_rows(
        &self,
        (open, around): (&BTreeSet<i64>, &RangeInclusive<i64>),
        names: &ClusterNames,
        progress: &Progress,
    ) -> Result<Option<OpenRows>, FetchError> {
        let one = |minute: &i64| NeededMinutes { whole: *minute..=*minute, foreign_last: *minute };
        let needed: Vec<NeededMinutes> = open.iter().map(one).collect();
        let mut away = Missing::default();
        let minutes = match needed.is_empty() {
            true => Vec::new(),
            false => self.fetched.of(self.cluster(), names, &needed, (&mut away, progress))?,
        };
        if !away.0.is_empty() {
            return Ok(None);
        }
        let Some(both) = in_both(self.cluster(), open, around)? else { return Ok(None) };
        let mut straddling = BTreeSet::new();
        let mut components = HashSet::new();
        let joined: HashSet<ChainId> =
            names.aliases.iter().flat_map(|alias| [alias.chain, alias.continues]).collect();
        for segment in minutes.iter().flat_map(|minute| &minute.segments) {
            progress.check()?;
            let file = SegmentFile::open(segment)?;
            for batch in file.read(&[column::CHAIN_HIGH, column::CHAIN_LOW], None, None)? {
                let batch = batch.map_err(file.unreadable())?;
                let columns = SegmentColumns { file: &file, batch: &batch };
                let high = columns.ids(column::CHAIN_HIGH)?;
                for (high, low) in high.iter().zip(columns.ids(column::CHAIN_LOW)?) {
                    let chain = ChainId::from_halves(*high, *low);
                    if joined.contains(&chain) {
                        components.insert(names.aliases.resolve(chain));
                    } else if both.contains(&chain) {
                        straddling.insert(chain);
                    }
                }
            }
        }
        // Rows of such chains may be on another shard.
        let of_components = |chain: &&ChainId| components.contains(&names.aliases.resolve(**chain));
        straddling.extend(joined.iter().filter(of_components));
        let few = straddling.len() <= STRADDLING_MAX;
        Ok(few.then_some(OpenRows { minutes, straddling }))
    }
}

/// The chains that have rows in open minutes and in others around; `None` where they are too many.
fn in_both(
    cluster: &Cluster,
    open: &BTreeSet<i64>,
    around: &RangeInclusive<i64>,
) -> Result<Option<HashSet<ChainId>>, FetchError> {
    if open.is_empty() {
        return Ok(Some(HashSet::new()));
    }
    let open = open.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let sql = format!(
        "SELECT DISTINCT chain_high, chain_low FROM transactions \
         WHERE {} AND minute NOT IN ({open}) AND (chain_high, chain_low) IN \
         (SELECT chain_high, chain_low FROM transactions WHERE minute IN ({open})) LIMIT {}",
        between("minute", around),
        STRADDLING_MAX + 1
    );
    let by_shard = cluster.on_all(|_, node| {
        let mut found = Vec::new();
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let halves = rows.ids(column::CHAIN_HIGH)?.iter().zip(rows.ids(column::CHAIN_LOW)?);
            found.extend(halves.map(|(high, low)| ChainId::from_halves(*high, *low)));
            Ok(())
        })?;
        Ok(found)
    })?;
    let few = by_shard.iter().all(|found| found.len() <= STRADDLING_MAX);
    Ok(few.then(|| by_shard.into_iter().flatten().collect()))
}
