//! Arrivals: what a question about roots needs besides durations.
//!
//! [`Arriving`] is what all threads share: the rule, what is known of the sources of the leaf's
//! class, and the chains that others name as a further parent. [`Arrivals`] is what comes out.

use crate::attributes::AttributeReader;
use crate::question::{DurationKind, Question, Receivers, VerdictSubject};
use crate::sources::{ENDS_WITHIN_NS, SilentSource, Sources, evidence};
use chronoscope_chain::arrivals::{
    ArrivalFinder, ArrivalRule, ArrivalTotals, Doubts, Evidence, Leaf, Required, Root,
    RootDurations, RootState, RowOutcome,
};
use chronoscope_chain::fan_in::{FanInCounts, FoundDuration, GraphRoots};
use chronoscope_chain::{Chain, ChainRows, Paths, Requirement, Verdict};
use chronoscope_model::schema::column;
use chronoscope_model::{ChainId, Names, Record, Status};
use chronoscope_store::segment_file::SegmentColumns;
use chronoscope_store::{Snapshot, StoreError};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Roots without a leaf that are named; the others are counted.
pub const NAMED_MAX: usize = 1_000;

/// Arrivals of roots: those that arrived, those that did not, and those that cannot be judged.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// Number of roots by state.
    pub totals: ArrivalTotals,
    /// Their durations, as bounds.
    pub durations: RootDurations,
    /// Every source of the leaf's class has delivered what ended before: UTC, nanoseconds since
    /// 1970; `None` where no such source is known, [`DELIVERED_ALL`](chronoscope_store::DELIVERED_ALL) where all of them have ended.
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
    /// Links of other transactions to the chains of the roots, which were not followed.
    pub unfollowed_links: u64,
    /// Roots that did not arrive, by start: the first [`NAMED_MAX`].
    pub named: Vec<RootWithoutLeaf>,
}

/// A root that did not arrive, or whose arrival is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootWithoutLeaf {
    /// When it started: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Chain of the root.
    pub chain: ChainId,
    /// State of the root.
    pub state: RootState,
}

/// Partial result about arrivals.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArrivalsFound {
    pub(crate) totals: ArrivalTotals,
    /// Totals of the roots that the verdict judges; without their durations.
    pub(crate) judged: ArrivalTotals,
    named: Vec<RootWithoutLeaf>,
    /// Chains with a root that others name as a further parent.
    linked: BTreeSet<ChainId>,
}

