//! Step 2, first: what the shipped defaults carry over a delay, beside iperf3 with the machine's.
//!
//! Nobody who uses the programs for the first time names a window. What counts is the share of the
//! path that they get without one; `cargo run -p chronoscope-sle-series -- --only 2` prints it first.

use super::{filled, ratio, tcp_alone};
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::{Link, TestPath};
use crate::work::{Timing, Work};
use anyhow::Result;
use std::time::Duration;

/// Octets of a CLTU. Shorter ones are limited by the octets of their operations: of 100 octets 40 %
/// of what crosses the link are not data.
const LENGTHS: [u32; 3] = [1000, 1544, 4096];
/// Time until TCP and the user's window have opened, in whole seconds, as iperf3 knows them.
const WARM: Duration = Duration::from_secs(4);

pub(super) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "shipped defaults: no window, no buffer and no congestion control is named, neither for us nor \
         for iperf3; the buffers are the machine's tcp_rmem and tcp_wmem"
            .to_owned(),
    );
    let table = Table::new(
        "The shipped defaults beside iperf3",
        &[
            number("rtt_ms", "RTT ms", 0),
            number("octets", "octets", 0),
            number("mbit_per_s", "Mbit/s", 2),
            number("iperf_mbit_per_s", "iperf3", 2),
            number("of_iperf", "of iperf3", 3),
            words("spread", "spread"),
        ],
    );
    let rtts: &[u32] = if series.quick { &[100] } else { &[10, 100, 400] };
    filled(step, table, |_, table| {
        for rtt_ms in rtts {
            let rtt = Duration::from_millis(u64::from(*rtt_ms));
            let (place, _) = TestPath::delayed(Link { rtt, ..Link::default() })?;
            let timing = Timing { warm: WARM, ..series.far(WARM, rtt) };
            for octets in LENGTHS {
                // Beside, not before all: a machine with other work changes meanwhile.
                let tcp = tcp_alone(series, &place, "", timing);
                let what = format!("RTT {rtt_ms} ms, shipped defaults, {octets} octets");
                let (pair, work) = ([Whose::Ours; 2], Work::shipped(octets));
                let measured = series.take(&what, &place, pair, &work, timing)?;
                let mbit = measured.as_ref().map(Measured::mbit_per_s);
                table.row([
                    (*rtt_ms).into(),
                    octets.into(),
                    mbit.into(),
                    tcp.into(),
                    ratio(mbit, tcp).into(),
                    measured.as_ref().map(Measured::spread).into(),
                ]);
            }
        }
        Ok(())
    })
}
