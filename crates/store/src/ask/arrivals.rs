//! Arrivals: what a question about roots needs besides durations.
//!
//! [`Arriving`] is what all threads share: the rule, what is known of the sources of the leaf's
//! class, and the chains that others name as a further parent. [`Arrivals`] is what comes out.

use super::file::{Columns, SegmentFile};
use super::question::{Judged, Kind, Question, Receivers};
use super::run::{Minutes, Task};
use crate::{DELIVERED_ALL, Ledger, Segment, Snapshot, StoreError};
use arrow_array::cast::AsArray;
use arrow_array::{Array, MapArray, StringArray};
use chronoscope_chain::arrivals::{
    ArrivalFinder, ArrivalRule, ArrivalTotals, Doubts, Evidence, Outcome, Required, Root,
    RootDurations, RootState,
};
use chronoscope_chain::{Chain, ChainRows, ClassSelector, Paths, Requirement, Verdict};
use chronoscope_model::context::{Entry, UNFOLLOWED_LINKS, entries};
use chronoscope_model::{ChainId, Flags, Names, ProcessId, ProcessName, Record, Status};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

/// Roots without a leaf that are named; the others are counted.
pub const NAMED_MAX: usize = 1_000;

/// A source that has delivered less than others by this is silent: they note how far they are
/// about once a second.
const SILENT_AFTER_NS: i64 = 5_000_000_000;

/// By the collector's clock, spans are here so long after they ended, or were dropped by their
/// exporter: an SDK's batch waits for 5 s, and is tried again for 10 s (OpenTelemetry's defaults
/// `OTEL_BSP_SCHEDULE_DELAY` and `OTEL_EXPORTER_OTLP_TIMEOUT`).
pub const SPANS_WITHIN_NS: i64 = 15_000_000_000;

/// How long after a time range what started in it is taken to have ended.
pub(super) const ENDS_WITHIN_NS: i64 = 3_600_000_000_000;

/// The application of the process under which an agent's collector counts what a spool dropped
/// begins so: any program of the agent's host may have lost it.
const SPOOL_PREFIX: &str = "chronoscope agent ";

/// Which roots arrived, and of which that cannot be said.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// How many roots are in which state.
    pub totals: ArrivalTotals,
    /// Their durations, as bounds.
    pub durations: RootDurations,
    /// Every source of the leaf's class has delivered what ended before: UTC, nanoseconds since
    /// 1970; `None` where no such source is known, [`DELIVERED_ALL`] where all of them have ended.
    pub horizon_ns: Option<i64>,
    /// Roots that ended before are here, or known to be lost; as `horizon_ns`. The verdict is on
    /// roots that started before.
    pub roots_until_ns: Option<i64>,
    /// Roots that started before that: those that the verdict is on.
    pub judged: ArrivalTotals,
    /// Roots that may have been lost with the rows of their processes: at most so many.
    pub roots_lost_max: u64,
    /// Leaves that may have been lost with the rows of theirs.
    pub leaves_lost_max: u64,
    /// Sources of the leaf's class that have delivered less than others, the furthest behind first.
    pub silent: Vec<SilentSource>,
    /// Links to further parents that were not followed.
    pub unfollowed_links: u64,
    /// Roots that did not arrive, by start: the first [`NAMED_MAX`].
    pub named: Vec<RootWithoutLeaf>,
}

/// A source that is behind others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SilentSource {
    /// Which.
    pub process: ProcessName,
    /// What it ended before is here: UTC, nanoseconds since 1970; `None` where it said nothing.
    pub delivered_ns: Option<i64>,
}

/// A root that did not arrive, or of which that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootWithoutLeaf {
    /// When it started: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Its chain.
    pub chain: ChainId,
    /// What became of it.
    pub state: RootState,
}

/// What is found of arrivals on the way.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrivalsFound {
    pub(super) totals: ArrivalTotals,
    /// Of the roots that the verdict is on; without their durations.
    pub(super) judged: ArrivalTotals,
    named: Vec<RootWithoutLeaf>,
}

