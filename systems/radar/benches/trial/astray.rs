//! What went wrong, in lines for who looks for the cause: false tracks, swaps, one flight.

use crate::said::{Said, nearest};
use crate::sensor::{Scene, corrected, kind_of};
use chronoscope_radar::tracker::linear::Vec2;
use std::collections::BTreeMap;

/// Prints a track that counts as false.
pub(crate) fn astray(scene: &Scene, all: &[Said], number: u16) {
    let reports: Vec<&Said> = all.iter().filter(|said| said.number == number).collect();
    let (Some(first), Some(last)) = (reports.first(), reports.last()) else { return };
    let site = scene.plane.project(scene.site);
    let offset = first.position - Vec2::new(site.x_m, site.y_m);
    let coasting = reports.iter().filter(|said| said.coasting).count();
    let off_km = |said: &Said| nearest(scene, said).map_or(f64::INFINITY, |n| n.1.norm() / 1_000.0);
    println!(
        "  track {number}: from {:.0} s for {:.0} s, {} reports ({coasting} coasting); at {:.1} km, \
         {:.0}°; first {:.1} km off flight {:?} ({}), last {:.1} km off",
        first.utc_s - scene.begin_s,
        last.utc_s - first.utc_s,
        reports.len(),
        offset.norm() / 1_000.0,
        offset.x.atan2(offset.y).to_degrees(),
        off_km(first),
        nearest(scene, first).map(|n| n.0),
        nearest(scene, first).map_or("", |n| kind_of(n.0)),
        off_km(last),
    );
    let step = reports.len().div_ceil(12);
    for said in reports.iter().step_by(step) {
        let (at_s, near) = (said.utc_s - scene.begin_s, nearest(scene, said).map(|n| n.0));
        let sigma_m = said.covariance.trace().sqrt();
        println!("    {at_s:.0} s: {:.1} km off {near:?}, {sigma_m:.0} m", off_km(said));
    }
}

/// Prints the plots of a flight, and the reports near it, in order of time.
pub(crate) fn follow(scene: &Scene, all: &[Said], number: u32) {
    let Some(flight) = scene.flights.iter().find(|flight| flight.number == number) else { return };
    let site = scene.plane.project(scene.site);
    let mut lines: Vec<(f64, String)> = Vec::new();
    for sector in &scene.sectors {
        for plot in sector.plots.iter().filter(|owned| owned.flight == Some(number)) {
            let plot = corrected(&plot.plot, sector.utc_ns);
            let time = plot.time_of_day.map_or(sector.utc_ns, |t| t.to_utc_ns(sector.utc_ns));
            let at_s = time as f64 * 1e-9;
            let at = plot.position.unwrap_or_default();
            let level = plot.flight_level.map(|level| level.level);
            let code = plot.mode_a.map(|code| code.code);
            let Some((velocity, _)) = flight.motion(at_s) else { continue };
            let Some(place) = flight.place(at_s) else { continue };
            let far = (place - Vec2::new(site.x_m, site.y_m)).norm() / 1_000.0;
            lines.push((
                at_s,
                format!(
                    "plot at {:.2} NM {:.2}°, level {level:?}, code {code:?}, address {:?}; true \
                     {:.0} {:.0}, velocity {:.0} {:.0}, {far:.1} km from the radar",
                    at.range_nm,
                    at.azimuth_deg,
                    plot.aircraft_address,
                    place.x,
                    place.y,
                    velocity.x,
                    velocity.y
                ),
            ));
        }
    }
    for said in all {
        let Some(place) = flight.place(said.utc_s) else { continue };
        let off = said.position - place;
        if off.norm() < 8_000.0 {
            let near = nearest(scene, said).map(|near| near.0);
            let sigma_m = said.covariance.trace().sqrt();
            let coasting = if said.coasting { ", coasting" } else { "" };
            lines.push((
                said.utc_s,
                format!(
                    "  track {}: off {:.0} {:.0}, sigma {sigma_m:.0}, nearest {near:?}{coasting}",
                    said.number, off.x, off.y
                ),
            ));
        }
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("  flight {number}: {}", kind_of(number));
    for (at_s, line) in lines {
        println!("    {:.1} s {line}", at_s - scene.begin_s);
    }
}

/// Reports in a row nearest to another flight that tell that a track is of that now.
const OTHER: usize = 4;

/// Prints the tracks that were of one flight and then of another.
pub(crate) fn swapped(scene: &Scene, all: &[Said]) {
    let mut tracks: BTreeMap<u16, Vec<(f64, u32, f64)>> = BTreeMap::new();
    for said in all.iter().filter(|said| !said.coasting) {
        if let Some((flight, off)) = nearest(scene, said) {
            let at_s = said.utc_s - scene.begin_s;
            tracks.entry(said.number).or_default().push((at_s, flight, off.norm()));
        }
    }
    for (number, reports) in tracks {
        let mut of = None;
        for run in reports.chunk_by(|a, b| a.1 == b.1).filter(|run| run.len() >= OTHER) {
            let (first, last) = (run[0], run[run.len() - 1]);
            if of.is_some_and(|of| of != first.1) {
                println!(
                    "  track {number}: of flight {of:?}, from {:.0} s for {:.0} s of {} ({}), {} \
                     reports, at first {:.0} m off, at last {:.0} m",
                    first.0,
                    last.0 - first.0,
                    first.1,
                    kind_of(first.1),
                    run.len(),
                    first.2,
                    last.2
                );
            }
            of = Some(first.1);
        }
    }
}
