//! Attacks by the network.

use crate::http;
use crate::outcome::Outcome;
use crate::rows;
use crate::server::{Recorder, Running, Server, wait_until};
use crate::spans;
use crate::world::{Folders, World};
use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const TOKEN: &str = "sesame-and-more-of-it";

fn bearer() -> String {
    format!("authorization: Bearer {TOKEN}\r\n")
}

/// Now, as OpenTelemetry counts.
fn now_ns() -> u64 {
    u64::try_from(clock::utc_now_ns()).unwrap_or_default()
}

/// Sends spans; the status.
fn export(address: SocketAddr, headers: &str, body: &[u8]) -> Result<u16> {
    let headers = format!("{}{headers}", spans::CONTENT_TYPE);
    Ok(http::request(address, "POST /v1/traces", &headers, body)?.code)
}

pub(super) fn crowd(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let mut serve = Server::command(world, &folders.data(), folders.rings());
    let mut server = Server::start(serve.env("CHRONOSCOPE_TOKEN", TOKEN))?;
    let recorder = Recorder::start(world, folders.rings(), 5_000)?;
    let connections = world.count(1100);
    let mut crowd = Vec::new();
    for _ in 0..connections {
        // Beyond its places the server closes them: then there is nothing to connect to.
        crowd.extend(TcpStream::connect_timeout(&server.address, Duration::from_secs(2)));
    }
    let mut outcome = Outcome { tried: connections, ..Outcome::default() };
    for _ in 0..8 {
        let answer = http::request(server.address, "GET /api/v1/now", &bearer(), b"");
        outcome.hung += u64::from(!answer.is_ok_and(|answer| answer.code == 200));
        let answer = http::request(server.address, "GET /status", "", b"");
        outcome.silent += u64::from(answer.is_ok_and(|answer| answer.code == 200));
    }
    clock::sleep(Duration::from_secs(2));
    let recorded = recorder.end()?;
    drop(crowd);
    let is_drained = wait_until(|| {
        let answer = http::request(server.address, "GET /status", &bearer(), b"");
        let status = answer
            .ok()
            .and_then(|answer| serde_json::from_slice::<serde_json::Value>(&answer.body).ok());
        status.is_some_and(|status| status["rows"] == recorded && status["processes"][0].is_null())
    });
    outcome.hung += u64::from(!is_drained);
    outcome.memory = server.running.memory();
    server.running.stop()?;
    let stored = rows::export(world, &folders.data())?;
    outcome.lost = recorded.saturating_sub(stored.distinct);
    outcome.doubled = stored.doubled;
    outcome.note =
        format!("8 of 8 requests with the token answered, {recorded} rows of rings read");
    if outcome.hung > 0 {
        outcome.note = "requests with the token were not answered".to_owned();
    }
    Ok(outcome)
}

pub(super) fn idle_uploads(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let mut server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
    let mut uploads = Vec::new();
    for number in 0..40 {
        let length = match number % 2 {
            0 => "transfer-encoding: chunked",
            _ => "content-length: 16777216",
        };
        let mut upload = http::connect(server.address)?;
        let head = format!(
            "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\n{}{length}\r\n\r\n",
            spans::CONTENT_TYPE
        );
        upload.write_all(head.as_bytes())?;
        uploads.push(upload);
    }
    let mut outcome = Outcome { tried: 40, ..Outcome::default() };
    let mut longest_ns = 0;
    for number in 0..20 {
        let begin_ns = clock::monotonic_ns();
        let body = spans::request(vec![spans::span(number, "work".to_owned(), now_ns())]);
        let code = export(server.address, "", &body);
        outcome.hung += u64::from(!code.is_ok_and(|code| code == 200));
        longest_ns = longest_ns.max(clock::monotonic_ns() - begin_ns);
    }
    drop(uploads);
    outcome.memory = server.running.memory();
    server.running.stop()?;
    outcome.lost = 20 - rows::export(world, &folders.data())?.distinct.min(20);
    outcome.note = format!("20 others beside them took {:.0} ms at most", longest_ns as f64 * 1e-6);
    Ok(outcome)
}

