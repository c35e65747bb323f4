//! Step 2, what the rows over a delay say: throughput against 1/RTT, delay against none with equal
//! work, and windows against each other.

use super::ratio;
use crate::published::Rtt;
use crate::series::{Series, Step};
use crate::table::{Cell, Table, number, words};
use chronoscope_statistics::{exponent, median};

/// Title of the step's first table, which has a row for each path and work.
pub(super) const TITLE: &str = "One CLTU an invocation over a delay";

/// The document's small window.
const SMALL: f64 = 65_536.0;

/// A row that was measured.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    window: f64,
    rtt_ms: f64,
    octets: f64,
    operations: f64,
    bound: String,
    mbit_per_s: f64,
    units_per_s: f64,
    /// CPU of both processes for a CLTU.
    cpu_us: f64,
    iperf_mbit_per_s: Option<f64>,
}

impl Row {
    /// Whether it is the same work with the same window, but for the delay.
    fn is_like(&self, other: &Self) -> bool {
        (self.window, self.octets, self.operations, &self.bound)
            == (other.window, other.octets, other.operations, &other.bound)
    }

    fn is_near(&self) -> bool {
        self.rtt_ms < 1.0
    }

    /// Octets under way, by Little's law.
    fn in_flight(&self) -> f64 {
        self.mbit_per_s * self.rtt_ms * 1e3 / 8.0
    }
}

/// The rows of the step's table, without those that failed.
fn rows(table: &Table) -> Vec<Row> {
    let at = |key: &str| table.columns.iter().position(|column| column.key == key);
    let number = |row: &[Cell], key: &str| match row.get(at(key)?)? {
        Cell::Number(number) => Some(*number),
        _ => None,
    };
    let read = |row: &Vec<Cell>| {
        Some(Row {
            window: number(row, "window_octets")?,
            rtt_ms: number(row, "rtt_ms")?,
            octets: number(row, "octets")?,
            operations: number(row, "operations")?,
            bound: match row.get(at("bound")?)? {
                Cell::Text(bound) => bound.clone(),
                _ => return None,
            },
            mbit_per_s: number(row, "mbit_per_s")?,
            units_per_s: number(row, "units_per_s")?,
            cpu_us: number(row, "user_us")? + number(row, "provider_us")?,
            iperf_mbit_per_s: number(row, "iperf_mbit_per_s"),
        })
    };
    table.rows.iter().filter_map(read).collect()
}

/// Adds the tables; of a series that was stopped, from what there is.
pub(super) fn take(series: &Series, step: &mut Step) {
    let Some(measured) = step.tables.iter().find(|table| table.title.starts_with(TITLE)) else {
        return;
    };
    let rows = rows(measured);
    let published: Vec<&Rtt> = series.published.rtt.iter().collect();
    step.tables.extend([shapes(&rows, &published), delays(&rows), windows(&rows, &published)]);
    step.words.extend(published_in_flight(series));
}

/// Exponents over 1/RTT and what was in flight, with the small window.
fn shapes(rows: &[Row], published: &[&Rtt]) -> Table {
    let mut table = Table::new(
        "Shape over the round trip, 64 kB: throughput ~ (1/RTT)^exponent",
        &[
            words("whose", "whose"),
            number("octets", "octets", 0),
            words("bound", "in flight"),
            number("round_trips", "round trips", 0),
            number("from_ms", "from", 0),
            number("to_ms", "to ms", 0),
            number("exponent", "exponent", 3),
            number("in_flight_octets", "octets in flight", 0),
            number("of_window", "of the window", 3),
        ],
    );
    let far: Vec<&Row> = rows.iter().filter(|r| r.window == SMALL && !r.is_near()).collect();
    let iperf = far.iter().filter(|r| r.octets == 1544.0 && r.bound == "TCP's");
    let iperf = iperf.filter_map(|r| Some((r.rtt_ms, r.iperf_mbit_per_s?))).collect::<Vec<_>>();
    add_shape(&mut table, ["iperf3".into(), Cell::None, "TCP's".into()], &iperf);
    for (octets, bound) in
        [1544.0, 1000.0].into_iter().flat_map(|o| [(o, "TCP's"), (o, "document's")])
    {
        let of = far.iter().filter(|r| r.octets == octets && r.bound == bound);
        let points: Vec<_> = of.map(|r| (r.rtt_ms, r.mbit_per_s)).collect();
        add_shape(&mut table, ["ours".into(), octets.into(), bound.into()], &points);
    }
    for octets in [1544, 1000] {
        let of = published.iter().filter(|r| f64::from(r.window_octets) == SMALL);
        let of = of.filter(|r| r.cltu_octets == octets);
        let points: Vec<_> = of.map(|r| (r.rtt_ms, r.mbit_per_s)).collect();
        add_shape(&mut table, ["document".into(), octets.into(), Cell::None], &points);
    }
    table
}

