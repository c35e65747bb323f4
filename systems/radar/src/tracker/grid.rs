//! A grid of square cells over the plane, to find the entries near a point.
//!
//! Association needs this for every plot; with 3000 tracks a scan of all of them would cost more
//! than everything else the tracker does.

use super::linear::Vec2;

/// Cell of an entry in the grid. Returned by [`Grid::insert`], needed to move or remove the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell(u32);

/// Entries (`u32` names chosen by the caller) by position.
#[derive(Debug)]
pub struct Grid {
    cells: Vec<Vec<u32>>,
    side: i32,
    cell_m: f64,
}

impl Grid {
    /// A grid of `side` × `side` cells of `cell_m` metres, centred on the origin. What lies
    /// outside is kept in the cells of the rim, so nothing is ever lost.
    ///
    /// # Panics
    /// When `side` is not in `[1, 4096]`.
    pub fn new(side: u16, cell_m: f64) -> Self {
        assert!((1..=4096).contains(&side), "grid of {side} cells a side");
        Self {
            cells: vec![Vec::new(); usize::from(side) * usize::from(side)],
            side: i32::from(side),
            cell_m,
        }
    }

    /// Enters `name` at `position`.
    pub fn insert(&mut self, name: u32, position: Vec2) -> Cell {
        let cell = self.cell_of(position);
        self.cells[cell.0 as usize].push(name);
        cell
    }

    /// Takes `name` out of `cell`.
    pub fn remove(&mut self, name: u32, cell: Cell) {
        let list = &mut self.cells[cell.0 as usize];
        if let Some(at) = list.iter().position(|&n| n == name) {
            list.swap_remove(at);
        }
    }

    /// Moves `name` from `cell` to where `position` is.
    pub fn relocate(&mut self, name: u32, cell: Cell, position: Vec2) -> Cell {
        let to = self.cell_of(position);
        if to != cell {
            self.remove(name, cell);
            self.cells[to.0 as usize].push(name);
        }
        to
    }

    /// Calls `see` with every entry that may lie within `radius_m` of `position`, and some more.
    pub fn near(&self, position: Vec2, radius_m: f64, mut see: impl FnMut(u32)) {
        let (x0, x1) = (self.index(position.x - radius_m), self.index(position.x + radius_m));
        let (y0, y1) = (self.index(position.y - radius_m), self.index(position.y + radius_m));
        for y in y0..=y1 {
            for x in x0..=x1 {
                for &name in &self.cells[cell_index(y, x, self.side)] {
                    see(name);
                }
            }
        }
    }

    fn cell_of(&self, position: Vec2) -> Cell {
        let index = cell_index(self.index(position.y), self.index(position.x), self.side);
        // At most 4096² cells.
        #[allow(clippy::cast_possible_truncation)]
        Cell(index as u32)
    }

    fn index(&self, coordinate: f64) -> i32 {
        // A float-to-integer cast saturates and takes NaN to 0: any position has a cell.
        #[allow(clippy::cast_possible_truncation)]
        let raw = (coordinate / self.cell_m).floor() as i32;
        raw.saturating_add(self.side / 2).clamp(0, self.side - 1)
    }
}

fn cell_index(y: i32, x: i32, side: i32) -> usize {
    // Both are clamped to [0, side).
    usize::try_from(y * side + x).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever was inserted, moved and removed: everything within the radius is seen,
        /// wherever it lies, and each entry once.
        #[test]
        fn nothing_within_the_radius_is_missed(
            points in prop::collection::vec((-3e5f64..3e5, -3e5f64..3e5), 1..60),
            moves in prop::collection::vec((0usize..60, -3e5f64..3e5, -3e5f64..3e5), 0..40),
            centre in (-3e5f64..3e5, -3e5f64..3e5),
            radius in 0f64..1e5,
        ) {
            let mut grid = Grid::new(40, 10_000.0);
            let mut at: Vec<Vec2> = points.iter().map(|p| Vec2::new(p.0, p.1)).collect();
            let mut cells: Vec<Cell> = Vec::new();
            for (name, p) in at.iter().enumerate() {
                cells.push(grid.insert(u32::try_from(name).unwrap(), *p));
            }
            for (name, x, y) in moves {
                let name = name % at.len();
                at[name] = Vec2::new(x, y);
                cells[name] = grid.relocate(u32::try_from(name).unwrap(), cells[name], at[name]);
            }
            grid.remove(0, cells[0]);
            let mut seen = Vec::new();
            let centre = Vec2::new(centre.0, centre.1);
            grid.near(centre, radius, |name| seen.push(name));
            let count = seen.len();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(count, seen.len());
            prop_assert!(!seen.contains(&0));
            for (name, p) in at.iter().enumerate().skip(1) {
                if (*p - centre).norm() <= radius {
                    prop_assert!(seen.contains(&u32::try_from(name).unwrap()));
                }
            }
        }
    }

    #[test]
    fn a_position_that_is_no_number_is_kept_all_the_same() {
        let mut grid = Grid::new(4, 10.0);
        let cell = grid.insert(7, Vec2::new(f64::NAN, f64::INFINITY));
        grid.remove(7, cell);
        grid.near(Vec2::default(), 1e9, |_| panic!("the grid should be empty"));
    }
}
