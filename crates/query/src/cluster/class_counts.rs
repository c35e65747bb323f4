//! Statistics by class, counted by the shards: of whole minutes from their sketches, of others from
//! rows.

use super::fetch::{bucket, buckets_of};
use super::sketched::{SketchHistograms, Sketched, sketch_sums, with_sketches};
use crate::classes::ClassStatistics;
use chronoscope_clickhouse::{ClickHouseError, Cluster, MissingShard, ResultRows};
use chronoscope_model::{ClassName, Flags};
use chronoscope_statistics::Histogram;
use std::collections::BTreeMap;
use std::ops::Range;

const FOREIGN: u8 = Flags::FOREIGN.0;

type ByClass = BTreeMap<ClassName, ClassStatistics>;

/// Statistics by class of the rows whose root started in a range.
pub(super) fn classes(
    cluster: &Cluster,
    missing: &mut Vec<MissingShard>,
    start_ns: &Range<i64>,
) -> Result<ByClass, ClickHouseError> {
    let by_shard = cluster.ask_all(missing, |_, node| {
        let of_sketches = |sketched: &Sketched| {
            let (mut classes, mut counted) = (ByClass::new(), 0);
            node.query(&sketches_sql(sketched), |batch| {
                counted += add_sketches(&ResultRows { node, batch }, &mut classes)?;
                Ok(())
            })?;
            Ok((classes, counted))
        };
        let (mut classes, rest) = with_sketches(node, start_ns, of_sketches)?.unwrap_or_default();
        if let Some(minutes) = rest {
            let mut counted = BTreeMap::new();
            node.query(&rows_sql(&minutes, start_ns), |batch| {
                add_rows(&ResultRows { node, batch }, &mut counted)
            })?;
            for (name, buckets) in counted {
                classes.entry(name).or_default().merge(&buckets.statistics());
            }
        }
        Ok(classes)
    })?;
    let mut all = ByClass::new();
    for (name, theirs) in by_shard.into_iter().flatten() {
        all.entry(name).or_default().merge(&theirs);
    }
    Ok(all)
}

fn sketches_sql(sketched: &Sketched) -> String {
    format!(
        "SELECT application, class, {}, toString(sum(cpu_ns)) AS sum_cpu_ns, \
         sum(cpu_known) AS sum_cpu_known, sum(not_good) AS sum_not_good \
         FROM sketches WHERE {} GROUP BY application, class",
        sketch_sums("elapsed"),
        sketched.condition()
    )
}

/// Adds what sketches counted; the number of rows.
fn add_sketches(rows: &ResultRows<'_>, classes: &mut ByClass) -> Result<u64, ClickHouseError> {
    let (applications, names) = (rows.texts("application")?, rows.texts("class")?);
    let histograms = SketchHistograms::new(rows, "elapsed")?;
    let (cpus, cpu_known) = (rows.texts("sum_cpu_ns")?, rows.ids("sum_cpu_known")?);
    let not_good = rows.ids("sum_not_good")?;
    let mut counted = 0;
    for row in 0..rows.batch.num_rows() {
        let name = ClassName {
            application: applications.value(row).to_owned(),
            class: names.value(row).to_owned(),
        };
        let elapsed = histograms.of(row)?.histogram();
        counted += elapsed.count();
        let cpu_ns = cpus.value(row).parse::<u128>();
        let cpu_ns = cpu_ns.map_err(|_| rows.node.unexpected_column("sum_cpu_ns"))?;
        classes.entry(name).or_default().merge(&ClassStatistics {
            elapsed,
            cpu_ns: u64::try_from(cpu_ns).unwrap_or(u64::MAX),
            cpu_known: cpu_known[row],
            not_good: not_good[row],
        });
    }
    Ok(counted)
}

fn rows_sql(minutes: &str, Range { start, end }: &Range<i64>) -> String {
    // For rows without ancestors it is their own start.
    let started = "toUnixTimestamp64Nano(root_start)";
    let buckets = buckets_of("elapsed_ns");
    format!(
        "SELECT application, class, {buckets}, \
         count() AS rows, toString(sum(toUInt128(elapsed_ns))) AS sum_ns, \
         min(elapsed_ns) AS min_ns, max(elapsed_ns) AS max_ns, \
         toString(sum(toUInt128(cpu_ns))) AS sum_cpu_ns, countIf(status != 'GOOD') AS not_good, \
         countIf(bitAnd(flags, {FOREIGN}) = 0 OR cpu_ns > 0) AS cpu_known \
         FROM transactions WHERE ({minutes}) AND {started} >= {start} AND {started} < {end} \
         GROUP BY application, class, doubling, sub_bucket"
    )
}

/// A shard's answer about one class.
#[derive(Default)]
struct Buckets {
    elapsed: Histogram,
    sum_ns: u128,
    range_ns: Option<(u64, u64)>,
    cpu_ns: u128,
    cpu_known: u64,
    not_good: u64,
}

impl Buckets {
    fn statistics(mut self) -> ClassStatistics {
        let (min, max) = self.range_ns.unwrap_or((0, 0));
        self.elapsed.set_exact(self.sum_ns, min, max);
        let cpu_ns = u64::try_from(self.cpu_ns).unwrap_or(u64::MAX);
        let Self { elapsed, cpu_known, not_good, .. } = self;
        ClassStatistics { elapsed, cpu_ns, cpu_known, not_good }
    }
}

fn add_rows(
    rows: &ResultRows<'_>,
    classes: &mut BTreeMap<ClassName, Buckets>,
) -> Result<(), ClickHouseError> {
    let (applications, names) = (rows.texts("application")?, rows.texts("class")?);
    let (doublings, sub_buckets) = (rows.ids("doubling")?, rows.ids("sub_bucket")?);
    let (counts, not_good) = (rows.ids("rows")?, rows.ids("not_good")?);
    let cpu_known = rows.ids("cpu_known")?;
    let (mins, maxs) = (rows.times("min_ns")?, rows.times("max_ns")?);
    let (sums, cpus) = (rows.texts("sum_ns")?, rows.texts("sum_cpu_ns")?);
    for row in 0..rows.batch.num_rows() {
        let name = ClassName {
            application: applications.value(row).to_owned(),
            class: names.value(row).to_owned(),
        };
        let buckets = classes.entry(name).or_default();
        let index = bucket(doublings[row], sub_buckets[row]);
        let index = index.ok_or_else(|| rows.node.unexpected_column("sub_bucket"))?;
        buckets.elapsed.add_bucket(index, counts[row]);
        let whole =
            |text: &str, name| text.parse::<u128>().map_err(|_| rows.node.unexpected_column(name));
        buckets.sum_ns += whole(sums.value(row), "sum_ns")?;
        buckets.cpu_ns += whole(cpus.value(row), "sum_cpu_ns")?;
        buckets.cpu_known += cpu_known[row];
        buckets.not_good += not_good[row];
        let (min, max) = (mins[row].unsigned_abs(), maxs[row].unsigned_abs());
        buckets.range_ns = Some(match buckets.range_ns {
            Some((low, high)) => (low.min(min), high.max(max)),
            None => (min, max),
        });
    }
    Ok(())
}
