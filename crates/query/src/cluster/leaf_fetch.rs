//! The columns of leaves, from the shards into segments.

use super::leaves::{Leaves, Versions};
use super::sql::quoted;
use super::take::{FetchError, new_file_number, take_in};
use crate::progress::Progress;
use crate::question::Limits;
use crate::spread::spread;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt8Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt8Array, UInt64Array,
};
use chronoscope_clickhouse::{ClickHouseError, Cluster, Node, ResultRows};
use chronoscope_model::schema::{self, column};
use chronoscope_store::{Minute, RowKind, Segment, Slot, StoreError, seal_columns_aside};
use parquet::errors::ParquetError;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Columns of leaves being fetched.
pub(super) struct LeafFetch<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) leaves: &'a Leaves,
    pub(super) versions: &'a Versions,
    pub(super) folder: &'a Path,
    pub(super) progress: &'a Progress,
}

/// The leaves of one path in one minute.
#[derive(Default)]
struct PathRows {
    start: Vec<i64>,
    elapsed: Vec<i64>,
    root_start: Vec<i64>,
    /// Numbers of texts in [`MinutePaths::hosts`].
    host: Vec<i32>,
    /// Empty where nobody asks for them.
    root_host: Vec<i32>,
    links: Vec<u8>,
    chain_high: Vec<u64>,
    chain_low: Vec<u64>,
}

/// Leaves by minute and path.
#[derive(Default)]
struct MinutePaths {
    minutes: BTreeMap<i64, BTreeMap<String, PathRows>>,
    hosts: Vec<String>,
    host_numbers: HashMap<String, i32>,
}

