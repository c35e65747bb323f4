//! The radar chain on the test bed (`radar-testbed`), and its output.

use super::word;
use crate::run::Run;
use anyhow::Result;
use serde_json::Value;
use std::path::PathBuf;

/// Result of a run of the chain.
pub(super) struct Ran {
    /// Folder of the store.
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

/// Runs one part of the test bed; its files go to a folder of this name.
pub(super) fn testbed(run: &mut Run<'_>, part: &str, name: &str, words: &[&str]) -> Result<Value> {
    let (root, out) = (run.root.to_owned(), run.folder.join(name));
    let quick = if run.quick { &["--quick"][..] } else { &[] };
    let call = run.call("radar-testbed")?.arg(part).args(words).args(quick).arg("--json");
    call.arg("--root").arg(root).arg("--out").arg(out).json()
}
