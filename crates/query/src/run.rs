//! Which rows a question needs, and in which way they are asked, on several threads.

use crate::answer::{Answer, Losses};
use crate::arrivals::Arriving;
use crate::book::Book;
use crate::clock::HostClocks;
use crate::foreign::{ForeignChains, Meeting};
use crate::group::{Asked, Grouping, read_native, read_unsealed};
use crate::question::{Judged, Kind, Limits, Question};
use crate::scan::scan;
use crate::series::{Findings, Keep, Whole};
use crate::spread::spread;
use crate::{Progress, Shared};
use chronoscope_chain::{HostIndex, Partition, Paths};
use chronoscope_model::{ChainId, Flags, ProcessId, Record};
use chronoscope_store::segment_file::SegmentFile;
use chronoscope_store::{Damage, Kind as RowKind, Minute, Segment, Slot, Snapshot, StoreError};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
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
    ask_watched(snapshot, question, limits, &Progress::default())
}

/// Answers a question that others watch, and may end.
///
/// # Errors
/// As [`ask`], and [`StoreError::Cancelled`].
pub fn ask_watched(
    snapshot: &Snapshot,
    question: &Question,
    limits: &Limits,
    progress: &Progress,
) -> Result<Answer, StoreError> {
    let mut shared = Shared {
        question,
        names: snapshot.names(),
        book: Mutex::new(Book::new(snapshot.names(), question)),
        clocks: HostClocks::of(snapshot.clocks(), question, !question.hosts.is_empty()),
        progress,
        keep: Keep::of(question),
        window_ns: question.start_ns.clone(),
        ways: None,
        arriving: None,
    };
    let minutes = Minutes::of(snapshot, question, limits);
    progress.expect(minutes.segments());
    if let Some(mut arriving) = Arriving::of(snapshot, question) {
        let task = Task { shared: &shared, limits, damage: Mutex::default() };
        task.find_linked(snapshot, &minutes, &mut arriving)?;
        shared.arriving = Some(arriving);
    }
    let (mut findings, mut unreadable) = ask_rows(&shared, limits, &minutes)?;
    if let Some(arriving) = shared.arriving.as_mut()
        && !unreadable.is_empty()
        && !arriving.evidence.damaged
    {
        // What cannot be read may hold any leaf: known now, so that it is judged by that.
        arriving.evidence.damaged = true;
        (findings, unreadable) = ask_rows(&shared, limits, &minutes)?;
    }
    let ledger = snapshot.ledger();
    let mut damage = snapshot.damage().to_vec();
    damage.extend(unreadable);
    let losses = Losses {
        lost_rows: ledger.lost_rows(),
        uncounted_losses: ledger.losses.uncounted(),
        damaged_rows: ledger.damaged_rows,
        expired_rows: snapshot.expired_rows(),
        damage,
        unsplit: 0,
    };
    let book = shared.book();
    let read = shared.clocks.as_ref().filter(|clocks| clocks.read);
    let corrected = read.map(|clocks| clocks.corrected);
    let found = std::mem::take(&mut findings.arrivals);
    let arrivals = shared.arriving.as_ref().map(|known| known.answer(snapshot, question, found));
    let mut answer = Answer::new(&book, findings, losses, corrected);
    answer.judge(snapshot, question, arrivals);
    Ok(answer)
}

/// Asks all rows that matter; and what of them could not be read.
fn ask_rows(
    shared: &Shared<'_>,
    limits: &Limits,
    minutes: &Minutes<'_>,
) -> Result<(Findings, Vec<Damage>), StoreError> {
    let task = Task { shared, limits, damage: Mutex::default() };
    let findings = match shared.question.kind {
        Kind::Sync => task.ask_each(minutes)?,
        Kind::Acpd | Kind::Apcd => task.ask_chains(minutes)?,
    };
    Ok((findings, task.damage.into_inner().unwrap_or_default()))
}

/// The rows of one native minute.
#[derive(Default)]
pub(crate) struct NativeMinute<'a> {
    pub(crate) parts: Vec<&'a Segment>,
    pub(crate) unsealed: Vec<&'a Record>,
}

/// All rows that may matter.
#[derive(Default)]
pub(crate) struct Minutes<'a> {
    pub(crate) native: BTreeMap<Minute, NativeMinute<'a>>,
    pub(crate) foreign: Vec<&'a Segment>,
    pub(crate) foreign_unsealed: Vec<&'a Record>,
}

