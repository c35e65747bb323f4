//! Step 4: what confirmation costs, and what frames in a buffer gain.

use super::costs::{self, LengthCurve};
use super::{MEASURED, buffers, filled, measured_cells, ours, ratio};
use crate::chains::Chains;
use crate::measure::Measured;
use crate::pair::{Whose, record};
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::TestPath;
use crate::work::Work;
use anyhow::Result;
use chronoscope_figures::numbers::{percent, signed_percent};

/// The document's two lengths and others between and below: for the cost of an octet.
const LENGTHS: [u32; 6] = [250, 500, 1000, 2000, 4000, 8000];
/// Windows of CLTUs: one at a time, and as many as keep both programs busy.
const WINDOWS: [u32; 2] = [1, 64];

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "loopback; RAF complete online, frames from a generator; units are CLTUs or frames. The \
         slides' Mbit/s and frames/s of one row differ by up to 19 %"
            .to_owned(),
    );
    let mut seen = Vec::new();
    let raf = confirmation(series, step, &mut seen)?;
    parts(series, step)?;
    super::frames::confirmation(series, step)?;
    buffers::take(series, step, raf.line(), &mut seen)?;
    step.tables.push(costs::waits(&seen));
    java(series, step)
}

/// CLTUs beside frames over length, with what of their time is fixed; the curve of the frames.
fn confirmation(
    series: &Series,
    step: &mut Step,
    seen: &mut Vec<(String, Measured)>,
) -> Result<LengthCurve> {
    let mut columns = vec![words("service", "service"), number("octets", "octets", 0)];
    columns.push(number("window", "window", 0));
    columns.extend(MEASURED);
    columns.push(number("published_mbit_per_s", "published", 2));
    let table = Table::new("Confirmed (CLTU) against unconfirmed (RAF, 1 frame/buffer)", &columns);
    let cltus = WINDOWS.map(|window| LengthCurve::new("CLTU", Some(window)));
    let mut curves = [&cltus[..], &[LengthCurve::new("RAF", None)]].concat();
    filled(step, table, |step, table| {
        for octets in LENGTHS {
            let published = series.published.confirmed.iter().find(|row| row.octets == octets);
            let mut rates = Vec::new();
            for curve in &mut curves {
                let work = match curve.window {
                    Some(window) => Work::fcltu(octets, window),
                    None => Work::raf(octets, 1),
                };
                let window = curve.window.map(|window| format!(", window {window}"));
                let what =
                    format!("{} {octets} octets{}", curve.service, window.unwrap_or_default());
                let measured = ours(series, &what, &work)?;
                let us = measured.as_ref().map(Measured::unit_us);
                curve.points.extend(us.map(|us| (f64::from(octets), us)));
                rates.push(measured.as_ref().map(Measured::mbit_per_s));
                let of_service = published.map(|row| match curve.window {
                    Some(_) => row.cltu_mbit_per_s,
                    None => row.raf_mbit_per_s,
                });
                let [a, b, c, d, e] = measured_cells(measured.as_ref());
                let [k, l, m] = [curve.service.into(), octets.into(), curve.window.into()];
                table.row([k, l, m, a, b, c, d, e, of_service.into()]);
                seen.extend(measured.filter(|_| octets == 2000).map(|measured| (what, measured)));
            }
            if published.is_some() {
                step.words.extend(gain(series, octets, &rates));
            }
        }
        Ok(())
    })?;
    let document = costs::published(&series.published);
    step.tables.push(costs::data_units(&curves, &document));
    step.words.extend(causes(&curves, &document));
    Ok(curves.pop().unwrap_or_else(|| LengthCurve::new("RAF", None)))
}

/// How much faster frames are than CLTUs of each window, in words; `rates` are in Mbit/s, the
/// frames' last.
fn gain(series: &Series, octets: u32, rates: &[Option<f64>]) -> Option<String> {
    let (raf, cltus) = rates.split_last()?;
    let factors = cltus.iter().zip(WINDOWS).filter_map(|(cltu, window)| {
        let more = ratio(*raf, *cltu)? - 1.0;
        Some(format!("{} over window {window}", signed_percent(more, 0)))
    });
    let published = &series.published.factors;
    let published =
        if octets == 8000 { published.raf_over_cltu_8000 } else { published.raf_over_cltu_2000 };
    Some(format!(
        "{octets} octets: unconfirmed {}; published {}",
        factors.collect::<Vec<_>>().join(", "),
        signed_percent(published - 1.0, 0)
    ))
}

