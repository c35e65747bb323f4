use super::*;
use chronoscope_collect::{AgentStatus, ProcessStatus};
use chronoscope_model::{Batch, ClassName};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

fn limit_report() -> LimitReport {
    LimitReport {
        what: "A::in → B::out".to_owned(),
        kind: crate::api::LimitKind::Chain,
        limit_ns: 1_000_000,
        state: Judgement::NotJudged,
        since_ns: None,
        count: 0,
        above: 0,
        in_flight: None,
        reason: None,
        sentence: String::new(),
    }
}

fn standings() -> Vec<RuleStanding> {
    let text = "[[limit]]\nname = 'a\"'\nclass = 'in'\nabsence = '10s'";
    let rules = chronoscope_rules::RuleFile::parse(text).unwrap().rules;
    crate::rules::RuleWatch::new(&rules).standings()
}

/// The page of a server that has taken spans of OpenTelemetry and nothing else.
fn of_spans() -> String {
    let (names, record) = tally::tests::leaf();
    let mut batch = Batch::default();
    let path = chronoscope_model::PathId::NONE;
    let flags = chronoscope_model::Flags::FOREIGN.0;
    batch.push(chronoscope_model::Record { path, flags, level: 0, ..record }, b"");
    let follower = Follower::idle();
    follower.seen().tally.add(&batch, &names);
    let status = Status { disk_free_bytes: Some(9), ..Status::default() };
    page(&status, &follower, (&[], &[]), 0)
}

/// The names of all series of a page.
fn exposed(page: &str) -> BTreeSet<&str> {
    let samples = page.lines().filter(|line| !line.starts_with('#'));
    samples.filter_map(|line| line.split(['{', ' ']).next()).collect()
}

/// The metrics that a query asks for.
fn asked(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("chronoscope_"))
}

/// A page with every metric on it, and names that try to break it.
fn full() -> String {
    let process = ProcessStatus {
        application: "a\"b\n".into(),
        lost_rows: 7,
        damage: Some("cut".into()),
        ..Default::default()
    };
    let agent = AgentStatus {
        id: "0a".into(),
        host: "h".into(),
        connected: true,
        rows: 3,
        clock_offset_ns: Some(-1_500_000),
        clock_error_ns: Some(40_000),
        ..Default::default()
    };
    let status = Status {
        rows: 5,
        agents: vec![agent],
        disk_free_bytes: Some(9),
        processes: vec![process],
        ..Default::default()
    };
    let (mut names, record) = tally::tests::leaf();
    let odd = ClassName { application: "x\\".into(), class: "GET \"/\n\"".into() };
    let odd_class = chronoscope_model::ClassId::of(&odd.application, &odd.class);
    names.add_class(odd);
    let mut batch = Batch::default();
    batch.push(record, b"");
    batch.push(chronoscope_model::Record { class: odd_class, status: 1, level: 0, ..record }, b"");
    let follower = Follower::idle();
    follower.seen().tally.add(&batch, &names);
    page(&status, &follower, (&[limit_report()], &standings()), 3)
}

#[test]
fn names_cannot_break_the_page() {
    let page = full();
    assert!(page.contains("\nchronoscope_collected_rows_total 5\n"));
    assert!(page.contains("\nchronoscope_cut_connections_total 3\n"));
    let offset = "\nchronoscope_agent_clock_offset_seconds{agent=\"0a\",host=\"h\"} -0.0015\n";
    assert!(page.contains(offset), "{page}");
    assert!(page.contains("{application=\"a\\\"b\\n\",host=\"\",pid=\"0\"} 7\n"), "{page}");
    assert!(page.contains("class=\"GET \\\"/\\n\\\"\",host=\"h\"} 1\n"), "{page}");
    let bucket = "chronoscope_chain_duration_seconds_bucket{root=\"A::in\",leaf=\"B::out\",level=\"1\",le=\"0.0025\"} 0\n";
    assert!(page.contains(bucket), "{page}");
    assert!(page.contains(&bucket.replace("0.0025\"} 0", "0.005\"} 1")), "{page}");
}

