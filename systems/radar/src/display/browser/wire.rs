//! Frames of track states, as octets sent to browsers.
//!
//! Little-endian. A frame is a head of [`HEAD_OCTETS`] and its records:
//!
//! | head | |
//! |---|---|
//! | `u8` | 1: a frame |
//! | `u8` | version of the format, 1 |
//! | `u16` | 1: forget all tracks first; 0: these are changes |
//! | `u32` | number of the frame, from 1; acknowledged when it is on the screen |
//! | `u32` | records |
//! | `f64` | UTC when it was sent, ms |
//!
//! | record | |
//! |---|---|
//! | `u8` | 0: the track is gone (nothing follows its number); 1: its state |
//! | `u16` | number (I062/040) |
//! | `u16` | [flags] |
//! | `i32` `i32` | latitude, longitude in 10⁻⁷ degrees |
//! | `i16` `i16` | velocity to the east and to the north, 0.25 m/s |
//! | `u16` | Mode A, 0xFFFF for none |
//! | `i16` | flight level in quarters, -32768 for none |
//! | `i16` | rate of climb, 6.25 ft/min, -32768 for none |
//! | `u16` | cleared level in quarters, or else the level that the crew has selected, 0xFFFF for none |
//! | `u8` and pairs of `i32` | past positions, the latest first, as the position |
//! | 4 × (`u8` and octets) | callsign, type, departure, destination: UTF-8 |
//!
//! A record is the whole state of a track: the newest replaces all before it. Fields are only
//! added, with a new version.

use super::super::cleared::Cleared;
use crate::asterix::cat062;

/// Octets of a frame before its first record.
pub const HEAD_OCTETS: usize = 20;
const KIND_FRAME: u8 = 1;
const VERSION: u8 = 1;
/// Kind of a record: the track is gone.
const GONE: u8 = 0;
const STATE: u8 = 1;

/// Bits of a record's flags.
pub mod flags {
    /// Has a flight plan's data (I062/390).
    pub const PLAN: u16 = 1;
    /// CST of I062/080: the tracker has no recent plot of it.
    pub const COASTING: u16 = 1 << 1;
    /// Track is tentative (CNF).
    pub const TENTATIVE: u16 = 1 << 2;
    /// Track is simulated (SIM).
    pub const SIMULATED: u16 = 1 << 3;
    /// MON: seen by one sensor.
    pub const MONOSENSOR: u16 = 1 << 4;
    /// PSR: no recent primary plot.
    pub const PSR_OLD: u16 = 1 << 5;
    /// SSR: no recent secondary plot.
    pub const SSR_OLD: u16 = 1 << 6;
    /// MDS: no recent Mode S plot.
    pub const MODE_S_OLD: u16 = 1 << 7;
    /// ADS: no recent ADS-B report.
    pub const ADSB_OLD: u16 = 1 << 8;
    /// Special position identification (SPI).
    pub const IDENT: u16 = 1 << 9;
    /// AAC: assigned Mode A code conflict.
    pub const CODE_CONFLICT: u16 = 1 << 10;
    /// The message server has correlated the track with a flight plan (FPC).
    pub const CORRELATED: u16 = 1 << 11;
    /// No update has arrived here for some time.
    pub const SILENT: u16 = 1 << 12;
    /// The cleared level is the crew's selection (I062/380): no plan has one.
    pub const SELECTED: u16 = 1 << 13;
    /// The crew has selected another level than the cleared one.
    pub const DIFFERS: u16 = 1 << 14;
}

/// A position in the units of the wire.
pub type WirePosition = (i32, i32);

/// Latitude and longitude in 10⁻⁷ degrees.
#[must_use]
pub fn wire_position(lat_deg: f64, lon_deg: f64) -> WirePosition {
    (steps(lat_deg, 1e-7), steps(lon_deg, 1e-7))
}

/// The head of a frame.
#[must_use]
pub fn head(number: u32, records: usize, anew: bool, utc_ns: i64) -> Vec<u8> {
    let mut octets = vec![KIND_FRAME, VERSION];
    octets.extend(u16::from(anew).to_le_bytes());
    octets.extend(number.to_le_bytes());
    octets.extend(u32::try_from(records).unwrap_or(u32::MAX).to_le_bytes());
    #[allow(clippy::cast_precision_loss, reason = "milliseconds")]
    octets.extend((utc_ns as f64 / 1e6).to_le_bytes());
    octets
}

