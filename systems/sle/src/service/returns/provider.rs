//! The provider of a return service instance.

use super::backlog::{BacklogEntry, FrameBacklog};
use super::buffer::{BufferOverrun, TransferBuffer, notification};
use super::config::{ReturnConfig, ServiceOffer};
use super::report::{ReceiverLocks, ReportSchedule};
use super::select::FrameSelection;
use super::{diagnostic, parameter};
use crate::frame::ReceivedFrame;
use crate::pdu::{
    DeliveryMode, Diagnostic, FrameOrNotification, InvokeId, LockStatus, ParameterName, Pdu,
    PeerAbortDiagnostic, PositiveStartReturn, ReturnNotification, ReturnProductionStatus,
    ReturnStart, ReturnStatusReport, StartRequest, TransferData,
};
use crate::service::{ServiceAction, ServiceState};
use crate::time::{Now, Time};

/// GET-PARAMETER's only specific diagnostic.
const UNKNOWN_PARAMETER: u8 = 0;

/// Event of frame production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnProduction {
    /// Frames are produced, or not. Those that come while it is not running are not taken.
    Status(ReturnProductionStatus),
    /// Lock status of the receiver.
    Locks(ReceiverLocks),
    /// Whether the service is given at all.
    InService(bool),
    /// Offline: whether there is a store to read from.
    Store(bool),
}

/// Time range of an offline START, both ends included: UTC in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfflineRange {
    /// Start of the range.
    pub start_utc_ns: u64,
    /// End of the range.
    pub stop_utc_ns: u64,
}

/// Counters of a service instance, over all its associations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReturnCounts {
    /// Frames that were handed over by production.
    pub received: u64,
    /// Frames, or control fields, sent to the connection.
    pub delivered: u64,
    /// Those of them whose quality is good.
    pub good: u64,
    /// ROCF: frames of the channel that were looked at.
    pub processed: u64,
    /// Frames discarded: nobody had started, the connection took nothing, the online frame buffer
    /// was full, or an association ended with them in its transfer buffer.
    pub discarded: u64,
    /// Frames that came while production was not running.
    pub unproduced: u64,
}

/// A START in force.
#[derive(Debug)]
struct Active {
    selection: FrameSelection,
    start_utc_ns: u64,
    stop_utc_ns: u64,
    /// Monotonic: when the stop time comes; `None` once it has, or where there is none.
    stop_due_ns: Option<u64>,
    /// All frames of the present START were received.
    is_complete: bool,
    /// End of data was put into the transfer buffer: nothing follows.
    has_ended: bool,
}

/// The provider of one service instance.
///
/// Frames go in with [`Self::frames`], however many at a time; a few hundred are good, as what
/// they make is in `out` before anybody can say that the connection takes no more.
#[derive(Debug)]
pub struct ReturnProvider {
    config: ReturnConfig,
    version: u16,
    state: ServiceState,
    active: Option<Active>,
    buffer: TransferBuffer,
    backlog: FrameBacklog,
    schedule: ReportSchedule,
    production: ReturnProductionStatus,
    locks: ReceiverLocks,
    in_service: bool,
    has_store: bool,
    counts: ReturnCounts,
}

impl ReturnProvider {
    /// A provider without a bound user. Production is running and everything is in lock.
    #[must_use]
    pub fn new(config: ReturnConfig) -> Self {
        let latency_ns =
            (!config.is_offline()).then_some(u64::from(config.latency_limit_s) * 1_000_000_000);
        let overrun = match config.delivery {
            DeliveryMode::TimelyOnline => BufferOverrun::Discard,
            _ => BufferOverrun::Hold,
        };
        let locks = if config.is_offline() { LockStatus::Unknown } else { LockStatus::InLock };
        Self {
            version: 0,
            state: ServiceState::Unbound,
            active: None,
            buffer: TransferBuffer::new(config.buffer_size, latency_ns, overrun),
            backlog: FrameBacklog::new(config.backlog_octets),
            schedule: ReportSchedule::default(),
            production: ReturnProductionStatus::Running,
            locks: ReceiverLocks::all(locks),
            in_service: true,
            has_store: config.is_offline(),
            counts: ReturnCounts::default(),
            config,
        }
    }

