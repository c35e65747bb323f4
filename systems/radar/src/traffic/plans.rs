//! Flight plans of a scenario, as the message server reads them.
//!
//! A CSV file with a header and one line an aircraft:
//! `callsign,address,mode_a,departure,destination,aircraft_type,composed`. The address is six
//! hexadecimal digits, the code four octal ones. `composed` names, separated by spaces, the
//! columns that were made up instead of recorded. The recording has no aerodromes and no types,
//! so these three are always made up: plausible values to fill a label with, nothing more.
//!
//! A day's plans have two more columns, `departure_utc_s,arrival_utc_s`, seconds since the UTC
//! epoch ([`HEADER_TIMES`]); files with and without them are read.

use super::aircraft::{Aircraft, Composed};
use std::io::{self, Write};

/// The first line.
pub const HEADER: &str = "callsign,address,mode_a,departure,destination,aircraft_type,composed";

/// The first line of a file whose plans have times.
pub const HEADER_TIMES: &str = "callsign,address,mode_a,departure,destination,aircraft_type,\
                                composed,departure_utc_s,arrival_utc_s";

/// Aerodromes that flights are assigned as departure and destination.
pub const AERODROMES: [&str; 12] = [
    "EDDF", "EDDM", "EDDB", "EDDH", "EDDL", "EDDK", "EDDS", "EDDN", "EDDV", "EDDW", "EDDP", "EDDC",
];

const TYPES: [&str; 8] = ["A320", "A321", "A319", "B738", "E190", "A333", "B77W", "CRJ9"];

/// One flight plan of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlightPlan {
    /// Without trailing spaces.
    pub callsign: String,
    /// 24-bit address of the aircraft.
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
    /// Departure and arrival, in seconds since the UTC epoch, where the file has them.
    pub times_utc_s: Option<(i64, i64)>,
}

/// Reasons why a line is not a flight plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The first line is not the header above.
    #[error("line 1: not a flight plan file, expected the header {HEADER}")]
    Header,
    /// A line with another number of columns.
    #[error("line {line}: {columns} columns instead of {expected}")]
    Columns {
        /// Line number, from 1.
        line: usize,
        /// Number of columns of the line.
        columns: usize,
        /// Number of columns of the header.
        expected: usize,
    },
    /// A number that is none.
    #[error("line {line}: {column} {text:?} is not {expected}")]
    Number {
        /// Line number, from 1.
        line: usize,
        /// Name of the column.
        column: &'static str,
        /// Text of the field.
        text: String,
        /// Expected form.
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
            times_utc_s: None,
        }
    }

    /// The plan of an aircraft that flies once in a scenario which begins at `start_utc_ns`: it
    /// departs up to an hour before it appears and arrives up to an hour after it is gone. These
    /// times are made up as well.
    #[must_use]
    pub fn of_day(aircraft: &Aircraft, start_utc_ns: i64) -> Self {
        let mut plan = Self::of(aircraft);
        let (from_s, to_s) = aircraft.flies_s();
        let outside_s = |salt: u32| {
            let mixed = (aircraft.address ^ salt).wrapping_mul(0x9E37_79B1) >> 8;
            f64::from(600 + mixed % 3000)
        };
        #[allow(clippy::cast_possible_truncation, reason = "seconds of a day; saturates")]
        let utc_s = |at_s: f64| start_utc_ns.div_euclid(1_000_000_000).saturating_add(at_s as i64);
        plan.times_utc_s = Some((utc_s(from_s - outside_s(4)), utc_s(to_s + outside_s(5))));
        plan.composed.push_str(" departure_utc_s arrival_utc_s");
        plan
    }
}

/// Writes the plans of all `aircraft`.
///
/// # Errors
/// Errors of `out`.
pub fn write(aircraft: &[Aircraft], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    aircraft.iter().try_for_each(|plane| line(&FlightPlan::of(plane), out))
}

fn line(plan: &FlightPlan, out: &mut impl Write) -> io::Result<()> {
    let FlightPlan { callsign, address, mode_a, departure, destination, .. } = plan;
    let FlightPlan { aircraft_type, composed, .. } = plan;
    write!(
        out,
        "{callsign},{address:06x},{mode_a:04o},{departure},{destination},{aircraft_type},{composed}"
    )?;
    match plan.times_utc_s {
        None => writeln!(out),
        Some((departure_s, arrival_s)) => writeln!(out, ",{departure_s},{arrival_s}"),
    }
}

