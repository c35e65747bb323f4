//! Instances of SLE as a provider runs them.

use super::instance::{BoundInstance, InstanceMachine, InstanceState, ServedInstance};
use crate::association::SleProtocol;
use crate::config::ReturnTable;
use crate::frame::ReceivedFrame;
use crate::pdu::{
    CltuTransferBuffer, CltuTransferData, FrameOrNotification, Pdu, ServiceType, UnbindReason,
};
use crate::recording::{self, ChainKey, DELIVER_BUFFER, QUEUE_CLTU, RADIATE_CLTU, RECEIVE_CLTU};
use crate::service::fcltu::{self, FcltuProvider, Radiation};
use crate::service::returns::{ReturnProduction, ReturnProvider};
use crate::service::{ServiceAction, ServiceState};
use crate::time::Now;
use chronoscope_record::{Class, Started};
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// An instance of SLE.
pub(super) type SleServed = ServedInstance<SleMachine>;

/// Data that only instances of SLE have.
pub(super) struct SleOwn {
    pub(super) service: ServiceType,
    /// Chain key of transfer buffers.
    pub(super) key: ChainKey,
    /// Configuration of a return service.
    pub(super) returns: Option<ReturnTable>,
    /// Address of a UDP source.
    pub(super) source: OnceLock<Option<SocketAddr>>,
    /// Frames that were written to the instance's store.
    pub(super) stored: AtomicU64,
}

/// The state machine of an instance.
#[derive(Debug)]
pub(super) enum SleMachine {
    Forward(Box<FcltuProvider>),
    Return(Box<ReturnProvider>),
}

impl SleMachine {
    pub(super) fn state(&self) -> ServiceState {
        match self {
            Self::Forward(provider) => provider.state(),
            Self::Return(provider) => provider.state(),
        }
    }

    pub(super) fn pdu(&mut self, pdu: Pdu, now: Now, out: &mut Vec<ServiceAction>) {
        match self {
            Self::Forward(provider) => provider.pdu(pdu, now, out),
            Self::Return(provider) => provider.pdu(pdu, now, out),
        }
    }
}

/// Event for a machine that does not come from its association.
#[derive(Debug)]
pub(super) enum SleInbound {
    /// Frames were received.
    Frames(Vec<ReceivedFrame>),
    /// No further frames belong to the present START.
    EndOfData,
    /// Production of a forward service is different.
    Forward(fcltu::ProductionEvent),
    /// Production of a return service is different.
    Return(ReturnProduction),
}

impl InstanceMachine for SleMachine {
    type Protocol = SleProtocol;
    type Inbound = SleInbound;
    type Own = SleOwn;
    const RADIATE: &'static Class = &RADIATE_CLTU;

    fn unbind_text(reason: UnbindReason) -> String {
        format!("UNBIND, {reason:?}")
    }

    fn bound(&mut self, version: u16, now: Now) {
        match self {
            Self::Forward(provider) => provider.bound(version, now),
            Self::Return(provider) => provider.bound(version, now),
        }
    }

    fn unbound(&mut self, now: Now) {
        match self {
            Self::Forward(provider) => provider.unbound(now),
            Self::Return(provider) => provider.unbound(now),
        }
    }

    fn inbound(&mut self, event: SleInbound, now: Now, out: &mut Vec<ServiceAction>) {
        match (self, event) {
            (Self::Return(provider), SleInbound::Frames(frames)) => {
                provider.frames(frames, now, out)
            }
            (Self::Return(provider), SleInbound::EndOfData) => provider.end_of_data(now, out),
            (Self::Return(provider), SleInbound::Return(event)) => {
                provider.production(event, now, out);
            }
            (Self::Forward(provider), SleInbound::Forward(event)) => {
                provider.production(event, now, out);
            }
            // Events of the other kind of service are not sent to a machine.
            (Self::Return(_), SleInbound::Forward(_))
            | (
                Self::Forward(_),
                SleInbound::Frames(_) | SleInbound::EndOfData | SleInbound::Return(_),
            ) => {}
        }
    }

    fn operation(
        bound: &mut BoundInstance<Self>,
        live: &mut InstanceState<Self>,
        pdu: Pdu,
        now: Now,
        out: &mut Vec<ServiceAction>,
    ) {
        let served = Arc::clone(&bound.served);
        match pdu {
            Pdu::CltuTransferData(invocation) if bound.records => {
                bound.recorded(&served, live, invocation, now, out);
            }
            Pdu::CltuTransferBuffer(buffer) if bound.records => {
                bound.recorded_buffer(&served, live, buffer, now, out);
            }
            other => {
                live.starts += u64::from(matches!(other, Pdu::Start { .. }));
                let transaction = recording::class_of(&other)
                    .filter(|_| bound.records)
                    .map(|class| class.start());
                live.machine.pdu(other, now, out);
                if let Some(transaction) = transaction {
                    let refused = out.iter().any(|action| match action {
                        ServiceAction::Send(pdu) => is_refusal(pdu),
                        ServiceAction::Abort(_) => true,
                    });
                    transaction.stop(recording::status(!refused));
                }
                if let Self::Forward(provider) = &live.machine
                    && provider.state() == ServiceState::Active
                    && bound.key.is_none()
                {
                    bound.key = Some(ChainKey::of_forward(&served.id, provider.session()));
                } else if live.machine.state() == ServiceState::Ready {
                    bound.key = None;
                }
                served.notify();
            }
        }
    }