    /// A user has bound, in that version.
    pub fn bound(&mut self, version: u16, _now: Now) {
        self.version = version;
        self.state = ServiceState::Ready;
    }

    /// The association is over, however it ended: the transfer buffer is discarded. What waits in
    /// the online frame buffer of complete online delivery stays for the next START.
    pub fn unbound(&mut self, _now: Now) {
        self.leave();
    }

    /// State of the service.
    #[must_use]
    pub fn state(&self) -> ServiceState {
        self.state
    }

    /// Counters of the service instance.
    #[must_use]
    pub fn counts(&self) -> ReturnCounts {
        let processed = self.active.as_ref().map_or(0, |active| active.selection.processed);
        ReturnCounts {
            delivered: self.buffer.sent.frames,
            good: self.buffer.sent.good,
            discarded: self.counts.discarded + self.buffer.discarded + self.backlog.discarded,
            processed: self.counts.processed + processed,
            ..self.counts
        }
    }

    /// An operation of the user's.
    pub fn pdu(&mut self, pdu: Pdu, now: Now, out: &mut Vec<ServiceAction>) {
        match pdu {
            Pdu::Start { invoke_id, start: StartRequest::Return(start) } => {
                self.start(invoke_id, &start, now, out);
            }
            Pdu::Stop { invoke_id } if self.state == ServiceState::Active => {
                self.stop(invoke_id, out)
            }
            Pdu::ScheduleStatusReport { invoke_id, request }
                if self.state != ServiceState::Unbound =>
            {
                let asked = self.schedule.request(&self.config, request, now);
                let result = asked.map(drop);
                out.push(ServiceAction::Send(Pdu::ScheduleStatusReportReturn {
                    invoke_id,
                    result,
                }));
                if asked == Ok(true) {
                    out.push(ServiceAction::Send(self.report()));
                }
            }
            Pdu::GetParameter { invoke_id, name } if self.state != ServiceState::Unbound => {
                out.push(ServiceAction::Send(self.parameter(invoke_id, name)));
            }
            _ => self.abort(PeerAbortDiagnostic::ProtocolError, out),
        }
    }

    /// Frames of production, in the order of their reception.
    ///
    /// What the user cannot be given is kept within bounds or discarded, by the delivery mode; a
    /// source that can wait asks for [`Self::room`] before.
    pub fn frames(
        &mut self,
        frames: impl IntoIterator<Item = ReceivedFrame>,
        now: Now,
        out: &mut Vec<ServiceAction>,
    ) {
        for frame in frames {
            self.counts.received += 1;
            self.frame(frame, now, out);
        }
    }

    /// Frames of so many octets that can be given now without that one is lost: what there is room
    /// for in the online frame buffer; in timely online and offline delivery none before START.
    #[must_use]
    pub fn room(&self, frame_octets: usize) -> usize {
        let is_wanting = self.active.as_ref().is_some_and(|active| !active.is_complete);
        match self.config.delivery {
            DeliveryMode::CompleteOnline => self.backlog.room(frame_octets),
            _ if !is_wanting => 0,
            DeliveryMode::Offline => self.backlog.room(frame_octets),
            _ => self.buffer.room(),
        }
    }

    /// Offline: what is to be read from the store, from START to [`Self::end_of_data`].
    #[must_use]
    pub fn offline(&self) -> Option<OfflineRange> {
        let active = self.active.as_ref().filter(|active| !active.is_complete)?;
        self.config.is_offline().then_some(OfflineRange {
            start_utc_ns: active.start_utc_ns,
            stop_utc_ns: active.stop_utc_ns,
        })
    }

