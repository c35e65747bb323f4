//! The user's side of a service instance: operations are made here, and what comes is understood.

use super::event::{ASKED_MAX, CltuTransfer, UseError, UserEvent, UserState};
use super::fate::{CltuFate, CltuRange, OutstandingCltus, SettledCltus};
use crate::pdu::{
    BufferNotification, CltuId, CltuTransferBuffer, CltuTransferData, CltuTransferDataReturn,
    Diagnostic, EventInvocationId, InvokeId, ParameterName, Pdu, PeerAbortDiagnostic,
    PositiveStartReturn, ReportRequest, StartRequest, ThrowEvent,
};
use crate::time::{Now, Time};
use bytes::Bytes;
use std::collections::VecDeque;

/// The most invocations of TRANSFER-DATA that may be open: invoke ids have 16 bits.
const WINDOW_MAX: usize = 60_000;

/// An open invocation that is no TRANSFER-DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Start(CltuId),
    Stop,
    Schedule,
    Parameter(ParameterName),
    Event(EventInvocationId),
}

/// The user's side of one service instance.
///
/// Every CLTU gets a [`CltuFate`]: by [`UserEvent::Refused`], by `settled` of other events, and where
/// the association ends, by [`FcltuUser::ended`].
#[derive(Debug)]
pub struct FcltuUser {
    window: usize,
    state: UserState,
    next_invoke: InvokeId,
    asked: Vec<(InvokeId, Asked)>,
    /// TRANSFER-DATA invocations whose returns are to come, oldest first.
    sent: VecDeque<(InvokeId, CltuRange)>,
    next_cltu: CltuId,
    /// A CLTU was refused; this one is expected.
    expected: Option<CltuId>,
    open: OutstandingCltus,
    next_event: EventInvocationId,
    buffer_available: Option<u32>,
}

impl FcltuUser {
    /// With so many TRANSFER-DATA invocations that may wait for their returns, in [1, 60,000] (what
    /// is outside becomes the nearest inside).
    #[must_use]
    pub fn new(window: usize) -> Self {
        Self {
            window: window.clamp(1, WINDOW_MAX),
            state: UserState::Unbound,
            next_invoke: 0,
            asked: Vec::new(),
            sent: VecDeque::new(),
            next_cltu: 0,
            expected: None,
            open: OutstandingCltus::none(0, Time::from_utc_ns(0)),
            next_event: 0,
            buffer_available: None,
        }
    }

    /// The provider has accepted BIND.
    pub fn bound(&mut self) {
        let window = self.window;
        let next_event = self.next_event;
        *self = Self { state: UserState::Ready, next_event, ..Self::new(window) };
    }

    /// The association is over. All CLTUs whose fate was not told: those that were not answered
    /// as [`CltuFate::Unknown`], those that were taken as [`CltuFate::Acknowledged`].
    pub fn ended(&mut self) -> Vec<SettledCltus> {
        let mut settled = Vec::new();
        self.open.give_up(&mut settled);
        let unknown = self.sent.drain(..);
        settled.extend(unknown.map(|(_, cltus)| SettledCltus { cltus, fate: CltuFate::Unknown }));
        self.asked.clear();
        self.expected = None;
        self.state = UserState::Unbound;
        settled
    }

    /// State of the user.
    #[must_use]
    pub fn state(&self) -> UserState {
        self.state
    }

    /// TRANSFER-DATA invocations whose returns are to come.
    #[must_use]
    pub fn unacknowledged(&self) -> usize {
        self.sent.len()
    }

    /// CLTUs that were taken, of whose radiation or loss nothing was told yet.
    #[must_use]
    pub fn unsettled(&self) -> u32 {
        self.open.count()
    }

    /// The number that the next CLTU will have.
    #[must_use]
    pub fn next_cltu(&self) -> CltuId {
        self.expected.unwrap_or(self.next_cltu)
    }

    /// Octets of the provider's buffer that were free when it last said so.
    #[must_use]
    pub fn buffer_available(&self) -> Option<u32> {
        self.buffer_available
    }

