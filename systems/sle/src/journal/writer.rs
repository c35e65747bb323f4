//! Writing the journal of a session, in a thread of its own beside the one that sends.

use super::entry::{JournalEntry, SessionEntry};
use super::file::{JournalError, TransferJournal, io_at};
use super::state::TransferState;
use chronoscope_clock as clock;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// CLTUs of a reservation, at most.
const AHEAD_MAX: u64 = 65_536;
/// A reservation that was used up sooner is followed by one of twice the size, in ns.
const SHORT_NS: u64 = 50_000_000;
/// A reservation that lasted longer is followed by one of half the size, in ns.
const LONG_NS: u64 = 200_000_000;
/// Interval at which fates are looked for, and the time until a written fate is durable.
const LOOK: Duration = Duration::from_millis(20);
const DURABLE_NS: u64 = 200_000_000;

/// Writes what may be sent and what became of it. Without a file it only keeps the state.
#[derive(Debug)]
pub struct JournalWriter {
    file: Option<(File, PathBuf)>,
    /// Number of CLTUs of the session.
    cltus: u64,
    /// The first so many may be sent.
    durable: AtomicU64,
    shared: Mutex<Shared>,
    changed: Condvar,
}

#[derive(Debug)]
struct Shared {
    state: TransferState,
    /// The first so many CLTUs are asked for.
    wanted: u64,
    /// Entries that are to be durable with the next reservation.
    noted: Vec<JournalEntry>,
    /// CLTUs of the next reservation.
    ahead: u64,
    /// When the last reservation was asked for, monotonic, in ns.
    asked_ns: u64,
    /// All is sent and every fate is reported: the first so many CLTUs were sent.
    closed: Option<u64>,
    failed: bool,
}

