//! The user of a return service instance.

use crate::pdu::{
    Diagnostic, FrameOrNotification, FrameQuality, InvokeId, Parameter, ParameterName, Pdu,
    PeerAbortDiagnostic, PositiveStartReturn, ReportRequest, ReturnNotification, ReturnSelection,
    ReturnStart, ReturnStatusReport, ServiceType, StartRequest,
};
use crate::time::Now;
use std::collections::VecDeque;

/// Operations that may wait for their returns.
const OPEN_MAX: usize = 64;

/// Why an operation cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UseError {
    /// The state does not allow it.
    #[error("{operation} is not allowed in the state {state:?}")]
    State {
        /// The operation's name.
        operation: &'static str,
        /// State of the user.
        state: UserState,
    },
    /// START asks another service for something.
    #[error("START of {service:?} cannot request {select:?}")]
    Select {
        /// The service.
        service: ServiceType,
        /// The request.
        select: ReturnSelection,
    },
    /// Too many operations have no return yet.
    #[error("{OPEN_MAX} invocations have no return yet, which is the limit")]
    TooManyOpen,
}

/// State of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserState {
    /// The user is not bound.
    Unbound,
    /// Bound, not started.
    Ready,
    /// START is sent.
    Starting,
    /// Started: frames are delivered.
    Active,
    /// STOP is sent; frames may still come.
    Stopping,
}

/// Meaning of a provider's operation for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// Result of START.
    Started(Result<(), Diagnostic>),
    /// Result of STOP.
    Stopped(Result<(), Diagnostic>),
    /// Result of SCHEDULE-STATUS-REPORT.
    ReportScheduled(Result<(), Diagnostic>),
    /// Result of GET-PARAMETER.
    Parameter {
        /// The parameter.
        name: ParameterName,
        /// Its value, or why not.
        result: Result<Parameter, Diagnostic>,
    },
    /// Frames and notifications, in their order.
    Buffer(Vec<FrameOrNotification>),
    /// A status report.
    Report(ReturnStatusReport),
}

/// Counters of received frames, over all associations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReturnUserCounts {
    /// Transfer buffers.
    pub buffers: u64,
    /// Frames, or control fields.
    pub frames: u64,
    /// Octets of these frames.
    pub octets: u64,
    /// Frames with errors.
    pub erred: u64,
    /// Frames missing by what the provider says of the data link's continuity.
    pub missing: u64,
    /// Notifications of all kinds.
    pub notifications: u64,
    /// Notifications of excessive data backlog: each stands for frames discarded by the provider.
    pub backlogs: u64,
}

/// An operation that waits for its return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Start,
    Stop,
    Report,
    Parameter(ParameterName),
}

/// The user of one service instance. Operations are made by it and sent by whoever has the
/// association; what comes from the association goes through [`Self::pdu`].
#[derive(Debug)]
pub struct ReturnUser {
    service: ServiceType,
    state: UserState,
    next_invoke_id: InvokeId,
    /// Open operations in their order, at most [`OPEN_MAX`].
    open: VecDeque<(InvokeId, Asked)>,
    counts: ReturnUserCounts,
}

impl ReturnUser {
    /// A user that is not bound.
    #[must_use]
    pub fn new(service: ServiceType) -> Self {
        Self {
            service,
            state: UserState::Unbound,
            next_invoke_id: 0,
            open: VecDeque::new(),
            counts: ReturnUserCounts::default(),
        }
    }

    /// The provider has accepted BIND.
    pub fn bound(&mut self) {
        self.state = UserState::Ready;
        self.open.clear();
    }

    /// The association is over, however it ended.
    pub fn unbound(&mut self) {
        self.state = UserState::Unbound;
        self.open.clear();
    }

    /// State of the user.
    #[must_use]
    pub fn state(&self) -> UserState {
        self.state
    }

    /// Counters of received frames.
    #[must_use]
    pub fn counts(&self) -> ReturnUserCounts {
        self.counts
    }

    /// Makes a START.
    ///
    /// # Errors
    /// [`UseError`] where the state does not allow it, or it is for another service.
    pub fn start(&mut self, start: ReturnStart) -> Result<Pdu, UseError> {
        let asks_for = match start.select {
            ReturnSelection::Frames(_) => ServiceType::Raf,
            ReturnSelection::Channel(_) => ServiceType::Rcf,
            ReturnSelection::Ocf { .. } => ServiceType::Rocf,
        };
        if asks_for != self.service {
            return Err(UseError::Select { service: self.service, select: start.select });
        }
        self.require("START", self.state == UserState::Ready)?;
        let invoke_id = self.open(Asked::Start)?;
        self.state = UserState::Starting;
        Ok(Pdu::Start { invoke_id, start: StartRequest::Return(start) })
    }

    /// Makes a STOP.
    ///
    /// # Errors
    /// [`UseError`] where the state does not allow it.
    pub fn stop(&mut self) -> Result<Pdu, UseError> {
        self.require("STOP", self.state == UserState::Active)?;
        let invoke_id = self.open(Asked::Stop)?;
        self.state = UserState::Stopping;
        Ok(Pdu::Stop { invoke_id })
    }

