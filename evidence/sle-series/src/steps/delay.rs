//! Step 2: round trips and windows, beside iperf3 on the same path.

use super::{MEASURED, filled, measured_cells, ratio};
use crate::delay::Buffers;
use crate::iperf;
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Cell, Table, number, words};
use crate::test_path::{Link, TestPath};
use crate::work::{Timing, Work};
use anyhow::Result;
use std::time::Duration;

const CONGESTION: &str = "cubic";
/// The windows of the document: 64 kB, 13 MB, 25 MB.
const WINDOWS: [u32; 3] = [65_536, 13_000_000, 25_000_000];
/// Operations without their return, at most: invoke ids have 16 bits. Where TCP's buffers hold 25 MB,
/// 32,768 operations of 1544 octets were in them, and it ran dry now and then.
const OPERATIONS_MAX: u32 = 60_000;
/// Operations in flight that the document's rates correspond to, at both lengths: 10 kB.
const FEW: u32 = 10;

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(format!(
        "congestion control {CONGESTION}, by TCP_CONGESTION at both ends and for iperf3; buffers by \
         tcp_rmem and tcp_wmem of both namespaces, twice what is named, because the kernel takes \
         its bookkeeping out of them; Nagle off; the link is the document's, {} Mbit/s",
        series.published.setup.link_mbit_per_s
    ));
    step.settings.push(
        "late: how long after its time a packet left the delay at the most; more than some ms say that \
         the machine had no CPU for the path, and that the row is too low"
            .to_owned(),
    );
    if series.iperf.is_none() {
        step.settings.push("without iperf3: its columns are empty".to_owned());
    }
    let mut columns = vec![
        number("window_octets", "TCP buffers", 0),
        number("rtt_ms", "RTT ms", 1),
        number("measured_rtt_ms", "connects", 1),
        number("octets", "octets", 0),
        number("operations", "operations", 0),
        words("bound", "in flight"),
    ];
    columns.extend(MEASURED);
    columns.extend([
        number("late_ms", "late ms", 1),
        number("dropped", "dropped", 0),
        number("iperf_mbit_per_s", "iperf3", 2),
        number("of_iperf", "of iperf3", 3),
        number("published_mbit_per_s", "published", 3),
        number("published_of_iperf", "of iperf", 3),
        number("factor", "factor", 1),
    ]);
    let table = Table::new("One CLTU an invocation over a delay", &columns);
    let rtts: &[f64] = if series.quick { &[0.1, 100.0] } else { &[0.1, 50.0, 100.0, 200.0, 400.0] };
    filled(step, table, |step, table| {
        for window in WINDOWS {
            if series.quick && window == 13_000_000 {
                continue;
            }
            for rtt_ms in rtts {
                point(series, step, table, window, *rtt_ms)?;
            }
        }
        say(series, step, table);
        Ok(())
    })
}

/// Largest delay of a packet beyond its time, in ms, and number of dropped packets, since `before`.
fn troubles(before: Option<(f64, u64)>, after: Option<(f64, u64)>) -> (Option<f64>, Option<f64>) {
    let dropped = before.zip(after).map(|((_, before), (_, after))| (after - before) as f64);
    (after.map(|(late_ms, _)| late_ms), dropped)
}

/// How long until what counts: a window opens by doubling once a round trip from 10 segments on, if
/// the congestion control does not turn careful before; twice that, in the whole seconds that iperf3
/// knows, so that both have the same time.
fn warm_up(window: u32, rtt_ms: f64) -> Duration {
    let doublings = (f64::from(window) / 14_480.0).log2().max(1.0);
    Duration::from_secs_f64((2.0 * doublings * rtt_ms / 1e3 + 0.25).ceil())
}

