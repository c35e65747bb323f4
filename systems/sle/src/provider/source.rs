//! Frame source of an instance, from its configuration.

use crate::config::{DeliveryModeSetting, ReturnTable};
use crate::frame::ReceivedFrame;
use crate::service::returns::OfflineRange;
use crate::source::{
    FrameFile, FrameFileLayout, FrameFileSettings, FrameGenerator, FrameSource, GeneratorSettings,
    ReadProgress, StoredFrames, UdpSource, check_store,
};
use crate::time::Now;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A source, with what a provider has to know of it.
#[derive(Debug)]
pub(super) enum FrameOrigin {
    /// Frames as they are received, or made.
    Online {
        source: FrameSource,
        address: Option<SocketAddr>,
        /// It delivers frames only when they are requested, so that none is lost meanwhile.
        waits: bool,
    },
    /// A store, of which START says from when to when.
    Offline { path: PathBuf, open: Option<(OfflineRange, StoredFrames)> },
}

impl FrameOrigin {
    pub(super) fn open(returns: &ReturnTable) -> io::Result<Self> {
        if let Some(address) = returns.udp {
            let source = UdpSource::bind(address)?;
            let address = source.local_addr()?;
            return Ok(Self::Online {
                source: FrameSource::Udp(source),
                address: Some(address),
                waits: false,
            });
        }
        if let Some(path) = &returns.file {
            if returns.delivery == DeliveryModeSetting::Offline {
                // Known now, and not when the first user starts.
                check_store(path).map_err(io::Error::other)?;
                return Ok(Self::Offline { path: path.clone(), open: None });
            }
            let settings = FrameFileSettings {
                layout: match returns.file_frame_octets {
                    Some(octets) => FrameFileLayout::Fixed(octets as usize),
                    None => FrameFileLayout::Prefixed,
                },
                rate: returns.rate,
                repeat: returns.repeat,
            };
            let file = FrameFile::open(path, settings).map_err(io::Error::other)?;
            let waits = returns.rate.is_none();
            return Ok(Self::Online { source: FrameSource::File(file), address: None, waits });
        }
        let made = returns.generator.clone().unwrap_or_default();
        let waits = made.rate.is_none();
        let settings = GeneratorSettings {
            octets: made.octets as usize,
            spacecraft: made.spacecraft,
            virtual_channels: made.virtual_channels,
            rate: made.rate,
            count: made.count,
            ocf: made.ocf,
            fecf: made.fecf,
        };
        let generator = FrameGenerator::new(settings).map_err(io::Error::other)?;
        Ok(Self::Online { source: FrameSource::Generator(generator), address: None, waits })
    }

    /// Address of a UDP source.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Online { address, .. } => *address,
            Self::Offline { .. } => None,
        }
    }

    /// Whether frames come only when they are asked for.
    pub(super) fn waits(&self) -> bool {
        match self {
            Self::Online { waits, .. } => *waits,
            Self::Offline { .. } => true,
        }
    }

    /// Appends what comes next, at most so many. UDP waits, a tenth of a second at most.
    pub(super) fn read(
        &mut self,
        max: usize,
        range: Option<OfflineRange>,
        out: &mut Vec<ReceivedFrame>,
    ) -> io::Result<ReadProgress> {
        match self {
            Self::Online { source, .. } => {
                source.read(max, Now::read(), out).map_err(io::Error::other)
            }
            Self::Offline { path, open } => {
                let Some(range) = range else {
                    *open = None;
                    return Ok(ReadProgress::End);
                };
                if !open.as_ref().is_some_and(|(opened, _)| *opened == range) {
                    let reader = StoredFrames::open(path, range).map_err(io::Error::other)?;
                    *open = Some((range, reader));
                }
                match open {
                    Some((_, reader)) => reader.read(max, out).map_err(io::Error::other),
                    None => Ok(ReadProgress::End),
                }
            }
        }
    }
}
