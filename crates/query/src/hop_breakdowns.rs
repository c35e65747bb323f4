//! Hop breakdowns of durations, which say how long each hop took and where it ran: of all that are asked for where they are few, else of a
//! sample.
//!
//! The sample is clustered by time, because the rows of a minute are read together: up to so many
//! minutes are drawn at random, each as probable as it has durations, and in them durations at
//! random, in equal numbers as far as they have them. Randomness comes from the question, so that
//! it is answered alike again. Durations of one minute are more alike than those of two: a sample
//! of few minutes says less than its number.

use crate::attributes::AttributeReader;
use crate::chunk::{Chunk, ChunkSeries, Dot, DurationFilter, Picker};
use crate::clock::HostClocks;
use crate::context::QuestionContext;
use crate::foreign_chains::{ForeignChains, MixedChainRows};
use crate::gather::{Gathered, QueryEnvironment};
use crate::locate::locate_all;
use crate::minutes::{Minutes, REACH};
use crate::path_catalog::PathCatalog;
use crate::question::{DurationKind, Question};
use crate::series::{DurationDetail, Findings, Point};
use crate::task::Task;
use crate::wanted_breakdowns::{ChainSet, WantedBreakdowns};
use chronoscope_chain::{HopPath, HopTimes, HostIndex, PathHop};
use chronoscope_store::{MINUTE_NS, Minute, Snapshot, StoreError};
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

/// Minutes whose rows are read, for each of two sets.
const MINUTES_MAX: usize = 24;

/// Two sets of hop breakdowns, and what their numbers mean.
pub(crate) struct Sampled {
    /// The sets: at 0 the usual ones, at 1 the others.
    pub(crate) breakdowns: [Vec<HopPath>; 2],
    /// Number of durations that each sample was drawn from.
    pub(crate) totals: [u64; 2],
    /// The names of hosts, by number.
    pub(crate) hosts: Vec<String>,
    /// The words of classes.
    pub(crate) catalog: PathCatalog,
}

/// Draws from the durations that `side` puts into one of two sets (0 or 1), and reads their breakdowns.
pub(crate) fn sample(
    snapshot: &Snapshot,
    question: &Question,
    gathered: &Gathered<'_>,
    sides: &Sides,
    (sample, asking): (usize, &QueryEnvironment<'_>),
) -> Result<Sampled, StoreError> {
    let seed = seed(question);
    let counts = count(gathered, sides)?;
    let draws = [0, 1].map(|set| draw(&counts, set, sample, seed));
    let points = pick(gathered, sides, &draws, seed)?;
    let totals = [0, 1].map(|set| counts.values().map(|counts| counts[set]).sum());
    if question.kind == DurationKind::Sync {
        return alone(gathered, &points, (totals, PathCatalog::new(snapshot.names(), question)));
    }
    let plain = Question {
        path: None,
        hosts: Vec::new(),
        duration_ns: 0..=u64::MAX,
        start_ns: i64::MIN..i64::MAX,
        ..question.clone()
    };
    let all: Vec<Point> = points.iter().flatten().copied().collect();
    let chains = locate_all(snapshot, &plain, (&all, gathered), asking)?;
    let wanted = WantedBreakdowns {
        chains: Some(ChainSet::of(chains.iter().flatten().copied())),
        points: all.iter().copied().collect(),
    };
    let (found, hosts, catalog) = read(snapshot, &plain, wanted, asking)?;
    let others: HashSet<Point> = points[1].iter().copied().collect();
    let mut breakdowns = [Vec::new(), Vec::new()];
    for (point, way) in found {
        breakdowns[usize::from(others.contains(&point))].push(way);
    }
    Ok(Sampled { breakdowns, totals, hosts, catalog })
}

/// The breakdowns of transactions by themselves: a single hop each, and where it ran.
fn alone(
    gathered: &Gathered<'_>,
    points: &[Vec<Point>; 2],
    (totals, catalog): ([u64; 2], PathCatalog),
) -> Result<Sampled, StoreError> {
    let mut hosts = vec![String::new()]; // what is not known
    let mut numbers: HashMap<String, HostIndex> = HashMap::new();
    let mut breakdowns = [Vec::new(), Vec::new()];
    for (points, breakdowns) in points.iter().zip(&mut breakdowns) {
        let found = gathered.look_up(points, |chunk, series, dot| {
            let class = series.path.classes.first().copied()?;
            Some((class, chunk.host(dot.host).to_owned()))
        })?;
        for (point, found) in points.iter().zip(found) {
            let Some((class, host)) = found else { continue };
            let host = match numbers.get(&host) {
                _ if host.is_empty() => HostIndex::UNKNOWN,
                Some(known) => *known,
                None => {
                    hosts.push(host.clone());
                    let number = HostIndex(u32::try_from(hosts.len() - 1).unwrap_or(u32::MAX));
                    numbers.insert(host, number);
                    number
                }
            };
            let inside_ns = i64::try_from(point.duration_ns).unwrap_or(i64::MAX);
            let hop = PathHop { class, host, part: HopTimes { inside_ns, waiting_ns: 0 } };
            breakdowns.push(HopPath {
                start_ns: point.start_ns,
                hops: vec![hop],
                inner: Vec::new(),
            });
        }
    }
    Ok(Sampled { breakdowns, totals, hosts, catalog })
}

/// Assignment of durations to one or two sets.
pub(crate) enum Sides {
    /// All durations go into the first set.
    One,
    /// Selected durations go into the second set, others of the context into the first.
    Two(Box<Selected>),
}

/// Filters of the selected durations and of their context.
pub(crate) struct Selected {
    pub(crate) selected: DurationFilter,
    pub(crate) context: DurationFilter,
}

/// The same, for one path of one chunk.
enum Judge<'a> {
    One,
    Two { selected: Picker<'a>, context: Picker<'a> },
}