    /// No more frames come of what START asked for: the store, or the source, has no more.
    pub fn end_of_data(&mut self, now: Now, out: &mut Vec<ServiceAction>) {
        if let Some(active) = &mut self.active {
            active.is_complete = true;
            self.pump(now, out);
        }
    }

    /// The connection takes no more transfer buffers, or takes them again.
    pub fn block(&mut self, blocked: bool, now: Now, out: &mut Vec<ServiceAction>) {
        self.buffer.block(blocked, &mut |pdu| out.push(ServiceAction::Send(pdu)));
        self.pump(now, out);
    }

    /// Handles an event of production. The user is notified of changes, if online and active.
    pub fn production(&mut self, event: ReturnProduction, now: Now, out: &mut Vec<ServiceAction>) {
        match event {
            ReturnProduction::Status(status) => {
                if std::mem::replace(&mut self.production, status) != status {
                    self.notify(ReturnNotification::ProductionStatusChange(status), now, out);
                }
            }
            ReturnProduction::Locks(locks) => {
                let before = std::mem::replace(&mut self.locks, locks);
                if before.frame_sync == LockStatus::InLock && locks.frame_sync != LockStatus::InLock
                {
                    self.notify(ReturnNotification::LossFrameSync(locks.report(now)), now, out);
                }
            }
            ReturnProduction::InService(in_service) => self.in_service = in_service,
            ReturnProduction::Store(has_store) => self.has_store = has_store,
        }
    }

