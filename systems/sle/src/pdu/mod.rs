//! Operations of the SLE transfer services, the same in all versions: what state machines work
//! with. How a version puts them into octets is the business of the codec.
//!
//! Names are those of the books: CCSDS 911.1 (RAF), 911.2 (RCF), 911.5 (ROCF), 912.1 (FCLTU).

pub mod forward;
pub mod parameter;
pub mod returned;
mod service;
pub mod session;

use bytes::Bytes;
pub use service::{AssociationRole, CltuId, Diagnostic, EventInvocationId, InvokeId, ServiceType};

pub use forward::{
    BufferNotification, CltuAsyncNotify, CltuLastOk, CltuLastProcessed, CltuNotification,
    CltuProductionStatus, CltuStatus, CltuStatusReport, CltuTransferBuffer, CltuTransferData,
    CltuTransferDataReturn, ThrowEvent, UplinkStatus,
};
pub use parameter::{Parameter, ParameterName, PermittedChannel};
pub use returned::{
    AntennaId, ControlWordType, DeliveryMode, FrameOrNotification, FrameQuality, GvcId, LockStatus,
    LockStatusReport, RequestedFrameQuality, ReturnNotification, ReturnProductionStatus,
    ReturnSelection, ReturnStart, ReturnStatusReport, SyncNotify, TransferData, UpdateMode,
};
pub(crate) use session::diagnostic_octets;
pub use session::{
    BindDiagnostic, BindPdu, BindReturn, PeerAbortDiagnostic, ServiceInstanceId, SiAttribute,
    UnbindReason,
};

use crate::time::Time;

/// An operation with the credentials that it came or goes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Octets of `Credentials.used` (8 to 256 of them), `None` for `unused`. A transfer buffer has
    /// none of its own: those of its parts are in them.
    pub credentials: Option<Bytes>,
    /// The operation.
    pub pdu: Pdu,
}

/// An operation's invocation or return.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named as in the books
pub enum Pdu {
    /// BIND invocation.
    Bind(BindPdu),
    /// BIND return.
    BindReturn(BindReturn),
    /// UNBIND invocation.
    Unbind(UnbindReason),
    /// UNBIND return: there is no negative one.
    UnbindReturn,
    /// PEER-ABORT as an encoded operation. Over ISP1 it is one octet of urgent data instead
    /// (CCSDS 913.1); one that comes encoded is understood, none is sent so.
    PeerAbort(PeerAbortDiagnostic),

    /// START invocation.
    Start { invoke_id: InvokeId, start: StartRequest },
    /// START return.
    StartReturn { invoke_id: InvokeId, result: Result<PositiveStartReturn, Diagnostic> },
    /// STOP invocation.
    Stop { invoke_id: InvokeId },
    /// STOP return.
    StopReturn { invoke_id: InvokeId, result: Result<(), Diagnostic> },
    /// SCHEDULE-STATUS-REPORT invocation.
    ScheduleStatusReport { invoke_id: InvokeId, request: ReportRequest },
    /// SCHEDULE-STATUS-REPORT return.
    ScheduleStatusReportReturn { invoke_id: InvokeId, result: Result<(), Diagnostic> },
    /// GET-PARAMETER invocation.
    GetParameter { invoke_id: InvokeId, name: ParameterName },
    /// GET-PARAMETER return.
    GetParameterReturn { invoke_id: InvokeId, result: Result<Parameter, Diagnostic> },

    /// FCLTU: TRANSFER-DATA invocation.
    CltuTransferData(CltuTransferData),
    /// FCLTU: TRANSFER-DATA return.
    CltuTransferDataReturn(CltuTransferDataReturn),
    /// FCLTU: several CLTUs in one invocation. No book has it: only for measuring, and only
    /// between two that were both told to (CLTU blocking as the prototype of 2011 tried it).
    CltuTransferBuffer(CltuTransferBuffer),
    /// FCLTU: THROW-EVENT invocation.
    ThrowEvent(ThrowEvent),
    /// FCLTU: THROW-EVENT return.
    ThrowEventReturn {
        invoke_id: InvokeId,
        /// The next one expected.
        event_invocation_id: EventInvocationId,
        result: Result<(), Diagnostic>,
    },
    /// FCLTU: ASYNC-NOTIFY invocation.
    CltuAsyncNotify(CltuAsyncNotify),
    /// FCLTU: STATUS-REPORT invocation.
    CltuStatusReport(CltuStatusReport),

    /// RAF, RCF, ROCF: TRANSFER-BUFFER, with TRANSFER-DATA and SYNC-NOTIFY invocations in it.
    TransferBuffer(Vec<FrameOrNotification>),
    /// RAF, RCF, ROCF: STATUS-REPORT invocation.
    ReturnStatusReport(ReturnStatusReport),
}

impl Pdu {
    /// Name of the operation in the specification.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bind(_) => "BIND invocation",
            Self::BindReturn(_) => "BIND return",
            Self::Unbind(_) => "UNBIND invocation",
            Self::UnbindReturn => "UNBIND return",
            Self::PeerAbort(_) => "PEER-ABORT",
            Self::Start { .. } => "START invocation",
            Self::StartReturn { .. } => "START return",
            Self::Stop { .. } => "STOP invocation",
            Self::StopReturn { .. } => "STOP return",
            Self::ScheduleStatusReport { .. } => "SCHEDULE-STATUS-REPORT invocation",
            Self::ScheduleStatusReportReturn { .. } => "SCHEDULE-STATUS-REPORT return",
            Self::GetParameter { .. } => "GET-PARAMETER invocation",
            Self::GetParameterReturn { .. } => "GET-PARAMETER return",
            Self::CltuTransferData(_) => "TRANSFER-DATA invocation",
            Self::CltuTransferDataReturn(_) => "TRANSFER-DATA return",
            Self::CltuTransferBuffer(_) => "TRANSFER-BUFFER invocation of CLTUs",
            Self::ThrowEvent(_) => "THROW-EVENT invocation",
            Self::ThrowEventReturn { .. } => "THROW-EVENT return",
            Self::CltuAsyncNotify(_) => "ASYNC-NOTIFY invocation",
            Self::CltuStatusReport(_) => "STATUS-REPORT invocation of FCLTU",
            Self::TransferBuffer(_) => "TRANSFER-BUFFER",
            Self::ReturnStatusReport(_) => "STATUS-REPORT invocation",
        }
    }
}

/// Parameters of START.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartRequest {
    /// FCLTU: the number of the first CLTU. Version 1 alone may leave it out.
    Cltu {
        /// The first CLTU's number.
        first_cltu: CltuId,
    },
    /// RAF, RCF, ROCF.
    Return(ReturnStart),
}

/// Data of a positive START return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PositiveStartReturn {
    /// FCLTU: from when and until when CLTUs may be radiated.
    Cltu {
        /// Start of the radiation.
        start_radiation: Time,
        /// End of the radiation; `None`: no end.
        stop_radiation: Option<Time>,
    },
    /// RAF, RCF, ROCF: nothing.
    Return,
}

/// Request of SCHEDULE-STATUS-REPORT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportRequest {
    /// One report, now.
    Immediately,
    /// One every so many seconds, in [2, 600], the first now.
    Periodically(u16),
    /// Ends the reports.
    Stop,
}
