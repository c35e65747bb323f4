//! The user's side of a data processing procedure: operations are made here, and what comes is
//! understood.

use super::fate::{DataUnitFate, DataUnits, OutstandingUnits, SettledUnits};
use super::value;
use crate::csts::pdu::names::{
    P_SCDP_EXPIRED, P_SCDP_LOCKED, P_SCDP_RESET, P_SCDP_RESET_QUALIFIER,
    SVC_PRODUCTION_STATUS_CHANGE,
};
use crate::csts::pdu::{
    AbstractChoice, BufferedOperation, DataTransferMode, DataUnitId, Diagnostic,
    DirectiveQualifier, EventValue, ExecuteDirective, GetPdu, GetReturn, InvokeId, ListOf,
    NotifyExtension, NotifyPdu, Pdu, PeerAbortDiagnostic, PlainInvocation, PlainReturn,
    ProcedureName, ProcessData, ProcessDataExtension, ProcessDataReturn,
    ProcessDataReturnExtension, ProductionStatus, QualifiedParameter, QualifiedValue,
    QualifierValues, StartExtension, StartPdu,
};
use crate::time::{Now, Time};
use bytes::Bytes;
use std::collections::VecDeque;

/// Other invocations that may be open.
const ASKED_MAX: usize = 64;

/// The procedure and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcedureKind {
    /// Buffered Data Processing.
    Buffered {
        /// The provider's behaviour when its queue is full.
        mode: DataTransferMode,
        /// When a forward buffer is sent.
        blocking: BlockingLimits,
        /// Data units whose completion is to be reported, besides those with [`DataUnit::report`].
        reports: CompletionReports,
    },
    /// Sequence-Controlled Data Processing.
    SequenceControlled {
        /// PROCESS-DATA invocations that may wait for their returns, from 1.
        window: usize,
    },
}

/// When a forward buffer is sent: as soon as one of these is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockingLimits {
    /// Data units, from 1; with 1 each goes alone, as PROCESS-DATA.
    pub units: usize,
    /// Octets of data units.
    pub octets: usize,
    /// The time that the first waits, in ns.
    pub wait_ns: u64,
}

/// Data units whose completion is to be reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompletionReports {
    /// No data unit.
    #[default]
    None,
    /// The last of each forward buffer.
    Last,
    /// Every data unit.
    Every,
}

/// A data unit to be processed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataUnit {
    /// The octets of the data unit.
    pub data: Bytes,
    /// Whether its completion is to be told.
    pub report: bool,
    /// Sequence-controlled: not to be processed before.
    pub earliest: Option<Time>,
    /// Sequence-controlled: not to be processed after.
    pub latest: Option<Time>,
}

/// A user's states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserState {
    /// The user is not bound.
    Unbound,
    /// Bound, not started.
    Inactive,
    /// START's return is to come.
    StartPending,
    /// Started: data units may be sent.
    Active,
    /// Started; the provider takes none before a reset.
    Locked,
    /// STOP's return is to come.
    StopPending,
}

/// Why an operation cannot be invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UseError {
    /// The state does not allow it.
    #[error("the operation is not allowed in the state {state:?}")]
    State {
        /// The present state.
        state: UserState,
    },
    /// The window is full: wait for a return.
    #[error("the window of {window} PROCESS-DATA invocations without a return is full")]
    WindowFull {
        /// The window.
        window: usize,
    },
    /// A data unit was refused, and returns of those sent after it are to come: wait for them.
    #[error("a data unit was refused: wait for {open} more returns, then send number {expected}")]
    Refused {
        /// Returns to come.
        open: usize,
        /// The number that comes next.
        expected: DataUnitId,
    },
    /// Too many other returns are open: wait for one.
    #[error("{ASKED_MAX} invocations have no return yet, which is the limit")]
    TooManyOpen,
    /// The other procedure has that operation.
    #[error("this procedure has no operation {0}")]
    NotOfProcedure(&'static str),
}

