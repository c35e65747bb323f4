//! The provider's side of Sequence-Controlled Data Processing (CCSDS 921.1, §4.8).

use super::action::{ProcedureAction, ProcedureState};
use super::common::{DataUnitCounts, DataUnitLengths, ProviderCommon, returned};
use super::value;
use crate::csts::pdu::names::{P_SCDP_DATA_UNIT_ID, P_SCDP_RESET, P_SCDP_RESET_QUALIFIER};
use crate::csts::pdu::{
    DataUnitId, Diagnostic, DirectiveAcknowledgeDiagnostic, DirectiveQualifier,
    DirectiveReturnDiagnostic, ExecuteDirective, InvokeId, Pdu, PeerAbortDiagnostic, ProcedureName,
    ProcessData, ProcessDataExtension, ProcessDataReturn, ProcessDataReturnExtension,
    ProductionStatus, QualifierValues, SequenceControlledDiagnostic, StartDiagnostic,
    StartExtension, StartPdu,
};
use crate::service::fcltu::{
    AwaitedCondition, CltuRefusal, ProductionEvent, QueuedCltu, Radiation, RadiationQueue,
};
use crate::time::{Now, Time};
use bytes::Bytes;
use std::sync::Arc;

/// A reset that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reset {
    invoke_id: InvokeId,
    first: DataUnitId,
}

/// The provider's side of one instance.
#[derive(Debug)]
pub struct SequencedProvider {
    common: ProviderCommon,
    discard_after_abort: bool,
    expected: DataUnitId,
    reset: Option<Reset>,
}

impl SequencedProvider {
    /// A procedure without a bound user. The queue is of a sequence
    /// ([`LossDiscipline::Sequence`](crate::service::fcltu::LossDiscipline::Sequence)).
    #[must_use]
    pub fn new(
        procedure: ProcedureName,
        frames: DataUnitLengths,
        discard_after_abort: bool,
        queue: Arc<RadiationQueue>,
    ) -> Self {
        let common = ProviderCommon::new(procedure, queue, frames);
        Self { common, discard_after_abort, expected: 0, reset: None }
    }

    /// State of the procedure.
    #[must_use]
    pub fn state(&self) -> ProcedureState {
        self.common.state
    }

    /// Counters of data units, since the provider was made.
    #[must_use]
    pub fn counts(&self) -> DataUnitCounts {
        self.common.counts
    }

    /// The number that the next data unit has to have.
    #[must_use]
    pub fn expected(&self) -> DataUnitId {
        self.expected
    }

    /// A user has bound.
    pub fn bound(&mut self) {
        self.reset = None;
        self.common.bound();
    }

    /// The association is over.
    pub fn unbound(&mut self) {
        self.reset = None;
        self.common.unbound(self.discard_after_abort);
    }

    /// An operation of this procedure instance has come.
    pub fn pdu(&mut self, pdu: Pdu, now: Now, out: &mut Vec<ProcedureAction>) {
        let is_started =
            matches!(self.common.state, ProcedureState::Active | ProcedureState::Locked);
        match pdu {
            _ if self.common.state == ProcedureState::Unbound => {}
            Pdu::ProcessData(invocation) if is_started => {
                self.common.hold();
                let result = self.take(&invocation, now);
                self.common.counts.refused += u64::from(result.is_err());
                out.push(ProcedureAction::Send(Pdu::ProcessDataReturn(ProcessDataReturn {
                    invoke_id: invocation.invoke_id,
                    result: result.map_err(Diagnostic::SequenceControlled),
                    extension: ProcessDataReturnExtension::SequenceControlled {
                        data_unit: self.expected,
                        extension: None,
                    },
                })));
                self.tell(now, out);
            }
            Pdu::Start(start) if self.common.state == ProcedureState::Inactive => {
                let result = self.start(&start, now);
                out.push(ProcedureAction::Send(Pdu::StartReturn(returned(
                    start.invoke_id,
                    result,
                ))));
            }
            Pdu::Stop(stop) if is_started => {
                self.give_up_reset(out);
                self.common.stop(stop.invoke_id, out);
            }
            Pdu::ExecuteDirective(directive) if is_started => self.directive(&directive, now, out),
            _ => {
                self.reset = None;
                self.common.abort(PeerAbortDiagnostic::ProtocolError, out);
            }
        }
    }

