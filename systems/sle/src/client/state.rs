//! State that a user's threads share, for any service.

use super::service::{SettledRun, UserService};
use crate::association::{AssociationEnd, SendError};
use crate::recording::{self, ChainKey};
use crate::tml::TmlFault;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Occurrences that wait for somebody to ask.
const OCCURRENCES_MAX: usize = 16_384;
/// Runs of data units with one fate that are kept.
const FATES_MAX: usize = 65_536;

/// A position in the fates of a [`User`](super::User); the default one is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FateCursor {
    /// Index of the run that may have grown.
    run: usize,
    /// Data units of this run that are before the position.
    count: u32,
}

/// Phase of the association, as calls see it.
pub(super) enum AssociationPhase<S: UserService> {
    Unbound,
    Bound(S::Bound),
    Refused(S::BindDiagnostic),
    Ended(AssociationEnd<S::Abort>),
}

/// The state of an association and of its service.
pub(super) struct ClientState<S: UserService> {
    pub(super) phase: AssociationPhase<S>,
    pub(super) service: S,
    pub(super) answer: Option<S::CallReturn>,
    /// Why BIND or UNBIND was not sent.
    pub(super) not_sent: Option<SendError<S::InvokeId>>,
    /// The first data unit that was refused since somebody was told.
    pub(super) refusal: Option<S::Refused>,
    pub(super) occurrences: VecDeque<S::Occurrence>,
    pub(super) fates: Vec<S::Settled>,
    /// Occurrences that nobody asked for in time.
    pub(super) occurrences_lost: u64,
    /// Runs of fates for which there was no room.
    pub(super) fates_lost: u64,
    /// Key of the chains of the data units since START.
    pub(super) key: Option<ChainKey>,
    pub(super) records: bool,
    waiters: usize,
}

impl<S: UserService> ClientState<S> {
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.phase, AssociationPhase::Ended(_))
    }

    /// The error after the end of the association.
    pub(super) fn over(&self) -> S::Error {
        match &self.phase {
            AssociationPhase::Ended(ending) => S::over(Some(ending)),
            _ => S::over(None),
        }
    }

    pub(super) fn occurred(&mut self, occurrence: S::Occurrence) {
        if self.occurrences.len() >= OCCURRENCES_MAX {
            self.occurrences.pop_front();
            self.occurrences_lost += 1;
        }
        self.occurrences.push_back(occurrence);
    }

    pub(super) fn settle(&mut self, settled: impl IntoIterator<Item = S::Settled>) {
        for one in settled {
            self.service.count(&one);
            if self.fates.last_mut().is_some_and(|last| last.join(&one)) {
                continue;
            }
            if self.fates.len() >= FATES_MAX {
                self.fates_lost += 1;
            } else {
                self.fates.push(one);
            }
        }
    }

    /// The fates since a position, which is then after them.
    pub(super) fn fates_since(&self, from: &mut FateCursor) -> Vec<S::Settled> {
        let mut since = self.fates.get(from.run..).unwrap_or_default().to_vec();
        let Some(last) = since.last() else { return since };
        let end = FateCursor { run: from.run + since.len() - 1, count: last.count() };
        since[0].skip(from.count);
        if since[0].count() == 0 {
            since.remove(0);
        }
        *from = end;
        since
    }

    /// The association is over.
    pub(super) fn end(&mut self, ending: AssociationEnd<S::Abort>) {
        let settled = self.service.end();
        self.settle(settled);
        self.key = None;
        self.phase = AssociationPhase::Ended(ending);
    }
}

/// The state, and a signal of its changes.
pub(super) struct SharedClient<S: UserService> {
    state: Mutex<ClientState<S>>,
    changed: Condvar,
}

impl<S: UserService> SharedClient<S> {
    pub(super) fn new(service: S) -> Self {
        let state = ClientState {
            phase: AssociationPhase::Unbound,
            service,
            answer: None,
            not_sent: None,
            refusal: None,
            occurrences: VecDeque::new(),
            fates: Vec::new(),
            occurrences_lost: 0,
            fates_lost: 0,
            key: None,
            records: recording::is_on(),
            waiters: 0,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ClientState<S>> {
        // What a thread that panicked left behind is as good as any state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, at most so long.
    pub(super) fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, ClientState<S>>,
        at_most: Duration,
    ) -> MutexGuard<'a, ClientState<S>> {
        state.waiters += 1;
        let mut state =
            self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0;
        state.waiters -= 1;
        state
    }

    /// Unlocks the state and wakes all waiting calls.
    pub(super) fn changed(&self, state: MutexGuard<'_, ClientState<S>>) {
        let waits = state.waiters > 0;
        drop(state);
        if waits {
            self.changed.notify_all();
        }
    }

    /// Says to whoever waits that BIND or UNBIND was not sent, and why.
    pub(super) fn not_sent(&self, result: Result<(), SendError<S::InvokeId>>) {
        if let Err(error) = result {
            let mut state = self.lock();
            state.not_sent = Some(error);
            self.changed(state);
        }
    }

    /// The connection is closed: the association is over, if it was not before.
    pub(super) fn closed(&self, fault: Option<TmlFault>) {
        let mut state = self.lock();
        if !matches!(state.phase, AssociationPhase::Ended(_) | AssociationPhase::Refused(_)) {
            state.end(fault.map_or(AssociationEnd::Lost, AssociationEnd::Transport));
        }
        self.changed(state);
    }
}
