//! What is wrong now: limits that do not hold, hops that have become slow, rows lost, silence.

use super::history::{ByPath, History, begin_ns, median};
use super::slower::{self, Slower, slower};
use crate::limits::Limit;
use chronoscope_chain::{Requirement, Thousands, Verdict};
use chronoscope_model::{ClassName, Names};
use chronoscope_store::{MINUTE_NS, Minute, Snapshot};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use utoipa::ToSchema;

/// A minute with fewer transactions says nothing about how long they take.
const COUNT_MIN: u64 = 20;
/// A rise of less than this part of the whole chain does not matter to it.
const PART_OF_CHAIN_MIN: f64 = 0.05;
/// Minutes in a row in which a class has to have run to be missed.
const STEADY_MINUTES: usize = 10;
/// A host has become slow alone when its median is so much above that of the others.
const HOST_STANDS_OUT: f64 = 1.2;

/// "The system starts to become slow."
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(super) struct Alarm {
    /// The class, path or hop in words.
    pub(super) what: String,
    pub(super) kind: AlarmKind,
    /// Where, as far as that stands out; null where it is not one host.
    pub(super) host: Option<String>,
    /// UTC ns since 1970: the beginning of a minute, or of the watch.
    pub(super) since_ns: i64,
    /// What it is now: ns, or rows lost.
    pub(super) value_ns: Option<u64>,
    /// What it usually is: ns.
    pub(super) usual_ns: Option<u64>,
    pub(super) sentence: String,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum AlarmKind {
    /// A limit of `--limits` does not hold.
    Limit,
    /// It takes longer than it used to.
    Slower,
    /// Rows were lost.
    Lost,
    /// What ran every minute runs no more.
    Silent,
}

/// Every limit that the last whole minute does not keep, and since when.
pub(super) fn limits(history: &History, limits: &[Limit], names: &Paths) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    for limit in limits {
        let judged =
            history.minutes.iter().map(|(minute, paths)| (*minute, judge(paths, limit, names)));
        let judged: Vec<(Minute, Verdict)> =
            judged.filter(|(_, verdict)| verdict.count > 0).collect();
        let Some((_, last)) = judged.last().filter(|(_, verdict)| !verdict.holds()) else {
            continue;
        };
        let broken = judged.iter().rev().take_while(|(_, verdict)| !verdict.holds());
        let since = broken.last().map_or(0, |(minute, _)| begin_ns(*minute));
        alarms.push(Alarm {
            what: limit.what(),
            kind: AlarmKind::Limit,
            host: None,
            since_ns: since,
            value_ns: None,
            usual_ns: Some(limit.limit_ns),
            sentence: format!(
                "{}: {} of {} in the last whole minute took longer than {}",
                limit.what(),
                Thousands(last.above()),
                Thousands(last.count),
                words(limit.limit_ns as f64)
            ),
        });
    }
    alarms
}

fn judge(paths: &ByPath, limit: &Limit, names: &Paths) -> Verdict {
    let (mut count, mut above) = (0, 0);
    for (path, rows) in paths {
        let of_path = limit.is_of_path(names.hops(path));
        for row in rows {
            let of_class = limit.is_of_class(&row.class);
            let buckets = if of_class { &row.elapsed } else { &row.since_root };
            if of_class || of_path {
                count += row.count;
                above += buckets.above(limit.limit_ns);
            }
        }
    }
    let within = count - above.min(count);
    Verdict {
        requirement: Requirement::within(limit.limit_ns),
        count,
        within,
        ..Verdict::default()
    }
}

/// The classes of paths, by their words.
pub(super) struct Paths(HashMap<String, Vec<ClassName>>);

impl Paths {
    pub(super) fn of(names: &Names) -> Self {
        let named = |classes: &[_]| classes.iter().map(|id| names.class(*id).cloned()).collect();
        let paths = names.paths().filter_map(|(id, classes)| {
            let hops: Option<Vec<ClassName>> = named(classes);
            Some((names.path_text(id), hops?))
        });
        Self(paths.collect())
    }

    fn hops(&self, path: &str) -> &[ClassName] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }
}

/// Every hop whose work, or whose start after its caller's end, has become slower than its own past.
pub(super) fn slow(history: &History, snapshot: &Snapshot) -> Vec<Alarm> {
    let minutes: Vec<(&Minute, &ByPath)> = history.minutes.iter().collect();
    let Some((_, last)) = minutes.last() else { return Vec::new() };
    let mut alarms: BTreeMap<(String, &str), Alarm> = BTreeMap::new();
    for (path, rows) in last.iter() {
        let Some(class) = rows.first().map(|row| row.class.clone()) else { continue };
        let parent = path.strip_suffix(&format!("/{class}"));
        for part in ["work", "wait"] {
            let mut values = Vec::new();
            for (minute, paths) in &minutes {
                let value = match part {
                    "work" => work(paths, path),
                    _ => parent.and_then(|parent| wait(paths, path, parent)),
                };
                values.extend(value.map(|value| (**minute, value)));
            }
            // Only what ran in the last minute is slow now.
            if values.last().map(|(minute, _)| minute) != minutes.last().map(|(minute, _)| *minute)
            {
                continue;
            }
            let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
            let Some(found) = slower(&plain) else { continue };
            let chain = median(rows, |row| &row.since_root).unwrap_or(0.0);
            if found.value - found.usual < PART_OF_CHAIN_MIN * chain {
                continue;
            }
            let host = slow_host(snapshot, &class, part);
            let since_ns = values.get(found.since).map_or(0, |(minute, _)| begin_ns(*minute));
            let alarm = alarm(&class, part, host, since_ns, found);
            // The same class on several paths is said once: where it rose most.
            let known = alarms.get(&(class.to_string(), part));
            if known.is_none_or(|known| known.value_ns < alarm.value_ns) {
                alarms.insert((class.to_string(), part), alarm);
            }
        }
    }
    alarms.into_values().collect()
}

