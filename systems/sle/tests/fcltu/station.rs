//! A provider with its buffer, and a clock that the test moves.

use bytes::Bytes;
use chronoscope_sle::pdu::{
    CltuAsyncNotify, CltuNotification, CltuProductionStatus, CltuStatusReport, CltuTransferData,
    Diagnostic, Parameter, ParameterName, Pdu, PositiveStartReturn, ReportRequest, StartRequest,
    ThrowEvent,
};
use chronoscope_sle::service::fcltu::{
    FcltuConfig, FcltuProvider, ProductionEvent, RadiationQueue, RadiationStep,
};
use chronoscope_sle::service::{ServiceAction, ServiceState};
use chronoscope_sle::time::{Now, Time};
use std::sync::Arc;

/// 2026-01-01, UTC.
pub(crate) const DAY_NS: u64 = 1_767_225_600_000_000_000;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1000 * MS;

pub(crate) struct Station {
    pub(crate) provider: FcltuProvider,
    pub(crate) queue: Arc<RadiationQueue>,
    pub(crate) now: Now,
}

impl Station {
    /// Nobody is bound.
    pub(crate) fn unbound(config: FcltuConfig) -> Self {
        let queue = Arc::new(RadiationQueue::new(&config));
        let provider = FcltuProvider::new(config, Arc::clone(&queue));
        Self { provider, queue, now: Now { monotonic_ns: 5 * S, utc_ns: DAY_NS } }
    }

    pub(crate) fn ready(config: FcltuConfig) -> Self {
        Self::ready_in(config, 5)
    }

    pub(crate) fn ready_in(config: FcltuConfig, version: u16) -> Self {
        let mut station = Self::unbound(config);
        station.provider.bound(version, station.now);
        assert_eq!(station.provider.state(), ServiceState::Ready);
        station
    }

    /// Started, the first CLTU is number 1.
    pub(crate) fn active(config: FcltuConfig) -> Self {
        let mut station = Self::ready(config);
        station.start(1).unwrap();
        assert_eq!(station.provider.state(), ServiceState::Active);
        station.pass(1000); // to the time that the return named
        station
    }

    pub(crate) fn pass(&mut self, ns: u64) {
        self.now.monotonic_ns += ns;
        self.now.utc_ns += ns;
    }

    pub(crate) fn at(&self, after_ns: u64) -> Time {
        Time::from_utc_ns(self.now.utc_ns + after_ns)
    }

    pub(crate) fn pdu(&mut self, pdu: Pdu) -> Vec<ServiceAction> {
        let mut out = Vec::new();
        self.provider.pdu(pdu, self.now, &mut out);
        out
    }

    /// The one operation that an operation is answered with.
    pub(crate) fn answer(&mut self, pdu: Pdu) -> Pdu {
        match &self.pdu(pdu)[..] {
            [ServiceAction::Send(answer)] => answer.clone(),
            other => panic!("not one answer: {other:?}"),
        }
    }

    pub(crate) fn start(&mut self, first_cltu: u32) -> Result<PositiveStartReturn, Diagnostic> {
        let start = StartRequest::Cltu { first_cltu };
        match self.answer(Pdu::Start { invoke_id: 7, start }) {
            Pdu::StartReturn { invoke_id: 7, result } => result,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn stop(&mut self) -> Result<(), Diagnostic> {
        match self.answer(Pdu::Stop { invoke_id: 8 }) {
            Pdu::StopReturn { invoke_id: 8, result } => result,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a CLTU; its fate and the next number.
    pub(crate) fn transfer(&mut self, cltu: CltuTransferData) -> (Result<(), Diagnostic>, u32) {
        let id = cltu.invoke_id;
        match self.answer(Pdu::CltuTransferData(cltu)) {
            Pdu::CltuTransferDataReturn(r) if r.invoke_id == id => {
                assert_eq!(r.buffer_available, self.report_now().buffer_available);
                (r.result, r.next_cltu)
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn parameter(&mut self, name: ParameterName) -> Result<Parameter, Diagnostic> {
        match self.answer(Pdu::GetParameter { invoke_id: 3, name }) {
            Pdu::GetParameterReturn { invoke_id: 3, result } => result,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn schedule(&mut self, request: ReportRequest) -> Vec<ServiceAction> {
        self.pdu(Pdu::ScheduleStatusReport { invoke_id: 4, request })
    }

    pub(crate) fn throw(&mut self, number: u32, event: u16) -> Vec<ServiceAction> {
        let qualifier = Bytes::from_static(&[1]);
        let event_invocation_id = number;
        self.pdu(Pdu::ThrowEvent(ThrowEvent {
            invoke_id: 9,
            event_invocation_id,
            event,
            qualifier,
        }))
    }

    pub(crate) fn production(&mut self, status: CltuProductionStatus) -> Vec<CltuAsyncNotify> {
        let mut out = Vec::new();
        self.provider.production(ProductionEvent::Status(status), self.now, &mut out);
        notifications(out)
    }

    /// Asks what is next to be radiated.
    pub(crate) fn next(&mut self) -> RadiationStep {
        self.queue.next(self.now)
    }

    /// Radiates until nothing more can be, and says which.
    pub(crate) fn radiate(&mut self) -> Vec<u32> {
        let mut radiated = Vec::new();
        while let RadiationStep::Radiate(cltu) = self.next() {
            radiated.push(cltu.cltu);
        }
        radiated
    }

    /// What the user is told.
    pub(crate) fn told(&mut self) -> Vec<CltuAsyncNotify> {
        let mut out = Vec::new();
        self.provider.production(ProductionEvent::Progress, self.now, &mut out);
        notifications(out)
    }

    /// What the user is told, in words.
    pub(crate) fn told_of(&mut self) -> Vec<CltuNotification> {
        self.told().into_iter().map(|notify| notify.notification).collect()
    }

    /// The status as a report has it, without one.
    pub(crate) fn report_now(&self) -> CltuStatusReport {
        self.queue.look(chronoscope_sle::service::fcltu::Radiation::report)
    }
}

/// All of them have to be notifications.
pub(crate) fn notifications(actions: Vec<ServiceAction>) -> Vec<CltuAsyncNotify> {
    actions
        .into_iter()
        .map(|action| match action {
            ServiceAction::Send(Pdu::CltuAsyncNotify(notify)) => notify,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// A CLTU of so many octets, without times.
pub(crate) fn cltu(number: u32, octets: usize) -> CltuTransferData {
    CltuTransferData {
        invoke_id: u16::try_from(number % 65_536).unwrap(),
        cltu: number,
        earliest: None,
        latest: None,
        delay_us: 0,
        notify_radiated: false,
        data: Bytes::from(vec![0xa5; octets]),
    }
}

/// The same, and its radiation is told.
pub(crate) fn told_cltu(number: u32, octets: usize) -> CltuTransferData {
    CltuTransferData { notify_radiated: true, ..cltu(number, octets) }
}
