//! Which roots reached a leaf, and of which that cannot be said.
//!
//! A duration exists only where something arrived. Whether a requirement holds is a question about
//! all roots: those that arrived, those that did not, those that are still under way, and those of
//! which the rows say nothing because rows are lost or not here yet. Definitions: `docs/glossary.md`,
//! "Arrivals".
//!
//! * [`ArrivalFinder`] finds the roots of a chain and the leaves below each.
//! * [`ArrivalRule::judge`] gives a root its [`RootState`], with what is known of the sources of
//!   rows ([`Evidence`]).
//! * [`ArrivalTotals`] counts the states, and has the durations as bounds: an arrival that is not
//!   known yet is at least as late as the rows prove.
//!
//! What makes a root certain is the limit: when every source that may hold its leaf has delivered
//! up to the root's start plus the limit, and nothing was lost in between, then a leaf that is not
//! here did not arrive in time, whatever happens later.
//!
//! Not here: what was lost and how far sources have delivered (`store`), and further parents of a
//! transaction: a root that is reached through such a link only is unknown, never missing.

use crate::links::bits;
use crate::{Chain, Meaning, PathIndex, Paths, Population, Requirement, Selection, Verdict, sort};
use chronoscope_model::{ClassId, Quantile, Status, nearest_rank};
use std::ops::RangeInclusive;

/// How many leaves a root needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// So many or more; the root's duration is that of the one that completes them.
    AtLeast(u32),
    /// So many and no more: decided when the timeout has passed, because more may come.
    Exactly(u32),
}

/// How many leaves a root needs, as it is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a number of leaves: {0}: 5.. (five or more) or 5 (exactly five) expected")]
pub struct RequiredError(pub String);

impl std::str::FromStr for Required {
    type Err = RequiredError;

    /// Reads `5..` (five or more) or `5` (exactly five); none is no requirement.
    fn from_str(text: &str) -> Result<Self, RequiredError> {
        let (number, required): (_, fn(u32) -> Self) = match text.strip_suffix("..") {
            Some(number) => (number, Self::AtLeast),
            None => (text, Self::Exactly),
        };
        let count = number.parse().ok().filter(|count| *count > 0);
        count.map(required).ok_or_else(|| RequiredError(text.to_owned()))
    }
}

/// What a root needs in order to have arrived, and in which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalRule {
    /// How many leaves.
    pub required: Required,
    /// Whether two leaves of one receiver count as one ([`Leaf::receiver`]).
    pub distinct: bool,
    /// The longest duration that is still good, in nanoseconds.
    pub limit_ns: u64,
    /// How long after its start a root without its leaves is open, in nanoseconds; not below the
    /// limit.
    pub timeout_ns: u64,
}

/// One leaf below a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// From the root's start to the leaf's end, in nanoseconds.
    pub duration_ns: i64,
    /// Who received: a process or a host by a number of the caller's.
    pub receiver: u32,
    /// It FAILED or was ABORTED: no arrival.
    pub failed: bool,
}

/// Why the rows of a chain do not tell of a root whether it arrived. Several may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts(u8);

impl Doubts {
    /// A leaf of the chain cannot be linked up to any root: a row between is missing.
    pub const UNLINKED_LEAF: Self = Self(0x01);
    /// A leaf ended before the root started: the clocks of their hosts disagree.
    pub const NEGATIVE: Self = Self(0x02);
    /// A transaction elsewhere names the chain as a further parent; such links are not followed.
    pub const FURTHER_PARENT: Self = Self(0x04);
    /// Another chain was found to continue this one after its rows had been stored apart.
    pub const LATE_ALIAS: Self = Self(0x08);

    /// Those of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` hold.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A root with the leaves below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// When it started: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Its row; `None` where only its descendants tell of it.
    pub row: Option<usize>,
    /// In the order of the rows.
    pub leaves: Vec<Leaf>,
    /// What the chain's rows leave open.
    pub doubts: Doubts,
    /// Its correlator carried no ancestors: aliases may have joined other chains to its own.
    pub foreign: bool,
    /// Its raw start is in the time that is asked for.
    in_range: bool,
    /// Ancestors of it are not known: another of its class may stand above.
    hidden: bool,
}

