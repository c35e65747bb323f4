//! Several servers before one real ClickHouse cluster: what goes on now, alarms, marks.

#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../../query/tests/cluster/mod.rs"]
mod cluster;
mod world;

use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_clock as clock;
use chronoscope_collect::{Ingest, RowSource};
use chronoscope_query::StoreLocation;
use chronoscope_rules::RuleFile;
use chronoscope_server::{Limit, Rights, Server, ServerOptions, Tokens};
use chronoscope_store::MINUTE_NS;
use cluster::Servers;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use world::{Chain, World, asked, minutes, names, rows_of};

/// How long anything may take, on a machine with much else to do.
const WITHIN: Duration = Duration::from_secs(120);

/// A rule that fires on the chains of [`fill`].
const RULE: &str = "[[limit]]\nname = 'half hour'\nroot = 'A::in'\nleaf = 'B::out'\n\
                    limit = '10ms'\nshare = 0.01\nwindow = '30min'\n";

/// A server before a cluster.
fn serve(cluster: &Cluster, file: &str) -> Server {
    serve_with(cluster, file, |_| ())
}

/// The same with other options.
fn serve_with(cluster: &Cluster, file: &str, change: impl FnOnce(&mut ServerOptions)) -> Server {
    let rules = RuleFile::parse(file).unwrap();
    let mut options = ServerOptions {
        source: Some(StoreLocation::from(cluster.clone())),
        ingest: Some(Ingest::into_cluster(ClusterWriter::new(cluster.clone()))),
        limits: Limit::of_rules(&rules.rules),
        rules,
        ..ServerOptions::new("127.0.0.1:0".parse().unwrap(), "/nowhere/at/all".into())
    };
    change(&mut options);
    Server::start(options).unwrap()
}

fn cluster_of(servers: &Servers, database: &str) -> Cluster {
    let cluster = Cluster::new(&servers.url(database)).unwrap();
    cluster.prepare(&TableOptions::default()).unwrap();
    cluster
}

/// Chains of the last half hour, those of the last three minutes slow, as [`world::live`].
fn fill(cluster: &Cluster) {
    fill_with(cluster, |begin_ns| minutes(begin_ns, 0..30, 27..30).collect());
}

/// The same of other chains, as [`world::live_with`].
fn fill_with(cluster: &Cluster, chains: impl Fn(i64) -> Vec<Chain>) {
    let begin_ns = (clock::utc_now_ns() / MINUTE_NS - 30) * MINUTE_NS;
    let rows = rows_of(chains(begin_ns).into_iter());
    let ingest = Ingest::into_cluster(ClusterWriter::new(cluster.clone()));
    ingest.take(RowSource::Keyed(1), &rows, &names(), &[]).unwrap();
}

fn await_that<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let ends_ns = clock::monotonic_ns() + u64::try_from(WITHIN.as_nanos()).unwrap();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(clock::monotonic_ns() < ends_ns, "it did not come");
        clock::sleep(Duration::from_millis(100));
    }
}

fn get(server: &Server, path: &str) -> Value {
    let (status, body) = asked(server, "GET", path, "");
    assert_eq!(status, 200, "{path}: {body}");
    body
}

/// What two answers of `/now` have in common that were given one after the other.
fn comparable(now: &Value) -> Value {
    let mut now = now.clone();
    for key in ["at_ns", "as_of_ns"] {
        now.as_object_mut().unwrap().remove(key);
    }
    now
}

#[test]
fn now_is_the_same_as_of_files_and_from_every_collector() {
    let Some(mut servers) = Servers::start(2) else { return };
    let cluster = cluster_of(&servers, "now");
    let limit = "[[limit]]\nroot = 'A::in'\nleaf = 'B::out'\nlimit = '10ms'\n";
    let files = world::live(true, limit);
    fill(&cluster);
    let (one, other) = (serve(&cluster, limit), serve(&cluster, limit));
    await_that(|| get(&one, "now")["live"].as_bool()?.then_some(()));
    let now = get(&one, "now?window_s=3600");
    let of_files = files.answer("now?window_s=3600");
    assert_eq!(now["applications"], of_files["applications"], "{now}\n{of_files}");
    assert_eq!(now["alarms"].as_array().map(Vec::len), Some(2), "slow, and above the limit: {now}");
    assert_eq!(comparable(&now), comparable(&get(&other, "now?window_s=3600")));
    let status = get(&other, "status");
    assert_eq!(status["collectors"].as_array().map(Vec::len), Some(2), "{status}");
    assert_eq!(status["collector"]["running"], true);
    let worst = |server: &Server| get(server, "worst?n=3")["classes"].clone();
    assert_eq!(worst(&one), files.answer("worst?n=3")["classes"]);
    // Without a shard there is no answer, and never a short one.
    servers.kill(1);
    let (status, body) = await_that(|| {
        let answer = asked(&one, "GET", "now", "");
        (answer.0 != 200).then_some(answer)
    });
    assert!(status >= 500 && body["error"].as_str().unwrap().contains(&servers.name(1)), "{body}");
}

