//! Results of returns, and their diagnostics.
//!
//! Source: CCSDS 921.1-B-2, annexes F3.3 (common ones), F3.4 (START, GET, EXECUTE-DIRECTIVE), F3.5
//! (BIND), F3.10 (PROCESS-DATA), F3.13 (START of Notification).

use super::common::{
    Extended, WireEmbedded, WireName, additional, embed, names as take_names, open, texts, visible,
    wire_names,
};
use super::list::WireListDiagnostic;
use crate::codec::common::{Credentials, text};
use crate::codec::{DecodeError, EncodeError};
use crate::csts::pdu::{
    BindDiagnostic, Diagnostic, DirectiveAcknowledgeDiagnostic, DirectiveReturnDiagnostic,
    Embedded, GetDiagnostic, PlainReturn, SequenceControlledDiagnostic, StartDiagnostic, names,
};
use bytes::Bytes;
use rasn::prelude::*;

/// `StandardReturnHeader`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct ReturnHeader {
    pub(super) credentials: Credentials,
    pub(super) invoke_id: u32,
    result: WireResult,
}

#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
enum WireResult {
    #[rasn(tag(explicit(context, 0)))]
    Positive(Extended),
    #[rasn(tag(context, 1))]
    Negative(WireNegative),
}

#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
struct WireNegative {
    diagnostic: WireDiagnostic,
    extension: Extended,
}

/// `Diagnostic`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
enum WireDiagnostic {
    #[rasn(tag(context, 1))]
    InvalidParameterValue(Invalid),
    #[rasn(tag(context, 2))]
    ConflictingValues(Conflicting),
    #[rasn(tag(context, 3))]
    OtherReason(VisibleString),
    #[rasn(tag(context, 4))]
    UnsupportedOption(VisibleString),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
struct Invalid {
    text: VisibleString,
    #[rasn(size("1..=128"))]
    appellation: VisibleString,
}

#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
struct Conflicting {
    text: VisibleString,
    appellations: Vec<VisibleString>,
}

impl ReturnHeader {
    /// Conversion of a result and its extension for the wire.
    pub(super) fn new(
        credentials: Option<&Bytes>,
        invoke_id: u32,
        result: Result<(), &Diagnostic>,
        extension: Option<&Embedded>,
    ) -> Result<Self, EncodeError> {
        let extension = Extended::new(extension)?;
        let result = match result {
            Ok(()) => WireResult::Positive(extension),
            Err(diagnostic) => {
                let diagnostic = WireDiagnostic::new(diagnostic)?;
                WireResult::Negative(WireNegative { diagnostic, extension })
            }
        };
        Ok(Self { credentials: Credentials::new(credentials)?, invoke_id, result })
    }

    /// The result, and what is added to it.
    #[allow(clippy::type_complexity)] // two things of a return, named by whoever takes them
    pub(super) fn take(self) -> Result<(Result<(), Diagnostic>, Option<Embedded>), DecodeError> {
        Ok(match self.result {
            WireResult::Positive(extension) => (Ok(()), extension.take()?),
            WireResult::Negative(negative) => {
                (Err(negative.diagnostic.take()?), negative.extension.take()?)
            }
        })
    }
}

impl WireDiagnostic {
    fn new(diagnostic: &Diagnostic) -> Result<Self, EncodeError> {
        let embedded = match diagnostic {
            Diagnostic::InvalidParameterValue { text, appellation } => {
                let appellation = visible("Appellation", appellation, 1, 128)?;
                let text = additional(text)?;
                return Ok(Self::InvalidParameterValue(Invalid { text, appellation }));
            }
            Diagnostic::ConflictingValues { text, appellations } => {
                let appellations = appellations.iter().map(|it| visible("Appellation", it, 1, 128));
                let appellations = appellations.collect::<Result<_, _>>()?;
                let text = additional(text)?;
                return Ok(Self::ConflictingValues(Conflicting { text, appellations }));
            }
            Diagnostic::OtherReason(text) => return Ok(Self::OtherReason(additional(text)?)),
            Diagnostic::UnsupportedOption(text) => {
                return Ok(Self::UnsupportedOption(additional(text)?));
            }
            Diagnostic::Bind(bind) => embed(names::BIND_DIAGNOSTIC, &WireBind::new(bind)?)?,
            Diagnostic::Start(start) => embed(names::START_DIAGNOSTIC, &WireStart::new(start)?)?,
            Diagnostic::Get(get) => embed(names::GET_DIAGNOSTIC, &ListOrOther::get(get)?)?,
            Diagnostic::DirectiveAcknowledge(acknowledge) => {
                embed(names::DIRECTIVE_ACKNOWLEDGE_DIAGNOSTIC, &WireAcknowledge::new(acknowledge)?)?
            }
            Diagnostic::DirectiveReturn(done) => {
                embed(names::DIRECTIVE_RETURN_DIAGNOSTIC, &WireDirective::new(done)?)?
            }
            Diagnostic::SequenceControlled(refused) => {
                embed(names::SCDP_DIAGNOSTIC, &WireSequence::new(refused)?)?
            }
            Diagnostic::Other(embedded) => embedded.clone(),
        };
        Ok(Self::Extension(WireEmbedded::new(&embedded)?))
    }

