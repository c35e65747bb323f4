//! Transactions in words become rows: the way into a store for everything that is not a ring.

mod ancestors;
mod paths;

use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{Batch, ClassId, ClassName, Extras, Flags, NO_PROCESS_CPU, Names, PathId};
use chronoscope_model::{ProcessId, ProcessName, Record, Transaction};

/// Longest text of a property or metric: its length is one byte.
const TEXT_MAX: usize = 255;

/// Rows beyond the first of these bytes of contexts lose theirs: offsets are 32 bits wide.
const CONTEXTS_MAX: usize = u32::MAX as usize;

/// Collects transactions and turns them into rows and their names.
///
/// ```
/// use chronoscope_formats::rows::Builder;
/// use chronoscope_model::{ClassId, ClassName, Flags, Names, Record, Transaction};
///
/// # let mut named = Names::default();
/// # let class = ClassName { application: "MRTS".into(), class: "Correlate".into() };
/// # named.add_class(class);
/// # let record = Record { class: ClassId::of("MRTS", "Correlate"), flags: Flags::FOREIGN.0, ..Record::default() };
/// let transaction = Transaction::from_record(&record, b"", &named);
/// let mut builder = Builder::default();
/// builder.push(&transaction);
/// let (batch, names) = builder.into_parts();
/// let row = &batch.records()[0];
/// assert_eq!(Transaction::from_record(row, batch.context(row), &names), transaction);
/// ```
///
/// Path and root of a transaction that lacks them are completed where possible:
///
/// * With [`Flags::FOREIGN`] the transaction is unchanged: a question assembles its chain by ids.
///   That is right for input that may arrive in several parts (OTLP), because a chain should be
///   either native or foreign as a whole.
/// * Without that flag and without a path or a root's start, both are taken from its ancestors if
///   all of them are in this builder; otherwise the row becomes foreign. So does a row below more
///   than 256 ancestors.
///
/// Limits: a context has at most [`context::STORED_MAX_BYTES`] bytes and a text 255; what is cut is
/// flagged with [`Flags::CONTEXT_CUT`]. Two processes that differ in their application only are
/// one: the last name stays.
#[derive(Debug, Default)]
pub struct Builder {
    records: Vec<Record>,
    contexts: Vec<u8>,
    names: Names,
    /// Paths are taken apart at the end, when all classes are known: names may hold separators.
    texts: paths::Texts,
    /// The text of each record's path; the same number for the same text and class.
    text_of: Vec<Option<u32>>,
    /// Records whose path or root is still to be computed.
    incomplete: Vec<usize>,
    /// Whether rows stay as they are, complete or not.
    exact: bool,
    /// Class names that were met, to spare hashing and cloning them again.
    last_class: Option<(ClassName, ClassId)>,
    last_process: Option<(ProcessName, ProcessId)>,
}

impl Builder {
    /// A builder for rows of another store: they stay as they are, and paths are read with the
    /// names that are known there.
    pub fn of_store(names: Names) -> Self {
        Self { names, exact: true, ..Self::default() }
    }

    /// Adds a transaction.
    pub fn push(&mut self, t: &Transaction) {
        let class = self.class(&t.class);
        let process = self.process(t.process.as_ref());
        let foreign = t.flags.contains(Flags::FOREIGN);
        let root_process =
            self.process(t.root_process.as_ref().filter(|_| t.root_start_ns.is_some()));
        let (context_offset, context_len, cut) = self.context(t);
        let flags = if cut { t.flags.with(Flags::CONTEXT_CUT) } else { t.flags };
        if !self.exact && !foreign && (t.path.is_empty() || t.root_start_ns.is_none()) {
            self.incomplete.push(self.records.len());
        }
        let text = (!t.path.is_empty()).then(|| self.texts.number(&t.path, class));
        self.text_of.push(text);
        self.records.push(Record {
            start_ns: t.start_ns,
            elapsed_ns: t.elapsed_ns,
            cpu_ns: t.cpu_ns,
            process_cpu_ns: t.process_cpu_ns.unwrap_or(NO_PROCESS_CPU),
            chain_high: t.chain.high(),
            chain_low: t.chain.low(),
            id: t.id,
            parent: t.parent,
            class,
            path: PathId::NONE,
            root_start_ns: t.root_start_ns.filter(|_| !foreign).unwrap_or(t.start_ns),
            root_process,
            process,
            context_offset,
            context_len,
            level: t.level,
            thread: t.thread,
            status: t.status as u8,
            flags: flags.0,
            reserved: 0,
        });
    }

