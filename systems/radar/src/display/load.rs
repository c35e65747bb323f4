//! Choice between drawing each update at once and collecting updates (multiplot averaging, MPA).
//!
//! Overload is measured, not guessed: the share of the time for which this process was at work, and
//! the longest time for which received updates were not all processed. Both are in elapsed time: a
//! processor taken by others counts as much as one used up here. [`Policy::Auto`] collects only
//! where the process's own CPU time is a real part of it, because against other programs it does
//! not help.
//!
//! The original system decides the way back wrongly: every 25 s it looks whether the load *while
//! averaging* is low, which it is because of the averaging, switches back, is overloaded again, and
//! shows peaks of several seconds. [`Policy::Document`] does the same. [`Policy::Auto`] leaves only
//! when the load that drawing each update *would* cause, by a cost measured on some updates at that
//! moment, fits with a margin.

use std::str::FromStr;
use std::time::Duration;

/// Policy that decides when updates are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Policy {
    /// Under load, and back when the load without it is predicted to fit.
    #[default]
    Auto,
    /// Under load, and back when the load with it is low: the rule of the PHOENIX evaluation.
    Document,
    /// Updates are always collected.
    Always,
    /// Updates are never collected.
    Never,
}

/// Mode of drawing updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateMode {
    /// Each at once.
    Standard,
    /// Collected, and drawn every 500 ms.
    Averaging,
}

/// Interval of the collected drawing, ns.
pub(super) const FLUSH_NS: u64 = 500_000_000;
/// Time from a beginning of [`Policy::Auto`] to the first drawing, ns: what is collected first has waited
/// already.
const FIRST_FLUSH_NS: u64 = 100_000_000;
/// Time between two looks at whether to go back to standard mode, ns.
const RECHECK_NS: u64 = 25_000_000_000;
/// Interval over which load is measured, ns.
const WINDOW_NS: u64 = 1_000_000_000;
/// Above this share of its time at work a process is overloaded.
const BUSY_SHARE_MAX: f64 = 0.8;
/// Input that waits longer than this for its turn, ns, is overload whatever the share.
const BACKLOG_NS_MAX: u64 = 100_000_000;
/// [`Policy::Auto`] begins only after so many overloaded windows in a row: averaging costs every
/// update a quarter of a second for 25 s, which no single stall is worth.
const OVERLOADED_ROW: u32 = 2;
/// … and if the process itself uses at least this share of a processor: where other programs are
/// what holds it up, collecting its own little drawing does not help.
const CPU_SHARE_MIN: f64 = 0.25;
/// … or when input has waited longer than averaging would make it wait; then at once, and not when the
/// window ends: what has waited for half a second must not wait for the rest of a second more.
const BACKLOG_NS_INTOLERABLE: u64 = FLUSH_NS;
/// Largest predicted share at which averaging ends: well below the share that begins it, or the
/// mode would swing.
const PREDICTED_SHARE_MAX: f64 = 0.5;

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "document" => Ok(Self::Document),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            other => Err(format!("{other:?} is not one of auto, document, always, never")),
        }
    }
}

/// Load of the window that has just ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Window {
    begin_ns: u64,
    busy_ns: u64,
    cpu_ns: u64,
    backlog_ns_max: u64,
    updates: u64,
}

/// Statistics of the load, for the summary of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct LoadSeen {
    /// Windows of a second.
    pub windows: u64,
    /// Windows of these that were overloaded: more than 0.8 of the time at work, or input that
    /// waited for more than 100 ms.
    pub overloaded: u64,
    /// Most overloaded windows in a row.
    pub overloaded_row_max: u64,
    /// Largest share of a window's time at work.
    pub busy_share_max: f64,
    /// Longest time for which input waited for its turn, ms.
    pub backlog_ms_max: f64,
}

/// Measures the load and decides the mode.
#[derive(Clone, Debug)]
pub struct LoadControl {
    policy: Policy,
    mode: UpdateMode,
    window: Window,
    recheck_ns: u64,
    /// Cost of the latest updates drawn one by one: their number and what they took, ns.
    probe: (u64, u64),
    /// Overloaded windows in a row.
    overloaded_row: u32,
    switches: u64,
    seen: LoadSeen,
    /// Length of the same row, counted across changes of the mode.
    seen_row: u64,
}

