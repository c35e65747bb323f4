//! Reading the whole store once a week while it is being written: a disk that forgets does not say so
//! until it is asked.

use crate::status::{ScrubStatus, Status};
use chronoscope_clock as clock;
use chronoscope_store::{Checked, StoreError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time from one reading to the start of the next, in nanoseconds.
const EVERY_NS: i64 = 7 * 86_400 * 1_000_000_000;
/// Interval between two checks whether to begin or to stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// After each segment it rests so many times as long as that took: at most a tenth of a core and of
/// the disk's time.
const REST: u32 = 9;

/// Reads everything when it is time.
#[derive(Debug)]
pub(crate) struct Scrub {
    dir: PathBuf,
    stop: AtomicBool,
    status: Mutex<ScrubStatus>,
}

impl Scrub {
    /// A scrub of the store in `dir`.
    pub(crate) fn new(dir: PathBuf) -> Self {
        let status = ScrubStatus { ended_ns: read_time(&dir), ..ScrubStatus::default() };
        Self { dir, stop: AtomicBool::new(false), status: Mutex::new(status) }
    }

    /// Reads the store whenever a week is over, until [`Self::stop`].
    pub(crate) fn run(&self) {
        let started_ns = clock::utc_now_ns();
        let mut tried_ns = None;
        while !self.stop.load(Ordering::Relaxed) {
            self.look(clock::utc_now_ns(), started_ns, &mut tried_ns);
            clock::sleep(LOOK_EVERY);
        }
    }

    /// Reads the store if it is time. A new one is read a week after its first start, and one that
    /// cannot be read is tried again after a week.
    fn look(&self, now_ns: i64, started_ns: i64, tried_ns: &mut Option<i64>) {
        let last_ns = tried_ns.or(self.status().ended_ns).unwrap_or(started_ns);
        if now_ns.saturating_sub(last_ns) >= EVERY_NS {
            *tried_ns = Some(now_ns);
            self.read(now_ns);
        }
    }

    fn read(&self, now_ns: i64) {
        let mut began_ns = None;
        let checked = chronoscope_store::check(&self.dir, |_, _| {
            let now_ns = clock::monotonic_ns();
            if let Some(began_ns) = began_ns {
                self.rest(Duration::from_nanos(now_ns.saturating_sub(began_ns)) * REST);
            }
            began_ns = Some(clock::monotonic_ns());
            !self.stop.load(Ordering::Relaxed)
        });
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        match checked {
            // The reading begins anew after the next start.
            Err(StoreError::Cancelled) => {}
            Err(error) => status.error = Some(error.to_string()),
            Ok(checked) => {
                *status = of(&checked, now_ns);
                if let Err(error) = write_time(&self.dir, now_ns) {
                    status.error = Some(format!("{}: {error}", time_path(&self.dir).display()));
                }
            }
        }
    }

    /// Sleeps, in pieces, for as long as nobody wants it to stop.
    fn rest(&self, mut time: Duration) {
        while !time.is_zero() && !self.stop.load(Ordering::Relaxed) {
            let piece = time.min(LOOK_EVERY);
            clock::sleep(piece);
            time -= piece;
        }
    }

    /// Makes [`Self::run`] return, within a tenth of a second and the time that one segment takes.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn status(&self) -> ScrubStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds what it found to the status; damage is trouble until it is repaired and read again.
    pub(crate) fn fill(&self, status: &mut Status) {
        let own = self.status();
        if status.error.is_none() {
            status.error.clone_from(&own.error);
        }
        status.scrub = own;
    }
}

fn of(checked: &Checked, ended_ns: i64) -> ScrubStatus {
    let error = checked.damage.first().map(|first| {
        format!(
            "{} files of the store are not what was written, the first {first}: \
             `chronoscope store repair --dry-run`",
            checked.damage.len()
        )
    });
    ScrubStatus {
        ended_ns: Some(ended_ns),
        segments: checked.segments,
        bytes: checked.bytes,
        unverified_segments: checked.unverified,
        damaged_files: checked.damage.len() as u64,
        error,
    }
}

fn time_path(dir: &Path) -> PathBuf {
    dir.join("scrubbed")
}

/// When the store was read last; `None` where it never was, or what is noted is no time.
fn read_time(dir: &Path) -> Option<i64> {
    std::fs::read_to_string(time_path(dir)).ok()?.trim().parse().ok()
}

fn write_time(dir: &Path, at_ns: i64) -> std::io::Result<()> {
    std::fs::write(time_path(dir), format!("{at_ns}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Batch, Record};
    use chronoscope_store::{Append, Options, Store};

    #[test]
    fn a_store_is_read_after_a_week_and_damage_is_trouble() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), Options::default(), 0).unwrap();
        let mut batch = Batch::default();
        batch.push(Record::default(), b"");
        store.append(&Append { batch: Some(&batch), ..Append::default() }, 0).unwrap();
        store.seal_all(0).unwrap();
        let scrubbed = |scrub: &Scrub| {
            let mut status = Status::default();
            scrub.fill(&mut status);
            status
        };
        const NOW_NS: i64 = 1_795_262_400_000_000_000;
        write_time(dir.path(), NOW_NS).unwrap();
        let scrub = Scrub::new(dir.path().to_owned());
        let mut tried_ns = None;
        scrub.look(NOW_NS + EVERY_NS - 1, NOW_NS, &mut tried_ns);
        assert_eq!(scrubbed(&scrub).scrub.segments, 0, "it is not yet a week");
        scrub.look(NOW_NS + EVERY_NS, NOW_NS, &mut tried_ns);
        let status = scrubbed(&scrub);
        assert_eq!((status.scrub.segments, status.scrub.damaged_files), (1, 0));
        assert_eq!(status.error, None);
        assert_eq!(read_time(dir.path()), status.scrub.ended_ns);
        let segment = std::fs::read_dir(dir.path().join("segments")).unwrap().next().unwrap();
        let path = segment.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        scrub.look(NOW_NS + 2 * EVERY_NS, NOW_NS, &mut tried_ns);
        let status = scrubbed(&scrub);
        assert_eq!(status.scrub.damaged_files, 1);
        assert!(status.error.unwrap().contains(&path.display().to_string()));
    }
}
