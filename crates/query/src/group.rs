//! The thorough way: rows are grouped by chain and linked, then every chain is asked.
//!
//! It serves inner roots, splits, foreign and mixed chains, and minutes whose rows lie in several
//! parts.

use crate::arrivals::Arriving;
use crate::attributes::{AttributeReader, GroupNumbers};
use crate::clock::HostClocks;
use crate::context::QuestionContext;
use crate::question::DurationKind;
use crate::series::{DurationExtras, Findings, Point};
use crate::wanted_breakdowns::WantedBreakdowns;
use chronoscope_chain::arrivals::ArrivalFinder;
use chronoscope_chain::links::bits;
use chronoscope_chain::{
    Assembler, CarriedAncestors, Chain, ChainDuration, ChainRows, Counts, Evaluator, Hop, HopPath,
    HopTimes, HostIndex, InnerTime, Negative, PathHop, PathIndex, Paths, Run, inner_times,
    merge_between, split,
};
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, ClassId, Flags, PathId, Record, TransactionId};
use chronoscope_store::StoreError;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::collections::HashMap;

/// Reads the native rows of a segment, of the chains that are `wanted` (which is asked of every
/// row). Where hop breakdowns of some chains are looked for these are few: which rows they have is
/// found first, and the other columns are read of these alone.
pub(crate) fn read_native(
    file: &SegmentFile,
    shared: &QuestionContext,
    mut wanted: impl FnMut(ChainId) -> bool,
    mut path_of: impl FnMut(&[ClassId]) -> PathIndex,
) -> Result<Run, StoreError> {
    let mut run = Run::default();
    let mut names = Common::COLUMNS.to_vec();
    names.extend([column::PATH, column::LEVEL, column::ROOT_START]);
    names.extend(shared.clocks.iter().flat_map(HostClocks::columns));
    names.extend(shared.arriving.iter().flat_map(Arriving::columns));
    names.extend(shared.attributes.iter().flat_map(AttributeReader::columns));
    let chosen = shared.breakdowns.as_ref().and_then(|breakdowns| breakdowns.chains.as_ref());
    let selection = match chosen {
        Some(_) => match select(file, &mut wanted)? {
            Some(selection) => Some(selection),
            None => return Ok(run),
        },
        None => None,
    };
    let is_selected = selection.is_some();
    let (mut hosts, mut outcomes, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
    let mut attribute_rows = shared.attributes.as_ref().map(AttributeReader::rows);
    for batch in shared.read(file, &names, selection)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        if let Some(clocks) = &shared.clocks {
            clocks.hosts_of(&columns, &mut hosts)?;
        }
        if let Some(arriving) = &shared.arriving {
            arriving.outcomes_of(&columns, &mut outcomes)?;
        }
        if let Some(rows) = &mut attribute_rows {
            rows.read(&columns, &mut attributes)?;
        }
        let common = Common::of(&columns)?;
        let (levels, roots) =
            (columns.levels(column::LEVEL)?, columns.instants(column::ROOT_START)?);
        let (keys, words) = columns.words(column::PATH)?;
        let known: Vec<(PathIndex, ClassId)> = {
            let mut catalog = shared.catalog();
            let of = |word: &str| {
                let classes = &catalog.path(word).classes;
                (path_of(classes), classes.last().copied().unwrap_or(ClassId::NONE))
            };
            words.into_iter().map(of).collect()
        };
        for (row, key) in keys.iter().enumerate() {
            let chain = common.chain(row);
            if !(is_selected || wanted(chain)) {
                continue;
            }
            let known = usize::try_from(*key).ok().and_then(|key| known.get(key));
            let (path, class) = *known.ok_or_else(|| file.unexpected_column(column::PATH))?;
            let told = CarriedAncestors { path, level: levels[row], root_start_ns: roots[row] };
            run.push(chain, common.hop(row, class), Some(told));
            hosts.get(row).into_iter().for_each(|hosts| run.stamped_by(*hosts));
            outcomes.get(row).into_iter().for_each(|outcome| run.ended_as(*outcome));
            attributes.get(row).into_iter().for_each(|of_row| run.described_by(*of_row));
        }
    }
    run.sort();
    Ok(run)
}

