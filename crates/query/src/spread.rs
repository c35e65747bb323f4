//! Work that several threads share.

use chronoscope_store::StoreError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Lets threads work through `jobs`, each taking the next one; every thread has its own state, and
/// all states are returned. The first error ends the work.
pub(crate) fn spread<J: Sync, S: Send>(
    jobs: &[J],
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &J) -> Result<(), StoreError> + Sync,
) -> Result<Vec<S>, StoreError> {
    let next = AtomicUsize::new(0);
    let thread = || {
        let mut mine = state();
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = work(&mut mine, job) {
                next.store(jobs.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(mine)
    };
    let count = threads.clamp(1, jobs.len().max(1));
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|_| scope.spawn(thread)).collect();
        let mut states = vec![thread()];
        for other in others {
            states.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        states.into_iter().collect()
    })
}
