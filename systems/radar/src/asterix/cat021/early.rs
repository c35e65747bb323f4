//! Category 021 before edition 2.0: reports of ground stations of the first years of ADS-B.
//!
//! Editions 0.23 (2003) to 0.26 (2005) share one profile, in which 0.24 made the position longer and 0.26
//! added the Mode 3/A code and the amplitude. It has little in common with that of 2.0 and later, and a
//! record does not say which one it is of. Stepped over at their exact length: I021/150, 151 (airspeed),
//! 152, 165, 220 (weather), 230 and 110 (trajectory intent).

use super::super::intention::{final_state_of, put_final_state, put_selected, selected_of};
use super::super::wire::{
    ANGLE_LSB, Field, Layout, bit, fits, flag, put, signed_quantity, to_angle, to_signed, u16_of,
};
use super::super::{
    AsterixError, Callsign, DataSource, EncodeRecord, FinalStateSelectedAltitude, LatLon, Record,
    SelectedAltitude, TimeOfDay, cat048, sealed, wire,
};
use super::quality::Quality;
use super::skipped::{skip_intent, skip_weather};

/// Which profile the records of category 021 have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Edition {
    /// Edition 2.0 and later.
    #[default]
    #[serde(rename = "2")]
    Current,
    /// Editions 0.24 to 0.26, of which the last one has all items.
    #[serde(rename = "0.26", alias = "0.25", alias = "0.24")]
    Early26,
    /// Edition 0.23: positions in steps of 180/2^23.
    #[serde(rename = "0.23")]
    Early23,
}

/// The text is no edition of category 021.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no edition of category 021: expected 2, 0.26 (0.24 to 0.26) or 0.23")]
pub struct EditionError(String);

impl std::str::FromStr for Edition {
    type Err = EditionError;

    fn from_str(text: &str) -> Result<Self, EditionError> {
        match text {
            "2" => Ok(Self::Current),
            "0.26" | "0.25" | "0.24" => Ok(Self::Early26),
            "0.23" => Ok(Self::Early23),
            _ => Err(EditionError(text.to_owned())),
        }
    }
}

/// A report of an edition before 2.0. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EarlyReport {
    /// Whether it is of edition 0.23, whose positions are shorter; it has no `mode_a` and no
    /// `amplitude`.
    pub of_023: bool,
    /// Data source (I021/010).
    pub source: DataSource,
    /// Target report descriptor (I021/040).
    pub descriptor: Option<EarlyDescriptor>,
    /// I021/030: for which time the position holds.
    pub time_of_day: Option<TimeOfDay>,
    /// I021/130, in steps of 180/2^25, in edition 0.23 of 180/2^23.
    pub position: Option<LatLon>,
    /// I021/080, the 24-bit ICAO address or another one by the descriptor.
    pub address: Option<u32>,
    /// I021/140: height over the ellipsoid in feet, in steps of 6.25.
    pub geometric_height_ft: Option<f64>,
    /// Figure of merit (I021/090).
    pub merit: Option<Merit>,
    /// Link technologies (I021/210).
    pub link: Option<Link>,
    /// I021/145: hundreds of feet of pressure altitude, in steps of 1/4.
    pub flight_level: Option<f64>,
    /// I021/155: feet a minute by pressure, in steps of 6.25, positive upwards.
    pub barometric_rate_ft_min: Option<f64>,
    /// I021/157: feet a minute over the ellipsoid, in steps of 6.25, positive upwards.
    pub geometric_rate_ft_min: Option<f64>,
    /// Ground vector (I021/160).
    pub ground_vector: Option<EarlyGroundVector>,
    /// Target identification (I021/170).
    pub callsign: Option<Callsign>,
    /// I021/095: NUCr of the velocity.
    pub velocity_accuracy: Option<u8>,
    /// I021/032: greatest error of the time of day, in steps of 1/256 s.
    pub time_accuracy_s: Option<f64>,
    /// I021/200: 0 no emergency, 1 general, 2 medical, 3 minimum fuel, 4 no communication, 5 unlawful
    /// interference.
    pub status: Option<u8>,
    /// Emitter category (I021/020): 1 light to 5 heavy aircraft, 20 and 21 vehicles.
    pub emitter_category: Option<u8>,
    /// Selected altitude (I021/146).
    pub selected_altitude: Option<SelectedAltitude>,
    /// Final state selected altitude (I021/148).
    pub final_state: Option<FinalStateSelectedAltitude>,
    /// Mode 3/A code (I021/070, edition 0.26).
    pub mode_a: Option<cat048::ModeA>,
    /// I021/131 (edition 0.26): strength of the signal, 0 the least that is received.
    pub amplitude: Option<u8>,
    /// I021/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I021/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Type and properties of a report (I021/040).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct EarlyDescriptor {
    /// DCR: differential correction.
    pub differential: bool,
    /// GBS: ground bit set.
    pub on_ground: bool,
    /// Report is simulated (SIM).
    pub simulated: bool,
    /// TST: test target.
    pub test: bool,
    /// RAB: of a field monitor (fixed transponder).
    pub field_monitor: bool,
    /// SAA: equipment cannot provide a selected altitude.
    pub no_selected_altitude: bool,
    /// SPI: special position identification.
    pub special_position: bool,
    /// ATP: 0 not unique, 1 ICAO address, 2 surface vehicle, 3 anonymous, 4 to 7 reserved.
    pub address_type: u8,
    /// ARC: altitude in steps of 1 25 ft, 2 100 ft, 0 unknown.
    pub altitude_resolution: u8,
}