pub(super) fn slow_readers(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let mut recorder = world.recorder(folders.rings(), &["--rows", "100000", "--rate", "1000000"]);
    recorder.status()?;
    let mut server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
    server.drained();
    let readers = world.count(200);
    let mut waiting = Vec::new();
    for _ in 0..readers {
        let Ok(mut reader) = http::connect(server.address) else { continue };
        // Many answers on one connection, none of which the client reads.
        let request = "GET /api/v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(50);
        let _ = reader.write_all(request.as_bytes());
        waiting.push(reader);
    }
    let mut outcome = Outcome { tried: readers, ..Outcome::default() };
    let mut longest_ns = 0;
    for _ in 0..10 {
        let begin_ns = clock::monotonic_ns();
        let answer = server.get("/status");
        outcome.hung += u64::from(!answer.is_ok_and(|answer| answer.code == 200));
        longest_ns = longest_ns.max(clock::monotonic_ns() - begin_ns);
    }
    outcome.memory = server.running.memory();
    drop(waiting);
    server.running.stop()?;
    outcome.note = format!("10 others took {:.0} ms at most", longest_ns as f64 * 1e-6);
    Ok(outcome)
}

/// Every server that browsers reach, and where.
struct Doors {
    _running: Vec<Running>,
    _folders: Folders,
    /// Name and address of each server.
    doors: Vec<(&'static str, SocketAddr)>,
    server: Server,
}

/// A server with a port for clients, its status and uploads; ports are the kernel's choice.
const APRS_CONFIG: &str = "ServerId TESTING\nPassCode 31421\nMyAdmin \"Admin, N0CALL\"\n\
    MyEmail email@example.com\nListen igate igate tcp 127.0.0.1 0\n\
    HTTPStatus 127.0.0.1 0\nHTTPUpload 127.0.0.1 0\n";
/// A provider of one forward instance, with a control port.
const SLE_CONFIG: &str = "[provider]\nid = \"STATION\"\nlisten = [\"127.0.0.1:0\"]\n\
    control = \"127.0.0.1:0\"\n[[peer]]\nid = \"MCC\"\n[[instance]]\n\
    id = \"sagr=1.spack=A.fsl-fg=1.cltu=cltu1\"\n[instance.forward]\nnotify = \"every\"\n";

impl Doors {
    fn open(world: &World) -> Result<Self> {
        let folders = Folders::new()?;
        let server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
        let mut doors = vec![("serve", server.address)];
        let mut running = Vec::new();
        let start = |command: &mut Command| {
            command.env("CHRONOSCOPE_RECORD", "off").stdin(Stdio::null()).stdout(Stdio::null());
            Running::start(command)
        };
        let port_file = folders.beside("display");
        let mut display = Command::new(world.program("radar-display"));
        // The message server's port is closed: the display keeps trying to connect.
        display.args(["--messages", "127.0.0.1:9", "--listen", "127.0.0.1:0", "--port-file"]);
        running.push(start(display.arg(&port_file))?);
        let ports = folders.beside("ports");
        let config = folders.beside("aprs.conf");
        fs::write(&config, APRS_CONFIG)?;
        let mut aprs = Command::new(world.program("aprs-server"));
        aprs.arg("-c").arg(&config).arg("--ports").arg(&ports);
        if nix::unistd::geteuid().is_root() {
            aprs.arg("--allow-root");
        }
        running.push(start(&mut aprs)?);
        let sle = folders.beside("sle.toml");
        fs::write(&sle, SLE_CONFIG)?;
        let said = folders.beside("sle.out");
        let mut provider = Command::new(world.program("sle-provider"));
        provider.arg("-qc").arg(&sle).env("CHRONOSCOPE_RECORD", "off");
        provider.stdin(Stdio::null()).stdout(fs::File::create(&said)?);
        running.push(Running::start(&mut provider)?);
        let read = |path: &std::path::Path| fs::read_to_string(path).unwrap_or_default();
        let all_listen = wait_until(|| {
            !read(&port_file).is_empty()
                && read(&ports).ends_with('\n')
                && read(&said).contains("ready")
        });
        if !all_listen {
            let said: Vec<_> = running.iter().map(Running::said).collect();
            bail!("a server does not listen: {}", said.join(" "));
        }
        let address = |text: &str| -> Result<SocketAddr> {
            text.trim().to_socket_addrs()?.next().context("an address")
        };
        doors.push(("radar-display", address(&read(&port_file))?));
        for line in read(&ports).lines() {
            let of = address(line.rsplit(' ').next().unwrap_or_default())?;
            match line.split(' ').next() {
                Some("status") => doors.push(("aprs-server status", of)),
                Some("upload") => doors.push(("aprs-server upload", of)),
                _ => doors.push(("aprs-server", of)),
            }
        }
        for line in read(&said).lines() {
            let of = line.rsplit(' ').next().unwrap_or_default();
            if line.starts_with("listening") {
                doors.push(("sle-provider", address(of)?));
            } else if line.starts_with("control") {
                doors.push(("sle-provider control", address(of)?));
            }
        }
        Ok(Self { _running: running, _folders: folders, doors, server })
    }

