//! From the command line to a process that may serve: user, root folder, limits, log, pid file.
//!
//! Each test starts this program again as [`child`], which becomes what a command line says and
//! tells what it has become. What takes root is skipped for others, loudly.
#![allow(clippy::unwrap_used)]

use chronoscope_aprs::args::Args;
use chronoscope_aprs::daemon;
use chronoscope_aprs::engine::LogLevel;
use clap::Parser;
use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::{Uid, User, chown, getgroups, getuid, seteuid};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;

const ARGUMENTS: &str = "APRS_DAEMON_TEST";
const CONFIG: &str = "ServerId T2TEST\nMyAdmin \"A, N0CALL\"\nListen a igate tcp 127.0.0.1 0\n";

/// Not a test: what the tests start.
#[test]
#[ignore = "started by the other tests"]
fn child() {
    let line = std::env::var(ARGUMENTS).unwrap();
    let args = Args::try_parse_from(line.split('\n')).unwrap();
    let outcome = daemon::start(&args);
    let started = match outcome {
        Ok(started) => started,
        Err(error) => {
            eprintln!("refused: {error}");
            std::process::exit(1);
        }
    };
    started.log.write(LogLevel::Info, format_args!("serving"));
    let low = (1..1024).rev().any(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
    let told = format!(
        "uid {} pid {} cwd {} low {low} back {} files {} groups {:?} capabilities {}\n",
        getuid(),
        std::process::id(),
        std::env::current_dir().unwrap().display(),
        seteuid(Uid::from_raw(0)).is_ok(),
        getrlimit(Resource::RLIMIT_NOFILE).unwrap().0,
        getgroups().unwrap().iter().map(|group| group.as_raw()).collect::<Vec<_>>(),
        capabilities(),
    );
    // The harness goes on writing to where nobody reads: the answer goes into a file.
    fs::write("told", told).unwrap();
    started.ready.tell().unwrap();
    if args.fork {
        chronoscope_clock::sleep(Duration::from_millis(50));
    }
    std::process::exit(0);
}

fn capabilities() -> String {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map_or("?".to_owned(), |value| value.trim().trim_start_matches('0').to_owned())
    };
    format!("{}/{}", of("CapEff:"), of("CapAmb:"))
}

/// A folder with a configuration that `nobody` may use.
fn folder(config: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.conf"), config).unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    if getuid().is_root() {
        let user = User::from_name("nobody").unwrap().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("logs")] {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            chown(&path, Some(user.uid), Some(user.gid)).unwrap();
        }
    }
    folder
}

fn start(folder: &TempDir, arguments: &[&str]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
        .env(ARGUMENTS, [&["foo", "-n", "foo"], arguments].concat().join("\n"))
        .current_dir(folder.path())
        .output()
        .unwrap()
}

fn told(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("told")).unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

fn root_or_skip(test: &str) -> bool {
    let root = getuid().is_root();
    if !root {
        eprintln!("SKIPPED {test}: IT TAKES ROOT");
    }
    root
}

/// As whom the tests start a server that need not change its user.
fn as_we_are() -> &'static [&'static str] {
    if getuid().is_root() { &["-u", "nobody"] } else { &[] }
}

#[test]
fn in_a_chroot_as_nobody() {
    if !root_or_skip("in_a_chroot_as_nobody") {
        return;
    }
    let folder = folder(CONFIG);
    let root = folder.path().to_str().unwrap();
    let output = start(&folder, &["-t", root, "-u", "nobody", "-o", "file", "-c", "x.conf"]);
    assert!(output.status.success(), "{output:?}");
    let told = told(&folder);
    let nobody = User::from_name("nobody").unwrap().unwrap();
    assert!(told.starts_with(&format!("uid {} pid ", nobody.uid)), "{told}");
    assert!(told.contains(" cwd / low false back false "), "{told}");
    assert!(told.contains(&format!("groups [{}]", nobody.gid)), "{told}");
    let log = folder.path().join("logs/foo.log");
    assert_eq!(fs::metadata(&log).unwrap().uid(), nobody.uid.as_raw());
    let log = read(log);
    assert!(log.contains("INFO: starting version") && log.ends_with("INFO: serving\n"), "{log}");
    let pid = read(folder.path().join("logs/foo.pid"));
    assert!(told.contains(&format!("pid {} ", pid.trim())), "{told} {pid}");
}

