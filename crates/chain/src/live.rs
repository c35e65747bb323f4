//! Chains put together while their rows come in, in any order, in bounded memory.
//!
//! A row of OpenTelemetry names its parent and nothing else, and a root comes last: it ends after
//! everything below it. [`LiveChains`] keeps rows for a window of time. As soon as all ancestors of a
//! row up to its root have come, the row is [`Reached`], once, with its root and level; nothing is
//! ever taken back. A row whose window ends before that, or that has to make room, is [`Unreached`]:
//! its duration is unknown here, and is answered from stored rows when somebody asks.
//!
//! Cost: two or three look-ups and 64 bytes or so for each row ([`NODE_BYTES`]); memory is given back
//! as rows leave. Definitions as in [`crate::links`]: of rows with one id the first to come counts;
//! circles never reach a root.
//!
//! Not here: further parents, which are not followed; rows as they are stored.

use chronoscope_model::{ChainId, ClassId, Record, TransactionId};
use hashbrown::HashTable;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};

/// Memory that a row takes at most, its share of the tables included, in bytes.
pub const NODE_BYTES: usize = size_of::<Node>() + 2 * TABLE_BYTES;
/// A table's share of a row: index, hash and as much again that is free, or is being moved.
const TABLE_BYTES: usize = 12;
/// Rows in a page; pages are given back when all their rows have left.
const PAGE_ROWS: usize = 8_192;

/// Bounds of what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Time that a row is kept after it came, in nanoseconds.
    pub window_ns: i64,
    /// Most rows at a time; when one more comes, the oldest leaves.
    pub rows_max: usize,
}

impl Default for Bounds {
    /// A minute, and half a gigabyte.
    fn default() -> Self {
        Self { window_ns: 60_000_000_000, rows_max: (512 << 20) / NODE_BYTES }
    }
}

/// A row whose ancestors have all come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The root's class.
    pub root: ClassId,
    /// The row's class; the root's own for a root.
    pub class: ClassId,
    /// Steps from the root, saturating; 0 for the root itself.
    pub level: u16,
    /// Start of the root: UTC, nanoseconds since 1970.
    pub root_start_ns: i64,
    /// Time from the start of the root to the end of the row (ACPD), in nanoseconds; negative when
    /// the clocks of two hosts disagree by more than that.
    pub duration_ns: i64,
}

/// A row that left before all its ancestors had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The row's class.
    pub class: ClassId,
    /// End of the row: UTC, nanoseconds since 1970.
    pub end_ns: i64,
    /// It had to make room: its window had not ended.
    pub for_room: bool,
}

/// Result of a row's arrival or departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveEvent {
    /// Its root is known.
    Reached(Reached),
    /// Its root is not known, and will not be.
    Unreached(Unreached),
}

/// Counts since the beginning, and of now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Rows kept now.
    pub kept: usize,
    /// Rows kept now whose ancestors have not all come.
    pub waiting: usize,
    /// Rows that came a second time, and were ignored.
    pub duplicates: u64,
    /// Rows that left unreached when their window ended.
    pub unreached: u64,
    /// Rows that left unreached to make room.
    pub unreached_for_room: u64,
}

/// The place of a row whose root is known from elsewhere: a row of our recorder, which carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRoot {
    /// The root's class.
    pub class: ClassId,
    /// Start of the root: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Steps from the root to the row.
    pub level: u16,
}

/// A row that is kept. Chains are kept as 64 bits of a keyed hash.
#[derive(Clone, Copy, Debug)]
struct Node {
    chain: u64,
    id: TransactionId,
    /// Where it waits: the parent's id. Where it is reached: the root's start.
    parent_or_start: u64,
    end_ns: i64,
    came_ns: i64,
    class: u32,
    /// Where it waits: the next row that waits for the same parent; of no meaning in the last. Where
    /// it is reached: the root's class.
    next_or_root: u32,
    level: u16,
    is_reached: bool,
}

/// Rows that wait for the same parent, in the order in which they came.
#[derive(Clone, Copy, Debug)]
struct Line {
    first: u32,
    last: u32,
}