    /// Names of servers that have ended.
    fn ended(&mut self) -> u64 {
        let ended = self._running.iter_mut().filter_map(|one| (!one.is_alive()).then_some(()));
        ended.count() as u64 + u64::from(!self.server.running.is_alive())
    }
}

/// Reply of a server to octets, until it closed or ten seconds passed.
fn said_to(address: SocketAddr, octets: &[u8]) -> Vec<u8> {
    let Ok(mut stream) = http::connect(address) else { return Vec::new() };
    let _ = stream.write_all(octets);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    said
}

pub(super) fn pages(world: &World) -> Result<Outcome> {
    let mut doors = Doors::open(world)?;
    let mut outcome = Outcome::default();
    let body = spans::request(vec![spans::span(1, "work".to_owned(), now_ns())]);
    let order = b"interrupt cltu1\nhalt cltu1\nquit\n";
    let web = |name: &str| !matches!(name, "aprs-server" | "sle-provider");
    for (name, address) in doors.doors.iter().filter(|(name, _)| web(name)) {
        // A permitted page is answered; otherwise the refusals below would prove nothing.
        if matches!(*name, "serve" | "radar-display" | "aprs-server status") {
            let answer = http::request(*address, "GET /", "", b"")?;
            if answer.code >= 400 {
                bail!("{name} does not answer its own page: {}", answer.code);
            }
        }
        for headers in ["host: attacker.example\r\n", "host: attacker.example:80\r\n"] {
            for path in ["/", "/status", "/status.json", "/api/v1/now", "/metrics", "/map.json"] {
                outcome.tried += 1;
                let answer = http::request(*address, &format!("GET {path}"), headers, b"");
                if answer.is_ok_and(|answer| answer.code < 400) {
                    eprintln!("attack: {name} answered {path} to {headers:?}");
                    outcome.silent += 1;
                }
            }
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            for octets in [&body[..], order] {
                for path in ["/", "/v1/traces", "/api/v1/now"] {
                    outcome.tried += 1;
                    let headers = format!(
                        "host: localhost\r\norigin: http://attacker.example\r\ncontent-type: {kind}\r\n"
                    );
                    let answer = http::request(*address, &format!("POST {path}"), &headers, octets);
                    if answer.is_ok_and(|answer| answer.code < 400) {
                        eprintln!("attack: {name} took a {kind} at {path} from another origin");
                        outcome.silent += 1;
                    }
                }
            }
        }
        outcome.tried += 1;
        let upgrade = "GET /air HTTP/1.1\r\nhost: localhost\r\norigin: http://attacker.example\r\n\
                       connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        if said_to(*address, upgrade.as_bytes()).starts_with(b"HTTP/1.1 101") {
            eprintln!("attack: {name} opened a WebSocket to another origin");
            outcome.silent += 1;
        }
    }
    outcome.silent += u64::from(doors.server.status()?["stored_rows"] != 0);
    outcome.hung += doors.ended();
    outcome.memory = doors.server.running.memory();
    outcome.note = format!("421, 403 or 415 at {} ports of four programs", doors.doors.len() - 2);
    Ok(outcome)
}