/// Writes the plans of a day's `aircraft`, with their times; the day begins at `start_utc_ns`.
///
/// # Errors
/// Errors of `out`.
pub fn write_day(aircraft: &[Aircraft], start_utc_ns: i64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{HEADER_TIMES}")?;
    aircraft.iter().try_for_each(|plane| line(&FlightPlan::of_day(plane, start_utc_ns), out))
}

/// Reads plans.
///
/// # Errors
/// [`PlanError`] with the line that is wrong.
pub fn read(text: &str) -> Result<Vec<FlightPlan>, PlanError> {
    let mut lines = text.lines().enumerate();
    let timed = match lines.next().map(|(_, line)| line) {
        Some(HEADER) => false,
        Some(HEADER_TIMES) => true,
        _ => return Err(PlanError::Header),
    };
    let full = lines.filter(|(_, line)| !line.is_empty());
    full.map(|(index, line)| plan(index + 1, line, timed)).collect()
}

fn plan(line: usize, text: &str, timed: bool) -> Result<FlightPlan, PlanError> {
    let columns: Vec<&str> = text.split(',').collect();
    let expected = if timed { 9 } else { 7 };
    let &[
        callsign,
        address,
        mode_a,
        departure,
        destination,
        aircraft_type,
        composed,
        ref times @ ..,
    ] = columns.as_slice()
    else {
        return Err(PlanError::Columns { line, columns: columns.len(), expected });
    };
    if columns.len() != expected {
        return Err(PlanError::Columns { line, columns: columns.len(), expected });
    }
    let seconds = |column, text: &str| {
        let expected = "whole seconds since 1970";
        text.parse::<i64>().map_err(|_| PlanError::Number {
            line,
            column,
            text: text.to_owned(),
            expected,
        })
    };
    let times_utc_s = match times {
        [departure, arrival] => {
            Some((seconds("departure_utc_s", departure)?, seconds("arrival_utc_s", arrival)?))
        }
        _ => None,
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
        times_utc_s,
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
    fn a_days_plans_have_times_that_contain_their_flights() {
        let made = crate::traffic::made::flights(10, 1);
        let aircraft = crate::traffic::day::compose(&made, 40, 3600.0, 1);
        let mut file = Vec::new();
        write_day(&aircraft, 7_200_000_000_000, &mut file).unwrap();
        let plans = read(std::str::from_utf8(&file).unwrap()).unwrap();
        assert_eq!(plans.len(), 40);
        for (plane, plan) in aircraft.iter().zip(&plans) {
            assert_eq!(*plan, FlightPlan::of_day(plane, 7_200_000_000_000));
            let (from_s, to_s) = plane.flies_s();
            let (departs, arrives) = plan.times_utc_s.unwrap();
            assert!((departs as f64) < 7200.0 + from_s && (arrives as f64) > 7200.0 + to_s);
        }
        let bad = format!("{HEADER_TIMES}\nDLH1,3c0001,7000,EDDF,EDDM,A320,mode_a,12,noon\n");
        assert_eq!(
            read(&bad).unwrap_err().to_string(),
            "line 2: arrival_utc_s \"noon\" is not whole seconds since 1970"
        );
        let short = format!("{HEADER_TIMES}\nDLH1,3c0001,7000,EDDF,EDDM,A320,mode_a\n");
        assert_eq!(read(&short), Err(PlanError::Columns { line: 2, columns: 7, expected: 9 }));
    }

    #[test]
    fn refusals_name_the_line() {
        let bad = format!("{HEADER}\nDLH1,3c0001,7890,EDDF,EDDM,A320,mode_a\n");
        assert_eq!(
            read(&bad).unwrap_err().to_string(),
            "line 2: mode_a \"7890\" is not four octal digits"
        );
        let short = format!("{HEADER}\n\nDLH1,3c0001\n");
        assert_eq!(read(&short), Err(PlanError::Columns { line: 3, columns: 2, expected: 7 }));
        assert_eq!(read("DLH1"), Err(PlanError::Header));
    }
}