/// In the last three minutes every second chain is slow, on the host `slow`.
#[test]
fn the_attribute_of_the_slow_is_named_as_of_files() {
    let Some(servers) = Servers::start(2) else { return };
    let cluster = cluster_of(&servers, "cause");
    let chains = |begin_ns| -> Vec<Chain> {
        let of_minutes = minutes(begin_ns, 0..30, 27..30).map(|chain| {
            let on_slow = chain.wait_ns > 1_000_000 && chain.id % 2 == 0;
            Chain { on_slow, wait_ns: if on_slow { chain.wait_ns } else { 100_000 }, ..chain }
        });
        of_minutes.collect()
    };
    let limit = "[[limit]]\nroot = 'A::in'\nleaf = 'B::out'\nlimit = '10ms'\n";
    fill_with(&cluster, chains);
    let server = serve(&cluster, limit);
    await_that(|| get(&server, "now")["live"].as_bool()?.then_some(()));
    let of_limit = |now: &Value| {
        let alarms = now["alarms"].as_array().unwrap().iter();
        let of_limit = alarms.filter(|alarm| alarm["kind"] == "limit");
        of_limit.map(|alarm| (alarm["attribute"].clone(), alarm["sentence"].clone())).next()
    };
    let now = get(&server, "now");
    let found = of_limit(&now).unwrap_or_else(|| panic!("no limit is broken: {now}"));
    assert_eq!(found.0, "host.name=slow", "{found:?}");
    assert!(found.1.as_str().unwrap().contains("100 % of the slow"), "{found:?}");
    let files = world::live_with(true, limit, chains, |options| {
        options.limits = Limit::of_rules(&options.rules.rules);
    });
    assert_eq!(of_limit(&files.answer("now")).unwrap(), found);
}

/// A file that the page sends: into the shards, once, with a token that may write.
#[test]
fn a_file_is_imported_once() {
    let Some(servers) = Servers::start(2) else { return };
    let cluster = cluster_of(&servers, "imported");
    let dir = tempfile::tempdir().unwrap();
    let mut tokens = Tokens::default();
    let [ops, eye] = [("ops", true), ("eye", false)].map(|(name, write)| {
        let token = tokens.add(name, Rights { read: true, write }).unwrap();
        token.secret().to_owned()
    });
    let file = dir.path().join("tokens");
    tokens.write(&file).unwrap();
    let server = serve_with(&cluster, "", |options| options.tokens = Some(file));
    let send = |line: &str, token: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\ncontent-length: {}\r\n\
             authorization: Bearer {token}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        world::received(stream)
    };
    let import = |token: &str, body: &str| {
        send("POST /api/v1/data/import?name=day.csv", token, body.as_bytes())
    };
    // A day: more minutes than senders may bring at once.
    let head = "application,class,host,process,start,elapsed_ns,id,parent,chain_high,chain_low\r\n";
    let rows = (0..1440_i64).map(|minute| {
        let start_ns = world::BEGIN_NS + minute * MINUTE_NS;
        format!("X,a,h,7,{start_ns},5,{},0,0,{}\r\n", 1 + minute, 1 + minute)
    });
    let day: String = std::iter::once(head.to_owned()).chain(rows).collect();
    assert_eq!(import(&eye, &day).0, 403);
    let (status, refused) = import(&ops, "not a file");
    assert_eq!(status, 400, "{refused}");
    let count = || -> u64 {
        let count = |index| servers.sql(index, "SELECT count() FROM imported.transactions");
        [0, 1].map(|index| count(index).parse::<u64>().unwrap()).iter().sum()
    };
    assert_eq!(count(), 0);
    for (rows, rows_before) in [(1440, 0), (0, 1440)] {
        let (status, body) = import(&ops, &day);
        assert_eq!((status, &body["rows"]), (200, &rows.into()), "{body}");
        assert_eq!((&body["rows_before"], &body["format"]), (&rows_before.into(), &"csv".into()));
        assert_eq!(count(), 1440);
    }
    let (_, marks) = send("GET /api/v1/marks", &ops, b"");
    assert_eq!(marks["marks"].as_array().unwrap().len(), 1, "{marks}");
    assert_eq!(marks["marks"][0]["text"], "1440 rows imported from day.csv");
    assert_eq!(marks["marks"][0]["by"], "ops");
    let (_, classes) = send("GET /api/v1/classes", &ops, b"");
    assert_eq!(classes["classes"][0]["count"], 1440, "{classes}");
    // Its programs deliver nothing more.
    let delivered = "SELECT count() FROM imported.deliveries WHERE until_ns = 9223372036854775807";
    assert_ne!(servers.sql(0, delivered), "0");
}

