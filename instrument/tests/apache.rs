//! mod_arm4 in Debian's apache2: chains over two servers, hostile headers, every MPM.

#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use chronoscope_model::{Status, Transaction, TransactionId};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use support::{
    Server, World, arm4, classes, compile, have, instrument, metric, only, property, run, text,
    wait_until,
};

const APACHE: &str = "/usr/sbin/apache2";
const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";

/// The module; `None`, loudly, where httpd cannot be had.
fn module() -> Option<&'static PathBuf> {
    static MODULE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = MODULE.get_or_init(|| {
        let what = "mod_arm4";
        let there = have(APACHE, "apache2-bin", what)
            && have("/usr/bin/apxs", "apache2-dev", what)
            && have("/usr/bin/ab", "apache2-utils", what)
            && have("/usr/bin/curl", "curl", what);
        there.then(|| instrument("apache").join("mod_arm4.so"))
    });
    built.as_ref()
}

/// A server of its own in this world's folder `name`, with `more` lines of configuration.
struct Httpd {
    port: u16,
    _server: Server,
}

impl Httpd {
    fn start(world: &World, name: &str, mpm: &str, more: &str) -> Self {
        Self::start_with(world, name, mpm, more, |_| ())
    }

    /// The same, with something about its process changed.
    fn start_with(
        world: &World,
        name: &str,
        mpm: &str,
        more: &str,
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let folder = world.folder(name);
        world.folder(&format!("{name}/htdocs"));
        let port = free_port();
        let cgi = if mpm == "prefork" { "cgi" } else { "cgid" };
        let modules = [
            "authz_core",
            "authz_host",
            "authn_core",
            "authn_file",
            "authz_user",
            "auth_basic",
            "alias",
            "env",
            "dir",
            "proxy",
            "proxy_http",
            "rewrite",
            cgi,
        ];
        let mut lines = format!("LoadModule mpm_{mpm}_module {}\n", builtin(&format!("mpm_{mpm}")));
        for module in modules {
            lines += &format!("LoadModule {module}_module {}\n", builtin(module));
        }
        let (here, dir) = (folder.display(), world.path().display());
        lines += &format!(
            "LoadModule arm4_module {}\nServerRoot {here}\nListen 127.0.0.1:{port}\n\
             ServerName {name}\nPidFile {here}/pid\nErrorLog {here}/errors\nUser #65534\n\
             Group #65534\nDocumentRoot {here}/htdocs\nPassEnv CHRONOSCOPE_DIR\n\
             StartServers 1\nMutex file:{here}\nDefaultRuntimeDir {here}\n\
             ScriptAlias /cgi/ {dir}/cgi/\n{more}\n",
            module().unwrap().display()
        );
        if cgi == "cgid" {
            lines += &format!("ScriptSock {here}/cgisock\n");
        }
        let file = folder.join("httpd.conf");
        std::fs::write(&file, lines).unwrap();
        let mut command = world.command(APACHE);
        command.args(["-D", "FOREGROUND", "-f"]).arg(&file);
        command.process_group(0); // all of which httpd ends when it ends
        change(&mut command);
        let log = std::fs::File::create(folder.join("said")).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut server = Server(child);
        wait_until("httpd answers", || {
            let ended = server.0.try_wait().unwrap();
            let log = || std::fs::read_to_string(folder.join("said")).unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", log());
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Self { port, _server: server }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Sends bytes as they are; returns what comes back until the server closes.
    fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer); // a reset is an answer too
        text(&answer)
    }

    fn get(&self, path: &str, headers: &str) -> String {
        let end = "Host: here\r\nConnection: close\r\n";
        self.raw(&format!("GET {path} HTTP/1.1\r\n{end}{headers}\r\n"))
    }

    /// A counter of the status page.
    fn counter(&self, name: &str) -> u64 {
        let page = self.get("/arm4-status", "");
        let line =
            page.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{page}"));
        line.split(' ').nth(1).unwrap().trim().parse().unwrap()
    }
}

fn builtin(module: &str) -> String {
    format!("/usr/lib/apache2/modules/mod_{module}.so")
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn curl(arguments: &[&str]) -> String {
    let mut curl = Command::new("curl");
    text(&run(curl.args(["-sS", "--max-time", "20", "--noproxy", "*"]).args(arguments)).stdout)
}

/// The recorded transactions, once there are `count`: they end after the answer.
fn recorded(world: &World, count: usize) -> Vec<Transaction> {
    let mut all = world.transactions();
    for _ in 0..100 {
        if all.len() >= count {
            break;
        }
        chronoscope_clock::sleep(Duration::from_millis(50));
        all = world.transactions();
    }
    assert_eq!(all.len(), count, "{:?}", classes(&all));
    all
}

/// At least `count` transactions, and no more that come.
fn settled(world: &World, count: usize) -> Vec<Transaction> {
    let mut all = Vec::new();
    wait_until("as many transactions as requests", || {
        let before = all.len();
        chronoscope_clock::sleep(Duration::from_millis(300));
        all = world.transactions();
        all.len() >= count && all.len() == before
    });
    all
}

/// The program that both servers may run.
fn with_cgi(world: &World) {
    let folder = world.folder("cgi");
    // httpd's user may not be let into the folder that this was built in.
    std::fs::copy(arm4().lib().join("libarm4.so"), folder.join("libarm4.so")).unwrap();
    let flags = ["-std=c11", "-Wl,-rpath,$ORIGIN"];
    compile("gcc", &["tests/c/cgi.c", "common/parent.c"], &flags, &folder.join("page"));
    std::fs::write(folder.join("broken"), "#!/bin/sh\nexit 1\n").unwrap();
    run(Command::new("chmod").arg("755").arg(folder.join("broken")));
}

/// The stored rows of a chain, collected by the program itself if it has been built.
fn stored_chain(world: &World, chain: &str) -> Option<String> {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join("chronoscope");
    if !program.exists() {
        eprintln!("SKIPPED: a chain of httpd in the store needs cargo build -p chronoscope-cli");
        return None;
    }
    let data = world.path().join("data");
    let mut serve = world.command(&program);
    serve.arg("serve").arg("--data").arg(&data).args(["--duration", "2s", "--quiet"]);
    run(&mut serve);
    let mut ask = world.command(&program);
    let output = run(ask.arg("chain").arg("--data").arg(&data).args([chain, "--json"]));
    Some(text(&output.stdout))
}

/// Client, server, server behind it, program: one chain, whatever the first server's MPM.
fn two_hops(mpm: &str, mpm_behind: &str) {
    if module().is_none() {
        return;
    }
    let world = World::new();
    world.rings_of_nobody();
    with_cgi(&world);
    let behind = Httpd::start(&world, "behind", mpm_behind, "Arm4Application pages-httpd");
    let more = format!(
        "Arm4Application shop\nProxyPass /shop/ {}\n<Location /shop/>\nArm4Class order\n</Location>",
        behind.url("/cgi/")
    );
    let front = Httpd::start(&world, "front", mpm, &more);
    let traced = format!("traceparent: {TRACE}");
    let answer = curl(&["-i", "-H", &traced, &front.url("/shop/page?secret=1")]);
    let all = recorded(&world, 3);

    let order = only(&all, "GET order");
    let script = only(&all, "GET cgi-script");
    let page = only(&all, "page");
    assert_eq!(order.class.application, "shop");
    assert_eq!(script.class.application, "pages-httpd");
    assert_eq!(order.chain.to_string(), TRACE_ID);
    assert!(all.iter().all(|t| t.chain == order.chain), "one chain");
    assert_eq!((script.parent, page.parent), (order.id, script.id));
    assert!(order.start_ns <= script.start_ns && script.start_ns <= page.start_ns);
    // The one behind ends after it has answered, when the one in front may have ended before it.
    assert!(script.elapsed_ns >= page.elapsed_ns);
    assert_eq!(property(order, "uri"), "/shop/page", "and nothing of the query");
    assert_eq!(property(script, "uri"), "/cgi/page");
    assert_eq!(metric(order, "status"), Some(200.0));
    assert!(metric(order, "sent_bytes") > Some(50.0), "{order:?}");

    // The program saw the last server's correlator; the client is told the first one's.
    assert!(answer.contains(&format!("\n00-{TRACE_ID}-")), "{answer}");
    let headers: Vec<_> =
        answer.lines().filter(|line| line.starts_with("ARM-Correlator: ")).collect();
    assert_eq!(headers.len(), 1, "{answer}");
    let correlator = headers[0]["ARM-Correlator: ".len()..].trim();

    // Which may be used again: another request under the first one.
    let again = format!("ARM-Correlator: {correlator}");
    curl(&["-H", &again, &front.url("/shop/page")]);
    let all = recorded(&world, 6);
    let orders: Vec<_> = all.iter().filter(|t| t.class.class == "GET order").collect();
    assert_eq!(orders[1].parent, orders[0].id);

    // And a load of roots, nothing lost and nothing mixed up.
    run(Command::new("ab").args(["-q", "-n", "200", "-c", "8", "-k", &front.url("/shop/page")]));
    let all = settled(&world, 6 + 600);
    let none = TransactionId::NONE;
    let mut roots: Vec<_> =
        all.iter().filter(|t| t.parent == none && t.class.class == "GET order").collect();
    // ab may have begun some more, and left them.
    assert!((200..=208).contains(&roots.len()), "{}", roots.len());
    roots.retain(|t| t.status == Status::Good);
    assert!(roots.len() >= 200, "{}", roots.len());
    for root in roots {
        let chain: Vec<_> = all.iter().filter(|t| t.chain == root.chain).collect();
        let mut levels: Vec<_> = chain.iter().map(|t| t.level).collect();
        levels.sort_unstable();
        assert_eq!(levels, [0, 1, 2], "{chain:#?}");
        assert!(chain.iter().all(|t| t.status == Status::Good));
    }

    // The last, because the collector removes the rings of programs that are gone.
    if let Some(chain) = stored_chain(&world, TRACE_ID) {
        for class in ["GET order", "GET cgi-script", "page"] {
            let whole = format!("\"class\": \"{class}\"");
            let short = whole.replace(": ", ":");
            assert_eq!(chain.matches(&whole).count() + chain.matches(&short).count(), 2, "{chain}");
        }
    }
}

#[test]
fn two_servers_and_a_program_are_one_chain_with_event() {
    two_hops("event", "prefork");
}

#[test]
fn two_servers_and_a_program_are_one_chain_with_worker() {
    two_hops("worker", "event");
}

const PLAIN: &str = "<Location /arm4-status>\nSetHandler arm4-status\nArm4 off\n</Location>";

#[test]
fn ends_of_requests_have_their_statuses() {
    if module().is_none() {
        return;
    }
    let world = World::new();
    world.rings_of_nobody();
    with_cgi(&world);
    let passwords = world.path().join("passwords");
    std::fs::write(&passwords, "ann:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n").unwrap(); // password
    let more = format!(
        "{PLAIN}\nErrorDocument 404 /missing.html\n<Location /private>\nAuthType Basic\n\
         AuthName x\nAuthUserFile {}\nRequire valid-user\n</Location>\n\
         <Location /quiet>\nArm4 off\n</Location>",
        passwords.display()
    );
    let server = Httpd::start(&world, "front", "event", &more);
    let file = |name: &str, size: usize| {
        std::fs::write(world.path().join("front/htdocs").join(name), vec![b'x'; size]).unwrap();
    };
    file("missing.html", 10);
    file("private", 5);
    file("quiet", 5);
    file("large", 30_000_000);
    assert!(server.get("/nowhere", "").contains("404 Not Found"));
    assert!(server.get("/private", "").contains("401 Unauthorized"));
    assert!(server.get("/private", "Authorization: Basic YW5uOnBhc3N3b3Jk\r\n").contains("200 OK"));
    assert!(server.get("/cgi/broken", "").contains("500 Internal"));
    assert!(server.get("/quiet", "").contains("200 OK"));
    curl(&["-X", "BREW", &server.url("/private")]);
    curl(&["-d", "12345", &server.url("/cgi/page")]);
    // A client that goes while the answer is on its way.
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 1000]).unwrap();
    drop(stream);

