//! Trial of the tracker on recorded flights, beside Stone Soup's filters: accuracy, consistency,
//! false and broken tracks, speed.
//!
//! ```sh
//! FLIGHTS=$(tools/flights days) STONESOUP_PYTHON=$(tools/venv stonesoup) \
//!   cargo bench -p chronoscope-radar --bench trial -- --sets test-paris,test-mixed --seeds 11,12,13
//! ```
//!
//! Truth is the flights of several days ([`flights`]); [`sensor`] says what a radar makes of it. Both
//! were fixed before anything was tuned. Tuning uses the training sets and seeds below 10 alone.
//!
//! Options: `--sets A,B`, `--seeds 1,2`, `--clutter` (92,000 false plots an hour), `--peers` (Stone
//! Soup beside), `--config FILE` (settings of ours); `tune` instead tries the filters' noise on the
//! training sets.

mod flights;
mod ours;
mod peers;
mod sensor;

use chronoscope_radar::tracker::Settings;
use flights::{SETS, Set};
use sensor::Scene;
use std::collections::BTreeMap;

type Failure = Box<dyn std::error::Error>;

/// The filters' best noise densities on the training sets, of `peers::GRID`.
const TUNED: [&str; 3] = ["cv:1", "singer:1", "turn:1"];

struct Options {
    file: String,
    sets: Vec<Set>,
    seeds: Vec<u64>,
    clutter: bool,
    peers: bool,
    tune: bool,
    settings: Settings,
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        file: std::env::var("FLIGHTS").map_err(|_| "FLIGHTS names no file: tools/flights days")?,
        sets: SETS.iter().copied().filter(|set| !set.training).collect(),
        seeds: vec![11, 12, 13],
        clutter: false,
        peers: false,
        tune: false,
        settings: Settings::default(),
    };
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
            "--clutter" => options.clutter = true,
            "--peers" => options.peers = true,
            "tune" => options.tune = true,
            "--bench" => {} // cargo's
            other => return Err(format!("unknown option {other:?}").into()),
        }
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
    if options.tune { tune(&options) } else { compare(&options) }
}

fn compare(options: &Options) -> Result<(), Failure> {
    println!(
        "{:<12} {:>4} {:>6} {:>5} {:>6} {:>6} {:>22} {:>6} {:>5} {:>5} {:>7} {:>6} {:>5} {:>5} {:>6} {:>6} {:>9}",
        "set",
        "seed",
        "plots",
        "raw",
        "ours",
        "share",
        "cv singer turn",
        "ratio",
        "NEES",
        "in95",
        "false/h",
        "tracks",
        "turns",
        "swaps",
        "new no",
        "detect",
        "plots/s"
    );
    for set in &options.sets {
        for &seed in &options.seeds {
            let scene = Scene::new(&options.file, set, seed, options.clutter)?;
            let found = ours::run(&scene, options.settings);
            let plots = peers::Plots::of(&scene);
            let (raw_m, ours_m) = (plots.raw_m(&found.errors), plots.ours_m(&found.errors));
            let mut theirs = BTreeMap::new();
            if options.peers {
                theirs = plots.filtered(&TUNED.map(str::to_owned), &found.errors)?;
            }
            let names: Vec<String> = TUNED
                .iter()
                .map(|name| theirs.get(*name).map_or("-".to_owned(), |m| format!("{m:.1}")))
                .collect();
            let best_m = theirs.values().copied().fold(f64::INFINITY, f64::min);
            let nees = found.nees.iter().sum::<f64>() / found.nees.len().max(1) as f64;
            println!(
                "{:<12} {seed:>4} {:>6} {raw_m:>5.0} {ours_m:>6.1} {:>6.3} {:>22} {:>6.3} {nees:>5.2} {:>5.3} {:>7.1} {:>6.3} {:>5.2} {:>5} {:>6} {:>6.3} {:>9.0}",
                set.name,
                found.plots,
                plots.share(&found.errors),
                names.join(" "),
                ours_m / best_m,
                found.inside,
                found.false_per_h,
                found.tracks_per_flight,
                found.initiation_turns,
                found.swaps,
                found.renumbered,
                found.detection,
                found.plots_per_s,
            );
        }
    }
    Ok(())
}

/// Tries each filter with each noise on the sets, which should be the training sets.
fn tune(options: &Options) -> Result<(), Failure> {
    let filters: Vec<String> = peers::FILTERS
        .iter()
        .flat_map(|name| peers::GRID.iter().map(move |q| format!("{name}:{q}")))
        .collect();
    let mut squares: BTreeMap<String, f64> = BTreeMap::new();
    let mut scenes = 0.0;
    for set in &options.sets {
        for &seed in &options.seeds {
            let scene = Scene::new(&options.file, set, seed, false)?;
            let found = ours::run(&scene, options.settings);
            let theirs = peers::Plots::of(&scene).filtered(&filters, &found.errors)?;
            for (name, m) in theirs {
                *squares.entry(name).or_default() += m * m;
            }
            scenes += 1.0;
        }
    }
    for (name, sum) in squares {
        println!("{name:<12} {:>7.1}", f64::sqrt(sum / scenes));
    }
    Ok(())
}
