//! A profile of one event, from whichever file it is in.

use super::arcs::Arcs;
use super::perf_script::{StacksError, read_perf_script};
use super::stacks::{Paths, SampledEvent};
use super::tree::{CallTree, TreeFunction, TreeLimits, frames};
use crate::callgrind::{Graph, GraphError, Limits, Profile, SetError, diff, read_set};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Functions and calls of one event of a profile.
#[derive(Clone, Debug)]
pub struct MeasuredProfile {
    /// The event that costs are counts of.
    pub event: String,
    /// All events of the profile.
    pub events: Vec<String>,
    /// Functions and calls.
    pub graph: Graph,
    /// Whole paths, where the profile has stacks.
    paths: Option<Paths>,
}

/// Reason why a profile cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadProfileError {
    /// The file cannot be opened.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The profile is not Callgrind's, or damaged.
    #[error(transparent)]
    Callgrind(#[from] SetError),
    /// The text of `perf script` cannot be read.
    #[error("{path}: {source}")]
    Stacks {
        /// The path.
        path: PathBuf,
        /// The reader's error.
        source: StacksError,
    },
    /// The event is not in the profile, or its sums exceed 64 bits.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A profile has stacks and the other has not.
    #[error("one profile has sampled stacks, the other counted calls: they cannot be compared")]
    Mixed,
}

impl MeasuredProfile {
    /// Reads a Callgrind profile with its parts and threads, or text of `perf script`. Without an
    /// event the profile's first is taken.
    ///
    /// # Errors
    /// [`ReadProfileError`].
    pub fn read(
        path: &Path,
        event: Option<&str>,
        limits: Limits,
    ) -> Result<MeasuredProfile, ReadProfileError> {
        match is_perf_script(path) {
            Ok(true) => {
                let io = |source| ReadProfileError::Io { path: path.to_owned(), source };
                let from = BufReader::new(File::open(path).map_err(io)?);
                let samples = read_perf_script(from)
                    .map_err(|source| ReadProfileError::Stacks { path: path.to_owned(), source })?;
                Ok(Self::of_samples(samples, event)?)
            }
            // A set of parts may have no file of this very name.
            _ => Ok(Self::of_callgrind(&read_set(path, limits)?.profile, event)?),
        }
    }

    /// One event of a Callgrind profile; without an event its first.
    ///
    /// # Errors
    /// [`GraphError`].
    pub fn of_callgrind(
        profile: &Profile,
        event: Option<&str>,
    ) -> Result<MeasuredProfile, GraphError> {
        let first = profile.events.first().map_or("Ir", String::as_str);
        let event = event.unwrap_or(first).to_owned();
        let graph = Graph::of(profile, &event)?;
        Ok(MeasuredProfile { event, events: profile.events.clone(), graph, paths: None })
    }

    /// One event of samples; without an event the first.
    ///
    /// # Errors
    /// [`GraphError::NoEvent`].
    pub fn of_samples(
        samples: Vec<SampledEvent>,
        event: Option<&str>,
    ) -> Result<MeasuredProfile, GraphError> {
        let events: Vec<String> = samples.iter().map(|sampled| sampled.event.clone()).collect();
        let wanted = |sampled: &SampledEvent| event.is_none_or(|event| event == sampled.event);
        let found = samples.into_iter().find(wanted).ok_or_else(|| GraphError::NoEvent {
            event: event.unwrap_or_default().to_owned(),
            has: events.clone(),
        })?;
        let SampledEvent { event, graph, paths, .. } = found;
        Ok(MeasuredProfile { event, events, graph, paths: Some(paths) })
    }

    /// Whether costs are of whole stacks, so that a tree's costs are exact; else they are divided
    /// among callers.
    pub fn has_stacks(&self) -> bool {
        self.paths.is_some()
    }

    /// Size in memory: functions, places and calls.
    pub fn entry_count(&self) -> usize {
        let lines: usize = self.graph.nodes.iter().map(|node| node.lines.len()).sum();
        self.graph.nodes.len() + self.graph.edges.len() + lines
    }

    /// The profile as a tree of calls.
    pub fn tree(&self, limits: TreeLimits) -> CallTree<1> {
        let keys: Vec<usize> = (0..self.graph.nodes.len()).collect();
        let frames = match &self.paths {
            Some(paths) => frames([paths], [&keys], limits),
            None => frames([Arcs::new(&self.graph)], [&keys], limits),
        };
        let functions = self.graph.nodes.iter().map(|node| TreeFunction {
            name: node.name.clone(),
            file: node.file.clone(),
            object: node.object.clone(),
            own: [node.own],
            inclusive: [node.inclusive],
            in_cycle: node.cycle.is_some(),
        });
        CallTree { event: self.event.clone(), frames, functions: functions.collect() }
    }

    /// This profile and a later one in one tree of calls; functions are matched as
    /// [`diff`](crate::callgrind::diff) does it.
    ///
    /// # Errors
    /// [`ReadProfileError::Mixed`].
    pub fn tree_with(
        &self,
        after: &MeasuredProfile,
        limits: TreeLimits,
    ) -> Result<CallTree<2>, ReadProfileError> {
        let options = diff::Options { event: after.event.clone(), ..diff::Options::default() };
        let (keys, functions) = diff::paired(&self.graph, &after.graph, &options);
        let keys = [&keys[0][..], &keys[1]];
        let frames = match (&self.paths, &after.paths) {
            (Some(before), Some(after)) => frames([before, after], keys, limits),
            (None, None) => frames([Arcs::new(&self.graph), Arcs::new(&after.graph)], keys, limits),
            _ => return Err(ReadProfileError::Mixed),
        };
        Ok(CallTree { event: after.event.clone(), frames, functions })
    }
}

/// Whether a file begins as text of `perf script` does: a sample's line, or its comment.
fn is_perf_script(path: &Path) -> std::io::Result<bool> {
    let mut first = Vec::new();
    let mut from = std::io::Read::take(BufReader::new(File::open(path)?), 4096);
    while from.read_until(b'\n', &mut first)? > 0 {
        let line = String::from_utf8_lossy(&first);
        let line = line.trim_end();
        if !line.is_empty() && !line.starts_with('#') {
            return Ok(super::perf_script::is_sample(line));
        }
        first.clear();
    }
    Ok(false)
}
