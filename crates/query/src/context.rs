//! A question with all that the threads which answer it share.

use crate::arrivals::Arriving;
use crate::attributes::{AttributeReader, GroupNumbers};
use crate::clock::HostClocks;
use crate::path_catalog::PathCatalog;
use crate::progress::Progress;
use crate::question::Question;
use crate::series::{DurationDetail, Findings, Point};
use crate::wanted_breakdowns::WantedBreakdowns;
use chronoscope_chain::{HostIndex, RowAttributes};
use chronoscope_model::{ClassId, Names};
use chronoscope_store::StoreError;
use chronoscope_store::segment_file::SegmentFile;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowSelection};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// State shared by all threads that answer one question.
pub(crate) struct QuestionContext<'a> {
    pub(crate) question: &'a Question,
    pub(crate) names: &'a Names,
    pub(crate) catalog: Mutex<PathCatalog>,
    /// `None` where hosts play no part.
    pub(crate) clocks: Option<HostClocks<'a>>,
    pub(crate) progress: &'a Progress,
    /// Parts of the found durations that are kept.
    pub(crate) keep: DurationDetail,
    /// Segments in which no root started then are passed over: UTC, nanoseconds since 1970.
    pub(crate) window_ns: Range<i64>,
    /// The durations whose hop breakdowns are to be found, and nothing else.
    pub(crate) breakdowns: Option<WantedBreakdowns>,
    /// Set where arrivals are asked for.
    pub(crate) arriving: Option<Arriving>,
    /// Set where attributes are asked for.
    pub(crate) attributes: Option<AttributeReader<'a>>,
}

impl QuestionContext<'_> {
    /// Whether the way from a selected root to a leaf is asked for.
    pub(crate) fn wants_path(&self, classes: &[ClassId]) -> bool {
        let wanted = self.question.path.as_ref();
        wanted.is_none_or(|wanted| self.catalog().text(classes) == *wanted)
    }

    /// Whether a duration of a leaf on a host is asked for.
    pub(crate) fn wants(&self, host: HostIndex, duration_ns: i64) -> bool {
        let of_host = self.clocks.as_ref().is_none_or(|clocks| clocks.wants(host));
        of_host && self.wants_duration(duration_ns)
    }

    /// Whether a duration is asked for; negative ones are, to be counted.
    pub(crate) fn wants_duration(&self, duration_ns: i64) -> bool {
        u64::try_from(duration_ns).map_or(true, |ns| self.question.duration_ns.contains(&ns))
    }

    /// Reads some columns of a segment; with the attributes' as [`ContextColumns`] takes them.
    ///
    /// [`ContextColumns`]: crate::context_columns::ContextColumns
    pub(crate) fn read(
        &self,
        file: &SegmentFile,
        columns: &[&str],
        selection: Option<RowSelection>,
    ) -> Result<ParquetRecordBatchReader, StoreError> {
        match self.attributes {
            Some(_) => file.read_contexts(columns, selection),
            None => file.read(columns, None, selection),
        }
    }

    /// Notes the group of a duration, where groups are asked for.
    #[inline]
    pub(crate) fn note_group(&self, findings: &mut Findings, group: GroupNumbers, point: Point) {
        if !self.question.attributes.by().is_empty() {
            findings.grouped.push((group, point));
        }
    }

    /// The group of a row by itself; `None` where a filter leaves it out.
    #[inline]
    pub(crate) fn group_of_row(&self, row: Option<&RowAttributes>) -> Option<GroupNumbers> {
        match &self.attributes {
            None => Some(GroupNumbers::default()),
            Some(attributes) => attributes.group_of_row(row.copied().unwrap_or_default()),
        }
    }

    /// The catalog of paths, for a moment: nothing is read or decoded meanwhile.
    pub(crate) fn catalog(&self) -> MutexGuard<'_, PathCatalog> {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
