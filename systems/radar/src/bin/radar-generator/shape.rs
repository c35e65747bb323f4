//! Size and shape of the artificial scenarios.

use chronoscope_radar::traffic::patterns::{self, Climbs, Crossings, Holds, Size};
use chronoscope_radar::traffic::{Aircraft, circles};
use clap::Args;

const M_S_PER_KNOT: f64 = 1852.0 / 3600.0;
const M_PER_NM: f64 = 1852.0;
/// Ground speeds where none is given, knots: airliners on their way, and in a hold.
const KNOTS: f64 = 447.0;
const HOLD_KNOTS: f64 = 220.0;
/// Flight levels where none are given.
const CLIMB_LEVELS: (f64, f64) = (100.0, 360.0);
const HOLD_LEVELS: (f64, f64) = (80.0, 200.0);

/// Options for size and shape of the artificial scenarios.
#[derive(Args, Debug)]
#[command(next_help_heading = "Artificial scenarios")]
pub(crate) struct Shape {
    /// Circles, crossing points, places of climbs or holding stacks
    #[arg(long, visible_alias = "circles", value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    places: u32,
    /// Flights at each
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    flights: u32,
    /// Ground speed in knots, but of circles; without it 447, and 220 in holds
    #[arg(long, value_name = "KNOTS", value_parser = within::<50, 700>)]
    knots: Option<f64>,
    /// Crossings: degrees between the courses; 0 is side by side, 180 head on
    #[arg(long, value_name = "DEGREES", default_value_t = 90.0, value_parser = within::<0, 180>)]
    angle: f64,
    /// Crossings: how near the two of a pair come, in nautical miles
    #[arg(long, value_name = "NM", default_value_t = 0.5, value_parser = within::<0, 50>)]
    miss: f64,
    /// Climbs and holds: flight levels from the lowest to the highest; without it 100-360 and 80-200
    #[arg(long, value_name = "LOW-HIGH", value_parser = levels)]
    levels: Option<(f64, f64)>,
    /// Climbs: rate, in feet a minute
    #[arg(long, value_name = "FT_MIN", default_value_t = 2000.0, value_parser = within::<100, 10_000>)]
    climb: f64,
    /// Holds: time of a straight leg, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = within::<10, 600>)]
    leg: f64,
    /// Holds: rate of the turns, in degrees a second
    #[arg(long, value_name = "DEG_S", default_value_t = 3.0, value_parser = within::<1, 6>)]
    turn: f64,
}

impl Shape {
    fn size(&self, knots: f64) -> Size {
        let speed_m_s = self.knots.unwrap_or(knots) * M_S_PER_KNOT;
        Size { places: self.places, flights: self.flights, speed_m_s }
    }

    pub(crate) fn circles(&self) -> Vec<Aircraft> {
        circles::compose(self.places, self.flights)
    }

    pub(crate) fn crossings(&self) -> Vec<Aircraft> {
        let shape = Crossings { angle_deg: self.angle, miss_m: self.miss * M_PER_NM };
        patterns::crossings(self.size(KNOTS), shape)
    }

    pub(crate) fn climbs(&self) -> Vec<Aircraft> {
        let levels = self.levels.unwrap_or(CLIMB_LEVELS);
        patterns::climbs(self.size(KNOTS), Climbs { levels, rate_ft_min: self.climb })
    }

    pub(crate) fn holds(&self) -> Vec<Aircraft> {
        let levels = self.levels.unwrap_or(HOLD_LEVELS);
        let shape = Holds { levels, leg_s: self.leg, turn_deg_s: self.turn };
        patterns::holds(self.size(HOLD_KNOTS), shape)
    }
}

fn within<const LOW: u16, const HIGH: u16>(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (f64::from(LOW)..=f64::from(HIGH)).contains(&value) => Ok(value),
        _ => Err(format!("a number from {LOW} to {HIGH}")),
    }
}

fn levels(text: &str) -> Result<(f64, f64), String> {
    let parsed = text.split_once('-').and_then(|(low, high)| {
        Some((low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?))
    });
    parsed
        .filter(|(low, high)| 0.0 <= *low && low < high && *high <= 600.0)
        .ok_or_else(|| "expected LOW-HIGH, as 100-360, from 0 to 600".to_owned())
}
