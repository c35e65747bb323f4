//! Providers with their queue, and a clock that the test moves.

use bytes::Bytes;
use chronoscope_sle::csts::pdu::names::{
    BUFFERED_DATA_PROCESSING, SEQUENCE_CONTROLLED_DATA_PROCESSING,
};
use chronoscope_sle::csts::pdu::{
    AbstractChoice, BufferedOperation, DataTransferMode, NotifyExtension, NotifyPdu, Oid, Pdu,
    PeerAbortDiagnostic, PlainInvocation, PlainReturn, ProcedureName, ProcessData,
    ProcessDataExtension, ProcessingNotification, StartExtension, StartPdu,
};
use chronoscope_sle::csts::procedure::{
    BufferedConfig, BufferedProvider, DataUnitLengths, ProcedureAction, ProcedureState,
    SequencedProvider,
};
use chronoscope_sle::pdu::CltuProductionStatus;
use chronoscope_sle::service::fcltu::{
    BufferLimits, FcltuConfig, LossDiscipline, NotificationMode, ProductionEvent, RadiationConfig,
    RadiationQueue, RadiationStep,
};
use chronoscope_sle::time::{Now, Time};
use std::sync::Arc;

/// 2026-01-01, UTC.
const DAY_NS: u64 = 1_767_225_600_000_000_000;
pub(crate) const MS: u64 = 1_000_000;

pub(crate) enum Provider {
    Buffered(BufferedProvider),
    Sequenced(SequencedProvider),
}

pub(crate) struct Station {
    pub(crate) provider: Provider,
    pub(crate) queue: Arc<RadiationQueue>,
    pub(crate) procedure: ProcedureName,
    pub(crate) now: Now,
}

pub(crate) fn buffered_name() -> ProcedureName {
    ProcedureName::prime(BUFFERED_DATA_PROCESSING)
}

pub(crate) fn sequenced_name() -> ProcedureName {
    ProcedureName::prime(SEQUENCE_CONTROLLED_DATA_PROCESSING)
}

fn queue(units: usize, discipline: LossDiscipline) -> Arc<RadiationQueue> {
    let config = FcltuConfig {
        limits: BufferLimits { octets: 1000, cltus: units },
        // A millisecond for each octet.
        bit_rate: Some(8000),
        notification_mode: NotificationMode::Deferred,
        notify_buffer_empty: false,
        production: CltuProductionStatus::Operational,
        ..FcltuConfig::default()
    };
    Arc::new(RadiationQueue::new(RadiationConfig { discipline, ..(&config).into() }))
}

impl Station {
    /// Forward buffers of up to 3, a queue of `units`, frames of 1 to 8 octets; bound.
    pub(crate) fn buffered(mode: DataTransferMode, units: usize, latency_limit_ms: u32) -> Self {
        let queue = queue(units, LossDiscipline::Each);
        let config = BufferedConfig {
            mode,
            forward_buffer_max: 3,
            latency_limit_ms,
            discard_after_abort: true,
            frames: DataUnitLengths { octets: 1..=8 },
        };
        let mut provider = BufferedProvider::new(buffered_name(), config, Arc::clone(&queue));
        provider.bound();
        Self::new(Provider::Buffered(provider), queue, buffered_name())
    }

    /// A queue of `units`, frames of 1 to 8 octets; bound.
    pub(crate) fn sequenced(units: usize) -> Self {
        let queue = queue(units, LossDiscipline::Sequence);
        let frames = DataUnitLengths { octets: 1..=8 };
        let mut provider =
            SequencedProvider::new(sequenced_name(), frames, true, Arc::clone(&queue));
        provider.bound();
        Self::new(Provider::Sequenced(provider), queue, sequenced_name())
    }

    fn new(provider: Provider, queue: Arc<RadiationQueue>, procedure: ProcedureName) -> Self {
        let now = Now { monotonic_ns: 1000 * MS, utc_ns: DAY_NS };
        Self { provider, queue, procedure, now }
    }

    /// Started, from number 1.
    pub(crate) fn started(mut self) -> Self {
        assert_eq!(self.start(1), Ok(()));
        self
    }

    pub(crate) fn pass(&mut self, ns: u64) {
        self.now.monotonic_ns += ns;
        self.now.utc_ns += ns;
    }

    pub(crate) fn at(&self, after_ns: u64) -> Time {
        Time::from_utc_ns(self.now.utc_ns + after_ns)
    }

    pub(crate) fn state(&self) -> ProcedureState {
        match &self.provider {
            Provider::Buffered(provider) => provider.state(),
            Provider::Sequenced(provider) => provider.state(),
        }
    }

    pub(crate) fn pdu(&mut self, pdu: Pdu) -> Vec<ProcedureAction> {
        let mut out = Vec::new();
        match &mut self.provider {
            Provider::Buffered(provider) => {
                provider.pdu(pdu, self.now, &mut out);
                provider.tick();
            }
            Provider::Sequenced(provider) => {
                provider.pdu(pdu, self.now, &mut out);
                provider.tick();
            }
        }
        out
    }

