//! With OpenTelemetry's SDK for Python, over gRPC and over HTTP.

use crate::world::{Chain, Server, World, python, repository, text, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn scenario(python: &Path, server: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.arg(repository().join("crates/cli/tests/otlp/otel.py"));
    command.arg(arguments[0]).arg(arguments[1]).arg(format!("http://{}", server.address));
    command.args(&arguments[2..]).env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
    command
}

/// Runs a scenario to its end, and returns what it says that it sent.
pub(crate) fn sent(python: &Path, server: &Server, arguments: &[&str]) -> Value {
    let output = scenario(python, server, arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "the SDK complains of nothing");
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn id<'a>(sent: &'a Value, name: &str) -> &'a str {
    sent[name]["span"].as_str().unwrap()
}

/// What both SDKs send, looked at in the store.
pub(crate) fn check_orders(chain: &Chain, sent: &Value) {
    assert_eq!(chain.0.len(), 5);
    let checkout = chain.of("checkout");
    assert_eq!(checkout["application"], "shop");
    assert_eq!((&checkout["parent"], &checkout["status"]), (&Value::Null, &"GOOD".into()));
    assert_eq!(checkout["process"]["host"], "host-of-shop");
    assert_eq!(checkout["properties"]["otel.kind"], "server");
    assert_eq!(checkout["properties"]["http.request.method"], "POST");
    assert_eq!(checkout["properties"]["express"], "true");
    assert_eq!(checkout["properties"]["tags"], r#"["a","b"]"#);
    assert_eq!(checkout["metrics"]["items"], 3.0);
    assert_eq!(checkout["metrics"]["discount"], 0.25);
    assert_eq!(checkout["properties"]["otel.resource.service.version"], "1.2.3");
    assert_eq!(checkout["properties"]["otel.scope.name"], "shop.web");
    assert_eq!(checkout["properties"]["otel.scope.version"], "0.9");

    let price = chain.of("price");
    assert_eq!(price["status"], "FAILED");
    assert_eq!(price["parent"], id(sent, "checkout"));
    let event: Value =
        serde_json::from_str(price["properties"]["otel.event.0"].as_str().unwrap()).unwrap();
    assert_eq!(event["name"], "exception");
    assert!(event["attributes"]["exception.message"].to_string().contains("article 7"));

    let send = chain.of("orders send");
    assert_eq!((send["id"].as_str().unwrap(), &send["status"]), (id(sent, "send"), &"GOOD".into()));
    assert_eq!(send["properties"]["otel.status_code"], "OK");

    // The consumer is in a trace of its own, and one chain with the producer.
    assert_ne!(sent["process"]["trace"], sent["checkout"]["trace"]);
    let process = chain.of("orders process");
    assert_eq!(process["application"], "stock");
    assert_eq!(process["parent"], id(sent, "send"));
    assert_eq!(process["chain"], sent["checkout"]["trace"]);
    assert_eq!(process["flags"].as_u64().unwrap() & 1, 1, "asynchronous");
    let link = process["properties"]["otel.link.0"].as_str().unwrap();
    assert!(link.contains(id(sent, "send")) && link.contains("m-1"), "{link}");
    assert_eq!(chain.of("reserve")["parent"], id(sent, "process"));
}

fn a_service_is_measured_over(protocol: &str) {
    let Some(python) = python() else { return };
    let world = World::new();
    let server = world.serve(0);
    let sent = sent(python, &server, &["orders", protocol]);
    assert_eq!(sent["flushed"], true);
    let trace = sent["checkout"]["trace"].as_str().unwrap();
    check_orders(&world.chain(trace), &sent);
    let ask = ["chains", "--root", "shop::checkout", "--leaf", "stock::reserve", "--json"];
    let answer = world.json(&ask);
    assert_eq!(answer["chains"]["distribution"]["count"], 1, "one duration from root to leaf");
    // The same chain was counted as it came: two traces, whose spans came in several requests.
    let labels = r#"{root="shop::checkout",leaf="stock::reserve",level="3"}"#;
    let count = format!("chronoscope_chain_duration_seconds_count{labels} 1\n");
    wait_until("the chain is counted live", || server.get("/metrics").contains(&count));
    assert!(server.get("/metrics").contains("chronoscope_chain_foreign_waiting_rows 0\n"));
}

#[test]
fn a_service_is_measured_over_grpc() {
    a_service_is_measured_over("grpc");
}

#[test]
fn a_service_is_measured_over_http() {
    a_service_is_measured_over("http");
}

/// The SDK goes on while the collector is killed and started again: nothing is missing, and what
/// was sent again is not counted twice.
fn a_killed_collector_loses_no_span_over(protocol: &str) {
    let Some(python) = python() else { return };
    let world = World::new();
    let server = world.serve(0);
    let port = server.port();
    let mut command = scenario(python, &server, &["steady", protocol, "200"]);
    let mut program = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(program.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "begun");
    wait_until("spans arrive", || world.count("beat").0 > 20);
    drop(server); // killed
    chronoscope_clock::sleep(std::time::Duration::from_millis(300));
    let _server = world.serve(port);
    assert!(said.next().unwrap().unwrap().contains("beats"));
    assert!(program.wait().unwrap().success());
    assert_eq!(world.count("beat"), (200, 0), "none is missing, none doubled");
}

#[test]
fn a_killed_collector_loses_no_span_over_grpc() {
    a_killed_collector_loses_no_span_over("grpc");
}

#[test]
fn a_killed_collector_loses_no_span_over_http() {
    a_killed_collector_loses_no_span_over("http");
}

/// OpenTelemetry, a program with our recorder, OpenTelemetry again: one chain.
#[test]
fn a_chain_crosses_a_recorded_program_and_comes_back() {
    let Some(python) = python() else { return };
    let world = World::new();
    let server = world.serve(0);
    let program = Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
    let program = program.join("answer_calls");
    let arguments = ["there_and_back", "grpc", program.to_str().unwrap()];
    let mut command = scenario(python, &server, &arguments);
    let output = command.env("CHRONOSCOPE_DIR", world.path("rings")).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sent: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&sent["ended"], &sent["flushed"]), (&true.into(), &true.into()));
    let trace = sent["ask"]["trace"].as_str().unwrap();
    assert_eq!(sent["back"]["trace"], trace);
    wait_until("the ring is collected", || world.chain(trace).0.len() == 4);
    let chain = world.chain(trace);
    let (call, work) = (chain.of("call"), chain.of("work"));
    assert_eq!(call["parent"], id(&sent, "ask"));
    assert_eq!(work["parent"], call["id"]);
    assert_eq!((&work["application"], &work["chain"]), (&"arm-program".into(), &trace.into()));
    assert_eq!(chain.of("called back")["parent"], work["id"]);
    let tree = text(&world.run(&["chain", trace]).stdout);
    let hops = ["\nshop::ask", "\n  arm-program::call", "\n    arm-program::work"];
    for hop in hops.iter().chain(&["\n      shop::called back"]) {
        assert!(tree.contains(hop), "{hop:?} in {tree}");
    }
}
