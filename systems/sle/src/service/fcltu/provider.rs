//! The provider's side of a service instance: the state table of CCSDS 912.1, chapter 4.

use super::config::{CurrentParameters, EventAction, FcltuConfig, ProtocolAbortMode};
use super::queue::RadiationQueue;
use super::{diagnostic, transfer};
use crate::pdu::{
    BufferNotification, CltuId, CltuNotification, CltuProductionStatus, CltuTransferBuffer,
    CltuTransferData, CltuTransferDataReturn, Diagnostic, EventInvocationId, InvokeId,
    ParameterName, Pdu, PeerAbortDiagnostic, PositiveStartReturn, ReportRequest, StartRequest,
    ThrowEvent, UplinkStatus,
};
use crate::service::{ServiceAction, ServiceState};
use crate::time::{Now, Time};
use bytes::Bytes;
use std::sync::Arc;

/// The longest cycle of status reports, in seconds.
const REPORTING_CYCLE_S_MAX: u16 = 600;
/// The shortest, whatever was agreed.
const REPORTING_CYCLE_S_MIN: u16 = 2;

/// Event of a provider that is not an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductionEvent {
    /// Production is so from now on.
    Status(CltuProductionStatus),
    /// The uplink is so from now on.
    Uplink(UplinkStatus),
    /// Radiation has something to tell: what the queue's waker is called for.
    Progress,
}

/// Periodic status reports.
#[derive(Clone, Copy, Debug)]
struct Reporting {
    cycle_s: u16,
    /// Next report, on the monotonic clock, in nanoseconds.
    next_ns: u64,
}

/// The provider's side of one service instance, through all the associations that it has.
#[derive(Debug)]
pub struct FcltuProvider {
    config: FcltuConfig,
    queue: Arc<RadiationQueue>,
    state: ServiceState,
    version: u16,
    expected_cltu: CltuId,
    expected_event: EventInvocationId,
    /// Start of radiation in the last positive START return.
    session: Time,
    reporting: Option<Reporting>,
    /// The radiating thread is let sleep until the next tick, which is due at once: several CLTUs
    /// come in what is read at a time, and waking a thread for each costs more than all the rest.
    held: bool,
}

impl FcltuProvider {
    /// A provider without a bound user. The queue must have been made with the same configuration.
    #[must_use]
    pub fn new(config: FcltuConfig, queue: Arc<RadiationQueue>) -> Self {
        Self {
            config,
            queue,
            state: ServiceState::Unbound,
            version: 0,
            expected_cltu: 0,
            expected_event: 0,
            session: Time::from_utc_ns(0),
            reporting: None,
            held: false,
        }
    }

    /// State of the service.
    #[must_use]
    pub fn state(&self) -> ServiceState {
        self.state
    }

    /// Queue of CLTUs.
    #[must_use]
    pub fn queue(&self) -> &Arc<RadiationQueue> {
        &self.queue
    }

    /// Start of radiation in the last positive START return. With the service instance and a CLTU's
    /// number it names that CLTU on both sides.
    #[must_use]
    pub fn session(&self) -> Time {
        self.session
    }

    /// A user has bound, in version `version`.
    pub fn bound(&mut self, version: u16, _now: Now) {
        self.state = ServiceState::Ready;
        self.version = version;
        self.reporting = None;
        self.queue.with(super::Radiation::bound);
    }

    /// The association is over, by UNBIND, abort or loss. Where it was active, the buffer is
    /// radiated or discarded as was agreed (`protocol-abort-mode`).
    pub fn unbound(&mut self, _now: Now) {
        let discard = self.config.protocol_abort_mode == ProtocolAbortMode::Abort;
        self.state = ServiceState::Unbound;
        self.reporting = None;
        self.queue.with(|radiation| radiation.unbound(discard));
        self.release();
    }

    fn hold(&mut self) {
        if !std::mem::replace(&mut self.held, true) {
            self.queue.hold();
        }
    }

    fn release(&mut self) {
        if std::mem::take(&mut self.held) {
            self.queue.release();
        }
    }

