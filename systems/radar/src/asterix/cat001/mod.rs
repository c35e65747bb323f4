//! Category 001: target reports of older radars.
//!
//! EUROCONTROL-SPEC-0149 part 2a, edition 1.4. A record is a plot or a track of the radar, by
//! I001/020 TYP, and the two have profiles of their own. Stepped over: nothing. Fields in random order
//! (RFS) are read like the others, and written in their places.

mod fields;

use super::cat048::{self, Detection, FlightLevel, ModeA, ModeC};
use super::{DataSource, EncodeRecord, Record, TimeOfDay, sealed, wire};

/// A target report. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Report {
    /// Data source (I001/010).
    pub source: DataSource,
    /// Target report descriptor (I001/020); it says which profile the record has.
    pub descriptor: Option<Descriptor>,
    /// I001/161, of a track.
    pub track_number: Option<u16>,
    /// I001/040, as measured.
    pub position: Option<Position>,
    /// I001/042, of a track.
    pub calculated_position: Option<CalculatedPosition>,
    /// I001/200, of a track.
    pub velocity: Option<cat048::Velocity>,
    /// Mode 3/A code (I001/070).
    pub mode_a: Option<ModeA>,
    /// Mode C as a flight level (I001/090).
    pub flight_level: Option<FlightLevel>,
    /// I001/141: when the report was stamped, without the higher bits of the time.
    pub truncated_time: Option<TruncatedTime>,
    /// I001/130: plot characteristics as the radar's maker defines them, each in [0, 127].
    pub characteristics: Vec<u8>,
    /// Received power (I001/131), dBm.
    pub power_dbm: Option<f64>,
    /// Doppler speed (I001/120), nautical miles a second, in steps of 2^-8.
    pub radial_speed_nm_s: Option<f64>,
    /// I001/170, of a track.
    pub track_status: Option<TrackStatus>,
    /// I001/210, of a track: quality as the radar's maker defines it, each in [0, 127].
    pub track_quality: Vec<u8>,
    /// Mode 2 code (I001/050).
    pub mode_2: Option<ModeA>,
    /// I001/080: per pulse of Mode A whether it is of low quality, QA4 in bit 11 to QD1 in bit 0.
    pub mode_a_confidence: Option<u16>,
    /// Mode C code (I001/100).
    pub mode_c: Option<ModeC>,
    /// I001/060: as `mode_a_confidence`, for Mode 2.
    pub mode_2_confidence: Option<u16>,
    /// I001/030: warning and error conditions, each in [0, 127].
    pub warnings: Vec<u8>,
    /// I001/150: presence of X pulses: Mode A in bit 7, Mode C in bit 5, Mode 2 in bit 2.
    pub x_pulses: Option<u8>,
    /// I001/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Type and properties of a target report (I001/020).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Descriptor {
    /// TYP: a track of the radar, not a plot.
    pub track: bool,
    /// Target report is simulated (SIM).
    pub simulated: bool,
    /// SSR/PSR: 0 no detection, 1 primary, 2 secondary, 3 both.
    pub detection: u8,
    /// ANT: from antenna 2 instead of 1.
    pub antenna_2: bool,
    /// Special position identification (SPI).
    pub special_position: bool,
    /// RAB: of a field monitor (fixed transponder).
    pub field_monitor: bool,
    /// TST: test target.
    pub test: bool,
    /// DS1/DS2: 0 none, 1 unlawful interference (7500), 2 radio failure (7600), 3 emergency (7700).
    pub emergency: u8,
    /// ME: military emergency.
    pub military_emergency: bool,
    /// MI: military identification.
    pub military_identification: bool,
}

/// A measured position (I001/040).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Position {
    /// RHO: slant range in nautical miles, in steps of 1/128 in [0, 512).
    pub range_nm: f64,
    /// THETA: clockwise from north in degrees, in steps of 360/2^16 in [0, 360).
    pub azimuth_deg: f64,
}

/// A position smoothed by the radar (I001/042).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct CalculatedPosition {
    /// Nautical miles east of the radar, in steps of 1/64 in [-512, 512).
    pub x_nm: f64,
    /// Nautical miles north of the radar, in steps of 1/64 in [-512, 512).
    pub y_nm: f64,
}

/// Status of the radar's own track (I001/170).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct TrackStatus {
    /// Track is tentative (CON).
    pub tentative: bool,
    /// RAD: of a primary radar instead of a secondary or combined one.
    pub primary: bool,
    /// Aircraft is manoeuvring (MAN).
    pub manoeuvring: bool,
    /// DOU: low confidence in plot to track association.
    pub doubtful: bool,
    /// RDPC: of processing chain 2 instead of 1.
    pub chain_2: bool,
    /// Track is a ghost (GHO).
    pub ghost: bool,
    /// TRE: the last report of this track.
    pub ends: bool,
}

