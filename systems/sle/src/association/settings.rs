//! Settings of the two sides of an association.

use std::fmt;

use crate::auth::HashAlgorithm;
use crate::pdu::{ServiceInstanceId, ServiceType};
use crate::tml::{Heartbeat, PDU_BYTES_MAX};

const SECOND_NS: u64 = 1_000_000_000;

/// The operations that carry credentials. Both sides must have the same setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AuthenticationLevel {
    /// No operation carries credentials.
    #[default]
    None,
    /// BIND invocation and return.
    Bind,
    /// All operations carry credentials.
    All,
}

/// A name with its password. What it shows of itself leaves the password out.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// Authority identifier, 3 to 16 characters; it is the user name in credentials too.
    pub id: String,
    /// 6 to 16 octets by the book; not looked at where the level is [`AuthenticationLevel::None`].
    pub password: Vec<u8>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Authentication of two sides by each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecuritySettings {
    /// The operations that carry credentials.
    pub level: AuthenticationLevel,
    /// With which hash: SHA-1 was usual up to version 3 of the services, SHA-256 since.
    pub hash: HashAlgorithm,
    /// Credentials older, or from further ahead, are not taken; in nanoseconds.
    pub acceptable_delay_ns: u64,
}

impl Default for SecuritySettings {
    fn default() -> Self {
        Self {
            level: AuthenticationLevel::None,
            hash: HashAlgorithm::Sha256,
            acceptable_delay_ns: 180 * SECOND_NS,
        }
    }
}

/// Settings of a user's association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSettings {
    /// The initiator: this side.
    pub initiator: Identity,
    /// The expected responder. Any other responder is aborted.
    pub responder: Identity,
    /// The responder's port by name, as BIND says it; 1 to 128 characters.
    pub responder_port: String,
    /// The service.
    pub service: ServiceType,
    /// The version that is proposed, in [1, 5].
    pub version: u16,
    /// Other versions that may be answered; with any further one the user unbinds.
    pub other_versions: Vec<u16>,
    /// Identifier of the service instance.
    pub instance: ServiceInstanceId,
    /// Authentication of both sides.
    pub security: SecuritySettings,
    /// Proposed to the responder's transport.
    pub heartbeat: Heartbeat,
    /// Longest PDU that is taken, in octets.
    pub pdu_bytes_max: u32,
    /// A return that comes later than this after its invocation ends the association (BIND and
    /// UNBIND too); in nanoseconds.
    pub return_timeout_ns: u64,
}

impl UserSettings {
    /// Version 5, no authentication, no heartbeats, 60 s for returns.
    #[must_use]
    pub fn new(service: ServiceType, instance: ServiceInstanceId) -> Self {
        Self {
            initiator: Identity { id: String::new(), password: Vec::new() },
            responder: Identity { id: String::new(), password: Vec::new() },
            responder_port: String::new(),
            service,
            version: 5,
            other_versions: Vec::new(),
            instance,
            security: SecuritySettings::default(),
            heartbeat: Heartbeat::NONE,
            pdu_bytes_max: PDU_BYTES_MAX,
            return_timeout_ns: 60 * SECOND_NS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Identity;

    #[test]
    fn a_password_is_not_shown() {
        let identity = Identity { id: "CENTRE".into(), password: b"swordfish".to_vec() };
        let shown = format!("{identity:?}");
        assert!(shown.contains("CENTRE"));
        assert!(!shown.contains("swordfish") && !shown.contains("115"), "{shown}");
    }
}
