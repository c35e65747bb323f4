//! The three tables of a network's load in words, for a terminal of 80 columns.

use super::cells::{share_text, short, shown};
use super::group_text;
use super::tables::{Tables, over_time};
use crate::args::net::{Bars, Table};
use crate::text::{bar, count, duration};
use crate::times::Zone;
use chronoscope_net::table::{ActivityTable, HostRow, Measure};
use std::fmt::Write;

/// Intervals that stand side by side.
pub(super) const INTERVALS: usize = 10;

/// Cells of the longest bar.
const BAR_CELLS: usize = 20;
/// One day in nanoseconds: within it the time of day is unambiguous.
const DAY_NS: i64 = 86_400_000_000_000;
/// Narrowest and widest column of names.
const NAMES: (usize, usize) = (8, 60);

/// The requested tables; all by default.
pub(super) fn page(args: &Table, tables: &Tables, zone: &Zone) -> String {
    let all = !(args.hosts || args.active || args.over_time);
    let mut parts = Vec::new();
    if all || args.hosts {
        parts.push(hosts(tables));
        parts.extend(group_text::table(&tables.by_group()));
    }
    if all || args.active {
        parts.push(active(tables, args.bars));
    }
    if all || args.over_time {
        parts.push(activity(tables, zone));
    }
    parts.extend(silent(tables, zone));
    parts.join("\n")
}

/// Width of the column of names, and the names as they may be printed.
fn width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| shown(name).chars().count()).max().unwrap_or(0).clamp(NAMES.0, NAMES.1)
}

/// The first table: every host, every measured value, shares and speeds.
fn hosts(tables: &Tables) -> String {
    let overview = &tables.overview;
    let any_restart = overview.lines.iter().any(|line| line.restarts > 0);
    let names: Vec<String> = overview.lines.iter().map(name).collect();
    let width = width(names.iter().map(String::as_str));
    let wrong = |line: &HostRow| line.counters.values()[4..].iter().any(|value| *value > 0);
    let any_wrong = overview.lines.iter().any(wrong);
    let mut text = String::new();
    let measured = duration(overview.measured_ns as f64);
    let hosts = overview.lines.len();
    let _ = writeln!(text, "All hosts: {hosts} in {measured}");
    let _ = write!(
        text,
        "{:<width$} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5}",
        "host", "s", "in", "%", "out", "%", "in", "%", "out", "%", "speed"
    );
    let capacities: Vec<Option<f64>> =
        overview.lines.iter().map(|line| tables.capacity_percent(line)).collect();
    let any_capacity = capacities.iter().any(Option::is_some);
    text += if any_capacity { "   cap" } else { "" };
    text += if any_wrong { "   err  drop\n" } else { "\n" };
    let _ = write!(
        text,
        "{:<width$} {:>5} {:>11} {:>11} {:>11} {:>11} {:>5}",
        "", "", "packets", "packets", "bytes", "bytes", "B/s"
    );
    text += if any_capacity { "     %\n" } else { "\n" };
    for (line, capacity) in overview.lines.iter().zip(capacities) {
        text += &host_line(line, width);
        if any_capacity {
            let _ = write!(text, " {:>5}", share_text(capacity));
        }
        if any_wrong {
            let [in_errors, out_errors, in_drops, out_drops] =
                [4, 5, 6, 7].map(|index| line.counters.values()[index]);
            let (errors, drops) =
                (in_errors.saturating_add(out_errors), in_drops.saturating_add(out_drops));
            let _ = write!(text, " {:>5} {:>5}", short(errors as f64), short(drops as f64));
        }
        text.push('\n');
    }
    let total = HostRow {
        host: "sum".to_owned(),
        measured_ns: overview.measured_ns,
        counters: overview.total,
        share_percent: Measure::COUNTED.map(|m| (m.of(&overview.total) > 0).then_some(100.0)),
        speed: overview.speed,
        restarts: 0,
    };
    text += &host_line(&total, width);
    text.push('\n');
    let (actual, sum) = (short(overview.actual_speed), short(overview.speed));
    let _ = writeln!(
        text,
        "Actual average speed of the network: {actual} B/s; what these hosts send each\n\
         other is counted by both, so up to {sum} B/s where they talk to others"
    );
    if any_capacity {
        text += "cap %: what a host sends and receives, to what its link carries\n";
    }
    if any_restart {
        text += "* began to count anew meanwhile: at least so much\n";
    }
    text
}

/// A host's name, marked where it began to count anew.
fn name(line: &HostRow) -> String {
    format!("{}{}", shown(&line.host), if line.restarts > 0 { "*" } else { "" })
}

fn host_line(line: &HostRow, width: usize) -> String {
    let name = name(line);
    let mut text = format!("{name:<width$} {:>5}", seconds(line.measured_ns));
    for (measure, share) in Measure::COUNTED.iter().zip(line.share_percent) {
        let value = short(measure.of(&line.counters) as f64);
        let _ = write!(text, " {value:>5} {:>5}", share_text(share));
    }
    let _ = write!(text, " {:>5}", short(line.speed));
    text
}

