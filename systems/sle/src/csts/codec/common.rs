//! ASN.1 types that several operations have in them.
//!
//! Source: module `CCSDS-CSTS-COMMON-TYPES` of CCSDS 921.1-B-2, annex F3.3. IMPLICIT TAGS: a tag on a
//! CHOICE is explicit all the same (X.680 §31.2.7). `EMBEDDED PDV` is X.680 §36.5's: the book
//! identifies it by `syntax`, and no other identification is taken.

use crate::codec::common::{Credentials, in_range, text};
use crate::codec::scan::scan;
use crate::codec::{DecodeError, EncodeError};
use crate::csts::pdu::{
    AbstractChoice, Embedded, FunctionalResource, Name, NameOwner, Oid, ProcedureName,
    ProcedureRole,
};
use rasn::prelude::*;
use rasn::types::OctetString;

/// Text for the wire, `min` to `max` characters.
pub(super) fn visible(
    field: &'static str,
    text: &str,
    min: u64,
    max: u64,
) -> Result<VisibleString, EncodeError> {
    in_range(field, text.len(), min, max)?;
    VisibleString::from_iso646_bytes(text.as_bytes())
        .map_err(|_| EncodeError::Text { field, text: text.to_owned() })
}

/// `AdditionalText`: any length that an operation has.
pub(super) fn additional(text: &str) -> Result<VisibleString, EncodeError> {
    visible("AdditionalText", text, 0, super::outcome::OCTETS_MAX as u64)
}

/// `IdentifierString`: no blanks.
pub(super) fn identifier(
    field: &'static str,
    text: &str,
    min: u64,
    max: u64,
) -> Result<VisibleString, EncodeError> {
    if text.contains(' ') {
        return Err(EncodeError::Text { field, text: text.to_owned() });
    }
    visible(field, text, min, max)
}

/// Object identifier for the wire.
pub(super) fn wire_oid(oid: &Oid) -> Result<ObjectIdentifier, EncodeError> {
    let arcs = oid.arcs().ok_or_else(|| EncodeError::Content {
        operation: "OBJECT IDENTIFIER",
        reason: format!("{oid} has an arc beyond 32 bits"),
    })?;
    Ok(ObjectIdentifier::new_unchecked(arcs.into()))
}

/// Object identifier from the wire.
pub(super) fn oid(wire: &ObjectIdentifier) -> Result<Oid, DecodeError> {
    Oid::from_arcs(wire.as_ref()).map_err(|error| DecodeError::Content {
        operation: "OBJECT IDENTIFIER",
        reason: error.to_string(),
    })
}

/// `Embedded`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq, Hash)]
#[rasn(tag(universal, 11))]
pub(super) struct WireEmbedded {
    #[rasn(tag(explicit(context, 0)))]
    identification: Identification,
    #[rasn(tag(context, 2))]
    value: OctetString,
}

#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq, Hash)]
#[rasn(choice)]
enum Identification {
    #[rasn(tag(context, 1))]
    Syntax(ObjectIdentifier),
}

impl WireEmbedded {
    pub(super) fn new(embedded: &Embedded) -> Result<Self, EncodeError> {
        let identification = Identification::Syntax(wire_oid(&embedded.syntax)?);
        Ok(Self { identification, value: embedded.value.clone().into() })
    }

    pub(super) fn take(self) -> Result<Embedded, DecodeError> {
        let Identification::Syntax(syntax) = &self.identification;
        Ok(Embedded { syntax: oid(syntax)?, value: self.value.into() })
    }
}

/// A declared type as the value of an `Embedded`.
pub(super) fn embed<T: Encode>(syntax: Oid, value: &T) -> Result<Embedded, EncodeError> {
    let value = rasn::der::encode(value).map_err(|error| EncodeError::Content {
        operation: "an extension",
        reason: error.to_string(),
    })?;
    Ok(Embedded { syntax, value: value.into() })
}

/// The value of an `Embedded` that is of a declared type, which the book calls `what`.
pub(super) fn open<T: Decode>(what: &'static str, embedded: &Embedded) -> Result<T, DecodeError> {
    let refused = |reason| DecodeError::Content { operation: what, reason };
    // Its structure is walked over first, as an operation's is: depth is bounded.
    scan(&embedded.value).map_err(|error| refused(error.to_string()))?;
    rasn::ber::decode(&embedded.value).map_err(|error| refused(error.kind.to_string()))
}

/// `Extended`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum Extended {
    #[rasn(tag(context, 0))]
    External(WireEmbedded),
    #[rasn(tag(context, 1))]
    NotUsed(()),
}

impl Extended {
    pub(super) fn new(extension: Option<&Embedded>) -> Result<Self, EncodeError> {
        Ok(match extension {
            None => Self::NotUsed(()),
            Some(embedded) => Self::External(WireEmbedded::new(embedded)?),
        })
    }

    pub(super) fn take(self) -> Result<Option<Embedded>, DecodeError> {
        match self {
            Self::NotUsed(()) => Ok(None),
            Self::External(embedded) => embedded.take().map(Some),
        }
    }
}

/// `ProcedureName`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct WireProcedureName {
    procedure: ObjectIdentifier,
    role: WireRole,
}

