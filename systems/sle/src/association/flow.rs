//! Classification of the operations: the sender, and the invocation that a return belongs to.

use crate::pdu::{CltuTransferDataReturn, Diagnostic, InvokeId, Pdu};

use super::invocations::ConfirmedOperation;

/// Kind of a PDU, from the view of its association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PduKind {
    /// BIND, UNBIND, PEER-ABORT: the association's own.
    Session,
    /// A user's invocation, which the provider returns.
    Invocation(InvokeId, ConfirmedOperation),
    /// A provider's return.
    Return(InvokeId, ConfirmedOperation),
    /// A provider's invocation, which nobody returns.
    Unconfirmed,
}

pub(super) fn pdu_kind(pdu: &Pdu) -> PduKind {
    use ConfirmedOperation as O;
    match pdu {
        Pdu::Bind(_)
        | Pdu::BindReturn(_)
        | Pdu::Unbind(_)
        | Pdu::UnbindReturn
        | Pdu::PeerAbort(_) => PduKind::Session,
        Pdu::Start { invoke_id, .. } => PduKind::Invocation(*invoke_id, O::Start),
        Pdu::StartReturn { invoke_id, .. } => PduKind::Return(*invoke_id, O::Start),
        Pdu::Stop { invoke_id } => PduKind::Invocation(*invoke_id, O::Stop),
        Pdu::StopReturn { invoke_id, .. } => PduKind::Return(*invoke_id, O::Stop),
        Pdu::ScheduleStatusReport { invoke_id, .. } => {
            PduKind::Invocation(*invoke_id, O::ScheduleStatusReport)
        }
        Pdu::ScheduleStatusReportReturn { invoke_id, .. } => {
            PduKind::Return(*invoke_id, O::ScheduleStatusReport)
        }
        Pdu::GetParameter { invoke_id, .. } => PduKind::Invocation(*invoke_id, O::GetParameter),
        Pdu::GetParameterReturn { invoke_id, .. } => PduKind::Return(*invoke_id, O::GetParameter),
        Pdu::CltuTransferData(data) => PduKind::Invocation(data.invoke_id, O::TransferData),
        Pdu::CltuTransferBuffer(buffer) => PduKind::Invocation(buffer.invoke_id, O::TransferData),
        Pdu::CltuTransferDataReturn(answer) => PduKind::Return(answer.invoke_id, O::TransferData),
        Pdu::ThrowEvent(event) => PduKind::Invocation(event.invoke_id, O::ThrowEvent),
        Pdu::ThrowEventReturn { invoke_id, .. } => PduKind::Return(*invoke_id, O::ThrowEvent),
        Pdu::CltuAsyncNotify(_)
        | Pdu::CltuStatusReport(_)
        | Pdu::TransferBuffer(_)
        | Pdu::ReturnStatusReport(_) => PduKind::Unconfirmed,
    }
}

/// Values of a provider's last returns. A refusal by the association repeats them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LastReturns {
    next_cltu: u32,
    buffer_available: u32,
    next_event: u32,
}

impl LastReturns {
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
    pub(super) fn duplicate(self, id: InvokeId, operation: ConfirmedOperation) -> Pdu {
        let invoke_id = id;
        let diagnostic = Diagnostic::DuplicateInvokeId;
        match operation {
            ConfirmedOperation::Start => Pdu::StartReturn { invoke_id, result: Err(diagnostic) },
            ConfirmedOperation::Stop => Pdu::StopReturn { invoke_id, result: Err(diagnostic) },
            ConfirmedOperation::ScheduleStatusReport => {
                Pdu::ScheduleStatusReportReturn { invoke_id, result: Err(diagnostic) }
            }
            ConfirmedOperation::GetParameter => {
                Pdu::GetParameterReturn { invoke_id, result: Err(diagnostic) }
            }
            ConfirmedOperation::TransferData => {
                Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
                    invoke_id,
                    next_cltu: self.next_cltu,
                    buffer_available: self.buffer_available,
                    result: Err(diagnostic),
                })
            }
            ConfirmedOperation::ThrowEvent => Pdu::ThrowEventReturn {
                invoke_id,
                event_invocation_id: self.next_event,
                result: Err(diagnostic),
            },
        }
    }
}
