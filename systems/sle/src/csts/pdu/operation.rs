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
    /// The procedure instance to start.
    pub procedure: ProcedureName,
    /// Extension of the procedure.
    pub extension: StartExtension,
}

/// Extension of START by a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartExtension {
    /// No extension.
    NotUsed,
    /// `scdpStartInvocExt`: Sequence-Controlled Data Processing.
    SequenceControlled {
        /// The first data unit's number.
        first_data_unit: DataUnitId,
        /// Further extension by a derived procedure.
        extension: Option<Embedded>,
    },
    /// `nStartInvocExt`: the Notification procedure.
    Notification {
        /// The requested events.
        events: ListOf,
        /// Further extension by a derived procedure.
        extension: Option<Embedded>,
    },
    /// Extension of another procedure.
    Other(Embedded),
}

/// An invocation of STOP or UNBIND, which have nothing of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainInvocation {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The procedure instance.
    pub procedure: ProcedureName,
    /// Extension of a service.
    pub extension: Option<Embedded>,
}

/// A return, or an acknowledgement, with nothing but a result: which procedure it is of its
/// invocation tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainReturn {
    /// Invoke id of the invocation.
    pub invoke_id: InvokeId,
    /// The result, or its diagnostic.
    pub result: Result<(), Diagnostic>,
    /// Extension of a procedure, to a positive or a negative result.
    pub extension: Option<Embedded>,
}

/// A GET invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetPdu {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The instance of Information Query.
    pub procedure: ProcedureName,
    /// The requested parameters.
    pub parameters: ListOf,
    /// Extension of a service.
    pub extension: Option<Embedded>,
}

/// A GET return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetReturn {
    /// Invoke id of the invocation.
    pub invoke_id: InvokeId,
    /// Parameters and their values.
    pub result: Result<Vec<QualifiedParameter>, Diagnostic>,
    /// Extension of a service.
    pub extension: Option<Embedded>,
}

/// An EXECUTE-DIRECTIVE invocation. It is acknowledged, then returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteDirective {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The procedure instance.
    pub procedure: ProcedureName,
    /// Identifier of the directive.
    pub directive: Oid,
    /// Qualifier of the directive.
    pub qualifier: DirectiveQualifier,
    /// Extension of a service.
    pub extension: Option<Embedded>,
}

/// Qualifier of a directive.
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
    /// No value.
    None,
}

/// A NOTIFY invocation, which nobody returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyPdu {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The procedure instance.
    pub procedure: ProcedureName,
    /// When it was.
    pub time: Time,
    /// Name of the event.
    pub event: Name,
    /// Value of the event.
    pub value: EventValue,
    /// Extension of the procedure.
    pub extension: NotifyExtension,
}

/// A TRANSFER-DATA invocation, which nobody returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferData {
    /// Its invoke id.
    pub invoke_id: InvokeId,
    /// The procedure instance.
    pub procedure: ProcedureName,
    /// When the data came to be.
    pub generation_time: Time,
    /// One more each time.
    pub sequence_counter: u32,
    /// The data.
    pub data: AbstractChoice,
    /// Extension of a procedure.
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
