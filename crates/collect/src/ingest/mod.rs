//! The door for rows that come from elsewhere than rings of this host.
//!
//! Whoever has them calls [`Ingest::take`] from a thread that may wait; when it returns, the rows
//! are durable, or nothing was taken and the error says whether coming again helps.

use crate::agents::Agents;
use crate::gaps::{self, GapNotes, Gaps, Sender};
use crate::protocol::Hello;
use crate::share::{self, ClusterMinutes, OPEN_SLOTS_MAX};
use crate::status::AgentStatus;
use crate::vocabulary::{Admitted, Vocabulary};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, ChainId, Flags, Names, ProcessId, Record};
use chronoscope_store::{
    Append, ChainAlias, RemoteError, RemoteStore, Store, StoreError, StreamId, wire,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long rows may be in the log without being durable before the sender is told to come again.
const DURABLE_WITHIN: Duration = Duration::from_secs(10);
/// How often it is looked whether a failed log was put right.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long to wait before a cluster that is away is asked again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Where rows come from: what can be promised when they come twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSource {
    /// Anybody: rows that come twice are there twice.
    Once,
    /// Somebody who gives the same key when the same rows come again: they are taken once, as long
    /// as the store remembers the key (files: [`chronoscope_store::KEYS_MAX`] keys).
    Keyed(u128),
    /// A sender that numbers its rows: rows that come twice are taken once, rows that never come
    /// leave a gap in the numbers.
    Stream {
        /// Whose count.
        id: StreamId,
        /// Number of the first of the rows.
        first_row: u64,
        /// Number after the last of them.
        end_row: u64,
    },
}

/// Why rows were not taken.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Not now: disk full, sealing behind, log failed. Nothing of it was taken; come again.
    #[error("not now: {0}")]
    Busy(StoreError),
    /// They are in the log, and could not be made durable in time. The rows may be there or not
    /// after a crash; a sender that comes again may double them unless its [`RowSource`] prevents it.
    #[error("taken, but not durable within {} s: {reason}", DURABLE_WITHIN.as_secs())]
    NotDurable {
        /// What stood in the way last.
        reason: String,
    },
    /// Not now: too many minutes wait for being sealed, and these rows, or the rest of them, are of
    /// further ones. Come again in some minutes with what was not taken.
    #[error(
        "{} minutes wait for being sealed, and no more may be opened that are not of now: come again",
        OPEN_SLOTS_MAX
    )]
    Minutes,
    /// Coming again does not help.
    #[error(transparent)]
    Refused(StoreError),
    /// The cluster is away, or has too much to do. Come again.
    #[error("not now: {0}")]
    ClusterBusy(RemoteError),
    /// The cluster refuses the rows: coming again does not help.
    #[error(transparent)]
    ClusterRefused(RemoteError),
    /// The numbers are not those of the rows.
    #[error("{rows} rows under the numbers from {first_row} to {end_row}")]
    Numbers {
        /// Rows that are there.
        rows: usize,
        /// Number of the first.
        first_row: u64,
        /// Number after the last.
        end_row: u64,
    },
}

impl IngestError {
    /// Whether the same rows may be offered again later.
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Busy(_) | Self::ClusterBusy(_) | Self::NotDurable { .. } | Self::Minutes
        )
    }
}

/// Where rows go. Cheap to clone; all clones are the same door.
#[derive(Clone, Debug)]
pub struct Ingest(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    destination: IngestDestination,
    agents: Agents,
}

/// Where the rows go. The rings of this host have another choice (`RingDestination`): each of the two
/// has a destination that the other can never have, so that they are two types.
#[derive(Debug)]
enum IngestDestination {
    /// A store of files.
    Files(Files),
    /// A cluster. Nothing is kept here: any number of collectors may share it.
    Cluster(Box<ClusterIngest>),
}

/// A cluster, and what the network may bring into it: the bounds are each collector's own.
#[derive(Debug)]
struct ClusterIngest {
    rows: Box<dyn RemoteStore>,
    vocabulary: Vocabulary,
    minutes: ClusterMinutes,
}

