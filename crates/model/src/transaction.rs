//! A transaction with names in place of numbers.

use crate::context::{self, ContextEntry};
use crate::{
    ChainId, ClassName, Extras, Flags, NO_PROCESS_CPU, Names, ProcessName, Record, Status,
};
use crate::{ProcessId, TransactionId};

/// One timed piece of work, complete and readable.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    /// Application and class.
    pub class: ClassName,
    /// The process that ran it; `None` when its name is not known.
    pub process: Option<ProcessName>,
    /// Kernel thread id.
    pub thread: u32,
    /// Start time: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Elapsed time, in nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of its thread during the transaction, in nanoseconds.
    pub cpu_ns: u64,
    /// CPU time of its process during the transaction, in nanoseconds, where the class measures it.
    pub process_cpu_ns: Option<u64>,
    /// Status at the end.
    pub status: Status,
    /// The transaction's id.
    pub id: TransactionId,
    /// The parent's id; [`TransactionId::NONE`] for a root.
    pub parent: TransactionId,
    /// The chain of the transaction.
    pub chain: ChainId,
    /// Flags of the record.
    pub flags: Flags,
    /// Number of steps from the root.
    pub level: u16,
    /// The names of the classes from the root to here.
    pub path: String,
    /// Start time of the root; `None` for a foreign chain.
    pub root_start_ns: Option<i64>,
    /// The root's process, as far as it is known.
    pub root_process: Option<ProcessName>,
    /// ARM properties: key and value.
    pub properties: Vec<(String, String)>,
    /// ARM metrics: key and value.
    pub metrics: Vec<(String, f64)>,
    /// Optional fields, which few rows have.
    pub extras: Extras,
}

impl Transaction {
    /// CPU time of its thread, in nanoseconds; `None` where it was not measured
    /// ([`Record::known_cpu_ns`]).
    pub const fn known_cpu_ns(&self) -> Option<u64> {
        crate::record::known_cpu_ns(self.flags, self.cpu_ns)
    }

    /// Builds a transaction from a record, its context and that of its process. Ids that `names`
    /// lacks stay numbers.
    pub fn from_record(record: &Record, context: &[u8], names: &Names) -> Self {
        let class = names.class(record.class).cloned().unwrap_or_else(|| ClassName {
            application: String::new(),
            class: format!("?{}", record.class),
        });
        let process = |id: ProcessId| names.process(id).cloned();
        let mut transaction = Self {
            class,
            process: process(record.process),
            thread: record.thread,
            start_ns: record.start_ns,
            elapsed_ns: record.elapsed_ns,
            cpu_ns: record.cpu_ns,
            process_cpu_ns: Some(record.process_cpu_ns).filter(|ns| *ns != NO_PROCESS_CPU),
            status: record.status(),
            id: record.id,
            parent: record.parent,
            chain: record.chain(),
            flags: record.flags(),
            level: record.level,
            path: names.path_text(record.path),
            root_start_ns: Some(record.root_start_ns)
                .filter(|_| !record.flags().contains(Flags::FOREIGN)),
            root_process: process(record.root_process),
            properties: Vec::new(),
            metrics: Vec::new(),
            extras: Extras::default(),
        };
        for entry in names.entries(record, context) {
            match entry {
                ContextEntry::Property(key, value) => {
                    transaction.properties.push((key.to_owned(), value.to_owned()));
                }
                ContextEntry::Metric(key, value) => {
                    transaction.metrics.push((key.to_owned(), value))
                }
                ContextEntry::Parent(_) | ContextEntry::Field(..) => transaction.extras.take(entry),
            }
        }
        transaction
    }
}

/// Times, status and context of a transaction: enough for a question about one class, and readable
/// without the other columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt<'a> {
    /// Start time: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Elapsed time, in nanoseconds.
    pub elapsed_ns: u64,
    /// Status at the end.
    pub status: Status,
    /// ARM properties: key and value.
    pub properties: Vec<(&'a str, &'a str)>,
    /// ARM metrics: key and value.
    pub metrics: Vec<(&'a str, f64)>,
}

impl<'a> Excerpt<'a> {
    /// The outline of a complete transaction.
    pub fn of(transaction: &'a Transaction) -> Self {
        let properties = transaction.properties.iter();
        let metrics = transaction.metrics.iter();
        Self {
            start_ns: transaction.start_ns,
            elapsed_ns: transaction.elapsed_ns,
            status: transaction.status,
            properties: properties.map(|(key, word)| (key.as_str(), word.as_str())).collect(),
            metrics: metrics.map(|(key, value)| (key.as_str(), *value)).collect(),
        }
    }

    /// The outline of a record and its context, without the context of its process.
    pub fn of_record(record: &Record, context: &'a [u8]) -> Self {
        let mut excerpt = Self {
            start_ns: record.start_ns,
            elapsed_ns: record.elapsed_ns,
            status: record.status(),
            ..Self::default()
        };
        for entry in context::entries(context) {
            match entry {
                ContextEntry::Property(key, word) => excerpt.properties.push((key, word)),
                ContextEntry::Metric(key, value) => excerpt.metrics.push((key, value)),
                ContextEntry::Parent(_) | ContextEntry::Field(..) => {}
            }
        }
        excerpt
    }

    /// The value of a property.
    pub fn word(&self, key: &str) -> Option<&'a str> {
        self.properties.iter().find(|(own, _)| *own == key).map(|(_, word)| *word)
    }

    /// The value of a metric.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.metrics.iter().find(|(own, _)| *own == key).map(|(_, value)| *value)
    }
}
