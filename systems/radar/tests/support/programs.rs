//! The programs of the chain as a test runs them: started on ports of the kernel's choice, ended
//! whatever happens, their summaries and rings read afterwards.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "each user takes a part of it")]
#![allow(clippy::unwrap_used, reason = "a test helper may panic")]

use chronoscope_clock as clock;
use chronoscope_model::{Batch, Names, Record};
use chronoscope_radar::port_files::{ChainPort, PortFiles};
use chronoscope_record::read::{Cursors, Ring, find_rings};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A program that is running.
pub struct Program {
    name: &'static str,
    child: Child,
}

impl Program {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: &str) {
        // By the id of the process that we started and have not waited for.
        let sent = Command::new("kill").args([signal, &self.pid().to_string()]).status().unwrap();
        assert!(sent.success(), "cannot send {signal} to {}", self.name);
    }

    /// Asks for the picture now; waits until the program catches the signal (number 10, bit 9 of
    /// the mask), which would end it before.
    pub fn picture(&self) {
        wait_for("a handler of SIGUSR1", || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
            let caught = status.lines().find_map(|l| l.strip_prefix("SigCgt:")).unwrap();
            u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 9) != 0
        });
        self.signal("-USR1");
    }

    /// Kills it without a word.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it as an operator would and returns its summary.
    pub fn end(mut self) -> serde_json::Value {
        self.signal("-TERM");
        self.summary()
    }

    /// Waits for it to end by itself and returns its summary.
    pub fn finish(mut self) -> serde_json::Value {
        self.summary()
    }

    fn summary(&mut self) -> serde_json::Value {
        let mut text = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{} ended with {status}", self.name);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e} in {text:?}", self.name))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The programs share a folder for ports, pictures and rings.
pub struct Chain {
    pub folder: tempfile::TempDir,
    slots: u32,
}

