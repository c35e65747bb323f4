//! Credentials of one association: which operations need them.
//!
//! What the level does not ask for is not looked at: an initiator that signs more than it has to is
//! understood (one of the implementations in use signs UNBIND at level `bind`).
//!
//! Not here yet: making and checking them. Until then whatever needs them is refused.

use bytes::Bytes;

use crate::pdu::Pdu;
use crate::time::Now;

use super::settings::{Identity, Level, Security};

/// Why an operation's credentials are not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CredentialsError {
    #[error("it has no credentials")]
    Missing,
    #[error("credentials cannot be checked")]
    Unchecked,
}

/// Our side and theirs.
#[derive(Debug)]
pub(super) struct Seal {
    security: Security,
}

impl Seal {
    pub(super) fn new(_own: Identity, _peer: Identity, security: Security, _now: Now) -> Self {
        Self { security }
    }

    /// Whether an operation is to carry credentials.
    fn wanted(&self, pdu: &Pdu) -> bool {
        match self.security.level {
            Level::None => false,
            Level::Bind => matches!(pdu, Pdu::Bind(_) | Pdu::BindReturn(_)),
            // PEER-ABORT has no place for them.
            Level::All => !matches!(pdu, Pdu::PeerAbort(_)),
        }
    }

    /// Credentials for an operation of ours.
    #[allow(clippy::unused_self)]
    pub(super) fn sign(&mut self, _pdu: &mut Pdu, _now: Now) -> Option<Bytes> {
        None
    }

    /// Whether an operation of theirs may be taken.
    pub(super) fn check(
        &mut self,
        pdu: &mut Pdu,
        credentials: Option<&Bytes>,
        _now: Now,
    ) -> Result<(), CredentialsError> {
        match credentials {
            _ if !self.wanted(pdu) => Ok(()),
            None => Err(CredentialsError::Missing),
            Some(_) => Err(CredentialsError::Unchecked),
        }
    }
}