/// The rows of the chains that are wanted; `None` where there is none.
fn select(
    file: &SegmentFile,
    wanted: &mut impl FnMut(ChainId) -> bool,
) -> Result<Option<RowSelection>, StoreError> {
    let (mut selectors, mut row, mut after) = (Vec::new(), 0, 0);
    for batch in file.read(&[column::CHAIN_HIGH, column::CHAIN_LOW], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        for (high, low) in
            columns.ids(column::CHAIN_HIGH)?.iter().zip(columns.ids(column::CHAIN_LOW)?)
        {
            if wanted(ChainId::from_halves(*high, *low)) {
                selectors.extend([RowSelector::skip(row - after), RowSelector::select(1)]);
                after = row + 1;
            }
            row += 1;
        }
    }
    Ok((!selectors.is_empty()).then(|| selectors.into())) // which joins neighbours
}

/// The chains of a segment's rows in the order of the rows, each with the number of its rows that
/// stand together.
pub(crate) fn read_chains(file: &SegmentFile) -> Result<Vec<(ChainId, u64)>, StoreError> {
    let mut chains: Vec<(ChainId, u64)> = Vec::new();
    for batch in file.read(&[column::CHAIN_HIGH, column::CHAIN_LOW], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        for (high, low) in
            columns.ids(column::CHAIN_HIGH)?.iter().zip(columns.ids(column::CHAIN_LOW)?)
        {
            let chain = ChainId::from_halves(*high, *low);
            match chains.last_mut() {
                Some((last, rows)) if *last == chain => *rows += 1,
                _ => chains.push((chain, 1)),
            }
        }
    }
    Ok(chains)
}

/// Reads the foreign rows of a segment, of the chosen chains where some are, and hands out the rows
/// of one chain that stand together.
pub(crate) fn read_foreign(
    file: &SegmentFile,
    shared: &QuestionContext,
    mut each: impl FnMut(ChainId, &ChainRows),
) -> Result<(), StoreError> {
    let mut names = Common::COLUMNS.to_vec();
    names.extend([column::APPLICATION, column::CLASS]);
    names.extend(shared.clocks.iter().flat_map(HostClocks::columns));
    names.extend(shared.arriving.iter().flat_map(Arriving::columns));
    names.extend(shared.attributes.iter().flat_map(AttributeReader::columns));
    let (mut rows, mut hosts) = (ChainRows::default(), Vec::new());
    let (mut outcomes, mut attributes) = (Vec::new(), Vec::new());
    let mut attribute_rows = shared.attributes.as_ref().map(AttributeReader::rows);
    let mut last = ChainId::NONE;
    let chosen = shared.breakdowns.as_ref().and_then(|breakdowns| breakdowns.chains.as_ref());
    let selection = match chosen {
        Some(chains) => match select(file, &mut |chain| chains.contains(chain))? {
            Some(selection) => Some(selection),
            None => return Ok(()),
        },
        None => None,
    };
    for batch in shared.read(file, &names, selection)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        let common = Common::of(&columns)?;
        if let Some(clocks) = &shared.clocks {
            clocks.hosts_of(&columns, &mut hosts)?;
        }
        if let Some(arriving) = &shared.arriving {
            arriving.outcomes_of(&columns, &mut outcomes)?;
        }
        if let Some(rows) = &mut attribute_rows {
            rows.read(&columns, &mut attributes)?;
        }
        let (applications, application_words) = columns.words(column::APPLICATION)?;
        let (classes, class_words) = columns.words(column::CLASS)?;
        let mut known = ClassTable::new(&application_words, &class_words);
        for (row, pair) in applications.iter().zip(classes).enumerate() {
            let chain = common.chain(row);
            if chain != last && !rows.hops.is_empty() {
                each(last, &rows);
                rows.clear();
            }
            last = chain;
            let class = known.class(*pair.0, *pair.1, shared);
            let class = class.ok_or_else(|| file.unexpected_column(column::CLASS))?;
            let host = hosts.get(row).map(|hosts| hosts.own);
            let said = (outcomes.get(row).copied(), attributes.get(row).copied());
            rows.push_foreign(common.hop(row, class), host, said.0, said.1);
        }
    }
    if !rows.hops.is_empty() {
        each(last, &rows);
    }
    Ok(())
}

/// Classes by the keys of their two words.
pub(crate) struct ClassTable<'a> {
    applications: &'a [&'a str],
    classes: &'a [&'a str],
    known: Vec<Option<ClassId>>,
}

