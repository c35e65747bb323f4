//! OTLP in JSON: what OpenTelemetry's own types write as JSON is the same message after our
//! conversion, and anything else is refused with a position.

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_formats::otlp::{self, GROWTH, Limits, Vocabulary};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status, span};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

fn values() -> impl Strategy<Value = AnyValue> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Value::StringValue),
        any::<bool>().prop_map(Value::BoolValue),
        any::<i64>().prop_map(Value::IntValue),
        // Finite ones: serde writes the others as null.
        (-1e300..1e300_f64).prop_map(Value::DoubleValue),
    ];
    let any = |value| AnyValue { value: Some(value) };
    leaf.prop_map(any).prop_recursive(3, 12, 4, move |inner| {
        let list = vec(inner.clone(), 0..4).prop_map(|values| ArrayValue { values });
        let pairs = vec(pair(inner), 0..4).prop_map(|values| KeyValueList { values });
        prop_oneof![list.prop_map(Value::ArrayValue), pairs.prop_map(Value::KvlistValue)]
            .prop_map(any)
    })
}

fn pair(value: impl Strategy<Value = AnyValue>) -> impl Strategy<Value = KeyValue> {
    ("[a-z.]{0,8}", value).prop_map(|(key, value)| KeyValue {
        key,
        value: Some(value),
        ..KeyValue::default()
    })
}

fn pairs() -> impl Strategy<Value = Vec<KeyValue>> {
    vec(pair(values()), 0..4)
}

fn links() -> impl Strategy<Value = span::Link> {
    (any::<[u8; 16]>(), any::<[u8; 8]>(), pairs(), any::<u32>()).prop_map(
        |(trace, id, attributes, number)| span::Link {
            trace_id: trace.to_vec(),
            span_id: id.to_vec(),
            trace_state: "ot=th:8".to_owned(),
            attributes,
            dropped_attributes_count: number,
            flags: number,
        },
    )
}

fn events() -> impl Strategy<Value = span::Event> {
    (any::<u64>(), any::<String>(), pairs(), any::<u32>()).prop_map(
        |(time_unix_nano, name, attributes, dropped_attributes_count)| span::Event {
            time_unix_nano,
            name,
            attributes,
            dropped_attributes_count,
        },
    )
}

fn spans() -> impl Strategy<Value = Span> {
    let ids = (any::<[u8; 16]>(), any::<[u8; 8]>(), any::<bool>(), any::<[u8; 8]>());
    let numbers = (any::<u64>(), any::<u64>(), any::<[u32; 4]>(), 0..6_i32, 0..3_i32);
    let lists = (pairs(), vec(events(), 0..3), vec(links(), 0..3));
    (ids, numbers, lists, any::<String>()).prop_map(|(ids, numbers, lists, name)| Span {
        trace_id: ids.0.to_vec(),
        span_id: ids.1.to_vec(),
        trace_state: "a=b".to_owned(),
        parent_span_id: if ids.2 { ids.3.to_vec() } else { Vec::new() },
        name: name.clone(),
        kind: numbers.3,
        start_time_unix_nano: numbers.0,
        end_time_unix_nano: numbers.1,
        attributes: lists.0,
        dropped_attributes_count: numbers.2[0],
        events: lists.1,
        dropped_events_count: numbers.2[1],
        links: lists.2,
        dropped_links_count: numbers.2[2],
        status: Some(Status { message: name, code: numbers.4 }),
        flags: numbers.2[3],
    })
}

fn requests() -> impl Strategy<Value = ExportTraceServiceRequest> {
    (pairs(), pairs(), vec(spans(), 0..4)).prop_map(|(resource, scope, spans)| {
        let scope = Some(InstrumentationScope {
            name: "scope".to_owned(),
            version: "1".to_owned(),
            attributes: scope,
            dropped_attributes_count: 3,
        });
        let resource = Some(Resource { attributes: resource, ..Resource::default() });
        let scope_spans = vec![ScopeSpans { scope, spans, schema_url: "s".to_owned() }];
        let schema_url = "r".to_owned();
        ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans { resource, scope_spans, schema_url }],
        }
    })
}

fn decoded(text: &str) -> ExportTraceServiceRequest {
    ExportTraceServiceRequest::decode(&otlp::from_json(text.as_bytes()).unwrap()[..]).unwrap()
}

