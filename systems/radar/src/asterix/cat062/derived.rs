//! Aircraft derived data (I062/380), and its age (I062/295).

use super::super::AsterixError;
use super::super::intention::{
    FinalStateSelectedAltitude, SelectedAltitude, final_state_of, put_final_state, put_selected,
    selected_of,
};
use super::super::values::Callsign;
use super::super::wire::{
    ANGLE_LSB, Cursor, Field, Layout, fits, put, quantity, signed_quantity, skip_compound, some,
    to_angle, to_signed, to_unsigned, u16_of, u24_of, unsigned,
};

/// Aircraft derived data (I062/380); the subfields that are not here are stepped over.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct AircraftDerived {
    /// ADR: the 24-bit ICAO address.
    pub address: Option<u32>,
    /// Target identification (ID).
    pub callsign: Option<Callsign>,
    /// MHG: magnetic heading in degrees, in steps of 360/2^16 in [0, 360).
    pub magnetic_heading_deg: Option<f64>,
    /// TAS: true airspeed in knots, whole, in [0, 65535].
    pub true_airspeed_kt: Option<f64>,
    /// SAL: selected altitude.
    pub selected_altitude: Option<SelectedAltitude>,
    /// FSS: final state selected altitude.
    pub final_state: Option<FinalStateSelectedAltitude>,
    /// BVR: barometric vertical rate in feet a minute, in steps of 6.25.
    pub barometric_rate_ft_min: Option<f64>,
    /// TAN: track angle in degrees from true north, in steps of 360/2^16 in [0, 360).
    pub track_angle_deg: Option<f64>,
    /// GS: ground speed in nautical miles a second, in steps of 2^-14 in [-2, 2).
    pub ground_speed_nm_s: Option<f64>,
    /// IAR: indicated airspeed in knots, whole, in [0, 65535].
    pub indicated_airspeed_kt: Option<f64>,
    /// MAC: Mach number, in steps of 0.008.
    pub mach: Option<f64>,
    /// BPS: barometric pressure setting in hPa, in steps of 0.1 in [800, 1209.5].
    pub pressure_hpa: Option<f64>,
}

const SPEED_LSB: f64 = 1.0 / 16_384.0;
const PRESSURE_LSB: f64 = 0.1;
const PRESSURE_HPA_MIN: f64 = 800.0;

