//! Common part of the tests of instrumented software: a build as a user makes it, a folder of
//! rings, and the recorded transactions.

// Helpers; no test file uses all of them.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub, missing_docs)]

use chronoscope_model::{Batch, Transaction};
use chronoscope_record::read::{self, Cursors, Ring};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::OnceLock;
use std::time::Duration;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// libarm4 and its headers, as installed: `include/` and `lib/`.
#[derive(Debug)]
pub struct Arm4(pub PathBuf);

impl Arm4 {
    pub fn include(&self) -> PathBuf {
        self.0.join("include")
    }

    pub fn lib(&self) -> PathBuf {
        self.0.join("lib")
    }
}

/// The library that cargo has built for this test, in a folder with the headers; once a test file.
pub fn arm4() -> &'static Arm4 {
    static ARM4: OnceLock<Arm4> = OnceLock::new();
    ARM4.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let name = test.file_name().unwrap().to_str().unwrap();
        let deps = test.parent().unwrap();
        // The newer one: cargo puts it into one place or the other.
        let built = [deps.to_owned(), deps.parent().unwrap().to_owned()];
        let built = built.iter().map(|folder| folder.join("libarm4.so"));
        let modified = |file: &PathBuf| fs::metadata(file).and_then(|file| file.modified()).ok();
        let library = built.filter(|file| file.exists()).max_by_key(modified);
        let library = library.expect("cargo builds libarm4.so for its tests");
        let place = deps.parent().unwrap().join("instrument-tests").join(name);
        fs::create_dir_all(place.join("include")).unwrap();
        fs::create_dir_all(place.join("lib")).unwrap();
        let _turn = turn(&place);
        for header in fs::read_dir(root().join("crates/arm4/include")).unwrap() {
            let header = header.unwrap();
            install(&header.path(), &place.join("include").join(header.file_name()));
        }
        install(&library, &place.join("lib/libarm4.so"));
        Arm4(place)
    })
}

