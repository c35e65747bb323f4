//! The rows of chains that are to be linked, and what was linked before.

use super::super::names::ClusterNames;
use super::super::sql::between;
use super::super::take::{FetchError, take_in};
use super::assemble::{Assembly, LinkRow};
use super::cells::{CellContent, Contents};
use super::{Linking, REACH_MINUTES};
use arrow_array::types::{UInt8Type, UInt16Type};
use chronoscope_chain::{CarriedAncestors, Hop};
use chronoscope_clickhouse::{ClickHouseError, LinkedCell, ResultRows, shard_of};
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, ClassId, Flags, TransactionId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

const FOREIGN: u8 = Flags::FOREIGN.0;
/// The columns that are read.
const COLUMNS: &str = "minute, chain_high, chain_low, id, parent, \
    toUnixTimestamp64Nano(start) AS start_ns, elapsed_ns, flags, level, path, \
    toUnixTimestamp64Nano(root_start) AS root_start_ns, application, class, host, \
    ifNull(root_host, '') AS root_host_text";
/// Components that are looked for at once by their chains' ids.
const AT_ONCE: usize = 2000;

impl Linking<'_> {
    /// Links the chains of a shard that are in no component with others; and tells the components of
    /// the others.
    pub(super) fn link_shard(
        &mut self,
        shard: usize,
        window: &RangeInclusive<i64>,
    ) -> Result<BTreeSet<ChainId>, FetchError> {
        let node = &self.cluster.nodes()[shard];
        let dirty = self.dirty.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let window_sql = between("minute", window);
        let foreign = format!("top = '' AND bitAnd(flags, {FOREIGN}) != 0");
        // Chains with rows in these minutes, and foreign ones somewhere near.
        let wanted = format!(
            "SELECT chain_high, chain_low FROM transactions WHERE minute IN ({dirty}) AND {foreign} \
             UNION ALL SELECT chain_high, chain_low FROM transactions \
             WHERE minute IN ({dirty}) AND bitAnd(flags, {FOREIGN}) = 0 \
             AND (chain_high, chain_low) IN \
             (SELECT chain_high, chain_low FROM transactions WHERE {window_sql} AND {foreign})"
        );
        let cells = window.start() - REACH_MINUTES..=window.end() + REACH_MINUTES;
        let mut old = self.old_of_shard(shard, &|minute| cells.contains(&minute), &wanted)?;
        let sql = format!(
            "SELECT {COLUMNS} FROM transactions \
             WHERE {window_sql} AND (chain_high, chain_low) IN ({wanted}) \
             ORDER BY chain_high, chain_low \
             SETTINGS use_skip_indexes = 0, max_bytes_before_external_sort = 1000000000"
        );
        let mut met = BTreeSet::new();
        let mut waiting: Vec<LinkRow> = Vec::new();
        let mut read = Vec::new();
        take_in(node, &sql, |rows| {
            self.progress.check()?;
            link_rows(rows, self.names, &mut self.assembly, &mut read)?;
            for row in read.drain(..) {
                if waiting.last().is_some_and(|last| last.chain != row.chain) {
                    self.link_chain(&mut waiting, &mut old, &mut met)?;
                }
                waiting.push(row);
            }
            Ok(())
        })?;
        self.link_chain(&mut waiting, &mut old, &mut met)?;
        Ok(met)
    }

    fn link_chain(
        &mut self,
        rows: &mut Vec<LinkRow>,
        old: &mut HashMap<ChainId, Contents>,
        met: &mut BTreeSet<ChainId>,
    ) -> Result<(), FetchError> {
        let Some(chain) = rows.first().map(|row| row.chain) else { return Ok(()) };
        let component = self.names.aliases.resolve(chain);
        if self.joined.contains_key(&component) {
            met.insert(component);
        } else {
            let mut cells = BTreeMap::new();
            self.assembly.link(chain, rows, self.cluster.shard_count(), &mut cells);
            self.writer.write(cells, old.remove(&chain).unwrap_or_default(), self.dirty)?;
            self.rows += rows.len() as u64;
        }
        rows.clear();
        Ok(())
    }

    /// Links components of several chains, from their rows in some minutes or in all.
    pub(super) fn link_joined(
        &mut self,
        components: &[ChainId],
        window: Option<&RangeInclusive<i64>>,
    ) -> Result<(), FetchError> {
        for some in components.chunks(AT_ONCE) {
            self.progress.check()?;
            self.link_some_joined(some, window)?;
        }
        Ok(())
    }

    fn link_some_joined(
        &mut self,
        components: &[ChainId],
        window: Option<&RangeInclusive<i64>>,
    ) -> Result<(), FetchError> {
        let shards = self.cluster.shard_count();
        let mut chains: BTreeSet<ChainId> = components.iter().copied().collect();
        let others = components.iter().filter_map(|component| self.joined.get(component));
        chains.extend(others.flatten());
        let near = window.map_or_else(|| "1".to_owned(), |window| between("minute", window));
        let mut rows: BTreeMap<ChainId, Vec<LinkRow>> = BTreeMap::new();
        for shard in 0..shards {
            let here = chains.iter().filter(|chain| shard_of(**chain, shards) == shard);
            let Some(here) = listed(here) else { continue };
            let sql = format!(
                "SELECT {COLUMNS} FROM transactions \
                 WHERE {near} AND (chain_high, chain_low) IN ({here}) AND chain_low IN ({})",
                chains.iter().map(|chain| chain.low().to_string()).collect::<Vec<_>>().join(",")
            );
            let mut read = Vec::new();
            take_in(&self.cluster.nodes()[shard], &sql, |answer| {
                link_rows(answer, self.names, &mut self.assembly, &mut read)
            })?;
            for row in read {
                let component = self.names.aliases.resolve(row.chain);
                rows.entry(component).or_default().push(row);
            }
        }
        let minutes: BTreeSet<i64> = rows.values().flatten().map(|row| row.minute).collect();
        let mut old = Contents::new();
        if let Some(all) = listed(chains.iter()) {
            for shard in 0..shards {
                let of_shard =
                    self.old_of_shard(shard, &|minute| minutes.contains(&minute), &all)?;
                for (at, content) in of_shard.into_values().flatten() {
                    let CellContent { rows, chains } = old.entry(at).or_default();
                    rows.extend(content.rows);
                    chains.extend(content.chains);
                }
            }
        }
        let mut cells = BTreeMap::new();
        for (component, rows) in &rows {
            self.assembly.link(*component, rows, shards, &mut cells);
            self.rows += rows.len() as u64;
        }
        Ok(self.writer.write(cells, old, self.dirty)?)
    }

    /// What the cells of a shard in some minutes that are not written anew say of some chains, given
    /// as the inner SQL of `IN`.
    fn old_of_shard(
        &self,
        shard: usize,
        is_near: &dyn Fn(i64) -> bool,
        wanted: &str,
    ) -> Result<HashMap<ChainId, Contents>, ClickHouseError> {
        let cells: Vec<_> = self
            .state
            .cells
            .iter()
            .filter(|((minute, of), _)| {
                *of == shard && is_near(*minute) && !self.dirty.contains(minute)
            })
            .map(|((minute, _), cell)| (minute, cell))
            .collect();
        let versions = |has: &dyn Fn(&(&i64, &LinkedCell)) -> bool| {
            let cells = cells.iter().filter(|cell| has(cell));
            let cells: Vec<String> =
                cells.map(|(minute, cell)| format!("({minute},{})", cell.version)).collect();
            (!cells.is_empty()).then(|| cells.join(","))
        };
        let node = &self.cluster.nodes()[shard];
        let mut old: HashMap<ChainId, Contents> = HashMap::new();
        if let Some(versions) = versions(&|(_, cell)| cell.linked > 0) {
            let sql = format!(
                "SELECT minute, component_high, component_low, count() AS rows FROM linked_rows \
                 WHERE (minute, version) IN ({versions}) \
                 AND (component_high, component_low) IN ({wanted}) \
                 GROUP BY minute, component_high, component_low"
            );
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let (high, low) = (rows.ids("component_high")?, rows.ids("component_low")?);
                let (minutes, counts) = (rows.times("minute")?, rows.ids("rows")?);
                for row in 0..minutes.len() {
                    let component = ChainId::from_halves(high[row], low[row]);
                    let cell = old.entry(component).or_default().entry((minutes[row], shard));
                    cell.or_default().rows.insert(component, counts[row]);
                }
                Ok(())
            })?;
        }
        if let Some(versions) = versions(&|(_, cell)| cell.chains > 0) {
            let sql = format!(
                "SELECT minute, chain_high, chain_low, component_high, component_low, loose \
                 FROM foreign_chains WHERE (minute, version) IN ({versions}) \
                 AND (chain_high, chain_low) IN ({wanted})"
            );
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let (high, low) = (rows.ids("chain_high")?, rows.ids("chain_low")?);
                let (of_high, of_low) = (rows.ids("component_high")?, rows.ids("component_low")?);
                let (minutes, loose) = (rows.times("minute")?, rows.numbers::<UInt8Type>("loose")?);
                for row in 0..minutes.len() {
                    let chain = ChainId::from_halves(high[row], low[row]);
                    let component = ChainId::from_halves(of_high[row], of_low[row]);
                    let cell = old.entry(chain).or_default().entry((minutes[row], shard));
                    cell.or_default().chains.insert(chain, (component, loose[row] != 0));
                }
                Ok(())
            })?;
        }
        Ok(old)
    }
}

