//! A collector, agents with their hosts, and measured programs: all real processes.

use crate::certificates::Certificates;
use chronoscope_store::Snapshot;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const TOKEN: &str = "a-secret-of-some-length";

/// Waits for something, at most 60 s.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(20));
    }
    panic!("60 s passed and not yet: {what}");
}

/// `chronoscope`, with what it has said on stderr. Killed when dropped.
pub(crate) struct Program {
    child: Option<Child>,
    said: Arc<Mutex<String>>,
    /// Reads what it says until it ends.
    reader: Option<JoinHandle<()>>,
}

impl Program {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).env("TZ", "UTC");
        let mut child = command.spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (lines, heard) = (BufReader::new(child.stderr.take().unwrap()), said.clone());
        let reader = std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                *heard.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child: Some(child), said, reader: Some(reader) }
    }

    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Whether it has ended by itself.
    #[allow(dead_code)] // agents' tests start nothing that may end by itself
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some())
    }

    /// As by a crash; all that it said is there afterwards.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
            self.reader.take().unwrap().join().unwrap();
        }
    }

    /// As by an operator; its last status.
    pub(crate) fn stop(mut self) -> Value {
        let child = self.child.take().unwrap();
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", self.said());
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn chronoscope() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.env_remove("CHRONOSCOPE_TOKEN").env_remove("CHRONOSCOPE_DATA");
    command
}

/// The collector's host.
pub(crate) struct Collector {
    dir: TempDir,
    pub(crate) tls: Option<Certificates>,
    pub(crate) token: bool,
}

impl Collector {
    pub(crate) fn new(tls: Option<Certificates>) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), token: tls.is_some(), tls }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Starts it; the program, and where it listens.
    pub(crate) fn serve(&self) -> (Program, SocketAddr) {
        let mut command = chronoscope();
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--wait-late", "1s", "--data"]);
        command.arg(self.data()).arg("--rings").arg(self.dir.path().join("rings"));
        if let Some(files) = &self.tls {
            command.arg("--tls-cert").arg(&files.certificate).arg("--tls-key").arg(&files.key);
        }
        if self.token {
            command.env("CHRONOSCOPE_TOKEN", TOKEN);
        }
        let program = Program::start(&mut command);
        let mut address = None;
        wait_until("serve listens", || {
            let said = program.said();
            let after = said.split_once("answering on http");
            let url = after.and_then(|(_, rest)| rest.split_once("://"));
            address = url
                .and_then(|(_, rest)| rest.split_once("/status"))
                .and_then(|(address, _)| address.parse().ok());
            address.is_some()
        });
        (program, address.unwrap())
    }

    pub(crate) fn status(&self) -> Value {
        status(&self.data())
    }

    /// The ids of all stored transactions, ascending.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let snapshot = Snapshot::open(&self.data()).unwrap();
        let rows = snapshot.transactions(i64::MIN..i64::MAX);
        let mut ids: Vec<u64> = rows.map(|row| row.unwrap().id.0).collect();
        ids.sort_unstable();
        ids
    }

    pub(crate) fn assert_all_once(&self, rows: usize) {
        let ids = self.ids();
        assert!(ids.is_sorted_by(|a, b| a < b), "rows are doubled");
        assert_eq!(ids.len(), rows);
    }
}

/// Last `status.json` of a collector or agent; null before the first.
fn status(dir: &Path) -> Value {
    let bytes = std::fs::read(dir.join("status.json")).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// A measured host.
pub(crate) struct Host {
    rings: TempDir,
    dir: TempDir,
}

impl Host {
    pub(crate) fn new() -> Self {
        let rings = tempfile::tempdir_in("/dev/shm").unwrap();
        Self { rings, dir: tempfile::tempdir().unwrap() }
    }

    /// The agent's command line.
    pub(crate) fn agent(&self, to: &str) -> Command {
        let mut command = chronoscope();
        command.args(["agent", "--json", "--to", to, "--spool"]).arg(self.spool());
        command.arg("--rings").arg(self.rings.path());
        command
    }

    /// The agent of a collector with TLS and token, which is reached through `port`.
    pub(crate) fn trusted_agent(&self, port: u16, files: &Certificates) -> Command {
        let mut command = self.agent(&format!("https://localhost:{port}"));
        command.arg("--ca").arg(&files.authority).env("CHRONOSCOPE_TOKEN", TOKEN);
        command
    }

    /// Exit code of `agent --probe`, and what it says.
    pub(crate) fn probe(&self, what: &str) -> (Option<i32>, String) {
        let mut command = chronoscope();
        command.args(["agent", "--probe", what, "--spool"]).arg(self.spool());
        let done = command.output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    }

    pub(crate) fn spool(&self) -> PathBuf {
        self.dir.path().join("spool")
    }

    pub(crate) fn status(&self) -> Value {
        status(&self.spool())
    }

    /// Whether all rings were read to their ends and all rows delivered.
    pub(crate) fn is_done(&self) -> bool {
        let status = self.status();
        status["processes"].as_array().is_some_and(Vec::is_empty)
            && status["delivery"]["waiting_rows"] == 0
            && status["delivery"]["acknowledged_rows"].as_u64() > Some(0)
    }

    /// A program that makes `chains` chains of two rows each.
    pub(crate) fn measured(&self, chains: u64, pause_ms: u64, slots: u32) -> Child {
        let program = Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
        let mut command = Command::new(program.join("two_hops"));
        command.args([chains.to_string(), pause_ms.to_string()]).stdout(Stdio::null());
        command.env("CHRONOSCOPE_DIR", self.rings.path());
        command.env("CHRONOSCOPE_SLOTS", slots.to_string()).spawn().unwrap()
    }
}
