//! Answers from rows that come in batches, from wherever they are stored.
//!
//! In a batch every chain is whole. It is asked as rows of the log are
//! that no segment holds yet, by the same code: there is one definition of every duration.

use crate::answer::{Answer, Losses};
use crate::clock::HostClocks;
use crate::context::QuestionContext;
use crate::minutes::{Minutes, REACH, around};
use crate::path_catalog::PathCatalog;
use crate::progress::Progress;
use crate::question::{DurationKind, Limits, Question};
use crate::series::{DurationDetail, Findings};
use crate::task::Task;
use chronoscope_chain::Meaning;
use chronoscope_model::{Batch, ClassId, Names};
use chronoscope_store::{ClockTable, Minute, Snapshot, StoreError};
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

/// Content of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchContent {
    /// Chains, whole: rows of both kinds.
    Chains,
    /// Rows of any kind, each for itself.
    Each,
}

/// A question that is being answered.
pub(crate) struct BatchedQuestion<'a> {
    shared: QuestionContext<'a>,
    limits: Limits,
    findings: Mutex<Findings>,
}

impl<'a> BatchedQuestion<'a> {
    /// A question, with the names of all rows that will come, and the clocks of their hosts.
    pub(crate) fn new(
        question: &'a Question,
        (names, clocks): (&'a Names, &'a ClockTable),
        limits: Limits,
        progress: &'a Progress,
    ) -> Self {
        let catalog = Mutex::new(PathCatalog::new(names, question));
        let keep = DurationDetail::of(question);
        let window_ns = question.start_ns.clone();
        let shared = QuestionContext {
            question,
            names,
            catalog,
            clocks: HostClocks::of(clocks, question, false),
            progress,
            keep,
            window_ns,
            breakdowns: None,
            arriving: None,
            attributes: None,
        };
        Self { shared, limits, findings: Mutex::new(Findings::new(keep)) }
    }

    /// Whether the rows need their hosts, and those of their roots.
    pub(crate) const fn wants_hosts(&self) -> bool {
        self.shared.clocks.is_some()
    }

    /// The minutes in which native rows may matter, and those in which foreign ones may.
    pub(crate) fn minutes(&self) -> (RangeInclusive<i64>, RangeInclusive<i64>) {
        let of = |reach| {
            let range = around(&self.shared.question.start_ns, reach);
            Minute::of(range.start).0..=Minute::of(range.end.saturating_sub(1)).0
        };
        (of(REACH), of(self.limits.foreign_reach))
    }

    /// The classes of the roots whose chains may matter: no other native row is needed.
    pub(crate) fn tops(&self) -> HashSet<ClassId> {
        let mut catalog = self.shared.catalog();
        let mut tops = HashSet::new();
        for (id, classes) in self.shared.names.paths() {
            let Some(top) = classes.first() else { continue };
            let matters = match self.shared.question.kind {
                DurationKind::Acpd => {
                    let text = self.shared.names.path_text(id);
                    catalog.meaning(&text) != Some(Meaning::None)
                }
                DurationKind::Apcd => {
                    classes.iter().any(|class| class.is_none() || catalog.is_root(*class))
                }
                DurationKind::Sync => false,
            };
            if matters {
                tops.insert(*top);
            }
        }
        tops
    }

    /// Asks the rows of a batch.
    pub(crate) fn add(&self, content: BatchContent, rows: Batch) -> Result<(), StoreError> {
        let snapshot = Snapshot::of_rows(rows);
        let task = Task { shared: &self.shared, limits: &self.limits, damage: Mutex::default() };
        let minutes = Minutes::of(&snapshot, self.shared.question, &self.limits);
        let found = match content {
            BatchContent::Chains => task.ask_chains(&minutes)?,
            BatchContent::Each => task.ask_each(&minutes)?,
        };
        self.findings.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
        Ok(())
    }

    /// The answer, when all batches were asked; `told` has no rows and says what was lost.
    pub(crate) fn into_answer(self, told: &Snapshot) -> Answer {
        let findings = self.findings.into_inner().unwrap_or_else(PoisonError::into_inner);
        let catalog = self.shared.catalog();
        let question = self.shared.question;
        let losses = Losses::of(told, Vec::new(), &question.start_ns);
        let corrected = self.shared.clocks.as_ref().map(|clocks| clocks.corrected);
        let mut answer = Answer::new(&catalog, findings, losses, corrected);
        answer.judge(told, question, None);
        answer
    }
}