/// A store of files, and who is doing what there one at a time.
#[derive(Debug)]
struct Files {
    store: Arc<Store>,
    /// Names that agents may bring in.
    vocabulary: Vocabulary,
    /// Rows that agents' numbers leave out.
    gaps: Gaps,
    /// Held from looking how far a sender is until its rows are in.
    delivering: Mutex<()>,
    /// Held while syncing: those who wait meanwhile share the next sync.
    syncing: Mutex<()>,
}

/// Rows that are in, and perhaps not durable yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Rows of the sender below this number are in.
    pub next_row: u64,
    /// Rows that its numbers leave out before these, and that it did not declare as dropped: they
    /// are counted as lost.
    pub gap_rows: u64,
    /// What the store must have made durable for that.
    store_row: u64,
}

impl Ingest {
    /// A door into a store that somebody maintains, as a [`crate::Collector`] does.
    pub fn into_files(store: Arc<Store>) -> Self {
        let files = Files {
            store,
            vocabulary: Vocabulary::default(),
            gaps: Gaps::default(),
            delivering: Mutex::new(()),
            syncing: Mutex::new(()),
        };
        Self(Arc::new(Inner {
            destination: IngestDestination::Files(files),
            agents: Agents::default(),
        }))
    }

    /// A door into a cluster. An alias holds for the rows that it comes with; what
    /// senders lost is told in [`Self::agents`] only, and readings of clocks are not kept.
    pub fn into_cluster(rows: impl RemoteStore + 'static) -> Self {
        let cluster = ClusterIngest {
            rows: Box::new(rows),
            vocabulary: Vocabulary::default(),
            minutes: ClusterMinutes::default(),
        };
        let destination = IngestDestination::Cluster(Box::new(cluster));
        Self(Arc::new(Inner { destination, agents: Agents::default() }))
    }

    /// Takes rows, with names and aliases; all or nothing. Waits until they are durable: not to be
    /// called from a thread that others wait for.
    ///
    /// # Errors
    /// [`IngestError`]; [`IngestError::is_passing`] says whether to come again.
    pub fn take(
        &self,
        source: RowSource,
        batch: &Batch,
        names: &Names,
        aliases: &[ChainAlias],
    ) -> Result<(), IngestError> {
        let files = match &self.0.destination {
            IngestDestination::Files(files) => files,
            IngestDestination::Cluster(cluster) => {
                return cluster.take(source, batch, names, aliases);
            }
        };
        let exported = exported_with(batch);
        let append = Append {
            batch: Some(batch),
            names: Some(names),
            aliases,
            exported: &exported,
            ..Append::default()
        };
        if share::rows_that_fit(&files.store, batch, clock::utc_now_ns())? < batch.len() {
            return Err(IngestError::Minutes);
        }
        let store_row = match source {
            RowSource::Once => files.append(&append)?,
            RowSource::Keyed(key) => files.append(&Append { key: Some(key), ..append })?,
            RowSource::Stream { id, first_row, end_row } => {
                let rows = batch.len();
                if first_row.checked_add(rows as u64) != Some(end_row) {
                    return Err(IngestError::Numbers { rows, first_row, end_row });
                }
                let sender = Sender::default();
                files.deliver(id, first_row, &append, (&sender, 0))?.store_row
            }
        };
        files.make_durable(store_row)
    }

