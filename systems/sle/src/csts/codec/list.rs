//! Lists of parameters and events, what is wrong with them, and values.
//!
//! Source: module `CCSDS-CSTS-COMMON-TYPES` of CCSDS 921.1-B-2, annex F3.3.

use super::common::{
    WireEmbedded, WireName, WireProcedureName, WireResource, additional, names, oid, visible,
    wire_names, wire_oid,
};
use crate::codec::common::text;
use crate::codec::{DecodeError, EncodeError};
use crate::csts::pdu::{
    EventValue, LabelOrName, ListDiagnostic, ListOf, Oid, QualifiedParameter, QualifiedValue,
};
use rasn::prelude::*;

/// `ListOfParametersEvents`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum WireList {
    #[rasn(tag(context, 0))]
    Empty(()),
    #[rasn(tag(context, 3))]
    ListName(VisibleString),
    #[rasn(tag(context, 5))]
    ResourceType(ObjectIdentifier),
    #[rasn(tag(context, 4))]
    ResourceName(WireResource),
    #[rasn(tag(context, 6))]
    ProcedureType(ObjectIdentifier),
    #[rasn(tag(context, 7))]
    ProcedureName(WireProcedureName),
    #[rasn(tag(context, 2))]
    Labels(Vec<ObjectIdentifier>),
    #[rasn(tag(context, 1))]
    Names(Vec<WireName>),
}

impl WireList {
    pub(super) fn new(list: &ListOf) -> Result<Self, EncodeError> {
        Ok(match list {
            ListOf::Default => Self::Empty(()),
            ListOf::Named(name) => {
                Self::ListName(visible("listName", name, 0, super::outcome::OCTETS_MAX as u64)?)
            }
            ListOf::FunctionalResourceKind(kind) => Self::ResourceType(wire_oid(kind)?),
            ListOf::FunctionalResource(name) => Self::ResourceName(WireResource::new(name)?),
            ListOf::ProcedureType(procedure) => Self::ProcedureType(wire_oid(procedure)?),
            ListOf::Procedure(name) => Self::ProcedureName(WireProcedureName::new(name)?),
            ListOf::Labels(labels) => {
                Self::Labels(labels.iter().map(wire_oid).collect::<Result<_, _>>()?)
            }
            ListOf::Names(names) => Self::Names(wire_names(names)?),
        })
    }

    pub(super) fn take(self) -> Result<ListOf, DecodeError> {
        Ok(match self {
            Self::Empty(()) => ListOf::Default,
            Self::ListName(name) => ListOf::Named(text(name)),
            Self::ResourceType(kind) => ListOf::FunctionalResourceKind(oid(&kind)?),
            Self::ResourceName(name) => ListOf::FunctionalResource(name.take()?),
            Self::ProcedureType(procedure) => ListOf::ProcedureType(oid(&procedure)?),
            Self::ProcedureName(name) => ListOf::Procedure(name.take()?),
            Self::Labels(labels) => ListOf::Labels(oids(&labels)?),
            Self::Names(wire) => ListOf::Names(names(&wire)?),
        })
    }
}

fn oids(wire: &[ObjectIdentifier]) -> Result<Vec<Oid>, DecodeError> {
    wire.iter().map(oid).collect()
}

/// `ListOfParamEventsDiagnostics`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum WireListDiagnostic {
    #[rasn(tag(context, 5))]
    UndefinedDefault(VisibleString),
    #[rasn(tag(context, 4))]
    UnknownListName(VisibleString),
    #[rasn(tag(context, 2))]
    UnknownResourceType(ObjectIdentifier),
    #[rasn(tag(context, 1))]
    UnknownResourceName(WireResource),
    #[rasn(tag(context, 6))]
    UnknownProcedureType(ObjectIdentifier),
    #[rasn(tag(context, 7))]
    UnknownProcedureName(WireProcedureName),
    #[rasn(tag(context, 3))]
    UnknownIdentifiers(Vec<WireLabelOrName>),
}

#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum WireLabelOrName {
    #[rasn(tag(context, 2))]
    Label(ObjectIdentifier),
    #[rasn(tag(context, 1))]
    Name(WireName),
}

