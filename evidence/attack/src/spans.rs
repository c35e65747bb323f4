//! Attacks with OpenTelemetry spans.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;

/// The header of a request with spans.
pub(crate) const CONTENT_TYPE: &str = "content-type: application/x-protobuf\r\n";

/// A span that took a microsecond, the root of a trace of its own; `number` makes it unlike others.
pub(crate) fn span(number: u64, name: String, start_ns: u64) -> Span {
    Span {
        trace_id: (u128::from(number) + 1).to_be_bytes().to_vec(),
        span_id: (number + 1).to_be_bytes().to_vec(),
        name,
        start_time_unix_nano: start_ns,
        end_time_unix_nano: start_ns + 1_000,
        ..Span::default()
    }
}

/// A request to export them (OTLP 1, `ExportTraceServiceRequest`).
pub(crate) fn request(spans: Vec<Span>) -> Vec<u8> {
    let scope = ScopeSpans { spans, ..ScopeSpans::default() };
    let resource = ResourceSpans { scope_spans: vec![scope], ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![resource] }.encode_to_vec()
}
