//! Category 034: service messages of a radar.
//!
//! EUROCONTROL-SPEC-0149-2b, edition 1.29.

use super::wire::{
    ANGLE_LSB, Field, Fields, Layout, decode_compound, encode_fields, fits, put, put_count,
    put_explicit, quantity, signed_quantity, skip_compound, some, to_angle, to_signed, to_unsigned,
    u16_of, u24_of,
};
use super::{AsterixError, DataSource, EncodeRecord, Record, TimeOfDay, sealed};

/// A service message. Every item but the data source is optional on the wire.
///
/// The states of I034/050 and I034/060 are kept as the octets of their subfields.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ServiceMessage {
    /// Data source (I034/010).
    pub source: DataSource,
    /// Type of the message (I034/000).
    pub kind: Option<MessageType>,
    /// Time of day (I034/030).
    pub time_of_day: Option<TimeOfDay>,
    /// I034/020: azimuth at which the sector starts, in degrees, in steps of 360/256 in [0, 360).
    pub sector_deg: Option<f64>,
    /// I034/041: antenna rotation period in seconds, in steps of 1/128 in [0, 512).
    pub antenna_period_s: Option<f64>,
    /// System configuration and status (I034/050).
    pub configuration: Option<SystemStates>,
    /// System processing mode (I034/060).
    pub processing_mode: Option<SystemStates>,
    /// I034/070, at most 255.
    pub message_counts: Vec<MessageCount>,
    /// Window in polar coordinates (I034/100).
    pub polar_window: Option<PolarWindow>,
    /// I034/110: what data filter is active.
    pub data_filter: Option<u8>,
    /// I034/120: where the radar is.
    pub position: Option<RadarPosition>,
    /// Collimation error (I034/090).
    pub collimation_error: Option<CollimationError>,
    /// I034/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I034/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Type of a service message (I034/000).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageType {
    /// 1: the antenna passed north.
    NorthMarker,
    /// 2: the antenna entered a sector.
    SectorCrossing,
    /// 3: a geographical filter.
    GeographicalFiltering,
    /// 4: a jamming strobe.
    JammingStrobe,
    /// Any other number.
    Other(u8),
}

/// Subfields of I034/050 or I034/060, as their octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SystemStates {
    /// COM: common part.
    pub common: Option<u8>,
    /// PSR: primary radar.
    pub psr: Option<u8>,
    /// SSR: secondary radar.
    pub ssr: Option<u8>,
    /// MDS: Mode S; of I034/060 only the low octet is used.
    pub mode_s: Option<u16>,
}

/// Number of messages of a type in the last turn (I034/070).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MessageCount {
    /// Type of message, in [0, 31].
    pub kind: u8,
    /// Number of messages, in [0, 2047].
    pub count: u16,
}

/// A polar window (I034/100): ranges in nautical miles in steps of 1/256, azimuths in degrees in
/// steps of 360/2^16.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PolarWindow {
    /// Range start (RHOST), nautical miles.
    pub range_start_nm: f64,
    /// Range end (RHOEND), nautical miles.
    pub range_end_nm: f64,
    /// Azimuth start (THETAST), degrees.
    pub azimuth_start_deg: f64,
    /// Azimuth end (THETAEND), degrees.
    pub azimuth_end_deg: f64,
}

/// Position of a radar, in WGS-84 (I034/120).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct RadarPosition {
    /// Metres over the reference ellipsoid, whole, in [-32768, 32767].
    pub height_m: f64,
    /// Degrees, north positive, in steps of 180/2^23.
    pub lat_deg: f64,
    /// Degrees, east positive, in steps of 180/2^23.
    pub lon_deg: f64,
}

/// Difference between the primary and the secondary radar (I034/090).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct CollimationError {
    /// Nautical miles, in steps of 1/128 in [-1, 1).
    pub range_nm: f64,
    /// Degrees, in steps of 360/2^14.
    pub azimuth_deg: f64,
}

impl MessageType {
    fn number(self) -> u8 {
        match self {
            Self::NorthMarker => 1,
            Self::SectorCrossing => 2,
            Self::GeographicalFiltering => 3,
            Self::JammingStrobe => 4,
            Self::Other(number) => number,
        }
    }

    fn of(number: u8) -> Self {
        match number {
            1 => Self::NorthMarker,
            2 => Self::SectorCrossing,
            3 => Self::GeographicalFiltering,
            4 => Self::JammingStrobe,
            other => Self::Other(other),
        }
    }
}

impl sealed::Category for ServiceMessage {
    fn fields() -> &'static Fields<Self> {
        &PROFILE
    }

    fn into_record(self) -> Record {
        Record::Service(self)
    }
}

