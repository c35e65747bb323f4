//! Category 048: target reports of a radar.
//!
//! EUROCONTROL-SPEC-0149-4, edition 1.32. Of I048/020 the first extension is decoded, further ones
//! are stepped over.

pub(super) mod fields;
mod register;

pub use register::ModeSRegister;

use super::{Callsign, DataSource, EncodeRecord, Record, TimeOfDay, sealed, wire};

/// A target report. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Plot {
    /// Data source (I048/010).
    pub source: DataSource,
    /// I048/140, when the report was stamped.
    pub time_of_day: Option<TimeOfDay>,
    /// Target report descriptor (I048/020).
    pub descriptor: Option<Descriptor>,
    /// I048/040, as measured.
    pub position: Option<Position>,
    /// Mode 3/A code (I048/070).
    pub mode_a: Option<ModeA>,
    /// Flight level (I048/090).
    pub flight_level: Option<FlightLevel>,
    /// Radar plot characteristics (I048/130).
    pub characteristics: Option<Characteristics>,
    /// I048/220, the 24-bit ICAO address.
    pub aircraft_address: Option<u32>,
    /// Aircraft identification (I048/240).
    pub callsign: Option<Callsign>,
    /// I048/250, at most 255.
    pub mode_s_registers: Vec<ModeSRegister>,
    /// I048/161, in [0, 4095].
    pub track_number: Option<u16>,
    /// Calculated position (I048/042).
    pub calculated_position: Option<CalculatedPosition>,
    /// Calculated track velocity (I048/200).
    pub velocity: Option<Velocity>,
    /// Track status (I048/170).
    pub track_status: Option<TrackStatus>,
    /// Track quality (I048/210).
    pub track_quality: Option<TrackQuality>,
    /// I048/030: warning and error conditions and target classification, each in [0, 127].
    pub warnings: Vec<u8>,
    /// I048/080: per pulse of Mode A whether it is of low quality, QA4 in bit 11 to QD1 in bit 0.
    pub mode_a_confidence: Option<u16>,
    /// Mode C code (I048/100).
    pub mode_c: Option<ModeC>,
    /// I048/110: height by a 3D radar, in feet, in steps of 25 in [-204800, 204775].
    pub height_3d_ft: Option<f64>,
    /// Radial Doppler speed (I048/120).
    pub radial_speed: Option<RadialSpeed>,
    /// Communications capability and flight status (I048/230).
    pub communications: Option<Communications>,
    /// I048/260: ACAS resolution advisory report (register 3,0).
    pub resolution_advisory: Option<[u8; 7]>,
    /// I048/055: five bits of code.
    pub mode_1: Option<ModeA>,
    /// Mode 2 code (I048/050).
    pub mode_2: Option<ModeA>,
    /// I048/065: per pulse of Mode 1 whether it is of low quality, QA4 in bit 4 to QB1 in bit 0.
    pub mode_1_confidence: Option<u8>,
    /// I048/060: as `mode_a_confidence`, for Mode 2.
    pub mode_2_confidence: Option<u16>,
    /// I048/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
    /// I048/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
}

/// Kind of detection of a target (I048/020 TYP).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Detection {
    /// Not detected: the track is extrapolated.
    #[default]
    None,
    /// Primary radar alone.
    Psr,
    /// Secondary radar alone.
    Ssr,
    /// Secondary and primary radar.
    SsrPsr,
    /// Mode S all-call.
    ModeSAllCall,
    /// Mode S roll-call.
    ModeSRollCall,
    /// Mode S all-call and primary radar.
    ModeSAllCallPsr,
    /// Mode S roll-call and primary radar.
    ModeSRollCallPsr,
}

/// Type and properties of a target report (I048/020).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Descriptor {
    /// Kind of detection (TYP).
    pub detection: Detection,
    /// Target report is simulated (SIM).
    pub simulated: bool,
    /// RDP: of processing chain 2 instead of 1.
    pub chain_2: bool,
    /// SPI: special position identification.
    pub special_position: bool,
    /// RAB: of a field monitor (fixed transponder).
    pub field_monitor: bool,
    /// TST: test target.
    pub test: bool,
    /// ERR: the range is past what I048/040 can say and stands in the RE field.
    pub extended_range: bool,
    /// XPP: X pulse present.
    pub x_pulse: bool,
    /// ME: military emergency.
    pub military_emergency: bool,
    /// MI: military identification.
    pub military_identification: bool,
    /// FOE/FRI: 0 no Mode 4 interrogation, 1 friendly, 2 unknown, 3 no reply.
    pub friend_or_foe: u8,
}

/// A measured position (I048/040).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Position {
    /// RHO: slant range in nautical miles, in steps of 1/256 in [0, 256).
    pub range_nm: f64,
    /// THETA: clockwise from north in degrees, in steps of 360/2^16 in [0, 360).
    pub azimuth_deg: f64,
}

/// A Mode 3/A, Mode 2 or Mode 1 code (I048/070, 050, 055).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ModeA {
    /// Twelve bits whose octal digits are the code (`0o7700`); five bits for Mode 1.
    pub code: u16,
    /// V: not validated.
    pub not_validated: bool,
    /// Code is garbled (G).
    pub garbled: bool,
    /// L: not taken from this scan's reply but smoothed by the radar's tracker.
    pub smoothed: bool,
}

/// A flight level (I048/090).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct FlightLevel {
    /// Hundreds of feet of pressure altitude, in steps of 1/4 in [-2048, 2047.75].
    pub level: f64,
    /// V: not validated.
    pub not_validated: bool,
    /// Code is garbled (G).
    pub garbled: bool,
}

