//! SLE's services as their user's client needs them.

use super::error::ClientError;
use super::notation;
use super::refused::{insert_refused, take_resent};
use super::service::{SettledRun, UserService};
use super::state::ClientState;
use super::window::{WINDOW_MAX, WindowTuner};
use crate::association::AssociationEnd;
use crate::pdu::{
    BindDiagnostic, CltuAsyncNotify, CltuId, CltuStatusReport, Diagnostic, InvokeId, Parameter,
    Pdu, PeerAbortDiagnostic, ReturnStatusReport, ServiceType, SyncNotify, UnbindReason,
};
use crate::recording;
use crate::service::fcltu::{
    CltuFate, CltuRange, FcltuUser, SendPermit, SettledCltus, StationRoom,
};
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
    /// CLTUs handed over; one that was refused and sent again counts each time.
    pub sent: u64,
    /// Octets of these CLTUs.
    pub sent_octets: u64,
    /// CLTUs handed over again after a refusal.
    pub resent: u64,
    /// CLTUs taken by the provider.
    pub acknowledged: u64,
    /// Octets of these CLTUs.
    pub acknowledged_octets: u64,
    /// CLTUs refused by the provider, each time.
    pub refused: u64,
    /// CLTUs told to be radiated.
    pub radiated: u64,
    /// CLTUs taken by the provider of whose radiation or loss nothing was told yet.
    pub unsettled: u32,
    /// Reports of a radiation that contradict an earlier report of a loss: not believed.
    pub contradicted: u64,
    /// TRANSFER-DATA invocations whose returns are to come.
    pub unacknowledged: usize,
    /// TRANSFER-DATA invocations that may be without a return at present.
    pub window: usize,
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
    pub(super) tuner: WindowTuner,
    /// Room in the station's buffer.
    pub(super) room: StationRoom,
    /// CLTUs that were refused and not sent again, in the order of their numbers.
    pub(super) refused: Vec<SettledCltus>,
    /// CLTUs that were told as radiated after their loss was told, in the order of the reports.
    pub(super) contradicted: Vec<CltuId>,
    pub(super) counts: UserStatistics,
    /// Transactions of CLTUs whose returns are to come.
    pub(super) open: VecDeque<(InvokeId, u32, Started)>,
}

impl SleService {
    pub(super) fn new(service: ServiceType, window: Option<usize>) -> Self {
        let machine = match service {
            ServiceType::Fcltu => {
                UserMachine::Forward(FcltuUser::new(window.unwrap_or(WINDOW_MAX)))
            }
            other => UserMachine::Return(ReturnUser::new(other)),
        };
        Self {
            machine,
            tuner: WindowTuner::new(window),
            room: StationRoom::default(),
            refused: Vec::new(),
            contradicted: Vec::new(),
            counts: UserStatistics::default(),
            open: VecDeque::new(),
        }
    }

    /// When an invocation with `octets` of CLTUs may be sent, with `open` invocations unreturned.
    pub(super) fn permit(&self, octets: usize, open: usize) -> SendPermit {
        if open >= self.tuner.window() {
            return SendPermit::AfterReport;
        }
        self.room.permit(octets, open, chronoscope_clock::monotonic_ns)
    }

    /// CLTUs of these sizes are sent in one invocation.
    pub(super) fn sent(&mut self, cltus: CltuRange, sizes: impl Iterator<Item = usize>) {
        self.tuner.sent(chronoscope_clock::monotonic_ns);
        self.counts.sent += u64::from(cltus.count);
        for octets in sizes {
            self.counts.sent_octets += octets as u64;
            self.room.sent(octets);
        }
        self.counts.resent += take_resent(&mut self.refused, cltus);
    }

    /// A return: so many of the oldest CLTUs were taken, then `refused` were not.
    pub(super) fn returned(
        &mut self,
        taken: u32,
        refused: Option<SettledCltus>,
        available: u32,
        now_ns: u64,
    ) {
        self.tuner.returned(now_ns);
        if taken > 0 {
            self.counts.acknowledged += u64::from(taken);
            self.counts.acknowledged_octets += self.room.accepted(taken, available, now_ns);
        }
        if let Some(refused) = refused {
            self.counts.refused += u64::from(refused.cltus.count);
            self.room.refused(refused.cltus.count, available, now_ns);
            insert_refused(&mut self.refused, refused);
        }
    }

    /// Fates were reported: so many CLTUs have left the station's buffer.
    pub(super) fn left(&mut self, settled: &[SettledCltus]) {
        for one in settled {
            self.room.left(one.cltus.count);
        }
    }

    /// START was accepted. The fates of CLTUs that were refused before and not sent again.
    pub(super) fn started(&mut self) -> Vec<SettledCltus> {
        self.room = StationRoom::default();
        std::mem::take(&mut self.refused)
    }
}

impl ClientState<SleService> {
    pub(super) fn statistics(&self) -> UserStatistics {
        let mut counts = self.service.counts;
        match &self.service.machine {
            UserMachine::Forward(user) => {
                counts.unacknowledged = user.unacknowledged();
                counts.unsettled = user.unsettled();
            }
            UserMachine::Return(user) => counts.returned = user.counts(),
        }
        counts.window = self.service.tuner.window();
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

    fn count(&self) -> u32 {
        self.cltus.count
    }

    fn skip(&mut self, count: u32) {
        let count = count.min(self.cltus.count);
        self.cltus.first = self.cltus.first.wrapping_add(count);
        self.cltus.count -= count;
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
        let mut settled = std::mem::take(&mut self.refused);
        match &mut self.machine {
            UserMachine::Forward(user) => settled.extend(user.ended()),
            UserMachine::Return(user) => user.unbound(),
        }
        settled
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
