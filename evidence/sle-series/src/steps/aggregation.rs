//! Step 3: N CLTUs in one invocation, acknowledged by one return.

use super::{MEASURED, filled, measured_cells, ratio};
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::{Link, TestPath};
use crate::work::Work;
use anyhow::Result;
use std::time::Duration;

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "a SEQUENCE OF CLTUs, each with its id, in one invocation (no book has it: both ends are \
         told blocking = true); one return when the last is taken. N = 1 is the ordinary operation"
            .to_owned(),
    );
    let mut columns = vec![
        words("path", "path"),
        number("octets", "octets", 0),
        number("window", "window", 0),
        number("together", "N", 0),
        number("of_single", "× N = 1", 2),
    ];
    columns.extend(MEASURED);
    let table = Table::new("CLTUs in an invocation", &columns);
    let all: &[u32] = if series.quick { &[1, 8, 80] } else { &[1, 2, 4, 7, 8, 10, 16, 20, 40, 80] };
    let delay = Duration::from_millis(100);
    let (far, why_not) = TestPath::delayed(Link { rtt: delay, ..Link::default() })?;
    step.settings.extend(why_not.map(|why_not| format!("{}: {why_not}", far.name())));
    let mut cases = vec![
        ("loopback", &TestPath::Loopback, 100, 64),
        ("loopback", &TestPath::Loopback, 1544, 1),
        ("100 ms", &far, 1544, 10),
    ];
    if !series.quick {
        cases.insert(1, ("loopback", &TestPath::Loopback, 220, 64));
    }
    filled(step, table, |step, table| {
        for (path, place, octets, window) in cases {
            let (rtt_ms, _) = place.round_trip_ms()?;
            let mut single = None;
            let numbers = if path == "loopback" { all.to_vec() } else { series.ends(all) };
            for together in &numbers {
                let work = Work { together: *together, ..Work::fcltu(octets, window) };
                let what = format!("{path}, {octets} octets, window {window}, N = {together}");
                let timing = match path {
                    "loopback" => series.near(),
                    _ => series.far(series.far_warm(), delay),
                };
                let pair = [Whose::Ours, Whose::Ours];
                let measured = series.take(&what, place, pair, &work, timing)?;
                let rate = measured.as_ref().map(Measured::units_per_s);
                single = single.or(rate);
                if let Some(measured) = measured.as_ref().filter(|_| match together {
                    1 => !series.quick,
                    _ => *together == 80,
                }) {
                    let beside = [(path != "loopback").then_some(rtt_ms), None];
                    let point = series.point(what, place, &work, measured, timing, beside)?;
                    step.limits.extend(point);
                }
                let [a, b, c, d, e] = measured_cells(measured.as_ref());
                let of_single = ratio(rate, single);
                let row = [path.into(), octets.into(), window.into(), (*together).into()];
                let [k, l, m, n] = row;
                table.row([k, l, m, n, of_single.into(), a, b, c, d, e]);
                if let Some(factor) = of_single.filter(|_| *together == 80) {
                    step.words.push(format!(
                    "{path}, {octets} octets, window {window}: 80 together carry {factor:.1} times \
                     as much as one by one"
                ));
                }
            }
        }
        Ok(())
    })?;
    super::frames::outcome(series, step)
}