impl JournalWriter {
    /// Begins a session. With a journal its entry is durable when this returns.
    ///
    /// # Errors
    /// [`JournalError::Io`], [`JournalError::OutOfPlace`].
    pub fn begin(
        journal: Option<TransferJournal>,
        cltus: u64,
        session: SessionEntry,
    ) -> Result<Self, JournalError> {
        let of_session = session.plan.len();
        let entry = JournalEntry::Session(session);
        let (mut state, file) = match journal {
            Some(journal) => (journal.state, Some((journal.file, journal.path))),
            None => (TransferState::new(cltus), None),
        };
        state.apply(&entry).map_err(|error| JournalError::OutOfPlace {
            path: file.as_ref().map(|(_, path)| path.clone()).unwrap_or_default(),
            line: 0,
            error,
        })?;
        if let Some((file, path)) = &file {
            write(file, &[entry], true).map_err(io_at(path))?;
        }
        Ok(Self {
            file,
            cltus: of_session,
            durable: AtomicU64::new(0),
            shared: Mutex::new(Shared {
                state,
                wanted: 0,
                noted: Vec::new(),
                ahead: 1,
                asked_ns: 0,
                closed: None,
                failed: false,
            }),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // A thread that panicked has left whole numbers.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the CLTUs of the session before `until`: they may be sent when this returns. Waits for
    /// the disk now and then, about every 50 ms of sending at full speed.
    ///
    /// # Errors
    /// [`JournalFailed`] when the journal could not be written: [`Self::run`] returns why.
    pub fn reserve(&self, until: u64) -> Result<(), JournalFailed> {
        if until <= self.durable.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut shared = self.lock();
        if self.file.is_none() {
            shared.wanted = shared.wanted.max(until);
            return Ok(());
        }
        if shared.wanted < until {
            let now_ns = clock::monotonic_ns();
            let lasted_ns = now_ns.saturating_sub(shared.asked_ns);
            shared.ahead = match lasted_ns {
                ..SHORT_NS => (shared.ahead * 2).min(AHEAD_MAX),
                LONG_NS.. => (shared.ahead / 2).max(1),
                _ => shared.ahead,
            };
            shared.asked_ns = now_ns;
            shared.wanted = until.saturating_add(shared.ahead - 1).min(self.cltus);
            self.changed.notify_all();
        }
        while self.durable.load(Ordering::Acquire) < until {
            if shared.failed {
                return Err(JournalFailed);
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// As [`Self::reserve`], for these CLTUs and none ahead. `entries` about them are durable with the
    /// reservation. Waits for the disk each time.
    ///
    /// # Errors
    /// [`JournalFailed`], as [`Self::reserve`].
    pub fn reserve_exact(
        &self,
        until: u64,
        entries: Vec<JournalEntry>,
    ) -> Result<(), JournalFailed> {
        let mut shared = self.lock();
        shared.noted.extend(entries);
        shared.wanted = shared.wanted.max(until);
        self.changed.notify_all();
        while self.durable.load(Ordering::Acquire) < until {
            if shared.failed {
                return Err(JournalFailed);
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// Ends [`Self::run`] after the fates that there are: the first `sent` CLTUs of the session were
    /// sent, and no further one will be.
    pub fn close(&self, sent: u64) {
        self.lock().closed = Some(sent);
        self.changed.notify_all();
    }

    /// The state so far.
    #[must_use]
    pub fn state(&self) -> TransferState {
        self.lock().state.clone()
    }

    /// Writes until [`Self::close`]. `collect` appends the fates that were reported since its last
    /// call.
    ///
    /// # Errors
    /// [`JournalError::Io`]; then nothing is reserved any more, and the state is kept without the file.
    pub fn run(&self, mut collect: impl FnMut(&mut Vec<JournalEntry>)) -> Result<(), JournalError> {
        let mut result = Ok(());
        let mut unsynced_ns = None;
        loop {
            let (closed, mut entries) = self.next(&mut collect);
            let reserves = entries.iter().any(|one| matches!(one, JournalEntry::Reserved { .. }));
            if let Some(sent) = closed {
                entries.push(JournalEntry::Closed { sent });
            }
            let now_ns = clock::monotonic_ns();
            if !entries.is_empty() {
                unsynced_ns.get_or_insert(now_ns);
            }
            let is_due = unsynced_ns.is_some_and(|since| now_ns.saturating_sub(since) > DURABLE_NS);
            let syncs = reserves || closed.is_some() || is_due;
            if let Some((file, path)) = &self.file
                && result.is_ok()
                && (syncs || !entries.is_empty())
            {
                result = write(file, &entries, syncs).map_err(io_at(path));
            }
            if syncs {
                unsynced_ns = None;
            }
            self.apply(&entries, result.is_err());
            if closed.is_some() {
                return result;
            }
        }
    }

    /// Waits for something to write; a reservation comes before the fates that may be of it.
    fn next(
        &self,
        collect: &mut impl FnMut(&mut Vec<JournalEntry>),
    ) -> (Option<u64>, Vec<JournalEntry>) {
        let mut shared = self.lock();
        let reserved = self.durable.load(Ordering::Acquire);
        if shared.closed.is_none() && (self.file.is_none() || shared.wanted <= reserved) {
            let waited = self.changed.wait_timeout(shared, LOOK);
            shared = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        // After it is closed no fate is reported any more: all that there are are collected below.
        let closed = shared.closed;
        drop(shared);
        let mut fates = Vec::new();
        collect(&mut fates);
        let mut shared = self.lock();
        let until = shared.wanted;
        let mut entries = std::mem::take(&mut shared.noted);
        drop(shared);
        if until > reserved {
            entries.push(JournalEntry::Reserved { until });
        }
        entries.append(&mut fates);
        (closed, entries)
    }

    fn apply(&self, entries: &[JournalEntry], failed: bool) {
        let mut shared = self.lock();
        shared.failed |= failed;
        for entry in entries {
            // Fates are of CLTUs that were sent, and so reserved.
            let applied = shared.state.apply(entry);
            debug_assert_eq!(applied, Ok(()), "{entry:?}");
            if let JournalEntry::Reserved { until } = entry
                && !failed
            {
                self.durable.store(*until, Ordering::Release);
            }
        }
        drop(shared);
        self.changed.notify_all();
    }
}

/// The journal could not be written: nothing more may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the journal could not be written")]
pub struct JournalFailed;

fn write(mut file: &File, entries: &[JournalEntry], syncs: bool) -> io::Result<()> {
    let mut text = String::new();
    for entry in entries {
        text.push_str(&entry.line());
        text.push('\n');
    }
    file.write_all(text.as_bytes())?;
    if syncs { file.sync_data() } else { Ok(()) }
}