pub(super) fn forged_agent(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let tokens = folders.beside("tokens");
    let add = |right: &str, name: &str| -> Result<String> {
        let mut command = world.chronoscope(&["token", "add", "--tokens"]);
        let output = command.arg(&tokens).args([right, name]).stdout(Stdio::piped()).output()?;
        let said = String::from_utf8(output.stdout)?;
        let token = said.split_whitespace().last().context("a token")?.to_owned();
        let file = folders.beside(name);
        fs::write(&file, &token)?;
        Ok(file.display().to_string())
    };
    let (own, other) = (add("--write", &host()?)?, add("--write", "another-host")?);
    let nothing = folders.beside("no-rings");
    fs::create_dir(&nothing)?;
    let mut serve = Server::command(world, &folders.data(), &nothing);
    let mut server = Server::start(serve.arg("--tokens").arg(&tokens))?;
    let to = format!("http://{}", server.address);
    let deliver = |token: &str, spool: &str, rings: &Path| -> Result<serde_json::Value> {
        let mut command = world.chronoscope(&["agent", "--json", "--to", &to, "--token-file"]);
        command.arg(token).args(["--duration", "4s", "--spool"]).arg(folders.beside(spool));
        let output = command.arg("--rings").arg(rings).stdout(Stdio::piped()).output()?;
        Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
    };
    let record = || {
        let mut command = world.recorder(folders.rings(), &["--rows", "2000", "--rate", "100000"]);
        command.status().map(|status| status.success())
    };
    record()?;
    deliver(&own, "spool", folders.rings())?;
    // The same spool's numbers under a token of another name, and by no token at all.
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(folders.beside("spool")).arg(folders.beside("forged"));
    if !copy.status()?.success() {
        bail!("the spool could not be copied");
    }
    record()?;
    let forged = deliver(&other, "forged", &nothing)?;
    fs::write(folders.beside("wrong"), "no-such-token-at-all")?;
    let wrong = folders.beside("wrong").display().to_string();
    deliver(&wrong, "wrong-spool", &nothing)?;
    record()?;
    deliver(&own, "spool", folders.rings())?;
    let taken = forged["delivery"]["acknowledged_rows"].as_u64().unwrap_or_default();
    let mut outcome = Outcome { tried: 2, ..Outcome::default() };
    outcome.memory = server.running.memory();
    server.running.stop()?;
    let stored = rows::export(world, &folders.data())?;
    outcome.lost = 6000_u64.saturating_sub(stored.distinct);
    outcome.doubled = stored.doubled;
    outcome.silent = u64::from(taken > 2000);
    outcome.note = format!("{} of 6000 rows of the agent itself stored", stored.distinct);
    Ok(outcome)
}

/// Name of this host.
fn host() -> Result<String> {
    Ok(nix::unistd::gethostname()?.to_string_lossy().into_owned())
}

/// Memory bound of a collector under any input: four times the 256 MiB of rows that make it seal,
/// and half of that for rows being decoded, sealed and answered.
const MEMORY_MAX: u64 = 3 << 29;

/// Rate of recording during the attack, which shows the network's effect on rings.
const RATE: u64 = 20_000;

/// Sends bodies from two connections at a time while a program records; what rings lost.
fn beside_rings(
    world: &World,
    attack: impl Fn(SocketAddr, u64) -> Result<u16> + Sync,
    requests: u64,
) -> Result<(Outcome, Folders)> {
    let folders = Folders::new()?;
    let mut server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
    let recorder = Recorder::start(world, folders.rings(), RATE)?;
    let begin_ns = clock::monotonic_ns();
    let mut outcome = Outcome { tried: requests, ..Outcome::default() };
    let codes: Vec<u16> = std::thread::scope(|scope| {
        let send = |first: u64| {
            let (attack, address) = (&attack, server.address);
            scope.spawn(move || {
                let numbers = (first..requests).step_by(2);
                // 0 stands for no answer in time.
                numbers.map(|number| attack(address, number).unwrap_or(0)).collect::<Vec<_>>()
            })
        };
        let both = [send(0), send(1)];
        both.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect()
    });
    let of = |wanted: u16| codes.iter().filter(|code| **code == wanted).count() as u64;
    outcome.hung = of(0);
    // Requests that were refused at once left the rings alone for too short a time.
    clock::sleep_until(begin_ns + 5_000_000_000);
    let recorded = recorder.end()?;
    let (status, is_drained) = server.drained();
    outcome.hung += u64::from(!is_drained);
    outcome.memory = server.running.memory();
    let files = fs::read_dir(folders.data().join("segments"))?.count();
    server.running.stop()?;
    outcome.lost = status["lost_rows"].as_u64().context("lost_rows")?;
    let of_rings = status["rows"].as_u64().context("rows")?;
    outcome.lost += recorded.saturating_sub(of_rings + outcome.lost);
    outcome.note = format!(
        "{} taken, {} refused; {of_rings} of {recorded} rows of rings, {files} segments",
        of(200),
        codes.len() as u64 - of(200) - of(0)
    );
    Ok((outcome, folders))
}

