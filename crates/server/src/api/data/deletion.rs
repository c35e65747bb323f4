//! `/range` and `/data/deletion`: what lies in a range of time, and deleting it.

use super::super::change::Change;
use super::super::error::{ApiError, ErrorBody};
use super::super::parameters::{PlainParameters, QuestionName};
use super::super::{Api, beside};
use super::note::{busy, note};
use super::writer::TokenWriter;
use crate::log::{LogLine, instant};
use axum::Json;
use axum::extract::State;
use chronoscope_clickhouse::Cluster;
use chronoscope_clock as clock;
use chronoscope_collect::Ingest;
use chronoscope_query::{QueryError, StoreView};
use chronoscope_store::{Deleted, RangeContent, RangeDeletion, StoreError};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::Ordering;
use utoipa::{IntoParams, ToSchema};

/// A range of time.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct ContentRange {
    /// Rows whose root started at this time or later; foreign rows by their own start: UTC ns since
    /// 1970.
    from_ns: i64,
    /// Rows whose root started before this time: UTC ns since 1970.
    until_ns: i64,
}

/// What lies in a range.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(in crate::api) struct ContentView {
    rows: u64,
    /// Chains with rows in the range; foreign ones may have others outside.
    chains: u64,
    /// Whether there are more chains than were counted.
    chains_more: bool,
    /// Bytes of files, and of memory where rows wait. A part of a segment counts by its share of rows.
    bytes: u64,
    /// Minutes with rows in the range.
    minutes: u64,
}

/// A range to delete.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::api) struct RangeToDelete {
    /// As in `/range`: UTC ns since 1970.
    from_ns: i64,
    /// As in `/range`: UTC ns since 1970.
    until_ns: i64,
    /// Number of rows that `/range` told: when there are more, nothing is deleted.
    rows_max: u64,
}

/// What was deleted.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(in crate::api) struct DeletedView {
    rows: u64,
    /// Bytes that the store takes less, a minute later.
    bytes: u64,
}

fn range(from_ns: i64, until_ns: i64) -> Result<Range<i64>, ApiError> {
    match from_ns < until_ns {
        true => Ok(from_ns..until_ns),
        false => Err(ApiError::question("from_ns has to be before until_ns")),
    }
}

/// What lies in a range of time: rows, chains and bytes that a deletion would take.
#[utoipa::path(get, path = "/range", tag = "data", params(ContentRange, QuestionName),
    responses((status = 200, body = ContentView), (status = 400, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 500, body = ErrorBody),
        (status = 501, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn content(
    State(api): State<Api>,
    PlainParameters { id, own }: PlainParameters<ContentRange>,
) -> Result<Json<ContentView>, ApiError> {
    let range = range(own.from_ns, own.until_ns)?;
    api.ask(id, move |api, progress| {
        let found = api.recently(|view, _| match view {
            StoreView::Files(snapshot) => {
                let found = snapshot.range_content(&range, |done, total| {
                    progress.total.store(total, Ordering::Relaxed);
                    progress.done.store(done, Ordering::Relaxed);
                    progress.check().is_ok()
                });
                found.map_err(QueryError::from)
            }
            StoreView::Cluster(remote) => Ok(remote.cluster().range_content(&range)?),
        })?;
        Ok(found.into())
    })
    .await
}

/// Deletes the rows of a range of time, for good. Needs a token that may write, also where no other
/// request needs one. Rows that arrive meanwhile or later stay.
#[utoipa::path(post, path = "/data/deletion", tag = "data", request_body = RangeToDelete,
    responses((status = 200, body = DeletedView), (status = 400, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 500, body = ErrorBody),
        (status = 501, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn delete(
    State(api): State<Api>,
    TokenWriter { by, peer }: TokenWriter,
    Change(RangeToDelete { from_ns, until_ns, rows_max }): Change<RangeToDelete>,
) -> Result<Json<DeletedView>, ApiError> {
    let start_ns = range(from_ns, until_ns)?;
    // What was begun is ended, also when the client goes away: the log and the mark are part of it.
    beside(move || {
        let Ok(_one_at_a_time) = api.changing.try_lock() else { return Err(busy()) };
        let what = RangeDeletion { start_ns, rows_max, by: by.clone() };
        let deleted = match &api.collectors {
            Some(collectors) => delete_of_cluster(collectors.cluster(), &what)?,
            None => {
                let store = api.ingest.as_ref().and_then(Ingest::store);
                let store = store.ok_or_else(|| ApiError::conflict("this server only reads"))?;
                store.delete(&what, clock::utc_now_ns()).map_err(refused)?
            }
        };
        let (from, until) = (instant(from_ns), instant(until_ns));
        LogLine::warn("rows_deleted")
            .with("by", &by)
            .with_some("peer", peer)
            .with("from", &from)
            .with("until", &until)
            .with("rows", deleted.rows)
            .with("bytes", deleted.bytes)
            .say();
        if deleted.rows > 0 {
            note(&api, format!("{} rows from {from} to {until} deleted", deleted.rows), &by);
        }
        Ok(deleted.into())
    })
    .await
}

fn delete_of_cluster(cluster: &Cluster, what: &RangeDeletion) -> Result<Deleted, ApiError> {
    let failed = |error| ApiError::from(QueryError::from(error));
    let rows = cluster.range_content(&what.start_ns).map_err(failed)?.rows;
    if rows > what.rows_max {
        return Err(refused(StoreError::MoreRows { rows, rows_max: what.rows_max }));
    }
    cluster.delete_range(&what.start_ns, (&what.by, clock::utc_now_ns())).map_err(|error| {
        failed(error).hint("some shards may have deleted their part: delete the same range again")
    })
}

fn refused(error: StoreError) -> ApiError {
    match error {
        error @ StoreError::MoreRows { .. } => ApiError::conflict(error),
        error if error.is_passing() => ApiError::busy(error).hint("nothing was deleted"),
        error => ApiError::failed(error).hint(
            "nothing was deleted; a damaged segment can be deleted with its whole minute, or see \
             `chronoscope store check`",
        ),
    }
}

impl From<RangeContent> for ContentView {
    fn from(of: RangeContent) -> Self {
        let RangeContent { rows, chains, chains_more, bytes, minutes, .. } = of;
        Self { rows, chains, chains_more, bytes, minutes }
    }
}

impl From<Deleted> for DeletedView {
    fn from(of: Deleted) -> Self {
        Self { rows: of.rows, bytes: of.bytes }
    }
}