    /// An operation has come.
    pub fn pdu(&mut self, pdu: Pdu, now: Now, out: &mut Vec<ServiceAction>) {
        if self.state == ServiceState::Unbound {
            return; // the association has nothing to answer to
        }
        match (self.state, pdu) {
            // First because most are.
            (ServiceState::Active, Pdu::CltuTransferData(invocation)) => {
                self.hold();
                let returned = self.transfer(&invocation, now);
                out.push(ServiceAction::Send(Pdu::CltuTransferDataReturn(returned)));
            }
            (ServiceState::Active, Pdu::CltuTransferBuffer(invocation))
                if self.config.transfer_buffers =>
            {
                self.hold();
                let returned = self.transfer_buffer(invocation, now);
                out.push(ServiceAction::Send(Pdu::CltuTransferDataReturn(returned)));
            }
            (
                ServiceState::Ready,
                Pdu::Start { invoke_id, start: StartRequest::Cltu { first_cltu } },
            ) => {
                let result = self.start(first_cltu, now);
                out.push(ServiceAction::Send(Pdu::StartReturn { invoke_id, result }));
            }
            (ServiceState::Active, Pdu::Stop { invoke_id }) => {
                self.stop();
                out.push(ServiceAction::Send(Pdu::StopReturn { invoke_id, result: Ok(()) }));
            }
            (_, Pdu::ScheduleStatusReport { invoke_id, request }) => {
                self.schedule(invoke_id, request, now, out);
            }
            (_, Pdu::GetParameter { invoke_id, name }) => {
                let result = self.parameter(name);
                out.push(ServiceAction::Send(Pdu::GetParameterReturn { invoke_id, result }));
            }
            (_, Pdu::ThrowEvent(invocation)) => self.throw_event(&invocation, now, out),
            // UNBIND's return is the association's.
            (ServiceState::Ready, Pdu::Unbind(_)) => {}
            (_, Pdu::PeerAbort(_)) => self.unbound(now),
            // The rest is not for this state, or not for a provider at all.
            _ => {
                self.unbound(now);
                out.push(ServiceAction::Abort(PeerAbortDiagnostic::ProtocolError));
            }
        }
    }

    /// Handles an event of production.
    pub fn production(&mut self, event: ProductionEvent, now: Now, out: &mut Vec<ServiceAction>) {
        match event {
            ProductionEvent::Status(status) => self.queue.with(|r| r.set_status(status, now)),
            ProductionEvent::Uplink(uplink) => self.queue.with(|r| r.set_uplink(uplink)),
            ProductionEvent::Progress => {}
        }
        self.tell(out);
    }

    /// Tells the user what radiation has found out.
    fn tell(&mut self, out: &mut Vec<ServiceAction>) {
        let bound = self.state != ServiceState::Unbound;
        self.queue.notices(|notice| {
            if bound {
                out.push(ServiceAction::Send(Pdu::CltuAsyncNotify(notice)));
            }
        });
    }