    /// Takes what an agent sends, once; not durable before [`Self::settle`]. Rows that are here
    /// already are passed over by their numbers, also where only some of them are.
    ///
    /// # Errors
    /// [`IngestError`]; [`IngestError::is_passing`] says whether to come again. After
    /// [`IngestError::Minutes`] the first of the rows may be in: [`Self::next_row`] says how many.
    pub fn deliver(
        &self,
        id: StreamId,
        first_row: u64,
        message: &wire::Message,
    ) -> Result<Receipt, IngestError> {
        let files = match &self.0.destination {
            IngestDestination::Files(files) => files,
            IngestDestination::Cluster(cluster) => {
                let (receipt, other_rows) = cluster.deliver(id, first_row, message)?;
                self.0.agents.delivered(id, message, receipt.next_row);
                self.0.agents.left_out(id, receipt.gap_rows);
                self.0.agents.renamed(id, other_rows);
                return Ok(receipt);
            }
        };
        let Admitted { renamed, new } = {
            let known = |look: &mut dyn FnMut(&Names)| files.store.with_names(|names| look(names));
            files.vocabulary.admit(&known, id, message)
        };
        let (batch, names) = match &renamed {
            Some(renamed) => (&renamed.batch, &renamed.names),
            None => (&message.batch, &message.names),
        };
        let append = Append {
            batch: Some(batch),
            names: Some(names),
            lost: &message.extras.lost,
            losses: &message.extras.losses,
            delivered: &message.extras.delivered,
            aliases: &message.extras.aliases,
            clocks: &message.extras.clocks,
            // What is gone there has no ring here: `extras.gone` must not touch our own cursors.
            ..Append::default()
        };
        let sender = self.0.agents.sender(id);
        let declared_rows = match message.extras.lost.as_slice() {
            [] => 0,
            _ => files.store.with_ledger(|known| gaps::newly_declared(message, known)),
        };
        let receipt = files.deliver(id, first_row, &append, (&sender, declared_rows));
        if matches!(receipt, Ok(_) | Err(IngestError::Minutes)) {
            files.vocabulary.count(id, new);
        }
        let receipt = receipt?;
        self.0.agents.delivered(id, message, receipt.next_row);
        self.0.agents.left_out(id, receipt.gap_rows);
        self.0.agents.renamed(id, renamed.map_or(0, |renamed| renamed.rows));
        Ok(receipt)
    }

    /// Waits until rows are durable.
    ///
    /// # Errors
    /// [`IngestError::NotDurable`].
    pub fn settle(&self, receipt: Receipt) -> Result<(), IngestError> {
        match &self.0.destination {
            IngestDestination::Files(files) => files.make_durable(receipt.store_row),
            // There is no receipt before the shards have the rows.
            IngestDestination::Cluster(_) => Ok(()),
        }
    }

    /// How far the rows of a sender are here for good; `None` when it is not known.
    ///
    /// # Errors
    /// [`IngestError::NotDurable`].
    pub fn next_row(&self, id: StreamId) -> Result<Option<u64>, IngestError> {
        let files = match &self.0.destination {
            IngestDestination::Files(files) => files,
            IngestDestination::Cluster(cluster) => {
                return cluster.rows.next_row(id.0).map_err(refused_by_cluster);
            }
        };
        let (next_row, store_row) = {
            let _one_at_a_time = lock(&files.delivering);
            (files.store.stream(id), files.store.backlog().rows)
        };
        // A sender forgets what it is told is here: that has to survive us.
        files.make_durable(store_row)?;
        Ok(next_row)
    }

    /// Notes that an agent is here, or gone with the value that this returned.
    pub fn agent_came(&self, id: StreamId, hello: &Hello) -> u64 {
        self.0.agents.came(id, hello)
    }

    /// Notes that a connection of an agent has ended.
    pub fn agent_went(&self, id: StreamId, connection: u64) {
        self.0.agents.went(id, connection);
    }

    /// The agents that have been here since the start, by host.
    pub fn agents(&self) -> Vec<AgentStatus> {
        self.0.agents.status()
    }
}

impl Files {
    fn append(&self, append: &Append<'_>) -> Result<u64, IngestError> {
        self.store.append(append, clock::utc_now_ns()).map_err(refused)
    }

