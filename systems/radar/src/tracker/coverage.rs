//! Coverage: where each radar sees, learnt from the tracks that it saw and missed.
//!
//! A turn in which a radar should have seen a believed track is a chance; the share of chances that
//! were taken is its detection there. A radar that seldom sees at a place, because of a mountain, its
//! horizon or its cone of silence, does not count its misses there.

use super::linear::Vec2;
use super::polar_cells::PolarCells;

const CELLS: PolarCells = PolarCells { sectors: 48, rings: 20, ring_m: 20_000.0 };
/// Upper limits of the lower bands of level, hundreds of feet; the last band has none.
const BANDS: [f64; 2] = [80.0, 200.0];
/// Detection before anything is known, and how many chances that counts for.
const FIRST: (f32, f32) = (0.9, 3.0);
/// Below this detection a radar does not see there.
const BLIND: f32 = 0.4;
/// So many chances tell whether a radar sees at a place.
const TOLD: f32 = 4.0;
/// Probability that it does where they say so, and where nothing is told yet: the horizon and
/// mountains may be in between.
const SEEN: f64 = 0.98;
const UNTOLD: f64 = 0.5;
/// Chances after which older ones count half.
const CHANCES_MAX: f32 = 60.0;

#[derive(Clone, Copy, Debug, Default)]
struct Chances {
    taken: f32,
    all: f32,
}

impl Chances {
    fn is_seen(self) -> bool {
        (self.taken + FIRST.0 * FIRST.1) / (self.all + FIRST.1) >= BLIND
    }
}

/// Coverage of all radars.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    radars: Vec<Vec<Chances>>,
}

impl Coverage {
    /// Takes in whether a radar saw a track at `offset` from it.
    pub(super) fn chance(&mut self, radar: u8, offset: Vec2, level: Option<f64>, taken: bool) {
        let radar = usize::from(radar);
        if self.radars.len() <= radar {
            self.radars.resize_with(radar + 1, Vec::new);
        }
        let cells = &mut self.radars[radar];
        if cells.is_empty() {
            cells.resize(CELLS.count() * (BANDS.len() + 1), Chances::default());
        }
        let chances = &mut cells[cell(offset, level)];
        chances.all += 1.0;
        chances.taken += f32::from(u8::from(taken));
        if chances.all > CHANCES_MAX {
            (chances.all, chances.taken) = (0.5 * chances.all, 0.5 * chances.taken);
        }
    }

    /// Whether a radar sees at `offset` from it.
    pub(super) fn sees(&self, radar: u8, offset: Vec2, level: Option<f64>) -> bool {
        self.known(radar, offset, level).is_seen()
    }

    /// Probability that a radar sees at `offset` from it, where that is within its range.
    pub(super) fn probability(&self, radar: u8, offset: Vec2, level: Option<f64>) -> f64 {
        let known = self.known(radar, offset, level);
        match (known.is_seen(), known.all >= TOLD) {
            (true, true) => SEEN,
            (true, false) => UNTOLD,
            (false, _) => 1.0 - SEEN,
        }
    }

    fn known(&self, radar: u8, offset: Vec2, level: Option<f64>) -> Chances {
        let cells = self.radars.get(usize::from(radar));
        cells.and_then(|cells| cells.get(cell(offset, level))).copied().unwrap_or_default()
    }
}

fn cell(offset: Vec2, level: Option<f64>) -> usize {
    // Without Mode C it is taken to be high.
    let band = level.map_or(BANDS.len(), |l| BANDS.iter().take_while(|limit| l > **limit).count());
    band * CELLS.count() + CELLS.cell(offset).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_radar_never_sees_it_is_blind_and_nowhere_else() {
        let mut coverage = Coverage::default();
        let (behind, before) = (Vec2::new(90_000.0, 10_000.0), Vec2::new(50_000.0, 10_000.0));
        assert!(coverage.sees(2, behind, Some(60.0)), "unknown is seen");
        for _ in 0..10 {
            coverage.chance(2, behind, Some(60.0), false);
            coverage.chance(2, before, Some(60.0), true);
        }
        assert!(!coverage.sees(2, behind, Some(60.0)));
        assert!(coverage.sees(2, before, Some(60.0)));
        assert!(coverage.sees(2, behind, Some(300.0)), "higher up it is another matter");
        assert!(coverage.sees(1, behind, Some(60.0)), "and for another radar");
        for _ in 0..20 {
            coverage.chance(2, behind, Some(60.0), true);
        }
        assert!(coverage.sees(2, behind, Some(60.0)), "the mountain is gone");
    }
}