impl<'a> ClassTable<'a> {
    pub(crate) fn new(applications: &'a [&'a str], classes: &'a [&'a str]) -> Self {
        Self { applications, classes, known: vec![None; applications.len() * classes.len()] }
    }

    pub(crate) fn class(
        &mut self,
        application: i32,
        class: i32,
        shared: &QuestionContext,
    ) -> Option<ClassId> {
        let (application, class) =
            (usize::try_from(application).ok()?, usize::try_from(class).ok()?);
        let known = self.known.get_mut(application * self.classes.len() + class)?;
        if known.is_none() {
            let words = (self.applications.get(application)?, self.classes.get(class)?);
            *known = Some(shared.catalog().class(words.0, words.1));
        }
        *known
    }
}

/// The columns that rows of both kinds have.
pub(crate) struct Common<'a> {
    chain_high: &'a [u64],
    chain_low: &'a [u64],
    id: &'a [u64],
    parent: &'a [u64],
    start: &'a [i64],
    elapsed: &'a [i64],
}

impl Common<'_> {
    /// Names of the columns.
    pub(crate) const COLUMNS: [&'static str; 6] = [
        column::CHAIN_HIGH,
        column::CHAIN_LOW,
        column::ID,
        column::PARENT,
        column::START,
        column::ELAPSED_NS,
    ];
}

impl<'a> Common<'a> {
    pub(crate) fn of(columns: &SegmentColumns<'a>) -> Result<Self, StoreError> {
        Ok(Self {
            chain_high: columns.ids(column::CHAIN_HIGH)?,
            chain_low: columns.ids(column::CHAIN_LOW)?,
            id: columns.ids(column::ID)?,
            parent: columns.ids(column::PARENT)?,
            start: columns.instants(column::START)?,
            elapsed: columns.nanoseconds(column::ELAPSED_NS)?,
        })
    }

    #[inline]
    pub(crate) fn chain(&self, row: usize) -> ChainId {
        ChainId::from_halves(self.chain_high[row], self.chain_low[row])
    }

    #[inline]
    pub(crate) fn hop(&self, row: usize, class: ClassId) -> Hop {
        Hop {
            id: TransactionId(self.id[row]),
            parent: TransactionId(self.parent[row]),
            class,
            start_ns: self.start[row],
            elapsed_ns: self.elapsed[row].cast_unsigned(),
        }
    }
}

/// Rows of the log, of the chains that are `wanted` (which is asked of every row).
pub(crate) fn read_unsealed(
    records: &[&Record],
    shared: &QuestionContext,
    mut wanted: impl FnMut(ChainId) -> bool,
    paths: &mut Paths,
) -> Run {
    let mut run = Run::default();
    let mut known: HashMap<PathId, PathIndex> = HashMap::new();
    let mut attribute_rows = shared.attributes.as_ref().map(AttributeReader::rows);
    for record in records.iter().filter(|record| wanted(record.chain())) {
        let mut told = || {
            let path = *known.entry(record.path).or_insert_with(|| {
                let text = shared.names.path_text(record.path);
                paths.of(&shared.catalog().path(&text).classes)
            });
            CarriedAncestors { path, level: record.level, root_start_ns: record.root_start_ns }
        };
        let told = (!record.flags().contains(Flags::FOREIGN)).then(&mut told);
        // Clamped as in the column `elapsed_ns`, which is signed.
        let elapsed_ns = record.elapsed_ns.min(i64::MAX.unsigned_abs());
        run.push(record.chain(), Hop { elapsed_ns, ..Hop::from(*record) }, told);
        if let Some(clocks) = &shared.clocks {
            run.stamped_by(clocks.hosts_by_id(shared.names, record.process, record.root_process));
        }
        if let Some(arriving) = &shared.arriving {
            run.ended_as(arriving.outcome_of(record, shared.names));
        }
        if let Some(rows) = &mut attribute_rows {
            run.described_by(rows.record(record));
        }
    }
    run.sort();
    run
}

/// A path, the steps from the selected root to its leaf, and whether the rows of all steps are
/// there.
type SeriesKey = (PathIndex, Option<u16>, bool);

/// The number of a series; `None` where its path is not asked for.
type SeriesNumber = Option<usize>;

/// Asks chain after chain.
pub(crate) struct Grouping<'a> {
    shared: &'a QuestionContext<'a>,
    assembler: Assembler,
    evaluator: Evaluator,
    /// Set where arrivals are asked for.
    finder: Option<ArrivalFinder>,
    series: HashMap<SeriesKey, SeriesNumber>,
    last_series: Option<(SeriesKey, SeriesNumber)>,
    way: Vec<Hop>,
    parts: Vec<HopTimes>,
    /// A chain's rows by its root's clock, where that is asked for.
    corrected: Vec<Hop>,
    findings: Findings,
    /// Durations that were counted and are not of the path, host or length that is asked for.
    refused: Counts,
}

