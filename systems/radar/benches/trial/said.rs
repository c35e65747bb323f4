//! Reports of our tracker, decoded.

use crate::score::{Key, key};
use crate::sensor::Scene;
use chronoscope_radar::asterix::{Record, decode_block};
use chronoscope_radar::tracker::linear::{Sym2, Vec2};

/// A plot as the tracker got it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fed {
    /// The flight; `None` for clutter.
    pub(crate) flight: Option<u32>,
    pub(crate) utc_s: f64,
    pub(crate) position: Vec2,
}

impl Fed {
    /// The plot's name, if it is of a flight.
    pub(crate) fn key(&self) -> Option<Key> {
        self.flight.map(|flight| key(flight, self.utc_s))
    }
}

/// A report of the tracker about one track.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) utc_s: f64,
    /// When it was sent.
    pub(crate) sent_ns: i64,
    pub(crate) number: u16,
    pub(crate) position: Vec2,
    pub(crate) covariance: Sym2,
    pub(crate) coasting: bool,
    /// The plot that it was made from.
    pub(crate) fed: Option<Fed>,
}

/// The reports in messages of category 062, each with the time when it was sent.
pub(crate) fn said(messages: &[(i64, Vec<u8>)]) -> Vec<Said> {
    let mut all = Vec::new();
    for (at_ns, message) in messages {
        for record in decode_block(message) {
            let Ok(Record::Track(track)) = record else { panic!("not a track") };
            let accuracy = track.accuracy.unwrap_or_default();
            let (sx, sy) = accuracy.cartesian_m.unwrap_or((1.0, 1.0));
            let xy = accuracy.covariance_m.map_or(0.0, |c| c * c.abs());
            let at = track.cartesian.expect("our tracker sends I062/100");
            let time = track.time_of_day.expect("our tracker sends I062/070");
            all.push(Said {
                utc_s: time.to_utc_ns(*at_ns) as f64 * 1e-9,
                sent_ns: *at_ns,
                number: track.track_number.expect("our tracker sends I062/040"),
                position: Vec2::new(at.x_m, at.y_m),
                covariance: Sym2 { xx: sx * sx, xy, yy: sy * sy },
                coasting: track.status.is_some_and(|s| s.coasting || s.ends),
                fed: None,
            });
        }
    }
    all
}

/// The nearest flight to a report, and by how much it is off it.
pub(crate) fn nearest(scene: &Scene, said: &Said) -> Option<(u32, Vec2)> {
    let off = |f: &crate::flights::Flight| Some((f.number, said.position - f.place(said.utc_s)?));
    let all = scene.flights.iter().filter_map(off);
    all.min_by(|a, b| a.1.norm_squared().total_cmp(&b.1.norm_squared()))
}