fn add_shape(table: &mut Table, of: [Cell; 3], points: &[(f64, f64)]) {
    let frequencies: Vec<(f64, f64)> = points.iter().map(|(ms, mbit)| (1.0 / ms, *mbit)).collect();
    let Some(exponent) = exponent(&frequencies).filter(|_| points.len() > 2) else { return };
    let in_flight = median(points.iter().map(|(ms, mbit)| mbit * ms * 1e3 / 8.0));
    let ms = || points.iter().map(|(ms, _)| *ms);
    let found: [Cell; 6] = [
        (points.len() as f64).into(),
        ms().fold(f64::INFINITY, f64::min).into(),
        ms().fold(0.0, f64::max).into(),
        exponent.into(),
        in_flight.into(),
        in_flight.map(|octets| octets / SMALL).into(),
    ];
    table.row(of.into_iter().chain(found));
}

/// The longest round trip beside none, with equal work, window and operations.
fn delays(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "A delay and none, with equal work: time and processing of a CLTU",
        &[
            number("window_octets", "TCP buffers", 0),
            number("octets", "octets", 0),
            number("operations", "operations", 0),
            words("bound", "in flight"),
            number("rtt_ms", "RTT ms", 0),
            number("near_us", "none, µs/CLTU", 1),
            number("far_us", "delayed", 1),
            number("factor", "slower by", 1),
            number("near_cpu_us", "none, CPU µs", 2),
            number("far_cpu_us", "delayed", 2),
            number("cpu_ratio", "CPU ratio", 3),
        ],
    );
    for near in rows.iter().filter(|row| row.is_near()) {
        let like = rows.iter().filter(|row| !row.is_near() && row.is_like(near));
        let Some(far) = like.max_by(|a, b| a.rtt_ms.total_cmp(&b.rtt_ms)) else { continue };
        table.row([
            near.window.into(),
            near.octets.into(),
            near.operations.into(),
            near.bound.as_str().into(),
            far.rtt_ms.into(),
            (1e6 / near.units_per_s).into(),
            (1e6 / far.units_per_s).into(),
            (near.units_per_s / far.units_per_s).into(),
            near.cpu_us.into(),
            far.cpu_us.into(),
            (far.cpu_us / near.cpu_us).into(),
        ]);
    }
    table
}

/// Large windows against the small one and against each other, over the document's 100 ms.
fn windows(rows: &[Row], published: &[&Rtt]) -> Table {
    let mut table = Table::new(
        "Windows over 100 ms, CLTUs of 1544 octets: times the rate with 64 kB",
        &[
            words("bound", "in flight"),
            number("window_octets", "TCP buffers", 0),
            number("operations", "operations", 0),
            number("in_flight_octets", "octets in flight", 0),
            number("gain", "times 64 kB", 2),
            number("published_gain", "published", 2),
        ],
    );
    let is_it = |rtt_ms: f64, octets: f64| (rtt_ms - 100.0).abs() < 1e-9 && octets == 1544.0;
    let theirs = |window: f64| {
        let found = published.iter().find(|row| {
            is_it(row.rtt_ms, row.cltu_octets.into()) && f64::from(row.window_octets) == window
        });
        found.map(|row| row.mbit_per_s)
    };
    for bound in ["TCP's", "document's"] {
        let of = rows.iter().filter(|row| is_it(row.rtt_ms, row.octets) && row.bound == bound);
        let of: Vec<&Row> = of.collect();
        let small = of.iter().find(|row| row.window == SMALL).map(|row| row.mbit_per_s);
        for row in of {
            table.row([
                bound.into(),
                row.window.into(),
                row.operations.into(),
                row.in_flight().into(),
                ratio(Some(row.mbit_per_s), small).into(),
                ratio(theirs(row.window), theirs(SMALL)).into(),
            ]);
        }
    }
    table
}