impl LeafFetch<'_> {
    /// The segments of some minutes; none for a minute without such leaves.
    pub(super) fn fetch(&self, minutes: &[i64]) -> Result<BTreeMap<i64, Vec<Segment>>, FetchError> {
        let failed = Mutex::new(None);
        let by_shard =
            self.cluster.on_all(|shard, node| match self.fetch_shard(shard, node, minutes) {
                Ok(found) => Ok(Some(found)),
                Err(error) => {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    Ok(None)
                }
            })?;
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let mut all = MinutePaths::default();
        by_shard.into_iter().flatten().for_each(|found| all.merge(found));
        let hosts: ArrayRef = Arc::new(StringArray::from(all.hosts));
        let mut segments: BTreeMap<i64, Vec<Segment>> =
            minutes.iter().map(|minute| (*minute, Vec::new())).collect();
        let jobs: Vec<_> =
            all.minutes.into_iter().map(|(m, paths)| (m, Mutex::new(paths))).collect();
        let states =
            spread(&jobs, Limits::default().threads, Vec::new, |done, (minute, paths)| {
                self.progress.check()?;
                let paths =
                    std::mem::take(&mut *paths.lock().unwrap_or_else(PoisonError::into_inner));
                let slot = Slot { minute: Minute(*minute), kind: RowKind::Native };
                let batch = batch(paths, &hosts, self.leaves);
                let path = self.folder.join(slot.to_string());
                let batch = batch.map_err(|source| StoreError::Parquet { path, source })?;
                done.push(seal_columns_aside(self.folder, new_file_number(), slot, &batch)?);
                Ok(())
            })?;
        for segment in states.into_iter().flatten() {
            segments.entry(segment.slot.minute.0).or_default().push(segment);
        }
        Ok(segments)
    }

    fn fetch_shard(
        &self,
        shard: usize,
        node: &Node,
        minutes: &[i64],
    ) -> Result<MinutePaths, FetchError> {
        let (paths, tops) = (&self.leaves.wanted.paths, &self.leaves.wanted.tops);
        let mut found = MinutePaths::default();
        if paths.is_empty() {
            return Ok(found);
        }
        let (paths, tops) = (quoted_list(paths), quoted_list(tops));
        let chains = if self.leaves.with_chains { ", chain_high, chain_low" } else { "" };
        let roots = match self.leaves.with_root_hosts {
            true => ", ifNull(root_host, '') AS root_host_text",
            false => "",
        };
        let of_shard = |minute: &&i64| {
            self.versions.get(minute).is_some_and(|of_shards| of_shards[shard].is_some())
        };
        let on_shard: Vec<String> = minutes.iter().filter(of_shard).map(i64::to_string).collect();
        let linked = self.leaves.linked.as_ref();
        let native = linked.map_or_else(String::new, |linked| linked.without_foreign(shard));
        if !on_shard.is_empty() {
            let sql = format!(
                "SELECT minute, path, host, toUnixTimestamp64Nano(start) AS start_ns, elapsed_ns, \
                 toUnixTimestamp64Nano(root_start) AS root_start_ns{chains}{roots} \
                 FROM transactions PREWHERE path IN ({paths}) \
                 WHERE minute IN ({}) AND top IN ({tops}){native}",
                on_shard.join(",")
            );
            take_in(node, &sql, |rows| {
                self.progress.check()?;
                Ok(found.add(rows, self.leaves)?)
            })?;
        }
        self.mark(shard, node, minutes, (&paths, chains, &native), &mut found)?;
        self.fetch_linked(shard, node, minutes, &paths, &mut found)?;
        Ok(found)
    }

    /// The leaves of linked chains with foreign rows.
    fn fetch_linked(
        &self,
        shard: usize,
        node: &Node,
        minutes: &[i64],
        paths: &str,
        found: &mut MinutePaths,
    ) -> Result<(), FetchError> {
        let Some(linked) = &self.leaves.linked else { return Ok(()) };
        let Some(cells) = linked.listed(minutes, shard) else { return Ok(()) };
        let chains = match self.leaves.with_chains {
            true => ", component_high AS chain_high, component_low AS chain_low",
            false => "",
        };
        let sql = format!(
            "SELECT minute, path, host, start_ns, elapsed_ns, root_start_ns, links{chains}, \
             root_host AS root_host_text FROM linked_rows \
             WHERE (minute, version) IN ({cells}) AND path IN ({paths}){}",
            linked.without_loose(shard)
        );
        take_in(node, &sql, |rows| {
            self.progress.check()?;
            Ok(found.add(rows, self.leaves)?)
        })
    }

    /// Marks the rows of which something is wrong.
    fn mark(
        &self,
        shard: usize,
        node: &Node,
        minutes: &[i64],
        (paths, chains, native): (&str, &str, &str),
        found: &mut MinutePaths,
    ) -> Result<(), FetchError> {
        let unusual = minutes.iter().filter_map(|minute| {
            let version = self.versions.get(minute)?[shard].filter(|sealed| sealed.unusual > 0)?;
            Some(format!("({minute}, {})", version.version))
        });
        let unusual: Vec<String> = unusual.collect();
        if unusual.is_empty() {
            return Ok(());
        }
        let sql = format!(
            "SELECT minute, path, host, start_ns, elapsed_ns, root_start_ns, links{chains}, \
             root_host AS root_host_text FROM unusual_rows \
             WHERE (minute, version) IN ({}) AND path IN ({paths}){native}",
            unusual.join(",")
        );
        let mut marks = MinutePaths::default();
        take_in(node, &sql, |rows| Ok(marks.add(rows, self.leaves)?))?;
        if !found.mark(&marks) {
            // The rows changed between the two queries.
            return Err(node.unexpected_column("links (rows changed meanwhile: ask again)").into());
        }
        Ok(())
    }
}

pub(super) fn quoted_list(texts: &BTreeSet<String>) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(",")
}

