//! Between two steps of a replay: progress, pauses, the begin of the window, and the memory at the
//! end.

use super::control::Next;
use super::heap_use::heaps;
use super::window::{Baseline, ProcessBaseline};
use super::{Coordinator, Failure, PROGRESS_NS, Progress, START_MONOTONIC_NS, after_start};
use crate::heap::NumberedHeap;
use crate::player::Player;
use crate::process;
use chronoscope_clock as clock;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Coordinator {
    /// Real time without pauses, and CPU time of this thread, since the beginning.
    pub(super) fn spent(&self) -> (Duration, Duration) {
        let real_ns = clock::monotonic_ns().saturating_sub(self.start_ns.0);
        (
            Duration::from_nanos(real_ns.saturating_sub(self.hold.paused_ns())),
            Duration::from_nanos(clock::thread_cpu_ns().saturating_sub(self.start_ns.1)),
        )
    }

    fn utc_ns(&self) -> i64 {
        let passed_ns = self.schedule.now_ns() - START_MONOTONIC_NS;
        self.settings.start_utc_ns.saturating_add(passed_ns)
    }

    pub(super) fn progress(&self, player: &Player) -> Progress {
        Progress {
            elapsed: self.elapsed(),
            utc_ns: self.utc_ns(),
            real: self.spent().0,
            grants: self.outcome.grants,
            inputs: player.inputs(),
            paused: self.hold.is_held(),
            window_begins: false,
        }
    }

    /// Says how far it is when it has not for a while; whether it has to end.
    pub(super) fn look_up(
        &self,
        player: &Player,
        told_ns: &mut u64,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        if self.settings.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Failure::Interrupted);
        }
        let now_ns = clock::monotonic_ns();
        if let Some(limit) = self.settings.limit.filter(|limit| self.spent().0 > *limit) {
            return Err(Failure::TooLong { limit, elapsed: self.elapsed() });
        }
        if now_ns - *told_ns >= PROGRESS_NS {
            *told_ns = now_ns;
            tell(self.progress(player));
        }
        Ok(())
    }

    /// Waits while the replay is paused, or ahead of its pace. Every process waits meanwhile.
    pub(super) fn hold(
        &mut self,
        next: Next,
        player: &Player,
        told_ns: &mut u64,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        if self.hold.is_idle() || self.stopping {
            return Ok(());
        }
        loop {
            let now_ns = self.schedule.now_ns();
            self.hold.obey(self.utc_ns(), now_ns);
            let was_held = self.hold.is_held();
            let wait = self.hold.wait(next);
            if self.hold.is_held() != was_held {
                tell(self.progress(player));
            }
            let Some(wait) = wait else { return Ok(()) };
            self.look_up(player, told_ns, tell)?;
            self.hold.sleep(wait);
        }
    }

    /// Whether the window begins before the clock moves to `to_ns` (monotonic).
    pub(super) fn is_window_before(&self, to_ns: i64) -> bool {
        self.window_after.is_some_and(|after| to_ns >= after_start(after))
    }

    /// Notes what was used until now: every process waits, and nothing of the window has happened.
    pub(super) fn begin_window(
        &mut self,
        player: &mut Player,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        let Some(after) = self.window_after.take() else { return Ok(()) };
        player.begin_window()?;
        let (real, own_cpu) = self.spent();
        let processes = self.processes.iter().enumerate().map(|(who, process)| ProcessBaseline {
            usage: process::usage_so_far(process.host_pid)
                .or(process.outcome.usage)
                .unwrap_or_default(),
            counts: process.counters.as_ref().and_then(|counters| counters.read().ok()),
            activity: self.page.activity(who),
            grants: process.outcome.grants,
        });
        self.baseline = Some(Baseline {
            elapsed: after,
            real,
            own_cpu,
            grants: self.outcome.grants,
            moves: self.outcome.moves,
            processes: processes.collect(),
            heaps: self.heaps(),
        });
        tell(Progress { window_begins: true, ..self.progress(player) });
        Ok(())
    }

    /// Heaps of all processes now; why they cannot be read is a remark.
    pub(super) fn heaps(&mut self) -> Vec<NumberedHeap> {
        heaps(self.settings.heap_pages.as_deref()).unwrap_or_else(|error| {
            self.outcome.remarks.push(format!("heap: {error}"));
            Vec::new()
        })
    }

    /// Notes the memory of all processes, before they give it back.
    pub(super) fn note_memory(&mut self) {
        self.heaps_asked = self.heaps();
        for process in self.processes.iter_mut().filter(|process| process.line.is_some()) {
            process.memory = process::memory_of(process.host_pid);
        }
    }
}