impl ArrivalsFound {
    pub(super) fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        self.judged.merge(other.judged);
        self.named.extend(other.named);
        self.keep_first();
    }

    /// Bounds what is named, whatever the order in which threads find it.
    fn keep_first(&mut self) {
        if self.named.len() > 2 * NAMED_MAX {
            self.named.sort_unstable_by_key(|root| (root.start_ns, root.chain));
            self.named.truncate(NAMED_MAX);
        }
    }
}

/// What all threads share that ask for arrivals.
pub(super) struct Arriving {
    rule: ArrivalRule,
    receivers: Option<Receivers>,
    pub(super) evidence: Evidence,
    /// Roots that start then or later are not judged: others of that time are not here yet.
    roots_until_ns: Option<i64>,
    /// Chains that others name as a further parent.
    linked: HashMap<ChainId, u64>,
    /// Chains that another one was found to continue after its rows were stored.
    continued: BTreeSet<ChainId>,
    numbers: Mutex<HashMap<(String, String, u32), u32>>,
}

impl Arriving {
    /// For a question that is about roots; `None` for others.
    pub(super) fn of(snapshot: &Snapshot, question: &Question) -> Option<Self> {
        if question.kind != Kind::Acpd {
            return None;
        }
        let leaf = question.leaf.as_ref()?;
        let (required, receivers, timeout_ns) = match question.judged {
            Judged::Durations => return None,
            Judged::Arrived | Judged::Described => (Required::AtLeast(1), None, None),
            Judged::Roots { required, receivers, timeout_ns } => (required, receivers, timeout_ns),
        };
        let limit_ns = question.limit_ns?;
        // A part of the leaves is asked for: a root whose leaf is another is not missing.
        let all_leaves = question.path.is_none()
            && question.hosts.is_empty()
            && question.duration_ns == (0..=u64::MAX);
        if !all_leaves {
            return None;
        }
        let rule = ArrivalRule {
            required,
            distinct: receivers.is_some(),
            limit_ns,
            timeout_ns: timeout_ns.unwrap_or(limit_ns).max(limit_ns),
        };
        Some(Self {
            rule,
            receivers,
            evidence: evidence(snapshot, leaf),
            roots_until_ns: Sources::of(snapshot, &question.root).roots_until_ns(),
            linked: HashMap::new(),
            continued: BTreeSet::new(),
            numbers: Mutex::default(),
        })
    }

