//! Filters of Stone Soup 1.9.1 (MIT) on the plots of the same scene.
//!
//! A constant-velocity filter, Singer's model and a coordinated turn (extended Kalman filter), and a
//! constant-velocity filter with a mixture of two noises, as our tracker has it: Stone Soup has no such
//! filter, but the parts of which it is made here. They
//! are told which plot is of which aircraft, the noise of the sensor, and the levels where Mode C is
//! missing of an aircraft that has one; our tracker has to find all that out. Where an aircraft tells
//! no level at all they have the position that our tracker begins with, and its covariance. Their
//! parameters are tuned as ours are: `-- tune`.
//!
//! `STONESOUP_PYTHON` names a Python that has Stone Soup: `tools/venv stonesoup` makes one.

use crate::score::{Key, State, States, key, rms};
use crate::search::Parameter;
use crate::sensor::{SOURCE, Scene, corrected};
use chronoscope_radar::asterix::cat048::{FlightLevel, Plot};
use chronoscope_radar::tracker::linear::{Sym2, Vec2};
use chronoscope_radar::tracker::{Measurement, Precision, Radars};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

type Failure = Box<dyn std::error::Error>;

const fn parameter(name: &'static str, value: f64, factor: f64) -> Parameter {
    Parameter { name, value, factor, bounds: (1e-4, 1e4) }
}

const fn q(value: f64) -> Parameter {
    parameter("q", value, 3.0)
}

const fn scale(value: f64) -> Parameter {
    Parameter { bounds: (0.5, 3.0), ..parameter("scale", value, 1.3) }
}

const SHARE: Parameter = Parameter { bounds: (1e-3, 0.5), ..parameter("share", 0.05, 2.0) };
const FACTOR: Parameter = Parameter { bounds: (1.1, 10.0), ..parameter("factor", 3.0, 1.5) };

/// The filters and what is tuned of each, from what a search on every flight had found by errors alone; the
/// fourth from the sensor's own outliers.
pub(crate) const FILTERS: [(&str, &[Parameter]); 4] = [
    ("cv", &[q(27.0), scale(1.3)]),
    ("singer", &[q(0.1111), parameter("seconds", 10.0, 2.0), scale(0.7692)]),
    ("turn", &[q(9.0), parameter("turn_q", 0.0173, 3.0), scale(1.0)]),
    ("robust", &[q(9.0), SHARE, FACTOR, scale(1.0)]),
];

/// The line of a filter with these values, as the script wants it.
pub(crate) fn line(name: &str, values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
    format!("{name} {}", values.join(" "))
}

/// The plots of the scene that are of flights, as positions.
pub(crate) struct Plots {
    keys: Vec<Key>,
    measurements: Vec<Measurement>,
    truths: Vec<Vec2>,
    /// Flights that tell their level.
    levelled: HashSet<u32>,
}

/// Which of the plots count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Of flights that tell their level.
    Levelled,
}

impl Plots {
    /// Of one flight of `every`.
    pub(crate) fn of(scene: &Scene, every: u32) -> Self {
        let (range_sigma_m, azimuth_sigma_deg) = scene.sigma;
        let mut radars =
            Radars::new(scene.origin(), Precision { range_sigma_m, azimuth_sigma_deg })
                .without_registration();
        radars.place(SOURCE, scene.site).expect("one radar");
        let by_number: HashMap<u32, &crate::flights::Flight> =
            scene.flights.iter().map(|f| (f.number, f)).collect();
        let (keys, measurements, truths) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Self { keys, measurements, truths, levelled: HashSet::new() };
        for sector in &scene.sectors {
            for owned in &sector.plots {
                let Some(number) = owned.flight.filter(|number| number % every == 0) else {
                    continue;
                };
                let mut plot = corrected(&owned.plot, sector.utc_ns);
                if owned.is_levelled() {
                    let level = owned.level.round();
                    plot.flight_level = Some(FlightLevel { level, ..FlightLevel::default() });
                    all.levelled.insert(number);
                }
                let Ok(m) = radars.convert(&Plot { ..plot }, sector.utc_ns) else { continue };
                if let Some(real) = by_number.get(&number).and_then(|f| f.place(m.time_s)) {
                    all.keys.push(key(number, m.time_s));
                    all.measurements.push(m);
                    all.truths.push(real);
                }
            }
        }
        all
    }

