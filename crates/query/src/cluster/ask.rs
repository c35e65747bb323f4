//! Questions to a cluster: which rows are needed is decided there, what they say here.

use super::class_counts::classes;
use super::fetch::{each_excerpt, excerpts_of, fetch_chain};
use super::fetched::FetchedMinutes;
use super::missing::Missing;
use super::names::ClusterNames;
use super::needed::NeededMinutes;
use super::sql::{IN_ORDER, between, quoted};
use crate::answer::Answer;
use crate::classes::ClassStatistics;
use crate::error::QueryError;
use crate::minutes::REACH;
use crate::progress::Progress;
use crate::question::{Clocks, DurationKind, Limits, Question, VerdictSubject};
use crate::row_batches::{BatchContent, BatchedQuestion};
use crate::run::ask_watched;
use crate::series::Point;
use arrow_array::types::{UInt8Type, UInt16Type};
use chronoscope_chain::ROW_BYTES;
use chronoscope_clickhouse::{
    ClickHouseError, Cluster, Node, ResultRows, root_class_text, shard_of,
};
use chronoscope_model::schema::column;
use chronoscope_model::{
    Batch, ChainId, ClassId, ClassName, Excerpt, Flags, NO_PROCESS_CPU, Names, PathId, ProcessId,
    ProcessName, Record, Transaction, TransactionId,
};
use chronoscope_store::{Damage, Minute, Snapshot};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a batch, unless memory is short: large enough that a batch costs nothing beside them.
const BATCH_ROWS: u64 = 256 * 1024;
/// Value of ClickHouse's `xxHash64` for an unknown path or host.
const NO_WORD: u64 = 0xef46_db37_51d8_e999;
/// Number of attempts for a question during which a new path is named.
const TRIES: usize = 5;

/// A cluster that is asked. Clones share the minutes that were fetched from it.
#[derive(Clone, Debug)]
pub struct ClusterView {
    cluster: Cluster,
    pub(super) fetched: Arc<FetchedMinutes>,
}

/// The words of a cluster, by the hashes that it sends instead of them.
#[derive(Default)]
pub(super) struct Words {
    pub(super) names: Names,
    classes: HashMap<(u64, u64), ClassId>,
    /// Where clocks were read, of each host a process that stands for all on it.
    hosts: HashMap<u64, ProcessId>,
}

/// Why asking a shard ended early.
enum Ended {
    /// A row's path, class or host was named after the words were read.
    NewWord,
    Failed(QueryError),
}

impl From<ClickHouseError> for Ended {
    fn from(error: ClickHouseError) -> Self {
        Self::Failed(error.into())
    }
}

impl ClusterView {
    /// Asks this cluster.
    pub fn new(cluster: Cluster) -> Self {
        Self { cluster, fetched: Arc::default() }
    }

