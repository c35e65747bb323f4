//! Transactions become an `ExportTraceServiceRequest`: what [`super::read`] makes rows of, the
//! other way round.

use super::json_any;
use super::keys::{self, ours};
use super::resource::{TOLD_FROM_NS, UNKNOWN_HOST};
use chronoscope_model::{Flags, Status, Transaction};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{
    ResourceSpans, ScopeSpans, Span, Status as SpanStatus, span, status::StatusCode,
};
use prost::Message;
use std::collections::HashMap;

/// Whole numbers up to here are integers in OTLP unless they are marked as doubles.
const EXACT: f64 = (1u64 << 53) as f64;

/// Collects transactions for one request.
///
/// ```
/// use chronoscope_formats::otlp::{self, Limits, Request, Vocabulary};
/// # let t = chronoscope_model::Transaction::from_record(
/// #     &chronoscope_model::Record { start_ns: 5, id: chronoscope_model::TransactionId(1),
/// #         chain_low: 7, ..Default::default() }, &[], &Default::default());
/// let mut request = Request::default();
/// request.push(&t);
/// let back = otlp::read(&request.take(), &Limits::default(), &Vocabulary::default()).unwrap();
/// assert_eq!(back.batch.records()[0].start_ns, 5);
/// ```
#[derive(Debug, Default)]
pub struct Request {
    message: ExportTraceServiceRequest,
    /// Index of each resource, by its bytes and its schema.
    resources: HashMap<(Vec<u8>, String), usize>,
    /// Index of each scope of a resource, by its bytes.
    scopes: HashMap<(usize, Vec<u8>), usize>,
    count: usize,
    size_bytes: usize,
}

impl Request {
    /// Adds a transaction as a span. What OTLP has no field for becomes attributes with the
    /// prefix `chronoscope.`; the path and the root of a chain do not travel, they follow from
    /// the spans.
    pub fn push(&mut self, t: &Transaction) {
        let parts = Parts::of(t);
        let place = self.place(parts.resource, parts.resource_schema, parts.scope);
        self.size_bytes += parts.span.encoded_len() + 8;
        self.message.resource_spans[place.0].scope_spans[place.1].spans.push(parts.span);
        self.count += 1;
    }

    /// Number of spans.
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no span.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// About how many bytes they have.
    pub const fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// The bytes of the request, which is empty afterwards.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(self).message.encode_to_vec()
    }

    fn place(&mut self, resource: Resource, schema: String, scope: ScopeSpans) -> (usize, usize) {
        let all = &mut self.message.resource_spans;
        let key = (resource.encode_to_vec(), schema);
        let size_bytes = &mut self.size_bytes;
        let first = *self.resources.entry(key).or_insert_with_key(|(bytes, schema)| {
            *size_bytes += bytes.len() + schema.len() + 16;
            all.push(ResourceSpans {
                resource: Some(resource),
                schema_url: schema.clone(),
                ..ResourceSpans::default()
            });
            all.len() - 1
        });
        let scopes = &mut all[first].scope_spans;
        let key = (first, scope.encode_to_vec());
        let second = *self.scopes.entry(key).or_insert_with_key(|(_, bytes)| {
            *size_bytes += bytes.len() + 8;
            scopes.push(scope);
            scopes.len() - 1
        });
        (first, second)
    }
}

/// Number of refused spans and the reason, from the receiver's answer to an accepted request
/// (`ExportTraceServiceResponse`); `None` when all were accepted or the answer is not valid.
pub fn refusal(answer: &[u8]) -> Option<(u64, String)> {
    let partial = ExportTraceServiceResponse::decode(answer).ok()?.partial_success?;
    let count = u64::try_from(partial.rejected_spans).unwrap_or(0);
    (count > 0).then_some((count, partial.error_message))
}

/// A transaction taken apart.
struct Parts {
    resource: Resource,
    resource_schema: String,
    scope: ScopeSpans,
    span: Span,
}

impl Parts {
    fn of(t: &Transaction) -> Self {
        let mut parts = Self {
            resource: resource(t),
            resource_schema: String::new(),
            scope: ScopeSpans::default(),
            span: span(t),
        };
        let types = json_any::Types::of(t);
        for (key, value) in &t.properties {
            if !parts.field(key, value) {
                parts.attribute(key, types.property(key, value));
            }
        }
        for (key, value) in &t.metrics {
            if !parts.count(key, *value) {
                parts.attribute(key, metric(types.is_double(key), *value));
            }
        }
        parts
    }

    fn scope(&mut self) -> &mut InstrumentationScope {
        self.scope.scope.get_or_insert_default()
    }

