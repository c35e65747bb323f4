//! Category 021: ADS-B target reports.
//!
//! EUROCONTROL-SPEC-0149-12, edition 2.6 (the layouts of 2.1 to 2.6 are the same; those before 2.0
//! have another profile, [`EarlyReport`], and are read where their [`Edition`] is said). Stepped over at their exact length: I021/072, 075, 076
//! (times of the velocity), 150, 151 (airspeed), 230, 152, 165, 220 (weather), 110 (trajectory
//! intent), 016, 008, 271, 132, 250, 260, 400 and 295 (ages).

mod early;
mod fields;
mod quality;
mod skipped;

use super::{
    Callsign, DataSource, EncodeRecord, FinalStateSelectedAltitude, LatLon, Record,
    SelectedAltitude, TimeOfDay, sealed, wire,
};
pub use early::{EarlyDescriptor, EarlyGroundVector, EarlyReport, Edition, Link, Merit};
pub use quality::{Design, PositionAccuracy, Quality};

/// A report. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Report {
    /// Data source (I021/010).
    pub source: DataSource,
    /// Target report descriptor (I021/040).
    pub descriptor: Option<Descriptor>,
    /// I021/161, in [0, 4095].
    pub track_number: Option<u16>,
    /// I021/015: which service of the ground station.
    pub service_id: Option<u8>,
    /// I021/071: for which time the position holds.
    pub position_time: Option<TimeOfDay>,
    /// I021/130, in steps of 180/2^23.
    pub position: Option<LatLon>,
    /// I021/131, in steps of 180/2^30.
    pub fine_position: Option<LatLon>,
    /// I021/080, the 24-bit ICAO address or another one by the descriptor.
    pub address: Option<u32>,
    /// I021/073: when the message with the position was received.
    pub reception_time: Option<TimeOfDay>,
    /// I021/074: the same time more precisely.
    pub fine_reception_time: Option<FineTime>,
    /// I021/140: height over the ellipsoid in feet, in steps of 6.25.
    pub geometric_height_ft: Option<f64>,
    /// Quality indicators (I021/090).
    pub quality: Option<Quality>,
    /// MOPS version (I021/210).
    pub mops: Option<Mops>,
    /// I021/070: Mode 3/A code, twelve bits whose octal digits are the code.
    pub mode_a: Option<u16>,
    /// I021/145: hundreds of feet of pressure altitude, in steps of 1/4.
    pub flight_level: Option<f64>,
    /// Target status (I021/200).
    pub status: Option<TargetStatus>,
    /// Barometric vertical rate (I021/155).
    pub barometric_rate: Option<Rate>,
    /// Geometric vertical rate (I021/157).
    pub geometric_rate: Option<Rate>,
    /// Airborne ground vector (I021/160).
    pub ground_vector: Option<GroundVector>,
    /// I021/077: when the report was sent.
    pub report_time: Option<TimeOfDay>,
    /// Target identification (I021/170).
    pub callsign: Option<Callsign>,
    /// Emitter category (I021/020): 1 light to 5 heavy aircraft, 20 and 21 vehicles.
    pub emitter_category: Option<u8>,
    /// Selected altitude (I021/146).
    pub selected_altitude: Option<SelectedAltitude>,
    /// Final state selected altitude (I021/148).
    pub final_state: Option<FinalStateSelectedAltitude>,
    /// I021/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I021/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Type and properties of a report (I021/040).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Descriptor {
    /// ATP: 0 ICAO address, 1 duplicate address, 2 surface vehicle, 3 anonymous, 4 to 7 reserved.
    pub address_type: u8,
    /// ARC: altitude in steps of 0 25 ft, 1 100 ft, 2 unknown.
    pub altitude_resolution: u8,
    /// RC: passed range check, CPR validation pending.
    pub range_checked: bool,
    /// RAB: of a field monitor (fixed transponder).
    pub field_monitor: bool,
    /// DCR: differential correction.
    pub differential: bool,
    /// GBS: ground bit set.
    pub on_ground: bool,
    /// Report is simulated (SIM).
    pub simulated: bool,
    /// TST: test target.
    pub test: bool,
    /// SAA: equipment cannot provide a selected altitude.
    pub no_selected_altitude: bool,
    /// CL: 0 valid, 1 suspect, 2 no information, 3 reserved.
    pub confidence: u8,
    /// LLC: the lookup of its address gave a discrepancy.
    pub lookup_differs: bool,
    /// IPC: independent position check failed.
    pub position_check_failed: bool,
    /// NOGO: the ground station may not be used.
    pub no_go: bool,
    /// CPR: validation of compact position failed.
    pub cpr_failed: bool,
    /// LDPJ: local decoding position jump.
    pub position_jump: bool,
    /// RCF: range check failed.
    pub range_check_failed: bool,
}