impl LoadControl {
    /// Begins in standard mode unless the policy is to average always. Times are monotonic.
    pub fn new(policy: Policy, now_ns: u64) -> Self {
        let mode =
            if policy == Policy::Always { UpdateMode::Averaging } else { UpdateMode::Standard };
        let window = Window { begin_ns: now_ns, ..Window::default() };
        Self {
            policy,
            mode,
            window,
            recheck_ns: 0,
            probe: (0, 0),
            overloaded_row: 0,
            switches: 0,
            seen: LoadSeen::default(),
            seen_row: 0,
        }
    }

    /// The mode now.
    pub fn mode(&self) -> UpdateMode {
        self.mode
    }

    /// Time from the beginning of averaging to the first collected drawing, ns.
    pub(super) fn first_flush_ns(&self) -> u64 {
        if self.policy == Policy::Auto { FIRST_FLUSH_NS } else { FLUSH_NS }
    }

    /// Number of changes of the mode.
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// Statistics of the load.
    pub fn seen(&self) -> LoadSeen {
        self.seen
    }

    /// Counts `updates` received updates.
    pub fn arrived(&mut self, updates: u64) {
        self.window.updates += updates;
    }

    /// The process was at work for `busy_ns` and got the processor for `cpu_ns` of it; its input
    /// had not been drained for `backlog_ns`.
    pub fn worked(&mut self, busy_ns: u64, cpu_ns: u64, backlog_ns: u64) {
        self.window.busy_ns += busy_ns;
        self.window.cpu_ns += cpu_ns;
        self.window.backlog_ns_max = self.window.backlog_ns_max.max(backlog_ns);
    }

    /// Whether the drawing that comes next should be done update by update for some of them, and
    /// measured ([`LoadControl::probed`]): the decision to leave averaging is near.
    pub fn wants_probe(&self, now_ns: u64) -> bool {
        self.policy == Policy::Auto
            && self.mode == UpdateMode::Averaging
            && now_ns + 2 * WINDOW_NS >= self.recheck_ns
    }

    /// `updates` drawn one by one took `elapsed_ns`.
    pub fn probed(&mut self, updates: u64, elapsed_ns: u64) {
        self.probe = (updates, elapsed_ns);
    }

    /// The input has not been drained for `backlog_ns`: looks whether that is intolerable, in which case
    /// [`Policy::Auto`] collects from now on; returns whether it begins to.
    pub fn behind(&mut self, backlog_ns: u64, now_ns: u64) -> bool {
        let begins = self.policy == Policy::Auto
            && self.mode == UpdateMode::Standard
            && backlog_ns > BACKLOG_NS_INTOLERABLE;
        if begins {
            self.window.backlog_ns_max = self.window.backlog_ns_max.max(backlog_ns);
            self.end_window(now_ns);
            self.change(UpdateMode::Averaging, now_ns);
        }
        begins
    }

    /// Looks at the load once a window; returns the mode when it changes.
    pub fn evaluate(&mut self, now_ns: u64) -> Option<UpdateMode> {
        if now_ns.saturating_sub(self.window.begin_ns) < WINDOW_NS {
            return None;
        }
        let (window, elapsed_ns) = self.end_window(now_ns);
        let next = match self.mode {
            UpdateMode::Standard => {
                if self.must_begin(window, elapsed_ns) {
                    UpdateMode::Averaging
                } else {
                    UpdateMode::Standard
                }
            }
            UpdateMode::Averaging if now_ns >= self.recheck_ns => {
                self.recheck_ns = now_ns + RECHECK_NS;
                if self.may_leave(window, elapsed_ns) {
                    UpdateMode::Standard
                } else {
                    UpdateMode::Averaging
                }
            }
            UpdateMode::Averaging => UpdateMode::Averaging,
        };
        if next == self.mode {
            return None;
        }
        self.change(next, now_ns);
        Some(next)
    }

    /// Ends the window; returns it and its length, ns.
    fn end_window(&mut self, now_ns: u64) -> (Window, u64) {
        let next = Window { begin_ns: now_ns, ..Window::default() };
        let window = std::mem::replace(&mut self.window, next);
        let elapsed_ns = now_ns.saturating_sub(window.begin_ns);
        self.see(window, elapsed_ns);
        (window, elapsed_ns)
    }

