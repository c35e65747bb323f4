//! Why operations are refused. Source: CCSDS 921.1-B-2, annexes F3.3 to F3.14.

use super::{Embedded, ListDiagnostic, Name};

/// The diagnostic of a negative return or acknowledgement.
///
/// Those that the framework's procedures add (`diagnosticExtension`) are known by their object
/// identifier, and are kept by it where it is another's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are named as in the book
pub enum Diagnostic {
    /// `invalidParameterValue`.
    InvalidParameterValue { text: String, appellation: String },
    /// `conflictingValues`.
    ConflictingValues { text: String, appellations: Vec<String> },
    /// `otherReason`.
    OtherReason(String),
    /// `unsupportedOption`.
    UnsupportedOption(String),
    /// `acBindDiagExt`: BIND's.
    Bind(BindDiagnostic),
    /// `startDiagnosticExt`: START's.
    Start(StartDiagnostic),
    /// `getDiagnosticExt`: GET's.
    Get(GetDiagnostic),
    /// `execDirAckDiagExt`: EXECUTE-DIRECTIVE's, in its acknowledgement.
    DirectiveAcknowledge(DirectiveAcknowledgeDiagnostic),
    /// `execDirNegReturnDiagnosticExt`: EXECUTE-DIRECTIVE's, in its return.
    DirectiveReturn(DirectiveReturnDiagnostic),
    /// `scdpProcDataDiagExt`: PROCESS-DATA's of Sequence-Controlled Data Processing.
    SequenceControlled(SequenceControlledDiagnostic),
    /// A diagnostic of another procedure.
    Other(Embedded),
}

/// Why a BIND was refused, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindDiagnostic {
    /// Access denied.
    AccessDenied(String),
    /// No such service here.
    ServiceTypeNotSupported(String),
    /// The version is not supported.
    VersionNotSupported(String),
    /// No such service instance.
    NoSuchServiceInstance(String),
    /// Another user is bound to the instance.
    AlreadyBound(String),
    /// The instance is not accessible to this initiator.
    SiNotAccessibleToThisInitiator(String),
    /// The instance is of another service.
    InconsistentServiceType(String),
    /// Out of service.
    OutOfService(String),
    /// A service's own.
    Other(Embedded),
}

/// Why a START was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartDiagnostic {
    /// The operation is not possible at present.
    UnableToComply(String),
    /// Out of service.
    OutOfService(String),
    /// `nStartDiagExt`: the list of events that Notification was to tell.
    Notification(ListDiagnostic),
    /// A procedure's own.
    Other(Embedded),
}

/// Why a GET was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GetDiagnostic {
    /// The list of parameters.
    List(ListDiagnostic),
    /// A service's own.
    Other(Embedded),
}

/// Why an EXECUTE-DIRECTIVE was not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectiveAcknowledgeDiagnostic {
    /// No such directive.
    UnknownDirective,
    /// The qualifier is unknown.
    UnknownQualifier,
    /// No such procedure.
    InvalidProcedureName,
    /// No such functional resource.
    InvalidFunctionalResourceName,
    /// A functional resource has not these parameters.
    InvalidFunctionalResourceParameter(Vec<Name>),
    /// A procedure has not these parameters.
    InvalidProcedureParameter(Vec<Name>),
    /// These parameters' values are out of range.
    ParameterValueOutOfRange(Vec<Name>),
    /// A service's own.
    Other(Embedded),
}

/// Why an EXECUTE-DIRECTIVE that was begun is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectiveReturnDiagnostic {
    /// The action was not completed because of these parameters; `None`: for another reason.
    ActionNotCompleted(Option<Vec<Name>>),
    /// A procedure's own.
    Other(Embedded),
}

/// Why Sequence-Controlled Data Processing refused a data unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SequenceControlledDiagnostic {
    /// Production is interrupted or halted.
    UnableToProcess,
    /// The procedure is locked.
    ServiceInstanceLocked,
    /// The data unit's number is not the next one.
    OutOfSequence,
    /// The latest time is before the earliest.
    InconsistentTimeRange,
    /// A time too far away.
    InvalidTime,
    /// The latest time is over.
    LateData,
    /// The data are not as they should be.
    DataError,
    /// The input queue is full.
    UnableToStore,
    /// A service's own.
    Other(Embedded),
}