/// The record of a track that is gone.
#[must_use]
pub fn gone(number: u16) -> Vec<u8> {
    let mut octets = vec![GONE];
    octets.extend(number.to_le_bytes());
    octets
}

/// The record of a track's state. `silent`: nothing was heard of it for some time. `history`: the
/// latest first, 255 at most.
#[must_use]
pub fn state(
    number: u16,
    track: &cat062::Track,
    silent: bool,
    history: &[WirePosition],
) -> Vec<u8> {
    let position = track.position.unwrap_or_default();
    let velocity = track.velocity.unwrap_or_default();
    let level = track.measured_flight_level.or(track.barometric_altitude.map(|b| b.level));
    let plan = track.flight_plan.as_ref();
    let cleared = Cleared::of(track).shown();
    let mut octets = vec![STATE];
    octets.extend(number.to_le_bytes());
    octets.extend(flags_of(track, silent).to_le_bytes());
    put_place(&mut octets, wire_position(position.lat_deg, position.lon_deg));
    for value in [small(velocity.x_m_s, 0.25), small(velocity.y_m_s, 0.25)] {
        octets.extend(value.to_le_bytes());
    }
    octets.extend(track.mode_a.map_or(u16::MAX, |mode| mode.code).to_le_bytes());
    octets.extend(level.map_or(i16::MIN, |level| small(level, 0.25)).to_le_bytes());
    let rate = track.rate_of_climb_ft_min;
    octets.extend(rate.map_or(i16::MIN, |rate| small(rate, 6.25)).to_le_bytes());
    let cleared = cleared.map_or(u16::MAX, |level| u16::try_from(steps(level, 0.25)).unwrap_or(0));
    octets.extend(cleared.to_le_bytes());
    let dots = &history[..history.len().min(255)];
    octets.push(u8::try_from(dots.len()).unwrap_or(u8::MAX));
    dots.iter().for_each(|&dot| put_place(&mut octets, dot));
    let callsign = plan
        .and_then(|plan| plan.callsign.clone())
        .or_else(|| track.target_identification.map(|target| target.callsign.to_string()))
        .unwrap_or_default();
    put_text(&mut octets, &callsign);
    let parts = plan.map(|plan| [&plan.aircraft_type, &plan.departure, &plan.destination]);
    for part in parts.unwrap_or([&None, &None, &None]) {
        put_text(&mut octets, part.as_deref().unwrap_or_default());
    }
    octets
}

fn flags_of(track: &cat062::Track, silent: bool) -> u16 {
    let status = track.status.unwrap_or_default();
    let cleared = Cleared::of(track);
    [
        (cleared.plan.is_none() && cleared.selected.is_some(), flags::SELECTED),
        (cleared.differs(), flags::DIFFERS),
        (track.flight_plan.is_some(), flags::PLAN),
        (status.coasting, flags::COASTING),
        (status.tentative, flags::TENTATIVE),
        (status.simulated, flags::SIMULATED),
        (status.monosensor, flags::MONOSENSOR),
        (status.psr_old, flags::PSR_OLD),
        (status.ssr_old, flags::SSR_OLD),
        (status.mode_s_old, flags::MODE_S_OLD),
        (status.adsb_old, flags::ADSB_OLD),
        (status.special_position, flags::IDENT),
        (status.code_conflict, flags::CODE_CONFLICT),
        (status.flight_plan_correlated, flags::CORRELATED),
        (silent, flags::SILENT),
    ]
    .iter()
    .filter(|(set, _)| *set)
    .fold(0, |all, (_, bit)| all | bit)
}

fn put_place(octets: &mut Vec<u8>, (lat, lon): WirePosition) {
    octets.extend(lat.to_le_bytes());
    octets.extend(lon.to_le_bytes());
}