/// Rows of the last minute, whose chains are put together as they come.
#[derive(Debug, Default)]
pub struct LiveChains {
    bounds: Bounds,
    /// In the order in which they came.
    rows: Rows,
    by_id: HashTable<u32>,
    /// By the parent that they wait for.
    lines: HashTable<Line>,
    classes: Classes,
    hasher: RandomState,
    counts: LiveCounts,
    /// Rows that have just been reached, whose children are to be looked for.
    open: Vec<u32>,
    /// Rows whose children are to be moved to another chain.
    parents: Vec<TransactionId>,
}

impl LiveChains {
    /// Nothing, within bounds.
    ///
    /// # Panics
    /// When more than 2³¹ rows are allowed.
    pub fn new(bounds: Bounds) -> Self {
        assert!(bounds.rows_max <= 1 << 31, "{} rows", bounds.rows_max);
        Self { bounds, ..Self::default() }
    }

    /// The counts.
    pub fn counts(&self) -> LiveCounts {
        LiveCounts { kept: self.rows.len(), ..self.counts }
    }

    /// Memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.pages.len() * PAGE_ROWS * size_of::<Node>()
            + self.by_id.allocation_size()
            + self.lines.allocation_size()
    }

    /// Takes a row in that came at `now_ns` (monotonic, nanoseconds). `chains`: its own chain, then
    /// those that it is known to continue, the last being the one that it belongs to; rows that came
    /// before that was known were taken in under one of the others. `known`: its root, where the row
    /// carries it; such a row is not told, because it needs no other.
    #[allow(clippy::cast_sign_loss)] // the same bits again when it is read
    pub fn add(
        &mut self,
        record: &Record,
        chains: &[ChainId],
        known: Option<KnownRoot>,
        now_ns: i64,
        mut each: impl FnMut(LiveEvent),
    ) {
        self.leave(now_ns, &mut each);
        let Some(canonical) = chains.last() else { return };
        let chain = self.chain(*canonical);
        let id = record.id;
        let is_double = |rows: &Self, chain| rows.find(chain, id).is_some();
        if !id.is_none() && chains.iter().any(|chain| is_double(self, self.chain(*chain))) {
            self.counts.duplicates += 1;
            return;
        }
        while self.rows.len() >= self.bounds.rows_max.max(1) {
            self.drop_oldest(true, &mut each);
        }
        let class = self.classes.index(record.class);
        let mut node = Node {
            chain,
            id,
            parent_or_start: record.parent.0,
            end_ns: record.end_ns(),
            came_ns: now_ns,
            class,
            next_or_root: 0,
            level: 0,
            is_reached: true,
        };
        let parent = chains.iter().rev().find_map(|chain| {
            let found = self.find(self.chain(*chain), record.parent)?;
            Some(self.rows.get(found)).filter(|parent| parent.is_reached)
        });
        match (known, parent) {
            (Some(root), _) => {
                node.next_or_root = self.classes.index(root.class);
                (node.parent_or_start, node.level) = (root.start_ns as u64, root.level);
            }
            (None, _) if record.parent.is_none() => {
                (node.next_or_root, node.parent_or_start) = (class, record.start_ns as u64);
            }
            (None, Some(parent)) => node.follow(&parent),
            (None, None) => node.is_reached = false,
        }
        let index = self.rows.push(node);
        self.enter(index);
        for before in &chains[..chains.len() - 1] {
            self.adopt(self.chain(*before), chain, id);
        }
        if !node.is_reached {
            self.counts.waiting += 1;
            self.join(Line { first: index, last: index }, chain, record.parent);
            return;
        }
        if known.is_none() {
            each(LiveEvent::Reached(self.told(&node)));
        }
        self.reach(index, &mut each);
    }

    /// Lets the rows go whose window has ended at `now_ns` (monotonic, nanoseconds).
    pub fn leave(&mut self, now_ns: i64, mut each: impl FnMut(LiveEvent)) {
        let until_ns = now_ns.saturating_sub(self.bounds.window_ns);
        while self.rows.oldest().is_some_and(|oldest| oldest.came_ns < until_ns) {
            self.drop_oldest(false, &mut each);
        }
        // A table keeps its room when entries go: after a burst it is given back.
        if self.by_id.len() < self.by_id.capacity() / 8 && self.by_id.capacity() > PAGE_ROWS {
            let (rows, hasher) = (&self.rows, &self.hasher);
            self.by_id.shrink_to(2 * self.by_id.len(), |index| rows.get(*index).hash(hasher));
            self.lines.shrink_to(2 * self.lines.len(), |line| rows.get(line.first).parent(hasher));
        }
    }

    /// Reaches the rows that wait for a row that is reached, and those that wait for these.
    fn reach(&mut self, index: u32, each: &mut impl FnMut(LiveEvent)) {
        self.open.push(index);
        while let Some(index) = self.open.pop() {
            let parent = self.rows.get(index);
            let Some(line) = self.take_line(parent.chain, parent.id) else { continue };
            let mut next = Some(line.first);
            while let Some(at) = next {
                next = self.after(at, line);
                let child = self.rows.get_mut(at);
                child.follow(&parent);
                let child = *child;
                self.counts.waiting -= 1;
                each(LiveEvent::Reached(self.told(&child)));
                self.open.push(at);
            }
        }
    }

    /// Moves the rows that wait for `parent` in the chain `from`, and those that wait for these, to
    /// the chain that has turned out to be theirs: they came before it was known.
    fn adopt(&mut self, from: u64, to: u64, parent: TransactionId) {
        self.parents.push(parent);
        while let Some(parent) = self.parents.pop() {
            let Some(line) = self.take_line(from, parent) else { continue };
            let mut next = Some(line.first);
            while let Some(at) = next {
                next = self.after(at, line);
                self.exit(at);
                self.rows.get_mut(at).chain = to;
                self.enter(at);
                self.parents.push(self.rows.get(at).id);
            }
            self.join(line, to, parent);
        }
    }

    /// The row after another one of a line.
    fn after(&self, at: u32, line: Line) -> Option<u32> {
        (at != line.last).then(|| self.rows.get(at).next_or_root)
    }

    fn told(&self, node: &Node) -> Reached {
        let root_start_ns = node.parent_or_start.cast_signed();
        Reached {
            root: self.classes.id(node.next_or_root),
            class: self.classes.id(node.class),
            level: node.level,
            root_start_ns,
            duration_ns: node.end_ns.saturating_sub(root_start_ns),
        }
    }

    fn drop_oldest(&mut self, for_room: bool, each: &mut impl FnMut(LiveEvent)) {
        let Some(index) = self.rows.first() else { return };
        let node = self.rows.get(index);
        self.exit(index);
        if !node.is_reached {
            // The oldest row is the first of its line.
            let parent = TransactionId(node.parent_or_start);
            if let Some(line) = self.take_line(node.chain, parent)
                && let Some(first) = self.after(index, line)
            {
                self.put_line(Line { first, ..line }, node.chain, parent);
            }
            self.counts.waiting -= 1;
            self.counts.unreached += u64::from(!for_room);
            self.counts.unreached_for_room += u64::from(for_room);
            let class = self.classes.id(node.class);
            each(LiveEvent::Unreached(Unreached { class, end_ns: node.end_ns, for_room }));
        }
        self.rows.pop();
    }

    /// Makes a row findable by its id, unless another one has it.
    fn enter(&mut self, index: u32) {
        let node = self.rows.get(index);
        if node.id.is_none() || self.find(node.chain, node.id).is_some() {
            return;
        }
        let (rows, hasher) = (&self.rows, &self.hasher);
        let hash = node.hash(hasher);
        self.by_id.insert_unique(hash, index, |index| rows.get(*index).hash(hasher));
    }

    /// Undoes [`Self::enter`].
    fn exit(&mut self, index: u32) {
        let hash = self.rows.get(index).hash(&self.hasher);
        if let Ok(entry) = self.by_id.find_entry(hash, |at| *at == index) {
            entry.remove();
        }
    }

    /// The row with an id in a chain.
    fn find(&self, chain: u64, id: TransactionId) -> Option<u32> {
        if id.is_none() {
            return None;
        }
        let same = |index: &u32| {
            let node = self.rows.get(*index);
            node.chain == chain && node.id == id
        };
        self.by_id.find(self.hash(chain, id), same).copied()
    }

    /// Lets rows wait for a parent, beside those that do already.
    fn join(&mut self, line: Line, chain: u64, parent: TransactionId) {
        let line = match self.take_line(chain, parent) {
            Some(waiting) => self.merge(waiting, line),
            None => line,
        };
        self.put_line(line, chain, parent);
    }

    /// One line of two, in the order in which the rows came.
    fn merge(&mut self, a: Line, b: Line) -> Line {
        // One row that has just come, nearly always.
        if self.rows.position(a.last) < self.rows.position(b.first) {
            self.rows.get_mut(a.last).next_or_root = b.first;
            return Line { first: a.first, last: b.last };
        }
        let (mut heads, mut merged) = ([Some(a.first), Some(b.first)], None::<Line>);
        while let Some(side) = match heads {
            [Some(a), Some(b)] => Some(usize::from(self.rows.position(b) < self.rows.position(a))),
            [Some(_), None] => Some(0),
            [None, Some(_)] => Some(1),
            [None, None] => None,
        } && let Some(at) = heads[side]
        {
            heads[side] = self.after(at, [a, b][side]);
            if let Some(line) = merged {
                self.rows.get_mut(line.last).next_or_root = at;
            }
            merged = Some(Line { first: merged.map_or(at, |line| line.first), last: at });
        }
        merged.unwrap_or(a)
    }

    fn put_line(&mut self, line: Line, chain: u64, parent: TransactionId) {
        let hash = self.hash(chain, parent);
        let (rows, hasher) = (&self.rows, &self.hasher);
        self.lines.insert_unique(hash, line, |line| rows.get(line.first).parent(hasher));
    }

    fn take_line(&mut self, chain: u64, parent: TransactionId) -> Option<Line> {
        if parent.is_none() {
            return None;
        }
        let hash = self.hash(chain, parent);
        let rows = &self.rows;
        let entry =
            self.lines.find_entry(hash, |line| rows.get(line.first).waits_for(chain, parent));
        entry.ok().map(|entry| entry.remove().0)
    }

    fn chain(&self, chain: ChainId) -> u64 {
        self.hasher.hash_one(chain.0)
    }

    fn hash(&self, chain: u64, id: TransactionId) -> u64 {
        self.hasher.hash_one((chain, id.0))
    }
}