    /// The cluster.
    pub const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Answers a question, as [`crate::ask`] does.
    ///
    /// # Errors
    /// [`QueryError::ClickHouse`], also when one of the shards does not answer.
    pub fn ask(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Answer, QueryError> {
        if question.judged == VerdictSubject::Durations {
            match self.ask_leaves(question, limits, progress) {
                Ok(Some(answer)) => return Ok(answer),
                // Without a shard it is answered below.
                Err(QueryError::ClickHouse(error)) if self.cluster.goes_on_after(&error) => {}
                Err(error) => return Err(error),
                Ok(None) => {}
            }
        }
        // The rows of a chain with another name may be on another shard.
        if !is_of_hops(question) || !self.cluster.aliases()?.is_empty() {
            let needed: Vec<_> = NeededMinutes::of_question(question, limits).into_iter().collect();
            let rows = self.rows(&needed, progress)?;
            return Ok(ask_watched(&rows, question, limits, progress)?);
        }
        let mut tries = 1;
        loop {
            match self.try_ask(question, limits, progress) {
                Err(Ended::NewWord) if tries < TRIES => tries += 1,
                Err(Ended::NewWord) => {
                    let node = &self.cluster.nodes()[0];
                    let nowhere = "path or host (it is not in the tables paths and processes)";
                    return Err(node.unexpected_column(nowhere).into());
                }
                Err(Ended::Failed(error)) => return Err(error),
                Ok(answer) => return Ok(answer),
            }
        }
    }

    /// The answer to a question about leaves, from what is kept of them here, else from durations
    /// that the shards compute, else from their columns; `None` where linked chains do not suffice.
    fn ask_leaves(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Option<Answer>, QueryError> {
        let Some(plan) = self.leaf_plan(question, limits, progress)? else { return Ok(None) };
        if !self.keeps(&plan)
            && let Some(answer) = self.ask_shards(&plan, question, limits, progress)?
        {
            return Ok(Some(answer));
        }
        let Some(rows) = self.planned_rows(plan, false, progress)? else { return Ok(None) };
        Ok(Some(ask_watched(&rows, question, limits, progress)?))
    }

    fn try_ask(
        &self,
        question: &Question,
        limits: &Limits,
        progress: &Progress,
    ) -> Result<Answer, Ended> {
        let mut missing = Missing::default();
        let mut words = self.words(&mut missing)?;
        let mut notes = self.notes(&mut missing)?;
        if question.limit_ns.is_some() {
            notes.ledger.names.merge(&words.names);
            let cluster = &self.cluster;
            let processes = ClusterNames::read_reachable_processes(cluster, &mut missing)?;
            notes.ledger.names.merge(&processes);
        }
        let clocks = notes.ledger.clocks.clone();
        if !clocks.is_empty() {
            for hosts in self.cluster.ask_all(&mut missing.0, |_, node| hosts(node))? {
                hosts.into_iter().for_each(|(hash, host)| words.add_host(hash, host));
            }
        }
        let shards = self.cluster.shard_count();
        let each = Limits {
            threads: (limits.threads / shards).max(1),
            memory_bytes: limits.memory_bytes / shards as u64,
            ..*limits
        };
        let known = (&words.names, &clocks);
        let batched = BatchedQuestion::new(question, known, each, progress);
        let tops: Vec<String> = batched.tops().into_iter().map(|id| words.top(id)).collect();
        // An error of ours cannot leave the shards' threads as it is.
        let ended = std::sync::Mutex::new(None);
        let asked = self.cluster.ask_all(&mut missing.0, |_, node| {
            let shard = Shard { node, words: &words, batched: &batched, limits: &each };
            let asked = match question.kind {
                DurationKind::Sync => shard.ask_each(question),
                DurationKind::Acpd | DurationKind::Apcd => {
                    shard.ask_native(&tops).and_then(|()| shard.ask_foreign())
                }
            };
            let asked = match asked {
                Err(Ended::Failed(QueryError::ClickHouse(away)))
                    if self.cluster.left_out(node, &away).is_some() =>
                {
                    return Err(away);
                }
                asked => asked,
            };
            if let Err(error) = asked {
                let mut ended = ended.lock().unwrap_or_else(|e| e.into_inner());
                // A failure says more than a word that came late.
                if !matches!(&*ended, Some(Ended::Failed(_))) {
                    *ended = Some(error);
                }
            }
            Ok(())
        });
        asked?;
        match ended.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(ended) => Err(ended),
            None => {
                let first = *batched.minutes().0.start();
                let whole = self.whole(&notes, first, None, missing)?;
                let told = Snapshot::of_segments(Vec::new(), notes.ledger, whole);
                Ok(batched.into_answer(&told))
            }
        }
    }

    pub(super) fn words(&self, missing: &mut Missing) -> Result<Words, ClickHouseError> {
        let mut words = Words::default();
        let by_shard = self.cluster.ask_all(&mut missing.0, |_, node| {
            let mut words = Words::default();
            words.read(node)?;
            Ok(words)
        })?;
        for theirs in by_shard {
            words.names.merge(&theirs.names);
            words.classes.extend(theirs.classes);
        }
        Ok(words)
    }

    /// The transactions of a chain, by start, as [`crate::chain`] finds them.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn chain(
        &self,
        id: ChainId,
        near_ns: Option<Range<i64>>,
    ) -> Result<(Vec<Transaction>, Vec<Damage>), ClickHouseError> {
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let minutes = near_ns.map(|near| {
            let range = near.start.saturating_sub(reach)..near.end.saturating_add(reach);
            Minute::of(range.start).0..=Minute::of(range.end.saturating_sub(1)).0
        });
        let mut rows = Vec::new();
        let mut missing = Missing::default();
        for stored in self.cluster.aliases()?.continued_by(id) {
            let node = &self.cluster.nodes()[shard_of(stored, self.cluster.shard_count())];
            match fetch_chain(node, stored, minutes.clone()) {
                Ok(found) => {
                    rows.extend(found.into_iter().map(|row| Transaction { chain: id, ..row }));
                }
                Err(error) => match self.cluster.left_out(node, &error) {
                    Some(shard) => missing.0.push(shard),
                    None => return Err(error),
                },
            }
        }
        rows.sort_by_key(|row| (row.start_ns, row.level, row.id));
        Ok((rows, missing.into_damage()))
    }