#[derive(AsnType, Decode, Encode, Clone, Copy, Debug, PartialEq, Eq)]
#[rasn(choice)]
enum WireRole {
    #[rasn(tag(context, 1))]
    Prime(()),
    #[rasn(tag(context, 2), value("1..=4294967295"))]
    Secondary(u32),
    #[rasn(tag(context, 3))]
    AssociationControl(()),
}

impl WireProcedureName {
    pub(super) fn new(name: &ProcedureName) -> Result<Self, EncodeError> {
        let role = match name.role {
            ProcedureRole::Prime => WireRole::Prime(()),
            ProcedureRole::Secondary(number) => {
                in_range("secondaryProcedure", number, 1, u32::MAX.into())?;
                WireRole::Secondary(number)
            }
            ProcedureRole::AssociationControl => WireRole::AssociationControl(()),
        };
        Ok(Self { procedure: wire_oid(&name.procedure)?, role })
    }

    pub(super) fn take(&self) -> Result<ProcedureName, DecodeError> {
        let role = match self.role {
            WireRole::Prime(()) => ProcedureRole::Prime,
            WireRole::Secondary(number) => ProcedureRole::Secondary(number),
            WireRole::AssociationControl(()) => ProcedureRole::AssociationControl,
        };
        Ok(ProcedureName { procedure: oid(&self.procedure)?, role })
    }
}

/// `StandardInvocationHeader`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct InvocationHeader {
    pub(super) credentials: Credentials,
    pub(super) invoke_id: u32,
    pub(super) procedure: WireProcedureName,
}

impl InvocationHeader {
    pub(super) fn new(
        credentials: Option<&bytes::Bytes>,
        invoke_id: u32,
        procedure: &ProcedureName,
    ) -> Result<Self, EncodeError> {
        let procedure = WireProcedureName::new(procedure)?;
        Ok(Self { credentials: Credentials::new(credentials)?, invoke_id, procedure })
    }
}

/// `FunctionalResourceName`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct WireResource {
    kind: ObjectIdentifier,
    #[rasn(value("1..=4294967295"))]
    instance: u32,
}

impl WireResource {
    pub(super) fn new(resource: &FunctionalResource) -> Result<Self, EncodeError> {
        in_range("functionalResourceInstanceNumber", resource.instance, 1, u32::MAX.into())?;
        Ok(Self { kind: wire_oid(&resource.kind)?, instance: resource.instance })
    }

    pub(super) fn take(&self) -> Result<FunctionalResource, DecodeError> {
        Ok(FunctionalResource { kind: oid(&self.kind)?, instance: self.instance })
    }
}

/// `Name`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
pub(super) struct WireName {
    owner: WireOwner,
    id: ObjectIdentifier,
}

/// `FRorProcedureName`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
enum WireOwner {
    #[rasn(tag(context, 0))]
    FunctionalResource(WireResource),
    #[rasn(tag(context, 1))]
    Procedure(WireProcedureName),
}

impl WireName {
    pub(super) fn new(name: &Name) -> Result<Self, EncodeError> {
        let owner = match &name.owner {
            NameOwner::FunctionalResource(resource) => {
                WireOwner::FunctionalResource(WireResource::new(resource)?)
            }
            NameOwner::Procedure(procedure) => {
                WireOwner::Procedure(WireProcedureName::new(procedure)?)
            }
        };
        Ok(Self { owner, id: wire_oid(&name.id)? })
    }

    pub(super) fn take(&self) -> Result<Name, DecodeError> {
        let owner = match &self.owner {
            WireOwner::FunctionalResource(resource) => {
                NameOwner::FunctionalResource(resource.take()?)
            }
            WireOwner::Procedure(procedure) => NameOwner::Procedure(procedure.take()?),
        };
        Ok(Name { owner, id: oid(&self.id)? })
    }
}

/// Names for the wire.
pub(super) fn wire_names(names: &[Name]) -> Result<Vec<WireName>, EncodeError> {
    names.iter().map(WireName::new).collect()
}

/// Names from the wire.
pub(super) fn names(wire: &[WireName]) -> Result<Vec<Name>, DecodeError> {
    wire.iter().map(WireName::take).collect()
}

/// `AbstractChoice`.
#[derive(AsnType, Decode, Encode, Clone, Debug, PartialEq, Eq)]
#[rasn(choice)]
pub(super) enum WireData {
    #[rasn(tag(context, 0))]
    Opaque(OctetString),
    #[rasn(tag(context, 1))]
    Extended(WireEmbedded),
}

impl WireData {
    pub(super) fn new(data: &AbstractChoice) -> Result<Self, EncodeError> {
        Ok(match data {
            AbstractChoice::Opaque(octets) => Self::Opaque(octets.clone().into()),
            AbstractChoice::Extended(embedded) => Self::Extended(WireEmbedded::new(embedded)?),
        })
    }

    pub(super) fn take(self) -> Result<AbstractChoice, DecodeError> {
        Ok(match self {
            Self::Opaque(octets) => AbstractChoice::Opaque(octets.into()),
            Self::Extended(embedded) => AbstractChoice::Extended(embedded.take()?),
        })
    }
}

/// Strings from the wire.
pub(super) fn texts(wire: Vec<VisibleString>) -> Vec<String> {
    wire.into_iter().map(text).collect()
}