/// Tests of one file are processes that run at the same time and share a folder: one builds in it
/// while the others wait.
fn turn(place: &Path) -> fs::File {
    let lock = fs::File::create(place.join("lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// Copies a file that another program may have loaded: what is the same stays, what differs gets a
/// file of its own.
fn install(from: &Path, to: &Path) {
    let content = fs::read(from).unwrap();
    if fs::read(to).is_ok_and(|there| there == content) {
        return;
    }
    let new = to.with_extension("new");
    fs::write(&new, content).unwrap();
    fs::rename(new, to).unwrap();
}

/// Builds one target of `instrument/Makefile` with gcc; returns the folder of the results.
pub fn instrument(target: &str) -> PathBuf {
    let out = arm4().0.join(target);
    let _turn = turn(&arm4().0);
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(root().join("instrument")).arg(target);
    make.arg(format!("ARM4={}", arm4().0.display())).arg(format!("OUT={}", out.display()));
    run(make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL"));
    out
}

/// Compiles a program of `instrument/tests` against libarm4, into `out`.
pub fn compile(compiler: &str, sources: &[&str], flags: &[&str], out: &Path) {
    let mut cc = Command::new(compiler);
    cc.args(["-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-pthread"]);
    cc.arg("-I").arg(arm4().include()).args(flags).arg("-o").arg(out);
    cc.args(sources.iter().map(|source| root().join("instrument").join(source)));
    cc.arg("-L").arg(arm4().lib()).arg("-larm4");
    run(cc.arg(format!("-Wl,-rpath,{}", arm4().lib().display())));
}

/// Runs a command that has to succeed.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

/// Whether a Debian package's `file` is here, or could be installed; otherwise says loudly that
/// `what` is skipped.
pub fn have(file: &str, package: &str, what: &str) -> bool {
    if !Path::new(file).exists() {
        let script = format!(". tools/env.sh; install_package {package}");
        let _ = Command::new("sh").arg("-c").arg(script).current_dir(root()).status();
    }
    let there = Path::new(file).exists();
    if !there {
        eprintln!("SKIPPED: {what} needs Debian's package {package}");
    }
    there
}

/// Whether this process may become another user, as a server that refuses root needs it.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0)
}

/// A command as an ordinary user: servers of databases refuse to run as root.
pub fn as_nobody(program: &str) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
    command
}

/// A folder that every user may use, with one for rings.
pub struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        open_to_all(world.path());
        // The recorder shuns folders that others may write to.
        fs::create_dir(world.rings()).unwrap();
        world
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Makes a folder that every user may write into.
    pub fn folder(&self, name: &str) -> PathBuf {
        let folder = self.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        open_to_all(&folder);
        folder
    }

    pub fn rings(&self) -> PathBuf {
        self.path().join("rings")
    }

    /// Gives the folder of the rings to the user that servers run as.
    pub fn rings_of_nobody(&self) {
        if is_root() {
            std::os::unix::fs::chown(self.rings(), Some(65534), Some(65534)).unwrap();
        }
    }

    /// `program` with its rings in this world, and no parent from outside.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        self.settle(&mut command);
        command
    }

    pub fn settle(&self, command: &mut Command) {
        command.env("CHRONOSCOPE_DIR", self.rings());
        command.env_remove("TRACEPARENT").env_remove("ARM_CORRELATOR");
        command.env_remove("ARM4_APPLICATION").env_remove("ARM4_SQL");
    }

    /// Everything that was recorded, by its start. Two begins may have one stamp: some processors'
    /// counters advance by 10 ns at a time. A ring has the child first then, which ended first.
    pub fn transactions(&self) -> Vec<Transaction> {
        let mut all = Vec::new();
        for path in read::find_rings(&self.rings()) {
            // One that is only being made has nothing yet; who waits for it looks again.
            let Ok(mut ring) = Ring::open(&path) else { continue };
            let (mut cursors, mut batch) = (Cursors::default(), Batch::default());
            while ring.drain(&mut cursors, 100_000, &mut batch).unwrap().read > 0 {}
            ring.refresh_names().unwrap();
            assert_eq!(ring.counters().unwrap().dropped(), 0);
            for record in batch.records() {
                let context = batch.context(record);
                all.push(Transaction::from_record(record, context, ring.names()));
            }
        }
        all.sort_by_key(|transaction| (transaction.start_ns, transaction.level, transaction.id));
        all
    }
}

fn open_to_all(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
}

/// The value of a property; "" when the transaction has none of that name.
pub fn property<'a>(transaction: &'a Transaction, name: &str) -> &'a str {
    let found = transaction.properties.iter().find(|(key, _)| key == name);
    found.map_or("", |(_, value)| value.as_str())
}

/// The value of a metric.
pub fn metric(transaction: &Transaction, name: &str) -> Option<f64> {
    transaction.metrics.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
}

/// The only transaction of a class.
#[track_caller]
pub fn only<'a>(all: &'a [Transaction], class: &str) -> &'a Transaction {
    let mut found = all.iter().filter(|transaction| transaction.class.class == class);
    let (first, second) = (found.next(), found.next());
    assert!(first.is_some() && second.is_none(), "not one {class:?} in {:#?}", classes(all));
    first.unwrap()
}

/// The classes, in the order of their starts.
pub fn classes(all: &[Transaction]) -> Vec<&str> {
    all.iter().map(|transaction| transaction.class.class.as_str()).collect()
}

/// A server that the test started; asked to end, then made to, when dropped.
pub struct Server(pub Child);

impl Drop for Server {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        let _ = Command::new("kill").args(["-INT", &pid]).status();
        for _ in 0..100 {
            if self.0.try_wait().is_ok_and(|ended| ended.is_some()) {
                return;
            }
            chronoscope_clock::sleep(Duration::from_millis(50));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(50));
    }
    panic!("30 s passed and not yet: {what}");
}