fn alarm(
    class: &ClassName,
    part: &str,
    host: Option<String>,
    since_ns: i64,
    found: Slower,
) -> Alarm {
    let what = if part == "work" { class.to_string() } else { format!("the wait before {class}") };
    let place = host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let (value, usual) = (words(found.value), words(found.usual));
    Alarm {
        sentence: format!("{what}{place} takes {value} instead of {usual} (medians of minutes)"),
        what,
        kind: AlarmKind::Slower,
        host,
        since_ns,
        value_ns: natural(found.value),
        usual_ns: natural(found.usual),
    }
}

/// The median elapsed time of a path's last class in a minute.
fn work(paths: &ByPath, path: &str) -> Option<f64> {
    let rows = paths.get(path).filter(|rows| enough(rows))?;
    median(rows, |row| &row.elapsed)
}

/// When a path's last class usually starts after its caller has ended: from the medians of both,
/// not from pairs. Negative where it starts while its caller runs.
fn wait(paths: &ByPath, path: &str, parent: &str) -> Option<f64> {
    let rows = paths.get(path).filter(|rows| enough(rows))?;
    let above = paths.get(parent).filter(|rows| enough(rows))?;
    let start = median(rows, |row| &row.since_root)? - median(rows, |row| &row.elapsed)?;
    Some(start - median(above, |row| &row.since_root)?)
}

fn enough(rows: &[super::history::PathMinute]) -> bool {
    rows.iter().map(|row| row.count).sum::<u64>() >= COUNT_MIN
}

/// The host whose transactions of a class stand out, or the only one; from the rows that are not
/// sealed yet.
fn slow_host(snapshot: &Snapshot, class: &ClassName, part: &str) -> Option<String> {
    let names = snapshot.names();
    let mut by_host: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for record in snapshot.unsealed().records() {
        if names.class(record.class) == Some(class) {
            let host = names.process(record.process).map_or("", |process| &process.host);
            let value = match part {
                "work" => record.elapsed_ns as f64,
                _ => record.start_ns.saturating_sub(record.root_start_ns) as f64,
            };
            by_host.entry(host).or_default().push(value);
        }
    }
    let medians = by_host.into_iter().filter_map(|(host, values)| {
        slower::median(values.into_iter()).map(|median| (host, median))
    });
    let mut medians: Vec<(&str, f64)> = medians.collect();
    medians.sort_by(|a, b| b.1.total_cmp(&a.1));
    match medians[..] {
        [] => None,
        [(host, _)] => Some(host.to_owned()),
        [(host, most), (_, next), ..] => (most > HOST_STANDS_OUT * next).then(|| host.to_owned()),
    }
}

/// Classes that ran in each of the last minutes and have not run since `since_ns` began.
pub(super) fn silent(history: &History, seen: &BTreeSet<ClassName>, since_ns: i64) -> Vec<Alarm> {
    let steady = history.minutes.iter().rev().filter(|(minute, _)| minute.end_ns() <= since_ns);
    let steady: Vec<_> = steady.take(STEADY_MINUTES).collect();
    let without_gap = steady.windows(2).all(|pair| pair[0].0.0 - pair[1].0.0 == 1);
    let recent = steady.first().is_some_and(|(minute, _)| minute.end_ns() + MINUTE_NS > since_ns);
    if steady.len() < STEADY_MINUTES || !without_gap || !recent {
        return Vec::new();
    }
    let classes = |paths: &ByPath| -> BTreeSet<ClassName> {
        paths.values().flatten().map(|row| row.class.clone()).collect()
    };
    let mut always = steady.iter().map(|(_, paths)| classes(paths));
    let first = always.next().unwrap_or_default();
    let always = always.fold(first, |all, other| all.intersection(&other).cloned().collect());
    let missed = always.difference(seen).map(|class| Alarm {
        what: class.to_string(),
        kind: AlarmKind::Silent,
        host: None,
        since_ns,
        value_ns: None,
        usual_ns: None,
        sentence: format!("{class} ran every minute, and has not ended once since"),
    });
    missed.collect()
}

fn natural(ns: f64) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    (ns >= 0.0).then_some(ns as u64)
}

/// A duration in words.
fn words(ns: f64) -> String {
    match ns.abs() {
        size if size < 1e3 => format!("{ns:.0} ns"),
        size if size < 1e6 => format!("{:.3} µs", ns / 1e3),
        size if size < 1e9 => format!("{:.3} ms", ns / 1e6),
        _ => format!("{:.3} s", ns / 1e9),
    }
}
