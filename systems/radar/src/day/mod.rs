//! A whole day of input for the chain, written to captures instead of sent, for a replay.
//!
//! The volume is that of the peak day of a European flow management system as published
//! (Waroquiers, FOSDEM 2020): [`Settings::PEAK`]. Positions are plots of several radars, as
//! datagrams of ASTERIX categories 048 and 034; queries are lines that clients of the message
//! server send over TCP. Both are captures with arrival times. The flights and queries of that day
//! were never published: they are composed here from a seed, and marked as composed; see
//! [`traffic::day`](crate::traffic::day) and [`queries`].
//!
//! Nothing here reads a clock. Memory is that of the flights, not of the day.

pub mod queries;

use crate::asterix::AsterixError;
use crate::generator::{DETECTION, Generator, Noise, Radar, sites::SITES};
use crate::traffic::{Aircraft, day, flights::Flight};
use chronoscope_replay::capture::{CaptureWriter, ConnectionWriter};
use queries::Asker;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

/// Destination address of plots and queries in the captures: the host of the recorded system.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// UDP port of the plots in the capture.
pub const PLOTS_PORT: u16 = 8600;
/// TCP port of the queries in the capture.
pub const QUERIES_PORT: u16 = 8602;

/// Size of a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Flights, at most [`day::FLIGHTS_MAX`].
    pub flights: u32,
    /// Plots of all radars together.
    pub positions: u64,
    /// Queries of all clients together.
    pub queries: u64,
    /// Clients that ask, each over one connection that lasts the whole day; in `[1, 1000]`.
    pub clients: u16,
    /// Length of the day, in seconds.
    pub length_s: f64,
    /// Begin of the day, in ns since the UTC epoch.
    pub start_utc_ns: i64,
    /// Seed of the random numbers; the same seed gives the same day, octet for octet.
    pub seed: u64,
}

impl Settings {
    /// The published peak day.
    pub const PEAK: Self = Self {
        flights: 37_000,
        positions: 11_600_000,
        queries: 3_300_000,
        clients: 60,
        length_s: 86_400.0,
        start_utc_ns: 1_782_864_000_000_000_000, // 2026-07-01, a Wednesday
        seed: 1,
    };
}

/// Reasons why a day cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DayError {
    /// All radars together do not see so much.
    #[error(
        "{wanted} positions of {flights} flights: all {radars} radars together see at most {most}; \
         ask for fewer positions, or more flights"
    )]
    Positions {
        /// Requested number of positions.
        wanted: u64,
        /// Flights that there are.
        flights: usize,
        /// Radars that there are.
        radars: usize,
        /// Largest number of positions that the radars can see.
        most: u64,
    },
    /// An aircraft does not fit into a plot.
    #[error(transparent)]
    Asterix(#[from] AsterixError),
    /// A file cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// Flights of a day, and the radars that see them.
#[derive(Debug)]
pub struct Day {
    settings: Settings,
    aircraft: Vec<Aircraft>,
    radars: usize,
    detection: f64,
}

/// Contents of one written capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Written {
    /// Positions, or queries.
    pub count: u64,
    /// Datagrams, or segments with a query each.
    pub packets: u64,
    /// Octets of their payloads.
    pub payload_octets: u64,
}

impl Day {
    /// Composes a day of `recorded` flights.
    ///
    /// As many radars turn as are needed to see all positions, and every aircraft in range is
    /// detected with the probability that gives just as many.
    ///
    /// # Errors
    /// [`DayError::Positions`] when there are not enough radars.
    pub fn compose(recorded: &[Flight], settings: Settings) -> Result<Self, DayError> {
        let Settings { flights, length_s, seed, .. } = settings;
        let aircraft = day::compose(recorded, flights, length_s, seed);
        let turns = turns_in_sight(&aircraft, length_s, seed);
        let mut radars = 0;
        let mut opportunities = 0.0;
        while opportunities * DETECTION < settings.positions as f64 {
            let Some(turns) = turns.get(radars) else {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count
                let most = (opportunities * DETECTION) as u64;
                let (wanted, flights) = (settings.positions, aircraft.len());
                return Err(DayError::Positions { wanted, flights, radars, most });
            };
            opportunities += turns;
            radars += 1;
        }
        let detection = settings.positions as f64 / f64::max(opportunities, 1.0);
        Ok(Self { settings, aircraft, radars, detection })
    }

