//! `GET` and `DELETE /questions/ID`: a question in progress, asked after or cancelled by its name.

use super::error::{ApiError, ErrorBody};
use super::running::{QuestionProgress, QuestionState, check};
use super::{Api, Path};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

/// Progress of a question that was asked with `question=ID`, or its end.
#[utoipa::path(get, path = "/questions/{id}", tag = "questions",
    params(("id" = String, Path, pattern = "^[0-9a-z-]{1,64}$", description = "its name")),
    responses((status = 200, body = QuestionProgress), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody)))]
pub(super) async fn progress(
    State(api): State<Api>,
    Path(id): Path<String>,
) -> Result<Json<QuestionProgress>, ApiError> {
    check(&id)?;
    Ok(Json(api.running.progress(&id)))
}

/// Cancels a question: its client receives 409. A question that has ended is unchanged.
#[utoipa::path(delete, path = "/questions/{id}", tag = "questions",
    params(("id" = String, Path, pattern = "^[0-9a-z-]{1,64}$", description = "its name")),
    responses((status = 204, description = "the question has ended or ends soon"),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
        (status = 404, body = ErrorBody)))]
pub(super) async fn cancel(
    State(api): State<Api>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    check(&id)?;
    let is_known =
        api.running.cancel(&id) || api.running.progress(&id).state != QuestionState::Unknown; // it has ended
    if !is_known {
        return Err(ApiError::missing(format!("no question has the id {id}"))
            .hint("it ended long ago, or it was never started"));
    }
    Ok(StatusCode::NO_CONTENT)
}
