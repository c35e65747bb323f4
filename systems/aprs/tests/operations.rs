//! What an operator does to the running program: check, start, reload, move the log, stop.
#![allow(clippy::unwrap_used)]

mod common;

use chronoscope_clock as clock;
use common::{Client, Sends, Server, passes_as_is};
use nix::unistd::{User, chown, getuid};
use socket2::{Domain, Socket, Type};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;

const BASIC: &str = "ServerId TESTING\nMyAdmin \"Admin, N0CALL\"\n";

/// A folder that the user `nobody` may use, too.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    for path in [folder.path().to_owned(), folder.path().join("logs")] {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        if getuid().is_root() {
            let user = User::from_name("nobody").unwrap().unwrap();
            chown(&path, Some(user.uid), Some(user.gid)).unwrap();
        }
    }
    folder
}

fn program(folder: &Path, arguments: &[&str]) -> Output {
    let user: &[&str] = if getuid().is_root() { &["-u", "nobody"] } else { &[] };
    Command::new(env!("CARGO_BIN_EXE_aprs-server"))
        .args(user)
        .args(arguments)
        .env("CHRONOSCOPE_RECORD", "off")
        .current_dir(folder)
        .output()
        .unwrap()
}

fn first_port(folder: &Path) -> SocketAddr {
    let ports = fs::read_to_string(folder.join("logs/ports")).unwrap();
    ports.lines().next().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
}

/// A server in the background, which ends with this value at the latest.
struct Background {
    pid: String,
}

impl Background {
    fn of(pid_file: &Path) -> Self {
        Self { pid: fs::read_to_string(pid_file).unwrap().trim().to_owned() }
    }

    fn process(&self) -> PathBuf {
        Path::new("/proc").join(&self.pid)
    }

    fn is_gone(&self) -> bool {
        // One that has ended and that nobody waits for has no program any more.
        !self.process().join("exe").exists()
    }

    fn end(&self) {
        assert!(Command::new("kill").arg(&self.pid).status().unwrap().success());
        wait("the server ends", || self.is_gone());
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if !self.is_gone() {
            let _ = Command::new("kill").args(["-KILL", &self.pid]).status();
        }
    }
}

/// Waits until something is so, for 10 s at most.
#[track_caller]
fn wait(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if so() {
            return;
        }
        clock::sleep(Duration::from_millis(5));
    }
    panic!("{what}: not within 60 s");
}

fn connect_from(from: &str, to: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let from: SocketAddr = format!("{from}:0").parse().unwrap();
    socket.bind(&from.into()).unwrap();
    socket.connect(&to.into()).unwrap();
    TcpStream::from(socket)
}

/// Whether a login from this address is answered, instead of the connection's end.
fn is_let_in(from: &str, to: SocketAddr) -> bool {
    let mut stream = connect_from(from, to);
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // Who is refused may not get as far as that.
    let _ = stream.write_all(b"user N5CAL-2 pass -1 vers test 1.0\r\n");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.any(|line| line.starts_with("# logresp N5CAL-2"))
}