impl<'a> Minutes<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot, question: &Question, limits: &Limits) -> Self {
        let mut minutes = Self::default();
        let wanted = |slot: Slot| {
            let reach = match slot.kind {
                RowKind::Native => REACH,
                RowKind::Foreign => limits.foreign_reach,
            };
            let mut range = around(&question.start_ns, reach);
            if slot.kind == RowKind::Foreign && question.judged != Judged::Durations {
                // A leaf belongs to its root whenever it comes.
                range.end = i64::MAX;
            }
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

    /// How many segments there are.
    pub(crate) fn segments(&self) -> u64 {
        let native: usize = self.native.values().map(|minute| minute.parts.len()).sum();
        (native + self.foreign.len()) as u64
    }
}

/// A time range, wider by `reach` on both sides.
pub(crate) fn around(range: &Range<i64>, reach: Duration) -> Range<i64> {
    let reach = i64::try_from(reach.as_nanos()).unwrap_or(i64::MAX);
    range.start.saturating_sub(reach)..range.end.saturating_add(reach)
}

/// One question being answered.
pub(crate) struct Task<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) limits: &'a Limits,
    pub(crate) damage: Mutex<Vec<Damage>>,
}

impl Task<'_> {
    /// Lets all threads work through `jobs`; every thread has its own state, and all states are
    /// returned. The first error ends the work.
    pub(crate) fn spread<J: Sync, S: Send>(
        &self,
        jobs: &[J],
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &J) -> Result<(), StoreError> + Sync,
    ) -> Result<Vec<S>, StoreError> {
        spread(jobs, self.limits.threads, state, |mine, job| {
            self.shared.progress.check().and_then(|()| work(mine, job))
        })
    }

    /// Passes over a segment that cannot be read, and remembers it. A segment that is gone is no
    /// damage: the snapshot is too old.
    pub(crate) fn or_damage<T>(
        &self,
        segment: &Segment,
        result: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_missing() || error.is_cancelled() => Err(error),
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

    /// Asks native chains minute by minute, those without foreign rows; and says where the others
    /// are.
    pub(crate) fn ask_native(
        &self,
        minutes: &Minutes<'_>,
        foreign: &ForeignChains,
    ) -> Result<(Findings, Meeting), StoreError> {
        let jobs: Vec<_> = minutes.native.iter().collect();
        let new = || (Findings::new(self.shared.keep), Meeting::default());
        let states = self.spread(&jobs, new, |(findings, all), (minute, rows)| {
            let mut meeting = Meeting::default();
            findings.merge(self.ask_minute(rows, foreign, &mut meeting)?);
            all.add(**minute, meeting);
            rows.parts.iter().try_for_each(|_| self.shared.progress.tick())
        })?;
        let mut findings = Findings::new(self.shared.keep);
        let mut meeting = Meeting::default();
        for (found, met) in states {
            findings.merge(found);
            meeting.merge(met);
        }
        Ok((findings, meeting))
    }

    pub(crate) fn ask_minute(
        &self,
        minute: &NativeMinute<'_>,
        foreign: &ForeignChains,
        meeting: &mut Meeting,
    ) -> Result<Findings, StoreError> {
        let empty = || Findings::new(self.shared.keep);
        let corrected = self.shared.clocks.as_ref().is_some_and(|clocks| clocks.corrected);
        let grouped = self.shared.question.split
            || corrected
            || self.shared.ways.is_some()
            || self.shared.arriving.is_some();
        if let ([part], [], false) = (&minute.parts[..], &minute.unsealed[..], grouped) {
            let scanned = SegmentFile::open(part).and_then(|file| {
                if self.is_outside(&file) {
                    meeting.passed_over = true;
                    return Ok(Some(empty()));
                }
                let (rows, chains) = foreign.rows_in(&file)?;
                let scanned = scan(&file, self.shared, RowKind::Native, &rows)?;
                if scanned.is_some() {
                    meeting.chains.extend(chains);
                    meeting.rows += rows.len() as u64;
                }
                Ok(scanned)
            });
            match self.or_damage(part, scanned)? {
                None => return Ok(empty()),
                Some(Some(findings)) => return Ok(findings),
                Some(None) => {} // it has to be grouped
            }
        }
        self.group_minute(minute, foreign, meeting)
    }

    /// Whether no root in a segment started in the time that is asked for.
    pub(crate) fn is_outside(&self, file: &SegmentFile) -> bool {
        let wanted = &self.shared.window_ns;
        let beyond = |column| {
            let range = file.range(column);
            range.is_some_and(|r| *r.end() < wanted.start || *r.start() >= wanted.end)
        };
        beyond("start") && beyond("root_start")
    }

    fn group_minute(
        &self,
        minute: &NativeMinute<'_>,
        foreign: &ForeignChains,
        meeting: &mut Meeting,
    ) -> Result<Findings, StoreError> {
        let memory = self.limits.memory_bytes / self.limits.threads.max(1) as u64;
        let mut findings = Findings::new(self.shared.keep);
        let rows: u64 = minute.parts.iter().map(|part| part.row_count).sum();
        let rows = rows + minute.unsealed.len() as u64;
        for partition in Partition::within(rows, memory) {
            let chains = self.shared.ways.as_ref().and_then(|ways| ways.chains.as_ref());
            let mut wanted = |chain| {
                chains.is_none_or(|chains| chains.contains(chain))
                    && partition.contains(chain)
                    && !(foreign.contains(chain) && meeting.meet(chain))
            };
            let mut paths = Paths::default();
            let mut runs =
                vec![read_unsealed(&minute.unsealed, self.shared, &mut wanted, &mut paths)];
            for part in &minute.parts {
                let run = SegmentFile::open(part).and_then(|file| {
                    read_native(&file, self.shared, &mut wanted, |classes| paths.of(classes))
                });
                runs.extend(self.or_damage(part, run)?);
            }
            let mut grouping = Grouping::new(self.shared);
            grouping.ask(&runs, (ChainId::NONE, None), Asked::All, &mut paths);
            findings.merge(grouping.into_findings());
        }
        Ok(findings)
    }

    /// Synchronous durations: every row for itself.
    pub(crate) fn ask_each(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let native = minutes.native.values().flat_map(|minute| minute.parts.iter());
        let segments: Vec<&&Segment> = native.chain(&minutes.foreign).collect();
        let new = || Findings::new(self.shared.keep);
        let states = self.spread(&segments, new, |findings, segment| {
            let found = SegmentFile::open(segment).and_then(|file| {
                if self.is_outside(&file) {
                    return Ok(None);
                }
                scan(&file, self.shared, segment.slot.kind, &[])
            });
            if let Some(Some(found)) = self.or_damage(segment, found)? {
                findings.merge(found);
            }
            self.shared.progress.tick()
        })?;
        let mut findings = merged(states, self.shared.keep);
        let unsealed = minutes.native.values().flat_map(|minute| minute.unsealed.iter());
        for record in unsealed.chain(&minutes.foreign_unsealed) {
            self.ask_record(record, &mut findings);
        }
        Ok(findings)
    }

    pub(crate) fn ask_record(&self, record: &Record, findings: &mut Findings) {
        findings.rows += 1;
        let is_root = self.shared.book().is_root(record.class);
        let hosts = self.shared.clocks.as_ref();
        let host = hosts.map_or(HostIndex::UNKNOWN, |hosts| {
            hosts.hosts_by_id(self.shared.names, record.process, ProcessId::NONE).own
        });
        let elapsed = i64::try_from(record.elapsed_ns).unwrap_or(i64::MAX);
        let wanted = is_root
            && self.shared.question.start_ns.contains(&record.start_ns)
            && self.shared.wants(host, elapsed)
            && self.shared.wants_path(&[record.class]);
        if wanted {
            let series = findings.series_of(&[record.class]);
            let foreign = record.flags().contains(Flags::FOREIGN);
            let whole = Whole { links: 0, foreign, host, error_ns: None, row: None };
            findings.keep_whole(series, record.start_ns, elapsed, whole);
            findings.counts.count(elapsed, 0, foreign);
            findings.push(series, record.start_ns, elapsed.unsigned_abs());
        }
    }
}

fn merged(states: Vec<Findings>, keep: Keep) -> Findings {
    let mut findings = Findings::new(keep);
    states.into_iter().for_each(|state| findings.merge(state));
    findings
}