pub(super) fn minutes(world: &World) -> Result<Outcome> {
    const MINUTE_NS: u64 = 60_000_000_000;
    let begin_ns = now_ns();
    let attack = |address: SocketAddr, number: u64| {
        let minutes = (0..1440).map(|minute| {
            let start_ns = begin_ns - (number * 1440 + minute) * MINUTE_NS;
            spans::span(number * 1440 + minute, "work".to_owned(), start_ns)
        });
        export(address, "", &spans::request(minutes.collect()))
    };
    // Also what a request may hold at most, again and again.
    let bounded = |address: SocketAddr, number: u64| match number % 2 {
        0 => attack(address, number),
        _ => {
            let minutes = (0..240).map(|minute| {
                let start_ns = begin_ns - (number * 240 + minute) * MINUTE_NS;
                spans::span((1 << 40) + number * 240 + minute, "work".to_owned(), start_ns)
            });
            export(address, "", &spans::request(minutes.collect()))
        }
    };
    let (mut outcome, _) = beside_rings(world, bounded, world.count(400))?;
    outcome.silent += u64::from(outcome.memory > MEMORY_MAX);
    Ok(outcome)
}

pub(super) fn zip_bomb(world: &World) -> Result<Outcome> {
    let bomb = |octets: &[u8], times: usize| -> Result<Vec<u8>> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..times {
            gzip.write_all(octets)?;
        }
        Ok(gzip.finish()?)
    };
    // Zeros, and the empty spans and scopes that are the dearest octets to read.
    let empty =
        spans::request(vec![opentelemetry_proto::tonic::trace::v1::Span::default(); 100_000]);
    let bombs = [bomb(&[0; 1 << 16], 16_000)?, bomb(&empty, 1)?, bomb(&[0x0a, 0], 8 << 20)?];
    let attack = |address: SocketAddr, number: u64| {
        let bomb = &bombs[usize::try_from(number)? % bombs.len()];
        export(address, "content-encoding: gzip\r\n", bomb)
    };
    let (mut outcome, _) = beside_rings(world, attack, world.count(100))?;
    outcome.silent += u64::from(outcome.memory > MEMORY_MAX);
    Ok(outcome)
}

pub(super) fn names(world: &World) -> Result<Outcome> {
    const IN_ONE: u64 = 10_000;
    let attack = |address: SocketAddr, number: u64| {
        let spans = (0..IN_ONE).map(|name| {
            let name = number * IN_ONE + name;
            spans::span(name, format!("name-{name:x}-of-a-stranger"), now_ns())
        });
        export(address, "", &spans::request(spans.collect()))
    };
    let (mut outcome, folders) = beside_rings(world, attack, world.count(400))?;
    let mut server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
    let answer = server.get("/classes")?;
    let of_names = answer.body.len();
    outcome.silent += u64::from(outcome.memory > MEMORY_MAX || of_names > 16 << 20);
    outcome.memory = outcome.memory.max(server.running.memory());
    server.running.stop()?;
    outcome.tried *= IN_ONE;
    outcome.note += &format!("; GET /classes is {} KiB", of_names / 1024);
    Ok(outcome)
}

