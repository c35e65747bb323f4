//! A real Prometheus scrapes a running collector.

use crate::world::{CLASSIC, NATIVE, World, has, wait_until};
use serde_json::Value;

const CHAINS: &str =
    "chronoscope_chain_duration_seconds{root=\"hops::request\",leaf=\"hops::answer\",level=\"1\"}";
const QUESTION: [&str; 6] =
    ["chains", "--root", "hops::request", "--leaf", "hops::answer", "--json"];

/// Each exemplar is a chain that is stored, and has its duration.
fn check_exemplars(world: &World, exemplars: &[Value]) {
    for exemplar in exemplars {
        let id = exemplar["labels"]["chain_id"].as_str().unwrap_or_else(|| panic!("{exemplar}"));
        let chain = world.json(&["chain", id, "--json"]);
        let number = |t: &Value, key: &str| t[key].as_i64().unwrap_or_else(|| panic!("{key}: {t}"));
        let transactions = chain["transactions"].as_array().unwrap();
        let begin_ns = transactions.iter().map(|t| number(t, "start_ns")).min().unwrap();
        let end = |t: &Value| number(t, "start_ns") + number(t, "elapsed_ns");
        let answers = transactions.iter().filter(|t| t["class"] == "answer");
        let took_ns: Vec<_> = answers.map(|t| end(t) - begin_ns).collect();
        let value: f64 = exemplar["value"].as_str().unwrap().parse().unwrap();
        #[allow(clippy::cast_possible_truncation)] // seconds
        let value_ns = (value * 1e9).round() as i64;
        assert!(took_ns.contains(&value_ns), "{value_ns} of {took_ns:?}: {chain:#}");
    }
}

#[test]
fn native_histograms_have_the_quantiles_of_the_chains() {
    if !has("prometheus") {
        return;
    }
    let world = World::new();
    let server = world.serve(&[]);
    world.make_chains(1_000);
    server.wait_for_chains(1_000.0);
    let prometheus = world.prometheus(&server.scraped(), &[NATIVE]);
    prometheus.wait_for(&format!("histogram_count({CHAINS})"), 1_000.0);
    assert_eq!(prometheus.series(&CHAINS.replace('{', "_bucket{")).len(), 0, "native ones instead");

    let answer = world.json(&QUESTION);
    let distribution = &answer["chains"]["distribution"];
    assert_eq!(distribution["count"], 1_000, "{answer:#}");
    for (share, name) in [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")] {
        let exact = distribution["quantiles_ns"][name].as_f64().unwrap() / 1e9;
        let read = prometheus.value(&format!("histogram_quantile({share}, {CHAINS})")).unwrap();
        let ratio = (read / exact).max(exact / read);
        assert!(ratio <= 2_f64.powf(1.0 / 32.0) + 1e-9, "{name}: {read} for {exact}");
    }
    let sum = prometheus.value(&format!("histogram_sum({CHAINS})")).unwrap();
    let mean = distribution["mean_ns"].as_f64().unwrap() / 1e9;
    assert!((sum / 1_000.0 - mean).abs() < 1e-9 * sum.max(1.0), "{sum} for {mean}");

    let exemplars = prometheus.exemplars(CHAINS);
    assert!(!exemplars.is_empty());
    check_exemplars(&world, &exemplars);
    let elapsed = "chronoscope_transaction_elapsed_seconds{application=\"hops\"}";
    assert!(!prometheus.exemplars(elapsed).is_empty());
}

/// A Prometheus without native histograms asks for OpenMetrics.
#[test]
fn classic_buckets_have_an_exemplar_each() {
    if !has("prometheus") {
        return;
    }
    let world = World::new();
    let server = world.serve(&[]);
    world.make_chains(500);
    server.wait_for_chains(500.0);
    let prometheus = world.prometheus(&server.scraped(), &[CLASSIC]);
    prometheus.wait_for(&CHAINS.replace('{', "_count{"), 500.0);
    let buckets = prometheus.series(&CHAINS.replace('{', "_bucket{"));
    assert_eq!(buckets.len(), 25);
    let bounds: Vec<_> = buckets.iter().map(|b| b["metric"]["le"].as_str().unwrap()).collect();
    for bound in ["1e-06", "0.0001", "1.0", "50.0", "+Inf"] {
        assert!(bounds.contains(&bound), "{bounds:?}");
    }
    // As many as there are buckets with a value of their own.
    let page = server.metrics();
    let begin = CHAINS.trim_end_matches('}').replace('{', "_bucket{");
    let counts = page.lines().filter(|line| line.starts_with(&begin));
    let mut counts: Vec<&str> = counts.map(|line| line.rsplit(' ').next().unwrap()).collect();
    counts.dedup();
    let filled = counts.iter().filter(|count| **count != "0").count();
    let exemplars = prometheus.exemplars(&CHAINS.replace('{', "_bucket{"));
    assert_eq!(exemplars.len(), filled, "{exemplars:#?}");
    check_exemplars(&world, &exemplars);
}

