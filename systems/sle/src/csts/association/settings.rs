//! A user's settings.

use crate::association::{Identity, SecuritySettings};
use crate::csts::pdu::ServiceInstanceId;
use crate::tml::{Heartbeat, PDU_BYTES_MAX};

/// Settings of a user's association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSettings {
    /// The initiator: this side.
    pub initiator: Identity,
    /// The expected responder. Any other responder is aborted.
    pub responder: Identity,
    /// The responder's port by name, as BIND says it; 1 to 128 characters and no blank.
    pub responder_port: String,
    /// Identifier of the service instance. Its service type is that of BIND.
    pub instance: ServiceInstanceId,
    /// The version of the service, from 1.
    pub version: u32,
    /// Authentication of both sides.
    pub security: SecuritySettings,
    /// Proposed to the responder's transport.
    pub heartbeat: Heartbeat,
    /// Longest PDU that is taken, in octets.
    pub pdu_bytes_max: u32,
    /// A return, or an acknowledgement, that comes later than this after its invocation ends the
    /// association (BIND and UNBIND too); after an acknowledgement the time begins anew. In
    /// nanoseconds.
    pub return_timeout_ns: u64,
}

impl UserSettings {
    /// Version 1, no authentication, no heartbeats, 60 s for returns.
    #[must_use]
    pub fn new(instance: ServiceInstanceId) -> Self {
        let nobody = || Identity { id: String::new(), password: Vec::new() };
        Self {
            initiator: nobody(),
            responder: nobody(),
            responder_port: String::new(),
            instance,
            version: 1,
            security: SecuritySettings::default(),
            heartbeat: Heartbeat::NONE,
            pdu_bytes_max: PDU_BYTES_MAX,
            return_timeout_ns: 60_000_000_000,
        }
    }
}
