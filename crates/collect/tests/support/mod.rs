//! This test's own program as others: programs that record, and collectors, of other users and in
//! other namespaces. The test file has a test `child` that calls [`child`].
#![allow(unreachable_pub)] // it is a part of each test

use chronoscope_clock as clock;
use chronoscope_collect::{Collector, Options, Status};
use chronoscope_record::{self as record, Class, class};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Variables that tell a child what it is, and what it does it with.
pub const ROLE: &str = "CHRONOSCOPE_TEST_ROLE";
pub const DATA: &str = "CHRONOSCOPE_TEST_DATA";
pub const WANTED: &str = "CHRONOSCOPE_TEST_WANTED";
pub const RING_DIR: &str = "CHRONOSCOPE_DIR";
/// What makes the program one test alone.
pub const CHILD: [&str; 4] = ["--exact", "child", "--nocapture", "--test-threads=1"];
/// Rows that a program records whenever it is told to.
pub const ROWS: u64 = 20;
/// Time within which all wanted rows are stored.
const LATE_NS: u64 = 60_000_000_000;
/// Time that a collector has that is to find nothing.
const NOTHING_NS: u64 = 2_000_000_000;

static WORK: Class = class!("work");

/// What this program does as a child of a test.
pub fn child() {
    match std::env::var(ROLE).as_deref() {
        Ok("program") => program(),
        Ok("collector") => collector(),
        _ => {}
    }
}

/// Records, and again whenever it is told to, until its input ends.
fn program() {
    record::init("SHOP");
    loop {
        (0..ROWS).for_each(|_| drop(WORK.begin()));
        println!("\nrecorded {}", std::process::id());
        if std::io::stdin().read_line(&mut String::new()).unwrap() == 0 {
            return;
        }
    }
}

/// Collects until it has so many rows, and no ring of ended programs; prints the status. Where no rows
/// are wanted it looks for [`NOTHING_NS`].
fn collector() {
    let var = |name| std::env::var(name).unwrap();
    let wanted: u64 = var(WANTED).parse().unwrap();
    let mut options = Options::new(var(RING_DIR).into(), var(DATA).into());
    options.tell_every = Duration::from_millis(50);
    let stop = AtomicBool::new(false);
    let within_ns = if wanted == 0 { NOTHING_NS } else { LATE_NS };
    let deadline_ns = clock::monotonic_ns() + within_ns;
    let status = Collector::new(options).unwrap().run(&stop, &mut |status| {
        let is_done = wanted > 0 && status.stored_rows >= wanted;
        let has_ended = status.processes.iter().all(|process| process.alive);
        if (is_done && has_ended) || clock::monotonic_ns() > deadline_ns {
            stop.store(true, Ordering::Relaxed);
        }
    });
    println!("\nstatus {} {}", std::process::id(), serde_json::to_string(&status).unwrap());
}

/// A child, and what it says.
pub struct Program {
    pub child: Child,
    said: BufReader<ChildStdout>,
}

impl Program {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        let command = command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    /// The rest of the next line that begins with `word`.
    pub fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it ended before it said {word}");
            if let Some(rest) = line.strip_prefix(word) {
                return rest.trim().to_owned();
            }
        }
    }

    /// Sends it a line, which a program takes for an order to record.
    pub fn tell(&mut self) {
        writeln!(self.child.stdin.as_mut().unwrap()).unwrap();
    }

    /// Has it record some more.
    pub fn record(&mut self) {
        self.tell();
        self.hear("recorded ");
    }

    /// Has it end.
    pub fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }

    /// The process number that a collector has, and its last status.
    pub fn status(mut self) -> (String, Status) {
        let said = self.hear("status ");
        self.end();
        let (pid, status) = said.split_once(' ').unwrap();
        (pid.to_owned(), serde_json::from_str(status).unwrap())
    }
}

/// Whether this user may start programs of others.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A copy of this program where every user may start it: `dir` is opened to all.
pub fn program_for_all(dir: &Path) -> PathBuf {
    let program = dir.join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    mode(dir, 0o755);
    mode(&program, 0o755);
    program
}

/// A folder of this user and group, made where it is not there.
pub fn folder(path: &Path, (user, group): (u32, u32), bits: u32) -> PathBuf {
    if !path.exists() {
        std::fs::create_dir(path).unwrap();
    }
    chown(path, Some(user), Some(group)).unwrap();
    mode(path, bits);
    path.to_owned()
}

/// Sets the bits of a file or folder.
pub fn mode(path: &Path, bits: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).unwrap();
}
