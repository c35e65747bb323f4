//! The web side over real sockets, with an engine behind it that a thread of the test drives.

use super::{Http, Ports, Series};
use crate::callsign::Callsign;
use crate::config::{Config, Listener, PortKind, Protocol, TlsFiles};
use crate::engine::{Close, ConnId, DatagramPort, Identity, LogLevel, Output, Server};
use crate::status::StatusSnapshot;
use serde_json::Value;
use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A server without clients, with a port for each protocol.
pub(super) fn server() -> Arc<Server> {
    let mut config = Config::new(Callsign::new(b"TESTING").unwrap());
    config.my_admin = "Ada, N0CALL".into();
    config.workers = 1;
    let port = |name: &str, kind, protocol, port| Listener {
        name: name.into(),
        kind,
        protocol,
        address: SocketAddr::from(([127, 0, 0, 1], port)),
        filter: None,
        clients_max: 200,
        acl: None,
        hidden: false,
        tls: None,
    };
    config.listeners = vec![
        Arc::new(port("Full \"feed\"\\", PortKind::FullFeed, Protocol::Tcp, 10152)),
        Arc::new(port("In a browser", PortKind::Igate, Protocol::WebSocket, 14581)),
    ];
    let identity = Identity { software: "aprs-server".into(), version: "1".into() };
    Server::new(Arc::new(config), 1, identity, crate::clock::now())
}

/// Its counters, all 0.
pub(super) fn snapshot() -> StatusSnapshot {
    server().status(crate::clock::now())
}

/// Output of an engine whose clients nobody reads.
struct Nowhere;

impl Output for Nowhere {
    fn write(&mut self, _: ConnId, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(slices.iter().map(|slice| slice.len()).sum())
    }
    fn unacknowledged(&mut self, _: ConnId) -> usize {
        0
    }
    fn send(&mut self, _: DatagramPort, _: SocketAddr, _: &[u8]) {}
    fn close(&mut self, _: ConnId, _: Close, _: &str) {}
    fn log(&mut self, _: LogLevel, _: std::fmt::Arguments<'_>) {}
}

/// The web side with an engine behind it.
struct Site {
    http: Option<Http>,
    server: Arc<Server>,
    status: SocketAddr,
    upload: SocketAddr,
    websocket: SocketAddr,
    /// Streams of WebSocket clients, as the sockets' side would get them.
    adopted: Arc<Mutex<Vec<(UnixStream, String)>>>,
    /// Clients that were cut for their slowness.
    cuts: Arc<AtomicUsize>,
    ended: Arc<AtomicBool>,
    worker: Option<JoinHandle<()>>,
}

impl Site {
    fn start() -> Self {
        let server = server();
        let ended = Arc::new(AtomicBool::new(false));
        let worker = drive(&server, &ended);
        let mut site = Self::without_worker(server);
        (site.ended, site.worker) = (ended, Some(worker));
        site
    }

    fn without_worker(server: Arc<Server>) -> Self {
        let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
        let (status, upload, websocket) = (bind(), bind(), bind());
        let [at_status, at_upload, at_websocket] =
            [&status, &upload, &websocket].map(|listener| listener.local_addr().unwrap());
        let ports = Ports {
            status: vec![status],
            upload: vec![upload],
            websocket: vec![(Arc::clone(&server.config().listeners[1]), websocket)],
            web_dir: None,
        };
        let adopted = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&adopted);
        let cuts = Arc::new(AtomicUsize::new(0));
        let cut = Arc::clone(&cuts);
        let adopt = Box::new(move |stream, listener: &Listener, _, _| {
            taken.lock().unwrap().push((stream, listener.name.clone()));
            let cut = Arc::clone(&cut);
            let was_cut: super::WasCut = Box::new(move || _ = cut.fetch_add(1, Ordering::Relaxed));
            Ok(was_cut)
        });
        let http = Http::start(ports, Arc::clone(&server), adopt, Series::default()).unwrap();
        Self {
            http: Some(http),
            server,
            status: at_status,
            upload: at_upload,
            websocket: at_websocket,
            adopted,
            cuts,
            ended: Arc::default(),
            worker: None,
        }
    }

