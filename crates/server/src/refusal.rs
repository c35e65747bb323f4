//! A refused request as an answer.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A refusal in words, as JSON.
pub(crate) fn refuse(status: StatusCode, what: impl std::fmt::Display) -> Response {
    (status, Json(json!({ "error": what.to_string() }))).into_response()
}