    /// The columns that outcomes are read from.
    pub(super) const fn columns(&self) -> &'static [&'static str] {
        match self.receivers {
            None => &["status"],
            Some(Receivers::Hosts) => &["status", "host"],
            Some(Receivers::Processes) => &["status", "host", "application", "process"],
        }
    }

    /// How the rows of a batch ended, and where: into `outcomes`, which is emptied before.
    pub(super) fn outcomes_of(
        &self,
        columns: &Columns<'_>,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<(), StoreError> {
        outcomes.clear();
        let (keys, words) = columns.words("status")?;
        let statuses: Vec<Status> =
            words.iter().map(|word| word.parse().unwrap_or(Status::Unknown)).collect();
        let status = |key: &i32| {
            let known = usize::try_from(*key).ok().and_then(|key| statuses.get(key));
            known.copied().ok_or_else(|| columns.file.strange("status"))
        };
        for key in keys {
            outcomes.push(Outcome { status: status(key)?, receiver: 0 });
        }
        let Some(receivers) = self.receivers else { return Ok(()) };
        let hosts = columns.words("host")?;
        let word = |(keys, words): &(&[i32], Vec<&str>), row: usize| {
            let key = usize::try_from(keys[row]).ok();
            key.and_then(|key| words.get(key)).map_or_else(String::new, |word| (*word).to_owned())
        };
        let processes = match receivers {
            Receivers::Hosts => None,
            Receivers::Processes => {
                Some((columns.words("application")?, columns.numbers32("process")?))
            }
        };
        for (row, outcome) in outcomes.iter_mut().enumerate() {
            let (application, pid) = processes.as_ref().map_or_else(
                || (String::new(), 0),
                |(applications, pids)| (word(applications, row), pids[row]),
            );
            outcome.receiver = self.number((word(&hosts, row), application, pid));
        }
        Ok(())
    }

    /// How a row of the log ended, and where.
    pub(super) fn outcome_of(&self, record: &Record, names: &Names) -> Outcome {
        let receiver = self.receivers.map_or(0, |receivers| {
            let process = names.process(record.process);
            let host = process.map_or_else(String::new, |process| process.host.clone());
            match receivers {
                Receivers::Hosts => self.number((host, String::new(), 0)),
                Receivers::Processes => {
                    let application =
                        names.class(record.class).map(|class| class.application.clone());
                    let pid = process.map_or(0, |process| process.pid);
                    self.number((host, application.unwrap_or_default(), pid))
                }
            }
        });
        Outcome { status: record.status(), receiver }
    }

    fn number(&self, receiver: (String, String, u32)) -> u32 {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = u32::try_from(numbers.len() + 1).unwrap_or(u32::MAX);
        *numbers.entry(receiver).or_insert(next)
    }

    /// Judges the roots of a chain.
    pub(super) fn ask(
        &self,
        finder: &mut ArrivalFinder,
        id: ChainId,
        (chain, rows): (&Chain<'_>, &ChainRows),
        paths: &Paths,
        found: &mut ArrivalsFound,
    ) {
        let mut doubts = Doubts::default();
        if self.linked.contains_key(&id) {
            doubts = doubts.with(Doubts::FURTHER_PARENT);
        }
        if self.continued.contains(&id) {
            doubts = doubts.with(Doubts::LATE_ALIAS);
        }
        let each = |root: &Root| {
            let judged = self.rule.judge(root, &self.evidence);
            found.totals.add(root, judged, self.rule.limit_ns);
            if self.roots_until_ns.is_none_or(|until_ns| root.start_ns < until_ns) {
                found.judged.add(root, judged, self.rule.limit_ns);
                found.judged.exact_ns.clear();
                found.judged.bounds_ns.clear();
            }
            if judged.state != RootState::Arrived {
                let start_ns = root.start_ns;
                found.named.push(RootWithoutLeaf { start_ns, chain: id, state: judged.state });
            }
        };
        let raw_start_ns = |row: usize| rows.hops[row].start_ns;
        finder.find(chain, paths, doubts, |row| rows.outcome(row), raw_start_ns, each);
        found.keep_first();
    }

    /// The links that were found and not followed.
    pub(super) fn unfollowed_links(&self) -> u64 {
        self.linked.values().sum()
    }

    /// What is known when all rows were asked.
    pub(super) fn answer(
        &self,
        snapshot: &Snapshot,
        question: &Question,
        mut found: ArrivalsFound,
    ) -> Arrivals {
        found.named.sort_unstable_by_key(|root| (root.start_ns, root.chain));
        found.named.truncate(NAMED_MAX);
        let window_ns = i64::try_from(self.rule.timeout_ns).unwrap_or(i64::MAX);
        let until_ns = question.start_ns.end.saturating_add(window_ns.max(ENDS_WITHIN_NS));
        let lost = |sources: &Sources<'_>| sources.lost_rows(question.start_ns.start, until_ns);
        let roots = Sources::of(snapshot, &question.root);
        let leaves = question.leaf.as_ref().map(|leaf| Sources::of(snapshot, leaf));
        let judged = ArrivalTotals {
            unlinked_leaves: found.totals.unlinked_leaves,
            nested: found.totals.nested,
            ..found.judged
        };
        Arrivals {
            durations: found.totals.durations(),
            totals: found.totals,
            judged,
            horizon_ns: self.evidence.horizon_ns,
            roots_until_ns: self.roots_until_ns,
            roots_lost_max: lost(&roots),
            leaves_lost_max: leaves.as_ref().map_or(0, lost),
            silent: leaves.as_ref().map_or_else(Vec::new, Sources::silent),
            unfollowed_links: self.unfollowed_links(),
            named: found.named,
        }
    }
}

