//! What a user needs to know before it connects.

use crate::association::UserSettings;
use crate::config::Config;
use crate::net::{DriverLimits, SocketOptions};
use crate::provider::{identity, security, socket_options};
use crate::tml::Heartbeat;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a user needs to know.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Where the provider is, `host:port`.
    pub address: String,
    /// What its socket is told.
    pub options: SocketOptions,
    /// What bounds its connection.
    pub limits: DriverLimits,
    /// What it binds to, and how.
    pub association: UserSettings,
    /// TRANSFER-DATA invocations that may be unacknowledged, in [1, 60,000].
    pub window: usize,
    /// Set, calls that wait return [`Interrupted`](super::ClientError::Interrupted).
    pub interrupt: Arc<AtomicBool>,
}

/// Why a configuration says too little for a user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientSettingsError {
    /// There is no `[user]`.
    #[error("the configuration has no [user]")]
    NoUser,
    /// No instance is called so.
    #[error("no [[instance]] is called {0:?}")]
    NoInstance(String),
    /// Something is wrong with it: `--check` says more.
    #[error("{instance}: {why}")]
    Instance {
        /// Which.
        instance: String,
        /// What.
        why: String,
    },
}

impl ClientSettings {
    /// As a configuration says, for the instance whose identifier is, or ends, so; the first where
    /// nothing is asked for.
    ///
    /// # Errors
    /// [`ClientSettingsError`].
    pub fn of(config: &Config, instance: Option<&str>) -> Result<Self, ClientSettingsError> {
        let own = config.user.as_ref().ok_or(ClientSettingsError::NoUser)?;
        let found = config.find(instance);
        let found =
            found.ok_or_else(|| ClientSettingsError::NoInstance(instance.unwrap_or("").into()))?;
        let wrong = |why: &str| ClientSettingsError::Instance {
            instance: found.id.clone(),
            why: why.to_owned(),
        };
        let id = found.identifier().map_err(|error| wrong(&error.to_string()))?;
        let service = found.service().ok_or_else(|| wrong("it is of no service of ours"))?;
        let address = config.address_of(found).ok_or_else(|| wrong("nobody says where it is"))?;
        let responder = config.responder_of(found).and_then(|name| config.party(&name));
        let responder = responder.ok_or_else(|| wrong("nobody says who answers"))?;
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
            return_timeout_ns: u64::from(own.return_timeout_s) * 1_000_000_000,
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
