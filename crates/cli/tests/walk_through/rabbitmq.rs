//! `docs/walk-through.md`: Python, RabbitMQ, Node and PostgreSQL, until an alarm with its cause.

use crate::reader::{Reader, addresses, has_programs, repository, tool};
use crate::service::Service;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const PROGRAMS: [&str; 6] =
    ["prometheus", "promtool", "prometheus-alertmanager", "amtool", "curl", "node"];
const CHAINS: &str = "chronoscope chains --json --root 'orders send' --leaf 'pg.query:INSERT shop'";
/// The labels of these chains' histogram.
const HISTOGRAM: &str = r#"{root="shop::orders send",leaf="parcels::pg.query:INSERT shop"}"#;

#[test]
fn a_shop_on_rabbitmq_is_followed_until_its_alarm() {
    let (Some(python), Some(packages)) = (tool("venv", &["pika"]), tool("node", &["walk"])) else {
        return;
    };
    if !has_programs(&PROGRAMS) {
        return;
    }
    let (Some(rabbitmq), Some(postgres)) = (Service::start("rabbitmq"), Service::start("postgres"))
    else {
        return;
    };
    let [collector, prometheus, alertmanager] = addresses();
    let amqp = format!("amqp://guest:guest@127.0.0.1:{}", rabbitmq.port);
    let mut reader = Reader::begin(
        "walk-through.md",
        &[
            ("COLLECTOR", &collector),
            ("PROMETHEUS", &prometheus),
            ("ALERTMANAGER", &alertmanager),
            ("AMQP_URL", &amqp),
            ("PGPORT", &postgres.port),
            ("PGUSER", "postgres"),
        ],
    );
    check_versions(&reader.install());
    reader.link("venv", Path::new(&python).parent().unwrap().parent().unwrap());
    reader.link("node_modules", packages);

    reader.follow_until("Compare with Prometheus");
    check_cause(&mut reader);
    reader.follow_until("Stop everything");
    check_counts(&mut reader);
    reader.follow_to_the_end();
}

/// The versions that the page installs are those that `tools` pins, and that are run here.
fn check_versions(install: &str) {
    let read = |path: &str| std::fs::read_to_string(repository().join("tools").join(path)).unwrap();
    let python = read("python/pika.txt");
    let node: Value = serde_json::from_str(&read("npm/walk/package.json")).unwrap();
    let words = || install.split_whitespace();
    let mut of_python = words().filter(|word| word.contains("==")).peekable();
    assert!(of_python.peek().is_some());
    for package in of_python {
        assert!(python.lines().any(|line| line.trim_end_matches(" \\") == package), "{package}");
    }
    let of_node = words().filter_map(|word| word.rsplit_once('@'));
    let of_node: Vec<_> =
        of_node.map(|(name, version)| (name.to_owned(), version.into())).collect();
    let pinned = node["dependencies"].as_object().unwrap().clone();
    assert_eq!(serde_json::Map::from_iter(of_node), pinned);
}

/// What the page concludes from its tables, by their numbers.
fn check_cause(reader: &mut Reader) {
    let by_tenant =
        reader.json(&format!("{CHAINS} --limit 3s --by messaging.rabbitmq.routing_key"));
    let groups = by_tenant["chains"]["groups"]["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 4, "{groups:#?}");
    let [south, others] = [true, false].map(|of_south| -> u64 {
        let of = groups.iter().filter(|group| (group["values"][0] == "south") == of_south);
        of.map(|group| group["above"].as_u64().unwrap()).sum()
    });
    assert!(south > others, "{groups:#?}");

    let slowest = reader.json("chronoscope chain $SLOWEST --json");
    let transactions = slowest["transactions"].as_array().unwrap();
    let insert = transactions.iter().find(|t| t["class"] == "pg.query:INSERT shop").unwrap();
    // The trigger sleeps for so long.
    assert!(insert["elapsed_ns"].as_u64().unwrap() >= 4_000_000_000, "{insert:#?}");
}

/// Every order has one chain, and the 99th percentile is in Prometheus's bucket.
fn check_counts(reader: &mut Reader) {
    let placed: u64 = reader.ask("cat shop.log").split(' ').nth(1).unwrap().parse().unwrap();
    let counted = format!("sum(chronoscope_chain_duration_seconds_count{HISTOGRAM})");
    let all = (placed, placed.to_string());
    let mut seen = (0, String::new());
    // Spans are exported every five seconds, and Prometheus looks every five seconds.
    for _ in 0..60 {
        seen.0 = reader.json(CHAINS)["chains"]["distribution"]["count"].as_u64().unwrap();
        seen.1 = prometheus(reader, &counted);
        if seen == all {
            break;
        }
        chronoscope_clock::sleep(Duration::from_secs(1));
    }
    assert_eq!(seen, all, "chains in files, and in Prometheus");

    let quantile = format!(
        "histogram_quantile(0.99, sum by (le) (chronoscope_chain_duration_seconds_bucket{HISTOGRAM}))"
    );
    let of_prometheus: f64 = prometheus(reader, &quantile).parse().unwrap();
    let answer = reader.json(CHAINS);
    let p99_ns = answer["chains"]["distribution"]["quantiles_ns"]["p99"].as_u64().unwrap();
    let bounds = bucket_bounds(&reader.ask("curl -s http://$COLLECTOR/metrics"));
    // A bucket is above its lower bound and at most its upper bound.
    let bucket = |seconds: f64| bounds.iter().position(|bound| seconds <= *bound);
    let p99 = p99_ns as f64 / 1e9;
    assert_eq!(bucket(p99), bucket(of_prometheus), "{p99} s and {of_prometheus} s in {bounds:?}");
}

/// The value of an expression, as Prometheus writes it; empty where there is none yet.
fn prometheus(reader: &mut Reader, expression: &str) -> String {
    let url = "http://$PROMETHEUS/api/v1/query";
    let answer = reader.json(&format!("curl -s {url} --data-urlencode 'query={expression}'"));
    answer["data"]["result"][0]["value"][1].as_str().unwrap_or_default().to_owned()
}

/// Upper bounds of the buckets of these chains, in seconds, as Prometheus reads them.
fn bucket_bounds(metrics: &str) -> Vec<f64> {
    let begin =
        format!("chronoscope_chain_duration_seconds_bucket{}", HISTOGRAM.trim_end_matches('}'));
    let of_chains = metrics.lines().filter(|line| line.starts_with(&begin));
    let bounds = of_chains.map(|line| {
        let (_, bound) = line.split_once("le=\"").unwrap();
        bound.split('"').next().unwrap().replace('+', "").parse().unwrap()
    });
    bounds.collect()
}