    /// Everybody who flies, in the order in which they appear.
    #[must_use]
    pub fn aircraft(&self) -> &[Aircraft] {
        &self.aircraft
    }

    /// Number of radars.
    #[must_use]
    pub fn radar_count(&self) -> usize {
        self.radars
    }

    /// Probability that an aircraft in range is detected in a turn.
    #[must_use]
    pub fn detection(&self) -> f64 {
        self.detection
    }

    /// Writes the capture of the plots; `progress` gets the second of the day now and then.
    ///
    /// # Errors
    /// [`DayError`] when the file cannot be written.
    pub fn write_plots(
        &self,
        out: impl Write,
        mut progress: impl FnMut(f64),
    ) -> Result<Written, DayError> {
        let Settings { seed, start_utc_ns, length_s, .. } = self.settings;
        let mut capture = CaptureWriter::new(out)?;
        let sites = &SITES[..self.radars];
        let mut generator = Generator::new(self.aircraft.clone(), sites, seed, start_utc_ns)
            .detection(self.detection);
        let mut written = Written::default();
        while let Some(transmission) = generator.next_transmission() {
            let transmission = transmission?;
            if transmission.at_s >= length_s {
                break;
            }
            let at_ns = generator.utc_ns(transmission.at_s).cast_unsigned();
            let radar = u8::try_from(transmission.radar + 1).unwrap_or(u8::MAX);
            let from = SocketAddrV4::new(Ipv4Addr::new(10, 0, 1, radar), PLOTS_PORT);
            for datagram in &transmission.datagrams {
                capture.datagram(at_ns, from, SocketAddrV4::new(SERVER, PLOTS_PORT), datagram)?;
                written.packets += 1;
                written.payload_octets += datagram.len() as u64;
            }
            written.count += transmission.plots;
            progress(transmission.at_s);
        }
        capture.finish()?;
        Ok(written)
    }

    /// Writes the capture of the queries; `progress` gets the second of the day now and then.
    ///
    /// # Errors
    /// [`DayError`] when the file cannot be written.
    pub fn write_queries(
        &self,
        out: impl Write,
        mut progress: impl FnMut(f64),
    ) -> Result<Written, DayError> {
        let Settings { queries, clients, length_s, start_utc_ns, seed, .. } = self.settings;
        let at_ns = |at_s: f64| {
            #[allow(clippy::cast_possible_truncation)] // seconds of a day
            let since_ns = (at_s * 1e9) as i64;
            (start_utc_ns + since_ns).cast_unsigned()
        };
        // Clients have an address each, and the same port.
        let ends = |client: u16| {
            let [high, low] = (client + 1).to_be_bytes();
            let from = SocketAddrV4::new(Ipv4Addr::new(10, 2, high, low), 40_000);
            (from, SocketAddrV4::new(SERVER, QUERIES_PORT))
        };
        let mut streams = ConnectionWriter::new(CaptureWriter::new(out)?);
        for (from, to) in (0..clients.max(1)).map(ends) {
            streams.open(at_ns(0.0), from, to)?;
        }
        let profile = day::Profile::new(day::Profile::QUERIES, length_s);
        let mut asker = Asker::new(&self.aircraft, start_utc_ns, seed);
        let mut written = Written::default();
        for number in 0..queries {
            let mut noise = Noise::keyed([seed, number, 0x0061_736b, 0]);
            // One in each of as many equal shares of the load, which puts them in order of time.
            let at_s = profile.at_s((number as f64 + noise.uniform()) / queries as f64);
            let line = asker.ask(at_s, &mut noise);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below `clients`
            let client = (noise.uniform() * f64::from(clients.max(1))) as u16;
            let (from, to) = ends(client);
            streams.send(at_ns(at_s), from, to, line.as_bytes())?;
            written.count += 1;
            written.packets += 1;
            written.payload_octets += line.len() as u64;
            progress(at_s);
        }
        for (from, to) in (0..clients.max(1)).map(ends) {
            streams.close(at_ns(length_s), from, to)?;
        }
        streams.finish()?;
        Ok(written)
    }
}

