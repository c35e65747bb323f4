//! Category 020: target reports of multilateration.
//!
//! EUROCONTROL-SPEC-0149-14, edition 1.11 (1.9 and 1.10 have the same layouts). Stepped over at
//! their exact length: I020/100, 210, 300, 310, 400 (contributing devices), 250, 230, 260, 030, 055
//! and 050.

use super::cat048::{FlightLevel, ModeA};
use super::cat062::{Cartesian, TargetIdentification, Velocity};
use super::wire::{
    Field, Fields, Layout, bit, fits, flag, put, put_parts, quantity, signed_quantity, to_signed,
    to_unsigned,
};
use super::{AsterixError, DataSource, EncodeRecord, LatLon, Record, TimeOfDay, sealed};

/// A target report. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Report {
    /// Data source (I020/010).
    pub source: DataSource,
    /// Target report descriptor (I020/020).
    pub descriptor: Option<Descriptor>,
    /// I020/140, when the report was stamped.
    pub time_of_day: Option<TimeOfDay>,
    /// I020/041, in steps of 180/2^25.
    pub position: Option<LatLon>,
    /// I020/042: metres from the system's reference point, in steps of 0.5.
    pub cartesian: Option<Cartesian>,
    /// I020/161, in [0, 4095].
    pub track_number: Option<u16>,
    /// Track status (I020/170).
    pub track_status: Option<TrackStatus>,
    /// Mode 3/A code (I020/070).
    pub mode_a: Option<ModeA>,
    /// Calculated velocity (I020/202).
    pub velocity: Option<Velocity>,
    /// Flight level (I020/090).
    pub flight_level: Option<FlightLevel>,
    /// I020/220, the 24-bit ICAO address.
    pub address: Option<u32>,
    /// Target identification (I020/245).
    pub target_identification: Option<TargetIdentification>,
    /// I020/110: measured height over the reference point's plane in feet, in steps of 6.25.
    pub measured_height_ft: Option<f64>,
    /// I020/105: height over the ellipsoid in feet, in steps of 6.25.
    pub geometric_height_ft: Option<f64>,
    /// Position accuracy (I020/500).
    pub accuracy: Option<Accuracy>,
    /// I020/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I020/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Type and properties of a report (I020/020).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Descriptor {
    /// Technologies that measured it, SSR, MS, HF, VDL4, UAT, DME and OT: bits 6 to 0.
    pub technologies: u8,
    /// RAB: of a field monitor (fixed transponder).
    pub field_monitor: bool,
    /// Special position identification (SPI).
    pub special_position: bool,
    /// CHN: of chain 2 instead of 1.
    pub chain_2: bool,
    /// GBS: transponder's ground bit set.
    pub on_ground: bool,
    /// CRT: corrupted replies.
    pub corrupted: bool,
    /// Target report is simulated (SIM).
    pub simulated: bool,
    /// TST: test target.
    pub test: bool,
    /// CF: 0 no information, further values by the edition.
    pub confidence: u8,
}

/// Status of the system's own track (I020/170).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct TrackStatus {
    /// Track is tentative (CNF).
    pub tentative: bool,
    /// TRE: the last report of this track.
    pub ends: bool,
    /// CST: extrapolated.
    pub coasting: bool,
    /// CDM: 0 level, 1 climbing, 2 descending, 3 unknown.
    pub vertical: u8,
    /// MAH: horizontal manoeuvre.
    pub manoeuvring: bool,
    /// STH: smoothed position.
    pub smoothed: bool,
    /// Track is a ghost (GHO).
    pub ghost: bool,
}

/// Accuracy of a position (I020/500).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Accuracy {
    /// DOP: dilution of precision along x, y and their correlation, in steps of 0.25.
    pub dilution: Option<(f64, f64, f64)>,
    /// SDP: standard deviations along x and y in metres, in steps of 0.25, and their correlation.
    pub sigma_m: Option<(f64, f64, f64)>,
    /// SDH: standard deviation of the height over the ellipsoid in metres, in steps of 0.5.
    pub height_sigma_m: Option<f64>,
}

impl sealed::Category for Report {
    fn fields() -> &'static Fields<Self> {
        &PROFILE
    }

    fn into_record(self) -> Record {
        Record::Multilateration(self)
    }
}

impl EncodeRecord for Report {
    const CATEGORY: u8 = 20;
    const NAME: &'static str = "I020";
    const SOURCE: &'static str = "I020/010";
}

