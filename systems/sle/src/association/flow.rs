//! Who sends which operation, and which invocation a return belongs to.

use crate::pdu::{CltuTransferDataReturn, Diagnostic, InvokeId, Pdu};

use super::invocations::Operation;

/// What an operation is to an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// BIND, UNBIND, PEER-ABORT: the association's own.
    Session,
    /// A user's invocation, which the provider returns.
    Invocation(InvokeId, Operation),
    /// A provider's return.
    Return(InvokeId, Operation),
    /// A provider's invocation, which nobody returns.
    Unconfirmed,
}

pub(super) fn flow(pdu: &Pdu) -> Flow {
    use Operation as O;
    match pdu {
        Pdu::Bind(_)
        | Pdu::BindReturn(_)
        | Pdu::Unbind(_)
        | Pdu::UnbindReturn
        | Pdu::PeerAbort(_) => Flow::Session,
        Pdu::Start { invoke_id, .. } => Flow::Invocation(*invoke_id, O::Start),
        Pdu::StartReturn { invoke_id, .. } => Flow::Return(*invoke_id, O::Start),
        Pdu::Stop { invoke_id } => Flow::Invocation(*invoke_id, O::Stop),
        Pdu::StopReturn { invoke_id, .. } => Flow::Return(*invoke_id, O::Stop),
        Pdu::ScheduleStatusReport { invoke_id, .. } => {
            Flow::Invocation(*invoke_id, O::ScheduleStatusReport)
        }
        Pdu::ScheduleStatusReportReturn { invoke_id, .. } => {
            Flow::Return(*invoke_id, O::ScheduleStatusReport)
        }
        Pdu::GetParameter { invoke_id, .. } => Flow::Invocation(*invoke_id, O::GetParameter),
        Pdu::GetParameterReturn { invoke_id, .. } => Flow::Return(*invoke_id, O::GetParameter),
        Pdu::CltuTransferData(data) => Flow::Invocation(data.invoke_id, O::TransferData),
        Pdu::CltuTransferBuffer(buffer) => Flow::Invocation(buffer.invoke_id, O::TransferData),
        Pdu::CltuTransferDataReturn(answer) => Flow::Return(answer.invoke_id, O::TransferData),
        Pdu::ThrowEvent(event) => Flow::Invocation(event.invoke_id, O::ThrowEvent),
        Pdu::ThrowEventReturn { invoke_id, .. } => Flow::Return(*invoke_id, O::ThrowEvent),
        Pdu::CltuAsyncNotify(_)
        | Pdu::CltuStatusReport(_)
        | Pdu::TransferBuffer(_)
        | Pdu::ReturnStatusReport(_) => Flow::Unconfirmed,
    }
}

/// What a provider's returns have told last, which a refusal by the association repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    next_cltu: u32,
    buffer_available: u32,
    next_event: u32,
}

impl Told {
    /// Once a return is sent.
    pub(super) fn after(self, pdu: &Pdu) -> Self {
        match pdu {
            Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
                next_cltu,
                buffer_available,
                ..
            }) => Self { next_cltu: *next_cltu, buffer_available: *buffer_available, ..self },
            Pdu::ThrowEventReturn { event_invocation_id, .. } => {
                Self { next_event: *event_invocation_id, ..self }
            }
            _ => self,
        }
    }

    /// The return of an invocation whose id is that of an open one.
    pub(super) fn duplicate(self, id: InvokeId, operation: Operation) -> Pdu {
        let invoke_id = id;
        let diagnostic = Diagnostic::DuplicateInvokeId;
        match operation {
            Operation::Start => Pdu::StartReturn { invoke_id, result: Err(diagnostic) },
            Operation::Stop => Pdu::StopReturn { invoke_id, result: Err(diagnostic) },
            Operation::ScheduleStatusReport => {
                Pdu::ScheduleStatusReportReturn { invoke_id, result: Err(diagnostic) }
            }
            Operation::GetParameter => {
                Pdu::GetParameterReturn { invoke_id, result: Err(diagnostic) }
            }
            Operation::TransferData => Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
                invoke_id,
                next_cltu: self.next_cltu,
                buffer_available: self.buffer_available,
                result: Err(diagnostic),
            }),
            Operation::ThrowEvent => Pdu::ThrowEventReturn {
                invoke_id,
                event_invocation_id: self.next_event,
                result: Err(diagnostic),
            },
        }
    }
}
