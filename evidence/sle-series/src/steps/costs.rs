//! Step 4, the causes: what of a data unit's time is fixed and what is for each octet, what of a
//! buffer's is for each frame, and how often a thread waits. Ours from what was measured, the
//! document's from its own tables.

use super::ratio;
use crate::measure::Measured;
use crate::published::Published;
use crate::table::{Table, number, words};
use chronoscope_figures::numbers::decimal;
use chronoscope_statistics::Line;

/// Times of data units of one kind over their length.
#[derive(Clone, Debug)]
pub(super) struct LengthCurve {
    /// CLTU or RAF.
    pub(super) service: &'static str,
    /// Operations without their return; none where nothing is returned.
    pub(super) window: Option<u32>,
    /// Octets, and µs for a data unit.
    pub(super) points: Vec<(f64, f64)>,
}

impl LengthCurve {
    pub(super) fn new(service: &'static str, window: Option<u32>) -> Self {
        Self { service, window, points: Vec::new() }
    }

    /// Time in µs over octets.
    pub(super) fn line(&self) -> Option<Line> {
        Line::fit_relative(&self.points)
    }
}

/// The document's curves of data units: each has two lengths.
pub(super) fn published(published: &Published) -> [LengthCurve; 2] {
    let rows = &published.confirmed;
    let us =
        |octets: u32, mbit_per_s: f64| (f64::from(octets), f64::from(octets) * 8.0 / mbit_per_s);
    let curve = |service, points: Vec<_>| LengthCurve { service, window: None, points };
    [
        curve("CLTU", rows.iter().map(|row| us(row.octets, row.cltu_mbit_per_s)).collect()),
        curve("RAF", rows.iter().map(|row| us(row.octets, row.raf_mbit_per_s)).collect()),
    ]
}

/// Fixed time and time for each octet, of each curve.
pub(super) fn data_units(ours: &[LengthCurve], document: &[LengthCurve]) -> Table {
    let mut table = Table::new(
        "Cost of a data unit at full rate: fixed, and for each octet",
        &[
            words("whose", "whose"),
            words("service", "service"),
            number("window", "window", 0),
            number("lengths", "lengths", 0),
            number("fixed_us", "fixed µs", 2),
            number("ns_per_octet", "ns an octet", 3),
            number("at_2000_us", "2000 octets, µs", 2),
            number("at_8000_us", "8000 octets, µs", 2),
            number("fixed_pct_8000", "fixed at 8000, %", 0),
        ],
    );
    let all = ours.iter().map(|curve| ("ours", curve));
    for (whose, curve) in all.chain(document.iter().map(|curve| ("document", curve))) {
        let Some(line) = curve.line() else { continue };
        table.row([
            whose.into(),
            curve.service.into(),
            curve.window.into(),
            (curve.points.len() as f64).into(),
            line.constant.into(),
            (line.slope * 1e3).into(),
            line.at(2000.0).into(),
            line.at(8000.0).into(),
            (line.constant / line.at(8000.0) * 100.0).into(),
        ]);
    }
    table
}

/// Parts of the time of a buffer, in µs: from its time over the number of frames, and from the time
/// of single frames over their length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BufferCost {
    /// The invocation by itself.
    invocation_us: f64,
    /// Each frame.
    frame_us: f64,
    /// Each octet.
    octet_us: f64,
}

impl BufferCost {
    /// `buffers` are µs of buffers of `octets` over the number of their frames, `single` is the line
    /// of buffers with one frame over octets. `None` with fewer than two points.
    pub(super) fn of(buffers: &[(f64, f64)], octets: f64, single: Line) -> Option<Self> {
        let line = Line::fit_relative(buffers)?;
        let invocation_us = line.constant - octets * single.slope;
        Some(Self { invocation_us, frame_us: line.slope, octet_us: single.slope })
    }

    /// Time of a buffer.
    pub(super) fn us(&self, frames: f64, octets: f64) -> f64 {
        self.invocation_us + frames * self.frame_us + octets * self.octet_us
    }

    /// What four frames of 2000 octets a buffer carry, to one: the document's factor.
    pub(super) fn four_to_one(&self) -> f64 {
        4.0 * self.us(1.0, 2000.0) / self.us(4.0, 8000.0)
    }
}

/// The parts of a buffer's time, ours and the document's, with the factor that follows from them and
/// the measured one.
pub(super) fn buffers(rows: &[(&str, BufferCost, Option<f64>)]) -> Table {
    let mut table = Table::new(
        "Cost of a buffer: the invocation, each frame, each octet; and four frames of 2000 to one",
        &[
            words("whose", "whose"),
            number("invocation_us", "invocation µs", 3),
            number("frame_us", "a frame µs", 3),
            number("ns_per_octet", "ns an octet", 3),
            number("octets_us", "8000 octets, µs", 2),
            number("single_us", "1 × 2000, µs", 2),
            number("four_us", "4 × 2000, µs", 2),
            number("four_to_one", "4 to 1 by these", 2),
            number("measured", "4 to 1 measured", 2),
        ],
    );
    for (whose, cost, measured) in rows {
        table.row([
            (*whose).into(),
            cost.invocation_us.into(),
            cost.frame_us.into(),
            (cost.octet_us * 1e3).into(),
            (cost.octet_us * 8000.0).into(),
            cost.us(1.0, 2000.0).into(),
            cost.us(4.0, 8000.0).into(),
            cost.four_to_one().into(),
            (*measured).into(),
        ]);
    }
    table
}