/// Number of antenna turns of each radar that pass an aircraft in sight, all aircraft together;
/// estimated from samples in time.
fn turns_in_sight(aircraft: &[Aircraft], length_s: f64, seed: u64) -> Vec<f64> {
    /// Between two looks at one aircraft, at most, in seconds.
    const LOOK_S: f64 = 45.0;
    let radars: Vec<Radar> = SITES.iter().map(|site| Radar::new(*site, seed)).collect();
    let mut turns = vec![0.0; radars.len()];
    let look_s = f64::min(LOOK_S, length_s / 20.0);
    for plane in aircraft {
        let (from_s, to_s) = plane.flies_s();
        // Looking at random times instead of at every flight's beginning: no bias at the ends.
        let noise = Noise::keyed([seed, plane.address.into(), 0x6c6f_6f6b, 0]).uniform();
        let mut at_s = from_s.max(0.0) - look_s * noise;
        while at_s < to_s.min(length_s) {
            at_s += look_s;
            if at_s >= to_s.min(length_s) {
                break;
            }
            let Some(state) = plane.at(at_s) else { continue };
            for (radar, turns) in radars.iter().zip(&mut turns) {
                *turns += f64::from(u8::from(radar.sees(&state))) * look_s / radar.site().period_s;
            }
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::{Record, decode_block};
    use crate::traffic::made;
    use chronoscope_replay::capture::{ArrivalContent, Arrivals, CaptureReader};
    use std::collections::HashSet;

    const SMALL: Settings = Settings {
        flights: 250,
        positions: 20_000,
        queries: 3_000,
        clients: 7,
        length_s: 1200.0,
        ..Settings::PEAK
    };

    fn arrivals(capture: &[u8]) -> Vec<chronoscope_replay::capture::Arrival> {
        Arrivals::new(CaptureReader::new(capture).unwrap()).map(Result::unwrap).collect()
    }

    #[test]
    fn as_many_positions_as_asked_for_at_the_times_they_say() {
        let day = Day::compose(&made::flights(60, 1), SMALL).unwrap();
        let mut capture = Vec::new();
        let written = day.write_plots(&mut capture, |_| {}).unwrap();
        let share = written.count as f64 / 20_000.0;
        assert!((share - 1.0).abs() < 0.02, "{} of 20000", written.count);
        let (mut plots, mut addresses) = (0, HashSet::new());
        let mut last_ns = SMALL.start_utc_ns;
        for arrival in arrivals(&capture) {
            assert!(arrival.at_ns >= last_ns, "in order");
            last_ns = arrival.at_ns;
            let ArrivalContent::Datagram(octets) = arrival.what else { panic!("only datagrams") };
            for record in decode_block(&octets) {
                let Record::Plot(plot) = record.unwrap() else { continue };
                let seen_ns = plot.time_of_day.unwrap().to_utc_ns(last_ns);
                assert!((0..1_000_000_000).contains(&(last_ns - seen_ns)));
                addresses.insert(plot.aircraft_address.unwrap());
                plots += 1;
            }
        }
        assert_eq!(plots, written.count);
        assert!(last_ns < SMALL.start_utc_ns + 1_200_000_000_000);
        assert!((225..=250).contains(&addresses.len()), "{} of 250 flights", addresses.len());
        let again = Day::compose(&made::flights(60, 1), SMALL).unwrap();
        let mut same = Vec::new();
        again.write_plots(&mut same, |_| {}).unwrap();
        assert_eq!(capture, same, "one seed, one day");
    }

    #[test]
    fn queries_are_lines_of_streams_that_end() {
        let day = Day::compose(&made::flights(60, 1), SMALL).unwrap();
        let mut capture = Vec::new();
        let written = day.write_queries(&mut capture, |_| {}).unwrap();
        assert_eq!((written.count, written.packets), (3000, 3000));
        let (mut opened, mut ended, mut lines) = (0, 0, 0);
        for arrival in arrivals(&capture) {
            match arrival.what {
                ArrivalContent::Opened => opened += 1,
                ArrivalContent::Ended => ended += 1,
                ArrivalContent::Octets(octets) => {
                    assert_eq!(octets.iter().filter(|octet| **octet == b'\n').count(), 1);
                    lines += 1;
                }
                ArrivalContent::Datagram(_) => panic!("only streams"),
            }
        }
        assert_eq!((opened, ended, lines), (7, 7, 3000));
    }

    #[test]
    fn too_many_positions_are_refused_with_what_there_would_be() {
        let settings = Settings { positions: 1_000_000, ..SMALL };
        let error = Day::compose(&made::flights(60, 1), settings).unwrap_err();
        let DayError::Positions { wanted, radars, most, .. } = error else { panic!("{error}") };
        assert_eq!((wanted, radars), (1_000_000, 14));
        assert!((20_000..1_000_000).contains(&most), "{most}");
    }
}
