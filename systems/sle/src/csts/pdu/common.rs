//! Types that several operations have in them. Source: CCSDS 921.1-B-2, annex F3.3.

use super::Oid;
use bytes::Bytes;

/// A value whose type an object identifier tells (`EMBEDDED PDV`, identified by its syntax).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Embedded {
    /// Which type it is of.
    pub syntax: Oid,
    /// The value's own encoding.
    pub value: Bytes,
}

/// The instance of a procedure that an operation is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProcedureName {
    /// Which procedure.
    pub procedure: Oid,
    /// Which of its instances.
    pub role: ProcedureRole,
}

/// Which instance of a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcedureRole {
    /// The one for which the service is there.
    Prime,
    /// One beside it, by number, from 1.
    Secondary(u32),
    /// The association's.
    AssociationControl,
}

impl ProcedureName {
    /// The prime instance of a procedure.
    #[must_use]
    pub fn prime(procedure: Oid) -> Self {
        Self { procedure, role: ProcedureRole::Prime }
    }

    /// A secondary instance of a procedure, `number` from 1.
    #[must_use]
    pub fn secondary(procedure: Oid, number: u32) -> Self {
        Self { procedure, role: ProcedureRole::Secondary(number) }
    }

    /// That of BIND and UNBIND.
    #[must_use]
    pub fn association_control() -> Self {
        let procedure = super::names::ASSOCIATION_CONTROL;
        Self { procedure, role: ProcedureRole::AssociationControl }
    }
}

/// Octets to be transferred or processed (`AbstractChoice`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbstractChoice {
    /// Octets as they are.
    Opaque(Bytes),
    /// A service's own type.
    Extended(Embedded),
}

/// A functional resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionalResource {
    /// What it is.
    pub kind: Oid,
    /// Which of them, from 1.
    pub instance: u32,
}

/// Whose a parameter, event or directive is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NameOwner {
    /// A functional resource's.
    FunctionalResource(FunctionalResource),
    /// A procedure instance's.
    Procedure(ProcedureName),
}

/// Name of a parameter, an event or a directive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// Whose.
    pub owner: NameOwner,
    /// Which.
    pub id: Oid,
}

/// Parameters or events that are asked for (`ListOfParametersEvents`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// Those of the default list.
    Default,
    /// Those of the list with this name.
    Named(String),
    /// All of this type of functional resource.
    FunctionalResourceKind(Oid),
    /// All of this functional resource.
    FunctionalResource(FunctionalResource),
    /// All of this procedure, whichever the instance.
    ProcedureType(Oid),
    /// All of this procedure instance.
    Procedure(ProcedureName),
    /// Those with these labels.
    Labels(Vec<Oid>),
    /// These.
    Names(Vec<Name>),
}

/// What is wrong with a list that was asked for (`ListOfParamEventsDiagnostics`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListDiagnostic {
    /// There is no default list.
    UndefinedDefault(String),
    /// No list has this name.
    UnknownListName(String),
    /// No such type of functional resource.
    UnknownFunctionalResourceKind(Oid),
    /// No such functional resource.
    UnknownFunctionalResource(FunctionalResource),
    /// No such procedure.
    UnknownProcedureType(Oid),
    /// No such procedure instance.
    UnknownProcedure(ProcedureName),
    /// These are unknown.
    UnknownIdentifiers(Vec<LabelOrName>),
}

/// A parameter or event, with or without whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelOrName {
    /// Without.
    Label(Oid),
    /// With.
    Name(Name),
}

/// A value, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QualifiedValue {
    /// The value, with its type.
    Valid(Embedded),
    /// It is not known.
    Unavailable,
    /// It means nothing now.
    Undefined,
    /// Getting it failed.
    Error,
}

/// A parameter with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualifiedParameter {
    /// Which.
    pub name: Name,
    /// Its values.
    pub values: Vec<QualifiedValue>,
}

/// What an event says beside that it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventValue {
    /// Values.
    Values(Vec<QualifiedValue>),
    /// Nothing.
    Empty,
    /// A service's own type.
    Other(Embedded),
}

/// Whether data are produced, or processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ProductionStatus {
    /// Set up, but not yet.
    Configured = 0,
    /// Yes.
    Operational = 1,
    /// Not now.
    Interrupted = 2,
    /// No: an operator wished so.
    Halted = 3,
}

/// How Buffered Data Processing takes data units (`DataTransferMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DataTransferMode {
    /// Not said.
    Undefined = 0,
    /// The oldest ones are discarded for new ones.
    Timely = 1,
    /// None is discarded: who sends waits.
    Complete = 2,
}
