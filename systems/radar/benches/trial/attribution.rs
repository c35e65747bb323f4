//! Which plot each report of our tracker was made from: the trial knows of which flight that is.
//!
//! A report carries the stamp of its plot. Of the plots of one datagram with that stamp, which are seldom
//! more than one, it is that whose own position is the nearest; where the flights are does not count, so
//! that a report that is far off its flight is one with a large error.

use crate::said::{Fed, Said};
use crate::sensor::{SOURCE, Scene, corrected};
use chronoscope_radar::tracker::{Precision, Radars};
use std::collections::BTreeMap;

/// The plots of each datagram.
fn plots(scene: &Scene) -> Vec<Vec<Fed>> {
    let mut radars = Radars::new(scene.origin(), Precision::default()).without_registration();
    radars.place(SOURCE, scene.site).expect("one radar");
    let mut all = Vec::new();
    for sector in &scene.sectors {
        let fed = sector.plots.iter().filter_map(|owned| {
            let m = radars.convert(&corrected(&owned.plot, sector.utc_ns), sector.utc_ns).ok()?;
            Some(Fed { flight: owned.flight, utc_s: m.time_s, position: m.position })
        });
        all.push(fed.collect());
    }
    all
}

/// Sets the plot of each report that was made from one; gives how many have none.
pub(crate) fn attribute(scene: &Scene, said: &mut [Said]) -> usize {
    let plots = plots(scene);
    let sectors: BTreeMap<i64, usize> =
        scene.sectors.iter().enumerate().map(|(index, sector)| (sector.utc_ns, index)).collect();
    let mut without = 0;
    for said in said.iter_mut().filter(|said| !said.coasting) {
        let fed = sectors.get(&said.sent_ns).map_or(&[][..], |index| &plots[*index]);
        // A stamp may come back cut to the tick before.
        let same = fed.iter().filter(|fed| (fed.utc_s - said.utc_s).abs() < 1.5 / 128.0);
        let off = |fed: &Fed| (fed.position - said.position).norm_squared();
        said.fed = same.min_by(|a, b| off(a).total_cmp(&off(b))).copied();
        without += usize::from(said.fed.is_none());
    }
    without
}

/// A number that is used again after this time is another track's, s.
const GONE_S: f64 = 60.0;

/// A track, from its first report to its last.
#[derive(Debug)]
pub(crate) struct Life {
    /// Indexes of the reports made from plots.
    pub(crate) reports: Vec<usize>,
    /// The flight of most of the plots, if most are of flights.
    pub(crate) owner: Option<u32>,
}

/// All tracks.
pub(crate) fn lives(said: &[Said]) -> Vec<Life> {
    let mut by_number: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (index, report) in said.iter().enumerate().filter(|(_, report)| report.fed.is_some()) {
        by_number.entry(report.number).or_default().push(index);
    }
    let mut lives = Vec::new();
    for reports in by_number.into_values() {
        for part in reports.chunk_by(|a, b| said[*b].utc_s - said[*a].utc_s <= GONE_S) {
            let mut counts: BTreeMap<Option<u32>, usize> = BTreeMap::new();
            for index in part {
                *counts.entry(said[*index].fed.and_then(|fed| fed.flight)).or_default() += 1;
            }
            let owner = counts.into_iter().max_by_key(|(_, count)| *count).and_then(|of| of.0);
            lives.push(Life { reports: part.to_vec(), owner });
        }
    }
    lives
}