impl MinutePaths {
    fn add(&mut self, rows: &ResultRows<'_>, leaves: &Leaves) -> Result<(), ClickHouseError> {
        let minutes = rows.times("minute")?;
        let (starts, elapsed) = (rows.times("start_ns")?, rows.times(column::ELAPSED_NS)?);
        let roots = rows.times("root_start_ns")?;
        let (paths, hosts) = (rows.texts(column::PATH)?, rows.texts(column::HOST)?);
        let links = rows.batch.column_by_name(column::LINKS);
        let links = links.and_then(|links| links.as_primitive_opt::<UInt8Type>());
        let root_hosts = match leaves.with_root_hosts {
            true => Some(rows.texts("root_host_text")?),
            false => None,
        };
        let chains = match leaves.with_chains {
            true => Some((rows.ids(column::CHAIN_HIGH)?, rows.ids(column::CHAIN_LOW)?)),
            false => None,
        };
        let mut row = 0;
        while row < minutes.len() {
            // Rows of one path and minute often stand together.
            let (minute, path) = (minutes[row], paths.value(row));
            let of_minute = self.minutes.entry(minute).or_default();
            if !of_minute.contains_key(path) {
                of_minute.insert(path.to_owned(), PathRows::default());
            }
            let Some(of_path) = of_minute.get_mut(path) else { return Ok(()) };
            while row < minutes.len() && minutes[row] == minute && paths.value(row) == path {
                of_path.host.push(host(&mut self.hosts, &mut self.host_numbers, hosts.value(row)));
                if let Some(root_hosts) = root_hosts {
                    let host = host(&mut self.hosts, &mut self.host_numbers, root_hosts.value(row));
                    of_path.root_host.push(host);
                }
                of_path.start.push(starts[row]);
                of_path.elapsed.push(elapsed[row]);
                of_path.root_start.push(roots[row]);
                of_path.links.push(links.map_or(0, |links| links.value(row)));
                if let Some((high, low)) = chains {
                    of_path.chain_high.push(high[row]);
                    of_path.chain_low.push(low[row]);
                }
                row += 1;
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) {
        let hosts: Vec<i32> = other.hosts.iter().map(|host| self.host(host)).collect();
        let number = |host: i32| usize::try_from(host).ok().and_then(|at| hosts.get(at).copied());
        for (minute, paths) in other.minutes {
            let mine = self.minutes.entry(minute).or_default();
            for (path, rows) in paths {
                let of_path = mine.entry(path).or_default();
                of_path.start.extend(rows.start);
                of_path.elapsed.extend(rows.elapsed);
                of_path.root_start.extend(rows.root_start);
                let renumbered = |host: i32| number(host).unwrap_or(0);
                of_path.host.extend(rows.host.into_iter().map(renumbered));
                of_path.root_host.extend(rows.root_host.into_iter().map(renumbered));
                of_path.links.extend(rows.links);
                of_path.chain_high.extend(rows.chain_high);
                of_path.chain_low.extend(rows.chain_low);
            }
        }
    }

    fn host(&mut self, name: &str) -> i32 {
        host(&mut self.hosts, &mut self.host_numbers, name)
    }

    /// Gives rows the links of those in `marks`, each to one row that is alike; whether all were
    /// found.
    fn mark(&mut self, marks: &Self) -> bool {
        let hosts: Vec<i32> = marks.hosts.iter().map(|host| self.host(host)).collect();
        for (minute, paths) in &marks.minutes {
            for (path, rows) in paths {
                let mine = self.minutes.get_mut(minute).and_then(|paths| paths.get_mut(path));
                let Some(mine) = mine else { return false };
                if !mine.mark(rows, &hosts) {
                    return false;
                }
            }
        }
        true
    }
}

/// The number of a host.
fn host(hosts: &mut Vec<String>, numbers: &mut HashMap<String, i32>, name: &str) -> i32 {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    let number = i32::try_from(hosts.len()).unwrap_or(i32::MAX);
    hosts.push(name.to_owned());
    numbers.insert(name.to_owned(), number);
    number
}

impl PathRows {
    fn key(&self, row: usize, host: i32) -> (i64, i64, i64, i32, u64, u64) {
        let chain = |of: &[u64]| of.get(row).copied().unwrap_or(0);
        let (high, low) = (chain(&self.chain_high), chain(&self.chain_low));
        (self.start[row], self.elapsed[row], self.root_start[row], host, high, low)
    }

    fn mark(&mut self, marks: &Self, hosts: &[i32]) -> bool {
        let starts: HashSet<i64> = marks.start.iter().copied().collect();
        let mut rows: HashMap<_, Vec<usize>> = HashMap::new();
        for row in (0..self.start.len()).filter(|row| starts.contains(&self.start[*row])) {
            rows.entry(self.key(row, self.host[row])).or_default().push(row);
        }
        for mark in 0..marks.start.len() {
            let host = usize::try_from(marks.host[mark]).ok().and_then(|at| hosts.get(at));
            let key = marks.key(mark, host.copied().unwrap_or(-1));
            let Some(row) = rows.get_mut(&key).and_then(Vec::pop) else { return false };
            self.links[row] = marks.links[mark];
        }
        true
    }
}

/// The columns of a minute, path by path: some of those that a segment has.
fn batch(
    paths: BTreeMap<String, PathRows>,
    hosts: &ArrayRef,
    leaves: &Leaves,
) -> Result<RecordBatch, ParquetError> {
    let (mut texts, mut keys, mut all) = (Vec::new(), Vec::new(), PathRows::default());
    for (number, (path, rows)) in (0_i32..).zip(paths) {
        texts.push(path);
        keys.resize(keys.len() + rows.start.len(), number);
        all.start.extend(rows.start);
        all.elapsed.extend(rows.elapsed);
        all.root_start.extend(rows.root_start);
        all.host.extend(rows.host);
        all.root_host.extend(rows.root_host);
        all.links.extend(rows.links);
        all.chain_high.extend(rows.chain_high);
        all.chain_low.extend(rows.chain_low);
    }
    let instants = |of: Vec<i64>| -> ArrayRef {
        Arc::new(TimestampNanosecondArray::from(of).with_timezone("UTC"))
    };
    let words = |keys: Vec<i32>, texts: ArrayRef| {
        DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), texts)
    };
    let texts: ArrayRef = Arc::new(StringArray::from(texts));
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        (column::HOST, Arc::new(words(all.host, Arc::clone(hosts))?)),
        (column::START, instants(all.start)),
        (column::ELAPSED_NS, Arc::new(Int64Array::from(all.elapsed))),
        (column::PATH, Arc::new(words(keys, texts)?)),
        (column::ROOT_START, instants(all.root_start)),
        (column::LINKS, Arc::new(UInt8Array::from(all.links))),
    ];
    if leaves.with_root_hosts {
        let root_hosts = words(all.root_host, Arc::clone(hosts))?;
        columns.push((column::ROOT_HOST, Arc::new(root_hosts)));
    }
    if leaves.with_chains {
        columns.push((column::CHAIN_HIGH, Arc::new(UInt64Array::from(all.chain_high))));
        columns.push((column::CHAIN_LOW, Arc::new(UInt64Array::from(all.chain_low))));
    }
    let whole = schema::transactions();
    let mut numbered = Vec::with_capacity(columns.len());
    for (name, values) in columns {
        numbered.push((whole.index_of(name)?, values));
    }
    numbered.sort_by_key(|(number, _)| *number);
    let (numbers, columns): (Vec<usize>, Vec<ArrayRef>) = numbered.into_iter().unzip();
    Ok(RecordBatch::try_new(Arc::new(whole.project(&numbers)?), columns)?)
}

