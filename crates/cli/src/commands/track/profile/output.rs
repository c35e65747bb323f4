//! Profiles, comparisons, growth and capacity, in words and as JSON.

use super::stored::Stored;
use crate::args::track::profile::Profile as Args;
use crate::text::{Table, UNKNOWN, count, duration, known_duration};
use crate::times::Zone;
use chronoscope_figures::numbers::percent;
use chronoscope_track::profile::{
    ClassChange, ClassPresence, Comparison, Demand, Difference, Figures, Growth, HostDemand,
    Period, Trend,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The time range of a profile.
fn span(stored: &Stored, zone: &Zone) -> String {
    let transactions: u64 =
        stored.profile.classes.values().flat_map(|bins| bins.values()).map(|load| load.count).sum();
    format!(
        "{} to {} ({}), {} transactions of {} classes on {} hosts",
        zone.instant(stored.start_ns),
        zone.instant(stored.end_ns()),
        zone.name(),
        count(transactions),
        stored.profile.classes.len(),
        stored.hosts.len()
    )
}

fn rate(per_hour: f64) -> String {
    if per_hour < 100.0 { format!("{per_hour:.2}") } else { format!("{per_hour:.0}") }
}

/// CPU time of a class that has any. A class that used none at all was not measured: its
/// transactions came from a source that does not measure CPU time.
fn cpu(ns: f64) -> String {
    known_duration((ns > 0.0).then_some(ns))
}

fn share(figures: &Figures) -> String {
    if figures.cpu_ns > 0.0 { percent(figures.share, 2) } else { UNKNOWN.to_owned() }
}

fn rest(table: &Table, shown: usize, all: usize) -> String {
    let mut text = table.to_string();
    if all > shown {
        let _ = writeln!(text, "… and {} more (--top {all})", all - shown); // cannot fail
    }
    text
}

/// One profile.
pub(super) fn profile(found: &Comparison, own: &Stored, zone: &Zone, top: usize) -> String {
    let mut table = Table::new(&["class", "count", "per hour", "elapsed", "CPU", "of all CPU"]);
    for class in found.classes.iter().take(top) {
        let figures = &class.other;
        table.row(vec![
            class.class.clone(),
            count(figures.count),
            rate(figures.per_hour),
            duration(figures.elapsed_ns),
            cpu(figures.cpu_ns),
            share(figures),
        ]);
    }
    format!("{}\n{}", span(own, zone), rest(&table, top, found.classes.len()))
}

/// Two profiles.
pub(super) fn comparison(
    found: &Comparison,
    base: &Stored,
    own: &Stored,
    zone: &Zone,
    args: &Args,
) -> String {
    let mut text = format!("base:  {}\nother: {}\n\n", span(base, zone), span(own, zone));
    let heading = ["class", "per hour", "", "elapsed", "", "CPU", "", "of all CPU", ""];
    let mut table = Table::new(&heading);
    for class in found.classes.iter().take(args.top) {
        let (base, other) = (&class.base, &class.other);
        let mark = match class.fate {
            ClassPresence::New => "new",
            ClassPresence::Gone => "gone",
            ClassPresence::Both => "",
        };
        let cell = |difference: &Difference| match class.fate {
            ClassPresence::Both => change(difference),
            _ => mark.to_owned(),
        };
        let of = |word: fn(&Figures) -> String| match class.fate {
            ClassPresence::New => word(other),
            ClassPresence::Gone => word(base),
            ClassPresence::Both => format!("{} → {}", word(base), word(other)),
        };
        table.row(vec![
            class.class.clone(),
            of(|f| rate(f.per_hour)),
            cell(&class.rate),
            of(|f| duration(f.elapsed_ns)),
            cell(&class.elapsed),
            of(|f| cpu(f.cpu_ns)),
            cell(&class.cpu),
            of(share),
            cell(&class.share),
        ]);
    }
    text += &rest(&table, args.top, found.classes.len());
    text.push('\n');
    let differing: Vec<&ClassChange> = found.classes.iter().filter(|c| c.differs()).collect();
    if differing.is_empty() {
        text += "nothing differs beyond chance\n";
    }
    for class in differing {
        let _ = writeln!(text, "{}: {}", class.class, sentence(class)); // cannot fail
    }
    text += &rule(found, args.floor);
    text
}

/// `+5.1 %*`: a star where it differs.
fn change(difference: &Difference) -> String {
    let star = if difference.differs { "*" } else { "" };
    format!("{:+.1} %{star}", difference.percent)
}

fn sentence(class: &ClassChange) -> String {
    match class.fate {
        ClassPresence::New => return format!("new, {} an hour", rate(class.other.per_hour)),
        ClassPresence::Gone => {
            return format!("gone; it was {} an hour", rate(class.base.per_hour));
        }
        ClassPresence::Both => {}
    }
    let names = ["rate", "elapsed", "CPU", "share of all CPU"];
    let all = names.iter().zip(class.differences()).filter(|(_, d)| d.differs);
    let words = all.map(|(name, difference)| {
        let (low, high) = difference.interval.unwrap_or((f64::NAN, f64::NAN));
        format!("{name} {:+.1} % ({low:+.1} to {high:+.1} %)", difference.percent)
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The rule by which a difference is reported.
fn rule(found: &Comparison, floor: f64) -> String {
    let how = if found.paired { "block by block" } else { "by Welch's test" };
    if found.block_count < 4 {
        return format!(
            "* differs: nothing can be said of chance, the time has {} blocks only (--bin, or \
             more time)\n",
            found.block_count
        );
    }
    format!(
        "* differs by at least {floor} %, tested {how} in {} blocks; of comparisons of equal \
         profiles at most {} say so of anything, as far as blocks are independent\n",
        found.block_count,
        percent(found.false_alarms, 1)
    )
}

/// Classes over periods.
pub(super) fn growth(
    found: &[Growth],
    periods: &[Period],
    period_s: u64,
    zone: &Zone,
    top: usize,
) -> String {
    let period = if period_s == 86_400 { "days" } else { "weeks" };
    let first = periods.first().map_or(0, |period| period.start_ns);
    let mut text = format!(
        "{} whole {period} from {} ({})\n",
        periods.len(),
        zone.instant(first),
        zone.name()
    );
    let heading =
        ["class", "first", "last", "per hour", "a week", "elapsed", "a week", "CPU", "a week"];
    let mut table = Table::new(&heading);
    for growth in found.iter().take(top) {
        let counted = |load: Option<&chronoscope_model::Load>| {
            load.map_or_else(|| "–".to_owned(), |load| count(load.count))
        };
        let mut row =
            vec![growth.class.clone(), counted(growth.loads.first()), counted(growth.loads.last())];
        let words: [fn(f64) -> String; 3] = [rate, duration, duration];
        for (trend, word) in [growth.rate, growth.elapsed, growth.cpu].into_iter().zip(words) {
            row.push(trend.map_or_else(|| "–".to_owned(), |trend| word(trend.mean)));
            row.push(trend.as_ref().map_or_else(|| "–".to_owned(), slope));
        }
        table.row(row);
    }
    text += &rest(&table, top, found.len());
    text += "a week: the straight line through the periods, percent of the mean, and where it is \
             in 95 % of cases; * where that leaves no room for standing still\n";
    text
}

fn slope(trend: &Trend) -> String {
    let star = if trend.is_certain() { "*" } else { "" };
    match trend.interval {
        None => format!("{:+.1} %", trend.percent_a_week),
        Some((low, high)) => {
            format!("{:+.1} % ({low:+.1} to {high:+.1}){star}", trend.percent_a_week)
        }
    }
}

/// The predicted demand.
pub(super) fn capacity(
    factors: &BTreeMap<String, f64>,
    all: Demand,
    hosts: &[HostDemand],
    own: &Stored,
    zone: &Zone,
) -> String {
    let mut text = format!("{}\n", span(own, zone));
    for (class, factor) in factors {
        let _ = writeln!(text, "{class} × {factor}, with what it causes"); // cannot fail
    }
    let heading = ["cores", "mean", "then", "busiest hour", "then", "more"];
    let mut table = Table::new(&heading);
    let mut row = |name: &str, demand: Demand| {
        let cores = |cores: f64| format!("{cores:.3}");
        table.row(vec![
            name.to_owned(),
            cores(demand.mean),
            cores(demand.mean_then),
            cores(demand.busiest),
            cores(demand.busiest_then),
            cores(demand.busiest_then - demand.busiest),
        ]);
    };
    row("all hosts", all);
    hosts.iter().for_each(|host| row(&host.host, host.cores));
    text += &table.to_string();
    text += "CPU of measured transactions, in proportion; queues, caches and locks are not in it\n";
    text
}

fn figures_json(figures: &Figures) -> Value {
    json!({
        "count": figures.count,
        "per_hour": figures.per_hour,
        "elapsed_ns": figures.elapsed_ns,
        "cpu_ns": (figures.cpu_ns > 0.0).then_some(figures.cpu_ns),
        "share": (figures.cpu_ns > 0.0).then_some(figures.share),
    })
}

fn span_json(stored: &Stored) -> Value {
    json!({
        "start_ns": stored.start_ns,
        "end_ns": stored.end_ns(),
        "bin_s": stored.profile.bin_s,
        "hosts": stored.hosts,
    })
}

/// One profile.
pub(super) fn profile_json(found: &Comparison, own: &Stored) -> Value {
    let classes: serde_json::Map<_, _> = found
        .classes
        .iter()
        .map(|class| (class.class.clone(), figures_json(&class.other)))
        .collect();
    json!({ "span": span_json(own), "classes": classes })
}

/// Two profiles.
pub(super) fn comparison_json(found: &Comparison, base: &Stored, own: &Stored) -> Value {
    let difference = |difference: &Difference| {
        json!({
            "percent": difference.percent.is_finite().then_some(difference.percent),
            "interval_percent": difference.interval.map(|(low, high)| [low, high]),
            "probability": difference.probability,
            "differs": difference.differs,
        })
    };
    let classes: Vec<_> = found
        .classes
        .iter()
        .map(|class| {
            let fate = match class.fate {
                ClassPresence::Both => "both",
                ClassPresence::New => "new",
                ClassPresence::Gone => "gone",
            };
            json!({
                "class": class.class,
                "fate": fate,
                "differs": class.differs(),
                "base": figures_json(&class.base),
                "other": figures_json(&class.other),
                "rate": difference(&class.rate),
                "elapsed": difference(&class.elapsed),
                "cpu": difference(&class.cpu),
                "share": difference(&class.share),
            })
        })
        .collect();
    json!({
        "base": span_json(base),
        "other": span_json(own),
        "blocks": found.block_count,
        "paired": found.paired,
        "false_alarms": found.false_alarms,
        "classes": classes,
    })
}

/// Classes over periods.
pub(super) fn growth_json(found: &[Growth], periods: &[Period], period_s: u64) -> Value {
    let trend = |trend: Option<Trend>| {
        trend.map(|trend| {
            json!({
                "mean": trend.mean,
                "percent_a_week": trend.percent_a_week,
                "interval_percent": trend.interval.map(|(low, high)| [low, high]),
                "certain": trend.is_certain(),
            })
        })
    };
    let classes: Vec<_> = found
        .iter()
        .map(|growth| {
            json!({
                "class": growth.class,
                "counts": growth.loads.iter().map(|load| load.count).collect::<Vec<_>>(),
                "elapsed_ns": growth.loads.iter().map(|l| l.elapsed_ns).collect::<Vec<_>>(),
                "cpu_ns": growth.loads.iter().map(|load| load.cpu_ns).collect::<Vec<_>>(),
                "rate_per_hour": trend(growth.rate),
                "elapsed_each_ns": trend(growth.elapsed),
                "cpu_each_ns": trend(growth.cpu),
            })
        })
        .collect();
    let starts: Vec<_> = periods.iter().map(|period| period.start_ns).collect();
    json!({ "period_s": period_s, "starts_ns": starts, "classes": classes })
}

/// The predicted demand.
pub(super) fn capacity_json(
    factors: &BTreeMap<String, f64>,
    all: Demand,
    hosts: &[HostDemand],
    own: &Stored,
) -> Value {
    let demand = |demand: Demand| {
        json!({
            "mean": demand.mean,
            "mean_then": demand.mean_then,
            "busiest": demand.busiest,
            "busiest_then": demand.busiest_then,
        })
    };
    let hosts: Vec<_> = hosts
        .iter()
        .map(|host| json!({ "host": host.host, "cores": demand(host.cores) }))
        .collect();
    json!({ "span": span_json(own), "factors": factors, "cores": demand(all), "hosts": hosts })
}
