//! Which rows a question needs, and in which way they are asked, on several threads.

use super::Shared;
use super::answer::{Answer, Losses};
use super::book::Book;
use super::clock::HostClocks;
use super::file::SegmentFile;
use super::group::{
    Asked, Grouping, Wanted, read_chains, read_foreign, read_native, read_unsealed,
};
use super::question::{Kind, Limits, Question};
use super::scan::scan;
use super::series::Findings;
use crate::{Damage, Kind as RowKind, Minute, Segment, Slot, Snapshot, StoreError};
use chronoscope_chain::{Partition, Paths, Run, cuts};
use chronoscope_model::{ChainId, Flags, Record};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long after its chain's root started a native transaction is looked for, where a time range
/// bounds the question.
pub const REACH: Duration = Duration::from_hours(1);

/// Answers a question.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one. Unreadable segments are passed over and told in
/// [`Losses::damage`].
pub fn ask(
    snapshot: &Snapshot,
    question: &Question,
    limits: &Limits,
) -> Result<Answer, StoreError> {
    let shared = Shared {
        question,
        names: snapshot.names(),
        book: Mutex::new(Book::new(snapshot.names(), question)),
        clocks: HostClocks::of(snapshot.clocks(), question),
    };
    let task = Task { shared: &shared, limits, damage: Mutex::new(Vec::new()) };
    let minutes = Minutes::of(snapshot, question, limits);
    let mut findings = task.ask_native(&minutes)?;
    findings.merge(if question.kind == Kind::Sync {
        task.ask_each(&minutes)?
    } else {
        task.ask_foreign(&minutes)?
    });
    let ledger = snapshot.ledger();
    let mut damage = snapshot.damage().to_vec();
    damage.extend(task.damage.into_inner().unwrap_or_default());
    let losses = Losses {
        lost_rows: ledger.lost_rows(),
        damaged_rows: ledger.damaged_rows,
        expired_rows: snapshot.expired_rows(),
        damage,
        unsplit: 0,
    };
    let book = shared.book();
    let corrected = shared.clocks.as_ref().map(|clocks| clocks.corrected);
    Ok(Answer::new(question, &book, findings, losses, corrected))
}

/// The rows of one native minute.
#[derive(Default)]
struct NativeMinute<'a> {
    parts: Vec<&'a Segment>,
    unsealed: Vec<&'a Record>,
}

/// All rows that may matter.
#[derive(Default)]
pub(super) struct Minutes<'a> {
    native: BTreeMap<Minute, NativeMinute<'a>>,
    foreign: Vec<&'a Segment>,
    foreign_unsealed: Vec<&'a Record>,
}

impl<'a> Minutes<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, question: &Question, limits: &Limits) -> Self {
        let mut minutes = Self::default();
        let wanted = |slot: Slot| {
            let reach = match slot.kind {
                RowKind::Native => REACH,
                RowKind::Foreign => limits.foreign_reach,
            };
            let range = around(&question.start_ns, reach);
            slot.minute.end_ns() > range.start && slot.minute.start_ns() < range.end
        };
        for segment in snapshot.segments().iter().filter(|segment| wanted(segment.slot)) {
            match segment.slot.kind {
                RowKind::Native => {
                    minutes.native.entry(segment.slot.minute).or_default().parts.push(segment);
                }
                RowKind::Foreign => minutes.foreign.push(segment),
            }
        }
        for record in snapshot.unsealed().records() {
            let slot = Slot::of(record);
            match slot.kind {
                _ if !wanted(slot) => {}
                RowKind::Native => {
                    minutes.native.entry(slot.minute).or_default().unsealed.push(record);
                }
                RowKind::Foreign => minutes.foreign_unsealed.push(record),
            }
        }
        minutes
    }
}

/// A time range, wider by `reach` on both sides.
pub(super) fn around(range: &Range<i64>, reach: Duration) -> Range<i64> {
    let reach = i64::try_from(reach.as_nanos()).unwrap_or(i64::MAX);
    range.start.saturating_sub(reach)..range.end.saturating_add(reach)
}