impl Arrivals {
    /// Judges the roots, or what arrived.
    pub(super) fn verdict(&self, judged: Judged, requirement: Requirement) -> Verdict {
        let totals = &self.judged;
        let leaves = totals.verdict_on_leaves(requirement);
        match judged {
            Judged::Roots { .. } => totals.verdict(requirement, self.roots_lost_max),
            Judged::Durations | Judged::Arrived => {
                let here = totals.negative_leaves + totals.unlinked_leaves;
                Verdict { unseen: self.leaves_lost_max.saturating_add(here), ..leaves }
            }
            Judged::Described => {
                let not_arrived = totals.missing + totals.failed;
                let open = totals.open + totals.unknown_roots();
                Verdict { not_arrived, unseen: open.saturating_add(self.roots_lost_max), ..leaves }
            }
        }
    }
}

/// The processes that may record a class.
pub(super) struct Sources<'a> {
    ledger: &'a Ledger,
    processes: Vec<(ProcessId, &'a ProcessName)>,
    /// Spools of agents, whose losses may be anybody's.
    spools: Vec<ProcessId>,
}

impl<'a> Sources<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, class: &ClassSelector) -> Self {
        let ledger = snapshot.ledger();
        let classes = ledger.names.classes().filter(|(_, name)| class.selects(name));
        let applications: BTreeSet<&str> =
            classes.map(|(_, name)| name.application.as_str()).collect();
        let may = |name: &ProcessName| applications.contains(name.application.as_str());
        let processes = ledger.names.processes().filter(|(_, name)| may(name)).collect();
        let is_spool = |name: &ProcessName| name.application.starts_with(SPOOL_PREFIX);
        let spools = ledger.names.processes().filter(|(_, name)| is_spool(name));
        Self { ledger, processes, spools: spools.map(|(id, _)| id).collect() }
    }

    /// Whether any of them exports spans.
    fn exports(&self) -> bool {
        self.processes.iter().any(|(id, _)| self.ledger.deliveries.exports(*id))
    }

    /// A process of which nobody knows yet may have recorded the class, but no row that ended
    /// before: its ring would have been seen, its first spans would be here.
    fn as_of_ns(&self) -> i64 {
        let deliveries = &self.ledger.deliveries;
        let finite = deliveries.iter().map(|(_, known)| known.until_ns);
        let newest = || finite.filter(|at| *at < DELIVERED_ALL).max();
        let looked = deliveries.collector_ns();
        match looked.or_else(newest) {
            Some(at_ns) if self.exports() => at_ns.saturating_sub(SPANS_WITHIN_NS),
            Some(at_ns) => at_ns,
            None => DELIVERED_ALL,
        }
    }

    /// All of them have delivered what ended before.
    pub(super) fn horizon_ns(&self) -> Option<i64> {
        let delivered = |(id, _): &(ProcessId, _)| self.ledger.deliveries.of(*id);
        let all: Option<Vec<i64>> = self.processes.iter().map(delivered).collect();
        Some(all?.into_iter().min()?.min(self.as_of_ns()))
    }

    /// Roots that ended before are here. A source of spans that is silent is taken to have nothing
    /// to say: what its exporter drops while the collector is there, nobody can know.
    fn roots_until_ns(&self) -> Option<i64> {
        let deliveries = &self.ledger.deliveries;
        let rings = self.processes.iter().filter(|(id, _)| !deliveries.exports(*id));
        let all: Option<Vec<i64>> = rings.map(|(id, _)| deliveries.of(*id)).collect();
        let all = all.filter(|_| !self.processes.is_empty())?;
        Some(all.into_iter().min().unwrap_or(DELIVERED_ALL).min(self.as_of_ns()))
    }

    /// Those that are behind.
    fn silent(&self) -> Vec<SilentSource> {
        let behind_ns = self.as_of_ns().saturating_sub(SILENT_AFTER_NS);
        let delivered = self.processes.iter().map(|(id, name)| SilentSource {
            process: (*name).clone(),
            delivered_ns: self.ledger.deliveries.of(*id),
        });
        let mut silent: Vec<SilentSource> = delivered
            .filter(|source| source.delivered_ns.is_none_or(|at| at < behind_ns))
            .collect();
        silent.sort_by_key(|source| source.delivered_ns);
        silent
    }

    /// Whose losses may be theirs: of spans also what was lost while no collector was there.
    fn ids(&self) -> impl Iterator<Item = ProcessId> {
        let exporters = self.exports().then_some(ProcessId::NONE);
        let own = self.processes.iter().map(|(id, _)| *id);
        own.chain(self.spools.iter().copied()).chain(exporters)
    }

    /// How many of their rows may have been lost that ended in a time; `u64::MAX` where nobody
    /// counted them.
    pub(super) fn lost_rows(&self, from_ns: i64, until_ns: i64) -> u64 {
        let ids: BTreeSet<ProcessId> = self.ids().collect();
        let losses = self.ledger.losses.iter().filter(|loss| {
            ids.contains(&loss.process) && loss.until_ns >= from_ns && loss.from_ns <= until_ns
        });
        let counted = |rows: u64| if rows == 0 { u64::MAX } else { rows };
        let timed = losses.fold(0_u64, |sum, loss| sum.saturating_add(counted(loss.rows)));
        let untimed = ids.iter().map(|id| self.ledger.lost_at_unknown_times(*id));
        untimed.fold(timed, u64::saturating_add).saturating_add(self.ledger.damaged_rows)
    }
}

