//! Clutter maps: how many false plots each radar has, and where.
//!
//! A plot that belongs to no believed track is counted in its cell until its track is believed. The
//! count fades, so that the map follows weather and traffic on roads. Where a cell tells little, its
//! surroundings do, and where they tell little the radar's average. Plots with a code or an address are
//! counted apart, because few are false.

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

/// Small cells, and the large ones that tell what to expect of a small one in which little was seen.
const CELLS: [PolarCells; 2] = [
    PolarCells { sectors: 128, rings: 100, ring_m: 4_000.0 },
    PolarCells { sectors: 16, rings: 13, ring_m: 32_000.0 },
];
const SMALL: usize = 0;
const LARGE: usize = 1;
const M2_PER_KM2: f64 = 1e6;
/// The density around a cell counts as much as so many plots in it.
const AROUND_PLOTS: f64 = 0.5;

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    plots: f32,
    /// Time of the count, s since the map's begin.
    at_s: f32,
}

impl Count {
    fn at(self, now_s: f32, memory_s: f32) -> f32 {
        self.plots * fading(now_s - self.at_s, memory_s)
    }

    fn add(&mut self, plots: f32, now_s: f32, memory_s: f32) {
        *self = Self { plots: (self.at(now_s, memory_s) + plots).max(0.0), at_s: now_s };
    }
}

/// What remains of a count after a time.
fn fading(after_s: f32, memory_s: f32) -> f32 {
    (-after_s.max(0.0) / memory_s).exp()
}

/// The map of one radar for one sort of plots.
#[derive(Debug)]
struct Map {
    cells: [Vec<Count>; 2],
    all: Count,
    begin_s: f64,
    /// Distance of the furthest plot, m.
    reach_m: f64,
}

impl Map {
    fn new(begin_s: f64) -> Self {
        let cells = CELLS.map(|cells| vec![Count::default(); cells.count()]);
        Self { cells, all: Count::default(), begin_s, reach_m: 50_000.0 }
    }

    #[allow(clippy::cast_possible_truncation)] // seconds of a run
    fn since(&self, now_s: f64) -> f32 {
        (now_s - self.begin_s) as f32
    }

    fn add(&mut self, offset: Vec2, plots: f32, now_s: f64, memory_s: f32) {
        let now = self.since(now_s);
        for (cells, counts) in CELLS.iter().zip(&mut self.cells) {
            counts[cells.cell(offset).0].add(plots, now, memory_s);
        }
        self.all.add(plots, now, memory_s);
        self.reach_m = self.reach_m.max(offset.norm());
    }