/// The second table: the most active hosts, with bars.
pub(super) fn active(tables: &Tables, bars: Bars) -> String {
    let (active, columns) = (tables.active(), tables.columns());
    let threshold = tables.threshold_percent;
    let mut text = format!("The most active hosts: from {threshold} % of a total on\n");
    if active.is_empty() {
        text += "none\n";
        return text;
    }
    let names: Vec<String> =
        active.iter().map(|line| shown(&tables.in_group(&line.host))).collect();
    let width = width(names.iter().map(String::as_str));
    let cells = if columns.len() == 1 { 2 * BAR_CELLS } else { BAR_CELLS };
    let share = |line: &HostRow, m: Measure| tables.overview.share_percent(line, m).unwrap_or(0.0);
    let shares = active.iter().flat_map(|line| columns.iter().map(|m| share(line, *m)));
    let largest = shares.fold(0.0, f64::max);
    let _ = write!(text, "{:<width$}", "host");
    for measure in columns {
        let _ = write!(text, " {:>6} {:>5} {:<cells$}", "abs.", "%", measure.name());
    }
    text = text.trim_end().to_owned();
    text.push('\n');
    for (line, name) in active.into_iter().zip(names) {
        let mut row = format!("{name:<width$}");
        for measure in columns {
            let share = share(line, *measure);
            let absolute = short6(measure.of(&line.counters));
            let drawn = drawn(share, largest, cells, bars);
            let _ = write!(row, " {absolute:>6} {:>5} {drawn:<cells$}", share_text(Some(share)));
        }
        text += row.trim_end();
        text.push('\n');
    }
    text
}

fn drawn(share: f64, largest: f64, cells: usize, bars: Bars) -> String {
    // In thousandths of a percent: an integer represents them exactly.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in [0, 100,000]
    let [share, largest] = [share, largest].map(|share| (share * 1e3) as u64);
    match bars {
        Bars::Blocks => bar(share, largest, cells),
        Bars::X => {
            let length = (share * cells as u64 + largest / 2).checked_div(largest).unwrap_or(0);
            "X".repeat(usize::try_from(length).unwrap_or(cells))
        }
    }
}

/// The third table: activity over time.
pub(super) fn activity(tables: &Tables, zone: &Zone) -> String {
    let picture = &tables.picture;
    let mut text = format!(
        "Activity over time: share of {} in %, from {} % on\n",
        over_time(tables.measure).name(),
        tables.threshold_percent
    );
    let Some((first, last)) = picture.starts_ns.first().zip(picture.starts_ns.last()) else {
        text += "no two scans of one host\n";
        return text;
    };
    let end_ns = last.saturating_add_unsigned(picture.interval_ns);
    let _ = writeln!(
        text,
        "{} of {}, {} to {} ({})",
        match picture.starts_ns.len() {
            1 => "1 interval".to_owned(),
            intervals => format!("{} intervals", count(intervals as u64)),
        },
        duration(picture.interval_ns as f64),
        zone.instant(*first),
        if end_ns.saturating_sub(*first) < DAY_NS {
            zone.time_of_day(end_ns)
        } else {
            zone.instant(end_ns)
        },
        zone.name()
    );
    let width = width(picture.hosts.iter().map(|(host, _)| host.as_str()));
    let mut from = 0;
    while from < picture.starts_ns.len() {
        let end = picture.starts_ns.len().min(from + INTERVALS);
        if from > 0 {
            text.push('\n');
        }
        text += &block(picture, from..end, width, tables.threshold_percent);
        from = end;
    }
    text += ". below the threshold, - not measured\n";
    text
}

fn block(
    picture: &ActivityTable,
    intervals: std::ops::Range<usize>,
    width: usize,
    threshold_percent: f64,
) -> String {
    let mut text = format!("{:<width$}", "host");
    for number in intervals.clone() {
        let _ = write!(text, " {:>5}", number + 1);
    }
    text.push('\n');
    for (host, shares) in &picture.hosts {
        let _ = write!(text, "{:<width$}", shown(host));
        for share in &shares[intervals.clone()] {
            let shown = match share {
                Some(share) if *share >= threshold_percent => format!("{share:.1}"),
                Some(_) => ".".to_owned(),
                None => "-".to_owned(),
            };
            let _ = write!(text, " {shown:>5}");
        }
        text.push('\n');
    }
    text
}

/// Hosts that did not answer, or whose answer was not understood.
fn silent(tables: &Tables, zone: &Zone) -> Option<String> {
    if tables.silent.is_empty() {
        return None;
    }
    let width = width(tables.silent.iter().map(|(name, _)| name.as_str()));
    let mut text = String::from("Hosts that did not tell their counters\n");
    for (name, host) in &tables.silent {
        let times = if host.silent_count == 1 { "once" } else { "times" };
        let often = match host.silent_count {
            1 => times.to_owned(),
            n => format!("{} {times}", count(n)),
        };
        let _ = write!(text, "{:<width$} ", shown(name));
        let _ = match (host.silent_since_ns, host.answered_ns) {
            (Some(since_ns), Some(answered_ns)) => write!(
                text,
                "silent since {}, answered last at {}; {often}",
                zone.instant(since_ns),
                zone.time_of_day(answered_ns)
            ),
            (Some(since_ns), None) => {
                write!(text, "silent since {}, never answered; {often}", zone.instant(since_ns))
            }
            (None, _) => write!(text, "answers again; {often} not"),
        };
        if let Some(why) = &host.why {
            let _ = write!(text, ": {}", shown(why));
        }
        text.push('\n');
    }
    Some(text)
}

fn seconds(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 100.0 { format!("{seconds:.1}") } else { short(seconds) }
}

/// The value in at most six characters.
fn short6(value: u64) -> String {
    if value < 1_000_000 { value.to_string() } else { short(value as f64) }
}
