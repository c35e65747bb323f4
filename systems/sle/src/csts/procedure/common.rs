//! Data Processing, as far as the procedures that are derived from it have it in common: START and
//! STOP, the production queue, and what NOTIFY says.

use super::action::{ProcedureAction, ProcedureState};
use super::value;
use crate::csts::pdu::names::{
    P_DP_DATA_PROCESSING_COMPLETED, P_SCDP_EXPIRED, P_SCDP_LOCKED, SVC_PRODUCTION_STATUS,
    SVC_PRODUCTION_STATUS_CHANGE,
};
use crate::csts::pdu::{
    AbstractChoice, Diagnostic, EventValue, InvokeId, LastOk, LastProcessed, Name, NameOwner,
    NotifyExtension, NotifyPdu, Oid, Pdu, PeerAbortDiagnostic, PlainReturn, ProcedureName,
    ProcessData, ProcessingNotification, ProcessingStatus, ProductionStatus, QualifiedValue,
};
use crate::pdu::{CltuAsyncNotify, CltuNotification, CltuProductionStatus, CltuStatus};
use crate::service::fcltu::RadiationQueue;
use crate::time::{Now, Time};
use bytes::Bytes;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Permitted lengths of data units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataUnitLengths {
    /// Lengths in octets; one length for frames of fixed length.
    pub octets: RangeInclusive<usize>,
}

impl DataUnitLengths {
    /// The data unit of an invocation, where it is one.
    pub(super) fn of<'a>(&self, invocation: &'a ProcessData) -> Option<&'a Bytes> {
        match &invocation.data {
            AbstractChoice::Opaque(octets)
                if self.octets.contains(&octets.len()) && !octets.is_empty() =>
            {
                Some(octets)
            }
            AbstractChoice::Opaque(_) | AbstractChoice::Extended(_) => None,
        }
    }
}

/// Counters of data units, since the provider was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataUnitCounts {
    /// Taken into the queue.
    pub taken: u64,
    /// Discarded for newer ones (timely).
    pub overrun: u64,
    /// Data that could not be a data unit, or had no room in an empty queue (buffered).
    pub unfit: u64,
    /// Refused (sequence-controlled).
    pub refused: u64,
}

/// The common part of both providers.
#[derive(Debug)]
pub(super) struct ProviderCommon {
    pub(super) procedure: ProcedureName,
    pub(super) queue: Arc<RadiationQueue>,
    pub(super) state: ProcedureState,
    pub(super) frames: DataUnitLengths,
    pub(super) counts: DataUnitCounts,
    next_invoke: InvokeId,
    /// The radiating thread is let sleep until the next tick.
    held: bool,
    /// The user was told that production stopped.
    told_of_stop: bool,
}

impl ProviderCommon {
    pub(super) fn new(
        procedure: ProcedureName,
        queue: Arc<RadiationQueue>,
        frames: DataUnitLengths,
    ) -> Self {
        Self {
            procedure,
            queue,
            state: ProcedureState::Unbound,
            frames,
            counts: DataUnitCounts::default(),
            next_invoke: 0,
            held: false,
            told_of_stop: false,
        }
    }

    pub(super) fn bound(&mut self) {
        self.state = ProcedureState::Inactive;
        self.told_of_stop = false;
        self.next_invoke = 0;
        self.queue.with(crate::service::fcltu::Radiation::bound);
    }

    /// The association is over.
    pub(super) fn unbound(&mut self, discard: bool) {
        self.state = ProcedureState::Unbound;
        self.queue.with(|radiation| radiation.unbound(discard));
        self.release();
    }

    pub(super) fn abort(&mut self, why: PeerAbortDiagnostic, out: &mut Vec<ProcedureAction>) {
        self.unbound(true);
        out.push(ProcedureAction::Abort(why));
    }

