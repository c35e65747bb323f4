//! Access to the routes: who a request comes from, by its token, and the layers that check it.

use crate::refusal::refuse;
use crate::senders::{Peer, Senders};
use crate::token::Token;
use crate::tokens::{Rights, Tokens, TokensError};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chronoscope_admission::SlotHandle;
use chronoscope_origin::AllowedHosts;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Delay before a wrong token is answered.
const WRONG_AFTER: Duration = Duration::from_secs(1);

/// Rights of a request, by the token that it shows; it travels in the request's extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bearer {
    /// The token's name; `None` of the one that has no name.
    pub(crate) name: Option<Arc<str>>,
    rights: Rights,
}

impl Bearer {
    /// The token's name; empty of the one that has no name.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Whether it may change something.
    pub(crate) const fn may_write(&self) -> bool {
        self.rights.write
    }
}

/// Right that a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredRight {
    Read,
    Write,
}

/// The tokens that are known.
#[derive(Debug, Default)]
pub(crate) struct Access {
    /// The token with all rights.
    pub(crate) token: Option<Token>,
    /// The file of the others.
    pub(crate) file: Option<PathBuf>,
    pub(crate) tokens: RwLock<Tokens>,
}

impl Access {
    /// Reads the file of tokens, where there is one.
    ///
    /// # Errors
    /// [`TokensError`].
    pub(crate) fn new(token: Option<Token>, file: Option<PathBuf>) -> Result<Self, TokensError> {
        let tokens = file.as_deref().map(Tokens::read).transpose()?.unwrap_or_default();
        Ok(Self { token, file, tokens: RwLock::new(tokens) })
    }

    /// Reads the file again. When it cannot be read the known tokens are unchanged.
    ///
    /// # Errors
    /// [`TokensError`].
    pub(crate) fn reload(&self) -> Result<(), TokensError> {
        if let Some(file) = &self.file {
            let tokens = Tokens::read(file)?;
            *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        }
        Ok(())
    }

    /// Whether requests must show a token.
    pub(crate) const fn is_asked(&self) -> bool {
        self.token.is_some() || self.file.is_some()
    }

    fn who(&self, shown: &[u8]) -> Option<Bearer> {
        if self.token.as_ref().is_some_and(|token| token.is(shown)) {
            return Some(Bearer { name: None, rights: Rights { read: true, write: true } });
        }
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let (name, rights) = tokens.who(shown)?;
        Some(Bearer { name: Some(name.into()), rights })
    }
}

/// Access check of the layer, and the log of its refusals.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) access: Arc<Access>,
    pub(crate) need: RequiredRight,
    pub(crate) hosts: AllowedHosts,
    pub(crate) senders: Arc<Senders>,
}

impl Guard {
    /// The same guard, for routes that need another right.
    pub(crate) fn with(&self, need: RequiredRight) -> Self {
        Self { need, ..self.clone() }
    }

    /// Whether a request shows a valid token; never where none is configured.
    fn is_shown(&self, request: &Request) -> bool {
        let shown = request.headers().get(AUTHORIZATION).and_then(bearer);
        shown.is_some_and(|shown| self.access.who(shown).is_some())
    }
}

/// The outermost layer: refuses requests that a page of another origin makes a browser send. A
/// request that shows the token may use any host name: such a page does not have it.
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

/// The layer of gRPC's methods: no other content type may reach them. A content type that a browser
/// sends without a preflight (`text/plain`) is thus never decoded as a message.
pub(crate) async fn only_grpc(request: Request, next: Next) -> Response {
    match is_grpc(&request) {
        true => next.run(request).await,
        false => refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type: application/grpc"),
    }
}

/// Whether the content type is one of gRPC: `application/grpc`, `application/grpc+proto`.
fn is_grpc(request: &Request) -> bool {
    let kind = request.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let rest = kind.and_then(|kind| kind.strip_prefix(b"application/grpc"));
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';' | b' ')))
}

/// The layer: passes a request that shows a token with the needed right (or any request, when no
/// token is configured). A wrong token is answered late, which slows guessing.
pub(crate) async fn check(
    State(guard): State<Guard>,
    mut request: Request,
    next: Next,
) -> Response {
    if !guard.access.is_asked() {
        return next.run(request).await;
    }
    let shown = request.headers().get(AUTHORIZATION).map(bearer);
    let Some(bearer) = shown.flatten().and_then(|shown| guard.access.who(shown)) else {
        let what = match shown {
            Some(_) => "the token is wrong",
            None => "a token is needed: send `authorization: Bearer TOKEN`",
        };
        guard.senders.refused(Peer::of(request.extensions()), "token", 1, what);
        if shown.is_some() {
            tokio::time::sleep(WRONG_AFTER).await;
        }
        return unauthenticated(&request, what);
    };
    if let Some(slot) = request.extensions().get::<SlotHandle>() {
        slot.prove();
    }
    let Rights { read, write } = bearer.rights;
    let what = match guard.need {
        RequiredRight::Read if !read => "this token may not read",
        RequiredRight::Write if !write => "this token may not write",
        RequiredRight::Read | RequiredRight::Write => {
            request.extensions_mut().insert(bearer);
            return next.run(request).await;
        }
    };
    guard.senders.refused(Peer::of(request.extensions()), "rights", 1, what);
    match is_grpc(&request) {
        true => tonic::Status::permission_denied(what).into_http(),
        false => refuse(StatusCode::FORBIDDEN, what),
    }
}

fn unauthenticated(request: &Request, what: &'static str) -> Response {
    if is_grpc(request) {
        return tonic::Status::unauthenticated(what).into_http();
    }
    let header = [(WWW_AUTHENTICATE, "Bearer")];
    (header, refuse(StatusCode::UNAUTHORIZED, what)).into_response()
}

/// The token after `Bearer `; the scheme's case does not matter (RFC 9110 §11.1).
fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let (scheme, token) = value.as_bytes().split_first_chunk::<7>()?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_may_be_written_in_any_case() {
        let value = |text| HeaderValue::from_static(text);
        assert_eq!(bearer(&value("bearer abc")), Some(&b"abc"[..]));
        assert_eq!(bearer(&value("BEARER  abc ")), Some(&b"abc"[..]));
        assert_eq!(bearer(&value("Basic abc")), None);
        assert_eq!(bearer(&value("Bear")), None);
    }
}
