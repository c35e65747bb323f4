//! The files of dist/grafana: read by Grafana's own types, and their queries answered by a Prometheus
//! that scrapes a collector.

use crate::world::{CLASSIC, NATIVE, Prometheus, Server, World, has, repository, wait_until};
use serde_json::Value;
use std::process::Command;

/// The targets of all panels of a dashboard, with the panel's title.
fn queries(name: &str) -> Vec<(String, String)> {
    let file = repository().join("dist/grafana/dashboards").join(name);
    let board: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| {
        let title = panel["title"].as_str().unwrap();
        let targets = panel["targets"].as_array().unwrap().iter();
        targets.map(|target| (title.to_owned(), target["expr"].as_str().unwrap().to_owned()))
    });
    targets.collect()
}

/// A query as Grafana sends it: its variables stand for some value each, so that a label that does
/// not exist matches nothing.
fn filled_in(query: &str) -> String {
    let mut query = query.replace("$__rate_interval", "1m").replace("$__range", "1h");
    for variable in ["$root", "$leaf", "$application", "$host"] {
        query = query.replace(variable, ".+");
    }
    assert!(!query.contains('$'), "{query}");
    query
}

/// Whether the page has all metrics of a query.
fn has_metrics(page: &str, query: &str) -> bool {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut metrics = words.filter(|word| word.starts_with("chronoscope_"));
    metrics.all(|metric| page.contains(&format!("\n{metric}")))
}

fn ask_all(server: &Server, prometheus: &Prometheus, empty: &str) {
    let page = server.metrics();
    for (title, query) in ["chains.json", "health.json"].into_iter().flat_map(queries) {
        let found = prometheus.series(&filled_in(&query));
        if has_metrics(&page, &query) {
            assert_eq!(found.is_empty(), title == empty, "{title}: {query}: {found:?}");
        }
    }
}

#[test]
fn every_query_of_the_dashboards_has_an_answer() {
    if !has("prometheus") {
        return;
    }
    for (flag, empty) in
        [(NATIVE, "Chains: durations, by classic buckets"), (CLASSIC, "Chains: durations")]
    {
        let world = World::new();
        let server = world.serve(&[]);
        let prometheus = world.prometheus(&server.scraped(), &[flag]);
        world.make_chains(100);
        server.wait_for_chains(100.0);
        let quantile = &queries("chains.json")[0].1;
        wait_until("two scrapes have chains", || {
            !prometheus.series(&filled_in(quantile)).is_empty()
        });
        ask_all(&server, &prometheus, empty);
        let is_number = |series: &Value| series["value"][1].as_str().unwrap() != "NaN";
        world.make_chains(100);
        wait_until("the p99 is a number", || {
            prometheus.series(&filled_in(quantile)).iter().any(is_number)
        });
    }
}

#[test]
fn grafana_knows_all_that_the_files_say() {
    let venv = Command::new(repository().join("tools/venv")).arg("grafana").output();
    let Some(venv) = venv.ok().filter(|output| output.status.success()) else {
        return eprintln!("SKIPPED: Grafana's types cannot be had (tools/venv grafana)");
    };
    let python = String::from_utf8(venv.stdout).unwrap();
    let script = repository().join("crates/cli/tests/prometheus/grafana.py");
    let mut command = Command::new(python.trim());
    command.arg(script).arg(repository().join("dist/grafana"));
    let output = command.output().unwrap();
    let (faults, read) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && faults.is_empty(), "{faults}{read}");
    assert!(read.contains("chains.json: 10 panels") && read.contains("14 alerts"), "{read}");
}

/// Alerts are valid, fire when all is wrong and not while all is well.
#[test]
fn alerts_fire_when_they_should() {
    if !has("promtool") {
        return;
    }
    let folder = repository().join("dist/grafana/prometheus");
    for args in [&["check", "config", "prometheus.yml"][..], &["test", "rules", "rules-test.yml"]] {
        let output = Command::new("promtool").args(args).current_dir(&folder).output().unwrap();
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = said(&output.stdout) + &said(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
    }
}
