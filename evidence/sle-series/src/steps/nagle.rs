//! Step 1, Nagle's algorithm and delayed acknowledgements: how much slower with both, and how many of
//! TCP's timers that are.
//!
//! With Nagle on, a short segment waits for the acknowledgement of what was sent before; with
//! delayed acknowledgement, the peer sends that after 40 ms unless it has something to send. The
//! time of such a wait does not depend on the machine, but the time of a CLTU does: the same waits
//! make a fast machine slower by a larger factor. Both are measured here: the waits by the kernel's
//! counter of acknowledgements that its timer sent.

use super::{MEASURED, filled, measured_cells, ratio};
use crate::measure::Measured;
use crate::pair::{Whose, measure_during};
use crate::series::{Series, Step};
use crate::table::{Cell, Table, number, words};
use crate::test_path::{Link, TestPath};
use crate::work::Work;
use anyhow::Result;
use chronoscope_figures::numbers::decimal;

/// Linux sends a delayed acknowledgement after so long at the least (`TCP_DELACK_MIN`).
const TIMER_US: f64 = 40_000.0;

/// Octets and windows; of the short form those that `is_quick` marks.
struct Case {
    octets: u32,
    window: u32,
    is_quick: bool,
}

pub(super) fn take(series: &Series, step: &mut Step) -> Result<()> {
    // Segments of Ethernet's size, over the document's cable, where a path may be made.
    let (place, why_not) = TestPath::delayed(Link::default())?;
    let place = if why_not.is_some() { TestPath::Loopback } else { place };
    let (rtt_ms, _) = place.round_trip_ms()?;
    let mut columns = vec![
        number("octets", "octets", 0),
        number("window", "window", 0),
        words("nagle", "Nagle"),
        words("delayed_ack", "delayed ack"),
        number("us_per_cltu", "µs/CLTU", 1),
        number("slower", "slower by", 2),
        number("more_us", "more µs/CLTU", 1),
        number("timers_per_cltu", "40 ms timers/CLTU", 4),
        number("explained", "of the time", 2),
        number("expected", "factor at the document's time", 2),
    ];
    columns.extend(MEASURED);
    let title = format!(
        "Nagle and delayed acknowledgement, set at both ends; {}, RTT {rtt_ms:.2} ms; published: \
         {} times slower with both on",
        place.name(),
        series.published.factors.nagle_and_delayed_ack
    );
    let published_us = published_us(series);
    filled(step, Table::new(title, &columns), |step, table| {
        let cases = cases(series);
        for case in cases.iter().filter(|case| case.is_quick || !series.quick) {
            if let Some(said) = one(series, &place, table, case, published_us)? {
                step.words.push(said);
            }
        }
        published_row(series, table, published_us);
        Ok(())
    })
}

/// Lengths and windows that are tried. The document does not state its window: what was under way
/// over 100 ms with large TCP windows is taken.
fn cases(series: &Series) -> Vec<Case> {
    let case = |octets, window, is_quick| Case { octets, window, is_quick };
    let document = series.published.under_way(25_000_000, 1544).unwrap_or(95);
    vec![
        case(100, 1, false),
        case(100, 10, false),
        case(1544, 1, false),
        case(1544, 2, true),
        case(1544, 10, true),
        case(1544, document, true),
        case(8000, 1, false),
        case(8000, document, false),
    ]
}

/// The document's time for a CLTU without delay, in µs.
fn published_us(series: &Series) -> Option<f64> {
    series.published.rtt(25_000_000, 0.1, 1544).map(|row| 1e6 / row.cltus_per_s)
}

/// A case with all four settings; what both on cost, in words.
fn one(
    series: &Series,
    place: &TestPath,
    table: &mut Table,
    case: &Case,
    published_us: Option<f64>,
) -> Result<Option<String>> {
    let Case { octets, window, .. } = *case;
    let (mut off_us, mut said) = (None, None);
    for (nagle, delayed) in [(false, false), (true, false), (false, true), (true, true)] {
        let work = Work { nagle, delayed_ack: Some(delayed), ..Work::fcltu(octets, window) };
        let on = |is: bool| if is { "on" } else { "off" };
        let what = format!(
            "{octets} octets, window {window}, Nagle {}, delayed ack {}",
            on(nagle),
            on(delayed)
        );
        let found = counted(series, &what, place, &work)?;
        let us = found.as_ref().map(|(measured, _)| measured.unit_us());
        if !nagle && !delayed {
            off_us = us;
        }
        let slower = ratio(us, off_us);
        let more_us = us.zip(off_us).map(|(us, off_us)| us - off_us);
        let timers = found.as_ref().and_then(|(measured, timers)| {
            Some(timers.as_ref().copied()? as f64 / measured.units().max(1) as f64)
        });
        let explained = timers.zip(us).map(|(timers, us)| timers * TIMER_US / us);
        let expected = more_us.zip(published_us).map(|(more, of)| 1.0 + more / of);
        if let (true, true, Some(slower), Some(more_us)) = (nagle, delayed, slower, more_us) {
            said = Some(format!(
                "both on, {octets} octets, window {window}: {slower:.2} times slower, {} µs more for \
                 a CLTU; published {}",
                decimal(more_us, 1),
                series.published.factors.nagle_and_delayed_ack
            ));
        }
        let measured = measured_cells(found.as_ref().map(|(measured, _)| measured));
        let settings: [Cell; 4] =
            [octets.into(), window.into(), on(nagle).into(), on(delayed).into()];
        let costs: [Cell; 6] = [
            us.into(),
            slower.into(),
            more_us.into(),
            timers.into(),
            explained.into(),
            expected.into(),
        ];
        table.row(settings.into_iter().chain(costs).chain(measured));
    }
    Ok(said)
}

/// The work, and how many acknowledgements TCP's timer sent meanwhile.
fn counted(
    series: &Series,
    what: &str,
    place: &TestPath,
    work: &Work,
) -> Result<Option<(Measured, Option<u64>)>> {
    let timing = series.stalling(work);
    let count = || Ok(place.delayed_acks());
    series.try_take(what, || {
        let pair = [Whose::Ours, Whose::Ours];
        let (measured, before, after) =
            measure_during(place, pair, work, timing, |_| count(), count)?;
        Ok((measured, before.zip(after).map(|(before, after)| after.saturating_sub(before))))
    })
}

/// The document's factor, as time: at its own time for a CLTU.
fn published_row(series: &Series, table: &mut Table, off_us: Option<f64>) {
    let factor = series.published.factors.nagle_and_delayed_ack;
    let more_us = off_us.map(|us| us * (factor - 1.0));
    let mut row: Vec<Cell> = vec![
        1544u32.into(),
        Cell::None,
        "on (document)".into(),
        "on (document)".into(),
        off_us.map(|us| us * factor).into(),
        factor.into(),
        more_us.into(),
        more_us.map(|us| us / TIMER_US).into(),
    ];
    row.resize(table.columns.len(), Cell::None);
    table.row(row);
}
