//! Remote write into a real Prometheus.

use crate::world::{NATIVE, Prometheus, RECEIVER, Server, World, has, wait_until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

const NOTHING: &str = "scrape_configs: []\n";
const ANSWERS: &str = "chronoscope_transactions_total{application=\"hops\",class=\"answer\"}";

impl World {
    /// A collector that sends each second.
    fn sending(&self, to: &str, args: &[&str]) -> Server {
        let url = format!("http://{to}/api/v1/write");
        let sends = ["--remote-write", &url, "--remote-write-every", "1s"];
        self.serve(&[&sends[..], args].concat())
    }
}

fn lost(server: &Server) -> f64 {
    server.value("chronoscope_remote_write_lost_samples_total")
}

#[test]
fn metrics_arrive_and_survive_a_restart_of_the_receiver() {
    if !has("prometheus") {
        return;
    }
    let world = World::new();
    let flags = [NATIVE, RECEIVER];
    let receiver = world.prometheus(NOTHING, &flags);
    let address = receiver.address.clone();
    let args = ["--remote-write-native", "--remote-write-label", "zone=tower"];
    let server = world.sending(&address, &args);
    world.make_chains(300);
    receiver.wait_for(ANSWERS, 300.0);
    let [series] = &receiver.series(ANSWERS)[..] else { panic!("one") };
    assert_eq!(
        (&series["metric"]["job"], &series["metric"]["zone"]),
        (&"chronoscope".into(), &"tower".into())
    );
    assert!(series["metric"]["instance"].is_string(), "{series}");
    let chains = "chronoscope_chain_duration_seconds{leaf=\"hops::answer\"}";
    receiver.wait_for(&format!("histogram_count({chains})"), 300.0);
    receiver.wait_for("chronoscope_chain_duration_seconds_count{leaf=\"hops::answer\"}", 300.0);
    // A Prometheus takes exemplars of series that it has: with the second request.
    wait_until("an exemplar has arrived", || !receiver.exemplars(chains).is_empty());
    let exemplar = receiver.exemplars(chains).remove(0);
    let id = exemplar["labels"]["chain_id"].as_str().unwrap();
    assert_eq!(world.json(&["chain", id, "--json"])["transactions"].as_array().unwrap().len(), 2);

    drop(receiver);
    wait_until("it is missed", || server.value("chronoscope_remote_write_failures_total") > 0.0);
    world.make_chains(200);
    server.wait_for_chains(500.0);
    let waiting = || server.value("chronoscope_remote_write_waiting_samples");
    let before = waiting();
    // Samples with all 500 wait by the time that at least two more intervals have ended.
    let interval = 100.0; // series at least
    wait_until("samples wait", || waiting() > before + 2.0 * interval);
    let away_ns = chronoscope_clock::utc_now_ns();
    let receiver = world.prometheus_at(&address, NOTHING, &flags);
    receiver.wait_for(ANSWERS, 500.0);
    server.wait_for("chronoscope_remote_write_waiting_samples", 0.0);
    assert_eq!(receiver.value_at(ANSWERS, away_ns), Some(500.0), "of while it was away");
    assert_eq!(lost(&server), 0.0, "{}", server.metrics());
    assert_eq!(server.logged("remote_write_waits").len(), 1);
    wait_until("the end is logged", || server.logged("remote_write_over").len() == 1);
    assert!(server.logged("remote_write_over")[0].contains("lost=0"));
}

/// What was counted last is sent at the end.
#[test]
fn the_last_counts_are_sent_when_the_collector_ends() {
    if !has("prometheus") {
        return;
    }
    let world = World::new();
    let receiver = world.prometheus(NOTHING, &[RECEIVER]);
    let url = format!("http://{}/api/v1/write", receiver.address);
    let server = world.serve(&["--remote-write", &url, "--remote-write-every", "1h"]);
    receiver.wait_for("chronoscope_running", 1.0);
    world.make_chains(50);
    server.wait_for_chains(50.0);
    server.terminate();
    receiver.wait_for(ANSWERS, 50.0);
}

/// A receiver that does not receive: a Prometheus without the flag answers 404.
#[test]
fn refused_samples_are_counted_and_said() {
    if !has("prometheus") {
        return;
    }
    let world = World::new();
    let receiver = world.prometheus(NOTHING, &[]);
    let server = world.sending(&receiver.address, &[]);
    wait_until("samples are refused", || {
        server.value("chronoscope_remote_write_lost_samples_total{reason=\"refused\"}") > 100.0
    });
    assert_eq!(server.value("chronoscope_remote_write_samples_total"), 0.0);
    let [line] = &server.logged("remote_write_refused")[..] else { panic!("said once") };
    assert!(line.contains("answers 404"), "{line}");
}

/// A receiver that asks for a name and a password.
#[test]
fn headers_go_with_each_request() {
    if !has("prometheus") {
        return;
    }
    let world = World::new();
    // bcrypt of "radar"
    let users = "basic_auth_users:\n  tower: $2b$04$xNQ68aWtcJpOJaUKO35GRu0itY9MuJSYSVTfHdZJMSwxhWoNSOf3q\n";
    let users = world.write("web.yml", users);
    let flag = format!("--web.config.file={users}");
    let mut receiver: Prometheus = world.prometheus(NOTHING, &[RECEIVER, &flag]);
    let basic = "Basic dG93ZXI6cmFkYXI="; // tower:radar
    receiver.authorization = Some(basic.to_owned());
    let headers = world.write("headers", &format!("# of the receiver\nAuthorization: {basic}\n"));
    let server = world.sending(&receiver.address, &["--remote-write-headers", &headers]);
    receiver.wait_for("chronoscope_running", 1.0);
    assert_eq!(lost(&server), 0.0);
}

/// The head of a request as the specification wants it, with a token that is replaced meanwhile.
#[test]
fn a_token_is_read_for_each_request() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let file = world.write("token", "first\n");
    let _server = world.sending(&address, &["--remote-write-token-file", &file]);
    let mut seen = Vec::new();
    for connection in listener.incoming() {
        let mut connection = connection.unwrap();
        let mut reader = BufReader::new(connection.try_clone().unwrap());
        let head: Vec<String> = reader
            .by_ref()
            .lines()
            .map(|line| line.unwrap().to_ascii_lowercase())
            .take_while(|line| !line.is_empty())
            .collect();
        for expected in [
            "post /api/v1/write http/1.1",
            "content-type: application/x-protobuf",
            "content-encoding: snappy",
            "x-prometheus-remote-write-version: 0.1.0",
        ] {
            assert!(head.iter().any(|line| line == expected), "{expected}: {head:?}");
        }
        let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        connection.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").unwrap();
        seen.extend(head.into_iter().filter(|line| line.starts_with("authorization: ")));
        world.write("token", "second\n");
        if seen.iter().any(|line| line.ends_with("second")) {
            break;
        }
    }
    assert_eq!(seen[0], "authorization: bearer first");
    assert_eq!(seen.last().unwrap(), "authorization: bearer second");
}
