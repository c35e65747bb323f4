//! Between inputs and the disk: a bounded queue, and a thread that writes.
//!
//! Receivers of inputs never wait for the disk. Inputs that find no room in the queue, or arrive
//! while the disk fails, are not recorded but counted; recording resumes by itself when the disk
//! accepts data again, in a new file that begins with a remark on the gap.

use super::folder::{CaptureFolder, Repair};
use super::limits::{JOURNAL, Limits};
use crate::journal::{self, Input};
use chronoscope_clock as clock;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Troubles that are kept; more are only counted.
const TROUBLES_MAX: usize = 64;
/// Octets that an item takes in the queue besides its own.
const ITEM_BYTES: usize = 96;

/// Longest wait of the thread when there is nothing to do.
const IDLE: Duration = Duration::from_secs(60);

/// Link type of packets that begin with their IP header.
pub(super) const RAW_IP: u16 = 101;

/// An entry to be recorded.
#[derive(Debug)]
pub(super) enum LogEntry {
    /// A packet, into a capture.
    Packet {
        /// UTC, ns since 1970.
        at_ns: i64,
        /// Link type, as tcpdump.org numbers them.
        link: u16,
        /// Octets on the wire.
        original_bytes: u32,
        octets: Vec<u8>,
    },
    /// An input that did not come over the network, for a journal.
    Input(Input),
}

impl LogEntry {
    /// A packet that begins with its IP header.
    pub(super) fn ip(at_ns: i64, octets: Vec<u8>) -> Self {
        let original_bytes = u32::try_from(octets.len()).unwrap_or(u32::MAX);
        Self::Packet { at_ns, link: RAW_IP, original_bytes, octets }
    }

    fn bytes(&self) -> usize {
        ITEM_BYTES
            + match self {
                Self::Packet { octets, .. } => octets.len(),
                Self::Input(input) => input.octets.len() + input.channel.len(),
            }
    }
}

/// Reasons why a recorder cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// Another one records into the folder.
    #[error("{0}: another recorder writes to this folder; name another one")]
    Busy(PathBuf),
    /// The folder cannot be used.
    #[error("{path}: {source}")]
    Folder {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

/// A period in which nothing could be written to the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskOutage {
    /// Begin of the outage, UTC, ns since 1970.
    pub since_ns: i64,
    /// End of the outage; `None` while it lasts.
    pub until_ns: Option<i64>,
    /// Error of the disk.
    pub reason: String,
    /// Inputs that are not recorded because of it.
    pub lost_count: u64,
}

/// Counts of recorded inputs, so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Inputs (packets, or pieces of a stream) that arrived.
    pub arrived_count: u64,
    /// Their octets, headers included.
    pub arrived_bytes: u64,
    /// Inputs that are in files.
    pub written_count: u64,
    /// Octets that are in files.
    pub written_bytes: u64,
    /// Inputs that survive any crash from now on.
    pub durable_count: u64,
    /// Inputs in files that the disk could not confirm as durable.
    pub doubtful_count: u64,
    /// Inputs that found no room in the queue, because the disk is slower than what arrives.
    pub overrun_count: u64,
    /// Inputs that the disk did not take.
    pub refused_count: u64,
    /// Number of files begun.
    pub file_count: u64,
    /// Old files removed.
    pub removed_count: u64,
    /// Times in which the disk took nothing, the first ones.
    pub troubles: Vec<DiskOutage>,
    /// All such times.
    pub trouble_count: u64,
    /// Old files that could not be removed, the last reason.
    pub keep_error: Option<String>,
}

impl Recorded {
    /// Inputs that arrived and are not in files, or perhaps not.
    #[must_use]
    pub const fn lost_count(&self) -> u64 {
        self.overrun_count + self.refused_count + self.doubtful_count
    }

    /// Present trouble with the disk, if it accepts no data.
    #[must_use]
    pub fn trouble(&self) -> Option<&DiskOutage> {
        self.troubles.last().filter(|trouble| trouble.until_ns.is_none())
    }
}

#[derive(Debug, Default)]
struct Queue {
    items: Vec<LogEntry>,
    bytes: usize,
    /// Statistics to be written into the capture: received, dropped.
    statistics: Option<(u64, u64)>,
    ends: bool,
    recorded: Recorded,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Signalled when the queue has an entry.
    filled: Condvar,
    /// The queue was taken.
    taken: Condvar,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes what arrives into the files of a folder, until it is ended.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    queue_bytes_max: usize,
    /// Held as long as this records.
    _lock: File,
    /// Repair of the files of an earlier recorder that died.
    pub repair: Option<Repair>,
}

