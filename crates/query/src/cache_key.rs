//! What is kept belongs to a question and to the segments that it was read from.

use crate::question::{Clocks, DurationKind, Question};
use chronoscope_chain::{AttributeSelection, LeafLevel};
use chronoscope_store::{ClockTable, Segment};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

/// Key of an entry: the durations, and the segments they were read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    base: Arc<QuestionKey>,
    segments: Vec<(PathBuf, u64, u64)>,
}

/// The parts of a question that determine its durations, before filters are applied.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct QuestionKey {
    kind: DurationKind,
    root: String,
    leaf: Option<String>,
    level: Option<u16>,
    corrected: bool,
    attributes: AttributeSelection,
    /// Hash of the clock readings.
    clocks: u64,
    /// Time range of the question, where the durations found depend on it.
    window_ns: Option<(i64, i64)>,
}

impl QuestionKey {
    pub(crate) fn of(
        question: &Question,
        clocks: &ClockTable,
        window_ns: Option<(i64, i64)>,
    ) -> Arc<Self> {
        let mut hasher = DefaultHasher::new();
        for (host, track) in clocks.hosts().filter(|_| question.kind != DurationKind::Sync) {
            host.hash(&mut hasher);
            for knot in track.knots() {
                format!("{knot:?}").hash(&mut hasher);
            }
        }
        Arc::new(Self {
            kind: question.kind,
            root: question.root.0.clone(),
            leaf: question.leaf.as_ref().map(|leaf| leaf.0.clone()),
            level: match question.level {
                LeafLevel::Any => None,
                LeafLevel::Exactly(level) => Some(level),
            },
            corrected: question.clocks == Clocks::Corrected,
            attributes: question.attributes.clone(),
            clocks: hasher.finish(),
            window_ns,
        })
    }
}

impl Key {
    pub(crate) fn of(base: &Arc<QuestionKey>, segments: &[&Segment]) -> Self {
        let segment = |segment: &&Segment| {
            // A store that was made anew in the same place may use the same names again.
            (segment.path.clone(), segment.row_count, segment.size_bytes)
        };
        Self { base: base.clone(), segments: segments.iter().map(segment).collect() }
    }
}