/// What is known of the sources that record the leaf's class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Every one of them has delivered what ended before; `None` where none is known.
    pub horizon_ns: Option<i64>,
    /// Other sources have delivered what ended before: who has not is silent.
    pub newest_ns: Option<i64>,
    /// When rows that may be leaves were lost, ascending and apart from each other: no lost one
    /// ended outside.
    pub losses_ns: Vec<RangeInclusive<i64>>,
    /// Rows were lost or are damaged, and nobody knows of which time.
    pub damaged: bool,
    /// Rows of roots that started before may have been deleted for their age.
    pub expired_until_ns: Option<i64>,
    /// Aliases were dropped: a foreign chain may go on in another that does not say so.
    pub aliases_dropped: bool,
}

impl Evidence {
    /// Joins intervals that touch, so that they are ascending and apart.
    #[must_use]
    pub fn with_losses(mut self, mut losses_ns: Vec<RangeInclusive<i64>>) -> Self {
        losses_ns.sort_by_key(|loss| *loss.start());
        for loss in losses_ns {
            match self.losses_ns.last_mut() {
                Some(last) if loss.start() <= last.end() => {
                    *last = *last.start()..=*last.end().max(loss.end());
                }
                _ => self.losses_ns.push(loss),
            }
        }
        self
    }

    /// Whether something that ended within the interval may have been lost.
    fn lost_within(&self, from_ns: i64, until_ns: i64) -> bool {
        let next = self.losses_ns.partition_point(|loss| *loss.end() < from_ns);
        self.losses_ns.get(next).is_some_and(|loss| *loss.start() <= until_ns)
    }
}

/// Why a root is unknown; the first that holds, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unknown {
    /// [`Doubts::FURTHER_PARENT`].
    FurtherParent,
    /// [`Doubts::LATE_ALIAS`], or an alias that was dropped.
    LateAlias,
    /// [`Doubts::UNLINKED_LEAF`].
    UnlinkedLeaf,
    /// [`Doubts::NEGATIVE`].
    Negative,
    /// Rows that may hold its leaf were lost in its time.
    Lost,
    /// Rows are damaged, or were lost nobody knows when.
    Damaged,
    /// Rows of its time were deleted for their age.
    Expired,
    /// A source has not delivered the root's time, although others have.
    Silent,
}

impl Unknown {
    /// All of them, in their order.
    pub const ALL: [Self; 8] = [
        Self::FurtherParent,
        Self::LateAlias,
        Self::UnlinkedLeaf,
        Self::Negative,
        Self::Lost,
        Self::Damaged,
        Self::Expired,
        Self::Silent,
    ];
}

impl Unknown {
    /// In one word, as JSON has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FurtherParent => "further_parent",
            Self::LateAlias => "late_alias",
            Self::UnlinkedLeaf => "unlinked_leaf",
            Self::Negative => "negative",
            Self::Lost => "lost",
            Self::Damaged => "damaged",
            Self::Expired => "expired",
            Self::Silent => "silent",
        }
    }

    /// Why a root is unknown, after a number of roots.
    pub const fn why(self) -> &'static str {
        match self {
            Self::FurtherParent => {
                "are named by links to further parents, which are not followed yet"
            }
            Self::LateAlias => "were found too late to go on in another chain",
            Self::UnlinkedLeaf => "have a leaf in their chain that a missing row cuts off",
            Self::Negative => "have a leaf that ends before they start: clocks disagree",
            Self::Lost => "have a time in which rows were lost that may be their leaves",
            Self::Damaged => "may have leaves among damaged rows, or rows lost nobody knows when",
            Self::Expired => "are so old that rows of their time were deleted",
            Self::Silent => "wait for a source that has not delivered their time",
        }
    }
}

/// What became of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootState {
    /// Its leaves are here.
    Arrived,
    /// Its leaves ended as FAILED or ABORTED, or are more than it may have.
    Failed,
    /// Its time is not over, as far as sources have delivered.
    Open,
    /// Its time is over, everything is here, and its leaves are not.
    Missing,
    /// The rows do not tell.
    Unknown(Unknown),
}

