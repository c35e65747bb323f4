//! What is answered to probes, and what is not there, over a real socket.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod world;

use serde_json::Value;
use world::{BEGIN_NS, World};

#[test]
fn health_is_asked_without_a_token_and_unknown_paths_are_none_of_the_page() {
    let token = chronoscope_server::Token::new("sesame").unwrap();
    let world = World::with(&[BEGIN_NS], |options| options.token = Some(token));
    assert_eq!(world.outside("/healthz"), (200, "ok\n".to_owned()));
    let (status, body) = world.outside("/readyz");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &body["ready"]), (503, &false.into()));
    let failing = body["failing"].as_array().unwrap();
    assert!(failing.iter().any(|it| it["check"] == "collector"), "nobody collects: {body}");
    for (path, status) in [("/nothing", 404), ("/healthz/x", 404), ("/", 200), ("/chain/0123", 200)]
    {
        assert_eq!(world.outside(path).0, status, "{path}");
    }
}
