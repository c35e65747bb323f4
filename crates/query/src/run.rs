//! The answer to a question from the files of a store, on several threads.

use crate::answer::{Answer, Losses};
use crate::arrivals::Arriving;
use crate::attributes::AttributeReader;
use crate::clock::HostClocks;
use crate::context::QuestionContext;
use crate::found_elsewhere::FoundElsewhere;
use crate::minutes::Minutes;
use crate::path_catalog::PathCatalog;
use crate::progress::Progress;
use crate::question::{DurationKind, Limits, Question};
use crate::series::{DurationDetail, Findings};
use crate::task::Task;
use chronoscope_store::{Damage, Snapshot, StoreError};
use std::sync::Mutex;

/// Answers a question.
///
/// # Errors
/// [`StoreError::Io`] with [`StoreError::is_missing`] when a segment has been removed since the
/// snapshot was taken: take a new one. Unreadable segments are passed over and told in
/// [`Losses::damage`].
pub fn ask(
    snapshot: &Snapshot,
    question: &Question,
    limits: &Limits,
) -> Result<Answer, StoreError> {
    ask_watched(snapshot, question, limits, &Progress::default())
}

/// Answers a question that others watch, and may end.
///
/// # Errors
/// As [`ask`], and [`StoreError::Cancelled`].
pub fn ask_watched(
    snapshot: &Snapshot,
    question: &Question,
    limits: &Limits,
    progress: &Progress,
) -> Result<Answer, StoreError> {
    ask_with(snapshot, question, limits, progress, Vec::new())
}

/// Answers a question from rows, and from durations of other rows that were computed elsewhere:
/// below their chains' own roots, or of transactions by themselves.
pub(crate) fn ask_with(
    snapshot: &Snapshot,
    question: &Question,
    limits: &Limits,
    progress: &Progress,
    found: Vec<FoundElsewhere>,
) -> Result<Answer, StoreError> {
    let mut shared = QuestionContext {
        question,
        names: snapshot.names(),
        catalog: Mutex::new(PathCatalog::new(snapshot.names(), question)),
        clocks: HostClocks::of(snapshot.clocks(), question, !question.hosts.is_empty()),
        progress,
        keep: DurationDetail::of(question),
        window_ns: question.start_ns.clone(),
        breakdowns: None,
        arriving: None,
        attributes: AttributeReader::of(snapshot, &question.attributes),
    };
    let minutes = Minutes::of(snapshot, question, limits);
    progress.expect(minutes.segments());
    if let Some(mut arriving) = Arriving::of(snapshot, question) {
        let task = Task { shared: &shared, limits, damage: Mutex::default() };
        task.find_linked(snapshot, &minutes, &mut arriving)?;
        shared.arriving = Some(arriving);
    }
    let (mut findings, mut unreadable) = ask_rows(&shared, limits, &minutes)?;
    if let Some(arriving) = shared.arriving.as_mut()
        && !unreadable.is_empty()
        && !arriving.evidence.damaged
    {
        // Unreadable parts may hold any leaf. This is known only now, so the rows are judged once
        // more.
        arriving.evidence.damaged = true;
        (findings, unreadable) = ask_rows(&shared, limits, &minutes)?;
    }
    for one in found {
        let classes = one.path.classes(&mut shared.catalog());
        if shared.wants_path(&classes) {
            findings.add_found(&classes, one);
        }
    }
    let losses = Losses::of(snapshot, unreadable, &question.start_ns);
    let catalog = shared.catalog();
    let read = shared.clocks.as_ref().filter(|clocks| clocks.read);
    let corrected = read.map(|clocks| clocks.corrected);
    let found = std::mem::take(&mut findings.arrivals);
    let arrivals = shared.arriving.as_ref().map(|known| known.answer(snapshot, question, found));
    let grouped = std::mem::take(&mut findings.grouped);
    let attributes = shared.attributes.as_ref();
    let groups = attributes.and_then(|attributes| attributes.groups(grouped, question));
    let mut answer = Answer::new(&catalog, findings, losses, corrected);
    answer.groups = groups;
    answer.judge(snapshot, question, arrivals);
    Ok(answer)
}

/// Asks all rows that matter; and what of them could not be read.
fn ask_rows(
    shared: &QuestionContext<'_>,
    limits: &Limits,
    minutes: &Minutes<'_>,
) -> Result<(Findings, Vec<Damage>), StoreError> {
    let task = Task { shared, limits, damage: Mutex::default() };
    let findings = match shared.question.kind {
        DurationKind::Sync => task.ask_each(minutes)?,
        DurationKind::Acpd | DurationKind::Apcd => task.ask_chains(minutes)?,
    };
    Ok((findings, task.damage.into_inner().unwrap_or_default()))
}