impl RootState {
    /// In one word, as JSON has it; why a root is unknown is told apart.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrived => "arrived",
            Self::Failed => "failed",
            Self::Open => "open",
            Self::Missing => "missing",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// A root, judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What became of it.
    pub state: RootState,
    /// Whether it arrived within the limit; `None` where that is not certain.
    pub in_time: Option<bool>,
    /// Its duration is not below this, in nanoseconds; `None`: it never arrives.
    pub at_least_ns: Option<u64>,
    /// Its duration is not above this, in nanoseconds; `None`: nobody knows an end.
    pub at_most_ns: Option<u64>,
}

impl ArrivalRule {
    /// Judges a root.
    pub fn judge(&self, root: &Root, evidence: &Evidence) -> Judged {
        let mut good = self.good(&root.leaves);
        let count = match self.required {
            Required::AtLeast(count) | Required::Exactly(count) => count as usize,
        };
        let exactly = matches!(self.required, Required::Exactly(_));
        if exactly {
            // One that comes when the root is decided changes nothing any more.
            good.retain(|ns| *ns <= self.timeout_ns);
        }
        if exactly && good.len() > count {
            // Whatever else is lost or late, it does not become fewer.
            let never = Judged::never(RootState::Failed);
            return Judged { in_time: Some(false), ..never };
        }
        let arrived_ns = count.checked_sub(1).and_then(|last| good.get(last).copied());
        let doubt = |within_ns| doubt(root, evidence, within_ns);
        match arrived_ns {
            Some(arrived_ns) if !exactly => {
                // One that arrived earlier may be lost: then this is an upper bound.
                let is_exact = doubt(arrived_ns).is_none();
                let late = arrived_ns > self.limit_ns;
                let certain = !late || doubt(self.limit_ns).is_none();
                Judged {
                    state: RootState::Arrived,
                    in_time: certain.then_some(!late),
                    at_least_ns: Some(if is_exact { arrived_ns } else { 0 }),
                    at_most_ns: Some(arrived_ns),
                }
            }
            _ => self.not_arrived(root, evidence, doubt, arrived_ns),
        }
    }

    /// Of a root whose leaves are not here, or not known to be all: `so_far_ns` where exactly as
    /// many as it needs are.
    fn not_arrived(
        &self,
        root: &Root,
        evidence: &Evidence,
        doubt: impl Fn(u64) -> Option<Doubt>,
        so_far_ns: Option<u64>,
    ) -> Judged {
        let too_late = so_far_ns.is_none_or(|ns| ns > self.limit_ns);
        let in_time = (too_late && doubt(self.limit_ns).is_none()).then_some(false);
        match doubt(self.timeout_ns) {
            Some(Doubt::Unknown(why)) => {
                Judged { in_time, ..Judged::unknown(RootState::Unknown(why)) }
            }
            Some(Doubt::Open) => {
                let age_ns = evidence.horizon_ns.map(|at| at.saturating_sub(root.start_ns));
                let age_ns = age_ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0);
                let at_least_ns = Some(so_far_ns.unwrap_or(age_ns));
                Judged { in_time, at_least_ns, ..Judged::unknown(RootState::Open) }
            }
            None => match so_far_ns {
                Some(ns) => Judged {
                    state: RootState::Arrived,
                    in_time: Some(ns <= self.limit_ns),
                    at_least_ns: Some(ns),
                    at_most_ns: Some(ns),
                },
                None if root.leaves.iter().any(|leaf| leaf.failed) => {
                    Judged { in_time, ..Judged::never(RootState::Failed) }
                }
                None => Judged { in_time, ..Judged::never(RootState::Missing) },
            },
        }
    }

    /// The durations of the leaves that are arrivals, ascending; of one receiver the first, where
    /// receivers count.
    fn good(&self, leaves: &[Leaf]) -> Vec<u64> {
        let ended = |leaf: &&Leaf| !leaf.failed && leaf.duration_ns >= 0;
        let good = leaves.iter().filter(ended);
        let mut good: Vec<(u64, u32)> =
            good.map(|leaf| (leaf.duration_ns.unsigned_abs(), leaf.receiver)).collect();
        good.sort_unstable();
        if self.distinct {
            let mut seen = std::collections::HashSet::new();
            good.retain(|(_, receiver)| seen.insert(*receiver));
        }
        good.into_iter().map(|(ns, _)| ns).collect()
    }
}

