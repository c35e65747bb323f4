//! Filters and groups by attributes on the command line, over spans that OpenTelemetry's own SDKs
//! have sent: the requests are kept as they came (`crates/formats/tests/corpus/otlp`).

#![allow(clippy::unwrap_used)] // helpers of tests

use chronoscope_formats::otlp::{self, Limits, Vocabulary};
use chronoscope_store::{Append, MINUTE_NS, Options, Store};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

/// The kept requests: a web shop and its stock, in Python and in Java.
const REQUESTS: [&str; 4] = ["python-sdk-0", "python-sdk-1", "java-sdk-0", "java-sdk-1"];

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/corpus/otlp");
        let read = REQUESTS.map(|name| {
            let bytes = std::fs::read(corpus.join(name)).unwrap();
            otlp::read(&bytes, &Limits::default(), &Vocabulary::default()).unwrap()
        });
        let starts = read.iter().flat_map(|received| received.batch.records());
        let now_ns = starts.map(|record| record.start_ns).max().unwrap() + 10 * MINUTE_NS;
        let store = Store::open(world.dir.path(), Options::default(), now_ns).unwrap();
        for received in &read {
            let (batch, names) = (Some(&received.batch), Some(&received.names));
            store.append(&Append { batch, names, ..Append::default() }, now_ns).unwrap();
        }
        store.sync().unwrap();
        store.seal_all(now_ns).unwrap();
        world
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(args).env("CHRONOSCOPE_DATA", self.dir.path()).env("TZ", "UTC");
        command.env_remove("CHRONOSCOPE_STORE").output().unwrap()
    }

    fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(&[args, &["--json"]].concat())).unwrap()
    }

    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

const PRICES: [&str; 5] = ["chains", "--root", "shop::checkout", "--leaf", "price"];

#[test]
fn chains_are_filtered_and_grouped() {
    let world = World::new();
    let of = |more: &[&str]| world.json(&[&PRICES, more].concat())["chains"].take();
    let all = of(&[]);
    assert_eq!((&all["counts"]["used"], &all["groups"]), (&2.into(), &Value::Null));
    let by = of(&["--by", "telemetry.sdk.language"]);
    assert_eq!(by["groups"]["by"], json!(["telemetry.sdk.language"]));
    let groups = by["groups"]["groups"].as_array().unwrap();
    let values: Vec<&Value> = groups.iter().map(|group| &group["values"][0]).collect();
    assert_eq!(values, ["java", "python"]);
    assert!(groups.iter().all(|group| group["distribution"]["count"] == 1), "{by:#}");
    assert_eq!(by["distribution"], all["distribution"]);

    // The root has it, the leaf has not.
    let post = of(&["--where", "http.request.method=POST", "--by", "leaf.http.request.method"]);
    assert_eq!(post["counts"]["used"], 2);
    assert_eq!(post["where"], json!(["http.request.method=POST"]));
    assert_eq!(post["groups"]["groups"][0]["values"], json!([null]));
    assert_eq!(post["verdict"]["state"], "undetermined", "roots may be missing");
    let nothing = world.run(&[&PRICES[..], &["--where", "leaf.http.request.method=POST"]].concat());
    assert_eq!(nothing.status.code(), Some(3));
    let said = String::from_utf8(nothing.stderr).unwrap();
    assert!(said.contains("price (ACPD, any level), leaf.http.request.method=POST"), "{said}");
    // A number, a text, and two at once.
    let java = of(&["--where", "items=3", "--where", "telemetry.sdk.language!=python"]);
    assert_eq!(java["counts"]["used"], 1);

    let text = world.text(&[&PRICES[..], &["--by", "telemetry.sdk.language"]].concat());
    assert!(text.contains("\ntelemetry.sdk.language  chains  "), "{text}");
    assert!(text.contains("\njava                         1  "), "{text}");
}

