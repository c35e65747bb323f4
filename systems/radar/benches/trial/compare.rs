//! Our tracker and the filters on each scene.

use crate::consistency::Consistency;
use crate::flights::Set;
use crate::noise::{Noise, SENSORS};
use crate::ours::{self, Wanted};
use crate::peers::{Plots, StoneSoup, Which};
use crate::score::{self, States};
use crate::sensor::Scene;
use crate::table::{self, Filter, Row};
use crate::tune::COMPARED_ON;
use crate::{Failure, Options, astray};
use chronoscope_radar::tracker::{Outliers, Settings};

/// A share of outliers that is as good as none.
const NO_OUTLIERS: f64 = 1e-9;

/// Prints tables of our tracker and the filters on the sets.
pub(crate) fn compare(options: &Options) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for set in &options.sets {
        for &seed in &options.seeds {
            for sensor in &options.sensors {
                let row = scene(options, set, seed, *sensor)?;
                eprintln!("{} {seed} {}", set.name, sensor.name);
                rows.push(row);
            }
        }
    }
    table::print(&rows);
    Ok(())
}

fn scene(options: &Options, set: &Set, seed: u64, sensor: Noise) -> Result<Row, Failure> {
    let scene = Scene::new(&options.file, set, seed, options.clutter, sensor)?;
    // Of the other sensors the errors alone: the rest takes longer than the tracking.
    let whole = sensor == SENSORS[0];
    let wanted = match (options.astray, whole) {
        (true, _) => Wanted::Astray,
        (false, true) => Wanted::Continuity,
        (false, false) => Wanted::Errors,
    };
    let found = ours::run(&scene, options.settings, wanted);
    for number in &found.counts.astray {
        astray::astray(&scene, &found.said, *number);
    }
    if options.astray {
        astray::swapped(&scene, &found.said);
    }
    if let Some(flight) = options.flight {
        astray::follow(&scene, &found.said, flight);
    }
    let outliers = Outliers { share: NO_OUTLIERS, ..options.settings.outliers };
    let one_noise = Settings { outliers, ..options.settings };
    let one_noise = ours::run(&scene, one_noise, Wanted::Errors).states;
    let plots = Plots::of(&scene, 1);
    let states = &found.states;
    let levelled = |of: &States| plots.rms_m(of, states, Which::Levelled);
    let filters =
        if options.peers { peers(options, &scene, &plots, states, whole)? } else { Vec::new() };
    if options.kinds {
        score::by_kind(&scene, &|flight| plots.is_levelled(flight), states);
    }
    Ok(Row {
        set: set.name,
        seed,
        sensor: sensor.name,
        whole,
        plots: plots.count(),
        share: plots.share(states),
        raw_m: plots.raw_m(states, Which::All),
        ours_m: plots.rms_m(states, states, Which::All),
        one_noise_m: plots.rms_m(&one_noise, states, Which::All),
        levelled_m: levelled(states),
        consistency: Consistency::of(states),
        filters,
        found,
    })
}

/// The filters on a scene, in their fast form; `compared`: with Stone Soup's own on some flights.
fn peers(
    options: &Options,
    scene: &Scene,
    plots: &Plots,
    ours: &States,
    compared: bool,
) -> Result<Vec<Filter>, Failure> {
    let mut filters: Vec<Filter> = Vec::new();
    let mut soup = StoneSoup::start(plots)?;
    let few = Plots::of(scene, COMPARED_ON);
    let mut own = if compared { Some(StoneSoup::start(&few)?) } else { None };
    for line in &options.filters {
        let fast = format!("fast {line}");
        let theirs = soup.filtered(plots, if options.own { line } else { &fast })?;
        let apart_m = match &mut own {
            Some(own) => Some(apart_m(&own.filtered(&few, line)?, &theirs)),
            None => None,
        };
        filters.push(Filter {
            name: line.split(' ').next().unwrap_or_default().to_owned(),
            rms_m: plots.rms_m(&theirs, ours, Which::All),
            levelled_m: plots.rms_m(&theirs, ours, Which::Levelled),
            share: plots.share(&theirs),
            consistency: Consistency::of(&theirs),
            apart_m,
        });
    }
    Ok(filters)
}

/// By how much two forms of a filter are apart at most, m.
fn apart_m(own: &States, fast: &States) -> f64 {
    let apart = |(key, state): (&score::Key, &score::State)| {
        fast.get(key).map(|other| (state.error - other.error).norm())
    };
    own.iter().filter_map(apart).fold(0.0, f64::max)
}
