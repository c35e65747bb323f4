//! What a store answers.

use super::book::Book;
use super::question::Question;
use super::series::{Findings, Point};
use crate::Damage;
use chronoscope_chain::{Counts, Crossings, Distribution, Requirement, Split, Verdict, sort};
use chronoscope_model::ClassId;
use std::ops::RangeInclusive;

/// The durations that were asked for, and how far they can be trusted.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Statistics of all durations; `None` when there are none.
    pub distribution: Option<Distribution>,
    /// Whether the limit is kept, where one was asked for.
    pub verdict: Option<Verdict>,
    /// By path from the selected root to the leaf, most durations first.
    pub paths: Vec<PathAnswer>,
    /// How many durations were used, and why others were not.
    pub counts: Counts,
    /// All durations, ascending, in nanoseconds.
    pub durations_ns: Vec<u64>,
    /// Every duration with its start, by start, where they were asked for.
    pub points: Vec<Point>,
    /// First and last start of a root (UTC, nanoseconds since 1970); `None` without durations.
    pub covered_ns: Option<RangeInclusive<i64>>,
    /// Rows that were looked at to find these.
    pub rows_read: u64,
    /// What the store knows that it does not have.
    pub losses: Losses,
    /// What the hosts' clocks say about the durations; `None` where no clock was ever read.
    pub clocks: Option<ClockQuality>,
}

/// How far durations can be trusted that go from one host to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockQuality {
    /// Whether the durations were corrected.
    pub corrected: bool,
    /// All durations, those that are negative and not used included.
    pub durations: u64,
    /// Those that cross hosts.
    pub crossings: Crossings,
}

/// Durations of one path.
#[derive(Clone, Debug)]
pub struct PathAnswer {
    /// The classes from the selected root to the leaf, in words: `MRTS::decodePlots/…`.
    pub path: String,
    /// Each of these classes in words, root first.
    pub hops: Vec<String>,
    /// Statistics of its durations.
    pub distribution: Distribution,
    /// Where the time went, where that was asked for: one entry per hop. `None` also for a path
    /// of which every chain has a row missing.
    pub split: Option<Split>,
}

/// What is missing from the store, as far as it is known. Any of it may hide durations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Rows that processes overwrote in their rings before they were read, or dropped.
    pub lost_rows: u64,
    /// Rows of the log that could not be read back.
    pub damaged_rows: u64,
    /// Rows deleted for their age or for space.
    pub expired_rows: u64,
    /// Damaged log files and unreadable segments: which, where, why, how many rows.
    pub damage: Vec<Damage>,
    /// Durations that could not be split, because a row between root and leaf is missing.
    pub unsplit: u64,
}

impl Answer {
    pub(super) fn new(
        question: &Question,
        book: &Book,
        mut findings: Findings,
        mut losses: Losses,
        corrected: Option<bool>,
    ) -> Self {
        losses.unsplit = findings.unsplit;
        let mut points = std::mem::take(&mut findings.points);
        points.sort_unstable();
        let crossings = findings.crossings;
        let (counts, rows_read, starts) = (findings.counts, findings.rows, findings.starts_ns);
        let mut paths = Vec::new();
        let mut sorted = Vec::new();
        for (path, series) in findings.into_series() {
            let durations_ns = sort(&series.durations_ns);
            let Some(distribution) = Distribution::of_ascending(&durations_ns) else { continue };
            sorted.push(durations_ns);
            let hop = |class: &ClassId| book.text(std::slice::from_ref(class));
            paths.push(PathAnswer {
                path: book.text(&path),
                hops: path.iter().map(hop).collect(),
                distribution,
                split: Some(series.split).filter(|split| !split.hops.is_empty()),
            });
        }
        let (total, durations_ns) = match (&paths[..], sorted.pop()) {
            ([only], Some(durations_ns)) => (Some(only.distribution), durations_ns),
            (_, last) => {
                sorted.extend(last);
                let durations_ns = sort(&sorted);
                (Distribution::of_ascending(&durations_ns), durations_ns)
            }
        };
        paths.sort_by(|a, b| {
            let by_count = b.distribution.count.cmp(&a.distribution.count);
            by_count.then_with(|| a.path.cmp(&b.path))
        });
        let judge = |limit_ns| Requirement::within(limit_ns).judge(&durations_ns);
        Self {
            distribution: total,
            verdict: question.limit_ns.map(judge),
            paths,
            counts,
            points,
            covered_ns: starts.map(|(first, last)| first..=last),
            rows_read,
            losses,
            clocks: corrected.map(|corrected| ClockQuality {
                corrected,
                durations: counts.used + counts.negative,
                crossings,
            }),
            durations_ns,
        }
    }
}
