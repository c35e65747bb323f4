//! The provider's side of Buffered Data Processing (CCSDS 921.1, §4.7).

use super::action::{ProcedureAction, ProcedureState};
use super::common::{DataUnitCounts, DataUnitLengths, ProviderCommon, returned};
use crate::csts::pdu::{
    BufferedOperation, DataTransferMode, DataUnitId, Diagnostic, Pdu, PeerAbortDiagnostic,
    ProcedureName, ProcessData, ProcessDataExtension, ProductionStatus, StartDiagnostic,
    StartExtension, StartPdu,
};
use crate::pdu::CltuProductionStatus;
use crate::service::fcltu::{
    AwaitedCondition, ProductionEvent, QueuedCltu, Radiation, RadiationQueue,
};
use crate::time::{Now, Time};
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// Configuration of a procedure instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferedConfig {
    /// Behaviour when the queue is full.
    pub mode: DataTransferMode,
    /// Data units of a forward buffer at most.
    pub forward_buffer_max: u32,
    /// Timely: data units that wait longer are discarded, ms; 0: they are not.
    pub latency_limit_ms: u32,
    /// Whether what waits is discarded when the association is aborted or lost.
    pub discard_after_abort: bool,
    /// Permitted lengths of data units.
    pub frames: DataUnitLengths,
}

/// The provider's side of one instance.
///
/// Complete mode: while data units wait for room in the queue ([`is_suspended`](Self::is_suspended))
/// whoever has the connection is to read nothing more. What it gives nevertheless is kept.
#[derive(Debug)]
pub struct BufferedProvider {
    common: ProviderCommon,
    config: BufferedConfig,
    /// Taken in complete mode, and no room yet.
    pending: VecDeque<QueuedCltu>,
}

impl BufferedProvider {
    /// A procedure without a bound user. The queue's data units are independent of each other
    /// ([`LossDiscipline::Each`](crate::service::fcltu::LossDiscipline::Each)).
    #[must_use]
    pub fn new(
        procedure: ProcedureName,
        config: BufferedConfig,
        queue: Arc<RadiationQueue>,
    ) -> Self {
        let common = ProviderCommon::new(procedure, queue, config.frames.clone());
        Self { common, config, pending: VecDeque::new() }
    }

    /// Its state; never locked.
    #[must_use]
    pub fn state(&self) -> ProcedureState {
        self.common.state
    }

    /// Counters of data units, since the provider was made.
    #[must_use]
    pub fn counts(&self) -> DataUnitCounts {
        self.common.counts
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &BufferedConfig {
        &self.config
    }

    /// Whether nothing more is to be read from the user.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        !self.pending.is_empty()
    }

    /// A user has bound.
    pub fn bound(&mut self) {
        self.pending.clear();
        self.common.bound();
    }

    /// The association is over.
    pub fn unbound(&mut self) {
        self.pending.clear();
        self.common.unbound(self.config.discard_after_abort);
    }

    /// An operation of this procedure instance has come.
    pub fn pdu(&mut self, pdu: Pdu, now: Now, out: &mut Vec<ProcedureAction>) {
        match (self.common.state, pdu) {
            (ProcedureState::Unbound, _) => {}
            // First because most are.
            (ProcedureState::Active, Pdu::ForwardBuffer(parts)) => {
                if parts.len() > self.config.forward_buffer_max as usize {
                    return self.abort(PeerAbortDiagnostic::ForwardBufferTooLarge, out);
                }
                if parts.iter().any(|part| part.operation.procedure != self.common.procedure) {
                    return self.abort(PeerAbortDiagnostic::InvalidProcedureName, out);
                }
                self.take(parts.iter().map(|BufferedOperation { operation, .. }| operation), now);
                self.tell(now, out);
            }
            (ProcedureState::Active, Pdu::ProcessData(one)) => {
                self.take(std::iter::once(&one), now);
                self.tell(now, out);
            }
            (ProcedureState::Inactive, Pdu::Start(start)) => self.start(&start, now, out),
            (ProcedureState::Active, Pdu::Stop(stop)) => {
                self.pending.clear();
                self.common.stop(stop.invoke_id, out);
            }
            _ => self.abort(PeerAbortDiagnostic::ProtocolError, out),
        }
    }

    fn abort(&mut self, why: PeerAbortDiagnostic, out: &mut Vec<ProcedureAction>) {
        self.pending.clear();
        self.common.abort(why, out);
    }

