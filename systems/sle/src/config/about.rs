//! Findings as a check collects them.

use super::finding::{Finding, Severity};

/// Findings as they are collected, about one table.
pub(super) struct About<'a> {
    pub(super) found: &'a mut Vec<Finding>,
    /// The line of the table, from 1.
    pub(super) line: Option<usize>,
}

impl About<'_> {
    pub(super) fn add(&mut self, severity: Severity, says: String) {
        self.found.push(Finding { severity, line: self.line, says });
    }

    pub(super) fn wrong_if(&mut self, is_wrong: bool, says: impl FnOnce() -> String) {
        if is_wrong {
            self.add(Severity::Wrong, says());
        }
    }

    pub(super) fn doubtful_if(&mut self, is_doubtful: bool, says: impl FnOnce() -> String) {
        if is_doubtful {
            self.add(Severity::Doubtful, says());
        }
    }
}
