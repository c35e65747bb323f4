//! START, STOP, GET, EXECUTE-DIRECTIVE, NOTIFY and TRANSFER-DATA. Source: CCSDS 921.1-B-2, annex F3.4.

use super::number::{DataUnitId, InvokeId};
use super::{
    AbstractChoice, Diagnostic, Embedded, EventValue, FunctionalResource, ListOf, Name,
    NotifyExtension, Oid, ProcedureName, QualifiedParameter,
};
use crate::time::Time;

/// A START invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartPdu {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// Which procedure instance is to start.
    pub procedure: ProcedureName,
    /// What the procedure adds.
    pub extension: StartExtension,
}

/// What a procedure adds to START.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartExtension {
    /// Nothing.
    NotUsed,
    /// `scdpStartInvocExt`: Sequence-Controlled Data Processing.
    SequenceControlled {
        /// The first data unit's number.
        first_data_unit: DataUnitId,
        /// What another procedure adds to that.
        extension: Option<Embedded>,
    },
    /// `nStartInvocExt`: Notification.
    Notification {
        /// What is to be told.
        events: ListOf,
        /// What another procedure adds to that.
        extension: Option<Embedded>,
    },
    /// Another procedure's.
    Other(Embedded),
}

/// An invocation of STOP or UNBIND, which have nothing of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainInvocation {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// Of which procedure instance it is.
    pub procedure: ProcedureName,
    /// What a service adds.
    pub extension: Option<Embedded>,
}

/// A return, or an acknowledgement, with nothing but a result: which procedure it is of its
/// invocation tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainReturn {
    /// The invocation's.
    pub invoke_id: InvokeId,
    /// Whether done.
    pub result: Result<(), Diagnostic>,
    /// What a procedure adds, to a positive result or to a negative one.
    pub extension: Option<Embedded>,
}

/// A GET invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetPdu {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The instance of Information Query.
    pub procedure: ProcedureName,
    /// Of what.
    pub parameters: ListOf,
    /// What a service adds.
    pub extension: Option<Embedded>,
}

/// A GET return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetReturn {
    /// The invocation's.
    pub invoke_id: InvokeId,
    /// Parameters and their values.
    pub result: Result<Vec<QualifiedParameter>, Diagnostic>,
    /// What a service adds.
    pub extension: Option<Embedded>,
}

/// An EXECUTE-DIRECTIVE invocation. It is acknowledged, then returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteDirective {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// Of which procedure instance it is.
    pub procedure: ProcedureName,
    /// What is to be done.
    pub directive: Oid,
    /// With what.
    pub qualifier: DirectiveQualifier,
    /// What a service adds.
    pub extension: Option<Embedded>,
}

/// What a directive is qualified by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectiveQualifier {
    /// `localProcDirQualifier`: the procedure that the operation is of.
    Local(QualifierValues),
    /// `serviceProcDirQualifier`: another procedure.
    Procedure(ProcedureName, QualifierValues),
    /// `functResourceDirQualifier`: a functional resource.
    FunctionalResource(FunctionalResource, QualifierValues),
    /// A service's own.
    Other(Embedded),
}

/// Values that qualify a directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QualifierValues {
    /// Parameters, with a value each.
    Parameters(Vec<(Oid, Embedded)>),
    /// A value that is no parameter's.
    Parameterless(Embedded),
    /// None.
    None,
}

/// A NOTIFY invocation, which nobody returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyPdu {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// Of which procedure instance it is.
    pub procedure: ProcedureName,
    /// When it was.
    pub time: Time,
    /// What was.
    pub event: Name,
    /// What there is to say about it.
    pub value: EventValue,
    /// What the procedure adds.
    pub extension: NotifyExtension,
}

/// A TRANSFER-DATA invocation, which nobody returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferData {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// Of which procedure instance it is.
    pub procedure: ProcedureName,
    /// When the data came to be.
    pub generation_time: Time,
    /// One more each time.
    pub sequence_counter: u32,
    /// The data.
    pub data: AbstractChoice,
    /// What a procedure adds.
    pub extension: Option<Embedded>,
}

/// A part of a return buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferDataOrNotify {
    /// TRANSFER-DATA invocation.
    TransferData(TransferData),
    /// NOTIFY invocation.
    Notify(NotifyPdu),
}