/// Event for the user of a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserEvent {
    /// START was answered.
    Started(Result<(), Diagnostic>),
    /// STOP was answered.
    Stopped(Result<(), Diagnostic>),
    /// A data unit was taken.
    Acknowledged(DataUnitId),
    /// A data unit was not taken; with it go those that were sent after it, by returns of their own.
    Refused {
        /// Number of the data unit.
        unit: DataUnitId,
        /// Diagnostic of the return.
        diagnostic: Diagnostic,
        /// The number that the provider expects.
        expected: DataUnitId,
    },
    /// NOTIFY, and what it says of data units.
    Notified {
        /// The NOTIFY invocation.
        notify: Box<NotifyPdu>,
        /// The production status, if the event contains it.
        production: Option<ProductionStatus>,
        /// Fates that became known.
        settled: Vec<SettledUnits>,
    },
    /// GET was answered.
    Parameters(Result<Vec<QualifiedParameter>, Diagnostic>),
    /// `reset` was acknowledged; a refusal is the end of it.
    ResetAcknowledged(Result<(), Diagnostic>),
    /// `reset` was done, or not.
    Reset(Result<(), Diagnostic>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Start(DataUnitId),
    Stop,
    Get,
    Reset(DataUnitId),
}

/// The user's side of one procedure instance, and of Information Query beside it.
///
/// Every data unit gets a [`DataUnitFate`]: by [`UserEvent::Refused`], by `settled` of notifications, and
/// where the association or START to STOP ends, by [`ProcessingUser::ended`] and
/// [`ProcessingUser::take_settled`].
#[derive(Debug)]
pub struct ProcessingUser {
    procedure: ProcedureName,
    query: ProcedureName,
    kind: ProcedureKind,
    state: UserState,
    next_invoke: InvokeId,
    /// Invoke id of START. With the service instance and its number it names a data unit.
    session: InvokeId,
    asked: Vec<(InvokeId, Asked)>,
    /// Sequence-controlled: those whose returns are to come, oldest first.
    sent: VecDeque<(InvokeId, DataUnitId)>,
    next_unit: DataUnitId,
    expected: Option<DataUnitId>,
    open: OutstandingUnits,
    /// The last one whose completion was asked to be told at the end of a buffer.
    awaited: Option<DataUnitId>,
    /// The buffer that is being filled, its octets, and when its first came.
    buffer: Vec<BufferedOperation<ProcessData>>,
    buffer_octets: usize,
    buffer_since_ns: u64,
    settled: Vec<SettledUnits>,
}

impl ProcessingUser {
    /// `first_invoke`: where invoke ids begin. Another one for each association makes names of data
    /// units that no other association's have.
    #[must_use]
    pub fn new(
        procedure: ProcedureName,
        query: ProcedureName,
        kind: ProcedureKind,
        first_invoke: InvokeId,
    ) -> Self {
        Self {
            procedure,
            query,
            kind,
            state: UserState::Unbound,
            next_invoke: first_invoke,
            session: first_invoke,
            asked: Vec::new(),
            sent: VecDeque::new(),
            next_unit: 0,
            expected: None,
            open: OutstandingUnits::none(0),
            awaited: None,
            buffer: Vec::new(),
            buffer_octets: 0,
            buffer_since_ns: 0,
            settled: Vec::new(),
        }
    }

    /// The provider has accepted BIND.
    pub fn bound(&mut self) {
        self.state = UserState::Inactive;
    }

    /// The association is over. All data units whose fate was not told.
    pub fn ended(&mut self) -> Vec<SettledUnits> {
        self.give_up();
        self.state = UserState::Unbound;
        self.asked.clear();
        self.take_settled()
    }

    /// Settles all outstanding data units: no report will follow.
    fn give_up(&mut self) {
        let fate = match self.kind {
            ProcedureKind::Buffered { .. } => DataUnitFate::Unknown,
            ProcedureKind::SequenceControlled { .. } => DataUnitFate::Acknowledged,
        };
        self.open.settle(self.open.count(), fate, &mut self.settled);
        for (_, unit) in self.sent.drain(..) {
            settle_one(&mut self.settled, unit, DataUnitFate::Unknown);
        }
        for part in self.buffer.drain(..) {
            settle_one(&mut self.settled, part.operation.data_unit, DataUnitFate::NotSent);
        }
        self.buffer_octets = 0;
        self.expected = None;
    }

