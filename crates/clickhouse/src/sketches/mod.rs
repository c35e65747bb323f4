//! Sketches: what a dashboard needs of a minute by class and path, without its rows.
//!
//! A shard makes them of its own rows by one `INSERT … SELECT`, so that no row travels. They say what
//! the rows say by themselves, as the sketches of files do: linking changes nothing in them. A
//! sketch holds as long as its minute has the rows that it counted: a reader compares the numbers,
//! which the projection `minute_rows` of the table of transactions has without reading rows. So rows
//! that come late or are deleted make a sketch say nothing until it is made again.

pub(crate) mod tables;

use crate::error::ClickHouseError;
use crate::http::Node;
use crate::rows::ResultRows;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// ClickHouse's number for a table that is not there: the tables are of an earlier version.
const UNKNOWN_TABLE: u32 = 60;
/// The flag of rows without ancestors of their own.
const FOREIGN: u8 = chronoscope_model::Flags::FOREIGN.0;

/// What the newest sketches of a minute counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchedMinute {
    /// Greater for what was made later.
    pub version: u64,
    /// Rows of all kinds.
    pub rows: u64,
    /// Native ones among them.
    pub native: u64,
}

/// Runs `work` on a table of sketches; `None` where the shard has none yet.
fn where_there<T>(
    work: impl FnOnce() -> Result<T, ClickHouseError>,
) -> Result<Option<T>, ClickHouseError> {
    match work() {
        Err(ClickHouseError::Refused { code: UNKNOWN_TABLE, .. }) => Ok(None),
        done => done.map(Some),
    }
}

impl Node {
    /// The newest sketches of each minute that has any; none where the tables are of an earlier
    /// version.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn sketched_minutes(
        &self,
        minutes: &RangeInclusive<i64>,
    ) -> Result<BTreeMap<i64, SketchedMinute>, ClickHouseError> {
        let sql = format!(
            "SELECT minute, version, sum(elapsed_count) AS rows, \
             sum(since_root_count + before_root) AS native FROM sketches \
             WHERE minute BETWEEN {} AND {} GROUP BY minute, version",
            minutes.start(),
            minutes.end()
        );
        let mut found: BTreeMap<i64, SketchedMinute> = BTreeMap::new();
        let mut add = |rows: &ResultRows<'_>| -> Result<(), ClickHouseError> {
            let (minutes, versions) = (rows.times("minute")?, rows.ids("version")?);
            let (counts, native) = (rows.ids("rows")?, rows.ids("native")?);
            for (row, minute) in minutes.iter().enumerate() {
                let (version, rows, native) = (versions[row], counts[row], native[row]);
                let newest = SketchedMinute { version, rows, native };
                let known = found.entry(*minute).or_insert(newest);
                if known.version < version {
                    *known = newest;
                }
            }
            Ok(())
        };
        where_there(|| self.query(&sql, |batch| add(&ResultRows { node: self, batch })))?;
        Ok(found)
    }

    /// Makes the sketches of these minutes anew, under a version that is above those before.
    ///
    /// # Errors
    /// [`ClickHouseError`]; sketches that were stored in part are not used.
    pub fn make_sketches(&self, minutes: &[i64], version: u64) -> Result<(), ClickHouseError> {
        // The groups of a minute are few: memory is for the buckets of all minutes together.
        let settings = [("max_bytes_before_external_group_by", "1000000000")];
        self.execute(&settings, &making_sql(minutes, version)).map(drop)
    }

    /// Deletes the sketches of a range of minutes.
    pub(crate) fn delete_sketches(
        &self,
        minutes: &RangeInclusive<i64>,
    ) -> Result<(), ClickHouseError> {
        let (first, last) = (minutes.start(), minutes.end());
        let sql = format!("ALTER TABLE sketches DELETE WHERE minute BETWEEN {first} AND {last}");
        where_there(|| self.execute(&[("mutations_sync", "2")], &sql))?;
        Ok(())
    }
}

