//! SLE's services as their user's client needs them.

use super::error::ClientError;
use super::notation;
use super::service::{SettledRun, UserService};
use super::state::ClientState;
use crate::association::AssociationEnd;
use crate::pdu::{
    BindDiagnostic, CltuAsyncNotify, CltuStatusReport, Diagnostic, InvokeId, Parameter, Pdu,
    PeerAbortDiagnostic, ReturnStatusReport, ServiceType, SyncNotify, UnbindReason,
};
use crate::recording;
use crate::service::fcltu::{CltuFate, CltuRange, FcltuUser, SettledCltus};
use crate::service::returns::{ReturnUser, ReturnUserCounts};
use chronoscope_record::Started;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;

/// Octets of an operation beside its data, about.
pub(super) const OVERHEAD: usize = 64;

/// An event that is not the result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SleOccurrence {
    /// ASYNC-NOTIFY of FCLTU.
    Notified(CltuAsyncNotify),
    /// STATUS-REPORT of FCLTU.
    Report(CltuStatusReport),
    /// STATUS-REPORT of a return service.
    ReturnReport(ReturnStatusReport),
    /// SYNC-NOTIFY, also given to the sink.
    SyncNotified(SyncNotify),
    /// An operation whose credentials are wrong, and why.
    Ignored(String),
}

/// Counters of CLTUs and frames, since the connection was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserStatistics {
    /// CLTUs handed over.
    pub sent: u64,
    /// Octets of these CLTUs.
    pub sent_octets: u64,
    /// CLTUs taken by the provider.
    pub acknowledged: u64,
    /// CLTUs refused by the provider.
    pub refused: u64,
    /// CLTUs told to be radiated.
    pub radiated: u64,
    /// TRANSFER-DATA invocations whose returns are to come.
    pub unacknowledged: usize,
    /// Counters of the received transfer buffers.
    pub returned: ReturnUserCounts,
    /// Occurrences that nobody asked for in time.
    pub occurrences_lost: u64,
    /// Runs of fates for which there was no room.
    pub fates_lost: u64,
}

/// The machine of the service.
#[derive(Debug)]
pub(super) enum UserMachine {
    Forward(FcltuUser),
    Return(ReturnUser),
}

/// The return of a call.
#[derive(Debug)]
pub(super) enum CallReturn {
    Done(Result<(), Diagnostic>),
    Parameter(Result<Parameter, Diagnostic>),
}

/// A CLTU that was refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefusedCltus {
    pub(super) cltus: CltuRange,
    pub(super) diagnostic: Diagnostic,
    pub(super) expected: u32,
}

/// A service instance of SLE.
pub(super) struct SleService {
    pub(super) machine: UserMachine,
    /// TRANSFER-DATA invocations that may be open.
    pub(super) window: usize,
    pub(super) counts: UserStatistics,
    /// Transactions of CLTUs whose returns are to come.
    pub(super) open: VecDeque<(InvokeId, u32, Started)>,
}

impl SleService {
    pub(super) fn new(service: ServiceType, window: usize) -> Self {
        let machine = match service {
            ServiceType::Fcltu => UserMachine::Forward(FcltuUser::new(window)),
            other => UserMachine::Return(ReturnUser::new(other)),
        };
        let window = window.clamp(1, 60_000);
        Self { machine, window, counts: UserStatistics::default(), open: VecDeque::new() }
    }
}

impl ClientState<SleService> {
    pub(super) fn statistics(&self) -> UserStatistics {
        let mut counts = self.service.counts;
        match &self.service.machine {
            UserMachine::Forward(user) => counts.unacknowledged = user.unacknowledged(),
            UserMachine::Return(user) => counts.returned = user.counts(),
        }
        counts.occurrences_lost = self.occurrences_lost;
        counts.fates_lost = self.fates_lost;
        counts
    }
}

impl SettledRun for SettledCltus {
    fn join(&mut self, next: &Self) -> bool {
        let follows = self.fate == next.fate && self.cltus.end() == next.cltus.first;
        let Some(count) = self.cltus.count.checked_add(next.cltus.count).filter(|_| follows) else {
            return false;
        };
        self.cltus.count = count;
        true
    }
}

impl UserService for SleService {
    type Pdu = Pdu;
    type InvokeId = InvokeId;
    type Bound = u16;
    type BindDiagnostic = BindDiagnostic;
    type Abort = PeerAbortDiagnostic;
    type Unbind = UnbindReason;
    type ServiceCommand = Infallible;
    type CallReturn = CallReturn;
    type Refused = RefusedCltus;
    type Occurrence = SleOccurrence;
    type Settled = SettledCltus;
    type Error = ClientError;

    fn not_connected(address: String, error: io::Error) -> ClientError {
        ClientError::Connect { address, error }
    }

    fn bind_refused(diagnostic: BindDiagnostic) -> ClientError {
        ClientError::BindRefused(diagnostic)
    }

    fn over(ending: Option<&AssociationEnd>) -> ClientError {
        ClientError::Ended(
            ending.map_or_else(|| "the connection is closed".to_owned(), notation::ending),
        )
    }

    fn interrupted() -> ClientError {
        ClientError::Interrupted
    }

    fn end(&mut self) -> Vec<SettledCltus> {
        // Without an answer they end ABORTED.
        self.open.clear();
        match &mut self.machine {
            UserMachine::Forward(user) => user.ended(),
            UserMachine::Return(user) => {
                user.unbound();
                Vec::new()
            }
        }
    }

    fn count(&mut self, settled: &SettledCltus) {
        if settled.fate == CltuFate::Radiated {
            self.counts.radiated += u64::from(settled.cltus.count);
        }
    }

    fn hand(&mut self, _: &Pdu) -> usize {
        OVERHEAD
    }

    fn transaction(pdu: &Pdu) -> Option<Started> {
        recording::class_of(pdu).map(|class| class.start())
    }

    fn is_positive(answer: &CallReturn) -> bool {
        matches!(answer, CallReturn::Done(Ok(())) | CallReturn::Parameter(Ok(_)))
    }
}