impl Sides {
    fn judge<'a>(&'a self, chunk: &Chunk, series: &ChunkSeries) -> Judge<'a> {
        match self {
            Self::One => Judge::One,
            Self::Two(two) => Judge::Two {
                selected: Picker::new(chunk, series, &two.selected),
                context: Picker::new(chunk, series, &two.context),
            },
        }
    }
}

impl Judge<'_> {
    /// The set that all go into, or none, where that is one and the same.
    const fn all(&self) -> Option<Option<usize>> {
        match self {
            Self::One => Some(Some(0)),
            Self::Two { selected: Picker::All, .. } => Some(Some(1)),
            Self::Two { selected: Picker::Nothing, context: Picker::All } => Some(Some(0)),
            Self::Two { selected: Picker::Nothing, context: Picker::Nothing } => Some(None),
            Self::Two { .. } => None,
        }
    }

    fn set(&self, dot: &Dot) -> Option<usize> {
        match self {
            Self::One => Some(0),
            Self::Two { selected, .. } if selected.has(dot) => Some(1),
            Self::Two { context, .. } => context.has(dot).then_some(0),
        }
    }
}

/// Counts of both sets by minute.
type Counts = BTreeMap<Minute, [u64; 2]>;

fn count(gathered: &Gathered<'_>, sides: &Sides) -> Result<Counts, StoreError> {
    let wanted = gathered.wanted();
    let states = gathered.each(Counts::new, |counts, chunk| {
        for series in &chunk.series {
            let judge = sides.judge(chunk, series);
            if let (Some(set), Some((minute, count))) = (judge.all(), series.all_of_minute())
                && chunk.known(series, wanted).is_some()
            {
                if let Some(set) = set {
                    counts.entry(minute).or_default()[set] += count;
                }
                continue;
            }
            let mut last: (i64, [u64; 2]) = (i64::MIN, [0; 2]);
            chunk.each(series, wanted, |dot| {
                let Some(set) = judge.set(&dot).filter(|_| dot.duration_ns >= 0) else { return };
                if !(last.0..last.0.saturating_add(MINUTE_NS)).contains(&dot.start_ns) {
                    add(counts, last);
                    last = (Minute::of(dot.start_ns).start_ns(), [0; 2]);
                }
                last.1[set] += 1;
            });
            add(counts, last);
        }
    })?;
    let mut counts = Counts::new();
    for (minute, [a, b]) in states.into_iter().flatten() {
        let both = counts.entry(minute).or_default();
        *both = [both[0] + a, both[1] + b];
    }
    Ok(counts)
}

