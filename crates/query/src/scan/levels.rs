//! Rows whose correlators dropped ancestors: their levels decide.

use super::plan::{StretchAction, take};
use crate::context::QuestionContext;
use crate::series::Findings;
use chronoscope_chain::Meaning;
use chronoscope_model::ClassId;
use std::collections::HashMap;

/// Meaning of rows with dropped ancestors, by path and level.
pub(super) struct LevelMeanings<'a> {
    pub(super) shared: &'a QuestionContext<'a>,
    pub(super) asked: &'a [String],
    pub(super) known: HashMap<(usize, u16), ByLevel>,
}

#[derive(Clone, Copy)]
pub(super) enum ByLevel {
    No,
    Series(usize),
    Group,
}

impl LevelMeanings<'_> {
    pub(super) fn series(&mut self, path: usize, level: u16, findings: &mut Findings) -> ByLevel {
        if let Some(known) = self.known.get(&(path, level)) {
            return *known;
        }
        let mut catalog = self.shared.catalog();
        let classes: Vec<ClassId> = catalog.path(&self.asked[path]).classes.clone();
        let found = match catalog.selection.meaning(&classes, Some(level)) {
            Meaning::None => ByLevel::No,
            // The rows may know what the correlator dropped.
            Meaning::Hidden | Meaning::Below { from_top: false, .. } => ByLevel::Group,
            Meaning::Below { .. } => {
                drop(catalog);
                match take(self.shared, &classes, true, findings) {
                    StretchAction::Take(series) => ByLevel::Series(series),
                    StretchAction::Skip | StretchAction::AskLevel(_) => ByLevel::No,
                }
            }
        };
        self.known.insert((path, level), found);
        found
    }
}