/// How good the position is, and with what it was found (I021/090).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Merit {
    /// AC: ACAS, 0 unknown, 1 not operational, 2 operational, 3 invalid.
    pub acas: u8,
    /// MN: multiple navigation aids, the same.
    pub multiple_navigation: u8,
    /// DC: differential correction, 0 unknown, 1 yes, 2 no, 3 invalid.
    pub differential: u8,
    /// PA: NUCp, in [0, 15].
    pub position: u8,
}

impl Merit {
    /// Standard deviation of each horizontal axis, m; `None` where the aircraft itself says that it
    /// knows nothing.
    #[must_use]
    pub fn sigma_m(&self) -> Option<f64> {
        Quality { integrity: self.position, ..Quality::default() }.sigma_m()
    }
}

/// With what the report was sent (I021/210).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Link {
    /// DTI: the aircraft shows traffic.
    pub traffic_display: bool,
    /// MDS: Mode S extended squitter.
    pub mode_s: bool,
    /// UAT: universal access transceiver.
    pub uat: bool,
    /// VDL: mode 4.
    pub vdl4: bool,
    /// OTR: another technology.
    pub other: bool,
}

/// A velocity over ground (I021/160).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EarlyGroundVector {
    /// Nautical miles a second, in steps of 2^-14, in two's complement.
    pub speed_nm_s: f64,
    /// Degrees clockwise from north, in steps of 360/2^16.
    pub track_deg: f64,
}

const SPEED_LSB: f64 = 1.0 / 16_384.0;
const SHORT_LSB: f64 = 180.0 / 8_388_608.0;
const LONG_LSB: f64 = 180.0 / 33_554_432.0;

