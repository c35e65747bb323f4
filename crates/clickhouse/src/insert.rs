//! Rows in: every shard gets its chains, and says so when they are on its disk.

use crate::cluster::{Cluster, shard_of};
use crate::error::ClickHouseError;
use crate::http::Node;
use crate::rows::ResultRows;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, TimestampNanosecondType, UInt8Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt32Array,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use chronoscope_clock as clock;
use chronoscope_model::{
    Batch, ChainId, ClassId, ClassName, Extras, Flags, Names, PathId, ProcessId, ProcessName,
    schema::{self, column},
};
use chronoscope_store::{
    ChainAlias, Minute, Order, RemoteError, RemoteNotes, RemoteStore, each_schema_batch,
};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Puts rows into a cluster. Any number of threads and of sinks, on any number of computers, may
/// do so at the same time: a sink keeps nothing that another one could not find out.
#[derive(Debug)]
pub struct ClusterWriter {
    cluster: Cluster,
    known: Mutex<Known>,
    /// When the first shard's clock was read, on the monotonic clock, and what came out.
    shard_clock: Mutex<Option<(u64, (i64, u64))>>,
}

/// Age of a reading of the first shard's clock after which it is read again.
const READ_AGAIN_NS: u64 = 10_000_000_000;

#[derive(Debug, Default)]
struct Known {
    /// All that was heard, so that a batch may bring only the names that are new.
    names: Names,
    /// Names that the cluster has.
    stored: HashSet<Stored>,
    /// Ids that were looked up in the cluster in vain.
    nowhere: HashSet<Stored>,
    /// State of each sender's stream.
    streams: HashMap<u128, Arc<Mutex<Stream>>>,
}

/// State of a sender's stream.
#[derive(Debug, Default)]
struct Stream {
    /// The row that is wanted next; `None` before it was looked up.
    next_row: Option<u64>,
    /// Rows that some shards may have and others not.
    pending: Option<Pending>,
}

/// A piece of a stream.
#[derive(Debug)]
struct Pending {
    first_row: u64,
    end_row: u64,
    batch: Batch,
    names: Names,
}

/// A name by its id; a path with what it said, since a complete one replaces one with gaps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stored {
    Class(ClassId),
    /// A class that only has its number.
    Unnamed(ClassId),
    Path(PathId, Box<[ClassId]>),
    Process(ProcessId),
}

impl ClusterWriter {
    /// A sink for a cluster whose tables are there ([`Cluster::prepare`]).
    pub fn new(cluster: Cluster) -> Self {
        Self { cluster, known: Mutex::default(), shard_clock: Mutex::default() }
    }

    /// Looks at the names that were heard since this sink is there. Inserts wait meanwhile.
    pub fn with_names<T>(&self, look: impl FnOnce(&Names) -> T) -> T {
        look(&self.known.lock().unwrap_or_else(PoisonError::into_inner).names)
    }