    fn get(&self, path: &str) -> Answer {
        ask(
            self.status,
            &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
        )
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.head);
        assert!(answer.head.contains("application/json"), "{}", answer.head);
        serde_json::from_slice(&answer.body).unwrap()
    }

    fn post(&self, headers: &str, body: &str) -> Answer {
        let request = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: \
             {}\r\n\r\n{body}",
            body.len()
        );
        ask(self.upload, &request)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        self.http.take().unwrap().stop();
        if let Some(worker) = self.worker.take() {
            worker.join().unwrap();
        }
    }
}

/// Runs a server's only worker until told to end.
fn drive(server: &Arc<Server>, ended: &Arc<AtomicBool>) -> JoinHandle<()> {
    let mut worker = server.worker(0, Box::new(|| {}));
    let ended = Arc::clone(ended);
    std::thread::spawn(move || {
        while !ended.load(Ordering::Relaxed) {
            worker.mail(crate::clock::now(), &mut Nowhere);
            chronoscope_clock::sleep(Duration::from_millis(1));
        }
    })
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn ask(address: SocketAddr, request: &str) -> Answer {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head, body: bytes[end + 4..].to_vec() }
}

/// Every name that the Munin plug-in, and the tables of aprsc's own page, ask for.
#[test]
fn status_json_has_the_names_that_tools_ask_for() {
    let site = Site::start();
    let status = site.json("/status.json");
    let of = |object: &Value, names: &str| {
        for name in names.split(' ') {
            assert!(!object[name].is_null(), "{name} is missing in {object}");
        }
    };
    of(&status, "server memory historydb dupecheck totals listeners workers uplinks peers clients");
    of(&status, "rx_errs");
    assert_eq!(status["alarms"].as_array().map(Vec::len), Some(0), "an array even if it is empty");
    of(&status["server"], "server_id admin software software_version uptime tick_now time_now");
    of(&status["server"], "time_started t_now t_started os software_build_features");
    of(&status["server"], "software_build_time software_build_user q_protocol_id");
    of(&status["server"], "disallow_other_q_protocols");
    of(&status["workers"][0], "id clients pbuf_incoming_count pbuf_incoming_local_count");
    assert_eq!(status["server"]["server_id"], "TESTING");
    for protocol in ["tcp", "udp", "sctp"] {
        for what in ["pkts_rx", "pkts_tx", "bytes_rx", "bytes_tx", "pkts_ign", "rx_errs"] {
            of(&status["totals"], &format!("{protocol}_{what}"));
        }
        of(&status["totals"], &format!("{protocol}_bytes_rx_rate {protocol}_bytes_tx_rate"));
    }
    of(&status["totals"], "clients clients_max connects bytes_rx_rate bytes_tx_rate");
    of(&status["dupecheck"], "dupes_dropped uniques_out variations");
    let port = &status["listeners"][0];
    of(port, "fd id name proto addr clients clients_peak clients_max connects bytes_rx bytes_tx");
    of(port, "pkts_rx pkts_tx pkts_ign pkts_dup rx_errs");
    assert_eq!((&port["proto"], &port["addr"]), (&"tcp".into(), &"127.0.0.1:10152".into()));
    let reasons = status["rx_errs"].as_array().unwrap();
    assert_eq!(reasons[0], "unknown");
    assert_eq!(port["rx_errs"].as_array().unwrap().len(), reasons.len());
    let memory = status["memory"].as_object().unwrap();
    // The plug-in's three graphs of memory have a line for each table with cells.
    let tables: Vec<&str> =
        memory.keys().filter_map(|key| key.strip_suffix("_cells_used")).collect();
    for known in ["historydb", "dupecheck", "client", "client_heard", "client_courtesy"] {
        assert!(tables.contains(&known), "{known} is not among {tables:?}");
    }
    for table in tables {
        for what in ["cells_used", "used_bytes", "allocated_bytes"] {
            let value = &memory[&format!("{table}_{what}")];
            assert!(value.is_u64(), "{table}_{what} is {value}");
        }
    }
}