/// Chains as pairs of numbers; `None` without any.
fn listed<'a>(chains: impl Iterator<Item = &'a ChainId>) -> Option<String> {
    let pairs: Vec<String> =
        chains.map(|chain| format!("({},{})", chain.high(), chain.low())).collect();
    (!pairs.is_empty()).then(|| pairs.join(","))
}

/// Takes in the rows of an answer.
fn link_rows(
    rows: &ResultRows<'_>,
    names: &ClusterNames,
    assembly: &mut Assembly,
    into: &mut Vec<LinkRow>,
) -> Result<(), FetchError> {
    let (high, low) = (rows.ids(column::CHAIN_HIGH)?, rows.ids(column::CHAIN_LOW)?);
    let (ids, parents) = (rows.ids(column::ID)?, rows.ids(column::PARENT)?);
    let (minutes, starts) = (rows.times("minute")?, rows.times("start_ns")?);
    let (elapsed, roots) = (rows.times(column::ELAPSED_NS)?, rows.times("root_start_ns")?);
    let flags = rows.numbers::<UInt8Type>(column::FLAGS)?;
    let levels = rows.numbers::<UInt16Type>(column::LEVEL)?;
    let (paths, applications) = (rows.texts(column::PATH)?, rows.texts(column::APPLICATION)?);
    let (classes, hosts) = (rows.texts(column::CLASS)?, rows.texts(column::HOST)?);
    let root_hosts = rows.texts("root_host_text")?;
    for row in 0..minutes.len() {
        let (class, told) = if Flags(flags[row]).contains(Flags::FOREIGN) {
            (assembly.catalog.class(applications.value(row), classes.value(row)), None)
        } else {
            let text = paths.value(row);
            if !text.is_empty() && !names.paths.contains_key(text) {
                return Err(FetchError::NewPath);
            }
            let classes = &assembly.catalog.path(text).classes;
            let path = assembly.paths.of(classes);
            let told = CarriedAncestors { path, level: levels[row], root_start_ns: roots[row] };
            (classes.last().copied().unwrap_or(ClassId::NONE), Some(told))
        };
        into.push(LinkRow {
            hop: Hop {
                id: TransactionId(ids[row]),
                parent: TransactionId(parents[row]),
                class,
                start_ns: starts[row],
                elapsed_ns: elapsed[row].cast_unsigned(),
            },
            told,
            hosts: [assembly.word(hosts.value(row)), assembly.word(root_hosts.value(row))],
            chain: ChainId::from_halves(high[row], low[row]),
            minute: minutes[row],
        });
    }
    Ok(())
}