    /// Whether a property is a field of a message, and is put there.
    fn field(&mut self, key: &str, value: &str) -> bool {
        let text = value.to_owned();
        match key {
            keys::KIND => {
                let kind = keys::KINDS.iter().position(|kind| *kind == value);
                let kind = kind.and_then(|kind| i32::try_from(kind).ok());
                self.span.kind = kind.unwrap_or(self.span.kind);
            }
            keys::STATUS_CODE => {
                if value == "OK" {
                    status(&mut self.span).code = StatusCode::Ok as i32;
                }
            }
            keys::STATUS_DESCRIPTION => status(&mut self.span).message = text,
            keys::TRACE_STATE => self.span.trace_state = text,
            keys::PARENT => match u64::from_str_radix(value, 16) {
                Ok(parent) => self.span.parent_span_id = parent.to_be_bytes().to_vec(),
                Err(_) => return false,
            },
            keys::SPAN_NAME => self.span.name = text,
            keys::SERVICE_NAME => set(&mut self.resource.attributes, "service.name", text),
            keys::HOST_NAME => set(&mut self.resource.attributes, "host.name", text),
            keys::SCOPE_NAME => self.scope().name = text,
            keys::SCOPE_VERSION => self.scope().version = text,
            keys::SCHEMA_RESOURCE => self.resource_schema = text,
            keys::SCHEMA_SCOPE => self.scope.schema_url = text,
            key if keys::TYPES.contains(&key) => {}
            key if key.starts_with(keys::EVENT) => match json_any::event(value) {
                Some(event) => self.span.events.push(event),
                None => return false,
            },
            key if key.starts_with(keys::LINK) => match json_any::link(value) {
                Some(link) => self.span.links.push(link),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// Whether a metric is a field of a message, and is put there.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates
    fn count(&mut self, key: &str, value: f64) -> bool {
        let count = value as u32;
        match key {
            keys::FLAGS => self.span.flags = count,
            keys::DROPPED_ATTRIBUTES => self.span.dropped_attributes_count = count,
            keys::DROPPED_EVENTS => self.span.dropped_events_count = count,
            keys::DROPPED_LINKS => self.span.dropped_links_count = count,
            keys::DROPPED_RESOURCE => self.resource.dropped_attributes_count = count,
            keys::DROPPED_SCOPE => self.scope().dropped_attributes_count = count,
            _ => return false,
        }
        true
    }

    /// Stores an attribute in the resource, scope or span that its prefix names.
    fn attribute(&mut self, key: &str, value: AnyValue) {
        let (attributes, key) = if let Some(key) = key.strip_prefix(keys::RESOURCE) {
            (&mut self.resource.attributes, key)
        } else if let Some(key) = key.strip_prefix(keys::SCOPE) {
            (&mut self.scope().attributes, key)
        } else {
            let own = key.strip_prefix(keys::ATTRIBUTE).unwrap_or(key);
            (&mut self.span.attributes, own)
        };
        attributes.push(json_any::pair(key, value));
    }
}

/// The resource of a transaction's process, with what names it.
fn resource(t: &Transaction) -> Resource {
    let process = t.process.as_ref();
    let application = process.map_or(&t.class.application, |process| &process.application);
    let mut attributes = vec![json_any::text_pair("service.name", application)];
    if let Some(process) = process {
        if process.host != UNKNOWN_HOST {
            attributes.push(json_any::text_pair("host.name", &process.host));
        }
        if process.pid != 0 {
            let pid = Value::IntValue(process.pid.into());
            attributes.push(json_any::pair("process.pid", AnyValue { value: Some(pid) }));
        }
        let told = process.start_ns >= TOLD_FROM_NS;
        let start = jiff::Timestamp::from_nanosecond(process.start_ns.into()).ok();
        if let Some(start) = start.filter(|_| told) {
            attributes.push(json_any::text_pair("process.creation.time", &start.to_string()));
        }
    }
    Resource { attributes, ..Resource::default() }
}

/// A span with the transaction's own fields.
fn span(t: &Transaction) -> Span {
    let parent = if t.parent.is_none() { Vec::new() } else { t.parent.0.to_be_bytes().to_vec() };
    let start_ns = u64::try_from(t.start_ns).unwrap_or(0);
    let mut span = Span {
        trace_id: t.chain.0.to_be_bytes().to_vec(),
        span_id: t.id.0.to_be_bytes().to_vec(),
        parent_span_id: parent,
        name: t.class.class.clone(),
        kind: span::SpanKind::Internal as i32,
        start_time_unix_nano: start_ns,
        end_time_unix_nano: start_ns.saturating_add(t.elapsed_ns),
        ..Span::default()
    };
    if t.status == Status::Failed || t.status == Status::Aborted {
        status(&mut span).code = StatusCode::Error as i32;
    }
    let mut add = |key: &str, value: Value| {
        span.attributes.push(json_any::pair(key, AnyValue { value: Some(value) }));
    };
    if t.status == Status::Aborted || t.status == Status::Unknown {
        add(ours::STATUS, Value::StringValue(t.status.name().to_owned()));
    }
    let flags = [
        (Flags::ASYNCHRONOUS, ours::ASYNCHRONOUS),
        (Flags::INDEPENDENT, ours::INDEPENDENT),
        (Flags::CONTEXT_CUT, ours::CONTEXT_CUT),
    ];
    for (_, key) in flags.into_iter().filter(|(flag, _)| t.flags.contains(*flag)) {
        add(key, Value::BoolValue(true));
    }
    let number = |ns: u64| Value::IntValue(i64::try_from(ns).unwrap_or(i64::MAX));
    if t.cpu_ns != 0 {
        add(ours::CPU, number(t.cpu_ns));
    }
    if let Some(ns) = t.process_cpu_ns {
        add(ours::PROCESS_CPU, number(ns));
    }
    if t.thread != 0 {
        add(ours::THREAD, Value::IntValue(t.thread.into()));
    }
    span
}

fn status(span: &mut Span) -> &mut SpanStatus {
    span.status.get_or_insert_default()
}

/// A metric as OTLP's integer or double.
fn metric(is_double: bool, value: f64) -> AnyValue {
    let whole = value.fract() == 0.0 && value.abs() <= EXACT && !is_double;
    #[allow(clippy::cast_possible_truncation)] // a whole number within EXACT
    let value = if whole { Value::IntValue(value as i64) } else { Value::DoubleValue(value) };
    AnyValue { value: Some(value) }
}

/// Sets an attribute that may be there already.
fn set(attributes: &mut Vec<KeyValue>, key: &str, value: String) {
    let value = AnyValue { value: Some(Value::StringValue(value)) };
    match attributes.iter_mut().find(|pair| pair.key == key) {
        Some(pair) => pair.value = Some(value),
        None => attributes.push(json_any::pair(key, value)),
    }
}