    /// Statistics by class, as [`crate::classes`] has them; and the shards that are missing.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn classes(
        &self,
        start_ns: &Range<i64>,
    ) -> Result<(BTreeMap<ClassName, ClassStatistics>, Vec<Damage>), ClickHouseError> {
        let mut missing = Missing::default();
        let classes = classes(&self.cluster, &mut missing.0, start_ns)?;
        Ok((classes, missing.into_damage()))
    }

    /// Gives the rows of a class that started in a range to `each`, as [`crate::excerpts`]
    /// does; those of several shards between each other. The result is of the shards that are
    /// missing.
    ///
    /// # Errors
    /// [`ClickHouseError`], perhaps after some rows were given out.
    pub fn excerpts(
        &self,
        class: &ClassName,
        start_ns: &Range<i64>,
        each: &mut (dyn FnMut(&Excerpt<'_>) + Send),
    ) -> Result<Vec<Damage>, ClickHouseError> {
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let first = Minute::of(start_ns.start.saturating_sub(reach)).0;
        let minutes = first..=Minute::of(start_ns.end.saturating_sub(1)).0;
        let sql = excerpts_of(
            &format!(
                "application = {} AND class = {}",
                quoted(&class.application),
                quoted(&class.class)
            ),
            &between("minute", &minutes),
            start_ns,
        );
        let each = std::sync::Mutex::new(each);
        let mut missing = Missing::default();
        self.cluster.ask_all(&mut missing.0, |_, node| {
            node.query(&sql, |batch| {
                let mut each = each.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                each_excerpt(&ResultRows { node, batch }, &mut **each)
            })
        })?;
        Ok(missing.into_damage())
    }

    /// The chain of a duration, as [`crate::locate`] finds it.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn locate(&self, point: &Point) -> Result<Option<ChainId>, ClickHouseError> {
        let reach = i64::try_from(REACH.as_nanos()).unwrap_or(i64::MAX);
        let Point { start_ns: at, duration_ns } = *point;
        let own = Minute::of(at).0;
        let first = Minute::of(at.saturating_sub(reach)).0;
        let (start, root) = ("toUnixTimestamp64Nano(start)", "toUnixTimestamp64Nano(root_start)");
        // The root's own minute first: only an inner root lies in another one. There a row that
        // ends with the duration is preferred.
        let sql = format!(
            "SELECT minute = {own} AS is_own, \
             toInt128({start}) + elapsed_ns - {at} = {duration_ns} AS ends, minute, \
             chain_high, chain_low FROM transactions \
             WHERE minute BETWEEN {first} AND {} AND ({start} = {at} OR {root} = {at}) \
             ORDER BY is_own DESC, ends DESC, minute DESC, bitAnd(flags, {FOREIGN}), \
             chain_high, chain_low LIMIT 1",
            own.saturating_add(1)
        );
        // A chain of a missing shard is not found; the answer that named it says that it is missing.
        let found = self.cluster.ask_all(&mut Vec::new(), |_, node| {
            let mut found = None;
            node.query(&sql, |batch| {
                let rows = ResultRows { node, batch };
                let minutes = rows.times("minute")?;
                let (own, ends) =
                    (rows.numbers::<UInt8Type>("is_own")?, rows.numbers::<UInt8Type>("ends")?);
                let (high, low) = (rows.ids(column::CHAIN_HIGH)?, rows.ids(column::CHAIN_LOW)?);
                if let Some(minute) = minutes.first() {
                    let chain = ChainId::from_halves(high[0], low[0]);
                    found = Some(((own[0], ends[0], *minute), chain));
                }
                Ok(())
            })?;
            Ok(found)
        })?;
        let best = found.into_iter().flatten().max_by_key(|(fit, _)| *fit);
        let Some((_, chain)) = best else { return Ok(None) };
        Ok(Some(self.cluster.aliases()?.resolve(chain)))
    }

    /// The classes that are known, ascending.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn class_names(&self) -> Result<Vec<ClassName>, ClickHouseError> {
        // Every shard has the names of all: those that do not answer are not missed.
        let words = self.words(&mut Missing::default())?;
        let mut names: Vec<_> = words.names.classes().map(|(_, name)| name.clone()).collect();
        names.sort();
        Ok(names)
    }
}

