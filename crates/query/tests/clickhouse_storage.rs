//! Retention of a cluster: old rows go to a second disk, where questions find them, and are
//! deleted; and the ready queries of `dist/clickhouse/queries` beside our own answers.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod cluster;
mod world;

use chronoscope_chain::Distribution;
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_model::{Batch, Flags, Record};
use chronoscope_query::{Answer, Limits, Progress, Question, StoreLocation};
use chronoscope_statistics::{Histogram, Quantile};
use chronoscope_store::MINUTE_NS;
use cluster::Servers;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use world::World;

#[test]
fn storage_and_ready_queries() {
    let Some(servers) = Servers::start(2) else { return };
    old_rows_go_to_the_second_disk(&servers);
    ready_queries_say_what_we_say(&servers);
}

fn batch(records: &[Record]) -> Batch {
    let mut batch = Batch::default();
    records.iter().for_each(|record| batch.push(*record, b""));
    batch
}

fn put(url: &str, options: &TableOptions, world: &World, key: u128) {
    let cluster = Cluster::new(url).unwrap();
    cluster.prepare(options).unwrap();
    ClusterWriter::new(cluster).insert(&batch(&world.records), &world.names, key).unwrap();
}

/// A world so many days ago.
fn aged(seed: u64, days: i64) -> World {
    let mut world = World::new(seed, 100);
    let to_ns = clock::utc_now_ns() / MINUTE_NS * MINUTE_NS - days * 24 * 60 * MINUTE_NS;
    for record in &mut world.records {
        record.start_ns += to_ns - 100 * MINUTE_NS;
        record.root_start_ns += to_ns - 100 * MINUTE_NS;
    }
    world
}

fn old_rows_go_to_the_second_disk(servers: &Servers) {
    let url = format!("{}&cold_days=7", servers.url("aged"));
    let keep = TableOptions { keep: Some(Duration::from_secs(30 * 86_400)) };
    let (new, old) = (aged(21, 1), aged(22, 10));
    put(&url, &keep, &new, 1);
    put(&url, &keep, &old, 2);
    let by_disk = |disk: &str| -> u64 {
        let sql = format!(
            "SELECT sum(rows) FROM system.parts WHERE active AND database = 'aged' \
             AND table = 'transactions' AND disk_name = '{disk}'"
        );
        (0..2).map(|index| servers.sql(index, &sql).parse::<u64>().unwrap()).sum()
    };
    let (hot, cold) = (new.records.len() as u64, old.records.len() as u64);
    assert_eq!((by_disk("default"), by_disk("cold")), (hot, cold));
    // A question finds both.
    let source = StoreLocation::open(&url).unwrap();
    let question = Question::sync("Y::c");
    let found = source.ask(&question, &Limits::default()).unwrap().counts.used;
    let of = |world: &World| {
        let class = chronoscope_model::ClassId::of("Y", "c");
        world.records.iter().filter(|record| record.class == class).count() as u64
    };
    assert_eq!(found, of(&new) + of(&old));
    // What is older than is kept goes by itself; merges look for it when they are told to.
    put(&url, &keep, &aged(23, 40), 3);
    let expired = "OPTIMIZE TABLE aged.transactions FINAL";
    (0..2).for_each(|index| drop(servers.sql(index, expired)));
    assert_eq!(by_disk("default") + by_disk("cold"), hot + cold);
    assert_eq!(source.ask(&question, &Limits::default()).unwrap().counts.used, found);
    // Servers without such a volume say so.
    servers.sql(0, "CREATE DATABASE plain");
    let error = servers_without_cold(servers);
    assert!(error.contains("cold"), "{error}");
}

/// The error of a table on a policy that has no volume `cold`.
fn servers_without_cold(servers: &Servers) -> String {
    let url = servers.url("plain");
    let cluster = Cluster::new(&url).unwrap();
    // The table is there already, on the servers' own policy of one disk.
    cluster.prepare(&TableOptions::default()).unwrap();
    for index in 0..2 {
        let create = servers.sql(index, "SHOW CREATE TABLE plain.transactions FORMAT TSVRaw");
        servers.sql(index, "DROP TABLE plain.transactions SYNC");
        servers.sql(index, &create.replace("SETTINGS ", "SETTINGS storage_policy = 'default', "));
    }
    let cold = Cluster::new(&format!("{url}&cold_days=7")).unwrap();
    cold.prepare(&TableOptions::default()).unwrap_err().to_string()
}

