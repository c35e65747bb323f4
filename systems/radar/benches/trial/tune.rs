//! Tuning on the training sets: of our tracker's motion, and of each filter beside it, by one
//! procedure ([`search`]) and with one budget.
//!
//! The cost of a choice is the root mean square over all scenes of the error beside that of the
//! plots, of flights that tell their level. Ours has the covariances to answer for as well: a mean normalised squared error that is not 2
//! costs as much as a tenth of its logarithm.

use crate::Options;
use crate::ours::{self, Wanted};
use crate::peers::{self, Plots, StoneSoup, Which};
use crate::score::{States, nees};
use crate::search::{Parameter, search};
use crate::sensor::Scene;
use chronoscope_radar::tracker::Settings;

type Failure = Box<dyn std::error::Error>;

/// Evaluations of each, for each parameter.
const BUDGET: usize = 6;
/// Stone Soup takes a millisecond a plot: its own filters are compared with the fast form on one
/// flight of so many.
const COMPARED_ON: u32 = 20;
/// What an inconsistent covariance costs.
const INCONSISTENT: f64 = 0.1;

/// Where a parameter is in the settings.
type Place = fn(&mut Settings) -> &mut f64;

fn ours() -> Vec<(Parameter, Place)> {
    let motion = Settings::default().motion;
    let one = |name, value, factor| Parameter { name, value, factor, bounds: (1e-4, 1e4) };
    vec![
        (one("along_q", motion.along_q, 2.0), |s| &mut s.motion.along_q),
        (Parameter { bounds: (1e-3, 1e3), ..one("steady_q", motion.steady_q, 3.0) }, |s| {
            &mut s.motion.steady_q
        }),
        (one("turn_q", motion.turn_q, 2.0), |s| &mut s.motion.turn_q),
        (one("turn_m_s2", motion.turn_m_s2, 1.3), |s| &mut s.motion.turn_m_s2),
        (one("steady_s", motion.steady_s, 1.7), |s| &mut s.motion.steady_s),
        (one("manoeuvre_s", motion.manoeuvre_s, 1.5), |s| &mut s.motion.manoeuvre_s),
        (Parameter { bounds: (0.001, 0.9), ..one("unusual", motion.unusual, 2.0) }, |s| {
            &mut s.motion.unusual
        }),
    ]
}

pub(crate) fn scenes(options: &Options) -> Result<Vec<Scene>, Failure> {
    let mut scenes = Vec::new();
    for set in &options.sets {
        for &seed in &options.seeds {
            scenes.push(Scene::new(&options.file, set, seed, options.clutter)?);
        }
    }
    Ok(scenes)
}

/// Tunes ours, or with `--peers` the filters beside it.
pub(crate) fn tune(options: &Options) -> Result<(), Failure> {
    if options.sets.iter().any(|set| !set.training) || options.seeds.iter().any(|seed| *seed >= 10)
    {
        return Err("tuning belongs on the training sets and seeds below 10".into());
    }
    let scenes = scenes(options)?;
    if options.peers {
        return tune_peers(options, &scenes);
    }
    let plots: Vec<Plots> = scenes.iter().map(|scene| Plots::of(scene, 1)).collect();
    let (parameters, places): (Vec<_>, Vec<_>) = ours().into_iter().unzip();
    let cost = |values: &[f64]| -> Result<f64, Failure> {
        let mut settings = options.settings;
        for (place, value) in places.iter().zip(values) {
            *place(&mut settings) = *value;
        }
        let mut sum = 0.0;
        for (scene, plots) in scenes.iter().zip(&plots) {
            let found = ours::run(scene, settings, Wanted::Errors);
            let ratio = plots.ours_m(&found.states, Which::Levelled)
                / plots.raw_m(&found.states, Which::Levelled);
            let off = INCONSISTENT * (nees(&found.states) / 2.0).ln().abs();
            sum += (ratio * (1.0 + off)).powi(2);
        }
        let cost = (sum / scenes.len() as f64).sqrt();
        say("ours", &parameters, values, cost);
        Ok(cost)
    };
    let (values, cost) = search(&parameters, BUDGET * parameters.len(), cost)?;
    say("best: ours", &parameters, &values, cost);
    Ok(())
}

fn tune_peers(options: &Options, scenes: &[Scene]) -> Result<(), Failure> {
    same_positions(&scenes[0])?;
    let mut all: Vec<(Plots, States, StoneSoup)> = Vec::new();
    for scene in scenes {
        let plots = Plots::of(scene, 1);
        let states = ours::run(scene, options.settings, Wanted::Errors).states;
        let soup = StoneSoup::start(&plots)?;
        all.push((plots, states, soup));
    }
    for (name, parameters) in peers::FILTERS {
        let cost = |values: &[f64]| -> Result<f64, Failure> {
            let mut sum = 0.0;
            for (plots, states, soup) in &mut all {
                let positions = soup.filtered(&format!("fast {}", peers::line(name, values)))?;
                let ratio = plots.theirs_m(&positions, states, Which::Levelled)
                    / plots.raw_m(states, Which::Levelled);
                sum += ratio * ratio;
            }
            let cost = (sum / scenes.len() as f64).sqrt();
            say(name, parameters, values, cost);
            Ok(cost)
        };
        let (values, cost) = search(parameters, BUDGET * parameters.len(), cost)?;
        say(&format!("best: {}", peers::line(name, &values)), parameters, &values, cost);
    }
    Ok(())
}

/// Prints how far the filters' fast form, by which they are tuned, is from Stone Soup's own on the
/// plots of one flight in [`COMPARED_ON`].
fn same_positions(scene: &Scene) -> Result<(), Failure> {
    let plots = Plots::of(scene, COMPARED_ON);
    let mut soup = StoneSoup::start(&plots)?;
    for (name, parameters) in peers::FILTERS {
        let values: Vec<f64> = parameters.iter().map(|p| p.value).collect();
        let line = peers::line(name, &values);
        let (theirs, fast) = (soup.filtered(&line)?, soup.filtered(&format!("fast {line}"))?);
        let apart = theirs.iter().zip(&fast).map(|(a, b)| (*a - *b).norm());
        println!(
            "{line}: {} positions, fast form at most {:.2} m from Stone Soup's",
            theirs.len(),
            apart.fold(0.0, f64::max)
        );
    }
    Ok(())
}

fn say(name: &str, parameters: &[Parameter], values: &[f64], cost: f64) {
    let named = parameters.iter().zip(values).map(|(p, value)| format!("{} {value:.4}", p.name));
    println!("{cost:.4} {name}: {}", named.collect::<Vec<_>>().join(", "));
}
