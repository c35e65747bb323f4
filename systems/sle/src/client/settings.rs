//! Settings of a user.

use crate::association::UserSettings;
use crate::config::{Config, InstanceChoiceError};
use crate::net::{DriverLimits, SocketOptions};
use crate::provider::{identity, security, socket_options};
use crate::tml::Heartbeat;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Settings of a user of one service instance.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Address of the provider, `host:port`.
    pub address: String,
    /// Options of the socket.
    pub options: SocketOptions,
    /// Limits of the connection.
    pub limits: DriverLimits,
    /// Settings of the association.
    pub association: UserSettings,
    /// TRANSFER-DATA invocations that may be unacknowledged, in [1, 60,000]; `None`: as many as the
    /// path carries at a time, twice, by the rate and the round trip of the returns.
    pub window: Option<usize>,
    /// If set, waiting calls return [`Interrupted`](super::ClientError::Interrupted).
    pub interrupt: Arc<AtomicBool>,
}

/// Why a configuration gives no settings for a user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientSettingsError {
    /// There is no `[user]`.
    #[error("the configuration has no [user]")]
    NoUser,
    /// There is no such service instance, or more than one.
    #[error(transparent)]
    Choice(#[from] InstanceChoiceError),
    /// The configuration of the instance is incomplete or wrong: `--check` has the details.
    #[error("{instance}: {why}")]
    Instance {
        /// Name of the instance.
        instance: String,
        /// Description of the fault.
        why: String,
    },
}

impl ClientSettings {
    /// Settings from a configuration, for the instance whose identifier is `instance` or ends with it;
    /// by default for the first.
    ///
    /// # Errors
    /// [`ClientSettingsError`].
    pub fn of(config: &Config, instance: Option<&str>) -> Result<Self, ClientSettingsError> {
        let own = config.user.as_ref().ok_or(ClientSettingsError::NoUser)?;
        let found = config.find(instance)?;
        let wrong = |why: &str| ClientSettingsError::Instance {
            instance: found.id.clone(),
            why: why.to_owned(),
        };
        let id = found.identifier().map_err(|error| wrong(&error.to_string()))?;
        let service = found
            .service()
            .ok_or_else(|| wrong("its service is none of FCLTU, RAF, RCF and ROCF"))?;
        let address = config
            .address_of(found)
            .ok_or_else(|| wrong("the address of the provider is missing"))?;
        let responder = config.responder_of(found).and_then(|name| config.party(&name));
        let responder = responder.ok_or_else(|| wrong("the responder is missing"))?;
        let transport = &config.transport;
        let association = UserSettings {
            initiator: identity(&own.id, own.password.octets()),
            responder: identity(&responder.id, responder.password.octets()),
            responder_port: found.port.clone(),
            version: found.proposed_version(),
            other_versions: found.versions.clone(),
            security: security(config, &responder),
            heartbeat: Heartbeat {
                interval_s: transport.heartbeat_s,
                dead_factor: transport.dead_factor,
            },
            pdu_bytes_max: transport.pdu_max,
            return_timeout_ns: u64::from(config.return_timeout_of(found)) * 1_000_000_000,
            ..UserSettings::new(service, id)
        };
        Ok(Self {
            address,
            options: socket_options(config),
            limits: DriverLimits {
                waiting_bytes_max: transport.output_max as usize,
                write_each: transport.write_each,
                ..DriverLimits::default()
            },
            association,
            window: own.window,
            interrupt: Arc::default(),
        })
    }
}
