//! Marks and named views over HTTP, and the marks that rows have in them.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{Batch, PathId, Record, TransactionId};
use chronoscope_store::MINUTE_NS;
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use world::{BEGIN_NS, World, classes, fill_rows, received};

/// Status and body of a request with a body.
fn change(world: &World, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let mut stream = TcpStream::connect(world.server.address()).unwrap();
    let body = body.to_string();
    let request = format!(
        "{method} /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    received(stream)
}

#[test]
fn marks_are_noted_and_removed() {
    let world = World::new();
    assert_eq!(world.answer("marks")["marks"], json!([]));
    let (status, mark) =
        change(&world, "POST", "marks", &json!({"text": "v4.2", "at_ns": 7, "service": "shop"}));
    let expected = json!({"id": 1, "at_ns": 7, "text": "v4.2", "service": "shop", "by": ""});
    assert_eq!((status, &mark), (200, &expected));
    assert_eq!(world.answer("marks")["marks"], json!([expected]));
    for refused in [json!({}), json!({"text": ""}), json!({"text": "a", "colour": "red"})] {
        assert_eq!(change(&world, "POST", "marks", &refused).0, 400, "{refused}");
    }
    assert_eq!(received(world.send("DELETE", "marks/2")).0, 404);
    assert_eq!(received(world.send("DELETE", "marks/one")).0, 400);
    assert_eq!(received(world.send("DELETE", "marks/1")).0, 204);
    assert_eq!(world.answer("marks")["marks"], json!([]));
}

#[test]
fn a_view_has_the_name_that_it_was_given_last() {
    let world = World::new();
    let set = |address: &str| {
        change(&world, "POST", "views", &json!({"name": "slow a/b", "address": address})).0
    };
    assert_eq!((set("/scatter?root=a"), set("/graph"), set("https://elsewhere/")), (200, 200, 400));
    let expected = json!([{"name": "slow a/b", "address": "/graph", "by": ""}]);
    assert_eq!(world.answer("views")["views"], expected);
    assert_eq!(received(world.send("DELETE", "views/slow")).0, 404);
    assert_eq!(received(world.send("DELETE", "views/slow%20a%2Fb")).0, 204);
    assert_eq!(world.answer("views")["views"], json!([]));
}

/// A row of the application `A` that starts in a minute and says a version of its service.
fn row(batch: &mut Batch, minute: i64, version: Option<&str>) {
    let id = batch.len() as u64 + 1;
    let start_ns = BEGIN_NS + minute * MINUTE_NS;
    let record = Record {
        start_ns,
        root_start_ns: start_ns,
        elapsed_ns: 5,
        id: TransactionId(id),
        chain_low: id,
        class: classes()[0],
        path: PathId::of(&classes()[..1]),
        ..Record::default()
    };
    let mut context = [0; 256];
    let size = version.map_or(0, |version| {
        let entry = ContextEntry::Property("service.version", version);
        context::append(&mut context, 0, entry).unwrap()
    });
    batch.push(record, &context[..size]);
}

#[test]
fn a_version_that_comes_to_run_is_found_in_rows() {
    let mut batch = Batch::default();
    let versions = [(0, Some("v1")), (1, None), (2, Some("v1")), (3, Some("v2")), (4, Some("v1"))];
    versions.into_iter().for_each(|(minute, version)| row(&mut batch, minute, version));
    let now_ns = BEGIN_NS + 100 * MINUTE_NS;
    for sealed in [false, true] {
        let fill = |dir: &std::path::Path| {
            let store = fill_rows(dir, &batch, now_ns);
            if sealed {
                store.seal_all(now_ns).unwrap();
            }
        };
        let world = World::of(fill, |_| ());
        let found = world.answer("versions");
        let at_ns = BEGIN_NS + 3 * MINUTE_NS;
        let change = json!({"at_ns": at_ns, "service": "A", "version": "v2", "before": "v1"});
        assert_eq!(found["changes"], json!([change]), "{found}");
        assert_eq!((&found["rows"], &found["newest_only"]), (&5.into(), &false.into()));
        let only_new = world.answer(&format!("versions?from_ns={at_ns}"));
        let before = json!([{"service": "A", "version": "v1", "before": "v2",
            "at_ns": at_ns + MINUTE_NS}]);
        assert_eq!(only_new["changes"], before, "of the range alone");
    }
}
