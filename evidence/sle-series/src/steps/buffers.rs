//! Step 4, second part: 8000 octets a buffer, in more and smaller frames; the same octets
//! concatenated and handed over as one frame; and why several frames in a buffer gain what they do.

use super::costs::{self, BufferCost, LengthCurve};
use super::{MEASURED, filled, measured_cells, ours, ratio};
use crate::measure::Measured;
use crate::series::{Series, Step};
use crate::table::{Cell, Table, number, words};
use crate::test_path::TestPath;
use crate::work::Work;
use anyhow::Result;
use chronoscope_figures::numbers::decimal;
use chronoscope_statistics::{Line, exponent};

/// Octets of a buffer, on every slide.
const OCTETS: f64 = 8000.0;

/// `single` is the line of buffers with one frame, in µs over octets. What was measured of the
/// document's cases goes to `seen`.
pub(super) fn take(
    series: &Series,
    step: &mut Step,
    single: Option<Line>,
    seen: &mut Vec<(String, Measured)>,
) -> Result<()> {
    let points = table_of_buffers(series, step, seen)?;
    handed_over(series, step, seen)?;
    let rate = |case: &str| {
        let found = seen.iter().find(|(known, _)| known == case);
        found.map(|(_, measured)| measured.mbit_per_s())
    };
    let measured = ratio(rate("RAF 4 × 2000 octets"), rate("RAF 1 × 2000 octets"));
    let raf = &series.published.raf_buffering;
    let document: Vec<(f64, f64)> = raf
        .frames_per_buffer
        .iter()
        .zip(&raf.ms_per_frame)
        .map(|(frames, ms)| (f64::from(*frames), f64::from(*frames) * ms * 1e3))
        .collect();
    let [_, of_document] = costs::published(&series.published);
    let mut rows = Vec::new();
    let ours = single.and_then(|single| BufferCost::of(&points, OCTETS, single));
    rows.extend(ours.map(|cost| ("ours", cost, measured)));
    let theirs = LengthCurve::line(&of_document);
    let theirs = theirs.and_then(|single| BufferCost::of(&document, OCTETS, single));
    let factor = series.published.factors.four_2000_in_buffer;
    rows.extend(theirs.map(|cost| ("document", cost, Some(factor))));
    step.tables.push(costs::buffers(&rows));
    step.words.extend(exponents(&points, &document));
    if let Some(measured) = measured {
        step.words.push(format!(
            "4 × 2000 octets a buffer carry {measured:.2} times as much as 1 × 2000; published {factor} \
             ({} over {} Mbit/s)",
            raf.mbit_per_s[2], raf.single_2000_mbit_per_s
        ));
    }
    Ok(())
}

/// How throughput falls with the number of frames, as exponents.
fn exponents(ours: &[(f64, f64)], document: &[(f64, f64)]) -> Option<String> {
    let of = |times: &[(f64, f64)]| {
        exponent(&times.iter().map(|(frames, us)| (*frames, OCTETS / us)).collect::<Vec<_>>())
    };
    let (ours, document) = of(ours).zip(of(document))?;
    Some(format!(
        "8000 octets a buffer: throughput ~ frames^{ours:.3}; published frames^{document:.3}"
    ))
}

/// The document's table; µs for a buffer over the number of its frames.
fn table_of_buffers(
    series: &Series,
    step: &mut Step,
    seen: &mut Vec<(String, Measured)>,
) -> Result<Vec<(f64, f64)>> {
    let raf = &series.published.raf_buffering;
    let mut columns = vec![number("octets", "octets", 0), number("together", "frames/buffer", 0)];
    columns.extend(MEASURED);
    columns.extend([
        number("us_per_frame", "µs/frame", 3),
        number("published_mbit_per_s", "published", 2),
        number("published_frames_per_s", "frames/s", 0),
        number("factor", "factor", 0),
    ]);
    let table = Table::new("RAF: 8000 octets a buffer, in more and smaller frames", &columns);
    let mut points = Vec::new();
    filled(step, table, |step, table| {
        for (i, octets) in raf.frame_octets.iter().enumerate() {
            let together = raf.frames_per_buffer[i];
            let work = Work::raf(*octets, together);
            let case = format!("RAF {together} × {octets} octets");
            let measured = ours(series, &case, &work)?;
            let us = measured.as_ref().map(Measured::unit_us);
            points.extend(us.map(|us| (f64::from(together), f64::from(together) * us)));
            let is_limit = !series.quick || matches!(together, 1 | 4 | 80);
            if let Some(measured) = measured.as_ref().filter(|_| is_limit) {
                let (near, timing) = (&TestPath::Loopback, series.near());
                let what = format!("{case}, loopback");
                let point = series.point(what, near, &work, measured, timing, [None, None])?;
                step.limits.extend(point);
            }
            let rate = measured.as_ref().map(Measured::units_per_s);
            if together == 80
                && let Some(rate) = rate
            {
                step.words.push(format!(
                    "80 × 100 octets: {} frames/s; published {}; our aim: 1,000,000",
                    decimal(rate, 0),
                    decimal(raf.frames_per_s[i], 0)
                ));
            }
            let [a, b, c, d, e] = measured_cells(measured.as_ref());
            let published = raf.frames_per_s[i];
            let cells = [
                us.into(),
                raf.mbit_per_s[i].into(),
                published.into(),
                rate.map(|rate| rate / published).into(),
            ];
            let [w, x, y, z] = cells;
            table.row([(*octets).into(), together.into(), a, b, c, d, e, w, x, y, z]);
            let is_kept = matches!(together, 1 | 4 | 80);
            seen.extend(measured.filter(|_| is_kept).map(|measured| (case, measured)));
        }
        Ok(())
    })?;
    Ok(points)
}

/// 80 frames of 100 octets as one data unit, made of them each time, beside one frame of that length
/// and one of 2000 octets.
fn handed_over(series: &Series, step: &mut Step, seen: &mut Vec<(String, Measured)>) -> Result<()> {
    let raf = &series.published.raf_buffering;
    let mut columns = vec![words("how", "handed over"), number("octets", "octets", 0)];
    columns.extend(MEASURED);
    columns.push(number("published_mbit_per_s", "published", 2));
    let table = Table::new("RAF: frames handed over as one", &columns);
    let cases = [
        ("RAF 80 × 100 octets as one", 8000u32, Work::concatenated(100, 80), {
            raf.concatenated_80x100_mbit_per_s
        }),
        ("RAF 1 × 8000 octets, again", 8000, Work::raf(8000, 1), raf.mbit_per_s[0]),
        ("RAF 1 × 2000 octets", 2000, Work::raf(2000, 1), raf.single_2000_mbit_per_s),
    ];
    filled(step, table, |step, table| {
        for (case, octets, work, published) in cases {
            let measured = ours(series, case, &work)?;
            let [a, b, c, d, e] = measured_cells(measured.as_ref());
            table.row([case.into(), octets.into(), a, b, c, d, e, published.into()]);
            seen.extend(measured.map(|measured| (case.to_owned(), measured)));
        }
        let rate = |at: usize| match &table.rows[at][2] {
            Cell::Number(mbit) => Some(*mbit),
            _ => None,
        };
        if let Some(part) = ratio(rate(0), rate(1)) {
            step.words.push(format!(
                "80 frames of 100 octets, concatenated each time and handed over as one, carry {part:.2} \
                 of what frames of 8000 octets do; published {:.3}",
                raf.concatenated_80x100_mbit_per_s / raf.mbit_per_s[0]
            ));
        }
        Ok(())
    })
}
