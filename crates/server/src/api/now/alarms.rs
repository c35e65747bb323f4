//! Alarms of the live view: broken limits, hops that became slow, lost rows, silence.

use super::attribute_cause::AttributeCause;
use super::history::{ByPath, History, begin_ns, median};
use super::judge::{FRESH_NS, Judgement, LimitKind, LimitReport, words};
use super::slower::{Slower, slower};
use crate::api::acknowledged::AcknowledgedBy;
use crate::rules::RuleStanding;
use chronoscope_collect::ProcessStatus;
use chronoscope_model::ClassName;
use chronoscope_query::QueryError;
use chronoscope_rules::{AlarmState, Condition, Rule};
use chronoscope_store::{Minute, Snapshot};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

/// Fewest transactions in a minute for a statement on their durations.
const COUNT_MIN: u64 = 20;
/// A rise below this share of the whole chain does not matter.
const PART_OF_CHAIN_MIN: f64 = 0.05;
/// Consecutive minutes in which a class must have run before its silence is an alarm.
const STEADY_MINUTES: usize = 10;
/// A single host is named when its median exceeds that of the others by this factor.
const HOST_STANDS_OUT: f64 = 1.2;

/// An alarm: the system has started to become slow, or to lose data.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(super) struct Alarm {
    /// The class, path or hop, as text.
    pub(super) what: String,
    pub(super) kind: AlarmKind,
    /// Quantity of the broken limit; null where the alarm is not of a limit.
    pub(super) limit: Option<LimitKind>,
    /// The host that stands out; null where there is not exactly one.
    pub(super) host: Option<String>,
    /// The attribute value that durations above the broken limit have more often than others of
    /// the same time, or whose data come irregularly, as `where` takes it; null where none is known.
    pub(super) attribute: Option<String>,
    /// UTC ns since 1970: the beginning of a minute, or of the watch.
    pub(super) since_ns: i64,
    /// The value now: ns, or rows lost.
    pub(super) value_ns: Option<u64>,
    /// The usual value: ns.
    pub(super) usual_ns: Option<u64>,
    pub(super) sentence: String,
    /// The rule; null where the alarm is not of kind `rule`.
    pub(super) rule: Option<AlarmRule>,
}

/// The rule of an alarm, and what people have said of it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(super) struct AlarmRule {
    /// Its name.
    name: String,
    /// Who acknowledged the alarm; null where nobody did.
    acknowledged: Option<AcknowledgedBy>,
    /// Until when nobody is told of it: UTC ns since 1970; null where it is not silenced.
    silenced_until_ns: Option<i64>,
}

/// Kind of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum AlarmKind {
    /// A limit of `--limits` on the time of a class or of chains is broken.
    Limit,
    /// Roots did not arrive at their leaf within the limit of `--limits`.
    Arrivals,
    /// The alarm of a rule of `--limits` fires that is more than a limit of a minute.
    Rule,
    /// A hop takes longer than usual.
    Slower,
    /// Rows were lost.
    Lost,
    /// A class that ran every minute has stopped.
    Silent,
}

/// Alarms of all broken limits, with the time since when they are broken; `causes` are theirs, in
/// the same order.
pub(super) fn limits(
    reports: &[LimitReport],
    causes: Vec<Option<AttributeCause>>,
) -> impl Iterator<Item = Alarm> {
    let broken = reports.iter().filter(|report| report.state == Judgement::Broken);
    broken.zip(causes).map(|(report, cause)| Alarm {
        what: report.what.clone(),
        kind: match report.kind {
            LimitKind::Arrivals => AlarmKind::Arrivals,
            LimitKind::Class | LimitKind::Chain => AlarmKind::Limit,
        },
        limit: Some(report.kind),
        host: None,
        since_ns: report.since_ns.unwrap_or_default(),
        value_ns: None,
        usual_ns: Some(report.limit_ns),
        sentence: match &cause {
            Some(cause) => format!("{}; {}", report.sentence, cause.sentence),
            None => report.sentence.clone(),
        },
        attribute: cause.map(|cause| cause.filter),
        rule: None,
    })
}

