//! Settings of the tracker, their defaults, and the file that changes them.
//!
//! A TOML file, of which every part may be left out; `radar-tracker --print-config` prints all of it.
//! An unknown name is an error, so that a misspelt one is not taken for a default.

use super::clocks::ClockLimits;
use super::clutter::ClutterSettings;
use super::imm::MotionModel;
use super::outliers::Outliers;
use super::sensors::Sensors;
use super::surveillance::Surveillance;
use super::transponders::Transponders;
use serde::{Deserialize, Serialize};

/// Settings of the tracker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Plots older than this compared with their track are of no use, s.
    pub late_s_max: f64,
    /// Antenna period assumed until a radar's own is known, s.
    pub period_s: f64,
    /// Whether each radar's precision is estimated from its plots, unless the operator gave it.
    pub learn_precision: bool,
    /// Motion of aircraft.
    pub motion: MotionModel,
    /// Plots that are much worse than others.
    pub outliers: Outliers,
    /// How near a plot has to be to a track.
    pub gates: Gates,
    /// What plots with and without codes tell.
    pub transponders: Transponders,
    /// When a track is believed.
    pub initiation: Initiation,
    /// When a track without plots ends.
    pub coasting: Coasting,
    /// False plots.
    pub clutter: ClutterSettings,
    /// The radars' clocks.
    pub clocks: ClockLimits,
    /// Precision by kind of sensor, before a radar's own is known.
    pub sensors: Sensors,
    /// ADS-B and multilateration.
    pub surveillance: Surveillance,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            late_s_max: 10.0,
            period_s: 6.0,
            learn_precision: true,
            motion: MotionModel::default(),
            outliers: Outliers::default(),
            gates: Gates::default(),
            transponders: Transponders::default(),
            initiation: Initiation::default(),
            coasting: Coasting::default(),
            clutter: ClutterSettings::default(),
            clocks: ClockLimits::default(),
            sensors: Sensors::default(),
            surveillance: Surveillance::default(),
        }
    }
}

/// Squared Mahalanobis distances within which a plot may belong to a track.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Gates {
    /// Where nothing else tells. 16 would keep all but 1 in 3000 (chi-square, two degrees of
    /// freedom) of the straight flights; who begins to turn between two plots of a slow radar needs
    /// 36.
    pub position: f64,
    /// Where both have the same discrete Mode A code: wide enough for the sharpest turn.
    pub same_code: f64,
    /// Where the address matches: only the impossible is refused.
    pub same_address: f64,
}

impl Default for Gates {
    fn default() -> Self {
        Self { position: 36.0, same_code: 50.0, same_address: 150.0 }
    }
}

/// Initiation and confirmation of tracks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Initiation {
    /// Least plots of a believed track.
    pub plots_min: u32,
    /// Probability that a track is of an aircraft from which on it is believed.
    pub probability: f64,
    /// Probability below which a believed track ends.
    pub probability_lost: f64,
    /// New aircraft that a radar comes to see, an hour and km².
    pub arrivals_km2_h: f64,
    /// Probability that a radar sees an aircraft in a turn.
    pub detection: f64,
}

impl Default for Initiation {
    fn default() -> Self {
        Self {
            plots_min: 3,
            probability: 0.999,
            probability_lost: 0.02,
            arrivals_km2_h: 3e-4,
            detection: 0.9,
        }
    }
}

impl Initiation {
    /// New aircraft that a radar of `period_s` comes to see in a turn, a m².
    #[must_use]
    pub fn arrivals_m2(&self, period_s: f64) -> f64 {
        const M2_PER_KM2: f64 = 1e6;
        self.arrivals_km2_h / M2_PER_KM2 * period_s / 3_600.0
    }
}

/// Life of a track without plots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Coasting {
    /// A believed track ends after so many antenna turns (of the fastest radar that sees it)
    /// without a plot, …
    pub turns: f64,
    /// … but not before this many seconds …
    pub s_min: f64,
    /// … and at the latest after this many, …
    pub s_max: f64,
    /// … not counted the time in which no radar sees where it is: this much in all.
    pub unseen_s_max: f64,
    /// A radar that sees an aircraft is expected to see it again after this many of its turns; a
    /// quarter more than one, for the sector that is on its way and the flight in between.
    pub expected_turns: f64,
    /// A track that ended is known again for this long, s: its aircraft gets its number back.
    pub remembered_s: f64,
}

impl Default for Coasting {
    fn default() -> Self {
        Self {
            turns: 5.0,
            s_min: 15.0,
            s_max: 60.0,
            unseen_s_max: 130.0,
            expected_turns: 1.25,
            remembered_s: 180.0,
        }
    }
}

/// Reasons why a file is not one of settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// It is not TOML, or has an unknown name or another type.
    #[error("{0}")]
    Toml(String),
    /// A value that cannot be.
    #[error("{name} has to be {range}")]
    Range {
        /// Name of the setting.
        name: &'static str,
        /// What it has to be.
        range: &'static str,
    },
}

