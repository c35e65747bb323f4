//! Connections on which nobody has bound yet: bounded in number, because anybody can make them.
//!
//! There is room for a quarter of all that are allowed. Whoever comes beyond takes the place of the
//! one that is there the longest, which is reset: so those who connect and say nothing hold nobody
//! up who binds at once, and places are left for those who are bound. How long one may take to
//! BIND is the transport's affair (`startup_s`).
//!
//! What is said of strangers is bounded too: a line for each would fill a disk.

use super::log::Log;
use crate::time::Now;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines about strangers at once, and how soon there may be another one.
const LINES: u64 = 20;
const LINE_NS: u64 = 100_000_000;

/// All of them.
pub(super) struct Strangers {
    max: usize,
    log: Log,
    state: Mutex<StrangersState>,
}

#[derive(Default)]
struct StrangersState {
    /// The oldest first.
    waiting: VecDeque<(u64, Reset)>,
    /// Counts all that there were.
    number: u64,
    /// Lines that may be said now, and the monotonic clock when that was so.
    lines: u64,
    lines_ns: u64,
    unsaid: u64,
}

/// Resets a connection.
type Reset = Box<dyn FnOnce() + Send>;

/// One of them; no more when dropped.
pub(super) struct Stranger {
    all: Arc<Strangers>,
    number: u64,
}

impl Strangers {
    /// Of so many connections all in all.
    pub(super) fn new(connections: usize, log: Log) -> Arc<Self> {
        let state = StrangersState { lines: LINES, ..StrangersState::default() };
        Arc::new(Self { max: (connections / 4).max(1), log, state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, StrangersState> {
        // Nothing panics with the lock held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes somebody in, in the place of the oldest where there are too many; `reset` resets his
    /// connection.
    pub(super) fn admit(self: &Arc<Self>, reset: impl FnOnce() + Send + 'static) -> Stranger {
        let mut state = self.lock();
        state.number += 1;
        let number = state.number;
        state.waiting.push_back((number, Box::new(reset)));
        let displaced =
            if state.waiting.len() > self.max { state.waiting.pop_front() } else { None };
        drop(state);
        if let Some((_, reset)) = displaced {
            reset();
        }
        Stranger { all: Arc::clone(self), number }
    }

    /// Says something about one of them, unless there was too much of that already.
    pub(super) fn say(&self, text: &str, now: Now) {
        let mut state = self.lock();
        let more = now.monotonic_ns.saturating_sub(state.lines_ns) / LINE_NS;
        if more > 0 {
            state.lines = state.lines.saturating_add(more).min(LINES);
            state.lines_ns = now.monotonic_ns;
        }
        if state.lines == 0 {
            state.unsaid += 1;
            return;
        }
        state.lines -= 1;
        let unsaid = std::mem::take(&mut state.unsaid);
        drop(state);
        match unsaid {
            0 => self.log.say(text),
            more => self.log.say(&format!("{text} (and {more} more such lines before)")),
        }
    }
}

impl Stranger {
    /// As [`Strangers::say`].
    pub(super) fn say(&self, text: &str, now: Now) {
        self.all.say(text, now);
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.all.lock().waiting.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn lines_are_bounded_and_what_is_left_out_is_counted() {
        let (say, said) = mpsc::channel();
        let strangers = Strangers::new(8, Log::new(move |text| say.send(text.to_owned()).unwrap()));
        let at = |ms: u64| Now { monotonic_ns: 1_000_000_000 + ms * 1_000_000, utc_ns: 0 };
        for _ in 0..1000 {
            strangers.say("x", at(0));
        }
        assert_eq!(said.try_iter().count(), 20);
        strangers.say("y", at(99));
        strangers.say("z", at(100));
        let said: Vec<String> = said.try_iter().collect();
        assert_eq!(said, ["z (and 981 more such lines before)"]);
    }
}
