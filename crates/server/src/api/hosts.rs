//! `GET /hosts`: load and response times of hosts, as `chronoscope net` keeps them in the store.

use super::Api;
use super::error::{ApiError, ErrorBody};
use super::parameters::{PlainParameters, QuestionName};
use super::stored::TimeRange;
use axum::Json;
use axum::extract::State;
use chronoscope_model::{ClassName, Excerpt};
use chronoscope_net::activity::Activity;
use chronoscope_net::rows::{
    APPLICATION, Outcome, PREDICTION, Prediction, ROUND_TRIP, RoundTrip, SCAN_HOST, ScanRow,
};
use chronoscope_net::table::{HostRow, Measure};
use chronoscope_query::StoreLocation;
use chronoscope_statistics::{Quantile, nearest_rank};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
use utoipa::ToSchema;

/// Points of a series; neighbours are merged where there are more.
const POINTS_MAX: usize = 500;
/// Tolerated distance of a quantile from its band, as a share of the prediction. The same as in
/// `chronoscope net watch`.
const TOLERANCE: f64 = 0.05;
/// Hosts, and pairs of hosts, with a series; further ones are counted in `note`.
const SERIES_MAX: usize = 500;

/// Load and response times of hosts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Hosts {
    /// The tables of `chronoscope net table`.
    tables: Vec<Table>,
    /// Total load of each host's interfaces over time.
    loads: Vec<Load>,
    round_trips: Vec<RoundTrips>,
    /// Round trips by pair of hosts, beside the last prediction of this time by `chronoscope net
    /// watch` or `chronoscope net predict --keep`.
    paths: Vec<PathRow>,
    /// Omitted series and unreadable files, as text.
    damage: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Table {
    title: String,
    columns: Vec<String>,
    /// Cells in the order of the columns.
    rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Cell {
    /// A text.
    Words(String),
    /// A number.
    Number(f64),
    /// Not known.
    Nothing,
}

/// Load of a host over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Load {
    host: String,
    /// Always `all`: a host's interfaces are summed.
    interface: String,
    /// Ends of the intervals: UTC ns since 1970.
    times_ns: Vec<i64>,
    rx_bits_per_s: Vec<f64>,
    tx_bits_per_s: Vec<f64>,
}

/// Round trips between two hosts over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RoundTrips {
    /// The answering host.
    host: String,
    /// The asking host, the kind of probe, and its size in octets.
    probe: String,
    /// Time of the first round trip of each point: UTC ns since 1970.
    times_ns: Vec<i64>,
    /// Median; 0 where no probe was answered.
    p50_ns: Vec<u64>,
    max_ns: Vec<u64>,
    /// Probes without an answer.
    lost: Vec<u64>,
}

/// A path between two hosts, predicted beside measured.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct PathRow {
    path: String,
    /// Null where there is no prediction.
    predicted_p50_ns: Option<u64>,
    predicted_p90_ns: Option<u64>,
    /// Null where no probe was answered.
    measured_p50_ns: Option<u64>,
    measured_p90_ns: Option<u64>,
    /// States whether median and 90th percentile are within the predicted bands, or outside by at
    /// most 5 % of the prediction.
    verdict: String,
}

/// End, length and octets in and out of an interval.
type Interval = (i64, u64, u64, u64);

/// A round trip: its start and, where it was answered, its duration.
type Trip = (i64, Option<u64>);

/// A pair of hosts and the probe between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    /// The answering host.
    to: String,
    /// The asking host.
    from: String,
    by: String,
    octets: u64,
}

impl Pair {
    fn probe(&self) -> String {
        format!("{} by {}, {} octets", self.from, self.by, self.octets)
    }
}

/// Key of a prediction: from, to, octets.
type Predicted = (String, String, u64);

/// Rows of the selected time, by kind.
struct Gathered {
    activity: Activity,
    /// By host.
    loads: BTreeMap<String, Vec<Interval>>,
    trips: BTreeMap<Pair, Vec<Trip>>,
    predictions: BTreeMap<Predicted, Prediction>,
    left_out: u64,
}