    /// Appends those rows of a sender that are not here, together with how far it is then.
    /// `declared_rows` are newly declared as dropped with them.
    fn deliver(
        &self,
        id: StreamId,
        first_row: u64,
        append: &Append<'_>,
        (sender, declared_rows): (&Sender, u64),
    ) -> Result<Receipt, IngestError> {
        let nothing = Batch::default();
        let batch = append.batch.unwrap_or(&nothing);
        let has_rows = !batch.is_empty();
        let end_row = first_row.saturating_add(batch.len() as u64);
        let _one_at_a_time = lock(&self.delivering);
        let stream = self.store.stream(id);
        let known = stream.unwrap_or(0);
        if has_rows && end_row <= known {
            // Its other notes came with the rows, too.
            let store_row = self.store.backlog().rows;
            return Ok(Receipt { next_row: known, gap_rows: 0, store_row });
        }
        // What a sender delivered elsewhere before it came here is no gap.
        let gap_rows = first_row.saturating_sub(stream.unwrap_or(first_row));
        let gap_rows = if has_rows { gap_rows } else { 0 };
        let change = self.gaps.change(id, gap_rows, declared_rows, has_rows);
        let mut append = *append;
        let (lost, losses, names);
        if change.is_counted() {
            let GapNotes { lost: total, loss, names: more } =
                self.store.with_ledger(|ledger| change.notes(id, sender, ledger));
            lost = [append.lost, &[total]].concat();
            losses = [append.losses, loss.as_slice()].concat();
            let mut all = append.names.cloned().unwrap_or_default();
            all.merge(&more);
            names = all;
            append = Append { lost: &lost, losses: &losses, names: Some(&names), ..append };
        }
        if !has_rows {
            let store_row = self.append(&append)?;
            self.gaps.commit(id, change);
            return Ok(Receipt { next_row: known, gap_rows: 0, store_row });
        }
        let rest;
        if first_row < known {
            rest = without_first(batch, known - first_row);
            append.batch = Some(&rest);
        }
        let batch = append.batch.unwrap_or(&nothing);
        let fits = share::rows_that_fit(&self.store, batch, clock::utc_now_ns())?;
        if fits < batch.len() {
            if fits > 0 {
                self.deliver_first(id, end_row - batch.len() as u64, fits, &append)?;
                self.gaps.commit(id, change);
            }
            return Err(IngestError::Minutes);
        }
        append.stream = Some((id, end_row));
        let store_row = self.append(&append)?;
        self.gaps.commit(id, change);
        Ok(Receipt { next_row: end_row, gap_rows: change.new_rows, store_row })
    }

    /// Appends the first `count` rows: a message with rows of very many minutes comes in little by
    /// little. Losses come with its first rows, what else it says with its last ones.
    fn deliver_first(
        &self,
        id: StreamId,
        first_row: u64,
        count: usize,
        message: &Append<'_>,
    ) -> Result<(), IngestError> {
        let nothing = Batch::default();
        let batch = message.batch.unwrap_or(&nothing);
        let first = first_rows(batch, count);
        let append = Append {
            batch: Some(&first),
            names: message.names,
            lost: message.lost,
            losses: message.losses,
            stream: Some((id, first_row + count as u64)),
            ..Append::default()
        };
        self.append(&append).map(drop)
    }

    /// Returns when the rows below `row` of the store are durable.
    fn make_durable(&self, row: u64) -> Result<(), IngestError> {
        let deadline_ns = clock::monotonic_ns().saturating_add(crate::nanos(DURABLE_WITHIN));
        loop {
            let reason = {
                let _turn = lock(&self.syncing);
                // Another's sync, while we waited for the turn, may have been ours too.
                if self.store.durable_rows() >= row {
                    return Ok(());
                }
                match self.store.sync() {
                    Ok(durable) if durable >= row => return Ok(()),
                    Ok(durable) => format!("{durable} of {row} rows are durable"),
                    // Maintenance saves the rows as segments; then they are durable.
                    Err(error) => error.to_string(),
                }
            };
            if clock::monotonic_ns() > deadline_ns {
                return Err(IngestError::NotDurable { reason });
            }
            clock::sleep(LOOK_EVERY);
        }
    }
}

