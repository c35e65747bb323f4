//! Reports of a tracker: category 062 from a capture or a stream, in one plane.

use super::contents::Said;
use crate::asterix::{Callsign, Record, cat062, decode_block};
use crate::geodesy::{Stereographic, Wgs84};
use crate::link::{BlockReader, FrameError};
use crate::tracker::linear::Vec2;
use crate::tracker::recording::{Playback, is_recording};
use crate::tracker::surveillance::StationEditions;
use chronoscope_replay::capture::{ArrivalContent, Arrivals, CaptureError, CaptureReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

/// Reasons why a capture cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum ReportsError {
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A stream in it, or from a tracker, is not one of ASTERIX blocks.
    #[error(transparent)]
    Frames(#[from] FrameError),
    /// The file cannot be read, or a recording in it cannot be read to its end.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Report of a tracker on one track at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Time of the state, seconds since the UTC epoch.
    pub utc_s: f64,
    /// When the report arrived, seconds since the UTC epoch.
    pub arrived_s: f64,
    /// Track number (I062/040).
    pub number: u16,
    /// In the plane, m.
    pub position: Vec2,
    /// In the plane, m/s.
    pub velocity: Vec2,
    /// Measured flight level, or else the calculated altitude.
    pub level: Option<f64>,
    /// Rate of climb, ft/min.
    pub climb_ft_min: Option<f64>,
    /// 24-bit address of the aircraft.
    pub address: Option<u32>,
    /// Mode 3/A code.
    pub mode_a: Option<u16>,
    /// Target identification, as the aircraft sends it or as the tracker knows it.
    pub callsign: Option<Callsign>,
    /// The track ends with this report.
    pub ends: bool,
    /// Whether the state is extrapolated, for want of a measurement (CST).
    pub coasting: bool,
}

impl Report {
    /// What it says of its aircraft beside the position.
    pub(super) fn said(&self) -> Said {
        Said {
            address: self.address,
            mode_a: self.mode_a,
            callsign: self.callsign,
            level: self.level,
        }
    }
}

/// All reports of a tracker, in the order of their arrival.
#[derive(Debug)]
pub struct Reports {
    plane: Stereographic,
    /// Reports in the order of their arrival.
    pub reports: Vec<Report>,
    /// Tracks without number, time or WGS-84 position.
    pub incomplete: u64,
    /// Blocks and records of other categories.
    pub other: u64,
    /// Number of blocks or records that are not ASTERIX as specified.
    pub malformed: u64,
}

impl Reports {
    /// An empty list; positions are projected into `plane`.
    #[must_use]
    pub fn new(plane: Stereographic) -> Self {
        Self { plane, reports: Vec::new(), incomplete: 0, other: 0, malformed: 0 }
    }

    /// All of a file: a capture, or a recording in the FINAL format or of raw blocks.
    ///
    /// # Errors
    /// [`ReportsError`] where it cannot be read to its end.
    pub fn open(path: &Path, plane: Stereographic) -> Result<Self, ReportsError> {
        let mut file = BufReader::new(File::open(path)?);
        if !is_recording(file.fill_buf()?) {
            return Self::read(file, plane);
        }
        let mut all = Self::new(plane);
        let mut playback = Playback::open(path, None, StationEditions::default())?;
        while let Some((at_ns, octets)) = playback.take() {
            all.take(&octets, at_ns);
        }
        playback.failure.map_or(Ok(all), |failure| Err(io::Error::other(failure).into()))
    }

    /// All of a capture: datagrams and streams.
    ///
    /// # Errors
    /// [`ReportsError`] where the capture or a stream in it is broken.
    pub fn read(input: impl Read, plane: Stereographic) -> Result<Self, ReportsError> {
        let mut all = Self::new(plane);
        let mut streams: BTreeMap<_, BlockReader> = BTreeMap::new();
        for arrival in Arrivals::new(CaptureReader::new(input)?) {
            let arrival = arrival?;
            let key = (arrival.from.to_string(), arrival.to.to_string());
            match arrival.what {
                ArrivalContent::Datagram(octets) => all.take(&octets, arrival.at_ns),
                ArrivalContent::Opened | ArrivalContent::Ended => drop(streams.remove(&key)),
                ArrivalContent::Octets(octets) => {
                    let reader = streams.entry(key).or_default();
                    reader.extend(&octets);
                    while let Some(block) = reader.next_block()? {
                        all.take(block, arrival.at_ns);
                    }
                }
            }
        }
        Ok(all)
    }

    /// Blocks that arrived at `at_ns`, UTC.
    pub fn take(&mut self, octets: &[u8], at_ns: i64) {
        for record in decode_block(octets) {
            match record {
                Ok(Record::Track(track)) => match self.report(&track, at_ns) {
                    Some(report) => self.reports.push(report),
                    None => self.incomplete += 1,
                },
                Ok(_) => self.other += 1,
                Err(_) => self.malformed += 1,
            }
        }
    }

    fn report(&self, track: &cat062::Track, at_ns: i64) -> Option<Report> {
        let at = track.position?;
        let at = Wgs84 { lat_deg: at.lat_deg, lon_deg: at.lon_deg, height_m: 0.0 };
        let plane = self.plane.project(at);
        let velocity = track.velocity.unwrap_or_default();
        let utc_ns = track.time_of_day?.to_utc_ns(at_ns);
        Some(Report {
            utc_s: utc_ns as f64 * 1e-9,
            arrived_s: at_ns as f64 * 1e-9,
            number: track.track_number?,
            position: Vec2::new(plane.x_m, plane.y_m),
            velocity: Vec2::new(velocity.x_m_s, velocity.y_m_s),
            level: track
                .measured_flight_level
                .or_else(|| track.barometric_altitude.map(|altitude| altitude.level)),
            climb_ft_min: track.rate_of_climb_ft_min,
            address: track.derived.as_ref().and_then(|derived| derived.address),
            mode_a: track.mode_a.filter(|a| !a.garbled && !a.not_validated).map(|a| a.code),
            callsign: callsign(track),
            ends: track.status.is_some_and(|status| status.ends),
            coasting: track.status.is_some_and(|status| status.coasting),
        })
    }
}

/// The target identification of a track, but for a registration.
fn callsign(track: &cat062::Track) -> Option<Callsign> {
    let sent = track.derived.as_ref().and_then(|derived| derived.callsign);
    // I062/245 STI: 2 is a registration that was not downlinked, 3 is invalid.
    let known = track.target_identification.filter(|id| id.origin < 2).map(|id| id.callsign);
    sent.or(known)
}
