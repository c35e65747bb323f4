//! Clutter maps: how many false plots each radar has, and where.
//!
//! A plot that belongs to no believed track is counted in its cell until its track is believed. The
//! count fades, so that the map follows weather and traffic on roads. Where a cell tells little, the
//! radar's average does. Plots with a code or an address are counted apart, because few are false.

use super::linear::Vec2;
use super::polar_cells::PolarCells;

/// Assumptions about false plots.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClutterSettings {
    /// A count fades to 1/e in so long, s.
    pub memory_s: f64,
    /// Density before a radar is known, plots a turn and km²; of plots with a code a thousandth.
    pub first_km2: f64,
    /// Density below which none is taken to be, plots a turn and km².
    pub least_km2: f64,
    /// How much denser than counted false plots without a code are taken to be: they are denser in
    /// parts of a cell.
    pub margin: f64,
}

impl Default for ClutterSettings {
    fn default() -> Self {
        Self { memory_s: 300.0, first_km2: 3e-3, least_km2: 1e-6, margin: 2.0 }
    }
}

const CELLS: PolarCells = PolarCells { sectors: 128, rings: 100, ring_m: 4_000.0 };
const M2_PER_KM2: f64 = 1e6;
/// Time for which the average is trusted as much as the cell, s.
const AVERAGE_S: f64 = 4.0;

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    plots: f32,
    /// Time of the count, s since the map's begin.
    at_s: f32,
}

impl Count {
    fn at(self, now_s: f32, memory_s: f32) -> f32 {
        self.plots * (-(now_s - self.at_s).max(0.0) / memory_s).exp()
    }

    fn add(&mut self, plots: f32, now_s: f32, memory_s: f32) {
        *self = Self { plots: (self.at(now_s, memory_s) + plots).max(0.0), at_s: now_s };
    }
}

/// The map of one radar for one sort of plots.
#[derive(Debug)]
struct Map {
    cells: Vec<Count>,
    all: Count,
    begin_s: f64,
    /// Distance of the furthest plot, m.
    reach_m: f64,
}

impl Map {
    fn new(begin_s: f64) -> Self {
        let cells = vec![Count::default(); CELLS.count()];
        Self { cells, all: Count::default(), begin_s, reach_m: 50_000.0 }
    }

    #[allow(clippy::cast_possible_truncation)] // seconds of a run
    fn since(&self, now_s: f64) -> f32 {
        (now_s - self.begin_s) as f32
    }

    fn add(&mut self, offset: Vec2, plots: f32, now_s: f64, memory_s: f32) {
        let now = self.since(now_s);
        let (cell, _) = CELLS.cell(offset);
        self.cells[cell].add(plots, now, memory_s);
        self.all.add(plots, now, memory_s);
        self.reach_m = self.reach_m.max(offset.norm());
    }

    /// Density, plots a second and m², without `own` plots of the asking track itself.
    fn density(&self, offset: Vec2, own: f32, now_s: f64, first: f64, memory_s: f32) -> f64 {
        let now = self.since(now_s);
        // How long the fading count has seen, at most its memory.
        let seen_s = f64::from(memory_s) * (1.0 - (-f64::from(now.max(0.0) / memory_s)).exp());
        let whole_m2 = std::f64::consts::PI * self.reach_m * self.reach_m;
        let all = f64::from(self.all.at(now, memory_s));
        let average = (all / whole_m2 + first * AVERAGE_S) / (seen_s + AVERAGE_S);
        let (cell, area_m2) = CELLS.cell(offset);
        let here = f64::from((self.cells[cell].at(now, memory_s) - own).max(0.0));
        (here / area_m2 + average * AVERAGE_S) / (seen_s + AVERAGE_S)
    }
}

/// The maps of all radars.
#[derive(Debug, Default)]
pub(super) struct ClutterMaps {
    /// Plots without a code, and with one, by radar.
    maps: Vec<[Option<Box<Map>>; 2]>,
}

/// A place of a plot in a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) radar: u8,
    /// The plot has a code or an address.
    pub(super) coded: bool,
    /// From the radar, m.
    pub(super) offset: Vec2,
    pub(super) time_s: f64,
}