/// A time of reception more precisely than a time of day (I021/074).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FineTime {
    /// FSI: 0 of the second of I021/073, 1 of the next one, 2 of the one before.
    pub second: u8,
    /// Fraction of the second in units of 2^-30 s, in [0, 2^30).
    pub fraction: u32,
}

impl FineTime {
    /// Seconds since midnight, `coarse` being I021/073.
    #[must_use]
    pub fn seconds(self, coarse: TimeOfDay) -> f64 {
        let off = match self.second {
            1 => 1.0,
            2 => -1.0,
            _ => 0.0,
        };
        coarse.seconds().floor() + off + f64::from(self.fraction) / f64::from(1_u32 << 30)
    }
}

/// Version of the aircraft's equipment (I021/210).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mops {
    /// VNS: the version is not supported by the ground station.
    pub not_supported: bool,
    /// VN: 0 ED-102/DO-260, 1 DO-260A, 2 ED-102A/DO-260B.
    pub version: u8,
    /// LTT: 0 other, 1 UAT, 2 1090 ES, 3 VDL 4.
    pub link: u8,
}

/// Status of the target (I021/200).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct TargetStatus {
    /// ICF: intent has changed.
    pub intent_changed: bool,
    /// LNAV: lateral navigation mode is not engaged.
    pub lateral_navigation_off: bool,
    /// ME: military emergency.
    pub military_emergency: bool,
    /// PS: 0 none, 1 general, 2 medical, 3 minimum fuel, 4 no communication, 5 unlawful
    /// interference, 6 downed.
    pub priority: u8,
    /// SS: 0 none, 1 permanent alert, 2 temporary alert, 3 SPI.
    pub surveillance: u8,
}

/// A vertical rate (I021/155, 157).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Rate {
    /// RE: the value exceeds the range.
    pub exceeds: bool,
    /// Feet a minute, in steps of 6.25, positive upwards.
    pub ft_min: f64,
}

/// A velocity over ground (I021/160).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct GroundVector {
    /// RE: the speed exceeds the range.
    pub exceeds: bool,
    /// Nautical miles a second, in steps of 2^-14 in [0, 2).
    pub speed_nm_s: f64,
    /// Degrees clockwise from north, in steps of 360/2^16.
    pub track_deg: f64,
}

impl sealed::Category for Report {
    fn fields() -> &'static wire::Fields<Self> {
        &fields::PROFILE
    }

    fn into_record(self) -> Record {
        Record::AdsB(self)
    }
}

impl EncodeRecord for Report {
    const CATEGORY: u8 = 21;
    const NAME: &'static str = "I021";
    const SOURCE: &'static str = "I021/010";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_time_is_of_the_second_that_it_names() {
        // 10.9921875 s and 2^-30 s before the next second.
        let coarse = TimeOfDay::from_ticks(1407);
        let fine = |second, fraction| FineTime { second, fraction }.seconds(coarse);
        assert_eq!(fine(0, 0), 10.0);
        assert_eq!(fine(0, 1 << 29), 10.5);
        assert_eq!(fine(1, 0), 11.0);
        assert_eq!(fine(2, 3 << 28), 9.75);
    }
}