/// Why the factor depends on the length here and hardly does in the document.
fn causes(ours: &[LengthCurve], document: &[LengthCurve]) -> Vec<String> {
    let pair = |curves: &[LengthCurve], window: Option<u32>| {
        let of = |service: &str, window: Option<u32>| {
            let curve = curves.iter().find(|one| one.service == service && one.window == window);
            curve.and_then(LengthCurve::line)
        };
        of("CLTU", window).zip(of("RAF", None))
    };
    let mut words = Vec::new();
    for octets in [2000.0, 8000.0] {
        let all = [("ours, window 64", pair(ours, Some(64))), ("document", pair(document, None))];
        let found = all.into_iter().filter_map(|(whose, pair)| {
            let (cltu, raf) = pair?;
            Some(format!("{whose}: {}", costs::factor(cltu, raf, octets)))
        });
        words.push(format!(
            "{octets} octets, CLTU to frame: {}",
            found.collect::<Vec<_>>().join("; ")
        ));
    }
    words
}

/// One confirmed CLTU at a time, recorded: what of its time is the wait for its confirmation.
fn parts(series: &Series, step: &mut Step) -> Result<()> {
    let table = Table::new(
        "A confirmed CLTU, one at a time: parts of its time, recorded",
        &[
            number("octets", "octets", 0),
            number("total_us", "µs", 2),
            number("there_us", "there", 2),
            number("receive_us", "at the provider", 2),
            number("back_us", "its return", 2),
            number("acknowledge_us", "acknowledged", 2),
            number("wait_pct", "return, %", 0),
        ],
    );
    filled(step, table, |step, table| {
        for octets in [2000, 8000] {
            let what = format!("CLTU {octets} octets, window 1, recorded");
            let found = series.try_take(&what, || {
                let recorded = record(&TestPath::Loopback, &Work::fcltu(octets, 1), series.near())?;
                Ok((recorded.measured, recorded.chains))
            })?;
            let Some((_, chains)) = found else { continue };
            let wait = waits(&chains);
            table.row([
                octets.into(),
                chains.total_us.into(),
                chains.there_us.into(),
                chains.receive_us.into(),
                chains.back_us.into(),
                chains.acknowledge_us.into(),
                (wait * 100.0).into(),
            ]);
            step.words.push(format!(
                "{octets} octets, one CLTU at a time: {} of its time is the way of its return",
                percent(wait, 0)
            ));
        }
        Ok(())
    })
}

/// Share of a CLTU's time from the provider's answer until its fate is known.
fn waits(chains: &Chains) -> f64 {
    (chains.back_us + chains.acknowledge_us) / chains.total_us
}

fn java(series: &Series, step: &mut Step) -> Result<()> {
    let Some(utl) = &series.utl else {
        step.settings.push("without the Java peer: its table is missing".to_owned());
        return Ok(());
    };
    let mut columns = vec![words("user", "user"), words("provider", "provider")];
    columns.push(number("octets", "octets", 0));
    columns.push(number("together", "frames/buffer", 0));
    columns.extend(MEASURED);
    let table = Table::new("RAF beside the Java peer (UTL 1.0.6), version 5, loopback", &columns);
    let utl = Whose::Utl(utl);
    let pairs = [
        ("ours", "ours", [Whose::Ours, Whose::Ours]),
        ("UTL", "UTL", [utl, utl]),
        ("UTL", "ours", [utl, Whose::Ours]),
        ("ours", "UTL", [Whose::Ours, utl]),
    ];
    let cases: &[(u32, u32)] = if series.quick {
        &[(100, 80)]
    } else {
        &[(1115, 1), (1115, 4), (1115, 10), (1115, 80), (100, 80)]
    };
    filled(step, table, |_, table| {
        for (octets, together) in cases {
            for (user, provider, pair) in pairs {
                let work = Work::raf(*octets, *together);
                let what = format!("{provider} → {user}, {together} × {octets} octets");
                let measured =
                    series.take(&what, &TestPath::Loopback, pair, &work, series.near())?;
                let [a, b, c, d, e] = measured_cells(measured.as_ref());
                let row = [user.into(), provider.into(), (*octets).into(), (*together).into()];
                let [k, l, m, n] = row;
                table.row([k, l, m, n, a, b, c, d, e]);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::waits;
    use crate::chains::Chains;

    #[test]
    fn the_wait_is_from_the_answer_until_the_fate_is_known() {
        let chains = Chains {
            total_us: 20.0,
            there_us: 8.0,
            receive_us: 2.0,
            back_us: 9.0,
            acknowledge_us: 1.0,
            ..Chains::default()
        };
        assert_eq!(waits(&chains), 0.5);
    }
}