fn put_text(octets: &mut Vec<u8>, text: &str) {
    // Callsigns, types and aerodromes have at most seven characters.
    let text: String = text.chars().take(60).collect();
    octets.push(u8::try_from(text.len()).unwrap_or(0));
    octets.extend(text.as_bytes());
}

/// `value` in steps, held within the type.
fn steps(value: f64, step: f64) -> i32 {
    #[allow(clippy::cast_possible_truncation, reason = "saturates, and NaN is 0")]
    let steps = (value / step).round() as i32;
    steps
}

fn small(value: f64, step: f64) -> i16 {
    // The least value means that there is none.
    i16::try_from(steps(value, step).clamp(-32_767, 32_767)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::FinalStateSelectedAltitude;
    use crate::asterix::cat062::{
        AircraftDerived, FlightPlan, ModeA, Position, Status, Track, Velocity,
    };

    /// The octets of version 1, kept: the page's tests read the same (systems/radar/page/src/wire.test.ts).
    #[test]
    fn the_octets_of_version_1() {
        let track = Track {
            position: Some(Position { lat_deg: 50.5, lon_deg: -8.25 }),
            velocity: Some(Velocity { x_m_s: 100.0, y_m_s: -50.0 }),
            mode_a: Some(ModeA { code: 0o1234, ..ModeA::default() }),
            measured_flight_level: Some(350.25),
            rate_of_climb_ft_min: Some(-1000.0),
            status: Some(Status { coasting: true, ..Status::default() }),
            flight_plan: Some(FlightPlan {
                callsign: Some("DLH4AB".to_owned()),
                aircraft_type: Some("A320".to_owned()),
                destination: Some("EDDM".to_owned()),
                cleared_flight_level: Some(360.0),
                ..FlightPlan::default()
            }),
            ..Track::default()
        };
        let mut octets = head(7, 2, true, 1_000_000_000);
        octets.extend(state(513, &track, true, &[(1, -1)]));
        octets.extend(gone(2));
        let hex: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        let head = "0101010007000000020000000000000000408f40";
        let fixed = "0101020310 40b0191e 602615fb 900138ff 9c02 7905 60ff a005".replace(' ', "");
        let dots = "01 01000000 ffffffff".replace(' ', "");
        let texts = "06444c48344142 0441333230 00 044544444d".replace(' ', "");
        assert_eq!(hex, format!("{head}{fixed}{dots}{texts}000200"));
    }

    #[test]
    fn a_level_that_the_crew_has_selected_is_one_where_none_is_cleared() {
        let last = |altitude_ft| FinalStateSelectedAltitude { altitude_ft, ..Default::default() };
        let track = |cleared_flight_level, selected_ft: Option<f64>| Track {
            flight_plan: Some(FlightPlan { cleared_flight_level, ..FlightPlan::default() }),
            derived: Some(AircraftDerived {
                final_state: selected_ft.map(last),
                ..AircraftDerived::default()
            }),
            ..Track::default()
        };
        let sent = |track| {
            let octets = state(1, &track, false, &[]);
            let u16_at = |at: usize| u16::from_le_bytes([octets[at], octets[at + 1]]);
            (u16_at(23), u16_at(3) & (flags::SELECTED | flags::DIFFERS))
        };
        assert_eq!(sent(track(Some(350.0), None)), (1400, 0));
        assert_eq!(sent(track(None, Some(37_000.0))), (1480, flags::SELECTED));
        assert_eq!(sent(track(Some(350.0), Some(37_000.0))), (1400, flags::DIFFERS));
        assert_eq!(sent(track(Some(350.0), Some(35_000.0))), (1400, 0));
    }

    #[test]
    fn what_is_not_known_and_what_is_out_of_range_is_said_so() {
        let octets = state(1, &Track::default(), false, &[]);
        assert_eq!(octets.len(), 1 + 2 + 2 + 8 + 4 + 2 + 2 + 2 + 2 + 1 + 4);
        assert_eq!(octets[17..25], [0xFF, 0xFF, 0x00, 0x80, 0x00, 0x80, 0xFF, 0xFF]);
        assert_eq!(small(-1e9, 1.0), -32_767);
        assert_eq!(small(f64::NAN, 1.0), 0);
    }
}
