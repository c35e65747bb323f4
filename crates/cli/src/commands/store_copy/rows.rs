//! The rows of a store minute by minute, and what tells one row from another.

use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use chronoscope_import::Fingerprint;
use chronoscope_model::{Flags, Names, ProcessId, ProcessName, Transaction};
use chronoscope_query::{QueryError, StoreLocation, TransactionRows};
use chronoscope_store::{Loss, Minute, Snapshot};
use std::collections::HashMap;
use std::iter::Peekable;
use std::ops::Range;

/// What is to be done about a damaged store.
const DAMAGED: &str = "nothing more was copied: a damaged store is not copied as if it were whole \
                       (chronoscope store check, then store repair)";

/// The rows of a store, minute by minute, ascending.
pub(super) struct MinuteReader(Peekable<TransactionRows>);

impl MinuteReader {
    /// Opens a store.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged.
    pub(super) fn open(store: &StoreLocation, range: &Range<i64>) -> Result<Self> {
        let (rows, damage) = store.transactions(range.clone())?;
        if let Some(damage) = damage.first() {
            bail!("{damage}; {DAMAGED}");
        }
        Ok(Self(rows.peekable()))
    }

    /// The next minute that has rows.
    ///
    /// # Errors
    /// When rows cannot be read.
    pub(super) fn next_minute(&mut self) -> Result<Option<Minute>> {
        if let Some(error) = self.0.next_if(Result::is_err).and_then(Result::err) {
            return Err(unreadable(error));
        }
        Ok(self.0.peek().and_then(|row| row.as_ref().ok()).map(minute_of))
    }

    /// Gives the rows of a minute to `each`, and passes over earlier ones.
    ///
    /// # Errors
    /// When rows cannot be read, and those of `each`.
    pub(super) fn each(
        &mut self,
        minute: Minute,
        mut each: impl FnMut(Transaction) -> Result<()>,
    ) -> Result<()> {
        let until_then = |row: &Result<Transaction, QueryError>| {
            row.as_ref().map_or(true, |row| minute_of(row) <= minute)
        };
        while let Some(row) = self.0.next_if(until_then) {
            let row = row.map_err(unreadable)?;
            if minute_of(&row) == minute {
                each(row)?;
            }
        }
        Ok(())
    }
}

/// Rows that a store has lost, with the names of their processes.
#[derive(Debug, Default)]
pub(super) struct LostRows {
    pub(super) names: Names,
    pub(super) lost: Vec<(ProcessId, u64)>,
    pub(super) losses: Vec<Loss>,
}

/// What a store knows to be lost. What nobody knows any more is an unknown loss of any process.
///
/// # Errors
/// When it cannot be read.
pub(super) fn lost_rows(store: &StoreLocation) -> Result<LostRows> {
    let (ledger, known_from_ns) = match store {
        StoreLocation::Files(dir) => {
            let ledger = Snapshot::open(dir)?.ledger().clone();
            let known = if ledger.damaged_rows > 0 { clock::utc_now_ns() } else { i64::MIN };
            (ledger, known)
        }
        StoreLocation::Cluster(view) => view.cluster().ledger()?,
    };
    let mut found = LostRows {
        lost: ledger.lost.iter().map(|(process, rows)| (*process, *rows)).collect(),
        losses: ledger.losses.iter().copied().collect(),
        ..LostRows::default()
    };
    let of = found.lost.iter().map(|lost| lost.0).chain(found.losses.iter().map(|of| of.process));
    let names = of.filter_map(|id| ledger.names.process(id));
    let names: Vec<ProcessName> = names.cloned().collect();
    names.into_iter().for_each(|name| _ = found.names.add_process(name));
    if known_from_ns > i64::MIN {
        found.losses.push(Loss::forgotten(known_from_ns));
    }
    Ok(found)
}

/// What is known of the names of a store's classes and paths.
///
/// # Errors
/// When it cannot be read.
pub(super) fn names(store: &StoreLocation) -> Result<Names> {
    match store {
        StoreLocation::Files(dir) => Ok(Snapshot::open(dir)?.names().clone()),
        StoreLocation::Cluster(_) => {
            let mut names = Names::default();
            for name in store.names()? {
                names.add_class(name);
            }
            Ok(names)
        }
    }
}

