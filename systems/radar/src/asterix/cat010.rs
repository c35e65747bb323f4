//! Category 010: target reports of surface movement radars and multilateration at an aerodrome.
//!
//! EUROCONTROL-SPEC-0149-7, edition 1.1. Stepped over at their exact length: I010/200, 170, 250, 300,
//! 270 (size), 550 (system status), 310, 280 (presence), 131 and 210.

use super::cat048::{FlightLevel, ModeA};
use super::cat062::{Cartesian, TargetIdentification, Velocity};
use super::wire::{
    ANGLE_LSB, Field, Fields, Layout, bit, fits, flag, put, put_parts, quantity, signed_quantity,
    to_angle, to_signed, to_unsigned,
};
use super::{AsterixError, DataSource, EncodeRecord, LatLon, Record, TimeOfDay, sealed};

/// A report. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Report {
    /// Data source (I010/010).
    pub source: DataSource,
    /// I010/000: 1 target report, 2 start of update cycle, 3 periodic status, 4 event status.
    pub kind: Option<u8>,
    /// Target report descriptor (I010/020).
    pub descriptor: Option<Descriptor>,
    /// I010/140, when the report was stamped.
    pub time_of_day: Option<TimeOfDay>,
    /// I010/041, in steps of 180/2^31.
    pub position: Option<LatLon>,
    /// Measured position (I010/040).
    pub polar: Option<Polar>,
    /// I010/042: metres from the system's reference point.
    pub cartesian: Option<Cartesian>,
    /// Calculated velocity (I010/202), in steps of 0.25 m/s.
    pub velocity: Option<Velocity>,
    /// I010/161, in [0, 4095].
    pub track_number: Option<u16>,
    /// Mode 3/A code (I010/060).
    pub mode_a: Option<ModeA>,
    /// I010/220, the 24-bit ICAO address.
    pub address: Option<u32>,
    /// Target identification (I010/245).
    pub target_identification: Option<TargetIdentification>,
    /// Flight level (I010/090).
    pub flight_level: Option<FlightLevel>,
    /// I010/091: measured height in feet, in steps of 6.25.
    pub measured_height_ft: Option<f64>,
    /// Standard deviation of the position (I010/500).
    pub accuracy: Option<Accuracy>,
    /// I010/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I010/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Type and properties of a report (I010/020).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Descriptor {
    /// TYP: 0 SSR multilateration, 1 Mode S multilateration, 2 ADS-B, 3 primary radar, 4 magnetic
    /// loop, 5 HF multilateration, 6 not defined, 7 other.
    pub detection: u8,
    /// DCR: differential correction (ADS-B).
    pub differential: bool,
    /// CHN: of chain 2 instead of 1.
    pub chain_2: bool,
    /// GBS: transponder's ground bit set.
    pub on_ground: bool,
    /// CRT: corrupted replies (multilateration).
    pub corrupted: bool,
    /// Target report is simulated (SIM).
    pub simulated: bool,
    /// TST: test target.
    pub test: bool,
    /// RAB: of a field monitor (fixed transponder).
    pub field_monitor: bool,
    /// LOP: 0 undetermined, 1 loop start, 2 loop finish.
    pub loop_state: u8,
    /// TOT: 0 undetermined, 1 aircraft, 2 ground vehicle, 3 helicopter.
    pub target: u8,
    /// Special position identification (SPI).
    pub special_position: bool,
}

/// A measured position (I010/040).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Polar {
    /// Metres, in [0, 65535].
    pub range_m: f64,
    /// Degrees clockwise from north, in steps of 360/2^16.
    pub azimuth_deg: f64,
}

/// Standard deviation of a position (I010/500).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Accuracy {
    /// Metres along x, in steps of 0.25 in [0, 63.75].
    pub x_m: f64,
    /// Metres along y.
    pub y_m: f64,
    /// Covariance component in metres, in steps of 0.25, signed.
    pub covariance_m: f64,
}

impl sealed::Category for Report {
    fn fields() -> &'static Fields<Self> {
        &PROFILE
    }

    fn into_record(self) -> Record {
        Record::Surface(self)
    }
}

impl EncodeRecord for Report {
    const CATEGORY: u8 = 10;
    const NAME: &'static str = "I010";
    const SOURCE: &'static str = "I010/010";
}

