//! Data of the flight plan that a track is correlated with (I062/390).

use super::super::AsterixError;
use super::super::values::DataSource;
use super::super::wire::{Field, Layout, put, quantity, some, to_unsigned, u16_of};
use super::items::ModeA;

/// Flight plan related data (I062/390); the subfields that are not here are stepped over.
///
/// Texts are ASCII without trailing spaces; octets outside printable ASCII are read as `?`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FlightPlan {
    /// TAG: the flight plan data processing system.
    pub system: Option<DataSource>,
    /// CS: callsign, at most 7 characters.
    pub callsign: Option<String>,
    /// TAC: type of aircraft (ICAO doc. 8643), at most 4 characters.
    pub aircraft_type: Option<String>,
    /// WTC: wake turbulence category, one character.
    pub wake_category: Option<String>,
    /// DEP: departure aerodrome, at most 4 characters.
    pub departure: Option<String>,
    /// DST: destination aerodrome, at most 4 characters.
    pub destination: Option<String>,
    /// CFL: cleared flight level, in steps of 0.25 in [0, 16383.75].
    pub cleared_flight_level: Option<f64>,
    /// CTL: centre and position in control.
    pub control_position: Option<(u8, u8)>,
    /// PEM: Mode 3/A code before it was changed; only `code` and `not_validated` (VA: 0 invalid,
    /// shown inverted) are carried.
    pub pre_emergency_mode_a: Option<ModeA>,
}

/// A subfield of text.
macro_rules! text {
    ($name:literal, $field:ident, $octets:literal) => {
        Some(Field {
            name: $name,
            layout: Layout::Fixed($octets),
            decode: |plan, o| plan.$field = Some(text_of(o)),
            encode: |plan, out| some(plan.$field.as_deref(), |t| put_text($name, t, $octets, out)),
        })
    };
}

/// By subfield, from 1.
pub(super) static FLIGHT_PLAN: [Option<Field<FlightPlan>>; 18] = [
    Some(Field {
        name: "I062/390/TAG",
        layout: Layout::Fixed(2),
        decode: |plan, o| plan.system = Some(DataSource { sac: o[0], sic: o[1] }),
        encode: |plan, out| {
            some(plan.system, |system| Ok(out.extend_from_slice(&[system.sac, system.sic])))
        },
    }),
    text!("I062/390/CS", callsign, 7),
    Field::skipped("I062/390/IFI", Layout::Fixed(4)),
    Field::skipped("I062/390/FCT", Layout::Fixed(1)),
    text!("I062/390/TAC", aircraft_type, 4),
    text!("I062/390/WTC", wake_category, 1),
    text!("I062/390/DEP", departure, 4),
    text!("I062/390/DST", destination, 4),
    Field::skipped("I062/390/RDS", Layout::Fixed(3)),
    Some(Field {
        name: "I062/390/CFL",
        layout: Layout::Fixed(2),
        decode: |plan, o| plan.cleared_flight_level = Some(quantity(o, 0.25)),
        encode: |plan, out| {
            some(plan.cleared_flight_level, |level| {
                Ok(put(out, to_unsigned("I062/390/CFL", level, 16, 0.25)?, 2))
            })
        },
    }),
    Some(Field {
        name: "I062/390/CTL",
        layout: Layout::Fixed(2),
        decode: |plan, o| plan.control_position = Some((o[0], o[1])),
        encode: |plan, out| {
            some(plan.control_position, |(centre, position)| {
                Ok(out.extend_from_slice(&[centre, position]))
            })
        },
    }),
    Field::skipped("I062/390/TOD", Layout::Repetitive(4)),
    Field::skipped("I062/390/AST", Layout::Fixed(6)),
    Field::skipped("I062/390/STS", Layout::Fixed(1)),
    Field::skipped("I062/390/STD", Layout::Fixed(7)),
    Field::skipped("I062/390/STA", Layout::Fixed(7)),
    Some(Field {
        name: "I062/390/PEM",
        layout: Layout::Fixed(2),
        decode: |plan, o| {
            plan.pre_emergency_mode_a = Some(ModeA {
                code: u16_of(o) & 0x0FFF,
                not_validated: o[0] & 0x10 == 0,
                ..ModeA::default()
            });
        },
        encode: |plan, out| some(plan.pre_emergency_mode_a, |m| put_pre_emergency(m, out)),
    }),
    Field::skipped("I062/390/PEC", Layout::Fixed(7)),
];

fn put_pre_emergency(m: ModeA, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let code = to_unsigned("I062/390/PEM", m.code.into(), 12, 1.0)?;
    put(out, u64::from(!m.not_validated) << 12 | code, 2);
    Ok(())
}

fn text_of(o: &[u8]) -> String {
    let characters = o.iter().map(|c| if matches!(c, b' '..=b'~') { char::from(*c) } else { '?' });
    let mut text: String = characters.collect();
    text.truncate(text.trim_end().len());
    text
}

fn put_text(
    item: &'static str,
    text: &str,
    octets_max: usize,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    if text.len() > octets_max || !text.bytes().all(|c| matches!(c, b' '..=b'~')) {
        return Err(AsterixError::Text { item, text: text.to_owned(), octets_max });
    }
    out.extend_from_slice(text.as_bytes());
    out.extend(std::iter::repeat_n(b' ', octets_max - text.len()));
    Ok(())
}