#[test]
fn what_is_noted_at_one_collector_is_there_at_the_other() {
    let Some(servers) = Servers::start(1) else { return };
    let cluster = cluster_of(&servers, "marks");
    let (one, other) = (serve(&cluster, ""), serve(&cluster, ""));
    let (status, mark) =
        asked(&one, "POST", "marks", "{\"text\": \"v2\\tof\\nall\", \"at_ns\": 7}");
    assert_eq!(status, 400, "a control character is refused: {mark}");
    let (status, mark) = asked(&one, "POST", "marks", "{\"text\": \"v2 of \\\\ 'all'\"}");
    assert_eq!(status, 200, "{mark}");
    assert_eq!(get(&other, "marks")["marks"], Value::Array(vec![mark.clone()]));
    assert_eq!(asked(&other, "DELETE", &format!("marks/{}", mark["id"]), "").0, 204);
    assert_eq!(get(&one, "marks")["marks"], Value::Array(Vec::new()));
    assert_eq!(asked(&one, "DELETE", &format!("marks/{}", mark["id"]), "").0, 404);
    let view = "{\"name\": \"mine\", \"address\": \"/histogram?root=a\"}";
    assert_eq!(asked(&one, "POST", "views", view).0, 200);
    assert_eq!(get(&other, "views")["views"][0]["name"], "mine");
}

/// The keys of the requests that come to an address, with their changes.
fn receive() -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (send, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut text = Vec::new();
            let body: Value = loop {
                let mut part = [0; 4096];
                let read = stream.read(&mut part).unwrap();
                text.extend_from_slice(&part[..read]);
                let whole = String::from_utf8_lossy(&text).into_owned();
                let Some((_, body)) = whole.split_once("\r\n\r\n") else { continue };
                if let Ok(body) = serde_json::from_str(body) {
                    break body;
                }
            };
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            let word = |key: &str| body[key].as_str().unwrap().to_owned();
            if send.send((word("key"), word("change"))).is_err() {
                return;
            }
        }
    });
    (url, received)
}

#[test]
fn an_alarm_is_told_once_however_many_collectors_judge_it() {
    let Some(servers) = Servers::start(1) else { return };
    let cluster = cluster_of(&servers, "alarms");
    fill(&cluster);
    let (url, received) = receive();
    let file = format!("{RULE}[[notify]]\nwebhook = '{url}'");
    let (one, other) = (serve(&cluster, &file), serve(&cluster, &file));
    let (key, change) = received.recv_timeout(WITHIN).unwrap();
    assert_eq!(change, "fired");
    // Both show it, whichever of them told it.
    for server in [&one, &other] {
        await_that(|| (get(server, "rules")["rules"][0]["state"] == "firing").then_some(()));
    }
    let told =
        || servers.sql(0, "SELECT count() FROM alarms.alarms FINAL WHERE kind = 'transition'");
    assert_eq!(told(), "1");
    // An acknowledgement at one is one at both.
    let (status, body) = asked(&other, "POST", "rules/acknowledge", "{\"rule\": \"half hour\"}");
    assert_eq!(status, 200, "{body}");
    await_that(|| get(&one, "rules")["rules"][0]["acknowledged"].is_object().then_some(()));
    // Whoever is left goes on, and tells nothing anew.
    one.stop();
    assert!(received.recv_timeout(Duration::from_secs(15)).is_err(), "{key} was told");
    assert_eq!(get(&other, "rules")["rules"][0]["state"], "firing");
    assert_eq!(told(), "1");
    drop(other);
}

#[test]
fn a_server_of_files_has_no_collectors() {
    let world = World::new();
    assert_eq!(world.answer("status")["collectors"], Value::Array(Vec::new()));
}