/// Alarms of the rules that fire, without those that [`limits`] has.
pub(super) fn rules(standings: &[RuleStanding]) -> impl Iterator<Item = Alarm> {
    let others = standings.iter().filter(|standing| !standing.rule.is_plain_limit());
    others.filter_map(|standing| {
        let AlarmState::Firing { since_ns, .. } = standing.state else { return None };
        let rule = &standing.rule;
        let mut sentence = format!("{}: {}", rule.name, standing.finding());
        if let Some(reason) = &standing.unjudged {
            sentence += &format!("; it cannot be judged now: {reason}");
        }
        Some(Alarm {
            what: rule.what(),
            kind: AlarmKind::Rule,
            limit: None,
            host: None,
            attribute: irregular_value(rule),
            since_ns,
            value_ns: None,
            usual_ns: rule.condition.limit_ns(),
            sentence,
            rule: Some(AlarmRule {
                name: rule.name.clone(),
                acknowledged: standing.handling.acknowledged.clone().map(AcknowledgedBy::from),
                silenced_until_ns: standing.handling.silence.as_ref().map(|it| it.until_ns),
            }),
        })
    })
}

/// The attribute value whose stream is irregular.
fn irregular_value(rule: &Rule) -> Option<String> {
    let is_group = rule.group_of.is_some() && matches!(rule.condition, Condition::Irregular { .. });
    is_group.then(|| rule.attributes.filters().last().map(ToString::to_string)).flatten()
}

/// Finds the host whose transactions of a class stand out by their work or their wait, or the only
/// host.
pub(super) type FindSlowHost<'a> =
    dyn Fn(&ClassName, &str) -> Result<Option<String>, QueryError> + 'a;

/// Hops whose work, or whose start after the caller's end, has become slower than their own past.
/// Empty when the last minute with traffic is no longer current (`at_ns`).
///
/// # Errors
/// Those of `slow_host`.
pub(super) fn slow(
    history: &History,
    at_ns: i64,
    slow_host: &FindSlowHost<'_>,
) -> Result<Vec<Alarm>, QueryError> {
    let minutes: Vec<(&Minute, &ByPath)> = history.minutes.iter().collect();
    let fresh = |minute: Minute| minute.end_ns().saturating_add(FRESH_NS) >= at_ns;
    let Some((_, last)) = minutes.last().filter(|(minute, _)| fresh(**minute)) else {
        return Ok(Vec::new());
    };
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
            // A hop can be slow now only if it ran in the last minute.
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
            let host = slow_host(&class, part)?;
            let since_ns = without_gap(values.get(found.since..).unwrap_or_default());
            let alarm = alarm(&class, part, host, since_ns, found);
            // A class on several paths is reported once: where it rose most.
            let known = alarms.get(&(class.to_string(), part));
            if known.is_none_or(|known| known.value_ns < alarm.value_ns) {
                alarms.insert((class.to_string(), part), alarm);
            }
        }
    }
    Ok(alarms.into_values().collect())
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
        rule: None,
        what,
        kind: AlarmKind::Slower,
        limit: None,
        host,
        attribute: None,
        since_ns,
        value_ns: natural(found.value),
        usual_ns: natural(found.usual),
    }
}

/// Start of the last run of consecutive minutes: a minute without traffic was not slow.
fn without_gap(minutes: &[(Minute, f64)]) -> i64 {
    let gap = minutes.windows(2).rposition(|pair| pair[0].0.0 + 1 != pair[1].0.0);
    minutes.get(gap.map_or(0, |gap| gap + 1)).map_or(0, |(minute, _)| begin_ns(*minute))
}

/// The median elapsed time of a path's last class in a minute.
fn work(paths: &ByPath, path: &str) -> Option<f64> {
    let rows = paths.get(path).filter(|rows| enough(rows))?;
    median(rows, |row| &row.elapsed)
}

/// Usual start of a path's last class after the end of its caller: from the medians of both, not
/// from pairs. Negative where it starts while its caller runs.
fn wait(paths: &ByPath, path: &str, parent: &str) -> Option<f64> {
    let rows = paths.get(path).filter(|rows| enough(rows))?;
    let above = paths.get(parent).filter(|rows| enough(rows))?;
    let start = median(rows, |row| &row.since_root)? - median(rows, |row| &row.elapsed)?;
    Some(start - median(above, |row| &row.since_root)?)
}

fn enough(rows: &[super::history::PathMinute]) -> bool {
    rows.iter().map(|row| row.count).sum::<u64>() >= COUNT_MIN
}

/// The host whose transactions of a class stand out, or the only host. Uses the unsealed rows.
pub(super) fn slow_host(snapshot: &Snapshot, class: &ClassName, part: &str) -> Option<String> {
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
        chronoscope_statistics::median(values).map(|median| (host, median))
    });
    host_that_stands_out(medians.collect())
}

