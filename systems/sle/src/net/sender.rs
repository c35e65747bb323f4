//! Commands of other threads to a connection, in a bounded queue.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::wait::Waker;

/// Gives commands to a connection's protocol, from any thread. Clones are for the same connection.
pub struct CommandSender<C>(Arc<SharedSender<C>>);

impl<C> Clone for CommandSender<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// A command that was not taken; it is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendRefused<C> {
    /// The limit of octets that wait to be sent is reached.
    #[error("too many octets wait to be sent")]
    Full(C),
    /// The connection ended.
    #[error("the connection ended")]
    Ended(C),
}

/// Counters of a connection. System calls are those that transfer octets, without waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounters {
    /// Calls that read octets or the end.
    pub reads: u64,
    /// Octets read.
    pub read_bytes: u64,
    /// Calls that wrote octets.
    pub writes: u64,
    /// Octets written.
    pub written_bytes: u64,
    /// Times that the thread waited.
    pub waits: u64,
}

/// Counters as the driver's thread keeps them.
#[derive(Debug, Default)]
pub(super) struct AtomicCounters {
    pub(super) reads: AtomicU64,
    pub(super) read_bytes: AtomicU64,
    pub(super) writes: AtomicU64,
    pub(super) written_bytes: AtomicU64,
    pub(super) waits: AtomicU64,
}

/// Adds to a counter that one thread alone writes.
pub(super) fn count(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(more), Relaxed);
}

/// Between the driver's thread and all others.
pub(super) struct SharedSender<C> {
    state: Mutex<SenderState<C>>,
    room: Condvar,
    pub(super) waker: Waker,
    pub(super) counting: AtomicCounters,
    waiting_bytes_max: usize,
}

struct SenderState<C> {
    queue: VecDeque<(C, usize)>,
    /// Ahead of the queue.
    first: VecDeque<C>,
    /// Octets of the commands in `queue` and of those that the driver has taken and not executed.
    queued_bytes: usize,
    /// Octets of the protocol's output.
    unsent_bytes: usize,
    /// The driver waits, or is about to.
    asleep: bool,
    /// Threads that wait for room.
    blocked: usize,
    ended: bool,
    /// The connection has ended and its thread is finished.
    finished: bool,
    /// A thread has requested a reset.
    reset: bool,
}

impl<C> SharedSender<C> {
    pub(super) fn new(waker: Waker, waiting_bytes_max: usize) -> Self {
        let state = SenderState {
            queue: VecDeque::new(),
            first: VecDeque::new(),
            queued_bytes: 0,
            unsent_bytes: 0,
            asleep: false,
            blocked: 0,
            ended: false,
            finished: false,
            reset: false,
        };
        Self {
            state: Mutex::new(state),
            room: Condvar::new(),
            waker,
            counting: AtomicCounters::default(),
            waiting_bytes_max,
        }
    }

    /// A thread that panicked in between has left numbers behind, which are all right.
    fn lock(&self) -> MutexGuard<'_, SenderState<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Driver: takes all commands if it has none left in `into`, and in any case those that go
    /// first; says that those of `done_bytes` were executed, and that so much output is unsent.
    /// Whether to break the connection.
    pub(super) fn take(
        &self,
        into: &mut VecDeque<(C, usize)>,
        first: &mut VecDeque<C>,
        done_bytes: usize,
        unsent_bytes: usize,
    ) -> bool {
        let mut state = self.lock();
        state.asleep = false;
        if into.is_empty() {
            std::mem::swap(&mut state.queue, into);
        }
        if !state.first.is_empty() {
            first.append(&mut state.first);
        }
        self.settle(&mut state, done_bytes, unsent_bytes);
        state.reset
    }

    /// Driver: as [`take`](Self::take), but it is about to wait. Whether nothing is in the queue: a
    /// command that comes from here on wakes it. Those that go first have woken it already.
    pub(super) fn sleep(&self, done_bytes: usize, unsent_bytes: usize) -> bool {
        let mut state = self.lock();
        self.settle(&mut state, done_bytes, unsent_bytes);
        state.asleep = state.queue.is_empty();
        state.asleep
    }

    fn settle(&self, state: &mut SenderState<C>, done_bytes: usize, unsent_bytes: usize) {
        state.queued_bytes = state.queued_bytes.saturating_sub(done_bytes);
        state.unsent_bytes = unsent_bytes;
        // At half: otherwise each command would be a change of threads.
        if state.blocked > 0 && state.waiting_bytes() <= self.waiting_bytes_max / 2 {
            self.room.notify_all();
        }
    }

