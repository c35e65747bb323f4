//! Credentials of one association: which operations need them, making ours, checking theirs.
//!
//! What the level does not ask for is not looked at: an initiator that signs more than it has to is
//! understood (one of the implementations in use signs UNBIND at level `bind`).

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::auth::{AuthError, Credentials, Peer, ReplayGuard, verify};
use crate::pdu::{FrameOrNotification, Pdu};
use crate::time::{Now, Time};

use super::settings::{Identity, Level, Security};

/// Why an operation's credentials are not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CredentialsError {
    #[error("it has no credentials")]
    Missing,
    #[error(transparent)]
    Wrong(#[from] AuthError),
}

/// What one peer's credentials were, on all its associations with us: what was recorded on one is
/// not to be replayed on another.
pub(super) type Guard = Arc<Mutex<ReplayGuard>>;

pub(super) fn guard(security: &Security) -> Guard {
    Arc::new(Mutex::new(ReplayGuard::new(security.acceptable_delay_ns)))
}

/// Our side and theirs.
#[derive(Debug)]
pub(super) struct Seal {
    own: Identity,
    peer: Peer,
    security: Security,
    guard: Guard,
    random: Random,
}

impl Seal {
    pub(super) fn new(
        own: Identity,
        peer: Identity,
        security: Security,
        guard: Guard,
        now: Now,
    ) -> Self {
        let peer = Peer { user: peer.id, password: peer.password, hash: security.hash };
        Self { own, peer, security, guard, random: Random::new(now) }
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

    /// Credentials for an operation of ours. A transfer buffer gets them into its parts, the same
    /// into all: they are one operation's invocation after the other, sent in one PDU.
    pub(super) fn sign(&mut self, pdu: &mut Pdu, now: Now) -> Option<Bytes> {
        if !self.wanted(pdu) {
            return None;
        }
        let (own, security) = (&self.own, &self.security);
        let time = Time::from_utc_ns(now.utc_ns);
        let random = self.random.next();
        let made = Credentials::make(security.hash, &own.id, &own.password, time, random);
        let Pdu::TransferBuffer(parts) = pdu else { return Some(made) };
        for part in parts {
            *credentials_of(part) = Some(made.clone());
        }
        None
    }

    /// Whether an operation of theirs may be taken.
    pub(super) fn check(
        &mut self,
        pdu: &mut Pdu,
        credentials: Option<&Bytes>,
        now: Now,
    ) -> Result<(), CredentialsError> {
        if !self.wanted(pdu) {
            return Ok(());
        }
        let Pdu::TransferBuffer(parts) = pdu else { return self.look(credentials, now) };
        // Parts of one buffer may share their credentials, which are then looked at once.
        let mut before: Option<Bytes> = None;
        for part in parts {
            let credentials = credentials_of(part);
            if before.is_none() || *credentials != before {
                self.look(credentials.as_ref(), now)?;
                before.clone_from(credentials);
            }
        }
        Ok(())
    }

    fn look(&mut self, credentials: Option<&Bytes>, now: Now) -> Result<(), CredentialsError> {
        let octets = credentials.ok_or(CredentialsError::Missing)?;
        verify(octets, &self.peer, now, self.security.acceptable_delay_ns)?;
        // Nothing can panic with the lock held.
        let mut guard = self.guard.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(guard.check(octets, now)?)
    }
}

fn credentials_of(part: &mut FrameOrNotification) -> &mut Option<Bytes> {
    match part {
        FrameOrNotification::Frame(frame) => &mut frame.credentials,
        FrameOrNotification::Notification(notification) => &mut notification.credentials,
    }
}

/// Numbers that make credentials of one instant differ (SplitMix64). They are not secret: they go
/// with the credentials, and the password alone protects.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new(now: Now) -> Self {
        let mut seed = [0; 8];
        // Without a source of randomness the instant has to do: it differs between associations.
        match getrandom::fill(&mut seed) {
            Ok(()) => Self(u64::from_ne_bytes(seed)),
            Err(_) => Self(now.monotonic_ns ^ now.utc_ns.rotate_left(32)),
        }
    }

    /// In [0, 2^31 - 1].
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((mixed ^ mixed >> 31) >> 33).unwrap_or(0)
    }
}
