//! Who takes part, and how they talk: identifiers, passwords, authentication, connections.

use serde::{Deserialize, Deserializer, de};
use std::fmt;
use std::net::SocketAddr;

/// A password: text, or `hex:` with octets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(Vec<u8>);

impl Password {
    /// What is hashed.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "***" })
    }
}

impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let Some(digits) = text.strip_prefix("hex:") else { return Ok(Self(text.into_bytes())) };
        let octets = digits.as_bytes().chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        });
        let octets: Option<Vec<u8>> = octets.collect();
        octets
            .map(Self)
            .ok_or_else(|| de::Error::custom("`hex:` wants pairs of hexadecimal digits"))
    }
}

/// Which invocations and returns carry credentials (CCSDS 913.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthLevelSetting {
    /// None.
    #[default]
    None,
    /// BIND and its return.
    Bind,
    /// All.
    All,
}

/// Which hash protects credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HashSetting {
    /// SHA-1, as the first books have it.
    Sha1,
    /// SHA-256.
    #[default]
    Sha256,
}

/// `[security]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SecurityTable {
    /// Level, where a peer's table says nothing.
    pub auth: AuthLevelSetting,
    /// Hash, likewise.
    pub hash: HashSetting,
    /// How old, or how far in the future, credentials may be, in seconds.
    pub delay_s: u32,
}

impl Default for SecurityTable {
    fn default() -> Self {
        Self { auth: AuthLevelSetting::None, hash: HashSetting::Sha256, delay_s: 180 }
    }
}

/// `[transport]`: TCP and ISP1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TransportTable {
    /// What a user proposes, in seconds; 0: no heartbeats.
    pub heartbeat_s: u16,
    /// What a user proposes: so many intervals of silence and the peer is dead.
    pub dead_factor: u16,
    /// What a provider accepts, in seconds, from and to.
    pub heartbeat_range_s: [u16; 2],
    /// What a provider accepts, from and to.
    pub dead_factor_range: [u16; 2],
    /// Whether a provider accepts that there are no heartbeats.
    pub without_heartbeats: bool,
    /// How long a provider waits for the first message of a connection, in seconds.
    pub startup_s: u16,
    /// Most octets of a PDU; longer ones are refused before they are read.
    pub pdu_max: u32,
    /// `TCP_NODELAY`: nothing is held back for the sake of fuller segments.
    pub nodelay: bool,
    /// `TCP_QUICKACK`, where said: acknowledgements are not delayed.
    pub quickack: Option<bool>,
    /// `SO_SNDBUF`, octets, where said.
    pub send_buffer: Option<u32>,
    /// `SO_RCVBUF`, octets, where said.
    pub receive_buffer: Option<u32>,
    /// `TCP_CONGESTION`, where said.
    pub congestion: Option<String>,
    /// Octets that may wait for the connection before a sender has to wait, or a provider ends
    /// the association.
    pub output_max: u32,
    /// Each PDU goes to the kernel in a write of its own, instead of all that piled up in one.
    pub write_each: bool,
}

impl Default for TransportTable {
    fn default() -> Self {
        Self {
            heartbeat_s: 30,
            dead_factor: 3,
            heartbeat_range_s: [1, 3600],
            dead_factor_range: [1, 600],
            without_heartbeats: true,
            startup_s: 60,
            pdu_max: 8 << 20,
            nodelay: true,
            quickack: None,
            send_buffer: None,
            receive_buffer: None,
            congestion: None,
            output_max: 4 << 20,
            write_each: false,
        }
    }
}

/// `[provider]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderTable {
    /// Responder identifier, 3 to 16 characters.
    pub id: String,
    /// Its own password.
    #[serde(default)]
    pub password: Password,
    /// Where it listens; port 0: any free one, which it prints.
    pub listen: Vec<SocketAddr>,
    /// Where it listens for CSTS (`[[forward_frame]]`), likewise. A port of its own: SLE
    /// and CSTS have one transport, and nothing in it says which of the two a connection is of.
    #[serde(default)]
    pub listen_csts: Vec<SocketAddr>,
    /// Connections at a time.
    #[serde(default = "connections")]
    pub connections: usize,
    /// Where an operator's lines come in, by TCP; loopback only.
    pub control: Option<SocketAddr>,
}

fn connections() -> usize {
    64
}

/// `[user]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserTable {
    /// Initiator identifier, 3 to 16 characters.
    pub id: String,
    /// Its own password.
    #[serde(default)]
    pub password: Password,
    /// Where instances are that do not say it themselves, `host:port`.
    pub address: Option<String>,
    /// Where instances of CSTS are that do not say it themselves, `host:port`.
    pub address_csts: Option<String>,
    /// How long to wait for a return, in seconds.
    #[serde(default = "return_timeout")]
    pub return_timeout_s: u16,
    /// CLTUs that may be unacknowledged at a time.
    #[serde(default = "window")]
    pub window: usize,
}

fn return_timeout() -> u16 {
    60
}

fn window() -> usize {
    1024
}

/// `[[peer]]`: somebody else.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerTable {
    /// Its identifier.
    pub id: String,
    /// Its password.
    #[serde(default)]
    pub password: Password,
    /// Level, where it is another than `[security]` says.
    pub auth: Option<AuthLevelSetting>,
    /// Hash, likewise.
    pub hash: Option<HashSetting>,
}

/// What is known of a peer, all said.
#[derive(Clone, Debug)]
pub struct PeerSettings {
    /// Its identifier.
    pub id: String,
    /// Its password.
    pub password: Password,
    /// Which operations carry credentials, both ways.
    pub auth: AuthLevelSetting,
    /// Their hash.
    pub hash: HashSetting,
}
