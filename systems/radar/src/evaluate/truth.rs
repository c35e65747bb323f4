//! True positions of aircraft: the file that `radar-generator --truth` writes.

use super::contents::Said;
use crate::asterix::Callsign;
use crate::generator::{TRUTH_HEADER, address_of};
use crate::geodesy::{Stereographic, Wgs84};
use crate::tracker::linear::Vec2;
use crate::traffic::plans::FlightPlan;
use std::collections::BTreeMap;
use std::io::{self, BufRead};

/// Reasons why a file is not a truth file.
#[derive(Debug, thiserror::Error)]
pub enum TruthsError {
    /// The first line is not the header.
    #[error("line 1: not a file of true positions, expected the header {TRUTH_HEADER}")]
    Header,
    /// A line has another form.
    #[error("line {line}: {text:?} is not {TRUTH_HEADER}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// An aircraft that is at an earlier time again.
    #[error("line {line}: address {address:06x}: the time is earlier than on a line before")]
    Order {
        /// Line number, from 1.
        line: usize,
        /// Address of the aircraft.
        address: u32,
    },
    /// The file cannot be read.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    utc_s: f64,
    position: Vec2,
    level: f64,
}

/// An aircraft at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TrueState {
    pub(super) position: Vec2,
    pub(super) level: f64,
    /// m/s; `None` at the ends of a path.
    pub(super) velocity: Option<Vec2>,
    /// ft/min; `None` at the ends of a path.
    pub(super) climb_ft_min: Option<f64>,
    /// Whether it turns by more than [`TURN_DEG_S`].
    pub(super) turning: bool,
}

/// The true paths of all aircraft.
#[derive(Debug, Default)]
pub struct Truths {
    paths: BTreeMap<u32, Vec<Point>>,
    /// Mode 3/A codes and callsigns by address.
    names: BTreeMap<u32, (u16, Option<Callsign>)>,
}

/// Points further apart are not joined, s.
const STEP_S_MAX: f64 = 15.0;
/// The course is compared over so long before and after, s.
const TURN_S: f64 = 4.0;
/// Slower changes of course are straight flight, degrees a second: an eighth of a standard rate
/// turn, and several times what the digits of the file make.
const TURN_DEG_S: f64 = 0.375;

impl Truths {
    /// Reads a file, into `plane`.
    ///
    /// # Errors
    /// [`TruthsError`] with the line.
    pub fn read(input: impl BufRead, plane: &Stereographic) -> Result<Self, TruthsError> {
        let mut lines = input.lines();
        if lines.next().transpose()?.as_deref() != Some(TRUTH_HEADER) {
            return Err(TruthsError::Header);
        }
        let mut paths: BTreeMap<u32, Vec<Point>> = BTreeMap::new();
        for (index, text) in lines.enumerate() {
            let (line, text) = (index + 2, text?);
            let Some((address, point)) = point(&text, plane) else {
                return Err(TruthsError::Line { line, text });
            };
            let path = paths.entry(address).or_default();
            if path.last().is_some_and(|last| last.utc_s >= point.utc_s) {
                return Err(TruthsError::Order { line, address });
            }
            path.push(point);
        }
        Ok(Self { paths, names: BTreeMap::new() })
    }

    /// With the codes and callsigns of the aircraft, by their flight plans.
    #[must_use]
    pub fn with_plans(mut self, plans: &[FlightPlan]) -> Self {
        let names = |plan: &FlightPlan| (plan.address, (plan.mode_a, plan.callsign.parse().ok()));
        self.names = plans.iter().map(names).collect();
        self
    }

    /// What is true of the aircraft with a name that is at `level`.
    pub(super) fn said(&self, name: u32, level: f64) -> Said {
        let address = address_of(name);
        let names = address.and_then(|address| self.names.get(&address));
        Said {
            address,
            mode_a: names.map(|names| names.0),
            callsign: names.and_then(|names| names.1),
            level: Some(level),
        }
    }

