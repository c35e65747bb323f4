//! Step 2, the document's question of slide 14, with an answer and what it carries.

use super::{filled, ratio};
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Table, number};
use crate::test_path::{Link, TestPath};
use crate::window::{NeededWindow, measured_work};
use crate::work::Timing;
use anyhow::Result;
use chronoscope_figures::numbers::decimal;
use std::time::Duration;

/// The document's question of slide 14: the window for 40 Mbit/s, and what it carries.
pub(super) fn take(series: &Series, step: &mut Step) -> Result<()> {
    let asked = series.published.rtt(25_000_000, 0.1, 1544).map_or(40.0, |row| row.mbit_per_s);
    let table = Table::new(
        format!("How big must the window be for {asked} Mbit/s? CLTUs of 1544 octets"),
        &[
            number("rtt_ms", "RTT ms", 0),
            number("operations", "operations", 0),
            number("window_octets", "octets on the wire", 0),
            number("buffers", "tcp_rmem, tcp_wmem", 0),
            number("mbit_per_s", "Mbit/s with these", 2),
            number("of_asked", "of what is asked", 3),
        ],
    );
    let rtts: &[f64] = if series.quick { &[100.0] } else { &[50.0, 100.0, 200.0, 400.0] };
    filled(step, table, |step, table| {
        for rtt_ms in rtts {
            let needed = NeededWindow::of(asked, *rtt_ms, 1544)?;
            let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
            let link = Link { rtt, buffers: Some(needed.buffers()), ..Link::default() };
            let (place, _) = TestPath::delayed(link)?;
            let (work, timing) = measured_work(needed, 1544, rtt);
            let timing = Timing { rounds: series.rounds, ..timing };
            let what = format!("RTT {rtt_ms} ms, window for {asked} Mbit/s");
            let pair = [Whose::Ours; 2];
            let measured = series.take(&what, &place, pair, &work, timing)?;
            let mbit = measured.map(|measured| measured.mbit_per_s());
            table.row([
                (*rtt_ms).into(),
                needed.operations.into(),
                needed.octets.into(),
                needed.buffers().most.into(),
                mbit.into(),
                ratio(mbit, Some(asked)).into(),
            ]);
            step.words.extend(mbit.map(|mbit| {
                format!(
                    "{asked} Mbit/s over {rtt_ms} ms: {} operations and {} octets under way carry {} \
                     Mbit/s",
                    needed.operations,
                    needed.octets,
                    decimal(mbit, 2)
                )
            }));
        }
        Ok(())
    })
}
