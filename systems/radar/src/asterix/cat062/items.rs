//! Items of a system track that have a type of their own.

use super::super::values::Callsign;

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
