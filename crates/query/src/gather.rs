//! Finding the durations that several questions are about, once: minute by minute, from the cache
//! where they are there, and handed out chunk by chunk.

use crate::answer::{ClockQuality, Losses};
use crate::attributes::{AttributeReader, Attributes};
use crate::cache::{CacheLookup, DurationCache};
use crate::cache_key::{Key, QuestionKey};
use crate::chunk::{Chunk, ChunkSeries, Dot, DurationFilter, PathText, RowPlace};
use crate::clock::HostClocks;
use crate::context::QuestionContext;
use crate::foreign_chains::{ForeignChains, MixedChainRows};
use crate::found_elsewhere::FoundPath;
use crate::kept_attributes::MinuteAttributes;
use crate::minutes::{Minutes, NativeMinute, REACH};
use crate::path_catalog::PathCatalog;
use crate::progress::Progress;
use crate::question::{DurationKind, Limits, Question};
use crate::scan::scan;
use crate::series::{DurationDetail, Findings, Point};
use crate::task::Task;
use chronoscope_chain::Crossings;
use chronoscope_store::segment_file::SegmentFile;
use chronoscope_store::{Damage, Minute, Segment, Snapshot, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Environment of a question about durations.
#[derive(Clone, Copy, Debug)]
pub struct QueryEnvironment<'a> {
    /// Limits of memory and threads.
    pub limits: &'a Limits,
    /// Progress of the question, and its cancellation.
    pub progress: &'a Progress,
    /// Durations that earlier questions found.
    pub cache: &'a DurationCache,
}

/// A part of the rows that can be asked on its own.
enum Unit<'a> {
    /// Native rows of a minute.
    Native(&'a NativeMinute<'a>),
    /// Rows each for itself.
    Segment(&'a Segment),
    /// All of them: chains with foreign rows lie anywhere.
    All,
    /// Rows each for itself that are not sealed yet.
    Unsealed,
}

/// All that may be asked for, in parts.
pub(crate) struct Gathered<'a> {
    task: &'a Task<'a>,
    minutes: &'a Minutes<'a>,
    wanted: DurationFilter,
    units: Vec<(Unit<'a>, Option<Arc<Chunk>>)>,
    base: Arc<QuestionKey>,
    cache: &'a DurationCache,
    question_number: u64,
}

/// Finds the durations that a question is about, for `work` to look at; with what may be missing.
pub(crate) fn gather<T, E: From<StoreError>>(
    snapshot: &Snapshot,
    question: &Question,
    asking: &QueryEnvironment<'_>,
    work: impl FnOnce(&Gathered<'_>) -> Result<T, E>,
) -> Result<(T, Losses), E> {
    let minutes = Minutes::of(snapshot, question, asking.limits);
    let has_foreign = !minutes.foreign.is_empty() || !minutes.foreign_unsealed.is_empty();
    // Chains with foreign rows may hang below roots of any minute: what is found in one depends on
    // which are looked at.
    let all_at_once = question.kind != DurationKind::Sync && has_foreign;
    let whole = whole(question, all_at_once);
    let shared = QuestionContext {
        question: &whole,
        names: snapshot.names(),
        catalog: Mutex::new(PathCatalog::new(snapshot.names(), &whole)),
        clocks: HostClocks::of(snapshot.clocks(), &whole, true),
        progress: asking.progress,
        keep: DurationDetail::Whole,
        window_ns: question.start_ns.clone(),
        breakdowns: None,
        arriving: None,
        attributes: AttributeReader::of(snapshot, &whole.attributes),
    };
    let task = Task { shared: &shared, limits: asking.limits, damage: Mutex::default() };
    let window = (question.start_ns.start, question.start_ns.end);
    let base = QuestionKey::of(&whole, snapshot.clocks(), all_at_once.then_some(window));
    let units: Vec<Unit<'_>> = match question.kind {
        DurationKind::Sync => {
            let native = minutes.native.values().flat_map(|minute| &minute.parts);
            let segments = native.chain(&minutes.foreign).map(|segment| Unit::Segment(segment));
            segments.chain([Unit::Unsealed]).collect()
        }
        _ => {
            let whole: Vec<Unit<'_>> = match all_at_once {
                true => vec![Unit::All],
                false => minutes.native.values().map(Unit::Native).collect(),
            };
            let linked = minutes.linked.iter().map(|segment| Unit::Segment(segment));
            linked.chain(whole).collect()
        }
    };
    let gathered = Gathered {
        task: &task,
        minutes: &minutes,
        wanted: DurationFilter::by(question),
        units: units.into_iter().map(|unit| (unit, None)).collect(),
        base,
        cache: asking.cache,
        question_number: asking.cache.begin(),
    };
    asking.progress.check()?;
    asking.progress.expect(minutes.segments());
    let done = work(&gathered.find()?)?;
    let unreadable = task.damage.into_inner().unwrap_or_default();
    let losses = Losses::of(snapshot, unreadable, &question.start_ns);
    Ok((done, losses))
}

