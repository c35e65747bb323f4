//! The transmissions of several radars over one traffic, in order of time.

use super::faults::Fault;
use super::radar::{Bias, Radar};
use super::sites::Site;
use crate::asterix::{AsterixError, DataSource};
use crate::traffic::Aircraft;

/// Datagrams that one radar sends at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Index of the radar, from 0.
    pub radar: usize,
    /// Time in seconds since the beginning of the scenario.
    pub at_s: f64,
    /// Payloads of the datagrams.
    pub datagrams: Vec<Vec<u8>>,
    /// Number of plots in them.
    pub plots: u64,
}

/// Several radars over one traffic.
#[derive(Debug)]
pub struct Generator {
    aircraft: Vec<Aircraft>,
    radars: Vec<Radar>,
    start_utc_ns: i64,
    /// Indices into `aircraft` of those that may be in the air now.
    aloft: Aloft,
}

/// Aircraft that radars have to look for. Of a day's flights few are in the air at a time.
#[derive(Debug, Default)]
struct Aloft {
    indices: Vec<u32>,
    /// Number of `aircraft` that have been taken off the list.
    taken: usize,
    next_s: f64,
}

impl Aloft {
    /// More than any antenna's turn, in seconds.
    const AHEAD_S: f64 = 15.0;
    /// Interval between two renewals of the list, in seconds.
    const STEP_S: f64 = 1.0;

    /// Lists who may be in the air from `at_s` until the end of a turn that begins then.
    fn renew(&mut self, aircraft: &[Aircraft], at_s: f64) {
        if at_s < self.next_s {
            return;
        }
        self.next_s = at_s + Self::STEP_S;
        self.indices.retain(|index| aircraft[*index as usize].flies_s().1 >= at_s);
        let until_s = self.next_s + Self::AHEAD_S;
        while let Some(plane) = aircraft.get(self.taken).filter(|p| p.flies_s().0 <= until_s) {
            if plane.flies_s().1 >= at_s {
                self.indices.extend(u32::try_from(self.taken));
            }
            self.taken += 1;
        }
    }
}

impl Generator {
    /// Radars at `sites` over `aircraft`, which are in the order in which they first appear; the
    /// scenario begins at `start_utc_ns`, from which all stamps count.
    #[must_use]
    pub fn new(aircraft: Vec<Aircraft>, sites: &[Site], seed: u64, start_utc_ns: i64) -> Self {
        let radars = sites.iter().map(|site| Radar::new(*site, seed)).collect();
        Self { aircraft, radars, start_utc_ns, aloft: Aloft::default() }
    }

    /// Another probability that an aircraft in range is detected in a turn than [`DETECTION`](super::DETECTION).
    #[must_use]
    pub fn detection(mut self, probability: f64) -> Self {
        self.radars.iter_mut().for_each(|radar| radar.detection = probability);
        self
    }

    /// Gives the radar named `source` systematic errors; false when there is no such radar.
    pub fn set_bias(&mut self, source: DataSource, bias: Bias) -> bool {
        let radar = self.radars.iter_mut().find(|radar| radar.site().source == source);
        radar.map(|radar| radar.bias = bias).is_some()
    }

    /// Gives the radar named `source`, or all of them, a fault; false when there is no such radar.
    /// A radar may have several.
    pub fn add_fault(&mut self, source: Option<DataSource>, fault: Fault) -> bool {
        let meant = |radar: &&mut Radar| source.is_none_or(|one| radar.site().source == one);
        self.radars.iter_mut().filter(meant).map(|radar| radar.faults.add(fault)).count() > 0
    }

    /// Radars of the scenario.
    #[must_use]
    pub fn radars(&self) -> &[Radar] {
        &self.radars
    }

    /// Aircraft of the scenario.
    #[must_use]
    pub fn aircraft(&self) -> &[Aircraft] {
        &self.aircraft
    }

    /// The instant of a time of the scenario, in nanoseconds since the UTC epoch.
    #[must_use]
    pub fn utc_ns(&self, scenario_s: f64) -> i64 {
        utc_ns(self.start_utc_ns, scenario_s)
    }

    /// The next transmission of all radars; `None` without radars.
    ///
    /// # Errors
    /// [`AsterixError`] when a value does not fit its item, which no aircraft here can cause.
    pub fn next_transmission(&mut self) -> Option<Result<Transmission, AsterixError>> {
        let (index, radar) = self
            .radars
            .iter_mut()
            .enumerate()
            .min_by(|(_, a), (_, b)| a.next_s().total_cmp(&b.next_s()))?;
        let (at_s, before) = (radar.next_s(), radar.plots);
        let start_utc_ns = self.start_utc_ns;
        self.aloft.renew(&self.aircraft, at_s);
        let sent = radar.step(&self.aircraft, &self.aloft.indices, |scenario_s| {
            utc_ns(start_utc_ns, scenario_s)
        });
        let plots = radar.plots - before;
        Some(sent.map(|datagrams| Transmission { radar: index, at_s, datagrams, plots }))
    }
}

