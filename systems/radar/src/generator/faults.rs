//! Injected faults of a radar: outages, clutter and irregular data.
//!
//! Each fault has a random stream of its own: a radar with a fault sees the same aircraft with the
//! same noise as without it. A fault is spelled `KIND,VALUE…`; [`SPELLINGS`] lists them.

use super::noise::Noise;
use crate::asterix::cat034::ServiceMessage;
use crate::asterix::cat048::{Descriptor, Detection, Plot, Position};
use crate::asterix::{DataSource, TimeOfDay};
use std::str::FromStr;

/// Kind, values and meaning of every fault, for `--help` and messages.
pub const SPELLINGS: [(&str, &str, &str); 8] = [
    ("outage", "FROM_S,TO_S", "silent in this part of the scenario"),
    ("clutter", "PLOTS", "so many false plots a turn, half of them in three clusters"),
    ("duplicates", "SHARE", "this share of the plots is sent twice"),
    ("late", "SHARE,SECONDS", "this share is sent up to so much later, rightly stamped"),
    ("bursts", "SECONDS", "everything is held back and sent at once this often"),
    ("jumps", "SHARE,SECONDS", "the stamps of this share are wrong by up to so much, either way"),
    ("sectors", "SHARE", "this share of the sector and north messages is missing"),
    ("turns", "SHARE", "the time of a turn varies by up to this share, at most 0.2"),
];

/// A fault of a radar. Shares are in `(0, 1]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The radar is silent, seconds of the scenario.
    Outage {
        /// Begin of the outage.
        from_s: f64,
        /// End of the outage.
        to_s: f64,
    },
    /// Primary plots of nothing, a Poisson number of them each turn.
    Clutter {
        /// Mean number a turn.
        plots: f64,
    },
    /// Plots that are sent twice in a row.
    Duplicates {
        /// Share of all plots.
        share: f64,
    },
    /// Plots that are sent late, with the right stamp.
    Late {
        /// Share of all plots.
        share: f64,
        /// At most so much later; at least half of it.
        seconds: f64,
    },
    /// Messages are held back and sent together.
    Bursts {
        /// Interval between two bursts, seconds.
        seconds: f64,
    },
    /// Stamps that are not the times at which the antenna passed.
    Jumps {
        /// Share of all plots.
        share: f64,
        /// At most so far off, either way; at least half of it.
        seconds: f64,
    },
    /// Sector and north messages that are not sent.
    Sectors {
        /// Share of all messages.
        share: f64,
    },
    /// An antenna that does not turn evenly.
    Turns {
        /// By which a turn is longer or shorter at most.
        share: f64,
    },
}

/// Reasons why a text is not a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// No such kind.
    #[error(
        "unknown fault {0:?}: expected outage, clutter, duplicates, late, bursts, jumps, sectors \
         or turns"
    )]
    Kind(String),
    /// Values that are missing, too many, or out of range.
    #[error(
        "expected {kind},{values}: shares above 0 and at most 1 (turns 0.2), times above 0 and \
         at most a day, at most 10000 plots"
    )]
    Values {
        /// Kind of the fault.
        kind: &'static str,
        /// Values that have to follow.
        values: &'static str,
    },
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut parts = text.split(',').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let (kind, values, _) = SPELLINGS
            .into_iter()
            .find(|(name, _, _)| *name == kind)
            .ok_or_else(|| FaultError::Kind(kind.to_owned()))?;
        let refused = FaultError::Values { kind, values };
        let numbers: Option<Vec<f64>> = parts.map(|part| part.parse().ok()).collect();
        let numbers = numbers.ok_or_else(|| refused.clone())?;
        let share = |share: f64| share > 0.0 && share <= 1.0;
        let time = |seconds: f64| seconds > 0.0 && seconds <= 86_400.0;
        let fault = match (kind, &numbers[..]) {
            ("outage", &[from_s, to_s]) if from_s >= 0.0 && from_s < to_s && time(to_s) => {
                Self::Outage { from_s, to_s }
            }
            ("clutter", &[plots]) if plots > 0.0 && plots <= 10_000.0 => Self::Clutter { plots },
            ("duplicates", &[of]) if share(of) => Self::Duplicates { share: of },
            ("late", &[of, seconds]) if share(of) && time(seconds) => {
                Self::Late { share: of, seconds }
            }
            ("bursts", &[seconds]) if time(seconds) => Self::Bursts { seconds },
            ("jumps", &[of, seconds]) if share(of) && time(seconds) => {
                Self::Jumps { share: of, seconds }
            }
            ("sectors", &[of]) if share(of) => Self::Sectors { share: of },
            ("turns", &[of]) if of > 0.0 && of <= 0.2 => Self::Turns { share: of },
            _ => return Err(refused),
        };
        Ok(fault)
    }
}