impl ClutterMaps {
    /// Counts `plots` more at a place; a negative number takes back.
    pub(super) fn add(&mut self, spot: Spot, plots: f32, settings: &ClutterSettings) {
        let radar = usize::from(spot.radar);
        if self.maps.len() <= radar {
            self.maps.resize_with(radar + 1, Default::default);
        }
        let map = self.maps[radar][usize::from(spot.coded)]
            .get_or_insert_with(|| Box::new(Map::new(spot.time_s)));
        map.add(spot.offset, plots, spot.time_s, memory(settings));
    }

    /// Density of false plots, a turn of `period_s` and m², at a place; `own` plots there are of the
    /// asking track.
    pub(super) fn density(
        &self,
        spot: Spot,
        own: f32,
        period_s: f64,
        settings: &ClutterSettings,
    ) -> f64 {
        let first_km2 = settings.first_km2 * if spot.coded { 0.001 } else { 1.0 };
        let first = first_km2 / M2_PER_KM2 / period_s;
        let map = self.maps.get(usize::from(spot.radar));
        let map = map.and_then(|of| of[usize::from(spot.coded)].as_deref());
        let density = map.map_or(first, |map| {
            map.density(spot.offset, own, spot.time_s, first, memory(settings))
        });
        let margin = if spot.coded { 1.0 } else { settings.margin };
        (density * margin * period_s).max(settings.least_km2 / M2_PER_KM2)
    }
}

#[allow(clippy::cast_possible_truncation)] // minutes
fn memory(settings: &ClutterSettings) -> f32 {
    settings.memory_s as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(x_km: f64, y_km: f64, time_s: f64) -> Spot {
        let offset = Vec2::new(1_000.0 * x_km, 1_000.0 * y_km);
        Spot { radar: 0, coded: false, offset, time_s }
    }

    /// Five plots a turn of 8 s in one cell of 4 km by 3.9 km; elsewhere one a turn in all.
    #[test]
    fn a_cluster_is_found_and_forgotten() {
        let settings = ClutterSettings { margin: 1.0, ..ClutterSettings::default() };
        let mut maps = ClutterMaps::default();
        for turn in 0..60 {
            let time_s = 8.0 * f64::from(turn);
            maps.add(spot(81.0, 1.0, time_s), 5.0, &settings);
            let angle = f64::from(turn) * 2.4;
            maps.add(spot(150.0 * angle.sin(), 150.0 * angle.cos(), time_s), 1.0, &settings);
        }
        let there = maps.density(spot(81.0, 1.0, 480.0), 0.0, 8.0, &settings) * 1e6;
        let elsewhere = maps.density(spot(-60.0, 60.0, 480.0), 0.0, 8.0, &settings) * 1e6;
        // Two more kilometres out, and the average: 5 / 16.1 km².
        assert!((0.2..0.4).contains(&there), "{there}");
        // Six a turn in 70,700 km² at most.
        assert!((1e-6..2e-4).contains(&elsewhere), "{elsewhere}");
        let later = maps.density(spot(81.0, 1.0, 480.0 + 1_800.0), 0.0, 8.0, &settings) * 1e6;
        assert!(later < there / 50.0, "{later}");
        // A plot with a code is judged by others with a code.
        let coded = Spot { coded: true, ..spot(81.0, 1.0, 480.0) };
        assert!(maps.density(coded, 0.0, 8.0, &settings) * 1e6 < 1e-5);
    }

    #[test]
    fn plots_of_a_believed_track_are_taken_back() {
        let settings = ClutterSettings::default();
        let mut maps = ClutterMaps::default();
        let before = maps.density(spot(50.0, 0.0, 0.0), 0.0, 8.0, &settings);
        for turn in 0..3 {
            maps.add(spot(50.0, 0.0, 8.0 * f64::from(turn)), 1.0, &settings);
        }
        let own = maps.density(spot(50.0, 0.0, 16.0), 3.0, 8.0, &settings);
        maps.add(spot(50.0, 0.0, 16.0), -3.0, &settings);
        let after = maps.density(spot(50.0, 0.0, 16.0), 0.0, 8.0, &settings);
        assert!(after <= before && own < 3.0 * before, "{before} {own} {after}");
    }
}