    /// The number of the row of a sender's stream that this sink wants next, asked of the cluster once;
    /// `None` when nothing is known of the stream.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn wanted_row(&self, stream: u128) -> Result<Option<u64>, ClickHouseError> {
        let state = self.stream(stream);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.next_row.is_none() {
            state.next_row = self.next_row(stream)?;
        }
        Ok(state.next_row)
    }

    fn stream(&self, stream: u128) -> Arc<Mutex<Stream>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.streams.entry(stream).or_default())
    }

    /// The same, asked of the cluster now: another collector may have taken rows of the stream since
    /// this one was asked.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn look_up_row(&self, stream: u128) -> Result<Option<u64>, ClickHouseError> {
        let stored = self.next_row(stream)?;
        let state = self.stream(stream);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.next_row = state.next_row.max(stored);
        Ok(stored)
    }

    /// Writes what senders say besides rows ([`RemoteStore::note`]). Readings of clocks are taken
    /// over to the clock of the first shard's server, which is the same for all collectors.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn note(&self, notes: &RemoteNotes<'_>) -> Result<(), ClickHouseError> {
        self.name_processes(notes.names)?;
        let ahead = match notes.clocks {
            [] => (0, 0),
            _ => self.ahead_of_shard()?,
        };
        self.cluster.write_notes(notes, ahead)
    }

    /// Stores the names of processes that the cluster does not have yet: a process without rows may
    /// be behind or have lost some.
    fn name_processes(&self, names: &Names) -> Result<(), ClickHouseError> {
        let news: Vec<Stored> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let all = names.processes().map(|(id, _)| Stored::Process(id));
            all.filter(|name| !known.stored.contains(name)).collect()
        };
        self.store_names(news, names)
    }

    /// Stores new names on all shards.
    fn store_names(&self, news: Vec<Stored>, names: &Names) -> Result<(), ClickHouseError> {
        if news.is_empty() {
            return Ok(());
        }
        let lines = Lines::of(&news, names);
        self.cluster.on_all(|_, node| {
            for (table, lines) in lines.by_table().into_iter().filter(|(_, l)| !l.is_empty()) {
                let sql = format!("INSERT INTO {table} FORMAT TSV");
                node.insert(&[], &sql, lines.as_bytes())?;
            }
            Ok(())
        })?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).stored.extend(news);
        Ok(())
    }

    /// How far this host's clock is ahead of the first shard's, and the bound of the error:
    /// nanoseconds. Read again when the last reading is as old as agents' readings of theirs.
    fn ahead_of_shard(&self) -> Result<(i64, u64), ClickHouseError> {
        let mut known = self.shard_clock.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ns = clock::monotonic_ns();
        if let Some((read_ns, ahead)) = *known
            && now_ns.saturating_sub(read_ns) < READ_AGAIN_NS
        {
            return Ok(ahead);
        }
        let asked_ns = clock::utc_now_ns();
        let shard_ns = self.cluster.shard_time_ns()?;
        let answered_ns = clock::utc_now_ns();
        let half_ns = answered_ns.abs_diff(asked_ns).div_ceil(2);
        let ahead_ns = asked_ns.saturating_add_unsigned(half_ns).saturating_sub(shard_ns);
        *known = Some((now_ns, (ahead_ns, half_ns + 1)));
        Ok((ahead_ns, half_ns + 1))
    }

    /// The cluster.
    pub const fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Inserts rows; when it returns they are on their shards' disks. The same rows under the same
    /// `key` are taken once: after an error, whatever it was, send them again with the same key.
    /// `names` may leave out what an earlier batch had.
    ///
    /// # Errors
    /// [`ClickHouseError`]; some shards may have taken their part.
    pub fn insert(&self, batch: &Batch, names: &Names, key: u128) -> Result<(), ClickHouseError> {
        let names = self.learn(batch, names)?;
        let count = self.cluster.shard_count();
        let mut shards: Vec<Batch> = vec![Batch::default(); count];
        for record in batch.records() {
            shards[shard_of(record.chain(), count)].push(*record, batch.context(record));
        }
        let key = format!("{key:032x}");
        let settings = [
            ("insert_deduplicate", "1"),
            ("insert_deduplication_token", &*key),
            // One block, so that it is taken or not.
            ("max_insert_block_size", "1048576"),
            ("min_insert_block_size_rows", "1048576"),
            ("min_insert_block_size_bytes", "0"),
            ("max_partitions_per_insert_block", "0"),
            ("input_format_null_as_default", "1"),
        ];
        self.cluster.on_all(|index, node| {
            if shards[index].is_empty() {
                return Ok(());
            }
            let data = encode(&shards[index], &names)
                .map_err(|error| ClickHouseError::Rows { reason: error.to_string() })?;
            node.insert(&settings, "INSERT INTO transactions FORMAT ArrowStream", &data)
        })?;
        Ok(())
    }

    /// Inserts rows of a sender's stream, numbered from `first_row` on, as far as they are not in;
    /// the number of the row that is wanted next. What this sink could not finish it finishes
    /// first, under the same key, however the sender has cut its rows anew meanwhile.
    ///
    /// # Errors
    /// As [`Self::insert`]: send again from the same row on.
    pub fn insert_stream(
        &self,
        stream: u128,
        first_row: u64,
        batch: &Batch,
        names: &Names,
    ) -> Result<u64, ClickHouseError> {
        let state = self.stream(stream);
        // One at a time for each sender.
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.next_row.is_none() || state.pending.is_some() {
            // Another collector may have been asked meanwhile.
            let stored = self.next_row(stream)?.unwrap_or(0);
            state.next_row = Some(state.next_row.unwrap_or(0).max(stored));
        }
        if let Some(pending) = state.pending.take()
            && state.next_row.unwrap_or(0) < pending.end_row
        {
            self.finish(stream, &mut state, pending)?;
        }
        let next_row = state.next_row.unwrap_or(0);
        let end_row = first_row.saturating_add(batch.len() as u64);
        if end_row <= next_row {
            return Ok(next_row);
        }
        let known = usize::try_from(next_row.saturating_sub(first_row)).unwrap_or(usize::MAX);
        let mut rest = Batch::default();
        for record in batch.records().iter().skip(known) {
            rest.push(*record, batch.context(record));
        }
        let first_row = first_row.max(next_row);
        let pending = Pending { first_row, end_row, batch: rest, names: names.clone() };
        self.finish(stream, &mut state, pending)?;
        Ok(end_row)
    }

    /// Inserts a piece and then how far its stream is in; keeps it where that fails.
    fn finish(
        &self,
        stream: u128,
        state: &mut Stream,
        pending: Pending,
    ) -> Result<(), ClickHouseError> {
        let Pending { first_row, end_row, batch, names } = &pending;
        let numbers = u128::from(*first_row) << 64 | u128::from(*end_row);
        let key = stream.rotate_left(64) ^ numbers;
        let done = self.insert(batch, names, key).and_then(|()| {
            let line = format!("{stream}\t{end_row}\n");
            self.shard_of_stream(stream).insert(
                &[],
                "INSERT INTO streams FORMAT TSV",
                line.as_bytes(),
            )
        });
        match done {
            Ok(()) => state.next_row = Some(*end_row),
            Err(error) => {
                state.pending = Some(pending);
                return Err(error);
            }
        }
        Ok(())
    }

    fn shard_of_stream(&self, stream: u128) -> &Node {
        &self.cluster.nodes()[shard_of(ChainId(stream), self.cluster.shard_count())]
    }

    /// The number of the row of a sender's stream that is wanted next; `None` when nothing is
    /// known of it.
    ///
    /// # Errors
    /// [`ClickHouseError`].
    pub fn next_row(&self, stream: u128) -> Result<Option<u64>, ClickHouseError> {
        let shard = self.shard_of_stream(stream);
        // As a literal it would be a Float64, which no 128-bit number equals.
        let sql = format!(
            "SELECT max(end_row) FROM streams WHERE stream = toUInt128('{stream}') \
             HAVING count() > 0"
        );
        // A copy that was away may not have heard how far the others are.
        let mut furthest = None;
        for text in shard.execute_on_copies(&sql)? {
            if !text.is_empty() {
                let row = text.parse().map_err(|_| shard.unexpected_column("end_row"))?;
                furthest = furthest.max(Some(row));
            }
        }
        Ok(furthest)
    }

    /// Adds names to what is known, here and on the shards; the names that the rows need.
    fn learn(&self, batch: &Batch, names: &Names) -> Result<Names, ClickHouseError> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut needed = {
            let mut known = lock();
            known.names.merge(names);
            Needed::of(batch, &known)
        };
        // Twice: a path that is found again names classes.
        for _ in 0..2 {
            if needed.missing.is_empty() {
                break;
            }
            // Another collector may have heard them, or this one before it was started anew.
            let found = self.recall(&needed.missing)?;
            let mut known = lock();
            known.names.merge(&found);
            known.nowhere.extend(needed.missing.without(&found));
            needed = Needed::of(batch, &known);
        }
        let news = needed.news(&lock().stored);
        self.store_names(news, &needed.names)?;
        Ok(needed.names)
    }

    /// Looks names up; every shard has them all.
    fn recall(&self, missing: &Missing) -> Result<Names, ClickHouseError> {
        let node = &self.cluster.nodes()[0];
        let mut found = Names::default();
        let list = |ids: &[u64]| ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let paths: Vec<u64> = missing.paths.iter().map(|id| id.0).collect();
        if !paths.is_empty() {
            let sql = format!("SELECT id, classes FROM paths WHERE id IN ({})", list(&paths));
            node.query(&sql, |batch| {
                let answered = ResultRows { node, batch };
                let classes = answered.lists("classes")?;
                for (id, classes) in answered.ids("id")?.iter().zip(classes) {
                    found.add_path(PathId(*id), classes);
                }
                Ok(())
            })?;
        }
        let mut classes: HashSet<u64> = missing.classes.iter().map(|id| id.0).collect();
        classes.extend(found.paths().flat_map(|(_, path)| path.iter().map(|class| class.0)));
        let classes: Vec<u64> = classes.into_iter().collect();
        if !classes.is_empty() {
            let sql =
                format!("SELECT application, class FROM classes WHERE id IN ({})", list(&classes));
            node.query(&sql, |batch| {
                let answered = ResultRows { node, batch };
                let names = answered.texts("application")?.iter().zip(answered.texts("class")?);
                for (application, class) in names {
                    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
                    let (application, class) = (text(application), text(class));
                    found.add_class(ClassName { application, class });
                }
                Ok(())
            })?;
        }
        let processes: Vec<u64> = missing.processes.iter().map(|id| id.0).collect();
        if !processes.is_empty() {
            let columns = "application, host, pid, start_ns";
            let sql = format!("SELECT {columns} FROM processes WHERE id IN ({})", list(&processes));
            node.query(&sql, |batch| {
                let answered = ResultRows { node, batch };
                let (applications, hosts) =
                    (answered.texts("application")?, answered.texts("host")?);
                let (pids, starts) =
                    (answered.numbers::<UInt32Type>("pid")?, answered.times("start_ns")?);
                for row in 0..batch.num_rows() {
                    found.add_process(ProcessName {
                        application: applications.value(row).to_owned(),
                        host: hosts.value(row).to_owned(),
                        pid: pids[row],
                        start_ns: starts[row],
                    });
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

impl RemoteStore for ClusterWriter {
    fn with_names(&self, look: &mut dyn FnMut(&Names)) {
        Self::with_names(self, look);
    }

    fn wanted_row(&self, stream: u128) -> Result<Option<u64>, RemoteError> {
        Self::wanted_row(self, stream).map_err(remote)
    }

    fn next_row(&self, stream: u128) -> Result<Option<u64>, RemoteError> {
        Self::look_up_row(self, stream).map_err(remote)
    }

    fn insert(&self, batch: &Batch, names: &Names, key: u128) -> Result<(), RemoteError> {
        Self::insert(self, batch, names, key).map_err(remote)
    }

    fn add_aliases(&self, aliases: &[ChainAlias]) -> Result<(), RemoteError> {
        self.cluster.add_aliases(aliases).map_err(remote)
    }

    fn insert_stream(
        &self,
        stream: u128,
        first_row: u64,
        batch: &Batch,
        names: &Names,
    ) -> Result<u64, RemoteError> {
        Self::insert_stream(self, stream, first_row, batch, names).map_err(remote)
    }

    fn note(&self, notes: &RemoteNotes<'_>) -> Result<(), RemoteError> {
        Self::note(self, notes).map_err(remote)
    }
}

fn remote(error: ClickHouseError) -> RemoteError {
    RemoteError::new(error.is_passing(), error)
}

/// Ids that nobody named so far.
#[derive(Default)]
struct Missing {
    classes: Vec<ClassId>,
    paths: Vec<PathId>,
    processes: Vec<ProcessId>,
}

impl Missing {
    fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.paths.is_empty() && self.processes.is_empty()
    }

    /// Names that are still missing after `found`.
    fn without(&self, found: &Names) -> Vec<Stored> {
        let classes = self.classes.iter().filter(|id| found.class(**id).is_none());
        let paths = self.paths.iter().filter(|id| found.path(**id).is_none());
        let processes = self.processes.iter().filter(|id| found.process(**id).is_none());
        let mut nowhere: Vec<_> = classes.map(|id| Stored::Class(*id)).collect();
        nowhere.extend(paths.map(|id| Stored::Path(*id, Box::default())));
        nowhere.extend(processes.map(|id| Stored::Process(*id)));
        nowhere
    }
}

/// The names that a batch needs.
#[derive(Default)]
struct Needed {
    /// Names that are known.
    names: Names,
    /// Classes that were looked up in vain.
    unnamed: Vec<ClassId>,
    /// Ids that were not looked up yet.
    missing: Missing,
}

impl Needed {
    fn of(batch: &Batch, known: &Known) -> Self {
        let mut needed = Self::default();
        let (mut classes, mut processes) = (HashSet::new(), HashSet::new());
        let mut paths = HashSet::new();
        let mut linked = HashSet::new();
        for record in batch.records() {
            classes.insert(record.class);
            paths.insert(record.path);
            processes.extend([record.process, record.root_process]);
            if record.flags().contains(Flags::FURTHER_PARENTS) {
                let extras = Extras::of(batch.context(record));
                linked.extend(extras.further_parents.iter().filter_map(|of| Some(of.root?.path)));
            }
        }
        // The path of a further parent is named where it is known; its own rows bring it too.
        paths.extend(linked.into_iter().filter(|path| known.names.path(*path).is_some()));
        for path in paths.into_iter().filter(|path| !path.is_none()) {
            let in_vain = known.nowhere.contains(&Stored::Path(path, Box::default()));
            match known.names.path(path) {
                Some(through) => {
                    classes.extend(through.iter().copied());
                    needed.names.add_path(path, through.to_vec());
                }
                // A path of one class, which nobody named: its text says the number.
                None if in_vain => {
                    classes.insert(ClassId(path.0));
                    needed.names.add_path(path, vec![ClassId(path.0)]);
                }
                None => needed.missing.paths.push(path),
            }
        }
        for class in classes.into_iter().filter(|class| !class.is_none()) {
            match known.names.class(class) {
                Some(name) => drop(needed.names.add_class(name.clone())),
                None if known.nowhere.contains(&Stored::Class(class)) => needed.unnamed.push(class),
                None => needed.missing.classes.push(class),
            }
        }
        for process in processes.into_iter().filter(|process| !process.is_none()) {
            match known.names.process(process) {
                Some(_) => needed.names.add_process_of(&known.names, process),
                None if known.nowhere.contains(&Stored::Process(process)) => {}
                None => needed.missing.processes.push(process),
            }
        }
        needed
    }

    /// Names that are not in `stored`.
    fn news(&self, stored: &HashSet<Stored>) -> Vec<Stored> {
        let classes = self.names.classes().map(|(id, _)| Stored::Class(id));
        let unnamed = self.unnamed.iter().map(|id| Stored::Unnamed(*id));
        let paths = self.names.paths().map(|(id, classes)| Stored::Path(id, classes.into()));
        let processes = self.names.processes().map(|(id, _)| Stored::Process(id));
        let all = classes.chain(unnamed).chain(paths).chain(processes);
        all.filter(|name| !stored.contains(name)).collect()
    }
}

/// Names as lines of ClickHouse's TSV.
#[derive(Default)]
struct Lines {
    classes: String,
    paths: String,
    processes: String,
}

impl Lines {
    fn of(news: &[Stored], names: &Names) -> Self {
        let mut lines = Self::default();
        for name in news {
            match name {
                Stored::Class(id) => {
                    if let Some(ClassName { application, class }) = names.class(*id) {
                        let (application, class) = (escaped(application), escaped(class));
                        let _ = writeln!(lines.classes, "{}\t{application}\t{class}", id.0);
                    }
                }
                Stored::Unnamed(id) => {
                    let _ = writeln!(lines.classes, "{}\t\t?{id}", id.0);
                }
                Stored::Path(id, classes) => {
                    let list: Vec<_> = classes.iter().map(|class| class.0.to_string()).collect();
                    let (text, list) = (escaped(&names.path_text(*id)), list.join(","));
                    let _ = writeln!(lines.paths, "{}\t{text}\t[{list}]", id.0);
                }
                Stored::Process(id) => {
                    if let Some(name) = names.process(*id) {
                        let (application, host) = (escaped(&name.application), escaped(&name.host));
                        let (pid, start_ns) = (name.pid, name.start_ns);
                        let _ = writeln!(
                            lines.processes,
                            "{}\t{application}\t{host}\t{pid}\t{start_ns}",
                            id.0
                        );
                    }
                }
            }
        }
        lines
    }

    fn by_table(&self) -> [(&'static str, &str); 3] {
        // Paths last: who finds a path finds its classes.
        [("classes", &self.classes), ("processes", &self.processes), ("paths", &self.paths)]
    }
}

/// A text in TSV.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped += "\\\\",
            '\t' => escaped += "\\t",
            '\n' => escaped += "\\n",
            '\r' => escaped += "\\r",
            '\0' => escaped += "\\0",
            c => escaped.push(c),
        }
    }
    escaped
}

/// One shard's rows as an Arrow stream.
fn encode(batch: &Batch, names: &Names) -> Result<Vec<u8>, ArrowError> {
    let schema = table_schema();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    // The table's order, where all roots are of one class: the server finds it sorted.
    each_schema_batch(batch, names, Order::RootStart, |columns| {
        writer.write(&table_columns(&columns, &schema)?)
    })?;
    writer.finish()?;
    writer.into_inner()
}

/// The columns that are not sent.
const LEFT_OUT: &str = column::LINKS;

fn table_schema() -> SchemaRef {
    let of = schema::transactions();
    let word = of.field(0).data_type().clone();
    let mut fields = vec![
        Field::new("minute", arrow_schema::DataType::Int64, false),
        Field::new("top", word, false),
    ];
    let kept = of.fields().iter().filter(|field| field.name() != LEFT_OUT);
    fields.extend(kept.map(|field| Field::clone(field)));
    Arc::new(Schema::new(fields))
}

fn table_columns(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let missing = || ArrowError::SchemaError("a column of the schema is missing".to_owned());
    let column = |name: &str| batch.column_by_name(name).ok_or_else(missing);
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        columns.push(match field.name().as_str() {
            "minute" => minutes(batch).ok_or_else(missing)?,
            "top" => tops(batch).ok_or_else(missing)??,
            // Under the null stands the row's own start: all have a root start there.
            column::ROOT_START => {
                let stamps = column(column::ROOT_START)?.as_primitive::<TimestampNanosecondType>();
                let stamps = TimestampNanosecondArray::new(stamps.values().clone(), None);
                Arc::new(stamps.with_timezone("UTC"))
            }
            column::ROOT_PROCESS => {
                let pids = column(column::ROOT_PROCESS)?.as_primitive::<UInt32Type>();
                let pid = |row| if pids.is_valid(row) { pids.value(row) } else { 0 };
                Arc::new(UInt32Array::from_iter_values((0..pids.len()).map(pid)))
            }
            name => column(name)?.clone(),
        });
    }
    RecordBatch::try_new(schema.clone(), columns)
}

/// The minute that every row is stored in.
fn minutes(batch: &RecordBatch) -> Option<ArrayRef> {
    let instants = |name| batch.column_by_name(name)?.as_primitive_opt::<TimestampNanosecondType>();
    let (starts, roots) =
        (instants(column::START)?.values(), instants(column::ROOT_START)?.values());
    let flags = batch.column_by_name(column::FLAGS)?.as_primitive_opt::<UInt8Type>()?.values();
    let rows = starts.iter().zip(roots).zip(flags);
    let minute = rows.map(|((start, root), flags)| {
        Minute::of(if Flags(*flags).contains(Flags::FOREIGN) { *start } else { *root }).0
    });
    Some(Arc::new(Int64Array::from_iter_values(minute)))
}

/// Every row's root class in words.
fn tops(batch: &RecordBatch) -> Option<Result<ArrayRef, ArrowError>> {
    let words = |name| {
        let column = batch.column_by_name(name)?.as_dictionary_opt::<Int32Type>()?;
        Some((column, column.values().as_string_opt::<i32>()?))
    };
    let (applications, application_texts) = words(column::ROOT_APPLICATION)?;
    let (classes, class_texts) = words(column::ROOT_CLASS)?;
    let mut known: HashMap<(usize, usize), i32> = HashMap::new();
    let mut texts = vec![String::new()];
    let keys = (0..batch.num_rows()).map(|row| {
        let Some(pair) = applications.key(row).zip(classes.key(row)) else { return 0 };
        *known.entry(pair).or_insert_with(|| {
            texts.push(root_class_text(application_texts.value(pair.0), class_texts.value(pair.1)));
            i32::try_from(texts.len() - 1).unwrap_or(0)
        })
    });
    let keys: Int32Array = keys.collect();
    let texts = Arc::new(StringArray::from_iter_values(&texts));
    let column = DictionaryArray::<Int32Type>::try_new(keys, texts);
    Some(column.map(|column| Arc::new(column) as ArrayRef))
}

/// The words of a root class in the column `top`.
pub fn root_class_text(application: &str, class: &str) -> String {
    if application.is_empty() { class.to_owned() } else { format!("{application}::{class}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_whatever_is_in_it() {
        assert_eq!(escaped("a\tb\\c\nd\re\0"), "a\\tb\\\\c\\nd\\re\\0");
    }
}
