//! Selects the wanted rows of a segment by the columns that name paths and classes.

use crate::context::QuestionContext;
use crate::question::DurationKind;
use crate::series::Findings;
use chronoscope_chain::Meaning;
use chronoscope_model::ClassId;
use chronoscope_model::schema::column;
use chronoscope_store::StoreError;
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use std::collections::HashMap;

/// Treatment of a stretch of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StretchAction {
    Skip,
    /// Their durations belong to a series.
    Take(usize),
    /// Ancestors were dropped on the way: the row's level decides. The path, by number.
    AskLevel(usize),
}

/// Rows that follow each other and are treated alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) rows: usize,
    pub(super) todo: StretchAction,
}

/// Plan for the whole segment, made before any durations are decoded.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) stretches: Vec<Stretch>,
    /// Texts of the paths of [`StretchAction::AskLevel`].
    pub(super) asked: Vec<String>,
}

impl Plan {
    fn push(&mut self, todo: StretchAction, rows: usize) {
        if rows == 0 {
            return;
        }
        match self.stretches.last_mut() {
            Some(last) if last.todo == todo => last.rows += rows,
            _ => self.stretches.push(Stretch { rows, todo }),
        }
    }

    /// Upper bound of the number of rows by series.
    pub(super) fn taken(&self) -> HashMap<usize, usize> {
        let mut taken = HashMap::new();
        for stretch in &self.stretches {
            if let StretchAction::Take(series) = stretch.todo {
                *taken.entry(series).or_default() += stretch.rows;
            }
        }
        taken
    }

    /// The stretches to decode, or `None` to decode all: where wanted and unwanted rows alternate
    /// often, passing over costs more than it saves.
    pub(super) fn selection(&self) -> Option<RowSelection> {
        let rows: usize = self.stretches.iter().map(|stretch| stretch.rows).sum();
        if self.stretches.len() * 32 > rows {
            return None;
        }
        let selectors = self.stretches.iter().map(|stretch| match stretch.todo {
            StretchAction::Skip => RowSelector::skip(stretch.rows),
            StretchAction::Take(_) | StretchAction::AskLevel(_) => {
                RowSelector::select(stretch.rows)
            }
        });
        Some(selectors.collect::<Vec<_>>().into())
    }
}

/// The stretches of a plan whose rows are decoded, one after the other, in pieces.
pub(super) struct Stretches<'a> {
    rest: std::slice::Iter<'a, Stretch>,
    /// Whether stretches that are not wanted are not decoded either.
    skipped: bool,
    /// Number in the file of the first row that was not given out, and what is left of its stretch.
    number: usize,
    current: Stretch,
}

impl<'a> Stretches<'a> {
    pub(super) fn new(plan: &'a Plan, skipped: bool) -> Self {
        let current = Stretch { rows: 0, todo: StretchAction::Skip };
        Self { rest: plan.stretches.iter(), skipped, number: 0, current }
    }

    /// The next rows of one stretch, at most `count`, and the number of the first of them in the
    /// file; `None` where the plan has no more.
    pub(super) fn next_piece(&mut self, count: usize) -> Option<(usize, Stretch)> {
        while self.current.rows == 0 {
            let next = *self.rest.next()?;
            if self.skipped && next.todo == StretchAction::Skip {
                self.number += next.rows;
            } else {
                self.current = next;
            }
        }
        let piece = Stretch { rows: self.current.rows.min(count), ..self.current };
        let first = self.number;
        self.number += piece.rows;
        self.current.rows -= piece.rows;
        Some((first, piece))
    }
}