    /// Density, plots a second and m², without the `own` plots of the asking track itself.
    ///
    /// Counts are of Poisson's distribution, and what is known before of a density is of the gamma
    /// distribution with the mean of its surroundings: so an empty small cell, in which hardly a plot
    /// was to be expected, does not pass for one without clutter.
    fn density(&self, at: Spot, own: &[Spot], first: f64, memory_s: f32) -> f64 {
        let now = self.since(at.time_s);
        // How long the fading count has seen, at most its memory.
        let seen_s = f64::from(memory_s) * (1.0 - f64::from(fading(now, memory_s)));
        let whole_m2 = std::f64::consts::PI * self.reach_m * self.reach_m;
        let posterior = |plots: f64, area_m2: f64, before: f64| {
            (plots + AROUND_PLOTS) / (area_m2 * seen_s + AROUND_PLOTS / before)
        };
        let mut density = posterior(f64::from(self.all.at(now, memory_s)), whole_m2, first);
        for size in [LARGE, SMALL] {
            let (cell, area_m2) = CELLS[size].cell(at.offset);
            let mut plots = self.cells[size][cell].at(now, memory_s);
            let here = |spot: &&Spot| {
                (spot.radar, spot.coded) == (at.radar, at.coded)
                    && CELLS[size].cell(spot.offset).0 == cell
            };
            for spot in own.iter().filter(here) {
                plots -= fading(now - self.since(spot.time_s), memory_s);
            }
            density = posterior(f64::from(plots.max(0.0)), area_m2, density);
        }
        density
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
    /// Counts a plot, or `part` of one.
    pub(super) fn add(&mut self, spot: Spot, part: f32, settings: &ClutterSettings) {
        let radar = usize::from(spot.radar);
        if self.maps.len() <= radar {
            self.maps.resize_with(radar + 1, Default::default);
        }
        let map = self.maps[radar][usize::from(spot.coded)]
            .get_or_insert_with(|| Box::new(Map::new(spot.time_s)));
        map.add(spot.offset, part, spot.time_s, memory(settings));
    }

    /// Takes back what is left at `now_s` of a plot that was counted.
    pub(super) fn take_back(&mut self, spot: Spot, now_s: f64, settings: &ClutterSettings) {
        #[allow(clippy::cast_possible_truncation)] // seconds
        let left = fading((now_s - spot.time_s) as f32, memory(settings));
        self.add(Spot { time_s: now_s, ..spot }, -left, settings);
    }

    /// Whether a radar ever sent a plot without a code.
    pub(super) fn has_primary(&self, radar: u8) -> bool {
        self.maps.get(usize::from(radar)).is_some_and(|[primary, _]| primary.is_some())
    }

    /// Density of false plots, a turn of `period_s` and m², at a place; the `own` plots are of the
    /// asking track and no false ones, if it is of an aircraft.
    pub(super) fn density(
        &self,
        spot: Spot,
        own: &[Spot],
        period_s: f64,
        settings: &ClutterSettings,
    ) -> f64 {
        let first_km2 = settings.first_km2 * if spot.coded { 0.001 } else { 1.0 };
        let first = first_km2 / M2_PER_KM2 / period_s;
        let map = self.maps.get(usize::from(spot.radar));
        let map = map.and_then(|of| of[usize::from(spot.coded)].as_deref());
        let density = map.map_or(first, |map| map.density(spot, own, first, memory(settings)));
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
            for _ in 0..5 {
                maps.add(spot(81.0, 1.0, time_s), 1.0, &settings);
            }
            let angle = f64::from(turn) * 2.4;
            maps.add(spot(150.0 * angle.sin(), 150.0 * angle.cos(), time_s), 1.0, &settings);
        }
        let there = maps.density(spot(81.0, 1.0, 480.0), &[], 8.0, &settings) * 1e6;
        let elsewhere = maps.density(spot(-60.0, 60.0, 480.0), &[], 8.0, &settings) * 1e6;
        // 5 / 16.1 km², less because of the emptier surroundings.
        assert!((0.2..0.32).contains(&there), "{there}");
        // Six a turn in 70,700 km² at most.
        assert!((1e-6..2e-4).contains(&elsewhere), "{elsewhere}");
        let later = maps.density(spot(81.0, 1.0, 480.0 + 1_800.0), &[], 8.0, &settings) * 1e6;
        assert!(later < there / 50.0, "{later}");
        // A plot with a code is judged by others with a code.
        let coded = Spot { coded: true, ..spot(81.0, 1.0, 480.0) };
        assert!(maps.density(coded, &[], 8.0, &settings) * 1e6 < 1e-5);
    }

    /// 3e-4 plots a turn of 8 s and km² everywhere: a twentieth of a plot in a small cell until now.
    #[test]
    fn an_empty_cell_is_as_its_surroundings_until_more_was_to_be_expected() {
        let settings = ClutterSettings { margin: 1.0, ..ClutterSettings::default() };
        let mut maps = ClutterMaps::default();
        let mut random = chronoscope_statistics::Random(3);
        let far_km = 100.0;
        for turn in 0..20 {
            for _ in 0..9 {
                let angle = std::f64::consts::TAU * random.share();
                let r = far_km * random.share().sqrt();
                let time_s = 8.0 * f64::from(turn);
                maps.add(spot(r * angle.sin(), r * angle.cos(), time_s), 1.0, &settings);
            }
        }
        let real = 9.0 / (std::f64::consts::PI * far_km * far_km);
        let (mut logs, mut count) = (0.0, 0.0);
        for step in 0..400 {
            let (angle, r) = (f64::from(step) * 2.4, 20.0 + 0.18 * f64::from(step));
            let at = spot(r * angle.sin(), r * angle.cos(), 160.0);
            let density = maps.density(at, &[], 8.0, &settings) * M2_PER_KM2;
            assert!(density > real / 5.0, "{density} {real}");
            (logs, count) = (logs + (density / real).ln(), count + 1.0);
        }
        let mean: f64 = logs / count;
        assert!(mean.abs() < 0.4, "{mean}");
    }

    #[test]
    fn plots_of_a_believed_track_are_taken_back() {
        let settings = ClutterSettings::default();
        let mut maps = ClutterMaps::default();
        let before = maps.density(spot(50.0, 0.0, 0.0), &[], 8.0, &settings);
        // It flies from one small cell to the next.
        let own: Vec<Spot> = (0..4)
            .map(|turn| spot(50.0 + 2.0 * f64::from(turn), 0.0, 8.0 * f64::from(turn)))
            .collect();
        for spot in &own {
            maps.add(*spot, 1.0, &settings);
        }
        let there = |maps: &ClutterMaps, own: &[Spot]| {
            maps.density(spot(51.0, 0.0, 24.0), own, 8.0, &settings)
        };
        let (with, without) = (there(&maps, &[]), there(&maps, &own));
        assert!(without < 3.0 * before && with > 3.0 * without, "{before} {with} {without}");
        for spot in own {
            maps.take_back(spot, 24.0, &settings);
        }
        assert!(there(&maps, &[]) <= before, "{before}");
    }
}
