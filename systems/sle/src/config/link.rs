//! Links that `sle-user link` keeps up: `[[link]]`, with `[link.forward]` or `[link.return]`.

use super::instance::{ControlWordSetting, FrameQualitySetting, utc_ns};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use toml::value::Datetime;

/// `[links]`: the program `sle-user link` as a whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinksTable {
    /// File into which the state of all links is written, as JSON, once a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<PathBuf>,
}

/// `[[link]]`: one service instance whose association is kept up.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkTable {
    /// The service instance: its identifier or the end of it, as `cltu1`.
    pub instance: String,
    /// Name in messages and in the status; default: `instance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Shortest and longest pause before the next attempt to bind, in seconds.
    #[serde(default = "reconnect")]
    pub reconnect_s: [u32; 2],
    /// When the link is up; absent: always.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<Vec<PassTable>>,
    /// FCLTU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward: Option<LinkForwardTable>,
    /// RAF, RCF, ROCF.
    #[serde(rename = "return", skip_serializing_if = "Option::is_none")]
    pub returns: Option<LinkReturnTable>,
}

fn reconnect() -> [u32; 2] {
    [1, 60]
}

impl LinkTable {
    /// Name in messages and in the status.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.instance)
    }
}

/// A time in which a link is up: `{ from = 2026-11-28T08:00:00Z, until = 2026-11-28T08:12:00Z }`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassTable {
    /// Its begin.
    pub from: Datetime,
    /// Its end: STOP and UNBIND are sent then.
    pub until: Datetime,
}

impl PassTable {
    /// Begin and end, UTC in nanoseconds since 1970; `None` where one is no time.
    #[must_use]
    pub fn utc_ns(&self) -> Option<(u64, u64)> {
        Some((utc_ns(&self.from)?, utc_ns(&self.until)?))
    }
}

/// `[link.forward]`: programs give CLTUs at a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkForwardTable {
    /// Where programs connect: `unix:PATH`, or an address on loopback.
    pub listen: String,
    /// File of what was sent and what became of it.
    pub journal: PathBuf,
    /// How long a CLTU waits while the link is not up, in seconds; then it is answered `not-sent`.
    #[serde(default)]
    pub hold_s: u32,
    /// Octets of CLTUs that wait at most; then programs have to wait.
    #[serde(default = "queue")]
    pub queue: usize,
    /// At the end of a pass: how long reports of radiation are waited for before STOP, in seconds.
    #[serde(default = "settle")]
    pub settle_s: u32,
}

fn queue() -> usize {
    1 << 20
}

fn settle() -> u32 {
    10
}

/// `[link.return]`: where frames go.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkReturnTable {
    /// A datagram for each frame to each of these.
    pub udp: Vec<SocketAddr>,
    /// Where programs connect that read frames: `unix:PATH` or `host:port`.
    pub listen: Vec<String>,
    /// Octets that wait for a program that reads too slowly; then frames are lost for it.
    pub buffer: usize,
    /// Folder in which frames are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<PathBuf>,
    /// Octets of `store` at most; then the oldest frames leave.
    pub store_octets: u64,
    /// Age of the oldest frames in `store`, in seconds; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_age_s: Option<u64>,
    /// RAF: the frames that START requests; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<FrameQualitySetting>,
    /// RCF, ROCF: the channel that START requests, `SCID.TFVN` or `SCID.TFVN.VCID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// ROCF: the control words that START requests; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_word: Option<ControlWordSetting>,
    /// ROCF: CLCWs of this virtual channel of telecommand only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tc_channel: Option<u8>,
    /// ROCF: only control words that have changed.
    pub changes: bool,
}

impl Default for LinkReturnTable {
    fn default() -> Self {
        Self {
            udp: Vec::new(),
            listen: Vec::new(),
            buffer: 4 << 20,
            store: None,
            store_octets: 1 << 30,
            store_age_s: None,
            quality: None,
            channel: None,
            control_word: None,
            tc_channel: None,
            changes: false,
        }
    }
}

impl LinkReturnTable {
    /// The frame store's bounds.
    #[must_use]
    pub fn store_age_ns(&self) -> Option<u64> {
        self.store_age_s.map(|seconds| seconds.saturating_mul(1_000_000_000))
    }
}