impl Node {
    /// Takes its root from its parent, whose root is known.
    fn follow(&mut self, parent: &Self) {
        self.parent_or_start = parent.parent_or_start;
        self.next_or_root = parent.next_or_root;
        self.level = parent.level.saturating_add(1);
        self.is_reached = true;
    }

    fn waits_for(&self, chain: u64, parent: TransactionId) -> bool {
        !self.is_reached && self.chain == chain && self.parent_or_start == parent.0
    }

    fn hash(&self, hasher: &RandomState) -> u64 {
        hasher.hash_one((self.chain, self.id.0))
    }

    /// The hash of the parent that it waits for.
    fn parent(&self, hasher: &RandomState) -> u64 {
        hasher.hash_one((self.chain, self.parent_or_start))
    }
}

/// A queue of rows in pages; a row has the same index for as long as it is kept.
#[derive(Debug, Default)]
struct Rows {
    pages: VecDeque<Vec<Node>>,
    /// Index of the first row of the first page; indices wrap.
    base: u32,
    /// Rows of the first page that have left.
    left: usize,
}

impl Rows {
    fn len(&self) -> usize {
        let behind = self.pages.len().saturating_sub(1) * PAGE_ROWS;
        behind + self.pages.back().map_or(0, Vec::len) - self.left
    }

