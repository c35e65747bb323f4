//! Interrupts a life of a store or of a spool at each of its steps, by a crash of the process, a loss
//! of power or an error of the disk, and checks what is left.

use crate::StoreError;
use crate::crash::{Crash, steps_of};
use crate::disk::Disk;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

/// What is done to files, and what must hold of them whenever it was interrupted. `T` is what the
/// caller was told.
pub(crate) struct Life<T> {
    /// Ends at the first error that does not pass.
    pub(crate) live: fn(Disk, &Path, &mut T) -> Result<(), StoreError>,
    /// Fails unless the files have what was reported durable, once.
    pub(crate) check: fn(&Path, &T, &str),
    /// Fails unless a life without an interruption came to everything.
    pub(crate) whole: fn(&Path, &T),
    /// What still holds when the next life begins.
    pub(crate) again: fn(T) -> T,
    /// The files are open before this step, counted from 0. Only an error of the disk before it may
    /// end a life.
    pub(crate) opening: u64,
}

impl<T: Default + Debug> Life<T> {
    /// Number of steps of a life without an interruption.
    fn steps(&self) -> u64 {
        let dir = tempdir();
        let crash = Arc::new(Crash::at(u64::MAX, 0));
        let mut told = T::default();
        (self.live)(on(&crash), dir.path(), &mut told).unwrap();
        (self.check)(dir.path(), &told, "no crash");
        (self.whole)(dir.path(), &told);
        crash.steps()
    }

    /// Interrupts one life at each step, and lets another follow: what was not durable comes out of
    /// the ring again.
    pub(crate) fn crash_at_each_step(&self) {
        let steps = self.steps();
        for at in steps_of(steps) {
            // A write is interrupted at its start, inside and at its very end.
            let torn = torn(at);
            // The process is killed; or power goes, with names undone or not, and more or fewer of
            // the bytes that were not synced.
            let powers = [(true, true, 0.0), (true, false, 0.5), (true, true, 1.0)];
            let power = powers[usize::try_from(at).unwrap() % 3];
            for (power, undo, keep) in [(false, false, 1.0), power] {
                let dir = tempdir();
                let crash = Arc::new(Crash::at(at, torn));
                let mut told = T::default();
                let result = (self.live)(on(&crash), dir.path(), &mut told);
                assert!(result.is_err(), "step {at} of {steps} was not reached");
                if power {
                    crash.lose_power(undo, keep);
                }
                let what =
                    format!("step {at}, torn {torn}, power {power}, undo {undo}, keep {keep}");
                (self.check)(dir.path(), &told, &what);
                self.second(dir.path(), Disk::default(), told, &what);
            }
        }
    }

    /// A full disk and a disk that fails once, at each step: the same life goes on.
    pub(crate) fn fail_at_each_step(&self) {
        for at in steps_of(self.steps()) {
            for code in [libc::ENOSPC, libc::EIO] {
                let dir = tempdir();
                let disk = on(&Arc::new(Crash::passing(at, 100, code)));
                let mut told = T::default();
                let result = (self.live)(disk.clone(), dir.path(), &mut told);
                let what = format!("step {at}, error {code}");
                (self.check)(dir.path(), &told, &what);
                assert!(result.is_ok() || at < self.opening, "{what}: {result:?}");
                self.second(dir.path(), disk, told, &what);
            }
        }
    }

    fn second(&self, dir: &Path, disk: Disk, told: T, what: &str) {
        let mut told = (self.again)(told);
        (self.live)(disk, dir, &mut told).unwrap();
        (self.check)(dir, &told, &format!("{what}, second life"));
    }
}

/// Bytes that are written of a write that is interrupted at this step.
pub(crate) fn torn(at: u64) -> usize {
    [0, 3, 700, usize::MAX][usize::try_from(at).unwrap() % 4]
}

/// A disk that this interrupts.
pub(crate) fn on(crash: &Arc<Crash>) -> Disk {
    Disk { crash: Some(crash.clone()), ..Disk::default() }
}

/// `None` for an error after which one goes on, as a collector does: what the system said, once.
pub(crate) fn passing<T>(result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_passing() => Ok(None),
        Err(StoreError::Io { source, .. }) if source.raw_os_error().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A directory in memory where there is one: these tests sync some hundred thousand times.
pub(crate) fn tempdir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
