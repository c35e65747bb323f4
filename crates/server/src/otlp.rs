//! The OTLP receiver: `POST /v1/traces` (OTLP/HTTP, Protocol Buffers) and the gRPC method
//! `opentelemetry.proto.collector.trace.v1.TraceService/Export`.
//!
//! Both answer when the rows are durable. Temporary failures (disk full, sealing behind) get a
//! status after which an SDK retries; a repeated request whose answer was lost has the same
//! content, and the store takes it once. The cost of a sender is bounded: bytes of a request before
//! and after decompression, bytes of all requests at a time, requests being read at a time, time
//! for a body to arrive.
//!
//! Source: OpenTelemetry protocol specification 1.10. Not here: OTLP in JSON (refused by name),
//! metrics and logs, the conversion of spans to rows (`chronoscope_formats::otlp`).

mod answer;
mod door;
mod grpc;
mod limits;

use crate::access;
use crate::senders::{Peer, Senders};
use answer::Refusal;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::from_fn;
use axum::response::Response;
use axum::routing::post;
use chronoscope_collect::Ingest;
use door::Door;
use std::sync::Arc;

/// The routes on which OTLP comes in.
pub(crate) fn otlp_routes(ingest: Ingest, senders: Arc<Senders>) -> Router {
    Router::new()
        .route("/v1/traces", post(http))
        .route(grpc::EXPORT, post(grpc::export).layer(from_fn(access::only_grpc)))
        .with_state(Arc::new(Door::new(ingest, senders)))
}

/// OTLP/HTTP.
async fn http(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let peer = Peer::of(&parts.extensions);
    let outcome = async {
        let gzip = format(&parts.headers)?;
        let stored = door.body(&parts.headers, body).await?;
        door.take(stored.bytes.clone(), gzip, peer).await
    };
    match outcome.await {
        Ok(taken) => answer::http(&taken),
        Err(refusal) => {
            door.refused(peer, refusal.reason(), &refusal.to_string());
            refusal.http()
        }
    }
}

/// Whether the body is compressed, when its format is ours.
fn format(headers: &HeaderMap) -> Result<bool, Refusal> {
    let word = |name| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    };
    let kind = word(header::CONTENT_TYPE);
    if kind != answer::PROTOBUF {
        return Err(Refusal::Unsupported(format!(
            "content-type {kind:?} is not supported: send application/x-protobuf \
             (OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf or grpc)"
        )));
    }
    match word(header::CONTENT_ENCODING).as_str() {
        "" | "identity" => Ok(false),
        "gzip" => Ok(true),
        other => {
            let what = format!("content-encoding {other:?} is not supported: send gzip or none");
            Err(Refusal::Unsupported(what))
        }
    }
}