/// Native chains with all their rows, some of them with attributes.
fn whole_world() -> World {
    let mut world = World::new(24, 500).whole_chains();
    world.records.retain(|record| !record.flags().contains(Flags::FOREIGN));
    world.on_hosts().with_attributes()
}

/// Runs a ready query; its lines by column.
fn ready(servers: &Servers, name: &str, parameters: &[(&str, &str)]) -> Vec<Vec<String>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/clickhouse/queries");
    let sql = std::fs::read_to_string(dir.join(format!("{name}.sql"))).unwrap();
    let range = [("from", "1970-01-01 01:40:00"), ("until", "1970-01-01 01:50:00")];
    let mut url = format!("http://{}/?database=ready", servers.name(0));
    for (key, value) in range.iter().chain(parameters) {
        let value = value.replace('%', "%25").replace(' ', "%20").replace('&', "%26");
        url += &format!("&param_{key}={value}");
    }
    let agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build();
    let mut response = agent.new_agent().post(url).send(&sql).unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    assert_eq!(response.status(), 200, "{name}: {text}");
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// Count, smallest, mean and largest as a query has them.
fn assert_same(found: [&str; 4], of: &Distribution) {
    let [count, min, mean, max] = found;
    assert_eq!([number(count), number(min), number(max)], [of.count, of.min_ns, of.max_ns]);
    let mean: f64 = mean.parse().unwrap();
    assert!((mean - of.mean_ns).abs() < 1e-6 * of.mean_ns.max(1.0), "{mean} {}", of.mean_ns);
}

fn ready_queries_say_what_we_say(servers: &Servers) {
    let world = whole_world();
    assert!(world.records.len() > 1000);
    let cluster = Cluster::new(&servers.url("ready")).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    ClusterWriter::new(cluster).insert(&world.batch(&world.records), &world.names, 1).unwrap();
    let source = StoreLocation::open(&servers.url("ready")).unwrap();
    let ask = |question: &Question| source.ask(question, &Limits::default()).unwrap();
    let acpd = ask(&Question { limit_ns: Some(600), ..Question::acpd("X::a", "Y::c") });
    let apcd = ask(&Question { points: true, ..Question::apcd("X::a") });
    rows_and_classes(servers, &world, &source);
    durations(servers, &acpd);
    minutes_of_sketches(servers, &source);
    whole_chains(servers, &apcd);
    by_property(servers, &world);
    dashboard_asks_the_ready_queries(servers, &source);
    let acpd_of_all: u64 = ["X::b", "Y::c", "Y::d", "Y::e"]
        .iter()
        .map(|leaf| ask(&Question::acpd("X::a", leaf)).counts.negative)
        .sum();
    let clocks = ready(servers, "disagreeing-clocks", &[]);
    let disagree: u64 = clocks.iter().map(|line| number(&line[2])).sum();
    assert!(disagree > 0);
    assert_eq!(disagree, acpd_of_all);
    assert!(clocks.iter().all(|line| line[3].starts_with('-') && line[0] == "one"), "{clocks:?}");
}

fn rows_and_classes(servers: &Servers, world: &World, source: &StoreLocation) {
    let mut minutes: BTreeMap<i64, (u64, std::collections::BTreeSet<_>)> = BTreeMap::new();
    for record in &world.records {
        let minute = minutes.entry(record.root_start_ns / MINUTE_NS).or_default();
        minute.0 += 1;
        minute.1.insert(record.chain());
    }
    let found = ready(servers, "rows-by-minute", &[]);
    let expected: Vec<_> = minutes
        .iter()
        .map(|(minute, (rows, chains))| {
            let time = format!("1970-01-01 {:02}:{:02}:00", minute / 60, minute % 60);
            vec![time, rows.to_string(), chains.len().to_string()]
        })
        .collect();
    assert_eq!(found, expected);
    let (classes, _) = source.classes(&(i64::MIN..i64::MAX)).unwrap();
    let found = ready(servers, "classes", &[]);
    assert_eq!(found.len(), classes.len());
    for line in found {
        let (name, of) = classes.iter().find(|(name, _)| name.to_string() == line[0]).unwrap();
        let elapsed = &of.elapsed;
        let expected = [elapsed.count() as u128, elapsed.sum()];
        assert_eq!([&line[1], &line[2]].map(|text| text.parse::<u128>().unwrap()), expected);
        let range = [elapsed.min().unwrap_or(0), elapsed.max().unwrap_or(0)];
        assert_eq!([number(&line[4]), number(&line[5])], range, "{name}");
        assert_eq!([number(&line[6]), number(&line[7])], [of.cpu_ns, of.not_good], "{name}");
    }
}