#[test]
fn the_page_and_its_parts_come_whole_and_compressed() {
    let site = Site::start();
    for (path, begins) in [("/", "<!doctype html>"), ("/status.js", "//"), ("/status.css", ":root")]
    {
        let plain = site.get(path);
        assert_eq!(plain.status, 200);
        assert!(plain.text().starts_with(begins), "{path}");
        let head =
            "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n";
        let packed = ask(site.status, &format!("GET {path} {head}"));
        assert!(packed.head.contains("content-encoding: gzip"), "{}", packed.head);
        let mut text = String::new();
        flate2::read::GzDecoder::new(&*packed.body).read_to_string(&mut text).unwrap();
        assert_eq!(text, plain.text());
    }
    assert_eq!(site.get("/nothing").status, 404);
    assert_eq!(site.get("/motd.html").status, 404);
}

#[test]
fn counterdata_knows_its_names_only() {
    let site = Site::start();
    let series = site.json("/counterdata?totals.tcp_bytes_rx");
    assert_eq!(series["interval"], 60);
    assert_eq!(series["values"].as_array().unwrap().len(), 1, "the first sample is at the start");
    assert_eq!(site.json("/counterdata?totals.clients")["gauge"], 1);
    assert_eq!(site.get("/counterdata?totals.nothing").status, 400);
    assert_eq!(site.get("/counterdata").status, 400);
}

#[test]
fn a_worker_that_does_not_answer_is_a_fault_and_does_not_stop_the_page() {
    let site = Site::without_worker(server());
    let status = site.json("/status.json");
    assert_eq!(status["faults"][0]["name"], "worker_silent");
    assert_eq!(status["alarms"][0]["err"], "worker_silent");
    assert!(status["workers"][0]["clients"].is_null());
    // Once it answers, the fault is over.
    let worker = drive(&site.server, &site.ended);
    let over = (0..100).any(|_| {
        chronoscope_clock::sleep(Duration::from_millis(50));
        site.json("/status.json")["faults"].as_array().unwrap().is_empty()
    });
    site.ended.store(true, Ordering::Relaxed);
    worker.join().unwrap();
    assert!(over);
}

#[test]
fn an_upload_has_to_be_one() {
    let site = Site::start();
    let octets = "Content-Type: application/octet-stream\r\n";
    let packet = "user N0CALL pass -1 vers t 1\r\nN0CALL>APRS,TCPIP*:>x\r\n";
    let refused = |answer: Answer, words: &str| {
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(answer.text().contains(words), "{}", answer.text());
    };
    refused(site.post("", packet), "content-type");
    refused(site.post("Content-Type: text/plain\r\n", packet), "content-type");
    refused(site.post(octets, "no line end"), "newline");
    refused(site.post(octets, &"x\n".repeat(1025)), "too large");
    let chunked = "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: \
                   application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    refused(ask(site.upload, chunked), "content-length");
    assert_eq!(ask(site.upload, "GET / HTTP/1.0\r\n\r\n").status, 405);
    assert_eq!(ask(site.upload, "POST /elsewhere HTTP/1.0\r\n\r\n").status, 404);
}

#[test]
fn what_is_no_http_is_answered_and_cut() {
    let site = Site::start();
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    for request in ["user N0CALL pass -1\r\n\r\n", "\0\0\0\0\r\n\r\n", &long] {
        let mut stream = connect(site.status);
        // The server may have closed before all is written.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes); // or reset, because it did not read the rest
        assert!(bytes.is_empty() || bytes.starts_with(b"HTTP/1.1 4"), "{bytes:?}");
    }
    assert_eq!(site.get("/status.json").status, 200);
}

#[test]
fn why_is_answered_and_asked_for() {
    let site = Site::start();
    let answer = site.json("/why?call=n0call-7");
    assert_eq!(answer["call"], "N0CALL-7");
    assert_eq!(answer["recent"], Value::Array(Vec::new()));
    assert_eq!(site.json("/why")["call"], "");
    let text = super::words(&super::why(&site.status.to_string(), "OH7LZB").unwrap(), 0);
    assert!(text.starts_with("OH7LZB: nothing of it was dropped"), "{text}");
    let error = super::why(&site.upload.to_string(), "OH7LZB").unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
}