/// Why a leaf of the root that ended within a time after its start may not be here.
fn doubt(root: &Root, evidence: &Evidence, within_ns: u64) -> Option<Doubt> {
    let end_ns = root.start_ns.saturating_add_unsigned(within_ns);
    let holds = |unknown| match unknown {
        Unknown::FurtherParent => root.doubts.contains(Doubts::FURTHER_PARENT),
        Unknown::LateAlias => {
            root.doubts.contains(Doubts::LATE_ALIAS) || root.foreign && evidence.aliases_dropped
        }
        Unknown::UnlinkedLeaf => root.doubts.contains(Doubts::UNLINKED_LEAF),
        Unknown::Negative => root.doubts.contains(Doubts::NEGATIVE),
        Unknown::Lost => evidence.lost_within(root.start_ns, end_ns),
        Unknown::Damaged => evidence.damaged,
        Unknown::Expired => evidence.expired_until_ns.is_some_and(|until| root.start_ns < until),
        Unknown::Silent => false, // below: it may be open as well
    };
    if let Some(unknown) = Unknown::ALL.into_iter().find(|unknown| holds(*unknown)) {
        return Some(Doubt::Unknown(unknown));
    }
    let delivered = |until: Option<i64>| until.is_some_and(|until| until > end_ns);
    if delivered(evidence.horizon_ns) {
        return None;
    }
    let silent = delivered(evidence.newest_ns) || evidence.newest_ns.is_none();
    Some(if silent { Doubt::Unknown(Unknown::Silent) } else { Doubt::Open })
}

/// Why something may not be here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    Unknown(Unknown),
    /// No source has delivered so far yet.
    Open,
}

impl Judged {
    const fn never(state: RootState) -> Self {
        Self { state, in_time: Some(false), at_least_ns: None, at_most_ns: None }
    }

    const fn unknown(state: RootState) -> Self {
        Self { state, in_time: None, at_least_ns: Some(0), at_most_ns: None }
    }
}

/// What a row says besides its [`Hop`](crate::Hop).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Where it ran: a process or a host by a number of the caller's.
    pub receiver: u32,
}

/// Finds roots and their leaves, chain by chain, in reused memory.
#[derive(Debug)]
pub struct ArrivalFinder {
    selection: Selection,
    /// By path: what it means to a leaf; and what it tells of those above a root.
    meanings: Vec<Option<Meaning>>,
    outermost: Vec<Option<RootStanding>>,
    roots: Vec<Root>,
    /// Leaves whose root is not known, because rows above them are missing.
    pub unlinked_leaves: u64,
    /// Transactions of the leaf's class that stand below no such root, though all above is known.
    pub leaves_elsewhere: u64,
    /// A transaction of the root's class was seen below another one.
    pub nested: bool,
}

/// What stands above a transaction of the root's class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RootStanding {
    /// None of its class.
    Outermost,
    /// None of its class, as far as is known.
    Hidden,
    /// Another of its class.
    Inner,
}

impl ArrivalFinder {
    /// A finder for a selection of leaves by class.
    pub fn new(selection: Selection) -> Self {
        Self {
            selection,
            meanings: Vec::new(),
            outermost: Vec::new(),
            roots: Vec::new(),
            unlinked_leaves: 0,
            leaves_elsewhere: 0,
            nested: false,
        }
    }

