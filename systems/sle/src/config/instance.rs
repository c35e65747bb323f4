//! Service instances: `[[instance]]`, with `[instance.forward]` or `[instance.return]`.

use super::IdentifierError;
use super::channel::GvcIdText;
use super::identifier::{parse_instance, service_of};
use super::uplink::UplinkTable;
use crate::pdu::{CltuProductionStatus, ServiceInstanceId, ServiceType};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use toml::value::Datetime;

/// `[[instance]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceTable {
    /// Its identifier, `sagr=1.spack=A.fsl-fg=1.cltu=cltu1`. The service is in it.
    pub id: String,
    /// Responder port identifier, as BIND names it.
    #[serde(default = "port")]
    pub port: String,
    /// Address for the user, `host:port`; default: that of `[user]`, or the first of `[provider]`'s
    /// `listen`.
    pub address: Option<String>,
    /// Responder identifier; required if more than one provider is configured.
    pub responder: Option<String>,
    /// Initiators that may bind; empty: every peer.
    #[serde(default)]
    pub initiators: Vec<String>,
    /// Versions that the provider knows, in [1, 5].
    #[serde(default = "versions")]
    pub versions: Vec<u16>,
    /// Version that the user proposes; default: the highest of `versions`.
    pub version: Option<u16>,
    /// Provision period: not before.
    pub from: Option<Datetime>,
    /// Provision period: not after.
    pub until: Option<Datetime>,
    /// Time in which a return must come, in seconds, in [1, 600]: the user waits so long, and
    /// GET-PARAMETER reports it. Default: that of `[user]`, else 60.
    pub return_timeout_s: Option<u16>,
    /// Minimum of the cycle of status reports that a user may request, in seconds, in [1, 600].
    #[serde(default = "min_reporting_cycle")]
    pub min_reporting_cycle_s: u16,
    /// Settings of FCLTU.
    pub forward: Option<ForwardTable>,
    /// RAF, RCF, ROCF.
    #[serde(rename = "return")]
    pub returns: Option<ReturnTable>,
}

/// Responder port identifier of an instance, by default.
pub(super) fn port() -> String {
    "PORT".to_owned()
}

fn min_reporting_cycle() -> u16 {
    2
}

fn versions() -> Vec<u16> {
    vec![2, 3, 4, 5]
}

impl InstanceTable {
    /// Its identifier, taken apart.
    ///
    /// # Errors
    /// [`IdentifierError`] where it is none.
    pub fn identifier(&self) -> Result<ServiceInstanceId, IdentifierError> {
        parse_instance(&self.id)
    }

    /// Its service, where it is one of ours.
    #[must_use]
    pub fn service(&self) -> Option<ServiceType> {
        service_of(&self.identifier().ok()?)
    }

    /// Version that the user proposes.
    #[must_use]
    pub fn proposed_version(&self) -> u16 {
        self.version.or_else(|| self.versions.iter().copied().max()).unwrap_or(5)
    }

    /// The provision period, UTC in nanoseconds since 1970: from, until.
    #[must_use]
    pub fn period_utc_ns(&self) -> (Option<u64>, Option<u64>) {
        period_utc_ns(self.from.as_ref(), self.until.as_ref())
    }

    /// The FCLTU part, or what holds without one.
    #[must_use]
    pub fn forward(&self) -> ForwardTable {
        self.forward.clone().unwrap_or_default()
    }

    /// The return part, or what holds without one.
    #[must_use]
    pub fn returns(&self) -> ReturnTable {
        self.returns.clone().unwrap_or_default()
    }
}

/// A provision period, UTC in nanoseconds since 1970: from, until.
pub(super) fn period_utc_ns(
    from: Option<&Datetime>,
    until: Option<&Datetime>,
) -> (Option<u64>, Option<u64>) {
    (from.and_then(utc_ns), until.and_then(utc_ns))
}

/// UTC in nanoseconds since 1970 of a date of TOML; a time without an offset is UTC. `None` before
/// 1970 and where the date has no day.
#[must_use]
pub(crate) fn utc_ns(datetime: &Datetime) -> Option<u64> {
    let date = datetime.date?;
    let (year, month, day) = (i64::from(date.year), i64::from(date.month), i64::from(date.day));
    // Days since 1970 of a civil date: years begin in March, so that leap days end them.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468;
    let mut seconds = days * 86_400;
    let mut ns = 0;
    if let Some(time) = datetime.time {
        let second = time.second.unwrap_or(0);
        seconds += i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + i64::from(second);
        ns = u64::from(time.nanosecond.unwrap_or(0));
    }
    if let Some(toml::value::Offset::Custom { minutes }) = datetime.offset {
        seconds -= i64::from(minutes) * 60;
    }
    Some(u64::try_from(seconds).ok()? * 1_000_000_000 + ns)
}