    fn place(&self, index: u32) -> (usize, usize) {
        let offset = index.wrapping_sub(self.base) as usize;
        (offset / PAGE_ROWS, offset % PAGE_ROWS)
    }

    fn get(&self, index: u32) -> Node {
        let (page, row) = self.place(index);
        self.pages[page][row]
    }

    fn get_mut(&mut self, index: u32) -> &mut Node {
        let (page, row) = self.place(index);
        &mut self.pages[page][row]
    }

    #[allow(clippy::cast_possible_truncation)] // indices wrap; fewer than 2³¹ are in use
    fn push(&mut self, node: Node) -> u32 {
        if self.pages.back().is_none_or(|page| page.len() == PAGE_ROWS) {
            self.pages.push_back(Vec::with_capacity(PAGE_ROWS));
        }
        let offset = self.left + self.len();
        if let Some(page) = self.pages.back_mut() {
            page.push(node);
        }
        self.base.wrapping_add(offset as u32)
    }

    /// Its place in the order in which rows came.
    fn position(&self, index: u32) -> u32 {
        index.wrapping_sub(self.base)
    }

    fn oldest(&self) -> Option<&Node> {
        self.pages.front().and_then(|page| page.get(self.left))
    }

    /// Index of the oldest row.
    #[allow(clippy::cast_possible_truncation)] // a page is short
    fn first(&self) -> Option<u32> {
        self.oldest().map(|_| self.base.wrapping_add(self.left as u32))
    }

