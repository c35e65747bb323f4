//! Durations of transactions with several parents: parents and links of all chains are followed.
//!
//! All rows within reach of the time range are read into one graph ([`chronoscope_chain::fan_in`]),
//! native and foreign ones, because any row may be linked from any chain. Memory for
//! [`ROW_BYTES`] each is needed at once; more rows than [`Limits::memory_bytes`] holds are refused.

use crate::QueryError;
use crate::answer::{Answer, Losses};
use crate::arrivals::Arriving;
use crate::context::QuestionContext;
use crate::group::{ClassTable, Common};
use crate::minutes::Minutes;
use crate::path_catalog::PathCatalog;
use crate::progress::Progress;
use crate::question::{Limits, Question, VerdictSubject};
use crate::series::{DurationDetail, Findings, Point};
use crate::task::Task;
use chronoscope_chain::arrivals::RowOutcome;
use chronoscope_chain::fan_in::{
    FanInCounts, FoundDuration, Graph, Input, InputCase, KnownRoot, Options, Row,
};
use chronoscope_chain::{Counts, Distribution, Hop, sort};
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, ClassId, Extras, Flags, FurtherParent, Record, TransactionId};
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile, further_parents};
use chronoscope_store::{Snapshot, StoreError};
use std::collections::HashSet;
use std::sync::Mutex;

/// Memory that a row takes while a question is answered, in bytes.
const ROW_BYTES: u64 = 512;

/// Number of slowest durations that are named.
const SLOWEST: usize = 3;

/// Durations over several parents, and what of the graph is not known.
#[derive(Clone, Debug)]
pub struct FanInAnswer {
    /// Distribution, verdict and losses. It has no paths and no split: a duration may have several
    /// ways.
    pub answer: Answer,
    /// Durations found and left out.
    pub counts: FanInCounts,
    /// Links that were read.
    pub links: u64,
    /// Links to rows that are not in the store or out of reach, and that do not carry their root;
    /// and rows whose links are not known, because there were more than their context held.
    pub unknown_inputs: u64,
    /// Parents and links that were cut because they lie on a cycle.
    pub cut_edges: u64,
    /// The slowest durations with the chain of the leaf, slowest first.
    pub slowest: Vec<(Point, ChainId)>,
}

/// Rows and links of one thread, or of all.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    inputs: Vec<Input>,
    /// Status and receiver of each row, where arrivals are asked for.
    outcomes: Vec<RowOutcome>,
    /// Chains with a row of a source that keeps only a share.
    sampled: HashSet<ChainId>,
}

/// Answers a question about durations from a root to leaves over parents and links.
///
/// # Errors
/// [`QueryError::LinksByAttributes`]; [`QueryError::TooManyRows`] beyond
/// [`Limits::memory_bytes`], [`QueryError::TooManyWays`] for
/// [`InputCase::All`]; else as [`crate::ask_watched`].
pub fn ask_inputs(
    snapshot: &Snapshot,
    question: &Question,
    case: InputCase,
    limits: &Limits,
    progress: &Progress,
) -> Result<FanInAnswer, QueryError> {
    if !question.attributes.is_empty() {
        return Err(QueryError::LinksByAttributes);
    }
    let mut shared = QuestionContext {
        question,
        names: snapshot.names(),
        catalog: Mutex::new(PathCatalog::new(snapshot.names(), question)),
        clocks: None,
        progress,
        keep: DurationDetail::of(question),
        window_ns: question.start_ns.clone(),
        breakdowns: None,
        // The best and the worst input do not say which roots arrived.
        arriving: Arriving::of(snapshot, question).filter(|_| case == InputCase::All),
        attributes: None,
    };
    let minutes = Minutes::of(snapshot, question, limits);
    let most = limits.memory_bytes / ROW_BYTES;
    let count = minutes.rows();
    if count > most {
        return Err(QueryError::TooManyRows { rows: count, most });
    }
    progress.expect(minutes.segments());
    let task = Task { shared: &shared, limits, damage: Mutex::default() };
    let read = task.read_graph(snapshot, &minutes)?;
    let unreadable = task.damage.into_inner().unwrap_or_default();
    let links = read.inputs.len() as u64;
    let chains: Vec<ChainId> = read.rows.iter().map(|row| row.chain).collect();
    let graph = Graph::new(read.rows, &read.inputs);
    let selection = shared.catalog().selection.clone();
    let mut found: Vec<FoundDuration> = Vec::new();
    let wanted = |one: &FoundDuration| question.duration_ns.contains(&one.duration_ns);
    let counts = graph.durations(&selection, case, Options::default(), |one| {
        found.extend(Some(one).filter(wanted));
    })?;
    let arriving = shared.arriving.take();
    let arrivals = arriving.map(|mut arriving| {
        arriving.evidence.damaged |= !unreadable.is_empty();
        arriving.sampled = read.sampled;
        let outcome = |row: usize| read.outcomes[row];
        let asked = arriving.ask_graph(&graph.roots(&selection), &found, &counts, outcome);
        arriving.answer(snapshot, question, asked)
    });
    let mut answer = Answer::new(
        &shared.catalog(),
        Findings::new(shared.keep),
        Losses::of(snapshot, unreadable, &question.start_ns),
        None,
    );
    answer.rows_read = count;
    answer.take_inputs(&found, &counts);
    match arrivals {
        Some(arrivals) => answer.judge(snapshot, question, Some(arrivals)),
        // Which roots did not arrive is not known: the verdict is on durations, and says so.
        None => {
            let durations = Question { judged: VerdictSubject::Durations, ..question.clone() };
            answer.judge(snapshot, &durations, None);
        }
    }
    let slowest = slowest(&found, &chains);
    let (unknown_inputs, cut_edges) = (graph.unknown_inputs, graph.cut_edges);
    Ok(FanInAnswer { answer, counts, links, unknown_inputs, cut_edges, slowest })
}

