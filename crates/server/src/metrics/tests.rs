use super::*;
use chronoscope_model::{Batch, ClassName};
use chronoscope_store::Aliases;
use prost::Message as _;
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

fn text(families: &[Family]) -> String {
    String::from_utf8(write(families, Format::Text)).unwrap()
}

/// The page of a server that has taken spans of OpenTelemetry and nothing else.
fn of_spans() -> String {
    let (names, record) = tally::tests::leaf();
    let mut batch = Batch::default();
    let path = chronoscope_model::PathId::NONE;
    let flags = chronoscope_model::Flags::FOREIGN.0;
    batch.push(chronoscope_model::Record { path, flags, level: 0, ..record }, b"");
    let follower = Follower::idle();
    follower.seen().tally.add(&batch, &names, &Aliases::default(), clock::utc_now_ns());
    let status = Status { disk_free_bytes: Some(9), ..Status::default() };
    text(&families(&status, &follower, (&[], &[]), 0, None))
}

/// The names of all series of a page.
fn exposed(page: &str) -> BTreeSet<&str> {
    let samples = page.lines().filter(|line| !line.starts_with('#'));
    samples.filter_map(|line| line.split(['{', ' ']).next()).collect()
}

/// A page with every metric on it but those of remote write, and names that try to break it.
fn full() -> String {
    text(&full_families(None))
}

fn full_families(sent: Option<RemoteWriteCounts>) -> Vec<Family> {
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
    let (mut names, mut record) = tally::tests::leaf();
    let now_ns = clock::utc_now_ns();
    (record.root_start_ns, record.start_ns) = (now_ns, now_ns + 2_000_000);
    let odd = ClassName { application: "x\\".into(), class: "GET \"/\n\"".into() };
    let odd_class = chronoscope_model::ClassId::of(&odd.application, &odd.class);
    names.add_class(odd);
    let mut batch = Batch::default();
    batch.push(record, b"");
    batch.push(chronoscope_model::Record { class: odd_class, status: 1, level: 0, ..record }, b"");
    let follower = Follower::idle();
    follower.seen().tally.add(&batch, &names, &Aliases::default(), now_ns + 10_000_000);
    families(&status, &follower, (&[limit_report()], &standings()), 3, sent)
}

/// What the text format was when it was the only one.
#[test]
fn the_text_format_has_not_changed() {
    assert_eq!(full(), include_str!("full.prom"));
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

const OPEN_METRICS_SCRIPT: &str = r#"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        if sample.exemplar:
            exemplar = sample.exemplar
            assert float(exemplar.timestamp) > 1.7e9, sample
            labels = ",".join(f"{k}={v}" for k, v in sorted(exemplar.labels.items()))
            print(sample.name, sample.labels["le"], exemplar.value, labels)
    print(family.name)
"#;

/// What a script of Python prints that reads a page; `None` where its packages cannot be had.
fn read_by_python(script: &str, page: &[u8]) -> Option<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let venv = Command::new(top.join("tools/venv")).arg("prometheus-client").output();
    let Some(venv) = venv.ok().filter(|output| output.status.success()) else {
        eprintln!(
            "SKIPPED: tools/venv prometheus-client cannot be had: nobody else reads the page"
        );
        return None;
    };
    let python = String::from_utf8(venv.stdout).unwrap();
    let mut child = Command::new(python.trim())
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), page).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "see stderr");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Prometheus's own parser reads it, and finds what its conventions ask for.
#[test]
fn prometheus_reads_the_page() {
    let page = write(&full_families(Some(sent())), Format::Text);
    let Some(names) = read_by_python(SCRIPT, &page) else { return };
    assert!(names.lines().any(|name| name == "chronoscope_chain_duration_seconds"), "{names}");
    assert!(names.lines().count() > 20, "{names}");
}

/// The reference parser of OpenMetrics reads the other text format, and finds the exemplars.
#[test]
fn open_metrics_is_read_with_its_exemplars() {
    let page = write(&full_families(Some(sent())), Format::OpenMetrics);
    let Some(read) = read_by_python(OPEN_METRICS_SCRIPT, &page) else { return };
    let expected = "chronoscope_chain_duration_seconds_bucket 0.005 0.003 \
                    chain_id=000000000000000000000000000000c4";
    assert!(read.lines().any(|line| line == expected), "{read}");
    for name in ["chronoscope_transactions", "chronoscope_remote_write_lost_samples"] {
        assert!(read.lines().any(|line| line == name), "{read}");
    }
}

/// Both formats say the same numbers, and the messages can be read one after the other.
#[test]
fn protobuf_says_what_the_text_says() {
    let families = full_families(None);
    let octets = write(&families, Format::Protobuf);
    let (mut rest, mut read) = (&octets[..], Vec::new());
    while !rest.is_empty() {
        read.push(protobuf::MetricFamily::decode_length_delimited(&mut rest).unwrap());
    }
    let names: Vec<_> = read.iter().map(|family| family.name.as_str()).collect();
    let text = full();
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    assert_eq!(names, types.collect::<Vec<_>>());
    let of = |name: &str| read.iter().find(|family| family.name == name).unwrap();
    let counter = of("chronoscope_collected_rows_total");
    assert_eq!((counter.kind, counter.metric[0].counter.unwrap().value), (Some(0), Some(5.0)));
    let gauge = of("chronoscope_agent_clock_offset_seconds");
    assert_eq!((gauge.kind, gauge.metric[0].gauge.unwrap().value), (Some(1), Some(-0.0015)));
    let chains = of("chronoscope_chain_duration_seconds");
    let histogram = chains.metric[0].histogram.as_ref().unwrap();
    assert_eq!((histogram.sample_count, histogram.sample_sum, histogram.schema), (1, 0.003, 5));
    // 3 ms: 2^(index / 32) seconds is the first power not below it.
    #[allow(clippy::cast_possible_truncation)] // some -268
    let index = (0.003_f64.log2() * 32.0).ceil() as i32;
    assert_eq!(histogram.positive_span, [protobuf::BucketSpan { offset: index, length: 1 }]);
    assert_eq!((&histogram.positive_delta[..], histogram.zero_count), (&[1][..], 0));
    let [exemplar] = &histogram.exemplars[..] else { panic!("{histogram:?}") };
    assert_eq!(exemplar.value, 0.003);
    assert_eq!(exemplar.label[0].value, "000000000000000000000000000000c4");
    let with: Vec<_> = histogram.bucket.iter().filter(|bucket| bucket.exemplar.is_some()).collect();
    assert_eq!((with.len(), with[0].upper_bound, with[0].cumulative_count), (1, 0.005, 1));
}