    /// Makes a SCHEDULE-STATUS-REPORT.
    ///
    /// # Errors
    /// [`UseError`] where nothing is bound, or too many operations are open.
    pub fn schedule(&mut self, request: ReportRequest) -> Result<Pdu, UseError> {
        self.require("SCHEDULE-STATUS-REPORT", self.state != UserState::Unbound)?;
        let invoke_id = self.open(Asked::Report)?;
        Ok(Pdu::ScheduleStatusReport { invoke_id, request })
    }

    /// Makes a GET-PARAMETER.
    ///
    /// # Errors
    /// [`UseError`] where nothing is bound, or too many operations are open.
    pub fn get_parameter(&mut self, name: ParameterName) -> Result<Pdu, UseError> {
        self.require("GET-PARAMETER", self.state != UserState::Unbound)?;
        let invoke_id = self.open(Asked::Parameter(name))?;
        Ok(Pdu::GetParameter { invoke_id, name })
    }

    /// An operation of the provider's.
    ///
    /// # Errors
    /// With what the association is to be aborted: the operation is not one for this state, or a
    /// return that nobody waits for. The user is unbound then.
    pub fn pdu(&mut self, pdu: Pdu, _now: Now) -> Result<UserEvent, PeerAbortDiagnostic> {
        let event = self.event(pdu);
        if event.is_err() {
            self.unbound();
        }
        event
    }

    fn event(&mut self, pdu: Pdu) -> Result<UserEvent, PeerAbortDiagnostic> {
        match pdu {
            Pdu::TransferBuffer(parts)
                if matches!(self.state, UserState::Active | UserState::Stopping) =>
            {
                self.count(&parts);
                Ok(UserEvent::Buffer(parts))
            }
            Pdu::ReturnStatusReport(report) if self.state != UserState::Unbound => {
                Ok(UserEvent::Report(report))
            }
            Pdu::StartReturn { invoke_id, result } => {
                self.close(invoke_id, |asked| asked == Asked::Start)?;
                let result = match result {
                    Ok(PositiveStartReturn::Return) => Ok(()),
                    Ok(PositiveStartReturn::Cltu { .. }) => {
                        return Err(PeerAbortDiagnostic::ProtocolError);
                    }
                    Err(diagnostic) => Err(diagnostic),
                };
                self.state = if result.is_ok() { UserState::Active } else { UserState::Ready };
                Ok(UserEvent::Started(result))
            }
            Pdu::StopReturn { invoke_id, result } => {
                self.close(invoke_id, |asked| asked == Asked::Stop)?;
                self.state = if result.is_ok() { UserState::Ready } else { UserState::Active };
                Ok(UserEvent::Stopped(result))
            }
            Pdu::ScheduleStatusReportReturn { invoke_id, result } => {
                self.close(invoke_id, |asked| asked == Asked::Report)?;
                Ok(UserEvent::ReportScheduled(result))
            }
            Pdu::GetParameterReturn { invoke_id, result } => {
                let is_parameter = |asked| matches!(asked, Asked::Parameter(_));
                match self.close(invoke_id, is_parameter)? {
                    Asked::Parameter(name) => Ok(UserEvent::Parameter { name, result }),
                    _ => Err(PeerAbortDiagnostic::ProtocolError),
                }
            }
            _ => Err(PeerAbortDiagnostic::ProtocolError),
        }
    }

    fn count(&mut self, parts: &[FrameOrNotification]) {
        self.counts.buffers += 1;
        for part in parts {
            match part {
                FrameOrNotification::Frame(frame) => {
                    self.counts.frames += 1;
                    self.counts.octets += frame.data.len() as u64;
                    self.counts.erred += u64::from(frame.quality == Some(FrameQuality::Erred));
                    self.counts.missing += u64::try_from(frame.data_link_continuity).unwrap_or(0);
                }
                FrameOrNotification::Notification(said) => {
                    self.counts.notifications += 1;
                    let is_backlog = said.notification == ReturnNotification::ExcessiveDataBacklog;
                    self.counts.backlogs += u64::from(is_backlog);
                }
            }
        }
    }

    fn require(&self, operation: &'static str, is_allowed: bool) -> Result<(), UseError> {
        if is_allowed { Ok(()) } else { Err(UseError::State { operation, state: self.state }) }
    }

    fn open(&mut self, asked: Asked) -> Result<InvokeId, UseError> {
        if self.open.len() >= OPEN_MAX {
            return Err(UseError::TooManyOpen);
        }
        let invoke_id = self.next_invoke_id;
        self.next_invoke_id = invoke_id.wrapping_add(1);
        self.open.push_back((invoke_id, asked));
        Ok(invoke_id)
    }

    fn close(
        &mut self,
        invoke_id: InvokeId,
        is_its: impl Fn(Asked) -> bool,
    ) -> Result<Asked, PeerAbortDiagnostic> {
        let found = self.open.iter().position(|(open, _)| *open == invoke_id);
        let (_, asked) = found
            .and_then(|index| self.open.remove(index))
            .ok_or(PeerAbortDiagnostic::UnsolicitedInvokeId)?;
        // The return of another operation.
        if is_its(asked) { Ok(asked) } else { Err(PeerAbortDiagnostic::ProtocolError) }
    }
}