proptest! {
    #[test]
    fn what_the_generated_types_write_is_the_same_message(request in requests()) {
        let text = serde_json::to_string(&request).unwrap();
        prop_assert_eq!(decoded(&text), request);
    }

    #[test]
    fn a_text_that_is_cut_is_refused(request in requests(), at: prop::sample::Index) {
        let text = serde_json::to_string(&request).unwrap();
        let error = otlp::from_json(&text.as_bytes()[..at.index(text.len())]).unwrap_err();
        prop_assert!(error.to_string().contains("line 1 column"), "{}", error);
    }
}

/// One attribute's value, as it is decoded.
fn value(json: &str) -> Option<Value> {
    let text = format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"k","value":{json}}}]}}}}]}}"#
    );
    let resource = decoded(&text).resource_spans.remove(0).resource.unwrap();
    resource.attributes[0].value.clone().and_then(|any| any.value)
}

/// Numbers as texts, octets in base64 of both alphabets, and what is ignored: the specification's
/// "JSON Protobuf Encoding" and ProtoJSON.
#[test]
fn other_writings_of_a_value() {
    assert_eq!(value(r#"{"intValue":"-7"}"#), Some(Value::IntValue(-7)));
    assert_eq!(value(r#"{"intValue":7}"#), Some(Value::IntValue(7)));
    assert_eq!(value(r#"{"intValue":7.0}"#), Some(Value::IntValue(7)));
    assert_eq!(value(r#"{"doubleValue":7}"#), Some(Value::DoubleValue(7.0)));
    assert_eq!(value(r#"{"doubleValue":"-Infinity"}"#), Some(Value::DoubleValue(-f64::INFINITY)));
    let octets = Some(Value::BytesValue(vec![0xfb, 0xff]));
    for text in ["+/8=", "+/8", "-_8=", "-_8"] {
        assert_eq!(value(&format!(r#"{{"bytesValue":"{text}"}}"#)), octets, "{text}");
    }
    assert_eq!(value(r#"{"stringValue":""}"#), Some(Value::StringValue(String::new())));
    assert_eq!(value("{}"), None);
    assert_eq!(value(r#"{"string_value":"a","new":[{"deep":[1,{}]}]}"#), None, "not known");
    assert_eq!(value(r#"{"intValue":null}"#), None);
}

#[test]
fn refused_with_a_position() {
    let refused = |text: &str, expected: &str| {
        let error = otlp::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    refused("", "EOF while parsing");
    refused("[]", "expected an object at line 1 column");
    refused(r#"{"resourceSpans":7}"#, "expected an object at line 1 column 18");
    refused(r#"{"resourceSpans":[[]]}"#, "expected an object");
    refused("{} {}", "trailing characters");
    let span = |field: &str| {
        format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{{field}}}]}}]}}]}}"#)
    };
    refused(&span(r#""traceId":"5b8z""#), "expected hexadecimal digits at line 1 column");
    refused(&span(r#""traceId":"5b8""#), "expected hexadecimal digits");
    refused(&span(&format!(r#""spanId":"{}""#, "0".repeat(70))), "expected hexadecimal digits");
    refused(&span(r#""kind":"SPAN_KIND_SERVER""#), "expected a number of 32 bits");
    refused(&span(r#""kind":-1"#), "-1 is not a number of 32 bits");
    refused(&span(r#""startTimeUnixNano":1.5"#), "expected a number of 64 bits");
    refused(&span(r#""endTimeUnixNano":"184467440737095516160""#), "expected a number of 64 bits");
    refused(&span(r#""name":5"#), "expected a text");
    refused(&span(r#""name":"a","attributes":{"key":"\ud800"}"#), "line 1 column");
    let deep = r#"{"arrayValue":{"values":["#.repeat(500);
    let deep = format!(r#""attributes":[{{"key":"k","value":{deep}"#);
    refused(&span(&deep), "recursion limit exceeded");
    // What is not known is skipped, however deep it is.
    refused(&r#"{"new":"#.repeat(50_000), "EOF while parsing");
}

/// The most that a text may become.
#[test]
fn empty_messages_do_not_grow_beyond_the_bound() {
    let spans = "{},".repeat(1 << 16);
    let text = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{spans}{{}}]}}]}}]}}"#);
    let octets = otlp::from_json(text.as_bytes()).unwrap();
    assert!(octets.len() < GROWTH * text.len(), "{} from {}", octets.len(), text.len());
    let received = otlp::read(&octets, &Limits::default(), &Vocabulary::default()).unwrap();
    assert_eq!(received.refused, (1 << 16) + 1);
}
