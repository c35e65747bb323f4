//! Types that several operations have in them. Source: CCSDS 921.1-B-2, annex F3.3.

use super::Oid;
use bytes::Bytes;

/// A value whose type an object identifier tells (`EMBEDDED PDV`, identified by its syntax).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Embedded {
    /// Identifier of the type.
    pub syntax: Oid,
    /// The value's own encoding.
    pub value: Bytes,
}

/// The instance of a procedure that an operation is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProcedureName {
    /// Identifier of the procedure.
    pub procedure: Oid,
    /// The instance of the procedure.
    pub role: ProcedureRole,
}

/// Instance of a procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcedureRole {
    /// The one for which the service is there.
    Prime,
    /// One beside it, by number, from 1.
    Secondary(u32),
    /// Association Control.
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

    /// The name of Association Control, for BIND and UNBIND.
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
    /// Type of the functional resource.
    pub kind: Oid,
    /// Instance number, from 1.
    pub instance: u32,
}

/// Owner of a parameter, event or directive.
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
    /// Its owner.
    pub owner: NameOwner,
    /// Identifier of the parameter, event or directive.
    pub id: Oid,
}

/// Parameters or events that are asked for (`ListOfParametersEvents`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// Those of the default list.
    Default,
    /// Those of the list with this name.
    Named(String),
    /// All names of this type of functional resource.
    FunctionalResourceKind(Oid),
    /// All names of this functional resource.
    FunctionalResource(FunctionalResource),
    /// All names of this procedure, for every instance.
    ProcedureType(Oid),
    /// All names of this procedure instance.
    Procedure(ProcedureName),
    /// Those with these labels.
    Labels(Vec<Oid>),
    /// The names in this list.
    Names(Vec<Name>),
}

/// Fault of a requested list (`ListOfParamEventsDiagnostics`).
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
    /// The label only.
    Label(Oid),
    /// The label with its owner.
    Name(Name),
}

/// A value, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QualifiedValue {
    /// The value, with its type.
    Valid(Embedded),
    /// The value is not available.
    Unavailable,
    /// The value is undefined at present.
    Undefined,
    /// Getting it failed.
    Error,
}

/// A parameter with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualifiedParameter {
    /// Its name.
    pub name: Name,
    /// Its values.
    pub values: Vec<QualifiedValue>,
}

/// Value of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventValue {
    /// Values, in the order of the event's definition.
    Values(Vec<QualifiedValue>),
    /// No value.
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
    /// Data are produced or processed.
    Operational = 1,
    /// Production is interrupted.
    Interrupted = 2,
    /// No: an operator wished so.
    Halted = 3,
}

/// Data transfer mode of Buffered Data Processing (`DataTransferMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DataTransferMode {
    /// Not specified.
    Undefined = 0,
    /// The oldest ones are discarded for new ones.
    Timely = 1,
    /// No data unit is discarded: the sender waits.
    Complete = 2,
}
