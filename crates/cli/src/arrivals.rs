//! Arrivals of roots, in words.

use crate::text::{self, duration};
use crate::times::Zone;
use chronoscope_chain::arrivals::Unknown;
use chronoscope_chain::{QUANTILES, Verdict, VerdictState};
use chronoscope_query::{Answer, Arrivals, Question, VerdictSubject};
use chronoscope_statistics::Quantile;
use chronoscope_store::DELIVERED_ALL;

/// Sources that are named; the others are counted.
const SOURCES_NAMED: usize = 3;

/// Number of roots in each state; a line only for states that occur.
pub(crate) fn lines(arrivals: &Arrivals, zone: &Zone) -> String {
    let totals = &arrivals.totals;
    let mut text = String::from("\narrivals\n");
    let mut line = |name: &str, count: u64, more: String| {
        text += &format!("  {name:<10}{:>14}{more}\n", text::count(count));
    };
    let share = |count: u64| format!("  {}", text::percent(count, totals.roots));
    let mut about = String::new();
    if totals.from_descendants > 0 {
        about = format!(
            "  {} of them known from descendants only",
            text::count(totals.from_descendants)
        );
    }
    line("roots", totals.roots, about);
    let late = format!(", {} of them late", text::count(totals.late));
    let late = if totals.late > 0 { late } else { String::new() };
    line("arrived", totals.arrived, share(totals.arrived) + &late);
    let states = [
        ("failed", totals.failed),
        ("open", totals.open),
        ("missing", totals.missing),
        ("unknown", totals.unknown_roots()),
    ];
    for (name, count) in states.into_iter().filter(|(_, count)| *count > 0) {
        line(name, count, share(count));
    }
    for (why, count) in Unknown::ALL.iter().zip(totals.unknown).filter(|(_, count)| *count > 0) {
        text += &format!("  {} {}\n", text::count(count), why.why());
    }
    let remarks = [
        (totals.failed_leaves, "leaves ended as FAILED or ABORTED: no arrivals"),
        (totals.unlinked_leaves, "leaves stand below no known root, because rows are missing"),
        (totals.leaves_elsewhere, "transactions of the leaf's class stand below no such root"),
        (arrivals.unfollowed_links, "links lead from other chains to these, and are not followed"),
    ];
    for (count, what) in remarks.into_iter().filter(|(count, _)| *count > 0) {
        text += &format!("  {} {what}\n", text::count(count));
    }
    match arrivals.roots_lost_max {
        0 => {}
        u64::MAX => text += "  roots may have been lost, nobody knows how many\n",
        rows => text += &format!("  up to {} roots may have been lost\n", text::count(rows)),
    }
    if !totals.bounds_ns.is_empty() || totals.arrived < totals.roots {
        text += &quantiles(arrivals);
    }
    if let Some(at) = arrivals.roots_until_ns.filter(|at| *at < DELIVERED_ALL) {
        let later = text::count(totals.roots - arrivals.judged.roots);
        let at = zone.instant(at);
        text += &format!("  judged are roots that started before {at}: {later} started later\n");
        // A lower bound: what has not ended is in no file.
        text += "  roots that have not ended have no row yet and are not among them\n";
    }
    text
}

/// The quantiles over all roots.
fn quantiles(arrivals: &Arrivals) -> String {
    let words = |ns: u64| match ns {
        u64::MAX => "never".to_owned(),
        ns => duration(ns as f64),
    };
    let one = |quantile: &Quantile| {
        let bounds = arrivals.durations.quantile(*quantile)?;
        Some(if bounds.at_least_ns == bounds.at_most_ns {
            format!("{quantile} {}", words(bounds.at_least_ns))
        } else if bounds.at_most_ns == u64::MAX {
            format!("{quantile} {} or more", words(bounds.at_least_ns))
        } else {
            format!("{quantile} {} to {}", words(bounds.at_least_ns), words(bounds.at_most_ns))
        })
    };
    let all: Vec<String> = QUANTILES.iter().filter_map(one).collect();
    format!("  of all roots: {}\n", all.join(", "))
}

/// Missing data of an undetermined verdict.
pub(crate) fn what_decides(
    question: &Question,
    answer: &Answer,
    verdict: &Verdict,
    zone: &Zone,
) -> String {
    if verdict.state() != VerdictState::Undetermined {
        return String::new();
    }
    let Some(arrivals) = &answer.arrivals else {
        return "  what was lost, or is not stored with its losses, decides it\n".to_owned();
    };
    let (totals, mut text) = (&arrivals.totals, String::new());
    if question.judged == VerdictSubject::Described && verdict.not_arrived > 0 {
        text += "  --each-root judges all roots, --arrived only those that arrived\n";
    }
    if totals.open > 0 {
        text += &format!("  {} roots are still open: ask again later\n", text::count(totals.open));
    }
    if totals.unknown[Unknown::Silent as usize] > 0 {
        text += &silent(arrivals, zone);
    }
    text
}

/// Sources that a verdict waits for.
fn silent(arrivals: &Arrivals, zone: &Zone) -> String {
    if arrivals.horizon_ns.is_none() && arrivals.silent.is_empty() {
        return "  no source of the leaf's class says how far it has delivered\n".to_owned();
    }
    let mut text = String::new();
    for source in arrivals.silent.iter().take(SOURCES_NAMED) {
        let process = &source.process;
        let until = source.delivered_ns.map_or("nothing".to_owned(), |at| zone.instant(at));
        text += &format!(
            "  {} {} on {} has delivered until {until}\n",
            process.application, process.pid, process.host
        );
    }
    let more = arrivals.silent.len().saturating_sub(SOURCES_NAMED);
    if more > 0 {
        text += &format!("  and {} more sources are behind\n", text::count(more as u64));
    }
    text
}
