//! What a user's threads share.

use super::{Ending, Settled};
use crate::association::SendError;
use crate::pdu::{
    BindDiagnostic, CltuAsyncNotify, CltuStatusReport, Diagnostic, InvokeId, Parameter,
    ReturnStatusReport, Service, SyncNotify,
};
use crate::recording::{self, ChainKey};
use crate::service::fcltu::{Cltus, Fate, FcltuUser};
use crate::service::returns::{ReturnUser, ReturnUserCounts};
use chronoscope_record::Started;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Occurrences that wait for somebody to ask.
const OCCURRENCES_MAX: usize = 16_384;
/// Runs of CLTUs with one fate that are kept.
const FATES_MAX: usize = 65_536;

/// What happened that nobody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// FCLTU's ASYNC-NOTIFY.
    Notified(CltuAsyncNotify),
    /// FCLTU's STATUS-REPORT.
    Report(CltuStatusReport),
    /// STATUS-REPORT of a return service.
    ReturnReport(ReturnStatusReport),
    /// SYNC-NOTIFY, also given to the sink.
    SyncNotified(SyncNotify),
    /// An operation whose credentials are wrong, and why.
    Ignored(String),
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// CLTUs handed over.
    pub sent: u64,
    /// Their octets.
    pub sent_octets: u64,
    /// CLTUs taken by the provider.
    pub acknowledged: u64,
    /// CLTUs refused.
    pub refused: u64,
    /// CLTUs told to be radiated.
    pub radiated: u64,
    /// TRANSFER-DATA invocations whose returns are to come.
    pub unacknowledged: usize,
    /// What transfer buffers brought.
    pub returned: ReturnUserCounts,
    /// Occurrences that nobody asked for in time.
    pub occurrences_lost: u64,
    /// Runs of fates for which there was no room.
    pub fates_lost: u64,
}

/// Where the association is.
#[derive(Debug)]
pub(super) enum Phase {
    Unbound,
    Bound(u16),
    Refused(BindDiagnostic),
    Ended(Ending),
}

/// The machine of the service.
#[derive(Debug)]
pub(super) enum Machine {
    Forward(FcltuUser),
    Return(ReturnUser),
}

/// The return of a call.
#[derive(Debug)]
pub(super) enum Answer {
    Done(Result<(), Diagnostic>),
    Parameter(Result<Parameter, Diagnostic>),
}

/// A CLTU that was refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub(super) cltus: Cltus,
    pub(super) diagnostic: Diagnostic,
    pub(super) expected: u32,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) machine: Machine,
    pub(super) answer: Option<Answer>,
    /// Why BIND or UNBIND was not sent.
    pub(super) not_sent: Option<SendError>,
    /// The first that was refused since somebody was told.
    pub(super) refusal: Option<Refusal>,
    pub(super) occurrences: VecDeque<Occurrence>,
    pub(super) fates: Vec<Settled>,
    pub(super) counts: Statistics,
    /// Of the CLTUs since START.
    pub(super) key: Option<ChainKey>,
    /// Transactions of CLTUs whose returns are to come.
    pub(super) open: VecDeque<(InvokeId, u32, Started)>,
    pub(super) records: bool,
    waiters: usize,
}

impl State {
    pub(super) fn statistics(&self) -> Statistics {
        let mut counts = self.counts;
        match &self.machine {
            Machine::Forward(user) => counts.unacknowledged = user.unacknowledged(),
            Machine::Return(user) => counts.returned = user.counts(),
        }
        counts
    }

    pub(super) fn occurred(&mut self, occurrence: Occurrence) {
        if self.occurrences.len() >= OCCURRENCES_MAX {
            self.occurrences.pop_front();
            self.counts.occurrences_lost += 1;
        }
        self.occurrences.push_back(occurrence);
    }

    pub(super) fn settle(&mut self, settled: impl IntoIterator<Item = Settled>) {
        for one in settled {
            if one.fate == Fate::Radiated {
                self.counts.radiated += u64::from(one.cltus.count);
            }
            let is_full = self.fates.len() >= FATES_MAX;
            match self.fates.last_mut() {
                Some(last)
                    if last.fate == one.fate
                        && last.cltus.end() == one.cltus.first
                        && last.cltus.count.checked_add(one.cltus.count).is_some() =>
                {
                    last.cltus.count += one.cltus.count;
                }
                _ if is_full => self.counts.fates_lost += 1,
                _ => self.fates.push(one),
            }
        }
    }

    /// The association is over.
    pub(super) fn end(&mut self, ending: Ending) {
        let settled = match &mut self.machine {
            Machine::Forward(user) => user.ended(),
            Machine::Return(user) => {
                user.unbound();
                Vec::new()
            }
        };
        self.settle(settled);
        // Without an answer they end ABORTED.
        self.open.clear();
        self.key = None;
        self.phase = Phase::Ended(ending);
    }
}

/// What a user's threads share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// TRANSFER-DATA invocations that may be open.
    pub(super) window: usize,
}

impl Shared {
    pub(super) fn new(service: Service, window: usize) -> Self {
        let machine = match service {
            Service::Fcltu => Machine::Forward(FcltuUser::new(window)),
            other => Machine::Return(ReturnUser::new(other)),
        };
        let state = State {
            phase: Phase::Unbound,
            machine,
            answer: None,
            not_sent: None,
            refusal: None,
            occurrences: VecDeque::new(),
            fates: Vec::new(),
            counts: Statistics::default(),
            key: None,
            open: VecDeque::new(),
            records: recording::is_on(),
            waiters: 0,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), window: window.clamp(1, 60_000) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // What a thread that panicked left behind is as good as any state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, at most so long.
    pub(super) fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        at_most: Duration,
    ) -> MutexGuard<'a, State> {
        state.waiters += 1;
        let mut state =
            self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0;
        state.waiters -= 1;
        state
    }

    /// Something changed: unlocks, and wakes whoever waits.
    pub(super) fn changed(&self, state: MutexGuard<'_, State>) {
        let waits = state.waiters > 0;
        drop(state);
        if waits {
            self.changed.notify_all();
        }
    }
}