/// By field reference number, from 1; 26 is spare.
static PROFILE: [Option<Field<Report>>; 28] = [
    source!("I010/010"),
    integer!("I010/000", kind, 1, 8),
    item!("I010/020", Layout::Extended(1), descriptor, descriptor_of, put_descriptor),
    time_of_day!("I010/140", time_of_day),
    pair!("I010/041", position, 4, 180.0 / 2_147_483_648.0, LatLon { lat_deg, lon_deg }),
    item!("I010/040", Layout::Fixed(4), polar, polar_of, put_polar),
    pair!("I010/042", cartesian, 2, 1.0, Cartesian { x_m, y_m }),
    Field::skipped("I010/200", Layout::Fixed(4)),
    pair!("I010/202", velocity, 2, 0.25, Velocity { x_m_s, y_m_s }),
    integer!("I010/161", track_number, 2, 12),
    Field::skipped("I010/170", Layout::Extended(1)),
    code!("I010/060", mode_a),
    integer!("I010/220", address, 3, 24),
    identification!("I010/245", target_identification),
    Field::skipped("I010/250", Layout::Repetitive(8)),
    Field::skipped("I010/300", Layout::Fixed(1)),
    flight_level!("I010/090", flight_level),
    signed!("I010/091", measured_height_ft, 2, 6.25),
    Field::skipped("I010/270", Layout::Extended(1)),
    Field::skipped("I010/550", Layout::Fixed(1)),
    Field::skipped("I010/310", Layout::Fixed(1)),
    item!("I010/500", Layout::Fixed(4), accuracy, accuracy_of, put_accuracy),
    Field::skipped("I010/280", Layout::Repetitive(2)),
    Field::skipped("I010/131", Layout::Fixed(1)),
    Field::skipped("I010/210", Layout::Fixed(2)),
    None,
    explicit!("I010/SP", special_purpose),
    explicit!("I010/RE", reserved_expansion),
];

fn polar_of(o: &[u8]) -> Polar {
    Polar { range_m: quantity(&o[..2], 1.0), azimuth_deg: quantity(&o[2..], ANGLE_LSB) }
}

fn put_polar(p: Polar, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    put(out, to_unsigned("I010/040", p.range_m, 16, 1.0)?, 2);
    put(out, to_angle("I010/040", p.azimuth_deg)?, 2);
    Ok(())
}

fn accuracy_of(o: &[u8]) -> Accuracy {
    Accuracy {
        x_m: quantity(&o[..1], 0.25),
        y_m: quantity(&o[1..2], 0.25),
        covariance_m: signed_quantity(&o[2..], 16, 0.25),
    }
}

fn put_accuracy(a: Accuracy, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    put(out, to_unsigned("I010/500", a.x_m, 8, 0.25)?, 1);
    put(out, to_unsigned("I010/500", a.y_m, 8, 0.25)?, 1);
    put(out, to_signed("I010/500", a.covariance_m, 16, 0.25)?, 2);
    Ok(())
}

fn descriptor_of(o: &[u8]) -> Descriptor {
    let part = |index: usize| o.get(index).copied().unwrap_or(0);
    Descriptor {
        detection: o[0] >> 5,
        differential: bit(o[0], 4),
        chain_2: bit(o[0], 3),
        on_ground: bit(o[0], 2),
        corrupted: bit(o[0], 1),
        simulated: bit(part(1), 7),
        test: bit(part(1), 6),
        field_monitor: bit(part(1), 5),
        loop_state: part(1) >> 3 & 3,
        target: part(1) >> 1 & 3,
        special_position: bit(part(2), 7),
    }
}

fn put_descriptor(d: Descriptor, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = fits("I010/020", d.detection.into(), 3)? << 5
        | flag(d.differential, 4)
        | flag(d.chain_2, 3)
        | flag(d.on_ground, 2)
        | flag(d.corrupted, 1);
    let second = flag(d.simulated, 7)
        | flag(d.test, 6)
        | flag(d.field_monitor, 5)
        | fits("I010/020", d.loop_state.into(), 2)? << 3
        | fits("I010/020", d.target.into(), 2)? << 1;
    put_parts(&[first, second, flag(d.special_position, 7)], out);
    Ok(())
}