    /// A START invocation.
    ///
    /// # Errors
    /// [`UseError`] where the state is another than ready, or too much is open.
    pub fn start(&mut self, first_cltu: CltuId) -> Result<Pdu, UseError> {
        self.must_be(&[UserState::Ready])?;
        let invoke_id = self.ask(Asked::Start(first_cltu))?;
        self.state = UserState::StartPending;
        Ok(Pdu::Start { invoke_id, start: StartRequest::Cltu { first_cltu } })
    }

    /// A STOP invocation.
    ///
    /// # Errors
    /// [`UseError`] where the state is another than active, or too much is open.
    pub fn stop(&mut self) -> Result<Pdu, UseError> {
        self.must_be(&[UserState::Active])?;
        let invoke_id = self.ask(Asked::Stop)?;
        self.state = UserState::StopPending;
        Ok(Pdu::Stop { invoke_id })
    }

    /// A SCHEDULE-STATUS-REPORT invocation.
    ///
    /// # Errors
    /// [`UseError`] where nothing is bound, or too much is open.
    pub fn schedule(&mut self, request: ReportRequest) -> Result<Pdu, UseError> {
        let invoke_id = self.ask(Asked::Schedule)?;
        Ok(Pdu::ScheduleStatusReport { invoke_id, request })
    }

    /// A GET-PARAMETER invocation.
    ///
    /// # Errors
    /// [`UseError`] where nothing is bound, or too much is open.
    pub fn get_parameter(&mut self, name: ParameterName) -> Result<Pdu, UseError> {
        let invoke_id = self.ask(Asked::Parameter(name))?;
        Ok(Pdu::GetParameter { invoke_id, name })
    }

    /// A THROW-EVENT invocation, of an event in [1, 65535] with 1 to 1024 octets of qualifier. One
    /// at a time: the next one's number is known by its return.
    ///
    /// # Errors
    /// [`UseError`] where nothing is bound, or too much is open.
    pub fn throw_event(&mut self, event: u16, qualifier: Bytes) -> Result<Pdu, UseError> {
        if self.asked.iter().any(|(_, asked)| matches!(asked, Asked::Event(_))) {
            return Err(UseError::TooManyOpen);
        }
        let event_invocation_id = self.next_event;
        let invoke_id = self.ask(Asked::Event(event_invocation_id))?;
        Ok(Pdu::ThrowEvent(ThrowEvent { invoke_id, event_invocation_id, event, qualifier }))
    }

    /// A TRANSFER-DATA invocation with the next number.
    ///
    /// # Errors
    /// [`UseError`] where the state is another than active, the window is full, or a CLTU was
    /// refused and what was sent after it is not answered yet.
    pub fn transfer(&mut self, cltu: CltuTransfer) -> Result<Pdu, UseError> {
        let (invoke_id, cltus) = self.next_transfer(1)?;
        Ok(Pdu::CltuTransferData(CltuTransferData {
            invoke_id,
            cltu: cltus.first,
            earliest: cltu.earliest,
            latest: cltu.latest,
            delay_us: cltu.delay_us,
            notify_radiated: cltu.notify_radiated,
            data: cltu.data,
        }))
    }

    /// Several CLTUs in one invocation with the next numbers (no book has that).
    ///
    /// # Errors
    /// As [`FcltuUser::transfer`]; and where there is no CLTU.
    pub fn transfer_buffer(
        &mut self,
        cltus: Vec<Bytes>,
        notify_radiated: BufferNotification,
    ) -> Result<Pdu, UseError> {
        let count = cltus.len();
        let in_words = u32::try_from(count).ok().filter(|n| (1..=1 << 31).contains(n));
        let (invoke_id, numbers) =
            self.next_transfer(in_words.ok_or(UseError::BufferCount { count })?)?;
        let ids = (0..numbers.count).map(|index| numbers.first.wrapping_add(index));
        let cltus = ids.zip(cltus).collect();
        Ok(Pdu::CltuTransferBuffer(CltuTransferBuffer { invoke_id, notify_radiated, cltus }))
    }