fn durations(servers: &Servers, acpd: &Answer) {
    let root_leaf = [("root", "X::a"), ("leaf", "Y::c")];
    let with = |key, value| [root_leaf[0], root_leaf[1], (key, value)];
    let of = acpd.distribution.unwrap();
    let [line] = &ready(servers, "acpd", &root_leaf)[..] else { panic!("one line") };
    assert_same([&line[0], &line[1], &line[2], &line[3]], &of);
    let sorted = &acpd.durations_ns;
    for (column, per_myriad) in [(4, 5000), (5, 9500), (6, 9900), (7, 9973)] {
        let rank = (sorted.len() * per_myriad).div_ceil(10_000);
        assert_eq!(number(&line[column]), sorted[rank - 1], "{per_myriad}");
    }
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    sorted.iter().for_each(|ns| *bins.entry(ns / 50 * 50).or_default() += 1);
    let found = ready(servers, "acpd-histogram", &with("width_ns", "50"));
    let found: BTreeMap<u64, u64> =
        found.iter().map(|line| (number(&line[0]), number(&line[1]))).collect();
    assert_eq!(found, bins);
    let [within] = &ready(servers, "acpd-within-limit", &with("limit_ns", "600"))[..] else {
        panic!("one line")
    };
    let verdict = acpd.verdict.unwrap();
    assert_eq!([number(&within[0]), number(&within[1])], [verdict.count, verdict.within]);
    let paths = ready(servers, "acpd-by-path", &root_leaf);
    assert_eq!(paths.len(), acpd.paths.len());
    assert!(paths.len() > 3);
    for line in paths {
        let path = acpd.paths.iter().find(|path| path.path == line[0]);
        let path = path.unwrap_or_else(|| panic!("{} is in no answer", line[0]));
        assert_same([&line[1], &line[2], &line[3], &line[4]], &path.distribution);
    }
}

/// Of each minute what an answer about it says; quantiles by the histogram of the sketch.
fn minutes_of_sketches(servers: &Servers, source: &StoreLocation) {
    let root_leaf = [("root", "X::a"), ("leaf", "Y::c")];
    assert_eq!(ready(servers, "acpd-by-minute", &root_leaf).len(), 0, "none is made yet");
    let StoreLocation::Cluster(view) = source else { panic!("it is no cluster") };
    view.seal(&(i64::MIN..=i64::MAX), &Progress::default()).unwrap();
    let found = ready(servers, "acpd-by-minute", &root_leaf);
    assert_eq!(found.len(), 3);
    for (line, minute) in found.iter().zip(100..) {
        let start_ns = minute * MINUTE_NS..(minute + 1) * MINUTE_NS;
        let question = Question { start_ns, ..Question::acpd("X::a", "Y::c") };
        let answer = source.ask(&question, &Limits::default()).unwrap();
        assert_eq!(line[0], format!("1970-01-01 {:02}:{:02}:00", minute / 60, minute % 60));
        assert_same([&line[1], &line[2], &line[3], &line[4]], &answer.distribution.unwrap());
        let mut histogram = Histogram::default();
        answer.durations_ns.iter().for_each(|ns| histogram.add(*ns));
        let of = |q| histogram.quantile(q).unwrap();
        assert_eq!([number(&line[5]), number(&line[6])], [of(Quantile::P50), of(Quantile::P99)]);
    }
}