/// The interpreter of a Python environment of `tools/python`; `None`, said aloud, where it cannot
/// be had.
fn python(environment: &str) -> Option<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let venv = Command::new(top.join("tools/venv")).arg(environment).output();
    let venv = venv.ok().filter(|output| output.status.success());
    if venv.is_none() {
        eprintln!("SKIPPED: tools/venv {environment} cannot be had, so its client is not asked");
    }
    Some(String::from_utf8(venv?.stdout).unwrap().trim().to_owned())
}

/// Output of a script.
fn run(python: &str, script: &str, input: &str) -> String {
    let mut child = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "see stderr");
    String::from_utf8(output.stdout).unwrap()
}

const METRICS_SCRIPT: &str = r#"
import sys
from prometheus_client.parser import text_string_to_metric_families
seen, families = set(), set()
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.name not in families, family.name
    families.add(family.name)
    assert family.documentation and family.type in ("counter", "gauge"), family
    assert family.samples, family.name
    for sample in family.samples:
        key = (sample.name, tuple(sorted(sample.labels.items())))
        assert key not in seen, key
        seen.add(key)
        assert sample.name.endswith("_total") == (family.type == "counter"), sample
        if sample.labels.get("port", "").startswith("Full"):
            assert sample.labels["port"] == 'Full "feed"\\', sample
    print(family.name)
"#;

/// Prometheus's own parser reads the metrics, and finds what its conventions ask for.
#[test]
fn prometheus_reads_the_metrics() {
    let Some(python) = python("prometheus-client") else { return };
    let site = Site::start();
    let page = site.get("/metrics");
    assert!(page.head.contains("text/plain; version=0.0.4"), "{}", page.head);
    let names = run(&python, METRICS_SCRIPT, page.text());
    for name in ["aprs_clients", "aprs_dropped_packets", "aprs_port_clients", "process_cpu_seconds"]
    {
        assert!(names.lines().any(|line| line == name), "{name} is not in {names}");
    }
}

const WEBSOCKET_SCRIPT: &str = r#"
import sys, websocket
ws = websocket.create_connection("ws://" + sys.stdin.read(), timeout=20)
ws.send("user N0CALL pass -1 vers script 1\r\n#filter r/60/25/100")
ws.ping("alive?")
kinds = {1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}
while True:
    kind, data = ws.recv_data(control_frame=True)
    print(kinds[kind], data)
    if kind == 8:
        break
"#;

/// A client that is not ours logs in, gets lines, pings, and is told of the end.
#[test]
fn another_websocket_client_understands_ours() {
    let Some(python) = python("websocket-client") else { return };
    let site = Site::start();
    let adopted = Arc::clone(&site.adopted);
    let worker = std::thread::spawn(move || {
        let stream = (0..2000).find_map(|_| {
            chronoscope_clock::sleep(Duration::from_millis(10));
            adopted.lock().unwrap().pop()
        });
        let (mut stream, _) = stream.unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let expected = b"user N0CALL pass -1 vers script 1\r\n#filter r/60/25/100\r\n";
        let mut lines = vec![0; expected.len()];
        stream.read_exact(&mut lines).unwrap();
        assert_eq!(lines, expected);
        stream.write_all(b"# logresp N0CALL unverified\r\nA>B,C:\xe4\r\n").unwrap();
        chronoscope_clock::sleep(Duration::from_millis(200)); // for the ping to have come
    });
    let said = run(&python, WEBSOCKET_SCRIPT, &site.websocket.to_string());
    worker.join().unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.contains(&"text b'# logresp N0CALL unverified'"), "{said}");
    assert!(lines.contains(&"binary b'A>B,C:\\xe4'"), "{said}");
    assert!(lines.contains(&"pong b'alive?'"), "{said}");
    assert_eq!(*lines.last().unwrap(), "close b'\\x03\\xe8closed by the server'", "{said}");
}

/// The headers of an upgrade, with the key and the answer to it of RFC 6455 §1.3.
const UPGRADE: &str = "GET /any HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: \
                       websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \
                       dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

