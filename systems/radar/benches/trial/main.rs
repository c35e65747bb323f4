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
//! Options: `--sets A,B`, `--seeds 1,2`, `--quick` (one seed), `--clutter` (92,000 false plots an
//! hour), `--peers` (Stone Soup beside), `--filters 'cv 10 1;…'` (others than the tuned), `--kinds`
//! (errors by kind of flight),
//! `--astray` (lines for each false track and each swap), `--config FILE` (settings of ours); `tune`
//! tunes our settings on the training sets, `tune --peers` the filters; `sweep FILE…` tries files of
//! settings of ours, which belongs there too; `--flight N` prints the plots and tracks of a flight.

mod astray;
mod flights;
mod ours;
mod peers;
mod score;
mod search;
mod sensor;
mod tune;

use chronoscope_radar::tracker::Settings;
use flights::{SETS, Set};
use ours::Wanted;
use peers::{Plots, StoneSoup, Which};
use score::nees;
use sensor::Scene;

type Failure = Box<dyn std::error::Error>;

/// The filters as `tune --peers` found them on all flights of the training sets.
const TUNED: [&str; 3] = ["cv 27 1.3", "singer 0.1111 10 0.7692", "turn 9 0.0173 1"];

struct Options {
    file: String,
    sets: Vec<Set>,
    seeds: Vec<u64>,
    clutter: bool,
    peers: bool,
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
        clutter: false,
        peers: false,
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
        options.seeds = if training { vec![1, 2, 3] } else { vec![11, 12, 13] };
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
        Options { ref sweep, .. } if !sweep.is_empty() => try_all(&options),
        _ => compare(&options),
    }
}

fn settings(file: &str) -> Result<Settings, Failure> {
    Ok(Settings::from_toml(&std::fs::read_to_string(file)?)?)
}

/// Tries files of settings on the sets, which should be the training sets.
fn try_all(options: &Options) -> Result<(), Failure> {
    let scenes = tune::scenes(options)?;
    for file in &options.sweep {
        let (mut squares, mut off, mut inside, mut share) = (0.0, 0.0, 0.0, 0.0);
        let (mut wrong, mut tracks, mut turns, mut swaps, mut each) =
            (0.0, 0.0, 0.0, 0, String::new());
        let wanted = if options.clutter { Wanted::Continuity } else { Wanted::Errors };
        for scene in &scenes {
            let found = ours::run(scene, settings(file)?, wanted);
            let plots = Plots::of(scene, 1);
            // Relative to the plots' own errors, so that no scene outweighs the others.
            let ratio =
                plots.ours_m(&found.states, Which::All) / plots.raw_m(&found.states, Which::All);
            squares += ratio * ratio;
            off += nees(&found.states);
            inside += found.inside;
            share += plots.share(&found.states);
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
            mean(off),
            mean(inside),
            mean(share),
            mean(wrong),
            mean(tracks),
            mean(turns),
        );
    }
    Ok(())
}

/// Prints our tracker and the filters on the sets.
fn compare(options: &Options) -> Result<(), Failure> {
    println!(
        "{:<12} {:>4} {:>6} {:>5} {:>6} {:>6} {:>22} {:>6} {:>22} {:>5} {:>5} {:>7} {:>6} {:>5} {:>5} {:>6} {:>6} {:>9}",
        "set",
        "seed",
        "plots",
        "raw",
        "ours",
        "share",
        "cv singer turn",
        "ratio",
        "with level: ours best",
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
            compare_one(options, set, seed)?;
        }
    }
    Ok(())
}

fn compare_one(options: &Options, set: &Set, seed: u64) -> Result<(), Failure> {
    let scene = Scene::new(&options.file, set, seed, options.clutter)?;
    let wanted = if options.astray { Wanted::Astray } else { Wanted::Continuity };
    let found = ours::run(&scene, options.settings, wanted);
    for number in &found.astray {
        astray::astray(&scene, &found.said, *number);
    }
    if options.astray {
        astray::swapped(&scene, &found.said);
    }
    if let Some(flight) = options.flight {
        astray::follow(&scene, &found.said, flight);
    }
    let plots = Plots::of(&scene, 1);
    let states = &found.states;
    let both = [Which::All, Which::Levelled];
    let ours_m = both.map(|which| plots.ours_m(states, which));
    let mut theirs: Vec<[f64; 2]> = Vec::new();
    if options.peers {
        let mut soup = StoneSoup::start(&plots)?;
        for filter in &options.filters {
            let positions = soup.filtered(filter)?;
            theirs.push(both.map(|which| plots.theirs_m(&positions, states, which)));
        }
    }
    let each: Vec<String> = theirs.iter().map(|m| format!("{:.1}", m[0])).collect();
    let best = |which: usize| theirs.iter().map(|m| m[which]).fold(f64::INFINITY, f64::min);
    let levelled = format!("{:.1} / {:.1} = {:.3}", ours_m[1], best(1), ours_m[1] / best(1));
    println!(
        "{:<12} {seed:>4} {:>6} {:>5.0} {:>6.1} {:>6.3} {:>22} {:>6.3} {levelled:>22} {:>5.2} {:>5.3} {:>7.1} {:>6.3} {:>5.2} {:>5} {:>6} {:>6.3} {:>9.0}",
        set.name,
        found.plots,
        plots.raw_m(states, Which::All),
        ours_m[0],
        plots.share(states),
        each.join(" "),
        ours_m[0] / best(0),
        nees(states),
        found.inside,
        found.false_per_h,
        found.tracks_per_flight,
        found.initiation_turns,
        found.swaps,
        found.renumbered,
        found.detection,
        found.plots_per_s,
    );
    if options.kinds {
        score::by_kind(&scene, &|flight| plots.is_levelled(flight), states);
    }
    Ok(())
}
