//! Irregularities of a radar, their limits, and their texts.

use std::collections::BTreeMap;

/// Kind of irregularity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Trait {
    /// Share of plots that come after later ones.
    Late,
    /// Share of plots whose stamp does not go with the antenna.
    Stamps,
    /// Share of sector messages that come together with the one before.
    Bursts,
    /// Share of sector messages that do not come.
    Sectors,
    /// Standard deviation of the turn, as a share of it.
    Turns,
    /// Share of plots that repeat another.
    Duplicates,
    /// Share of plots that belong to no track.
    Unknown,
    /// Longest silence, turns.
    Silence,
}

/// All of them.
pub const TRAITS: [Trait; 8] = [
    Trait::Late,
    Trait::Stamps,
    Trait::Bursts,
    Trait::Sectors,
    Trait::Turns,
    Trait::Duplicates,
    Trait::Unknown,
    Trait::Silence,
];

impl Trait {
    /// Value that a regular radar stays below: a maintained radar with a line of its own has next
    /// to nothing of the first six; a tenth of new plots is heavy clutter.
    pub fn limit(self) -> f64 {
        match self {
            Self::Bursts => 0.05,
            Self::Unknown => 0.1,
            Self::Silence => 2.0,
            _ => 0.01,
        }
    }

    /// For people, with the value.
    pub fn describe(self, value: f64) -> String {
        let amount = self.amount(value);
        match self {
            Self::Late => format!("{amount} of plots come late"),
            Self::Stamps => format!("{amount} of stamps are not the antenna's"),
            Self::Bursts => format!("{amount} of sectors come in bursts"),
            Self::Sectors => format!("{amount} of sector messages are missing"),
            Self::Turns => format!("turns vary by {amount}"),
            Self::Duplicates => format!("{amount} of plots are duplicates"),
            Self::Unknown => format!("{amount} of plots belong to no track"),
            Self::Silence => format!("silent for {amount}"),
        }
    }

    /// In one word, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Stamps => "stamps",
            Self::Bursts => "bursts",
            Self::Sectors => "sectors",
            Self::Turns => "turns",
            Self::Duplicates => "duplicates",
            Self::Unknown => "unknown",
            Self::Silence => "silence",
        }
    }

    /// The value with its unit.
    pub fn amount(self, value: f64) -> String {
        match self {
            Self::Silence => format!("{value:.1} turns"),
            _ => format!("{:.1} %", 100.0 * value),
        }
    }
}

/// An irregularity of a radar, compared with the other radars.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Irregularity {
    /// Kind of the irregularity.
    pub what: Trait,
    /// Value in the latest irregular window.
    pub value: f64,
    /// The median of the other radars then; `None` where there was no other.
    pub others: Option<f64>,
    /// Value that a regular radar stays below.
    pub limit: f64,
    /// Time when it was first found, seconds since the UTC epoch, of arrival.
    pub since_utc_s: f64,
}

/// Statistics of one radar since the start.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RadarReport {
    /// System area code.
    pub sac: u8,
    /// System identification code.
    pub sic: u8,
    /// Plots with a stamp.
    pub plots: u64,
    /// Turns seen from north to north.
    pub turns: u64,
    /// Plots in such a turn.
    pub plots_a_turn: f64,
    /// Time of a turn, s.
    pub turn_s: f64,
    /// Mean delay from a plot's stamp to its arrival, s.
    pub delay_s: f64,
    /// Standard deviation of the delay.
    pub delay_sd_s: f64,
    /// The delay that 99 % do not exceed, in steps of 0.01 s; within ±15 s of the first.
    pub delay_p99_s: f64,
    /// Every trait, since the start; `None` where there was nothing to judge.
    pub traits: BTreeMap<Trait, f64>,
    /// Irregularities of the radar.
    pub irregular: Vec<Irregularity>,
}
