//! Statistics by path, counted by the shards: of whole minutes from their sketches, of others from rows.

use super::ask::ClusterView;
use super::fetch::{bucket, buckets_of};
use super::missing::Missing;
use super::names::ClusterNames;
use super::sketched::{SketchHistograms, Sketched, sketch_sums, with_sketches};
use crate::loads::taken_apart;
use crate::paths::{ByPath, add_hops};
use arrow_array::types::UInt8Type;
use chronoscope_clickhouse::{ClickHouseError, ResultRows};
use chronoscope_model::schema::column;
use chronoscope_model::{ClassName, Flags};
use chronoscope_statistics::Histogram;
use chronoscope_store::Damage;
use std::collections::BTreeMap;
use std::ops::Range;

const FOREIGN: u8 = Flags::FOREIGN.0;

/// A histogram in the making: its exact numbers are added up beside it.
struct Counted {
    /// The class of the path's last transaction.
    class: ClassName,
    buckets: Histogram,
    sum_ns: u128,
    range_ns: Option<(u64, u64)>,
}

impl ClusterView {
    /// Statistics by path in words, as [`crate::paths()`] has them; and the shards that are missing.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn paths(&self, start_ns: &Range<i64>) -> Result<(ByPath, Vec<Damage>), ClickHouseError> {
        let mut missing = Missing::default();
        let by_shard = self.cluster().ask_all(&mut missing.0, |_, node| {
            let of_sketches = |sketched: &Sketched| {
                let (mut paths, mut counted) = (Vec::new(), 0);
                node.query(&sketches_sql(sketched), |batch| {
                    counted += add_sketches(&ResultRows { node, batch }, &mut paths)?;
                    Ok(())
                })?;
                Ok((paths, counted))
            };
            let (mut paths, rest) = with_sketches(node, start_ns, of_sketches)?.unwrap_or_default();
            if let Some(minutes) = rest {
                let mut counted: BTreeMap<String, Counted> = BTreeMap::new();
                node.query(&rows_sql(&minutes, start_ns), |batch| {
                    add_rows(&ResultRows { node, batch }, &mut counted)
                })?;
                paths.extend(
                    counted
                        .into_iter()
                        .map(|(path, counted)| (path, counted.class.clone(), counted.histogram())),
                );
            }
            Ok(paths)
        })?;
        let mut paths = ByPath::new();
        for (path, class, since_root) in by_shard.into_iter().flatten() {
            let hops = taken_apart(&path, class);
            let of_path = paths.entry(path).or_default();
            of_path.hops = hops;
            of_path.since_root.merge(&since_root);
        }
        let names = ClusterNames::read_reachable(self.cluster(), &mut missing)?;
        add_hops(&mut paths, &names.names);
        Ok((paths, missing.into_damage()))
    }
}

/// All sketches, also of rows without a path, by which it is told whether they are those expected.
fn sketches_sql(sketched: &Sketched) -> String {
    format!(
        "SELECT path, foreign_row, any(application) AS one_application, any(class) AS one_class, \
         sum(elapsed_count) AS rows, {} FROM sketches WHERE {} GROUP BY path, foreign_row",
        sketch_sums("since_root"),
        sketched.condition()
    )
}

/// Adds what sketches counted; the number of rows, those without a path among them.
fn add_sketches(
    rows: &ResultRows<'_>,
    paths: &mut Vec<(String, ClassName, Histogram)>,
) -> Result<u64, ClickHouseError> {
    let (texts, foreign) = (rows.texts(column::PATH)?, rows.numbers::<UInt8Type>("foreign_row")?);
    let (applications, classes) = (rows.texts("one_application")?, rows.texts("one_class")?);
    let histograms = SketchHistograms::new(rows, "since_root")?;
    for (row, foreign) in foreign.iter().enumerate() {
        let path = texts.value(row);
        if !path.is_empty() && *foreign == 0 {
            let class = ClassName {
                application: applications.value(row).to_owned(),
                class: classes.value(row).to_owned(),
            };
            paths.push((path.to_owned(), class, histograms.of(row)?.histogram()));
        }
    }
    Ok(rows.ids("rows")?.iter().sum())
}

fn rows_sql(minutes: &str, Range { start, end }: &Range<i64>) -> String {
    let root = "toUnixTimestamp64Nano(root_start)";
    format!(
        "SELECT path, negative, {}, any(application) AS one_application, any(class) AS one_class, \
         count() AS rows, \
         toString(sum(toUInt128(since_root_ns))) AS sum_ns, min(since_root_ns) AS min_ns, \
         max(since_root_ns) AS max_ns FROM (SELECT path, application, class, \
         toUnixTimestamp64Nano(start) + elapsed_ns - {root} AS signed_ns, \
         signed_ns < 0 AS negative, greatest(signed_ns, 0) AS since_root_ns \
         FROM transactions WHERE ({minutes}) AND {root} >= {start} AND {root} < {end} \
         AND path != '' AND bitAnd(flags, {FOREIGN}) = 0) \
         GROUP BY path, negative, doubling, sub_bucket",
        buckets_of("since_root_ns"),
    )
}

impl Counted {
    fn histogram(self) -> Histogram {
        let Self { mut buckets, sum_ns, range_ns, .. } = self;
        if let Some((min, max)) = range_ns {
            buckets.set_exact(sum_ns, min, max);
        }
        buckets
    }
}

fn add_rows(
    rows: &ResultRows<'_>,
    paths: &mut BTreeMap<String, Counted>,
) -> Result<(), ClickHouseError> {
    let (texts, negative) = (rows.texts(column::PATH)?, rows.numbers::<UInt8Type>("negative")?);
    let (doublings, sub_buckets) = (rows.ids("doubling")?, rows.ids("sub_bucket")?);
    let (counts, sums) = (rows.ids("rows")?, rows.texts("sum_ns")?);
    let (mins, maxs) = (rows.times("min_ns")?, rows.times("max_ns")?);
    let (applications, classes) = (rows.texts("one_application")?, rows.texts("one_class")?);
    for row in 0..rows.batch.num_rows() {
        let path = paths.entry(texts.value(row).to_owned()).or_insert_with(|| Counted {
            class: ClassName {
                application: applications.value(row).to_owned(),
                class: classes.value(row).to_owned(),
            },
            buckets: Histogram::default(),
            sum_ns: 0,
            range_ns: None,
        });
        if negative[row] != 0 {
            continue; // it is a path, without a duration
        }
        let strange = |column: &str| rows.node.unexpected_column(column);
        let index = bucket(doublings[row], sub_buckets[row]);
        path.buckets.add_bucket(index.ok_or_else(|| strange("sub_bucket"))?, counts[row]);
        path.sum_ns += sums.value(row).parse::<u128>().map_err(|_| strange("sum_ns"))?;
        let (min, max) = (mins[row].unsigned_abs(), maxs[row].unsigned_abs());
        path.range_ns = Some(match path.range_ns {
            Some((low, high)) => (low.min(min), high.max(max)),
            None => (min, max),
        });
    }
    Ok(())
}