impl ArrivalsFound {
    pub(crate) fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        self.judged.merge(other.judged);
        self.named.extend(other.named);
        self.linked.extend(other.linked);
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

/// State shared by all threads that look for arrivals.
pub(crate) struct Arriving {
    rule: ArrivalRule,
    receivers: Option<Receivers>,
    pub(crate) evidence: Evidence,
    /// Roots that start then or later are not judged: others of that time are not here yet.
    roots_until_ns: Option<i64>,
    /// Links to each chain that others name as a further parent.
    pub(crate) linked: HashMap<ChainId, u64>,
    /// Chains that another one was found to continue after its rows were stored.
    pub(crate) continued: BTreeSet<ChainId>,
    /// Chains of which a source records only a sample.
    pub(crate) sampled: HashSet<ChainId>,
    numbers: Mutex<HashMap<(String, String, u32), u32>>,
}

impl Arriving {
    /// For a question that is about roots; `None` for others.
    pub(crate) fn of(snapshot: &Snapshot, question: &Question) -> Option<Self> {
        if question.kind != DurationKind::Acpd {
            return None;
        }
        let leaf = question.leaf.as_ref()?;
        let (required, receivers, timeout_ns) = match question.judged {
            VerdictSubject::Durations => return None,
            VerdictSubject::Arrived | VerdictSubject::Described => {
                (Required::AtLeast(1), None, None)
            }
            VerdictSubject::Roots { required, receivers, timeout_ns } => {
                (required, receivers, timeout_ns)
            }
        };
        let limit_ns = question.limit_ns?;
        // A part of the leaves is asked for: a root whose leaf is another is not missing.
        let all_leaves = question.path.is_none()
            && question.hosts.is_empty()
            && question.attributes.filters_roots()
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
            sampled: HashSet::new(),
            numbers: Mutex::default(),
        })
    }

    /// The columns that outcomes are read from.
    pub(crate) const fn columns(&self) -> &'static [&'static str] {
        match self.receivers {
            None => &[column::STATUS],
            Some(Receivers::Hosts) => &[column::STATUS, column::HOST],
            Some(Receivers::Processes) => {
                &[column::STATUS, column::HOST, column::APPLICATION, column::PROCESS]
            }
        }
    }

    /// Status and process of a batch's rows, written into `outcomes`, which is emptied before.
    pub(crate) fn outcomes_of(
        &self,
        columns: &SegmentColumns<'_>,
        outcomes: &mut Vec<RowOutcome>,
    ) -> Result<(), StoreError> {
        outcomes.clear();
        let (keys, words) = columns.words(column::STATUS)?;
        let statuses: Vec<Status> =
            words.iter().map(|word| word.parse().unwrap_or(Status::Unknown)).collect();
        let status = |key: &i32| {
            let known = usize::try_from(*key).ok().and_then(|key| statuses.get(key));
            known.copied().ok_or_else(|| columns.file.unexpected_column(column::STATUS))
        };
        for key in keys {
            outcomes.push(RowOutcome { status: status(key)?, receiver: 0 });
        }
        let Some(receivers) = self.receivers else { return Ok(()) };
        let hosts = columns.words(column::HOST)?;
        let word = |(keys, words): &(&[i32], Vec<&str>), row: usize| {
            let key = usize::try_from(keys[row]).ok();
            key.and_then(|key| words.get(key)).map_or_else(String::new, |word| (*word).to_owned())
        };
        let processes = match receivers {
            Receivers::Hosts => None,
            Receivers::Processes => {
                Some((columns.words(column::APPLICATION)?, columns.numbers32(column::PROCESS)?))
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

    /// Status and process of a row of the log.
    pub(crate) fn outcome_of(&self, record: &Record, names: &Names) -> RowOutcome {
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
        RowOutcome { status: record.status(), receiver }
    }

    fn number(&self, receiver: (String, String, u32)) -> u32 {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = u32::try_from(numbers.len() + 1).unwrap_or(u32::MAX);
        *numbers.entry(receiver).or_insert(next)
    }

    /// Judges the roots of a chain that the filters of `attributes` select.
    pub(crate) fn ask(
        &self,
        finder: &mut ArrivalFinder,
        id: ChainId,
        (chain, rows): (&Chain<'_>, &ChainRows),
        (paths, attributes): (&Paths, Option<&AttributeReader<'_>>),
        found: &mut ArrivalsFound,
    ) {
        let mut doubts = Doubts::default();
        if self.linked.contains_key(&id) {
            doubts = doubts.with(Doubts::FURTHER_PARENT);
        }
        if self.continued.contains(&id) {
            doubts = doubts.with(Doubts::LATE_ALIAS);
        }
        if self.sampled.contains(&id) {
            doubts = doubts.with(Doubts::SAMPLED);
        }
        let each = |root: &Root| match (attributes, root.row) {
            (None, _) => self.judge(root, id, found),
            (Some(attributes), Some(row)) => {
                if attributes.group_of_row(rows.attributes(row)).is_some() {
                    self.judge(root, id, found);
                }
            }
            // Its own row is missing: it may have passed the filters, and its leaves may be in time.
            (Some(_), None) => {
                let mut unknown = root.clone();
                unknown.leaves.clear();
                unknown.doubts = unknown.doubts.with(Doubts::UNLINKED_LEAF);
                self.judge(&unknown, id, found);
            }
        };
        let raw_start_ns = |row: usize| rows.hops[row].start_ns;
        finder.find(chain, paths, doubts, |row| rows.outcome(row), raw_start_ns, each);
        found.keep_first();
    }

    /// Judges one root.
    fn judge(&self, root: &Root, chain: ChainId, found: &mut ArrivalsFound) {
        if self.linked.contains_key(&chain) {
            found.linked.insert(chain);
        }
        let judged = self.rule.judge(root, &self.evidence);
        found.totals.add(root, judged, self.rule.limit_ns);
        if self.roots_until_ns.is_none_or(|until_ns| root.start_ns < until_ns) {
            found.judged.add(root, judged, self.rule.limit_ns);
            found.judged.exact_ns.clear();
            found.judged.bounds_ns.clear();
        }
        if judged.state != RootState::Arrived {
            let start_ns = root.start_ns;
            found.named.push(RootWithoutLeaf { start_ns, chain, state: judged.state });
        }
    }

    /// Judges the roots of a graph, to which parents and links lead from the leaves of `durations`.
    /// `counts` are of the same search.
    pub(crate) fn ask_graph(
        &mut self,
        known: &GraphRoots,
        durations: &[FoundDuration],
        counts: &FanInCounts,
        outcome: impl Fn(usize) -> RowOutcome,
    ) -> ArrivalsFound {
        self.evidence.links_unknown |= known.links_unknown || counts.beyond_links > 0;
        let mut leaves: HashMap<usize, Vec<Leaf>> = HashMap::new();
        for one in durations {
            let RowOutcome { status, receiver } = outcome(one.leaf);
            let leaf = Leaf {
                duration_ns: i64::try_from(one.duration_ns).unwrap_or(i64::MAX),
                receiver,
                failed: matches!(status, Status::Failed | Status::Aborted),
            };
            one.root.into_iter().for_each(|root| leaves.entry(root).or_default().push(leaf));
        }
        let mut found = ArrivalsFound::default();
        for root in &known.roots {
            let own = leaves.remove(&root.index).unwrap_or_default();
            let mut doubts = Doubts::default();
            if known.doubtful.contains(&root.chain) {
                doubts = doubts.with(Doubts::UNLINKED_LEAF);
            }
            if self.sampled.contains(&root.chain) {
                doubts = doubts.with(Doubts::SAMPLED);
            }
            // Negative durations are counted, not given: any root without a leaf may have one.
            if own.is_empty() && counts.negative > 0 {
                doubts = doubts.with(Doubts::NEGATIVE);
            }
            self.judge(&Root::of_graph(root, own, doubts), root.chain, &mut found);
        }
        for totals in [&mut found.totals, &mut found.judged] {
            totals.negative_leaves = counts.negative;
            totals.unlinked_leaves = counts.root_missing;
            totals.nested = known.nested;
        }
        found
    }

    /// The answer after all rows were read.
    pub(crate) fn answer(
        &self,
        snapshot: &Snapshot,
        question: &Question,
        mut found: ArrivalsFound,
    ) -> Arrivals {
        found.named.sort_unstable_by_key(|root| (root.start_ns, root.chain));
        found.named.truncate(NAMED_MAX);
        let window_ns = i64::try_from(self.rule.timeout_ns).unwrap_or(i64::MAX);
        let until_ns = question.start_ns.end.saturating_add(window_ns.max(ENDS_WITHIN_NS));
        // Rows that were deleted on request go by the start of their roots, foreign ones by their own.
        let deletions = &snapshot.ledger().deletions;
        let leaf_starts = question.start_ns.start..question.start_ns.end.saturating_add(window_ns);
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
            roots_lost_max: lost(&roots).saturating_add(deletions.rows_within(&question.start_ns)),
            leaves_lost_max: leaves
                .as_ref()
                .map_or(0, lost)
                .saturating_add(deletions.rows_within(&leaf_starts)),
            silent: leaves.as_ref().map_or_else(Vec::new, Sources::silent),
            unfollowed_links: found.linked.iter().filter_map(|chain| self.linked.get(chain)).sum(),
            named: found.named,
        }
    }
}

impl Arrivals {
    /// Judges the roots, or what arrived.
    pub(crate) fn verdict(&self, judged: VerdictSubject, requirement: Requirement) -> Verdict {
        let totals = &self.judged;
        let leaves = totals.verdict_on_leaves(requirement);
        match judged {
            VerdictSubject::Roots { .. } => totals.verdict(requirement, self.roots_lost_max),
            VerdictSubject::Durations | VerdictSubject::Arrived => {
                let here = totals.negative_leaves + totals.unlinked_leaves;
                Verdict { unseen: self.leaves_lost_max.saturating_add(here), ..leaves }
            }
            VerdictSubject::Described => {
                let not_arrived = totals.missing + totals.failed;
                let open = totals.open + totals.unknown_roots();
                Verdict { not_arrived, unseen: open.saturating_add(self.roots_lost_max), ..leaves }
            }
        }
    }
}