    /// Gives every root of a chain that started in the selection's time to `each`. `doubts` are
    /// those of the whole chain. `outcome` and `raw_start_ns` tell of a row by its number: the
    /// chain's own stamps may be corrected.
    pub fn find(
        &mut self,
        chain: &Chain<'_>,
        paths: &Paths,
        mut doubts: Doubts,
        outcome: impl Fn(usize) -> Outcome,
        raw_start_ns: impl Fn(usize) -> i64,
        mut each: impl FnMut(&Root),
    ) {
        self.find_roots(chain, paths, raw_start_ns);
        for index in 0..chain.hops.len() {
            let is_leaf = |class| {
                self.selection.leaves.as_ref().is_some_and(|leaves| leaves.contains(&class))
            };
            if chain.places[index].duplicate || !is_leaf(chain.hops[index].class) {
                continue;
            }
            match self.root_of(chain, paths, index) {
                Above::Root(root) => self.add_leaf(chain, root, index, outcome(index)),
                Above::Inner => {}
                Above::Nothing => self.leaves_elsewhere += 1,
                Above::Missing => {
                    self.unlinked_leaves += 1;
                    doubts = doubts.with(Doubts::UNLINKED_LEAF);
                }
            }
        }
        for root in self.roots.iter_mut().filter(|root| root.in_range) {
            root.doubts = root.doubts.with(doubts);
            each(root);
        }
    }

    fn find_roots(
        &mut self,
        chain: &Chain<'_>,
        paths: &Paths,
        raw_start_ns: impl Fn(usize) -> i64,
    ) {
        self.roots.clear();
        for (index, hop) in chain.hops.iter().enumerate() {
            let is_root = self.selection.roots.contains(&hop.class);
            if !is_root || chain.places[index].duplicate {
                continue;
            }
            let standing = self.standing(paths, chain.standings[index].path);
            if standing == RootStanding::Inner {
                self.nested = true;
                continue;
            }
            self.roots.push(Root {
                start_ns: hop.start_ns,
                row: Some(index),
                in_range: self.selection.root_start_ns.contains(&raw_start_ns(index)),
                hidden: standing == RootStanding::Hidden,
                foreign: chain.standings[index].foreign,
                ..Root::default()
            });
        }
    }

    /// What the path of a root tells of those above it.
    fn standing(&mut self, paths: &Paths, path: PathIndex) -> RootStanding {
        let known = remembered(&mut self.outermost, path, paths.len());
        *known.get_or_insert_with(|| {
            let classes = paths.classes(path);
            let above = &classes[..classes.len().saturating_sub(1)];
            if above.iter().any(|class| self.selection.roots.contains(class)) {
                RootStanding::Inner
            } else if above.contains(&ClassId::NONE) {
                RootStanding::Hidden
            } else {
                RootStanding::Outermost
            }
        })
    }

    fn add_leaf(&mut self, chain: &Chain<'_>, root: usize, leaf: usize, outcome: Outcome) {
        let root = &mut self.roots[root];
        let duration_ns = chain.hops[leaf].end_ns().saturating_sub(root.start_ns);
        if duration_ns < 0 {
            root.doubts = root.doubts.with(Doubts::NEGATIVE);
        }
        root.leaves.push(Leaf {
            duration_ns,
            receiver: outcome.receiver,
            failed: matches!(outcome.status, Status::Failed | Status::Aborted),
        });
    }

    fn root_of(&mut self, chain: &Chain<'_>, paths: &Paths, leaf: usize) -> Above {
        let standing = chain.standings[leaf];
        let meaning = self.meaning(paths, standing.path, standing.level);
        let by_rows = meaning == Meaning::Hidden;
        let meaning = if by_rows { self.selection.meaning_by_rows(chain, leaf) } else { meaning };
        let missing = chain.places[leaf].has(bits::ANCESTOR_MISSING);
        let (steps, from_top) = match meaning {
            Meaning::None if by_rows && missing => return Above::Missing,
            Meaning::None => return Above::Nothing,
            Meaning::Hidden => return Above::Missing,
            Meaning::Below { steps, from_top } => (steps, from_top && !by_rows),
        };
        if let Some(row) = chain.ancestor(leaf, steps) {
            let known = self.roots.iter().position(|root| root.row == Some(row));
            return known.map_or(Above::Inner, Above::Root);
        }
        match standing.root_start_ns.filter(|_| from_top) {
            Some(start_ns) => Above::Root(self.top(chain, start_ns)),
            None => Above::Missing,
        }
    }

    /// The root of the whole chain that started then: its row, or what its descendants tell.
    fn top(&mut self, chain: &Chain<'_>, start_ns: i64) -> usize {
        let is_top = |root: &Root| {
            root.start_ns == start_ns && root.row.is_none_or(|row| chain.places[row].is_root())
        };
        if let Some(known) = self.roots.iter().position(is_top) {
            return known;
        }
        let in_range = self.selection.root_start_ns.contains(&start_ns);
        self.roots.push(Root { start_ns, in_range, ..Root::default() });
        self.roots.len() - 1
    }