fn unreadable(error: QueryError) -> anyhow::Error {
    match error {
        QueryError::Store(_) => anyhow::Error::from(error).context(DAMAGED),
        other => other.into(),
    }
}

/// The minute that a row is stored in.
fn minute_of(row: &Transaction) -> Minute {
    let root_ns = row.root_start_ns.filter(|_| !row.flags.contains(Flags::FOREIGN));
    Minute::of(root_ns.unwrap_or(row.start_ns))
}

/// How often each row is there, by its fingerprint.
#[derive(Debug, Default)]
pub(super) struct RowSet {
    counts: HashMap<u128, u32>,
    /// Number of rows.
    pub(super) rows: u64,
}

impl RowSet {
    pub(super) fn add(&mut self, fingerprint: u128) {
        *self.counts.entry(fingerprint).or_default() += 1;
        self.rows += 1;
    }

    /// Takes a row out; whether it was there.
    pub(super) fn take(&mut self, fingerprint: u128) -> bool {
        let Some(count) = self.counts.get_mut(&fingerprint).filter(|count| **count > 0) else {
            return false;
        };
        *count -= 1;
        self.rows -= 1;
        true
    }
}

/// The rows of a minute in a store.
///
/// # Errors
/// When they cannot be read.
pub(super) fn row_set(store: &mut MinuteReader, minute: Minute) -> Result<RowSet> {
    let mut set = RowSet::default();
    let read = store.each(minute, |row| {
        set.add(fingerprint(&row));
        Ok(())
    });
    read.with_context(|| format!("the minute {} of the copy", minute.0))?;
    Ok(set)
}

/// Identity of all that a store keeps of a row. A process has no start here: it is in no column.
pub(super) fn fingerprint(row: &Transaction) -> u128 {
    let mut bytes = Vec::with_capacity(256);
    let mut number = |number: u64| bytes.extend_from_slice(&number.to_le_bytes());
    let optional = |value: Option<u64>| [u64::from(value.is_some()), value.unwrap_or(0)];
    for value in [
        row.id.0,
        row.parent.0,
        row.chain.high(),
        row.chain.low(),
        row.start_ns.cast_unsigned(),
        row.elapsed_ns,
        row.cpu_ns,
        u64::from(row.thread),
        row.status as u64,
        u64::from(row.flags.0),
        u64::from(row.level),
    ] {
        number(value);
    }
    let extras = &row.extras;
    let root_ns = row.root_start_ns.map(i64::cast_unsigned);
    let arrival_ns = extras.arrival_ns.map(i64::cast_unsigned);
    for value in [
        row.process_cpu_ns,
        root_ns,
        arrival_ns,
        extras.run_queue_ns,
        extras.blocked_ns,
        extras.sampling_threshold,
    ] {
        optional(value).into_iter().for_each(&mut number);
    }
    for parent in &extras.further_parents {
        [parent.chain.high(), parent.chain.low(), parent.id.0].into_iter().for_each(&mut number);
        if let Some(root) = &parent.root {
            let place = [u64::from(root.level), root.path.0];
            let root = [root.start_ns.cast_unsigned(), root.process.0];
            root.into_iter().chain(place).for_each(&mut number);
        }
    }
    texts(row, &mut bytes);
    let mut fingerprint = Fingerprint::default();
    fingerprint.push(&bytes);
    fingerprint.value()
}

fn texts(row: &Transaction, bytes: &mut Vec<u8>) {
    let mut text = |text: &str| {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    };
    [&row.class.application, &row.class.class, &row.path].into_iter().for_each(|of| text(of));
    let mut process = |of: Option<&ProcessName>| {
        text(of.map_or("", |of| &of.host));
        text(&of.map_or(0, |of| of.pid).to_string());
    };
    process(row.process.as_ref());
    process(row.root_process.as_ref().filter(|_| row.root_start_ns.is_some()));
    for (key, value) in &row.properties {
        text(key);
        text(value);
    }
    for (key, value) in &row.metrics {
        text(key);
        text(&value.to_bits().to_string());
    }
}
