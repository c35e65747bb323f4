//! Connections on which no user has bound yet: limited in number, because anybody can make them.
//!
//! They may be a quarter of all connections. For one more, the oldest is reset: peers that connect
//! and stay silent cannot keep out a user who binds at once, and the other connections stay free
//! for bound users. The time to BIND is limited by the transport (`startup_s`).
//!
//! Log lines about these connections are limited too: a line for each could fill a disk.

use super::log::ProviderLog;
use crate::time::Now;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Log lines that may be written at once.
const LINES: u64 = 20;
/// Time after which one more line may be written, in nanoseconds.
const LINE_NS: u64 = 100_000_000;

/// All connections of a provider on which no user has bound.
pub(super) struct UnboundConnections {
    max: usize,
    log: ProviderLog,
    state: Mutex<UnboundState>,
}

#[derive(Default)]
struct UnboundState {
    /// By number, the oldest first.
    waiting: VecDeque<(u64, Reset)>,
    /// Number of the newest connection.
    number: u64,
    /// Log lines that may be written, as of `lines_ns` on the monotonic clock.
    lines: u64,
    lines_ns: u64,
    suppressed: u64,
}

/// Resets a connection.
type Reset = Box<dyn FnOnce() + Send>;

/// A connection on which no user has bound. Dropped when a user binds or the connection ends.
pub(super) struct UnboundConnection {
    all: Arc<UnboundConnections>,
    number: u64,
}

impl UnboundConnections {
    /// For a provider that allows `connections` in all.
    pub(super) fn new(connections: usize, log: ProviderLog) -> Arc<Self> {
        let state = UnboundState { lines: LINES, ..UnboundState::default() };
        Arc::new(Self { max: (connections / 4).max(1), log, state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, UnboundState> {
        // Nothing panics with the lock held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection, and resets the oldest if there are too many. `reset` resets this one.
    pub(super) fn admit(
        self: &Arc<Self>,
        reset: impl FnOnce() + Send + 'static,
    ) -> UnboundConnection {
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
        UnboundConnection { all: Arc::clone(self), number }
    }

    /// Writes a log line about a connection; suppressed and counted if there were too many lines.
    pub(super) fn say(&self, text: &str, now: Now) {
        let mut state = self.lock();
        let more = now.monotonic_ns.saturating_sub(state.lines_ns) / LINE_NS;
        if more > 0 {
            state.lines = state.lines.saturating_add(more).min(LINES);
            state.lines_ns = now.monotonic_ns;
        }
        if state.lines == 0 {
            state.suppressed += 1;
            return;
        }
        state.lines -= 1;
        let suppressed = std::mem::take(&mut state.suppressed);
        drop(state);
        match suppressed {
            0 => self.log.say(text),
            more => self.log.say(&format!("{text} ({more} similar lines were left out before)")),
        }
    }
}

impl UnboundConnection {
    /// As [`UnboundConnections::say`].
    pub(super) fn say(&self, text: &str, now: Now) {
        self.all.say(text, now);
    }
}

impl Drop for UnboundConnection {
    fn drop(&mut self) {
        self.all.lock().waiting.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn lines_are_limited_and_suppressed_ones_are_counted() {
        let (say, said) = mpsc::channel();
        let unbound = UnboundConnections::new(
            8,
            ProviderLog::new(move |text| say.send(text.to_owned()).unwrap()),
        );
        let at = |ms: u64| Now { monotonic_ns: 1_000_000_000 + ms * 1_000_000, utc_ns: 0 };
        for _ in 0..1000 {
            unbound.say("x", at(0));
        }
        assert_eq!(said.try_iter().count(), 20);
        unbound.say("y", at(99));
        unbound.say("z", at(100));
        let said: Vec<String> = said.try_iter().collect();
        assert_eq!(said, ["z (981 similar lines were left out before)"]);
    }
}