impl ClusterIngest {
    /// Takes rows, all or nothing.
    fn take(
        &self,
        source: RowSource,
        batch: &Batch,
        names: &Names,
        aliases: &[ChainAlias],
    ) -> Result<(), IngestError> {
        let renamed = renamed(batch, aliases);
        let batch = renamed.as_ref().unwrap_or(batch);
        if self.rows_that_fit(batch) < batch.len() {
            return Err(IngestError::Minutes);
        }
        match source {
            RowSource::Keyed(key) => {
                self.rows.insert(batch, names, key).map_err(refused_by_cluster)
            }
            RowSource::Stream { id, first_row, end_row } => {
                let rows = batch.len();
                if first_row.checked_add(rows as u64) != Some(end_row) {
                    return Err(IngestError::Numbers { rows, first_row, end_row });
                }
                let taken = self.rows.insert_stream(id.0, first_row, batch, names);
                taken.map(drop).map_err(refused_by_cluster)
            }
            // Whoever has no key gets one from us, so that at least we can try again.
            RowSource::Once => {
                let key = random_key();
                let within_ns = crate::nanos(DURABLE_WITHIN);
                let deadline_ns = clock::monotonic_ns().saturating_add(within_ns);
                loop {
                    match self.rows.insert(batch, names, key) {
                        Err(error) if error.is_passing() => {
                            if clock::monotonic_ns() > deadline_ns {
                                return Err(IngestError::NotDurable { reason: error.to_string() });
                            }
                            clock::sleep(LOOK_AGAIN);
                        }
                        done => return done.map_err(refused_by_cluster),
                    }
                }
            }
        }
    }

    /// Takes what an agent sends, once; and how many of its rows have another name now. A gap is
    /// counted unless its message declares rows as dropped: there is no ledger of what was declared.
    fn deliver(
        &self,
        id: StreamId,
        first_row: u64,
        message: &wire::Message,
    ) -> Result<(Receipt, u64), IngestError> {
        let known = |look: &mut dyn FnMut(&Names)| self.rows.with_names(look);
        let Admitted { renamed: others, new } = self.vocabulary.admit(&known, id, message);
        let (batch, names) = match &others {
            Some(others) => (&others.batch, &others.names),
            None => (&message.batch, &message.names),
        };
        let continued = renamed(batch, &message.extras.aliases);
        let batch = continued.as_ref().unwrap_or(batch);
        let wanted = self.rows.wanted_row(id.0).map_err(refused_by_cluster)?;
        let is_declared = batch.is_empty() || !message.extras.lost.is_empty();
        let gap_rows = match wanted {
            Some(wanted) if !is_declared => first_row.saturating_sub(wanted),
            _ => 0,
        };
        // Rows that are there have had their minutes.
        let known_rows = wanted.unwrap_or(0).saturating_sub(first_row).min(batch.len() as u64);
        let rest = (known_rows > 0).then(|| without_first(batch, known_rows));
        let batch = rest.as_ref().unwrap_or(batch);
        let first_row = first_row + known_rows;
        let fits = self.rows_that_fit(batch);
        if fits < batch.len() {
            if fits > 0 {
                let first = first_rows(batch, fits);
                self.rows
                    .insert_stream(id.0, first_row, &first, names)
                    .map_err(refused_by_cluster)?;
                self.vocabulary.count(id, new);
            }
            return Err(IngestError::Minutes);
        }
        let next_row = self.rows.insert_stream(id.0, first_row, batch, names);
        let next_row = next_row.map_err(refused_by_cluster)?;
        self.vocabulary.count(id, new);
        let other_rows = others.as_ref().map_or(0, |others| others.rows);
        Ok((Receipt { next_row, gap_rows, store_row: 0 }, other_rows))
    }

    fn rows_that_fit(&self, batch: &Batch) -> usize {
        self.minutes.rows_that_fit(batch, clock::utc_now_ns(), clock::monotonic_ns())
    }
}

fn refused_by_cluster(error: RemoteError) -> IngestError {
    if error.is_passing() {
        IngestError::ClusterBusy(error)
    } else {
        IngestError::ClusterRefused(error)
    }
}

/// How far out of order the spans of one source may come: an SDK exports them in the order in which
/// they ended, except that one thread may be overtaken by another between end and queue.
const ORDERED_WITHIN_NS: i64 = 2_000_000_000;

