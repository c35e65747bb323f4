//! With OpenTelemetry's SDK for JavaScript, whose exporter sends JSON.

use crate::python::check_orders;
use crate::world::{World, repository, text};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// The folder of the SDK's packages; `None`, said loudly, where it cannot be had.
fn packages() -> Option<PathBuf> {
    let output = Command::new(repository().join("tools/node")).arg("otel").output().unwrap();
    if !output.status.success() {
        eprintln!("SKIPPED: no OpenTelemetry SDK for JavaScript here (tools/node otel)");
        return None;
    }
    Some(text(&output.stdout).trim().into())
}

#[test]
fn a_service_is_measured_over_http_in_json() {
    let Some(packages) = packages() else { return };
    let world = World::new();
    let server = world.serve(0);
    let mut node = Command::new("node");
    node.arg(repository().join("crates/cli/tests/otlp/otel.cjs"));
    node.arg(format!("http://{}", server.address)).env("NODE_PATH", packages);
    let output = node.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "the SDK complains of nothing");
    let sent: Value = serde_json::from_slice(&output.stdout).unwrap();
    check_orders(&world.chain(sent["checkout"]["trace"].as_str().unwrap()), &sent);
    let ask = ["chains", "--root", "shop::checkout", "--leaf", "stock::reserve", "--json"];
    let answer = world.json(&ask);
    assert_eq!(answer["chains"]["distribution"]["count"], 1, "one duration from root to leaf");
}
