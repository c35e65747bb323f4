//! Requests that are none: refused by name, and nobody else is harmed.

use crate::world::{World, text};
use std::io::Write;

pub(crate) const PROTOBUF: &str = "content-type: application/x-protobuf\r\n";

/// One span of a service, written by hand from the encoding guide: so that what is broken below
/// was right before.
fn request(trace_id: &[u8], name: &str) -> Vec<u8> {
    request_at(trace_id, name, 1_700_000_000_000_000_000, "")
}

/// The same of a span that starts at a time, of a service (`""`: of none).
pub(crate) fn request_at(trace_id: &[u8], name: &str, start_ns: u64, service: &str) -> Vec<u8> {
    let field = |number: u8, bytes: &[u8]| {
        [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
    };
    let time = |number: u8, ns: u64| [&[number << 3 | 1][..], &ns.to_le_bytes()].concat();
    let span = [
        field(1, trace_id),
        field(2, &[7; 8]),
        field(5, name.as_bytes()),
        time(7, start_ns),
        time(8, start_ns + 500),
    ];
    let spans = field(2, &field(2, &span.concat()));
    let named = [field(1, b"service.name"), field(2, &field(1, service.as_bytes()))].concat();
    let resource = if service.is_empty() { Vec::new() } else { field(1, &field(1, &named)) };
    field(1, &[resource, spans].concat())
}

#[test]
fn what_is_no_request_is_refused_by_name() {
    let world = World::new();
    let server = world.serve(0);
    let refused = |headers: &str, body: &[u8], status: u16, what: &str| {
        let (answered, said) = server.post(headers, body);
        assert_eq!(answered, status, "{what}: {}", text(&said));
        assert!(text(&said).contains(what), "{what:?} in {}", text(&said));
    };
    let good = request(&[1; 16], "good");
    refused("content-type: text/plain\r\n", b"{}", 415, "\"text/plain\" is not supported");
    let json = "content-type: application/json\r\n";
    refused(json, b"{\"resourceSpans\":{", 400, "JSON: EOF while parsing an object at line 1");
    refused(json, br#"{"resourceSpans":[7]}"#, 400, r#"{"code":3,"message":"JSON: invalid type"#);
    let brotli = format!("{PROTOBUF}content-encoding: br\r\n");
    refused(&brotli, &good, 415, "content-encoding \"br\" is not supported");
    refused(PROTOBUF, &good[..good.len() - 1], 400, "octet 0: the message ends within a field");
    let gzip = format!("{PROTOBUF}content-encoding: gzip\r\n");
    refused(&gzip, &good, 400, "gzip: ");
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..64 {
        bomb.write_all(&[0; 1 << 20]).unwrap();
    }
    refused(&gzip, &bomb.finish().unwrap(), 413, "more than 16777216 octets");
    refused(PROTOBUF, &vec![0; (16 << 20) + 1], 413, "more than 16777216 octets");

    // A span that is wrong in itself is told in the answer to a request that is taken.
    let mut two = request(&[0; 16], "no trace");
    two.extend_from_slice(&good);
    let (status, said) = server.post(PROTOBUF, &two);
    assert_eq!(status, 200);
    assert!(text(&said).contains("span 0: octet "), "{}", text(&said));
    assert_eq!(world.count("good"), (1, 0));
}

/// The answer to JSON is JSON, and says the same.
#[test]
fn json_is_answered_in_json() {
    let world = World::new();
    let server = world.serve(0);
    let json = "content-type: application/json; charset=utf-8\r\n";
    assert_eq!(server.post(json, b"{}"), (200, b"{}".to_vec()));
    let good = r#""traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708""#;
    let times = r#""startTimeUnixNano":"1000000000","endTimeUnixNano":"1000000500""#;
    let spans = format!(r#"{{"name":"bad",{times}}},{{"name":"good",{good},{times}}}"#);
    let body = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{spans}]}}]}}]}}"#);
    let (status, said) = server.post(json, body.as_bytes());
    let said: serde_json::Value = serde_json::from_slice(&said).unwrap();
    assert_eq!((status, &said["partialSuccess"]["rejectedSpans"]), (200, &"1".into()), "{said}");
    let message = said["partialSuccess"]["errorMessage"].as_str().unwrap();
    assert!(message.starts_with("span 0: octet "), "{message}");
    assert_eq!(world.count("good"), (1, 0));
}

/// Exporters of metrics and logs are told how to switch them off, and do not come again.
#[test]
fn metrics_and_logs_are_refused_with_a_sentence() {
    let world = World::new();
    let server = world.serve(0);
    for (signal, variable) in [("metrics", "OTEL_METRICS_EXPORTER"), ("logs", "OTEL_LOGS_EXPORTER")]
    {
        for kind in [PROTOBUF, "content-type: application/json\r\n"] {
            let (status, said) = server.post_to(&format!("/v1/{signal}"), kind, b"");
            let expected =
                format!("{signal} are not stored here, only traces: set {variable}=none");
            assert_eq!(status, 501);
            assert!(text(&said).contains(&expected), "{}", text(&said));
        }
    }
}

/// The answer to a request may get lost; then it comes again, and is taken once.
#[test]
fn a_request_that_comes_again_is_taken_once() {
    let world = World::new();
    let server = world.serve(0);
    let request = request(&[1; 16], "again");
    for _ in 0..3 {
        assert_eq!(server.post(PROTOBUF, &request), (200, Vec::new()));
    }
    let port = server.port();
    drop(server); // killed
    let server = world.serve(port);
    assert_eq!(server.post(PROTOBUF, &request), (200, Vec::new()));
    assert_eq!(world.count("again"), (1, 0));
}