/// Chains that are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainScope {
    All,
    /// Chains of foreign rows alone that lack rows are set aside, because native rows may be the
    /// missing ones.
    OrAside,
}

impl<'a> Grouping<'a> {
    pub(crate) fn new(shared: &'a QuestionContext<'a>) -> Self {
        let mut evaluator = Evaluator::new(shared.catalog().selection.clone());
        let asked = shared.clocks.is_some()
            || shared.question.path.is_some()
            || shared.attributes.is_some();
        evaluator.negatives = asked.then(Vec::new);
        let finder = shared.arriving.as_ref();
        let finder = finder.map(|_| ArrivalFinder::new(evaluator.selection().clone()));
        Self {
            finder,
            shared,
            assembler: Assembler::default(),
            evaluator,
            series: HashMap::new(),
            last_series: None,
            way: Vec::new(),
            parts: Vec::new(),
            corrected: Vec::new(),
            findings: Findings::new(shared.keep),
            refused: Counts::default(),
        }
    }

    /// Asks the chains of all runs from `from` on and before `until`. Returns the rows of chains
    /// that were put aside.
    pub(crate) fn ask(
        &mut self,
        runs: &[Run],
        (from, until): (ChainId, Option<ChainId>),
        asked: ChainScope,
        paths: &mut Paths,
    ) -> Run {
        let mut aside = Run::default();
        merge_between(runs, from, until, |chain, rows| {
            if !self.ask_chain(chain, rows, asked, paths) {
                aside.extend(chain, rows);
            }
        });
        aside
    }

    /// The findings.
    pub(crate) fn into_findings(mut self) -> Findings {
        self.findings.counts.add(&self.evaluator.counts);
        self.findings.counts.take_back(&self.refused);
        if let Some(finder) = self.finder {
            let totals = &mut self.findings.arrivals.totals;
            totals.unlinked_leaves += finder.unlinked_leaves;
            totals.leaves_elsewhere += finder.leaves_elsewhere;
            totals.nested |= finder.nested;
        }
        self.findings
    }

    /// Asks one chain; whether it was asked, and not to be put aside.
    pub(crate) fn ask_chain(
        &mut self,
        id: ChainId,
        rows: &ChainRows,
        asked: ChainScope,
        paths: &mut Paths,
    ) -> bool {
        let hops = match self.shared.clocks.as_ref().filter(|clocks| clocks.corrected) {
            Some(clocks) => {
                clocks.correct(rows, &mut self.corrected);
                &self.corrected
            }
            None => &rows.hops,
        };
        let chain = self.assembler.assemble(hops, |row| rows.told(row), paths);
        let missing = || chain.places.iter().any(|place| place.has(bits::ANCESTOR_MISSING));
        let is_foreign = || (0..rows.hops.len()).all(|row| rows.told(row).is_none());
        if asked == ChainScope::OrAside && missing() && is_foreign() {
            return false;
        }
        self.findings.rows += rows.hops.len() as u64;
        let mut sink = Sink {
            shared: self.shared,
            series: &mut self.series,
            last_series: &mut self.last_series,
            way: &mut self.way,
            parts: &mut self.parts,
            findings: &mut self.findings,
            refused: &mut self.refused,
        };
        let paths = &*paths;
        if let (Some(arriving), Some(finder)) = (&self.shared.arriving, &mut self.finder) {
            let attributes = self.shared.attributes.as_ref().filter(|known| known.has_filters());
            let found = &mut sink.findings.arrivals;
            arriving.ask(finder, id, (&chain, rows), (paths, attributes), found);
        }
        let each = |found: ChainDuration| sink.take(rows, &chain, paths, found);
        match self.shared.question.kind {
            DurationKind::Apcd => self.evaluator.apcd(&chain, paths, each),
            DurationKind::Acpd => self.evaluator.acpd(&chain, paths, each),
            DurationKind::Sync => {}
        }
        for negative in self.evaluator.negatives.iter_mut().flat_map(|all| all.drain(..)) {
            sink.take_negative(rows, &chain, paths, negative);
        }
        true
    }
}

/// Collects the durations that are found.
struct Sink<'a> {
    shared: &'a QuestionContext<'a>,
    series: &'a mut HashMap<SeriesKey, SeriesNumber>,
    /// The leaves of a chain often share their path.
    last_series: &'a mut Option<(SeriesKey, SeriesNumber)>,
    way: &'a mut Vec<Hop>,
    parts: &'a mut Vec<HopTimes>,
    findings: &'a mut Findings,
    refused: &'a mut Counts,
}