    let all = recorded(&world, 8);
    let of = |uri: &str| all.iter().filter(|t| property(t, "uri") == uri).collect::<Vec<_>>();
    let missing = of("/nowhere");
    assert_eq!((missing[0].status, metric(missing[0], "status")), (Status::Good, Some(404.0)));
    let private = of("/private");
    let statuses: Vec<_> = private.iter().map(|t| metric(t, "status")).collect();
    assert_eq!(statuses[..2], [Some(401.0), Some(200.0)]);
    assert_eq!((property(private[0], "user"), property(private[1], "user")), ("", "ann"));
    assert_eq!(private[2].class.class, "OTHER default", "any word may be a method");
    assert_eq!(of("/cgi/broken")[0].status, Status::Failed);
    assert_eq!(metric(of("/cgi/broken")[0], "status"), Some(500.0));
    assert_eq!(metric(only(&all, "POST cgi-script"), "received_bytes"), Some(5.0));
    assert_eq!(of("/large")[0].status, Status::Aborted);
    assert!(of("/quiet").is_empty());
}

#[test]
fn hostile_headers_are_ignored_and_counted() {
    if module().is_none() {
        return;
    }
    let world = World::new();
    world.rings_of_nobody();
    let server = Httpd::start(&world, "front", "event", PLAIN);
    let long = "0".repeat(6000);
    let wrong = [
        "ARM-Correlator: zz\r\n".to_owned(),
        "ARM-Correlator: 00\r\n".to_owned(),
        "ARM-Correlator: 0003ab\r\n".to_owned(),
        "ARM-Correlator: ffff0011223344\r\n".to_owned(),
        "ARM-Correlator:\r\n".to_owned(),
        format!("ARM-Correlator: {long}\r\n"),
        "traceparent: ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n".to_owned(),
        "traceparent: 00-00000000000000000000000000000000-b7ad6b7169203331-01\r\n".to_owned(),
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331\r\n".to_owned(),
        "traceparent: 00-0AF7651916CD43DD8448EB211C80319Z-b7ad6b7169203331-01\r\n".to_owned(),
        "traceparent: \u{fffd}\u{fffd}\r\n".to_owned(),
    ];
    for header in &wrong {
        let answer = server.get("/", header);
        assert!(answer.starts_with("HTTP/1.1 40"), "as without it: {answer}");
    }
    let all = recorded(&world, wrong.len());
    assert!(
        all.iter().all(|t| t.level == 0 && t.parent.to_string() == "0000000000000000"),
        "{all:?}"
    );
    assert_eq!(server.counter("ignored_malformed"), wrong.len() as u64);
    // One that is none does not spoil the other.
    server.get("/", &format!("ARM-Correlator: zz\r\ntraceparent: {TRACE}\r\n"));
    let all = recorded(&world, wrong.len() + 1);
    assert_eq!(all.last().unwrap().chain.to_string(), TRACE_ID);
    assert_eq!(server.counter("parents_by_traceparent"), 1);
    assert_eq!(server.counter("requests"), wrong.len() as u64 + 1);
}

