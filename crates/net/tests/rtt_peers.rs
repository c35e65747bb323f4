//! Round trips with servers that were made elsewhere: nginx, dnsmasq, snmpd, the kernel, and EPICS
//! pvAccess by p4p. What cannot be had here is skipped, loudly.
#![allow(clippy::unwrap_used)]

use chronoscope_net::probe::rounds::{Probed, rounds};
use chronoscope_net::probe::{Load, Loss, ProbeOptions, Prober};
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ASKING: ProbeOptions = ProbeOptions { octets: 100, timeout: Duration::from_secs(5) };

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether `program` is there, or could be installed.
fn have(program: &str, package: &str) -> bool {
    let script = format!(". tools/env.sh; need {program} {package}");
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap());
    let mut tool = Command::new("sh");
    tool.args(["-c", &script]).current_dir(top()).env("PATH", path);
    let there = tool.status().unwrap().success();
    if !there {
        eprintln!("SKIPPED: round trips with {program} (apt-get install {package})");
    }
    there
}

/// A server that ends with the test.
struct Server(Child);

impl Server {
    fn start(program: &str, args: &[&str]) -> Self {
        let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap());
        let mut command = Command::new(program);
        command.args(args).env("PATH", path).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGTERM, so that nginx takes its workers with it.
        Command::new("kill").arg(self.0.id().to_string()).status().unwrap();
        self.0.wait().unwrap();
    }
}

/// A port that nobody gets until this process ends.
fn free_port() -> u16 {
    chronoscope_lab::reserve_port(Ipv4Addr::LOCALHOST.into()).unwrap().port()
}

fn prober(target: &str) -> Prober {
    Prober::new(target.parse().unwrap(), ASKING)
}

/// Waits until a server replies.
fn await_reply(target: &str) {
    let hasty = ProbeOptions { timeout: Duration::from_millis(500), ..ASKING };
    for _ in 0..1200 {
        if Prober::new(target.parse().unwrap(), hasty).ask().unwrap() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(50));
    }
    panic!("{target} does not come up");
}

/// 20 steady round trips after the first.
fn twenty(prober: &mut Prober) -> Probed {
    let load = Load {
        count: 20,
        every: Duration::ZERO,
        at_most: Duration::from_mins(1),
        ..Load::default()
    };
    rounds(&load, std::slice::from_mut(prober), &|| true, &mut |_| ()).pop().unwrap()
}

/// All of them came.
fn assert_all(prober: &mut Prober) -> Probed {
    let probed = twenty(prober);
    assert!(probed.error.is_none() && probed.losses.is_empty(), "{probed:?}");
    assert!(probed.series.first_ns.is_some());
    assert_eq!(probed.series.summary().count, 20);
    probed
}

