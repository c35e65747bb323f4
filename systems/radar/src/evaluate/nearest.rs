//! The nearest of many aircraft, found through a grid: of thousands of tracks each asks for it once a second.

use super::judge::There;
use crate::tracker::grid::Grid;
use crate::tracker::linear::Vec2;

/// Cells of the grid: 100 × 100 of 20 km, and what lies outside in those of the rim.
const CELLS: (u16, f64) = (100, 20_000.0);
/// The first radius that is looked at, m, then twice that and so on …
const RADIUS_M: f64 = 20_000.0;
/// … until all cells were, m.
const RADIUS_M_MAX: f64 = 4_000_000.0;

/// Aircraft by where they are.
#[derive(Debug)]
pub(super) struct Places {
    grid: Grid,
    all: Vec<There>,
}

impl Places {
    pub(super) fn new(all: impl IntoIterator<Item = There>) -> Self {
        let mut grid = Grid::new(CELLS.0, CELLS.1);
        let all: Vec<There> = all.into_iter().collect();
        for (name, there) in (0..).zip(&all) {
            grid.insert(name, there.position);
        }
        Self { grid, all }
    }

    /// The aircraft that is nearest to `position`, the first one of several; `None` where there is none.
    pub(super) fn nearest(&self, position: Vec2) -> Option<&There> {
        self.nearest_of(position, |_| {})
    }

    /// The same; `see` gets each aircraft that is compared.
    fn nearest_of(&self, position: Vec2, mut see: impl FnMut(u32)) -> Option<&There> {
        let mut radius_m = RADIUS_M;
        loop {
            let mut nearest: Option<(f64, u32)> = None;
            self.grid.near(position, radius_m, |name| {
                see(name);
                let apart_m = (self.all[name as usize].position - position).norm();
                if nearest.is_none_or(|best| (apart_m, name) < best) {
                    nearest = Some((apart_m, name));
                }
            });
            // Beyond the radius a cell that was not looked at may have a nearer one.
            if radius_m > RADIUS_M_MAX || nearest.is_some_and(|(apart_m, _)| apart_m <= radius_m) {
                return nearest.map(|(_, name)| &self.all[name as usize]);
            }
            radius_m *= 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_one_that_comparing_all_finds(
            all in prop::collection::vec((-3e6..3e6, -3e6..3e6), 0..40),
            at in (-3e6..3e6, -3e6..3e6),
        ) {
            let position = Vec2::new(at.0, at.1);
            let all: Vec<There> = (0..)
                .zip(all)
                .map(|(name, (x, y))| There { name, position: Vec2::new(x, y) })
                .collect();
            let apart = |there: &There| (there.position - position).norm();
            let nearest = all.iter().min_by(|a, b| apart(a).total_cmp(&apart(b))).copied();
            prop_assert_eq!(Places::new(all).nearest(position).copied(), nearest);
        }
    }

    /// 3,000 aircraft over 1,000 km by 1,000 km: a comparison with all of them would be 9 million.
    #[test]
    fn few_are_compared() {
        let places = |part: u32| f64::from(part) * 18_000.0 - 500_000.0;
        let all: Vec<There> = (0..3_000)
            .map(|name| There { name, position: Vec2::new(places(name % 55), places(name / 55)) })
            .collect();
        let sky = Places::new(all.clone());
        let mut compared = 0;
        for there in &all {
            let found = sky.nearest_of(there.position, |_| compared += 1).unwrap();
            assert_eq!(found.name, there.name);
        }
        assert!(compared < 3_000 * 20, "{compared}");
    }
}
