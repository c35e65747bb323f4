//! What a user's threads share.

use super::error::FrameError;
use super::{Ending, FrameSettings, Settled};
use crate::csts::association::SendError;
use crate::csts::forward_frame::{buffered, information_query, sequence_controlled};
use crate::csts::pdu::{
    Data, DataUnitId, Diagnostic, Notify, ProcessData, ProductionStatus, QualifiedParameter,
};
use crate::csts::procedure::{Fate, Kind, ProcessingUser};
use crate::recording::{self, ChainKey};
use chronoscope_record::Started;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Occurrences that wait for somebody to ask.
const OCCURRENCES_MAX: usize = 16_384;
/// Runs of frames with one fate that are kept.
const FATES_MAX: usize = 65_536;

/// What happened that nobody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// NOTIFY.
    Notified {
        /// It.
        notify: Box<Notify>,
        /// How production is, where it says so.
        production: Option<ProductionStatus>,
    },
    /// An operation whose credentials are wrong, and why.
    Ignored(String),
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStatistics {
    /// Frames handed over.
    pub sent: u64,
    /// Their octets.
    pub sent_octets: u64,
    /// Forward buffers sent.
    pub buffers: u64,
    /// Frames given to the connection.
    pub written: u64,
    /// Sequence-controlled: frames taken by the provider.
    pub acknowledged: u64,
    /// Sequence-controlled: frames refused.
    pub refused: u64,
    /// Frames known to be processed.
    pub processed: u64,
    /// Occurrences that nobody asked for in time.
    pub occurrences_lost: u64,
    /// Runs of fates for which there was no room.
    pub fates_lost: u64,
}

/// Where the association is.
#[derive(Debug)]
pub(super) enum Phase {
    Unbound,
    Bound,
    Refused(Diagnostic),
    Ended(Ending),
}

/// The return of a call.
#[derive(Debug)]
pub(super) enum Answer {
    Done(Result<(), Diagnostic>),
    Parameters(Result<Vec<QualifiedParameter>, Diagnostic>),
}

/// A frame that was refused.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) unit: DataUnitId,
    pub(super) diagnostic: Diagnostic,
    pub(super) expected: DataUnitId,
}

impl From<Refusal> for FrameError {
    fn from(refusal: Refusal) -> Self {
        let Refusal { unit, diagnostic, expected } = refusal;
        Self::FrameRefused { unit, diagnostic, expected }
    }
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) phase: Phase,
    pub(super) machine: ProcessingUser,
    pub(super) answer: Option<Answer>,
    /// Why BIND or UNBIND was not sent.
    pub(super) not_sent: Option<SendError>,
    /// The first that was refused since somebody was told.
    pub(super) refusal: Option<Refusal>,
    pub(super) occurrences: VecDeque<Occurrence>,
    pub(super) fates: Vec<Settled>,
    pub(super) counts: FrameStatistics,
    /// Operations on their way to the connection's thread.
    pub(super) handed: usize,
    /// That thread looks after the forward buffer's time.
    pub(super) watched: bool,
    /// Of the frames since START.
    pub(super) key: Option<ChainKey>,
    /// Transactions of frames that were handed over and not yet sent (buffered) or answered.
    pub(super) recorded: VecDeque<(DataUnitId, Started)>,
    pub(super) records: bool,
    waiters: usize,
}

impl State {
    pub(super) fn occurred(&mut self, occurrence: Occurrence) {
        if self.occurrences.len() >= OCCURRENCES_MAX {
            self.occurrences.pop_front();
            self.counts.occurrences_lost += 1;
        }
        self.occurrences.push_back(occurrence);
    }

    pub(super) fn settle(&mut self, settled: impl IntoIterator<Item = Settled>) {
        for one in settled {
            if one.fate == Fate::Processed {
                self.counts.processed += u64::from(one.units.count);
            }
            let is_full = self.fates.len() >= FATES_MAX;
            match self.fates.last_mut() {
                Some(last)
                    if last.fate == one.fate
                        && last.units.end() == one.units.first
                        && last.units.count.checked_add(one.units.count).is_some() =>
                {
                    last.units.count += one.units.count;
                }
                _ if is_full => self.counts.fates_lost += 1,
                _ => self.fates.push(one),
            }
        }
    }

    /// The association is over.
    pub(super) fn end(&mut self, ending: Ending) {
        let settled = self.machine.ended();
        self.settle(settled);
        // Without an answer they end ABORTED.
        self.recorded.clear();
        self.key = None;
        self.phase = Phase::Ended(ending);
    }
}

/// What a user's threads share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    pub(super) fn new(settings: &FrameSettings) -> Self {
        let procedure = match settings.kind {
            Kind::Buffered { .. } => buffered(),
            Kind::SequenceControlled { .. } => sequence_controlled(),
        };
        let query = information_query();
        let first = settings.first_invoke;
        let state = State {
            phase: Phase::Unbound,
            machine: ProcessingUser::new(procedure, query, settings.kind, first),
            answer: None,
            not_sent: None,
            refusal: None,
            occurrences: VecDeque::new(),
            fates: Vec::new(),
            counts: FrameStatistics::default(),
            handed: 0,
            watched: false,
            key: None,
            recorded: VecDeque::new(),
            records: recording::is_on(),
            waiters: 0,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
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

pub(super) fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    // It guards an order, no data.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Octets of the data unit.
pub(super) fn octets_of(invocation: &ProcessData) -> usize {
    match &invocation.data {
        Data::Opaque(octets) => octets.len(),
        Data::Extended(embedded) => embedded.value.len(),
    }
}