fn whole_chains(servers: &Servers, apcd: &Answer) {
    let [line] = &ready(servers, "apcd", &[("root", "X::a")])[..] else { panic!("one line") };
    assert_same([&line[0], &line[1], &line[2], &line[3]], &apcd.distribution.unwrap());
    let slowest = ready(servers, "slowest-chains", &[("root", "X::a"), ("count", "7")]);
    let longest: Vec<u64> = apcd.durations_ns.iter().rev().take(7).copied().collect();
    assert_eq!(slowest.iter().map(|line| number(&line[2])).collect::<Vec<_>>(), longest);
    let source = StoreLocation::open(&servers.url("ready")).unwrap();
    for line in slowest {
        let chain = line[0].parse().unwrap();
        let (rows, _) = source.chain(chain, None).unwrap();
        assert_eq!(rows.len() as u64, number(&line[3]), "{chain}");
    }
}

fn by_property(servers: &Servers, world: &World) {
    let class = chronoscope_model::ClassId::of("Y", "d");
    let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for record in world.records.iter().filter(|record| record.class == class) {
        let said = world.said.get(&record.id.0);
        let tenant = said.and_then(|said| said.properties.iter().find(|(key, _)| key == "tenant"));
        let of = expected.entry(tenant.map_or(String::new(), |(_, value)| value.clone()));
        let of = of.or_default();
        *of = (of.0 + 1, of.1.max(record.elapsed_ns));
    }
    let found = ready(servers, "by-property", &[("class", "Y::d"), ("key", "tenant")]);
    let found = found.iter().map(|line| (line[0].clone(), (number(&line[1]), number(&line[3]))));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
    assert!(expected.len() > 2);
}

/// Panels of Grafana's dashboard ask what the ready queries ask.
fn dashboard_asks_the_ready_queries(servers: &Servers, source: &StoreLocation) {
    let path = "../../dist/grafana/dashboards/clickhouse.json";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    // A query is a JSON text without escapes but those of lines.
    let queries: Vec<String> = text
        .split("\"rawSql\": \"")
        .skip(1)
        .map(|rest| rest.split_once('"').unwrap().0.replace("\\n", "\n"))
        .collect();
    assert_eq!(queries.len(), 10);
    let ask = |sql: &str| {
        let sql = sql
            .replace("$__fromTime", "toDateTime(6000, 'UTC')")
            .replace("$__toTime", "toDateTime(6600, 'UTC')")
            .replace("${root:sqlstring}", "'X::a'")
            .replace("${leaf:sqlstring}", "'Y::c'")
            .replace("(${limit_ms} * 1000000)", "600")
            .replace("(${width_ms} * 1000000)", "50")
            .replace("transactions_all", "ready.transactions_all")
            .replace("sketches_all", "ready.sketches_all")
            .replace("FROM sketches\n", "FROM ready.sketches\n");
        assert!(!sql.contains('$'), "{sql}");
        let answer = servers.sql(0, &sql);
        let line = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
        answer.lines().map(line).collect::<Vec<_>>()
    };
    let root = ("root", "X::a");
    let root_leaf = [root, ("leaf", "Y::c")];
    let with = |key, value| [root_leaf[0], root_leaf[1], (key, value)];
    for (panel, name, parameters) in [
        (1, "rows-by-minute", &[][..]),
        (2, "acpd-histogram", &with("width_ns", "50")),
        (3, "acpd-within-limit", &with("limit_ns", "600")),
        (4, "acpd", &root_leaf),
        (5, "slowest-chains", &[root, ("count", "20")]),
        (6, "acpd-by-path", &root_leaf),
        (7, "classes", &[]),
        (8, "disagreeing-clocks", &[]),
        (9, "acpd-by-minute", &root_leaf),
    ] {
        assert_eq!(ask(&queries[panel]), ready(servers, name, parameters), "{name}");
    }
    // Minute by minute.
    let minutes = ask(&queries[0]);
    assert_eq!(minutes.len(), 3);
    for (line, minute) in minutes.iter().zip(100..) {
        let start_ns = minute * MINUTE_NS..(minute + 1) * MINUTE_NS;
        let question = Question { start_ns, ..Question::acpd("X::a", "Y::c") };
        let sorted = source.ask(&question, &Limits::default()).unwrap().durations_ns;
        let rank = |per_myriad: usize| sorted[(sorted.len() * per_myriad).div_ceil(10_000) - 1];
        let expected = [rank(5000), rank(9900), *sorted.last().unwrap()];
        assert_eq!([1, 2, 3].map(|column| number(&line[column])), expected, "{minute}");
    }
}