    pub(crate) fn abort(&mut self, pdu: Pdu) -> PeerAbortDiagnostic {
        let out = self.pdu(pdu);
        let Some(ProcedureAction::Abort(why)) = out.last() else { panic!("no abort: {out:?}") };
        assert_eq!(self.state(), ProcedureState::Unbound);
        *why
    }

    pub(crate) fn start_pdu(&self, first: u32) -> Pdu {
        let extension = match &self.provider {
            Provider::Buffered(_) => StartExtension::NotUsed,
            Provider::Sequenced(_) => {
                StartExtension::SequenceControlled { first_data_unit: first, extension: None }
            }
        };
        Pdu::Start(StartPdu { invoke_id: 7, procedure: self.procedure.clone(), extension })
    }

    pub(crate) fn start(
        &mut self,
        first: u32,
    ) -> Result<(), chronoscope_sle::csts::pdu::Diagnostic> {
        let out = self.pdu(self.start_pdu(first));
        let [ProcedureAction::Send(Pdu::StartReturn(PlainReturn { invoke_id: 7, result, .. }))] =
            &out[..]
        else {
            panic!("{out:?}")
        };
        result.clone()
    }

    pub(crate) fn stop_pdu(&self) -> Pdu {
        let procedure = self.procedure.clone();
        Pdu::Stop(PlainInvocation { invoke_id: 8, procedure, extension: None })
    }

    /// What STOP leads to before its return.
    pub(crate) fn stop(&mut self) -> Vec<ProcedureAction> {
        let mut out = self.pdu(self.stop_pdu());
        let last = out.pop();
        assert!(
            matches!(
                last,
                Some(ProcedureAction::Send(Pdu::StopReturn(PlainReturn {
                    invoke_id: 8,
                    result: Ok(()),
                    ..
                })))
            ),
            "{last:?}"
        );
        assert_eq!(self.state(), ProcedureState::Inactive);
        out
    }

    /// A data unit of so many octets; the report of its completion is asked for.
    pub(crate) fn unit(&self, data_unit: u32, octets: usize) -> ProcessData {
        let extension = match &self.provider {
            Provider::Buffered(_) => {
                ProcessDataExtension::DataProcessing { report: true, extension: None }
            }
            Provider::Sequenced(_) => ProcessDataExtension::SequenceControlled {
                report: true,
                earliest: None,
                latest: None,
                extension: None,
            },
        };
        ProcessData {
            invoke_id: data_unit,
            procedure: self.procedure.clone(),
            data_unit,
            data: AbstractChoice::Opaque(Bytes::from(vec![0x55; octets])),
            extension,
        }
    }

    pub(crate) fn block(&self, units: &[u32]) -> Pdu {
        Pdu::ForwardBuffer(
            units.iter().map(|unit| BufferedOperation::from(self.unit(*unit, 1))).collect(),
        )
    }

    pub(crate) fn production(&mut self, status: CltuProductionStatus) -> Vec<ProcedureAction> {
        self.tell(ProductionEvent::Status(status))
    }

    fn tell(&mut self, event: ProductionEvent) -> Vec<ProcedureAction> {
        let mut out = Vec::new();
        match &mut self.provider {
            Provider::Buffered(provider) => provider.production(event, self.now, &mut out),
            Provider::Sequenced(provider) => provider.production(event, self.now, &mut out),
        }
        out
    }

    /// What is on the air now, if it begins now.
    pub(crate) fn radiates(&mut self) -> Option<u32> {
        match self.queue.next(self.now) {
            RadiationStep::Radiate(unit) => Some(unit.cltu),
            _ => None,
        }
    }

    /// What the user is told now.
    pub(crate) fn told(&mut self) -> Vec<ProcedureAction> {
        self.tell(ProductionEvent::Progress)
    }

    /// Numbers of what is radiated until nothing is left, each in its time.
    pub(crate) fn radiate_all(&mut self) -> Vec<u32> {
        let mut all = Vec::new();
        for _ in 0..1000 {
            match self.queue.next(self.now) {
                RadiationStep::Radiate(unit) => all.push(unit.cltu),
                RadiationStep::Wait(until_ns) => {
                    let left_ns = until_ns - self.now.monotonic_ns;
                    self.pass(left_ns);
                }
                RadiationStep::Idle | RadiationStep::Closed => {
                    self.told();
                    if !self.queue.look(|radiation| radiation.waiting() > 0) {
                        return all;
                    }
                }
            }
        }
        panic!("there is no end of it: {all:?}")
    }
}

/// Events of notifications, with what they say.
pub(crate) fn events(out: &[ProcedureAction]) -> Vec<(Oid, ProcessingNotification)> {
    let event = |action: &ProcedureAction| match action {
        ProcedureAction::Send(Pdu::Notify(NotifyPdu {
            event,
            extension: NotifyExtension::DataProcessing(notification),
            ..
        })) => Some((event.id.clone(), notification.clone())),
        _ => None,
    };
    out.iter().filter_map(event).collect()
}

pub(crate) fn names(out: &[ProcedureAction]) -> Vec<Oid> {
    events(out).into_iter().map(|(event, _)| event).collect()
}
