//! Encoding and decoding of operations: BER (X.690) of the specifications' ASN.1 modules, for each
//! service and version.
//!
//! The ASN.1 types are declared with `rasn`, beside conversions into [`crate::pdu`]. Three frequent
//! operations have a fast path, which declines unusual forms to the declarations. The decoder accepts
//! all legal BER: indefinite and non-minimal lengths, constructed strings. The encoder writes
//! definite lengths in their shortest form.
//!
//! Received octets are scanned once before they are decoded. The scan limits the nesting and reports
//! the position of a fault.
//!
//! If a value out of the specified range has a diagnostic (the reporting cycle) or occurs in practice
//! (the longest CLTU), it is decoded, and the service decides.

mod cltu;
mod cltu_parameter;
pub(crate) mod common;
pub(crate) mod direct;
mod error;
mod returns;
pub(crate) mod scan;
mod session;

use crate::pdu::{AssociationRole, BindPdu, Message, Pdu, ServiceType};
use bytes::Bytes;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use error::{BerFault, DecodeError, EncodeError};

/// Values directly in an operation, at the most: parts of a transfer buffer, whose size is an
/// `IntPosShort` in all books. What is made of a few octets each is some hundred octets.
pub(crate) const PARTS_MAX: usize = 65_535;

/// Encodes and decodes the operations of one service in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// The service.
    pub service: ServiceType,
    /// Its version, in [1, 5].
    pub version: u16,
}

/// Whether the fast path is switched off.
static DECLARED_ALONE: AtomicBool = AtomicBool::new(false);

/// Switches the fast path off (`true`) or on again (`false`) for all operations of this process.
/// With the fast path off, all are encoded and decoded by their ASN.1 declarations. The results are
/// the same; the switch is for measurements of the saving in whole programs.
pub fn use_declarations_alone(alone: bool) {
    DECLARED_ALONE.store(alone, Relaxed);
}

impl Codec {
    /// One operation: all of `octets`, which `sender` has sent. Data of the space link in it is a
    /// slice of `octets` where the operation came in its usual form, else a copy.
    ///
    /// # Errors
    /// [`DecodeError`]: the octets are no BER, no operation of this sender, or not as declared.
    pub fn decode(self, sender: AssociationRole, octets: &Bytes) -> Result<Message, DecodeError> {
        if !(1..=5).contains(&self.version) {
            return Err(DecodeError::Version { service: self.service, version: self.version });
        }
        let short =
            if DECLARED_ALONE.load(Relaxed) { None } else { direct::decode(self, sender, octets) };
        match short {
            Some(message) => Ok(message),
            None => self.decode_declared(sender, octets),
        }
    }

    /// As [`Self::decode`], by the ASN.1 declarations alone: to measure what is saved without them.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decode_declared(
        self,
        sender: AssociationRole,
        octets: &Bytes,
    ) -> Result<Message, DecodeError> {
        let tag = operation_tag(octets)?;
        if let Some(message) = session::decode(tag, sender, octets)? {
            return Ok(message);
        }
        match self.service {
            ServiceType::Fcltu => cltu::decode(self, tag, sender, octets),
            ServiceType::Raf | ServiceType::Rcf | ServiceType::Rocf => {
                returns::decode(self, tag, sender, octets)
            }
        }
    }

    /// Appends the operation to `out`; on an error `out` is as it was.
    ///
    /// # Errors
    /// [`EncodeError`]: the service or version has no such operation, or a value in it is outside
    /// of what the book allows.
    pub fn encode(self, message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if !(1..=5).contains(&self.version) {
            return Err(EncodeError::Version { service: self.service, version: self.version });
        }
        if !DECLARED_ALONE.load(Relaxed) && direct::encode(self, message, out) {
            return Ok(());
        }
        self.encode_declared(message, out)
    }

    /// As [`Self::encode`], by the ASN.1 declarations alone: to measure what is saved without them.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_declared(self, message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if session::encode(message, out)? {
            return Ok(());
        }
        match self.service {
            ServiceType::Fcltu => cltu::encode(self, message, out),
            ServiceType::Raf | ServiceType::Rcf | ServiceType::Rocf => {
                returns::encode(self, message, out)
            }
        }
    }

    /// The error for an operation that the service does not have.
    fn not_of_service(self, pdu: &Pdu) -> EncodeError {
        EncodeError::NotOfService { operation: pdu.name(), service: self.service }
    }

    /// The tag is none of this service's.
    fn unknown(self, tag: u32, sender: AssociationRole) -> DecodeError {
        DecodeError::UnknownOperation { tag, service: self.service, sender }
    }
}

/// The BIND invocation with which an association begins, before the service is known: credentials
/// and invocation.
///
/// # Errors
/// [`DecodeError`]: anything else.
pub fn decode_bind(octets: &Bytes) -> Result<(Option<Bytes>, BindPdu), DecodeError> {
    let tag = operation_tag(octets)?;
    match session::decode(tag, AssociationRole::User, octets)? {
        Some(Message { credentials, pdu: Pdu::Bind(bind) }) => Ok((credentials, bind)),
        _ => Err(DecodeError::NotBind { tag }),
    }
}

/// Number of the tag that says which operation it is.
pub(crate) fn operation_tag(octets: &[u8]) -> Result<u32, DecodeError> {
    const CONTEXT: u8 = 2;
    let scan::ScannedPdu { identifier, parts } = scan::scan(octets)?;
    if identifier.class != CONTEXT {
        return Err(DecodeError::NoOperation { octet: octets[0] });
    }
    if parts > PARTS_MAX {
        return Err(DecodeError::TooManyParts { parts, parts_max: PARTS_MAX });
    }
    Ok(identifier.number)
}