/// Streams of their own: above all addresses, which key those of the plots.
mod stream {
    pub(super) const CLUTTER: u64 = 1 << 40;
    pub(super) const CLUSTERS: u64 = 2 << 40;
    pub(super) const DUPLICATES: u64 = 3 << 40;
    pub(super) const LATE: u64 = 4 << 40;
    pub(super) const JUMPS: u64 = 5 << 40;
    pub(super) const SECTORS: u64 = 6 << 40;
    pub(super) const TURNS: u64 = 7 << 40;
}

/// Places in which half of the clutter comes, for each radar, …
const CLUSTERS: u64 = 3;
/// … and how far around them, standard deviations.
const CLUSTER_NM: f64 = 2.0;
const CLUSTER_DEG: f64 = 2.0;

/// Faults of one radar, and messages that it has held back because of them.
#[derive(Debug)]
pub(super) struct Faults {
    seed: u64,
    source: DataSource,
    list: Vec<Fault>,
    /// Late plots and when they go out.
    late: Vec<(f64, Plot)>,
    /// Held back for the next burst, and how many plots are in it.
    held: (Vec<Vec<u8>>, u64),
    burst: f64,
}

impl Faults {
    pub(super) fn none(source: DataSource, seed: u64) -> Self {
        let (late, held) = (Vec::new(), (Vec::new(), 0));
        Self { seed, source, list: Vec::new(), late, held, burst: 0.0 }
    }

    pub(super) fn add(&mut self, fault: Fault) {
        self.list.push(fault);
    }

    fn stream(&self, what: u64, number: u64) -> Noise {
        Noise::keyed([self.seed, self.source.sic.into(), what, number])
    }

    /// Deviation of the passage of north in `turn`, as a share of the turn; 0 for an antenna that
    /// turns evenly. Deviations are around the even times and do not add up.
    pub(super) fn wobble(&self, turn: u64) -> f64 {
        let shares = self.list.iter().map(|fault| match fault {
            Fault::Turns { share } => *share,
            _ => 0.0,
        });
        let share: f64 = shares.sum();
        if share == 0.0 { 0.0 } else { share * (self.stream(stream::TURNS, turn).uniform() - 0.5) }
    }

    /// Whether the radar is silent.
    pub(super) fn is_silent(&self, at_s: f64) -> bool {
        self.list.iter().any(|fault| match fault {
            Fault::Outage { from_s, to_s } => (*from_s..*to_s).contains(&at_s),
            _ => false,
        })
    }

    /// The false plots of `turn` as range in nautical miles, of `range_nm` at most, and azimuth in
    /// degrees.
    pub(super) fn clutter(&self, turn: u64, range_nm: f64) -> Vec<Position> {
        let means = self.list.iter().map(|fault| match fault {
            Fault::Clutter { plots } => *plots,
            _ => 0.0,
        });
        let mean: f64 = means.sum();
        let mut found = Vec::new();
        if mean == 0.0 {
            return found;
        }
        let mut noise = self.stream(stream::CLUTTER, turn);
        // The distances of Poisson events are exponential.
        let mut passed = -(1.0 - noise.uniform()).ln();
        while passed < mean {
            passed -= (1.0 - noise.uniform()).ln();
            let position = if noise.uniform() < 0.5 {
                let (range_nm, azimuth_deg) =
                    (range_nm * noise.uniform().sqrt(), 360.0 * noise.uniform());
                Position { range_nm, azimuth_deg }
            } else {
                self.clustered(range_nm, &mut noise)
            };
            found.push(position);
        }
        found
    }

    fn clustered(&self, range_nm: f64, noise: &mut Noise) -> Position {
        let which = (noise.uniform() * CLUSTERS as f64).floor();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in [0, 3)")]
        let mut place = self.stream(stream::CLUSTERS, which as u64);
        let (far, azimuth_deg) = (0.1 + 0.5 * place.uniform(), 360.0 * place.uniform());
        Position {
            range_nm: (far * range_nm + CLUSTER_NM * noise.normal()).clamp(0.5, range_nm),
            azimuth_deg: (azimuth_deg + CLUSTER_DEG * noise.normal()).rem_euclid(360.0),
        }
    }

    /// A plot of nothing.
    pub(super) fn false_plot(&self, position: Position, time_of_day: TimeOfDay) -> Plot {
        Plot {
            source: self.source,
            time_of_day: Some(time_of_day),
            descriptor: Some(Descriptor {
                detection: Detection::Psr,
                simulated: true,
                ..Descriptor::default()
            }),
            position: Some(position),
            ..Plot::default()
        }
    }

    /// By how much the stamp of a plot of the aircraft with `address` is wrong, s.
    pub(super) fn stamp_error_s(&self, address: u32, turn: u64) -> f64 {
        let mut error_s = 0.0;
        for fault in &self.list {
            let Fault::Jumps { share, seconds } = fault else { continue };
            let mut noise = self.stream(stream::JUMPS + u64::from(address), turn);
            if noise.uniform() < *share {
                let size_s = seconds * (0.5 + 0.5 * noise.uniform());
                error_s += if noise.uniform() < 0.5 { size_s } else { -size_s };
            }
        }
        error_s
    }