/// How far the sources of foreign rows have delivered with these: to the latest end of each. Native
/// rows come with a note of whoever read their ring.
fn exported_with(batch: &Batch) -> Vec<(ProcessId, i64)> {
    let mut delivered: BTreeMap<ProcessId, i64> = BTreeMap::new();
    let foreign = batch.records().iter().filter(|record| record.flags().contains(Flags::FOREIGN));
    for record in foreign.filter(|record| !record.process.is_none()) {
        let until_ns = delivered.entry(record.process).or_insert(i64::MIN);
        *until_ns = record.end_ns().max(*until_ns);
    }
    let ordered =
        |(id, until_ns): (ProcessId, i64)| (id, until_ns.saturating_sub(ORDERED_WITHIN_NS));
    delivered.into_iter().map(ordered).collect()
}

/// A key that nobody else has: the standard library seeds its hashers at random.
fn random_key() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = || u128::from(RandomState::new().hash_one(clock::monotonic_ns()));
    half() << 64 | half()
}

/// The rows under the chains that they continue; `None` where no alias speaks of them.
fn renamed(batch: &Batch, aliases: &[ChainAlias]) -> Option<Batch> {
    if aliases.is_empty() {
        return None;
    }
    let continues: HashMap<ChainId, ChainId> =
        aliases.iter().map(|alias| (alias.chain, alias.continues)).collect();
    let mut renamed = Batch::default();
    for record in batch.records() {
        // From one to the next, and never in circles.
        let next = |chain: &ChainId| continues.get(chain).copied();
        let last = std::iter::successors(Some(record.chain()), next).take(aliases.len() + 1).last();
        let chain = last.unwrap_or(record.chain());
        let record = Record { chain_high: chain.high(), chain_low: chain.low(), ..*record };
        renamed.push(record, batch.context(&record));
    }
    Some(renamed)
}

/// The first `count` rows of a batch.
fn first_rows(batch: &Batch, count: usize) -> Batch {
    let mut first = Batch::default();
    for record in &batch.records()[..count] {
        first.push(*record, batch.context(record));
    }
    first
}

