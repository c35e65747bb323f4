//! Spans that came in go out again: to another collector of ours, and to a receiver made of
//! OpenTelemetry's own messages.

use crate::python::{id, sent};
use crate::world::{World, python, repository, text};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn what_is_exported_is_what_came_in() {
    let Some(python) = python() else { return };
    let (world, other) = (World::new(), World::new());
    let (server, receiver) = (world.serve(0), other.serve(0));
    let sent = sent(python, &server, &["orders", "http"]);
    let trace = sent["checkout"]["trace"].as_str().unwrap();
    let output = world.run(&["export", "--otlp", &format!("http://{}", receiver.address)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("5 transactions exported"));
    let sorted = |world: &World| {
        let mut rows = world.chain(trace).0;
        rows.sort_by_key(|t| t["id"].as_str().map(str::to_owned));
        // The order of the attributes of an event is nobody's.
        for (key, value) in rows.iter_mut().flat_map(|t| t["properties"].as_object_mut().unwrap()) {
            if key.starts_with("otel.event.") {
                *value = serde_json::from_str(value.as_str().unwrap()).unwrap();
            }
        }
        rows
    };
    assert_eq!(sorted(&other), sorted(&world));
}

#[test]
fn others_understand_what_is_exported() {
    let Some(python) = python() else { return };
    let world = World::new();
    let server = world.serve(0);
    let sent = sent(python, &server, &["orders", "grpc"]);
    let mut receiver = Command::new(python);
    receiver.arg(repository().join("crates/cli/tests/otlp/receiver.py"));
    let mut receiver = receiver.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(receiver.stdout.take().unwrap()).lines();
    let port = said.next().unwrap().unwrap();
    let token = world.path("token");
    std::fs::write(&token, "sesame").unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    let args = ["export", "--otlp", &url, "--token-file", token.to_str().unwrap()];
    let output = world.run(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    drop(receiver.stdin.take());
    let got: Value = serde_json::from_str(&said.next().unwrap().unwrap()).unwrap();
    assert!(receiver.wait().unwrap().success());
    let requests = got["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 2, "the first was answered with 503");
    assert!(requests.iter().all(|authorization| authorization == "Bearer sesame"));

    let spans = got["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 5);
    let span = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap();
    let checkout = span("checkout");
    assert_eq!(checkout["trace"], sent["checkout"]["trace"]);
    assert_eq!((&checkout["parent"], &checkout["kind"]), (&"".into(), &2.into()));
    let attributes = &checkout["attributes"];
    assert_eq!(attributes["items"], 3);
    assert_eq!(attributes["discount"], 0.25);
    assert_eq!(attributes["express"], true);
    assert_eq!(attributes["tags"], serde_json::json!(["a", "b"]));
    assert_eq!(checkout["resource"]["service.name"], "shop");
    assert_eq!(checkout["scope"], "shop.web");
    let price = span("price");
    assert_eq!((&price["status"], &price["events"][0][0]), (&2.into(), &"exception".into()));
    let process = span("orders process");
    assert_eq!(process["parent"], id(&sent, "send"));
    assert_eq!(process["links"][0][1], id(&sent, "send"));
}