/// The slowest durations, one of each root.
fn slowest(found: &[FoundDuration], chains: &[ChainId]) -> Vec<(Point, ChainId)> {
    let mut slowest: Vec<FoundDuration> = Vec::new();
    for one in found {
        let known = slowest.iter_mut().find(|known| known.start_ns == one.start_ns);
        match known {
            Some(known) if known.duration_ns < one.duration_ns => *known = *one,
            Some(_) => {}
            None => slowest.push(*one),
        }
        slowest.sort_by_key(|one| (std::cmp::Reverse(one.duration_ns), one.start_ns));
        slowest.truncate(SLOWEST);
    }
    let named = |one: FoundDuration| {
        let point = Point { start_ns: one.start_ns, duration_ns: one.duration_ns };
        (point, chains[one.leaf])
    };
    slowest.into_iter().map(named).collect()
}

impl Answer {
    /// Takes in the durations of a graph.
    fn take_inputs(&mut self, found: &[FoundDuration], counts: &FanInCounts) {
        self.durations_ns = sort(&[found.iter().map(|one| one.duration_ns).collect()]);
        self.distribution = Distribution::of_ascending(&self.durations_ns);
        let point =
            |one: &FoundDuration| Point { start_ns: one.start_ns, duration_ns: one.duration_ns };
        self.points = found.iter().map(point).collect();
        self.points.sort_unstable();
        let starts = self.points.first().zip(self.points.last());
        self.covered_ns = starts.map(|(first, last)| first.start_ns..=last.start_ns);
        self.counts = Counts {
            used: counts.used,
            incomplete: counts.incomplete,
            negative: counts.negative,
            // What is not known above a leaf may be a root from which it took too long.
            root_missing: counts.root_missing + counts.beyond_links + counts.incomplete,
            duplicates: counts.duplicates,
            ..Counts::default()
        };
    }
}

impl Task<'_> {
    /// Reads all rows, in the order of the segments whichever thread read them.
    fn read_graph(&self, snapshot: &Snapshot, minutes: &Minutes<'_>) -> Result<Rows, StoreError> {
        let segments: Vec<_> = minutes.all_segments().enumerate().collect();
        let aliases = &snapshot.ledger().aliases;
        let resolve = |chain| aliases.resolve(chain);
        let mut parts: Vec<(usize, Rows)> = self
            .spread(&segments, Vec::new, |parts, (number, segment)| {
                let read = SegmentFile::open(segment).and_then(|file| {
                    let mut rows = Rows::default();
                    rows.read(&file, self.shared, resolve)?;
                    Ok(rows)
                });
                parts.extend(self.or_damage(segment, read)?.map(|rows| (*number, rows)));
                self.shared.progress.tick()
            })?
            .into_iter()
            .flatten()
            .collect();
        parts.sort_by_key(|(number, _)| *number);
        let mut all = Rows::default();
        parts.into_iter().for_each(|(_, part)| all.append(part));
        for record in minutes.all_unsealed() {
            all.add(record, snapshot.unsealed().context(record), self.shared, resolve);
        }
        Ok(all)
    }
}

impl Rows {
    fn append(&mut self, other: Self) {
        let first = self.rows.len();
        self.rows.extend(other.rows);
        let moved = |input: Input| Input { row: input.row + first, ..input };
        self.inputs.extend(other.inputs.into_iter().map(moved));
        self.outcomes.extend(other.outcomes);
        self.sampled.extend(other.sampled);
    }

