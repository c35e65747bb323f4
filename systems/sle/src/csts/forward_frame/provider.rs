//! The provider's side of a service instance: which procedure instance an operation is for.

use super::config::{ForwardFrameConfig, ProcedureConfig};
use super::names::{buffered, information_query, sequence_controlled};
use super::parameter;
use crate::csts::pdu::{GetPdu, GetReturn, Pdu, PeerAbortDiagnostic, ProcedureName, ProcessData};
use crate::csts::procedure::{
    BufferedConfig, BufferedProvider, DataUnitCounts, DataUnitLengths, ProcedureAction,
    ProcedureState, SequencedProvider, status_of,
};
use crate::service::fcltu::{ProductionEvent, Radiation, RadiationQueue};
use crate::time::Now;
use std::sync::Arc;

#[derive(Debug)]
enum Prime {
    Buffered(BufferedProvider),
    Sequenced(SequencedProvider),
}

/// The provider's side of one service instance, through all the associations that it has.
#[derive(Debug)]
pub struct ForwardFrameProvider {
    config: ForwardFrameConfig,
    name: ProcedureName,
    query: ProcedureName,
    prime: Prime,
    queue: Arc<RadiationQueue>,
}

impl ForwardFrameProvider {
    /// A provider without a bound user. The queue must have been made with the same configuration.
    #[must_use]
    pub fn new(config: ForwardFrameConfig, queue: Arc<RadiationQueue>) -> Self {
        let frames = DataUnitLengths { octets: config.frame_octets.clone() };
        let of_prime = Arc::clone(&queue);
        let (name, prime) = match config.procedure {
            ProcedureConfig::Buffered { mode, forward_buffer_max, latency_limit_ms } => {
                let of_procedure = BufferedConfig {
                    mode,
                    forward_buffer_max,
                    latency_limit_ms,
                    discard_after_abort: config.discard_after_abort,
                    frames,
                };
                let provider = BufferedProvider::new(buffered(), of_procedure, of_prime);
                (buffered(), Prime::Buffered(provider))
            }
            ProcedureConfig::SequenceControlled => {
                let discards = config.discard_after_abort;
                let name = sequence_controlled();
                let provider = SequencedProvider::new(name.clone(), frames, discards, of_prime);
                (name, Prime::Sequenced(provider))
            }
        };
        Self { config, name, query: information_query(), prime, queue }
    }

    /// The state of its prime procedure.
    #[must_use]
    pub fn state(&self) -> ProcedureState {
        match &self.prime {
            Prime::Buffered(provider) => provider.state(),
            Prime::Sequenced(provider) => provider.state(),
        }
    }

    /// Counters of data units, since the provider was made.
    #[must_use]
    pub fn counts(&self) -> DataUnitCounts {
        match &self.prime {
            Prime::Buffered(provider) => provider.counts(),
            Prime::Sequenced(provider) => provider.counts(),
        }
    }

    /// Queue of data units.
    #[must_use]
    pub fn queue(&self) -> &Arc<RadiationQueue> {
        &self.queue
    }

    /// Whether nothing more is to be read from the user, because the queue is full.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        match &self.prime {
            Prime::Buffered(provider) => provider.is_suspended(),
            Prime::Sequenced(_) => false,
        }
    }

    /// A user has bound.
    pub fn bound(&mut self) {
        match &mut self.prime {
            Prime::Buffered(provider) => provider.bound(),
            Prime::Sequenced(provider) => provider.bound(),
        }
    }

    /// The association is over.
    pub fn unbound(&mut self) {
        match &mut self.prime {
            Prime::Buffered(provider) => provider.unbound(),
            Prime::Sequenced(provider) => provider.unbound(),
        }
    }

    /// An operation has come.
    pub fn pdu(&mut self, pdu: Pdu, now: Now, out: &mut Vec<ProcedureAction>) {
        if self.state() == ProcedureState::Unbound {
            return;
        }
        let procedure = match &pdu {
            // The parts of a buffer are looked at by the procedure.
            Pdu::ForwardBuffer(_) => None,
            Pdu::ProcessData(ProcessData { procedure, .. }) => Some(procedure),
            Pdu::Start(start) => Some(&start.procedure),
            Pdu::Stop(stop) => Some(&stop.procedure),
            Pdu::ExecuteDirective(directive) => Some(&directive.procedure),
            Pdu::Get(get) if get.procedure == self.query => {
                return self.get(get, out);
            }
            Pdu::Get(get) => Some(&get.procedure),
            // UNBIND's return is the association's; PEER-ABORT's end is told by it.
            Pdu::Unbind(_) | Pdu::PeerAbort(_) => return,
            _ => return self.abort(PeerAbortDiagnostic::ProtocolError, out),
        };
        if procedure.is_some_and(|procedure| *procedure != self.name) {
            return self.abort(PeerAbortDiagnostic::InvalidProcedureName, out);
        }
        match &mut self.prime {
            Prime::Buffered(provider) => provider.pdu(pdu, now, out),
            Prime::Sequenced(provider) => provider.pdu(pdu, now, out),
        }
    }

    fn get(&self, get: &GetPdu, out: &mut Vec<ProcedureAction>) {
        let status = status_of(self.queue.look(Radiation::status));
        let expected = match &self.prime {
            Prime::Buffered(_) => None,
            Prime::Sequenced(provider) => Some(provider.expected()),
        };
        let result = parameter::get(&get.parameters, &self.name, &self.config, expected, status);
        let invoke_id = get.invoke_id;
        out.push(ProcedureAction::Send(Pdu::GetReturn(GetReturn {
            invoke_id,
            result,
            extension: None,
        })));
    }

    fn abort(&mut self, why: PeerAbortDiagnostic, out: &mut Vec<ProcedureAction>) {
        self.unbound();
        out.push(ProcedureAction::Abort(why));
    }

    /// Handles a change of production, or progress of radiation.
    pub fn production(&mut self, event: ProductionEvent, now: Now, out: &mut Vec<ProcedureAction>) {
        match &mut self.prime {
            Prime::Buffered(provider) => provider.production(event, now, out),
            Prime::Sequenced(provider) => provider.production(event, now, out),
        }
    }

    /// When [`Self::tick`] is next needed, of the monotonic clock in ns.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        match &self.prime {
            Prime::Buffered(provider) => provider.due(),
            Prime::Sequenced(provider) => provider.due(),
        }
    }

    /// Does what is due.
    pub fn tick(&mut self) {
        match &mut self.prime {
            Prime::Buffered(provider) => provider.tick(),
            Prime::Sequenced(provider) => provider.tick(),
        }
    }
}