impl EncodeRecord for ServiceMessage {
    const CATEGORY: u8 = 34;
    const NAME: &'static str = "I034";
    const SOURCE: &'static str = "I034/010";
}

const RANGE_LSB: f64 = 1.0 / 256.0;
const POSITION_LSB: f64 = 180.0 / 8_388_608.0;
const SECTOR_LSB: f64 = 360.0 / 256.0;

/// By field reference number, from 1.
static PROFILE: [Option<Field<ServiceMessage>>; 14] = [
    Some(Field {
        name: "I034/010",
        layout: Layout::Fixed(2),
        decode: |m, o| m.source = DataSource { sac: o[0], sic: o[1] },
        encode: |m, out| some(Some(m.source), |s| Ok(out.extend_from_slice(&[s.sac, s.sic]))),
    }),
    Some(Field {
        name: "I034/000",
        layout: Layout::Fixed(1),
        decode: |m, o| m.kind = Some(MessageType::of(o[0])),
        encode: |m, out| some(m.kind, |kind| Ok(out.push(kind.number()))),
    }),
    Some(Field {
        name: "I034/030",
        layout: Layout::Fixed(3),
        decode: |m, o| m.time_of_day = Some(TimeOfDay::from_ticks(u24_of(o))),
        encode: |m, out| some(m.time_of_day, |t| Ok(put(out, t.ticks().into(), 3))),
    }),
    Some(Field {
        name: "I034/020",
        layout: Layout::Fixed(1),
        decode: |m, o| m.sector_deg = Some(quantity(o, SECTOR_LSB)),
        encode: |m, out| {
            some(m.sector_deg, |s| Ok(put(out, to_unsigned("I034/020", s, 8, SECTOR_LSB)?, 1)))
        },
    }),
    Some(Field {
        name: "I034/041",
        layout: Layout::Fixed(2),
        decode: |m, o| m.antenna_period_s = Some(quantity(o, 1.0 / 128.0)),
        encode: |m, out| {
            some(m.antenna_period_s, |p| {
                Ok(put(out, to_unsigned("I034/041", p, 16, 1.0 / 128.0)?, 2))
            })
        },
    }),
    Some(Field {
        name: "I034/050",
        layout: Layout::Compound(|cursor| skip_compound(cursor, "I034/050", &CONFIGURATION)),
        decode: |m, o| m.configuration = Some(decode_compound("I034/050", &CONFIGURATION, o)),
        encode: |m, out| match &m.configuration {
            Some(states) => encode_fields(&CONFIGURATION, states, out),
            None => Ok(false),
        },
    }),
    Some(Field {
        name: "I034/060",
        layout: Layout::Compound(|cursor| skip_compound(cursor, "I034/060", &PROCESSING_MODE)),
        decode: |m, o| m.processing_mode = Some(decode_compound("I034/060", &PROCESSING_MODE, o)),
        encode: |m, out| match &m.processing_mode {
            Some(states) => encode_fields(&PROCESSING_MODE, states, out),
            None => Ok(false),
        },
    }),
    Some(Field {
        name: "I034/070",
        layout: Layout::Repetitive(2),
        decode: |m, o| m.message_counts = o[1..].chunks_exact(2).map(count_of).collect(),
        encode: |m, out| put_counts(&m.message_counts, out),
    }),
    Some(Field {
        name: "I034/100",
        layout: Layout::Fixed(8),
        decode: |m, o| {
            m.polar_window = Some(PolarWindow {
                range_start_nm: quantity(&o[..2], RANGE_LSB),
                range_end_nm: quantity(&o[2..4], RANGE_LSB),
                azimuth_start_deg: quantity(&o[4..6], ANGLE_LSB),
                azimuth_end_deg: quantity(&o[6..], ANGLE_LSB),
            });
        },
        encode: |m, out| {
            some(m.polar_window, |w| {
                put(out, to_unsigned("I034/100", w.range_start_nm, 16, RANGE_LSB)?, 2);
                put(out, to_unsigned("I034/100", w.range_end_nm, 16, RANGE_LSB)?, 2);
                put(out, to_angle("I034/100", w.azimuth_start_deg)?, 2);
                Ok(put(out, to_angle("I034/100", w.azimuth_end_deg)?, 2))
            })
        },
    }),
    Some(Field {
        name: "I034/110",
        layout: Layout::Fixed(1),
        decode: |m, o| m.data_filter = Some(o[0]),
        encode: |m, out| some(m.data_filter, |filter| Ok(out.push(filter))),
    }),
    Some(Field {
        name: "I034/120",
        layout: Layout::Fixed(8),
        decode: |m, o| {
            m.position = Some(RadarPosition {
                height_m: signed_quantity(&o[..2], 16, 1.0),
                lat_deg: signed_quantity(&o[2..5], 24, POSITION_LSB),
                lon_deg: signed_quantity(&o[5..], 24, POSITION_LSB),
            });
        },
        encode: |m, out| {
            some(m.position, |p| {
                put(out, to_signed("I034/120", p.height_m, 16, 1.0)?, 2);
                put(out, to_signed("I034/120", p.lat_deg, 24, POSITION_LSB)?, 3);
                Ok(put(out, to_signed("I034/120", p.lon_deg, 24, POSITION_LSB)?, 3))
            })
        },
    }),
    Some(Field {
        name: "I034/090",
        layout: Layout::Fixed(2),
        decode: |m, o| {
            m.collimation_error = Some(CollimationError {
                range_nm: signed_quantity(&o[..1], 8, 1.0 / 128.0),
                azimuth_deg: signed_quantity(&o[1..], 8, 360.0 / 16_384.0),
            });
        },
        encode: |m, out| {
            some(m.collimation_error, |e| {
                put(out, to_signed("I034/090", e.range_nm, 8, 1.0 / 128.0)?, 1);
                Ok(put(out, to_signed("I034/090", e.azimuth_deg, 8, 360.0 / 16_384.0)?, 1))
            })
        },
    }),
    Some(Field {
        name: "I034/RE",
        layout: Layout::Explicit,
        decode: |m, o| m.reserved_expansion = o[1..].to_vec(),
        encode: |m, out| put_explicit("I034/RE", &m.reserved_expansion, out),
    }),
    Some(Field {
        name: "I034/SP",
        layout: Layout::Explicit,
        decode: |m, o| m.special_purpose = o[1..].to_vec(),
        encode: |m, out| put_explicit("I034/SP", &m.special_purpose, out),
    }),
];