/// Whether the columns that chains are put together from answer a question: without clocks, hosts,
/// attributes or what arrived.
fn is_of_hops(question: &Question) -> bool {
    question.hosts.is_empty()
        && question.attributes.is_empty()
        && question.judged == VerdictSubject::Durations
        && question.clocks == Clocks::Raw
}

impl Words {
    fn read(&mut self, node: &Node) -> Result<(), ClickHouseError> {
        let hashed = "xxHash64(application) AS application_hash, xxHash64(class) AS class_hash";
        let sql = format!("SELECT id, application, class, {hashed} FROM classes");
        node.query(&sql, |batch| {
            let rows = ResultRows { node, batch };
            let (ids, hashes) = (rows.ids("id")?, rows.ids("application_hash")?);
            let class_hashes = rows.ids("class_hash")?;
            let (applications, classes) = (rows.texts("application")?, rows.texts("class")?);
            for row in 0..batch.num_rows() {
                let id = ClassId(ids[row]);
                let (application, class) = (applications.value(row), classes.value(row));
                self.classes.insert((hashes[row], class_hashes[row]), id);
                // A class that nobody named has its number for a name.
                if ClassId::of(application, class) == id {
                    let (application, class) = (application.to_owned(), class.to_owned());
                    self.names.add_class(ClassName { application, class });
                }
            }
            Ok(())
        })?;
        node.query("SELECT DISTINCT xxHash64(path) AS hash, classes FROM paths", |batch| {
            let rows = ResultRows { node, batch };
            for (hash, classes) in rows.ids("hash")?.iter().zip(rows.lists("classes")?) {
                // By the hash of its text: rows have no other number for it.
                self.names.add_path(PathId(*hash), classes);
            }
            Ok(())
        })
    }

    fn add_host(&mut self, hash: u64, host: String) {
        let (application, pid, start_ns) = (String::new(), 0, 0);
        let process = ProcessName { application, host, pid, start_ns };
        self.hosts.insert(hash, process.id());
        self.names.add_process(process);
    }

    /// The process that stands for the host of a row.
    fn host(&self, hash: u64) -> Option<ProcessId> {
        match hash {
            NO_WORD => Some(ProcessId::NONE),
            hash => self.hosts.get(&hash).copied(),
        }
    }

    /// A root class as the column `top` has it.
    fn top(&self, id: ClassId) -> String {
        match self.names.class(id) {
            Some(name) => root_class_text(&name.application, &name.class),
            None if id.is_none() => String::new(),
            None => format!("?{id}"),
        }
    }

    /// The path of a row.
    fn path(&self, hash: u64) -> Option<PathId> {
        match hash {
            NO_WORD => Some(PathId::NONE),
            hash => self.names.path(PathId(hash)).map(|_| PathId(hash)),
        }
    }
}

/// The hosts of all processes, with the hashes of their names.
fn hosts(node: &Node) -> Result<Vec<(u64, String)>, ClickHouseError> {
    let mut hosts = Vec::new();
    node.query("SELECT DISTINCT host, xxHash64(host) AS hash FROM processes", |batch| {
        let rows = ResultRows { node, batch };
        let texts = rows.texts("host")?;
        let numbered = rows.ids("hash")?.iter().enumerate();
        hosts.extend(numbered.map(|(row, hash)| (*hash, texts.value(row).to_owned())));
        Ok(())
    })?;
    Ok(hosts)
}

/// A question on its way through one shard.
struct Shard<'a> {
    node: &'a Node,
    words: &'a Words,
    batched: &'a BatchedQuestion<'a>,
    limits: &'a Limits,
}