    fn take(self) -> Result<Diagnostic, DecodeError> {
        let embedded = match self {
            Self::InvalidParameterValue(Invalid { text: said, appellation }) => {
                let (text, appellation) = (text(said), text(appellation));
                return Ok(Diagnostic::InvalidParameterValue { text, appellation });
            }
            Self::ConflictingValues(Conflicting { text: said, appellations }) => {
                let (text, appellations) = (text(said), texts(appellations));
                return Ok(Diagnostic::ConflictingValues { text, appellations });
            }
            Self::OtherReason(said) => return Ok(Diagnostic::OtherReason(text(said))),
            Self::UnsupportedOption(said) => return Ok(Diagnostic::UnsupportedOption(text(said))),
            Self::Extension(embedded) => embedded.take()?,
        };
        let syntax = &embedded.syntax;
        Ok(if *syntax == names::BIND_DIAGNOSTIC {
            Diagnostic::Bind(open::<WireBind>("acBindDiagExt", &embedded)?.take()?)
        } else if *syntax == names::START_DIAGNOSTIC {
            Diagnostic::Start(open::<WireStart>("startDiagnosticExt", &embedded)?.take()?)
        } else if *syntax == names::GET_DIAGNOSTIC {
            Diagnostic::Get(open::<ListOrOther>("getDiagnosticExt", &embedded)?.take_get()?)
        } else if *syntax == names::DIRECTIVE_ACKNOWLEDGE_DIAGNOSTIC {
            let wire: WireAcknowledge = open("execDirAckDiagExt", &embedded)?;
            Diagnostic::DirectiveAcknowledge(wire.take()?)
        } else if *syntax == names::DIRECTIVE_RETURN_DIAGNOSTIC {
            let wire: WireDirective = open("execDirNegReturnDiagnosticExt", &embedded)?;
            Diagnostic::DirectiveReturn(wire.take()?)
        } else if *syntax == names::SCDP_DIAGNOSTIC {
            let wire: WireSequence = open("scdpProcDataDiagExt", &embedded)?;
            Diagnostic::SequenceControlled(wire.take()?)
        } else {
            Diagnostic::Other(embedded)
        })
    }
}

/// `AssocBindDiagnosticExt`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireBind {
    #[rasn(tag(context, 1))]
    AccessDenied(VisibleString),
    #[rasn(tag(context, 2))]
    ServiceTypeNotSupported(VisibleString),
    #[rasn(tag(context, 3))]
    VersionNotSupported(VisibleString),
    #[rasn(tag(context, 4))]
    NoSuchServiceInstance(VisibleString),
    #[rasn(tag(context, 5))]
    AlreadyBound(VisibleString),
    #[rasn(tag(context, 6))]
    NotAccessible(VisibleString),
    #[rasn(tag(context, 7))]
    InconsistentServiceType(VisibleString),
    #[rasn(tag(context, 8))]
    OutOfService(VisibleString),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

impl WireBind {
    fn new(diagnostic: &BindDiagnostic) -> Result<Self, EncodeError> {
        use BindDiagnostic as D;
        Ok(match diagnostic {
            D::AccessDenied(text) => Self::AccessDenied(additional(text)?),
            D::ServiceTypeNotSupported(text) => Self::ServiceTypeNotSupported(additional(text)?),
            D::VersionNotSupported(text) => Self::VersionNotSupported(additional(text)?),
            D::NoSuchServiceInstance(text) => Self::NoSuchServiceInstance(additional(text)?),
            D::AlreadyBound(text) => Self::AlreadyBound(additional(text)?),
            D::SiNotAccessibleToThisInitiator(text) => Self::NotAccessible(additional(text)?),
            D::InconsistentServiceType(text) => Self::InconsistentServiceType(additional(text)?),
            D::OutOfService(text) => Self::OutOfService(additional(text)?),
            D::Other(embedded) => Self::Extension(WireEmbedded::new(embedded)?),
        })
    }