impl Chain {
    /// A chain each of whose threads keeps its last `slots` transactions.
    pub fn new(slots: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("rings")).unwrap();
        Self { folder, slots }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn start<A: AsRef<OsStr>>(
        &self,
        name: &'static str,
        program: &str,
        own: &[OsString],
        arguments: &[A],
    ) -> Program {
        let child = Command::new(program)
            .args(own)
            .args(arguments)
            .arg("--json")
            .env("CHRONOSCOPE_DIR", self.path("rings"))
            .env("CHRONOSCOPE_SLOTS", self.slots.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Program { name, child }
    }

    pub fn tracker(&self) -> Program {
        self.tracker_with(&[])
    }

    pub fn tracker_with(&self, arguments: &[&str]) -> Program {
        let own = self.files().tracker();
        let program = self.start("tracker", env!("CARGO_BIN_EXE_radar-tracker"), &own, arguments);
        self.address(ChainPort::Tracks);
        program
    }

    pub fn generator(&self, arguments: &[&str]) -> Program {
        let own = self.files().generator(&self.address(ChainPort::Plots));
        let program =
            self.start("generator", env!("CARGO_BIN_EXE_radar-generator"), &own, arguments);
        // There only when it is complete.
        wait_for("flight plans", || self.files().flight_plans().exists());
        program
    }

    /// On `listen`, or on a port of the kernel's choice.
    pub fn messages(&self, listen: Option<&str>) -> Program {
        self.messages_with(listen, &[])
    }

    pub fn messages_with(&self, listen: Option<&str>, arguments: &[&str]) -> Program {
        let _ = std::fs::remove_file(self.files().path(ChainPort::Updates));
        let own = self.files().messages(&self.address(ChainPort::Tracks));
        let arguments = [&["--listen", listen.unwrap_or("127.0.0.1:0")], arguments].concat();
        let program =
            self.start("messages", env!("CARGO_BIN_EXE_radar-messages"), &own, &arguments);
        self.address(ChainPort::Updates);
        program
    }

    pub fn display(&self, png: &str, arguments: &[&str]) -> Program {
        let own = self.files().display(&self.address(ChainPort::Updates));
        let png = self.text(png);
        let arguments = [&["--png", &png], arguments].concat();
        self.start("display", env!("CARGO_BIN_EXE_radar-display"), &own, &arguments)
    }

    /// A display for browsers, at [`Chain::port`] `browsers`.
    pub fn browser_display(&self) -> Program {
        let own = self.files().display(&self.address(ChainPort::Updates));
        let file = self.text("browsers");
        let arguments = ["--listen", "127.0.0.1:0", "--port-file", &file];
        let program = self.start("display", env!("CARGO_BIN_EXE_radar-display"), &own, &arguments);
        self.port("browsers");
        program
    }

    fn files(&self) -> PortFiles {
        PortFiles::new(self.folder.path())
    }

    /// Waits until a program listens, and returns its address.
    pub fn address(&self, port: ChainPort) -> String {
        wait_for("an address", || self.files().address(port).is_some());
        self.files().address(port).unwrap()
    }

    /// Waits for a port file and reads it.
    pub fn port(&self, name: &str) -> String {
        wait_for(name, || self.path(name).exists());
        std::fs::read_to_string(self.path(name)).unwrap().trim().to_owned()
    }

    /// Everything the rings of all processes still hold.
    pub fn transactions(&self) -> Transactions {
        let mut all = Transactions::default();
        for path in find_rings(&self.path("rings")) {
            let mut ring = Ring::open(&path).unwrap();
            let mut batch = Batch::default();
            ring.drain(&mut Cursors::default(), 1 << 22, &mut batch).unwrap();
            ring.refresh_names().unwrap();
            assert_eq!(ring.counters().unwrap().dropped(), 0, "{}", path.display());
            all.names.merge(ring.names());
            all.records.extend_from_slice(batch.records());
        }
        all
    }
}

/// Transactions recorded by all processes.
#[derive(Default)]
pub struct Transactions {
    pub names: Names,
    pub records: Vec<Record>,
}

impl Transactions {
    /// Records of a class of an application.
    pub fn of(&self, application: &str, class: &str) -> Vec<&Record> {
        let named = |r: &&Record| {
            self.names
                .class(r.class)
                .is_some_and(|n| n.application == application && n.class == class)
        };
        self.records.iter().filter(named).collect()
    }

    /// The classes from the root to a record, joined by blanks: followed by parents, not by what
    /// the record itself says, which is thereby checked.
    pub fn lineage(&self, record: &Record, by_id: &HashMap<u64, &Record>) -> String {
        let mut names = Vec::new();
        let mut current = Some(record);
        while let Some(r) = current {
            let name = self.names.class(r.class).unwrap();
            names.push(format!("{}:{}", name.application, name.class));
            current = by_id.get(&r.parent.0).copied();
        }
        names.reverse();
        names.join(" ")
    }

    /// The root of the chain that a record belongs to.
    pub fn roots(&self) -> HashMap<u128, &Record> {
        self.records
            .iter()
            .filter(|r| r.level == 0)
            .map(|r| ((u128::from(r.chain_high) << 64) | u128::from(r.chain_low), r))
            .collect()
    }

    pub fn by_id(&self) -> HashMap<u64, &Record> {
        self.records.iter().map(|r| (r.id.0, r)).collect()
    }
}

/// Waits at most 20 s.
pub fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if done() {
            return;
        }
        clock::sleep(Duration::from_millis(10));
    }
    panic!("not within 20 s: {what}");
}

/// Pixels of exactly the colour that symbols and labels of identified targets have.
pub fn target_pixels(png: &Path) -> usize {
    let picture = tiny_skia::Pixmap::decode_png(&std::fs::read(png).unwrap()).unwrap();
    let colour = chronoscope_radar::display::TargetStyle::Correlated.colour();
    picture.pixels().iter().filter(|p| [p.red(), p.green(), p.blue()] == colour).count()
}