/// The columns that chains are put together from.
const HOPS: &str = "chain_high, chain_low, id, parent, \
    toUnixTimestamp64Nano(start) AS start_ns, elapsed_ns";
/// Columns that only native rows have.
const TOLD: &str =
    "level, toUnixTimestamp64Nano(root_start) AS root_start_ns, xxHash64(path) AS path_hash";
/// The hosts, where clocks were read.
const ON_HOSTS: &str =
    ", xxHash64(host) AS host_hash, xxHash64(ifNull(root_host, '')) AS root_host_hash";
/// The class of rows whose path does not tell it.
const CLASS: &str =
    "flags, xxHash64(application) AS application_hash, xxHash64(class) AS class_hash";
const FOREIGN: u8 = Flags::FOREIGN.0;

impl Shard<'_> {
    /// The columns of hosts, as far as they are needed.
    const fn on_hosts(&self) -> &'static str {
        if self.batched.wants_hosts() { ON_HOSTS } else { "" }
    }

    /// The condition of foreign rows that may matter. With the class of their root, which is empty,
    /// little is read of a table that has none.
    fn is_foreign(&self) -> String {
        let minutes = between("minute", &self.batched.minutes().1);
        format!("(top = '' AND bitAnd(flags, {FOREIGN}) != 0 AND {minutes})")
    }

    /// Native chains of the roots that matter, in the order that they are stored in; those without
    /// foreign rows.
    fn ask_native(&self, tops: &[String]) -> Result<(), Ended> {
        let minutes = between("minute", &self.batched.minutes().0);
        let tops = tops.iter().map(|top| quoted(top)).chain(["''".to_owned()]);
        let tops = tops.collect::<Vec<_>>().join(", ");
        let (is_foreign, on_hosts) = (self.is_foreign(), self.on_hosts());
        self.stream(
            BatchContent::Chains,
            &format!(
                "SELECT {HOPS}, {TOLD}{on_hosts} FROM transactions \
                 WHERE {minutes} AND top IN ({tops}) AND bitAnd(flags, {FOREIGN}) = 0 \
                 AND (chain_high, chain_low) NOT IN \
                 (SELECT chain_high, chain_low FROM transactions WHERE {is_foreign}) \
                 {IN_ORDER}"
            ),
        )
    }

    /// Foreign and mixed chains, sorted there (on disk where memory is short).
    fn ask_foreign(&self) -> Result<(), Ended> {
        let minutes = between("minute", &self.batched.minutes().0);
        let (is_foreign, on_hosts) = (self.is_foreign(), self.on_hosts());
        self.stream(
            BatchContent::Chains,
            &format!(
                "SELECT {HOPS}, {TOLD}, {CLASS}{on_hosts} FROM transactions WHERE {is_foreign} \
                 OR (bitAnd(flags, {FOREIGN}) = 0 AND {minutes} AND (chain_high, chain_low) IN \
                 (SELECT chain_high, chain_low FROM transactions WHERE {is_foreign})) \
                 ORDER BY chain_high, chain_low \
                 SETTINGS max_bytes_before_external_sort = 1000000000"
            ),
        )
    }

    /// Rows of the classes that are asked for, each for itself.
    fn ask_each(&self, question: &Question) -> Result<(), Ended> {
        let (native, foreign) = self.batched.minutes();
        let minutes = *native.start().min(foreign.start())..=*native.end().max(foreign.end());
        let selected = self.words.names.classes().filter(|(_, name)| question.root.selects(name));
        let selected = selected
            .map(|(_, name)| format!("({}, {})", quoted(&name.application), quoted(&name.class)));
        let selected: Vec<_> = selected.collect();
        if selected.is_empty() {
            return Ok(());
        }
        let Range { start, end } = question.start_ns;
        self.stream(
            BatchContent::Each,
            &format!(
                "SELECT {HOPS}, {TOLD}, {CLASS} FROM transactions \
                 WHERE {} AND (application, class) IN ({}) \
                 AND toUnixTimestamp64Nano(start) >= {start} \
                 AND toUnixTimestamp64Nano(start) < {end}",
                between("minute", &minutes),
                selected.join(", ")
            ),
        )
    }

    /// Asks the rows of a query in batches, cut where a chain ends.
    fn stream(&self, content: BatchContent, sql: &str) -> Result<(), Ended> {
        let row_bytes = (size_of::<Record>() + ROW_BYTES) as u64;
        let rows_max = (self.limits.memory_bytes / row_bytes).clamp(1, BATCH_ROWS);
        let mut waiting = Batch::default();
        let mut last = ChainId::NONE;
        let mut ended = None;
        let read = self.node.query(sql, |batch| {
            let rows = Rows::of(ResultRows { node: self.node, batch })?;
            for row in 0..batch.num_rows() {
                let Some(record) = rows.record(row, self.words) else {
                    ended = Some(Ended::NewWord);
                    return Err(self.node.unexpected_column("path"));
                };
                let chain = record.chain();
                let is_full = waiting.len() as u64 >= rows_max;
                if is_full && (chain != last || content == BatchContent::Each) {
                    let full = std::mem::take(&mut waiting);
                    if let Err(error) = self.batched.add(content, full) {
                        ended = Some(Ended::Failed(error.into()));
                        return Err(self.node.unexpected_column("none"));
                    }
                }
                last = chain;
                waiting.push(record, b"");
            }
            Ok(())
        });
        match ended {
            Some(ended) => return Err(ended),
            None => read?,
        }
        self.batched.add(content, waiting).map_err(|error| Ended::Failed(error.into()))
    }
}

