//! Results of encoding and decoding, and the limit of an operation's length.

use crate::codec::common::Credentials;
use crate::codec::{DecodeError, EncodeError};
use crate::csts::pdu::Pdu;

/// Octets of an operation that carries no data unit, at the most: a GET return with some thousand
/// parameters. What is made of them is some ten times as large.
pub(super) const OCTETS_MAX: usize = 1 << 20;

/// Result of decoding: the credentials and the operation.
pub(super) type DecodedOperation = Result<(Credentials, Pdu), DecodeError>;

/// Whether something was put into octets.
pub(super) type Coded = Result<(), EncodeError>;
