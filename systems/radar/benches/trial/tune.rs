//! Tuning on the training sets: of our tracker's motion, and of each filter beside it, by one
//! procedure ([`search`]) on the same scenes, with one cost, as many starts and as many evaluations.
//!
//! The cost of a choice is the root mean square over all scenes of the error beside that of the
//! plots, of flights that tell their level. All have their covariances to answer for as well: a mean
//! normalised squared error that is not 2 costs as much as a tenth of its logarithm. With
//! `--rms-alone` it costs nothing, for none.

use crate::Options;
use crate::consistency::Consistency;
use crate::ours::{self, Wanted};
use crate::peers::{self, Plots, StoneSoup, Which};
use crate::score::States;
use crate::search::{Parameter, search};
use crate::sensor::Scene;
use chronoscope_radar::tracker::Settings;

type Failure = Box<dyn std::error::Error>;

/// Evaluations from each start, of ours and of each filter, however many parameters they have.
const BUDGET: usize = 20;
/// Starts: what an earlier search of its own had found, and all of it larger and smaller by this power of
/// a step.
const STARTS: [f64; 3] = [0.0, 0.5, -0.5];
/// Stone Soup takes a millisecond a plot: its own filters are compared with the fast form on one
/// flight of so many.
pub(crate) const COMPARED_ON: u32 = 10;
/// Ours and the filters are tuned by their errors on one flight of so many; ours tracks all of them.
const TUNED_ON: u32 = 3;
/// What an inconsistent covariance costs.
const INCONSISTENT: f64 = 0.1;

/// Where a parameter is in the settings.
type Place = fn(&mut Settings) -> &mut f64;

fn ours() -> Vec<(Parameter, Place)> {
    let motion = Settings::default().motion;
    let one = |name, value, factor| Parameter { name, value, factor, bounds: (1e-4, 1e4) };
    vec![
        (one("along_q", motion.along_q, 2.0), |s| &mut s.motion.along_q),
        (one("speed_q", motion.speed_q, 2.0), |s| &mut s.motion.speed_q),
        (Parameter { bounds: (0.001, 0.95), ..one("speed_share", motion.speed_share, 1.5) }, |s| {
            &mut s.motion.speed_share
        }),
        (one("turn_along_q", motion.turn_along_q, 2.0), |s| &mut s.motion.turn_along_q),
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
            for sensor in &options.sensors {
                scenes.push(Scene::new(&options.file, set, seed, options.clutter, *sensor)?);
            }
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
    let plots: Vec<Plots> = scenes.iter().map(|scene| Plots::of(scene, TUNED_ON)).collect();
    let (parameters, places): (Vec<_>, Vec<_>) = ours().into_iter().unzip();
    best("ours", &parameters, &mut |values| {
        let mut settings = options.settings;
        for (place, value) in places.iter().zip(values) {
            *place(&mut settings) = *value;
        }
        let mut sum = 0.0;
        for (scene, plots) in scenes.iter().zip(&plots) {
            let states = ours::run(scene, settings, Wanted::Errors).states;
            let states = plots.only(&states);
            sum += cost(plots, &states, &states, options.rms_alone).powi(2);
        }
        Ok((sum / scenes.len() as f64).sqrt())
    })
}

/// The cost of `states` on a scene.
fn cost(plots: &Plots, states: &States, ours: &States, rms_alone: bool) -> f64 {
    let which = Which::Levelled;
    let ratio = plots.rms_m(states, ours, which) / plots.raw_m(ours, which);
    let off = (Consistency::of(states).nees / 2.0).ln().abs();
    ratio * (1.0 + if rms_alone { 0.0 } else { INCONSISTENT * off })
}

/// Searches from each start, and prints each evaluation and the best of all.
fn best(
    name: &str,
    parameters: &[Parameter],
    cost: &mut dyn FnMut(&[f64]) -> Result<f64, Failure>,
) -> Result<(), Failure> {
    let mut best: Option<(Vec<f64>, f64)> = None;
    for power in STARTS {
        let start: Vec<Parameter> = parameters
            .iter()
            .map(|p| {
                let value = p.value * p.factor.powf(power);
                Parameter { value: value.clamp(p.bounds.0, p.bounds.1), ..*p }
            })
            .collect();
        let found = search(&start, BUDGET, |values| {
            let cost = cost(values)?;
            say(name, parameters, values, cost);
            Ok::<f64, Failure>(cost)
        })?;
        if best.as_ref().is_none_or(|best| found.1 < best.1) {
            best = Some(found);
        }
    }
    if let Some((values, cost)) = best {
        say(&format!("best: {}", peers::line(name, &values)), parameters, &values, cost);
    }
    Ok(())
}

fn tune_peers(options: &Options, scenes: &[Scene]) -> Result<(), Failure> {
    let mut all: Vec<(Plots, States, StoneSoup)> = Vec::new();
    for scene in scenes {
        let plots = Plots::of(scene, TUNED_ON);
        let states = ours::run(scene, options.settings, Wanted::Errors).states;
        let soup = StoneSoup::start(&plots)?;
        all.push((plots, states, soup));
    }
    let wanted =
        |name: &str| options.filters.iter().any(|line| line.split(' ').next() == Some(name));
    for (name, parameters) in peers::FILTERS.into_iter().filter(|(name, _)| wanted(name)) {
        best(name, parameters, &mut |values| {
            let mut sum = 0.0;
            for (plots, ours, soup) in &mut all {
                let states =
                    soup.filtered(plots, &format!("fast {}", peers::line(name, values)))?;
                sum += cost(plots, &states, ours, options.rms_alone).powi(2);
            }
            Ok((sum / scenes.len() as f64).sqrt())
        })?;
    }
    Ok(())
}

fn say(name: &str, parameters: &[Parameter], values: &[f64], cost: f64) {
    let named = parameters.iter().zip(values).map(|(p, value)| format!("{} {value:.4}", p.name));
    println!("{cost:.4} {name}: {}", named.collect::<Vec<_>>().join(", "));
}