    /// As in the evaluation of durations: a path with a gap is asked again at every level.
    fn meaning(&mut self, paths: &Paths, path: PathIndex, level: Option<u16>) -> Meaning {
        if let Some(known) = *remembered(&mut self.meanings, path, paths.len()) {
            return known;
        }
        let classes = paths.classes(path);
        let meaning = self.selection.meaning(&classes, level);
        if !classes.contains(&ClassId::NONE) {
            self.meanings[path.0 as usize] = Some(meaning);
        }
        meaning
    }
}

/// What stands above a leaf.
enum Above {
    /// The root with this number.
    Root(usize),
    /// A transaction of the root's class that is not the outermost.
    Inner,
    /// No such root.
    Nothing,
    /// Rows above it are missing, and a root may be among them.
    Missing,
}

/// What is remembered of a path.
fn remembered<T: Clone>(all: &mut Vec<Option<T>>, path: PathIndex, paths: usize) -> &mut Option<T> {
    let index = path.0 as usize;
    if all.len() <= index {
        all.resize(paths.max(index + 1), None);
    }
    &mut all[index]
}

/// How many roots are in which state, and their durations as bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrivalTotals {
    /// All roots.
    pub roots: u64,
    /// Of these, known from their descendants only: their own row is missing.
    pub from_descendants: u64,
    /// See [`RootState::Arrived`].
    pub arrived: u64,
    /// Of the arrived, those above the limit.
    pub late: u64,
    /// See [`RootState::Failed`].
    pub failed: u64,
    /// See [`RootState::Open`].
    pub open: u64,
    /// See [`RootState::Missing`].
    pub missing: u64,
    /// By reason, in the order of [`Unknown::ALL`].
    pub unknown: [u64; Unknown::ALL.len()],
    /// Roots that are certain to have arrived within the limit.
    pub in_time: u64,
    /// Roots that are certain not to have arrived within the limit.
    pub not_in_time: u64,
    /// Of all roots, those above which another of their class may stand; and of these, those that
    /// are certain.
    pub hidden: [u64; 3],
    /// See [`ArrivalFinder::nested`].
    pub nested: bool,
    /// Leaves that arrived, below all roots: pairs of a root and a leaf.
    pub leaves: u64,
    /// Of these, those within the limit.
    pub leaves_in_time: u64,
    /// Leaves that ended before their roots started.
    pub negative_leaves: u64,
    /// Leaves that FAILED or were ABORTED.
    pub failed_leaves: u64,
    /// See [`ArrivalFinder::unlinked_leaves`].
    pub unlinked_leaves: u64,
    /// See [`ArrivalFinder::leaves_elsewhere`].
    pub leaves_elsewhere: u64,
    /// Durations that are known exactly, in nanoseconds, in no order.
    pub exact_ns: Vec<u64>,
    /// Of the others: not below, and not above (`u64::MAX`: never, or nobody knows).
    pub bounds_ns: Vec<(u64, u64)>,
}

