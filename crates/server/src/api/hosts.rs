//! `GET /hosts`: load and response times of hosts, as `chronoscope net` keeps them in the store.

use super::Api;
use super::asked::{Plain, QuestionName};
use super::error::{ApiError, ErrorBody};
use super::stored::Span;
use axum::Json;
use axum::extract::State;
use chronoscope_model::{ClassName, Excerpt, Quantile, nearest_rank};
use chronoscope_net::activity::Activity;
use chronoscope_net::rows::{APPLICATION, Outcome, ROUND_TRIP, RoundTrip, SCAN_HOST, ScanRow};
use chronoscope_net::table::{Line, Measure};
use chronoscope_store::source::Source;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
use utoipa::ToSchema;

/// Points of a series; where there are more, neighbours are put together.
const POINTS_MAX: usize = 500;
/// Hosts, and pairs of hosts, that have a series; further ones are counted in `note`.
const SERIES_MAX: usize = 500;

/// Load and response times of hosts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Hosts {
    /// As `chronoscope net table` prints them.
    tables: Vec<Table>,
    /// What each host's interfaces carried together, over time.
    loads: Vec<Load>,
    round_trips: Vec<RoundTrips>,
    /// Round trips by pair of hosts. What a path is predicted to take needs a topology and is
    /// answered by `chronoscope net predict`: null here.
    paths: Vec<PathRow>,
    /// What was left out, and files that could not be read, in words.
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
    /// Words.
    Words(String),
    /// A number.
    Number(f64),
    /// Nothing is known.
    Nothing(Option<bool>),
}

/// Load of a host over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Load {
    host: String,
    /// `all`: hosts' interfaces are kept together.
    interface: String,
    /// Ends of the intervals: UTC ns since 1970.
    times_ns: Vec<i64>,
    rx_bits_per_s: Vec<f64>,
    tx_bits_per_s: Vec<f64>,
}

/// Round trips between two hosts over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RoundTrips {
    /// Who answered.
    host: String,
    /// Who asked, by what, with how many octets.
    probe: String,
    /// First of those that are put together: UTC ns since 1970.
    times_ns: Vec<i64>,
    /// Median; 0 where none was answered.
    p50_ns: Vec<u64>,
    max_ns: Vec<u64>,
    /// Not answered.
    lost: Vec<u64>,
}

/// A path between two hosts, predicted beside measured.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct PathRow {
    path: String,
    predicted_p50_ns: Option<u64>,
    predicted_p90_ns: Option<u64>,
    measured_p50_ns: Option<u64>,
    measured_p90_ns: Option<u64>,
    verdict: String,
}

/// End, length and octets in and out of an interval.
type Interval = (i64, u64, u64, u64);

/// When somebody asked, and how long the answer took.
type Trip = (i64, Option<u64>);

/// Who answered; who asked, by what.
type Pair = (String, String);

/// What is gathered of a time.
struct Gathered {
    activity: Activity,
    /// By host.
    loads: BTreeMap<String, Vec<Interval>>,
    trips: BTreeMap<Pair, Vec<Trip>>,
    left_out: u64,
}

/// Load and response times of hosts.
#[utoipa::path(get, path = "/hosts", tag = "hosts", params(Span, QuestionName),
    responses((status = 200, body = Hosts), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn hosts(
    State(api): State<Api>,
    Plain { id, own: span }: Plain<Span>,
) -> Result<Json<Hosts>, ApiError> {
    api.ask(id, move |source, progress| {
        let range = span.range();
        let mut gathered = Gathered {
            activity: Activity::new(Measure::Bytes, range.start.max(0), None),
            loads: BTreeMap::new(),
            trips: BTreeMap::new(),
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
        if gathered.left_out > 0 {
            damage.push(format!("{} rows of too many hosts were left out", gathered.left_out));
        }
        Ok(gathered.into_hosts(damage))
    })
    .await
}

/// Gives the rows of a class to `each`; what could not be read, in words.
fn rows(
    source: &Source,
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
        // The first one may have had to activate what answers: it is none of the usual.
        if row.first {
            return;
        }
        let probe = format!("{} by {}, {} octets", row.from, row.by, row.octets);
        let key = (row.to, probe);
        if !self.trips.contains_key(&key) && self.trips.len() >= SERIES_MAX {
            self.left_out += 1;
            return;
        }
        self.trips.entry(key).or_default().push((row.start_ns, row.took_ns));
    }

    fn into_hosts(self, damage: Vec<String>) -> Hosts {
        let tables = tables(&self.activity);
        let paths = self.trips.iter().map(|((to, probe), trips)| measured(to, probe, trips));
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
    let line = |line: &Line| {
        let share = |at: usize| line.share_percent[at].map_or(Cell::Nothing(None), Cell::Number);
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

fn round_trips(((host, probe), mut trips): (Pair, Vec<Trip>)) -> RoundTrips {
    trips.sort_unstable();
    let together = trips.len().div_ceil(POINTS_MAX).max(1);
    let mut row = RoundTrips {
        host,
        probe,
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

/// The round trips that were answered.
fn ascending(trips: &[Trip]) -> Vec<u64> {
    let mut answered: Vec<u64> = trips.iter().filter_map(|(_, took)| *took).collect();
    answered.sort_unstable();
    answered
}

fn measured(to: &str, probe: &str, trips: &[Trip]) -> PathRow {
    let answered = ascending(trips);
    PathRow {
        path: format!("{probe} → {to}"),
        predicted_p50_ns: None,
        predicted_p90_ns: None,
        measured_p50_ns: nearest_rank(&answered, Quantile::P50),
        measured_p90_ns: nearest_rank(&answered, Quantile::P90),
        verdict: "measured; chronoscope net predict holds it against a topology".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_are_put_together_and_none_is_forgotten() {
        let count = POINTS_MAX as u64 * 3;
        let trips = (0..count).map(|n| (n.cast_signed(), (n % 10 != 0).then_some(n)));
        let row = round_trips((("b".into(), "a".into()), trips.collect()));
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
