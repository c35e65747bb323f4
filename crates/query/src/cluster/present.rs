//! What ended within a window, and how many rows minutes have.

use super::buckets::{BUCKET, BUCKET_SUMS, BucketCounts, add_buckets, bucket_of};
use super::missing::Missing;
use super::sql::{between, quoted};
use crate::cluster::ClusterView;
use crate::minutes::REACH;
use chronoscope_clickhouse::{ClickHouseError, ResultRows};
use chronoscope_model::{ClassName, Flags, Names};
use chronoscope_statistics::Histogram;
use chronoscope_store::Minute;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

/// Transactions of a class that ended within a window.
#[derive(Clone, Debug, Default)]
pub struct EndedRows {
    /// Their elapsed times.
    pub elapsed: Histogram,
    /// CPU time of their threads, as far as it is known.
    pub cpu_ns: u64,
    /// Number of those whose status is not GOOD.
    pub not_good: u64,
    /// The hosts where they ran.
    pub hosts: BTreeSet<String>,
}

/// What a host is compared by with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMeasure {
    /// Elapsed time.
    Elapsed,
    /// Time from the start of the root to the start.
    StartSinceRoot,
}

impl ClusterView {
    /// Bytes that the rows take on the servers' disks; where the URL has `missing=say`, of those that
    /// answer.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn stored_bytes(&self) -> Result<u64, ClickHouseError> {
        let sql = "SELECT toUInt64(sum(bytes_on_disk)) AS bytes FROM system.parts \
                   WHERE active AND database = currentDatabase() AND table = 'transactions'";
        let by_shard = self.cluster().ask_all(&mut Vec::new(), |_, node| {
            let mut found = 0;
            node.query(sql, |batch| {
                found += ResultRows { node, batch }.ids("bytes")?.iter().sum::<u64>();
                Ok(())
            })?;
            Ok(found)
        })?;
        Ok(by_shard.into_iter().sum())
    }

    /// Number of rows in each minute of a range; minutes without rows are left out.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn minute_counts(
        &self,
        minutes: &RangeInclusive<Minute>,
    ) -> Result<BTreeMap<Minute, u64>, ClickHouseError> {
        let within = between("minute", &(minutes.start().0..=minutes.end().0));
        let sql = format!(
            "SELECT minute, count() AS rows FROM transactions WHERE {within} GROUP BY minute"
        );
        let by_shard = self.cluster().on_all(|_, node| {
            let mut counts = Vec::new();
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let minutes = rows.times("minute")?.iter().map(|minute| Minute(*minute));
                counts.extend(minutes.zip(rows.ids("rows")?.iter().copied()));
                Ok(())
            })?;
            Ok(counts)
        })?;
        let mut all: BTreeMap<Minute, u64> = BTreeMap::new();
        for (minute, rows) in by_shard.into_iter().flatten() {
            *all.entry(minute).or_default() += rows;
        }
        Ok(all)
    }

    /// The transactions that ended within a window (UTC, nanoseconds since 1970), by class.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn ended(
        &self,
        window: &Range<i64>,
    ) -> Result<BTreeMap<ClassName, EndedRows>, ClickHouseError> {
        let Range { start, end } = window;
        // A row lies in the minute of its root's start.
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let first = Minute::of(start.saturating_sub(reach)).0;
        let minutes = between("minute", &(first..=Minute::of(end.saturating_sub(1)).0));
        let end_ns = "(toUnixTimestamp64Nano(start) + elapsed_ns)";
        let within = format!("{minutes} AND {end_ns} >= {start} AND {end_ns} < {end}");
        let buckets = bucket_of("elapsed_ns");
        let sql = format!(
            "{buckets} SELECT application, class, {BUCKET}, {BUCKET_SUMS}, \
             toString(sum(toUInt128(cpu_ns))) AS sum_cpu_ns, countIf(status != 'GOOD') AS not_good, \
             CAST(groupUniqArray(host), 'Array(String)') AS hosts \
             FROM transactions WHERE {within} GROUP BY application, class, doubling, sub_bucket"
        );
        let by_shard = self.cluster().on_all(|_, node| {
            let mut found: BTreeMap<ClassName, (BucketCounts, EndedRows)> = BTreeMap::new();
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let (applications, classes) = (rows.texts("application")?, rows.texts("class")?);
                let (cpu, not_good) = (rows.texts("sum_cpu_ns")?, rows.ids("not_good")?);
                for (row, not_good) in not_good.iter().enumerate() {
                    let class = ClassName {
                        application: applications.value(row).to_owned(),
                        class: classes.value(row).to_owned(),
                    };
                    let (sums, ended) = found.entry(class).or_default();
                    add_buckets(&rows, row, sums)?;
                    let cpu_ns: u128 =
                        cpu.value(row).parse().map_err(|_| node.unexpected_column("sum_cpu_ns"))?;
                    let cpu_ns = u64::try_from(cpu_ns).unwrap_or(u64::MAX);
                    ended.cpu_ns = ended.cpu_ns.saturating_add(cpu_ns);
                    ended.not_good += not_good;
                    ended.hosts.extend(rows.text_lists("hosts", row)?);
                }
                Ok(())
            })?;
            Ok(found)
        })?;
        let mut all: BTreeMap<ClassName, EndedRows> = BTreeMap::new();
        for (class, (sums, theirs)) in by_shard.into_iter().flatten() {
            let ended = all.entry(class).or_default();
            ended.elapsed.merge(&sums.histogram());
            ended.cpu_ns = ended.cpu_ns.saturating_add(theirs.cpu_ns);
            ended.not_good += theirs.not_good;
            ended.hosts.extend(theirs.hosts);
        }
        Ok(all)
    }

    /// The median of a measure of a class's transactions by host, in some minutes; nanoseconds. With
    /// several shards it is the median of theirs.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn host_medians(
        &self,
        class: &ClassName,
        measure: HostMeasure,
        minutes: &RangeInclusive<Minute>,
    ) -> Result<BTreeMap<String, f64>, ClickHouseError> {
        let value = match measure {
            HostMeasure::Elapsed => "elapsed_ns",
            HostMeasure::StartSinceRoot => {
                "(toUnixTimestamp64Nano(start) - toUnixTimestamp64Nano(root_start))"
            }
        };
        let within = between("minute", &(minutes.start().0..=minutes.end().0));
        let (application, name) = (quoted(&class.application), quoted(&class.class));
        let sql = format!(
            "SELECT CAST(host, 'String') AS host_name, toInt64(medianExactLow({value})) AS median_ns \
             FROM transactions WHERE {within} AND application = {application} AND class = {name} \
             GROUP BY host"
        );
        let by_shard = self.cluster().on_all(|_, node| {
            let mut found = Vec::new();
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let (hosts, medians) = (rows.texts("host_name")?, rows.times("median_ns")?);
                found.extend(
                    (0..batch.num_rows())
                        .map(|row| (hosts.value(row).to_owned(), medians[row] as f64)),
                );
                Ok(())
            })?;
            Ok(found)
        })?;
        let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for (host, median) in by_shard.into_iter().flatten() {
            all.entry(host).or_default().push(median);
        }
        let median = |(host, of)| Some((host, chronoscope_statistics::median(of)?));
        Ok(all.into_iter().filter_map(median).collect())
    }

    /// Whether rows of these minutes have links to further parents.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn has_links(&self, minutes: &RangeInclusive<Minute>) -> Result<bool, ClickHouseError> {
        let within = between("minute", &(minutes.start().0..=minutes.end().0));
        let flag = Flags::FURTHER_PARENTS.0;
        let sql = format!(
            "SELECT minute FROM transactions WHERE {within} AND bitAnd(flags, {flag}) != 0 LIMIT 1"
        );
        let found = self.cluster().on_all(|_, node| {
            let mut found = false;
            node.query(&sql, |batch| {
                found |= batch.num_rows() > 0;
                Ok(())
            })?;
            Ok(found)
        })?;
        Ok(found.contains(&true))
    }

    /// The classes and paths that are known; a path's id is not the one that rows have.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn class_and_path_names(&self) -> Result<Names, ClickHouseError> {
        self.words(&mut Missing::default()).map(|words| words.names)
    }
}