    fn next_transfer(&mut self, count: u32) -> Result<(InvokeId, CltuRange), UseError> {
        self.must_be(&[UserState::Active])?;
        if let Some(expected) = self.expected {
            return Err(UseError::Refused { open: self.sent.len(), expected });
        }
        if self.sent.len() >= self.window {
            return Err(UseError::WindowFull { window: self.window });
        }
        let invoke_id = self.new_invoke_id()?;
        let cltus = CltuRange { first: self.next_cltu, count };
        self.next_cltu = cltus.end();
        self.sent.push_back((invoke_id, cltus));
        Ok((invoke_id, cltus))
    }

    fn must_be(&self, states: &[UserState]) -> Result<(), UseError> {
        if states.contains(&self.state) {
            Ok(())
        } else {
            Err(UseError::State { state: self.state })
        }
    }

    /// An invoke id that no open invocation has.
    fn new_invoke_id(&mut self) -> Result<InvokeId, UseError> {
        let mut id = self.next_invoke;
        while self.asked.iter().any(|(asked, _)| *asked == id) {
            id = id.wrapping_add(1);
        }
        // Those of `sent` follow each other: the oldest is met first.
        if self.sent.front().is_some_and(|(oldest, _)| *oldest == id) {
            return Err(UseError::WindowFull { window: self.window });
        }
        self.next_invoke = id.wrapping_add(1);
        Ok(id)
    }

    fn ask(&mut self, what: Asked) -> Result<InvokeId, UseError> {
        if self.state == UserState::Unbound {
            return Err(UseError::State { state: self.state });
        }
        if self.asked.len() >= ASKED_MAX {
            return Err(UseError::TooManyOpen);
        }
        let invoke_id = self.new_invoke_id()?;
        self.asked.push((invoke_id, what));
        Ok(invoke_id)
    }

    /// An operation has come.
    ///
    /// # Errors
    /// What to abort the association with: a return that nobody waits for, or an operation that no
    /// provider of FCLTU sends in this state.
    pub fn pdu(&mut self, pdu: Pdu, _now: Now) -> Result<UserEvent, PeerAbortDiagnostic> {
        if self.state == UserState::Unbound {
            return Err(PeerAbortDiagnostic::ProtocolError);
        }
        match pdu {
            Pdu::CltuTransferDataReturn(returned) => self.returned(returned),
            Pdu::CltuAsyncNotify(notify) => {
                let mut settled = Vec::new();
                let contradicted = self.open.contradicted(notify.last_ok, notify.last_processed);
                self.open.notified(&notify, &mut settled);
                Ok(UserEvent::Notified { notify, settled, contradicted })
            }
            Pdu::CltuStatusReport(report) => {
                let mut settled = Vec::new();
                let contradicted = self.open.contradicted(report.last_ok, report.last_processed);
                self.open.radiated(report.last_ok, report.last_processed, &mut settled);
                self.buffer_available = Some(report.buffer_available);
                Ok(UserEvent::Report { report, settled, contradicted })
            }
            Pdu::StartReturn { invoke_id, result } => match self.answered(invoke_id)? {
                Asked::Start(first) => self.started(first, result),
                _ => Err(PeerAbortDiagnostic::ProtocolError),
            },
            Pdu::StopReturn { invoke_id, result } => match (self.answered(invoke_id)?, result) {
                (Asked::Stop, Ok(())) => {
                    self.state = UserState::Ready;
                    Ok(UserEvent::Stopped)
                }
                (Asked::Stop, Err(diagnostic)) => {
                    self.state = UserState::Active;
                    Ok(UserEvent::StopRefused(diagnostic))
                }
                _ => Err(PeerAbortDiagnostic::ProtocolError),
            },
            Pdu::ScheduleStatusReportReturn { invoke_id, result } => {
                match self.answered(invoke_id)? {
                    Asked::Schedule => Ok(UserEvent::Scheduled(result)),
                    _ => Err(PeerAbortDiagnostic::ProtocolError),
                }
            }
            Pdu::GetParameterReturn { invoke_id, result } => match self.answered(invoke_id)? {
                Asked::Parameter(name) => Ok(UserEvent::Parameter { name, result }),
                _ => Err(PeerAbortDiagnostic::ProtocolError),
            },
            Pdu::ThrowEventReturn { invoke_id, event_invocation_id, result } => {
                match self.answered(invoke_id)? {
                    Asked::Event(thrown) => {
                        self.next_event = event_invocation_id;
                        Ok(UserEvent::Thrown { event_invocation_id: thrown, result })
                    }
                    _ => Err(PeerAbortDiagnostic::ProtocolError),
                }
            }
            _ => Err(PeerAbortDiagnostic::ProtocolError),
        }
    }