    /// Removes the oldest row.
    #[allow(clippy::cast_possible_truncation)] // a page is short
    fn pop(&mut self) {
        self.left += usize::from(self.oldest().is_some());
        if self.left == PAGE_ROWS {
            self.pages.pop_front();
            self.base = self.base.wrapping_add(PAGE_ROWS as u32);
            self.left = 0;
        }
    }
}

/// Classes by number, in 32 bits.
#[derive(Debug, Default)]
struct Classes {
    ids: Vec<ClassId>,
    index: HashMap<ClassId, u32>,
}

impl Classes {
    #[allow(clippy::cast_possible_truncation)] // names are bounded far below
    fn index(&mut self, id: ClassId) -> u32 {
        let ids = &mut self.ids;
        *self.index.entry(id).or_insert_with(|| {
            ids.push(id);
            ids.len() as u32 - 1
        })
    }

    fn id(&self, index: u32) -> ClassId {
        self.ids[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hop, Linker, links::bits};
    use proptest::prelude::*;

    fn row(id: u64, parent: u64, start_ns: i64) -> Record {
        Record {
            id: TransactionId(id),
            parent: TransactionId(parent),
            class: ClassId(id),
            start_ns,
            elapsed_ns: 5,
            ..Record::default()
        }
    }

    fn take(live: &mut LiveChains, row: &Record, chains: &[u128], now_ns: i64) -> Vec<LiveEvent> {
        let chains: Vec<ChainId> = chains.iter().map(|chain| ChainId(*chain)).collect();
        let mut events = Vec::new();
        live.add(row, &chains, None, now_ns, |event| events.push(event));
        events
    }

    fn reached(
        class: u64,
        root: u64,
        level: u16,
        root_start_ns: i64,
        duration_ns: i64,
    ) -> LiveEvent {
        let (root, class) = (ClassId(root), ClassId(class));
        LiveEvent::Reached(Reached { root, class, level, root_start_ns, duration_ns })
    }

    #[test]
    fn a_root_that_comes_last_reaches_all_below_it() {
        let mut live = LiveChains::default();
        assert_eq!(take(&mut live, &row(3, 2, 30), &[7], 0), []);
        assert_eq!(take(&mut live, &row(2, 1, 20), &[7], 0), []);
        assert_eq!(take(&mut live, &row(2, 1, 20), &[7], 0), [], "a second time");
        assert_eq!(take(&mut live, &row(1, 0, 10), &[8], 0), [reached(1, 1, 0, 10, 5)]);
        assert_eq!(
            take(&mut live, &row(1, 0, 12), &[7], 0),
            [reached(1, 1, 0, 12, 5), reached(2, 1, 1, 12, 13), reached(3, 1, 2, 12, 23)]
        );
        assert_eq!(take(&mut live, &row(4, 3, 40), &[7], 0), [reached(4, 1, 3, 12, 33)]);
        assert_eq!(live.counts(), LiveCounts { kept: 5, duplicates: 1, ..LiveCounts::default() });
    }

    #[test]
    fn a_row_of_our_recorder_carries_its_root() {
        let mut live = LiveChains::default();
        assert_eq!(take(&mut live, &row(3, 2, 30), &[7], 0), []);
        let known = Some(KnownRoot { class: ClassId(99), start_ns: 10, level: 4 });
        let mut events = Vec::new();
        live.add(&row(2, 1, 20), &[ChainId(7)], known, 0, |event| events.push(event));
        assert_eq!(events, [reached(3, 99, 5, 10, 25)]);
    }

    /// The producer is in trace 1, the consumer in trace 2; what is below the consumer came first.
    #[test]
    fn a_trace_that_continues_another_is_one_chain_with_it() {
        let mut live = LiveChains::default();
        assert_eq!(take(&mut live, &row(22, 21, 40), &[2], 0), []);
        assert_eq!(take(&mut live, &row(21, 20, 30), &[2], 0), []);
        assert_eq!(take(&mut live, &row(20, 10, 20), &[2, 1], 0), [], "here it is known");
        assert_eq!(take(&mut live, &row(23, 21, 50), &[2, 1], 0), []);
        let events = take(&mut live, &row(10, 0, 10), &[1], 0);
        let expected = [(10, 0, 5), (20, 1, 15), (21, 2, 25), (22, 3, 35), (23, 3, 45)];
        let expected = expected.map(|(id, level, duration)| reached(id, 10, level, 10, duration));
        assert_eq!(events, expected);
        assert_eq!(take(&mut live, &row(24, 22, 60), &[2, 1], 0), [reached(24, 10, 4, 10, 55)]);
    }

    #[test]
    fn what_leaves_is_told() {
        let mut live = LiveChains::new(Bounds { window_ns: 100, rows_max: 3 });
        take(&mut live, &row(2, 1, 20), &[7], 0);
        take(&mut live, &row(3, 1, 20), &[7], 50);
        take(&mut live, &row(4, 0, 20), &[7], 50);
        let gone = |id, for_room| {
            LiveEvent::Unreached(Unreached { class: ClassId(id), end_ns: 25, for_room })
        };
        assert_eq!(take(&mut live, &row(5, 1, 20), &[7], 60), [gone(2, true)]);
        // Row 3 leaves, and row 4, of which nobody needs to hear.
        assert_eq!(
            take(&mut live, &row(1, 0, 9), &[7], 151),
            [gone(3, false), reached(1, 1, 0, 9, 5), reached(5, 1, 1, 9, 16)]
        );
        let counts = live.counts();
        assert_eq!((counts.kept, counts.waiting), (2, 0));
        assert_eq!((counts.unreached, counts.unreached_for_room), (1, 1));
        live.leave(1_000, |event| panic!("{event:?}"));
        assert_eq!(live.counts().kept, 0);
    }

    /// Rows of two traces, the second of which continues the first: each row's parent is one of its
    /// own trace (of any number: also later ones, so that there are circles), or none, or missing; or,
    /// in the second trace, a row of the first, and then the continuation is known when it comes.
    #[derive(Clone, Debug)]
    struct Rows2(Vec<(Record, bool, bool)>);

    fn rows() -> impl Strategy<Value = Rows2> {
        let count = 1..40_usize;
        count.prop_flat_map(|count| {
            let drawn = (any::<bool>(), 0..count as u64 + 2, any::<bool>(), 0..50_i64);
            (prop::collection::vec(drawn, count), Just(count)).prop_perturb(
                |(rows, count), mut rng| {
                    let second: Vec<bool> = rows.iter().map(|row| row.0).collect();
                    let made = rows.iter().enumerate().map(
                        |(index, (of_second, parent, across, start))| {
                            let named = usize::try_from(*parent).unwrap();
                            let other = (1..=count).contains(&named).then(|| second[named - 1]);
                            let crosses = *of_second && *across && other == Some(false);
                            let same = other.is_none_or(|other| other == *of_second);
                            let parent = if crosses || same { *parent } else { 0 };
                            (row(index as u64 + 1, parent, *start), *of_second, crosses)
                        },
                    );
                    let mut made: Vec<_> = made.collect();
                    for index in (1..made.len()).rev() {
                        made.swap(index, rng.random_range(0..=index));
                    }
                    Rows2(made)
                },
            )
        })
    }

    fn arrive(live: &mut LiveChains, rows: &Rows2) -> Vec<LiveEvent> {
        let (mut known, mut events) = (false, Vec::new());
        for (now, (row, of_second, crosses)) in (0..).zip(&rows.0) {
            known |= crosses;
            let chains: &[u128] = match (of_second, known) {
                (false, _) => &[1],
                (true, false) => &[2],
                (true, true) => &[2, 1],
            };
            events.extend(take(live, row, chains, now));
            let in_lines = in_lines(live);
            assert_eq!(in_lines, live.counts().waiting);
        }
        events
    }

    /// Rows in all lines, each of which is in the order of arrival.
    fn in_lines(live: &LiveChains) -> usize {
        live.lines
            .iter()
            .map(|line| {
                let (mut at, mut count) = (line.first, 1);
                while let Some(next) = live.after(at, *line) {
                    assert!(live.rows.position(at) < live.rows.position(next));
                    (at, count) = (next, count + 1);
                }
                count
            })
            .sum()
    }

    proptest! {
        /// All rows are kept: what is told is what linking them all at the end would say.
        #[test]
        fn as_linking_at_the_end_would_say(rows in rows()) {
            let mut live = LiveChains::default();
            let mut told = arrive(&mut live, &rows);
            let continues = rows.0.iter().any(|row| row.2);
            let mut expected = Vec::new();
            for part in [false, true] {
                let of_part: Vec<&Record> =
                    rows.0.iter().filter(|row| continues || row.1 == part).map(|row| &row.0).collect();
                let hops: Vec<Hop> = of_part.iter().map(|row| Hop::from(*row)).collect();
                let mut linker = Linker::default();
                for (place, hop) in linker.link(&hops).iter().zip(&hops) {
                    let root = hops[place.top as usize];
                    if place.links & bits::ANCESTOR_MISSING == 0 {
                        let duration = hop.end_ns() - root.start_ns;
                        expected.push(reached(hop.class.0, root.class.0, place.level, root.start_ns, duration));
                    }
                }
                if continues {
                    break;
                }
            }
            let key = |event: &LiveEvent| match event {
                LiveEvent::Reached(reached) => reached.class.0,
                LiveEvent::Unreached(unreached) => unreached.class.0,
            };
            told.sort_by_key(key);
            expected.sort_by_key(key);
            prop_assert_eq!(told, expected);
        }

        /// Few rows are kept: each is told once, is a row that waits, or has left without a word
        /// because it had been told.
        #[test]
        fn every_row_is_told_once(rows in rows(), rows_max in 1..20_usize, window_ns in 1..40_i64) {
            let mut live = LiveChains::new(Bounds { window_ns, rows_max });
            let mut told = arrive(&mut live, &rows);
            prop_assert!(live.counts().kept <= rows_max);
            live.leave(i64::MAX, |event| told.push(event));
            let counts = live.counts();
            prop_assert_eq!((counts.kept, counts.waiting, in_lines(&live)), (0, 0, 0));
            prop_assert!(live.by_id.is_empty());
            let mut of: Vec<u64> = told.iter().map(|event| match event {
                LiveEvent::Reached(reached) => reached.class.0,
                LiveEvent::Unreached(unreached) => unreached.class.0,
            }).collect();
            of.sort_unstable();
            prop_assert_eq!(of, (1..=rows.0.len() as u64).collect::<Vec<_>>());
        }
    }
}
