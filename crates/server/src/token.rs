//! The token that every request has to show, and the layer that asks for it.

use crate::places::PlaceOf;
use crate::routes::refuse;
use crate::senders::{Peer, Senders};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chronoscope_origin::AllowedHosts;
use std::fmt;
use std::sync::Arc;

/// A secret that both sides know; sent as `authorization: Bearer TOKEN`. Never printed.
#[derive(Clone)]
pub struct Token(Arc<str>);

/// Why a text cannot be a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// There is nothing in it.
    #[error("the token is empty: a secret of some 32 letters is wanted")]
    Empty,
    /// It could not be sent in a header.
    #[error("byte {position} of the token is not a visible ASCII character")]
    NotVisible {
        /// Where, from 0.
        position: usize,
    },
}

impl Token {
    /// A token out of a text; space around it (the line's end of a file) does not count.
    ///
    /// # Errors
    /// [`TokenError`] when it is empty or cannot stand in a header.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        match text.bytes().position(|byte| !byte.is_ascii_graphic()) {
            _ if text.is_empty() => Err(TokenError::Empty),
            Some(position) => Err(TokenError::NotVisible { position }),
            None => Ok(Self(text.into())),
        }
    }

    /// The secret itself.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Whether this is what was shown. Takes the same time wherever the two differ.
    fn is(&self, shown: &[u8]) -> bool {
        let mine = self.0.as_bytes();
        let differences = mine.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
        std::hint::black_box(differences) == 0 && mine.len() == shown.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// What the layer asks for, and whom it tells of those that do not have it.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) token: Option<Token>,
    pub(crate) hosts: AllowedHosts,
    pub(crate) senders: Arc<Senders>,
}

impl Guard {
    /// Whether a request shows the token; never where there is none.
    fn is_shown(&self, request: &Request) -> bool {
        let shown = request.headers().get(AUTHORIZATION).and_then(bearer);
        self.token.as_ref().zip(shown).is_some_and(|(token, shown)| token.is(shown))
    }
}

/// The outermost layer: refuses what a page of another origin makes a browser send. Who shows the
/// token may ask under any name: such a page does not have it.
pub(crate) async fn only_own_pages(
    State(guard): State<Guard>,
    request: Request,
    next: Next,
) -> Response {
    let host = match guard.is_shown(&request) {
        true => Ok(()),
        false => guard.hosts.check_host(&request),
    };
    match host.and_then(|()| guard.hosts.check_origin(&request)) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            let what = refused.to_string();
            guard.senders.refused(Peer::of(request.extensions()), "origin", 1, &what);
            if is_grpc(&request) {
                return tonic::Status::permission_denied(what).into_http();
            }
            refuse(refused.status(), what)
        }
    }
}

/// The layer of gRPC's methods: no other content type may reach them, so that what a browser can
/// send without asking (`text/plain`) is not taken for a message.
pub(crate) async fn only_grpc(request: Request, next: Next) -> Response {
    match is_grpc(&request) {
        true => next.run(request).await,
        false => refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type: application/grpc"),
    }
}

/// Whether a request says that it is one of gRPC: `application/grpc`, `application/grpc+proto`.
fn is_grpc(request: &Request) -> bool {
    let kind = request.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let rest = kind.and_then(|kind| kind.strip_prefix(b"application/grpc"));
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';' | b' ')))
}

/// The layer: lets a request through that shows the token (or any, when there is none).
pub(crate) async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let Some(token) = guard.token else { return next.run(request).await };
    let what = match request.headers().get(AUTHORIZATION).map(bearer) {
        Some(Some(shown)) if token.is(shown) => {
            if let Some(place) = request.extensions().get::<PlaceOf>() {
                place.prove();
            }
            return next.run(request).await;
        }
        Some(_) => "the token is wrong",
        None => "a token is needed: send `authorization: Bearer TOKEN`",
    };
    guard.senders.refused(Peer::of(request.extensions()), "token", 1, what);
    if is_grpc(&request) {
        return tonic::Status::unauthenticated(what).into_http();
    }
    let header = [(WWW_AUTHENTICATE, "Bearer")];
    (header, refuse(StatusCode::UNAUTHORIZED, what)).into_response()
}

/// What stands after `Bearer `; the scheme's case does not matter (RFC 9110 §11.1).
fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, token) = value.as_bytes().split_first_chunk::<7>()?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_its_letters() {
        let token = Token::new(" s3same\n").unwrap();
        assert!(token.is(b"s3same"));
        for other in [&b"s3sam"[..], b"s3samee", b"S3same", b""] {
            assert!(!token.is(other), "{other:?}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert_eq!(Token::new("a b").unwrap_err(), TokenError::NotVisible { position: 1 });
        assert_eq!(Token::new("\n").unwrap_err(), TokenError::Empty);
    }

    #[test]
    fn the_scheme_may_be_written_in_any_case() {
        let value = |text| HeaderValue::from_static(text);
        assert_eq!(bearer(&value("bearer abc")), Some(&b"abc"[..]));
        assert_eq!(bearer(&value("BEARER  abc ")), Some(&b"abc"[..]));
        assert_eq!(bearer(&value("Basic abc")), None);
        assert_eq!(bearer(&value("Bear")), None);
    }
}
