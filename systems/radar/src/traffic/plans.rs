//! Flight plans of a scenario, as the message server reads them.
//!
//! A CSV file with a header and one line an aircraft:
//! `callsign,address,mode_a,departure,destination,aircraft_type,composed`. The address is six
//! hexadecimal digits, the code four octal ones. `composed` names, separated by spaces, the
//! columns that were made up instead of recorded. The recording has no aerodromes and no types,
//! so these three are always made up: plausible values to fill a label with, nothing more.

use super::{Aircraft, Composed};
use std::io::{self, Write};

/// The first line.
pub const HEADER: &str = "callsign,address,mode_a,departure,destination,aircraft_type,composed";

const AERODROMES: [&str; 12] = [
    "EDDF", "EDDM", "EDDB", "EDDH", "EDDL", "EDDK", "EDDS", "EDDN", "EDDV", "EDDW", "EDDP", "EDDC",
];

const TYPES: [&str; 8] = ["A320", "A321", "A319", "B738", "E190", "A333", "B77W", "CRJ9"];

/// One flight plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlightPlan {
    /// Without trailing spaces.
    pub callsign: String,
    /// 24-bit address.
    pub address: u32,
    /// Mode 3/A code.
    pub mode_a: u16,
    /// Departure aerodrome.
    pub departure: String,
    /// Destination aerodrome.
    pub destination: String,
    /// Type of aircraft.
    pub aircraft_type: String,
    /// Columns that were made up, separated by spaces.
    pub composed: String,
}

/// Why a line is not a flight plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Not the header above.
    #[error("line 1: not a flight plan file, expected the header {HEADER}")]
    Header,
    /// A line with another number of columns.
    #[error("line {line}: {columns} columns instead of 7")]
    Columns {
        /// From 1.
        line: usize,
        /// How many there are.
        columns: usize,
    },
    /// A number that is none.
    #[error("line {line}: {column} {text:?} is not {expected}")]
    Number {
        /// From 1.
        line: usize,
        /// Name of the column.
        column: &'static str,
        /// What it says.
        text: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl FlightPlan {
    /// The plan of an aircraft.
    #[must_use]
    pub fn of(aircraft: &Aircraft) -> Self {
        let pick = |from: &[&str], salt: u32| {
            let mixed = (aircraft.address ^ salt).wrapping_mul(0x9E37_79B1) >> 8;
            from[mixed as usize % from.len()].to_owned()
        };
        let departure = pick(&AERODROMES, 1);
        let destination = Some(pick(&AERODROMES, 2)).filter(|d| *d != departure);
        let Composed { address, callsign, mode_a } = aircraft.composed;
        let names = [(callsign, "callsign"), (address, "address"), (mode_a, "mode_a")];
        let mut composed: Vec<&str> =
            names.iter().filter(|(made_up, _)| *made_up).map(|(_, name)| *name).collect();
        composed.extend(["departure", "destination", "aircraft_type"]);
        Self {
            callsign: aircraft.callsign.to_string(),
            address: aircraft.address,
            mode_a: aircraft.mode_a,
            departure,
            destination: destination.unwrap_or_else(|| "LSZH".to_owned()),
            aircraft_type: pick(&TYPES, 3),
            composed: composed.join(" "),
        }
    }
}

/// Writes the plans of all `aircraft`.
///
/// # Errors
/// Those of `out`.
pub fn write(aircraft: &[Aircraft], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    for plan in aircraft.iter().map(FlightPlan::of) {
        let FlightPlan { callsign, address, mode_a, departure, destination, .. } = &plan;
        writeln!(
            out,
            "{callsign},{address:06x},{mode_a:04o},{departure},{destination},{},{}",
            plan.aircraft_type, plan.composed
        )?;
    }
    Ok(())
}

/// Reads plans.
///
/// # Errors
/// [`PlanError`] with the line that is wrong.
pub fn read(text: &str) -> Result<Vec<FlightPlan>, PlanError> {
    let mut lines = text.lines().enumerate();
    if lines.next().map(|(_, line)| line) != Some(HEADER) {
        return Err(PlanError::Header);
    }
    lines.filter(|(_, line)| !line.is_empty()).map(|(index, line)| plan(index + 1, line)).collect()
}

fn plan(line: usize, text: &str) -> Result<FlightPlan, PlanError> {
    let columns: Vec<&str> = text.split(',').collect();
    let &[callsign, address, mode_a, departure, destination, aircraft_type, composed] =
        columns.as_slice()
    else {
        return Err(PlanError::Columns { line, columns: columns.len() });
    };
    let number = |column, text: &str, radix, max, expected| {
        u32::from_str_radix(text, radix)
            .ok()
            .filter(|value| *value <= max)
            .ok_or_else(|| PlanError::Number { line, column, text: text.to_owned(), expected })
    };
    let code = number("mode_a", mode_a, 8, 0o7777, "four octal digits")?;
    Ok(FlightPlan {
        callsign: callsign.to_owned(),
        address: number("address", address, 16, 0x00FF_FFFF, "six hexadecimal digits")?,
        mode_a: u16::try_from(code).unwrap_or(0),
        departure: departure.to_owned(),
        destination: destination.to_owned(),
        aircraft_type: aircraft_type.to_owned(),
        composed: composed.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::circles;

    #[test]
    fn what_is_written_is_read() {
        let aircraft = circles::compose(2, 30);
        let mut file = Vec::new();
        write(&aircraft, &mut file).unwrap();
        let plans = read(std::str::from_utf8(&file).unwrap()).unwrap();
        assert_eq!(plans, aircraft.iter().map(FlightPlan::of).collect::<Vec<_>>());
        assert_eq!(plans[0].callsign, "C1F1");
        assert_eq!(
            plans[0].composed,
            "callsign address mode_a departure destination aircraft_type"
        );
        assert!(plans.iter().all(|plan| plan.departure != plan.destination));
    }

    #[test]
    fn refusals_name_the_line() {
        let bad = format!("{HEADER}\nDLH1,3c0001,7890,EDDF,EDDM,A320,mode_a\n");
        assert_eq!(
            read(&bad).unwrap_err().to_string(),
            "line 2: mode_a \"7890\" is not four octal digits"
        );
        let short = format!("{HEADER}\n\nDLH1,3c0001\n");
        assert_eq!(read(&short), Err(PlanError::Columns { line: 3, columns: 2 }));
        assert_eq!(read("DLH1"), Err(PlanError::Header));
    }
}