/// C0 and C1 controls, a terminal's escape sequences, and Unicode's bidirectional controls.
fn hostile_names() -> Vec<String> {
    let controls = (0..0x20).chain(0x7f..0xa0).chain([0x200e, 0x200f]);
    let controls = controls.chain(0x202a..=0x202e).chain(0x2066..=0x2069).chain([0x061c]);
    let mut names: Vec<_> =
        controls.filter_map(char::from_u32).map(|control| format!("a{control}b")).collect();
    names.push("\x1b]0;owned\x07\x1b[2J\x1b[31mred".to_owned());
    names.push("<script>alert(1)</script>&\"'".to_owned());
    names
}

/// Whether a terminal or a reader would take it for something else than text.
fn is_hostile(letter: char) -> bool {
    (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t'))
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{061c}')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub(super) fn control_characters(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let mut server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
    let names = hostile_names();
    for (number, name) in names.iter().enumerate() {
        let span = spans::span(number as u64, name.clone(), now_ns());
        let code = export(server.address, "", &spans::request(vec![span]))?;
        if code != 200 {
            bail!("a span called {name:?}: {code}");
        }
    }
    server.running.stop()?;
    let picture = folders.beside("picture.svg");
    let picture_path = picture.display().to_string();
    let mut outcome = Outcome { tried: names.len() as u64, ..Outcome::default() };
    let data = folders.data();
    // Each with its exit code: one that found nothing would show no name.
    let escape = format!("{:032x}", 0x1b + 1); // the chain of the 27th name
    let commands: [(&[&str], i32); 6] = [
        (&["classes"], 0),
        (&["chain", &escape], 0),
        (&["chains", "--sync", "nothing"], 3), // names what there is
        (&["export", "--format", "xml"], 0),
        (&["chains", "--sync", "a\u{202e}b", "--svg", &picture_path], 0),
        (&["chains", "--sync", "<script>alert(1)</script>&\"'", "--svg", &picture_path], 0),
    ];
    for (arguments, code) in commands {
        let mut command = world.chronoscope(arguments);
        command.arg("--data").arg(&data).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.output()?;
        if output.status.code() != Some(code) {
            bail!("{arguments:?}: {:?}", output.status);
        }
        for said in [&output.stdout, &output.stderr] {
            let said = String::from_utf8_lossy(said);
            if let Some(letter) = said.chars().find(|letter| is_hostile(*letter)) {
                eprintln!("attack: {arguments:?} printed {letter:?}");
                outcome.silent += 1;
            }
        }
        if arguments.contains(&"--svg") {
            let svg = fs::read_to_string(&picture)?;
            outcome.silent += u64::from(svg.chars().any(is_hostile) || !is_well_formed(&svg));
            outcome.silent += u64::from(svg.contains("<script"));
            fs::remove_file(&picture)?;
        }
    }
    outcome.note = "escaped in every command and picture, which are well-formed".to_owned();
    Ok(outcome)
}

fn is_well_formed(xml: &str) -> bool {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

pub(super) fn garbage(world: &World) -> Result<Outcome> {
    let mut doors = Doors::open(world)?;
    let mut random = world.random();
    let mut outcome = Outcome::default();
    let beginnings: [&[u8]; 6] = [
        b"",
        b"GET / HTTP/1.1\r\nhost: localhost\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\ntransfer-encoding: chunked\r\n\r\n",
        b"user N0CALL pass -1\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    for _ in 0..world.count(300) {
        for (_, address) in &doors.doors {
            let beginning = beginnings[random.place(beginnings.len())];
            let octets = random.place(4096);
            let Ok(mut stream) = TcpStream::connect(address) else { continue };
            outcome.tried += 1;
            stream.set_write_timeout(Some(Duration::from_secs(1)))?;
            let _ = stream.write_all(&[beginning, &random.octets(octets)].concat());
        }
    }
    outcome.hung += doors.ended();
    for (name, address) in &doors.doors {
        let is_there = wait_until(|| TcpStream::connect(address).is_ok());
        if !is_there {
            eprintln!("attack: {name} accepts no more connections");
            outcome.hung += 1;
        }
    }
    outcome.hung += u64::from(doors.server.get("/status")?.code != 200);
    outcome.memory = doors.server.running.memory();
    outcome.note = format!("all {} ports of four programs go on", doors.doors.len());
    Ok(outcome)
}
