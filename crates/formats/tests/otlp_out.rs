//! OTLP out: what came in goes out as it was, and what ARM measured comes back.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_formats::otlp::{self, Limits, Received, Request, Vocabulary};
use chronoscope_model::{
    ChainId, ClassName, Flags, ProcessName, Status, Transaction, TransactionId,
};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{
    ResourceSpans, ScopeSpans, Span, Status as SpanStatus, span,
};
use prost::Message;

fn pair(key: &str, value: Value) -> KeyValue {
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.to_owned(), value, ..Default::default() }
}

fn text(text: &str) -> Value {
    Value::StringValue(text.to_owned())
}

/// Every kind of value; sorted by key, as all attributes here.
fn attributes() -> Vec<KeyValue> {
    let any = |value| AnyValue { value: Some(value) };
    let list =
        vec![any(text("a\n\u{7}\"")), any(Value::IntValue(-1)), any(Value::DoubleValue(1.0))];
    let members = vec![
        pair("$key", Value::BytesValue(vec![1, 0xfe])),
        pair("infinite", Value::DoubleValue(f64::NEG_INFINITY)),
        pair("list", Value::ArrayValue(ArrayValue { values: list })),
    ];
    vec![
        pair("a.bool", Value::BoolValue(false)),
        pair("b.big", Value::IntValue(i64::MIN)),
        pair("c.int", Value::IntValue(42)),
        pair("d.whole", Value::DoubleValue(42.0)),
        pair("e.half", Value::DoubleValue(0.5)),
        pair("f.bytes", Value::BytesValue(vec![0, 255])),
        pair("g.long", text(&"statement ".repeat(60))),
        pair("h.members", Value::KvlistValue(KeyValueList { values: members })),
        pair("otel.kind", text("its own")),
    ]
}

fn sorted(mut attributes: Vec<KeyValue>) -> Vec<KeyValue> {
    attributes.sort_by(|a, b| a.key.cmp(&b.key));
    attributes
}

fn everything() -> ExportTraceServiceRequest {
    let link = span::Link {
        trace_id: vec![9; 16],
        span_id: vec![8; 8],
        trace_state: "x=y".to_owned(),
        attributes: attributes(),
        dropped_attributes_count: 1,
        flags: 0x101,
    };
    let event = span::Event {
        time_unix_nano: u64::MAX,
        name: "e".to_owned(),
        attributes: attributes(),
        dropped_attributes_count: 7,
    };
    let first = Span {
        trace_id: vec![1; 16],
        span_id: vec![2; 8],
        parent_span_id: vec![3; 8],
        trace_state: "k=v".to_owned(),
        flags: 0x301,
        name: "work".to_owned(),
        kind: span::SpanKind::Client as i32,
        start_time_unix_nano: 1_700_000_000_000_000_001,
        end_time_unix_nano: 1_700_000_000_000_000_002,
        attributes: attributes(),
        dropped_attributes_count: 3,
        events: vec![event],
        dropped_events_count: 4,
        links: vec![link],
        dropped_links_count: 5,
        status: Some(SpanStatus { code: 2, message: "broken".to_owned() }),
    };
    let fine = Some(SpanStatus { code: 1, message: String::new() });
    let second = Span {
        span_id: vec![4; 8],
        kind: span::SpanKind::Unspecified as i32,
        links: Vec::new(),
        events: Vec::new(),
        attributes: Vec::new(),
        status: fine,
        ..first.clone()
    };
    let mut own = attributes();
    own.pop(); // a key of the resource's or the scope's needs no protection
    let scope = InstrumentationScope {
        name: "lib".to_owned(),
        version: "1".to_owned(),
        attributes: own.clone(),
        dropped_attributes_count: 2,
    };
    own.extend([
        pair("host.name", text("h")),
        pair("process.creation.time", text("2026-11-22T01:02:03.000000004Z")),
        pair("process.pid", Value::IntValue(7)),
        pair("service.name", text("s")),
    ]);
    let resource =
        Resource { attributes: sorted(own), dropped_attributes_count: 6, ..Resource::default() };
    let scope_spans = vec![ScopeSpans {
        scope: Some(scope),
        spans: vec![first, second],
        schema_url: "scope-schema".to_owned(),
    }];
    let schema_url = "resource-schema".to_owned();
    let spans = ResourceSpans { resource: Some(resource), scope_spans, schema_url };
    ExportTraceServiceRequest { resource_spans: vec![spans] }
}

fn words(received: &Received) -> Vec<Transaction> {
    let batch = &received.batch;
    let word = |record| Transaction::from_record(record, batch.context(record), &received.names);
    batch.records().iter().map(word).collect()
}

fn read(bytes: &[u8]) -> Received {
    let received = otlp::read(bytes, &Limits::default(), &Vocabulary::default()).unwrap();
    assert_eq!(received.message(), "");
    received
}

#[test]
fn a_span_goes_out_as_it_came_in() {
    let sent = everything();
    let mut request = Request::default();
    words(&read(&sent.encode_to_vec())).iter().for_each(|t| request.push(t));
    assert_eq!(request.len(), 2);
    let mut back = ExportTraceServiceRequest::decode(&request.take()[..]).unwrap();
    for resource in &mut back.resource_spans {
        let attributes = &mut resource.resource.as_mut().unwrap().attributes;
        *attributes = sorted(std::mem::take(attributes));
        for scope in &mut resource.scope_spans {
            let attributes = &mut scope.scope.as_mut().unwrap().attributes;
            *attributes = sorted(std::mem::take(attributes));
            for span in &mut scope.spans {
                span.attributes = sorted(std::mem::take(&mut span.attributes));
            }
        }
    }
    assert_eq!(back, sent);
}

#[test]
fn what_arm_measured_comes_back() {
    let process = ProcessName {
        application: "MRTS".into(),
        host: "radar-1".into(),
        pid: 12,
        start_ns: 1_700_000_000_123_456_789,
    };
    let t = Transaction {
        class: ClassName { application: "MRTS".into(), class: "decodePlots".into() },
        process: Some(process),
        thread: 4711,
        start_ns: 1_700_000_001_000_000_000,
        elapsed_ns: 5_000,
        cpu_ns: 4_000,
        process_cpu_ns: Some(9_000),
        status: Status::Aborted,
        id: TransactionId(77),
        parent: TransactionId(66),
        chain: ChainId(55),
        flags: Flags::FOREIGN
            .with(Flags::ASYNCHRONOUS)
            .with(Flags::INDEPENDENT)
            .with(Flags::CONTEXT_CUT),
        level: 0,
        path: String::new(),
        root_start_ns: None,
        root_process: None,
        properties: vec![("callsign".into(), "DLH1".into())],
        metrics: vec![("plots".into(), 12.0), ("share".into(), 0.25)],
        extras: chronoscope_model::Extras::default(),
    };
    let unknown = Transaction {
        status: Status::Unknown,
        id: TransactionId(78),
        parent: TransactionId::NONE,
        flags: Flags::FOREIGN,
        process_cpu_ns: None,
        ..t.clone()
    };
    let mut request = Request::default();
    request.push(&t);
    request.push(&unknown);
    assert_eq!(words(&read(&request.take())), [t, unknown]);
    assert!(request.is_empty() && request.size_bytes() == 0);
}
