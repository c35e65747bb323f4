//! What the daemon and a link's thread tell each other: the schedule, the end, and the state.

use super::schedule::{LinkSchedule, PassState};
use crate::client::notation;
use crate::provider::ProviderLog;
use crate::time::{Now, Time};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// State of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkState {
    /// No pass: nothing is to be done.
    Waiting,
    /// A connection is made, or BIND or START has no return yet.
    Connecting,
    /// The service is started.
    Active,
    /// The pass ends: reports are waited for, then STOP and UNBIND are sent.
    Ending,
    /// The next attempt is due after a pause.
    Pausing,
    /// The link is at its end.
    Ended,
}

impl LinkState {
    fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Connecting => "connecting",
            Self::Active => "active",
            Self::Ending => "ending",
            Self::Pausing => "pausing",
            Self::Ended => "ended",
        }
    }
}

#[derive(Debug)]
struct ControlState {
    schedule: LinkSchedule,
    ends: bool,
    state: LinkState,
    since_utc_ns: u64,
    /// Why the last attempt failed, or how the last association ended.
    reason: Option<String>,
    /// Attempts that failed since the service was started last.
    failures: u64,
    attempts: u64,
    sessions: u64,
    version: Option<u16>,
    /// When the service was started, monotonic, in ns, while it is.
    started_ns: Option<u64>,
}

/// Shared by the daemon and a link's thread.
#[derive(Debug)]
pub(super) struct LinkControl {
    pub(super) name: String,
    log: ProviderLog,
    state: Mutex<ControlState>,
    changed: Condvar,
    /// Ends calls that wait: set at the end of a pass and of the program.
    pub(super) interrupt: Arc<AtomicBool>,
}

impl LinkControl {
    pub(super) fn new(name: &str, schedule: LinkSchedule, log: ProviderLog) -> Self {
        let state = ControlState {
            schedule,
            ends: false,
            state: LinkState::Waiting,
            since_utc_ns: Now::read().utc_ns,
            reason: None,
            failures: 0,
            attempts: 0,
            sessions: 0,
            version: None,
            started_ns: None,
        };
        Self {
            name: name.to_owned(),
            log,
            state: Mutex::new(state),
            changed: Condvar::new(),
            interrupt: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ControlState> {
        // Lock poisoning is ignored: every update is a single step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn log(&self) -> &ProviderLog {
        &self.log
    }

    pub(super) fn say(&self, text: &str) {
        self.log.say(&format!("{}: {text}", self.name));
    }

    /// Other passes from now on.
    pub(super) fn set_schedule(&self, schedule: LinkSchedule) {
        let mut state = self.lock();
        if state.schedule != schedule {
            state.schedule = schedule;
            self.say("the passes have changed");
            self.changed.notify_all();
        }
    }

    /// The link is to end.
    pub(super) fn end(&self) {
        self.lock().ends = true;
        self.interrupt.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Whether the link is to end, or no pass is on: an association is to be ended in order.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.ends || matches!(state.schedule.at(Now::read().utc_ns), PassState::Down { .. })
    }

    /// Called by the daemon every 50 ms: ends the calls that wait when the pass is over.
    pub(super) fn tick(&self) {
        if self.is_over() {
            self.interrupt.store(true, Ordering::Release);
        }
    }

    /// Waits for a pass; `false`: the link is to end. Calls can wait again from then on.
    pub(super) fn wait_for_pass(&self) -> bool {
        let mut state = self.lock();
        loop {
            if state.ends {
                return false;
            }
            let now = Now::read();
            let PassState::Down { next_utc_ns } = state.schedule.at(now.utc_ns) else {
                self.interrupt.store(false, Ordering::Release);
                return true;
            };
            self.enter(&mut state, LinkState::Waiting, || match next_utc_ns {
                Some(next) => format!("waiting for the pass at {}", utc(next)),
                None => "no pass is to come: add passes and send SIGHUP".to_owned(),
            });
            // The clock may be set meanwhile: it is looked at again at least each second.
            let left_ns = next_utc_ns.map_or(u64::MAX, |next| next.saturating_sub(now.utc_ns));
            let left = Duration::from_nanos(left_ns).min(Duration::from_secs(1));
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits so long, or until the pass or the link is over.
    pub(super) fn pause(&self, pause: Duration) {
        let until_ns = Now::read()
            .monotonic_ns
            .saturating_add(u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX));
        let mut state = self.lock();
        self.enter(&mut state, LinkState::Pausing, String::new);
        loop {
            let now = Now::read();
            let left_ns = until_ns.saturating_sub(now.monotonic_ns);
            let is_down = matches!(state.schedule.at(now.utc_ns), PassState::Down { .. });
            if left_ns == 0 || state.ends || is_down {
                return;
            }
            let left = Duration::from_nanos(left_ns).min(Duration::from_secs(1));
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A new state. `says` is logged; an empty text is not.
    pub(super) fn set(&self, new: LinkState, says: impl FnOnce() -> String) {
        let mut state = self.lock();
        if new == LinkState::Connecting {
            state.attempts += 1;
        }
        self.enter(&mut state, new, says);
    }

    fn enter(&self, state: &mut ControlState, new: LinkState, says: impl FnOnce() -> String) {
        if state.state == new {
            return;
        }
        state.state = new;
        state.since_utc_ns = Now::read().utc_ns;
        let says = says();
        if !says.is_empty() {
            self.say(&says);
        }
    }

    /// The service is started in this version.
    pub(super) fn started(&self, version: u16) {
        let mut state = self.lock();
        state.version = Some(version);
        state.started_ns = Some(Now::read().monotonic_ns);
        state.sessions += 1;
        let after = match std::mem::take(&mut state.failures) {
            0 => String::new(),
            failures => format!(", after {failures} attempts that failed"),
        };
        state.reason = None;
        self.enter(&mut state, LinkState::Active, || format!("started, version {version}{after}"));
    }

    /// An attempt has failed, or an association has ended out of order. The same reason again is counted
    /// and not logged. How long the service was started, in ns.
    pub(super) fn failed(&self, reason: String) -> u64 {
        let mut state = self.lock();
        state.version = None;
        state.failures += 1;
        if state.reason.as_ref() != Some(&reason) {
            self.say(&format!("{reason}; trying again"));
        }
        state.reason = Some(reason);
        let started_ns = state.started_ns.take();
        started_ns.map_or(0, |started| Now::read().monotonic_ns.saturating_sub(started))
    }

    /// The association was ended in order.
    pub(super) fn ended(&self) {
        self.lock().version = None;
        self.say("stopped and unbound");
    }

    /// The state, as JSON.
    pub(super) fn status(&self) -> Value {
        let state = self.lock();
        let (until, next) = match state.schedule.at(Now::read().utc_ns) {
            PassState::Up { until_utc_ns } => (until_utc_ns, None),
            PassState::Down { next_utc_ns } => (None, next_utc_ns),
        };
        json!({
            "name": self.name,
            "state": state.state.word(),
            "since": utc(state.since_utc_ns),
            "pass_until": until.map(utc),
            "next_pass": next.map(utc),
            "version": state.version,
            "attempts": state.attempts,
            "sessions": state.sessions,
            "failures": state.failures,
            "reason": state.reason,
        })
    }
}

/// UTC in nanoseconds since 1970 as a date.
pub(super) fn utc(utc_ns: u64) -> String {
    notation::time(Time::from_utc_ns(utc_ns)).as_str().unwrap_or_default().to_owned()
}
