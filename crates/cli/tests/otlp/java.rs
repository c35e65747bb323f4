//! With OpenTelemetry's SDK for Java, over gRPC and over HTTP.

use crate::python::check_orders;
use crate::world::{World, repository, text};
use serde_json::Value;
use std::process::Command;
use std::sync::OnceLock;

/// The class path of the test's program; `None`, said loudly, where it cannot be had.
fn classpath() -> Option<&'static str> {
    static CLASSPATH: OnceLock<Option<String>> = OnceLock::new();
    let found = CLASSPATH.get_or_init(|| {
        let output = Command::new(repository().join("tools/otel-java")).output().ok()?;
        output.status.success().then(|| text(&output.stdout).trim().to_owned())
    });
    if found.is_none() {
        eprintln!("SKIPPED: no OpenTelemetry SDK for Java here (tools/otel-java)");
    }
    found.as_deref()
}

fn a_java_service_is_measured_over(protocol: &str) {
    let Some(classpath) = classpath() else { return };
    let world = World::new();
    let server = world.serve(0);
    let mut command = Command::new("java");
    command.args(["-cp", classpath, "Orders", protocol, &format!("http://{}", server.address)]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sent: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sent["flushed"], true, "{}", text(&output.stderr));
    check_orders(&world.chain(sent["checkout"]["trace"].as_str().unwrap()), &sent);
}

#[test]
fn a_java_service_is_measured_over_grpc() {
    a_java_service_is_measured_over("grpc");
}

#[test]
fn a_java_service_is_measured_over_http() {
    a_java_service_is_measured_over("http");
}
