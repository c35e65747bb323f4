//! Notifications of a running server, to receivers over real sockets.

#![allow(clippy::unwrap_used)] // helpers of tests

mod world;

use chronoscope_clock as clock;
use chronoscope_rules::RuleFile;
use chronoscope_server::{Server, ServerOptions};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use world::{World, live};

/// A rule that fires on the chains of [`live`].
const RULE: &str = "page = 'http://page.example/'\n[[limit]]\nname = 'half hour'\nroot = 'A::in'\n\
                    leaf = 'B::out'\nlimit = '10ms'\nshare = 0.01\nwindow = '30min'\n";
const WITHIN: Duration = Duration::from_secs(20);

/// Key and body of the requests that come to an address; the first `refused` of them are answered
/// by 503.
fn receive(address: SocketAddr, refused: usize) -> (SocketAddr, Receiver<(String, Value)>) {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    let (send, received) = channel();
    std::thread::spawn(move || {
        for (index, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut text = Vec::new();
            let (head, body) = loop {
                let mut part = [0; 4096];
                let read = stream.read(&mut part).unwrap();
                text.extend_from_slice(&part[..read]);
                let whole = String::from_utf8_lossy(&text).into_owned();
                let Some((head, body)) = whole.split_once("\r\n\r\n") else { continue };
                let length = header(head, "content-length").parse::<usize>().unwrap();
                if body.len() >= length {
                    break (head.to_owned(), body.to_owned());
                }
            };
            let status = if index < refused { "503 Later" } else { "200 OK" };
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            let json = serde_json::from_str(&body).unwrap();
            if send.send((header(&head, "idempotency-key"), json)).is_err() {
                return;
            }
        }
    });
    (address, received)
}

fn header(head: &str, name: &str) -> String {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    found.next().unwrap().1.trim().to_owned()
}

fn any() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

#[test]
fn a_webhook_gets_the_alarm_again_until_it_acknowledges() {
    let (address, received) = receive(any(), 2);
    let world = live(true, &format!("{RULE}[[notify]]\nwebhook = 'http://{address}/hook'"));
    let got: Vec<_> = (0..3).map(|_| received.recv_timeout(WITHIN).unwrap()).collect();
    assert!(got[0] == got[1] && got[1] == got[2], "the same with the same key: {got:?}");
    let (key, body) = &got[0];
    assert_eq!(
        (body["key"].as_str(), body["change"].as_str()),
        (Some(key.as_str()), Some("fired"))
    );
    assert_eq!((&body["rule"], &body["severity"]), (&"half hour".into(), &"page".into()));
    let link = body["link"].as_str().unwrap();
    let start =
        "http://page.example/scatter?kind=acpd&root=A%3A%3Ain&leaf=B%3A%3Aout&limit_ns=10000000&";
    assert!(link.starts_with(start), "{link}");
    // The chains of the last minutes wait 50 ms for their second hop, those before 0.1 ms.
    let cause = body["cause"].as_str().unwrap();
    assert!(cause.contains("of the difference is the wait before B::out"), "{cause}");
    let slowest = &body["slowest"];
    assert!(slowest["duration_ns"].as_u64().unwrap() > 50_000_000, "{body}");
    let chain = slowest["chain"].as_str().unwrap();
    assert_eq!(world.get(&format!("chains/{chain}")).0, 200, "the page can show it");
    assert!(received.recv_timeout(Duration::from_secs(2)).is_err(), "once acknowledged, once told");
}

#[test]
fn nothing_is_lost_or_doubled_across_a_restart() {
    // Nobody listens there yet.
    let address = TcpListener::bind(any()).unwrap().local_addr().unwrap();
    let file = format!(
        "{RULE}[[notify]]\nwebhook = 'http://{address}/'\nbody = '{{\"text\": \"${{rule}} ${{change}}\"}}'"
    );
    let world = live(true, &file);
    let journal = world.dir.path().join("rules/journal.json");
    let pending = || {
        let text = std::fs::read(&journal).ok()?;
        let json: Value = serde_json::from_slice(&text).ok()?;
        json["pending"].as_array().map(Vec::len)
    };
    await_that(|| pending() == Some(1));
    world.server.stop();
    let (_, received) = receive(address, 0);
    let mut options = ServerOptions::new(any(), world.dir.path().to_owned());
    options.rules = RuleFile::parse(&file).unwrap();
    let server = Server::start(options.clone()).unwrap();
    assert_eq!(received.recv_timeout(WITHIN).unwrap().1["text"], "half hour fired");
    await_that(|| pending() == Some(0));
    server.stop();
    let _server = Server::start(options).unwrap();
    assert!(received.recv_timeout(Duration::from_secs(4)).is_err(), "it was told");
}

#[test]
fn a_command_reads_the_message() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("message");
    let command = format!("cat > {}", file.display());
    let _world = live(true, &format!("{RULE}[[notify]]\ncommand = ['sh', '-c', '{command}']"));
    let message = || serde_json::from_slice::<Value>(&std::fs::read(&file).ok()?).ok();
    await_that(|| message().is_some());
    assert_eq!(message().unwrap()["change"], "fired");
}

/// Killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_alertmanager_shows_the_alert() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let name = "prometheus-alertmanager";
    let mut need = Command::new("bash");
    need.arg("-c").arg(format!(". tools/env.sh; need {name} {name}")).current_dir(&top);
    if !need.status().is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: an_alertmanager_shows_the_alert: no {name} (apt-get install {name})");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config.yml");
    std::fs::write(&config, "route: { receiver: none }\nreceivers: [{ name: none }]\n").unwrap();
    let address = TcpListener::bind(any()).unwrap().local_addr().unwrap();
    let manager = Command::new(name)
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.path={}", dir.path().join("data").display()))
        .arg(format!("--web.listen-address={address}"))
        .args(["--cluster.listen-address=", "--log.level=error"])
        .spawn()
        .unwrap();
    let _manager = Running(manager);
    let _world = live(true, &format!("{RULE}[[notify]]\nalertmanager = 'http://{address}'"));
    let alerts = || {
        let mut answer = ureq::get(format!("http://{address}/api/v2/alerts")).call().ok()?;
        let text = answer.body_mut().read_to_string().ok()?;
        let alerts: Vec<Value> = serde_json::from_str(&text).ok()?;
        (!alerts.is_empty()).then_some(alerts)
    };
    await_that(|| alerts().is_some());
    let [alert] = &alerts().unwrap()[..] else { panic!("one is expected") };
    assert_eq!(
        (&alert["labels"]["alertname"], &alert["status"]["state"]),
        (&"half hour".into(), &"active".into())
    );
    let link = alert["generatorURL"].as_str().unwrap();
    assert!(link.starts_with("http://page.example/scatter?kind=acpd&"), "{link}");
}

/// Where there is no such environment the reason is on stderr.
fn python(name: &str) -> Option<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(top.join("tools/venv")).arg(name).output().unwrap();
    let python = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    (output.status.success() && !python.is_empty()).then_some(python)
}

/// Through aiosmtpd, which wants a login and answers the first attempt with "451 later".
#[test]
fn a_mail_server_gets_the_alarm_until_it_takes_it() {
    let Some(python) = python("aiosmtpd") else {
        eprintln!("SKIPPED: no mail server here (tools/venv aiosmtpd): mail is NOT tested");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mail_server.py");
    let mut server = Command::new(python).arg(script).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let _server = Running(server);
    let port = lines.next().unwrap().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let password = dir.path().join("password");
    std::fs::write(&password, "secret\n").unwrap();
    let email = format!(
        "[[notify]]\nemail = ['duty@example.org', 'night@example.org']\n\
         from = 'chronoscope@example.org'\nsmtp = 'smtp://127.0.0.1:{port}'\nuser = 'chronoscope'\n\
         password_file = '{}'",
        password.display()
    );
    let _world = live(true, &format!("{RULE}{email}"));
    let mut attempts = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let (first, second) = (attempts.next().unwrap(), attempts.next().unwrap());
    assert_eq!((&first["answer"], &second["answer"]), (&"451 later".into(), &"250 OK".into()));
    assert_eq!(second["login"], "chronoscope secret");
    assert_eq!(second["to"], serde_json::json!(["duty@example.org", "night@example.org"]));
    assert_eq!(
        (&second["subject"], &second["from"]),
        (&"[page] half hour fired".into(), &"chronoscope@example.org".into())
    );
    assert!(
        first["id"] == second["id"] && first["id"].as_str().unwrap().ends_with("@example.org>")
    );
    let text = second["text"].as_str().unwrap();
    assert!(text.contains("scattergram: http://page.example/scatter?kind=acpd&root="), "{text}");
    assert!(text.contains("slowest: "), "{text}");
}

/// An answer's status and JSON.
fn post(world: &World, path: &str, body: &Value) -> (u16, Value) {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let url = format!("http://{}/api/v1/{path}", world.server.address());
    let request = agent.post(url).header("content-type", "application/json");
    let mut answer = request.send(body.to_string()).unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    (answer.status().as_u16(), serde_json::from_str(&text).unwrap())
}

#[test]
fn an_alarm_is_acknowledged_and_its_rule_silenced() {
    let (address, received) = receive(any(), 0);
    let world = live(true, &format!("{RULE}[[notify]]\nwebhook = 'http://{address}/hook'"));
    assert_eq!(received.recv_timeout(WITHIN).unwrap().1["change"], "fired");
    let rule = serde_json::json!({ "rule": "half hour" });
    let (status, report) = post(&world, "rules/acknowledge", &rule);
    assert_eq!((status, &report["acknowledged"]["by"]), (200, &"".into()));
    let alarm = |now: Value| {
        let alarms = now["alarms"].as_array().unwrap().clone();
        alarms.into_iter().find(|alarm| alarm["kind"] == "rule").unwrap()["rule"].clone()
    };
    let shown = alarm(world.get("now").1);
    assert_eq!((&shown["name"], &shown["acknowledged"]), (&rule["rule"], &report["acknowledged"]));
    let for_an_hour = serde_json::json!({ "rule": "half hour", "seconds": 3600 });
    let (status, report) = post(&world, "rules/silence", &for_an_hour);
    assert!(status == 200 && report["silenced_until_ns"].as_i64() > report["since_ns"].as_i64());
    assert_eq!(alarm(world.get("now").1)["silenced_until_ns"], report["silenced_until_ns"]);
    let end = serde_json::json!({ "rule": "half hour", "seconds": 0 });
    assert_eq!(post(&world, "rules/silence", &end).1["silenced_until_ns"], Value::Null);
    let unknown = serde_json::json!({ "rule": "nobody" });
    assert_eq!(post(&world, "rules/acknowledge", &unknown).0, 404);
    assert_eq!(post(&world, "rules/acknowledge", &serde_json::json!({ "rul": 1 })).0, 400);
}

fn await_that(mut holds: impl FnMut() -> bool) {
    let begin_ns = clock::monotonic_ns();
    while !holds() {
        let passed = Duration::from_nanos(clock::monotonic_ns() - begin_ns);
        assert!(passed < WITHIN, "it does not come");
        clock::sleep(Duration::from_millis(50));
    }
}