    /// Driver: nothing is taken any more. What is left: the first ones, and the queue.
    pub(super) fn end(&self) -> (VecDeque<C>, VecDeque<(C, usize)>) {
        let mut state = self.lock();
        state.ended = true;
        state.asleep = false;
        self.room.notify_all();
        (std::mem::take(&mut state.first), std::mem::take(&mut state.queue))
    }

    /// Driver: it is done, and goes.
    pub(super) fn finish(&self) {
        self.lock().finished = true;
    }

    /// Driver, after its end: whether to break the connection.
    pub(super) fn wants_reset(&self) -> bool {
        self.lock().reset
    }
}

impl<C> SenderState<C> {
    fn waiting_bytes(&self) -> usize {
        self.queued_bytes.saturating_add(self.unsent_bytes)
    }

    fn has_room(&self, max: usize) -> bool {
        self.waiting_bytes() < max
    }

    /// Whether the driver is to be woken.
    fn push(&mut self, command: C, bytes: usize) -> bool {
        self.queue.push_back((command, bytes));
        self.queued_bytes = self.queued_bytes.saturating_add(bytes);
        std::mem::take(&mut self.asleep)
    }
}

impl<C> CommandSender<C> {
    pub(super) fn new(shared: Arc<SharedSender<C>>) -> Self {
        Self(shared)
    }

    /// Gives a command that will be about `bytes` octets of output, and waits while more waits to
    /// be sent than may. The octets of a command are a bound on memory: count what it holds.
    ///
    /// # Errors
    /// [`SendRefused::Ended`] when the connection ended, also while waiting. Not from the driver's
    /// own thread, which would wait for itself: a protocol does what it wants itself.
    pub fn send(&self, command: C, bytes: usize) -> Result<(), SendRefused<C>> {
        let shared = &*self.0;
        let mut state = shared.lock();
        while !state.ended && !state.has_room(shared.waiting_bytes_max) {
            state.blocked += 1;
            state = shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.blocked -= 1;
        }
        if state.ended {
            return Err(SendRefused::Ended(command));
        }
        let wake = state.push(command, bytes);
        drop(state);
        if wake {
            shared.waker.wake();
        }
        Ok(())
    }

    /// As [`send`](Self::send), without waiting.
    ///
    /// # Errors
    /// [`SendRefused::Full`] where `send` would wait.
    pub fn try_send(&self, command: C, bytes: usize) -> Result<(), SendRefused<C>> {
        let shared = &*self.0;
        let mut state = shared.lock();
        if state.ended {
            return Err(SendRefused::Ended(command));
        }
        if !state.has_room(shared.waiting_bytes_max) {
            return Err(SendRefused::Full(command));
        }
        let wake = state.push(command, bytes);
        drop(state);
        if wake {
            shared.waker.wake();
        }
        Ok(())
    }

    /// Gives a command that is executed ahead of all that wait, whatever waits to be sent: for an
    /// abort, which a peer that does not read shall not hold up. It never waits, and nothing bounds
    /// these but who sends them.
    ///
    /// # Errors
    /// [`SendRefused::Ended`] when the connection ended.
    pub fn send_first(&self, command: C) -> Result<(), SendRefused<C>> {
        let mut state = self.0.lock();
        if state.ended {
            return Err(SendRefused::Ended(command));
        }
        state.first.push_back(command);
        drop(state);
        self.0.waker.wake();
        Ok(())
    }

    /// Breaks the connection at once: what was not sent is lost, the peer gets a reset. The
    /// protocol is told [`closed`](super::protocol::ConnectionProtocol::closed).
    pub fn reset(&self) {
        self.0.lock().reset = true;
        self.0.waker.wake();
    }

    /// Whether the connection ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.0.lock().ended
    }

    /// Whether nothing of the connection is left: what was to be said last was said, and the peer
    /// has ended it too, or has had its time.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.0.lock().finished
    }

    /// Waits until nothing of the connection is left; for a second at most, as the peer may take
    /// nothing.
    pub fn wait_finished(&self) {
        for _ in 0..200 {
            if self.finished() {
                return;
            }
            chronoscope_clock::sleep(Duration::from_millis(5));
        }
    }

    /// Octets that wait to be sent: commands, and what the kernel has not taken. Of output as it
    /// was when the driver last looked.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        self.0.lock().waiting_bytes()
    }

    /// Counters of the connection.
    #[must_use]
    pub fn counters(&self) -> ConnectionCounters {
        let counting = &self.0.counting;
        ConnectionCounters {
            reads: counting.reads.load(Relaxed),
            read_bytes: counting.read_bytes.load(Relaxed),
            writes: counting.writes.load(Relaxed),
            written_bytes: counting.written_bytes.load(Relaxed),
            waits: counting.waits.load(Relaxed),
        }
    }
}