impl Settings {
    /// Reads a file of settings; what is not in it has its default.
    ///
    /// # Errors
    /// [`SettingsError`] with the line or the name.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        let settings: Self =
            toml::from_str(text).map_err(|e| SettingsError::Toml(e.to_string()))?;
        settings.check()?;
        Ok(settings)
    }

    /// All settings as a file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        // Numbers and tables of numbers alone: always representable.
        toml::to_string(self).unwrap_or_default()
    }

    /// What has to be above 0.
    fn above_0(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let Self { motion, gates, initiation, coasting, clutter, clocks, sensors, .. } = self;
        [
            ("late_s_max", self.late_s_max),
            ("period_s", self.period_s),
            ("motion.along_q", motion.along_q),
            ("motion.speed_q", motion.speed_q),
            ("motion.turn_along_q", motion.turn_along_q),
            ("motion.steady_q", motion.steady_q),
            ("motion.turn_q", motion.turn_q),
            ("motion.turn_m_s2", motion.turn_m_s2),
            ("motion.manoeuvre_q", motion.manoeuvre_q),
            ("motion.steady_s", motion.steady_s),
            ("motion.manoeuvre_s", motion.manoeuvre_s),
            ("motion.speed_sigma", motion.speed_sigma),
            ("gates.position", gates.position),
            ("gates.same_code", gates.same_code),
            ("gates.same_address", gates.same_address),
            ("transponders.bare_turns", self.transponders.bare_turns),
            ("initiation.arrivals_km2_h", initiation.arrivals_km2_h),
            ("coasting.turns", coasting.turns),
            ("coasting.s_min", coasting.s_min),
            ("coasting.expected_turns", coasting.expected_turns),
            ("clutter.memory_s", clutter.memory_s),
            ("clutter.first_km2", clutter.first_km2),
            ("clutter.least_km2", clutter.least_km2),
            ("clutter.margin", clutter.margin),
            ("clocks.ahead_s", clocks.ahead_s),
            ("clocks.behind_s", clocks.behind_s),
            ("clocks.steady_s", clocks.steady_s),
            ("sensors.primary.range_sigma_m", sensors.primary.range_sigma_m),
            ("sensors.primary.azimuth_sigma_deg", sensors.primary.azimuth_sigma_deg),
            ("sensors.secondary.range_sigma_m", sensors.secondary.range_sigma_m),
            ("sensors.secondary.azimuth_sigma_deg", sensors.secondary.azimuth_sigma_deg),
            ("sensors.mode_s.range_sigma_m", sensors.mode_s.range_sigma_m),
            ("sensors.mode_s.azimuth_sigma_deg", sensors.mode_s.azimuth_sigma_deg),
        ]
        .into_iter()
        .chain(self.surveillance.above_0())
    }

    fn check(&self) -> Result<(), SettingsError> {
        let Self { motion, outliers, initiation, coasting, .. } = self;
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if let Some((name, _)) = self.above_0().find(|(_, value)| !positive(*value)) {
            return Err(SettingsError::Range { name, range: "a number above 0" });
        }
        let shares = [
            ("initiation.probability", initiation.probability),
            ("initiation.probability_lost", initiation.probability_lost),
            ("initiation.detection", initiation.detection),
            ("motion.speed_share", motion.speed_share),
            ("motion.unusual", motion.unusual),
            ("outliers.share", outliers.share),
        ];
        let share = |value: f64| value > 0.0 && value < 1.0;
        if let Some((name, _)) = shares.into_iter().find(|(_, value)| !share(*value)) {
            return Err(SettingsError::Range { name, range: "between 0 and 1" });
        }
        if !(coasting.s_max >= coasting.s_min && coasting.s_max.is_finite()) {
            return Err(SettingsError::Range {
                name: "coasting.s_max",
                range: "a number, not below coasting.s_min",
            });
        }
        if !(coasting.unseen_s_max >= 0.0 && coasting.remembered_s >= 0.0) {
            return Err(SettingsError::Range {
                name: "coasting.unseen_s_max, coasting.remembered_s",
                range: "numbers, not below 0",
            });
        }
        let Transponders { bare_cost, named_cost, .. } = self.transponders;
        if !(bare_cost >= 0.0 && named_cost >= 0.0) {
            return Err(SettingsError::Range {
                name: "transponders.bare_cost, transponders.named_cost",
                range: "numbers, not below 0",
            });
        }
        if !(outliers.factor > 1.0 && outliers.factor.is_finite()) {
            return Err(SettingsError::Range { name: "outliers.factor", range: "above 1" });
        }
        if initiation.plots_min < 2 {
            return Err(SettingsError::Range { name: "initiation.plots_min", range: "2 or more" });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_again_and_a_part_changes_a_part() {
        let printed = Settings::default().to_toml();
        assert!(printed.contains("[motion]") && printed.contains("[sensors.mode_s]"), "{printed}");
        assert_eq!(Settings::from_toml(&printed), Ok(Settings::default()));
        assert_eq!(Settings::from_toml(""), Ok(Settings::default()));
        let changed = Settings::from_toml("[motion]\nsteady_q = 0.5\n").unwrap();
        assert_eq!(changed.motion.steady_q, 0.5);
        assert_eq!(changed.motion.manoeuvre_q, Settings::default().motion.manoeuvre_q);
    }

    #[test]
    fn refusals_name_what_is_wrong() {
        let message = |text: &str| Settings::from_toml(text).unwrap_err().to_string();
        assert!(message("[motion]\nsteadyq = 1.0").contains("steadyq"));
        assert!(message("[gates]\nposition = \"wide\"").contains("line 2"));
        assert!(message("[motion]\nsteady_q = 0.0").contains("motion.steady_q"));
        assert!(message("[initiation]\nprobability = 1.0").contains("between 0 and 1"));
        assert!(message("[coasting]\ns_max = 1.0").contains("coasting.s_min"));
        assert!(message("[initiation]\nplots_min = 1").contains("2 or more"));
    }
}