/// By subfield, from 1.
pub(super) static DERIVED: [Option<Field<AircraftDerived>>; 28] = [
    Some(Field {
        name: "I062/380/ADR",
        layout: Layout::Fixed(3),
        decode: |d, o| d.address = Some(u24_of(o)),
        encode: |d, out| some(d.address, |a| Ok(put(out, fits("I062/380/ADR", a.into(), 24)?, 3))),
    }),
    Some(Field {
        name: "I062/380/ID",
        layout: Layout::Fixed(6),
        decode: |d, o| d.callsign = Some(Callsign::from_bits(unsigned(o))),
        encode: |d, out| some(d.callsign, |c| Ok(put(out, c.bits(), 6))),
    }),
    Some(Field {
        name: "I062/380/MHG",
        layout: Layout::Fixed(2),
        decode: |d, o| d.magnetic_heading_deg = Some(quantity(o, ANGLE_LSB)),
        encode: |d, out| {
            some(d.magnetic_heading_deg, |h| Ok(put(out, to_angle("I062/380/MHG", h)?, 2)))
        },
    }),
    Field::skipped("I062/380/IAS", Layout::Fixed(2)),
    Some(Field {
        name: "I062/380/TAS",
        layout: Layout::Fixed(2),
        decode: |d, o| d.true_airspeed_kt = Some(quantity(o, 1.0)),
        encode: |d, out| {
            some(d.true_airspeed_kt, |s| Ok(put(out, to_unsigned("I062/380/TAS", s, 16, 1.0)?, 2)))
        },
    }),
    named_item!("I062/380/SAL", Layout::Fixed(2), selected_altitude, selected_of, put_selected),
    named_item!("I062/380/FSS", Layout::Fixed(2), final_state, final_state_of, put_final_state),
    Field::skipped("I062/380/TIS", Layout::Extended(1)),
    Field::skipped("I062/380/TID", Layout::Repetitive(15)),
    Field::skipped("I062/380/COM", Layout::Fixed(2)),
    Field::skipped("I062/380/SAB", Layout::Fixed(2)),
    Field::skipped("I062/380/ACS", Layout::Fixed(7)),
    Some(Field {
        name: "I062/380/BVR",
        layout: Layout::Fixed(2),
        decode: |d, o| d.barometric_rate_ft_min = Some(signed_quantity(o, 16, 6.25)),
        encode: |d, out| {
            some(d.barometric_rate_ft_min, |r| {
                Ok(put(out, to_signed("I062/380/BVR", r, 16, 6.25)?, 2))
            })
        },
    }),
    Field::skipped("I062/380/GVR", Layout::Fixed(2)),
    Field::skipped("I062/380/RAN", Layout::Fixed(2)),
    Field::skipped("I062/380/TAR", Layout::Fixed(2)),
    Some(Field {
        name: "I062/380/TAN",
        layout: Layout::Fixed(2),
        decode: |d, o| d.track_angle_deg = Some(quantity(o, ANGLE_LSB)),
        encode: |d, out| some(d.track_angle_deg, |a| Ok(put(out, to_angle("I062/380/TAN", a)?, 2))),
    }),
    Some(Field {
        name: "I062/380/GS",
        layout: Layout::Fixed(2),
        decode: |d, o| d.ground_speed_nm_s = Some(signed_quantity(o, 16, SPEED_LSB)),
        encode: |d, out| {
            some(d.ground_speed_nm_s, |s| {
                Ok(put(out, to_signed("I062/380/GS", s, 16, SPEED_LSB)?, 2))
            })
        },
    }),
    Field::skipped("I062/380/VUN", Layout::Fixed(1)),
    Field::skipped("I062/380/MET", Layout::Fixed(8)),
    Field::skipped("I062/380/EMC", Layout::Fixed(1)),
    Field::skipped("I062/380/POS", Layout::Fixed(6)),
    Field::skipped("I062/380/GAL", Layout::Fixed(2)),
    Field::skipped("I062/380/PUN", Layout::Fixed(1)),
    Field::skipped("I062/380/MB", Layout::Repetitive(8)),
    Some(Field {
        name: "I062/380/IAR",
        layout: Layout::Fixed(2),
        decode: |d, o| d.indicated_airspeed_kt = Some(quantity(o, 1.0)),
        encode: |d, out| {
            some(d.indicated_airspeed_kt, |s| {
                Ok(put(out, to_unsigned("I062/380/IAR", s, 16, 1.0)?, 2))
            })
        },
    }),
    Some(Field {
        name: "I062/380/MAC",
        layout: Layout::Fixed(2),
        decode: |d, o| d.mach = Some(quantity(o, 0.008)),
        encode: |d, out| {
            some(d.mach, |m| Ok(put(out, to_unsigned("I062/380/MAC", m, 16, 0.008)?, 2)))
        },
    }),
    item!(
        "I062/380/BPS",
        Layout::Fixed(2),
        pressure_hpa,
        |o: &[u8]| PRESSURE_HPA_MIN + f64::from(u16_of(o) & 0x0FFF) * PRESSURE_LSB,
        |hpa: f64, out: &mut Vec<u8>| {
            let above = hpa - PRESSURE_HPA_MIN;
            Ok(put(out, to_unsigned("I062/380/BPS", above, 12, PRESSURE_LSB)?, 2))
        }
    ),
];

/// I062/295: thirty-one ages of one octet each.
pub(super) fn skip_ages(cursor: &mut Cursor<'_>) -> Result<(), AsterixError> {
    static AGES: [Option<Field<()>>; 31] =
        [const { Field::skipped("I062/295", Layout::Fixed(1)) }; 31];
    skip_compound(cursor, "I062/295", &AGES)
}