#[test]
fn a_websocket_carries_lines_both_ways() {
    let site = Site::start();
    let mut client = connect(site.websocket);
    client.write_all(UPGRADE.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut octet = [0];
        client.read_exact(&mut octet).unwrap();
        head.push(octet[0]);
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
    let (mut worker, listener) = site.adopted.lock().unwrap().pop().unwrap();
    worker.set_nonblocking(false).unwrap();
    worker.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(listener, "In a browser");

    // Text of five octets, masked with zeros: what is missing of the line's end is put there.
    client.write_all(b"\x81\x85\0\0\0\0# hey").unwrap();
    let mut line = [0; 7];
    worker.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"# hey\r\n");

    worker.write_all(b"# one\r\nA>B:\xff\r\n# ha").unwrap();
    let mut frames = [0; 14];
    client.read_exact(&mut frames).unwrap();
    assert_eq!(&frames, b"\x81\x05# one\x82\x05A>B:\xff");

    drop(worker);
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
    assert_eq!(&rest[..4], b"\x88\x16\x03\xe8", "a close frame, code 1000");
}

/// Packets and status are for pages of this server: a page that gives its name our address, or
/// sends requests here, gets nothing.
#[test]
fn a_page_of_another_origin_is_refused_at_every_port() {
    let site = Site::start();
    for port in [site.status, site.upload, site.websocket] {
        let rebound = UPGRADE.replace("Host: localhost", "Host: attacker.example");
        let answer = ask(port, &rebound.replace("Connection: Upgrade", "Connection: close"));
        assert_eq!(answer.status, 421, "{}", answer.head);
    }
    let foreign = "Origin: http://attacker.example\r\n";
    let posted = site.post(&format!("{foreign}Content-Type: application/octet-stream\r\n"), "x\ny");
    assert_eq!(posted.status, 403, "{}", posted.head);
    let socket = UPGRADE.replace("Host: localhost\r\n", &format!("Host: localhost\r\n{foreign}"));
    assert_eq!(
        ask(site.websocket, &socket.replace("Connection: Up", "Connection: close, Up")).status,
        403
    );
    assert!(site.adopted.lock().unwrap().is_empty());
}

/// As many idle connections as a port has places kept everybody else out.
#[test]
fn a_crowd_of_idle_connections_keeps_nobody_out_of_any_port() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    // Both ends of the crowd are in this process.
    let (_, maximum) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, maximum, maximum).unwrap();
    let site = Site::start();
    for (port, expected) in [(site.status, 200), (site.upload, 405), (site.websocket, 426)] {
        let crowd: Vec<TcpStream> = (0..1024).map(|_| connect(port)).collect();
        let get = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let answer = ask(port, get);
        assert_eq!(answer.status, expected, "{port}: {}", answer.head);
        drop(crowd);
    }
}