const SCRIPT: &str = r#"
import sys
from prometheus_client.parser import text_string_to_metric_families
seen = set()
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.documentation and family.type in ("counter", "gauge", "histogram"), family
    assert family.samples, family.name
    series = {}
    for sample in family.samples:
        key = (sample.name, tuple(sorted(sample.labels.items())))
        assert key not in seen, key
        seen.add(key)
        if family.type == "counter":
            assert sample.name.endswith("_total"), sample
        else:
            assert not sample.name.endswith("_total"), sample
        if family.type == "histogram":
            rest = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
            series.setdefault(rest, []).append(sample)
    for samples in series.values():
        buckets = [(float(s.labels["le"]), s.value) for s in samples if s.name.endswith("_bucket")]
        assert buckets == sorted(buckets) and buckets[-1][0] == float("inf"), buckets
        assert [v for _, v in buckets] == sorted(v for _, v in buckets), buckets
        [count] = [s.value for s in samples if s.name.endswith("_count")]
        assert count == buckets[-1][1], samples
        assert sum(s.name.endswith("_sum") for s in samples) == 1
    print(family.name)
"#;

/// Prometheus's own parser reads it, and finds what its conventions ask for.
#[test]
fn prometheus_reads_the_page() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let venv = Command::new(top.join("tools/venv")).arg("prometheus-client").output();
    let Some(venv) = venv.ok().filter(|output| output.status.success()) else {
        eprintln!("SKIPPED: prometheus_reads_the_page: tools/venv prometheus-client cannot be had");
        return;
    };
    let python = String::from_utf8(venv.stdout).unwrap();
    let mut child = Command::new(python.trim())
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), full().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "see stderr");
    let names = String::from_utf8(output.stdout).unwrap();
    assert!(names.lines().any(|name| name == "chronoscope_chain_duration_seconds"), "{names}");
    assert!(names.lines().count() > 20, "{names}");
}

/// Every query of the dashboard uses existing metrics.
#[test]
fn the_dashboard_asks_for_metrics_that_exist() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dashboard = std::fs::read(top.join("docs/grafana/chronoscope.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_slice(&dashboard).unwrap();
    let page = full();
    let exposed = exposed(&page);
    let mut queries = Vec::new();
    strings(&dashboard, &mut queries);
    let asked: BTreeSet<&str> = queries.into_iter().flat_map(asked).collect();
    let unknown: Vec<_> = asked.iter().filter(|name| !exposed.contains(**name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(asked.len() > 10, "{asked:?}");
}

/// A panel without a curve states whether that is a fault or normal.
#[test]
fn a_panel_that_has_nothing_of_opentelemetry_says_so() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dashboard = std::fs::read(top.join("docs/grafana/chronoscope.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_slice(&dashboard).unwrap();
    let page = of_spans();
    let exposed = exposed(&page);
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut without = 0;
    for panel in panels.iter().chain(variables) {
        let mut queries = Vec::new();
        strings(panel, &mut queries);
        let missing: Vec<_> =
            queries.into_iter().flat_map(asked).filter(|name| !exposed.contains(name)).collect();
        let text = panel["description"].as_str().unwrap_or_default();
        assert!(missing.is_empty() || text.contains("OpenTelemetry"), "{missing:?}: {panel:#}");
        without += usize::from(!missing.is_empty());
    }
    assert!(without > 3, "those of chains have nothing");
}

#[test]
fn a_metric_without_a_sample_is_not_announced() {
    for page in [of_spans(), full()] {
        let exposed = exposed(&page);
        for name in page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        {
            let has = |end: &str| exposed.contains(format!("{name}{end}").as_str());
            assert!(has("") || has("_count"), "{name} has no sample");
        }
    }
    let page = of_spans();
    assert!(!page.contains("chronoscope_chain_duration_seconds"), "{page}");
    assert!(page.contains("\nchronoscope_chain_foreign_rows_total 1\n"), "{page}");
}

/// All texts of queries in the dashboard.
fn strings<'a>(value: &'a serde_json::Value, into: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                match value.as_str().filter(|_| key == "expr" || key == "query") {
                    Some(text) => into.push(text),
                    None => strings(value, into),
                }
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| strings(value, into)),
        _ => {}
    }
}
