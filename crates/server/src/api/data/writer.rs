//! Who may delete and import.

use super::super::error::ApiError;
use crate::access::Bearer;
use crate::senders::Peer;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::net::SocketAddr;

/// Who shows a token that may write. Other than for [`Writer`](crate::api::change::Writer), a server
/// without tokens refuses: nobody would know who did it.
#[derive(Clone, Debug)]
pub(crate) struct TokenWriter {
    /// Name of the token; empty of the one without a name.
    pub(crate) by: String,
    /// The other end of the connection.
    pub(crate) peer: Option<SocketAddr>,
}

/// Whether a request may delete and import; the name of its token.
///
/// # Errors
/// 403 with what to do.
pub(super) fn may_change(bearer: Option<&Bearer>) -> Result<String, ApiError> {
    match bearer {
        None => Err(ApiError::forbidden(
            "this server has no token, so that everyone who reaches it could delete and import",
        )
        .hint(
            "make one with `chronoscope token add NAME --read --write --file FILE`, and start \
             `serve` with --tokens FILE",
        )),
        Some(bearer) if bearer.may_write() => Ok(bearer.name().to_owned()),
        Some(_) => Err(ApiError::forbidden("this token may not write")
            .hint("chronoscope token add NAME --read --write")),
    }
}

impl<S: Send + Sync> FromRequestParts<S> for TokenWriter {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let by = may_change(parts.extensions.get::<Bearer>())?;
        Ok(Self { by, peer: Peer::of(&parts.extensions) })
    }
}
