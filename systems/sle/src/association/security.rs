//! Credentials of one association: which operations need them, making ours, checking the peer's.
//!
//! Credentials that the level does not require are not checked, so that an initiator may sign more
//! operations than required (one implementation signs UNBIND at level `bind`).

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::auth::{AuthError, Credentials, CredentialsSender, ReplayGuard, verify};
use crate::pdu::{FrameOrNotification, Pdu};
use crate::time::{Now, Time};

use super::settings::{AuthenticationLevel, Identity, SecuritySettings};

/// Why an operation's credentials are not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CredentialsError {
    #[error("the credentials are missing")]
    Missing,
    #[error(transparent)]
    Wrong(#[from] AuthError),
}

/// The received credentials of one peer, over all its associations. Credentials that were recorded
/// on one association cannot be replayed on another, in particular not in a BIND.
pub(crate) type SharedReplayGuard = Arc<Mutex<ReplayGuard>>;

pub(crate) fn guard(security: &SecuritySettings) -> SharedReplayGuard {
    Arc::new(Mutex::new(ReplayGuard::new(security.acceptable_delay_ns)))
}

/// An operation that may carry credentials, of SLE or of CSTS.
pub trait SignedOperation {
    /// BIND, or its return.
    fn is_bind(&self) -> bool;
    /// Whether it is PEER-ABORT.
    fn is_abort(&self) -> bool;
    /// The credentials of the parts of a buffer; `None` for a single operation.
    fn parts(&mut self) -> Option<CredentialsParts<'_>>;
}

/// Credentials of one part after the other.
pub(crate) type CredentialsParts<'a> = Box<dyn Iterator<Item = &'a mut Option<Bytes>> + 'a>;

impl SignedOperation for Pdu {
    fn is_bind(&self) -> bool {
        matches!(self, Self::Bind(_) | Self::BindReturn(_))
    }

    fn is_abort(&self) -> bool {
        matches!(self, Self::PeerAbort(_))
    }

    fn parts(&mut self) -> Option<CredentialsParts<'_>> {
        let Self::TransferBuffer(parts) = self else { return None };
        Some(Box::new(parts.iter_mut().map(|part| match part {
            FrameOrNotification::Frame(frame) => &mut frame.credentials,
            FrameOrNotification::Notification(notification) => &mut notification.credentials,
        })))
    }
}

/// Our side and theirs.
#[derive(Debug)]
pub(crate) struct AssociationCredentials {
    own: Identity,
    peer: CredentialsSender,
    security: SecuritySettings,
    /// Received credentials of the peer.
    guard: SharedReplayGuard,
    /// Received credentials of this association. The peer's other associations may displace entries
    /// from the peer's memory, but operations of this one must still be accepted.
    own_guard: ReplayGuard,
    /// Credentials of the last operation that was accepted on this association.
    last: Option<Bytes>,
    random: Random,
}

impl AssociationCredentials {
    pub(crate) fn new(
        own: Identity,
        peer: Identity,
        security: SecuritySettings,
        guard: SharedReplayGuard,
        now: Now,
    ) -> Self {
        let peer =
            CredentialsSender { user: peer.id, password: peer.password, hash: security.hash };
        let own_guard = ReplayGuard::new(security.acceptable_delay_ns);
        Self { own, peer, security, guard, own_guard, last: None, random: Random::new(now) }
    }

    /// Whether an operation is to carry credentials.
    fn wanted(&self, pdu: &impl SignedOperation) -> bool {
        match self.security.level {
            AuthenticationLevel::None => false,
            AuthenticationLevel::Bind => pdu.is_bind(),
            // PEER-ABORT has no place for them.
            AuthenticationLevel::All => !pdu.is_abort(),
        }
    }