/// Load and response times of hosts.
#[utoipa::path(get, path = "/hosts", tag = "hosts", params(TimeRange, QuestionName),
    responses((status = 200, body = Hosts), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn hosts(
    State(api): State<Api>,
    PlainParameters { id, own: span }: PlainParameters<TimeRange>,
) -> Result<Json<Hosts>, ApiError> {
    api.ask(id, move |api, progress| {
        let source = &api.source;
        let range = span.range();
        let mut gathered = Gathered {
            activity: Activity::new(Measure::Bytes, range.start.max(0), None),
            loads: BTreeMap::new(),
            trips: BTreeMap::new(),
            predictions: BTreeMap::new(),
            left_out: 0,
        };
        let mut damage = rows(source, SCAN_HOST, &range, &mut |row| {
            ScanRow::from_excerpt(row).map(|row| gathered.scan(row))
        })?;
        progress.check()?;
        damage.extend(rows(source, ROUND_TRIP, &range, &mut |row| {
            RoundTrip::from_excerpt(row).map(|row| gathered.trip(row))
        })?);
        progress.check()?;
        damage.extend(rows(source, PREDICTION, &range, &mut |row| {
            Prediction::from_excerpt(row).map(|row| gathered.prediction(row))
        })?);
        progress.check()?;
        if gathered.left_out > 0 {
            damage.push(format!("{} rows of too many hosts were left out", gathered.left_out));
        }
        Ok(gathered.into_hosts(damage))
    })
    .await
}

/// Passes the rows of a class to `each`. Returns unreadable files, as text.
fn rows(
    source: &StoreLocation,
    class: &str,
    range: &Range<i64>,
    each: &mut (dyn FnMut(&Excerpt<'_>) -> Option<()> + Send),
) -> Result<Vec<String>, ApiError> {
    let class = ClassName { application: APPLICATION.to_owned(), class: class.to_owned() };
    let mut strange = 0_u64;
    let mut take = |row: &Excerpt<'_>| strange += u64::from(each(row).is_none());
    let damage = source.excerpts(&class, range, &mut take)?;
    let mut damage: Vec<String> = damage.iter().map(ToString::to_string).collect();
    if strange > 0 {
        damage.push(format!("{strange} rows of {class} say nothing of the kind"));
    }
    Ok(damage)
}

impl Gathered {
    fn scan(&mut self, row: ScanRow) {
        self.activity.add(&row);
        let Outcome::Counted { interval_ns, advance, .. } = row.outcome else { return };
        if !self.loads.contains_key(&row.host) && self.loads.len() >= SERIES_MAX {
            self.left_out += 1;
            return;
        }
        let interval = (row.start_ns, interval_ns, advance.in_bytes, advance.out_bytes);
        self.loads.entry(row.host).or_default().push(interval);
    }

    fn trip(&mut self, row: RoundTrip) {
        // The first probe may have had to activate the server: it is not representative.
        if row.first {
            return;
        }
        let key = Pair { to: row.to, from: row.from, by: row.by, octets: row.octets };
        if !self.trips.contains_key(&key) && self.trips.len() >= SERIES_MAX {
            self.left_out += 1;
            return;
        }
        self.trips.entry(key).or_default().push((row.start_ns, row.took_ns));
    }

    /// Keeps the prediction. A later one replaces an earlier one.
    fn prediction(&mut self, row: Prediction) {
        let key = (row.from.clone(), row.to.clone(), row.octets);
        let is_known = self.predictions.contains_key(&key);
        if !is_known && self.predictions.len() >= SERIES_MAX {
            self.left_out += 1;
            return;
        }
        let known = self.predictions.entry(key).or_insert_with(|| row.clone());
        if known.start_ns < row.start_ns {
            *known = row;
        }
    }

    fn into_hosts(self, damage: Vec<String>) -> Hosts {
        let tables = tables(&self.activity);
        let paths = self.trips.iter().map(|(pair, trips)| {
            let key = (pair.from.clone(), pair.to.clone(), pair.octets);
            path(pair, trips, self.predictions.get(&key))
        });
        let paths = paths.collect();
        Hosts {
            tables,
            loads: self.loads.into_iter().map(load).collect(),
            round_trips: self.trips.into_iter().map(round_trips).collect(),
            paths,
            damage,
        }
    }
}

/// The tables that have rows.
fn tables(activity: &Activity) -> Vec<Table> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let overview = activity.overview();
    let number = |value: u64| Cell::Number(value as f64);
    let line = |line: &HostRow| {
        let share = |at: usize| line.share_percent[at].map_or(Cell::Nothing, Cell::Number);
        let mut cells = vec![Cell::Words(line.host.clone())];
        cells.push(Cell::Number(line.measured_ns as f64 / 1e9));
        for (at, measure) in Measure::COUNTED.into_iter().enumerate() {
            cells.extend([number(measure.of(&line.counters)), share(at)]);
        }
        cells.push(Cell::Number(line.speed));
        cells
    };
    let load = Table {
        title: "Load of hosts".to_owned(),
        columns: words(&[
            "host",
            "measured (s)",
            "input packets",
            "%",
            "output packets",
            "%",
            "input bytes",
            "%",
            "output bytes",
            "%",
            "bytes/s",
        ]),
        rows: overview.lines.iter().map(line).collect(),
    };
    let silent = activity.hosts().filter(|(_, host)| host.silent_count > 0);
    let silent = silent.map(|(name, host)| {
        let why = host.why.clone().unwrap_or_else(|| "no answer".to_owned());
        let now = if host.silent_since_ns.is_some() { "silent" } else { "answers again" };
        vec![
            Cell::Words(name.to_owned()),
            number(host.silent_count),
            Cell::Words(now.to_owned()),
            Cell::Words(why),
        ]
    });
    let silent = Table {
        title: "Hosts that did not tell anything".to_owned(),
        columns: words(&["host", "times", "now", "why"]),
        rows: silent.collect(),
    };
    [load, silent].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn load((host, mut intervals): (String, Vec<Interval>)) -> Load {
    intervals.sort_unstable();
    let together = intervals.len().div_ceil(POINTS_MAX).max(1);
    let (mut times_ns, mut rx_bits_per_s, mut tx_bits_per_s) = (Vec::new(), Vec::new(), Vec::new());
    for some in intervals.chunks(together) {
        let sum = |of: fn(&Interval) -> u64| some.iter().map(of).sum::<u64>() as f64;
        let seconds = sum(|interval| interval.1) / 1e9;
        if seconds > 0.0 {
            times_ns.extend(some.last().map(|interval| interval.0));
            rx_bits_per_s.push(sum(|interval| interval.2) * 8.0 / seconds);
            tx_bits_per_s.push(sum(|interval| interval.3) * 8.0 / seconds);
        }
    }
    Load { host, interface: "all".to_owned(), times_ns, rx_bits_per_s, tx_bits_per_s }
}

fn round_trips((pair, mut trips): (Pair, Vec<Trip>)) -> RoundTrips {
    trips.sort_unstable();
    let together = trips.len().div_ceil(POINTS_MAX).max(1);
    let mut row = RoundTrips {
        probe: pair.probe(),
        host: pair.to,
        times_ns: Vec::new(),
        p50_ns: Vec::new(),
        max_ns: Vec::new(),
        lost: Vec::new(),
    };
    for some in trips.chunks(together) {
        let answered = ascending(some);
        row.times_ns.push(some[0].0);
        row.p50_ns.push(nearest_rank(&answered, Quantile::P50).unwrap_or(0));
        row.max_ns.push(answered.last().copied().unwrap_or(0));
        row.lost.push((some.len() - answered.len()) as u64);
    }
    row
}

/// Durations of the answered round trips, ascending.
fn ascending(trips: &[Trip]) -> Vec<u64> {
    let mut answered: Vec<u64> = trips.iter().filter_map(|(_, took)| *took).collect();
    answered.sort_unstable();
    answered
}

fn path(pair: &Pair, trips: &[Trip], predicted: Option<&Prediction>) -> PathRow {
    let answered = ascending(trips);
    let [p50, p90] =
        [Quantile::P50, Quantile::P90].map(|quantile| nearest_rank(&answered, quantile));
    let verdict = match (predicted, p50, p90) {
        (None, ..) => "measured, not predicted: chronoscope net watch does both".to_owned(),
        (Some(_), None, _) | (Some(_), _, None) => "nothing was answered".to_owned(),
        (Some(of), Some(p50), Some(p90)) => {
            let off = [
                off("median", p50, (of.p50_ns, of.p50_band_ns)),
                off("p90", p90, (of.p90_ns, of.p90_band_ns)),
            ];
            let off: Vec<String> = off.into_iter().flatten().collect();
            if off.is_empty() { "as predicted".to_owned() } else { off.join(", ") }
        }
    };
    PathRow {
        path: format!("{} → {}", pair.probe(), pair.to),
        predicted_p50_ns: predicted.map(|of| of.p50_ns),
        predicted_p90_ns: predicted.map(|of| of.p90_ns),
        measured_p50_ns: p50,
        measured_p90_ns: p90,
        verdict,
    }
}

/// Distance of a quantile from its prediction; `None` within the band, or outside by at most
/// [`TOLERANCE`].
fn off(what: &str, ns: u64, (predicted, [low, high]): (u64, [u64; 2])) -> Option<String> {
    let slack = predicted as f64 * TOLERANCE;
    let within = (low as f64 - slack)..=(high as f64 + slack);
    let change = (ns as f64 / predicted.max(1) as f64 - 1.0) * 100.0;
    let word = if change > 0.0 { "above" } else { "below" };
    (!within.contains(&(ns as f64)))
        .then(|| format!("{what} {:.0} % {word} the prediction", change.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Pair {
        Pair { to: "b".into(), from: "a".into(), by: "udp".into(), octets: 64 }
    }

    #[test]
    fn what_is_outside_of_its_band_is_said() {
        let predicted = Prediction {
            from: "a".into(),
            to: "b".into(),
            octets: 64,
            start_ns: 0,
            p50_ns: 1000,
            p50_band_ns: [900, 1100],
            p90_ns: 2000,
            p90_band_ns: [1900, 2100],
        };
        let of = |trips: &[u64]| {
            let trips: Vec<Trip> = trips.iter().map(|ns| (0, Some(*ns))).collect();
            path(&pair(), &trips, Some(&predicted)).verdict
        };
        assert_eq!(of(&[1000, 1000, 2000]), "as predicted");
        assert_eq!(of(&[850, 850, 2200]), "as predicted", "5 % beyond the bands");
        assert_eq!(
            of(&[849, 849, 2201]),
            "median 15 % below the prediction, p90 10 % above the prediction"
        );
        assert_eq!(of(&[]), "nothing was answered");
        assert_eq!(path(&pair(), &[], None).predicted_p50_ns, None);
    }

    #[test]
    fn many_points_are_put_together_and_none_is_forgotten() {
        let count = POINTS_MAX as u64 * 3;
        let trips = (0..count).map(|n| (n.cast_signed(), (n % 10 != 0).then_some(n)));
        let row = round_trips((pair(), trips.collect()));
        assert_eq!((row.times_ns.len(), row.times_ns[1]), (POINTS_MAX, 3));
        assert_eq!(row.lost.iter().sum::<u64>(), count / 10);
        assert_eq!(row.max_ns.last(), Some(&(count - 1)));
        assert_eq!(row.p50_ns[0], 1, "of 1 and 2 the lower");
    }

    #[test]
    fn bits_a_second_are_of_the_time_measured() {
        let of = |at, octets| (at, 500_000_000, octets, 2 * octets);
        let load = load(("h".into(), vec![of(2, 1000), of(1, 500)]));
        assert_eq!(load.times_ns, [1, 2]);
        assert_eq!(load.rx_bits_per_s, [8_000.0, 16_000.0]);
        assert_eq!(load.tx_bits_per_s, [16_000.0, 32_000.0]);
    }
}
