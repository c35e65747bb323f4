//! Lives of a store and of a spool that are interrupted at every step, for their tests.

use crate::StoreError;
use crate::crash::Crash;
use crate::disk::Disk;
use std::path::Path;
use std::sync::Arc;

/// A crash of the process, or of the machine with its power.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CrashPlan {
    /// The step at which it comes, from 0.
    pub(crate) at: u64,
    /// Whether power goes as well: whether names that were not synced are undone, and what part is
    /// left of the bytes that were not.
    pub(crate) power: Option<(bool, f64)>,
}

impl CrashPlan {
    /// At each step a killed process, and a loss of power with more or less left.
    pub(crate) fn each(steps: u64) -> impl Iterator<Item = Self> {
        (0..steps).flat_map(|at| {
            let power = [(true, 0.0), (false, 0.5), (true, 1.0)][usize::try_from(at).unwrap() % 3];
            [None, Some(power)].map(|power| Self { at, power })
        })
    }

    /// Lets `life` end by it and leaves `dir` as it is then. A write is interrupted at its start,
    /// inside or at its very end, by the number of the step.
    pub(crate) fn strike(
        self,
        dir: &Path,
        life: impl FnOnce(Disk, &Path) -> Result<(), StoreError>,
    ) {
        let torn = [0, 3, 700, usize::MAX][usize::try_from(self.at).unwrap() % 4];
        let crash = Arc::new(Crash::at(self.at, torn));
        assert!(life(on(&crash), dir).is_err(), "{self:?} was not reached");
        if let Some((undo, keep)) = self.power {
            crash.lose_power(undo, keep);
        }
    }
}

/// Disks on which each step fails once, with an error of the system that passes: the step, and what it
/// is in words.
pub(crate) fn failing_once(steps: u64) -> impl Iterator<Item = (u64, String, Disk)> {
    (0..steps).flat_map(|at| {
        [libc::ENOSPC, libc::EIO].map(|code| {
            let crash = Arc::new(Crash::passing(at, 100, code));
            (at, format!("step {at}, error {code}"), on(&crash))
        })
    })
}

/// A disk that nothing happens to, whose steps are counted.
pub(crate) fn counting() -> (Arc<Crash>, Disk) {
    let crash = Arc::new(Crash::at(u64::MAX, 0));
    let disk = on(&crash);
    (crash, disk)
}

fn on(crash: &Arc<Crash>) -> Disk {
    Disk { crash: Some(Arc::clone(crash)), ..Disk::default() }
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