    fn change(&mut self, mode: UpdateMode, now_ns: u64) {
        self.mode = mode;
        self.switches += 1;
        self.overloaded_row = 0;
        self.recheck_ns = now_ns + RECHECK_NS;
        self.probe = (0, 0);
    }

    fn see(&mut self, window: Window, elapsed_ns: u64) {
        let overloaded = is_overloaded(window, elapsed_ns);
        self.seen_row = if overloaded { self.seen_row + 1 } else { 0 };
        let seen = &mut self.seen;
        seen.windows += 1;
        seen.overloaded += u64::from(overloaded);
        seen.overloaded_row_max = seen.overloaded_row_max.max(self.seen_row);
        seen.busy_share_max = seen.busy_share_max.max(share(window.busy_ns, elapsed_ns));
        let backlog = Duration::from_nanos(window.backlog_ns_max);
        seen.backlog_ms_max = seen.backlog_ms_max.max(backlog.as_secs_f64() * 1e3);
    }

    fn must_begin(&mut self, window: Window, elapsed_ns: u64) -> bool {
        let overloaded = is_overloaded(window, elapsed_ns);
        self.overloaded_row = if overloaded { self.overloaded_row + 1 } else { 0 };
        match self.policy {
            Policy::Never => false,
            Policy::Always => true,
            Policy::Document => overloaded,
            Policy::Auto => {
                let own = share(window.cpu_ns, elapsed_ns) >= CPU_SHARE_MIN;
                (own && self.overloaded_row >= OVERLOADED_ROW)
                    || window.backlog_ns_max > BACKLOG_NS_INTOLERABLE
            }
        }
    }

    fn may_leave(&self, window: Window, elapsed_ns: u64) -> bool {
        match self.policy {
            Policy::Always => false,
            Policy::Never => true,
            Policy::Document => !is_overloaded(window, elapsed_ns),
            Policy::Auto => {
                let (updates, took_ns) = self.probe;
                // Without a measurement nothing is predicted, unless there is nothing to do.
                if updates == 0 {
                    return window.updates == 0;
                }
                let each = share(took_ns, updates);
                let predicted = each * share(window.updates, elapsed_ns);
                predicted <= PREDICTED_SHARE_MAX
            }
        }
    }
}

fn is_overloaded(window: Window, elapsed_ns: u64) -> bool {
    share(window.busy_ns, elapsed_ns) > BUSY_SHARE_MAX || window.backlog_ns_max > BACKLOG_NS_MAX
}

