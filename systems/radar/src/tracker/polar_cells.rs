//! Cells of a radar's surroundings, in which something is counted.

use super::linear::Vec2;
use std::f64::consts::TAU;

/// A division of the plane around a radar by azimuth and ground distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolarCells {
    /// Sectors of equal width.
    pub(super) sectors: u16,
    /// Rings of equal width; beyond the last all is in it.
    pub(super) rings: u16,
    /// Width of a ring, m.
    pub(super) ring_m: f64,
}

impl PolarCells {
    /// Number of cells.
    pub(super) fn count(self) -> usize {
        usize::from(self.sectors) * usize::from(self.rings)
    }

    /// The cell of a place, relative to the radar, and its area, m².
    pub(super) fn cell(self, offset: Vec2) -> (usize, f64) {
        let azimuth = offset.x.atan2(offset.y).rem_euclid(TAU);
        let (sectors, rings) = (f64::from(self.sectors), f64::from(self.rings));
        let sector = (azimuth / TAU * sectors).floor().min(sectors - 1.0);
        let ring = (offset.norm() / self.ring_m).floor().min(rings - 1.0);
        let area_m2 = TAU / sectors * (ring + 0.5) * self.ring_m * self.ring_m;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let index = (ring * sectors + sector) as usize;
        (index.min(self.count() - 1), area_m2)
    }
}
