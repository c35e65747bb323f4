//! Classification of the operations: the sender, and the invocation that a return belongs to.

use crate::association::security::{CredentialsParts, SignedOperation};
use crate::csts::pdu::{InvokeId, Pdu, ProcessData, ProcessDataExtension, names};

use super::open::ConfirmedOperation;

/// Kind of a PDU, from the view of its association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PduKind {
    /// BIND, UNBIND, PEER-ABORT: the association's own.
    Session,
    /// A user's invocation, which the provider returns.
    Invocation(InvokeId, ConfirmedOperation),
    /// A user's invocation, which nobody returns: PROCESS-DATA alone (with its id), or a buffer.
    Unreturned(Option<InvokeId>),
    /// A provider's acknowledgement, and whether it is positive: then a return follows.
    Acknowledgement(InvokeId, bool),
    /// A provider's return.
    Return(InvokeId, ConfirmedOperation),
    /// A provider's invocation, which nobody returns.
    Unconfirmed,
}

pub(super) fn flow(pdu: &Pdu) -> PduKind {
    use ConfirmedOperation as O;
    match pdu {
        Pdu::Bind(_)
        | Pdu::BindReturn(_)
        | Pdu::Unbind(_)
        | Pdu::UnbindReturn(_)
        | Pdu::PeerAbort(_) => PduKind::Session,
        Pdu::Start(start) => PduKind::Invocation(start.invoke_id, O::Start),
        Pdu::StartReturn(answer) => PduKind::Return(answer.invoke_id, O::Start),
        Pdu::Stop(stop) => PduKind::Invocation(stop.invoke_id, O::Stop),
        Pdu::StopReturn(answer) => PduKind::Return(answer.invoke_id, O::Stop),
        Pdu::Get(get) => PduKind::Invocation(get.invoke_id, O::Get),
        Pdu::GetReturn(answer) => PduKind::Return(answer.invoke_id, O::Get),
        Pdu::ExecuteDirective(directive) => PduKind::Invocation(directive.invoke_id, O::Directive),
        Pdu::ExecuteDirectiveAcknowledge(answer) => {
            PduKind::Acknowledgement(answer.invoke_id, answer.result.is_ok())
        }
        Pdu::ExecuteDirectiveReturn(answer) => PduKind::Return(answer.invoke_id, O::Acknowledged),
        Pdu::ProcessData(data) if is_returned(data) => {
            PduKind::Invocation(data.invoke_id, O::ProcessData)
        }
        Pdu::ProcessData(data) => PduKind::Unreturned(Some(data.invoke_id)),
        Pdu::ForwardBuffer(_) => PduKind::Unreturned(None),
        Pdu::ProcessDataReturn(answer) => PduKind::Return(answer.invoke_id, O::ProcessData),
        Pdu::Notify(_) | Pdu::TransferData(_) | Pdu::ReturnBuffer(_) => PduKind::Unconfirmed,
    }
}

/// Whether PROCESS-DATA is confirmed: of the procedures of the framework that have it, only
/// Sequence-Controlled Data Processing returns it. One that is derived from it is known by its place
/// below it, or by the extension that it has inherited.
fn is_returned(data: &ProcessData) -> bool {
    matches!(data.extension, ProcessDataExtension::SequenceControlled { .. })
        || data.procedure.procedure.is_within(&names::SEQUENCE_CONTROLLED_DATA_PROCESSING)
}

impl SignedOperation for Pdu {
    fn is_bind(&self) -> bool {
        matches!(self, Self::Bind(_) | Self::BindReturn(_))
    }

    fn is_abort(&self) -> bool {
        matches!(self, Self::PeerAbort(_))
    }

    fn parts(&mut self) -> Option<CredentialsParts<'_>> {
        match self {
            Self::ForwardBuffer(parts) => {
                Some(Box::new(parts.iter_mut().map(|part| &mut part.credentials)))
            }
            Self::ReturnBuffer(parts) => {
                Some(Box::new(parts.iter_mut().map(|part| &mut part.credentials)))
            }
            _ => None,
        }
    }
}