/// The bucket of a number that is not below 0, as `statistics::bucket_index` has it.
fn bucket_of(number: &str) -> String {
    format!(
        "toUInt16((bitCount(roundToExp2(bitOr({number}, 32)) - 1) - 5 AS shift) * 32 \
         + bitShiftRight({number}, shift))"
    )
}

/// The statement that makes sketches. Rows are counted by bucket and then put together by path, for
/// elapsed times and for times from the root's start, which two passes do in half the time of one pass
/// with `sumMap`. Of rows that come between the passes the second one sees more: then the numbers of
/// native rows do not agree, and nobody uses the sketch. Words are told apart by their hashes,
/// which are computed once for each word of a block.
fn making_sql(minutes: &[i64], version: u64) -> String {
    let list = minutes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let hash =
        |word: &str, turned: u8| format!("bitRotateLeft(toUInt64(xxHash64({word})), {turned})");
    let key = format!(
        "bitXor(bitXor({}, {}), bitXor({}, {}))",
        hash("path", 0),
        hash("top", 16),
        hash("application", 32),
        hash("class", 48)
    );
    let is_native = format!("bitAnd(flags, {FOREIGN}) = 0");
    let signed = "toUnixTimestamp64Nano(start) + elapsed_ns - toUnixTimestamp64Nano(root_start)";
    let pass = |of: u8, value: &str, condition: &str| {
        format!(
            "WITH toUInt64({value}) AS ns \
             SELECT {of} AS of, minute, {key} AS words, toUInt8(NOT {is_native}) AS is_foreign, \
             {} AS bucket, \
             any(top) AS one_top, any(application) AS one_application, any(class) AS one_class, \
             any(path) AS one_path, sum(toUInt128(cpu_ns)) AS cpu, \
             countIf({is_native} OR cpu_ns > 0) AS cpus, countIf(status != 'GOOD') AS bad, \
             countIf({is_native} AND {signed} < 0) AS before, countIf(parent = 0) AS without_parent, \
             count() AS rows, sum(toUInt128(ns)) AS sum_ns, \
             sum(toFloat64(ns) * toFloat64(ns)) AS squares, min(ns) AS min_ns, max(ns) AS max_ns \
             FROM transactions WHERE minute IN ({list}){condition} \
             GROUP BY minute, words, is_foreign, bucket",
            bucket_of("ns"),
        )
    };
    let histogram = |of: u8, name: &str| {
        format!(
            "sumIf(rows, of = {of}) AS {name}_count, sumIf(sum_ns, of = {of}) AS {name}_sum, \
             sumIf(squares, of = {of}) AS {name}_squares, minIf(min_ns, of = {of}) AS {name}_min, \
             maxIf(max_ns, of = {of}) AS {name}_max, \
             arraySort(groupArrayIf((bucket, rows), of = {of})) AS {name}_pairs"
        )
    };
    let lists = |name: &str| {
        format!(
            "{name}_count, {name}_sum, {name}_squares, {name}_min, {name}_max, \
             {name}_pairs.1 AS {name}_buckets, {name}_pairs.2 AS {name}_counts"
        )
    };
    format!(
        "INSERT INTO sketches SELECT minute, {version} AS version, top, application, class, path, \
         is_foreign AS foreign_row, cpu_ns, cpu_known, not_good, before_root, roots, {}, {} FROM ( \
         SELECT minute, is_foreign, any(one_top) AS top, any(one_application) AS application, \
         any(one_class) AS class, any(one_path) AS path, sumIf(cpu, of = 0) AS cpu_ns, \
         sumIf(cpus, of = 0) AS cpu_known, sumIf(bad, of = 0) AS not_good, \
         sumIf(before, of = 0) AS before_root, sumIf(without_parent, of = 0) AS roots, {}, {} \
         FROM ({} UNION ALL {}) GROUP BY minute, words, is_foreign)",
        lists("elapsed"),
        lists("since_root"),
        histogram(0, "elapsed"),
        histogram(1, "since_root"),
        pass(0, "elapsed_ns", ""),
        pass(1, &format!("greatest({signed}, 0)"), &format!(" AND {is_native} AND {signed} >= 0")),
    )
}