    pub(crate) fn is_levelled(&self, flight: u32) -> bool {
        self.levelled.contains(&flight)
    }

    /// The states after these plots.
    pub(crate) fn only(&self, states: &States) -> States {
        self.keys.iter().filter_map(|key| Some((*key, *states.get(key)?))).collect()
    }

    /// The plots that count: our tracker had a state after them, and they are `which`.
    fn counted(&self, ours: &States, which: Which) -> impl Iterator<Item = usize> {
        (0..self.keys.len()).filter(move |index| {
            let key = self.keys[*index];
            ours.contains_key(&key) && (which == Which::All || self.is_levelled(key.0))
        })
    }

    /// Root mean square of the plots' own errors, m.
    pub(crate) fn raw_m(&self, ours: &States, which: Which) -> f64 {
        let counted = self.counted(ours, which);
        rms(counted.map(|i| (self.measurements[i].position - self.truths[i]).norm_squared()))
    }

    /// Root mean square of the errors of `states`, after the plots after which `ours` has one, m.
    pub(crate) fn rms_m(&self, states: &States, ours: &States, which: Which) -> f64 {
        let counted = self.counted(ours, which);
        rms(counted.filter_map(|i| Some(states.get(&self.keys[i])?.error.norm_squared())))
    }

    /// Share of the plots after which there was a state.
    pub(crate) fn share(&self, states: &States) -> f64 {
        let common = self.keys.iter().filter(|key| states.contains_key(key)).count();
        common as f64 / self.keys.len().max(1) as f64
    }

    pub(crate) fn count(&self) -> usize {
        self.keys.len()
    }
}

/// Stone Soup with the plots of a scene.
pub(crate) struct StoneSoup {
    child: Child,
    commands: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl StoneSoup {
    pub(crate) fn start(plots: &Plots) -> Result<Self, Failure> {
        let python = std::env::var("STONESOUP_PYTHON")
            .map_err(|_| "STONESOUP_PYTHON names no Python that has Stone Soup")?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/trial/stone_soup.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut commands = BufWriter::new(child.stdin.take().ok_or("no stdin")?);
        for (index, (m, (flight, _))) in plots.measurements.iter().zip(&plots.keys).enumerate() {
            let (p, c) = (m.position, m.covariance);
            let time_s = m.time_s - plots.measurements[0].time_s;
            let (x, y, xx, xy, yy) = (p.x, p.y, c.xx, c.xy, c.yy);
            writeln!(commands, "{index},{flight},{time_s},{x},{y},{xx},{xy},{yy}")?;
        }
        writeln!(commands)?;
        commands.flush()?;
        let answers = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        Ok(Self { child, commands, answers })
    }

    /// States after the plots of a filter given by its [`line`].
    pub(crate) fn filtered(&mut self, plots: &Plots, filter: &str) -> Result<States, Failure> {
        writeln!(self.commands, "{filter}")?;
        self.commands.flush()?;
        let mut found = States::with_capacity(plots.keys.len());
        let mut text = String::new();
        loop {
            text.clear();
            if self.answers.read_line(&mut text)? == 0 {
                return Err(format!("its script ended before the answer to {filter:?}").into());
            }
            let columns: Vec<&str> = text.trim_end().split(',').collect();
            let &[index, x, y, xx, xy, yy] = columns.as_slice() else {
                return if text == "\n" { Ok(found) } else { Err(format!("{text:?}").into()) };
            };
            let index: usize = index.parse()?;
            let (key, truth) =
                plots.keys.get(index).zip(plots.truths.get(index)).ok_or("a plot that was not")?;
            let error = Vec2::new(x.parse()?, y.parse()?) - *truth;
            let covariance = Sym2 { xx: xx.parse()?, xy: xy.parse()?, yy: yy.parse()? };
            found.insert(*key, State::new(plots.measurements[index].time_s, error, covariance));
        }
    }
}

impl Drop for StoneSoup {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
