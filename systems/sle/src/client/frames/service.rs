//! The Forward Frame service as its user's client needs it.

use super::FrameSettings;
use super::error::FrameError;
use crate::association::AssociationEnd;
use crate::client::service::{SettledRun, UserService};
use crate::client::window::WindowTuner;
use crate::csts::forward_frame::{buffered, information_query, sequence_controlled};
use crate::csts::pdu::{
    AbstractChoice, DataUnitId, Diagnostic, InvokeId, NotifyPdu, Pdu, PeerAbortDiagnostic,
    ProcessData, ProductionStatus, QualifiedParameter,
};
use crate::csts::procedure::{DataUnitFate, ProcedureKind, ProcessingUser, SettledUnits};
use chronoscope_record::Started;
use std::collections::VecDeque;
use std::io;

/// Octets of an operation beside its data, about.
const OVERHEAD: usize = 96;

/// An event that is not the result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameOccurrence {
    /// A NOTIFY invocation.
    Notified {
        /// The NOTIFY invocation.
        notify: Box<NotifyPdu>,
        /// The production status, if the event contains it.
        production: Option<ProductionStatus>,
    },
    /// An operation whose credentials are wrong, and why.
    Ignored(String),
}

/// Counters of frames, since the connection was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStatistics {
    /// Frames handed over.
    pub sent: u64,
    /// Octets of these frames.
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
    /// Sequence-controlled: frames that may be unacknowledged now.
    pub window: usize,
    /// Occurrences that nobody asked for in time.
    pub occurrences_lost: u64,
    /// Runs of fates for which there was no room.
    pub fates_lost: u64,
}

/// The return of a call.
#[derive(Debug)]
pub(in crate::client) enum FrameCallReturn {
    Done(Result<(), Diagnostic>),
    Parameters(Result<Vec<QualifiedParameter>, Diagnostic>),
}

/// A frame that was refused.
#[derive(Clone, Debug)]
pub(in crate::client) struct RefusedFrame {
    pub(super) unit: DataUnitId,
    pub(super) diagnostic: Diagnostic,
    pub(super) expected: DataUnitId,
}

impl From<RefusedFrame> for FrameError {
    fn from(refusal: RefusedFrame) -> Self {
        let RefusedFrame { unit, diagnostic, expected } = refusal;
        Self::FrameRefused { unit, diagnostic, expected }
    }
}

/// A wish of a call.
pub(in crate::client) enum FrameCommand {
    /// A forward buffer has begun to be filled: look after its time.
    Watch,
}

/// An instance of the Forward Frame service.
pub(in crate::client) struct FrameService {
    pub(super) machine: ProcessingUser,
    pub(super) counts: FrameStatistics,
    /// Sequence-controlled: how many frames may be unacknowledged.
    pub(super) tuner: WindowTuner,
    /// Operations on their way to the connection's thread.
    pub(super) handed: usize,
    /// The connection's thread watches the time limit of the forward buffer.
    pub(super) watched: bool,
    /// Transactions of frames that were handed over and not yet sent (buffered) or answered.
    pub(super) recorded: VecDeque<(DataUnitId, Started)>,
}

impl FrameService {
    pub(super) fn new(settings: &FrameSettings) -> Self {
        let procedure = match settings.kind {
            ProcedureKind::Buffered { .. } => buffered(),
            ProcedureKind::SequenceControlled { .. } => sequence_controlled(),
        };
        let (query, first) = (information_query(), settings.first_invoke);
        Self {
            machine: ProcessingUser::new(procedure, query, settings.kind, first),
            counts: FrameStatistics::default(),
            tuner: WindowTuner::new(settings.window),
            handed: 0,
            watched: false,
            recorded: VecDeque::new(),
        }
    }
}

impl FrameService {
    /// Whether the window permits another frame. A forward buffer is not returned, and has none.
    pub(super) fn is_permitted(&self) -> bool {
        self.machine.unacknowledged() < self.tuner.window() || !self.machine.is_confirmed()
    }
}

impl SettledRun for SettledUnits {
    fn join(&mut self, next: &Self) -> bool {
        let follows = self.fate == next.fate && self.units.end() == next.units.first;
        let Some(count) = self.units.count.checked_add(next.units.count).filter(|_| follows) else {
            return false;
        };
        self.units.count = count;
        true
    }

    fn count(&self) -> u32 {
        self.units.count
    }

    fn skip(&mut self, count: u32) {
        let count = count.min(self.units.count);
        self.units.first = self.units.first.wrapping_add(count);
        self.units.count -= count;
    }
}

impl UserService for FrameService {
    type Pdu = Pdu;
    type InvokeId = InvokeId;
    type Bound = ();
    type BindDiagnostic = Diagnostic;
    type Abort = PeerAbortDiagnostic;
    type Unbind = ();
    type ServiceCommand = FrameCommand;
    type CallReturn = FrameCallReturn;
    type Refused = RefusedFrame;
    type Occurrence = FrameOccurrence;
    type Settled = SettledUnits;
    type Error = FrameError;

    fn not_connected(address: String, error: io::Error) -> FrameError {
        FrameError::Connect { address, error }
    }

    fn bind_refused(diagnostic: Diagnostic) -> FrameError {
        FrameError::BindRefused(diagnostic)
    }

    fn over(ending: Option<&AssociationEnd<PeerAbortDiagnostic>>) -> FrameError {
        FrameError::Ended(
            ending.map_or_else(|| "the connection is closed".to_owned(), |one| format!("{one:?}")),
        )
    }

    fn interrupted() -> FrameError {
        FrameError::Interrupted
    }

    fn end(&mut self) -> Vec<SettledUnits> {
        // Without an answer they end ABORTED.
        self.recorded.clear();
        self.machine.ended()
    }

    fn count(&mut self, settled: &SettledUnits) {
        if settled.fate == DataUnitFate::Processed {
            self.counts.processed += u64::from(settled.units.count);
        }
    }

    fn hand(&mut self, pdu: &Pdu) -> usize {
        self.handed += 1;
        match pdu {
            Pdu::ForwardBuffer(parts) => {
                self.counts.buffers += 1;
                parts.iter().map(|part| octets_of(&part.operation) + OVERHEAD).sum()
            }
            Pdu::ProcessData(one) => octets_of(one) + OVERHEAD,
            _ => OVERHEAD,
        }
    }

    fn transaction(_: &Pdu) -> Option<Started> {
        None // frames are recorded, calls are not
    }

    fn is_positive(answer: &FrameCallReturn) -> bool {
        matches!(answer, FrameCallReturn::Done(Ok(())) | FrameCallReturn::Parameters(Ok(_)))
    }
}

/// Octets of the data unit.
fn octets_of(invocation: &ProcessData) -> usize {
    match &invocation.data {
        AbstractChoice::Opaque(octets) => octets.len(),
        AbstractChoice::Extended(embedded) => embedded.value.len(),
    }
}