impl ArrivalTotals {
    /// Counts a root.
    pub fn add(&mut self, root: &Root, judged: Judged, limit_ns: u64) {
        self.roots += 1;
        self.from_descendants += u64::from(root.row.is_none());
        for leaf in &root.leaves {
            match u64::try_from(leaf.duration_ns) {
                _ if leaf.failed => self.failed_leaves += 1,
                Err(_) => self.negative_leaves += 1,
                Ok(ns) => {
                    self.leaves += 1;
                    self.leaves_in_time += u64::from(ns <= limit_ns);
                }
            }
        }
        match judged.state {
            RootState::Arrived => {
                self.arrived += 1;
                self.late += u64::from(judged.at_most_ns.is_some_and(|ns| ns > limit_ns));
            }
            RootState::Failed => self.failed += 1,
            RootState::Open => self.open += 1,
            RootState::Missing => self.missing += 1,
            RootState::Unknown(why) => self.unknown[why as usize] += 1,
        }
        match judged.in_time {
            Some(true) => self.in_time += 1,
            Some(false) => self.not_in_time += 1,
            None => {}
        }
        if root.hidden {
            self.hidden[0] += 1;
            self.hidden[1] += u64::from(judged.in_time == Some(true));
            self.hidden[2] += u64::from(judged.in_time == Some(false));
        }
        let at_least_ns = judged.at_least_ns.unwrap_or(u64::MAX);
        let at_most_ns = judged.at_most_ns.unwrap_or(u64::MAX);
        if at_least_ns == at_most_ns {
            self.exact_ns.push(at_least_ns);
        } else {
            self.bounds_ns.push((at_least_ns, at_most_ns));
        }
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: Self) {
        self.roots += other.roots;
        self.from_descendants += other.from_descendants;
        self.arrived += other.arrived;
        self.late += other.late;
        self.failed += other.failed;
        self.open += other.open;
        self.missing += other.missing;
        self.unknown.iter_mut().zip(other.unknown).for_each(|(mine, more)| *mine += more);
        self.in_time += other.in_time;
        self.not_in_time += other.not_in_time;
        self.hidden.iter_mut().zip(other.hidden).for_each(|(mine, more)| *mine += more);
        self.nested |= other.nested;
        self.leaves += other.leaves;
        self.leaves_in_time += other.leaves_in_time;
        self.negative_leaves += other.negative_leaves;
        self.failed_leaves += other.failed_leaves;
        self.unlinked_leaves += other.unlinked_leaves;
        self.leaves_elsewhere += other.leaves_elsewhere;
        self.exact_ns.extend(other.exact_ns);
        self.bounds_ns.extend(other.bounds_ns);
    }

    /// All that are unknown, whatever the reason.
    pub fn unknown_roots(&self) -> u64 {
        self.unknown.iter().sum()
    }

    /// Judges all roots by exact counts. `unseen` roots more may exist of which no row is here. A
    /// root that is certain not to have arrived is none when a leaf without a root may be its own.
    /// Where roots stand below roots, one whose ancestors are missing may be none.
    pub fn verdict(&self, requirement: Requirement, unseen: u64) -> Verdict {
        let [hidden, hidden_in_time, hidden_not] = if self.nested { self.hidden } else { [0; 3] };
        let (count, within) = (self.roots - hidden, self.in_time - hidden_in_time);
        let not_in_time = self.not_in_time - hidden_not;
        let doubtful = self.unlinked_leaves.min(not_in_time);
        Verdict {
            requirement,
            population: Population::Roots,
            count,
            within,
            undecided: count - within - (not_in_time - doubtful),
            unseen: unseen.saturating_add(hidden),
            not_arrived: 0,
        }
    }

    /// Judges the leaves that arrived: pairs of a root and a leaf.
    pub fn verdict_on_leaves(&self, requirement: Requirement) -> Verdict {
        let (count, within) = (self.leaves, self.leaves_in_time);
        Verdict { requirement, count, within, ..Verdict::default() }
    }

    /// The distribution over all roots: those that never arrive are infinitely late.
    pub fn durations(&self) -> RootDurations {
        let sorted = |bound: fn(&(u64, u64)) -> u64| {
            let mut all = self.exact_ns.clone();
            all.extend(self.bounds_ns.iter().map(bound));
            sort(&[all])
        };
        RootDurations { at_least_ns: sorted(|bounds| bounds.0), at_most_ns: sorted(|b| b.1) }
    }
}

/// The durations of all roots, as bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootDurations {
    at_least_ns: Vec<u64>,
    at_most_ns: Vec<u64>,
}

/// A value between two bounds, in nanoseconds; `u64::MAX`: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Not below.
    pub at_least_ns: u64,
    /// Not above.
    pub at_most_ns: u64,
}

impl RootDurations {
    /// The quantile by nearest rank over all roots; `None` when there are none.
    pub fn quantile(&self, quantile: Quantile) -> Option<Bounds> {
        Some(Bounds {
            at_least_ns: nearest_rank(&self.at_least_ns, quantile)?,
            at_most_ns: nearest_rank(&self.at_most_ns, quantile)?,
        })
    }
}

#[cfg(test)]
mod tests;