/// Some rows of an answer, by column; what was not asked for is `None`.
struct Rows<'a> {
    chain_high: &'a [u64],
    chain_low: &'a [u64],
    id: &'a [u64],
    parent: &'a [u64],
    start: &'a [i64],
    elapsed: &'a [i64],
    level: &'a [u16],
    root_start: &'a [i64],
    path: &'a [u64],
    class: Option<(&'a [u8], &'a [u64], &'a [u64])>,
    /// Hashes of their hosts and of their roots'.
    hosts: Option<(&'a [u64], &'a [u64])>,
}

impl<'a> Rows<'a> {
    fn of(rows: ResultRows<'a>) -> Result<Self, ClickHouseError> {
        let class = match rows.batch.column_by_name(column::FLAGS) {
            None => None,
            Some(_) => Some((
                rows.numbers::<UInt8Type>(column::FLAGS)?,
                rows.ids("application_hash")?,
                rows.ids("class_hash")?,
            )),
        };
        let hosts = match rows.batch.column_by_name("host_hash") {
            None => None,
            Some(_) => Some((rows.ids("host_hash")?, rows.ids("root_host_hash")?)),
        };
        Ok(Self {
            hosts,
            chain_high: rows.ids(column::CHAIN_HIGH)?,
            chain_low: rows.ids(column::CHAIN_LOW)?,
            id: rows.ids(column::ID)?,
            parent: rows.ids(column::PARENT)?,
            start: rows.times("start_ns")?,
            elapsed: rows.times(column::ELAPSED_NS)?,
            level: rows.numbers::<UInt16Type>(column::LEVEL)?,
            root_start: rows.times("root_start_ns")?,
            path: rows.ids("path_hash")?,
            class,
        })
    }

    /// A row as a record; `None` when its words are not known.
    fn record(&self, row: usize, words: &Words) -> Option<Record> {
        let flags = self.class.map_or(0, |(flags, _, _)| flags[row]);
        let path = words.path(self.path[row])?;
        let class = match self.class {
            Some((_, applications, classes)) => {
                *words.classes.get(&(applications[row], classes[row]))?
            }
            // The last of its path.
            None => words.names.path(path).and_then(|path| path.last().copied())?,
        };
        let (process, root_process) = match self.hosts {
            Some((own, root)) => (words.host(own[row])?, words.host(root[row])?),
            None => (ProcessId::NONE, ProcessId::NONE),
        };
        Some(Record {
            start_ns: self.start[row],
            elapsed_ns: self.elapsed[row].cast_unsigned(),
            cpu_ns: 0,
            process_cpu_ns: NO_PROCESS_CPU,
            chain_high: self.chain_high[row],
            chain_low: self.chain_low[row],
            id: TransactionId(self.id[row]),
            parent: TransactionId(self.parent[row]),
            class,
            path,
            root_start_ns: self.root_start[row],
            root_process,
            process,
            context_offset: 0,
            context_len: 0,
            level: self.level[row],
            thread: 0,
            status: 0,
            flags,
            reserved: 0,
        })
    }
}
