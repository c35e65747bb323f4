//! Answers to questions about durations.

use crate::arrivals::Arrivals;
use crate::attributes::AttributeGroups;
use crate::path_catalog::PathCatalog;
use crate::question::{DurationKind, Question, VerdictSubject};
use crate::series::{Findings, Point};
use crate::sources::{ENDS_WITHIN_NS, Sources};
use chronoscope_chain::{Counts, Crossings, Distribution, Requirement, Split, Verdict, sort};
use chronoscope_model::ClassId;
use chronoscope_store::{Damage, Deletion, Snapshot};
use std::ops::{Range, RangeInclusive};

/// The durations that were asked for, and how far they can be trusted.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Statistics of all durations; `None` when there are none.
    pub distribution: Option<Distribution>,
    /// Whether the limit is kept, where one was asked for.
    pub verdict: Option<Verdict>,
    /// The roots that arrived, where that was asked for.
    pub arrivals: Option<Arrivals>,
    /// By path from the selected root to the leaf, most durations first.
    pub paths: Vec<PathAnswer>,
    /// Number of durations used, and of those left out, by reason.
    pub counts: Counts,
    /// All durations, ascending, in nanoseconds.
    pub durations_ns: Vec<u64>,
    /// Every duration with its start, by start, where they were asked for.
    pub points: Vec<Point>,
    /// First and last start of a root (UTC, nanoseconds since 1970); `None` without durations.
    pub covered_ns: Option<RangeInclusive<i64>>,
    /// Rows that were looked at to find these.
    pub rows_read: u64,
    /// Known losses of the store.
    pub losses: Losses,
    /// Error bounds of the durations by the hosts' clocks; `None` where no clock was ever read.
    pub clocks: Option<ClockQuality>,
    /// The durations by attributes, where that was asked for.
    pub groups: Option<AttributeGroups>,
}

/// Accuracy of durations that go from one host to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockQuality {
    /// Whether the durations were corrected.
    pub corrected: bool,
    /// All durations, those that are negative and not used included.
    pub durations: u64,
    /// Durations that cross hosts.
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
    /// The durations split by hop, where that was asked for. `None` also for a path
    /// of which every chain has a row missing.
    pub split: Option<Split>,
}

/// Losses of the store, as far as they are known. Any of them may hide durations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Rows that processes overwrote in their rings before they were read, or dropped.
    pub lost_rows: u64,
    /// Number of losses of an unknown number of rows, with a ring that was damaged or removed.
    pub uncounted_losses: u64,
    /// Rows of the log that could not be read back.
    pub damaged_rows: u64,
    /// Rows deleted for their age or for space.
    pub expired_rows: u64,
    /// What was deleted on request of the time that the question is about. Where rows are missing
    /// there, this is why.
    pub deletions: Vec<Deletion>,
    /// Damaged log files and unreadable segments: which, where, why, how many rows.
    pub damage: Vec<Damage>,
    /// Durations that could not be split, because a row between root and leaf is missing.
    pub unsplit: u64,
}

impl Losses {
    /// The known losses of a store, with what of it could not be read just now.
    pub(crate) fn of(snapshot: &Snapshot, unreadable: Vec<Damage>, start_ns: &Range<i64>) -> Self {
        let ledger = snapshot.ledger();
        let mut damage = snapshot.damage().to_vec();
        damage.extend(unreadable);
        Self {
            lost_rows: ledger.lost_rows(),
            uncounted_losses: ledger.losses.uncounted(),
            damaged_rows: ledger.damaged_rows,
            expired_rows: snapshot.expired_rows(),
            deletions: ledger.deletions.iter().filter(|of| of.touches(start_ns)).cloned().collect(),
            damage,
            unsplit: 0,
        }
    }

    /// Rows that were deleted on request, at most so many of them of the question's time.
    pub fn deleted_rows(&self) -> u64 {
        self.deletions.iter().fold(0, |sum, of| sum.saturating_add(of.rows))
    }
}

impl Answer {
    pub(crate) fn new(
        catalog: &PathCatalog,
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
            let hop = |class: &ClassId| catalog.text(std::slice::from_ref(class));
            paths.push(PathAnswer {
                path: catalog.text(&path),
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
        Self {
            distribution: total,
            verdict: None,
            arrivals: None,
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
            groups: None,
        }
    }

    /// Judges what was found, with what is known of what was not.
    pub(crate) fn judge(
        &mut self,
        snapshot: &Snapshot,
        question: &Question,
        arrivals: Option<Arrivals>,
    ) {
        let Some(requirement) = question.limit_ns.map(Requirement::within) else { return };
        self.verdict = Some(match &arrivals {
            Some(arrivals) => arrivals.verdict(question.judged, requirement),
            None if question.judged == VerdictSubject::Durations || question.leaf.is_none() => {
                self.verdict_on_durations(snapshot, question, requirement)
            }
            None => Verdict { unseen: u64::MAX, ..requirement.judge(&self.durations_ns) },
        });
        if !snapshot.knows_losses() {
            // Whatever was lost may have been above the limit.
            self.verdict = self.verdict.map(|verdict| Verdict { unseen: u64::MAX, ..verdict });
        }
        self.arrivals = arrivals;
    }

    /// Judges durations alone: those that were lost may have been within the limit or above it.
    fn verdict_on_durations(
        &self,
        snapshot: &Snapshot,
        question: &Question,
        requirement: Requirement,
    ) -> Verdict {
        let verdict = requirement.judge(&self.durations_ns);
        let ended_by = question.start_ns.end.saturating_add(ENDS_WITHIN_NS);
        let lost =
            |class| Sources::of(snapshot, class).lost_rows(question.start_ns.start, ended_by);
        let unreadable = self.losses.damage.iter().map(|damage| damage.rows_lost).sum::<u64>();
        // What was deleted may have been above the limit.
        let unreadable = unreadable.saturating_add(self.losses.deleted_rows());
        match (question.kind, &question.leaf) {
            (DurationKind::Acpd, Some(leaf)) => Verdict {
                unseen: lost(leaf)
                    .saturating_add(unreadable)
                    .saturating_add(self.counts.negative + self.counts.root_missing),
                ..verdict
            },
            (DurationKind::Sync, _) => {
                let unseen = lost(&question.root).saturating_add(unreadable);
                Verdict { unseen, ..verdict }
            }
            // Any lost row may have been the end of a chain: it is then longer than it seems.
            (DurationKind::Apcd, _) | (DurationKind::Acpd, None) => {
                let lost = snapshot.ledger().lost_rows().saturating_add(unreadable);
                let doubtful = lost.min(verdict.within);
                let within = verdict.within - doubtful;
                Verdict { within, undecided: doubtful, ..verdict }
            }
        }
    }
}