/// By field reference number, from 1.
static PROFILE: [Option<Field<Report>>; 28] = [
    source!("I020/010"),
    item!("I020/020", Layout::Extended(1), descriptor, descriptor_of, put_descriptor),
    time_of_day!("I020/140", time_of_day),
    pair!("I020/041", position, 4, 180.0 / 33_554_432.0, LatLon { lat_deg, lon_deg }),
    pair!("I020/042", cartesian, 3, 0.5, Cartesian { x_m, y_m }),
    integer!("I020/161", track_number, 2, 12),
    item!("I020/170", Layout::Extended(1), track_status, track_status_of, put_track_status),
    code!("I020/070", mode_a),
    pair!("I020/202", velocity, 2, 0.25, Velocity { x_m_s, y_m_s }),
    flight_level!("I020/090", flight_level),
    Field::skipped("I020/100", Layout::Fixed(4)),
    integer!("I020/220", address, 3, 24),
    identification!("I020/245", target_identification),
    signed!("I020/110", measured_height_ft, 2, 6.25),
    signed!("I020/105", geometric_height_ft, 2, 6.25),
    Field::skipped("I020/210", Layout::Fixed(2)),
    Field::skipped("I020/300", Layout::Fixed(1)),
    Field::skipped("I020/310", Layout::Fixed(1)),
    compound!("I020/500", accuracy, ACCURACY),
    Field::skipped("I020/400", Layout::Repetitive(1)),
    Field::skipped("I020/250", Layout::Repetitive(8)),
    Field::skipped("I020/230", Layout::Fixed(2)),
    Field::skipped("I020/260", Layout::Fixed(7)),
    Field::skipped("I020/030", Layout::Extended(1)),
    Field::skipped("I020/055", Layout::Fixed(1)),
    Field::skipped("I020/050", Layout::Fixed(2)),
    explicit!("I020/RE", reserved_expansion),
    explicit!("I020/SP", special_purpose),
];

/// Subfields of I020/500.
static ACCURACY: [Option<Field<Accuracy>>; 3] = [
    item!("I020/500/DOP", Layout::Fixed(6), dilution, triple_of, |v, out: &mut Vec<u8>| {
        put_triple("I020/500/DOP", v, out)
    }),
    item!("I020/500/SDP", Layout::Fixed(6), sigma_m, triple_of, |v, out: &mut Vec<u8>| {
        put_triple("I020/500/SDP", v, out)
    }),
    quantity!("I020/500/SDH", height_sigma_m, 2, 0.5),
];

/// Two unsigned quantities and a correlation in two's complement.
fn triple_of(o: &[u8]) -> (f64, f64, f64) {
    (quantity(&o[..2], 0.25), quantity(&o[2..4], 0.25), signed_quantity(&o[4..], 16, 0.25))
}

fn put_triple(
    item: &'static str,
    (x, y, xy): (f64, f64, f64),
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    put(out, to_unsigned(item, x, 16, 0.25)?, 2);
    put(out, to_unsigned(item, y, 16, 0.25)?, 2);
    put(out, to_signed(item, xy, 16, 0.25)?, 2);
    Ok(())
}

fn descriptor_of(o: &[u8]) -> Descriptor {
    let part = |index: usize| o.get(index).copied().unwrap_or(0);
    Descriptor {
        technologies: o[0] >> 1,
        field_monitor: bit(part(1), 7),
        special_position: bit(part(1), 6),
        chain_2: bit(part(1), 5),
        on_ground: bit(part(1), 4),
        corrupted: bit(part(1), 3),
        simulated: bit(part(1), 2),
        test: bit(part(1), 1),
        confidence: part(2) >> 6,
    }
}

fn put_descriptor(d: Descriptor, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = fits("I020/020", d.technologies.into(), 7)? << 1;
    let second = flag(d.field_monitor, 7)
        | flag(d.special_position, 6)
        | flag(d.chain_2, 5)
        | flag(d.on_ground, 4)
        | flag(d.corrupted, 3)
        | flag(d.simulated, 2)
        | flag(d.test, 1);
    put_parts(&[first, second, fits("I020/020", d.confidence.into(), 2)? << 6], out);
    Ok(())
}

fn track_status_of(o: &[u8]) -> TrackStatus {
    TrackStatus {
        tentative: bit(o[0], 7),
        ends: bit(o[0], 6),
        coasting: bit(o[0], 5),
        vertical: o[0] >> 3 & 3,
        manoeuvring: bit(o[0], 2),
        smoothed: bit(o[0], 1),
        ghost: o.get(1).is_some_and(|extension| bit(*extension, 7)),
    }
}

fn put_track_status(s: TrackStatus, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = flag(s.tentative, 7)
        | flag(s.ends, 6)
        | flag(s.coasting, 5)
        | fits("I020/170", s.vertical.into(), 2)? << 3
        | flag(s.manoeuvring, 2)
        | flag(s.smoothed, 1);
    put_parts(&[first, flag(s.ghost, 7)], out);
    Ok(())
}
