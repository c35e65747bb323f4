//! Step 1: throughput against the length of a CLTU; the slides' settings; the Java peer.

use super::{MEASURED, filled, measured_cells, ours, ratio};
use super::{curves, nagle, optimisations};
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::TestPath;
use crate::work::Work;
use anyhow::Result;
use chronoscope_figures::numbers::{decimal, signed_percent};
use chronoscope_statistics::Line;

const LENGTHS: [u32; 11] = [100, 220, 500, 1000, 1544, 2000, 4096, 8000, 16_000, 32_000, 65_536];
const QUICK: [u32; 4] = [100, 1544, 8000, 65_536];
const WINDOW: u32 = 64;

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "above 4096 octets only because the provider is told beyond_standard = true: the book's \
         maximum-sldu-length ends at 4096"
            .to_owned(),
    );
    lengths(series, step)?;
    let (segmented, why_not) = TestPath::segmented();
    step.settings.extend(why_not);
    curves::take(series, step, &segmented)?;
    optimisations::take(series, step, &segmented)?;
    nagle::take(series, step)?;
    java(series, step)
}

fn lengths(series: &Series, step: &mut Step) -> Result<()> {
    let mut columns = vec![
        number("octets", "octets", 0),
        number("window", "window", 0),
        words("application", "application"),
        number("us_per_cltu", "µs/CLTU", 2),
    ];
    columns.extend(MEASURED);
    let table = Table::new("Throughput against CLTU length, loopback", &columns);
    filled(step, table, |step, table| {
        let (mut times, mut cpus) = (Vec::new(), Vec::new());
        let lengths: &[u32] = if series.quick { &QUICK } else { &LENGTHS };
        let mut variants = vec![(WINDOW, false), (1, false)];
        if !series.quick {
            variants.push((WINDOW, true));
        }
        for (window, fresh) in variants {
            for octets in lengths {
                let work = Work { fresh, ..Work::fcltu(*octets, window) };
                let application = if fresh { "CLTUs made anew" } else { "optimised" };
                let what = format!("{octets} octets, window {window}, {application}");
                let measured = ours(series, &what, &work)?;
                let us = measured.as_ref().map(|m| 1e6 / m.units_per_s());
                if let (Some(us), WINDOW, false) = (us, window, fresh) {
                    times.push((f64::from(*octets), us));
                    cpus.extend(
                        measured
                            .as_ref()
                            .map(|m| (f64::from(*octets), m.user_us() + m.provider_us())),
                    );
                }
                if let Some(measured) = &measured
                    && matches!(octets, 1544 | 8000)
                {
                    let what = format!("loopback, {octets} octets, window {window}");
                    let (near, timing) = (&TestPath::Loopback, series.near());
                    let point = series.point(what, near, &work, measured, timing, [None, None])?;
                    step.limits.extend(point);
                }
                let [a, b, c, d, e] = measured_cells(measured.as_ref());
                let row = [(*octets).into(), window.into(), application.into(), us.into()];
                let [k, l, m, n] = row;
                table.row([k, l, m, n, a, b, c, d, e]);
            }
        }
        step.words.extend(constant("time", &times));
        step.words.extend(constant("CPU of both processes", &cpus));
        let rate = |application: &str| {
            let rows = table.series("octets", "units_per_s", Some(("application", application)));
            rows.iter().filter(|(octets, _)| *octets == 1544.0).map(|(_, rate)| *rate).next()
        };
        if let Some(gain) = ratio(rate("optimised"), rate("CLTUs made anew")) {
            step.words.push(format!(
                "1544 octets: CLTUs made once carry {} over CLTUs made anew",
                signed_percent(gain - 1.0, 0)
            ));
        }
        Ok(())
    })
}

/// Whether the time for a CLTU depends on its length: a line through the times.
fn constant(what: &str, times: &[(f64, f64)]) -> Option<String> {
    let line = Line::fit_relative(times).filter(|_| times.len() > 2)?;
    let doubles = if line.slope > 0.0 { line.constant / line.slope } else { f64::INFINITY };
    Some(format!(
        "{what} per CLTU (window {WINDOW}) = {:.2} µs + {:.3} ns an octet: {}; published: constant \
         processing time, data rate linear in the length",
        line.constant,
        line.slope * 1e3,
        if doubles > 4096.0 {
            format!("the constant part is the larger one up to {} octets", decimal(doubles, 0))
        } else {
            "not constant: octets cost more than the operation within the standard's lengths".into()
        }
    ))
}

/// The Java peer with itself, and with ours at the other end, in the same run.
fn java(series: &Series, step: &mut Step) -> Result<()> {
    let Some(utl) = &series.utl else {
        step.settings.push("without the Java peer: its table is missing".to_owned());
        return Ok(());
    };
    let mut columns = vec![words("user", "user"), words("provider", "provider")];
    columns.push(number("octets", "octets", 0));
    columns.push(number("window", "window", 0));
    columns.extend(MEASURED);
    let table = Table::new("Beside the Java peer (UTL 1.0.6), version 5, loopback", &columns);
    let utl = Whose::Utl(utl);
    let pairs = [[Whose::Ours, Whose::Ours], [utl, utl], [utl, Whose::Ours], [Whose::Ours, utl]];
    let windows: &[u32] = if series.quick { &[64] } else { &[1, 64, 1000] };
    filled(step, table, |_, table| {
        for window in windows {
            for pair in pairs {
                let name = |whose: Whose<'_>| match whose {
                    Whose::Ours => "ours",
                    Whose::Utl(_) => "UTL",
                };
                let work = Work::fcltu(1544, *window);
                let what = format!("{} → {}, window {window}", name(pair[0]), name(pair[1]));
                let measured =
                    series.take(&what, &TestPath::Loopback, pair, &work, series.near())?;
                let [a, b, c, d, e] = measured_cells(measured.as_ref());
                let row = [name(pair[0]).into(), name(pair[1]).into(), 1544u32.into()];
                let [k, l, m] = row;
                table.row([k, l, m, (*window).into(), a, b, c, d, e]);
            }
        }
        Ok(())
    })
}