    fn start(&mut self, start: &StartPdu, now: Now) -> Result<(), Diagnostic> {
        let StartExtension::SequenceControlled { first_data_unit, .. } = &start.extension else {
            let text = "START of this procedure names the first data unit";
            return Err(Diagnostic::UnsupportedOption(text.into()));
        };
        match self.common.status() {
            ProductionStatus::Halted => {
                let text = "production is halted".into();
                return Err(Diagnostic::Start(StartDiagnostic::OutOfService(text)));
            }
            ProductionStatus::Interrupted => {
                let text = "production is interrupted".into();
                return Err(Diagnostic::Start(StartDiagnostic::UnableToComply(text)));
            }
            ProductionStatus::Configured | ProductionStatus::Operational => {}
        }
        self.expected = *first_data_unit;
        self.common.start(now);
        Ok(())
    }

    /// Takes a data unit into the queue, or says why not.
    fn take(&mut self, unit: &ProcessData, now: Now) -> Result<(), SequenceControlledDiagnostic> {
        use SequenceControlledDiagnostic as Refused;
        if self.common.state == ProcedureState::Locked {
            return Err(Refused::ServiceInstanceLocked);
        }
        if unit.data_unit != self.expected {
            return Err(Refused::OutOfSequence);
        }
        let (notify, earliest, latest) = match &unit.extension {
            ProcessDataExtension::NotUsed => (false, None, None),
            ProcessDataExtension::DataProcessing { report, .. } => (*report, None, None),
            ProcessDataExtension::SequenceControlled { report, earliest, latest, .. } => {
                (*report, *earliest, *latest)
            }
            ProcessDataExtension::Other(_) => return Err(Refused::DataError),
        };
        let known = |time: Option<Time>| match time.map(Time::utc_ns) {
            Some(None) => Err(Refused::InvalidTime),
            Some(known) => Ok(known),
            None => Ok(None),
        };
        let (earliest_utc_ns, latest_utc_ns) = (known(earliest)?, known(latest)?);
        if let (Some(earliest), Some(latest)) = (earliest_utc_ns, latest_utc_ns)
            && earliest > latest
        {
            return Err(Refused::InconsistentTimeRange);
        }
        if latest_utc_ns.is_some_and(|latest| latest < now.utc_ns) {
            return Err(Refused::LateData);
        }
        let data = self.common.frames.of(unit).ok_or(Refused::DataError)?;
        let queued = QueuedCltu {
            cltu: unit.data_unit,
            // A copy: a slice would keep all that was received with it.
            data: Bytes::copy_from_slice(data),
            earliest_utc_ns,
            latest_utc_ns,
            delay_us: 0,
            notify,
            session: Time::from_utc_ns(now.utc_ns),
        };
        let (taken, is_blocked) = self.common.queue.with(|radiation| {
            let taken = radiation.take(queued);
            (taken, radiation.is_blocked())
        });
        match taken {
            Ok(()) => {
                self.common.counts.taken += 1;
                self.expected = self.expected.wrapping_add(1);
                Ok(())
            }
            // Radiation knows already, and the user is told with this.
            Err(CltuRefusal::UnableToProcess) if is_blocked => Err(Refused::ServiceInstanceLocked),
            Err(CltuRefusal::UnableToProcess) => Err(Refused::UnableToProcess),
            Err(CltuRefusal::UnableToStore) => Err(Refused::UnableToStore),
        }
    }