#[cfg(test)]
mod tests {
    use super::super::leaves::WantedPaths;
    use super::*;

    fn rows(starts: &[i64]) -> PathRows {
        PathRows {
            start: starts.to_vec(),
            elapsed: vec![7; starts.len()],
            root_start: vec![1; starts.len()],
            host: vec![0; starts.len()],
            links: vec![0; starts.len()],
            ..PathRows::default()
        }
    }

    fn minute(starts: &[i64]) -> MinutePaths {
        let mut all = MinutePaths::default();
        all.host("one");
        all.minutes.entry(3).or_default().insert("X::a/Y::c".to_owned(), rows(starts));
        all
    }

    #[test]
    fn a_mark_is_one_rows_of_those_that_are_alike() {
        let mut found = minute(&[5, 6, 6, 6]);
        let mut marks = minute(&[6, 6]);
        for paths in marks.minutes.values_mut() {
            paths.values_mut().for_each(|rows| rows.links = vec![4, 8]);
        }
        assert!(found.mark(&marks));
        let links = &found.minutes[&3]["X::a/Y::c"].links;
        assert_eq!(links[0], 0);
        let mut others = links[1..].to_vec();
        others.sort_unstable();
        assert_eq!(others, [0, 4, 8]);
        assert!(!minute(&[5]).mark(&marks), "a row that is not there is no silent difference");
    }

    #[test]
    fn the_columns_are_a_segments() {
        let hosts: ArrayRef = Arc::new(StringArray::from(vec!["one"]));
        let paths = minute(&[5, 6]).minutes.remove(&3).unwrap();
        let wanted = WantedPaths { paths: BTreeSet::new(), tops: BTreeSet::new() };
        let leaves = Leaves { wanted, with_chains: false, with_root_hosts: false, linked: None };
        let made = batch(paths, &hosts, &leaves).unwrap();
        let whole = schema::transactions();
        for field in made.schema().fields() {
            assert_eq!(whole.field_with_name(field.name()).unwrap(), field.as_ref());
        }
        assert_eq!((made.num_rows(), made.num_columns()), (2, 6));
    }
}