fn add(counts: &mut Counts, (start_ns, [a, b]): (i64, [u64; 2])) {
    if a + b > 0 {
        let both = counts.entry(Minute::of(start_ns)).or_default();
        *both = [both[0] + a, both[1] + b];
    }
}

/// Number of durations to take from each drawn minute.
fn draw(counts: &Counts, set: usize, sample: usize, seed: u64) -> BTreeMap<Minute, usize> {
    // Efraimidis and Spirakis: the smallest −ln(u) / weight are a draw by weight without
    // replacement.
    let mut keys: Vec<(f64, Minute, u64)> = counts
        .iter()
        .filter(|(_, counts)| counts[set] > 0)
        .map(|(minute, counts)| {
            let share = ((hash(seed, &(minute, set)) >> 11) + 1) as f64 / (1u64 << 53) as f64;
            (-share.ln() / counts[set] as f64, *minute, counts[set])
        })
        .collect();
    keys.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    keys.truncate(MINUTES_MAX);
    // Smallest minutes first: the quota that they cannot fill goes to the others.
    keys.sort_by_key(|(_, minute, count)| (*count, *minute));
    let (mut left, mut minutes) = (sample, keys.len());
    let mut draws = BTreeMap::new();
    for (_, minute, count) in keys {
        let quota = usize::try_from(count).unwrap_or(usize::MAX).min(left.div_ceil(minutes));
        draws.insert(minute, quota);
        left -= quota.min(left);
        minutes -= 1;
    }
    draws
}

/// The durations that were drawn, of both sets.
fn pick(
    gathered: &Gathered<'_>,
    sides: &Sides,
    draws: &[BTreeMap<Minute, usize>; 2],
    seed: u64,
) -> Result<[Vec<Point>; 2], StoreError> {
    type Heaps = BTreeMap<(usize, Minute), BinaryHeap<(u64, Point)>>;
    let wanted = gathered.wanted();
    let drawn: HashSet<Minute> = draws.iter().flat_map(|draws| draws.keys().copied()).collect();
    let states = gathered.each(Heaps::new, |heaps, chunk| {
        let touches = |minute: &&Minute| !chunk.is_outside(&(minute.start_ns()..minute.end_ns()));
        let mine: Vec<Minute> = drawn.iter().filter(touches).copied().collect();
        if mine.is_empty() {
            return;
        }
        for series in &chunk.series {
            let judge = sides.judge(chunk, series);
            chunk.each(series, wanted, |dot| {
                let minute = Minute::of(dot.start_ns);
                let Ok(duration_ns) = u64::try_from(dot.duration_ns) else { return };
                let Some(set) = judge.set(&dot).filter(|_| mine.contains(&minute)) else { return };
                let Some(quota) = draws[set].get(&minute) else { return };
                let point = Point { start_ns: dot.start_ns, duration_ns };
                offer(heaps.entry((set, minute)).or_default(), *quota, hash(seed, &point), point);
            });
        }
    })?;
    let mut heaps = Heaps::new();
    for (key, heap) in states.into_iter().flatten() {
        let quota = draws[key.0].get(&key.1).copied().unwrap_or(0);
        let mine = heaps.entry(key).or_default();
        heap.into_iter().for_each(|(rank, point)| offer(mine, quota, rank, point));
    }
    let mut points = [Vec::new(), Vec::new()];
    for ((set, _), heap) in heaps {
        points[set].extend(heap.into_iter().map(|(_, point)| point));
    }
    Ok(points)
}