/// The profile by field reference number, from 1: with the position and with what an edition has in fields
/// 27 and 28; 29 to 33 are spare.
macro_rules! profile {
    ($position:expr, $mode_a:expr, $amplitude:expr) => {
        [
            source!("I021/010"),
            item!("I021/040", Layout::Fixed(2), descriptor, descriptor_of, put_descriptor),
            time_of_day!("I021/030", time_of_day),
            $position,
            integer!("I021/080", address, 3, 24),
            signed!("I021/140", geometric_height_ft, 2, 6.25),
            item!("I021/090", Layout::Fixed(2), merit, merit_of, put_merit),
            item!("I021/210", Layout::Fixed(1), link, link_of, put_link),
            Field::skipped("I021/230", Layout::Fixed(2)),
            signed!("I021/145", flight_level, 2, 0.25),
            Field::skipped("I021/150", Layout::Fixed(2)),
            Field::skipped("I021/151", Layout::Fixed(2)),
            Field::skipped("I021/152", Layout::Fixed(2)),
            signed!("I021/155", barometric_rate_ft_min, 2, 6.25),
            signed!("I021/157", geometric_rate_ft_min, 2, 6.25),
            item!("I021/160", Layout::Fixed(4), ground_vector, vector_of, put_vector),
            Field::skipped("I021/165", Layout::Extended(1)),
            callsign!("I021/170", callsign),
            integer!("I021/095", velocity_accuracy, 1, 8),
            quantity!("I021/032", time_accuracy_s, 1, 1.0 / 256.0),
            integer!("I021/200", status, 1, 8),
            integer!("I021/020", emitter_category, 1, 8),
            Field::skipped("I021/220", Layout::Compound(skip_weather)),
            named_item!("I021/146", Layout::Fixed(2), selected_altitude, selected_of, put_selected),
            named_item!("I021/148", Layout::Fixed(2), final_state, final_state_of, put_final_state),
            Field::skipped("I021/110", Layout::Compound(skip_intent)),
            $mode_a,
            $amplitude,
            None,
            None,
            None,
            None,
            None,
            explicit!("I021/RE", reserved_expansion),
            explicit!("I021/SP", special_purpose),
        ]
    };
}

static PROFILE_26: [Option<Field<EarlyReport>>; 35] = profile!(
    pair!("I021/130", position, 4, LONG_LSB, LatLon { lat_deg, lon_deg }),
    code!("I021/070", mode_a),
    integer!("I021/131", amplitude, 1, 8)
);
static PROFILE_23: [Option<Field<EarlyReport>>; 35] =
    profile!(pair!("I021/130", position, 3, SHORT_LSB, LatLon { lat_deg, lon_deg }), None, None);

fn descriptor_of(o: &[u8]) -> EarlyDescriptor {
    EarlyDescriptor {
        differential: bit(o[0], 7),
        on_ground: bit(o[0], 6),
        simulated: bit(o[0], 5),
        test: bit(o[0], 4),
        field_monitor: bit(o[0], 3),
        no_selected_altitude: bit(o[0], 2),
        special_position: bit(o[0], 1),
        address_type: o[1] >> 5,
        altitude_resolution: o[1] >> 3 & 3,
    }
}

fn put_descriptor(d: EarlyDescriptor, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = flag(d.differential, 7)
        | flag(d.on_ground, 6)
        | flag(d.simulated, 5)
        | flag(d.test, 4)
        | flag(d.field_monitor, 3)
        | flag(d.no_selected_altitude, 2)
        | flag(d.special_position, 1);
    let second = fits("I021/040", d.address_type.into(), 3)? << 5
        | fits("I021/040", d.altitude_resolution.into(), 2)? << 3;
    put(out, first << 8 | second, 2);
    Ok(())
}

fn merit_of(o: &[u8]) -> Merit {
    Merit {
        acas: o[0] >> 6,
        multiple_navigation: o[0] >> 4 & 3,
        differential: o[0] >> 2 & 3,
        position: o[1] & 15,
    }
}

fn put_merit(m: Merit, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    const ITEM: &str = "I021/090";
    let first = fits(ITEM, m.acas.into(), 2)? << 6
        | fits(ITEM, m.multiple_navigation.into(), 2)? << 4
        | fits(ITEM, m.differential.into(), 2)? << 2;
    put(out, first << 8 | fits(ITEM, m.position.into(), 4)?, 2);
    Ok(())
}

fn link_of(o: &[u8]) -> Link {
    Link {
        traffic_display: bit(o[0], 4),
        mode_s: bit(o[0], 3),
        uat: bit(o[0], 2),
        vdl4: bit(o[0], 1),
        other: bit(o[0], 0),
    }
}