#[test]
fn strangers_name_no_parent_and_are_told_nothing() {
    if module().is_none() {
        return;
    }
    let world = World::new();
    world.rings_of_nobody();
    let behind = Httpd::start(&world, "behind", "event", PLAIN);
    let more =
        format!("{PLAIN}\nArm4Trust 10.0.0.0/8 192.0.2.1\nProxyPass /p/ {}", behind.url("/"));
    let server = Httpd::start(&world, "front", "prefork", &more);
    let answer = server.get("/p/x", &format!("traceparent: {TRACE}\r\n"));
    assert!(!answer.contains("ARM-Correlator"), "{answer}");
    let all = recorded(&world, 2);
    assert!(
        all.iter().all(|t| t.chain == all[0].chain && t.chain.to_string() != TRACE_ID),
        "{all:?}"
    );
    assert_eq!(server.counter("ignored_strangers"), 1);
    assert_eq!(behind.counter("parents_by_correlator"), 1, "the proxy's own goes on");
}

#[test]
fn mistakes_in_the_configuration_are_refused() {
    let Some(module) = module() else { return };
    let world = World::new();
    let check = |line: &str| {
        let file = world.path().join("check.conf");
        let load = |name: &str, path: &str| format!("LoadModule {name}_module {path}\n");
        let text = load("mpm_event", &builtin("mpm_event"))
            + &load("arm4", module.to_str().unwrap())
            + &format!("ServerName x\nPidFile /nowhere/pid\nErrorLog /dev/null\n{line}\n");
        std::fs::write(&file, text).unwrap();
        let output = Command::new(APACHE).args(["-t", "-f"]).arg(&file).output().unwrap();
        (output.status.success(), support::text(&output.stderr))
    };
    for line in ["Arm4Trust 10.0.0.0/8 all none ::1", "Arm4ResponseHeader trusted"] {
        let (good, said) = check(line);
        assert!(good, "{said}");
    }
    for (line, word) in [
        ("Arm4Trust nobody.example/99", "neither all, none nor an address"),
        ("Arm4ResponseHeader maybe", "on, off or trusted"),
        (&format!("Arm4Class {}", "x".repeat(101)), "1 to 100"),
        (&format!("Arm4Application {}", "x".repeat(128)), "1 to 127"),
    ] {
        let (good, said) = check(line);
        assert!(!good && said.contains(word), "{line}: {said}");
    }
}