    pub(super) fn hold(&mut self) {
        if !std::mem::replace(&mut self.held, true) {
            self.queue.hold();
        }
    }

    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.held) {
            self.queue.release();
        }
    }

    /// When a tick is needed: at once where something was taken.
    pub(super) fn due(&self) -> Option<u64> {
        self.held.then_some(0)
    }

    pub(super) fn status(&self) -> ProductionStatus {
        status_of(self.queue.look(crate::service::fcltu::Radiation::status))
    }

    /// START was accepted.
    pub(super) fn start(&mut self, now: Now) {
        self.state = ProcedureState::Active;
        self.told_of_stop = false;
        self.queue.with(|radiation| {
            radiation.mute();
            radiation.started(Time::from_utc_ns(now.utc_ns));
        });
    }

    /// STOP: what waits is discarded.
    pub(super) fn stop(&mut self, invoke_id: InvokeId, out: &mut Vec<ProcedureAction>) {
        self.state = ProcedureState::Inactive;
        self.queue.with(|radiation| {
            radiation.mute();
            radiation.stopped();
        });
        // What was not told is not told any more.
        self.queue.notices(drop);
        out.push(ProcedureAction::Send(Pdu::StopReturn(returned(invoke_id, Ok(())))));
    }

    fn is_started(&self) -> bool {
        matches!(self.state, ProcedureState::Active | ProcedureState::Locked)
    }

    /// Tells the user what radiation has found out. `locks`: what ends a sequence locks the
    /// procedure.
    pub(super) fn tell(&mut self, locks: bool, now: Now, out: &mut Vec<ProcedureAction>) {
        let mut notices = Vec::new();
        self.queue.notices(|notice| notices.push(notice));
        if !self.is_started() {
            return;
        }
        for notice in notices {
            let (event, ends) = match notice.notification {
                CltuNotification::CltuRadiated => (Some(P_DP_DATA_PROCESSING_COMPLETED), false),
                CltuNotification::SlduExpired => (Some(P_SCDP_EXPIRED), true),
                CltuNotification::ProductionInterrupted | CltuNotification::ProductionHalted => {
                    self.told_of_stop = true;
                    (Some(SVC_PRODUCTION_STATUS_CHANGE), true)
                }
                CltuNotification::ProductionOperational => {
                    let was_told = std::mem::take(&mut self.told_of_stop);
                    (was_told.then_some(SVC_PRODUCTION_STATUS_CHANGE), false)
                }
                CltuNotification::BufferEmpty
                | CltuNotification::ActionListCompleted(_)
                | CltuNotification::ActionListNotCompleted(_)
                | CltuNotification::EventConditionEvFalse(_) => (None, false),
            };
            if let Some(event) = event {
                self.notify(event, &notice, now, out);
            }
            if ends && locks && self.state == ProcedureState::Active {
                self.state = ProcedureState::Locked;
                self.notify(P_SCDP_LOCKED, &notice, now, out);
            }
        }
    }

    /// Production has another status, which radiation has no notice of.
    pub(super) fn tell_status(&mut self, now: Now, out: &mut Vec<ProcedureAction>) {
        if self.is_started() {
            self.told_of_stop = true;
            let notify = |radiation: &crate::service::fcltu::Radiation| {
                radiation.notify(CltuNotification::ProductionOperational)
            };
            let notice = self.queue.look(notify);
            self.notify(SVC_PRODUCTION_STATUS_CHANGE, &notice, now, out);
        }
    }

    fn notify(
        &mut self,
        event: Oid,
        notice: &CltuAsyncNotify,
        now: Now,
        out: &mut Vec<ProcedureAction>,
    ) {
        let status = status_of(notice.production);
        let is_change = event == SVC_PRODUCTION_STATUS_CHANGE;
        let value = if is_change {
            let embedded = value::production(SVC_PRODUCTION_STATUS, status);
            EventValue::Values(vec![QualifiedValue::Valid(embedded)])
        } else {
            EventValue::Empty
        };
        let invoke_id = self.next_invoke;
        self.next_invoke = invoke_id.wrapping_add(1);
        out.push(ProcedureAction::Send(Pdu::Notify(NotifyPdu {
            invoke_id,
            procedure: self.procedure.clone(),
            time: Time::from_utc_ns(now.utc_ns),
            event: Name { owner: NameOwner::Procedure(self.procedure.clone()), id: event },
            value,
            extension: NotifyExtension::DataProcessing(ProcessingNotification {
                last_processed: notice.last_processed.map(|last| LastProcessed {
                    data_unit: last.cltu,
                    status: processing(last.status, last.start_radiation),
                }),
                last_ok: notice
                    .last_ok
                    .map(|last| LastOk { data_unit: last.cltu, stop_time: last.stop_radiation }),
                production: (!is_change).then_some(status),
                extension: None,
            }),
        })));
    }
}

/// A return with nothing but a result.
pub(super) fn returned(invoke_id: InvokeId, result: Result<(), Diagnostic>) -> PlainReturn {
    PlainReturn { invoke_id, result, extension: None }
}

fn processing(status: CltuStatus, began: Option<Time>) -> ProcessingStatus {
    let began = began.unwrap_or(Time::from_utc_ns(0));
    match status {
        CltuStatus::Radiated => ProcessingStatus::SuccessfullyProcessed(began),
        CltuStatus::Interrupted => ProcessingStatus::ProcessingInterrupted(began),
        CltuStatus::RadiationStarted => ProcessingStatus::ProcessingStarted(began),
        CltuStatus::Expired => ProcessingStatus::Expired,
        CltuStatus::RadiationNotStarted => ProcessingStatus::ProcessingNotStarted,
    }
}

/// The production status, as the framework names it.
pub(crate) fn status_of(status: CltuProductionStatus) -> ProductionStatus {
    match status {
        CltuProductionStatus::Configured => ProductionStatus::Configured,
        CltuProductionStatus::Operational => ProductionStatus::Operational,
        CltuProductionStatus::Interrupted => ProductionStatus::Interrupted,
        CltuProductionStatus::Halted => ProductionStatus::Halted,
    }
}
