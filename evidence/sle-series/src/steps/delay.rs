//! Step 2: round trips and windows, beside iperf3 on the same path.

use super::{MEASURED, delay_shape, filled, measured_cells, ratio, tcp_alone};
use crate::delay::Buffers;
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
/// Round trips of the document with the small window, in ms; the first is none.
const RTTS_MS: [f64; 5] = [0.1, 50.0, 100.0, 200.0, 400.0];
/// The short form's: three with iperf3 beside, and the longest with a few operations alone.
const QUICK_RTTS_MS: [f64; 5] = [0.1, 25.0, 50.0, 100.0, 400.0];

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
    super::shipped::take(series, step)?;
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
    let table = Table::new(delay_shape::TITLE, &columns);
    let rtts = if series.quick { QUICK_RTTS_MS } else { RTTS_MS };
    filled(step, table, |step, table| {
        for window in WINDOWS {
            for rtt_ms in rtts {
                point(series, step, table, window, rtt_ms)?;
            }
        }
        Ok(())
    })?;
    delay_shape::take(series, step);
    super::window::take(series, step)
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

/// A shorter warm-up for few operations: until TCP lets so many octets be under way at once.
fn timing_of_few(timing: Timing, octets: u32, rtt: Duration) -> Timing {
    let doublings = (f64::from(octets) / 14_480.0).log2().max(0.0);
    let needed = rtt.mul_f64(4.0 + 2.0 * doublings).max(Duration::from_millis(100));
    Timing { warm: timing.warm.min(needed), ..timing }
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
    let cases = cases(series, window, rtt_ms);
    if cases.is_empty() {
        return Ok(());
    }
    let (place, why_not) = TestPath::delayed(link(window, rtt_ms))?;
    if let Some(why_not) = why_not {
        let line = format!("{}: {why_not}", place.name());
        if !step.settings.contains(&line) {
            step.settings.push(line);
        }
    }
    let (_, connects_ms) = place.round_trip_ms()?;
    series.go_on()?;
    // In the short form only with the small window, of which the document has iperf's share.
    let has_peer = cases.iter().any(|case| case.bound == Bound::Tcp)
        && (!series.quick || window == WINDOWS[0]);
    // CPU is compared, too: that needs more than a few ticks.
    let far = series.far(warm_up(window, rtt_ms), rtt);
    let timing = Timing { round: far.round.max(Duration::from_millis(400)), ..far };
    let tcp = if has_peer { tcp_alone(series, &place, CONGESTION, timing) } else { None };
    if let Some(tcp) = tcp {
        eprintln!("   iperf3, RTT {rtt_ms} ms, {window} octets: {tcp:.1} Mbit/s");
    }
    for Case { octets, operations, bound } in cases {
        let timing = match bound {
            Bound::Tcp => timing,
            Bound::Document => timing_of_few(timing, octets * operations, rtt),
        };
        let work = Work { congestion: CONGESTION, ..Work::fcltu(octets, operations) };
        let what = format!("RTT {rtt_ms} ms, {window} octets, {octets} octets × {operations}");
        let pair = [Whose::Ours, Whose::Ours];
        let before = place.troubles();
        let measured = series.take(&what, &place, pair, &work, timing)?;
        let (late_ms, dropped) = troubles(before, place.troubles());
        if let Some(measured) =
            measured.as_ref().filter(|_| octets == 1544 && (bound == Bound::Tcp || !series.quick))
        {
            let beside = [Some(connects_ms), tcp];
            let point = series.point(what, &place, &work, measured, timing, beside)?;
            step.limits.extend(point);
        }
        let (published, of_iperf) = published(series, window, rtt_ms, octets);
        let mbit = measured.as_ref().map(Measured::mbit_per_s);
        let path: [Cell; 3] = [window.into(), rtt_ms.into(), connects_ms.into()];
        let work: [Cell; 3] = [octets.into(), operations.into(), bound.words().into()];
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

/// The path of a window and a round trip.
fn link(window: u32, rtt_ms: f64) -> Link {
    Link {
        // Below what the path itself needs there is no delay to add.
        rtt: if rtt_ms < 1.0 { Duration::ZERO } else { Duration::from_secs_f64(rtt_ms / 1e3) },
        buffers: Some(Buffers { first: 2 * 65_536, most: 2 * window }),
        ..Link::default()
    }
}

/// The document's rate of this path and length, in Mbit/s, and its share of IPerf's.
fn published(series: &Series, window: u32, rtt_ms: f64, octets: u32) -> (Option<f64>, Option<f64>) {
    let published = series.published.rtt(window, rtt_ms, octets);
    let of_iperf = match octets {
        _ if published.is_none() || window != WINDOWS[0] => None,
        1544 => Some(series.published.iperf_ratio.cltu_1544),
        _ => Some(series.published.iperf_ratio.cltu_1000),
    };
    (published.map(|row| row.mbit_per_s), of_iperf)
}

/// What bounds the operations that are under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// As many as TCP takes.
    Tcp,
    /// As many as the document's rates correspond to.
    Document,
}

impl Bound {
    fn words(self) -> &'static str {
        match self {
            Self::Tcp => "TCP's",
            Self::Document => "document's",
        }
    }
}

/// Work over a delay.
struct Case {
    octets: u32,
    operations: u32,
    bound: Bound,
}

/// The work with a window over a round trip: of the short form only what figures need.
fn cases(series: &Series, window: u32, rtt_ms: f64) -> Vec<Case> {
    // Four windows of octets in operations leave it to TCP, and do not wait for their returns
    // longer than needed.
    let many = |octets| window.saturating_mul(4).div_ceil(octets).min(OPERATIONS_MAX);
    let tcp = |octets| Case { octets, operations: many(octets), bound: Bound::Tcp };
    let document = |octets| {
        let operations = series.published.under_way(window, octets)?;
        Some(Case { octets, operations, bound: Bound::Document })
    };
    let is_small = window == WINDOWS[0];
    let is_at = |ms: f64| (rtt_ms - ms).abs() < 1e-9;
    // The document has one round trip with large windows, besides none.
    let is_wanted = match series.quick {
        true if is_at(400.0) => return document(1544).filter(|_| is_small).into_iter().collect(),
        true => is_small || is_at(100.0) || is_at(0.1) && window == WINDOWS[2],
        false => true,
    };
    if !is_wanted {
        return Vec::new();
    }
    // At other delays the second length says nothing new.
    let lengths: &[u32] =
        if series.quick && !(is_small && is_at(100.0)) { &[1544] } else { &[1544, 1000] };
    let mut cases: Vec<Case> = lengths.iter().map(|octets| tcp(*octets)).collect();
    cases.extend(lengths.iter().filter_map(|octets| document(*octets)));
    cases
}
