//! The error bounds of durations that cross hosts, in a shard's SQL: the readings of the hosts' clocks
//! travel to the shards with the question, and nothing of the leaves travels back.
//!
//! A clock's offset at a stamp is what [`ClockTrack::at_own`](chronoscope_chain::ClockTrack::at_own)
//! says: the readings beside an instant bound it, and the stamp tells that instant but for the offset,
//! so that it is looked up twice. Here the times between readings are a table, in which every row of
//! the leaves finds its own by `ASOF JOIN`. All numbers are whole, so that both are the same.

use super::sql::quoted;
use chronoscope_chain::{ClockKnot, ClockSpan, DRIFT_MAX_PPB, SHARE_UNITS};
use chronoscope_clickhouse::SentTable;
use chronoscope_store::ClockTable;
use std::fmt::Write;

/// A clock may drift by a nanosecond in so many, as [`DRIFT_MAX_PPB`] says.
const DRIFT_EVERY_NS: u64 = 1_000_000_000 / DRIFT_MAX_PPB;
const _: () = assert!(DRIFT_EVERY_NS * DRIFT_MAX_PPB == 1_000_000_000, "drift is no whole number");

/// Most times between readings that are sent with a statement: some 7 MB.
const SPANS_MAX: usize = 1 << 16;
/// The table of the times between readings.
const SPANS: &str = "clock_spans";
/// Offsets and bounds beyond this, 9 years, are nobody's; up to it no number here overflows.
const SANE_NS: u64 = 1 << 58;
/// A bound that is none.
const UNBOUNDED_NS: i64 = 1 << 61;

/// The readings of the hosts' clocks for a shard's SQL.
pub(super) struct ClockSql {
    /// The hosts by number, from 1 on.
    hosts: Vec<String>,
    /// The times between readings.
    pub(super) spans: SentTable,
    /// Whether readings between others were dropped.
    has_lines: bool,
}

impl ClockSql {
    /// `None` where there are too many readings, or some that cannot be.
    pub(super) fn of(clocks: &ClockTable) -> Option<Self> {
        let (mut hosts, mut rows) = (Vec::new(), String::new());
        let (mut count, mut has_lines) = (0, false);
        for (host, track) in clocks.hosts() {
            if track.knots().is_empty() {
                continue;
            }
            hosts.push(host.to_owned());
            for span in track.spans() {
                count += 1;
                has_lines |= span.line_within_ns().is_some();
                add_row(&mut rows, hosts.len(), &span)?;
            }
        }
        let columns = COLUMNS.iter().map(|name| format!(", {name} Int64")).collect::<String>();
        let columns = format!("clock UInt32{columns}");
        let spans = SentTable { name: SPANS.to_owned(), columns, rows };
        (count <= SPANS_MAX).then_some(Self { hosts, spans, has_lines })
    }

    /// The number of a host in SQL; 0 where its clock was never read.
    pub(super) fn host_number(&self, host: &str) -> String {
        let names: Vec<String> = self.hosts.iter().map(|host| quoted(host)).collect();
        let numbers: Vec<String> = (1..=names.len()).map(|number| number.to_string()).collect();
        let (names, numbers) = (names.join(","), numbers.join(","));
        format!("CAST(transform({host}, [{names}], [{numbers}], 0), 'UInt32')")
    }

    /// A statement that counts durations which cross hosts by the column `number`, and reads the table
    /// `spans`. `rows`: a table
    /// of them with `number`, `root` and `leaf` (numbers of hosts), `root_ns`, `start_ns` (of
    /// the leaf) and `duration`.
    pub(super) fn counting(&self, rows: &str) -> String {
        let of_root = self.at_own(rows, ("root", "root_ns"), "number, leaf, start_ns, duration");
        let kept = "number, root, duration, offset_ns AS root_offset_ns, error_ns AS root_error_ns";
        let kept = format!("SELECT leaf, start_ns, {kept} FROM ({of_root})");
        let others = "number, root, duration, root_offset_ns, root_error_ns";
        let of_both = self.at_own(&kept, ("leaf", "start_ns"), others);
        // Raw durations are wrong by what the clocks differ, and by what is not known of that.
        let judged = format!(
            "SELECT number, duration, root > 0 AND leaf > 0 AS known, \
             toUInt64(abs(root_offset_ns - offset_ns) + root_error_ns + error_ns) AS error, \
             known AND abs(duration) <= error AS explained FROM ({of_both})"
        );
        let unknown = 1_u64 << 63;
        format!(
            "SELECT number, count() AS crossing, countIf(NOT known) AS unknown, \
             maxIf(error, known) AS error_max, \
             toString(sumIf(toUInt128(error), known)) AS error_sum, \
             toString(sumIf(intDiv(toUInt128(error) * {SHARE_UNITS}, \
             toUInt128(greatest(duration, 1))), known AND duration > 0)) AS share_sum, \
             countIf(known AND duration > 0) AS share_count, countIf(explained) AS explaineds, \
             countIf(duration < 0) AS negatives, \
             countIf(duration < 0 AND explained) AS negatives_explained, \
             toString(min(toInt128(duration) * toInt128('18446744073709551616') \
             + toInt128(if(known, error, toUInt64({unknown}))))) AS shortest \
             FROM ({judged}) GROUP BY number"
        )
    }

