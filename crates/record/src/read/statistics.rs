//! Statistics of classes out of a ring, all threads together.

use super::drain::BlockReader;
use super::error::RingError;
use crate::layout::{CLASS_MAX, PAGE, RECORD_WORDS, Statistics};
use bytemuck::{Pod, Zeroable};
use chronoscope_model::{Batch, ClassId, ClassName, Record, context};
use chronoscope_statistics::{BUCKET_COUNT, Histogram};
use std::collections::{BTreeMap, HashSet};
use std::mem::offset_of;

/// Statistics of one class in a ring, all threads together. Read during writes, the numbers may
/// differ from one another by the transactions that ended meanwhile.
#[derive(Clone, Debug)]
pub struct ClassStatistics {
    /// Id of the class.
    pub class: ClassId,
    /// Name of the class.
    pub name: ClassName,
    /// Whether the class is recorded at present.
    pub enabled: bool,
    /// Number of ended transactions.
    pub count: u64,
    /// Elapsed times in nanoseconds; sum, smallest and largest are exact.
    pub elapsed: Histogram,
    /// Thread CPU times in nanoseconds; sum, smallest and largest are exact.
    pub cpu: Histogram,
    /// Sum of process CPU times in nanoseconds; 0 where the class does not ask for them.
    pub process_cpu_sum_ns: u64,
    /// The longest ones with their contexts, longest first.
    pub worst: Batch,
    /// The ones with most thread CPU time with their contexts, most first. Empty where CPU time is
    /// not measured, and of a program whose recorder kept none.
    pub worst_cpu: Batch,
}

/// The part of the statistics that precedes the histograms.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Sums {
    count: u64,
    elapsed_sum: u64,
    cpu_sum: u64,
    threshold: u64,
    elapsed_min: u64,
    cpu_min: u64,
    cpu_max: u64,
    process_cpu_sum: u64,
    elapsed_max: u64,
    worst_version: u64,
    worst_used: u64,
    class_index: u64,
    cpu_threshold: u64,
    worst_cpu_used: u64,
    reserved: [u64; 2],
}

const _: () = assert!(size_of::<Sums>() == offset_of!(Statistics, elapsed));

/// A worst case as bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawWorst {
    record: Record,
    context: [[u8; 16]; 15],
}

const _: () = assert!(size_of::<RawWorst>() == RECORD_WORDS * 8 + context::MAX_BYTES);

/// Sums of one class while threads are added up.
#[derive(Default)]
pub(crate) struct ClassTotals {
    pub(crate) count: u64,
    pub(crate) elapsed: Histogram,
    pub(crate) cpu: Histogram,
    pub(crate) process_cpu_sum_ns: u64,
    worst: Vec<WorstRecord>,
    worst_cpu: Vec<WorstRecord>,
}

/// A worst case and its context.
type WorstRecord = (Record, [u8; context::MAX_BYTES]);

impl ClassTotals {
    /// At most `count` of the worst cases of all threads, the worst first: by elapsed time, and by
    /// CPU time.
    pub(crate) fn worst(self, count: usize) -> [Batch; 2] {
        [
            first(self.worst, count, |record| record.elapsed_ns),
            first(self.worst_cpu, count, |record| record.cpu_ns),
        ]
    }
}

fn first(mut cases: Vec<WorstRecord>, count: usize, by: impl Fn(&Record) -> u64) -> Batch {
    cases.sort_by_key(|(record, _)| std::cmp::Reverse(by(record)));
    cases.truncate(count);
    let mut batch = Batch::default();
    for (record, context) in &cases {
        batch.push(*record, &context[..usize::from(record.context_len)]);
    }
    batch
}

/// Adds a thread's statistics to `totals`, by class number. `seen` prevents two table entries from
/// leading to the same place, which bounds the work by the size of the file.
pub(crate) fn add_block(
    block: &BlockReader<'_>,
    totals: &mut BTreeMap<u32, ClassTotals>,
    seen: &mut HashSet<u32>,
) -> Result<(), RingError> {
    let table_at = block.part.position + block.directory.shape.table as u64;
    let table: Vec<u32> = block.source.get_many(table_at, CLASS_MAX)?;
    for (index, page) in (0u32..).zip(table).filter(|(_, page)| *page != 0) {
        let entry_at = table_at + u64::from(index) * 4;
        if !seen.insert(page) {
            let what = format!("page {page} holds the statistics of two classes");
            return Err(RingError::damaged(entry_at, what));
        }
        add_class(block, u64::from(page) * PAGE as u64, index, totals.entry(index).or_default())?;
    }
    Ok(())
}

