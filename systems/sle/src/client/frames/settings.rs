//! Settings of a user of the Forward Frame service.

use crate::client::ClientSettingsError;
use crate::client::window::WINDOW_MAX;
use crate::config::Config;
use crate::csts::association::UserSettings;
use crate::csts::pdu::InvokeId;
use crate::csts::procedure::ProcedureKind;
use crate::net::{DriverLimits, SocketOptions};
use crate::provider::{identity, security, socket_options};
use crate::tml::Heartbeat;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Settings of a user of one service instance.
#[derive(Clone, Debug)]
pub struct FrameSettings {
    /// Address of the provider, `host:port`.
    pub address: String,
    /// Options of the socket.
    pub options: SocketOptions,
    /// Limits of the connection.
    pub limits: DriverLimits,
    /// Settings of the association.
    pub association: UserSettings,
    /// The procedure, and how it is used.
    pub kind: ProcedureKind,
    /// Sequence-controlled: frames that may be unacknowledged, in [1, 60,000]; `None`: as many as the
    /// path carries at a time, twice, by the rate and the round trip of the returns. The window of
    /// `kind` is a limit besides.
    pub window: Option<usize>,
    /// First invoke id. It differs between associations, so that frames of two associations have
    /// different names in the recorder's chains.
    pub first_invoke: InvokeId,
    /// Set, calls that wait return [`Interrupted`](super::error::FrameError::Interrupted).
    pub interrupt: Arc<AtomicBool>,
}

impl FrameSettings {
    /// Settings from a configuration, for the instance of that name; by default for the first.
    ///
    /// # Errors
    /// [`ClientSettingsError`].
    pub fn of(config: &Config, instance: Option<&str>) -> Result<Self, ClientSettingsError> {
        let own = config.user.as_ref().ok_or(ClientSettingsError::NoUser)?;
        let found = config.find_forward_frame(instance)?;
        let wrong = |why: &str| ClientSettingsError::Instance {
            instance: found.name.clone(),
            why: why.to_owned(),
        };
        let id = found
            .identifier()
            .ok_or_else(|| wrong("its id is not a service instance identifier"))?;
        let address = config
            .address_of_csts(found)
            .ok_or_else(|| wrong("the address of the provider is missing"))?;
        let responder = config.responder_or_own(found.responder.as_ref());
        let responder = responder.and_then(|name| config.party(&name));
        let responder = responder.ok_or_else(|| wrong("the responder is missing"))?;
        let transport = &config.transport;
        let association = UserSettings {
            initiator: identity(&own.id, own.password.octets()),
            responder: identity(&responder.id, responder.password.octets()),
            responder_port: found.port.clone(),
            security: security(config, &responder),
            heartbeat: Heartbeat {
                interval_s: transport.heartbeat_s,
                dead_factor: transport.dead_factor,
            },
            pdu_bytes_max: transport.pdu_max,
            return_timeout_ns: u64::from(own.return_timeout_s) * 1_000_000_000,
            ..UserSettings::new(id)
        };
        let mut first = [0; 4];
        // Without randomness ids begin at 0, which only makes names alike.
        let _ = getrandom::fill(&mut first);
        Ok(Self {
            address,
            options: socket_options(config),
            limits: DriverLimits {
                waiting_bytes_max: transport.output_max as usize,
                // A provider whose queue is full reads nothing, as long as that takes. That it is
                // there its heartbeats say.
                stall_ns: u64::MAX / 2,
                ..DriverLimits::default()
            },
            association,
            kind: found.used(own.window.unwrap_or(WINDOW_MAX)),
            window: own.window,
            first_invoke: u32::from_be_bytes(first),
            interrupt: Arc::default(),
        })
    }
}