/// The rows of a batch without the first `count` of them.
fn without_first(batch: &Batch, count: u64) -> Batch {
    let mut rest = Batch::default();
    let skipped = usize::try_from(count).unwrap_or(usize::MAX);
    for record in batch.records().iter().skip(skipped) {
        rest.push(*record, batch.context(record));
    }
    rest
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused(error: StoreError) -> IngestError {
    if error.is_passing() { IngestError::Busy(error) } else { IngestError::Refused(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{ClassId, ClassName, TransactionId};
    use chronoscope_store::Options;

    const AGENT: StreamId = StreamId(9);

    fn rows(ids: std::ops::Range<u64>) -> wire::Message {
        let mut message = wire::Message::default();
        for id in ids {
            let record = Record { id: TransactionId(id), ..Record::default() };
            message.batch.push(record, b"");
        }
        message
    }

    fn door(dir: &std::path::Path) -> (Arc<Store>, Ingest) {
        let store = Arc::new(Store::open(dir, Options::default(), 0).unwrap());
        (store.clone(), Ingest::into_files(store))
    }

    #[test]
    fn what_comes_twice_is_taken_once_also_in_other_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let (store, ingest) = door(dir.path());
        let next = |first_row, ids| ingest.deliver(AGENT, first_row, &rows(ids)).unwrap().next_row;
        assert_eq!(next(0, 0..10), 10);
        assert_eq!(next(0, 0..10), 10);
        assert_eq!(next(5, 5..12), 12, "two of seven are new");
        assert_eq!(store.backlog().rows, 12);
        assert_eq!(next(20, 20..25), 25, "what the sender dropped does not come");
        assert_eq!(next(14, 14..18), 25, "and is not taken after what came behind it");
        assert_eq!(store.backlog().rows, 17);
        assert_eq!(ingest.next_row(AGENT).unwrap(), Some(25));
        assert_eq!(store.durable_rows(), 17, "who is told so may forget them");
        assert_eq!(ingest.next_row(StreamId(8)).unwrap(), None);
    }

    #[test]
    fn rows_go_where_their_chain_continues() {
        let alias =
            |chain, continues| ChainAlias { chain: ChainId(chain), continues: ChainId(continues) };
        let mut batch = Batch::default();
        for chain in [1, 2, 3] {
            batch.push(Record { chain_low: chain, ..Record::default() }, b"");
        }
        let renamed = renamed(&batch, &[alias(1, 2), alias(2, 9)]).unwrap();
        let chains: Vec<_> = renamed.records().iter().map(|record| record.chain().0).collect();
        assert_eq!(chains, [9, 9, 3]);
        assert!(super::renamed(&batch, &[alias(1, 2), alias(2, 1)]).is_some(), "a circle ends");
        assert_eq!(super::renamed(&batch, &[]), None);
    }

    #[test]
    fn how_far_a_sender_is_survives_with_its_rows() {
        let dir = tempfile::tempdir().unwrap();
        let (store, ingest) = door(dir.path());
        let receipt = ingest.deliver(AGENT, 0, &rows(0..10)).unwrap();
        ingest.settle(receipt).unwrap();
        drop((store, ingest));
        let (store, ingest) = door(dir.path());
        assert_eq!(ingest.deliver(AGENT, 0, &rows(0..10)).unwrap().next_row, 10);
        assert_eq!(store.backlog().rows, 10);
    }

    /// Rows of so many minutes, from a minute of 2023 on.
    fn of_minutes(count: i64) -> wire::Message {
        let mut message = wire::Message::default();
        for minute in 0..count {
            let root_start_ns = 1_700_000_000_000_000_000 + minute * chronoscope_store::MINUTE_NS;
            let id = TransactionId(u64::try_from(minute).unwrap() + 1);
            message.batch.push(Record { id, root_start_ns, ..Record::default() }, b"");
        }
        message
    }

    /// One request opened 1,440 minutes: sealing them stopped the collector.
    #[test]
    fn the_network_opens_a_bounded_number_of_minutes_and_rings_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let (store, ingest) = door(dir.path());
        let take = |batch: &Batch| ingest.take(RowSource::Once, batch, &Names::default(), &[]);
        let refused = take(&of_minutes(1440).batch).unwrap_err();
        assert!(matches!(refused, IngestError::Minutes) && refused.is_passing(), "{refused}");
        assert_eq!(store.backlog().rows, 0, "all or nothing");
        take(&of_minutes(OPEN_SLOTS_MAX as i64).batch).unwrap();
        assert!(matches!(take(&of_minutes(257).batch), Err(IngestError::Minutes)));
        take(&of_minutes(100).batch).unwrap(); // of minutes that are open
        let mut now = Batch::default();
        let root_start_ns = clock::utc_now_ns();
        now.push(Record { root_start_ns, ..Record::default() }, b"");
        take(&now).unwrap();
        // Rings do not come by this door.
        let input = Append { batch: Some(&of_minutes(1440).batch), ..Append::default() };
        store.append(&input, clock::utc_now_ns()).unwrap();
    }

    #[test]
    fn a_message_of_very_many_minutes_comes_in_little_by_little() {
        let dir = tempfile::tempdir().unwrap();
        let (store, ingest) = door(dir.path());
        let message = of_minutes(600);
        let mut tries = 0;
        while ingest.deliver(AGENT, 0, &message).is_err() {
            tries += 1;
            let (open, _) = store.opened_by(&std::collections::BTreeSet::new());
            assert_eq!(open, OPEN_SLOTS_MAX);
            store.seal_all(clock::utc_now_ns()).unwrap();
        }
        assert_eq!((tries, store.backlog().rows), (2, 600), "each row once");
        assert_eq!(ingest.next_row(AGENT).unwrap(), Some(600));
    }

    /// Rings may still fill the half of the memory that the network leaves them.
    #[test]
    fn the_network_leaves_memory_to_rings() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options { buffer_bytes: 100_000, ..Options::default() };
        let store = Arc::new(Store::open(dir.path(), options, 0).unwrap());
        let ingest = Ingest::into_files(store.clone());
        let batch = rows(0..500).batch;
        let take = || ingest.take(RowSource::Once, &batch, &Names::default(), &[]);
        let refused = std::iter::repeat_with(take).take(100).find_map(Result::err).unwrap();
        assert!(matches!(refused, IngestError::Busy(StoreError::Backlog { .. })), "{refused}");
        let input = Append { batch: Some(&batch), ..Append::default() };
        store.append(&input, 0).unwrap();
    }

    /// A cluster that takes everything, and was empty when this process came.
    #[derive(Debug, Default)]
    struct EmptyCluster {
        names: Mutex<Names>,
        next_row: Mutex<Option<u64>>,
    }

    impl RemoteStore for EmptyCluster {
        fn with_names(&self, look: &mut dyn FnMut(&Names)) {
            look(&self.names.lock().unwrap());
        }

        fn wanted_row(&self, _: u128) -> Result<Option<u64>, RemoteError> {
            Ok(*self.next_row.lock().unwrap())
        }

        fn next_row(&self, _: u128) -> Result<Option<u64>, RemoteError> {
            Ok(*self.next_row.lock().unwrap())
        }

        fn insert(&self, _: &Batch, names: &Names, _: u128) -> Result<(), RemoteError> {
            self.names.lock().unwrap().merge(names);
            Ok(())
        }

        fn insert_stream(
            &self,
            _: u128,
            first_row: u64,
            batch: &Batch,
            names: &Names,
        ) -> Result<u64, RemoteError> {
            self.names.lock().unwrap().merge(names);
            let next_row = first_row + batch.len() as u64;
            *self.next_row.lock().unwrap() = Some(next_row);
            Ok(next_row)
        }
    }

    fn cluster() -> Ingest {
        Ingest::into_cluster(EmptyCluster::default())
    }

    /// The bounds were a local store's only.
    #[test]
    fn a_cluster_is_brought_a_bounded_number_of_minutes_and_names() {
        let ingest = cluster();
        let take = |batch: &Batch| ingest.take(RowSource::Once, batch, &Names::default(), &[]);
        assert!(matches!(take(&of_minutes(1440).batch), Err(IngestError::Minutes)));
        take(&of_minutes(OPEN_SLOTS_MAX as i64).batch).unwrap();
        assert!(matches!(take(&of_minutes(257).batch), Err(IngestError::Minutes)));

        let ingest = cluster();
        let hello = Hello::new(AGENT, "host".into());
        ingest.agent_came(AGENT, &hello);
        let refused = ingest.deliver(AGENT, 0, &of_minutes(600)).unwrap_err();
        assert!(matches!(refused, IngestError::Minutes), "{refused}");
        assert_eq!(ingest.deliver(AGENT, 0, &of_minutes(256)).unwrap().next_row, 256, "are there");

        let mut message = wire::Message::default();
        let now_ns = clock::utc_now_ns();
        for number in 0..20_000 {
            let name = ClassName { application: "A".into(), class: number.to_string() };
            let class = ClassId::of(&name.application, &name.class);
            message.names.add_class(name);
            let record = Record { class, root_start_ns: now_ns, ..Record::default() };
            message.batch.push(record, b"");
        }
        assert_eq!(ingest.deliver(AGENT, 256, &message).unwrap().next_row, 20_256);
        let other_rows = ingest.agents()[0].other_rows;
        assert_eq!(other_rows, 20_000 - 16_384, "of the class (other)");
    }

    #[test]
    fn rows_under_numbers_of_others_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (store, ingest) = door(dir.path());
        let batch = rows(0..3).batch;
        let take = |source| ingest.take(source, &batch, &Names::default(), &[]);
        assert!(take(RowSource::Once).is_ok());
        assert!(take(RowSource::Keyed(3)).is_ok());
        assert!(take(RowSource::Keyed(3)).is_ok());
        assert_eq!(store.durable_rows(), 6, "the third time they came with the same key");
        let wrong = take(RowSource::Stream { id: AGENT, first_row: 5, end_row: 9 }).unwrap_err();
        assert_eq!(wrong.to_string(), "3 rows under the numbers from 5 to 9");
        assert!(take(RowSource::Stream { id: AGENT, first_row: 5, end_row: 8 }).is_ok());
    }
}