    /// Credentials for an operation of ours. A transfer buffer gets them into its parts, the same
    /// into all: they are one operation's invocation after the other, sent in one PDU.
    pub(crate) fn sign(&mut self, pdu: &mut impl SignedOperation, now: Now) -> Option<Bytes> {
        if !self.wanted(pdu) {
            return None;
        }
        let (own, security) = (&self.own, &self.security);
        let time = Time::from_utc_ns(now.utc_ns);
        let random = self.random.next();
        let made = Credentials::make(security.hash, &own.id, &own.password, time, random);
        let Some(parts) = pdu.parts() else { return Some(made) };
        for credentials in parts {
            *credentials = Some(made.clone());
        }
        None
    }

    /// Whether an operation of theirs may be taken.
    pub(crate) fn check(
        &mut self,
        pdu: &mut impl SignedOperation,
        credentials: Option<&Bytes>,
        now: Now,
    ) -> Result<(), CredentialsError> {
        if !self.wanted(pdu) {
            return Ok(());
        }
        let Some(parts) = pdu.parts() else { return self.look(credentials, now) };
        // Parts of one buffer may share their credentials, which are then looked at once.
        let mut before: Option<Bytes> = None;
        for credentials in parts {
            if before.is_none() || *credentials != before {
                self.look(credentials.as_ref(), now)?;
                before.clone_from(credentials);
            }
        }
        Ok(())
    }

    /// Takes what was not there before, or was the last operation's of this very association: an
    /// implementation in use draws its random number from the millisecond, so that two operations
    /// of one millisecond have the same credentials. That gives nothing away. Whoever could put
    /// octets into this connection could as well change the operation beside the credentials; on
    /// another connection they are refused.
    fn look(&mut self, credentials: Option<&Bytes>, now: Now) -> Result<(), CredentialsError> {
        let octets = credentials.ok_or(CredentialsError::Missing)?;
        verify(octets, &self.peer, now, self.security.acceptable_delay_ns)?;
        if self.last.as_ref() == Some(octets) {
            return Ok(());
        }
        self.own_guard.check(octets, now)?;
        // Nothing can panic with the lock held.
        let checked = self.guard.lock().unwrap_or_else(PoisonError::into_inner).check(octets, now);
        match checked {
            // Whether another association of the peer had them is not known any more; this one had
            // not. As above: they are of use to nobody who is not in this connection already. To
            // make one he needs a BIND's, which are the first.
            Err(AuthError::Forgotten { .. }) if self.last.is_some() => {}
            checked => checked?,
        }
        // A copy: as a slice they would keep what was received with them.
        self.last = Some(Bytes::copy_from_slice(octets));
        Ok(())
    }
}

/// Numbers that make credentials of one instant differ. They are not secret: they go with the
/// credentials, and the password alone protects.
///
/// They begin anywhere, but none comes twice before all 2^31 have come: of a thousand that are drawn
/// at random for one instant (as many operations are sent at once) two are the same once in some
/// thousand times, and the peer would take the second for a replay.
#[derive(Debug)]
struct Random(u32);

impl Random {
    /// Odd, so that its multiples modulo 2^31 come to every number.
    const STEP: u32 = 0x1e37_79b1;
    const MASK: u32 = 0x7fff_ffff;

    fn new(now: Now) -> Self {
        let mut seed = [0; 4];
        // Without a source of randomness the instant has to do: it differs between associations.
        match getrandom::fill(&mut seed) {
            Ok(()) => Self(u32::from_ne_bytes(seed)),
            Err(_) => Self(u32::try_from(now.monotonic_ns & u64::from(Self::MASK)).unwrap_or(0)),
        }
    }

    /// In [0, 2^31 - 1].
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(Self::STEP) & Self::MASK;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Random;
    use crate::time::Now;
    use std::collections::HashSet;

    #[test]
    fn no_two_operations_of_one_instant_have_the_same_number() {
        let mut random = Random::new(Now { monotonic_ns: 1, utc_ns: 1 });
        let mut seen = HashSet::new();
        // Drawn at random, 200,000 numbers have some ten pairs.
        for _ in 0..200_000 {
            let number = random.next();
            assert!(number <= Random::MASK && seen.insert(number));
        }
    }
}
