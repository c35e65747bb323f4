//! Pause, step and pace of a replay that is being watched.
//!
//! A replay is held only where the clock would move or an input be delivered: every process waits
//! then, so that a paused replay is stopped as a whole, and held or not it does the same.

use crate::moment::Moment;
use chronoscope_clock as clock;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Order to a replay that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Hold the replay at the next move of the clock or input.
    Pause,
    /// Go on.
    Resume,
    /// Deliver so many inputs, then pause when they have been worked on.
    Step(u64),
    /// Go on until the clock would move beyond a moment, then pause.
    Until(Moment),
    /// Go on for so much virtual time, then pause.
    For(Duration),
}

/// Way to send orders to a replay from another thread. Clones are the same way.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<(Mutex<VecDeque<Command>>, Condvar)>);

impl Control {
    /// Sends an order. It is obeyed when every process waits.
    pub fn send(&self, command: Command) {
        // Lock poisoning is ignored: every change is a single step.
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(command);
        self.0.1.notify_all();
    }

    fn take(&self) -> VecDeque<Command> {
        std::mem::take(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for an order, at most so long.
    fn wait(&self, most: Duration) {
        let orders = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if orders.is_empty() {
            drop(self.0.1.wait_timeout(orders, most));
        }
    }
}

/// What the replay is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Deliver an input.
    Input,
    /// Move the clock to this monotonic time, ns.
    MoveTo(i64),
}

/// Hold on a replay.
#[derive(Debug)]
pub(super) struct Hold {
    control: Option<Control>,
    /// Virtual time by real time, at most.
    pace: Option<f64>,
    is_paused: bool,
    /// Inputs that are delivered although it is paused.
    steps: u64,
    /// Monotonic time of the replay after which it pauses, ns.
    until_ns: Option<i64>,
    /// Real and virtual time from which the pace counts, ns.
    base_ns: (u64, i64),
    /// Real time since when it is held by a pause, ns.
    since_ns: Option<u64>,
    paused_ns: u64,
}

/// While it is held, interrupts are looked for this often.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Hold {
    pub(super) fn new(control: Option<Control>, pace: Option<f64>, is_paused: bool) -> Self {
        Self {
            control,
            pace,
            is_paused,
            steps: 0,
            until_ns: None,
            base_ns: (0, 0),
            since_ns: None,
            paused_ns: 0,
        }
    }

    /// The replay begins, at `now_ns` of its clock: the pace counts from now.
    pub(super) fn begin(&mut self, now_ns: i64) {
        self.base_ns = (clock::monotonic_ns(), now_ns);
    }

    /// Whether nothing can ever hold it.
    pub(super) fn is_idle(&self) -> bool {
        self.control.is_none() && self.pace.is_none()
    }

    /// Real time in pauses until now, ns.
    pub(super) fn paused_ns(&self) -> u64 {
        let now = self.since_ns.map_or(0, |since| clock::monotonic_ns().saturating_sub(since));
        self.paused_ns + now
    }

    /// Whether it waits for an order.
    pub(super) fn is_held(&self) -> bool {
        self.since_ns.is_some()
    }

    /// Obeys the orders that have come. `utc_ns` and `now_ns` are the virtual clock's times.
    pub(super) fn obey(&mut self, utc_ns: i64, now_ns: i64) {
        for command in self.control.as_ref().map(Control::take).unwrap_or_default() {
            self.until_ns = None;
            match command {
                Command::Pause => (self.is_paused, self.steps) = (true, 0),
                Command::Step(inputs) => (self.is_paused, self.steps) = (true, inputs),
                Command::Resume => (self.is_paused, self.steps) = (false, 0),
                Command::Until(moment) => {
                    let after_ns = moment.at_or_after(utc_ns).saturating_sub(utc_ns);
                    self.go_until(now_ns.saturating_add(after_ns));
                }
                Command::For(time) => {
                    let after_ns = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
                    self.go_until(now_ns.saturating_add(after_ns));
                }
            }
            self.base_ns = (clock::monotonic_ns(), now_ns);
        }
    }

    fn go_until(&mut self, until_ns: i64) {
        self.until_ns = Some(until_ns);
        (self.is_paused, self.steps) = (false, 0);
    }

    /// Real time to wait before it may go on; `None` when it may. An input counts as delivered then.
    pub(super) fn wait(&mut self, next: Next) -> Option<Duration> {
        let real_ns = clock::monotonic_ns();
        if let (Some(until_ns), Next::MoveTo(to_ns)) = (self.until_ns, next)
            && to_ns > until_ns
        {
            (self.is_paused, self.steps, self.until_ns) = (true, 0, None);
        }
        if self.is_paused && self.steps == 0 {
            self.since_ns.get_or_insert(real_ns);
            return Some(LOOK_EVERY);
        }
        if let Some(since_ns) = self.since_ns.take() {
            self.paused_ns += real_ns.saturating_sub(since_ns);
        }
        if self.is_paused {
            self.steps -= u64::from(next == Next::Input);
            return None;
        }
        let (Some(pace), Next::MoveTo(to_ns)) = (self.pace, next) else { return None };
        let ahead =
            Duration::from_nanos(to_ns.saturating_sub(self.base_ns.1).max(0).unsigned_abs());
        let due = Duration::try_from_secs_f64(ahead.as_secs_f64() / pace).unwrap_or(Duration::MAX);
        let passed = Duration::from_nanos(real_ns.saturating_sub(self.base_ns.0));
        due.checked_sub(passed).filter(|left| !left.is_zero()).map(|left| left.min(LOOK_EVERY))
    }

    /// Waits for an order or the time that [`Self::wait`] told.
    pub(super) fn sleep(&self, most: Duration) {
        match &self.control {
            Some(control) => control.wait(most),
            None => clock::sleep(most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START_NS: i64 = 1_000_000;

    fn held() -> (Control, Hold) {
        let control = Control::default();
        (control.clone(), Hold::new(Some(control), None, true))
    }

    #[test]
    fn a_step_delivers_as_many_inputs_and_moves_between_them() {
        let (control, mut hold) = held();
        assert!(hold.wait(Next::Input).is_some() && hold.is_held());
        control.send(Command::Step(2));
        hold.obey(0, START_NS);
        assert_eq!(hold.wait(Next::Input), None);
        assert_eq!(hold.wait(Next::MoveTo(START_NS + 5)), None);
        assert_eq!(hold.wait(Next::Input), None);
        assert!(hold.wait(Next::MoveTo(START_NS + 9)).is_some(), "worked off, and held");
        control.send(Command::Resume);
        hold.obey(0, START_NS + 5);
        assert_eq!(hold.wait(Next::Input), None);
        assert!(!hold.is_held());
    }

    #[test]
    fn until_a_time_includes_what_is_due_then() {
        let (control, mut hold) = held();
        control.send(Command::Until(Moment::At(2_000)));
        hold.obey(1_000, START_NS);
        assert_eq!(hold.wait(Next::MoveTo(START_NS + 1_000)), None);
        assert_eq!(hold.wait(Next::Input), None);
        assert!(hold.wait(Next::MoveTo(START_NS + 1_001)).is_some());
        control.send(Command::Pause);
        control.send(Command::Resume);
        hold.obey(2_000, START_NS + 1_000);
        assert_eq!(hold.wait(Next::MoveTo(START_NS + 1_001)), None);
    }
}