    /// Number of transactions.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Size of all contexts, in bytes.
    pub fn context_bytes(&self) -> usize {
        self.contexts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The rows in the order of their coming, and their names.
    pub fn into_parts(mut self) -> (Batch, Names) {
        let paths = self.texts.resolve(&mut self.names);
        for (record, text) in self.records.iter_mut().zip(&self.text_of) {
            let path = text.and_then(|number| paths.get(number as usize));
            record.path = path.copied().unwrap_or(PathId::NONE);
        }
        ancestors::complete(&mut self.records, &self.incomplete, &mut self.names);
        (Batch::from_parts(self.records, self.contexts), self.names)
    }

    fn class(&mut self, name: &ClassName) -> ClassId {
        if let Some((last, id)) = &self.last_class
            && last == name
        {
            return *id;
        }
        let id = paths::unnamed(&name.application, &name.class);
        let id = id.unwrap_or_else(|| {
            let id = ClassId::of(&name.application, &name.class);
            if self.names.class(id).is_none() {
                self.names.add_class(name.clone());
            }
            id
        });
        self.last_class = Some((name.clone(), id));
        id
    }

    fn process(&mut self, name: Option<&ProcessName>) -> ProcessId {
        let Some(name) = name else { return ProcessId::NONE };
        if let Some((last, id)) = &self.last_process
            && last == name
        {
            return *id;
        }
        let id = name.id();
        if self.names.process(id) != Some(name) {
            self.names.add_process(name.clone());
        }
        self.last_process = Some((name.clone(), id));
        id
    }

    /// Appends the context of `t`: its offset, its length, and whether something did not fit.
    fn context(&mut self, t: &Transaction) -> (u32, u16, bool) {
        if t.properties.is_empty() && t.metrics.is_empty() && t.extras == Extras::default() {
            return (0, 0, false);
        }
        let offset = self.contexts.len();
        let texts = t.properties.iter().map(|(key, value)| ContextEntry::Property(key, value));
        let numbers = t.metrics.iter().map(|(key, value)| ContextEntry::Metric(key, *value));
        let all = t.extras.entries().chain(texts).chain(numbers);
        let room = all.map(|entry| entry.size()).sum::<usize>().min(CONTEXT_MAX);
        self.contexts.resize(offset + room, 0);
        let buffer = &mut self.contexts[offset..];
        let (mut len, mut cut) = (0, false);
        let mut add = |entry: ContextEntry<'_>| match context::append(buffer, len, entry) {
            Some(longer) => len = longer,
            None => cut = true,
        };
        let mut long = false;
        // Extras come first: they have priority when there is too little room.
        t.extras.entries().for_each(&mut add);
        for (key, value) in &t.properties {
            let (key, value) = (shortened(key, &mut long), shortened(value, &mut long));
            add(ContextEntry::Property(key, value));
        }
        for (key, value) in &t.metrics {
            add(ContextEntry::Metric(shortened(key, &mut long), *value));
        }
        if let (Ok(offset_32), Ok(len_16)) = (u32::try_from(offset), u16::try_from(len))
            && offset + len <= CONTEXTS_MAX
        {
            self.contexts.truncate(offset + len);
            return (offset_32, len_16, cut || long);
        }
        self.contexts.truncate(offset);
        (0, 0, true)
    }
}

/// A text that no store should take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} has {len} bytes, at most {max} are allowed: {beginning:?}…")]
pub struct TextTooLong {
    /// The kind of name: `application`, `class`, `host` or `path`.
    pub what: &'static str,
    /// Length of the name, in bytes.
    pub len: usize,
    /// Largest length, in bytes.
    pub max: usize,
    /// Beginning of the name.
    pub beginning: String,
}

/// Longest name of an application, a class or a host that is taken from outside, in bytes.
pub const NAME_MAX: usize = 4096;

/// Longest path in words that is taken from outside, in bytes.
pub const PATH_MAX: usize = 65_536;

/// Whether the names of a transaction from outside have lengths that names have. They are kept in
/// memory for as long as a store is open.
///
/// # Errors
/// [`TextTooLong`] about the first that has not.
pub fn check(t: &Transaction) -> Result<(), TextTooLong> {
    let processes = [&t.process, &t.root_process].into_iter().flatten();
    let of_processes = processes.flat_map(|p| [("application", &p.application), ("host", &p.host)]);
    let names = [("application", &t.class.application), ("class", &t.class.class)];
    let names = names.into_iter().chain(of_processes).map(|(what, text)| (what, text, NAME_MAX));
    for (what, text, max) in names.chain([("path", &t.path, PATH_MAX)]) {
        if text.len() > max {
            let beginning = text.chars().take(40).collect();
            return Err(TextTooLong { what, len: text.len(), max, beginning });
        }
    }
    Ok(())
}

/// Largest context, in bytes.
const CONTEXT_MAX: usize = context::STORED_MAX_BYTES;

/// The first [`TEXT_MAX`] bytes of a text, at the border of a character.
fn shortened<'a>(text: &'a str, cut: &mut bool) -> &'a str {
    if text.len() <= TEXT_MAX {
        return text;
    }
    *cut = true;
    &text[..text.floor_char_boundary(TEXT_MAX)]
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
