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
//! Soup beside), `--config FILE` (settings of ours); `tune` instead tries the filters' noise, and
//! `sweep FILE…` files of settings of ours, which belongs on the training sets.

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
    sweep: Vec<String>,
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
        sweep: Vec::new(),
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
            "--config" => options.settings = settings(&value()?)?,
            "tune" => options.tune = true,
            "sweep" => {
                options.sweep.extend(words.by_ref().filter(|word| word != "--bench"));
            }
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
    match options {
        Options { tune: true, .. } => tune(&options),
        Options { ref sweep, .. } if !sweep.is_empty() => try_all(&options),
        _ => compare(&options),
    }
}

fn settings(file: &str) -> Result<Settings, Failure> {
    Ok(Settings::from_toml(&std::fs::read_to_string(file)?)?)
}

/// Tries files of settings on the sets, which should be the training sets.
fn try_all(options: &Options) -> Result<(), Failure> {
    let mut scenes = Vec::new();
    for set in &options.sets {
        for &seed in &options.seeds {
            scenes.push(Scene::new(&options.file, set, seed, options.clutter)?);
        }
    }
    for file in &options.sweep {
        let (mut squares, mut nees, mut inside, mut share) = (0.0, 0.0, 0.0, 0.0);
        let (mut wrong, mut tracks, mut turns, mut swaps, mut each) =
            (0.0, 0.0, 0.0, 0, String::new());
        for scene in &scenes {
            let found = ours::run(scene, settings(file)?, options.clutter);
            let plots = peers::Plots::of(scene, 1);
            // Relative to the plots' own errors, so that no scene outweighs the others.
            let ratio = plots.ours_m(&found.errors) / plots.raw_m(&found.errors);
            squares += ratio * ratio;
            nees += found.nees.iter().sum::<f64>() / found.nees.len().max(1) as f64;
            inside += found.inside;
            share += plots.share(&found.errors);
            wrong += found.false_per_h;
            tracks += found.tracks_per_flight;
            turns += found.initiation_turns;
            swaps += found.swaps + found.renumbered;
            each += &format!(" {ratio:.3}");
        }
        let count = scenes.len() as f64;
        let mean = |sum: f64| sum / count;
        println!(
            "{file:<28} RMS/raw {:.4} NEES {:.2} in95 {:.3} share {:.3} false/h {:.1} tracks {:.3} turns {:.2} swaps, new {swaps} |{each}",
            f64::sqrt(squares / count),
            mean(nees),
            mean(inside),
            mean(share),
            mean(wrong),
            mean(tracks),
            mean(turns),
        );
    }
    Ok(())
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
            let found = ours::run(&scene, options.settings, true);
            let plots = peers::Plots::of(&scene, 1);
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

/// Tries each filter with each noise on the sets: on the training sets to choose one, on the test
/// sets to see what another choice would have been.
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
            let found = ours::run(&scene, options.settings, false);
            let plots = peers::Plots::of(&scene, peers::TUNED_ON);
            let mut all = plots.filtered(&filters, &found.errors)?;
            all.insert("ours".to_owned(), plots.ours_m(&found.errors));
            all.insert("raw".to_owned(), plots.raw_m(&found.errors));
            for (name, m) in all {
                println!("{:<12} {seed:>4} {name:<12} {m:>7.1}", set.name);
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