    /// When [`Self::tick`] is to be called at the latest, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        let stop = self.active.as_ref().and_then(|active| active.stop_due_ns);
        [self.buffer.due(), self.schedule.due(), stop].into_iter().flatten().min()
    }

    /// Time has passed: latency limit, reporting cycle, stop time.
    pub fn tick(&mut self, now: Now, out: &mut Vec<ServiceAction>) {
        let stop_has_come =
            |active: &Active| active.stop_due_ns.is_some_and(|due_ns| due_ns <= now.monotonic_ns);
        if let Some(active) = self.active.as_mut().filter(|active| stop_has_come(active)) {
            active.stop_due_ns = None;
            active.is_complete = true;
            self.pump(now, out);
        }
        self.buffer.tick(now.monotonic_ns, &mut |pdu| out.push(ServiceAction::Send(pdu)));
        if self.schedule.tick(now) {
            out.push(ServiceAction::Send(self.report()));
        }
    }

    fn start(
        &mut self,
        invoke_id: InvokeId,
        start: &ReturnStart,
        now: Now,
        out: &mut Vec<ServiceAction>,
    ) {
        if self.state != ServiceState::Ready {
            return self.abort(PeerAbortDiagnostic::ProtocolError, out);
        }
        let active = self.check(start, now);
        let result = match &active {
            Ok(_) => Ok(PositiveStartReturn::Return),
            Err(specific) => Err(Diagnostic::Specific(*specific)),
        };
        out.push(ServiceAction::Send(Pdu::StartReturn { invoke_id, result }));
        if let Ok(active) = active {
            self.active = Some(active);
            self.state = ServiceState::Active;
            self.pump(now, out);
        }
    }

    /// The accepted request of START, or its specific diagnostic.
    fn check(&self, start: &ReturnStart, now: Now) -> Result<Active, u8> {
        let is_offline = self.config.is_offline();
        if !self.in_service || !is_offline && self.production == ReturnProductionStatus::Halted {
            return Err(diagnostic::OUT_OF_SERVICE);
        }
        if is_offline && !self.has_store {
            return Err(diagnostic::UNABLE_TO_COMPLY);
        }
        if is_offline && (start.start.is_none() || start.stop.is_none()) {
            return Err(diagnostic::MISSING_TIME_VALUE);
        }
        let (provision_start_ns, provision_stop_ns) = self.config.provision_utc_ns;
        let start_utc_ns = match start.start {
            None => 0,
            Some(time) => {
                let within = provision_start_ns..provision_stop_ns;
                let is_valid = |ns: &u64| is_offline || within.contains(ns);
                time.utc_ns().filter(is_valid).ok_or(diagnostic::INVALID_START_TIME)?
            }
        };
        let stop_utc_ns = match start.stop {
            None => u64::MAX,
            Some(time) => {
                // Offline the past is asked for (CCSDS 911.1: the stop time is not in the future).
                let last_ns = if is_offline { now.utc_ns } else { provision_stop_ns };
                let is_valid = |ns: &u64| *ns <= last_ns && *ns > start_utc_ns;
                time.utc_ns().filter(is_valid).ok_or(diagnostic::INVALID_STOP_TIME)?
            }
        };
        let stop_due_ns = (!is_offline && start.stop.is_some())
            .then(|| now.monotonic_ns.saturating_add(stop_utc_ns.saturating_sub(now.utc_ns)));
        Ok(Active {
            selection: FrameSelection::new(&self.config.offer, start)?,
            start_utc_ns,
            stop_utc_ns,
            stop_due_ns,
            is_complete: false,
            has_ended: false,
        })
    }

    fn stop(&mut self, invoke_id: InvokeId, out: &mut Vec<ServiceAction>) {
        self.buffer.flush(&mut |pdu| out.push(ServiceAction::Send(pdu)));
        self.end_active();
        self.state = ServiceState::Ready;
        out.push(ServiceAction::Send(Pdu::StopReturn { invoke_id, result: Ok(()) }));
    }

    fn end_active(&mut self) {
        if let Some(active) = self.active.take() {
            self.counts.processed += active.selection.processed;
        }
        self.buffer.clear();
        self.backlog.drop_notifications();
        if self.config.is_offline() {
            // It belongs to the START that is over.
            self.backlog = FrameBacklog::new(self.config.backlog_octets);
        }
    }

    fn leave(&mut self) {
        self.end_active();
        self.schedule.stop();
        self.state = ServiceState::Unbound;
    }

    fn abort(&mut self, diagnostic: PeerAbortDiagnostic, out: &mut Vec<ServiceAction>) {
        self.leave();
        out.push(ServiceAction::Abort(diagnostic));
    }

    fn frame(&mut self, frame: ReceivedFrame, now: Now, out: &mut Vec<ServiceAction>) {
        let is_offline = self.config.is_offline();
        if !is_offline && self.production != ReturnProductionStatus::Running {
            self.counts.unproduced += 1;
            return;
        }
        let is_timely = self.config.delivery == DeliveryMode::TimelyOnline;
        let Some(active) = self.active.as_mut().filter(|active| !active.has_ended) else {
            if self.config.delivery == DeliveryMode::CompleteOnline {
                self.backlog.push(BacklogEntry::Frame(frame));
            } else {
                self.counts.discarded += 1;
            }
            return;
        };
        if is_timely || self.backlog.is_empty() && self.buffer.has_room() {
            if frame.received_utc_ns <= active.stop_utc_ns {
                return self.deliver(&frame, now, out);
            }
            active.is_complete = true;
        }
        if is_timely {
            self.counts.discarded += 1;
        } else {
            self.backlog.push(BacklogEntry::Frame(frame));
        }
        self.pump(now, out);
    }

    /// Puts into the transfer buffer what of a frame is asked for; there must be room.
    fn deliver(&mut self, frame: &ReceivedFrame, now: Now, out: &mut Vec<ServiceAction>) {
        let Some(active) = &mut self.active else { return };
        if frame.received_utc_ns < active.start_utc_ns {
            return;
        }
        let Some(selected) = active.selection.take(frame, self.config.trailer) else { return };
        let quality =
            matches!(self.config.offer, ServiceOffer::Raf { .. }).then_some(frame.quality);
        let part = FrameOrNotification::Frame(TransferData {
            credentials: None,
            earth_receive_time: Time::from_utc_ns(frame.received_utc_ns),
            antenna: self.config.antenna.clone(),
            data_link_continuity: if self.config.is_concatenated {
                -1
            } else {
                selected.continuity
            },
            quality,
            private_annotation: frame.annotation.clone(),
            data: selected.data,
        });
        self.buffer.push(part, now.monotonic_ns, &mut |pdu| out.push(ServiceAction::Send(pdu)));
    }

    /// Moves what waits into the transfer buffer as long as there is room, and ends the data when
    /// all of them are through.
    fn pump(&mut self, now: Now, out: &mut Vec<ServiceAction>) {
        while self.active.as_ref().is_some_and(|active| !active.has_ended) && self.buffer.has_room()
        {
            let Some(active) = &mut self.active else { return };
            if self.backlog.next_utc_ns().is_some_and(|utc_ns| utc_ns > active.stop_utc_ns) {
                active.is_complete = true;
            } else if let Some(entry) = self.backlog.pop() {
                match entry {
                    BacklogEntry::Frame(frame) => self.deliver(&frame, now, out),
                    BacklogEntry::Notification(said) => self.say(said, now, out),
                }
                continue;
            }
            if !active.is_complete {
                return;
            }
            active.has_ended = true;
            self.say(ReturnNotification::EndOfData, now, out);
        }
    }

    /// Tells of production, behind what was produced before.
    fn notify(&mut self, said: ReturnNotification, now: Now, out: &mut Vec<ServiceAction>) {
        let is_active = self.active.as_ref().is_some_and(|active| !active.has_ended);
        if !is_active || self.config.is_offline() {
            return;
        }
        if self.backlog.is_empty() && self.buffer.has_room() {
            self.say(said, now, out);
        } else {
            self.backlog.push(BacklogEntry::Notification(said));
        }
    }

    /// Puts a notification into the transfer buffer, which must have room, and sends it at once.
    fn say(&mut self, said: ReturnNotification, now: Now, out: &mut Vec<ServiceAction>) {
        let is_urgent = said != ReturnNotification::ExcessiveDataBacklog;
        let mut send = |pdu| out.push(ServiceAction::Send(pdu));
        self.buffer.push(notification(said), now.monotonic_ns, &mut send);
        if is_urgent {
            self.buffer.release(&mut send);
        }
    }

    fn parameter(&self, invoke_id: InvokeId, name: ParameterName) -> Pdu {
        let selected = self.active.as_ref().map(|active| active.selection.select);
        let cycle_s = self.schedule.cycle_s();
        let result = parameter::get(&self.config, self.version, selected, cycle_s, name)
            .ok_or(Diagnostic::Specific(UNKNOWN_PARAMETER));
        Pdu::GetParameterReturn { invoke_id, result }
    }

    /// A STATUS-REPORT. Its counts are the low 32 bits of ours: at a million frames a second they
    /// wrap within two hours.
    #[must_use]
    pub fn status_report(&self) -> ReturnStatusReport {
        let counts = self.counts();
        let processed = match self.config.offer {
            ServiceOffer::Raf { .. } => Some(low(counts.good)),
            ServiceOffer::Rcf { .. } => None,
            ServiceOffer::Rocf { .. } => Some(low(counts.processed)),
        };
        ReturnStatusReport {
            processed,
            delivered: low(counts.delivered),
            frame_sync: self.locks.frame_sync,
            symbol_sync: self.locks.symbol_sync,
            subcarrier: self.locks.subcarrier,
            carrier: self.locks.carrier,
            production: self.production,
        }
    }

    fn report(&self) -> Pdu {
        Pdu::ReturnStatusReport(self.status_report())
    }
}

#[allow(clippy::cast_possible_truncation)] // that is what it is for
fn low(count: u64) -> u32 {
    count as u32
}
