//! The OTLP receiver: `POST /v1/traces` (OTLP/HTTP, Protocol Buffers or JSON) and the gRPC method
//! `opentelemetry.proto.collector.trace.v1.TraceService/Export`.
//!
//! Both answer when the rows are durable. Temporary failures (disk full, sealing behind) get a
//! status after which an SDK retries; a repeated request whose answer was lost has the same
//! content, and the store takes it once. The cost of a sender is bounded: bytes of a request before
//! and after decompression, bytes of all requests at a time, requests being read at a time, time
//! for a body to arrive.
//!
//! Metrics and logs are refused with a sentence that says how to switch them off: an exporter that
//! meets no route only logs a number.
//!
//! Source: OpenTelemetry protocol specification 1.10. Not here: the conversion of spans to rows
//! (`chronoscope_formats::otlp`).

mod answer;
mod grpc;
mod limits;
mod receiver;

use crate::access;
use crate::senders::{Peer, Senders};
use answer::{Refusal, word};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chronoscope_collect::Ingest;
use receiver::{Format, Receiver};
use std::sync::Arc;

/// Other signals of OTLP: the route over HTTP, the method over gRPC, the reason for the refusal.
const OTHER_SIGNALS: [(&str, &str, &str); 2] = [
    (
        "/v1/metrics",
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        "metrics are not stored here, only traces: set OTEL_METRICS_EXPORTER=none, or send them to \
         a server for metrics",
    ),
    (
        "/v1/logs",
        "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        "logs are not stored here, only traces: set OTEL_LOGS_EXPORTER=none, or send them to a \
         server for logs",
    ),
];

/// The routes on which OTLP comes in.
pub(crate) fn otlp_routes(ingest: Ingest, senders: Arc<Senders>) -> Router {
    let receiver = Arc::new(Receiver::new(ingest, senders));
    let traces = Router::new()
        .route("/v1/traces", post(http))
        .route(grpc::EXPORT, post(grpc::export).layer(from_fn(access::only_grpc)));
    let with_others = OTHER_SIGNALS.iter().fold(traces, |routes, (path, method, why)| {
        let over_http = async move |State(receiver): State<Arc<Receiver>>, request: Request| {
            let peer = Peer::of(request.extensions());
            let refusal = Refusal::OtherSignal(why);
            receiver.refused(peer, refusal.reason(), why);
            refusal.http(answer::Encoding::of(request.headers()))
        };
        let over_grpc = async move |State(receiver): State<Arc<Receiver>>, request: Request| {
            let peer = Peer::of(request.extensions());
            let refusal = Refusal::OtherSignal(why);
            receiver.refused(peer, refusal.reason(), why);
            refusal.grpc().into_http::<Body>().into_response()
        };
        routes
            .route(path, post(over_http))
            .route(method, post(over_grpc).layer(from_fn(access::only_grpc)))
    });
    with_others.with_state(receiver)
}

/// OTLP/HTTP. The answer has the encoding of the request.
async fn http(State(receiver): State<Arc<Receiver>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let peer = Peer::of(&parts.extensions);
    let encoding = answer::Encoding::of(&parts.headers);
    let outcome = async {
        let format = format(&parts.headers)?;
        let stored = receiver.body(&parts.headers, body).await?;
        receiver.take(stored.bytes.clone(), format, peer).await
    };
    match outcome.await {
        Ok(taken) => taken.http(encoding),
        Err(refusal) => {
            receiver.refused(peer, refusal.reason(), &refusal.to_string());
            refusal.http(encoding)
        }
    }
}

/// Encoding and compression of the body.
fn format(headers: &HeaderMap) -> Result<Format, Refusal> {
    let kind = word(headers, &header::CONTENT_TYPE);
    let json = match kind.as_str() {
        answer::PROTOBUF => false,
        answer::JSON => true,
        _ => {
            return Err(Refusal::Unsupported(format!(
                "content-type {kind:?} is not supported: send application/x-protobuf or \
                 application/json (OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, http/json or grpc)"
            )));
        }
    };
    match word(headers, &header::CONTENT_ENCODING).as_str() {
        "" | "identity" => Ok(Format { json, gzip: false }),
        "gzip" => Ok(Format { json, gzip: true }),
        other => {
            let what = format!("content-encoding {other:?} is not supported: send gzip or none");
            Err(Refusal::Unsupported(what))
        }
    }
}
