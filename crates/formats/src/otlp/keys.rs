//! Keys of properties and metrics for the fields of OTLP that a transaction lacks.
//!
//! An attribute keeps its key; those of the resource and of the scope get a prefix. OpenTelemetry
//! reserves `otel.` for exactly such names; where it defines one for the purpose
//! (`otel.scope.name`, `otel.status_description`, …: specification, "mapping to non-OTLP formats")
//! that one is used. A span's own attribute that begins with `otel.` gets the prefix [`ATTRIBUTE`],
//! so that no sender can forge one of these.

pub(super) use chronoscope_model::attribute::{
    ATTRIBUTE, EVENT, LINK, RESERVED, RESOURCE, SCOPE, TYPES,
};

pub(super) const SCOPE_NAME: &str = "otel.scope.name";
pub(super) const SCOPE_VERSION: &str = "otel.scope.version";
/// Kind of the span, unless it is INTERNAL.
pub(super) const KIND: &str = "otel.kind";
/// `OK` where the sender set that; ERROR is the status FAILED, and UNSET is not written.
pub(super) const STATUS_CODE: &str = "otel.status_code";
pub(super) const STATUS_DESCRIPTION: &str = "otel.status_description";
pub(super) const TRACE_STATE: &str = "otel.trace_state";
/// Flags of the span: the low eight bits are W3C's, 0x100 and 0x200 say whether the parent is in
/// another process.
pub(super) const FLAGS: &str = "otel.flags";
pub(super) const SCHEMA_RESOURCE: &str = "otel.schema_url.resource";
pub(super) const SCHEMA_SCOPE: &str = "otel.schema_url.scope";
pub(super) const DROPPED_ATTRIBUTES: &str = "otel.dropped_attributes_count";
pub(super) const DROPPED_EVENTS: &str = "otel.dropped_events_count";
pub(super) const DROPPED_LINKS: &str = "otel.dropped_links_count";
pub(super) const DROPPED_RESOURCE: &str = "otel.dropped_attributes_count.resource";
pub(super) const DROPPED_SCOPE: &str = "otel.dropped_attributes_count.scope";
/// The parent that the span named, where a link took its place.
pub(super) const PARENT: &str = "otel.parent_span_id";
/// Name and service of a span, when there were too many names to make one more class of it.
pub(super) const SPAN_NAME: &str = "otel.span.name";
pub(super) const SERVICE_NAME: &str = "otel.service.name";
pub(super) const HOST_NAME: &str = "otel.host.name";

/// Attributes of a span that are fields of a transaction, and come back as such.
pub(super) mod ours {
    pub(crate) const PREFIX: &str = "chronoscope.";
    pub(crate) const CPU: &str = "chronoscope.cpu_ns";
    pub(crate) const PROCESS_CPU: &str = "chronoscope.process_cpu_ns";
    /// ABORTED or UNKNOWN, which OTLP has no word for.
    pub(crate) const STATUS: &str = "chronoscope.status";
    pub(crate) const ASYNCHRONOUS: &str = "chronoscope.asynchronous";
    pub(crate) const INDEPENDENT: &str = "chronoscope.independent";
    pub(crate) const CONTEXT_CUT: &str = "chronoscope.context_cut";
    /// Key of the property or metric for the kernel's thread id.
    pub(crate) const THREAD: &str = "thread.id";
}

/// The words for a span's kind, by its number.
pub(super) const KINDS: [&str; 6] =
    ["unspecified", "internal", "server", "client", "producer", "consumer"];
pub(super) const INTERNAL: usize = 1;
pub(super) const CONSUMER: usize = 5;