/// What is known of the sources of a leaf's class.
fn evidence(snapshot: &Snapshot, leaf: &ClassSelector) -> Evidence {
    let (ledger, sources) = (snapshot.ledger(), Sources::of(snapshot, leaf));
    let ids: BTreeSet<ProcessId> = sources.ids().collect();
    let losses = ledger.losses.iter().filter(|loss| ids.contains(&loss.process));
    let losses = losses.map(|loss| loss.from_ns..=loss.until_ns).collect();
    let untimed = ids.iter().any(|id| ledger.lost_at_unknown_times(*id) > 0);
    let as_of_ns = sources.as_of_ns();
    let evidence = Evidence {
        horizon_ns: sources.horizon_ns(),
        newest_ns: Some(as_of_ns).map(|at| match at {
            DELIVERED_ALL => at,
            at => at.saturating_sub(SILENT_AFTER_NS),
        }),
        damaged: untimed || ledger.damaged_rows > 0 || !snapshot.damage().is_empty(),
        expired_until_ns: ledger.expired_until_ns,
        aliases_dropped: ledger.aliases.dropped() > 0,
        ..Evidence::default()
    };
    evidence.with_losses(losses)
}

impl Task<'_> {
    /// Finds the chains that rows name as a further parent, or continue without saying so in
    /// their chain's id: into what all threads share.
    pub(super) fn find_linked(
        &self,
        snapshot: &Snapshot,
        minutes: &Minutes<'_>,
        arriving: &mut Arriving,
    ) -> Result<(), StoreError> {
        let aliases = &snapshot.ledger().aliases;
        let states =
            self.spread(&minutes.foreign, Linked::default, |linked, segment: &&Segment| {
                let read = SegmentFile::open(&segment.path).and_then(|file| {
                    let mut mine = Linked::default();
                    mine.read(&file, |chain| aliases.resolve(chain))?;
                    Ok(mine)
                });
                if let Some(mine) = self.or_damage(segment, read)? {
                    linked.merge(mine);
                }
                Ok(())
            })?;
        let mut all = Linked::default();
        states.into_iter().for_each(|state| all.merge(state));
        for record in &minutes.foreign_unsealed {
            if record.flags().contains(Flags::FURTHER_PARENTS) {
                all.take(entries(snapshot.unsealed().context(record)).find_map(
                    |entry| match entry {
                        Entry::Property(UNFOLLOWED_LINKS, chains) => Some(chains),
                        _ => None,
                    },
                ));
            }
        }
        arriving.evidence.aliases_dropped |= all.unnamed;
        // A chain may be named by the id that it had before it was joined to another.
        for (chain, links) in all.chains {
            *arriving.linked.entry(aliases.resolve(chain)).or_default() += links;
        }
        arriving.continued = all.continued;
        Ok(())
    }
}