#[test]
fn a_configuration_is_checked() {
    let folder = folder();
    let file = folder.path().join("x.conf");
    fs::write(&file, format!("{BASIC}Listen a igate tcp 127.0.0.1 0\n")).unwrap();
    let output = program(folder.path(), &["-y", "-c", "x.conf"]);
    assert!(output.status.success(), "{output:?}");
    fs::write(&file, format!("{BASIC}Listen a igate tcp 127.0.0.1 0 \\\n  filter r/x\n")).unwrap();
    let output = program(folder.path(), &["-y", "-c", "x.conf"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("x.conf:4:10: in the filter: "), "{said}");
    assert_eq!(program(folder.path(), &["--no-such-option"]).status.code(), Some(2));
    let help = program(folder.path(), &["--help"]);
    assert!(help.status.success() && String::from_utf8(help.stdout).unwrap().contains("USR2"));
}

#[test]
fn into_the_background_and_out_again() {
    let folder = folder();
    let text = format!("{BASIC}Listen a fullfeed tcp 127.0.0.1 0\n");
    fs::write(folder.path().join("x.conf"), text).unwrap();
    let arguments = ["-f", "-o", "file", "-n", "foo", "-c", "x.conf", "--ports", "logs/ports"];
    // Its end is that of the parent, after the child has bound its ports.
    let output = program(folder.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let server = Background::of(&folder.path().join("logs/foo.pid"));
    Client::login(first_port(folder.path()), "N5CAL-1");
    let second = program(folder.path(), &arguments);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && said.contains("another running server"), "{said}");
    server.end();
    let log = fs::read_to_string(folder.path().join("logs/foo.log")).unwrap();
    assert!(log.contains("INFO: starting version") && log.contains("INFO: listening \"a\" tcp"));
}

#[test]
fn in_a_chroot() {
    if !getuid().is_root() {
        eprintln!("SKIPPED in_a_chroot: IT TAKES ROOT");
        return;
    }
    let folder = folder();
    let text = format!("{BASIC}Listen a fullfeed tcp 127.0.0.1 0\nRunDir logs\n");
    fs::write(folder.path().join("x.conf"), text).unwrap();
    let root = folder.path().to_str().unwrap();
    let arguments =
        ["-t", root, "-f", "-o", "file", "-n", "foo", "-c", "x.conf", "--ports", "/logs/ports"];
    let output = program(Path::new("/"), &arguments);
    assert!(output.status.success(), "{output:?}");
    let server = Background::of(&folder.path().join("logs/foo.pid"));
    let seen = fs::read_link(server.process().join("root")).unwrap();
    let status = fs::read_to_string(server.process().join("status")).unwrap();
    Client::login(first_port(folder.path()), "N5CAL-1");
    server.end();
    assert_eq!(seen, folder.path().canonicalize().unwrap());
    let nobody = User::from_name("nobody").unwrap().unwrap().uid;
    assert!(
        status.contains(&format!("Uid:\t{nobody}\t{nobody}\t{nobody}\t{nobody}\n")),
        "{status}"
    );
    assert!(status.contains("CapEff:\t0000000000000000\n"), "{status}");
}

#[test]
fn an_acl_says_who_may_connect() {
    let folder = folder();
    let acl = folder.path().join("x.acl");
    fs::write(&acl, "deny 127.0.0.2\nallow 127.0.0.0/8 # the others\n").unwrap();
    let port = |name| format!("Listen {name} fullfeed tcp 127.0.0.1 0 acl {}\n", acl.display());
    let server = Server::start(&port("some"));
    let address = server.port("some");
    assert!(is_let_in("127.0.0.3", address) && !is_let_in("127.0.0.2", address));
    let mut connected = Client::login(address, "N5CAL-1");
    // The file is read again with the configuration; who is connected stays.
    fs::write(&acl, "allow 127.0.0.2\n").unwrap();
    server.signal("USR1");
    wait("who was denied is let in", || is_let_in("127.0.0.2", address));
    assert!(!is_let_in("127.0.0.3", address));
    connected.send("SRC>DST,qAR,N5CAL-1:still here");
    connected.silent(Duration::from_millis(50));
}

#[test]
fn a_faulty_configuration_changes_nothing() {
    let server = Server::basic();
    let file = server.dir().join("aprs-server.conf");
    let text = fs::read_to_string(&file).unwrap();
    let mut sender = Client::login(server.port("full"), "N5CAL-1");
    let mut receiver = Client::login(server.port("full"), "N5CAL-2");
    fs::write(&file, format!("{text}Lissten\n")).unwrap();
    server.signal("USR1");
    wait("the fault is logged", || server.said().contains("the old one stays"));
    assert!(server.said().contains("is it Listen?"));
    passes_as_is(&mut sender, &mut receiver, "SRC>DST,qAR,N5CAL-1:still");
    // A right one, with a port more.
    fs::write(&file, format!("{text}Listen more fullfeed tcp 127.0.0.1 0\n")).unwrap();
    server.signal("USR1");
    wait("the reload", || server.said().contains("the new configuration is read"));
    passes_as_is(&mut sender, &mut receiver, "SRC>DST,qAR,N5CAL-1:and again");
    assert!(server.said().contains("reload: port \"more\" tcp 127.0.0.1:0: new"));
}

#[test]
fn the_log_is_opened_anew() {
    let mut server = Server::basic();
    let log = server.dir().join("aprs-server.log");
    fs::rename(&log, server.dir().join("aprs-server.log.1")).unwrap();
    server.signal("HUP");
    wait("a new log file", || log.exists());
    server.signal("TERM");
    assert!(server.ended().success());
    assert!(!fs::read_to_string(&log).unwrap().is_empty());
}

/// Each start would leave a ring of up to 8 MB in memory.
#[test]
fn rings_of_earlier_runs_do_not_pile_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut said = String::new();
    let mut rings = PathBuf::new();
    for _ in 0..5 {
        let (mut server, folder) = Server::recorded("", folder.path());
        server.signal("TERM");
        assert_eq!(server.ended().code(), Some(0));
        (said, rings) = (server.said(), folder);
    }
    // That of the last one, and of the two before it.
    let count = fs::read_dir(&rings).unwrap().count();
    assert_eq!(count, 3, "{}", rings.display());
    assert!(said.contains("rings of earlier runs removed: 1, "), "{said}");
}

/// The keys and certificates are those of the ports and uplinks, so a check reads them.
#[test]
fn a_check_reads_keys_and_certificates() {
    let folder = folder();
    let file = folder.path().join("x.conf");
    fs::write(folder.path().join("empty.pem"), "").unwrap();
    let tls = "Listen secure igate tcp 127.0.0.1 0 tlskey no.pem tlscert empty.pem\n\
               Uplink up ro tcp localhost 1 tlsca no-ca.pem\n";
    fs::write(&file, format!("{BASIC}PassCode 31421\n{tls}")).unwrap();
    let output = program(folder.path(), &["-y", "-c", "x.conf"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["TLS of \"secure\": ", "empty.pem", "TLS of \"up\": ", "no-ca.pem"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}

/// An error at the start stands once on standard error, where the log goes as well.
#[test]
fn an_error_is_told_once() {
    let folder = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let text = format!("{BASIC}Listen a fullfeed tcp 127.0.0.1 {}\n", address.port());
    fs::write(folder.path().join("x.conf"), text).unwrap();
    let output = program(folder.path(), &["-c", "x.conf", "-o", "stderr"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("cannot listen on").count(), 1, "{said}");
}
