//! Category 002: service messages of older radars.
//!
//! EUROCONTROL-SPEC-0149 part 2b, edition 1.2. Fields in random order (RFS) are read like the others,
//! and written in their places.

use super::cat034::{self, CollimationError, PolarWindow};
use super::wire::{
    ANGLE_LSB, Field, Fields, Layout, bit, fits, flag, put, put_count, quantity, signed_quantity,
    to_angle, to_signed, to_unsigned, u16_of,
};
use super::{AsterixError, DataSource, EncodeRecord, Record, TimeOfDay, sealed};

/// A service message. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ServiceMessage {
    /// Data source (I002/010).
    pub source: DataSource,
    /// I002/000: 1 north marker, 2 sector crossing, 3 south marker, 8 and 9 begin and end of blind
    /// zone filtering.
    pub kind: Option<u8>,
    /// I002/020: azimuth at which the sector starts, in degrees, in steps of 360/256 in [0, 360).
    pub sector_deg: Option<f64>,
    /// Time of day (I002/030).
    pub time_of_day: Option<TimeOfDay>,
    /// I002/041: antenna rotation period in seconds, in steps of 1/128 in [0, 512).
    pub antenna_period_s: Option<f64>,
    /// I002/050: configuration as the radar's maker defines it, each in [0, 127].
    pub configuration: Vec<u8>,
    /// I002/060: processing mode as the radar's maker defines it, each in [0, 127].
    pub processing_mode: Vec<u8>,
    /// I002/070, at most 255.
    pub plot_counts: Vec<PlotCount>,
    /// Window in polar coordinates (I002/100); ranges in steps of 1/128 NM.
    pub window: Option<PolarWindow>,
    /// Collimation error (I002/090).
    pub collimation_error: Option<CollimationError>,
    /// I002/080: warning and error conditions, each in [0, 127].
    pub warnings: Vec<u8>,
    /// I002/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Number of plots of a kind in the last turn (I002/070).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PlotCount {
    /// A: of antenna 2 instead of 1.
    pub antenna_2: bool,
    /// IDENT: 1 primary plots, 2 secondary, 3 combined.
    pub kind: u8,
    /// Number of plots, in [0, 1023].
    pub count: u16,
}

impl ServiceMessage {
    /// The message as a radar of category 034 would send it.
    #[must_use]
    pub fn to_service(&self) -> cat034::ServiceMessage {
        let kind = |number| match number {
            1 => cat034::MessageType::NorthMarker,
            2 => cat034::MessageType::SectorCrossing,
            // Category 034 has other meanings for the higher numbers.
            other => cat034::MessageType::Other(other | 0x80),
        };
        cat034::ServiceMessage {
            source: self.source,
            kind: self.kind.map(kind),
            time_of_day: self.time_of_day,
            sector_deg: self.sector_deg,
            antenna_period_s: self.antenna_period_s,
            collimation_error: self.collimation_error,
            ..cat034::ServiceMessage::default()
        }
    }
}

impl sealed::Category for ServiceMessage {
    fn fields() -> &'static Fields<Self> {
        &PROFILE
    }

    fn into_record(self) -> Record {
        Record::OldService(self)
    }
}

impl EncodeRecord for ServiceMessage {
    const CATEGORY: u8 = 2;
    const NAME: &'static str = "I002";
    const SOURCE: &'static str = "I002/010";
}

const RANGE_LSB: f64 = 1.0 / 128.0;

/// By field reference number, from 1.
static PROFILE: [Option<Field<ServiceMessage>>; 14] = [
    source!("I002/010"),
    integer!("I002/000", kind, 1, 8),
    quantity!("I002/020", sector_deg, 1, 360.0 / 256.0),
    time_of_day!("I002/030", time_of_day),
    quantity!("I002/041", antenna_period_s, 2, 1.0 / 128.0),
    sevens!("I002/050", configuration),
    sevens!("I002/060", processing_mode),
    Some(Field {
        name: "I002/070",
        layout: Layout::Repetitive(2),
        decode: |m, o| m.plot_counts = o[1..].chunks_exact(2).map(count_of).collect(),
        encode: |m, out| put_counts(&m.plot_counts, out),
    }),
    item!("I002/100", Layout::Fixed(8), window, window_of, put_window),
    item!("I002/090", Layout::Fixed(2), collimation_error, error_of, put_error),
    sevens!("I002/080", warnings),
    None,
    explicit!("I002/SP", special_purpose),
    Field::skipped("I002/RFS", Layout::Random),
];

fn count_of(o: &[u8]) -> PlotCount {
    PlotCount { antenna_2: bit(o[0], 7), kind: o[0] >> 2 & 0x1F, count: u16_of(o) & 0x03FF }
}

fn put_counts(counts: &[PlotCount], out: &mut Vec<u8>) -> Result<bool, AsterixError> {
    if counts.is_empty() {
        return Ok(false);
    }
    put_count("I002/070", counts.len(), out)?;
    for PlotCount { antenna_2, kind, count } in counts {
        let kind = fits("I002/070", (*kind).into(), 5)?;
        let count = fits("I002/070", (*count).into(), 10)?;
        put(out, flag(*antenna_2, 15) | kind << 10 | count, 2);
    }
    Ok(true)
}

fn window_of(o: &[u8]) -> PolarWindow {
    PolarWindow {
        range_start_nm: quantity(&o[..2], RANGE_LSB),
        range_end_nm: quantity(&o[2..4], RANGE_LSB),
        azimuth_start_deg: quantity(&o[4..6], ANGLE_LSB),
        azimuth_end_deg: quantity(&o[6..], ANGLE_LSB),
    }
}

fn put_window(w: PolarWindow, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    for range_nm in [w.range_start_nm, w.range_end_nm] {
        put(out, to_unsigned("I002/100", range_nm, 16, RANGE_LSB)?, 2);
    }
    for azimuth_deg in [w.azimuth_start_deg, w.azimuth_end_deg] {
        put(out, to_angle("I002/100", azimuth_deg)?, 2);
    }
    Ok(())
}

fn error_of(o: &[u8]) -> CollimationError {
    CollimationError {
        range_nm: signed_quantity(&o[..1], 8, 1.0 / 128.0),
        azimuth_deg: signed_quantity(&o[1..], 8, 360.0 / 16_384.0),
    }
}

fn put_error(e: CollimationError, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    put(out, to_signed("I002/090", e.range_nm, 8, 1.0 / 128.0)?, 1);
    put(out, to_signed("I002/090", e.azimuth_deg, 8, 360.0 / 16_384.0)?, 1);
    Ok(())
}