/// Chains that rows speak of besides their own.
#[derive(Default)]
struct Linked {
    chains: HashMap<ChainId, u64>,
    continued: BTreeSet<ChainId>,
    /// A row had more links than its context held.
    unnamed: bool,
}

impl Linked {
    fn merge(&mut self, other: Self) {
        for (chain, links) in other.chains {
            *self.chains.entry(chain).or_default() += links;
        }
        self.continued.extend(other.continued);
        self.unnamed |= other.unnamed;
    }

    /// Takes in what a row says of its unfollowed links.
    fn take(&mut self, chains: Option<&str>) {
        let Some(chains) = chains else {
            self.unnamed = true;
            return;
        };
        for chain in chains.split(' ') {
            match chain.parse() {
                Ok(chain) => *self.chains.entry(chain).or_default() += 1,
                Err(_) => self.unnamed = true,
            }
        }
    }

    fn read(
        &mut self,
        file: &SegmentFile,
        resolve: impl Fn(ChainId) -> ChainId,
    ) -> Result<(), StoreError> {
        let mut selectors: Vec<RowSelector> = Vec::new();
        let mut last = ChainId::NONE;
        for batch in file.read(&["flags", "chain_high", "chain_low"], None, None)? {
            let batch = batch.map_err(file.unreadable())?;
            let columns = Columns { file, batch: &batch };
            let chains = columns.ids("chain_high")?.iter().zip(columns.ids("chain_low")?);
            for (flags, (high, low)) in columns.bits("flags")?.iter().zip(chains) {
                let chain = ChainId::from_halves(*high, *low);
                if chain != last {
                    last = chain;
                    let continues = resolve(chain);
                    if continues != chain {
                        self.continued.insert(continues);
                    }
                }
                let skip = !Flags(*flags).contains(Flags::FURTHER_PARENTS);
                match selectors.last_mut() {
                    Some(known) if known.skip == skip => known.row_count += 1,
                    _ => selectors.push(RowSelector { row_count: 1, skip }),
                }
            }
        }
        if selectors.iter().all(|selector| selector.skip) {
            return Ok(());
        }
        for batch in file.read(&["properties"], None, Some(RowSelection::from(selectors)))? {
            let batch = batch.map_err(file.unreadable())?;
            let column: Option<&MapArray> =
                batch.column_by_name("properties").and_then(|column| column.as_map_opt());
            let column = column.ok_or_else(|| file.strange("properties"))?;
            for row in 0..batch.num_rows() {
                self.take(property(column, row, UNFOLLOWED_LINKS));
            }
        }
        Ok(())
    }
}

/// A property of a row.
fn property<'a>(column: &'a MapArray, row: usize, key: &str) -> Option<&'a str> {
    if column.is_null(row) {
        return None;
    }
    let keys: &StringArray = column.keys().as_string_opt::<i32>()?;
    let values: &StringArray = column.values().as_string_opt::<i32>()?;
    let offsets = column.value_offsets();
    let at = |index: usize| usize::try_from(offsets[index]).unwrap_or(0);
    let found = (at(row)..at(row + 1)).find(|at| keys.value(*at) == key)?;
    Some(values.value(found))
}
