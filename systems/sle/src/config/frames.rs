//! Instances of the Forward Frame service (CSTS): `[[forward_frame]]`.

use super::instance::{NotifySetting, ProductionSetting, period_utc_ns};
use crate::csts::forward_frame::{ForwardFrameConfig, ProcedureConfig};
use crate::csts::pdu::{DataTransferMode, Oid, ServiceInstanceId};
use crate::csts::procedure::{BlockingLimits, CompletionReports, ProcedureKind};
use crate::service::fcltu::BufferLimits;
use serde::Deserialize;
use std::net::SocketAddr;
use toml::value::Datetime;

/// The prime procedure of the service instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrimeProcedure {
    /// Several frames go in a buffer, and none is returned.
    #[default]
    Buffered,
    /// Each is returned, and follows the one before.
    SequenceControlled,
}

/// Data transfer mode: the behaviour of the buffered procedure when its queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransferModeSetting {
    /// The sender waits.
    #[default]
    Complete,
    /// The oldest are discarded.
    Timely,
}

/// `[[forward_frame]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardFrameTable {
    /// Name in this configuration, such as `ff1`.
    pub name: String,
    /// Its identifier: object identifiers of spacecraft, facility and service, and a number, as
    /// `1.3.112.4.7.1/1.3.112.4.6.1/1.3.112.4.4.1.2.3/1`.
    pub id: String,
    /// Responder port identifier.
    #[serde(default = "super::instance::port")]
    pub port: String,
    /// Address for the user; default: that of `[user]`, or the first of `listen_csts`.
    pub address: Option<String>,
    /// Responder identifier; required if more than one provider is configured.
    pub responder: Option<String>,
    /// Initiators that may bind; empty: every peer.
    #[serde(default)]
    pub initiators: Vec<String>,
    /// Provision period: not before.
    pub from: Option<Datetime>,
    /// Provision period: not after.
    pub until: Option<Datetime>,
    /// The prime procedure.
    #[serde(default)]
    pub procedure: PrimeProcedure,
    /// Buffered: what becomes of frames when the queue is full.
    #[serde(default)]
    pub mode: TransferModeSetting,
    /// Buffered: frames of a forward buffer at most.
    #[serde(default = "buffer_frames")]
    pub forward_buffer_max: u32,
    /// Buffered, timely: frames that wait longer are discarded, ms; 0: they are not.
    #[serde(default)]
    pub latency_limit_ms: u32,
    /// Octets of a frame, from and to; the same twice for frames of fixed length.
    #[serde(default = "frame_octets")]
    pub frame_octets: [usize; 2],
    /// Octets of frames that may wait for radiation.
    #[serde(default = "queue_octets")]
    pub queue: u32,
    /// Frames that may wait for radiation.
    #[serde(default = "queue_frames")]
    pub queue_frames: usize,
    /// Bits a second that are radiated; none: as fast as it goes.
    pub bit_rate: Option<u64>,
    /// Address of the modem, which receives each radiated frame as a datagram; none: frames are
    /// discarded.
    pub modem: Option<SocketAddr>,
    /// Whether production goes on for a user who aborted.
    #[serde(default)]
    pub continue_after_abort: bool,
    /// Production status at start.
    #[serde(default)]
    pub production: ProductionSetting,
    /// User: frames that it puts into a forward buffer.
    #[serde(default = "buffer_frames")]
    pub blocked: u32,
    /// User: a forward buffer goes with so many octets of frames at the latest.
    #[serde(default = "blocked_octets")]
    pub blocked_octets: usize,
    /// User: how long the first frame of a forward buffer waits for others at most, ms.
    #[serde(default = "blocked_ms")]
    pub blocked_ms: u32,
    /// User: of which frames' completion it asks to be told; `last`: of the last of each buffer.
    #[serde(default)]
    pub notify: NotifySetting,
}

fn buffer_frames() -> u32 {
    80
}

fn frame_octets() -> [usize; 2] {
    [1, 65_536]
}

fn queue_octets() -> u32 {
    8 << 20
}

fn queue_frames() -> usize {
    65_536
}

fn blocked_octets() -> usize {
    1 << 20
}

fn blocked_ms() -> u32 {
    10
}

impl ForwardFrameTable {
    /// Its identifier, taken apart; `None` where it is none.
    #[must_use]
    pub fn identifier(&self) -> Option<ServiceInstanceId> {
        let parts: Vec<&str> = self.id.split('/').collect();
        let [spacecraft, facility, service_type, number] = parts[..] else { return None };
        let oid = |text: &str| text.parse::<Oid>().ok();
        Some(ServiceInstanceId {
            spacecraft: oid(spacecraft)?,
            facility: oid(facility)?,
            service_type: oid(service_type)?,
            number: number.parse().ok()?,
        })
    }

    /// The provision period, UTC in nanoseconds since 1970: from, until.
    #[must_use]
    pub fn period_utc_ns(&self) -> (Option<u64>, Option<u64>) {
        period_utc_ns(self.from.as_ref(), self.until.as_ref())
    }

    fn transfer_mode(&self) -> DataTransferMode {
        match self.mode {
            TransferModeSetting::Complete => DataTransferMode::Complete,
            TransferModeSetting::Timely => DataTransferMode::Timely,
        }
    }

    /// Configuration of the provider of this instance.
    #[must_use]
    pub fn provided(&self) -> ForwardFrameConfig {
        ForwardFrameConfig {
            procedure: match self.procedure {
                PrimeProcedure::Buffered => ProcedureConfig::Buffered {
                    mode: self.transfer_mode(),
                    forward_buffer_max: self.forward_buffer_max,
                    latency_limit_ms: self.latency_limit_ms,
                },
                PrimeProcedure::SequenceControlled => ProcedureConfig::SequenceControlled,
            },
            limits: BufferLimits { octets: self.queue, cltus: self.queue_frames },
            frame_octets: self.frame_octets[0]..=self.frame_octets[1],
            bit_rate: self.bit_rate,
            production: self.production.into(),
            discard_after_abort: !self.continue_after_abort,
        }
    }

    /// Procedure of the user of this instance, with a window of so many PROCESS-DATA invocations.
    #[must_use]
    pub fn used(&self, window: usize) -> ProcedureKind {
        match self.procedure {
            PrimeProcedure::Buffered => ProcedureKind::Buffered {
                mode: self.transfer_mode(),
                blocking: BlockingLimits {
                    units: self.blocked.max(1) as usize,
                    octets: self.blocked_octets,
                    wait_ns: u64::from(self.blocked_ms) * 1_000_000,
                },
                reports: match self.notify {
                    NotifySetting::None => CompletionReports::None,
                    NotifySetting::Last => CompletionReports::Last,
                    NotifySetting::Every => CompletionReports::Every,
                },
            },
            PrimeProcedure::SequenceControlled => ProcedureKind::SequenceControlled { window },
        }
    }
}
