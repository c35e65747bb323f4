//! Processes and inputs of a scenario.

use crate::player::{FeedKind, Lines, Select};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A program that takes part.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) command: Vec<String>,
    pub(super) state: Option<PathBuf>,
    /// Files of the working folder in which placeholders stand.
    #[serde(default)]
    pub(super) fill: Vec<PathBuf>,
    /// Besides the scenario's.
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
}

/// Recordings of an input, and where it goes.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) name: String,
    /// One after the other.
    pub(super) journals: Vec<PathBuf>,
    pub(super) select: Select,
    pub(super) to: String,
    pub(super) kind: FeedKind,
    /// One of so many is delivered.
    pub(super) thin: u64,
    /// Its connections carry lines.
    pub(super) lines: Option<Lines>,
}