/// One path: iperf3, then both lengths with as many operations as there is room for, then the
/// document's few.
fn point(
    series: &Series,
    step: &mut Step,
    table: &mut Table,
    window: u32,
    rtt_ms: f64,
) -> Result<()> {
    let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
    let link = Link {
        rtt,
        buffers: Some(Buffers { first: 2 * 65_536, most: 2 * window }),
        ..Link::default()
    };
    // Below what the path itself needs there is no delay to add.
    let link = if rtt_ms < 1.0 { Link { rtt: Duration::ZERO, ..link } } else { link };
    let (place, why_not) = TestPath::delayed(link)?;
    if let Some(why_not) = why_not {
        let line = format!("{}: {why_not}", place.name());
        if !step.settings.contains(&line) {
            step.settings.push(line);
        }
    }
    let (_, connects_ms) = place.round_trip_ms()?;
    let timing = series.far(warm_up(window, rtt_ms), rtt);
    series.go_on()?;
    let tcp = tcp_alone(series, &place, timing);
    if let Some(tcp) = tcp {
        eprintln!("   iperf3, RTT {rtt_ms} ms, {window} octets: {tcp:.1} Mbit/s");
    }
    for (octets, operations, bound) in cases(series, window, rtt_ms) {
        let work = Work { congestion: CONGESTION, ..Work::fcltu(octets, operations) };
        let what = format!("RTT {rtt_ms} ms, {window} octets, {octets} octets × {operations}");
        let pair = [Whose::Ours, Whose::Ours];
        let before = place.troubles();
        let measured = series.take(&what, &place, pair, &work, timing)?;
        let (late_ms, dropped) = troubles(before, place.troubles());
        if let Some(measured) =
            measured.as_ref().filter(|_| octets == 1544 && (bound != "few" || !series.quick))
        {
            let beside = [Some(connects_ms), tcp];
            let point = series.point(what, &place, &work, measured, timing, beside)?;
            step.limits.push(point);
        }
        let published = series.published.rtt(window, rtt_ms, octets);
        let mbit = measured.as_ref().map(Measured::mbit_per_s);
        let of_iperf = match octets {
            _ if published.is_none() || window != WINDOWS[0] => None,
            1544 => Some(series.published.iperf_ratio.cltu_1544),
            _ => Some(series.published.iperf_ratio.cltu_1000),
        };
        let published = published.map(|row| row.mbit_per_s);
        let path: [Cell; 3] = [window.into(), rtt_ms.into(), connects_ms.into()];
        let work: [Cell; 3] = [octets.into(), operations.into(), bound.into()];
        let beside: [Cell; 7] = [
            late_ms.into(),
            dropped.into(),
            tcp.into(),
            ratio(mbit, tcp).into(),
            published.into(),
            of_iperf.into(),
            ratio(mbit, published).into(),
        ];
        let ours = measured_cells(measured.as_ref());
        table.row(path.into_iter().chain(work).chain(ours).chain(beside));
    }
    Ok(())
}

/// Rate that iperf3 reaches on the path, in Mbit/s; `None` without iperf3, or where it failed.
fn tcp_alone(series: &Series, place: &TestPath, timing: Timing) -> Option<f64> {
    series.iperf.as_ref()?;
    match iperf::run(place, CONGESTION, timing.warm, timing.round * timing.rounds) {
        Ok(measured) => Some(measured.mbit_per_s()),
        Err(error) => {
            eprintln!("   iperf3: FAILED: {error:#}");
            None
        }
    }
}

/// Octets of a CLTU, operations under way, and what bounds these.
fn cases(series: &Series, window: u32, rtt_ms: f64) -> Vec<(u32, u32, &'static str)> {
    // Four windows of octets in operations leave it to TCP, and do not wait for their returns
    // longer than needed.
    let many = |octets| window.saturating_mul(4).div_ceil(octets).min(OPERATIONS_MAX);
    let mut cases = vec![(1544, many(1544), "TCP's"), (1000, many(1000), "TCP's")];
    if series.quick && window != WINDOWS[0] {
        cases.truncate(1); // the document has both lengths for the small window alone
    }
    if window == WINDOWS[0] && rtt_ms > 1.0 {
        cases.extend([(1544, FEW, "few"), (1000, FEW, "few")]);
        cases.truncate(if series.quick { 3 } else { 4 });
    }
    cases
}

/// States what was in flight according to the document's rates, and how our rates depend on delay.
fn say(series: &Series, step: &mut Step, table: &Table) {
    for octets in [1544, 1000] {
        if let Some(row) = series.published.rtt(WINDOWS[0], 50.0, octets) {
            let in_flight = row.cltus_per_s * row.rtt_ms / 1e3;
            step.words.push(format!(
                "published, {octets} octets at 50 ms: {:.1} CLTUs ({:.1} kB) a round trip, a sixth \
                 of the 64 kB that iperf had: not TCP's buffers but about {in_flight:.0} \
                 operations in flight bounded it",
                in_flight,
                in_flight * f64::from(octets) / 1e3
            ));
        }
    }
    let best = |rtt: f64| {
        let rows = table.rows.iter().filter(|row| row[1] == rtt.into() && row[3] == 1544u32.into());
        let rates = rows.filter_map(|row| match (&row[0], &row[6]) {
            (Cell::Number(window), Cell::Number(mbit)) if *window <= 65_536.0 => Some(*mbit),
            _ => None,
        });
        rates.fold(None, |best: Option<f64>, rate| Some(best.map_or(rate, |b| b.max(rate))))
    };
    if let (Some(near), Some(far)) = (best(0.1), best(400.0)) {
        step.words.push(format!(
            "64 kB, 1544 octets: 400 ms of round trip make it {:.0} times slower than none; \
             published {}",
            near / far,
            series.published.factors.delay_400_ms
        ));
    }
}