/// The CLTUs whose radiation a user wants to be notified of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotifySetting {
    /// No CLTU.
    #[default]
    None,
    /// The last of a run, or of a buffer.
    Last,
    /// Every CLTU.
    Every,
}

/// Production status at start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProductionSetting {
    /// CLTUs are radiated, frames are produced.
    #[default]
    Operational,
    /// Set up, the uplink is not there: FCLTU only.
    Configured,
    /// Production is interrupted.
    Interrupted,
    /// An operator has to say otherwise first.
    Halted,
}

impl From<ProductionSetting> for CltuProductionStatus {
    fn from(production: ProductionSetting) -> Self {
        match production {
            ProductionSetting::Operational => Self::Operational,
            ProductionSetting::Configured => Self::Configured,
            ProductionSetting::Interrupted => Self::Interrupted,
            ProductionSetting::Halted => Self::Halted,
        }
    }
}

/// When a user is told that production is interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationModeSetting {
    /// When it is.
    #[default]
    Immediate,
    /// When a CLTU is hit by it.
    Deferred,
}

/// `[instance.forward]`: an FCLTU instance's provider, and what its user sends.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ForwardTable {
    /// Longest CLTU that is taken, in octets.
    pub cltu_max: u32,
    /// Takes CLTUs longer than the 4096 octets that the book allows.
    pub beyond_standard: bool,
    /// Octets that may wait for radiation.
    pub buffer: u32,
    /// Bits a second that are radiated; none: as fast as it goes.
    pub bit_rate: Option<u64>,
    /// Shortest silence between two CLTUs, in µs.
    pub minimum_delay_us: u32,
    /// Address of the modem, which receives each radiated CLTU as a datagram; none: CLTUs are
    /// discarded.
    pub modem: Option<SocketAddr>,
    /// Refuses what is not start sequence, code blocks and tail.
    pub check: bool,
    /// Takes several CLTUs in one invocation, which no book has.
    pub blocking: bool,
    /// Events that may be thrown.
    pub event: Vec<EventTable>,
    /// Whether production goes on for a user who aborted.
    pub continue_after_abort: bool,
    /// Production status at start.
    pub production: ProductionSetting,
    /// When production begins: nothing is radiated before.
    pub production_from: Option<Datetime>,
    /// When production ends: nothing is radiated after, and no START accepted.
    pub production_until: Option<Datetime>,
    /// When a user is told of an interruption.
    pub notification: NotificationModeSetting,
    /// The CLTUs whose radiation the user wants to be notified of.
    pub notify: NotifySetting,
    /// Whether the provider tells that its buffer has become empty, as the book wants it.
    pub notify_buffer_empty: bool,
    /// Parameters of the uplink, which GET-PARAMETER reports.
    pub uplink: UplinkTable,
}

impl Default for ForwardTable {
    fn default() -> Self {
        Self {
            cltu_max: 4096,
            beyond_standard: false,
            buffer: 8 << 20,
            bit_rate: None,
            minimum_delay_us: 0,
            modem: None,
            check: false,
            blocking: false,
            event: Vec::new(),
            continue_after_abort: false,
            production: ProductionSetting::Operational,
            production_from: None,
            production_until: None,
            notification: NotificationModeSetting::Immediate,
            notify: NotifySetting::None,
            notify_buffer_empty: true,
            uplink: UplinkTable::default(),
        }
    }
}

/// `[[instance.forward.event]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventTable {
    /// Its number, in [1, 65535].
    pub id: u16,
    /// Result of the event: `completed`, `not-completed` or `condition-false`.
    #[serde(default = "completed")]
    pub outcome: String,
    /// Production status that the event sets; the event is then completed.
    pub production: Option<ProductionSetting>,
}

fn completed() -> String {
    "completed".to_owned()
}

/// Delivery mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryModeSetting {
    /// Timely online: frames that cannot be sent in time are discarded.
    Timely,
    /// Everything, as it comes.
    #[default]
    Complete,
    /// Offline: from a frame store.
    Offline,
}

/// Frame qualities that RAF may deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameQualitySetting {
    /// Good frames.
    Good,
    /// Erred frames.
    Erred,
    /// All frames.
    All,
}

/// Operational control fields that ROCF may deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ControlWordSetting {
    /// All control words.
    All = 0,
    /// Command link control words.
    Clcw = 1,
    /// All control words except CLCWs.
    NotClcw = 2,
}

/// Permitted update modes of ROCF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateModeSetting {
    /// Every field is delivered.
    Continuous,
    /// Only what is another than before.
    ChangeBased,
}