/// Counted by the module since it began: requests whose parent it took, and refused.
fn parents(server: &Httpd) -> (u64, u64) {
    (server.counter("parents_by_correlator"), server.counter("ignored_malformed"))
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// No process of the server was ended by a signal.
fn assert_no_crash(world: &World, name: &str) {
    let errors = std::fs::read_to_string(world.path().join(name).join("errors")).unwrap();
    assert!(!errors.contains("exit signal"), "{errors}");
}

/// Cut anywhere, with any octet changed, odd, in capitals, too long by one or by 64 KiB: taken or
/// ignored, and counted as either.
#[test]
fn a_changed_correlator_is_a_parent_or_ignored_and_counted() {
    if module().is_none() {
        return;
    }
    let world = World::new();
    world.rings_of_nobody();
    let more = format!("LimitRequestFieldSize 70000\n{PLAIN}");
    let server = Httpd::start(&world, "front", "event", &more);
    let answer = server.get("/", "");
    let found = answer.lines().find_map(|line| line.strip_prefix("ARM-Correlator: "));
    let correlator = found.unwrap().trim().to_owned();
    let octets: Vec<u8> = (0..correlator.len() / 2)
        .map(|at| u8::from_str_radix(&correlator[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let mut sent = 0;
    let mut before = parents(&server);
    let mut send = |text: &str| {
        let answer = server.get("/", &format!("ARM-Correlator: {text}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 40"), "as without it: {answer}");
        sent += 1;
        let after = parents(&server);
        assert_eq!(after.0 + after.1, before.0 + before.1 + 1, "{text}");
        let is_taken = after.0 > before.0;
        before = after;
        is_taken
    };
    assert!(send(&correlator) && send(&correlator.to_uppercase()));
    for len in 0..octets.len() {
        assert!(!send(&hex(&octets[..len])), "cut to {len} octets");
    }
    assert!(!send(&correlator[1..]) && !send(&format!("{correlator}0")), "an odd length");
    assert!(!send(&format!("{correlator}00")), "longer than it says");
    for at in 0..octets.len() {
        let mut changed = octets.clone();
        changed[at] ^= 0xff;
        send(&hex(&changed)); // most are parents that nobody has: as good as others
    }
    let room = 65_000;
    for long in ["0", "f", "A", "=", "\u{e9}"] {
        assert!(!send(&long.repeat(room / long.len())), "64 KiB of {long}");
    }
    // As long as it says, and the longest there is: 512 octets of nothing.
    let mut longest = vec![0xff; 512];
    longest[..2].copy_from_slice(&[2, 0]);
    send(&hex(&longest));
    // httpd joins headers of the same name: that is no correlator.
    assert!(!send(&format!("{correlator}\r\nARM-Correlator: {correlator}")));
    let all = recorded(&world, sent + 1);
    assert!(all.iter().all(|t| t.status == Status::Good));
    assert_no_crash(&world, "front");
}

/// Requests that no browser makes get the same answer as where nothing is measured.
#[test]
fn hostile_requests_are_answered_as_without_the_module() {
    if module().is_none() {
        return;
    }
    let world = World::new();
    world.rings_of_nobody();
    // Not long for what never comes.
    let limits = "LimitRequestFieldSize 70000\nLimitRequestLine 70000\nTimeout 1\n\
                  HttpProtocolOptions Unsafe";
    let plain = Httpd::start(&world, "plain", "event", &format!("{limits}\nArm4 off"));
    let server = Httpd::start(&world, "front", "event", &format!("{limits}\n{PLAIN}"));
    let host = "Host: here\r\nConnection: close\r\n";
    let user = "Authorization: Basic G1syShtbMkobWzJKOng=\r\n"; // escape sequences
    let long = "x".repeat(60_000);
    let requests = [
        "GET /\r\n".to_owned(), // HTTP/0.9
        "\r\n\r\n\r\n".to_owned(),
        "\u{0}\u{1}\u{2}\r\n\r\n".to_owned(),
        format!("GET /%1b[2J%00%ff%fe HTTP/1.1\r\n{host}\r\n"),
        format!("GET /%1b[2J%ff%fe%c3 HTTP/1.1\r\n{host}\r\n"),
        format!("GET /{}%e4%bd HTTP/1.1\r\n{host}\r\n", "\u{4f60}".repeat(33)),
        format!("GET /{long} HTTP/1.1\r\n{host}\r\n"),
        format!("{long} / HTTP/1.1\r\n{host}\r\n"),
        format!("GET http://{long}/ HTTP/1.1\r\n{host}\r\n"),
        format!("GET / HTTP/1.1\r\nHost: {long}\r\nConnection: close\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: \u{1b}[2J\r\nConnection: close\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\n{host}{user}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}{}\r\n", "A: b\r\n".repeat(200)),
        format!("OPTIONS * HTTP/1.1\r\n{host}\r\n"),
        format!("CONNECT here:1 HTTP/1.1\r\n{host}\r\n"),
        format!("TRACE / HTTP/1.1\r\n{host}\r\n"),
        format!("POST / HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n"),
        format!("POST / HTTP/1.1\r\n{host}Content-Length: 18446744073709551616\r\n\r\n"),
        format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
        format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}Upgrade: h2c, websocket\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}Range: bytes=0-,0-,0-,-1\r\n\r\n"),
    ];
    let first_line = |answer: &str| answer.lines().next().unwrap_or_default().to_owned();
    for request in &requests {
        let shown: String = request.chars().take(60).collect();
        assert_eq!(first_line(&server.raw(request)), first_line(&plain.raw(request)), "{shown:?}");
    }
    // Half a request, and a client that is gone before it gets its answer.
    for request in &requests {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.write_all(&request.as_bytes()[..request.len() / 2]).unwrap();
    }
    assert!(server.get("/", &format!("traceparent: {TRACE}\r\n")).starts_with("HTTP/1.1 40"));
    let all = settled(&world, requests.len() / 2);
    let classes: std::collections::BTreeSet<_> = classes(&all).into_iter().collect();
    assert!(classes.len() < 12, "a client names no classes: {classes:?}");
    let longest = all.iter().flat_map(|t| &t.properties).map(|(_, value)| value.len()).max();
    assert!(longest <= Some(3 * 100), "{longest:?}"); // octets that are no UTF-8 take three
    assert_no_crash(&world, "front");
}

/// Folders for rings that are none, or that httpd's user may not use: httpd serves all the same.
#[test]
fn httpd_serves_where_no_ring_can_be_had() {
    if module().is_none() {
        return;
    }
    for rings in ["/dev/null/no", "/proc", "", "relative/\u{1b}[2J", &"/x".repeat(4000)] {
        let world = World::new();
        let server = Httpd::start_with(&world, "front", "prefork", PLAIN, |command| {
            command.env("CHRONOSCOPE_DIR", rings).env("TMPDIR", "/dev/null");
        });
        for _ in 0..5 {
            let answer = server.get("/", &format!("traceparent: {TRACE}\r\n"));
            assert!(answer.starts_with("HTTP/1.1 40"), "{rings:?}: {answer}");
        }
        assert_no_crash(&world, "front");
    }
}
