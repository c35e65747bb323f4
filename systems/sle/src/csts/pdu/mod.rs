//! Operations of the cross support transfer services' framework: what state machines work with. How
//! they are put into octets is the business of the codec.
//!
//! Names are those of CCSDS 921.1-B-2. Extensions (`Extended`, `EMBEDDED PDV`) that Association
//! Control, Data Processing, Buffered and Sequence-Controlled Data Processing, Notification and
//! Information Query define are types of their own; any other is kept as [`Embedded`], octets with
//! the object identifier of their type, so that nothing that came is lost. Each typed extension has
//! room for the one that a procedure derived from it may put into it.

mod common;
mod diagnostic;
pub mod names;
mod number;
mod oid;
mod operation;
mod processing;
mod session;

use bytes::Bytes;
pub use number::{DataUnitId, InvokeId};

pub use common::{
    AbstractChoice, DataTransferMode, Embedded, EventValue, FunctionalResource, LabelOrName,
    ListDiagnostic, ListOf, Name, NameOwner, ProcedureName, ProcedureRole, ProductionStatus,
    QualifiedParameter, QualifiedValue,
};
pub use diagnostic::{
    BindDiagnostic, Diagnostic, DirectiveAcknowledgeDiagnostic, DirectiveReturnDiagnostic,
    GetDiagnostic, SequenceControlledDiagnostic, StartDiagnostic,
};
pub use oid::{Oid, OidError};
pub use operation::{
    DirectiveQualifier, ExecuteDirective, GetPdu, GetReturn, NotifyPdu, PlainInvocation,
    PlainReturn, QualifierValues, StartExtension, StartPdu, TransferData, TransferDataOrNotify,
};
pub use processing::{
    LastOk, LastProcessed, NotifyExtension, ProcessData, ProcessDataExtension, ProcessDataReturn,
    ProcessDataReturnExtension, ProcessingNotification, ProcessingStatus,
};
pub use session::{BindPdu, BindReturn, PeerAbortDiagnostic, ServiceInstanceId};

pub use crate::pdu::AssociationRole;

/// An operation with the credentials that it came or goes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Octets of `Credentials.used` (8 to 256 of them), `None` for `unused`. A forward or return
    /// buffer has none of its own: those of its parts are in them.
    pub credentials: Option<Bytes>,
    /// The operation.
    pub pdu: Pdu,
}

/// A part of a forward or return buffer: an operation with its credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferedOperation<T> {
    /// Credentials, as in [`Message::credentials`]. The association fills them in when it sends.
    pub credentials: Option<Bytes>,
    /// The operation.
    pub operation: T,
}

impl<T> From<T> for BufferedOperation<T> {
    fn from(operation: T) -> Self {
        Self { credentials: None, operation }
    }
}

/// An operation's invocation, acknowledgement or return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pdu {
    /// BIND invocation.
    Bind(BindPdu),
    /// BIND return.
    BindReturn(BindReturn),
    /// UNBIND invocation.
    Unbind(PlainInvocation),
    /// UNBIND return.
    UnbindReturn(PlainReturn),
    /// PEER-ABORT as an encoded operation. Over ISP1 it is one octet of urgent data instead
    /// (CCSDS 913.1); one that comes encoded is understood, none is sent so.
    PeerAbort(PeerAbortDiagnostic),

    /// START invocation.
    Start(StartPdu),
    /// START return.
    StartReturn(PlainReturn),
    /// STOP invocation.
    Stop(PlainInvocation),
    /// STOP return.
    StopReturn(PlainReturn),
    /// EXECUTE-DIRECTIVE invocation.
    ExecuteDirective(ExecuteDirective),
    /// EXECUTE-DIRECTIVE acknowledgement. A negative one is the end of the operation.
    ExecuteDirectiveAcknowledge(PlainReturn),
    /// EXECUTE-DIRECTIVE return.
    ExecuteDirectiveReturn(PlainReturn),
    /// GET invocation.
    Get(GetPdu),
    /// GET return.
    GetReturn(GetReturn),
    /// NOTIFY invocation.
    Notify(NotifyPdu),
    /// PROCESS-DATA invocation.
    ProcessData(ProcessData),
    /// PROCESS-DATA return.
    ProcessDataReturn(ProcessDataReturn),
    /// Several PROCESS-DATA invocations at once: Buffered Data Processing.
    ForwardBuffer(Vec<BufferedOperation<ProcessData>>),
    /// TRANSFER-DATA invocation.
    TransferData(TransferData),
    /// Several TRANSFER-DATA and NOTIFY invocations at once: Buffered Data Delivery.
    ReturnBuffer(Vec<BufferedOperation<TransferDataOrNotify>>),
}

impl Pdu {
    /// Name of the operation in the specification.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bind(_) => "BIND invocation",
            Self::BindReturn(_) => "BIND return",
            Self::Unbind(_) => "UNBIND invocation",
            Self::UnbindReturn(_) => "UNBIND return",
            Self::PeerAbort(_) => "PEER-ABORT",
            Self::Start(_) => "START invocation",
            Self::StartReturn(_) => "START return",
            Self::Stop(_) => "STOP invocation",
            Self::StopReturn(_) => "STOP return",
            Self::ExecuteDirective(_) => "EXECUTE-DIRECTIVE invocation",
            Self::ExecuteDirectiveAcknowledge(_) => "EXECUTE-DIRECTIVE acknowledgement",
            Self::ExecuteDirectiveReturn(_) => "EXECUTE-DIRECTIVE return",
            Self::Get(_) => "GET invocation",
            Self::GetReturn(_) => "GET return",
            Self::Notify(_) => "NOTIFY invocation",
            Self::ProcessData(_) => "PROCESS-DATA invocation",
            Self::ProcessDataReturn(_) => "PROCESS-DATA return",
            Self::ForwardBuffer(_) => "forward buffer",
            Self::TransferData(_) => "TRANSFER-DATA invocation",
            Self::ReturnBuffer(_) => "return buffer",
        }
    }
}