    fn take(self) -> Result<BindDiagnostic, DecodeError> {
        use BindDiagnostic as D;
        Ok(match self {
            Self::AccessDenied(said) => D::AccessDenied(text(said)),
            Self::ServiceTypeNotSupported(said) => D::ServiceTypeNotSupported(text(said)),
            Self::VersionNotSupported(said) => D::VersionNotSupported(text(said)),
            Self::NoSuchServiceInstance(said) => D::NoSuchServiceInstance(text(said)),
            Self::AlreadyBound(said) => D::AlreadyBound(text(said)),
            Self::NotAccessible(said) => D::SiNotAccessibleToThisInitiator(text(said)),
            Self::InconsistentServiceType(said) => D::InconsistentServiceType(text(said)),
            Self::OutOfService(said) => D::OutOfService(text(said)),
            Self::Extension(embedded) => D::Other(embedded.take()?),
        })
    }
}

/// `StartDiagnosticExt`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireStart {
    #[rasn(tag(context, 0))]
    UnableToComply(VisibleString),
    #[rasn(tag(context, 1))]
    OutOfService(VisibleString),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

impl WireStart {
    fn new(diagnostic: &StartDiagnostic) -> Result<Self, EncodeError> {
        Ok(match diagnostic {
            StartDiagnostic::UnableToComply(text) => Self::UnableToComply(additional(text)?),
            StartDiagnostic::OutOfService(text) => Self::OutOfService(additional(text)?),
            StartDiagnostic::Notification(list) => {
                let list = ListOrOther::Common(WireListDiagnostic::new(list)?);
                let embedded = embed(names::N_START_DIAGNOSTIC, &list)?;
                Self::Extension(WireEmbedded::new(&embedded)?)
            }
            StartDiagnostic::Other(embedded) => Self::Extension(WireEmbedded::new(embedded)?),
        })
    }

    fn take(self) -> Result<StartDiagnostic, DecodeError> {
        let embedded = match self {
            Self::UnableToComply(said) => return Ok(StartDiagnostic::UnableToComply(text(said))),
            Self::OutOfService(said) => return Ok(StartDiagnostic::OutOfService(text(said))),
            Self::Extension(embedded) => embedded.take()?,
        };
        if embedded.syntax == names::N_START_DIAGNOSTIC
            && let ListOrOther::Common(list) = open("nStartDiagExt", &embedded)?
        {
            return Ok(StartDiagnostic::Notification(list.take()?));
        }
        Ok(StartDiagnostic::Other(embedded))
    }
}

/// `GetDiagnosticExt`, and `NotificationStartDiagnosticExt`, which is the same.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum ListOrOther {
    #[rasn(tag(explicit(context, 0)))]
    Common(WireListDiagnostic),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

impl ListOrOther {
    fn get(diagnostic: &GetDiagnostic) -> Result<Self, EncodeError> {
        Ok(match diagnostic {
            GetDiagnostic::List(list) => Self::Common(WireListDiagnostic::new(list)?),
            GetDiagnostic::Other(embedded) => Self::Extension(WireEmbedded::new(embedded)?),
        })
    }

    fn take_get(self) -> Result<GetDiagnostic, DecodeError> {
        Ok(match self {
            Self::Common(list) => GetDiagnostic::List(list.take()?),
            Self::Extension(embedded) => GetDiagnostic::Other(embedded.take()?),
        })
    }
}

/// `ExecDirNegAckDiagnosticExt`. Its sets are written in the order they have, which BER leaves open.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireAcknowledge {
    #[rasn(tag(context, 1))]
    UnknownDirective(()),
    #[rasn(tag(context, 2))]
    UnknownQualifier(()),
    #[rasn(tag(context, 3))]
    InvalidProcedureName(()),
    #[rasn(tag(context, 4))]
    InvalidResourceName(()),
    #[rasn(tag(context, 5))]
    InvalidResourceParameter(Vec<WireName>),
    #[rasn(tag(context, 6))]
    InvalidProcedureParameter(Vec<WireName>),
    #[rasn(tag(context, 7))]
    OutOfRange(Vec<WireName>),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

impl WireAcknowledge {
    fn new(diagnostic: &DirectiveAcknowledgeDiagnostic) -> Result<Self, EncodeError> {
        use DirectiveAcknowledgeDiagnostic as D;
        Ok(match diagnostic {
            D::UnknownDirective => Self::UnknownDirective(()),
            D::UnknownQualifier => Self::UnknownQualifier(()),
            D::InvalidProcedureName => Self::InvalidProcedureName(()),
            D::InvalidFunctionalResourceName => Self::InvalidResourceName(()),
            D::InvalidFunctionalResourceParameter(names) => {
                Self::InvalidResourceParameter(wire_names(names)?)
            }
            D::InvalidProcedureParameter(names) => {
                Self::InvalidProcedureParameter(wire_names(names)?)
            }
            D::ParameterValueOutOfRange(names) => Self::OutOfRange(wire_names(names)?),
            D::Other(embedded) => Self::Extension(WireEmbedded::new(embedded)?),
        })
    }