#[test]
fn http_with_nginx() {
    if !have("nginx", "nginx-light") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let port = free_port();
    std::fs::write(at("page.txt"), "x".repeat(100_000)).unwrap();
    std::fs::write(at("page.shtml"), "<!--#echo var=\"uri\" -->\n".repeat(300)).unwrap();
    let configuration = format!(
        "pid {pid}; error_log /dev/null; worker_processes 1; daemon off;
         events {{ worker_connections 64; }}
         http {{
           access_log off; client_body_temp_path {body}; proxy_temp_path {body};
           fastcgi_temp_path {body}; uwsgi_temp_path {body}; scgi_temp_path {body};
           server {{
             listen 127.0.0.1:{port}; root {root}; keepalive_requests 10;
             location = /moved {{ return 301 http://elsewhere.invalid/; }}
             location = /none {{ return 204; }}
             location = /busy {{ return 503; }}
             location = /page.shtml {{ ssi on; ssi_types *; }}
           }}
         }}",
        pid = at("pid"),
        body = at("body"),
        root = dir.path().display(),
    );
    std::fs::write(at("nginx.conf"), configuration).unwrap();
    // Its workers, which are another user's, have to get at the pages.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open).unwrap();
    let conf = at("nginx.conf");
    let _server = Server::start("nginx", &["-p", &at(""), "-c", &conf]);
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    await_reply(&url("/page.txt"));
    for path in ["/page.txt", "/page.shtml", "/moved", "/none"] {
        let mut prober = prober(&url(path));
        assert_all(&mut prober);
        // 10, 10 and 1 on a connection, as nginx has it.
        assert_eq!(prober.connections(), 3, "{path}");
    }
    for (path, status) in [("/busy", 503), ("/nowhere", 404)] {
        let probed = twenty(&mut prober(&url(path)));
        assert_eq!(probed.losses.get(&Loss::Denied(format!("HTTP status {status}"))), Some(&21));
    }
}

#[test]
fn dns_with_dnsmasq() {
    if !have("dnsmasq", "dnsmasq-base") {
        return;
    }
    let port = free_port();
    let port_flag = format!("--port={port}");
    let file = tempfile::NamedTempFile::new().unwrap();
    let conf = format!("--conf-file={}", file.path().display());
    let _server = Server::start(
        "dnsmasq",
        &[
            "--no-daemon",
            &conf,
            "--no-resolv",
            "--no-hosts",
            &port_flag,
            "--listen-address=127.0.0.1",
            "--bind-interfaces",
            "--user=root",
            "--pid-file=",
            "--local=/test/",
            "--address=/here.test/10.1.2.3",
        ],
    );
    let target = |name: &str| format!("dns:127.0.0.1:{port}/{name}");
    await_reply(&target("here.test"));
    assert_all(&mut prober(&target("here.test")));
    assert_all(&mut prober(&target("nowhere.test.")));
    // It has nobody to ask about other names.
    let probed = twenty(&mut prober(&target("other.example")));
    assert_eq!(probed.losses.get(&Loss::Denied("REFUSED".to_owned())), Some(&21), "{probed:?}");
}

#[test]
fn snmp_with_snmpd() {
    if !have("snmpd", "snmpd") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let conf = dir.path().join("snmpd.conf");
    std::fs::write(&conf, "rocommunity secret\n").unwrap();
    let port = free_port();
    let address = format!("udp:127.0.0.1:{port}");
    let _server =
        Server::start("snmpd", &["-f", "-Ln", "-C", "-c", conf.to_str().unwrap(), &address]);
    let target = format!("snmp:127.0.0.1:{port}?community=secret");
    await_reply(&target);
    assert_all(&mut prober(&target));
    // Who has another community hears nothing.
    let hasty = ProbeOptions { timeout: Duration::from_millis(50), ..ASKING };
    let stranger = format!("snmp:127.0.0.1:{port}?community=public");
    let mut stranger = Prober::new(stranger.parse().unwrap(), hasty);
    assert!(!stranger.ask().unwrap());
    assert_eq!(stranger.loss(), Some(&Loss::Late));
}

/// Whether Python has pyftpdlib, or it could be installed.
fn have_ftp_server() -> bool {
    let has = || {
        let python = Command::new("python3").args(["-c", "import pyftpdlib"]).output();
        python.is_ok_and(|output| output.status.success())
    };
    let install = ". tools/env.sh; install_package python3-pyftpdlib";
    let there = has()
        || (have("python3", "python3")
            && Command::new("sh").args(["-c", install]).current_dir(top()).status().is_ok()
            && has());
    if !there {
        eprintln!("SKIPPED: retrieval by FTP (apt-get install python3-pyftpdlib)");
    }
    there
}

#[test]
fn ftp_with_pyftpdlib() {
    if !have_ftp_server() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("page.txt"), "x".repeat(100_000)).unwrap();
    std::fs::write(dir.path().join("empty"), "").unwrap();
    let (port, folder) = (free_port().to_string(), dir.path().display().to_string());
    let module = ["-m", "pyftpdlib", "-i", "127.0.0.1", "-p", &port, "-d", &folder];
    let _server = Server::start("python3", &module);
    let url = |path: &str| format!("ftp://127.0.0.1:{port}/{path}");
    await_reply(&url("page.txt"));
    for path in ["page.txt", "empty"] {
        let mut prober = prober(&url(path));
        assert_all(&mut prober);
        assert_eq!(prober.connections(), 1, "the control connection stays");
    }
    // What is not there is denied, and the connection stays.
    let mut nothing = prober(&url("nothing"));
    let probed = twenty(&mut nothing);
    assert_eq!(probed.losses.get(&Loss::Denied("FTP reply 550".to_owned())), Some(&21));
    assert_eq!(nothing.connections(), 1);
}

/// The port mapper has a fixed port: it runs in a network of its own.
#[test]
fn rpc_with_rpcbind() {
    if !have("rpcbind", "rpcbind") {
        return;
    }
    let Ok(host) = chronoscope_lab::Namespace::new() else {
        eprintln!("SKIPPED: rpcbind needs the right to make a network namespace");
        return;
    };
    let test = || {
        let _server = Server::start("rpcbind", &["-f", "-w"]);
        await_reply("rpc:127.0.0.1/100000/2");
        // By the port that it tells for itself, and without asking for one.
        for target in ["rpc:127.0.0.1/100000/2", "rpc:127.0.0.1/100000/4"] {
            let mut prober = prober(target);
            assert_all(&mut prober);
            assert_eq!(prober.octets(), 40);
        }
        let lost = |target: &str| {
            let mut prober = prober(target);
            assert!(!prober.ask().unwrap());
            prober.loss().unwrap().to_string()
        };
        let none = lost("rpc:127.0.0.1/100003/3");
        assert!(none.contains("no port of program 100003 version 3 by UDP"), "{none}");
    };
    host.run(test).unwrap();
}

#[test]
fn icmp_with_the_kernel() {
    for target in ["icmp:127.0.0.1", "icmp:::1"] {
        let mut prober = prober(target);
        match prober.ask() {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                assert!(error.to_string().contains("ping_group_range"));
                eprintln!("SKIPPED: {target}: {error}");
            }
            Err(error) => eprintln!("SKIPPED: {target}: {error}"),
            Ok(false) if prober.loss() == Some(&Loss::Unreachable) => {
                eprintln!("SKIPPED: {target} is unreachable");
            }
            came => {
                assert!(came.unwrap(), "{target}: {:?}", prober.loss());
                assert_all(&mut prober);
            }
        }
    }
}