/// System calls and context switches of some measurements, for a data unit (CLTU or frame).
pub(super) fn waits(measured: &[(String, Measured)]) -> Table {
    let mut table = Table::new(
        "System calls and context switches for a CLTU or a frame",
        &[
            words("case", "case"),
            number("user_calls", "user's calls", 3),
            number("user_switches", "user's switches", 3),
            number("provider_switches", "provider's switches", 3),
            number("us_per_unit", "µs", 3),
        ],
    );
    for (case, measured) in measured {
        let [user, provider] = measured.switches();
        table.row([
            case.as_str().into(),
            measured.user_calls().into(),
            user.into(),
            provider.into(),
            measured.unit_us().into(),
        ]);
    }
    table
}

/// The cause of a factor between two kinds of data units, in words.
pub(super) fn factor(slower: Line, faster: Line, octets: f64) -> String {
    format!(
        "{} of {} µs is fixed, against {} of {} µs: {:.2}",
        decimal(slower.constant, 2),
        decimal(slower.at(octets), 2),
        decimal(faster.constant, 2),
        decimal(faster.at(octets), 2),
        ratio(Some(slower.at(octets)), Some(faster.at(octets))).unwrap_or(f64::NAN)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Round;
    use crate::table::Cell;

    fn cell(table: &Table, row: usize, key: &str) -> f64 {
        let at = table.columns.iter().position(|column| column.key == key).unwrap();
        match &table.rows[row][at] {
            Cell::Number(number) => *number,
            other => panic!("{key}: {other:?}"),
        }
    }

    /// 10 µs and 2 ns an octet, 5 µs and 1 ns an octet.
    #[test]
    fn a_units_time_is_parted() {
        let curve = |service, fixed: f64, octet: f64| LengthCurve {
            points: [250.0, 1000.0, 8000.0].map(|octets| (octets, fixed + octet * octets)).into(),
            ..LengthCurve::new(service, None)
        };
        let table = data_units(&[curve("CLTU", 10.0, 0.002), curve("RAF", 5.0, 0.001)], &[]);
        assert!((cell(&table, 0, "fixed_us") - 10.0).abs() < 1e-9);
        assert!((cell(&table, 0, "ns_per_octet") - 2.0).abs() < 1e-9);
        assert!((cell(&table, 1, "at_8000_us") - 13.0).abs() < 1e-9);
        let one = |table: LengthCurve| table.line().unwrap();
        let words = factor(one(curve("CLTU", 10.0, 0.002)), one(curve("RAF", 5.0, 0.001)), 2000.0);
        assert_eq!(words, "10.00 of 14.00 µs is fixed, against 5.00 of 7.00 µs: 2.00");
    }

    /// The document's own two lengths: all is fixed, and confirmation is 115 µs of it.
    #[test]
    fn the_documents_times_are_fixed() {
        let [cltu, raf] = published(&Published::load().unwrap()).map(|curve| curve.line().unwrap());
        assert!((cltu.constant - 297.1).abs() < 0.5, "{cltu:?}");
        assert!((raf.constant - 182.1).abs() < 0.5, "{raf:?}");
        assert!((cltu.at(8000.0) / raf.at(8000.0) - 1.53).abs() < 0.01);
    }

    /// Invocation 100 µs, frame 50 µs, octet 2 ns: buffers of 8000 octets take 116 + 50 n µs.
    #[test]
    fn a_buffers_time_is_parted() {
        let buffers: Vec<(f64, f64)> =
            [1.0, 4.0, 80.0].map(|frames| (frames, 116.0 + 50.0 * frames)).into();
        let single = Line { constant: 150.0, slope: 0.002 };
        let cost = BufferCost::of(&buffers, 8000.0, single).unwrap();
        assert!((cost.invocation_us - 100.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.us(4.0, 8000.0) - 316.0).abs() < 1e-9);
        assert!((cost.four_to_one() - 4.0 * 154.0 / 316.0).abs() < 1e-9);
        let table = super::buffers(&[("ours", cost, Some(1.9)), ("document", cost, None)]);
        assert!((cell(&table, 0, "octets_us") - 16.0).abs() < 1e-9);
        assert_eq!(cell(&table, 0, "measured"), 1.9);
        assert_eq!(BufferCost::of(&buffers[..1], 8000.0, single), None);
    }

    #[test]
    fn calls_and_switches_are_for_a_unit() {
        let round = Round {
            units: 1000,
            elapsed_ns: 1_000_000_000,
            user_switches: 500,
            provider_switches: 2000,
            ..Round::default()
        };
        let table = waits(&[("x".to_owned(), Measured(vec![round]))]);
        assert_eq!(
            [cell(&table, 0, "user_switches"), cell(&table, 0, "provider_switches")],
            [0.5, 2.0]
        );
        assert_eq!(table.rows[0][1], Cell::None, "the Java peer does not count its calls");
    }
}
