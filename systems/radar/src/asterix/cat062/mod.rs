//! Category 062: system tracks of a tracker.
//!
//! EUROCONTROL-SPEC-0149-9, edition 1.20. What a track update, its correlation with a flight plan
//! and its display need is decoded. Stepped over at their exact length: I062/110 (Mode 5), 120,
//! 270, 295 (ages of derived data), 300, 340 (last measurement), 510 (composed track number), and
//! the subfields of I062/380 and I062/390 that [`AircraftDerived`] and [`FlightPlan`] lack.

mod derived;
mod fields;
mod flight_plan;
mod quality;

pub use derived::AircraftDerived;
pub use flight_plan::FlightPlan;
pub use quality::{Accuracy, UpdateAges};

use super::{Callsign, DataSource, EncodeRecord, Record, TimeOfDay, sealed, wire};

/// A system track. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Track {
    /// Data source (I062/010).
    pub source: DataSource,
    /// I062/015: which service of the tracker.
    pub service_id: Option<u8>,
    /// I062/070: of the state that position and velocity describe.
    pub time_of_day: Option<TimeOfDay>,
    /// Position in WGS-84 (I062/105).
    pub position: Option<Position>,
    /// I062/100: in the system's plane.
    pub cartesian: Option<Cartesian>,
    /// Velocity (I062/185).
    pub velocity: Option<Velocity>,
    /// Acceleration (I062/210).
    pub acceleration: Option<Acceleration>,
    /// Mode 3/A code (I062/060).
    pub mode_a: Option<ModeA>,
    /// Target identification (I062/245).
    pub target_identification: Option<TargetIdentification>,
    /// Aircraft derived data (I062/380).
    pub derived: Option<AircraftDerived>,
    /// Track number (I062/040).
    pub track_number: Option<u16>,
    /// Track status (I062/080).
    pub status: Option<Status>,
    /// I062/290: how long ago the last updates were.
    pub update_ages: Option<UpdateAges>,
    /// Mode of movement (I062/200).
    pub mode_of_movement: Option<ModeOfMovement>,
    /// I062/136: last valid measured flight level, in steps of 1/4.
    pub measured_flight_level: Option<f64>,
    /// I062/130: geometric altitude, in feet, in steps of 6.25.
    pub geometric_altitude_ft: Option<f64>,
    /// Barometric altitude (I062/135).
    pub barometric_altitude: Option<BarometricAltitude>,
    /// I062/220: calculated rate of climb, in feet a minute, up positive, in steps of 6.25.
    pub rate_of_climb_ft_min: Option<f64>,
    /// I062/390: of the flight plan that the track is correlated with.
    pub flight_plan: Option<FlightPlan>,
    /// I062/500: estimated standard deviations.
    pub accuracy: Option<Accuracy>,
    /// I062/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I062/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// A position in WGS-84 (I062/105).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Position {
    /// Degrees, north positive, in steps of 180/2^25.
    pub lat_deg: f64,
    /// Degrees, east positive, in steps of 180/2^25.
    pub lon_deg: f64,
}

/// A position in the system's plane (I062/100).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Cartesian {
    /// Metres to the east, in steps of 0.5 in [-4194304, 4194303.5].
    pub x_m: f64,
    /// Metres to the north, in steps of 0.5 in [-4194304, 4194303.5].
    pub y_m: f64,
}

/// A velocity in the system's plane (I062/185).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Velocity {
    /// Metres a second to the east, in steps of 0.25 in [-8192, 8191.75].
    pub x_m_s: f64,
    /// Metres a second to the north, in steps of 0.25 in [-8192, 8191.75].
    pub y_m_s: f64,
}

/// An acceleration in the system's plane (I062/210).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Acceleration {
    /// Metres a second squared to the east, in steps of 0.25 in [-32, 31.75].
    pub x_m_s2: f64,
    /// Metres a second squared to the north, in steps of 0.25 in [-32, 31.75].
    pub y_m_s2: f64,
}

/// A track's Mode 3/A code (I062/060).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ModeA {
    /// Twelve bits whose octal digits are the code (`0o7700`).
    pub code: u16,
    /// V: not validated.
    pub not_validated: bool,
    /// Code is garbled (G).
    pub garbled: bool,
    /// CH: has changed.
    pub changed: bool,
}

/// A target identification and where it is from (I062/245).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TargetIdentification {
    /// STI: 0 downlinked, 1 callsign not downlinked, 2 registration not downlinked, 3 invalid.
    pub origin: u8,
    /// Characters of the identification.
    pub callsign: Callsign,
}

/// Status of a track (I062/080).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Status {
    /// MON: of a single sensor.
    pub monosensor: bool,
    /// SPI: special position identification in the last report.
    pub special_position: bool,
    /// MRH: geometric altitude is more reliable than barometric.
    pub geometric_height: bool,
    /// SRC: source of I062/130, in [0, 7].
    pub altitude_source: u8,
    /// Track is tentative (CNF).
    pub tentative: bool,
    /// Track is simulated (SIM).
    pub simulated: bool,
    /// TSE: last message for this track.
    pub ends: bool,
    /// TSB: first message for this track.
    pub begins: bool,
    /// FPC: correlated with a flight plan.
    pub flight_plan_correlated: bool,
    /// AFF: ADS-B is inconsistent with other surveillance.
    pub adsb_inconsistent: bool,
    /// STP: slave track promotion.
    pub slave_promotion: bool,
    /// KOS: background instead of complementary service.
    pub background_service: bool,
    /// AMA: of amalgamation.
    pub amalgamated: bool,
    /// MD4: Mode 4, 0 not interrogated, 1 friendly, 2 unknown, 3 no reply.
    pub mode_4: u8,
    /// ME: military emergency.
    pub military_emergency: bool,
    /// MI: military identification.
    pub military_identification: bool,
    /// MD5: Mode 5, as `mode_4`.
    pub mode_5: u8,
    /// CST: coasting, the last update is older than the system's threshold.
    pub coasting: bool,
    /// PSR: the last primary update is too old.
    pub psr_old: bool,
    /// SSR: the last secondary update is too old.
    pub ssr_old: bool,
    /// MDS: the last Mode S update is too old.
    pub mode_s_old: bool,
    /// ADS: the last ADS-B update is too old.
    pub adsb_old: bool,
    /// SUC: special used code.
    pub special_code: bool,
    /// AAC: assigned Mode A code conflict.
    pub code_conflict: bool,
}

/// Mode of movement of a track (I062/200).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ModeOfMovement {
    /// TRANS: 0 constant course, 1 right turn, 2 left turn, 3 undetermined.
    pub transversal: u8,
    /// LONG: 0 constant ground speed, 1 increasing, 2 decreasing, 3 undetermined.
    pub longitudinal: u8,
    /// VERT: 0 level, 1 climb, 2 descent, 3 undetermined.
    pub vertical: u8,
    /// ADF: altitudes disagree.
    pub altitude_discrepancy: bool,
}

/// A calculated barometric altitude (I062/135).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct BarometricAltitude {
    /// QNH: corrected for the pressure at sea level.
    pub qnh_corrected: bool,
    /// Flight level (hundreds of feet), in steps of 1/4 in [-4096, 4095.75].
    pub level: f64,
}

impl sealed::Category for Track {
    fn fields() -> &'static wire::Fields<Self> {
        &fields::PROFILE
    }

    fn into_record(self) -> Record {
        Record::Track(self)
    }
}

impl EncodeRecord for Track {
    const CATEGORY: u8 = 62;
    const NAME: &'static str = "I062";
    const SOURCE: &'static str = "I062/010";
}