    fn sending(bound: &BoundInstance<Self>, pdu: &Pdu) -> Option<Started> {
        let Pdu::TransferBuffer(parts) = pdu else { return None };
        let own = &bound.served.own;
        let annotates = own.returns.as_ref().is_some_and(|returns| returns.annotate);
        if !bound.records || annotates {
            return None;
        }
        let mut transaction = own.key.buffer(parts)?.start(&DELIVER_BUFFER);
        if let Some(FrameOrNotification::Frame(frame)) = parts.first()
            && let Some(received) = frame.earth_receive_time.utc_ns()
        {
            // From the receipt of the oldest frame in it, by the receiver's clock.
            transaction.arrived_at(received.cast_signed());
        }
        #[allow(clippy::cast_precision_loss)] // at most 65,535
        transaction.metric("frames", parts.len() as f64);
        Some(transaction)
    }

    fn progress(&mut self, now: Now, out: &mut Vec<ServiceAction>) {
        if let Self::Forward(provider) = self {
            provider.production(fcltu::ProductionEvent::Progress, now, out);
        }
    }

    fn unblock(&mut self, now: Now, out: &mut Vec<ServiceAction>) {
        if let Self::Return(provider) = self {
            provider.block(false, now, out);
        }
    }

    fn due(&self) -> Option<u64> {
        match self {
            Self::Forward(provider) => provider.due(),
            Self::Return(provider) => provider.due(),
        }
    }

    fn tick(&mut self, now: Now, out: &mut Vec<ServiceAction>) {
        match self {
            Self::Forward(provider) => provider.tick(now, out),
            Self::Return(provider) => provider.tick(now, out),
        }
    }
}

fn is_refusal(pdu: &Pdu) -> bool {
    matches!(
        pdu,
        Pdu::StartReturn { result: Err(_), .. }
            | Pdu::StopReturn { result: Err(_), .. }
            | Pdu::ScheduleStatusReportReturn { result: Err(_), .. }
            | Pdu::GetParameterReturn { result: Err(_), .. }
            | Pdu::ThrowEventReturn { result: Err(_), .. }
    )
}

impl BoundInstance<SleMachine> {
    /// A TRANSFER-DATA, recorded.
    fn recorded(
        &self,
        served: &SleServed,
        live: &mut InstanceState<SleMachine>,
        invocation: CltuTransferData,
        now: Now,
        out: &mut Vec<ServiceAction>,
    ) {
        let cltu = invocation.cltu;
        let Some(key) = self.key else {
            return live.machine.pdu(Pdu::CltuTransferData(invocation), now, out);
        };
        let receive = RECEIVE_CLTU.begin_with(&key.cltu(cltu).correlator());
        // Before it is in the queue: radiation may have it at once.
        let waiting = QUEUE_CLTU.start_with(&receive.correlator());
        served.waiting.push(cltu, waiting);
        let before = out.len();
        live.machine.pdu(Pdu::CltuTransferData(invocation), now, out);
        let is_taken = matches!(
            out.get(before),
            Some(ServiceAction::Send(Pdu::CltuTransferDataReturn(returned))) if returned.result.is_ok()
        );
        if !is_taken {
            served.waiting.take_back();
        }
        receive.stop(recording::status(is_taken));
    }

    /// Several CLTUs in one invocation, recorded.
    fn recorded_buffer(
        &self,
        served: &SleServed,
        live: &mut InstanceState<SleMachine>,
        buffer: CltuTransferBuffer,
        now: Now,
        out: &mut Vec<ServiceAction>,
    ) {
        let taken_so_far = |live: &InstanceState<SleMachine>| match &live.machine {
            SleMachine::Forward(provider) => provider.queue().look(Radiation::report).received,
            SleMachine::Return(_) => 0,
        };
        let count = buffer.cltus.len();
        if let Some(key) = self.key {
            for (id, _) in &buffer.cltus {
                let receive = RECEIVE_CLTU.begin_with(&key.cltu(*id).correlator());
                served.waiting.push(*id, QUEUE_CLTU.start_with(&receive.correlator()));
            }
        }
        let before = taken_so_far(live);
        live.machine.pdu(Pdu::CltuTransferBuffer(buffer), now, out);
        let taken = taken_so_far(live).wrapping_sub(before) as usize;
        if self.key.is_some() {
            for _ in taken..count {
                served.waiting.take_back();
            }
        }
    }
}
