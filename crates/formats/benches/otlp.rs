//! Reading of OTLP requests: ours, from bytes to rows, beside `prost` with the generated types,
//! from bytes to a tree of messages. A reader with the generated types would have to make the rows
//! after that: its time is the tree, and ours without its own part that reads the wire, which is
//! measured alone. Each time is the best of interleaved rounds; memory is the rise of the peak
//! resident size, each in a process of its own.
//!
//! `cargo bench -p chronoscope-formats --bench otlp`

use chronoscope_formats::otlp::{self, Limits, Vocabulary};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, span};
use prost::Message;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

// Private to the library: the bench compiles it a second time.
#[allow(dead_code, unreachable_pub, unused_imports, clippy::unwrap_used)] // its tests too
#[path = "../src/otlp/wire.rs"]
mod wire;

const SPANS: usize = 16_384;
/// Spans of one resource.
const GROUP: usize = 512;
const ROUNDS: usize = 15;
/// Size of a request of which each two octets are an empty attribute.
const HOSTILE_BYTES: usize = 4 << 20;

fn attribute(key: &str, value: Value) -> KeyValue {
    let value = Some(AnyValue { value: Some(value) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

/// A server's span as instrumentation libraries send it: eight attributes and an event.
fn span(number: usize) -> Span {
    let text = |text: &str| Value::StringValue(text.to_owned());
    let start = 1_700_000_000_000_000_000 + number as u64 * 1_000;
    Span {
        trace_id: (number as u128 / 4 + 1).to_be_bytes().to_vec(),
        span_id: (number as u64 + 1).to_be_bytes().to_vec(),
        name: "GET /orders/{id}".to_owned(),
        kind: 2,
        start_time_unix_nano: start,
        end_time_unix_nano: start + 1_500_000,
        attributes: vec![
            attribute("http.request.method", text("GET")),
            attribute("url.path", text(&format!("/orders/{number}"))),
            attribute("url.scheme", text("https")),
            attribute("http.response.status_code", Value::IntValue(200)),
            attribute("server.address", text("shop.example")),
            attribute("server.port", Value::IntValue(443)),
            attribute("client.address", text("192.0.2.7")),
            attribute("user_agent.original", text("Mozilla/5.0 (X11; Linux x86_64)")),
        ],
        events: vec![span::Event {
            time_unix_nano: start + 1_000,
            name: "cache miss".to_owned(),
            attributes: vec![attribute("cache", text("orders"))],
            ..span::Event::default()
        }],
        ..Span::default()
    }
}

fn group(spans: Vec<Span>) -> ExportTraceServiceRequest {
    let resource = Resource {
        attributes: vec![attribute("service.name", Value::StringValue("shop".to_owned()))],
        ..Resource::default()
    };
    let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
    let resource = Some(resource);
    let resource_spans = vec![ResourceSpans { resource, scope_spans, ..ResourceSpans::default() }];
    ExportTraceServiceRequest { resource_spans }
}

/// Written group by group, which is the same message: the whole tree would raise the peak.
fn ordinary() -> Vec<u8> {
    let groups = (0..SPANS).step_by(GROUP);
    groups.flat_map(|at| group((at..at + GROUP).map(span).collect()).encode_to_vec()).collect()
}

/// One span with two million attributes of length 0 in 4 MiB.
fn hostile() -> Vec<u8> {
    let mut fields = span(0).encode_to_vec();
    fields.extend([0x4a, 0].repeat(HOSTILE_BYTES / 2));
    let mut nested = fields;
    for tag in [0x12, 0x12, 0x0a] {
        let mut message = vec![tag];
        prost::encode_length_delimiter(nested.len(), &mut message).expect("a Vec takes everything");
        message.append(&mut nested);
        nested = message;
    }
    nested
}

fn ours(request: &[u8]) {
    let received = otlp::read(request, &Limits::default(), &Vocabulary::default());
    let received = black_box(received).expect("a valid request");
    assert_eq!(received.refused, 0, "{}", received.message());
}

/// The messages of a field.
fn messages(message: wire::Message<'_>, number: u32) -> impl Iterator<Item = wire::Message<'_>> {
    let fields = message.fields().map(|field| field.expect("a valid request"));
    let of_number = fields.filter(move |field| field.number == number);
    of_number.map(|field| field.bytes("message").expect("a valid request"))
}

/// Fields of spans as `otlp::read` passes through them, without any use of them.
fn fields(request: &[u8]) {
    let resources = messages(wire::Message::new(request), 1);
    let scopes = resources.flat_map(|resource| messages(resource, 2));
    for span in scopes.flat_map(|scope| messages(scope, 2)) {
        // Its own fields, its parents, and what repeats, in this order.
        for _ in 0..2 {
            black_box(span.fields().count());
        }
        for repeated in [9, 13, 11] {
            for message in messages(span, repeated) {
                black_box(message.fields().count());
                // The value of an attribute, the attributes of an event.
                for part in messages(message, if repeated == 11 { 3 } else { 2 }) {
                    black_box(part.fields().count());
                }
            }
        }
    }
}

fn generated(request: &[u8]) {
    black_box(ExportTraceServiceRequest::decode(request)).expect("a valid request");
}

/// A request in JSON to rows.
fn json(request: &[u8]) {
    ours(&otlp::from_json(request).expect("a valid request"));
}

/// A request in JSON to the tree of generated types, and its octets read by ours.
fn json_generated(request: &[u8]) {
    let tree: ExportTraceServiceRequest = serde_json::from_slice(request).expect("a valid request");
    ours(&tree.encode_to_vec());
}

/// Time of one call of `read`, in nanoseconds.
fn time(read: fn(&[u8]), request: &[u8]) -> f64 {
    #[allow(clippy::disallowed_methods)] // a measurement of real time
    let start = Instant::now();
    read(request);
    start.elapsed().as_nanos() as f64
}

/// Peak resident size of this process in kB, since the last [`forget_peak`].
fn peak_kb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak is reset");
}

/// The child: prints how far reading `what` raises the peak, in kB.
fn rise(reader: &str, what: &str) {
    let request = if what == "hostile" { hostile() } else { ordinary() };
    forget_peak();
    let before = peak_kb();
    if reader == "ours" {
        ours(&request)
    } else {
        generated(&request)
    }
    println!("{}", peak_kb() - before);
}

fn child(reader: &str, what: &str) -> f64 {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args(["rise", reader, what]).output().expect("a child");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim().parse().unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, command, reader, what] = args.as_slice()
        && command == "rise"
    {
        return rise(reader, what);
    }
    if args.iter().any(|arg| arg == "--list") {
        return; // asked by a test runner
    }
    let request = ordinary();
    let readers = [fields, ours, generated];
    let mut best_ns = [f64::MAX; 3];
    for _ in 0..ROUNDS {
        for (best, read) in best_ns.iter_mut().zip(readers) {
            *best = best.min(time(read, &request));
        }
    }
    let [fields_ns, ours_ns, generated_ns] = best_ns;
    let tree = ExportTraceServiceRequest::decode(&request[..]).expect("a valid request");
    let text = serde_json::to_vec(&tree).expect("a tree without cycles");
    let mut json_ns = [f64::MAX; 2];
    for _ in 0..ROUNDS {
        for (best, read) in json_ns.iter_mut().zip([json as fn(&[u8]), json_generated]) {
            *best = best.min(time(read, &text));
        }
    }
    let per_s = |ns: f64| SPANS as f64 / ns * 1e3;
    println!("{SPANS} spans, {:.1} MB\n", request.len() as f64 / 1e6);
    println!("{:<36} {:>8} {:>8} {:>8}", "", "prost", "ours", "ratio");
    let row = |name: &str, generated: f64, ours: f64| {
        println!("{name:<36} {generated:>8.2} {ours:>8.2} {:>8.2}", generated / ours);
    };
    row("fields alone, million spans/s", per_s(generated_ns), per_s(fields_ns));
    row("rows, million spans/s", per_s(generated_ns + ours_ns - fields_ns), per_s(ours_ns));
    let name = format!("JSON ({:.1} MB), million spans/s", text.len() as f64 / 1e6);
    row(&name, per_s(json_ns[1]), per_s(json_ns[0]));
    for (name, what) in
        [("peak memory, MB", "ordinary"), ("peak memory, empty attributes, MB", "hostile")]
    {
        row(name, child("generated", what) / 1e3, child("ours", what) / 1e3);
    }
}