    /// When [`FcltuProvider::tick`] is next needed, of the monotonic clock in ns: at once where
    /// CLTUs were taken.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        if self.held {
            return Some(0);
        }
        self.reporting.map(|reporting| reporting.next_ns)
    }

    /// Does what is due: CLTUs that were taken can be radiated from then on. Reports that were missed are not made up for.
    pub fn tick(&mut self, now: Now, out: &mut Vec<ServiceAction>) {
        self.release();
        let Some(reporting) = &mut self.reporting else { return };
        if now.monotonic_ns < reporting.next_ns {
            return;
        }
        let cycle_ns = u64::from(reporting.cycle_s) * 1_000_000_000;
        let missed = (now.monotonic_ns - reporting.next_ns) / cycle_ns;
        reporting.next_ns += (missed + 1) * cycle_ns;
        self.report(out);
    }

    fn report(&mut self, out: &mut Vec<ServiceAction>) {
        // What has happened before is told before.
        self.tell(out);
        let report = self.queue.look(super::Radiation::report);
        out.push(ServiceAction::Send(Pdu::CltuStatusReport(report)));
    }

    fn start(&mut self, first_cltu: CltuId, now: Now) -> Result<PositiveStartReturn, Diagnostic> {
        match self.queue.look(super::Radiation::status) {
            CltuProductionStatus::Halted => return Err(diagnostic::START_OUT_OF_SERVICE),
            CltuProductionStatus::Interrupted => return Err(diagnostic::START_UNABLE_TO_COMPLY),
            CltuProductionStatus::Operational | CltuProductionStatus::Configured => {}
        }
        let stop = self.config.production_stop_utc_ns;
        if stop.is_some_and(|stop| stop <= now.utc_ns) {
            return Err(diagnostic::START_PRODUCTION_TIME_EXPIRED);
        }
        if !self.config.first_cltu_ids.contains(&first_cltu) {
            return Err(diagnostic::START_INVALID_CLTU_ID);
        }
        self.state = ServiceState::Active;
        self.expected_cltu = first_cltu;
        self.session = self.new_session(now);
        let session = self.session;
        self.queue.with(|radiation| radiation.started(session));
        Ok(PositiveStartReturn::Cltu {
            start_radiation: self.session,
            stop_radiation: stop.map(Time::from_utc_ns),
        })
    }

    /// A time from when CLTUs may be radiated: after all that was radiated before, and another than
    /// that of any session before, so that a user who numbers them from the same number again can
    /// tell them apart by it.
    fn new_session(&self, now: Now) -> Time {
        let after = |utc_ns: u64| (utc_ns / 1000 + 1) * 1000;
        let from = self.config.production_start_utc_ns.unwrap_or(0).max(after(now.utc_ns));
        Time::from_utc_ns(from.max(after(self.session.utc_ns().unwrap_or(0))))
    }

    fn stop(&mut self) {
        self.state = ServiceState::Ready;
        self.queue.with(super::Radiation::stopped);
    }

    fn transfer(&mut self, invocation: &CltuTransferData, now: Now) -> CltuTransferDataReturn {
        let is_cltu = transfer::is_cltu(&self.config, &invocation.data);
        let sequence = (self.expected_cltu, self.session);
        let (result, buffer_available) = self.queue.with(|radiation| {
            let cltu = (invocation, is_cltu);
            let result = transfer::take(&self.config, radiation, sequence, cltu, now);
            (result, radiation.available())
        });
        if result.is_ok() {
            self.expected_cltu = self.expected_cltu.wrapping_add(1);
        }
        CltuTransferDataReturn {
            invoke_id: invocation.invoke_id,
            next_cltu: self.expected_cltu,
            buffer_available,
            result,
        }
    }

    /// Takes CLTUs until one is refused, whose diagnostic is the return's.
    fn transfer_buffer(
        &mut self,
        invocation: CltuTransferBuffer,
        now: Now,
    ) -> CltuTransferDataReturn {
        let CltuTransferBuffer { invoke_id, notify_radiated, cltus } = invocation;
        let last = cltus.len().wrapping_sub(1);
        let notifies = |index| match notify_radiated {
            BufferNotification::None => false,
            BufferNotification::Last => index == last,
            BufferNotification::Every => true,
        };
        let single = |(index, (cltu, data)): (usize, (CltuId, Bytes))| CltuTransferData {
            invoke_id,
            cltu,
            earliest: None,
            latest: None,
            delay_us: self.config.minimum_delay_us,
            notify_radiated: notifies(index),
            data,
        };
        let singles: Vec<(CltuTransferData, bool)> = cltus
            .into_iter()
            .enumerate()
            .map(|numbered| {
                let one = single(numbered);
                let is_cltu = transfer::is_cltu(&self.config, &one.data);
                (one, is_cltu)
            })
            .collect();
        let mut next_cltu = self.expected_cltu;
        // All under one lock: the radiating thread is woken once.
        let (result, buffer_available) = self.queue.with(|radiation| {
            // Of no CLTUs.
            let mut result = Err(diagnostic::TRANSFER_CLTU_ERROR);
            for (one, is_cltu) in &singles {
                let sequence = (next_cltu, self.session);
                result = transfer::take(&self.config, radiation, sequence, (one, *is_cltu), now);
                if result.is_err() {
                    break;
                }
                next_cltu = next_cltu.wrapping_add(1);
            }
            (result, radiation.available())
        });
        self.expected_cltu = next_cltu;
        CltuTransferDataReturn { invoke_id, next_cltu, buffer_available, result }
    }

    fn schedule(
        &mut self,
        invoke_id: InvokeId,
        request: ReportRequest,
        now: Now,
        out: &mut Vec<ServiceAction>,
    ) {
        let shortest = self.config.minimum_reporting_cycle_s.max(REPORTING_CYCLE_S_MIN);
        let result = match request {
            ReportRequest::Immediately => Ok(()),
            ReportRequest::Periodically(cycle_s)
                if (shortest..=REPORTING_CYCLE_S_MAX).contains(&cycle_s) =>
            {
                let next_ns = now.monotonic_ns + u64::from(cycle_s) * 1_000_000_000;
                self.reporting = Some(Reporting { cycle_s, next_ns });
                Ok(())
            }
            ReportRequest::Periodically(_) => Err(diagnostic::REPORT_INVALID_REPORTING_CYCLE),
            ReportRequest::Stop => {
                self.reporting.take().map(|_| ()).ok_or(diagnostic::REPORT_ALREADY_STOPPED)
            }
        };
        out.push(ServiceAction::Send(Pdu::ScheduleStatusReportReturn { invoke_id, result }));
        if result.is_ok() && request != ReportRequest::Stop {
            self.report(out);
        }
    }

    fn parameter(&self, name: ParameterName) -> Result<crate::pdu::Parameter, Diagnostic> {
        let current = CurrentParameters {
            version: self.version,
            expected_cltu: self.expected_cltu,
            expected_event: self.expected_event,
            reporting_cycle_s: self.reporting.map(|reporting| reporting.cycle_s),
        };
        self.config.parameter(name, current).ok_or(diagnostic::PARAMETER_UNKNOWN)
    }

    fn throw_event(&mut self, invocation: &ThrowEvent, now: Now, out: &mut Vec<ServiceAction>) {
        let known = match &self.config.events {
            None => Err(diagnostic::EVENT_OPERATION_NOT_SUPPORTED),
            Some(_) if invocation.event_invocation_id != self.expected_event => {
                Err(diagnostic::EVENT_INVOC_ID_OUT_OF_SEQUENCE)
            }
            Some(events) => {
                events.get(&invocation.event).copied().ok_or(diagnostic::EVENT_NO_SUCH_EVENT)
            }
        };
        if known.is_ok() {
            self.expected_event = self.expected_event.wrapping_add(1);
        }
        out.push(ServiceAction::Send(Pdu::ThrowEventReturn {
            invoke_id: invocation.invoke_id,
            event_invocation_id: self.expected_event,
            result: known.map(|_| ()),
        }));
        if let Ok(action) = known {
            self.act(action, invocation.event_invocation_id, now, out);
        }
    }

    /// Does what an event asks for, and tells what came of it.
    fn act(
        &mut self,
        action: EventAction,
        event: EventInvocationId,
        now: Now,
        out: &mut Vec<ServiceAction>,
    ) {
        let notification = match action {
            EventAction::Complete => CltuNotification::ActionListCompleted(event),
            EventAction::Fail => CltuNotification::ActionListNotCompleted(event),
            EventAction::ConditionFalse => CltuNotification::EventConditionEvFalse(event),
            EventAction::SetProduction(status) => {
                self.queue.with(|radiation| radiation.set_status(status, now));
                CltuNotification::ActionListCompleted(event)
            }
        };
        self.tell(out);
        let notice = self.queue.look(|radiation| radiation.notify(notification));
        out.push(ServiceAction::Send(Pdu::CltuAsyncNotify(notice)));
    }
}