    /// The operation that the return of an invoke id belongs to.
    fn answered(&mut self, invoke_id: InvokeId) -> Result<Asked, PeerAbortDiagnostic> {
        let at = self.asked.iter().position(|(id, _)| *id == invoke_id);
        match at {
            Some(at) => Ok(self.asked.remove(at).1),
            // Of TRANSFER-DATA, which has another return.
            None if self.sent.iter().any(|(id, _)| *id == invoke_id) => {
                Err(PeerAbortDiagnostic::ProtocolError)
            }
            None => Err(PeerAbortDiagnostic::UnsolicitedInvokeId),
        }
    }

    fn started(
        &mut self,
        first: CltuId,
        result: Result<PositiveStartReturn, Diagnostic>,
    ) -> Result<UserEvent, PeerAbortDiagnostic> {
        match result {
            Ok(PositiveStartReturn::Cltu { start_radiation, stop_radiation }) => {
                let mut settled = Vec::new();
                self.open.give_up(&mut settled);
                self.open = OutstandingCltus::none(first, start_radiation);
                self.next_cltu = first;
                self.expected = None;
                self.state = UserState::Active;
                Ok(UserEvent::Started { start_radiation, stop_radiation, settled })
            }
            Ok(PositiveStartReturn::Return) => Err(PeerAbortDiagnostic::ProtocolError),
            Err(diagnostic) => {
                self.state = UserState::Ready;
                Ok(UserEvent::StartRefused(diagnostic))
            }
        }
    }

    fn returned(
        &mut self,
        returned: CltuTransferDataReturn,
    ) -> Result<UserEvent, PeerAbortDiagnostic> {
        let CltuTransferDataReturn { invoke_id, next_cltu: expected, buffer_available, result } =
            returned;
        // Returns come in the order of invocations: nearly always it is the first.
        let at = self.sent.iter().position(|(id, _)| *id == invoke_id);
        let Some((_, cltus)) = at.and_then(|at| self.sent.remove(at)) else {
            let known = self.asked.iter().any(|(id, _)| *id == invoke_id);
            return Err(if known {
                PeerAbortDiagnostic::ProtocolError
            } else {
                PeerAbortDiagnostic::UnsolicitedInvokeId
            });
        };
        self.buffer_available = Some(buffer_available);
        let event = match result {
            Ok(()) => {
                if let Some(next) = &mut self.expected {
                    *next = expected;
                }
                self.open.take(cltus.end());
                UserEvent::Acknowledged { cltus, buffer_available }
            }
            Err(diagnostic) => {
                self.expected = Some(expected);
                self.refused(cltus, diagnostic, &returned)
            }
        };
        if self.sent.is_empty()
            && let Some(expected) = self.expected.take()
        {
            self.next_cltu = expected;
        }
        Ok(event)
    }

    /// Handles a refusal. The CLTUs of a buffer before the expected one were accepted.
    fn refused(
        &mut self,
        cltus: CltuRange,
        diagnostic: Diagnostic,
        returned: &CltuTransferDataReturn,
    ) -> UserEvent {
        let CltuTransferDataReturn { next_cltu: expected, buffer_available, .. } = *returned;
        let count = if cltus.contains(expected) { expected.wrapping_sub(cltus.first) } else { 0 };
        let taken = (count > 0).then_some(CltuRange { first: cltus.first, count });
        if let Some(taken) = taken {
            self.open.take(taken.end());
        }
        let first = cltus.first.wrapping_add(count);
        let cltus = CltuRange { first, count: cltus.count - count };
        UserEvent::Refused { cltus, taken, diagnostic, expected, buffer_available }
    }
}