    fn directive(
        &mut self,
        directive: &ExecuteDirective,
        now: Now,
        out: &mut Vec<ProcedureAction>,
    ) {
        let acknowledged = self.may_reset(directive);
        let result = acknowledged.clone().map(|_| ());
        let invoke_id = directive.invoke_id;
        out.push(ProcedureAction::Send(Pdu::ExecuteDirectiveAcknowledge(returned(
            invoke_id, result,
        ))));
        if let Ok(first) = acknowledged {
            self.reset = Some(Reset { invoke_id, first });
            // None is taken until it is done.
            self.common.state = ProcedureState::Locked;
            self.common.queue.with(Radiation::reset);
            self.try_reset(out);
            self.tell(now, out);
        }
    }

    /// The first data unit after a reset, where the directive is one that may be done.
    fn may_reset(&self, directive: &ExecuteDirective) -> Result<DataUnitId, Diagnostic> {
        use DirectiveAcknowledgeDiagnostic as Refused;
        if directive.directive != P_SCDP_RESET {
            return Err(Diagnostic::DirectiveAcknowledge(Refused::UnknownDirective));
        }
        if self.reset.is_some() {
            return Err(Diagnostic::OtherReason("a reset is being done".into()));
        }
        let DirectiveQualifier::Local(QualifierValues::Parameterless(embedded)) =
            &directive.qualifier
        else {
            return Err(Diagnostic::DirectiveAcknowledge(Refused::UnknownQualifier));
        };
        let is_known = [P_SCDP_RESET_QUALIFIER, P_SCDP_DATA_UNIT_ID].contains(&embedded.syntax);
        let first = value::number(&embedded.value).filter(|_| is_known);
        first.ok_or(Diagnostic::DirectiveAcknowledge(Refused::UnknownQualifier))
    }

    /// Ends a reset as soon as nothing is being processed and production is operational.
    fn try_reset(&mut self, out: &mut Vec<ProcedureAction>) {
        let Some(Reset { invoke_id, first }) = self.reset else { return };
        let is_done = self.common.queue.with(|radiation| {
            let is_silent = !radiation.is_radiating();
            let is_on = radiation.status() == crate::pdu::CltuProductionStatus::Operational;
            radiation.wait_for((!is_silent).then_some(AwaitedCondition::Silence));
            if is_silent && is_on {
                // What was taken before it was known to be lost is none of the new sequence's.
                radiation.reset();
            }
            is_silent && is_on
        });
        if is_done {
            self.reset = None;
            self.expected = first;
            self.common.state = ProcedureState::Active;
            out.push(ProcedureAction::Send(Pdu::ExecuteDirectiveReturn(returned(
                invoke_id,
                Ok(()),
            ))));
        }
    }

    fn give_up_reset(&mut self, out: &mut Vec<ProcedureAction>) {
        if let Some(Reset { invoke_id, .. }) = self.reset.take() {
            let why = DirectiveReturnDiagnostic::ActionNotCompleted(None);
            let result = Err(Diagnostic::DirectiveReturn(why));
            out.push(ProcedureAction::Send(Pdu::ExecuteDirectiveReturn(returned(
                invoke_id, result,
            ))));
        }
    }

    /// Handles a change of production, or progress of radiation.
    pub fn production(&mut self, event: ProductionEvent, now: Now, out: &mut Vec<ProcedureAction>) {
        match event {
            ProductionEvent::Status(status) => {
                let before = self.common.queue.look(Radiation::status);
                self.common.queue.with(|radiation| radiation.set_status(status, now));
                let configured = crate::pdu::CltuProductionStatus::Configured;
                if self.common.state == ProcedureState::Locked
                    && status == configured
                    && before != status
                {
                    self.common.tell_status(now, out);
                }
            }
            ProductionEvent::Uplink(_) | ProductionEvent::Progress => {}
        }
        self.tell(now, out);
    }

    fn tell(&mut self, now: Now, out: &mut Vec<ProcedureAction>) {
        self.common.tell(true, now, out);
        self.try_reset(out);
    }

    /// When [`Self::tick`] is next needed, of the monotonic clock in ns.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        self.common.due()
    }

    /// Does what is due: data units that were taken can be processed from then on.
    pub fn tick(&mut self) {
        self.common.release();
    }
}
