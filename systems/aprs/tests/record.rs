//! A running program is recorded, and played again without sockets.
#![allow(clippy::unwrap_used)]

mod common;

use chronoscope_clock as clock;
use common::{Client, passes_as_is};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const CONFIG: &str = "\
ServerId TESTING
MyAdmin \"Admin, N0CALL\"
WorkerThreads 1
Listen full fullfeed tcp 127.0.0.1 0
Listen igate igate tcp 127.0.0.1 0
";

fn program(config: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aprs-server"));
    command.arg("-c").arg(config).arg("--allow-root").env("CHRONOSCOPE_RECORD", "off");
    command.stdin(Stdio::null());
    command
}

/// The program's ports by name, once all are bound.
fn ports(file: &Path, child: &mut Child) -> impl Fn(&str) -> SocketAddr + use<> {
    for _ in 0..4000 {
        if file.exists() {
            break;
        }
        assert_eq!(child.try_wait().unwrap(), None, "the server ended at once");
        clock::sleep(Duration::from_millis(5));
    }
    let text = fs::read_to_string(file).unwrap();
    move |name| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }
}

#[test]
fn recording_of_a_running_server_is_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let [config, recording, ports_file] =
        ["aprs-server.conf", "day.journal", "ports"].map(|name| folder.path().join(name));
    fs::write(&config, CONFIG).unwrap();
    let mut child = program(&config)
        .args(["-o", "none", "-p"])
        .arg(folder.path().join("pid"))
        .arg("--ports")
        .arg(&ports_file)
        .arg("--record")
        .arg(&recording)
        .spawn()
        .unwrap();
    let port = ports(&ports_file, &mut child);
    let mut from = Client::login(port("igate"), "N5CAL-1");
    let mut to = Client::login(port("full"), "N5CAL-2");
    for number in 0..50 {
        passes_as_is(&mut from, &mut to, format!("SRC>APRS,qAR,N5CAL-1:>number {number}"));
    }
    drop(from);
    let killed = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success() && child.wait().unwrap().success());

    let replayed = program(&config).arg("--replay").arg(&recording).output().unwrap();
    let said = String::from_utf8(replayed.stderr).unwrap();
    assert!(replayed.status.success(), "{said}");
    assert!(said.contains(": the same as recorded"), "{said}");
    assert!(!said.contains("breaks off"), "{said}");
    let printed = String::from_utf8(replayed.stdout).unwrap();
    for number in 0..50 {
        let packet = format!("SRC>APRS,qAR,N5CAL-1:>number {number}\\r\\n");
        assert!(printed.contains(&packet), "{packet} in\n{printed}");
    }

    fs::write(&config, CONFIG.replace("igate igate", "igate clientonly")).unwrap();
    let refused = program(&config).arg("--replay").arg(&recording).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("the configuration differs from the recorded one"), "{said}");
}