    /// Applies the faults to the plots and service messages of a sector that ended at `at_s` with
    /// crossing number `crossing`. Returns what is sent.
    pub(super) fn spoil(
        &mut self,
        plots: Vec<Plot>,
        mut services: Vec<ServiceMessage>,
        at_s: f64,
        crossing: u64,
    ) -> (Vec<Plot>, Vec<ServiceMessage>) {
        let (mut duplicated, mut delayed) =
            (self.stream(stream::DUPLICATES, crossing), self.stream(stream::LATE, crossing));
        let mut sent = Vec::with_capacity(plots.len());
        for plot in plots {
            let (mut copies, mut later_s) = (1, 0.0);
            for fault in &self.list {
                match fault {
                    Fault::Duplicates { share } => {
                        copies += usize::from(duplicated.uniform() < *share);
                    }
                    Fault::Late { share, seconds } if delayed.uniform() < *share => {
                        later_s += seconds * (0.5 + 0.5 * delayed.uniform());
                    }
                    _ => {}
                }
            }
            for _ in 0..copies {
                if later_s > 0.0 {
                    self.late.push((at_s + later_s, plot.clone()));
                } else {
                    sent.push(plot.clone());
                }
            }
        }
        sent.extend(self.late.extract_if(.., |(due_s, _)| *due_s <= at_s).map(|(_, plot)| plot));
        let mut missing = self.stream(stream::SECTORS, crossing);
        for fault in &self.list {
            if let Fault::Sectors { share } = fault {
                services.retain(|_| missing.uniform() >= *share);
            }
        }
        (sent, services)
    }

    /// Holds `datagrams` with so many `plots` back for the next burst, or gives all that is due.
    pub(super) fn deliver(
        &mut self,
        datagrams: Vec<Vec<u8>>,
        plots: u64,
        at_s: f64,
    ) -> (Vec<Vec<u8>>, u64) {
        let every_s = self.list.iter().find_map(|fault| match fault {
            Fault::Bursts { seconds } => Some(*seconds),
            _ => None,
        });
        let Some(every_s) = every_s else { return (datagrams, plots) };
        self.held.0.extend(datagrams);
        self.held.1 += plots;
        let burst = (at_s / every_s).floor();
        if burst <= self.burst {
            return (Vec::new(), 0);
        }
        self.burst = burst;
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_read_and_what_is_wrong_is_told() {
        for text in [
            "outage,60,120",
            "clutter,50",
            "duplicates,0.1",
            "late,0.2,2",
            "bursts,2",
            "jumps,0.05,1.5",
            "sectors,0.3",
            "turns,0.1",
        ] {
            assert!(text.parse::<Fault>().is_ok(), "{text}");
        }
        assert_eq!("late, 0.2, 2".parse(), Ok(Fault::Late { share: 0.2, seconds: 2.0 }));
        for text in ["late,0.2", "late,2,2", "outage,9,3", "turns,0.5", "clutter,x", "bursts,0"] {
            let error = text.parse::<Fault>().unwrap_err().to_string();
            assert!(error.starts_with("expected "), "{error}");
        }
        let error = "rain,3".parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains("\"rain\"") && error.contains("clutter"), "{error}");
    }

    /// Mean and variance of a Poisson number are one: four standard errors of 1,000 turns.
    #[test]
    fn clutter_is_as_much_as_said_and_half_of_it_clustered() {
        let mut faults = Faults::none(DataSource { sac: 98, sic: 3 }, 7);
        faults.add(Fault::Clutter { plots: 50.0 });
        let turns: Vec<Vec<Position>> = (0..1000).map(|turn| faults.clutter(turn, 60.0)).collect();
        let counts = turns.iter().map(|turn| turn.len() as f64);
        let mean = counts.clone().sum::<f64>() / 1000.0;
        let variance = counts.map(|count| (count - mean).powi(2)).sum::<f64>() / 1000.0;
        assert!((mean - 50.0).abs() < 0.9 && (variance - 50.0).abs() < 9.0, "{mean} {variance}");
        let mut cells = std::collections::BTreeMap::<(i64, i64), u32>::new();
        for at in turns.iter().flatten() {
            assert!((0.0..=60.0).contains(&at.range_nm) && (0.0..360.0).contains(&at.azimuth_deg));
            #[allow(clippy::cast_possible_truncation)]
            let cell = ((at.range_nm / 6.0) as i64, (at.azimuth_deg / 6.0) as i64);
            *cells.entry(cell).or_default() += 1;
        }
        // Three places of some 12 NM by 12°: of 600 cells a dozen has half of all.
        let mut most: Vec<u32> = cells.into_values().collect();
        most.sort_unstable_by(|a, b| b.cmp(a));
        let share = f64::from(most[..24].iter().sum::<u32>()) / f64::from(most.iter().sum::<u32>());
        assert!((0.45..0.65).contains(&share), "{share}");
    }
}
