//! Trial of the tracker on recorded flights, beside Stone Soup's filters: accuracy, consistency,
//! false and broken tracks, speed.
//!
//! ```sh
//! FLIGHTS=$(tools/flights days) STONESOUP_PYTHON=$(tools/venv stonesoup) \
//!   cargo bench -p chronoscope-radar --bench trial -- --peers --sensor all
//! ```
//!
//! Truth is the flights of several days ([`flights`]); [`sensor`] says what a radar makes of it. Both
//! were fixed before anything was tuned. Tuning uses the training sets and seeds below 10 alone.
//!
//! Options: `--sets A,B`, `--seeds 1,2`, `--quick` (one seed), `--clutter` (92,000 false plots an
//! hour), `--sensor A,B` or `all` ([`noise`]), `--peers` (Stone Soup beside: its equations for all
//! plots, its own filters on one flight in ten; with `--own` on all), `--filters 'cv 10 1;…'` (others
//! than the tuned), `--kinds` (errors by kind of flight), `--astray` (lines for each false track and
//! each swap), `--config FILE` (settings of ours); `tune` tunes our settings on the training sets,
//! `tune --peers` the filters (with `--filters 'cv;turn'` these), both with `--rms-alone` without a cost
//! of covariances; `sweep FILE…` tries files of settings of ours, which belongs there too; `--flight N`
//! prints the plots and tracks of a flight.

mod astray;
mod attribution;
mod compare;
mod consistency;
mod continuity;
mod flights;
mod noise;
mod ours;
mod peers;
mod said;
mod score;
mod search;
mod sensor;
mod sweep;
mod table;
mod tune;

use chronoscope_radar::tracker::Settings;
use flights::{SETS, Set};
use noise::{Noise, SENSORS};

type Failure = Box<dyn std::error::Error>;

/// The filters as `tune --peers` found them on the training sets; the last two are as an earlier search on
/// every flight found them by errors alone, and the best of all counts.
const TUNED: [&str; 6] = [
    "cv 27 1.2581",
    "singer 0.3333 10 1.2999",
    "turn 15.5885 0.0173 1.3",
    "robust 27 0.0707 3 1",
    "singer 0.1111 10 0.7692",
    "turn 9 0.0173 1",
];

struct Options {
    file: String,
    sets: Vec<Set>,
    seeds: Vec<u64>,
    sensors: Vec<Noise>,
    clutter: bool,
    peers: bool,
    /// Stone Soup's own filters on every flight.
    own: bool,
    rms_alone: bool,
    kinds: bool,
    astray: bool,
    tune: bool,
    sweep: Vec<String>,
    settings: Settings,
    /// A flight whose plots and tracks are printed.
    flight: Option<u32>,
    /// The filters beside, with their parameters.
    filters: Vec<String>,
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        file: std::env::var("FLIGHTS").map_err(|_| "FLIGHTS names no file: tools/flights days")?,
        sets: Vec::new(),
        seeds: Vec::new(),
        sensors: vec![SENSORS[0]],
        clutter: false,
        peers: false,
        own: false,
        rms_alone: false,
        kinds: false,
        astray: false,
        tune: false,
        sweep: Vec::new(),
        settings: Settings::default(),
        flight: None,
        filters: TUNED.map(str::to_owned).to_vec(),
    };
    let mut quick = false;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word}: a value is missing"));
        match word.as_str() {
            "--sets" => {
                let names = value()?;
                let find = |name: &str| SETS.into_iter().find(|set| set.name == name);
                options.sets = names
                    .split(',')
                    .map(|name| find(name).ok_or(format!("no set {name:?}")))
                    .collect::<Result<_, _>>()?;
            }
            "--seeds" => {
                options.seeds = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            "--sensor" => options.sensors = sensors(&value()?)?,
            "--own" => options.own = true,
            "--rms-alone" => options.rms_alone = true,
            "--quick" => quick = true,
            "--clutter" => options.clutter = true,
            "--peers" => options.peers = true,
            "--kinds" => options.kinds = true,
            "--astray" => options.astray = true,
            "--flight" => options.flight = Some(value()?.parse()?),
            "--config" => options.settings = settings(&value()?)?,
            "--filters" => options.filters = value()?.split(';').map(str::to_owned).collect(),
            "tune" => options.tune = true,
            "sweep" => {
                options.sweep.extend(words.by_ref().filter(|word| word != "--bench"));
            }
            "--bench" => {} // cargo's
            other => return Err(format!("unknown option {other:?}").into()),
        }
    }
    let training = options.tune || !options.sweep.is_empty();
    if options.sets.is_empty() {
        options.sets.extend(SETS.into_iter().filter(|set| set.training == training));
    }
    if options.seeds.is_empty() {
        options.seeds = if training { vec![1, 2, 3] } else { vec![17, 18, 19] };
        options.seeds.truncate(if quick { 1 } else { usize::MAX });
    }
    Ok(options)
}

fn main() -> Result<(), Failure> {
    let options = match options() {
        Ok(options) => options,
        Err(why) => {
            println!("left out: {why}");
            return Ok(());
        }
    };
    match options {
        Options { tune: true, .. } => tune::tune(&options),
        Options { ref sweep, .. } if !sweep.is_empty() => sweep::sweep(&options),
        _ => compare::compare(&options),
    }
}

fn sensors(names: &str) -> Result<Vec<Noise>, Failure> {
    let one = |name: &str| SENSORS.into_iter().find(|sensor| sensor.name == name);
    match names {
        "all" => Ok(SENSORS.to_vec()),
        _ => names
            .split(',')
            .map(|name| one(name).ok_or_else(|| format!("no sensor {name:?}").into()))
            .collect(),
    }
}

fn settings(file: &str) -> Result<Settings, Failure> {
    Ok(Settings::from_toml(&std::fs::read_to_string(file)?)?)
}