/// The question whose durations are kept: those of every filter that needs no rows.
fn whole(question: &Question, all_at_once: bool) -> Question {
    Question {
        path: None,
        hosts: Vec::new(),
        attributes: question.attributes.without_groups(),
        duration_ns: 0..=u64::MAX,
        limit_ns: None,
        split: false,
        points: false,
        start_ns: if all_at_once { question.start_ns.clone() } else { i64::MIN..i64::MAX },
        ..question.clone()
    }
}

impl Gathered<'_> {
    /// Number of threads that may work on it.
    pub(crate) const fn threads(&self) -> usize {
        self.task.limits.threads
    }

    /// A path that was found elsewhere; `None` where it is not asked for.
    pub(crate) fn path_of(&self, found: &FoundPath) -> Option<Arc<PathText>> {
        let mut catalog = self.task.shared.catalog();
        let classes = found.classes(&mut catalog);
        let path = PathText::of(&classes, &catalog);
        self.wanted.wants_path(&path).then(|| Arc::new(path))
    }

    /// The filter for durations.
    pub(crate) const fn wanted(&self) -> &DurationFilter {
        &self.wanted
    }

    /// Accuracy of durations that crossed hosts; `None` where no clock was ever read.
    pub(crate) fn quality(&self, durations: u64, crossings: Crossings) -> Option<ClockQuality> {
        let clocks = self.task.shared.clocks.as_ref().filter(|clocks| clocks.read)?;
        Some(ClockQuality { corrected: clocks.corrected, durations, crossings })
    }

    /// Finds everything once. What fits into the cache, and what cannot be found again without
    /// reading it all, is held. What another question reads meanwhile comes last: two that are
    /// asked together read each its part.
    fn find(mut self) -> Result<Self, StoreError> {
        let mut numbers: Vec<usize> = (0..self.units.len()).collect();
        for waits in [false, true] {
            let states = self.task.spread(&numbers, Vec::new, |found, number| {
                let (unit, _) = &self.units[*number];
                let chunk = self.chunk_of(unit, waits)?;
                let is_there = chunk.is_some();
                found.push((*number, chunk));
                let segments = if is_there { unit.segments(self.minutes) } else { Vec::new() };
                segments.iter().try_for_each(|_| self.task.shared.progress.tick())
            })?;
            numbers.clear();
            for (number, chunk) in states.into_iter().flatten() {
                match chunk {
                    Some((chunk, true)) => self.units[number].1 = Some(chunk),
                    Some((_, false)) => {}
                    None => numbers.push(number),
                }
            }
        }
        Ok(self)
    }

    /// Storage positions of the leaves of durations, as far as they are known.
    pub(crate) fn places(&self, points: &[Point]) -> Result<Vec<Option<RowPlace>>, StoreError> {
        self.look_up(points, Chunk::place)
    }

    /// The attributes of some durations, which `read` reads, in ascending order, as far as they are
    /// not kept. Durations that it does not find have none.
    pub(crate) fn attributes_of(
        &self,
        points: &[Point],
        read: impl FnOnce(&[Point]) -> Result<Vec<(Point, Attributes)>, StoreError>,
    ) -> Result<MinuteAttributes, StoreError> {
        let mut minutes: BTreeMap<Minute, Vec<Point>> = BTreeMap::new();
        for point in points {
            minutes.entry(Minute::of(point.start_ns)).or_default().push(*point);
        }
        let (mut found, mut missing, mut incomplete) =
            (MinuteAttributes::new(), Vec::new(), Vec::new());
        for (minute, points) in minutes {
            let key = self.attributes_key(minute);
            let kept = key.as_ref().and_then(|key| self.cache.attributes().get(key));
            let of_kept = |point: &Point| Some(kept.as_ref()?.get(point)?.clone());
            let from = missing.len();
            for point in points {
                match of_kept(&point) {
                    Some(attributes) => _ = found.insert(point, attributes),
                    None => missing.push(point),
                }
            }
            let new = from..missing.len();
            incomplete.extend(key.filter(|_| !new.is_empty()).map(|key| (key, new, kept)));
        }
        if missing.is_empty() {
            return Ok(found);
        }
        // Of several durations at one point the least attributes count.
        let read: MinuteAttributes = read(&missing)?.into_iter().rev().collect();
        let of = |point: &Point| (*point, read.get(point).cloned().unwrap_or_default());
        found.extend(missing.iter().map(of));
        for (key, new, kept) in incomplete {
            let mut all = kept.map_or_else(MinuteAttributes::new, |kept| (*kept).clone());
            all.extend(missing[new].iter().map(of));
            self.cache.attributes().keep(key, all);
        }
        Ok(found)
    }

    /// Key of what is known of the durations of a minute: the segments that may have rows of them;
    /// `None` where some of these rows are not sealed yet.
    fn attributes_key(&self, minute: Minute) -> Option<(Key, Minute)> {
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let first = Minute::of(minute.start_ns().saturating_sub(reach));
        let near = || self.minutes.native.range(first..=minute).map(|(_, rows)| rows);
        let sealed = near().all(|rows| rows.unsealed.is_empty());
        if !sealed || !self.minutes.foreign_unsealed.is_empty() {
            return None;
        }
        let native = near().flat_map(|rows| &rows.parts);
        let segments: Vec<&Segment> = native.chain(&self.minutes.foreign).copied().collect();
        Some((Key::of(&self.base, &segments), minute))
    }

    /// The result of `of` for the duration at each point. Of several durations at one point the
    /// least result is taken, so that the answer does not depend on the order of threads.
    pub(crate) fn look_up<T: Ord + Clone + Send>(
        &self,
        points: &[Point],
        of: impl Fn(&Chunk, &ChunkSeries, &Dot) -> Option<T> + Sync,
    ) -> Result<Vec<Option<T>>, StoreError> {
        let mut numbers: HashMap<Point, Vec<usize>> = HashMap::new();
        for (number, point) in points.iter().enumerate() {
            numbers.entry(*point).or_default().push(number);
        }
        let mut starts: Vec<i64> = points.iter().map(|point| point.start_ns).collect();
        starts.sort_unstable();
        starts.dedup();
        let states = self.each(Vec::new, |found, chunk| {
            for series in &chunk.series {
                let starts = series.starts_among(&starts);
                if starts.is_empty() {
                    continue;
                }
                chunk.each(series, &self.wanted, |dot| {
                    if starts.binary_search(&dot.start_ns).is_err() {
                        return;
                    }
                    let Ok(duration_ns) = u64::try_from(dot.duration_ns) else { return };
                    let point = Point { start_ns: dot.start_ns, duration_ns };
                    for number in numbers.get(&point).into_iter().flatten() {
                        found.extend(of(chunk, series, &dot).map(|said| (*number, said)));
                    }
                });
            }
        })?;
        let mut all: Vec<Option<T>> = vec![None; points.len()];
        for (number, said) in states.into_iter().flatten() {
            all[number] = Some(match all[number].take() {
                Some(known) => known.min(said),
                None => said,
            });
        }
        Ok(all)
    }

    /// Lets all threads look at all chunks that have anything of the time that is asked for.
    pub(crate) fn each<S: Send>(
        &self,
        state: impl Fn() -> S + Sync,
        look: impl Fn(&mut S, &Chunk) + Sync,
    ) -> Result<Vec<S>, StoreError> {
        self.each_of(self.wanted.start_ns.clone(), state, look)
    }

    /// As [`Self::each`], for another time range within the one that was gathered.
    pub(crate) fn each_of<S: Send>(
        &self,
        start_ns: std::ops::Range<i64>,
        state: impl Fn() -> S + Sync,
        look: impl Fn(&mut S, &Chunk) + Sync,
    ) -> Result<Vec<S>, StoreError> {
        self.task.spread(&self.units, state, |state, (unit, held)| {
            let read;
            let chunk = match held {
                Some(chunk) => chunk,
                None => {
                    let Some((chunk, _)) = self.chunk_of(unit, true)? else { return Ok(()) };
                    read = chunk;
                    &read
                }
            };
            if !chunk.is_outside(&start_ns) {
                look(state, chunk);
            }
            Ok(())
        })
    }

    /// The durations of a unit, and whether they are to be held; `None` where another question is
    /// reading them and is not waited for.
    fn chunk_of(
        &self,
        unit: &Unit<'_>,
        waits: bool,
    ) -> Result<Option<(Arc<Chunk>, bool)>, StoreError> {
        let segments = unit.segments(self.minutes);
        let key = unit.is_sealed(self.minutes).then(|| Key::of(&self.base, &segments));
        let Some(key) = key else {
            let (findings, _) = self.ask(unit)?;
            return Ok(Some((self.chunk(findings, None), true)));
        };
        let mut got = self.cache.get(&key, self.question_number);
        if waits && matches!(got, CacheLookup::Underway) {
            let check = || self.task.shared.progress.check();
            got = self.cache.wait(&key, self.question_number, check)?;
        }
        let underway = match got {
            CacheLookup::Kept(chunk) => return Ok(Some((chunk, true))),
            CacheLookup::Underway => return Ok(None),
            CacheLookup::Missing(underway) => underway,
        };
        let read = self.read(unit, key, &segments);
        drop(underway); // now that it is kept
        read.map(Some)
    }

    /// Reads the durations of a sealed unit and keeps them; whether they are to be held.
    fn read(
        &self,
        unit: &Unit<'_>,
        key: Key,
        segments: &[&Segment],
    ) -> Result<(Arc<Chunk>, bool), StoreError> {
        let (findings, outside) = self.ask(unit)?;
        let only = if let [segment] = segments { Some(segment.path.as_path()) } else { None };
        let chunk = self.chunk(findings, only);
        let damaged = |damage: &[Damage]| {
            damage.iter().any(|damage| segments.iter().any(|segment| segment.path == damage.path))
        };
        let damage = self.task.damage.lock().unwrap_or_else(|e| e.into_inner());
        if outside || damaged(&damage) {
            return Ok((chunk, true)); // it is small, or not all there
        }
        drop(damage);
        let keeps = self.cache.keep(key, &chunk, self.question_number);
        Ok((chunk, keeps))
    }

    fn chunk(&self, findings: Findings, segment: Option<&Path>) -> Arc<Chunk> {
        let names = self.task.shared.clocks.as_ref().map(HostClocks::names).unwrap_or_default();
        Arc::new(Chunk::new(findings, segment, &names, &self.task.shared.catalog()))
    }

    /// Asks a unit; and whether it was passed over because nothing in it started in the time.
    fn ask(&self, unit: &Unit<'_>) -> Result<(Findings, bool), StoreError> {
        let task = self.task;
        match unit {
            Unit::Native(minute) => {
                let mut meeting = MixedChainRows::default();
                let found = task.ask_minute(minute, &ForeignChains::default(), &mut meeting)?;
                Ok((found, meeting.passed_over))
            }
            Unit::Segment(segment) => {
                let mut outside = false;
                let found = SegmentFile::open(segment).and_then(|file| {
                    outside = task.is_outside(&file);
                    if outside {
                        Ok(None)
                    } else {
                        scan(&file, task.shared, segment.slot.kind, &[])
                    }
                });
                let found = task.or_damage(segment, found)?.flatten();
                Ok((found.unwrap_or_else(|| Findings::new(DurationDetail::Whole)), outside))
            }
            Unit::All => Ok((task.ask_whole_chains(self.minutes)?, false)),
            Unit::Unsealed => {
                let mut findings = Findings::new(DurationDetail::Whole);
                let native = self.minutes.native.values().flat_map(|minute| &minute.unsealed);
                task.ask_records(native.chain(&self.minutes.foreign_unsealed), &mut findings);
                Ok((findings, false))
            }
        }
    }
}

impl Unit<'_> {
    /// Segments of the unit.
    fn segments<'b>(&'b self, minutes: &'b Minutes<'b>) -> Vec<&'b Segment> {
        match self {
            Self::Native(minute) => minute.parts.clone(),
            Self::Segment(segment) => vec![segment],
            Self::All => {
                let native = minutes.native.values().flat_map(|minute| minute.parts.iter());
                native.chain(&minutes.foreign).copied().collect()
            }
            Self::Unsealed => Vec::new(),
        }
    }

    /// Whether all of its rows are in segments.
    fn is_sealed(&self, minutes: &Minutes<'_>) -> bool {
        match self {
            Self::Native(minute) => minute.unsealed.is_empty(),
            Self::Segment(_) => true,
            Self::All => {
                minutes.foreign_unsealed.is_empty()
                    && minutes.native.values().all(|minute| minute.unsealed.is_empty())
            }
            Self::Unsealed => false,
        }
    }
}