/// One question being answered.
pub(super) struct Task<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) limits: &'a Limits,
    pub(super) damage: Mutex<Vec<Damage>>,
}

impl Task<'_> {
    /// Lets all threads work through `jobs`; every thread has its own state, and all states are
    /// returned. The first error ends the work.
    fn spread<J: Sync, S: Send>(
        &self,
        jobs: &[J],
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &J) -> Result<(), StoreError> + Sync,
    ) -> Result<Vec<S>, StoreError> {
        let next = AtomicUsize::new(0);
        let thread = || {
            let mut mine = state();
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = work(&mut mine, job) {
                    next.store(jobs.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(mine)
        };
        let count = self.limits.threads.clamp(1, jobs.len().max(1));
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..count).map(|_| scope.spawn(thread)).collect();
            let mut states = vec![thread()];
            for other in others {
                states.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            states.into_iter().collect()
        })
    }

    /// Passes over a segment that cannot be read, and remembers it. A segment that is gone is no
    /// damage: the snapshot is too old.
    fn or_damage<T>(
        &self,
        segment: &Segment,
        result: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_missing() => Err(error),
            Err(error) => {
                let damage = Damage {
                    path: segment.path.clone(),
                    position: 0,
                    reason: error.to_string(),
                    rows_lost: segment.row_count,
                };
                let mut known = self.damage.lock().unwrap_or_else(|e| e.into_inner());
                if !known.contains(&damage) {
                    known.push(damage);
                }
                Ok(None)
            }
        }
    }

    pub(super) fn ask_native(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let question = self.shared.question;
        if question.kind == Kind::Sync {
            return Ok(Findings::new(question.points));
        }
        let jobs: Vec<_> = minutes.native.values().collect();
        let new = || Findings::new(question.points);
        let states = self.spread(&jobs, new, |findings, minute| {
            findings.merge(self.ask_minute(minute)?);
            Ok(())
        })?;
        Ok(merged(states, question))
    }

    fn ask_minute(&self, minute: &NativeMinute<'_>) -> Result<Findings, StoreError> {
        let empty = || Findings::new(self.shared.question.points);
        let corrected = self.shared.clocks.as_ref().is_some_and(|clocks| clocks.corrected);
        let grouped = self.shared.question.split || corrected;
        if let ([part], [], false) = (&minute.parts[..], &minute.unsealed[..], grouped) {
            let scanned = SegmentFile::open(&part.path).and_then(|file| {
                if self.is_outside(&file) {
                    return Ok(Some(empty()));
                }
                scan(&file, self.shared, RowKind::Native)
            });
            match self.or_damage(part, scanned)? {
                None => return Ok(empty()),
                Some(Some(findings)) => return Ok(findings),
                Some(None) => {} // it has to be grouped
            }
        }
        self.group_minute(minute)
    }

    /// Whether no root in a segment started in the time that is asked for.
    fn is_outside(&self, file: &SegmentFile) -> bool {
        let wanted = &self.shared.question.start_ns;
        let beyond = |column| {
            let range = file.range(column);
            range.is_some_and(|r| *r.end() < wanted.start || *r.start() >= wanted.end)
        };
        beyond("start") && beyond("root_start")
    }

    fn group_minute(&self, minute: &NativeMinute<'_>) -> Result<Findings, StoreError> {
        let rows: u64 = minute.parts.iter().map(|part| part.row_count).sum();
        let rows = rows + minute.unsealed.len() as u64;
        let memory = self.limits.memory_bytes / self.limits.threads.max(1) as u64;
        let mut findings = Findings::new(self.shared.question.points);
        for partition in Partition::within(rows, memory) {
            let wanted = Wanted::Partition(partition);
            let mut paths = Paths::default();
            let mut runs = vec![read_unsealed(&minute.unsealed, self.shared, wanted, &mut paths)];
            for part in &minute.parts {
                let run = SegmentFile::open(&part.path)
                    .and_then(|file| read_native(&file, self.shared, wanted, &mut paths));
                runs.extend(self.or_damage(part, run)?);
            }
            let mut grouping = Grouping::new(self.shared);
            grouping.ask(&runs, (ChainId::NONE, None), Asked::All, &mut paths);
            findings.merge(grouping.into_findings());
        }
        Ok(findings)
    }

    /// Foreign chains lie anywhere. Most lie in one place all the same, and are asked as they are
    /// read; the rows of the others are brought together, in as many passes as memory demands.
    pub(super) fn ask_foreign(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let mut findings = Findings::new(self.shared.question.points);
        if minutes.foreign.is_empty() && minutes.foreign_unsealed.is_empty() {
            return Ok(findings);
        }
        let (scattered, rows) = self.scattered_chains(minutes)?;
        for partition in Partition::within(rows, self.limits.memory_bytes) {
            let (found, runs, mut aside) = self.read_scattered(minutes, &scattered, partition)?;
            findings.merge(found);
            let (found, more_aside) = self.ask_runs(&runs, Asked::ForeignOrAside)?;
            drop(runs);
            findings.merge(found);
            aside.extend(more_aside);
            findings.merge(self.ask_aside(minutes, aside)?);
        }
        Ok(findings)
    }

    /// The foreign chains whose rows do not all stand together, and how many rows they have.
    /// Takes 24 bytes for every chain meanwhile.
    fn scattered_chains(
        &self,
        minutes: &Minutes<'_>,
    ) -> Result<(HashSet<ChainId>, u64), StoreError> {
        let states = self.spread(&minutes.foreign, Vec::new, |chains, segment| {
            let read = SegmentFile::open(&segment.path).and_then(|file| read_chains(&file));
            chains.extend(self.or_damage(segment, read)?.unwrap_or_default());
            Ok(())
        })?;
        let mut chains: Vec<(ChainId, u64)> = states.into_iter().flatten().collect();
        let mut scattered: HashSet<ChainId> =
            minutes.foreign_unsealed.iter().map(|record| record.chain()).collect();
        chains.sort_unstable();
        let pairs = chains.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        scattered.extend(pairs.map(|pair| pair[0].0));
        let of_scattered = chains.iter().filter(|(chain, _)| scattered.contains(chain));
        let rows: u64 = of_scattered.map(|(_, rows)| rows).sum();
        Ok((scattered, rows + minutes.foreign_unsealed.len() as u64))
    }

    /// Asks the chains that stand together (in the first pass), and reads the rows of those that do
    /// not, as far as they are in the partition. Returns what was found, the rows read, and the
    /// rows of chains that were put aside.
    fn read_scattered(
        &self,
        minutes: &Minutes<'_>,
        scattered: &HashSet<ChainId>,
        partition: Partition,
    ) -> Result<(Findings, Vec<Run>, Vec<Run>), StoreError> {
        let new = || (Findings::new(self.shared.question.points), Vec::new(), Run::default());
        let states = self.spread(&minutes.foreign, new, |(findings, runs, aside), segment| {
            let mut grouping = Grouping::new(self.shared);
            let (mut run, mut mine) = (Run::default(), Run::default());
            let mut paths = Paths::default();
            let read = SegmentFile::open(&segment.path).and_then(|file| {
                read_foreign(&file, self.shared, |chain, rows| {
                    if scattered.contains(&chain) {
                        if partition.contains(chain) {
                            run.extend(chain, rows);
                        }
                    } else if partition.index == 0
                        && !grouping.ask_chain(rows, Asked::ForeignOrAside, &mut paths)
                    {
                        mine.extend(chain, rows);
                    }
                })
            });
            // All of a segment, or nothing.
            if self.or_damage(segment, read)?.is_some() {
                run.sort();
                runs.push(run);
                aside.append(mine);
                findings.merge(grouping.into_findings());
            }
            Ok(())
        })?;
        let mut findings = Findings::new(self.shared.question.points);
        let (mut runs, mut aside) = (Vec::new(), Vec::new());
        for (found, read, mut put_aside) in states {
            findings.merge(found);
            runs.extend(read);
            put_aside.sort();
            aside.push(put_aside);
        }
        let wanted = Wanted::Partition(partition);
        let mut paths = Paths::default(); // stays empty: these rows have no paths
        runs.push(read_unsealed(&minutes.foreign_unsealed, self.shared, wanted, &mut paths));
        Ok((findings, runs, aside))
    }

    /// Asks foreign chains, every thread a share of them.
    fn ask_runs(&self, runs: &[Run], asked: Asked) -> Result<(Findings, Vec<Run>), StoreError> {
        let cuts = cuts(runs, self.limits.threads.max(1) * 4);
        let starts = std::iter::once(ChainId::NONE).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().map(Some).chain([None]);
        let shares: Vec<_> = starts.zip(ends).collect();
        let new = || (Grouping::new(self.shared), Paths::default(), Vec::new());
        let states = self.spread(&shares, new, |(grouping, paths, aside), share| {
            aside.push(grouping.ask(runs, *share, asked, paths));
            Ok(())
        })?;
        let mut aside = Vec::new();
        let mut findings = Findings::new(self.shared.question.points);
        for (grouping, _, runs) in states {
            findings.merge(grouping.into_findings());
            aside.extend(runs.into_iter().filter(|run| !run.is_empty()));
        }
        Ok((findings, aside))
    }

    /// Asks chains with rows missing again, together with the native rows of these chains: a
    /// foreign part may hang below a native one.
    fn ask_aside(
        &self,
        minutes: &Minutes<'_>,
        mut aside: Vec<Run>,
    ) -> Result<Findings, StoreError> {
        let mut grouping = Grouping::new(self.shared);
        let mut paths = Paths::default();
        if self.shared.question.kind == Kind::Acpd && aside.iter().any(|run| !run.is_empty()) {
            let chains: HashSet<ChainId> = aside.iter().flat_map(Run::chains).collect();
            let wanted = Wanted::Chains(&chains);
            for minute in minutes.native.values() {
                for part in &minute.parts {
                    let run = SegmentFile::open(&part.path)
                        .and_then(|file| read_native(&file, self.shared, wanted, &mut paths));
                    aside.extend(self.or_damage(part, run)?);
                }
                aside.push(read_unsealed(&minute.unsealed, self.shared, wanted, &mut paths));
            }
        }
        grouping.ask(&aside, (ChainId::NONE, None), Asked::Foreign, &mut paths);
        Ok(grouping.into_findings())
    }

    /// Synchronous durations: every row for itself.
    pub(super) fn ask_each(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let question = self.shared.question;
        let native = minutes.native.values().flat_map(|minute| minute.parts.iter());
        let segments: Vec<&&Segment> = native.chain(&minutes.foreign).collect();
        let new = || Findings::new(question.points);
        let states = self.spread(&segments, new, |findings, segment| {
            let found = SegmentFile::open(&segment.path).and_then(|file| {
                if self.is_outside(&file) {
                    return Ok(None);
                }
                scan(&file, self.shared, segment.slot.kind)
            });
            if let Some(Some(found)) = self.or_damage(segment, found)? {
                findings.merge(found);
            }
            Ok(())
        })?;
        let mut findings = merged(states, question);
        let unsealed = minutes.native.values().flat_map(|minute| minute.unsealed.iter());
        for record in unsealed.chain(&minutes.foreign_unsealed) {
            self.ask_record(record, &mut findings);
        }
        Ok(findings)
    }

    fn ask_record(&self, record: &Record, findings: &mut Findings) {
        findings.rows += 1;
        let is_root = self.shared.book().is_root(record.class);
        if is_root && self.shared.question.start_ns.contains(&record.start_ns) {
            let series = findings.series_of(&[record.class]);
            let foreign = record.flags().contains(Flags::FOREIGN);
            let elapsed = i64::try_from(record.elapsed_ns).unwrap_or(i64::MAX);
            findings.counts.count(elapsed, 0, foreign);
            findings.push(series, record.start_ns, elapsed.unsigned_abs());
        }
    }
}

fn merged(states: Vec<Findings>, question: &Question) -> Findings {
    let mut findings = Findings::new(question.points);
    states.into_iter().for_each(|state| findings.merge(state));
    findings
}