impl Log {
    /// Begins to record into a folder, which is made if need be.
    ///
    /// # Errors
    /// [`RecorderError`] when another records there, or the folder cannot be used.
    pub fn start(folder: &Path, limits: Limits) -> Result<Self, RecorderError> {
        let fail = |source| RecorderError::Folder { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(fail)?;
        let mut how = File::options();
        how.create(true).truncate(false).write(true);
        let lock = how.open(folder.join("recorder.lock")).map_err(fail)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(RecorderError::Busy(folder.to_owned()));
            }
            Err(fs::TryLockError::Error(error)) => return Err(fail(error)),
        }
        let (captures, repair) = CaptureFolder::open(folder, limits).map_err(fail)?;
        let shared = Arc::new(Shared::default());
        let disk = Disk {
            shared: shared.clone(),
            folder: folder.to_owned(),
            limits,
            captures,
            journal: None,
            inputs: Inputs::default(),
            trouble: false,
            retry_at_ns: 0,
            unsynced_since_ns: None,
        };
        let thread = std::thread::Builder::new().name("recorder".to_owned());
        let thread = thread.spawn(move || disk.run()).map_err(fail)?;
        let queue_bytes_max = limits.queue_bytes_max;
        Ok(Self { shared, thread: Mutex::new(Some(thread)), queue_bytes_max, _lock: lock, repair })
    }

    /// Takes an input; never waits.
    pub(super) fn push(&self, item: LogEntry) {
        let bytes = item.bytes();
        let mut queue = self.shared.queue();
        queue.recorded.arrived_count += 1;
        queue.recorded.arrived_bytes += (bytes - ITEM_BYTES) as u64;
        if queue.bytes + bytes > self.queue_bytes_max {
            queue.recorded.overrun_count += 1;
            return;
        }
        queue.bytes += bytes;
        queue.items.push(item);
        if queue.items.len() == 1 {
            self.shared.filled.notify_one();
        }
    }

    /// Takes an input, and waits for room: for what has no time of its own to keep to.
    pub(super) fn push_patiently(&self, item: LogEntry) {
        let mut queue = self.shared.queue();
        while queue.bytes > 0 && queue.bytes + item.bytes() > self.queue_bytes_max {
            queue = self.shared.taken.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        drop(queue);
        self.push(item);
    }

    /// Says in the capture how many packets the kernel gave out and how many it dropped, so far.
    pub(super) fn statistics(&self, received: u64, dropped: u64) {
        self.shared.queue().statistics = Some((received, dropped));
        self.shared.filled.notify_one();
    }

    /// Counts of recorded inputs, so far.
    #[must_use]
    pub fn recorded(&self) -> Recorded {
        self.shared.queue().recorded.clone()
    }

    /// Writes the queue, makes everything durable, and ends: later inputs are not recorded.
    pub fn end(&self) -> Recorded {
        self.shared.queue().ends = true;
        self.shared.filled.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // a panic there was printed there
        }
        self.recorded()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.end();
    }
}

#[derive(Debug, Default)]
struct Inputs {
    count: u64,
    bytes: u64,
    unsynced_count: u64,
    durable_count: u64,
    doubtful_count: u64,
}

/// The writing thread.
struct Disk {
    shared: Arc<Shared>,
    folder: PathBuf,
    limits: Limits,
    captures: CaptureFolder,
    /// Made for the first input that needs it.
    journal: Option<journal::Writer>,
    /// Written into the journal.
    inputs: Inputs,
    trouble: bool,
    /// Time of the next try of the disk, monotonic.
    retry_at_ns: u64,
    /// Time of the first write since the last sync, monotonic.
    unsynced_since_ns: Option<u64>,
}

impl Disk {
    fn run(mut self) {
        let mut files = 0;
        loop {
            let (items, statistics, ends) = self.take();
            if !items.is_empty() {
                self.write(items);
            }
            if let Some((received, dropped)) = statistics.filter(|_| !self.trouble) {
                let said = self.captures.statistics(received, dropped);
                said.unwrap_or_else(|error| self.failed(&error));
            }
            if ends || self.due_after().is_some_and(|after| after.is_zero()) {
                self.sync();
            }
            if self.file_count() != files {
                files = self.file_count();
                self.forget();
            }
            if ends {
                return;
            }
        }
    }