#[test]
fn pvaccess_with_p4p() {
    let venv = Command::new(top().join("tools/venv")).arg("p4p").output().unwrap();
    if !venv.status.success() {
        eprintln!("SKIPPED: EPICS pvAccess: {}", String::from_utf8_lossy(&venv.stderr));
        return;
    }
    let python = String::from_utf8(venv.stdout).unwrap().trim().to_owned();
    let script = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pva").join(name);
        path.display().to_string()
    };
    let mut server = Command::new(&python)
        .arg(script("server.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut conf = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut conf).unwrap();
    let ask = |how: &str, name: &str| {
        let script = script("ask.py");
        prober(&format!("exec:{python} {script} {how} chronoscope:{name} '{}'", conf.trim()))
    };
    for (how, name) in [("get", "value"), ("rpc", "twice")] {
        let probed = assert_all(&mut ask(how, name));
        // The program measures by itself, and the way to it and back is told apart.
        assert_eq!(probed.around_ns.len(), 20);
    }
    // What is only readable is no procedure.
    let mut wrong = ask("rpc", "value");
    assert!(!wrong.ask().unwrap());
    assert!(matches!(wrong.loss(), Some(Loss::Denied(_))), "{:?}", wrong.loss());
    drop(server.stdin.take());
    server.wait().unwrap();
}