#[test]
fn roots_are_judged_by_what_they_say_themselves() {
    let world = World::new();
    let of = |more: &[&str]| world.json(&[&PRICES, more].concat())["chains"]["arrivals"].take();
    let all = of(&["--each-root"]);
    assert_eq!(all["roots"], 2);
    let post = of(&["--where", "root.http.request.method=POST", "--each-root"]);
    assert_eq!(post, all, "both roots have it");
    let java = of(&["--where", "root.telemetry.sdk.language=java", "--each-root"]);
    assert_eq!(java["roots"], 1);
    let why = world.refused(&[&PRICES[..], &["--where", "items=3", "--each-root"]].concat());
    assert!(why.contains("--where items=3: which roots without a leaf would pass"), "{why}");
}

#[test]
fn classes_are_filtered_and_grouped() {
    let world = World::new();
    let found = world.json(&["classes", "--by", "telemetry.sdk.language", "--by", "host.name"]);
    let rows = found["classes"]["rows"].as_array().unwrap();
    let checkouts: Vec<&Value> =
        rows.iter().filter(|row| row["class"] == "checkout").map(|row| &row["group"]).collect();
    let group = |language: &str| json!({ "values": [language, "host-of-shop"], "others": false });
    assert_eq!(checkouts, [&group("java"), &group("python")]);
    let all = world.json(&["classes"]);
    let count = |found: &Value| -> u64 {
        let rows = found["classes"]["rows"].as_array().unwrap().iter();
        rows.map(|row| row["elapsed"]["count"].as_u64().unwrap()).sum()
    };
    assert_eq!(count(&found), count(&all));
    let stock = world.json(&["classes", "--where", "service.name=stock", "--where", "items!=3"]);
    let rows = stock["classes"]["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["application"] == "stock") && rows.len() == 2, "{stock:#}");
    let text = world.text(&["classes", "--where", "http.request.method"]);
    assert_eq!(text.lines().count(), 2, "a heading and a class: {text}");
    assert_eq!(world.run(&["classes", "--where", "nobody.has.it"]).status.code(), Some(3));
}

#[test]
fn names_and_values_are_listed() {
    let world = World::new();
    let found = world.json(&["attributes"])["attributes"].take();
    let names = found["names"].as_array().unwrap();
    let name = |key: &str| names.iter().find(|name| name["key"] == key);
    let rows = &found["rows"];
    assert_eq!(name("telemetry.sdk.language").unwrap()["rows"], *rows);
    assert_eq!(name("service.name").unwrap()["values"], 2);
    assert_eq!(name("items").unwrap()["rows"], 2);
    assert_eq!((name("otel.event.0"), name("otel.types")), (None, None), "no attributes");
    let text = world.text(&["attributes"]);
    assert!(text.lines().any(|line| line.starts_with("http.request.method ")), "{text}");
    let values = world.text(&["attributes", "--name", "telemetry.sdk.language"]);
    let lines: Vec<Vec<&str>> =
        values.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["telemetry.sdk.language", "rows", "share"]);
    assert_eq!((lines.len(), lines[1][1]), (3, lines[2][1]), "as many of each: {values}");
    let nobody = world.run(&["attributes", "--name", "nobody.has.it"]);
    assert_eq!(nobody.status.code(), Some(3));
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let world = World::new();
    let chains = |more: &[&str]| world.refused(&[&PRICES[..], more].concat());
    assert!(chains(&["--where", "=POST"]).contains("has no key"));
    assert!(chains(&["--by", "a", "--by", "b", "--by", "c"]).contains("at most 2"));
    chains(&["--where", "a", "--each-root"]);
    chains(&["--by", "a", "--inputs", "best"]);
    // Nobody listens there.
    let cluster = ["--store", "clickhouse://127.0.0.1:1/nowhere"];
    for asked in [[&PRICES[..], &["--by", "a"]].concat(), vec!["classes", "--by", "a"]] {
        let output = world.run(&[&asked[..], &cluster].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("shard 127.0.0.1:1 cannot be reached"), "{said}");
    }
}