impl Sink<'_> {
    fn take(&mut self, rows: &ChainRows, chain: &Chain<'_>, paths: &Paths, found: ChainDuration) {
        let duration_ns = i64::try_from(found.duration_ns).unwrap_or(i64::MAX);
        let group = self.group_of(rows, chain, (&found, duration_ns));
        let (series, whole_way) = self.series_of(chain, paths, &found);
        let (Some(series), Some(group)) = (series, group) else {
            self.refused.count(duration_ns, found.links, found.foreign);
            return;
        };
        self.findings.push(series, found.start_ns, found.duration_ns);
        let point = Point { start_ns: found.start_ns, duration_ns: found.duration_ns };
        self.shared.note_group(self.findings, group, point);
        self.note(rows, chain, series, &found, duration_ns);
        self.keep_chosen(rows, chain, &found);
        if !self.wants_split() {
            return;
        }
        if whole_way {
            split(self.way, self.parts);
            self.findings.series[series].split.add(self.parts);
        } else {
            self.findings.unsplit += 1;
        }
    }

    fn take_negative(
        &mut self,
        rows: &ChainRows,
        chain: &Chain<'_>,
        paths: &Paths,
        Negative { found, duration_ns }: Negative,
    ) {
        let (series, _) = self.series_of(chain, paths, &found);
        let group = self.group_of(rows, chain, (&found, duration_ns));
        match series.filter(|_| group.is_some()) {
            Some(series) => self.note(rows, chain, series, &found, duration_ns),
            None => {
                self.refused.count(duration_ns, found.links, found.foreign);
            }
        }
    }

    /// The group of a duration; `None` where its host, length or attributes are not asked for.
    fn group_of(
        &self,
        rows: &ChainRows,
        chain: &Chain<'_>,
        (found, duration_ns): (&ChainDuration, i64),
    ) -> Option<GroupNumbers> {
        if !self.shared.wants(rows.hosts(found.leaf).own, duration_ns) {
            return None;
        }
        match &self.shared.attributes {
            None => Some(GroupNumbers::default()),
            Some(attributes) => attributes.group_of(rows, chain, found),
        }
    }

    /// Keeps what is asked for of a duration, where it is one of those that are looked for.
    fn keep_chosen(&mut self, rows: &ChainRows, chain: &Chain<'_>, found: &ChainDuration) {
        let point = Point { start_ns: found.start_ns, duration_ns: found.duration_ns };
        let is_wanted = |breakdowns: &WantedBreakdowns| breakdowns.points.contains(&point);
        if !self.shared.breakdowns.as_ref().is_some_and(is_wanted) {
            return;
        }
        let reader = self.shared.attributes.as_ref();
        match reader.and_then(|reader| reader.described(rows, chain, found)) {
            Some(attributes) => self.findings.described.push((point, attributes)),
            None => self.keep_way(rows, chain, (found, point)),
        }
    }

    /// Keeps the way of a duration, where all its rows are there.
    fn keep_way(
        &mut self,
        rows: &ChainRows,
        chain: &Chain<'_>,
        (found, point): (&ChainDuration, Point),
    ) {
        if !self.find_way(chain, *found) {
            return;
        }
        split(self.way, self.parts);
        let up = std::iter::successors(Some(found.leaf), |at| chain.places[*at].parent());
        let mut hosts: Vec<HostIndex> =
            up.take(self.way.len()).map(|at| rows.hosts(at).own).collect();
        hosts.reverse();
        let hops = self.way.iter().zip(hosts).zip(&*self.parts);
        let hops = hops.map(|((hop, host), part)| PathHop { class: hop.class, host, part: *part });
        let inner = self.inner_of(chain, found.leaf);
        let way = HopPath { start_ns: found.start_ns, hops: hops.collect(), inner };
        self.findings.breakdowns.push((point, way));
    }

    /// Time of the transactions beside the way that was found last.
    fn inner_of(&self, chain: &Chain<'_>, leaf: usize) -> Vec<InnerTime> {
        let up = std::iter::successors(Some(leaf), |at| chain.places[*at].parent());
        let rows = up.take(self.way.len());
        let levels: HashMap<usize, usize> = rows.zip((0..self.way.len()).rev()).collect();
        let children = chain.places.iter().zip(chain.hops).enumerate();
        let children = children.filter_map(|(row, (place, hop))| {
            let level = levels.get(&place.parent()?)?;
            (!levels.contains_key(&row) && !place.duplicate).then_some((*level, hop))
        });
        inner_times(&self.way[..], &self.parts[..], children)
    }

    /// Counts a duration's crossing of hosts, and keeps what else is known of it.
    fn note(
        &mut self,
        rows: &ChainRows,
        chain: &Chain<'_>,
        series: usize,
        found: &ChainDuration,
        duration_ns: i64,
    ) {
        let begin = (found.steps, found.start_ns);
        let clocks = self.shared.clocks.as_ref();
        let error_ns = clocks.and_then(|clocks| clocks.error_of(rows, chain, found.leaf, begin));
        if let Some(error_ns) = error_ns {
            self.findings.crossings.add(duration_ns, error_ns);
        }
        let (links, foreign) = (found.links, found.foreign);
        let whole = DurationExtras {
            links,
            foreign,
            host: rows.hosts(found.leaf).own,
            error_ns,
            row: None,
        };
        self.findings.keep_whole(series, found.start_ns, duration_ns, whole);
    }

    fn wants_split(&self) -> bool {
        self.shared.question.split && self.shared.question.kind == DurationKind::Acpd
    }

    /// The series of what was found; and whether the rows of the whole way are there, as far as
    /// anybody has to know: they are then in `way`.
    fn series_of(
        &mut self,
        chain: &Chain<'_>,
        paths: &Paths,
        found: &ChainDuration,
    ) -> (SeriesNumber, bool) {
        let standing = chain.standings[found.leaf];
        let whole_way = (self.wants_split() || found.by_rows) && self.find_way(chain, *found);
        let key = (standing.path, found.steps, whole_way);
        let last = self.last_series.filter(|(last, _)| *last == key);
        let series = last.map(|(_, series)| series).or_else(|| self.series.get(&key).copied());
        let series = series.unwrap_or_else(|| {
            let classes = paths.classes(standing.path);
            let path = below_root(&classes, standing.level, found.steps);
            if found.by_rows || (whole_way && path.contains(&ClassId::NONE)) {
                // Rows know better than what came with the correlator: ways of different lengths
                // share such a path.
                let way: Vec<ClassId> = self.way.iter().map(|hop| hop.class).collect();
                return self.number_of(&way);
            }
            let series = self.number_of(path);
            self.series.insert(key, series);
            series
        });
        if !whole_way {
            *self.last_series = Some((key, series));
        }
        (series, whole_way)
    }

    fn number_of(&mut self, path: &[ClassId]) -> SeriesNumber {
        self.shared.wants_path(path).then(|| self.findings.series_of(path))
    }

    /// Finds the rows from the root to the leaf; whether all are there, the root's being the one
    /// that the duration counts from.
    fn find_way(&mut self, chain: &Chain<'_>, found: ChainDuration) -> bool {
        self.way.clear();
        let Some(steps) = found.steps else { return false };
        let up = std::iter::successors(Some(found.leaf), |at| chain.places[*at].parent());
        self.way.extend(up.take(usize::from(steps) + 1).map(|at| chain.hops[at]));
        self.way.reverse();
        self.way.len() == usize::from(steps) + 1 && self.way[0].start_ns == found.start_ns
    }
}

