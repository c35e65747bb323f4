//! Our tracker over a scene, and how good its tracks are.

use crate::attribution::{attribute, lives};
use crate::continuity::{Counts, count};
use crate::flights::SECONDS;
use crate::said::{Said, said};
use crate::score::{State, States, rms};
use crate::sensor::{SOURCE, Scene, corrected};
use chronoscope_clock as clock;
use chronoscope_radar::asterix::{DataSource, cat048::Plot, encode_block};
use chronoscope_radar::tracker::{Precision, Processor, Radars, Settings};
use std::collections::{BTreeMap, HashMap};

/// Results of one scene.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// After the plots of flights, each with the error from the plot's own flight.
    pub(crate) states: States,
    /// Root mean square over all reports made from plots, also from false ones and another's, of the error
    /// from the flight that the track follows, m.
    pub(crate) by_owner_m: f64,
    /// Reports made from plots that could not be attributed to one.
    pub(crate) unattributed: usize,
    /// Tracks most of whose plots are false, wherever they are.
    pub(crate) fed_false_per_h: f64,
    /// As `radar-evaluate` counts them.
    pub(crate) counts: Counts,
    /// A number that is away for more than a minute and returns counts twice, …
    pub(crate) tracks_per_flight: f64,
    /// … and here once.
    pub(crate) numbers_per_flight: f64,
    pub(crate) initiation_turns: f64,
    pub(crate) plots: usize,
    pub(crate) plots_per_s: f64,
    pub(crate) said: Vec<Said>,
}

/// What is wanted beside the errors, which takes longer than the tracking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Errors,
    /// False tracks and the rest.
    Continuity,
    /// These, and which tracks are false.
    Astray,
}

/// Tracks the scene's plots with `settings`.
pub(crate) fn run(scene: &Scene, settings: Settings, wanted: Wanted) -> Found {
    let datagrams: Vec<(i64, Vec<u8>)> = scene
        .sectors
        .iter()
        .map(|sector| {
            let plots: Vec<Plot> =
                sector.plots.iter().map(|o| corrected(&o.plot, sector.utc_ns)).collect();
            let mut octets = Vec::new();
            if !plots.is_empty() {
                encode_block(&plots, &mut octets).expect("plots of the trial's sensor");
            }
            (sector.utc_ns, octets)
        })
        .collect();
    let mut radars = Radars::new(scene.origin(), Precision::default());
    radars.place(SOURCE, scene.site).expect("one radar");
    let mut processor = Processor::new(radars, settings, DataSource { sac: 25, sic: 100 });
    processor.set_period(SOURCE, scene.period_s);
    let mut messages: Vec<(i64, Vec<u8>)> = Vec::new();
    let begin_ns = clock::thread_cpu_ns();
    for (utc_ns, octets) in &datagrams {
        if !octets.is_empty() {
            processor.datagram(octets, *utc_ns, |m| messages.push((*utc_ns, m.to_vec())));
        }
        processor.tick(*utc_ns, |m| messages.push((*utc_ns, m.to_vec())));
    }
    let cpu_s = (clock::thread_cpu_ns() - begin_ns) as f64 * 1e-9;
    let plots: usize = scene.sectors.iter().map(|sector| sector.plots.len()).sum();
    let mut said = said(&messages);
    let unattributed = attribute(scene, &mut said);
    let mut found = judge(scene, &said);
    found.unattributed = unattributed;
    if wanted != Wanted::Errors {
        found.counts = count(scene, &messages, wanted == Wanted::Astray);
    }
    found.said = said;
    (found.plots, found.plots_per_s) = (plots, plots as f64 / cpu_s);
    found
}

fn judge(scene: &Scene, all: &[Said]) -> Found {
    let mut found = Found::default();
    let flights: HashMap<u32, &crate::flights::Flight> =
        scene.flights.iter().map(|f| (f.number, f)).collect();
    let mut first: BTreeMap<u32, f64> = BTreeMap::new();
    for said in all {
        let Some((key, fed)) = said.fed.and_then(|fed| Some((fed.key()?, fed))) else { continue };
        if let Some(place) = flights.get(&key.0).and_then(|f| f.place(fed.utc_s)) {
            let state = State::new(fed.utc_s, said.position - place, said.covariance);
            found.states.insert(key, state);
            first.entry(key.0).or_insert(said.utc_s);
        }
    }
    found.initiation_turns = initiation_turns(scene, &first);
    let lives = lives(all);
    let tracks = lives.iter().filter(|life| life.owner.is_some() && life.reports.len() >= 3);
    let mut names: Vec<(Option<u32>, u16)> =
        tracks.map(|life| (life.owner, all[life.reports[0]].number)).collect();
    let per_flight = |tracks: usize| tracks as f64 / first.len().max(1) as f64;
    found.tracks_per_flight = per_flight(names.len());
    names.sort_unstable();
    names.dedup();
    found.numbers_per_flight = per_flight(names.len());
    let (mut errors, mut fed_false) = (Vec::new(), 0_u32);
    for life in &lives {
        fed_false += u32::from(life.owner.is_none());
        let Some(flight) = life.owner.and_then(|owner| flights.get(&owner)) else { continue };
        for said in life.reports.iter().map(|index| &all[*index]) {
            errors.extend(flight.place(said.utc_s).map(|at| (said.position - at).norm_squared()));
        }
    }
    found.by_owner_m = rms(errors.into_iter());
    found.fed_false_per_h = f64::from(fed_false) * 3_600.0 / SECONDS;
    found
}

/// Antenna turns from the first plot of a flight to the first report made from one, of flights that come
/// in after the beginning, when the tracker knows its surroundings.
fn initiation_turns(scene: &Scene, first: &BTreeMap<u32, f64>) -> f64 {
    let mut plotted: BTreeMap<u32, f64> = BTreeMap::new();
    for sector in &scene.sectors {
        for flight in sector.plots.iter().filter_map(|owned| owned.flight) {
            plotted.entry(flight).or_insert(sector.utc_ns as f64 * 1e-9);
        }
    }
    let waits: Vec<f64> = first
        .iter()
        .filter_map(|(flight, at_s)| {
            let since_s = plotted.get(flight)?;
            (*since_s > scene.begin_s + 60.0).then_some((at_s - since_s) / scene.period_s)
        })
        .collect();
    waits.iter().sum::<f64>() / waits.len().max(1) as f64
}
