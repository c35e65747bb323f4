//! `chains --durations FILE`: every duration, for scripts.

use crate::usage::Usage;
use anyhow::{Context, Result};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use chronoscope_query::Point;
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows that are turned into columns at once.
const BATCH_ROWS: usize = 65_536;
/// Columns of both formats: the root's start (UTC, nanoseconds since 1970), and the duration in
/// nanoseconds.
const COLUMNS: [&str; 2] = ["start_ns", "duration_ns"];

/// Format of the file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DurationsFormat {
    Csv,
    Parquet,
}

impl DurationsFormat {
    /// # Errors
    /// A [`Usage`] error when the name ends neither in `.csv` nor in `.parquet`.
    pub(super) fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(Usage::new(format!(
                "--durations {}: the name tells the format; it ends in .csv or .parquet",
                path.display()
            ))
            .into()),
        }
    }

    /// Writes a row for each duration, in the order of their starts. A file of this name is
    /// replaced.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(self, path: &Path, points: &[Point]) -> Result<()> {
        let written = match self {
            Self::Csv => csv(path, points),
            Self::Parquet => parquet(path, points),
        };
        written.with_context(|| format!("{} cannot be written", path.display()))
    }
}

fn csv(path: &Path, points: &[Point]) -> Result<()> {
    let mut writer = csv::Writer::from_path(path)?;
    writer.write_record(COLUMNS)?;
    for point in points {
        writer.write_record([point.start_ns.to_string(), point.duration_ns.to_string()])?;
    }
    Ok(writer.flush()?)
}

fn parquet(path: &Path, points: &[Point]) -> Result<()> {
    let batch = |points: &[Point]| {
        let starts: Int64Array = points.iter().map(|point| Some(point.start_ns)).collect();
        // Above i64::MAX are durations of more than 292 years.
        let ns = |point: &Point| i64::try_from(point.duration_ns).unwrap_or(i64::MAX);
        let durations: Int64Array = points.iter().map(|point| Some(ns(point))).collect();
        let columns: [ArrayRef; 2] = [Arc::new(starts), Arc::new(durations)];
        RecordBatch::try_from_iter_with_nullable(
            COLUMNS.into_iter().zip(columns).map(|(name, column)| (name, column, false)),
        )
    };
    let schema = batch(&[])?.schema();
    let mut writer = ArrowWriter::try_new(File::create(path)?, schema, None)?;
    for points in points.chunks(BATCH_ROWS) {
        writer.write(&batch(points)?)?;
    }
    writer.close()?;
    Ok(())
}
