//! Where the sensors see: cells of 10 NM and bands of level.

use crate::geodesy::METRES_PER_NM;
use crate::tracker::linear::Vec2;
use std::collections::BTreeSet;

/// Side of a cell, m.
pub(super) const CELL_M: f64 = 10.0 * METRES_PER_NM;
/// Upper limits of the lower bands of level, hundreds of feet; the last one has none.
pub(super) const BANDS: [f64; 2] = [100.0, 245.0];
/// Names of the bands.
pub(super) const BAND_NAMES: [&str; 3] = ["below FL100", "FL100 to FL245", "above FL245"];

/// A cell of the map: column, row and band.
pub(super) type Cell = (i32, i32, usize);

/// The cell of a place.
#[must_use]
pub(super) fn cell(position: Vec2, level: Option<f64>) -> Cell {
    #[allow(clippy::cast_possible_truncation, reason = "saturates")]
    let index = |m: f64| (m / CELL_M).floor() as i32;
    let band = level.map_or(BANDS.len(), |l| BANDS.iter().take_while(|top| l >= **top).count());
    (index(position.x), index(position.y), band)
}

/// How it is known where the sensors see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageSource {
    /// It is not: everything counts as covered.
    #[default]
    Unknown,
    /// By the evaluated tracks: cells in which there ever was one.
    Tracks,
    /// By the plots of all sensors.
    Plots,
}

/// Where the sensors see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    cells: BTreeSet<Cell>,
    source: CoverageSource,
}

impl Coverage {
    /// Nothing yet, to be known in a way.
    #[must_use]
    pub fn by(source: CoverageSource) -> Self {
        Self { cells: BTreeSet::new(), source }
    }

    /// Takes in that somebody was seen at a place.
    pub fn add(&mut self, position: Vec2, level: Option<f64>) {
        self.cells.insert(cell(position, level));
    }

    /// Whether the sensors see there.
    #[must_use]
    pub(super) fn has(&self, cell: Cell) -> bool {
        self.cells.contains(&cell)
    }

    /// How it is known.
    #[must_use]
    pub fn source(&self) -> CoverageSource {
        self.source
    }
}
