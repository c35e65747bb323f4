//! Cells of the Earth's surface, in four sizes.
//!
//! A region is in all cells that it may touch, of the smallest size of which it needs no more than
//! [`CELLS_MAX`]; a packet is in one cell of each size. Regions too large for the largest cells,
//! as those around a pole with half the Earth in them, are in the one cell that is everywhere.

use crate::filter::geometry::{Area, Radius};
use crate::packet::Position;
use smallvec::SmallVec;

/// Cells of a region at most: more of them are less to look through for a packet, and more memory
/// and time for a region.
const CELLS_MAX: u32 = 9;

/// Sides of cells, in degrees: each divides 360.
const SIDES: [u16; 4] = [1, 4, 15, 60];

/// The cell that is everywhere.
const EVERYWHERE: u32 = 4 << LEVEL_SHIFT;
const LEVEL_SHIFT: u32 = 28;
const ROW_SHIFT: u32 = 14;

/// Degrees that are added to a radius for its cells: far more than what rounding may do, and far
/// less than a cell.
const MARGIN: f64 = 1e-4;

/// Cells of a region: numbers that mean nothing outside.
pub(super) type Cells = SmallVec<[u32; CELLS_MAX as usize]>;

/// The cells a packet at `position` is in: one of each size, and the one that is everywhere.
pub(super) fn cells_of(position: Position) -> [u32; SIDES.len() + 1] {
    let mut cells = [EVERYWHERE; SIDES.len() + 1];
    for ((level, side), to) in (0..).zip(SIDES).zip(&mut cells) {
        let row = row(f64::from(position.latitude), side);
        let column = column(f64::from(position.longitude), side);
        *to = cell(level, row, wrap(column, side));
    }
    cells
}

/// The cells that packets in `area` may be in.
pub(super) fn cells_of_area(area: Area) -> Cells {
    cells_between(
        (f64::from(area.south), f64::from(area.north)),
        Some((f64::from(area.west), f64::from(area.east))),
    )
}

/// The cells that packets nearer than `radius` to `centre` may be in.
pub(super) fn cells_of_circle(centre: Position, radius: Radius) -> Cells {
    let latitude = f64::from(centre.latitude).clamp(-90.0, 90.0);
    let degrees = radius.degrees() + MARGIN;
    let (south, north) = (latitude - degrees, latitude + degrees);
    if south <= -90.0 || north >= 90.0 {
        return cells_between((south, north), None);
    }
    // The meridian that touches a circle around no pole: sin(angle) = sin(radius) / cos(latitude).
    let sine = degrees.to_radians().sin() / latitude.to_radians().cos();
    let half = sine.min(1.0).asin().to_degrees() + MARGIN;
    let longitude = f64::from(centre.longitude);
    cells_between((south, north), Some((longitude - half, longitude + half)))
}

/// The cells between two latitudes and two longitudes, or at all longitudes.
fn cells_between((south, north): (f64, f64), longitudes: Option<(f64, f64)>) -> Cells {
    for (level, side) in (0..).zip(SIDES) {
        let rows = row(south, side)..=row(north, side);
        let turn = 360 / i32::from(side);
        let columns = match longitudes {
            Some((west, east)) => column(west, side)..=column(east, side),
            None => 0..=turn - 1,
        };
        let columns = if columns.end() - columns.start() >= turn { 0..=turn - 1 } else { columns };
        let count = (rows.end() - rows.start() + 1) * (columns.end() - columns.start() + 1);
        if count.unsigned_abs() > CELLS_MAX {
            continue;
        }
        return rows
            .flat_map(|row| columns.clone().map(move |column| (row, column)))
            .map(|(row, column)| cell(level, row, wrap(column, side)))
            .collect();
    }
    SmallVec::from_slice(&[EVERYWHERE])
}

#[expect(clippy::cast_possible_truncation, reason = "in [0, 180]")]
fn row(latitude: f64, side: u16) -> i32 {
    ((latitude.clamp(-90.0, 90.0) + 90.0) / f64::from(side)) as i32
}

/// Not wrapped: columns east of the last one continue to count up.
#[expect(clippy::cast_possible_truncation, reason = "in [-361, 721]")]
fn column(longitude: f64, side: u16) -> i32 {
    ((longitude.clamp(-541.0, 541.0) + 180.0) / f64::from(side)).floor() as i32
}

fn wrap(column: i32, side: u16) -> i32 {
    column.rem_euclid(360 / i32::from(side))
}

fn cell(level: u32, row: i32, column: i32) -> u32 {
    level << LEVEL_SHIFT | row.unsigned_abs() << ROW_SHIFT | column.unsigned_abs()
}
