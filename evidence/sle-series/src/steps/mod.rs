//! The steps of the series, each a table or a few with the document's figures beside.

mod aggregation;
mod asn1;
mod buffers;
mod codec_cost;
mod confirmed;
mod costs;
mod curves;
mod delay;
mod delay_shape;
mod encoding;
mod frames;
mod length;
mod nagle;
mod nasa;
mod optimisations;
mod server;
mod shipped;
mod verdict;
mod window;

use crate::iperf;
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Cell, Column, Table, number, words};
use crate::test_path::TestPath;
use crate::work::{Timing, Work};
use anyhow::Result;

pub(crate) use verdict::verdict;

/// A step: its number, and what takes it.
pub(crate) type Taken = fn(&Series, &mut Step) -> Result<()>;

/// All of them but the verdict, in order.
pub(crate) const STEPS: [(u8, &str, Taken); 7] = [
    (0, "NASA's case: frames in one CLTU against one by one", nasa::take),
    (1, "Throughput against CLTU length, Nagle, delayed acknowledgement", length::take),
    (2, "Delay and windows, beside iperf3", delay::take),
    (3, "Aggregation: several CLTUs in an invocation", aggregation::take),
    (4, "Confirmed against unconfirmed, frames in a buffer", confirmed::take),
    (5, "Share of ASN.1 encoding and decoding", asn1::take),
    (SERVER, "A communication server between the provider and the network", server::take),
];

/// Number of the step that measures the communication server; the verdict has 6.
pub(crate) const SERVER: u8 = 7;

/// Columns of what was measured; `measured_cells` fills them.
const MEASURED: [Column; 5] = [
    number("mbit_per_s", "Mbit/s", 2),
    number("units_per_s", "units/s", 0),
    words("spread", "spread"),
    number("user_us", "user µs", 2),
    number("provider_us", "provider µs", 2),
];

fn measured_cells(measured: Option<&Measured>) -> [Cell; 5] {
    let Some(measured) = measured else { return [const { Cell::None }; 5] };
    [
        measured.mbit_per_s().into(),
        measured.units_per_s().into(),
        measured.spread().into(),
        measured.user_us().into(),
        measured.provider_us().into(),
    ]
}

/// Fills a table and gives it to the step, also where a signal ended the filling: what was measured
/// is kept.
fn filled(
    step: &mut Step,
    mut table: Table,
    fill: impl FnOnce(&mut Step, &mut Table) -> Result<()>,
) -> Result<()> {
    let done = fill(step, &mut table);
    step.tables.push(table);
    done
}

/// Ours with ours on loopback.
fn ours(series: &Series, what: &str, work: &Work) -> Result<Option<Measured>> {
    series.take(what, &TestPath::Loopback, [Whose::Ours, Whose::Ours], work, series.near())
}

/// A ratio, where both are there.
fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?)
}

/// Rate that iperf3 reaches on the path, in Mbit/s; `None` without iperf3, or where it failed.
fn tcp_alone(series: &Series, place: &TestPath, congestion: &str, timing: Timing) -> Option<f64> {
    series.iperf.as_ref()?;
    match iperf::run(place, congestion, timing.warm, timing.round * timing.rounds) {
        Ok(measured) => Some(measured.mbit_per_s()),
        Err(error) => {
            eprintln!("   iperf3: FAILED: {error:#}");
            None
        }
    }
}