/// Spans are chains too: their exemplar has the trace's id, and their chain is shown by it.
#[test]
fn an_exemplar_of_spans_has_their_trace_id() {
    if !has("prometheus") {
        return;
    }
    let world = World::new();
    let server = world.serve(&[]);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let now_ns = chronoscope_clock::utc_now_ns();
    let span = |id: &str, parent: &str, name: &str, start_ns: i64, end_ns: i64| {
        serde_json::json!({
            "traceId": trace, "spanId": id, "parentSpanId": parent, "name": name, "kind": 1,
            "startTimeUnixNano": start_ns.to_string(), "endTimeUnixNano": end_ns.to_string(),
        })
    };
    let (begin, end) = (now_ns - 2_000_000_000, now_ns - 500_000_000);
    let spans = [
        span("00f067aa0ba902b8", "00f067aa0ba902b7", "leaf", begin + 7, end - 5),
        span("00f067aa0ba902b7", "", "root", begin, end),
    ];
    let resource = serde_json::json!({ "attributes":
        [{ "key": "service.name", "value": { "stringValue": "shop" } }] });
    let body = serde_json::json!({ "resourceSpans":
        [{ "resource": resource, "scopeSpans": [{ "spans": spans }] }] });
    let post = ureq::post(format!("http://{}/v1/traces", server.address));
    post.header("content-type", "application/json").send(body.to_string()).unwrap();
    let query = "chronoscope_chain_duration_seconds{leaf=\"shop::leaf\"}";
    server.wait_for("chronoscope_chain_duration_seconds_count{root=\"shop::root\"", 1.0);
    let prometheus = world.prometheus(&server.scraped(), &[NATIVE]);
    prometheus.wait_for(&format!("histogram_count({query})"), 1.0);
    let [exemplar] = &prometheus.exemplars(query)[..] else { panic!("one chain") };
    assert_eq!(exemplar["labels"]["trace_id"], trace, "{exemplar}");
    assert_eq!(exemplar["labels"]["chain_id"], trace);
    let chain = world.json(&["chain", trace, "--json"]);
    assert_eq!(chain["transactions"].as_array().unwrap().len(), 2);
    let ends = exemplar["timestamp"].as_f64().unwrap();
    assert!((ends - (end - 5) as f64 / 1e9).abs() < 2e-3, "the end of the leaf: {exemplar}");
}

#[test]
fn each_reader_gets_its_format() {
    let world = World::new();
    let server = world.serve(&[]);
    let protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                    encoding=delimited";
    let open = "application/openmetrics-text;version=1.0.0";
    for (accept, begins) in [
        ("*/*", "text/plain; version=0.0.4"),
        (open, "application/openmetrics-text; version=1.0.0"),
        (protobuf, "application/vnd.google.protobuf; proto="),
        (&format!("{protobuf};q=0.3,{open};q=0.4"), "application/openmetrics-text"),
    ] {
        let (kind, body) = server.metrics_as(accept);
        assert!(kind.starts_with(begins), "{accept}: {kind}");
        let ends = body.ends_with(b"# EOF\n");
        assert_eq!(ends, kind.contains("openmetrics"), "{kind}");
    }
}

/// A restart is a counter reset, which Prometheus handles: the rate over it is that of the rest.
#[test]
fn a_restarted_collector_counts_from_zero() {
    if !has("prometheus") {
        return;
    }
    let world = World::new();
    let server = world.serve(&[]);
    world.make_chains(100);
    server.wait_for_chains(100.0);
    let prometheus = world.prometheus(&server.scraped(), &[NATIVE]);
    prometheus.wait_for(&format!("histogram_count({CHAINS})"), 100.0);
    let address = server.address.clone();
    server.terminate();
    let server = world.serve_at(&address, &[]);
    world.make_chains(10);
    server.wait_for_chains(10.0);
    prometheus.wait_for(&format!("histogram_count({CHAINS})"), 10.0);
    let resets = "resets(chronoscope_transactions_total{class=\"answer\"}[5m])";
    wait_until("the reset is counted", || prometheus.value(resets) == Some(1.0));
}