/// Plot characteristics: the form of the plot's replies (I048/130).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Characteristics {
    /// SRL: length of the secondary run, in degrees, in steps of 360/2^13.
    pub ssr_run_length_deg: Option<f64>,
    /// SRR: replies received.
    pub ssr_replies: Option<u8>,
    /// SAM: amplitude of the secondary replies, in dBm.
    pub ssr_amplitude_dbm: Option<f64>,
    /// PRL: length of the primary run, in degrees, in steps of 360/2^13.
    pub psr_run_length_deg: Option<f64>,
    /// PAM: amplitude of the primary plot, in dBm.
    pub psr_amplitude_dbm: Option<f64>,
    /// RPD: range of primary minus secondary, in nautical miles, in steps of 1/256.
    pub range_difference_nm: Option<f64>,
    /// APD: azimuth of primary minus secondary, in degrees, in steps of 360/2^14.
    pub azimuth_difference_deg: Option<f64>,
}

/// A position smoothed by the radar (I048/042).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct CalculatedPosition {
    /// Nautical miles east of the radar, in steps of 1/128 in [-256, 256).
    pub x_nm: f64,
    /// Nautical miles north of the radar, in steps of 1/128 in [-256, 256).
    pub y_nm: f64,
}

/// A velocity calculated by the radar (I048/200).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Velocity {
    /// GSP: nautical miles a second, in steps of 2^-14 in [0, 4).
    pub speed_nm_s: f64,
    /// HDG: degrees clockwise from north, in steps of 360/2^16 in [0, 360).
    pub heading_deg: f64,
}

/// Status of the radar's own track (I048/170).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct TrackStatus {
    /// Track is tentative (CNF).
    pub tentative: bool,
    /// RAD: maintained by 0 combined, 1 primary, 2 secondary or Mode S, 3 invalid.
    pub sensors: u8,
    /// DOU: low confidence in plot to track association.
    pub doubtful: bool,
    /// MAH: horizontal manoeuvre sensed.
    pub manoeuvring: bool,
    /// CDM: 0 level, 1 climbing, 2 descending, 3 unknown.
    pub vertical: u8,
    /// TRE: the last report of this track.
    pub ends: bool,
    /// Track is a ghost (GHO).
    pub ghost: bool,
    /// SUP: track of a neighbouring node.
    pub supplementary: bool,
    /// TCC: I048/042 is slant-range corrected into a plane.
    pub slant_corrected: bool,
}

/// Standard deviations of the radar's own track (I048/210).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct TrackQuality {
    /// Nautical miles to the east, in steps of 1/128.
    pub x_nm: f64,
    /// Nautical miles to the north, in steps of 1/128.
    pub y_nm: f64,
    /// Nautical miles a second, in steps of 2^-14.
    pub speed_nm_s: f64,
    /// Degrees, in steps of 360/2^12.
    pub heading_deg: f64,
}

/// A Mode C reply that was not decoded (I048/100).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ModeC {
    /// V: not validated.
    pub not_validated: bool,
    /// Code is garbled (G).
    pub garbled: bool,
    /// Twelve bits in Gray notation, C1 in bit 11 to D4 in bit 0.
    pub gray: u16,
    /// Per pulse whether it is of low quality, in the same order.
    pub confidence: u16,
}

/// Doppler speed (I048/120).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RadialSpeed {
    /// Calculated Doppler speed (CAL).
    pub calculated: Option<CalculatedDoppler>,
    /// RDS, at most 255.
    pub raw: Vec<RawDoppler>,
}

/// Doppler speed as the radar calculated it (I048/120 CAL).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct CalculatedDoppler {
    /// Value is doubtful (D).
    pub doubtful: bool,
    /// Metres a second, in [-512, 511].
    pub speed_m_s: f64,
}

/// Doppler speed as measured (I048/120 RDS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RawDoppler {
    /// Metres a second.
    pub speed_m_s: u16,
    /// Ambiguity range, in metres a second.
    pub ambiguity_m_s: u16,
    /// Transmitter frequency, in megahertz.
    pub frequency_mhz: u16,
}

/// Communications capability of the transponder and flight status (I048/230).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Communications {
    /// COM: 0 surveillance only, 1 Comm A and B, 2 and uplink ELM, 3 and downlink ELM, 4 level 5.
    pub capability: u8,
    /// STAT: 0 airborne, 1 on ground, 2 alert airborne, 3 alert on ground, 4 alert and SPI,
    /// 5 SPI, 7 unknown.
    pub flight_status: u8,
    /// SI: of an II code instead of an SI code.
    pub interrogator_code_ii: bool,
    /// MSSC: Mode S specific services.
    pub specific_services: bool,
    /// ARC: altitude in 25 ft instead of 100 ft.
    pub altitude_25_ft: bool,
    /// AIC: aircraft identification.
    pub identification: bool,
    /// B1A: bit 16 of register 1,0.
    pub b1a: bool,
    /// B1B: bits 37 to 40 of register 1,0.
    pub b1b: u8,
}

impl sealed::Category for Plot {
    fn fields() -> &'static wire::Fields<Self> {
        &fields::PROFILE
    }

    fn into_record(self) -> Record {
        Record::Plot(self)
    }
}

impl EncodeRecord for Plot {
    const CATEGORY: u8 = 48;
    const NAME: &'static str = "I048";
    const SOURCE: &'static str = "I048/010";
}