    /// Adds the links of the row that was added last.
    fn link(
        &mut self,
        parents: &[FurtherParent],
        shared: &QuestionContext<'_>,
        resolve: impl Fn(ChainId) -> ChainId,
    ) {
        let row = self.rows.len().saturating_sub(1);
        if parents.is_empty() {
            // Its context had no room for them: something above the row is not known.
            let (chain, id) = (ChainId::NONE, TransactionId::NONE);
            self.inputs.push(Input { row, chain, id, root: None });
        }
        self.inputs.extend(parents.iter().map(|parent| Input {
            row,
            chain: resolve(parent.chain),
            id: parent.id,
            root: parent.root.and_then(|root| {
                let class = shared.names.path(root.path)?.first().copied()?;
                let known = KnownRoot { class, start_ns: root.start_ns, level: root.level };
                Some(known).filter(|known| !known.class.is_none())
            }),
        }));
    }

    /// Adds a row that no segment holds yet.
    fn add(
        &mut self,
        record: &Record,
        context: &[u8],
        shared: &QuestionContext<'_>,
        resolve: impl Fn(ChainId) -> ChainId,
    ) {
        let root = || {
            let class = shared.names.path(record.path)?.first().copied()?;
            Some(KnownRoot { class, start_ns: record.root_start_ns, level: record.level })
        };
        let is_native = !record.flags().contains(Flags::FOREIGN);
        let root = is_native.then(root).flatten().filter(|root| !root.class.is_none());
        // Clamped as in the column `elapsed_ns`, which is signed.
        let elapsed_ns = record.elapsed_ns.min(i64::MAX.unsigned_abs());
        let hop = Hop { elapsed_ns, ..Hop::from(record) };
        let chain = resolve(record.chain());
        self.rows.push(Row { chain, hop, root });
        if let Some(arriving) = &shared.arriving {
            self.outcomes.push(arriving.outcome_of(record, shared.names));
        }
        if record.flags().contains(Flags::SAMPLED) {
            self.sampled.insert(chain);
        }
        if record.flags().contains(Flags::FURTHER_PARENTS) {
            self.link(&Extras::of(context).further_parents, shared, resolve);
        }
    }

    fn read(
        &mut self,
        file: &SegmentFile,
        shared: &QuestionContext<'_>,
        resolve: impl Fn(ChainId) -> ChainId + Copy,
    ) -> Result<(), StoreError> {
        let mut names = Common::COLUMNS.to_vec();
        names.extend([
            column::APPLICATION,
            column::CLASS,
            column::FLAGS,
            column::LEVEL,
            column::PATH,
            column::ROOT_START,
            column::FURTHER_PARENTS,
        ]);
        let more = shared.arriving.as_ref().map_or(&[][..], Arriving::columns);
        names.extend(more.iter().filter(|name| **name != column::APPLICATION));
        let mut outcomes = Vec::new();
        for batch in file.read(&names, None, None)? {
            let batch = batch.map_err(file.unreadable())?;
            let columns = SegmentColumns { file, batch: &batch };
            if let Some(arriving) = &shared.arriving {
                arriving.outcomes_of(&columns, &mut outcomes)?;
                self.outcomes.append(&mut outcomes);
            }
            let common = Common::of(&columns)?;
            let (applications, application_words) = columns.words(column::APPLICATION)?;
            let (classes, class_words) = columns.words(column::CLASS)?;
            let mut known = ClassTable::new(&application_words, &class_words);
            let (paths, path_words) = columns.words(column::PATH)?;
            let tops: Vec<Option<ClassId>> = {
                let mut catalog = shared.catalog();
                path_words.iter().map(|word| catalog.path(word).classes.first().copied()).collect()
            };
            let flags = columns.bits(column::FLAGS)?;
            let (levels, starts) =
                (columns.levels(column::LEVEL)?, columns.instants(column::ROOT_START)?);
            let parents = batch.column_by_name(column::FURTHER_PARENTS);
            for row in 0..batch.num_rows() {
                let class = known.class(applications[row], classes[row], shared);
                let class = class.ok_or_else(|| file.unexpected_column(column::CLASS))?;
                let is_native = !Flags(flags[row]).contains(Flags::FOREIGN);
                let top = usize::try_from(paths[row]).ok().and_then(|key| *tops.get(key)?);
                let top = top.filter(|top| is_native && !top.is_none());
                let root =
                    top.map(|class| KnownRoot { class, start_ns: starts[row], level: levels[row] });
                let chain = resolve(common.chain(row));
                self.rows.push(Row { chain, hop: common.hop(row, class), root });
                if Flags(flags[row]).contains(Flags::SAMPLED) {
                    self.sampled.insert(chain);
                }
                if Flags(flags[row]).contains(Flags::FURTHER_PARENTS) {
                    // A file of the first version has no such column: its links are not known.
                    let of_row =
                        parents.map_or(Some(Vec::new()), |column| further_parents(column, row));
                    let of_row =
                        of_row.ok_or_else(|| file.unexpected_column(column::FURTHER_PARENTS))?;
                    self.link(&of_row, shared, resolve);
                }
            }
        }
        Ok(())
    }
}