    /// Rows with `offset_ns` and `error_ns` of the clock of a host at a stamp by this clock, and with
    /// that host's number and other columns. Both are 0 where the clock was never read.
    fn at_own(&self, rows: &str, (host, stamp): (&str, &str), others: &str) -> String {
        let kept = format!("{host}, {others}");
        let roughly = self.at(rows, (host, stamp), &format!("{kept}, {stamp}"));
        let instant = format!(
            "SELECT {kept}, {stamp} - near_offset_ns AS instant_ns, near_error_ns AS rough_ns \
             FROM ({roughly})"
        );
        let exactly = self.at(&instant, (host, "instant_ns"), &format!("{kept}, rough_ns"));
        // The instant is known as well as the offset; meanwhile the clock drifts.
        format!(
            "SELECT {kept}, near_offset_ns AS offset_ns, \
             near_error_ns + intDiv(rough_ns, {DRIFT_EVERY_NS}) + 1 AS error_ns FROM ({exactly})"
        )
    }

    /// Rows with `near_offset_ns` and `near_error_ns` of the clock of a host at an instant of the
    /// reference.
    fn at(&self, rows: &str, (host, at): (&str, &str), kept: &str) -> String {
        let away = |reading: &str| {
            format!(
                "toInt64(intDiv(abs({at} - {reading}_ns), {DRIFT_EVERY_NS})) + 1 AS {reading}_off"
            )
        };
        let bounded = format!(
            "SELECT {kept}, {at} AS asked_ns, before_ns, line_from, line_rise, line_span, line_within, \
             {}, {}, before_low - before_off AS low_1, before_high + before_off AS high_1, \
             after_low - after_off AS low_2, after_high + after_off AS high_2 \
             FROM ({rows}) AS leaves ASOF LEFT JOIN {SPANS} AS spans \
             ON leaves.{host} = spans.clock AND leaves.{at} >= spans.from_ns",
            away("before"),
            away("after"),
        );
        let ends = format!(
            "SELECT {kept}, asked_ns, before_ns, line_from, line_rise, line_span, line_within, {} \
             FROM ({bounded})",
            both(("low_1", "high_1"), ("low_2", "high_2"))
        );
        let bounds = match self.has_lines {
            false => ends,
            true => {
                // 0 where the clock was never read.
                let line = "line_from + toInt64(intDiv(toInt128(line_rise) * \
                    toInt128(asked_ns - before_ns), toInt128(greatest(line_span, 1))))";
                let lines = format!(
                    "SELECT {kept}, low AS low_1, high AS high_1, {line} AS on_line, \
                     on_line - line_within AS low_2, on_line + line_within AS high_2 FROM ({ends})"
                );
                let both = both(("low_1", "high_1"), ("low_2", "high_2"));
                format!("SELECT {kept}, {both} FROM ({lines})")
            }
        };
        // The middle, rounded towards 0.
        format!(
            "SELECT {kept}, intDiv(low + high, 2) AS near_offset_ns, \
             greatest(high - near_offset_ns, near_offset_ns - low) AS near_error_ns FROM ({bounds})"
        )
    }
}

/// The intersection of two bounds as `low` and `high`; where they are disjoint, what contains both.
fn both(a: (&str, &str), b: (&str, &str)) -> String {
    let ((low_a, high_a), (low_b, high_b)) = (a, b);
    let agree = format!("greatest({low_a}, {low_b}) <= least({high_a}, {high_b})");
    format!(
        "if({agree}, greatest({low_a}, {low_b}), least({low_a}, {low_b})) AS low, \
         if({agree}, least({high_a}, {high_b}), greatest({high_a}, {high_b})) AS high"
    )
}

/// The columns of a time between readings besides the number of its host.
const COLUMNS: [&str; 11] = [
    "from_ns",
    // The reading before: its instant and the lowest and highest offset that it allows.
    "before_ns",
    "before_low",
    "before_high",
    // The reading behind.
    "after_ns",
    "after_low",
    "after_high",
    // The line between both: its first offset, how far it rises and in which time, and how far off
    // the offset may be.
    "line_from",
    "line_rise",
    "line_span",
    "line_within",
];

/// Adds a time between readings; `None` where these cannot be.
fn add_row(rows: &mut String, host: usize, span: &ClockSpan<'_>) -> Option<()> {
    let known = span.before.or(span.after)?;
    // What is not there is a reading at the same instant that bounds nothing.
    let of = |knot: Option<&ClockKnot>| match knot {
        None => Some([known.at_ns, -UNBOUNDED_NS, UNBOUNDED_NS]),
        Some(knot) => {
            let (offset_ns, error_ns) = (knot.estimate.offset_ns, knot.estimate.error_ns);
            let error = sane(error_ns.into())?;
            sane(offset_ns.into())?;
            (knot.at_ns.unsigned_abs() < 1 << 62).then_some(())?;
            Some([knot.at_ns, offset_ns - error, offset_ns + error])
        }
    };
    let (before, after) = (of(span.before)?, of(span.after)?);
    let line = match (span.line_within_ns(), span.before, span.after) {
        (Some(within), Some(before), Some(after)) => {
            let (from, to) = (before.estimate.offset_ns, after.estimate.offset_ns);
            [from, to - from, (after.at_ns - before.at_ns).max(1), sane(within)?]
        }
        _ => [0, 0, 1, UNBOUNDED_NS],
    };
    let _ = write!(rows, "{host}\t{}", span.from_ns); // a String takes everything
    for number in before.into_iter().chain(after).chain(line) {
        let _ = write!(rows, "\t{number}");
    }
    rows.push('\n');
    Some(())
}

/// A number of nanoseconds that a reading may have.
fn sane(ns: i128) -> Option<i64> {
    i64::try_from(ns).ok().filter(|ns| ns.unsigned_abs() < SANE_NS)
}
