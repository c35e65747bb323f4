//! Instances of the Forward Frame service (CSTS) as a provider runs them.

use super::instance::{BoundInstance, InstanceMachine, InstanceState, ServedInstance};
use crate::config::ForwardFrameTable;
use crate::csts::association::CstsProtocol;
use crate::csts::forward_frame::ForwardFrameProvider;
use crate::csts::pdu::{DataUnitId, Pdu, ProcessData};
use crate::csts::procedure::{ProcedureAction, ProcedureState};
use crate::recording::{ChainKey, QUEUE_PROCESS_DATA, RADIATE_PROCESS_DATA, RECEIVE_PROCESS_DATA};
use crate::service::fcltu::{ProductionEvent, RadiationQueue};
use crate::time::Now;
use chronoscope_record::Class;
use std::sync::Arc;

/// An instance of the Forward Frame service.
pub(super) type FrameServed = ServedInstance<ForwardFrameProvider>;

impl InstanceMachine for ForwardFrameProvider {
    type Protocol = CstsProtocol;
    type Inbound = ProductionEvent;
    type Own = ();
    const RADIATE: &'static Class = &RADIATE_PROCESS_DATA;

    fn unbind_text((): ()) -> String {
        "UNBIND".to_owned()
    }

    /// All versions have the same procedures, without timers that begin with BIND.
    fn bound(&mut self, _version: u32, _now: Now) {
        Self::bound(self);
    }

    fn unbound(&mut self, _now: Now) {
        Self::unbound(self);
    }

    fn inbound(&mut self, event: ProductionEvent, now: Now, out: &mut Vec<ProcedureAction>) {
        self.production(event, now, out);
    }

    fn operation(
        bound: &mut BoundInstance<Self>,
        live: &mut InstanceState<Self>,
        pdu: Pdu,
        now: Now,
        out: &mut Vec<ProcedureAction>,
    ) {
        match (&pdu, bound.key) {
            (Pdu::ProcessData(_) | Pdu::ForwardBuffer(_), Some(key)) => {
                record_frames(&bound.served, live, (pdu, key), now, out);
            }
            (Pdu::Start(start), _) => {
                let session = start.invoke_id;
                live.machine.pdu(pdu, now, out);
                let is_active = live.machine.state() == ProcedureState::Active;
                bound.key = (bound.records && is_active)
                    .then(|| ChainKey::of_frames(&bound.served.id, session));
            }
            _ => live.machine.pdu(pdu, now, out),
        }
    }

    fn progress(&mut self, now: Now, out: &mut Vec<ProcedureAction>) {
        self.production(ProductionEvent::Progress, now, out);
    }

    fn is_suspended(&self) -> bool {
        Self::is_suspended(self)
    }

    fn due(&self) -> Option<u64> {
        Self::due(self)
    }

    fn tick(&mut self, _now: Now, _out: &mut Vec<ProcedureAction>) {
        Self::tick(self);
    }
}

/// Processes frames and records them. Those of a buffer that are not taken are only known by their
/// number.
fn record_frames(
    served: &FrameServed,
    live: &mut InstanceState<ForwardFrameProvider>,
    (pdu, key): (Pdu, ChainKey),
    now: Now,
    out: &mut Vec<ProcedureAction>,
) {
    let units: Vec<DataUnitId> = match &pdu {
        Pdu::ProcessData(ProcessData { data_unit, .. }) => vec![*data_unit],
        Pdu::ForwardBuffer(parts) => parts.iter().map(|part| part.operation.data_unit).collect(),
        _ => Vec::new(),
    };
    let refused = live.machine.counts().refused;
    for unit in &units {
        let receive = RECEIVE_PROCESS_DATA.begin_with(&key.cltu(*unit).correlator());
        // Before it is in the queue: radiation may take it at once.
        let waiting = QUEUE_PROCESS_DATA.start_with(&receive.correlator());
        served.waiting.push(*unit, waiting);
    }
    live.machine.pdu(pdu, now, out);
    if live.machine.counts().refused > refused {
        served.waiting.take_back();
    }
}

impl FrameServed {
    /// An instance of a checked configuration; `None` if its identifier is none.
    pub(super) fn configured(instance: &ForwardFrameTable) -> Option<Self> {
        let config = instance.provided();
        let queue = Arc::new(RadiationQueue::new(&config));
        let machine = ForwardFrameProvider::new(config, Arc::clone(&queue));
        let name = (instance.identifier()?, instance.name.clone());
        Some(Self::new(name, machine, (Some(queue), instance.modem), ()))
    }

    /// Its status in one line.
    pub(super) fn status(&self) -> String {
        let live = self.lock();
        let who = match &live.bound {
            None => "no user bound".to_owned(),
            Some(bound) => format!("{} bound", bound.initiator),
        };
        let (state, counts) = (live.machine.state(), live.machine.counts());
        let (production, waiting, discarded) = live
            .machine
            .queue()
            .look(|radiation| (radiation.status(), radiation.waiting(), radiation.discarded()));
        format!(
            "{} ForwardFrame {state:?}, {who}, production {production:?}, received {}, waiting \
             {waiting}, discarded {discarded}, overrun {}, unfit {}, refused {}",
            self.name, counts.taken, counts.overrun, counts.unfit, counts.refused
        )
    }
}