    /// First and last time of all, seconds since the UTC epoch; `None` without any aircraft.
    #[must_use]
    pub fn span_s(&self) -> Option<(f64, f64)> {
        let ends = self.paths.values().filter_map(|path| Some((path.first()?, path.last()?)));
        ends.map(|(first, last)| (first.utc_s, last.utc_s))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Every point of every path, and its level.
    pub(super) fn points(&self) -> impl Iterator<Item = (Vec2, f64)> {
        self.paths.values().flatten().map(|point| (point.position, point.level))
    }

    /// All aircraft that are there at `utc_s`.
    pub(super) fn at(&self, utc_s: f64) -> impl Iterator<Item = (u32, TrueState)> {
        self.paths.keys().filter_map(move |address| Some((*address, self.state(*address, utc_s)?)))
    }

    /// State of one aircraft at `utc_s`.
    pub(super) fn state(&self, address: u32, utc_s: f64) -> Option<TrueState> {
        let path = self.paths.get(&address)?;
        let (position, level) = between(path, utc_s)?;
        let (past, future) = (between(path, utc_s - TURN_S), between(path, utc_s + TURN_S));
        let climbed = past.zip(future).map(|((_, before), (_, after))| after - before);
        let before = past.map(|(before, _)| position - before);
        let after = future.map(|(after, _)| after - position);
        let turning = before.zip(after).is_some_and(|(before, after)| {
            let cross = before.x * after.y - before.y * after.x;
            cross.atan2(before.dot(after)).abs().to_degrees() > TURN_DEG_S * TURN_S
        });
        let velocity = before.zip(after).map(|(before, after)| (before + after) * (0.5 / TURN_S));
        // Hundreds of feet within twice the time, in feet a minute.
        let climb_ft_min = climbed.map(|levels| levels * 100.0 * 60.0 / (2.0 * TURN_S));
        Some(TrueState { position, level, velocity, climb_ft_min, turning })
    }
}

fn point(text: &str, plane: &Stereographic) -> Option<(u32, Point)> {
    let mut columns = text.split(',');
    let mut next = || columns.next();
    let number = |text: Option<&str>| text?.parse::<f64>().ok().filter(|value| value.is_finite());
    let utc_s = number(next())?;
    let address = u32::from_str_radix(next()?, 16).ok()?;
    let (lat_deg, lon_deg, level) = (number(next())?, number(next())?, number(next())?);
    let on_earth = lat_deg.abs() <= 90.0 && lon_deg.abs() <= 180.0;
    if !on_earth || next().is_some() {
        return None;
    }
    let at = plane.project(Wgs84 { lat_deg, lon_deg, height_m: 0.0 });
    Some((address, Point { utc_s, position: Vec2::new(at.x_m, at.y_m), level }))
}

/// On the straight line between the two points around `utc_s`.
fn between(path: &[Point], utc_s: f64) -> Option<(Vec2, f64)> {
    let after = path.partition_point(|point| point.utc_s < utc_s);
    let to = path.get(after)?;
    let from = if after == 0 { to } else { &path[after - 1] };
    let step_s = to.utc_s - from.utc_s;
    if after == 0 && to.utc_s > utc_s || step_s > STEP_S_MAX {
        return None;
    }
    let part = if step_s > 0.0 { (utc_s - from.utc_s) / step_s } else { 0.0 };
    let position = from.position + (to.position - from.position) * part;
    Some((position, from.level + (to.level - from.level) * part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane() -> Stereographic {
        Stereographic::new(Wgs84::new(51.0, 10.0, 0.0))
    }

    fn read(lines: &str) -> Result<Truths, TruthsError> {
        Truths::read(format!("{TRUTH_HEADER}\n{lines}").as_bytes(), &plane())
    }

    #[test]
    fn between_two_points_there_is_a_straight_line() {
        let truths = read(
            "100.000,3c6444,51.000000,10.000000,300.00\n102.000,3c6444,51.010000,10.000000,310.00\n",
        )
        .unwrap();
        assert_eq!(truths.span_s(), Some((100.0, 102.0)));
        let state = truths.state(0x3C_6444, 101.0).unwrap();
        // 0.005° of latitude at 51° N are 556.3 m.
        assert!((state.position.y - 556.3).abs() < 0.2 && state.level == 305.0, "{state:?}");
        assert_eq!(truths.state(0x3C_6444, 102.1), None);
        assert_eq!(truths.state(0x3C_6444, 99.9), None);
    }

    #[test]
    fn a_turn_is_told_from_straight_flight() {
        let plane = plane();
        let mut lines = String::new();
        for second in 0..40 {
            // North for 20 s, then at 3°/s to the right, 200 m/s.
            let turned = f64::from(second - 20).max(0.0) * 3.0_f64.to_radians();
            let radius = 200.0 / 3.0_f64.to_radians();
            let at = crate::geodesy::Plane {
                x_m: radius * (1.0 - turned.cos()),
                y_m: 200.0 * f64::from(second.min(20)) + radius * turned.sin(),
            };
            let at = plane.unproject(at, 0.0);
            lines += &format!("{second}.000,000001,{:.6},{:.6},100.00\n", at.lat_deg, at.lon_deg);
        }
        let truths = read(&lines).unwrap();
        assert!(!truths.state(1, 10.5).unwrap().turning);
        assert!(truths.state(1, 30.5).unwrap().turning);
    }

    #[test]
    fn a_climb_is_that_of_the_levels_around_and_names_are_by_the_plans() {
        // Two levels a second: 12,000 ft/min.
        let line = |s: u32| format!("{s}.000,3c6444,51.0,10.0,{}.00\n", 300 + 2 * s);
        let plan = FlightPlan {
            callsign: "DLH8JW".to_owned(),
            address: 0x3C_6444,
            mode_a: 0o1000,
            departure: String::new(),
            destination: String::new(),
            aircraft_type: String::new(),
            composed: String::new(),
            times_utc_s: None,
        };
        let truths = read(&(0..20).map(line).collect::<String>()).unwrap().with_plans(&[plan]);
        assert_eq!(truths.state(0x3C_6444, 10.0).unwrap().climb_ft_min, Some(12_000.0));
        assert_eq!(truths.state(0x3C_6444, 1.0).unwrap().climb_ft_min, None);
        let said = truths.said(0x3C_6444, 310.0);
        assert_eq!((said.mode_a, said.callsign), (Some(0o1000), "DLH8JW".parse().ok()));
        assert_eq!((said.address, said.level), (Some(0x3C_6444), Some(310.0)));
        assert_eq!(truths.said(7, 310.0).mode_a, None);
        // A further path of the same address, and one of an aircraft without any.
        assert_eq!(truths.said(0x023C_6444, 310.0), said);
        assert_eq!(truths.said(0xFF00_0007, 310.0).address, None);
    }

    #[test]
    fn refusals_name_the_line() {
        let message = |lines| read(lines).unwrap_err().to_string();
        assert!(message("100.000,3c6444,51.0\n").starts_with("line 2: "));
        assert!(
            message("1.0,1,51.0,10.0,3\n1.0,1,51.0,10.0,3\n").starts_with("line 3: address 000001")
        );
        let error = Truths::read("utc\n".as_bytes(), &plane()).unwrap_err();
        assert!(matches!(error, TruthsError::Header));
    }
}
