//! The specifications' ASN.1 modules as data: names and shapes of fields, so that octets are annotated
//! even where an operation as a whole is not one that the codec accepts.
//!
//! Sources: annex A of CCSDS 911.1 (RAF), 911.2 (RCF), 911.5 (ROCF), 912.1 (FCLTU) and 912.3 (FSP),
//! and 913.1 (credentials). IMPLICIT TAGS: a tag on a CHOICE is explicit all the same.

mod cltu;
mod common;
pub(super) mod fsp;
mod returns;

use super::message::DumpService;
use crate::pdu::{AssociationRole, ServiceType};

/// Shape of a value.
#[derive(Debug)]
pub(super) enum Shape {
    /// SEQUENCE of these members, none of which is optional.
    Sequence(&'static [Member]),
    /// SEQUENCE OF or SET OF this.
    Each(&'static Shape),
    /// CHOICE by context tag.
    Choice(&'static [Alternative]),
    /// CHOICE by context tag in some versions, and the bare shape in others.
    ChoiceOr(&'static [Alternative], &'static Shape),
    /// INTEGER with a unit, which may be empty.
    Integer(&'static str),
    /// INTEGER whose values have names.
    Words(&'static [(i64, &'static str)]),
    /// `parameterName`.
    ParameterName,
    /// Specific diagnostic of the operation that the text names.
    Diagnostic(ServiceType, &'static str),
    /// Diagnostic of PEER-ABORT: any octet, of which those from 128 are the transport's.
    AbortDiagnostic,
    /// OCTET STRING.
    Octets,
    /// OCTET STRING with a time of CCSDS 301.0 (CDS).
    Cds,
    /// OCTET STRING with a value of BER in it.
    Embedded(&'static Shape),
    /// VisibleString.
    Text,
    /// OBJECT IDENTIFIER.
    Oid,
    /// NULL.
    Null,
}

/// Name and shape of a member.
pub(super) type Member = (&'static str, &'static Shape);
/// Tag, name and shape of an alternative.
pub(super) type Alternative = (u32, &'static str, &'static Shape);
/// Name of an operation, and the shape of what is under its tag.
pub(super) type Operation = (&'static str, &'static Shape);

/// The operation of a tag that this side sends; `None` if there is none. Without a service only the
/// operations that all services have.
pub(super) fn operation(
    service: Option<DumpService>,
    version: u16,
    sender: AssociationRole,
    tag: u32,
) -> Option<Operation> {
    common::operation(sender, tag).or_else(|| match service? {
        DumpService::Sle(ServiceType::Fcltu) => cltu::operation(version, sender, tag),
        DumpService::Sle(service) => returns::operation(service, version, sender, tag),
        DumpService::Fsp => fsp::operation(version, sender, tag),
        DumpService::Csts | DumpService::Other(_) => None,
    })
}
