//! The thread that counts rows as they come into the store.

use super::tally::Tally;
use crate::log::Line;
use chronoscope_clock as clock;
use chronoscope_store::Tail;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Largest age of a count.
const EVERY: Duration = Duration::from_secs(1);

/// Counts while it lives.
#[derive(Debug)]
pub(crate) struct Follower {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) tally: Tally,
    /// Times that the log could not be read.
    pub(super) errors: u64,
    /// Whether the last attempt to read the log succeeded.
    pub(super) following: bool,
}

impl Follower {
    /// Begins to count the rows that come into the store in `data_dir` from now on.
    pub(crate) fn start(data_dir: PathBuf) -> Arc<Self> {
        let follower = Arc::new(Self { seen: Mutex::default() });
        let counted = Arc::downgrade(&follower);
        let thread = std::thread::Builder::new().name("metrics".to_owned());
        if let Err(error) = thread.spawn(move || count(&data_dir, &counted)) {
            Line::error("no_metrics_by_class").with("error", error).say();
            follower.seen().errors += 1;
        }
        follower
    }

    /// A follower that receives no rows.
    #[cfg(test)]
    pub(super) fn idle() -> Self {
        Self { seen: Mutex::default() }
    }

    /// Whether the store's log could be read last, at most some seconds ago.
    pub(crate) fn is_following(&self) -> bool {
        self.seen().following
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts until nobody wants to know.
fn count(data_dir: &Path, follower: &Weak<Follower>) {
    let mut tail = None;
    loop {
        let Some(follower) = follower.upgrade() else { return };
        let read = match &mut tail {
            None => Tail::at_end(data_dir).map(|begun| tail = Some(begun)),
            Some(tail) => {
                // The lock is held for a block at a time.
                let read = tail.read(|batch, names| follower.seen().tally.add(batch, names));
                read.map(|followed| follower.seen().tally.missed_rows += followed.missed)
            }
        };
        {
            let mut seen = follower.seen();
            seen.following = read.is_ok();
            seen.errors += u64::from(read.is_err());
        }
        drop(follower);
        clock::sleep(EVERY);
    }
}