fn add_class(
    block: &BlockReader<'_>,
    position: u64,
    index: u32,
    total: &mut ClassTotals,
) -> Result<(), RingError> {
    let sums: Sums = block.source.get(position)?;
    if sums.class_index != u64::from(index) {
        let at = position + offset_of!(Statistics, class_index) as u64;
        let what = format!("statistics of class {}, {index} expected", sums.class_index);
        return Err(RingError::damaged(at, what));
    }
    let too_many = || RingError::damaged(position, "more transactions than can be counted");
    total.count = total.count.checked_add(sums.count).ok_or_else(too_many)?;
    total.process_cpu_sum_ns = total.process_cpu_sum_ns.saturating_add(sums.process_cpu_sum);
    let histogram = |offset: usize, sum, min, max| -> Result<Histogram, RingError> {
        let counts: Vec<u64> = block.source.get_many(position + offset as u64, BUCKET_COUNT)?;
        let known = total.elapsed.count().max(total.cpu.count());
        let all = counts.iter().try_fold(known, |sum, count| sum.checked_add(*count));
        all.ok_or_else(too_many)?;
        let mut histogram = Histogram::default();
        counts.iter().enumerate().for_each(|(bucket, n)| histogram.add_bucket(bucket, *n));
        if histogram.count() > 0 {
            histogram.set_exact(u128::from(sum), min, max);
        }
        Ok(histogram)
    };
    let elapsed = histogram(
        offset_of!(Statistics, elapsed),
        sums.elapsed_sum,
        sums.elapsed_min,
        sums.elapsed_max,
    )?;
    let cpu = histogram(offset_of!(Statistics, cpu), sums.cpu_sum, sums.cpu_min, sums.cpu_max)?;
    total.elapsed.merge(&elapsed);
    total.cpu.merge(&cpu);
    add_worst(block, position, &sums, total)
}

/// Reads the worst cases until they were not written meanwhile; takes none after a few tries.
fn add_worst(
    block: &BlockReader<'_>,
    position: u64,
    first: &Sums,
    total: &mut ClassTotals,
) -> Result<(), RingError> {
    const TRIES: u32 = 5;
    let worst_count = block.directory.header.worst_count as usize;
    let mut before = *first;
    for _ in 0..TRIES {
        let checked = |used: u64, offset: usize| {
            let known = usize::try_from(used).ok().filter(|used| *used <= worst_count);
            known.ok_or_else(|| {
                let what = format!("{used} worst cases, at most {worst_count} expected");
                RingError::damaged(position + offset as u64, what)
            })
        };
        let used = checked(before.worst_used, offset_of!(Statistics, worst_used))?;
        let used_cpu = checked(before.worst_cpu_used, offset_of!(Statistics, worst_cpu_used))?;
        let first_at = position + size_of::<Statistics>() as u64;
        let by_cpu_at = first_at + (worst_count * size_of::<RawWorst>()) as u64;
        let by_elapsed: Vec<RawWorst> = block.source.get_many(first_at, used)?;
        let by_cpu: Vec<RawWorst> = block.source.get_many(by_cpu_at, used_cpu)?;
        let after: Sums = block.source.get(position)?;
        if before.worst_version == after.worst_version && after.worst_version.is_multiple_of(2) {
            total.worst.extend(by_elapsed.iter().map(|case| whole(case, block)));
            total.worst_cpu.extend(by_cpu.iter().map(|case| whole(case, block)));
            return Ok(());
        }
        before = after;
    }
    Ok(())
}

fn whole(case: &RawWorst, block: &BlockReader<'_>) -> WorstRecord {
    let mut record = case.record;
    record.process = block.process;
    if usize::from(record.context_len) > context::MAX_BYTES {
        record.context_len = 0;
    }
    let mut bytes = [0; context::MAX_BYTES];
    bytes.copy_from_slice(case.context.as_flattened());
    (record, bytes)
}