#[test]
fn root_is_refused() {
    if !root_or_skip("root_is_refused") {
        return;
    }
    let folder = folder(CONFIG);
    let says = |arguments: &[&str], text: &str| {
        let output = start(&folder, arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(text), "{arguments:?}: {error}");
    };
    says(&["-c", "x.conf"], "refused: refusing to run as root");
    says(&["-u", "root", "-c", "x.conf"], "refused: refusing to run as root");
    says(&["-u", "nobody-at-all", "-c", "x.conf"], "no user nobody-at-all exists");
    says(&["-t", ".", "-c", "x.conf"], "-t needs -u");
    says(&["-t", ".", "-u", "root", "-c", "x.conf"], "-t needs -u");
    assert!(!folder.path().join("told").exists());
    assert!(start(&folder, &["--allow-root", "-c", "x.conf"]).status.success());
    assert!(told(&folder).starts_with("uid 0 "));
}

#[test]
fn only_low_ports_stay_of_roots_powers() {
    if !root_or_skip("only_low_ports_stay_of_roots_powers") {
        return;
    }
    // The port is not bound by what is tested here; that one below 1024 is wanted is enough.
    let folder = folder(&format!("{CONFIG}Listen b igate tcp 127.0.0.1 23\n"));
    assert!(start(&folder, &["-u", "nobody", "-c", "x.conf"]).status.success());
    let told = told(&folder);
    assert!(told.contains(" low true back false "), "{told}");
    assert!(told.trim_end().ends_with("capabilities 400/400"), "{told}");
}

#[test]
fn files_are_limited_as_configured() {
    if !root_or_skip("files_are_limited_as_configured") {
        return;
    }
    let folder = folder(&format!("{CONFIG}FileLimit 777\n"));
    let output = start(&folder, &["-u", "nobody", "-c", "x.conf"]);
    assert!(told(&folder).contains(" files 777 "), "{}", told(&folder));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("INFO: FileLimit is 777, MaxClients is 500"), "{error}");
}

#[test]
fn the_parent_ends_as_its_child_starts() {
    let folder = folder(CONFIG);
    let forked = |more: &[&str]| {
        let arguments = [as_we_are(), &["-f", "-o", "file", "-c"], more].concat();
        start(&folder, &arguments)
    };
    assert!(forked(&["x.conf"]).status.success());
    let pid = read(folder.path().join("logs/foo.pid"));
    assert!(told(&folder).contains(&format!(" pid {} ", pid.trim())));
    let output = forked(&["y.conf"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("y.conf: cannot be read"), "{error}");
    let log = read(folder.path().join("logs/foo.log"));
    assert!(log.contains("CRIT: y.conf: cannot be read"), "{log}");
}

#[test]
fn a_check_leaves_nothing_behind() {
    let folder = folder(CONFIG);
    let arguments = ["-y", "-f", "-o", "file", "-c", "x.conf"];
    // No -u: a check may be made by root, too.
    assert!(start(&folder, &arguments).status.success());
    assert_eq!(fs::read_dir(folder.path().join("logs")).unwrap().count(), 0);
    fs::write(folder.path().join("x.conf"), "ServerId T2TEST\nMyAdmn x\n").unwrap();
    let output = start(&folder, &arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(error.contains("x.conf:2:1: unknown directive \"MyAdmn\"; is it MyAdmin?"), "{error}");
    assert!(error.contains("x.conf: MyAdmin is missing"), "{error}");
}

#[test]
fn a_second_server_is_refused() {
    let folder = folder(CONFIG);
    let path = folder.path().join("logs/foo.pid");
    let _first = daemon::PidFile::write(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let output = start(&folder, &[as_we_are(), &["-o", "file", "-c", "x.conf"]].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && error.contains("belongs to another running server"),
        "{error}"
    );
}

#[test]
fn what_cannot_change_stays() {
    let folder = folder(CONFIG);
    let path = folder.path().join("x.conf");
    let args = Args::try_parse_from(["foo", "-c", path.to_str().unwrap()]).unwrap();
    let running = chronoscope_aprs::config::read(&path).unwrap();
    let log = chronoscope_aprs::log::Log::new("foo", LogLevel::Debug);
    log.set_stderr(false);
    log.open_file(folder.path()).unwrap();
    let changed = "ServerId T2OTHER\nMyAdmin b\nWorkerThreads 5\nMaxClients 7\n\
                   Listen a igate tcp 127.0.0.1 0\n";
    fs::write(&path, changed).unwrap();
    let next = daemon::reread(&args, &running, &log).unwrap();
    assert_eq!((next.server_id, next.workers), (running.server_id, running.workers));
    assert_eq!((next.clients_max, &*next.my_admin), (7, "b"));
    fs::write(&path, "Lissten\n").unwrap();
    assert!(daemon::reread(&args, &running, &log).is_err());
    let log = read(folder.path().join("foo.log"));
    assert!(log.contains("ERROR: ServerId does not change while the server runs"), "{log}");
    assert!(log.contains("unknown directive \"Lissten\""), "{log}");
    assert!(log.ends_with("the new configuration has faults: the old one stays\n"), "{log}");
}
