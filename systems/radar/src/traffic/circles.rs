//! The artificial scenario: circles of evenly spaced flights, for load.
//!
//! The PHOENIX evaluation drives its high load so: 30 circles of 100 flights, 3000 tracks.

use super::aircraft::{Aircraft, Composed, Motion};
use super::names::{COMPOSED_ADDRESSES_FROM, codes};
use crate::geodesy::{Stereographic, Wgs84};

/// Radius of every circle, in metres: 100 flights are then 2.5 km apart.
pub const RADIUS_M: f64 = 40_000.0;

/// Ground speed of every flight, in metres a second (447 knots).
pub const SPEED_M_S: f64 = 230.0;

/// The area whose grid the centres of the circles are on: Germany, less a margin.
const SOUTH_WEST: (f64, f64) = (48.0, 7.5);
const NORTH_EAST: (f64, f64) = (53.8, 13.5);

/// `circles` times `flights` aircraft. Neighbouring circles overlap, turn in opposite directions
/// and are on different levels (FL200 to FL390 in steps of 10): no two aircraft collide.
#[must_use]
pub fn compose(circles: u32, flights: u32) -> Vec<Aircraft> {
    let mut codes = codes();
    let mut aircraft = Vec::new();
    for circle in 0..circles {
        let (centre, (row, column)) = centre(circle, circles);
        let plane = Stereographic::new(centre);
        let turn = if (row + column) % 2.0 == 0.0 { 1.0 } else { -1.0 };
        for flight in 0..flights {
            let number = circle * flights + flight;
            aircraft.push(Aircraft {
                address: COMPOSED_ADDRESSES_FROM + number,
                callsign: format!("C{}F{}", circle + 1, flight + 1).parse().unwrap_or_default(),
                mode_a: codes.next().unwrap_or(0o1000),
                composed: Composed { address: true, callsign: true, mode_a: true },
                motion: Motion::Circle {
                    plane,
                    radius_m: RADIUS_M,
                    rad_s: turn * SPEED_M_S / RADIUS_M,
                    phase_rad: std::f64::consts::TAU * f64::from(flight) / f64::from(flights),
                    flight_level: 200.0 + 10.0 * f64::from(circle % 20),
                },
            });
        }
    }
    aircraft
}

/// Place number `index` of `count` on a grid over the area, and its row and column.
pub(super) fn centre(index: u32, count: u32) -> (Wgs84, (f64, f64)) {
    let columns = f64::from(count).sqrt().ceil().max(1.0);
    let rows = (f64::from(count) / columns).ceil().max(1.0);
    let spread =
        |index: f64, count: f64, from: f64, to: f64| from + (to - from) * (index + 0.5) / count;
    let (row, column) = ((f64::from(index) / columns).floor(), f64::from(index) % columns);
    let at = Wgs84::new(
        spread(row, rows, SOUTH_WEST.0, NORTH_EAST.0),
        spread(column, columns, SOUTH_WEST.1, NORTH_EAST.1),
        0.0,
    );
    (at, (row, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_circles_of_a_hundred() {
        let aircraft = compose(30, 100);
        assert_eq!(aircraft.len(), 3000);
        let names: std::collections::HashSet<_> =
            aircraft.iter().map(|a| (a.address, a.callsign)).collect();
        assert_eq!(names.len(), 3000);
        let (a, b) = (aircraft[0].at(10.0).unwrap(), aircraft[1].at(10.0).unwrap());
        // A hundredth of 2π · 40 km, as a chord.
        assert!((a.position.ground_distance_m(b.position) - 2512.9).abs() < 5.0);
        let later = aircraft[0].at(11.0).unwrap();
        assert!((a.position.ground_distance_m(later.position) - 230.0).abs() < 0.5);
        for plane in &aircraft {
            let at = plane.at(0.0).unwrap().position;
            assert!((47.5..54.5).contains(&at.lat_deg) && (6.8..14.4).contains(&at.lon_deg));
        }
    }
}
