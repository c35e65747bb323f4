//! OTLP in: messages are built by OpenTelemetry's own generated code, and read by ours.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_formats::otlp::{self, Joined, Limits, OTHER, Received, SpanError, Vocabulary};
use chronoscope_model::{ChainId, Flags, FurtherParent, Status, Transaction, TransactionId};
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

const TRACE: [u8; 16] = [0xab; 16];

fn any(value: Value) -> AnyValue {
    AnyValue { value: Some(value) }
}

fn text(text: &str) -> AnyValue {
    any(Value::StringValue(text.to_owned()))
}

fn pair(key: &str, value: AnyValue) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(value), ..Default::default() }
}

/// A span from 1,000 to 1,500 ns after a second, named `work`.
fn span(id: u8) -> Span {
    Span {
        trace_id: TRACE.to_vec(),
        span_id: vec![0, 0, 0, 0, 0, 0, 0, id],
        name: "work".to_owned(),
        kind: span::SpanKind::Internal as i32,
        start_time_unix_nano: 1_000_001_000,
        end_time_unix_nano: 1_000_001_500,
        ..Span::default()
    }
}

fn service(name: &str) -> Vec<KeyValue> {
    vec![pair("service.name", text(name)), pair("host.name", text("h1"))]
}

fn request(attributes: Vec<KeyValue>, spans: Vec<Span>) -> ExportTraceServiceRequest {
    let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
    let resource = Some(Resource { attributes, ..Resource::default() });
    let spans = ResourceSpans { resource, scope_spans, ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![spans] }
}

fn read(request: &ExportTraceServiceRequest) -> Received {
    read_with(request, &Limits::default())
}

fn read_with(request: &ExportTraceServiceRequest, limits: &Limits) -> Received {
    otlp::read(&request.encode_to_vec(), limits, &Vocabulary::default()).unwrap()
}

fn words(received: &Received) -> Vec<Transaction> {
    let batch = &received.batch;
    let word = |record| Transaction::from_record(record, batch.context(record), &received.names);
    batch.records().iter().map(word).collect()
}

fn property<'a>(transaction: &'a Transaction, key: &str) -> &'a str {
    let found = transaction.properties.iter().find(|(k, _)| k == key);
    found.map_or("", |(_, value)| value)
}

fn metric(transaction: &Transaction, key: &str) -> Option<f64> {
    transaction.metrics.iter().find(|(k, _)| k == key).map(|(_, value)| *value)
}