fn sent() -> RemoteWriteCounts {
    RemoteWriteCounts { sent: 1, success_ns: Some(5), ..RemoteWriteCounts::default() }
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

fn grafana(name: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/grafana");
    std::fs::read_to_string(top.join(name)).unwrap()
}

fn dashboards() -> [serde_json::Value; 2] {
    ["chains", "health"]
        .map(|name| serde_json::from_str(&grafana(&format!("dashboards/{name}.json"))).unwrap())
}

/// All texts of queries in a dashboard.
fn queries<'a>(value: &'a serde_json::Value, into: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                match value.as_str().filter(|_| key == "expr" || key == "query") {
                    Some(text) => into.push(text),
                    None => queries(value, into),
                }
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| queries(value, into)),
        _ => {}
    }
}

/// The metrics that a query asks for, each with the labels that it selects by.
fn asked(query: &str) -> Vec<(&str, BTreeSet<&str>)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = query.match_indices("chronoscope_").map(|(start, _)| start);
    let metrics = starts.map(|start| {
        let rest = &query[start..];
        let (name, rest) = rest.split_at(rest.find(|c| !is_name(c)).unwrap_or(rest.len()));
        let selector = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let matchers = selector.map_or("", |(matchers, _)| matchers).split(',');
        let label = |matcher: &'_ str| matcher.find(|c| !is_name(c)).filter(|end| *end > 0);
        let labels = matchers.filter_map(|matcher| Some(&matcher[..label(matcher)?])).collect();
        (name, labels)
    });
    metrics.collect()
}

/// The labels that a query groups by.
fn grouped(query: &str) -> impl Iterator<Item = &str> {
    let lists = query.split(" by (").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    lists.flat_map(|list| list.split(',').map(str::trim))
}

/// The labels of each metric of a page; a histogram is one too, by its own name.
fn labels_of(families: &[Family]) -> std::collections::BTreeMap<String, BTreeSet<&'static str>> {
    let mut all = std::collections::BTreeMap::new();
    for family in families {
        let of =
            |series: &exposition::Series| series.labels.iter().map(|(name, _)| *name).collect();
        let mut labels: BTreeSet<_> = of(&family.series[0]);
        all.insert(family.name.clone(), labels.clone());
        if family.kind == Kind::Histogram {
            for end in ["_sum", "_count"] {
                all.insert(format!("{}{end}", family.name), labels.clone());
            }
            labels.insert("le");
            all.insert(format!("{}_bucket", family.name), labels);
        }
    }
    all
}

/// Every query of the dashboards and of the alerts uses existing metrics, and labels that they have.
#[test]
fn grafana_asks_for_metrics_that_exist() {
    let families = full_families(Some(sent()));
    let exposed = labels_of(&families);
    let (dashboards, rules) = (dashboards(), grafana("prometheus/rules.yml"));
    let mut texts: Vec<&str> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).collect();
    dashboards.iter().for_each(|board| queries(board, &mut texts));
    let mut count = BTreeSet::new();
    for query in texts {
        let mut known = BTreeSet::<&str>::new();
        // Names by a pattern have no selector of their own.
        for (name, labels) in asked(query).into_iter().filter(|_| !query.contains("__name__")) {
            let has = exposed.get(name).unwrap_or_else(|| panic!("{name} of {query}"));
            assert!(labels.is_subset(has), "{query}: {labels:?} of {has:?}");
            known.extend(has);
            count.insert(name);
        }
        assert!(grouped(query).all(|label| known.contains(label)), "{query}: {known:?}");
    }
    assert!(count.len() > 35, "{count:?}");
}

/// A panel without a curve states whether that is a fault or normal.
#[test]
fn a_panel_that_may_be_empty_says_so() {
    let page = of_spans();
    let exposed = exposed(&page);
    let mut without = 0;
    for board in dashboards() {
        let panels = board["panels"].as_array().unwrap();
        for panel in panels.iter().chain(board["templating"]["list"].as_array().unwrap()) {
            let mut texts = Vec::new();
            queries(panel, &mut texts);
            let names = texts.into_iter().flat_map(asked).map(|(name, _)| name);
            let missing: Vec<_> = names.filter(|name| !exposed.contains(name)).collect();
            let text = panel["description"].as_str().unwrap_or_default();
            // A native histogram is an alternative to the classic one, which is there.
            let elapsed = |name: &&&str| **name != "chronoscope_transaction_elapsed_seconds";
            let is_missing = missing.iter().filter(elapsed).count() > 0;
            assert!(!is_missing || text.contains("Empty "), "{missing:?}: {panel:#}");
            without += usize::from(is_missing);
        }
    }
    assert!(without > 8, "those of chains and agents have nothing: {without}");
}
