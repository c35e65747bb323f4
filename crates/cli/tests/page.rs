//! The API of the page over a real socket, on what real programs have recorded.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Chains that are recorded: enough for a class to have more than one worst case.
const CHAINS: u64 = 300;

/// A running `chronoscope serve`; killed when dropped.
struct Server {
    child: Child,
    /// `http://ADDRESS:PORT`.
    url: String,
    dir: tempfile::TempDir,
    rings: PathBuf,
}

/// A program, killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Starts it in a folder of its own.
    fn start(arguments: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let rings = dir.path().join("rings");
        std::fs::create_dir(&rings).unwrap();
        prepare(dir.path());
        let mut child = Command::new(env!("CARGO_BIN_EXE_chronoscope"))
            .args(["serve", "--listen", "127.0.0.1:0", "--wait-late", "1s", "--data", "data"])
            .args(arguments)
            .current_dir(dir.path())
            .env("CHRONOSCOPE_DIR", &rings)
            .env("CHRONOSCOPE_DATA", dir.path().join("data"))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines.find_map(|line| {
            let line = line.unwrap();
            Some(line.strip_prefix("the page is at ")?.strip_suffix('/')?.to_owned())
        });
        // What it says later goes nowhere, and must not stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: url.unwrap(), dir, rings }
    }

    /// With the chains of `two_hops` stored.
    fn with_chains(arguments: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let server = Self::start(arguments, prepare);
        assert!(server.two_hops(CHAINS, 0).status().unwrap().success());
        server.until("/status", |status| status["rows"] == 2 * CHAINS);
        server
    }

    /// A program that records so many chains into this host's rings, so many milliseconds apart.
    fn two_hops(&self, chains: u64, pause_ms: u64) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
        let mut hops = Command::new(program.join("two_hops"));
        hops.args([chains.to_string(), pause_ms.to_string()]).stdout(Stdio::null());
        hops.env("CHRONOSCOPE_DIR", &self.rings);
        hops
    }

    /// The first answer to a question that is as it has to be; within 30 s.
    fn until(&self, path: &str, is: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let answer = self.get(path);
            if is(&answer) {
                return answer;
            }
            chronoscope_clock::sleep(Duration::from_millis(50));
        }
        panic!("30 s passed, and {path} answers {}", self.get(path));
    }

    /// An answer's status and body.
    fn answer(&self, path: &str) -> (u16, Value) {
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut response = agent.get(format!("{}/api/v1{path}", self.url)).call().unwrap();
        let body = response.body_mut().read_to_string().unwrap();
        let body = serde_json::from_str(&body).unwrap_or(Value::String(body));
        (response.status().as_u16(), body)
    }

    /// The body of an answer that has to be one.
    fn get(&self, path: &str) -> Value {
        let (status, body) = self.answer(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// The answer to bytes as they are: status line, head and body.
    fn raw(&self, request: &[u8]) -> String {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn page(&self, path: &str, headers: &str) -> String {
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
        self.raw(request.as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The entry of a list whose member has a value.
fn with<'a>(list: &'a Value, member: &str, value: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|entry| entry[member] == value);
    found.unwrap_or_else(|| panic!("no {member} {value} in {list}"))
}

#[test]
fn what_was_recorded_is_shown_from_every_side() {
    let server = Server::with_chains(&[], |_| ());
    let status = server.get("/status");
    assert_eq!((&status["has"]["rings"], &status["has"]["runs"]), (&true.into(), &false.into()));
    assert_eq!(status["collector"]["running"], true);
    assert!(status["covered"]["from_ns"].as_i64() < status["covered"]["until_ns"].as_i64());

    let classes = server.get("/classes");
    let answer = with(&classes["classes"], "name", "hops::answer");
    assert_eq!((&answer["count"], &answer["application"]), (&CHAINS.into(), &"hops".into()));
    // Every hundredth fails.
    assert_eq!(answer["not_good"], CHAINS / 100);

    let paths = server.get("/paths");
    let path = with(&paths["paths"], "leaf", "hops::answer");
    assert_eq!(path["hops"], serde_json::json!(["hops::request", "hops::answer"]));
    assert_eq!((&path["level"], &path["count"]), (&1.into(), &CHAINS.into()));
    assert!(path["p50_ns"].as_u64() <= path["max_ns"].as_u64());

    let graph = server.get("/graph");
    let edge = with(&graph["edges"], "to", "hops::answer");
    assert_eq!((&edge["from"], &edge["count"]), (&"hops::request".into(), &CHAINS.into()));
    assert_eq!(edge["sampled"], false);
    let hosts = with(&graph["nodes"], "id", "hops::answer")["hosts"].as_array().unwrap().len();
    assert_eq!(hosts, 1);
    assert_eq!(server.get("/graph?root=hops::answer")["nodes"], serde_json::json!([]));
}

#[test]
fn the_worst_case_leads_to_its_waterfall_and_its_trace() {
    let server = Server::with_chains(&[], |_| ());
    let worst = server.get("/worst?n=3&class=answer");
    let rows = with(&worst["classes"], "name", "hops::answer")["rows"].as_array().unwrap().clone();
    assert_eq!((rows.len(), worst["classes"].as_array().unwrap().len()), (3, 1));
    let elapsed: Vec<u64> = rows.iter().map(|row| row["elapsed_ns"].as_u64().unwrap()).collect();
    assert!(elapsed.is_sorted_by(|a, b| a >= b), "{elapsed:?}");
    let longest = server.get("/classes")["classes"].clone();
    assert_eq!(with(&longest, "name", "hops::answer")["max_ns"], elapsed[0]);
    let by_cpu = server.get("/worst?class=answer&by=cpu&n=1000");
    let by_cpu =
        with(&by_cpu["classes"], "name", "hops::answer")["rows"].as_array().unwrap().clone();
    let all = server.get("/worst?class=answer&n=1000");
    let all = with(&all["classes"], "name", "hops::answer")["rows"].as_array().unwrap().clone();
    let cpu = |rows: &[serde_json::Value]| -> Vec<u64> {
        rows.iter().map(|row| row["cpu_ns"].as_u64().unwrap()).collect()
    };
    let mut expected = cpu(&all);
    expected.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(cpu(&by_cpu), expected, "the same transactions in another order");
    let first = server.get("/worst?class=answer&by=cpu&n=2");
    assert_eq!(cpu(first["classes"][0]["rows"].as_array().unwrap()), expected[..2]);
    let none = server.get("/worst?hosts=nowhere");
    assert_eq!(none["classes"], serde_json::json!([]));

    let id = rows[0]["chain"].as_str().unwrap();
    for near in [String::new(), format!("?near_ns={}", rows[0]["start_ns"])] {
        let chain = server.get(&format!("/chains/{id}{near}"));
        assert_eq!((&chain["complete"], &chain["missing"]), (&true.into(), &0.into()));
        let [request, answer] = &chain["rows"].as_array().unwrap()[..] else {
            panic!("two rows are expected: {chain}");
        };
        assert_eq!((&request["class"], &answer["class"]), (&"request".into(), &"answer".into()));
        assert_eq!((&answer["parent"], &answer["depth"]), (&request["id"], &1.into()));
        assert_eq!(answer["elapsed_ns"], elapsed[0]);
        // None of its class took longer.
        assert_eq!(answer["percentile"], 100.0);
        let end = answer["start_ns"].as_i64().unwrap() + answer["elapsed_ns"].as_i64().unwrap();
        assert_eq!(chain["apcd_ns"], end);
    }
    let trace = server.get(&format!("/chains/{id}/perfetto"));
    assert!(trace["traceEvents"].as_array().unwrap().len() >= 2);
    let (status, refusal) = server.answer("/chains/0123456789abcdef");
    assert_eq!(
        (status, &refusal["error"]),
        (404, &"no chain 00000000000000000123456789abcdef".into())
    );
}

#[test]
fn now_counts_the_window_and_holds_it_against_limits() {
    let limits = "[[limit]]\nclass = 'hops::answer'\nlimit_ns = 1\n\
        [[limit]]\nclass = 'request'\nlimit_ns = 3_600_000_000_000\n";
    let server = Server::with_chains(&["--limits", "limits.toml"], |dir| {
        std::fs::write(dir.join("limits.toml"), limits).unwrap();
    });
    let now = server.get("/now?window_s=3600");
    assert_eq!((&now["live"], &now["window_s"]), (&true.into(), &3600.into()));
    let hops = with(&now["applications"], "application", "hops");
    assert_eq!(hops["lost_rows"], 0);
    let [answer, request] = ["answer", "request"].map(|name| with(&hops["classes"], "class", name));
    assert_eq!((&answer["count"], &request["count"]), (&CHAINS.into(), &CHAINS.into()));
    assert_eq!(
        (&answer["limit"]["holds"], &answer["limit"]["limit_ns"]),
        (&false.into(), &1.into())
    );
    assert_eq!((&request["limit"]["holds"], &request["limit"]["above"]), (&true.into(), &0.into()));
}

#[test]
fn a_ring_is_shown_while_its_program_records() {
    let server = Server::start(&[], |_| ());
    let program = Running(server.two_hops(1_000_000, 2).spawn().unwrap());
    let is_there = |rings: &Value| !rings["rings"].as_array().unwrap().is_empty();
    let rings = server.until("/rings", is_there);
    let ring = with(&rings["rings"], "application", "hops");
    assert_eq!((&ring["process"], &ring["alive"]), (&program.0.id().into(), &true.into()));
    let path = format!("/rings/{}?last=5", ring["id"].as_str().unwrap());
    let count = |ring: &Value| ring["ring"]["recorded"].as_u64().unwrap();
    let before = server.until(&path, |ring| count(ring) >= 20);
    let after = server.until(&path, |ring| count(ring) > count(&before));
    assert_eq!(after["last"].as_array().unwrap().len(), 5);
    let answer = with(&after["classes"], "class", "hops::answer");
    assert!(answer["p50_ns"].as_u64() <= answer["max_ns"].as_u64(), "{answer}");
    drop(program);
    let ended = server.until(&path, |ring| ring["ring"]["alive"] == false);
    assert!(count(&ended) >= count(&after), "what it has recorded is still there: {ended}");
}

#[test]
fn hosts_show_what_was_measured_beside_what_was_predicted() {
    let topology = "[types]\npc = { kind = 'host', delay_us = 60_000 }\n\
        ring = { kind = 'link', rate_bits = 4_000_000 }\n[segments]\nPCR = { type = 'ring' }\n\
        [hosts]\nhere = { type = 'pc', segment = 'PCR', address = 'ADDRESS' }\n";
    let server = Server::start(&[], |_| ());
    assert_eq!(server.get("/hosts")["paths"], serde_json::json!([]));
    let net = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.arg("net").args(arguments).current_dir(server.dir.path());
        command.env("CHRONOSCOPE_DIR", &server.rings);
        command
    };
    let answers = ["answer", "--json", "--duration", "2min"];
    let mut answers = Running(net(&answers).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(answers.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    let topology = topology.replace("ADDRESS", said["answer"]["listen"].as_str().unwrap());
    std::fs::write(server.dir.path().join("net.toml"), topology).unwrap();
    let watch = [
        "watch",
        "--topology",
        "net.toml",
        "--data",
        "data",
        "--every",
        "5ms",
        "--window",
        "5",
        "--duration",
        "500ms",
    ];
    let output = net(&watch).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let hosts = server.until("/hosts", |hosts| {
        hosts["paths"].as_array().unwrap().iter().any(|path| !path["predicted_p50_ns"].is_null())
    });
    let path = &hosts["paths"][0];
    assert_eq!(path["path"], "here by udp, 64 octets → here");
    // Two hosts of 60 ms were entered; loopback is quicker.
    assert!(path["predicted_p50_ns"].as_u64() >= Some(60_000_000), "{path}");
    assert!(path["measured_p50_ns"].as_u64() < path["predicted_p50_ns"].as_u64(), "{path}");
    assert!(path["verdict"].as_str().unwrap().contains("below the prediction"), "{path}");
    assert_eq!(hosts["round_trips"][0]["host"], "here");

    let predictions = |classes: &Value| {
        with(&classes["classes"], "class", "prediction")["count"].as_u64().unwrap()
    };
    let before = predictions(&server.get("/classes"));
    let predict = [
        "predict",
        "--topology",
        "net.toml",
        "--from",
        "here",
        "--to",
        "here",
        "--size",
        "100",
        "--keep",
        "--data",
        "data",
    ];
    let output = net(&predict).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    server.until("/classes", |classes| predictions(classes) == before + 1);
}

#[test]
fn what_is_not_known_is_refused_in_words() {
    let server = Server::start(&[], |_| ());
    for (path, status) in [
        ("/classes?form_ns=1", 400),
        ("/classes?from_ns=x", 400),
        ("/classes?from_ns=1&from_ns=2", 400),
        ("/classes?question=UPPER", 400),
        ("/classes?from_ns=99999999999999999999", 400),
        ("/worst?n=0", 400),
        ("/worst?n=1001", 400),
        ("/worst?by=size", 400),
        ("/worst?kind=fastest", 400),
        ("/now?window_s=0", 400),
        ("/chains/xyz", 400),
        ("/chains/%ff", 400),
        ("/rings/123?last=10001", 400),
        ("/rings/123", 404),
        ("/questions/NONE", 400),
        ("/runs/diff?a=..%2F..%2Fetc&b=x", 404),
        ("/runs/diff?a=x", 400),
        ("/nothing", 404),
    ] {
        let (answered, body) = server.answer(path);
        assert_eq!(answered, status, "{path}: {body}");
        assert!(body["error"].is_string(), "{path}: {body}");
    }
    for path in ["/runs", "/runs/history", "/rings"] {
        assert!(server.get(path).is_object(), "{path}");
    }
    assert!(
        server
            .raw(b"POST /api/v1/status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 405")
    );
    assert!(server.raw(b"\x00\xff\r\n\r\n").starts_with("HTTP/1.1 400"));
    assert_eq!(server.answer("/status").0, 200, "it is still there");
}

#[test]
fn a_token_guards_what_is_stored_and_not_the_page() {
    let server = Server::start(&["--token-file", "token"], |dir| {
        std::fs::write(dir.join("token"), "sesame").unwrap();
    });
    for path in ["/status", "/classes", "/rings", "/questions/a", "/nothing"] {
        let (status, body) = server.answer(path);
        assert_eq!(status, 401, "{path}: {body}");
    }
    assert_eq!(server.answer("/openapi.json").0, 200);
    let with_token = server.page("/api/v1/status", "authorization: Bearer sesame\r\n");
    assert!(with_token.starts_with("HTTP/1.1 200"), "{with_token}");
    for path in ["/", "/scatter", "/chain/0123"] {
        let page = server.page(path, "").to_ascii_lowercase();
        assert!(page.starts_with("http/1.1 200") && page.contains("<!doctype html>"), "{page}");
        assert!(page.contains("content-security-policy: default-src 'none'"), "{page}");
        assert!(page.contains("x-content-type-options: nosniff"), "{page}");
    }
    for path in ["/api/v2/status", "/assets/../../etc/passwd", "/nothing.js"] {
        assert!(server.page(path, "").starts_with("HTTP/1.1 404"), "{path}");
    }
}

/// Schemathesis asks what the description of the API allows, and what it does not, and looks
/// whether each answer is one that the description has.
#[test]
fn no_request_gets_an_answer_that_the_description_does_not_have() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let venv = Command::new(top.join("tools/venv")).arg("schemathesis").output().unwrap();
    if !venv.status.success() {
        eprintln!("SKIPPED: the API is not asked by schemathesis: tools/venv cannot have it");
        return;
    }
    let python = String::from_utf8(venv.stdout).unwrap();
    let server = Server::with_chains(&[], |_| ());
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,\
                  response_schema_conformance";
    let output = Command::new(python.trim())
        .args(["-m", "schemathesis.cli", "run", &format!("{}/api/v1/openapi.json", server.url)])
        .args(["--url", &format!("{}/api/v1", server.url)])
        .args(["--checks", checks])
        .args(["--phases", "examples,coverage,fuzzing", "--max-examples", "40"])
        .args(["--seed", "8", "--generation-deterministic", "--no-color"])
        .current_dir(server.dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("/chains/{chain}") || said.contains("passed"), "{said}");
}
