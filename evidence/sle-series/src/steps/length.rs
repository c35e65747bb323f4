//! Step 1: throughput against the length of a CLTU; optimisations; Nagle; the Java peer.

use super::optimisations;
use super::{MEASURED, filled, measured_cells, ours, ratio};
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::{Link, TestPath};
use crate::work::Work;
use anyhow::Result;
use chronoscope_figures::numbers::{decimal, signed_percent};

const LENGTHS: [u32; 11] = [100, 220, 500, 1000, 1544, 2000, 4096, 8000, 16_000, 32_000, 65_536];
const QUICK: [u32; 5] = [100, 1544, 4096, 8000, 65_536];
const WINDOW: u32 = 64;

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "above 4096 octets only because the provider is told beyond_standard = true: the book's \
         maximum-sldu-length ends at 4096"
            .to_owned(),
    );
    lengths(series, step)?;
    optimisations::take(series, step)?;
    nagle(series, step)?;
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
                    step.limits.push(point);
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

/// Whether the time for a CLTU depends on its length: least squares of time = a + b · octets.
fn constant(what: &str, times: &[(f64, f64)]) -> Option<String> {
    let (a, b) = line(times)?;
    let doubles = if b > 0.0 { a / b } else { f64::INFINITY };
    Some(format!(
        "{what} per CLTU (window {WINDOW}) = {a:.2} µs + {:.3} ns an octet: {}; published: constant \
         processing time, data rate linear in the length",
        b * 1e3,
        if doubles > 4096.0 {
            format!("the constant part is the larger one up to {} octets", decimal(doubles, 0))
        } else {
            "not constant: octets cost more than the operation within the standard's lengths".into()
        }
    ))
}

/// Least squares of y = a + b · x, weighted by 1/y² so that each length counts alike.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (mut w, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (px, py) in points {
        let weight = 1.0 / (py * py);
        w += weight;
        x += weight * px;
        y += weight * py;
        xx += weight * px * px;
        xy += weight * px * py;
    }
    let determinant = w * xx - x * x;
    (points.len() > 2 && determinant > 0.0).then(|| {
        let b = (w * xy - x * y) / determinant;
        ((y - b * x) / w, b)
    })
}

/// Nagle's algorithm and delayed acknowledgements, on segments of Ethernet's size where a path may
/// be made.
fn nagle(series: &Series, step: &mut Step) -> Result<()> {
    let (place, why_not) = TestPath::delayed(Link::default())?;
    let place = if why_not.is_some() { TestPath::Loopback } else { place };
    let (rtt_ms, _) = place.round_trip_ms()?;
    let mut columns = vec![
        number("octets", "octets", 0),
        number("window", "window", 0),
        words("nagle", "Nagle"),
        words("delayed_ack", "delayed ack"),
        number("slower", "slower by", 2),
    ];
    columns.extend(MEASURED);
    let title = format!(
        "Nagle and delayed acknowledgement, set at both ends; {}, RTT {rtt_ms:.2} ms; published: \
         {} times slower with both on",
        place.name(),
        series.published.factors.nagle_and_delayed_ack
    );
    let table = Table::new(title, &columns);
    filled(step, table, |step, table| {
        let mut worst: Option<(f64, String)> = None;
        let cases: &[(u32, u32)] = if series.quick {
            &[(1544, 2)]
        } else {
            &[(100, 1), (100, 10), (1544, 1), (1544, 2), (1544, 10), (1544, 64), (8000, 1)]
        };
        for (octets, window) in cases {
            let mut off = None;
            for (nagle, delayed) in [(false, false), (true, false), (false, true), (true, true)] {
                let work =
                    Work { nagle, delayed_ack: Some(delayed), ..Work::fcltu(*octets, *window) };
                let on = |is: bool| if is { "on" } else { "off" };
                let what = format!(
                    "{octets} octets, window {window}, Nagle {}, delayed ack {}",
                    on(nagle),
                    on(delayed)
                );
                let pair = [Whose::Ours, Whose::Ours];
                let measured = series.take(&what, &place, pair, &work, series.near())?;
                let rate = measured.as_ref().map(Measured::units_per_s);
                if !nagle && !delayed {
                    off = rate;
                }
                let slower = ratio(off, rate);
                if let Some(slower) = slower.filter(|_| nagle && delayed)
                    && worst.as_ref().is_none_or(|(worst, _)| slower > *worst)
                {
                    worst = Some((slower, format!("{octets} octets, window {window}")));
                }
                let [a, b, c, d, e] = measured_cells(measured.as_ref());
                let row =
                    [(*octets).into(), (*window).into(), on(nagle).into(), on(delayed).into()];
                let [k, l, m, n] = row;
                table.row([k, l, m, n, slower.into(), a, b, c, d, e]);
            }
        }
        if let Some((slower, at)) = worst {
            step.words.push(format!(
                "both on: at most {slower:.2} times slower ({at}); published {}",
                series.published.factors.nagle_and_delayed_ack
            ));
        }
        Ok(())
    })
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

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_is_found_again() {
        let points = [100.0, 1000.0, 4000.0, 60_000.0].map(|x: f64| (x, 5.0 + 0.001 * x));
        let (a, b) = line(&points).unwrap();
        assert!((a - 5.0).abs() < 1e-6 && (b - 0.001).abs() < 1e-9, "{a} {b}");
        assert!(line(&points[..2]).is_none());
    }
}