    /// The fates that became known at START and STOP.
    pub fn take_settled(&mut self) -> Vec<SettledUnits> {
        std::mem::take(&mut self.settled)
    }

    /// State of the procedure.
    #[must_use]
    pub fn state(&self) -> UserState {
        self.state
    }

    /// The invoke id of START.
    #[must_use]
    pub fn session(&self) -> InvokeId {
        self.session
    }

    /// PROCESS-DATA invocations whose returns are to come.
    #[must_use]
    pub fn unacknowledged(&self) -> usize {
        self.sent.len()
    }

    /// Data units that are with the provider and not known to be processed or lost.
    #[must_use]
    pub fn open(&self) -> u32 {
        self.open.count()
    }

    /// Whether nothing more is to be told of what was sent: no return, and no completion.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        let is_open = |unit: DataUnitId| self.open.before(unit).is_some();
        self.sent.is_empty() && !self.awaited.is_some_and(is_open)
    }

    /// The number that the next data unit will have.
    #[must_use]
    pub fn next_unit(&self) -> DataUnitId {
        self.expected.unwrap_or(self.next_unit)
    }

    /// A START invocation; the first data unit has this number.
    ///
    /// # Errors
    /// [`UseError`] where the state is another, or too much is open.
    pub fn start(&mut self, first: DataUnitId) -> Result<Pdu, UseError> {
        self.must_be(&[UserState::Inactive])?;
        let invoke_id = self.ask(Asked::Start(first))?;
        self.state = UserState::StartPending;
        self.session = invoke_id;
        let extension = match self.kind {
            ProcedureKind::Buffered { .. } => StartExtension::NotUsed,
            ProcedureKind::SequenceControlled { .. } => {
                StartExtension::SequenceControlled { first_data_unit: first, extension: None }
            }
        };
        Ok(Pdu::Start(StartPdu { invoke_id, procedure: self.procedure.clone(), extension }))
    }

    /// A STOP invocation. What was not flushed before is not sent.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn stop(&mut self) -> Result<Pdu, UseError> {
        self.must_be(&[UserState::Active, UserState::Locked])?;
        let invoke_id = self.ask(Asked::Stop)?;
        self.state = UserState::StopPending;
        let procedure = self.procedure.clone();
        Ok(Pdu::Stop(PlainInvocation { invoke_id, procedure, extension: None }))
    }

    /// A GET invocation.
    ///
    /// # Errors
    /// Where nothing is bound, or too much is open.
    pub fn get(&mut self, parameters: ListOf) -> Result<Pdu, UseError> {
        let invoke_id = self.ask(Asked::Get)?;
        let procedure = self.query.clone();
        Ok(Pdu::Get(GetPdu { invoke_id, procedure, parameters, extension: None }))
    }

    /// Sequence-controlled: the directive `reset`; the next data unit has this number then.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn reset(&mut self, first: DataUnitId) -> Result<Pdu, UseError> {
        if matches!(self.kind, ProcedureKind::Buffered { .. }) {
            return Err(UseError::NotOfProcedure("reset"));
        }
        self.must_be(&[UserState::Active, UserState::Locked])?;
        let invoke_id = self.ask(Asked::Reset(first))?;
        self.state = UserState::Locked;
        let qualifier = value::integer(P_SCDP_RESET_QUALIFIER, first);
        Ok(Pdu::ExecuteDirective(ExecuteDirective {
            invoke_id,
            procedure: self.procedure.clone(),
            directive: P_SCDP_RESET,
            qualifier: DirectiveQualifier::Local(QualifierValues::Parameterless(qualifier)),
            extension: None,
        }))
    }

    /// A data unit with the next number: its number, and what is to be sent now. That is nothing
    /// while a forward buffer is being filled.
    ///
    /// # Errors
    /// [`UseError`]; nothing has changed then.
    pub fn process(
        &mut self,
        unit: DataUnit,
        now: Now,
    ) -> Result<(DataUnitId, Option<Pdu>), UseError> {
        self.must_be(&[UserState::Active])?;
        if let Some(expected) = self.expected {
            return Err(UseError::Refused { open: self.sent.len(), expected });
        }
        let (report, number) = (unit.report, self.next_unit);
        let octets = unit.data.len();
        match self.kind {
            ProcedureKind::SequenceControlled { window } => {
                if self.sent.len() >= window.max(1) {
                    return Err(UseError::WindowFull { window });
                }
                let DataUnit { earliest, latest, .. } = unit;
                let extension = ProcessDataExtension::SequenceControlled {
                    report,
                    earliest,
                    latest,
                    extension: None,
                };
                let invocation = self.invocation(unit.data, extension);
                self.sent.push_back((invocation.invoke_id, number));
                Ok((number, Some(Pdu::ProcessData(invocation))))
            }
            ProcedureKind::Buffered { blocking, reports, .. } => {
                let report = report || reports == CompletionReports::Every;
                let extension = ProcessDataExtension::DataProcessing { report, extension: None };
                let invocation = self.invocation(unit.data, extension);
                if self.buffer.is_empty() {
                    self.buffer_since_ns = now.monotonic_ns;
                }
                self.buffer.push(invocation.into());
                self.buffer_octets += octets;
                let is_full =
                    self.buffer.len() >= blocking.units || self.buffer_octets >= blocking.octets;
                Ok((
                    number,
                    is_full.then(|| self.flush(reports == CompletionReports::Last)).flatten(),
                ))
            }
        }
    }

    fn invocation(&mut self, data: Bytes, extension: ProcessDataExtension) -> ProcessData {
        let (invoke_id, data_unit) = (self.next_invoke, self.next_unit);
        self.next_invoke = invoke_id.wrapping_add(1);
        self.next_unit = data_unit.wrapping_add(1);
        let procedure = self.procedure.clone();
        ProcessData {
            invoke_id,
            procedure,
            data_unit,
            data: AbstractChoice::Opaque(data),
            extension,
        }
    }

    /// Buffered: what waits in the buffer, to be sent now. `report`: the completion of its last is
    /// asked to be told.
    pub fn flush(&mut self, report: bool) -> Option<Pdu> {
        if self.state != UserState::Active {
            return None;
        }
        if let Some(BufferedOperation { operation, .. }) = self.buffer.last_mut()
            && let ProcessDataExtension::DataProcessing { report: asked, .. } =
                &mut operation.extension
        {
            *asked |= report;
        }
        let room = self.buffer.len();
        let mut parts = std::mem::replace(&mut self.buffer, Vec::with_capacity(room));
        self.buffer_octets = 0;
        let last = &parts.last()?.operation;
        if let ProcessDataExtension::DataProcessing { report: true, .. } = last.extension {
            self.awaited = Some(last.data_unit);
        }
        self.open.take(last.data_unit.wrapping_add(1));
        match parts.len() {
            1 => parts.pop().map(|part| Pdu::ProcessData(part.operation)),
            _ => Some(Pdu::ForwardBuffer(parts)),
        }
    }

    /// As [`Self::flush`], when the time limit of the buffer is reached. Its completion is reported
    /// as configured.
    pub fn flush_due(&mut self) -> Option<Pdu> {
        let reports = match self.kind {
            ProcedureKind::Buffered { reports, .. } => reports,
            ProcedureKind::SequenceControlled { .. } => CompletionReports::None,
        };
        self.flush(reports == CompletionReports::Last)
    }

    /// Whether each data unit is returned.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        matches!(self.kind, ProcedureKind::SequenceControlled { .. })
    }

    /// Data units that wait in the buffer.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// When the buffer is to be flushed, of the monotonic clock in ns.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        match self.kind {
            ProcedureKind::Buffered { blocking, .. } if !self.buffer.is_empty() => {
                Some(self.buffer_since_ns.saturating_add(blocking.wait_ns))
            }
            _ => None,
        }
    }

    fn must_be(&self, states: &[UserState]) -> Result<(), UseError> {
        if states.contains(&self.state) {
            Ok(())
        } else {
            Err(UseError::State { state: self.state })
        }
    }

    fn ask(&mut self, what: Asked) -> Result<InvokeId, UseError> {
        if self.state == UserState::Unbound {
            return Err(UseError::State { state: self.state });
        }
        if self.asked.len() >= ASKED_MAX {
            return Err(UseError::TooManyOpen);
        }
        let invoke_id = self.next_invoke;
        self.next_invoke = invoke_id.wrapping_add(1);
        self.asked.push((invoke_id, what));
        Ok(invoke_id)
    }

    /// An operation has come.
    ///
    /// # Errors
    /// What to abort the association with.
    pub fn pdu(&mut self, pdu: Pdu) -> Result<UserEvent, PeerAbortDiagnostic> {
        if self.state == UserState::Unbound {
            return Err(PeerAbortDiagnostic::ProtocolError);
        }
        match pdu {
            Pdu::ProcessDataReturn(returned) => self.returned(returned),
            Pdu::Notify(notify) if notify.procedure == self.procedure => Ok(self.notified(notify)),
            Pdu::Notify(_) => Err(PeerAbortDiagnostic::InvalidProcedureName),
            Pdu::StartReturn(returned) => self.started(returned),
            Pdu::StopReturn(PlainReturn { invoke_id, result, .. }) => {
                let Asked::Stop = self.answered(invoke_id)? else {
                    return Err(PeerAbortDiagnostic::ProtocolError);
                };
                self.state = UserState::Active;
                if result.is_ok() {
                    self.give_up();
                    self.state = UserState::Inactive;
                }
                Ok(UserEvent::Stopped(result))
            }
            Pdu::GetReturn(GetReturn { invoke_id, result, .. }) => {
                match self.answered(invoke_id)? {
                    Asked::Get => Ok(UserEvent::Parameters(result)),
                    _ => Err(PeerAbortDiagnostic::ProtocolError),
                }
            }
            Pdu::ExecuteDirectiveAcknowledge(PlainReturn { invoke_id, result, .. }) => {
                let asked = self.asked.iter().find(|(id, _)| *id == invoke_id);
                match asked {
                    Some((_, Asked::Reset(_))) => {}
                    Some(_) => return Err(PeerAbortDiagnostic::ProtocolError),
                    None => return Err(PeerAbortDiagnostic::UnsolicitedInvokeId),
                }
                if result.is_err() {
                    self.answered(invoke_id)?;
                }
                Ok(UserEvent::ResetAcknowledged(result))
            }
            Pdu::ExecuteDirectiveReturn(PlainReturn { invoke_id, result, .. }) => {
                let Asked::Reset(first) = self.answered(invoke_id)? else {
                    return Err(PeerAbortDiagnostic::ProtocolError);
                };
                if result.is_ok() {
                    self.open.settle(
                        self.open.count(),
                        DataUnitFate::Acknowledged,
                        &mut self.settled,
                    );
                    self.restart(first);
                }
                Ok(UserEvent::Reset(result))
            }
            _ => Err(PeerAbortDiagnostic::ProtocolError),
        }
    }

    fn restart(&mut self, first: DataUnitId) {
        self.open = OutstandingUnits::none(first);
        self.awaited = None;
        self.next_unit = first;
        self.expected = None;
        if self.state != UserState::StopPending {
            self.state = UserState::Active;
        }
    }

    fn answered(&mut self, invoke_id: InvokeId) -> Result<Asked, PeerAbortDiagnostic> {
        let at = self.asked.iter().position(|(id, _)| *id == invoke_id);
        match at {
            Some(at) => Ok(self.asked.remove(at).1),
            None if self.sent.iter().any(|(id, _)| *id == invoke_id) => {
                Err(PeerAbortDiagnostic::ProtocolError)
            }
            None => Err(PeerAbortDiagnostic::UnsolicitedInvokeId),
        }
    }

    fn started(&mut self, returned: PlainReturn) -> Result<UserEvent, PeerAbortDiagnostic> {
        let Asked::Start(first) = self.answered(returned.invoke_id)? else {
            return Err(PeerAbortDiagnostic::ProtocolError);
        };
        if returned.result.is_ok() {
            self.give_up();
            self.restart(first);
        } else {
            self.state = UserState::Inactive;
        }
        Ok(UserEvent::Started(returned.result))
    }

    fn returned(&mut self, returned: ProcessDataReturn) -> Result<UserEvent, PeerAbortDiagnostic> {
        let ProcessDataReturn { invoke_id, result, extension } = returned;
        // Returns come in the order of invocations: nearly always it is the first.
        let at = self.sent.iter().position(|(id, _)| *id == invoke_id);
        let Some((_, unit)) = at.and_then(|at| self.sent.remove(at)) else {
            let is_known = self.asked.iter().any(|(id, _)| *id == invoke_id);
            return Err(if is_known {
                PeerAbortDiagnostic::ProtocolError
            } else {
                PeerAbortDiagnostic::UnsolicitedInvokeId
            });
        };
        let expected = match extension {
            ProcessDataReturnExtension::SequenceControlled { data_unit, .. } => data_unit,
            _ => unit,
        };
        let event = match result {
            Ok(()) => {
                self.open.take(unit.wrapping_add(1));
                UserEvent::Acknowledged(unit)
            }
            Err(diagnostic) => {
                self.expected = Some(expected);
                UserEvent::Refused { unit, diagnostic, expected }
            }
        };
        if self.sent.is_empty()
            && let Some(expected) = self.expected.take()
        {
            self.next_unit = expected;
        }
        Ok(event)
    }

    fn notified(&mut self, notify: NotifyPdu) -> UserEvent {
        let mut settled = Vec::new();
        let is_change = notify.event.id == SVC_PRODUCTION_STATUS_CHANGE;
        let mut production = is_change.then(|| told_status(&notify.value)).flatten();
        let (earlier, is_sequence) = match self.kind {
            ProcedureKind::Buffered { mode: DataTransferMode::Complete, .. } => {
                (DataUnitFate::Processed, false)
            }
            ProcedureKind::Buffered { .. } => (DataUnitFate::Overtaken, false),
            ProcedureKind::SequenceControlled { .. } => (DataUnitFate::Processed, true),
        };
        if let NotifyExtension::DataProcessing(notification) = &notify.extension {
            production = production.or(notification.production);
            let is_lost = [P_SCDP_EXPIRED, P_SCDP_LOCKED].contains(&notify.event.id);
            let ends = is_sequence && is_lost;
            self.open.notified(notification, &earlier, ends, &mut settled);
        }
        if is_sequence && notify.event.id == P_SCDP_LOCKED && self.state == UserState::Active {
            self.state = UserState::Locked;
        }
        UserEvent::Notified { notify: Box::new(notify), production, settled }
    }
}

/// The status that a change of it tells.
fn told_status(value: &EventValue) -> Option<ProductionStatus> {
    match value {
        EventValue::Values(values) => values.iter().find_map(|value| match value {
            QualifiedValue::Valid(embedded) => {
                value::production_of(value::number(&embedded.value)?)
            }
            _ => None,
        }),
        EventValue::Empty | EventValue::Other(_) => None,
    }
}

/// One more data unit with a fate, beside those that have it and come before it.
fn settle_one(settled: &mut Vec<SettledUnits>, unit: DataUnitId, fate: DataUnitFate) {
    match settled.last_mut() {
        Some(last) if last.fate == fate && last.units.end() == unit => last.units.count += 1,
        _ => settled.push(SettledUnits { units: DataUnits { first: unit, count: 1 }, fate }),
    }
}