/// The low 16 bits of a time of day (I001/141): units of 1/128 s, again from 0 every 512 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TruncatedTime(pub u16);

impl TruncatedTime {
    /// The time of day with these low bits that is nearest to `near`: right while the radar's clock
    /// is within 256 s of it.
    #[must_use]
    pub fn near(self, near: TimeOfDay) -> TimeOfDay {
        const TURN: i64 = 1 << 16;
        const DAY: i64 = 86_400 * 128;
        // A day is no whole number of turns: the times of yesterday and tomorrow have other low bits.
        let candidates = [0, DAY, -DAY].map(|shift| {
            let near = i64::from(near.ticks()) + shift;
            let ahead = (i64::from(self.0) - near).rem_euclid(TURN);
            let off = if ahead > TURN / 2 { ahead - TURN } else { ahead };
            (off.abs(), near + off)
        });
        let of_a_day = candidates.into_iter().filter(|(_, ticks)| (0..DAY).contains(ticks));
        let nearest = of_a_day.min().map_or(0, |(_, ticks)| ticks);
        TimeOfDay::from_ticks(u32::try_from(nearest).unwrap_or(0))
    }
}

impl Report {
    /// The report as a radar of category 048 would send it, its time being the one nearest to
    /// `near`. A track's measured position counts, not the calculated one.
    #[must_use]
    pub fn to_plot(&self, near: TimeOfDay) -> cat048::Plot {
        let detection = |d: Descriptor| match d.detection {
            1 => Detection::Psr,
            2 => Detection::Ssr,
            3 => Detection::SsrPsr,
            _ => Detection::None,
        };
        cat048::Plot {
            source: self.source,
            time_of_day: self.truncated_time.map(|time| time.near(near)),
            descriptor: self.descriptor.map(|d| cat048::Descriptor {
                detection: detection(d),
                simulated: d.simulated,
                special_position: d.special_position,
                field_monitor: d.field_monitor,
                test: d.test,
                military_emergency: d.military_emergency,
                military_identification: d.military_identification,
                ..cat048::Descriptor::default()
            }),
            position: self
                .position
                .map(|p| cat048::Position { range_nm: p.range_nm, azimuth_deg: p.azimuth_deg }),
            mode_a: self.mode_a,
            flight_level: self.flight_level,
            track_number: self.track_number,
            mode_2: self.mode_2,
            mode_c: self.mode_c,
            ..cat048::Plot::default()
        }
    }
}

impl sealed::Category for Report {
    fn fields() -> &'static wire::Fields<Self> {
        &fields::PLOT
    }

    fn own_fields(&self) -> &'static wire::Fields<Self> {
        fields::profile(self.descriptor.is_some_and(|d| d.track))
    }

    fn fields_at(octets: &[u8]) -> &'static wire::Fields<Self> {
        fields::profile(is_track(octets))
    }

    fn into_record(self) -> Record {
        Record::OldReport(self)
    }
}

impl EncodeRecord for Report {
    const CATEGORY: u8 = 1;
    const NAME: &'static str = "I001";
    const SOURCE: &'static str = "I001/010";
}

/// Whether the record that begins here says that it is a track: TYP is the highest bit of the
/// second field, which stands after the field specification and the data source in both profiles.
fn is_track(octets: &[u8]) -> bool {
    let specification = octets.iter().take_while(|octet| **octet & 1 == 1).count() + 1;
    let present = |mask: u8| octets.first().is_some_and(|first| first & mask != 0);
    let source = if present(0x80) { 2 } else { 0 };
    present(0x40) && octets.get(specification + source).is_some_and(|octet| octet & 0x80 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_time_is_the_nearest_one() {
        let near = |seconds: u32, ticks: u16| {
            TruncatedTime(ticks).near(TimeOfDay::from_ticks(128 * seconds)).seconds()
        };
        // 43,200 s are 84 × 512 s + 192 s.
        assert_eq!(near(43_200, 192 * 128), 43_200.0);
        assert_eq!(near(43_200, 191 * 128), 43_199.0);
        assert_eq!(near(43_200, 500 * 128), 42_996.0);
        // Just after midnight: 86,399 s are 168 × 512 s + 383 s.
        assert_eq!(near(1, 383 * 128), 86_399.0);
        assert_eq!(near(86_399, 2 * 128), 2.0);
    }
}