    fn take(self) -> Result<DirectiveAcknowledgeDiagnostic, DecodeError> {
        use DirectiveAcknowledgeDiagnostic as D;
        Ok(match self {
            Self::UnknownDirective(()) => D::UnknownDirective,
            Self::UnknownQualifier(()) => D::UnknownQualifier,
            Self::InvalidProcedureName(()) => D::InvalidProcedureName,
            Self::InvalidResourceName(()) => D::InvalidFunctionalResourceName,
            Self::InvalidResourceParameter(wire) => {
                D::InvalidFunctionalResourceParameter(take_names(&wire)?)
            }
            Self::InvalidProcedureParameter(wire) => {
                D::InvalidProcedureParameter(take_names(&wire)?)
            }
            Self::OutOfRange(wire) => D::ParameterValueOutOfRange(take_names(&wire)?),
            Self::Extension(embedded) => D::Other(embedded.take()?),
        })
    }
}

/// `ExecDirNegReturnDiagnosticExt`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireDirective {
    #[rasn(tag(explicit(context, 0)))]
    ActionNotCompleted(WireNotCompleted),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

/// `ActionNotCompletedDiag`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireNotCompleted {
    #[rasn(tag(context, 0))]
    Parameters(Vec<WireName>),
    #[rasn(tag(context, 1))]
    NoParameters(()),
}

impl WireDirective {
    fn new(diagnostic: &DirectiveReturnDiagnostic) -> Result<Self, EncodeError> {
        use DirectiveReturnDiagnostic as D;
        Ok(match diagnostic {
            D::ActionNotCompleted(None) => {
                Self::ActionNotCompleted(WireNotCompleted::NoParameters(()))
            }
            D::ActionNotCompleted(Some(names)) => {
                Self::ActionNotCompleted(WireNotCompleted::Parameters(wire_names(names)?))
            }
            D::Other(embedded) => Self::Extension(WireEmbedded::new(embedded)?),
        })
    }

    fn take(self) -> Result<DirectiveReturnDiagnostic, DecodeError> {
        use DirectiveReturnDiagnostic as D;
        Ok(match self {
            Self::ActionNotCompleted(WireNotCompleted::NoParameters(())) => {
                D::ActionNotCompleted(None)
            }
            Self::ActionNotCompleted(WireNotCompleted::Parameters(wire)) => {
                D::ActionNotCompleted(Some(take_names(&wire)?))
            }
            Self::Extension(embedded) => D::Other(embedded.take()?),
        })
    }
}

/// `SequContrDataProcProcDataDiagnosticExt`.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum WireSequence {
    #[rasn(tag(context, 0))]
    UnableToProcess(()),
    #[rasn(tag(context, 1))]
    Locked(()),
    #[rasn(tag(context, 2))]
    OutOfSequence(()),
    #[rasn(tag(context, 3))]
    InconsistentTimeRange(()),
    #[rasn(tag(context, 4))]
    InvalidTime(()),
    #[rasn(tag(context, 5))]
    LateData(()),
    #[rasn(tag(context, 6))]
    DataError(()),
    #[rasn(tag(context, 7))]
    UnableToStore(()),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

impl WireSequence {
    fn new(diagnostic: &SequenceControlledDiagnostic) -> Result<Self, EncodeError> {
        use SequenceControlledDiagnostic as D;
        Ok(match diagnostic {
            D::UnableToProcess => Self::UnableToProcess(()),
            D::ServiceInstanceLocked => Self::Locked(()),
            D::OutOfSequence => Self::OutOfSequence(()),
            D::InconsistentTimeRange => Self::InconsistentTimeRange(()),
            D::InvalidTime => Self::InvalidTime(()),
            D::LateData => Self::LateData(()),
            D::DataError => Self::DataError(()),
            D::UnableToStore => Self::UnableToStore(()),
            D::Other(embedded) => Self::Extension(WireEmbedded::new(embedded)?),
        })
    }

    fn take(self) -> Result<SequenceControlledDiagnostic, DecodeError> {
        use SequenceControlledDiagnostic as D;
        Ok(match self {
            Self::UnableToProcess(()) => D::UnableToProcess,
            Self::Locked(()) => D::ServiceInstanceLocked,
            Self::OutOfSequence(()) => D::OutOfSequence,
            Self::InconsistentTimeRange(()) => D::InconsistentTimeRange,
            Self::InvalidTime(()) => D::InvalidTime,
            Self::LateData(()) => D::LateData,
            Self::DataError(()) => D::DataError,
            Self::UnableToStore(()) => D::UnableToStore,
            Self::Extension(embedded) => D::Other(embedded.take()?),
        })
    }
}

/// A confirmed operation's return that has no more than its header.
pub(super) fn returned(header: ReturnHeader) -> Result<(Credentials, PlainReturn), DecodeError> {
    let (credentials, invoke_id) = (header.credentials.clone(), header.invoke_id);
    let (result, extension) = header.take()?;
    Ok((credentials, PlainReturn { invoke_id, result, extension }))
}
