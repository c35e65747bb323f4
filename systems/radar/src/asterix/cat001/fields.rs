//! The user application profiles of category 001: of plots and of tracks.

use super::super::AsterixError;
use super::super::cat048::Velocity;
use super::super::cat048::fields::{mode_c_of, put_mode_c};
use super::super::wire::{
    ANGLE_LSB, Field, Fields, Layout, bit, fits, flag, put, put_parts, quantity, to_angle,
    to_unsigned, u16_of,
};
use super::{CalculatedPosition, Descriptor, Position, Report, TrackStatus, TruncatedTime};

const RANGE_LSB: f64 = 1.0 / 128.0;
const GRID_LSB: f64 = 1.0 / 64.0;
const SPEED_LSB: f64 = 1.0 / 16_384.0;

/// A field of both profiles.
type Shared = Option<Field<Report>>;

const SOURCE: Shared = source!("I001/010");
const DESCRIPTOR: Shared =
    item!("I001/020", Layout::Extended(1), descriptor, descriptor_of, put_descriptor);
const POSITION: Shared = item!("I001/040", Layout::Fixed(4), position, position_of, put_position);
const MODE_A: Shared = code!("I001/070", mode_a);
const LEVEL: Shared = flight_level!("I001/090", flight_level);
const CHARACTERISTICS: Shared = sevens!("I001/130", characteristics);
const TIME: Shared = item!(
    "I001/141",
    Layout::Fixed(2),
    truncated_time,
    |o: &[u8]| TruncatedTime(u16_of(o)),
    |t: TruncatedTime, out: &mut Vec<u8>| Ok(put(out, t.0.into(), 2))
);
const MODE_2: Shared = code!("I001/050", mode_2);
const RADIAL_SPEED: Shared = signed!("I001/120", radial_speed_nm_s, 1, 1.0 / 256.0);
const POWER: Shared = signed!("I001/131", power_dbm, 1, 1.0);
const MODE_A_CONFIDENCE: Shared = integer!("I001/080", mode_a_confidence, 2, 12);
const MODE_C: Shared = named_item!("I001/100", Layout::Fixed(4), mode_c, mode_c_of, put_mode_c);
const MODE_2_CONFIDENCE: Shared = integer!("I001/060", mode_2_confidence, 2, 12);
const WARNINGS: Shared = sevens!("I001/030", warnings);
const X_PULSES: Shared = integer!("I001/150", x_pulses, 1, 8);
const RANDOM: Shared = Field::skipped("I001/RFS", Layout::Random);
const SPECIAL_PURPOSE: Shared = explicit!("I001/SP", special_purpose);

/// Plots, by field reference number, from 1.
pub(super) static PLOT: [Shared; 21] = [
    SOURCE,
    DESCRIPTOR,
    POSITION,
    MODE_A,
    LEVEL,
    CHARACTERISTICS,
    TIME,
    MODE_2,
    RADIAL_SPEED,
    POWER,
    MODE_A_CONFIDENCE,
    MODE_C,
    MODE_2_CONFIDENCE,
    WARNINGS,
    X_PULSES,
    None,
    None,
    None,
    None,
    SPECIAL_PURPOSE,
    RANDOM,
];

/// Tracks, by field reference number, from 1.
static TRACK: [Shared; 22] = [
    SOURCE,
    DESCRIPTOR,
    integer!("I001/161", track_number, 2, 16),
    POSITION,
    pair!("I001/042", calculated_position, 2, GRID_LSB, CalculatedPosition { x_nm, y_nm }),
    item!("I001/200", Layout::Fixed(4), velocity, velocity_of, put_velocity),
    MODE_A,
    LEVEL,
    TIME,
    CHARACTERISTICS,
    POWER,
    RADIAL_SPEED,
    item!("I001/170", Layout::Extended(1), track_status, track_status_of, put_track_status),
    sevens!("I001/210", track_quality),
    MODE_2,
    MODE_A_CONFIDENCE,
    MODE_C,
    MODE_2_CONFIDENCE,
    WARNINGS,
    SPECIAL_PURPOSE,
    RANDOM,
    X_PULSES,
];

/// The profile of plots or of tracks.
pub(super) fn profile(track: bool) -> &'static Fields<Report> {
    if track { &TRACK } else { &PLOT }
}

fn descriptor_of(o: &[u8]) -> Descriptor {
    let extension = o.get(1).copied().unwrap_or(0);
    Descriptor {
        track: bit(o[0], 7),
        simulated: bit(o[0], 6),
        detection: o[0] >> 4 & 3,
        antenna_2: bit(o[0], 3),
        special_position: bit(o[0], 2),
        field_monitor: bit(o[0], 1),
        test: bit(extension, 7),
        emergency: extension >> 5 & 3,
        military_emergency: bit(extension, 4),
        military_identification: bit(extension, 3),
    }
}

fn put_descriptor(d: Descriptor, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = flag(d.track, 7)
        | flag(d.simulated, 6)
        | fits("I001/020", d.detection.into(), 2)? << 4
        | flag(d.antenna_2, 3)
        | flag(d.special_position, 2)
        | flag(d.field_monitor, 1);
    let extension = flag(d.test, 7)
        | fits("I001/020", d.emergency.into(), 2)? << 5
        | flag(d.military_emergency, 4)
        | flag(d.military_identification, 3);
    put_parts(&[first, extension], out);
    Ok(())
}

fn position_of(o: &[u8]) -> Position {
    Position { range_nm: quantity(&o[..2], RANGE_LSB), azimuth_deg: quantity(&o[2..], ANGLE_LSB) }
}

fn put_position(p: Position, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    put(out, to_unsigned("I001/040", p.range_nm, 16, RANGE_LSB)?, 2);
    put(out, to_angle("I001/040", p.azimuth_deg)?, 2);
    Ok(())
}

fn velocity_of(o: &[u8]) -> Velocity {
    Velocity { speed_nm_s: quantity(&o[..2], SPEED_LSB), heading_deg: quantity(&o[2..], ANGLE_LSB) }
}

fn put_velocity(v: Velocity, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    put(out, to_unsigned("I001/200", v.speed_nm_s, 16, SPEED_LSB)?, 2);
    put(out, to_angle("I001/200", v.heading_deg)?, 2);
    Ok(())
}

fn track_status_of(o: &[u8]) -> TrackStatus {
    TrackStatus {
        tentative: bit(o[0], 7),
        primary: bit(o[0], 6),
        manoeuvring: bit(o[0], 5),
        doubtful: bit(o[0], 4),
        chain_2: bit(o[0], 3),
        ghost: bit(o[0], 1),
        ends: o.get(1).is_some_and(|extension| bit(*extension, 7)),
    }
}

fn put_track_status(s: TrackStatus, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = flag(s.tentative, 7)
        | flag(s.primary, 6)
        | flag(s.manoeuvring, 5)
        | flag(s.doubtful, 4)
        | flag(s.chain_2, 3)
        | flag(s.ghost, 1);
    put_parts(&[first, flag(s.ends, 7)], out);
    Ok(())
}