fn share(part: u64, of: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // nanoseconds of seconds, counts of thousands
    let share = part as f64 / of.max(1) as f64;
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A display on which each update drawn at once takes `cost_ns`, and collected ones almost
    /// nothing; returns the seconds in which the mode changed.
    fn live(policy: Policy, seconds: u64, rate: impl Fn(u64) -> u64, cost_ns: u64) -> Vec<u64> {
        let mut control = LoadControl::new(policy, 0);
        let mut changes = Vec::new();
        for second in 1..=seconds {
            let updates = rate(second);
            let now_ns = second * SECOND;
            control.arrived(updates);
            match control.mode() {
                UpdateMode::Standard => {
                    let work_ns = updates * cost_ns;
                    control.worked(work_ns.min(SECOND), work_ns.min(SECOND), 0);
                }
                UpdateMode::Averaging => {
                    control.worked(SECOND / 10, SECOND / 10, 0);
                    if control.wants_probe(now_ns) {
                        control.probed(32, 32 * cost_ns);
                    }
                }
            }
            if control.evaluate(now_ns).is_some() {
                changes.push(second);
            }
        }
        changes
    }

    #[test]
    fn under_lasting_load_the_documents_rule_swings_and_ours_does_not() {
        // 2000 updates a second at 0.6 ms each are more than there is.
        let document = live(Policy::Document, 120, |_| 2000, 600_000);
        assert_eq!(document, [1, 26, 27, 52, 53, 78, 79, 104, 105]);
        assert_eq!(live(Policy::Auto, 120, |_| 2000, 600_000), [2]);
    }

    #[test]
    fn when_the_load_is_over_ours_goes_back_at_the_next_look() {
        let peak = |second| if second < 40 { 2000 } else { 300 };
        assert_eq!(live(Policy::Auto, 120, peak, 600_000), [2, 52]);
    }

    #[test]
    fn a_load_that_would_only_just_fit_is_not_gone_back_to() {
        // 1200 × 0.6 ms = 72 %: below what begins averaging, above what ends it.
        let falling = |second| if second < 40 { 2000 } else { 1200 };
        assert_eq!(live(Policy::Auto, 120, falling, 600_000), [2]);
    }

    #[test]
    fn what_is_seen_does_not_depend_on_the_policy() {
        let mut control = LoadControl::new(Policy::Never, 0);
        for (second, busy) in [(1, 0.5), (2, 0.9), (3, 0.85), (4, 0.1), (5, 0.95)] {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            control.worked((busy * 1e9) as u64, 0, 7_000_000);
            control.evaluate(second * SECOND);
        }
        let seen = control.seen();
        assert_eq!((seen.windows, seen.overloaded, seen.overloaded_row_max), (5, 3, 2));
        assert!((seen.busy_share_max - 0.95).abs() < 1e-6 && seen.backlog_ms_max == 7.0);
    }

    #[test]
    fn always_and_never_mean_it() {
        assert_eq!(live(Policy::Always, 60, |_| 10, 1000), [0u64; 0]);
        assert_eq!(live(Policy::Never, 60, |_| 9000, 600_000), [0u64; 0]);
        assert_eq!(LoadControl::new(Policy::Always, 0).mode(), UpdateMode::Averaging);
    }

    #[test]
    fn one_stall_is_let_pass_unless_it_is_long() {
        let mut control = LoadControl::new(Policy::Auto, 0);
        control.worked(SECOND / 4, SECOND / 4, BACKLOG_NS_MAX + 1);
        assert_eq!(control.evaluate(SECOND), None);
        control.worked(SECOND / 4, SECOND / 4, 0);
        assert_eq!(control.evaluate(2 * SECOND), None);
        control.worked(SECOND / 4, SECOND / 4, BACKLOG_NS_MAX + 1);
        assert_eq!(control.evaluate(3 * SECOND), None);
        control.worked(SECOND / 4, SECOND / 4, BACKLOG_NS_MAX + 1);
        assert_eq!(control.evaluate(4 * SECOND), Some(UpdateMode::Averaging));

        let mut control = LoadControl::new(Policy::Auto, 0);
        control.worked(SECOND / 4, SECOND / 4, FLUSH_NS + 1);
        assert_eq!(control.evaluate(SECOND), Some(UpdateMode::Averaging));
    }

    #[test]
    fn what_has_waited_too_long_does_not_wait_for_the_window_to_end() {
        let mut control = LoadControl::new(Policy::Auto, 0);
        assert!(!control.behind(FLUSH_NS, SECOND / 2));
        assert!(control.behind(FLUSH_NS + 1, SECOND * 6 / 10));
        assert_eq!((control.mode(), control.switches()), (UpdateMode::Averaging, 1));
        // It has begun already, and goes on as after any other beginning.
        assert!(!control.behind(FLUSH_NS + 1, SECOND * 7 / 10));
        assert_eq!(control.evaluate(2 * SECOND), None);
        // The window that was cut short counts as one.
        assert_eq!((control.seen().windows, control.seen().overloaded), (2, 1));
        for policy in [Policy::Document, Policy::Never] {
            assert!(!LoadControl::new(policy, 0).behind(10 * FLUSH_NS, SECOND));
        }
    }

    #[test]
    fn being_held_up_by_others_is_no_reason_to_collect() {
        let mut control = LoadControl::new(Policy::Auto, 0);
        for second in 1..60 {
            control.worked(SECOND, SECOND / 20, 2 * BACKLOG_NS_MAX);
            assert_eq!(control.evaluate(second * SECOND), None);
        }
        // The document's rule does not ask who is to blame.
        let mut control = LoadControl::new(Policy::Document, 0);
        control.worked(SECOND, SECOND / 20, 2 * BACKLOG_NS_MAX);
        assert_eq!(control.evaluate(SECOND), Some(UpdateMode::Averaging));
    }
}