#[test]
fn a_span_becomes_a_transaction() {
    let mut attributes = service("orders");
    attributes.extend([
        pair("process.pid", any(Value::IntValue(77))),
        pair("process.creation.time", text("2026-11-22T01:00:00.5Z")),
        pair("service.version", text("1.2")),
    ]);
    let mut child = span(2);
    child.parent_span_id = span(1).span_id;
    child.kind = span::SpanKind::Client as i32;
    child.attributes = vec![
        pair("thread.id", any(Value::IntValue(4711))),
        pair("http.request.method", text("GET")),
        pair("http.response.status_code", any(Value::IntValue(503))),
        pair("otel.kind", text("forged")),
    ];
    child.status = Some(SpanStatus { code: 2, message: "no".to_owned() });
    child.trace_state = "a=b".to_owned();
    child.flags = 0x301;
    let mut message = request(attributes, vec![child]);
    message.resource_spans[0].scope_spans[0].scope = Some(InstrumentationScope {
        name: "lib".to_owned(),
        version: "9".to_owned(),
        attributes: vec![pair("short", any(Value::BoolValue(true)))],
        ..InstrumentationScope::default()
    });
    let received = read(&message);
    assert_eq!((received.refused, received.message().as_str()), (0, ""));
    let all = words(&received);
    let t = &all[0];
    assert_eq!(t.class.to_string(), "orders::work");
    let process = t.process.as_ref().unwrap();
    assert_eq!((process.host.as_str(), process.pid), ("h1", 77));
    assert_eq!(process.start_ns, 1_795_309_200_500_000_000, "2026-11-22T01:00:00.5Z");
    assert_eq!((t.start_ns, t.elapsed_ns, t.thread), (1_000_001_000, 500, 4711));
    assert_eq!(t.chain, ChainId(u128::from_be_bytes(TRACE)));
    assert_eq!((t.id, t.parent), (TransactionId(2), TransactionId(1)));
    assert_eq!((t.status, t.flags), (Status::Failed, Flags::FOREIGN));
    assert_eq!(t.root_start_ns, None);
    let expected = [
        ("otel.kind", "client"),
        ("otel.status_description", "no"),
        ("otel.trace_state", "a=b"),
        ("http.request.method", "GET"),
        ("otel.attribute.otel.kind", "forged"),
        ("otel.scope.name", "lib"),
        ("otel.scope.version", "9"),
        ("otel.scope.attribute.short", "true"),
        ("otel.types.scope", r#"{"json":["otel.scope.attribute.short"],"double":[]}"#),
        ("otel.resource.service.version", "1.2"),
    ];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(t.properties, expected);
    let numbers = [("otel.flags", 769.0), ("http.response.status_code", 503.0)];
    assert_eq!(t.metrics, numbers.map(|(key, value)| (key.to_owned(), value)));
}

#[test]
fn values_that_are_no_words_or_numbers_are_json() {
    let list = vec![text("a\"b"), any(Value::IntValue(-3)), any(Value::DoubleValue(2.0))];
    let nested = KeyValueList {
        values: vec![
            pair("list", any(Value::ArrayValue(ArrayValue { values: list }))),
            pair("$odd", AnyValue::default()),
            pair("bytes", any(Value::BytesValue(vec![0, 255]))),
            pair("nan", any(Value::DoubleValue(f64::NAN))),
        ],
    };
    let mut one = span(1);
    one.attributes = vec![
        pair("nested", any(Value::KvlistValue(nested))),
        pair("big", any(Value::IntValue(i64::MAX))),
        pair("whole", any(Value::DoubleValue(3.0))),
        pair("half", any(Value::DoubleValue(0.5))),
    ];
    let all = words(&read(&request(service("s"), vec![one])));
    assert_eq!(
        property(&all[0], "nested"),
        r#"{"list":["a\"b",-3,2.0],"$$odd":null,"bytes":{"$bytes":"00ff"},"nan":{"$double":"NaN"}}"#
    );
    assert_eq!(property(&all[0], "big"), "9223372036854775807");
    assert_eq!(metric(&all[0], "whole"), Some(3.0));
    assert_eq!(metric(&all[0], "half"), Some(0.5));
    assert_eq!(property(&all[0], "otel.types"), r#"{"json":["nested","big"],"double":["whole"]}"#);
}

#[test]
fn a_consumer_hangs_in_the_span_it_links_to() {
    let producer = [0xcd; 16];
    let link = |trace_id: [u8; 16], id| span::Link {
        trace_id: trace_id.to_vec(),
        span_id: vec![0, 0, 0, 0, 0, 0, 0, id],
        attributes: vec![pair("queue", text("q1"))],
        flags: 0x301,
        ..span::Link::default()
    };
    let mut consumer = span(2);
    consumer.kind = span::SpanKind::Consumer as i32;
    consumer.links = vec![link(producer, 9), link([0xee; 16], 8)];
    let mut below = span(3);
    below.parent_span_id = consumer.span_id.clone();
    below.links = vec![link(producer, 9)]; // says something, but it has a parent
    let mut awaited = span(4);
    awaited.kind = span::SpanKind::Consumer as i32;
    awaited.parent_span_id = span(2).span_id;
    let received = read(&request(service("s"), vec![consumer, below, awaited]));
    let chain = ChainId(u128::from_be_bytes(TRACE));
    let continues = ChainId(u128::from_be_bytes(producer));
    assert_eq!(received.joined, [Joined { chain, continues }]);
    let all = words(&received);
    assert_eq!(all.iter().map(|t| t.parent.0).collect::<Vec<_>>(), [9, 2, 2]);
    let asynchronous: Vec<_> = all.iter().map(|t| t.flags.contains(Flags::ASYNCHRONOUS)).collect();
    assert_eq!(asynchronous, [true, false, true]);
    let first = format!(
        r#"{{"trace_id":"{continues}","span_id":"0000000000000009","flags":769,"attributes":{{"queue":"q1"}}}}"#
    );
    assert_eq!(property(&all[0], "otel.link.0"), first);
    assert_ne!(property(&all[0], "otel.link.1"), "");
    let further = |trace_id: [u8; 16], id| FurtherParent {
        chain: ChainId(u128::from_be_bytes(trace_id)),
        id: TransactionId(id),
        root: None,
    };
    let parents: Vec<_> = all.iter().map(|t| t.extras.further_parents.as_slice()).collect();
    assert_eq!(parents, [&[further([0xee; 16], 8)][..], &[further(producer, 9)], &[]]);
    let told: Vec<_> = all.iter().map(|t| t.flags.contains(Flags::FURTHER_PARENTS)).collect();
    assert_eq!(told, [true, true, false]);
}

/// With more links than there is room for, no chain is named, which means that any may be.
#[test]
fn links_without_room_are_all_left_out() {
    let link = |n: u16| {
        let mut trace_id = [1; 16];
        trace_id[..2].copy_from_slice(&n.to_be_bytes());
        span::Link { trace_id: trace_id.to_vec(), span_id: vec![1; 8], ..span::Link::default() }
    };
    for (links, kept) in [(500, 499), (700, 0)] {
        let mut consumer = span(2);
        consumer.links = (0..links).map(link).collect();
        let limits = Limits::default();
        let received = read_with(&request(service("s"), vec![consumer]), &limits);
        let t = &words(&received)[0];
        assert_eq!(t.extras.further_parents.len(), kept);
        assert!(t.flags.contains(Flags::FURTHER_PARENTS) && t.flags.contains(Flags::CONTEXT_CUT));
    }
}

#[test]
fn the_sampling_threshold_is_what_the_trace_state_says() {
    let cases = [
        ("", None, false),
        ("ot=th:0", Some(0), false),
        ("a=b, ot=rv:0123456789abcd;th:c", Some(0xc << 52), true),
        ("ot=th:00000000000001,b=c", Some(1), true),
        // Neither digits, nor of 56 bits, nor in OpenTelemetry's own member.
        ("ot=th:+c", None, false),
        ("ot=th:", None, false),
        ("ot=th:000000000000001", None, false),
        ("th=th:c", None, false),
    ];
    for (trace_state, threshold, sampled) in cases {
        let mut of = span(2);
        of.trace_state = trace_state.to_owned();
        let t = &words(&read(&request(service("s"), vec![of])))[0];
        assert_eq!(t.extras.sampling_threshold, threshold, "{trace_state}");
        assert_eq!(t.flags.contains(Flags::SAMPLED), sampled, "{trace_state}");
        assert_eq!(property(t, "otel.trace_state"), trace_state);
    }
}

#[test]
fn events_are_kept() {
    let mut one = span(1);
    one.events = vec![span::Event {
        time_unix_nano: 1_000_001_100,
        name: "exception".to_owned(),
        attributes: vec![pair("exception.type", text("ValueError"))],
        dropped_attributes_count: 2,
    }];
    let all = words(&read(&request(service("s"), vec![one])));
    assert_eq!(
        property(&all[0], "otel.event.0"),
        concat!(
            r#"{"name":"exception","time_unix_nano":1000001100,"#,
            r#""attributes":{"exception.type":"ValueError"},"dropped_attributes_count":2}"#
        )
    );
}

#[test]
fn services_without_host_and_pid_are_two_processes() {
    let mut message = request(vec![pair("service.name", text("a"))], vec![span(1)]);
    message
        .resource_spans
        .extend(request(vec![pair("service.name", text("b"))], vec![span(2)]).resource_spans);
    message.resource_spans.extend(request(vec![], vec![span(3)]).resource_spans);
    let all = words(&read(&message));
    let application = |t: &Transaction| t.process.as_ref().unwrap().application.clone();
    assert_eq!(all.iter().map(application).collect::<Vec<_>>(), ["a", "b", "unknown_service"]);
    assert_eq!(all[2].process.as_ref().unwrap().host, "unknown_host");
}

/// Reason for the refusal of one span, as its sender reads it.
fn refusal(change: impl FnOnce(&mut Span)) -> String {
    let mut wrong = span(2);
    change(&mut wrong);
    let received = read(&request(service("s"), vec![span(1), wrong, span(3)]));
    assert_eq!((received.batch.len(), received.refused), (2, 1), "the others are kept");
    received.message()
}

#[test]
fn what_is_refused_is_named_and_the_rest_kept() {
    let says = |message: String, what: &str| assert!(message.contains(what), "{message}");
    says(refusal(|s| s.trace_id = vec![0; 16]), "trace_id has 16 octets or is zero");
    says(refusal(|s| s.trace_id = vec![1; 15]), "trace_id has 15 octets");
    says(refusal(|s| s.trace_id.clear()), "trace_id has 0 octets");
    says(refusal(|s| s.span_id = vec![0; 8]), "span_id has 8 octets or is zero");
    says(refusal(|s| s.parent_span_id = vec![1; 16]), "parent_span_id has 16 octets");
    says(refusal(|s| s.parent_span_id = s.span_id.clone()), "is its own parent");
    says(refusal(|s| s.end_time_unix_nano -= 501), "end_time_unix_nano 1000000999 is before");
    says(refusal(|s| s.start_time_unix_nano = 0), "start_time_unix_nano 0 is 0 or too far");
    says(refusal(|s| s.end_time_unix_nano = 0), "is before start_time_unix_nano 1000001000");
    says(refusal(|s| s.name.clear()), "the span has no name");
    says(refusal(|s| s.name = "x".repeat(1025)), "a name of 1025 octets: at most 1024");
    let deep = (0..17).fold(AnyValue::default(), |inner, _| {
        any(Value::ArrayValue(ArrayValue { values: vec![inner] }))
    });
    says(refusal(|s| s.attributes = vec![pair("deep", deep)]), "nested deeper than 16");
    let message = refusal(|s| s.trace_id.clear());
    assert!(message.starts_with("span 1: octet "), "{message}");
}

/// Generated code cannot write a text that is not UTF-8; so one octet is put into it afterwards.
#[test]
fn texts_that_are_not_utf8_refuse_their_span() {
    let mut marked = span(2);
    marked.name = "MARK".to_owned();
    let mut bytes = request(service("s"), vec![span(1), marked]).encode_to_vec();
    let at = bytes.windows(4).position(|window| window == b"MARK").unwrap();
    bytes[at + 2] = 0xff;
    let received = otlp::read(&bytes, &Limits::default(), &Vocabulary::default()).unwrap();
    assert_eq!(received.batch.len(), 1);
    assert_eq!(received.errors, [(1, SpanError::NotUtf8 { at: at + 2 })]);
    // In the service's name it is all of its spans.
    let mut bytes = request(service("MARK"), vec![span(1), span(2)]).encode_to_vec();
    let at = bytes.windows(4).position(|window| window == b"MARK").unwrap();
    bytes[at] = 0xff;
    let received = otlp::read(&bytes, &Limits::default(), &Vocabulary::default()).unwrap();
    assert_eq!((received.batch.len(), received.refused), (0, 2));
}

#[test]
fn an_id_of_all_zeros_is_no_parent() {
    let mut root = span(1);
    root.parent_span_id = vec![0; 8];
    let all = words(&read(&request(service("s"), vec![root])));
    assert!(all[0].parent.is_none());
}

#[test]
fn one_request_is_bounded() {
    let spans = |count: u8| request(service("s"), (1..=count).map(span).collect());
    let limits = Limits { spans_max: 3, ..Limits::default() };
    let received = read_with(&spans(9), &limits);
    assert_eq!((received.batch.len(), received.refused, received.errors.len()), (3, 6, 3));
    assert!(received.message().ends_with("the request has more than 3 spans; and 3 more"));

    let limits = Limits { rows_bytes_max: 500, ..Limits::default() };
    let received = read_with(&spans(9), &limits);
    assert_eq!((received.batch.len(), received.refused), (4, 5));
    assert!(matches!(received.errors[0], (4, SpanError::TooMuch { max: 500, .. })));

    let minute = |number: u8| {
        let mut span = span(number);
        span.start_time_unix_nano += u64::from(number % 3) * 60_000_000_000;
        span.end_time_unix_nano = span.start_time_unix_nano;
        span
    };
    let limits = Limits { minutes_max: 2, ..Limits::default() };
    let received = read_with(&request(service("s"), (1..=6).map(minute).collect()), &limits);
    assert_eq!((received.batch.len(), received.refused), (4, 2));
    assert!(matches!(received.errors[0].1, SpanError::TooManyMinutes { max: 2, .. }));

    let limits = Limits { until_ns: 1_000_001_000, ..Limits::default() };
    assert_eq!(read_with(&spans(2), &limits).refused, 2, "too far in the future");
}

/// Millions of empty spans, two octets each, were each read before they were refused.
#[test]
fn empty_spans_and_scopes_cost_no_more_than_others() {
    let limits = Limits { spans_max: 3, ..Limits::default() };
    let mut spans: Vec<_> = (0..3).map(|_| Span::default()).collect();
    spans.push(span(1));
    let received = read_with(&request(service("s"), spans), &limits);
    assert_eq!((received.batch.len(), received.refused), (0, 4), "the fourth is not looked at");
    let scopes = [0x0a, 8, 0x12, 0, 0x12, 0, 0x12, 0, 0x12, 0];
    let refused = otlp::read(&scopes, &limits, &Vocabulary::default()).unwrap_err();
    assert_eq!(refused.to_string(), "octet 8: the request has more than 3 resources and scopes");
}

#[test]
fn what_does_not_fit_is_cut_and_said() {
    let mut big = span(1);
    big.attributes = (0..1200).map(|n| pair(&format!("key{n}"), text(&"v".repeat(40)))).collect();
    let received = read(&request(service("s"), vec![big, span(2)]));
    let flags: Vec<_> = received.batch.records().iter().map(|r| r.flags()).collect();
    assert_eq!(flags, [Flags::FOREIGN.with(Flags::CONTEXT_CUT), Flags::FOREIGN]);
    let all = words(&received);
    assert!(all[0].properties.len() > 300, "{}", all[0].properties.len());
    assert_eq!(all[0].properties[0], ("key0".to_owned(), "v".repeat(40)));
}

#[test]
fn names_beyond_the_vocabulary_become_properties() {
    let vocabulary = Vocabulary::new(2);
    let named = |number: u8, name: &str| Span { name: name.to_owned(), ..span(number) };
    let spans = vec![named(1, "a"), named(2, "b"), named(3, "c"), named(4, "a")];
    let bytes = request(service("s"), spans).encode_to_vec();
    let received = otlp::read(&bytes, &Limits::default(), &vocabulary).unwrap();
    let all = words(&received);
    let classes: Vec<_> = all.iter().map(|t| t.class.class.as_str()).collect();
    assert_eq!(classes, ["a", "b", OTHER, "a"]);
    assert_eq!(property(&all[2], "otel.span.name"), "c");
    assert_eq!(property(&all[2], "otel.service.name"), "s");
    for (process, named) in [("s2", true), ("s3", false)] {
        let bytes = request(service(process), vec![named_span()]).encode_to_vec();
        let all = words(&otlp::read(&bytes, &Limits::default(), &vocabulary).unwrap());
        assert_eq!(all[0].process.is_some(), named, "{process}");
    }
}

#[test]
fn one_application_leaves_names_to_others() {
    let vocabulary = Vocabulary::new(8).of_application(2);
    let read = |service_name: &str| {
        let named = |number: u8| Span { name: format!("{number}"), ..span(number) };
        let spans = (1..=5).map(named).collect();
        let bytes = request(service(service_name), spans).encode_to_vec();
        otlp::read(&bytes, &Limits::default(), &vocabulary).unwrap().others
    };
    assert_eq!((read("a"), read("a"), read("b")), (3, 3, 3));
}

fn named_span() -> Span {
    Span { name: "d".to_owned(), ..span(9) }
}