/// `[instance.return]`: an instance of RAF, RCF or ROCF.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReturnTable {
    /// Delivery mode.
    pub delivery: DeliveryModeSetting,
    /// Frames and notifications that a transfer buffer holds at most.
    pub frames_per_buffer: u16,
    /// A transfer buffer that is not full is sent after so many seconds.
    pub latency_s: u16,
    /// RAF online: frames of the source that are handed over as one, back to back. More than 1 is
    /// not standard.
    pub concatenated: u16,
    /// Generator of frames.
    pub generator: Option<GeneratorTable>,
    /// Takes frames, one a datagram.
    pub udp: Option<SocketAddr>,
    /// File of frames.
    pub file: Option<PathBuf>,
    /// Octets of each frame in `file`; none: each has its length before it, 4 octets.
    pub file_frame_octets: Option<u32>,
    /// Folder in which the provider keeps the frames of this instance, for offline delivery: `file` of
    /// another instance names it.
    pub store: Option<PathBuf>,
    /// Octets of `store` at most; then the oldest frames leave.
    pub store_octets: u64,
    /// Age of the oldest frames in `store`, in seconds; none: any.
    pub store_age_s: Option<u64>,
    /// Frames a second from `file`; none: as fast as they are taken.
    pub rate: Option<u32>,
    /// Whether `file` is read again from its beginning.
    pub repeat: bool,
    /// Spacecraft, version and virtual channel that may be asked for (RCF, ROCF), as `SCID.TFVN`
    /// for the master channel or `SCID.TFVN.VCID`.
    pub channels: Vec<GvcIdText>,
    /// RAF: which frames may be asked for; none said: good, erred and all.
    pub qualities: Option<Vec<FrameQualitySetting>>,
    /// ROCF: which control words may be asked for; none said: all three.
    pub control_words: Option<Vec<ControlWordSetting>>,
    /// ROCF: CLCWs of which virtual channels of telecommand may be asked for, each in [0, 63];
    /// none said: of each of them; an empty list: of none in particular.
    pub tc_channels: Option<Vec<u8>>,
    /// ROCF: which update modes may be asked for; none said: both.
    pub update_modes: Option<Vec<UpdateModeSetting>>,
    /// Name of the antenna.
    pub antenna: String,
    /// Puts the correlator of our recorder into each frame's private annotation.
    pub annotate: bool,
    /// Production status at start.
    pub production: ProductionSetting,
    /// Octets of frames that wait for their turn at most, between source and user.
    pub backlog: usize,
    /// Whether frames end with a frame error control field; as the generator says where there is
    /// one, else no.
    pub fecf: Option<bool>,
}

impl Default for ReturnTable {
    fn default() -> Self {
        Self {
            delivery: DeliveryModeSetting::Complete,
            frames_per_buffer: 80,
            latency_s: 1,
            concatenated: 1,
            generator: None,
            udp: None,
            file: None,
            file_frame_octets: None,
            store: None,
            store_octets: 1 << 30,
            store_age_s: None,
            rate: None,
            repeat: false,
            channels: Vec::new(),
            qualities: None,
            control_words: None,
            tc_channels: None,
            update_modes: None,
            antenna: "ANTENNA".to_owned(),
            annotate: false,
            production: ProductionSetting::Operational,
            backlog: 16 << 20,
            fecf: None,
        }
    }
}

/// `[instance.return.generator]`: TM transfer frames (CCSDS 132.0).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneratorTable {
    /// Octets of a frame.
    pub octets: u32,
    /// Spacecraft, in [0, 1023].
    pub spacecraft: u16,
    /// Virtual channels that take turns, each in [0, 7].
    pub virtual_channels: Vec<u8>,
    /// Frames a second; none: as fast as they are taken.
    pub rate: Option<u32>,
    /// Number of frames; none: no limit.
    pub count: Option<u64>,
    /// With an operational control field.
    pub ocf: bool,
    /// With a frame error control field.
    pub fecf: bool,
}

impl Default for GeneratorTable {
    fn default() -> Self {
        Self {
            octets: 1115,
            spacecraft: 1,
            virtual_channels: vec![0],
            rate: None,
            count: None,
            ocf: true,
            fecf: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_utc() {
        let ns = |text: &str| utc_ns(&text.parse().unwrap());
        assert_eq!(ns("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(ns("1970-01-01T02:00:00+02:00"), Some(0));
        assert_eq!(ns("2000-02-29T12:00:00.5"), Some(951_825_600_500_000_000));
        assert_eq!(ns("2011-05-18"), Some(1_305_676_800_000_000_000));
        assert_eq!(ns("1969-12-31T23:59:59Z"), None);
    }
}