/// Judges every distinct path of a segment, and finds the stretches of rows. `None` where a root
/// that is asked for stands below a chain's root: its start is in another row.
pub(super) fn plan_paths(
    file: &SegmentFile,
    shared: &QuestionContext,
    findings: &mut Findings,
    without: &[usize],
) -> Result<Option<Plan>, StoreError> {
    let mut plan = Plan::default();
    let mut without = without.iter().copied().peekable();
    let mut first = 0;
    for batch in file.read(&[column::PATH], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let (keys, words) = SegmentColumns { file, batch: &batch }.words(column::PATH)?;
        let mut todos = Vec::with_capacity(words.len());
        for word in words {
            let Some(todo) = judge_path(word, shared, findings, &mut plan) else {
                return Ok(None);
            };
            todos.push(todo);
        }
        let mut rest = keys;
        while let Some(key) = rest.first() {
            let todo = usize::try_from(*key).ok().and_then(|key| todos.get(key));
            let todo = *todo.ok_or_else(|| file.unexpected_column(column::PATH))?;
            let count = alike(rest);
            rest = &rest[count..];
            let end = first + count;
            while let Some(row) = without.next_if(|row| *row < end) {
                plan.push(todo, row - first);
                plan.push(StretchAction::Skip, 1);
                first = row + 1;
            }
            plan.push(todo, end - first);
            first = end;
        }
    }
    Ok(Some(plan))
}

/// Number of equal keys at the beginning. Sixty-four are compared at a time: paths go on for
/// thousands of rows.
fn alike(keys: &[i32]) -> usize {
    let Some(first) = keys.first() else { return 0 };
    let mut count = 0;
    for some in keys.chunks(64) {
        if some.iter().fold(0, |differing, key| differing | (key ^ first)) != 0 {
            return count + some.iter().take_while(|key| *key == first).count();
        }
        count += some.len();
    }
    count
}

fn judge_path(
    text: &str,
    shared: &QuestionContext,
    findings: &mut Findings,
    plan: &mut Plan,
) -> Option<StretchAction> {
    let mut catalog = shared.catalog();
    if shared.question.kind == DurationKind::Apcd {
        let classes = catalog.path(text).classes.clone();
        let (top, below) = classes.split_first()?;
        if below.iter().any(|class| catalog.is_root(*class)) {
            return None;
        }
        let is_root = catalog.is_root(*top);
        drop(catalog);
        return Some(take(shared, &classes, is_root, findings));
    }
    Some(match catalog.meaning(text) {
        Some(Meaning::None | Meaning::Hidden) => StretchAction::Skip,
        Some(Meaning::Below { from_top: true, .. }) => {
            let classes = catalog.path(text).classes.clone();
            drop(catalog);
            take(shared, &classes, true, findings)
        }
        Some(Meaning::Below { from_top: false, .. }) => return None,
        None => {
            let known = plan.asked.iter().position(|asked| asked == text);
            StretchAction::AskLevel(known.unwrap_or_else(|| {
                plan.asked.push(text.to_owned());
                plan.asked.len() - 1
            }))
        }
    })
}

/// Treatment of the rows of a path.
pub(super) fn take(
    shared: &QuestionContext,
    classes: &[ClassId],
    selected: bool,
    findings: &mut Findings,
) -> StretchAction {
    if selected && shared.wants_path(classes) {
        StretchAction::Take(findings.series_of(classes))
    } else {
        StretchAction::Skip
    }
}

/// Finds the stretches of rows of the class asked for.
pub(super) fn plan_classes(
    file: &SegmentFile,
    shared: &QuestionContext,
    findings: &mut Findings,
) -> Result<Plan, StoreError> {
    let mut plan = Plan::default();
    for batch in file.read(&[column::APPLICATION, column::CLASS], None, None)? {
        let batch = batch.map_err(file.unreadable())?;
        let columns = SegmentColumns { file, batch: &batch };
        let (applications, application_words) = columns.words(column::APPLICATION)?;
        let (classes, class_words) = columns.words(column::CLASS)?;
        let mut last = None;
        for pair in applications.iter().zip(classes) {
            if last.is_none_or(|(known, _)| known != pair) {
                let word = |key: &i32, words: &[&str]| {
                    let word = usize::try_from(*key).ok().and_then(|key| words.get(key).copied());
                    word.map(str::to_owned).ok_or_else(|| file.unexpected_column(column::CLASS))
                };
                let application = word(pair.0, &application_words)?;
                let class = word(pair.1, &class_words)?;
                let mut catalog = shared.catalog();
                let class = catalog.class(&application, &class);
                let is_root = catalog.is_root(class);
                drop(catalog);
                last = Some((pair, take(shared, &[class], is_root, findings)));
            }
            if let Some((_, todo)) = last {
                plan.push(todo, 1);
            }
        }
    }
    Ok(plan)
}