fn utc_ns(start_utc_ns: i64, scenario_s: f64) -> i64 {
    #[allow(clippy::cast_possible_truncation, reason = "saturates after 292 years")]
    let since_start_ns = (scenario_s * 1e9) as i64;
    start_utc_ns.saturating_add(since_start_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat034::MessageType;
    use crate::asterix::{Record, cat048::Plot, decode_block};
    use crate::generator::{AZIMUTH_NOISE_DEG, DETECTION, RANGE_NOISE_M, SECTORS, sites};
    use crate::geodesy::{LocalFrame, METRES_PER_NM};
    use crate::traffic::circles;
    use std::collections::HashMap;

    /// Noon of some day, so that stamps are far from midnight.
    const START_NS: i64 = 20_000 * 86_400_000_000_000 + 43_200_000_000_000;

    fn run(radars: usize, seed: u64, until_s: f64) -> Vec<(f64, usize, Record)> {
        let aircraft = circles::compose(6, 20);
        let mut generator = Generator::new(aircraft, &sites::SITES[..radars], seed, START_NS);
        let mut records = Vec::new();
        loop {
            let transmission = generator.next_transmission().unwrap().unwrap();
            if transmission.at_s > until_s {
                return records;
            }
            let mut plots = 0;
            for datagram in &transmission.datagrams {
                assert!(datagram.len() <= 1400);
                for record in decode_block(datagram) {
                    let record = record.unwrap();
                    plots += u64::from(matches!(record, Record::Plot(_)));
                    records.push((transmission.at_s, transmission.radar, record));
                }
            }
            assert_eq!(plots, transmission.plots);
        }
    }

    fn plots(records: &[(f64, usize, Record)]) -> impl Iterator<Item = (f64, usize, &Plot)> {
        records.iter().filter_map(|(at, radar, record)| match record {
            Record::Plot(plot) => Some((*at, *radar, plot)),
            _ => None,
        })
    }

    #[test]
    fn one_seed_one_output() {
        assert_eq!(run(3, 5, 30.0), run(3, 5, 30.0));
        assert_ne!(run(3, 5, 30.0), run(3, 6, 30.0));
        // A radar sends the same whoever else is there.
        let alone: Vec<_> = run(1, 5, 30.0);
        let among: Vec<_> = run(3, 5, 30.0).into_iter().filter(|(_, r, _)| *r == 0).collect();
        assert_eq!(alone, among);
    }

    #[test]
    fn every_aircraft_is_plotted_about_once_a_turn() {
        let records = run(1, 1, 8.0 * 41.0);
        let mut by_address: HashMap<u32, u32> = HashMap::new();
        for (_, _, plot) in plots(&records) {
            *by_address.entry(plot.aircraft_address.unwrap()).or_default() += 1;
        }
        let frame = LocalFrame::new(sites::SITES[0].position);
        let (mut inside, mut seen) = (0, 0);
        for plane in circles::compose(6, 20) {
            let far = |s: f64| frame.to_polar(plane.at(s).unwrap().position).range_m;
            let reach = (0..320).map(|s| far(f64::from(s))).fold(0.0, f64::max);
            if reach < 150.0 * METRES_PER_NM {
                inside += 1;
                seen += by_address.get(&plane.address).copied().unwrap_or(0);
            }
        }
        assert!(inside > 20, "{inside} aircraft are inside the range all the time");
        // 41 whole turns at 0.97, four standard errors of about 0.17/√(41 · inside).
        let rate = f64::from(seen) / f64::from(inside) / 41.0;
        assert!((rate - DETECTION).abs() < 0.04, "{rate}");
    }

    /// What a plot says is where its aircraft was at the plot's time, within the noise.
    #[test]
    fn plots_are_true_within_their_noise() {
        let aircraft = circles::compose(6, 20);
        let by_address: HashMap<u32, _> = aircraft.iter().map(|a| (a.address, a)).collect();
        let records = run(4, 3, 60.0);
        let (mut ranges, mut azimuths) = (Vec::new(), Vec::new());
        for (sent_s, radar, plot) in plots(&records) {
            let stamp_ns = plot.time_of_day.unwrap().to_utc_ns(START_NS);
            let at_s = (stamp_ns - START_NS) as f64 / 1e9;
            let sector_s = sites::SITES[radar].period_s / f64::from(SECTORS);
            // Stamps are cut to 1/128 s.
            assert!((0.0..=sector_s + 0.008).contains(&(sent_s - at_s)), "{sent_s} {at_s}");
            let truth = by_address[&plot.aircraft_address.unwrap()].at(at_s).unwrap();
            let polar = LocalFrame::new(sites::SITES[radar].position).to_polar(truth.position);
            let position = plot.position.unwrap();
            ranges.push(position.range_nm * METRES_PER_NM - polar.range_m);
            let turn = position.azimuth_deg - polar.azimuth_rad.to_degrees();
            azimuths.push((turn + 180.0).rem_euclid(360.0) - 180.0);
        }
        let rms = |all: &[f64]| (all.iter().map(|e| e * e).sum::<f64>() / all.len() as f64).sqrt();
        assert!(ranges.len() > 1000);
        assert!((rms(&ranges) - RANGE_NOISE_M).abs() < 8.0, "{}", rms(&ranges));
        assert!((rms(&azimuths) - AZIMUTH_NOISE_DEG).abs() < 0.01, "{}", rms(&azimuths));
    }

    #[test]
    fn north_and_sectors_come_in_order() {
        let records = run(1, 9, 20.0);
        let services: Vec<_> = records
            .iter()
            .filter_map(|(at, _, record)| match record {
                Record::Service(message) => Some((*at, message)),
                _ => None,
            })
            .collect();
        let norths: Vec<_> =
            services.iter().filter(|(_, m)| m.kind == Some(MessageType::NorthMarker)).collect();
        assert_eq!(norths.len(), 2 + usize::from(norths[0].0 < 4.0));
        assert!((norths[1].0 - norths[0].0 - 8.0).abs() < 1e-9);
        assert_eq!(norths[0].1.antenna_period_s, Some(8.0));
        let site = sites::SITES[0].position;
        assert!((norths[0].1.position.unwrap().lat_deg - site.lat_deg).abs() < 1e-4);
        let sectors: Vec<f64> = services.iter().filter_map(|(_, m)| m.sector_deg).collect();
        for pair in sectors.windows(2) {
            assert_eq!((pair[1] - pair[0]).rem_euclid(360.0), 11.25);
        }
    }
}
