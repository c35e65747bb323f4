//! Why octets are no operation, or an operation cannot be put into octets.

use crate::pdu::{AssociationRole, ServiceType};

/// Fault in the structure of the octets, independent of their meaning (X.690 §8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BerFault {
    /// The octets end within an identifier, a length or a value.
    Truncated,
    /// A value is longer than what it is in.
    LengthBeyondEnd,
    /// The length's octets are more, or tell more, than a machine has memory for.
    LengthAbsurd,
    /// The length octet `0xFF`, which X.690 reserves.
    LengthReserved,
    /// Indefinite length, but no constructed value.
    IndefinitePrimitive,
    /// End-of-contents octets where no indefinite length is open.
    UnexpectedEndOfContents,
    /// A tag number beyond 32 bits.
    TagAbsurd,
    /// Values in values in values.
    TooDeep,
    /// Octets follow the operation.
    TrailingOctets,
}

/// Why octets are no operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The octets are not BER.
    #[error("not BER at octet {position}: {fault:?}")]
    Structure {
        /// Position of the octet, from 0.
        position: usize,
        /// The fault.
        fault: BerFault,
    },
    /// No operation has this tag, or the sender's role has none of it.
    #[error("tag [{tag}] is not an operation that the {sender:?} of {service:?} sends")]
    UnknownOperation {
        /// Number of the tag.
        tag: u32,
        /// The service of the association.
        service: ServiceType,
        /// Role of the sender.
        sender: AssociationRole,
    },
    /// No operation of the CSTS framework has this tag, or the sender's role has none of it.
    #[error("tag [{tag}] is not an operation that the {sender:?} of a CSTS sends")]
    UnknownFrameworkOperation {
        /// Number of the tag.
        tag: u32,
        /// Role of the sender.
        sender: AssociationRole,
    },
    /// The tag's class is not the context's, so it is of no operation.
    #[error("octet 0x{octet:02x} is not the first octet of an operation")]
    NoOperation {
        /// The first octet.
        octet: u8,
    },
    /// The first operation of an association is none but BIND.
    #[error("tag [{tag}] came before BIND")]
    NotBind {
        /// The tag's number.
        tag: u32,
    },
    /// No service has this version.
    #[error("{service:?} has no version {version}: the versions are 1 to 5")]
    Version {
        /// The service.
        service: ServiceType,
        /// The version.
        version: u16,
    },
    /// An operation that carries no data of a space link and is absurdly long.
    #[error("{operation} has {octets} octets, more than {octets_max}")]
    TooLong {
        /// Its name in the book.
        operation: &'static str,
        /// Length in octets.
        octets: usize,
        /// Maximum length in octets.
        octets_max: usize,
    },
    /// More frames, notifications or CLTUs at once than any transfer buffer holds.
    #[error("{parts} parts in one operation, more than {parts_max}")]
    TooManyParts {
        /// Number of parts.
        parts: usize,
        /// Maximum number of parts.
        parts_max: usize,
    },
    /// The declaration in the book says otherwise.
    #[error("{operation}: {reason}")]
    Content {
        /// Its name in the book.
        operation: &'static str,
        /// Message of the decoder.
        reason: String,
    },
    /// A number, or text, that means nothing there.
    #[error("{field}: {value} is not defined")]
    Value {
        /// The field, as named in the book.
        field: &'static str,
        /// The value.
        value: i64,
    },
}

/// Why an operation cannot be put into octets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The service has no such operation.
    #[error("{service:?} has no {operation}")]
    NotOfService {
        /// Its name in the book.
        operation: &'static str,
        /// The association's service.
        service: ServiceType,
    },
    /// The version has no such thing.
    #[error("{what} is not in version {version} of {service:?}")]
    NotInVersion {
        /// Name in the specification.
        what: &'static str,
        /// The association's service.
        service: ServiceType,
        /// Version of the service.
        version: u16,
    },
    /// No service has this version.
    #[error("{service:?} has no version {version}: the versions are 1 to 5")]
    Version {
        /// The service.
        service: ServiceType,
        /// The version.
        version: u16,
    },
    /// A number outside of what the book allows.
    #[error("{field} is {value}, not in [{min}, {max}]")]
    OutOfRange {
        /// Name of the field in the specification.
        field: &'static str,
        /// The number, or how many octets.
        value: u64,
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
    },
    /// Text with characters that a `VisibleString` cannot have.
    #[error("{field}: `{text}` is not printable ASCII")]
    Text {
        /// Name of the field in the specification.
        field: &'static str,
        /// The text.
        text: String,
    },
    /// The encoder refused.
    #[error("{operation}: {reason}")]
    Content {
        /// Its name in the book.
        operation: &'static str,
        /// Message of the encoder.
        reason: String,
    },
}
