//! The radar chain on the test bed (`radar-testbed`), and what it prints.

use super::{list, number, word};
use crate::run::Run;
use anyhow::Result;
use serde_json::Value;
use std::path::PathBuf;

/// What came of a chain.
pub(super) struct Ran {
    /// The store.
    pub(super) data: PathBuf,
    /// The picture of the first display.
    pub(super) picture: PathBuf,
    /// Whether its hosts were apart: durations have to be taken by one clock.
    pub(super) apart: bool,
}

impl Ran {
    pub(super) fn of(printed: &Value) -> Self {
        Self {
            data: word(printed, "data").into(),
            picture: word(printed, "picture").into(),
            apart: printed["apart"] == true,
        }
    }
}

/// One part of the test bed; what it keeps goes to a folder of this name.
pub(super) fn testbed(run: &mut Run<'_>, part: &str, name: &str, words: &[&str]) -> Result<Value> {
    let (root, out) = (run.root.to_owned(), run.folder.join(name));
    let quick = if run.quick { &["--quick"][..] } else { &[] };
    let call = run.call("radar-testbed")?.arg(part).args(words).args(quick).arg("--json");
    call.arg("--root").arg(root).arg("--out").arg(out).json()
}

/// Displays that collected updates although they were not told to always.
pub(super) fn switched(printed: &Value, displays: usize) -> Result<usize> {
    let all = list(printed, "/display_summaries")?.iter().take(displays);
    let changes = all.map(|one| number(one, "/mode_changes")).collect::<Result<Vec<_>>>()?;
    Ok(changes.iter().filter(|changes| **changes > 0.0).count())
}
