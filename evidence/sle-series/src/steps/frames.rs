//! The outcome that the document argues for: forward frames by PROCESS-DATA (CSTS), blocked into
//! forward buffers and unconfirmed, beside CLTUs one by one and CLTUs in one invocation; and what
//! confirmation costs them.

use super::{MEASURED, filled, measured_cells, ours, ratio};
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Cell, Table, number, words};
use crate::test_path::{Link, TestPath};
use crate::work::Work;
use anyhow::Result;
use chronoscope_figures::numbers::signed_percent;
use std::time::Duration;

/// N frames together, three ways.
///
/// # Errors
/// When a measurement fails.
pub(super) fn outcome(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "frames: Buffered Data Processing, complete mode, N frames a forward buffer, the completion \
         of every 80th asked for; what counts is told to be processed. The CLTUs beside them have \
         the same octets"
            .to_owned(),
    );
    let mut columns = vec![
        words("path", "path"),
        number("octets", "octets", 0),
        words("how", "how"),
        number("together", "N", 0),
        number("of_single", "× one CLTU", 2),
    ];
    columns.extend(MEASURED);
    let table = Table::new("The outcome: frames in forward buffers (CSTS) beside CLTUs", &columns);
    let all: &[u32] = if series.quick { &[1, 8, 80] } else { &[1, 2, 4, 8, 16, 20, 40, 80] };
    let lengths: &[u32] = if series.quick { &[220] } else { &[100, 220, 1115] };
    let rtt = Duration::from_millis(100);
    let (far, _) = TestPath::delayed(Link { rtt, ..Link::default() })?;
    let near = lengths.iter().map(|octets| ("loopback", &TestPath::Loopback, *octets));
    filled(step, table, |step, table| {
        for (path, place, octets) in near.chain([("100 ms", &far, 1115)]) {
            let timing = match path {
                "loopback" => series.near(),
                _ => series.far(series.far_warm(), rtt),
            };
            let take = |what: &str, work: &Work| {
                let what = format!("{path}, {octets} octets, {what}");
                series.take(&what, place, [Whose::Ours, Whose::Ours], work, timing)
            };
            let single = take("one CLTU an operation, window 64", &Work::fcltu(octets, 64))?;
            let rate = single.as_ref().map(Measured::units_per_s);
            let mut row = |how: &str, together: u32, measured: Option<&Measured>| {
                let of_single = ratio(measured.map(Measured::units_per_s), rate);
                let [a, b, c, d, e] = measured_cells(measured);
                let [k, l, m]: [Cell; 3] = [path.into(), octets.into(), how.into()];
                table.row([k, l, m, together.into(), of_single.into(), a, b, c, d, e]);
                of_single
            };
            row("CLTU, confirmed", 1, single.as_ref());
            let (mut buffered, mut aggregated) = (None, None);
            let numbers = match path {
                "loopback" => all.to_vec(),
                _ if series.quick => all.last().copied().into_iter().collect(),
                _ => all.to_vec(),
            };
            for together in &numbers {
                if *together > 1 {
                    let work = Work { together: *together, ..Work::fcltu(octets, 64) };
                    let cltus = take(&format!("{together} CLTUs an invocation"), &work)?;
                    aggregated = row("CLTUs together, confirmed", *together, cltus.as_ref());
                }
                let work = Work::frames(octets, *together);
                let what = format!("{together} frames a forward buffer");
                let frames = take(&what, &work)?;
                buffered = row("frames, unconfirmed", *together, frames.as_ref());
            }
            if let (Some(frames), Some(cltus)) = (buffered, aggregated) {
                step.words.push(format!(
                    "{path}, {octets} octets: 80 frames a forward buffer carry {frames:.1} times as \
                     much as confirmed CLTUs one by one (window 64), 80 CLTUs an invocation {cltus:.1} \
                     times"
                ));
            }
        }
        Ok(())
    })
}

/// Confirmed against unconfirmed, one frame an operation.
///
/// # Errors
/// When a measurement fails.
pub(super) fn confirmation(series: &Series, step: &mut Step) -> Result<()> {
    let mut columns = vec![words("procedure", "procedure"), number("octets", "octets", 0)];
    columns.push(number("window", "window", 0));
    columns.extend(MEASURED);
    let title =
        "Forward frames (CSTS): sequence-controlled (confirmed) against buffered, 1 a buffer";
    let table = Table::new(title, &columns);
    filled(step, table, |step, table| {
        for octets in [2000, 8000] {
            let what = format!("frames, buffered, 1 × {octets} octets");
            let free = ours(series, &what, &Work::frames(octets, 1))?;
            let rate = free.as_ref().map(Measured::mbit_per_s);
            let mut factors = Vec::new();
            for window in [1, 64] {
                let what = format!("frames, sequence-controlled, {octets} octets, window {window}");
                let confirmed = ours(series, &what, &Work::sequence(octets, window))?;
                if let Some(more) = ratio(rate, confirmed.as_ref().map(Measured::mbit_per_s)) {
                    factors.push(format!("{} over window {window}", signed_percent(more - 1.0, 0)));
                }
                let [a, b, c, d, e] = measured_cells(confirmed.as_ref());
                let [k, l, m] = ["sequence-controlled".into(), octets.into(), window.into()];
                table.row([k, l, m, a, b, c, d, e]);
            }
            let [a, b, c, d, e] = measured_cells(free.as_ref());
            table.row(["buffered".into(), octets.into(), Cell::None, a, b, c, d, e]);
            step.words
                .push(format!("frames of {octets} octets: unconfirmed {}", factors.join(", ")));
        }
        Ok(())
    })
}
