//! User, provider and peers: identifiers, passwords, authentication, connections.

use serde::{Deserialize, Deserializer, de};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A password: text, or `hex:` with octets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(Vec<u8>);

impl Password {
    /// A password of these octets.
    #[must_use]
    pub fn new(octets: Vec<u8>) -> Self {
        Self(octets)
    }

    /// The octets that the hash includes.
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
            .ok_or_else(|| de::Error::custom("`hex:` needs pairs of hexadecimal digits"))
    }
}

/// The operations that carry credentials (CCSDS 913.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthLevelSetting {
    /// No operation carries credentials.
    #[default]
    None,
    /// BIND and its return.
    Bind,
    /// All operations carry credentials.
    All,
}

/// Hash algorithm of credentials.
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
    /// Hash algorithm; a peer's table may have another one.
    pub hash: HashSetting,
    /// Acceptable delay of credentials, in the past or the future, in seconds.
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
    /// Heartbeat interval that a user proposes, in seconds; 0: no heartbeats.
    pub heartbeat_s: u16,
    /// Dead factor that a user proposes: number of intervals without a message after which a peer
    /// is dead.
    pub dead_factor: u16,
    /// Minimum and maximum heartbeat interval that a provider accepts, in seconds.
    pub heartbeat_range_s: [u16; 2],
    /// Minimum and maximum dead factor that a provider accepts.
    pub dead_factor_range: [u16; 2],
    /// Whether a provider accepts that there are no heartbeats.
    pub without_heartbeats: bool,
    /// Time that a provider waits for the first message of a connection, in seconds.
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
    /// Addresses for SLE. Port 0 is any free port; the provider prints it.
    pub listen: Vec<SocketAddr>,
    /// Local links for SLE: paths of Unix sockets at which a communication server connects, which has
    /// the connections to users.
    #[serde(default)]
    pub listen_local: Vec<PathBuf>,
    /// Addresses for CSTS (`[[forward_frame]]`). They differ from those of SLE, because both use
    /// the same transport and a connection does not identify its protocol before BIND.
    #[serde(default)]
    pub listen_csts: Vec<SocketAddr>,
    /// Local links for CSTS, as `listen_local`.
    #[serde(default)]
    pub listen_csts_local: Vec<PathBuf>,
    /// Connections at a time.
    #[serde(default = "connections")]
    pub connections: usize,
    /// Address of the control port (TCP), on loopback only.
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
    /// Address of instances without their own address: `host:port`, or `unix:PATH` for a communication
    /// server on this host.
    pub address: Option<String>,
    /// Address of CSTS instances without their own address: `host:port`, or `unix:PATH` for a
    /// communication server on this host.
    pub address_csts: Option<String>,
    /// Time to wait for a return, in seconds.
    #[serde(default = "return_timeout")]
    pub return_timeout_s: u16,
    /// CLTUs that may be unacknowledged at a time; without it the user follows the path.
    pub window: Option<usize>,
}

fn return_timeout() -> u16 {
    60
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
    /// Hash algorithm, if it differs from that of `[security]`.
    pub hash: Option<HashSetting>,
}

/// Authentication settings of a peer, with all defaults applied.
#[derive(Clone, Debug)]
pub struct PeerSettings {
    /// Its identifier.
    pub id: String,
    /// Its password.
    pub password: Password,
    /// The operations that carry credentials, in both directions.
    pub auth: AuthLevelSetting,
    /// Their hash.
    pub hash: HashSetting,
}
