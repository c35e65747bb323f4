//! Step 4: what confirmation costs, and what frames in a buffer gain.

use super::{MEASURED, filled, measured_cells, ours, ratio};
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::TestPath;
use crate::work::Work;
use anyhow::Result;
use chronoscope_figures::numbers::{decimal, signed_percent};

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "loopback; RAF complete online, frames from a generator; units are CLTUs or frames. The \
         slides' Mbit/s and frames/s of one row differ by up to 19 %"
            .to_owned(),
    );
    confirmation(series, step)?;
    super::frames::confirmation(series, step)?;
    buffers(series, step)?;
    java(series, step)
}

fn confirmation(series: &Series, step: &mut Step) -> Result<()> {
    let mut columns = vec![words("service", "service"), number("octets", "octets", 0)];
    columns.push(number("window", "window", 0));
    columns.extend(MEASURED);
    columns.push(number("published_mbit_per_s", "published", 2));
    let table = Table::new("Confirmed (CLTU) against unconfirmed (RAF, 1 frame/buffer)", &columns);
    filled(step, table, |step, table| {
        for row in &series.published.confirmed {
            let raf =
                ours(series, &format!("RAF {} octets", row.octets), &Work::raf(row.octets, 1))?;
            let mut factors = Vec::new();
            for window in [1, 64] {
                let work = Work::fcltu(row.octets, window);
                let what = format!("CLTU {} octets, window {window}", row.octets);
                let cltu = ours(series, &what, &work)?;
                let raf = raf.as_ref().map(Measured::mbit_per_s);
                if let Some(more) = ratio(raf, cltu.as_ref().map(Measured::mbit_per_s)) {
                    factors.push(format!("{} over window {window}", signed_percent(more - 1.0, 0)));
                }
                let [a, b, c, d, e] = measured_cells(cltu.as_ref());
                let row =
                    ["CLTU".into(), row.octets.into(), window.into(), row.cltu_mbit_per_s.into()];
                let [k, l, m, z] = row;
                table.row([k, l, m, a, b, c, d, e, z]);
            }
            let [a, b, c, d, e] = measured_cells(raf.as_ref());
            let cells = ["RAF".into(), row.octets.into(), row.raf_mbit_per_s.into()];
            let [k, l, z] = cells;
            table.row([k, l, crate::table::Cell::None, a, b, c, d, e, z]);
            let factors_published = &series.published.factors;
            let published = match row.octets {
                8000 => factors_published.raf_over_cltu_8000_pct,
                _ => factors_published.raf_over_cltu_2000_pct,
            };
            step.words.push(format!(
                "{} octets: unconfirmed {}; published +{published:.0} %",
                row.octets,
                factors.join(", ")
            ));
        }
        Ok(())
    })
}

fn buffers(series: &Series, step: &mut Step) -> Result<()> {
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
    filled(step, table, |step, table| {
        let mut four = None;
        for (i, octets) in raf.frame_octets.iter().enumerate() {
            let together = raf.frames_per_buffer[i];
            if series.quick && !matches!(together, 1 | 4 | 80) {
                continue;
            }
            let work = Work::raf(*octets, together);
            let measured = ours(series, &format!("RAF {together} × {octets} octets"), &work)?;
            let rate = measured.as_ref().map(Measured::units_per_s);
            if together == 4 {
                four = measured.as_ref().map(Measured::mbit_per_s);
            }
            if let Some(measured) = &measured {
                let what = format!("RAF {together} × {octets} octets, loopback");
                let (near, timing) = (&TestPath::Loopback, series.near());
                let point = series.point(what, near, &work, measured, timing, [None, None])?;
                step.limits.push(point);
            }
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
                rate.map(|rate| 1e6 / rate).into(),
                raf.mbit_per_s[i].into(),
                published.into(),
                rate.map(|rate| rate / published).into(),
            ];
            let [w, x, y, z] = cells;
            table.row([(*octets).into(), together.into(), a, b, c, d, e, w, x, y, z]);
        }
        buffering_gain(series, step, four)
    })
}

/// The gain by four frames a buffer, whose rate is `four` Mbit/s, and the rate of 80 frames that are handed over
/// as one, beside the published ones.
fn buffering_gain(series: &Series, step: &mut Step, four: Option<f64>) -> Result<()> {
    let raf = &series.published.raf_buffering;
    let single = ours(series, "RAF 1 × 2000 octets", &Work::raf(2000, 1))?;
    let whole = ours(series, "RAF 80 × 100 octets as one frame", &Work::raf(8000, 1))?;
    let single = single.as_ref().map(Measured::mbit_per_s);
    if let Some(factor) = ratio(four, single) {
        step.words.push(format!(
            "4 × 2000 octets a buffer carry {factor:.2} times as much as 1 × 2000; published {} \
             ({} over {} Mbit/s)",
            series.published.factors.four_2000_in_buffer,
            raf.mbit_per_s[2],
            raf.single_2000_mbit_per_s
        ));
    }
    if let Some(whole) = whole {
        step.words.push(format!(
            "80 × 100 octets concatenated and handed over as one frame: {} Mbit/s; published {}",
            decimal(whole.mbit_per_s(), 0),
            raf.concatenated_80x100_mbit_per_s
        ));
    }
    Ok(())
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
