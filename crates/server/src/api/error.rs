//! Refusals and failures of the API: a status, words, and what to do.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chronoscope_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

/// What every answer that is no answer says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// What happened.
    pub error: String,
    /// What to do about it, where there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hint: Option<String>,
}

/// A request that is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: ErrorBody,
}

impl ApiError {
    fn new(status: StatusCode, what: impl ToString) -> Self {
        Self { status, body: ErrorBody { error: what.to_string(), hint: None } }
    }

    /// 400: the question is wrong.
    pub(crate) fn question(what: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, what)
    }

    /// 404: what is asked for is not there.
    pub(crate) fn missing(what: impl ToString) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }

    /// 405: the path is right and the method is not.
    pub(crate) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "this path is not asked so")
    }

    /// 409: somebody ended the question.
    pub(crate) fn cancelled() -> Self {
        Self::new(StatusCode::CONFLICT, "cancelled")
    }

    /// 500: it should have been answered.
    pub(crate) fn failed(what: impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    }

    /// 501: a ClickHouse cluster does not answer this.
    pub(crate) fn cluster(what: &str) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, format!("{what} is not asked of a cluster"))
            .hint("it is answered from files: chronoscope serve --data DIR")
    }

    /// 503: not now.
    pub(crate) fn busy(what: impl ToString) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, what)
    }

    /// Says what to do.
    pub(crate) fn hint(mut self, hint: impl ToString) -> Self {
        self.body.hint = Some(hint.to_string());
        self
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Cancelled => Self::cancelled(),
            // The store was opened: what is wrong is that a cluster is asked.
            StoreError::Url { reason, .. } => Self::new(StatusCode::NOT_IMPLEMENTED, reason),
            StoreError::OfFilesOnly { what } => Self::cluster(what),
            error if error.is_missing() => Self::busy(error)
                .hint("nothing is stored there yet, or a file was replaced meanwhile: ask again"),
            error => Self::failed(error),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}
