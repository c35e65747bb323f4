//! Durations that were computed elsewhere than here: by the shards of a cluster.

use crate::path_catalog::PathCatalog;
use crate::series::{Findings, Point, wider};
use chronoscope_chain::{Counts, Crossings};
use chronoscope_model::{ClassId, ClassName};

/// The subject of durations that were computed elsewhere.
#[derive(Clone, Debug)]
pub(crate) enum FoundPath {
    /// A path in words, from its root on.
    Words(String),
    /// A class, each of whose transactions is measured by itself.
    Class(ClassName),
}

impl FoundPath {
    /// The classes from the selected root to the leaf.
    pub(crate) fn classes(&self, catalog: &mut PathCatalog) -> Vec<ClassId> {
        match self {
            Self::Words(text) => catalog.path(text).classes.clone(),
            // Its words are not taken apart: they may contain the separators of paths.
            Self::Class(name) => vec![catalog.class(&name.application, &name.class)],
        }
    }
}

/// Durations of one path that were computed elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct FoundElsewhere {
    pub(crate) path: FoundPath,
    /// In pieces, in no order.
    pub(crate) durations_ns: Vec<Vec<u64>>,
    /// The same with their starts, in no order, where these are asked for.
    pub(crate) points: Vec<Point>,
    /// Counts of them.
    pub(crate) counts: Counts,
    /// Those of them that cross hosts, where clocks were read.
    pub(crate) crossings: Crossings,
    /// First and last start of their roots.
    pub(crate) starts_ns: Option<(i64, i64)>,
    /// Rows that were looked at.
    pub(crate) rows: u64,
}

impl FoundElsewhere {
    /// No durations of a path yet.
    pub(crate) fn new(path: FoundPath) -> Self {
        Self {
            path,
            durations_ns: Vec::new(),
            points: Vec::new(),
            counts: Counts::default(),
            crossings: Crossings::default(),
            starts_ns: None,
            rows: 0,
        }
    }

    /// Notes the first and last start of some durations.
    pub(crate) fn add_starts(&mut self, first_ns: i64, last_ns: i64) {
        self.starts_ns = wider(self.starts_ns, Some((first_ns, last_ns)));
    }
}

impl Findings {
    /// Adds durations of a path, from the selected root on, that were computed elsewhere.
    pub(crate) fn add_found(&mut self, path: &[ClassId], found: FoundElsewhere) {
        let series = self.series_of(path);
        self.series[series].durations_ns.extend(found.durations_ns);
        self.points.extend(found.points);
        self.counts.add(&found.counts);
        self.crossings.merge(&found.crossings);
        self.rows += found.rows;
        self.starts_ns = wider(self.starts_ns, found.starts_ns);
    }
}
