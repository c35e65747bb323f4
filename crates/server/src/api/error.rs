//! Refusals and failures of the API: a status, a message and a next step.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chronoscope_query::QueryError;
use chronoscope_store::StoreError;
use serde::Serialize;
use std::fmt;
use utoipa::ToSchema;

/// Body of every answer with an error status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// The error in words.
    pub error: String,
    /// The next step, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hint: Option<String>,
}

/// A request that failed or was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: ErrorBody,
}

impl ApiError {
    fn new(status: StatusCode, what: impl ToString) -> Self {
        Self { status, body: ErrorBody { error: what.to_string(), hint: None } }
    }

    /// 400: the request is malformed.
    pub(crate) fn question(what: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, what)
    }

    /// 403: the token lacks the right.
    pub(crate) fn forbidden(what: impl ToString) -> Self {
        Self::new(StatusCode::FORBIDDEN, what)
    }

    /// 404: the requested item does not exist.
    pub(crate) fn missing(what: impl ToString) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }

    /// 405: the path exists and does not take this method.
    pub(crate) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "this method is not allowed at this path")
    }

    /// 409: what the request changes is in another state.
    pub(crate) fn conflict(what: impl ToString) -> Self {
        Self::new(StatusCode::CONFLICT, what)
    }

    /// 409: the question was cancelled.
    pub(crate) fn cancelled() -> Self {
        Self::new(StatusCode::CONFLICT, "cancelled")
    }

    /// 500: an internal failure.
    pub(crate) fn failed(what: impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, what)
    }

    /// 501: an older program that is asked does not support this question.
    pub(crate) fn unsupported(what: impl ToString) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, what)
    }

    /// 503: the server is busy; a later attempt may succeed.
    pub(crate) fn busy(what: impl ToString) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, what)
    }

    /// Adds the next step.
    pub(crate) fn hint(mut self, hint: impl ToString) -> Self {
        self.body.hint = Some(hint.to_string());
        self
    }
}

impl fmt::Display for ApiError {
    /// The error and the next step in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.body.error)?;
        match &self.body.hint {
            Some(hint) => write!(f, ": {hint}"),
            None => Ok(()),
        }
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        match error {
            error if error.is_cancelled() => Self::cancelled(),
            error if error.is_missing() => Self::busy(error)
                .hint("the store is empty, or a file was replaced meanwhile: try again"),
            error => Self::failed(error),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        QueryError::from(error).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}