/// What was in flight according to the document's rates: it does not state it.
fn published_in_flight(series: &Series) -> Vec<String> {
    let rows = series.published.rtt.iter().filter(|row| (row.rtt_ms - 100.0).abs() < 1e-9);
    let said = rows.map(|row| {
        let operations = row.cltus_per_s * row.rtt_ms / 1e3;
        format!(
            "published, window of {} octets, CLTUs of {} at 100 ms: {operations:.1} CLTUs ({:.1} kB) a \
             round trip: not TCP's window but the number of operations under way bounded it",
            row.window_octets,
            row.cltu_octets,
            operations * f64::from(row.cltu_octets) / 1e3
        )
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(window: f64, rtt_ms: f64, operations: f64, mbit_per_s: f64) -> Row {
        Row {
            window,
            rtt_ms,
            octets: 1544.0,
            operations,
            bound: if operations < 100.0 { "document's" } else { "TCP's" }.to_owned(),
            mbit_per_s,
            units_per_s: mbit_per_s * 1e6 / 8.0 / 1544.0,
            cpu_us: 5.0,
            iperf_mbit_per_s: Some(500.0 / rtt_ms),
        }
    }

    fn number(table: &Table, at: usize, key: &str) -> f64 {
        let column = table.columns.iter().position(|column| column.key == key).unwrap();
        match &table.rows[at][column] {
            Cell::Number(number) => *number,
            other => panic!("{key}: {other:?}"),
        }
    }

    #[test]
    fn a_rate_of_one_over_the_round_trip_has_exponent_one() {
        let rows = [50.0, 100.0, 400.0].map(|ms| row(SMALL, ms, 170.0, 600.0 / ms));
        let table = shapes(&rows, &[]);
        assert_eq!(table.rows.len(), 2, "iperf3 and ours");
        assert!((number(&table, 0, "exponent") - 1.0).abs() < 1e-9);
        assert!((number(&table, 1, "in_flight_octets") - 75_000.0).abs() < 1e-6);
        let constant = [50.0, 100.0, 400.0].map(|ms| row(SMALL, ms, 170.0, 6.0));
        assert!(number(&shapes(&constant, &[]), 1, "exponent").abs() < 1e-9);
        assert!(shapes(&rows[..2], &[]).rows.is_empty(), "two points are no shape");
    }

    /// The document's own: 1/RTT, and a sixth of the window in flight.
    #[test]
    fn the_documents_rates_are_one_over_the_round_trip() {
        let published = crate::published::Published::load().unwrap();
        let rows: Vec<&Rtt> = published.rtt.iter().collect();
        let table = shapes(&[], &rows);
        assert!((number(&table, 0, "exponent") - 1.0).abs() < 0.01);
        assert!((number(&table, 0, "of_window") - 0.165).abs() < 0.002);
        assert!((number(&table, 1, "of_window") - 0.153).abs() < 0.002);
    }

    #[test]
    fn a_delay_is_compared_with_none_at_equal_work_only() {
        let mut near = row(SMALL, 0.1, 7.0, 400.0);
        near.cpu_us = 4.0;
        let rows = [
            near,
            row(SMALL, 100.0, 7.0, 0.8),
            row(SMALL, 400.0, 7.0, 0.2),
            row(25e6, 400.0, 7.0, 9.0),
        ];
        let table = delays(&rows);
        assert_eq!(table.rows.len(), 1);
        assert!((number(&table, 0, "factor") - 2000.0).abs() < 1e-6);
        assert_eq!(number(&table, 0, "cpu_ratio"), 1.25);
    }

    #[test]
    fn a_window_is_worth_its_rate_over_the_small_ones() {
        let rows = [row(SMALL, 100.0, 170.0, 6.0), row(13e6, 100.0, 30_000.0, 900.0)];
        let published = crate::published::Published::load().unwrap();
        let theirs: Vec<&Rtt> = published.rtt.iter().collect();
        let table = windows(&rows, &theirs);
        assert_eq!([number(&table, 0, "gain"), number(&table, 1, "gain")], [1.0, 150.0]);
        assert!((number(&table, 1, "published_gain") - 13.72).abs() < 0.01);
    }
}