    /// Waits for inputs, or until something has to be synced.
    fn take(&self) -> (Vec<LogEntry>, Option<(u64, u64)>, bool) {
        let mut queue = self.shared.queue();
        if queue.items.is_empty() && queue.statistics.is_none() && !queue.ends {
            let wait = self.due_after().unwrap_or(IDLE).max(Duration::from_millis(1));
            let woken = self.shared.filled.wait_timeout(queue, wait);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let items = std::mem::take(&mut queue.items);
        queue.bytes = 0;
        self.shared.taken.notify_all();
        (items, queue.statistics.take(), queue.ends)
    }

    fn write(&mut self, items: Vec<LogEntry>) {
        let now_ns = clock::monotonic_ns();
        let before = self.captures.written_count + self.inputs.count;
        let count = items.len() as u64;
        let tried = !self.trouble || now_ns >= self.retry_at_ns;
        if tried && count > 0 {
            let begun = self.recover();
            match begun.and_then(|()| self.append(items)) {
                Ok(()) => self.healed(),
                Err(error) => self.failed(&error),
            }
        }
        let written = self.captures.written_count + self.inputs.count - before;
        if written > 0 {
            self.unsynced_since_ns.get_or_insert(now_ns);
        }
        let mut queue = self.shared.queue();
        let recorded = &mut queue.recorded;
        recorded.refused_count += count - written;
        if let Some(trouble) = recorded.troubles.last_mut().filter(|_| count > written) {
            trouble.lost_count += count - written;
        }
        drop(queue);
        self.tell();
    }

    /// After a trouble the next file begins with a remark on the gap.
    fn recover(&mut self) -> io::Result<()> {
        if !self.trouble {
            return Ok(());
        }
        let troubles = self.shared.queue().recorded.troubles.clone();
        let Some(trouble) = troubles.last() else { return Ok(()) };
        self.captures.remark(format!(
            "{} inputs before this are not recorded: {}",
            trouble.lost_count, trouble.reason
        ))
    }

    fn append(&mut self, items: Vec<LogEntry>) -> io::Result<()> {
        for item in items {
            match item {
                LogEntry::Packet { at_ns, link, original_bytes, octets } => {
                    self.captures.packet(at_ns, link, original_bytes, &octets)?;
                }
                LogEntry::Input(input) => {
                    let appended = self.journal().and_then(|journal| journal.append(&input));
                    if let Err(error) = appended {
                        // It gave its file up, and begins another.
                        self.inputs.doubtful_count +=
                            std::mem::take(&mut self.inputs.unsynced_count);
                        return Err(error);
                    }
                    self.inputs.count += 1;
                    self.inputs.unsynced_count += 1;
                    self.inputs.bytes += input.octets.len() as u64;
                }
            }
        }
        self.captures.flush()
    }

    fn journal(&mut self) -> io::Result<&mut journal::Writer> {
        if self.journal.is_none() {
            let limits = journal::Limits {
                file_bytes_max: self.limits.file_bytes_max,
                file_age_max: self.limits.file_age_max,
                files_max: usize::MAX, // what is kept is decided for both kinds together
                sync_every: Duration::MAX, // as well as when it is synced
            };
            self.journal = Some(journal::Writer::new(&self.folder.join(JOURNAL), limits)?);
        }
        self.journal.as_mut().ok_or_else(|| io::Error::other("no journal"))
    }

    fn file_count(&self) -> u64 {
        self.captures.file_count + self.journal.as_ref().map_or(0, |journal| journal.file_count)
    }

    fn failed(&mut self, error: &io::Error) {
        let retry_ns = u64::try_from(self.limits.retry_every.as_nanos()).unwrap_or(u64::MAX);
        self.retry_at_ns = clock::monotonic_ns().saturating_add(retry_ns);
        if std::mem::replace(&mut self.trouble, true) {
            return;
        }
        let (since_ns, reason) = (clock::utc_now_ns(), error.to_string());
        let mut queue = self.shared.queue();
        queue.recorded.trouble_count += 1;
        if queue.recorded.troubles.len() == TROUBLES_MAX {
            queue.recorded.troubles.pop(); // the first ones tell most, and the last is needed
        }
        let trouble = DiskOutage { since_ns, until_ns: None, reason, lost_count: 0 };
        queue.recorded.troubles.push(trouble);
    }

    fn healed(&mut self) {
        if std::mem::replace(&mut self.trouble, false)
            && let Some(trouble) = self.shared.queue().recorded.troubles.last_mut()
        {
            trouble.until_ns = Some(clock::utc_now_ns());
        }
    }

    /// Time until something has to be synced.
    fn due_after(&self) -> Option<Duration> {
        let age_ns = clock::monotonic_ns().saturating_sub(self.unsynced_since_ns?);
        Some(self.limits.sync_every.saturating_sub(Duration::from_nanos(age_ns)))
    }

    fn sync(&mut self) {
        if self.unsynced_since_ns.take().is_none() {
            return;
        }
        let captures = self.captures.sync();
        let journal = self.journal.as_mut().map_or(Ok(()), journal::Writer::sync);
        let count = std::mem::take(&mut self.inputs.unsynced_count);
        match &journal {
            Ok(()) => self.inputs.durable_count += count,
            Err(_) => self.inputs.doubtful_count += count,
        }
        if let Err(error) = captures.and(journal) {
            self.failed(&error);
        }
        self.tell();
    }

    fn tell(&self) {
        let (captures, inputs) = (&self.captures, &self.inputs);
        let mut queue = self.shared.queue();
        let recorded = &mut queue.recorded;
        recorded.written_count = captures.written_count + inputs.count;
        recorded.written_bytes = captures.written_bytes + inputs.bytes;
        recorded.durable_count = captures.durable_count + inputs.durable_count;
        recorded.doubtful_count = captures.doubtful_count + inputs.doubtful_count;
        recorded.file_count = self.file_count();
    }

    fn forget(&mut self) {
        let forgotten = self.limits.forget(&self.folder, clock::utc_now_ns());
        let mut queue = self.shared.queue();
        match forgotten {
            Ok(removed) => queue.recorded.removed_count += removed,
            Err(error) => queue.recorded.keep_error = Some(error.to_string()),
        }
    }
}