    fn start(&mut self, start: &StartPdu, now: Now, out: &mut Vec<ProcedureAction>) {
        let result = if start.extension != StartExtension::NotUsed {
            Err(Diagnostic::UnsupportedOption("START of this procedure has no extension".into()))
        } else if self.common.status() == ProductionStatus::Halted {
            Err(Diagnostic::Start(StartDiagnostic::OutOfService("production is halted".into())))
        } else {
            Ok(())
        };
        if result.is_ok() {
            self.common.start(now);
        }
        out.push(ProcedureAction::Send(Pdu::StartReturn(returned(start.invoke_id, result))));
    }

    /// Takes data units, or keeps them until there is room.
    fn take<'a>(&mut self, units: impl Iterator<Item = &'a ProcessData>, now: Now) {
        self.common.hold();
        let is_timely = self.config.mode == DataTransferMode::Timely;
        let limit_ns = u64::from(self.config.latency_limit_ms) * 1_000_000;
        let latest_utc_ns = (is_timely && limit_ns > 0).then(|| now.utc_ns + limit_ns);
        let session = Time::from_utc_ns(now.utc_ns);
        let mut units: VecDeque<QueuedCltu> = units
            .filter_map(|unit| {
                let queued = queued(&self.common.frames, unit, latest_utc_ns, session);
                self.common.counts.unfit += u64::from(queued.is_none());
                queued
            })
            .collect();
        if is_timely {
            self.common.queue.with(|radiation| {
                for unit in units {
                    let octets = unit.data.len();
                    self.common.counts.overrun += u64::from(radiation.make_room(octets, 1));
                    match radiation.take(unit) {
                        Ok(()) => self.common.counts.taken += 1,
                        // Longer than the whole queue.
                        Err(_) => self.common.counts.unfit += 1,
                    }
                }
            });
        } else {
            self.pending.append(&mut units);
            self.fill();
        }
    }

    /// Moves what waits for room into the queue, as far as there is some. Where that is not all of
    /// it, radiation says when half of the queue is free, or as much as is needed.
    fn fill(&mut self) {
        let Self { common, pending, .. } = self;
        common.queue.with(|radiation| {
            let limits = radiation.limits();
            while let Some(unit) = pending.pop_front() {
                if unit.data.len() > limits.octets as usize {
                    common.counts.unfit += 1; // never
                } else if radiation.has_room(unit.data.len(), 1) {
                    match radiation.take(unit) {
                        Ok(()) => common.counts.taken += 1,
                        Err(_) => common.counts.unfit += 1, // there was room
                    }
                } else {
                    pending.push_front(unit);
                    break;
                }
            }
            let first = pending.front().map(|unit| unit.data.len());
            radiation.wait_for(first.map(|first| AwaitedCondition::Room {
                octets: first.max(limits.octets as usize / 2),
                units: (limits.cltus / 2).max(1),
            }));
        });
        if !self.pending.is_empty() {
            // It has to work now.
            self.common.release();
        }
    }

    /// Handles a change of production, or progress of radiation.
    pub fn production(&mut self, event: ProductionEvent, now: Now, out: &mut Vec<ProcedureAction>) {
        match event {
            ProductionEvent::Status(status) => {
                let before = self.common.queue.look(Radiation::status);
                self.common.queue.with(|radiation| radiation.set_status(status, now));
                if status == CltuProductionStatus::Configured && before != status {
                    self.common.tell_status(now, out);
                }
            }
            ProductionEvent::Uplink(_) => {}
            ProductionEvent::Progress => {
                if !self.pending.is_empty() {
                    self.fill();
                }
            }
        }
        self.tell(now, out);
    }

    fn tell(&mut self, now: Now, out: &mut Vec<ProcedureAction>) {
        self.common.tell(false, now, out);
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

/// A data unit as it waits.
fn queued(
    frames: &DataUnitLengths,
    unit: &ProcessData,
    latest_utc_ns: Option<u64>,
    session: Time,
) -> Option<QueuedCltu> {
    let (notify, data): (bool, &Bytes) = match &unit.extension {
        ProcessDataExtension::NotUsed => (false, frames.of(unit)?),
        ProcessDataExtension::DataProcessing { report, .. } => (*report, frames.of(unit)?),
        ProcessDataExtension::SequenceControlled { .. } | ProcessDataExtension::Other(_) => {
            return None;
        }
    };
    let cltu: DataUnitId = unit.data_unit;
    Some(QueuedCltu {
        cltu,
        // A copy: a slice would keep all that was received with it.
        data: Bytes::copy_from_slice(data),
        earliest_utc_ns: None,
        latest_utc_ns,
        delay_us: 0,
        notify,
        session,
    })
}
