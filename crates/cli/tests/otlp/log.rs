//! What the log of `serve` says of senders over the network.

use crate::hostile::{PROTOBUF, request_at};
use crate::world::World;

fn now_ns() -> u64 {
    u64::try_from(chronoscope_clock::utc_now_ns()).unwrap()
}

/// The event and values of a line, whose time looks like one.
fn event(line: &str) -> &str {
    let (time, event) = line.split_once(' ').unwrap();
    let shape = |c: char| if c.is_ascii_digit() { '0' } else { c };
    assert_eq!(time.chars().map(shape).collect::<String>(), "0000-00-00T00:00:00.000Z", "{line}");
    event
}

#[test]
fn the_log_says_who_sends_spans_and_counts_them() {
    let world = World::new();
    let mut server = world.serve(0);
    let request = request_at(&[1; 16], "paid", now_ns(), "shop\n\u{1b}[2J");
    assert_eq!(server.post(PROTOBUF, &request).0, 200);
    let line = server.line_with(" otlp_source ");
    assert!(event(&line).starts_with("info otlp_source peer=127.0.0.1:"), "{line}");
    assert!(line.ends_with(r#" service="shop\n\u{1b}[2J" host=unknown_host rows=1"#), "{line}");
    // Another request of the same source is no news; that it is counted says the summary.
    let request = request_at(&[2; 16], "paid", now_ns(), "shop\n\u{1b}[2J");
    assert_eq!(server.post(PROTOBUF, &request).0, 200);
    let line = server.line_with(" otlp_sources=1 ");
    assert!(event(&line).starts_with("info summary rows=2 "), "{line}");
}

#[test]
fn the_log_says_what_was_refused_once_a_second() {
    let world = World::new();
    let mut server = world.serve(0);
    for _ in 0..20 {
        assert_eq!(server.post(PROTOBUF, b"\x0a").0, 400);
    }
    let mut count = 0;
    while count < 20 {
        let line = server.line_with(" refused ");
        let begin = "warn refused peer=127.0.0.1 reason=malformed count=";
        let rest = event(&line).strip_prefix(begin).unwrap_or_else(|| panic!("{line}"));
        count += rest.split(' ').next().unwrap().parse::<u64>().unwrap();
    }
    assert_eq!(count, 20);
}

#[test]
fn at_the_start_the_log_says_which_limit_cannot_be_judged() {
    let world = World::new();
    let server = world.serve(0);
    let request = request_at(&[1; 16], "paid", now_ns(), "shop");
    assert_eq!(server.post(PROTOBUF, &request).0, 200);
    drop(server);
    let file = world.path("limits.toml");
    let text = "[[limit]]\nroot = \"shop::order\"\nleaf = \"shop::paid\"\nlimit_ns = 5";
    std::fs::write(&file, text).unwrap();
    let mut server = world.serve_with(0, &["--limits", file.to_str().unwrap()]);
    let line = server.line_with(" limit_");
    let begin = "warn limit_not_judged limit=\"shop::order → shop::paid\" kind=chain limit_ns=5 ";
    assert!(event(&line).starts_with(begin), "{line}");
    assert!(line.contains("its leaf shop::paid comes from a source of OpenTelemetry"), "{line}");
}
