//! Compiles a program in C or C++ against the library, runs it with a ring folder of its own, and
//! reads its rings.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub, missing_docs)]

use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{Batch, Record};
use chronoscope_record::read::{self, Cursors, Ring};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where cargo has put what it built for this test: `libarm4.so`, and an address to link with.
pub fn library_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let deps = test.parent().unwrap();
    let folders = [deps.to_owned(), deps.parent().unwrap().to_owned()];
    let modified = |folder: &PathBuf| {
        std::fs::metadata(folder.join("libarm4.so")).and_then(|file| file.modified()).ok()
    };
    let newest = folders.into_iter().filter(|folder| modified(folder).is_some());
    newest.max_by_key(modified).expect("cargo builds libarm4.so for its tests")
}

pub fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a command can be run; said loudly when not.
pub fn have(command: &str) -> bool {
    // Under an emulator a command that is not there has started, and ended with 127.
    let output = Command::new(command).arg("--version").output();
    let there = output.is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("SKIPPED: {command} cannot be run here: programs in its language are NOT tested");
    }
    there
}

/// The compilers of C and C++: Debian's names where the tests are of another processor than the one
/// that they are built on, and on that processor itself.
const COMPILERS: [&str; 2] = if cfg!(target_arch = "aarch64") {
    ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"]
} else {
    ["gcc", "g++"]
};

/// The flags that every program has to be clean with.
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-g"];

/// A compiled program and the folder that its rings go to.
pub struct Program {
    binary: PathBuf,
    pub folder: tempfile::TempDir,
}

impl Program {
    /// Compiles `tests/c/NAME`; `None`, loudly, when there is no compiler.
    pub fn compile(name: &str, flags: &[&str]) -> Option<Self> {
        let compiler = COMPILERS[usize::from(!name.ends_with(".c"))];
        if !have(compiler) {
            return None;
        }
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let binary = folder.path().join("program");
        let library = library_folder();
        let output = Command::new(compiler)
            .args(STRICT)
            .args(flags)
            .arg("-I")
            .arg(crate_folder().join("include"))
            .arg(crate_folder().join("tests/c").join(name))
            .arg("-o")
            .arg(&binary)
            .arg("-L")
            .arg(&library)
            .args(["-larm4", "-lpthread"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(Self { binary, folder })
    }

    /// A program that is built already.
    pub fn built(binary: PathBuf) -> Self {
        Self { binary, folder: tempfile::tempdir_in("/dev/shm").unwrap() }
    }

    /// A command that runs it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .env("LD_LIBRARY_PATH", library_folder())
            .env("CHRONOSCOPE_DIR", self.folder.path())
            .env("CHRONOSCOPE_SLOTS", "4096");
        command
    }

    /// Runs it to its end, which must be a good one.
    pub fn run(&self) -> Output {
        self.run_with(&[])
    }

    /// As [`Self::run`], with arguments.
    pub fn run_with(&self, arguments: &[&str]) -> Output {
        let output = self.command().args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}\n{said}{complained}", output.status);
        output
    }

    /// All rings that it left.
    pub fn rings(&self) -> Vec<Recorded> {
        read::find_rings(self.folder.path()).iter().map(|path| Recorded::open(path)).collect()
    }

    /// The only ring that it left.
    pub fn ring(&self) -> Recorded {
        let mut rings = self.rings();
        assert_eq!(rings.len(), 1);
        rings.remove(0)
    }
}

/// Content of a ring.
pub struct Recorded {
    pub ring: Ring,
    pub batch: Batch,
}

impl Recorded {
    pub fn open(path: &Path) -> Self {
        let mut ring = Ring::open(path).unwrap();
        let mut batch = Batch::default();
        ring.drain(&mut Cursors::default(), usize::MAX, &mut batch).unwrap();
        ring.refresh_names().unwrap();
        Self { ring, batch }
    }

    /// The records of a class, in the order in which they ended.
    pub fn all(&self, class: &str) -> Vec<Record> {
        let named = |record: &&Record| {
            self.ring.names().class(record.class).is_some_and(|name| name.class == class)
        };
        self.batch.records().iter().filter(named).copied().collect()
    }

    /// The only record of a class.
    pub fn one(&self, class: &str) -> Record {
        let all = self.all(class);
        assert_eq!(all.len(), 1, "records of {class}");
        all[0]
    }

    /// Content of a record, as `key=value`.
    pub fn said(&self, record: &Record) -> Vec<String> {
        let entries = context::entries(self.batch.context(record));
        let text = |entry: ContextEntry<'_>| match entry {
            ContextEntry::Property(key, value) => format!("{key}={value}"),
            ContextEntry::Metric(key, value) => format!("{key}={value}"),
            ContextEntry::Parent(_) | ContextEntry::Field(..) => format!("{entry:?}"),
        };
        entries.map(text).collect()
    }

    /// A record's number of this name.
    pub fn metric(&self, record: &Record, key: &str) -> Option<f64> {
        context::entries(self.batch.context(record)).find_map(|entry| match entry {
            ContextEntry::Metric(own, value) if own == key => Some(value),
            _ => None,
        })
    }
}