fn offer(heap: &mut BinaryHeap<(u64, Point)>, quota: usize, rank: u64, point: Point) {
    if heap.len() < quota {
        heap.push((rank, point));
    } else if heap.peek().is_some_and(|(last, _)| rank < *last) {
        heap.pop();
        heap.push((rank, point));
    }
}

/// Seed of the draw: the same question draws the same sample.
fn seed(question: &Question) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{question:?}").hash(&mut hasher);
    hasher.finish()
}

/// A number that looks random and is always the same.
fn hash(seed: u64, of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    of.hash(&mut hasher);
    hasher.finish()
}

/// The breakdowns of durations, with the names of hosts and classes in them.
type Found = (Vec<(Point, HopPath)>, Vec<String>, PathCatalog);

/// Reads the breakdowns of some durations: in the minutes of their starts, and where they are not there
/// in earlier ones, because an inner root lies in the minute of its chain's root.
fn read(
    snapshot: &Snapshot,
    question: &Question,
    wanted: WantedBreakdowns,
    asking: &QueryEnvironment<'_>,
) -> Result<Found, StoreError> {
    let points = wanted.points.clone();
    let first = points.iter().map(|point| point.start_ns).min().unwrap_or(0);
    let last = points.iter().map(|point| point.start_ns).max().unwrap_or(0);
    let range = Question { start_ns: first..last.saturating_add(1), ..question.clone() };
    let minutes = Minutes::of(snapshot, &range, asking.limits);
    let shared = QuestionContext {
        question,
        names: snapshot.names(),
        catalog: Mutex::new(PathCatalog::new(snapshot.names(), question)),
        clocks: HostClocks::of(snapshot.clocks(), question, true),
        progress: asking.progress,
        keep: DurationDetail::Durations,
        window_ns: question.start_ns.clone(),
        breakdowns: Some(wanted),
        arriving: None,
        attributes: AttributeReader::of(snapshot, &question.attributes),
    };
    let task = Task { shared: &shared, limits: asking.limits, damage: Mutex::default() };
    let mut found = Vec::new();
    if minutes.foreign.is_empty() && minutes.foreign_unsealed.is_empty() {
        let own: HashSet<Minute> = points.iter().map(|point| Minute::of(point.start_ns)).collect();
        found = read_minutes(&task, &minutes, &|minute| own.contains(&minute))?;
        let there: HashSet<Point> = found.iter().map(|(point, _)| *point).collect();
        let missing: Vec<i64> = points.difference(&there).map(|point| point.start_ns).collect();
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let before = |minute: Minute| {
            let may = |start: &i64| {
                minute.end_ns() > start.saturating_sub(reach) && minute.start_ns() <= *start
            };
            !own.contains(&minute) && missing.iter().any(may)
        };
        // Ways with rows missing are nowhere: they are looked for only where roots are inner ones.
        if !missing.is_empty() && missing.len() * 2 > points.len() {
            found.extend(read_minutes(&task, &minutes, &before)?);
        }
    } else {
        found.extend(task.ask_chains(&minutes)?.breakdowns);
    }
    let names = shared.clocks.as_ref().map(HostClocks::names).unwrap_or_default();
    // By start and length: threads come in any order.
    found.sort_by_key(|(point, _)| *point);
    let catalog = shared.catalog.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok((found, names, catalog))
}

fn read_minutes(
    task: &Task<'_>,
    minutes: &Minutes<'_>,
    of: &(impl Fn(Minute) -> bool + Sync),
) -> Result<Vec<(Point, HopPath)>, StoreError> {
    let jobs: Vec<_> = minutes.native.iter().filter(|(minute, _)| of(**minute)).collect();
    let new = || Findings::new(DurationDetail::Durations);
    let states = task.spread(&jobs, new, |findings, (_, rows)| {
        let none = ForeignChains::default();
        findings.merge(task.ask_minute(rows, &none, &mut MixedChainRows::default())?);
        Ok(())
    })?;
    Ok(states.into_iter().flat_map(|findings| findings.breakdowns).collect())
}