/// The host whose median stands out among these, or the only one.
pub(super) fn host_that_stands_out(mut medians: Vec<(&str, f64)>) -> Option<String> {
    medians.sort_by(|a, b| b.1.total_cmp(&a.1));
    match medians[..] {
        [] => None,
        [(host, _)] => Some(host.to_owned()),
        [(host, most), (_, next), ..] => (most > HOST_STANDS_OUT * next).then(|| host.to_owned()),
    }
}

/// Classes that ran in each of [`STEADY_MINUTES`] and have not run since; `seen`: those that ran in
/// the window. Each is reported while the last hour contains those minutes.
pub(super) fn silent(
    history: &History,
    seen: &BTreeSet<ClassName>,
    processes: &[ProcessStatus],
) -> Vec<Alarm> {
    let mut ran: BTreeMap<&ClassName, Vec<Minute>> = BTreeMap::new();
    for (minute, paths) in history.minutes.iter().rev() {
        for row in paths.values().flatten() {
            let minutes = ran.entry(&row.class).or_default();
            if minutes.last() != Some(minute) {
                minutes.push(*minute);
            }
        }
    }
    for row in history.running.values().flatten() {
        ran.remove(&row.class);
    }
    let steady = |minutes: &[Minute]| minutes.windows(2).all(|pair| pair[0].0 - pair[1].0 == 1);
    let missed = ran.into_iter().filter(|(class, _)| !seen.contains(*class));
    let missed = missed.filter_map(|(class, minutes)| {
        let last = minutes.get(..STEADY_MINUTES).filter(|last| steady(last))?.first()?;
        Some(Alarm {
            what: class.to_string(),
            kind: AlarmKind::Silent,
            limit: None,
            host: None,
            attribute: None,
            since_ns: last.end_ns(),
            value_ns: None,
            usual_ns: None,
            sentence: format!(
                "{class} ran every minute, and has not ended once since{}",
                programs(&class.application, processes)
            ),
            rule: None,
        })
    });
    missed.collect()
}

/// States whether a program with a ring still runs, as the end of a sentence. For a source without
/// a ring (OpenTelemetry, an agent's host) this is unknown.
fn programs(application: &str, processes: &[ProcessStatus]) -> &'static str {
    let mut own = processes.iter().filter(|process| process.application == application).peekable();
    match (own.peek().is_some(), own.any(|process| process.alive)) {
        (false, _) => "",
        (true, true) => ": its program runs",
        (true, false) => ": its program has ended",
    }
}

fn natural(ns: f64) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    (ns >= 0.0).then_some(ns as u64)
}

#[cfg(test)]
mod tests {
    use super::super::history::{Buckets, PathMinute};
    use super::*;

    fn history(minutes: impl IntoIterator<Item = i64>) -> History {
        let class = ClassName { application: "A".into(), class: "in".into() };
        let buckets = Buckets::default;
        let row = PathMinute {
            class,
            foreign: false,
            count: 1,
            elapsed: buckets(),
            since_root: buckets(),
        };
        let paths = ByPath::from([("A::in".to_owned(), vec![row])]);
        let minutes = minutes.into_iter().map(|minute| (Minute(minute), paths.clone()));
        History { minutes: minutes.collect(), ..History::default() }
    }

    /// Regression: the alarm used to last for only a minute when everything had stopped.
    #[test]
    fn a_class_that_has_ceased_stays_silent() {
        let ended = ProcessStatus { application: "A".into(), ..ProcessStatus::default() };
        let silent = |history: &History, processes: &[ProcessStatus]| {
            silent(history, &BTreeSet::new(), processes)
        };
        let steady = history(0..10);
        let [alarm] = &silent(&steady, &[])[..] else { panic!("it is missed") };
        assert_eq!((alarm.since_ns, alarm.what.as_str()), (Minute(9).end_ns(), "A::in"));
        assert!(alarm.sentence.ends_with("has not ended once since"), "{}", alarm.sentence);
        let [alarm] = &silent(&steady, &[ended])[..] else { panic!("it is missed") };
        assert!(alarm.sentence.ends_with("since: its program has ended"), "{}", alarm.sentence);
        assert!(silent(&history((0..5).chain(6..12)), &[]).is_empty(), "it was not steady");
        let back = History { running: steady.minutes[&Minute(0)].clone(), ..history(0..10) };
        assert!(silent(&back, &[]).is_empty(), "it is back");
    }

    #[test]
    fn time_without_traffic_was_not_slow() {
        let minutes = [3, 4, 6, 7].map(|minute| (Minute(minute), 1.0));
        assert_eq!(without_gap(&minutes), begin_ns(Minute(6)));
        assert_eq!(without_gap(&minutes[..2]), begin_ns(Minute(3)));
    }
}
