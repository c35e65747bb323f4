//! `/marks`: instants with a text, which people note. `GET /versions`: those that are found in rows,
//! where a service runs another version than before.

use super::change::{Change, Writer};
use super::error::{ApiError, ErrorBody};
use super::parameters::{Nothing, Path, PlainParameters, QuestionName};
use super::{Api, beside};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chronoscope_annotations::{AnnotationsError, Mark, NewMark};
use chronoscope_clock as clock;
use chronoscope_query::{AttributeRows, Limits, VersionChange};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Rows that are looked at for versions by default.
const ROWS: u64 = 500_000;

/// The marks.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Marks {
    /// By their instant.
    marks: Vec<MarkView>,
    /// Lines of the file that could not be read, in words.
    damage: Vec<String>,
}

/// A mark.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct MarkView {
    /// Its number, by which it is removed.
    id: u64,
    /// UTC ns since 1970.
    at_ns: i64,
    text: String,
    /// The service that it is about; empty for all.
    service: String,
    /// Name of the token that noted it; empty without one.
    by: String,
}

/// A mark that is to be noted.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkToNote {
    /// What happened: 1 to 200 characters.
    text: String,
    /// UTC ns since 1970; now where it is absent.
    #[schema(nullable = false)]
    at_ns: Option<i64>,
    /// The service that it is about; all where it is absent.
    #[schema(nullable = false)]
    service: Option<String>,
}

/// The rows to look at.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct VersionRows {
    /// Only rows whose root started at this time or later: UTC ns since 1970.
    from_ns: Option<i64>,
    /// Only rows whose root started before this time: UTC ns since 1970.
    until_ns: Option<i64>,
    /// So many of the newest rows are enough; the default is 500,000. Whole minutes are read.
    rows: Option<u64>,
}

/// Versions that came to run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Versions {
    /// By their instant.
    changes: Vec<VersionView>,
    /// Whether rare versions were left out.
    cut: bool,
    /// Rows that were looked at.
    rows: u64,
    /// Whether older rows were not looked at.
    newest_only: bool,
    /// Unreadable segments, in words.
    damage: Vec<String>,
}

/// The first row of a version of a service that ran another one before (`service.version`).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct VersionView {
    /// Start of that row: UTC ns since 1970.
    at_ns: i64,
    service: String,
    version: String,
    /// The version before.
    before: String,
}

/// The marks that people have noted.
#[utoipa::path(get, path = "/marks", tag = "marks",
    responses((status = 200, body = Marks), (status = 400, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn marks(
    State(api): State<Api>,
    PlainParameters { own: Nothing {}, .. }: PlainParameters<Nothing>,
) -> Result<Json<Marks>, ApiError> {
    beside(move || {
        let content = api.annotations.read().map_err(ApiError::failed)?;
        Ok(Marks {
            marks: content.marks.into_iter().map(MarkView::from).collect(),
            damage: content.damage,
        })
    })
    .await
}

/// Notes a mark. Needs a token that may write, where tokens are needed.
#[utoipa::path(post, path = "/marks", tag = "marks", request_body = MarkToNote,
    responses((status = 200, body = MarkView), (status = 400, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn note_mark(
    State(api): State<Api>,
    Writer(by): Writer,
    Change(MarkToNote { text, at_ns, service }): Change<MarkToNote>,
) -> Result<Json<MarkView>, ApiError> {
    beside(move || {
        let at_ns = at_ns.unwrap_or_else(clock::utc_now_ns);
        let new = NewMark { at_ns, text, service: service.unwrap_or_default(), by };
        Ok(api.annotations.add_mark(new)?.into())
    })
    .await
}

/// Removes a mark. Needs a token that may write, where tokens are needed.
#[utoipa::path(delete, path = "/marks/{id}", tag = "marks",
    params(("id" = u64, Path, description = "its number")),
    responses((status = 204, description = "it is removed"), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 500, body = ErrorBody)))]
pub(super) async fn remove_mark(
    State(api): State<Api>,
    Path(id): Path<u64>,
    Writer(_): Writer,
) -> Result<StatusCode, ApiError> {
    let Json(()) = beside(move || match api.annotations.remove_mark(id)? {
        true => Ok(()),
        false => Err(ApiError::missing(format!("no mark has the number {id}"))
            .hint("/api/v1/marks lists them")),
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// When services came to run another version, by the attribute `service.version` of their rows. By
/// default of the newest 500,000 rows.
#[utoipa::path(get, path = "/versions", tag = "marks", params(VersionRows, QuestionName),
    responses((status = 200, body = Versions), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn versions(
    State(api): State<Api>,
    PlainParameters { id, own }: PlainParameters<VersionRows>,
) -> Result<Json<Versions>, ApiError> {
    api.ask(id, move |api, progress| {
        let rows = AttributeRows {
            start_ns: own.from_ns.unwrap_or(i64::MIN)..own.until_ns.unwrap_or(i64::MAX),
            most: Some(own.rows.unwrap_or(ROWS)),
            threads: Limits::default().threads,
            progress,
        };
        let found = api.recently(|view, _| view.service_versions(&rows))?;
        Ok(Versions {
            changes: found.changes.into_iter().map(VersionView::from).collect(),
            cut: found.cut,
            rows: found.rows,
            newest_only: found.newest_only,
            damage: found.damage.iter().map(ToString::to_string).collect(),
        })
    })
    .await
}

impl From<Mark> for MarkView {
    fn from(Mark { id, at_ns, text, service, by }: Mark) -> Self {
        Self { id, at_ns, text, service, by }
    }
}

impl From<VersionChange> for VersionView {
    fn from(change: VersionChange) -> Self {
        Self {
            at_ns: change.at_ns,
            service: change.service.to_string(),
            version: change.version.to_string(),
            before: change.before.to_string(),
        }
    }
}

impl From<AnnotationsError> for ApiError {
    fn from(error: AnnotationsError) -> Self {
        match error {
            AnnotationsError::Io(error) => Self::failed(error),
            AnnotationsError::Full { .. } => Self::conflict(error),
            error => Self::question(error),
        }
    }
}
