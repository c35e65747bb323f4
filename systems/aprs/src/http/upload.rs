//! Packets by `POST /`: a login line and a packet line, as `application/octet-stream`.

use super::listen::Peer;
use super::site::Site;
use crate::status::Posted;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::timeout;

/// Most octets of a body.
const BODY_BYTES_MAX: usize = 2048;
/// Within which a body must have come.
const BODY_WITHIN: Duration = Duration::from_secs(10);
/// Within which a worker has to say what became of it.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// All that an upload port answers.
pub(super) fn routes(site: Arc<Site>) -> Router {
    Router::new().route("/", post(upload)).with_state(site)
}

async fn upload(
    State(site): State<Arc<Site>>,
    Extension(peer): Extension<Peer>,
    request: Request,
) -> Response {
    match take(&site, peer, request).await {
        Ok(()) => (StatusCode::OK, "ok\n").into_response(),
        Err((status, why)) => (status, format!("{why}\n")).into_response(),
    }
}

/// A status and a reason in words. The codes are those of servers that uploading programs know: 400
/// for a fault of the request or the packet, 403 for a passcode.
type Refused = (StatusCode, String);

async fn take(site: &Site, peer: Peer, request: Request) -> Result<(), Refused> {
    let bad = |why: &str| (StatusCode::BAD_REQUEST, why.to_owned());
    let (head, body) = request.into_parts();
    let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
    let is_octets = |kind: &str| kind.eq_ignore_ascii_case("application/octet-stream");
    if !header(header::CONTENT_TYPE).is_some_and(is_octets) {
        return Err(bad("Bad request, wrong or missing content-type"));
    }
    let length =
        header(header::CONTENT_LENGTH).ok_or(bad("Bad request, missing content-length"))?;
    if !length.parse().is_ok_and(|length: usize| length <= BODY_BYTES_MAX) {
        return Err(bad("Bad request, too large body"));
    }
    let body = timeout(BODY_WITHIN, to_bytes(body, BODY_BYTES_MAX)).await;
    let body = match body {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return Err(bad("Body size does not match content-length")),
        Err(_) => return Err((StatusCode::REQUEST_TIMEOUT, "Body took too long".into())),
    };
    if !body.contains(&b'\n') {
        return Err(bad("No newline (LF) found in data"));
    }
    // No worker would read it before another program is there, which does not know of it.
    if site.paused.load(Ordering::Relaxed) {
        let why = "The server is being upgraded, please try again";
        return Err((StatusCode::SERVICE_UNAVAILABLE, why.into()));
    }
    match timeout(ANSWER_WITHIN, site.server.post(peer.remote, body.into())).await {
        Ok(Ok(posted)) => words(&posted),
        Ok(Err(_)) | Err(_) => {
            Err((StatusCode::SERVICE_UNAVAILABLE, "The server did not answer in time".into()))
        }
    }
}

fn words(posted: &Posted) -> Result<(), Refused> {
    let why = match posted {
        Posted::Accepted => return Ok(()),
        Posted::NotVerified => return Err((StatusCode::FORBIDDEN, "Invalid passcode".into())),
        Posted::InvalidLogin => "Invalid login string".into(),
        Posted::TooShort => "Packet too short".into(),
        Posted::TooLong => "Packet too long".into(),
        Posted::Dropped(reason) => format!("Packet parsing failure: {reason}"),
    };
    Err((StatusCode::BAD_REQUEST, why))
}
