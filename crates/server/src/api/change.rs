//! Requests that change something: who asks, and what is to be changed.

use super::error::ApiError;
use crate::access::Bearer;
use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// Name of who asks: of the token that was shown; empty where it has none, or none is needed. A
/// token that may not write is refused.
#[derive(Debug)]
pub(crate) struct Writer(pub(crate) String);

/// The change, from the request's JSON.
#[derive(Debug)]
pub(crate) struct Change<T>(pub(crate) T);

impl<S: Send + Sync> FromRequestParts<S> for Writer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match parts.extensions.get::<Bearer>() {
            None => Ok(Self(String::new())), // no token is needed here
            Some(bearer) if bearer.may_write() => Ok(Self(bearer.name().to_owned())),
            Some(_) => Err(ApiError::forbidden("this token may not write")
                .hint("chronoscope token add NAME --read --write")),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Change<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let read = Json::<T>::from_request(request, state).await;
        let Json(change) = read.map_err(|rejection| ApiError::question(rejection.body_text()))?;
        Ok(Self(change))
    }
}
