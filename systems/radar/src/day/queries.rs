//! Queries of a day's clients: composed, at the published rate, in the message server's
//! [language](crate::messages::query).
//!
//! The mix is composed: 60 % query one flight, 18 % an aerodrome's flights of two hours, 16 % the
//! present tracks of an area, 4 % the entries into an area within two hours, 2 % the hourly load of
//! an area. Queried flights are about to fly or in the air, except one in twenty, which does not
//! exist.

use crate::generator::Noise;
use crate::traffic::{Aircraft, live::PLACES, plans::AERODROMES};
use std::fmt::Write as _;

/// Composer of queries.
#[derive(Debug)]
pub struct Asker<'a> {
    aircraft: &'a [Aircraft],
    start_utc_ns: i64,
    seed: u64,
    line: String,
}

impl<'a> Asker<'a> {
    /// Asks about `aircraft`, which are in the order in which they appear; the day begins at
    /// `start_utc_ns`.
    #[must_use]
    pub fn new(aircraft: &'a [Aircraft], start_utc_ns: i64, seed: u64) -> Self {
        Self { aircraft, start_utc_ns, seed, line: String::new() }
    }

    /// One query at `at_s` of the day, with its line's end.
    pub(crate) fn ask(&mut self, at_s: f64, noise: &mut Noise) -> &str {
        self.line.clear();
        let kind = noise.uniform();
        // Writing into a string cannot fail.
        let _ = if kind < 0.60 {
            self.flight(at_s, noise)
        } else if kind < 0.78 {
            self.list(at_s, noise)
        } else if kind < 0.94 {
            self.tracks(noise)
        } else if kind < 0.98 {
            self.entering(at_s, noise)
        } else {
            self.load(at_s, noise)
        };
        self.line.push('\n');
        &self.line
    }

    fn flight(&mut self, at_s: f64, noise: &mut Noise) -> std::fmt::Result {
        /// Time before a flight appears and after it ends in which it is queried, in seconds.
        const AROUND_S: f64 = 1800.0;
        let after = |s: f64| self.aircraft.partition_point(|plane| plane.flies_s().0 < s);
        let (first, end) = (after(at_s - AROUND_S), after(at_s + AROUND_S));
        let plane = self.aircraft.get(first + below(noise, end.saturating_sub(first)));
        match plane.filter(|_| noise.uniform() >= 0.05) {
            None => {
                write!(self.line, "flight XX{}", 1000 + self.seed % 1000 + u64::from(first > 0))
            }
            Some(plane) if noise.uniform() < 0.15 => {
                write!(self.line, "flight @{:06x}", plane.address)
            }
            Some(plane) => write!(self.line, "flight {}", plane.callsign),
        }
    }

    fn list(&mut self, at_s: f64, noise: &mut Noise) -> std::fmt::Result {
        let way = if noise.uniform() < 0.5 { "from" } else { "to" };
        let aerodrome = AERODROMES[below(noise, AERODROMES.len())];
        let (from, to) = (self.clock(at_s - 3600.0), self.clock(at_s + 3600.0));
        write!(self.line, "list {way} {aerodrome} between {from} and {to} limit 10")
    }

    fn tracks(&mut self, noise: &mut Noise) -> std::fmt::Result {
        if noise.uniform() < 0.5 {
            let (lat_deg, lon_deg) = PLACES[below(noise, PLACES.len())];
            let nm = 20 + below(noise, 40);
            return write!(self.line, "tracks near {lat_deg:.1},{lon_deg:.1} {nm} limit 10");
        }
        self.line.push_str("tracks ");
        self.area(noise)?;
        self.line.push_str(" limit 10");
        Ok(())
    }

    fn entering(&mut self, at_s: f64, noise: &mut Noise) -> std::fmt::Result {
        self.line.push_str("entering ");
        self.area(noise)?;
        let (from, to) = (self.clock(at_s - 7200.0), self.clock(at_s));
        write!(self.line, " between {from} and {to} limit 10")
    }

    fn load(&mut self, at_s: f64, noise: &mut Noise) -> std::fmt::Result {
        self.line.push_str("load ");
        self.area(noise)?;
        let to = self.clock(at_s);
        write!(self.line, " between {} and {to}", self.clock(at_s - 14_400.0))
    }

    /// About one of the places of the traffic, with levels in half of the cases.
    fn area(&mut self, noise: &mut Noise) -> std::fmt::Result {
        let (lat, lon) = PLACES[below(noise, PLACES.len())];
        let (high, wide) = (0.3 + noise.uniform(), 0.5 + 1.5 * noise.uniform());
        let (south, west, north, east) = (lat - high, lon - wide, lat + high, lon + wide);
        write!(self.line, "in {south:.2},{west:.2},{north:.2},{east:.2}")?;
        if noise.uniform() < 0.5 {
            let from = 300 + 10 * below(noise, 6);
            write!(self.line, " levels {from}-{}", from + 40)?;
        }
        Ok(())
    }

    /// A time of day as people write it; before the day's beginning 00:00, after its end 24:00.
    fn clock(&self, at_s: f64) -> String {
        let begin_s = self.start_utc_ns.rem_euclid(86_400_000_000_000) as f64 / 1e9;
        let of_day_s = (begin_s + at_s).clamp(0.0, 86_400.0);
        let minutes = (of_day_s / 60.0).floor();
        format!("{:02}:{:02}", (minutes / 60.0).floor(), minutes % 60.0)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in [0, count)")]
fn below(noise: &mut Noise, count: usize) -> usize {
    ((noise.uniform() * count as f64) as usize).min(count.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::query::{Query, QueryKind};
    use crate::traffic::{day, made};

    #[test]
    fn every_query_is_one_that_the_message_server_reads() {
        let aircraft = day::compose(&made::flights(40, 1), 500, 86_400.0, 1);
        let mut asker = Asker::new(&aircraft, crate::day::Settings::PEAK.start_utc_ns, 1);
        let mut kinds = [0; 5];
        for number in 0..4000_u32 {
            let mut noise = Noise::keyed([1, number.into(), 0, 0]);
            let line = asker.ask(f64::from(number) * 21.6, &mut noise).to_owned();
            let query = Query::parse(line.trim_end()).unwrap_or_else(|e| panic!("{line}: {e}"));
            kinds[match query.kind {
                QueryKind::Flight(_) => 0,
                QueryKind::List(_) => 1,
                QueryKind::Tracks(_) => 2,
                QueryKind::Entering(..) => 3,
                QueryKind::Load(..) => 4,
            }] += 1;
        }
        for (count, share) in kinds.iter().zip([0.60, 0.18, 0.16, 0.04, 0.02]) {
            let wanted = 4000.0 * share;
            assert!((f64::from(*count) - wanted).abs() < 4.0 * f64::sqrt(wanted), "{kinds:?}");
        }
    }
}