fn put_link(l: Link, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let octet = flag(l.traffic_display, 4)
        | flag(l.mode_s, 3)
        | flag(l.uat, 2)
        | flag(l.vdl4, 1)
        | flag(l.other, 0);
    put(out, octet, 1);
    Ok(())
}

fn vector_of(o: &[u8]) -> EarlyGroundVector {
    EarlyGroundVector {
        speed_nm_s: signed_quantity(&o[..2], 16, SPEED_LSB),
        track_deg: f64::from(u16_of(&o[2..])) * ANGLE_LSB,
    }
}

fn put_vector(v: EarlyGroundVector, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    put(out, to_signed("I021/160", v.speed_nm_s, 16, SPEED_LSB)?, 2);
    put(out, to_angle("I021/160", v.track_deg)?, 2);
    Ok(())
}

impl EarlyReport {
    /// The profile of an edition before 2.0.
    pub(in super::super) fn fields_of(of_023: bool) -> &'static wire::Fields<Self> {
        if of_023 { &PROFILE_23 } else { &PROFILE_26 }
    }
}

impl sealed::Category for EarlyReport {
    fn fields() -> &'static wire::Fields<Self> {
        &PROFILE_26
    }

    fn own_fields(&self) -> &'static wire::Fields<Self> {
        Self::fields_of(self.of_023)
    }

    fn into_record(self) -> Record {
        Record::EarlyAdsB(self)
    }
}

impl EncodeRecord for EarlyReport {
    const CATEGORY: u8 = 21;
    const NAME: &'static str = "I021";
    const SOURCE: &'static str = "I021/010";
}

#[cfg(test)]
mod tests {
    use super::super::super::{Editions, decode_block, decode_block_of, encode_block};
    use super::*;

    fn report(of_023: bool) -> EarlyReport {
        EarlyReport {
            of_023,
            source: DataSource { sac: 25, sic: 9 },
            position: Some(LatLon { lat_deg: 45.0, lon_deg: -90.0 }),
            address: Some(0x3C_6444),
            ..EarlyReport::default()
        }
    }

    fn block(of_023: bool) -> Vec<u8> {
        let mut octets = Vec::new();
        encode_block(&[report(of_023)], &mut octets).unwrap();
        octets
    }

    #[test]
    fn positions_are_longer_since_edition_024() {
        // Fields 1, 4 and 5: 0x98. 45° are 2^21 steps of 180/2^23, 2^23 of 180/2^25.
        assert_eq!(block(true), [21, 0, 15, 0x98, 25, 9, 0x20, 0, 0, 0xC0, 0, 0, 0x3C, 0x64, 0x44]);
        assert_eq!(
            block(false),
            [21, 0, 17, 0x98, 25, 9, 0, 0x80, 0, 0, 0xFF, 0, 0, 0, 0x3C, 0x64, 0x44]
        );
        for (of_023, adsb) in [(true, Edition::Early23), (false, Edition::Early26)] {
            let octets = block(of_023);
            let found: Vec<_> = decode_block_of(&octets, Editions { adsb }).collect();
            assert_eq!(found, [Ok(Record::EarlyAdsB(report(of_023)))]);
        }
    }

    /// The profiles differ, so that the wrong one gives errors or nonsense: which one it is has to be
    /// said.
    #[test]
    fn by_another_edition_it_is_not_the_same() {
        let octets = block(false);
        assert!(decode_block(&octets).all(|r| !matches!(r, Ok(Record::EarlyAdsB(_)))));
        let found = decode_block_of(&octets, Editions { adsb: Edition::Early23 }).next();
        assert_ne!(found, Some(Ok(Record::EarlyAdsB(report(false)))));
    }

    #[test]
    fn a_figure_of_merit_is_nucp() {
        // NUCp 7: 95 % within 92.6 m.
        let sigma_m = |position| Merit { position, ..Merit::default() }.sigma_m();
        assert!((sigma_m(7).unwrap() - 37.8).abs() < 0.1);
        assert_eq!((sigma_m(0), sigma_m(12)), (None, None));
    }
}