#[test]
fn a_websocket_port_says_what_it_is_and_refuses_what_is_too_long() {
    let site = Site::start();
    let plain =
        ask(site.websocket, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!(plain.status, 426);
    let mut client = connect(site.websocket);
    client.write_all(UPGRADE.as_bytes()).unwrap();
    // A binary message of 1 MiB is announced.
    client.write_all(b"\x82\xff\0\0\0\0\0\x10\0\0\0\0\0\0").unwrap();
    let mut bytes = Vec::new();
    client.read_to_end(&mut bytes).unwrap();
    let close = bytes.windows(4).any(|frame| frame[0] == 0x88 && frame[2..] == [0x03, 0xea]);
    assert!(close, "a close frame, code 1002");
}

/// A port that is to have TLS speaks nothing else, and carries lines with it.
#[test]
fn a_websocket_port_with_tls_has_tls() {
    let Some(python) = python("websocket-client") else { return };
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = server();
    let mut config = Config::clone(&server.config());
    let mut listener = Listener::clone(&config.listeners[1]);
    listener.tls = Some(TlsFiles {
        key: Some(key),
        certificate: Some(certificate.clone()),
        ..TlsFiles::default()
    });
    config.listeners[1] = Arc::new(listener);
    server.reload(Arc::new(config));
    let site = Site::without_worker(server);
    let script = format!(
        "import sys, websocket\nws = websocket.create_connection('wss://localhost:{}', timeout=20, \
         sslopt={{'ca_certs': sys.stdin.read()}})\nws.send('# hello')\nprint(ws.recv())",
        site.websocket.port()
    );
    let adopted = Arc::clone(&site.adopted);
    let worker = std::thread::spawn(move || {
        let stream = (0..2000).find_map(|_| {
            chronoscope_clock::sleep(Duration::from_millis(10));
            adopted.lock().unwrap().pop()
        });
        let (mut stream, _) = stream.unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut line = [0; 9];
        stream.read_exact(&mut line).unwrap();
        stream.write_all(&line).unwrap();
        chronoscope_clock::sleep(Duration::from_millis(100)); // for it to be read
    });
    assert_eq!(run(&python, &script, certificate.to_str().unwrap()), "# hello\n");
    worker.join().unwrap();
    let mut plain = connect(site.websocket);
    plain.write_all(UPGRADE.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = plain.read_to_end(&mut bytes); // or reset
    assert!(!bytes.starts_with(b"HTTP"), "{bytes:?}");
}

/// A port whose TLS cannot be had is a fault that is seen, not a port without TLS.
#[test]
fn a_websocket_port_whose_tls_cannot_be_had_is_not_served() {
    let server = server();
    let mut config = Config::clone(&server.config());
    let mut listener = Listener::clone(&config.listeners[1]);
    listener.tls = Some(TlsFiles { key: Some("/nothing/here".into()), ..TlsFiles::default() });
    config.listeners[1] = Arc::new(listener);
    server.reload(Arc::new(config));
    let site = Site::without_worker(server);
    let faults = site.json("/status.json")["faults"].to_string();
    assert!(faults.contains("a WebSocket port is not served"), "{faults}");
}

/// Upgrades, and takes the worker's end.
fn websocket(site: &Site) -> (TcpStream, UnixStream, String) {
    let mut client = connect(site.websocket);
    client.write_all(UPGRADE.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut octet = [0];
        client.read_exact(&mut octet).unwrap();
        head.push(octet[0]);
    }
    let (worker, listener) = site.adopted.lock().unwrap().pop().unwrap();
    worker.set_nonblocking(false).unwrap();
    (client, worker, listener)
}

#[test]
fn a_websocket_client_stays_while_ports_change_and_new_ones_come_by_the_ports_own_name() {
    let mut site = Site::start();
    let (mut client, mut worker, _) = websocket(&site);
    let mut config = Config::clone(&site.server.config());
    let again = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = again.local_addr().unwrap();
    // Its place among the ports is another one now.
    config.listeners.remove(0);
    let listener = Arc::clone(&config.listeners[0]);
    site.server.reload(Arc::new(config));
    let ports = Ports {
        websocket: vec![(listener, again)],
        status: vec![TcpListener::bind("127.0.0.1:0").unwrap()],
        ..Ports::default()
    };
    let status = ports.status[0].local_addr().unwrap();
    site.http.as_mut().unwrap().serve(ports).unwrap();
    worker.write_all(b"# still here\r\n").unwrap();
    let mut frame = [0; 14];
    client.read_exact(&mut frame).unwrap();
    assert_eq!(&frame, b"\x81\x0c# still here");
    site.websocket = at;
    assert_eq!(websocket(&site).2, "In a browser");
    site.status = status;
    assert_eq!(site.get("/").status, 200);
}

#[test]
fn uploads_are_refused_while_no_worker_reads_them() {
    let site = Site::start();
    let kind = "Content-Type: application/octet-stream\r\n";
    let body = "user N0CALL pass 13023 vers test 1\r\nN0CALL>APRS:>hello\r\n";
    site.http.as_ref().unwrap().pause(true);
    let refused = site.post(kind, body);
    assert_eq!((refused.status, refused.text().contains("upgraded")), (503, true));
    site.http.as_ref().unwrap().pause(false);
    assert_ne!(site.post(kind, body).status, 503, "a worker looked at it");
}

#[test]
fn a_websocket_client_that_does_not_read_is_cut_and_counted() {
    let server = server();
    let mut config = Config::clone(&server.config());
    config.stale_after = Duration::from_millis(400);
    server.reload(Arc::new(config));
    let site = Site::without_worker(server);
    let (_client, mut worker, _) = websocket(&site);
    worker.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    // Until the kernel takes no more, and the bridge ends.
    while worker.write_all(&b"# that nobody reads\r\n".repeat(1000)).is_ok() {}
    for _ in 0..2000 {
        if site.cuts.load(Ordering::Relaxed) == 1 {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(5));
    }
    panic!("the cut was not told");
}
