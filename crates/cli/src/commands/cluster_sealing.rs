//! Links the chains of a cluster while it is served: by one of all `serve` before it.

use anyhow::{Context, Result};
use chronoscope_clickhouse::{DURATIONS_KEPT, PrunedLinkings};
use chronoscope_clock as clock;
use chronoscope_query::{ClusterView, Progress, QueryError, Sealed};
use chronoscope_server::LinkingLease;
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
/// Looks between two deletions of what was replaced.
const PRUNE_EVERY: u32 = 60;
/// How long what was replaced stays for those who read it; a question that takes longer notices.
const GRACE: Duration = DURATIONS_KEPT;
/// Looks at near minutes between two at all.
const ALL_EVERY: u32 = 360;
/// Interval of looking whether it is this process that links.
const LEASE_EVERY: Duration = Duration::from_secs(1);
/// Longest pause in which a stop is not noticed.
const LOOK: Duration = Duration::from_millis(100);

/// A thread that seals minutes.
pub(super) struct Sealing {
    progress: Arc<Progress>,
    thread: JoinHandle<()>,
}

impl Sealing {
    /// Begins, while the lease is held; a minute is left alone until rows have had `wait` to come.
    ///
    /// # Errors
    /// When there can be no more threads.
    pub(super) fn start(view: ClusterView, lease: LinkingLease, wait: Duration) -> Result<Self> {
        let progress = Arc::new(Progress::default());
        let theirs = Arc::clone(&progress);
        let wait_ns = i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX);
        let thread = std::thread::Builder::new().name("sealing".to_owned());
        let thread = thread.spawn(move || {
            let mut round: Option<u32> = None;
            while !theirs.cancel.load(Ordering::Relaxed) {
                if !lease.is_held() {
                    if round.take().is_some() {
                        LogLine::info("linking_left_to_another").say();
                    }
                    pause(&theirs, LEASE_EVERY);
                    continue;
                }
                // Who takes over looks at all minutes first.
                let current = round.map_or(0, |round| round.wrapping_add(1));
                if round.replace(current).is_none() {
                    LogLine::info("linking_taken_over").say();
                }
                let last = Minute::of(clock::utc_now_ns().saturating_sub(wait_ns)).0 - 1;
                let all = current.is_multiple_of(ALL_EVERY);
                let first = if all { i64::MIN } else { last - NEAR_MINUTES };
                seal(&view, &(first..=last), &theirs);
                if current.is_multiple_of(PRUNE_EVERY) {
                    // Further back than what is linked again: a chain reaches into other minutes.
                    prune(&view, &(first.saturating_sub(NEAR_MINUTES)..=i64::MAX));
                }
                pause(&theirs, EVERY);
            }
        });
        let thread = thread.context("cannot start the thread that links chains")?;
        Ok(Self { progress, thread })
    }

    /// Tells it to end; a minute that is being sealed is left for the next time, or for another
    /// process.
    pub(super) fn cancel(&self) {
        self.progress.cancel.store(true, Ordering::Relaxed);
    }

    /// Ends it, and waits until it has.
    pub(super) fn stop(self) {
        self.cancel();
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

/// Deletes what no reader can need any more.
fn prune(view: &ClusterView, minutes: &RangeInclusive<i64>) {
    match view.cluster().prune_linkings(minutes, GRACE) {
        Ok(pruned) if pruned == PrunedLinkings::default() => {}
        Ok(pruned) => LogLine::info("linkings_pruned")
            .with("replaced", pruned.replaced)
            .with("unpublished", pruned.unpublished)
            .with("gone", pruned.gone)
            .say(),
        // Nothing depends on it: the next time more is deleted.
        Err(error) => LogLine::warn("linkings_not_pruned").with("error", error).say(),
    }
    match view.cluster().prune_durations(minutes, GRACE) {
        Ok(0) => {}
        Ok(replaced) => LogLine::info("durations_pruned").with("replaced", replaced).say(),
        Err(error) => LogLine::warn("durations_not_pruned").with("error", error).say(),
    }
}

fn pause(progress: &Progress, time: Duration) {
    let ends_ns =
        clock::monotonic_ns().saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    while clock::monotonic_ns() < ends_ns && !progress.cancel.load(Ordering::Relaxed) {
        clock::sleep(LOOK);
    }
}
