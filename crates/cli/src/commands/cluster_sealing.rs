//! Links the chains of a cluster while it is served.

use anyhow::{Context, Result};
use chronoscope_clock as clock;
use chronoscope_query::{ClusterView, Progress, QueryError, Sealed};
use chronoscope_server::log::LogLine;
use chronoscope_store::Minute;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval of looking for minutes that are over or have late rows.
const EVERY: Duration = Duration::from_secs(10);
/// Minutes that are looked at each time; older ones once an hour.
const NEAR_MINUTES: i64 = 120;
/// Looks at near minutes between two at all.
const ALL_EVERY: u32 = 360;
/// Longest pause in which a stop is not noticed.
const LOOK: Duration = Duration::from_millis(100);

/// A thread that seals minutes.
pub(super) struct Sealing {
    progress: Arc<Progress>,
    thread: JoinHandle<()>,
}

impl Sealing {
    /// Begins; a minute is left alone until rows have had `wait` to come.
    ///
    /// # Errors
    /// When there can be no more threads.
    pub(super) fn start(view: ClusterView, wait: Duration) -> Result<Self> {
        let progress = Arc::new(Progress::default());
        let theirs = Arc::clone(&progress);
        let wait_ns = i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX);
        let thread = std::thread::Builder::new().name("sealing".to_owned());
        let thread = thread.spawn(move || {
            let mut round: u32 = 0;
            while !theirs.cancel.load(Ordering::Relaxed) {
                let last = Minute::of(clock::utc_now_ns().saturating_sub(wait_ns)).0 - 1;
                let all = round.is_multiple_of(ALL_EVERY);
                let first = if all { i64::MIN } else { last - NEAR_MINUTES };
                seal(&view, &(first..=last), &theirs);
                round = round.wrapping_add(1);
                pause(&theirs);
            }
        });
        let thread = thread.context("cannot start the thread that links chains")?;
        Ok(Self { progress, thread })
    }

    /// Ends it; a minute that is being sealed is left for the next time.
    pub(super) fn stop(self) {
        self.progress.cancel.store(true, Ordering::Relaxed);
        if self.thread.join().is_err() {
            LogLine::error("sealing_failed").with("error", "its thread panicked").say();
        }
    }
}

fn seal(view: &ClusterView, minutes: &RangeInclusive<i64>, progress: &Progress) {
    match view.seal(minutes, progress) {
        Ok(sealed) if sealed == Sealed::default() => {}
        Ok(sealed) => LogLine::info("minutes_linked")
            .with("minutes", sealed.minutes)
            .with("rows", sealed.rows)
            .with("unusual", sealed.unusual)
            .with("foreign", sealed.foreign)
            .with("sketched", sealed.sketched)
            .say(),
        Err(QueryError::Store(error)) if error.is_cancelled() => {}
        // Questions put chains together themselves until it works again.
        Err(error) => LogLine::warn("minutes_not_linked").with("error", error).say(),
    }
}

fn pause(progress: &Progress) {
    let ends_ns =
        clock::monotonic_ns().saturating_add(u64::try_from(EVERY.as_nanos()).unwrap_or(u64::MAX));
    while clock::monotonic_ns() < ends_ns && !progress.cancel.load(Ordering::Relaxed) {
        clock::sleep(LOOK);
    }
}