/// The part of a path from the selected root on.
fn below_root(classes: &[ClassId], level: Option<u16>, steps: Option<u16>) -> &[ClassId] {
    let Some(steps) = steps.map(usize::from) else { return classes };
    let gap = classes.iter().rposition(|class| class.is_none());
    let below = gap.map_or(classes.len(), |gap| classes.len() - gap - 1);
    let from = if steps < below {
        classes.len() - 1 - steps
    } else {
        // Above the gap positions count from the root.
        level.map_or(0, |level| usize::from(level).saturating_sub(steps))
    };
    classes.get(from..).unwrap_or(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_from_the_selected_root_on() {
        let [a, b, c] = [ClassId(1), ClassId(2), ClassId(3)];
        let gap = ClassId::NONE;
        assert_eq!(below_root(&[a, b, c], Some(2), Some(1)), [b, c]);
        assert_eq!(below_root(&[a, b, c], Some(2), Some(2)), [a, b, c]);
        assert_eq!(below_root(&[a, b, gap, c], Some(9), Some(9)), [a, b, gap, c]);
        assert_eq!(below_root(&[a, b, gap, c], Some(9), Some(8)), [b, gap, c]);
        assert_eq!(below_root(&[gap, b, c], None, Some(1)), [b, c]);
        assert_eq!(below_root(&[gap, c], None, None), [gap, c]);
    }
}