impl WireListDiagnostic {
    pub(super) fn new(diagnostic: &ListDiagnostic) -> Result<Self, EncodeError> {
        use ListDiagnostic as D;
        Ok(match diagnostic {
            D::UndefinedDefault(text) => Self::UndefinedDefault(additional(text)?),
            D::UnknownListName(name) => Self::UnknownListName(visible(
                "unknownListName",
                name,
                0,
                super::outcome::OCTETS_MAX as u64,
            )?),
            D::UnknownFunctionalResourceKind(kind) => Self::UnknownResourceType(wire_oid(kind)?),
            D::UnknownFunctionalResource(name) => {
                Self::UnknownResourceName(WireResource::new(name)?)
            }
            D::UnknownProcedureType(procedure) => Self::UnknownProcedureType(wire_oid(procedure)?),
            D::UnknownProcedure(name) => Self::UnknownProcedureName(WireProcedureName::new(name)?),
            D::UnknownIdentifiers(unknown) => {
                let unknown = unknown.iter().map(|unknown| {
                    Ok(match unknown {
                        LabelOrName::Label(label) => WireLabelOrName::Label(wire_oid(label)?),
                        LabelOrName::Name(name) => WireLabelOrName::Name(WireName::new(name)?),
                    })
                });
                Self::UnknownIdentifiers(unknown.collect::<Result<_, EncodeError>>()?)
            }
        })
    }

    pub(super) fn take(self) -> Result<ListDiagnostic, DecodeError> {
        use ListDiagnostic as D;
        Ok(match self {
            Self::UndefinedDefault(said) => D::UndefinedDefault(text(said)),
            Self::UnknownListName(name) => D::UnknownListName(text(name)),
            Self::UnknownResourceType(kind) => D::UnknownFunctionalResourceKind(oid(&kind)?),
            Self::UnknownResourceName(name) => D::UnknownFunctionalResource(name.take()?),
            Self::UnknownProcedureType(procedure) => D::UnknownProcedureType(oid(&procedure)?),
            Self::UnknownProcedureName(name) => D::UnknownProcedure(name.take()?),
            Self::UnknownIdentifiers(unknown) => {
                let unknown = unknown.into_iter().map(|unknown| {
                    Ok(match unknown {
                        WireLabelOrName::Label(label) => LabelOrName::Label(oid(&label)?),
                        WireLabelOrName::Name(name) => LabelOrName::Name(name.take()?),
                    })
                });
                D::UnknownIdentifiers(unknown.collect::<Result<_, DecodeError>>()?)
            }
        })
    }
}

/// `QualifiedValue`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum WireValue {
    #[rasn(tag(context, 0))]
    Valid(WireEmbedded),
    #[rasn(tag(context, 1))]
    Unavailable(()),
    #[rasn(tag(context, 2))]
    Undefined(()),
    #[rasn(tag(context, 3))]
    Error(()),
}

fn wire_values(values: &[QualifiedValue]) -> Result<Vec<WireValue>, EncodeError> {
    let values = values.iter().map(|value| {
        Ok(match value {
            QualifiedValue::Valid(value) => WireValue::Valid(WireEmbedded::new(value)?),
            QualifiedValue::Unavailable => WireValue::Unavailable(()),
            QualifiedValue::Undefined => WireValue::Undefined(()),
            QualifiedValue::Error => WireValue::Error(()),
        })
    });
    values.collect()
}

fn values(wire: Vec<WireValue>) -> Result<Vec<QualifiedValue>, DecodeError> {
    let values = wire.into_iter().map(|value| {
        Ok(match value {
            WireValue::Valid(value) => QualifiedValue::Valid(value.take()?),
            WireValue::Unavailable(()) => QualifiedValue::Unavailable,
            WireValue::Undefined(()) => QualifiedValue::Undefined,
            WireValue::Error(()) => QualifiedValue::Error,
        })
    });
    values.collect()
}

/// `QualifiedParameter`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct WireParameter {
    name: WireName,
    values: Vec<WireValue>,
}

impl WireParameter {
    pub(super) fn new(parameter: &QualifiedParameter) -> Result<Self, EncodeError> {
        let values = wire_values(&parameter.values)?;
        Ok(Self { name: WireName::new(&parameter.name)?, values })
    }

    pub(super) fn take(self) -> Result<QualifiedParameter, DecodeError> {
        Ok(QualifiedParameter { name: self.name.take()?, values: values(self.values)? })
    }
}

/// `EventValue`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum WireEventValue {
    #[rasn(tag(context, 1))]
    Values(Vec<WireValue>),
    #[rasn(tag(context, 2))]
    Empty(()),
    #[rasn(tag(context, 100))]
    Extension(WireEmbedded),
}

impl WireEventValue {
    pub(super) fn new(value: &EventValue) -> Result<Self, EncodeError> {
        Ok(match value {
            EventValue::Values(values) => Self::Values(wire_values(values)?),
            EventValue::Empty => Self::Empty(()),
            EventValue::Other(embedded) => Self::Extension(WireEmbedded::new(embedded)?),
        })
    }

    pub(super) fn take(self) -> Result<EventValue, DecodeError> {
        Ok(match self {
            Self::Values(wire) => EventValue::Values(values(wire)?),
            Self::Empty(()) => EventValue::Empty,
            Self::Extension(embedded) => EventValue::Other(embedded.take()?),
        })
    }
}
