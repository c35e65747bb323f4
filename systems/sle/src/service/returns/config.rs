//! Configuration of an instance of a return service.

use crate::frame::FrameTrailer;
use crate::pdu::{
    AntennaId, DeliveryMode, GvcId, PermittedChannel, RequestedFrameQuality, ServiceType,
    UpdateMode,
};
use bytes::Bytes;

/// Configuration of a service instance.
#[derive(Clone, Debug)]
pub struct ReturnConfig {
    /// RAF, RCF or ROCF, with what may be asked for.
    pub offer: ServiceOffer,
    /// Delivery mode.
    pub delivery: DeliveryMode,
    /// Invocations that a transfer buffer holds, in [1, 65535].
    pub buffer_size: u16,
    /// Seconds after which a transfer buffer that is not full goes out; no meaning offline.
    pub latency_limit_s: u16,
    /// Shortest cycle of status reports, in seconds, in [1, 600] (the books say 2 before
    /// version 5).
    pub min_reporting_cycle_s: u16,
    /// Return timeout that GET-PARAMETER reports, in seconds, in [1, 600].
    pub return_timeout_s: u16,
    /// Antenna that receives the frames.
    pub antenna: AntennaId,
    /// Structure of the frame trailers.
    pub trailer: FrameTrailer,
    /// RAF: a data unit is several frames back to back (not standard). Its header is one frame's, so
    /// that the data link continuity is unknown (-1).
    pub is_concatenated: bool,
    /// Complete online: octets that the online frame buffer may hold.
    pub backlog_octets: usize,
    /// UTC in nanoseconds since 1970 from which until which the instance serves; START's times
    /// must lie within.
    pub provision_utc_ns: (u64, u64),
}

impl ReturnConfig {
    /// RAF in complete online delivery, 80 frames a buffer, one second of latency.
    #[must_use]
    pub fn raf() -> Self {
        Self {
            offer: ServiceOffer::Raf {
                permitted: vec![
                    RequestedFrameQuality::Good,
                    RequestedFrameQuality::Erred,
                    RequestedFrameQuality::All,
                ],
            },
            delivery: DeliveryMode::CompleteOnline,
            buffer_size: 80,
            latency_limit_s: 1,
            min_reporting_cycle_s: 2,
            return_timeout_s: 60,
            antenna: AntennaId::Local(Bytes::from_static(b"ANTENNA")),
            trailer: FrameTrailer::default(),
            is_concatenated: false,
            backlog_octets: 16 << 20,
            provision_utc_ns: (0, u64::MAX),
        }
    }

    /// The service.
    #[must_use]
    pub fn service(&self) -> ServiceType {
        match self.offer {
            ServiceOffer::Raf { .. } => ServiceType::Raf,
            ServiceOffer::Rcf { .. } => ServiceType::Rcf,
            ServiceOffer::Rocf { .. } => ServiceType::Rocf,
        }
    }

    /// Whether frames come from a store.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        self.delivery == DeliveryMode::Offline
    }
}

/// Permitted requests of a service instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceOffer {
    /// Return all frames.
    Raf {
        /// Permitted frame qualities, at least one. GET-PARAMETER before START reports the first.
        permitted: Vec<RequestedFrameQuality>,
    },
    /// Return channel frames.
    Rcf {
        /// Permitted channels, at least one.
        channels: Vec<PermittedChannel>,
    },
    /// Return operational control fields.
    Rocf {
        /// Permitted channels, at least one.
        channels: Vec<PermittedChannel>,
        /// Permitted control word types: 0 all, 1 CLCW, 2 not CLCW; at least one.
        control_words: Vec<u8>,
        /// CLCW of which virtual channels of telecommand; `None`: of none in particular.
        tc_channels: Option<Vec<u8>>,
        /// Permitted update modes, at least one.
        updates: Vec<UpdateMode>,
    },
}

/// Whether a channel is among those permitted. A permitted master channel stands for itself; its
/// virtual channels are permitted by name (CCSDS 911.2, permitted-global-VCID-set).
#[must_use]
pub(super) fn permits(channels: &[PermittedChannel], asked: GvcId) -> bool {
    channels.iter().any(|channel| {
        channel.spacecraft == asked.spacecraft
            && channel.version == asked.version
            && match (&channel.virtual_channels, asked.virtual_channel) {
                (None, None) => true,
                (Some(list), Some(asked)) => list.contains(&asked),
                _ => false,
            }
    })
}

/// The first of the channels that are permitted, which GET-PARAMETER names before START from
/// version 5 on.
#[must_use]
pub(super) fn first(channels: &[PermittedChannel]) -> Option<GvcId> {
    let channel = channels.first()?;
    Some(GvcId {
        spacecraft: channel.spacecraft,
        version: channel.version,
        virtual_channel: channel.virtual_channels.as_ref().and_then(|list| list.first().copied()),
    })
}