/// I034/050: as I034/060, but the Mode S part has two octets.
static CONFIGURATION: [Option<Field<SystemStates>>; 7] = [
    Some(Field { name: "I034/050/COM", ..COMMON }),
    None,
    None,
    Some(Field { name: "I034/050/PSR", ..PSR }),
    Some(Field { name: "I034/050/SSR", ..SSR }),
    Some(Field {
        name: "I034/050/MDS",
        layout: Layout::Fixed(2),
        decode: |s, o| s.mode_s = Some(u16_of(o)),
        encode: |s, out| some(s.mode_s, |v| Ok(put(out, v.into(), 2))),
    }),
    None,
];

/// Subfields of I034/060.
static PROCESSING_MODE: [Option<Field<SystemStates>>; 7] = [
    Some(Field { name: "I034/060/COM", ..COMMON }),
    None,
    None,
    Some(Field { name: "I034/060/PSR", ..PSR }),
    Some(Field { name: "I034/060/SSR", ..SSR }),
    Some(Field {
        name: "I034/060/MDS",
        layout: Layout::Fixed(1),
        decode: |s, o| s.mode_s = Some(o[0].into()),
        encode: |s, out| some(s.mode_s, |v| Ok(put(out, fits("I034/060/MDS", v.into(), 8)?, 1))),
    }),
    None,
];

const COMMON: Field<SystemStates> = Field {
    name: "COM",
    layout: Layout::Fixed(1),
    decode: |s, o| s.common = Some(o[0]),
    encode: |s, out| some(s.common, |v| Ok(out.push(v))),
};

const PSR: Field<SystemStates> = Field {
    name: "PSR",
    layout: Layout::Fixed(1),
    decode: |s, o| s.psr = Some(o[0]),
    encode: |s, out| some(s.psr, |v| Ok(out.push(v))),
};

const SSR: Field<SystemStates> = Field {
    name: "SSR",
    layout: Layout::Fixed(1),
    decode: |s, o| s.ssr = Some(o[0]),
    encode: |s, out| some(s.ssr, |v| Ok(out.push(v))),
};

fn count_of(o: &[u8]) -> MessageCount {
    MessageCount { kind: o[0] >> 3, count: u16_of(o) & 0x07FF }
}

fn put_counts(counts: &[MessageCount], out: &mut Vec<u8>) -> Result<bool, AsterixError> {
    if counts.is_empty() {
        return Ok(false);
    }
    put_count("I034/070", counts.len(), out)?;
    for MessageCount { kind, count } in counts {
        let kind = fits("I034/070", (*kind).into(), 5)?;
        put(out, kind << 11 | fits("I034/070", (*count).into(), 11)?, 2);
    }
    Ok(true)
}
