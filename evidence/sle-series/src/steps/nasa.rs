//! Step 0: 7 frames of 220 octets, in one CLTU, in one invocation, or one by one.

use super::{MEASURED, filled, measured_cells, ours};
use crate::series::{Series, Step};
use crate::table::{Cell, Table, number, words};
use crate::work::{Reports, Work};
use anyhow::Result;
use chronoscope_figures::numbers::decimal;

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    let setup = &series.published.setup;
    let (frames, octets) = (setup.frames_per_cltu, setup.frame_octets);
    step.settings.push(format!(
        "loopback; a unit is what the provider radiates: {frames} frames of {octets} octets in one \
         CLTU of {} octets, or CLTUs of {octets} octets; published target: {} Mbit/s, on a link of {} Mbit/s \
         with a round trip of {} ms",
        frames * octets,
        setup.target_mbit_per_s,
        setup.link_mbit_per_s,
        setup.rtt_ms
    ));
    let one = Work::fcltu(octets, 1);
    let whole = Work::fcltu(frames * octets, 1);
    let blocked = Work { together: frames, ..one.clone() };
    let cases = [
        ("one CLTU of 7 frames", &whole, Reports::Every, frames),
        ("one CLTU of 7 frames", &whole, Reports::None, frames),
        ("7 CLTUs, one by one", &one, Reports::Every, 1),
        ("7 CLTUs, one by one", &one, Reports::None, 1),
        ("7 CLTUs in one invocation", &blocked, Reports::Every, 1),
        ("7 CLTUs in one invocation", &blocked, Reports::Last, 1),
        ("7 CLTUs in one invocation", &blocked, Reports::None, 1),
    ];
    let mut columns = vec![
        words("case", "case"),
        words("reports", "radiation reports"),
        number("window", "window", 0),
        number("frames_per_s", "frames/s", 0),
        number("of_target", "of target", 1),
    ];
    columns.extend(MEASURED);
    let table = Table::new("Frames through FCLTU", &columns);
    filled(step, table, |step, table| {
        for window in [1, 64] {
            for (case, work, reports, frames_per_unit) in cases {
                let work = Work { window, reports, ..work.clone() };
                let said = match reports {
                    Reports::None => "none",
                    Reports::Last => "one for all",
                    Reports::Every => "one per CLTU",
                };
                let measured = ours(series, &format!("{case}, {said}, window {window}"), &work)?;
                let rate = measured.as_ref().map(|m| m.units_per_s() * f64::from(frames_per_unit));
                let target = measured.as_ref().map(|m| m.mbit_per_s() / setup.target_mbit_per_s);
                let [a, b, c, d, e] = measured_cells(measured.as_ref());
                let row: [Cell; 5] =
                    [case.into(), said.into(), window.into(), rate.into(), target.into()];
                let [k, l, m, n, o] = row;
                table.row([k, l, m, n, o, a, b, c, d, e]);
            }
        }
        say(table, step);
        Ok(())
    })
}

/// States the cost of a frame one by one, and the saving of blocking.
fn say(table: &Table, step: &mut Step) {
    let rate = |case: &str, reports: &str, window: f64| {
        table.rows.iter().find_map(|row| {
            let is_it =
                row[0] == case.into() && row[1] == reports.into() && row[2] == window.into();
            match row[3] {
                Cell::Number(rate) if is_it => Some(rate),
                _ => None,
            }
        })
    };
    for window in [1.0, 64.0] {
        let whole = rate("one CLTU of 7 frames", "none", window);
        let single = rate("7 CLTUs, one by one", "none", window);
        let reported = rate("7 CLTUs, one by one", "one per CLTU", window);
        let blocked = rate("7 CLTUs in one invocation", "none", window);
        if let (Some(whole), Some(single), Some(reported), Some(blocked)) =
            (whole, single, reported, blocked)
        {
            step.words.push(format!(
                "window {window}: one by one {} frames/s; in one CLTU {:.1} times that, in one \
                 invocation {:.1} times; a radiation report for every CLTU leaves {:.2} of it",
                decimal(single, 0),
                whole / single,
                blocked / single,
                reported / single
            ));
        }
    }
}
