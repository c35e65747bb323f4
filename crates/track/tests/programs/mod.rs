//! Small programs in C and Rust, compiled and profiled by the tests.

#![allow(dead_code)] // each test file uses some of it

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use chronoscope_track::callgrind::{Limits, Profile, read_set};
use tempfile::TempDir;

/// A folder with a program and its profile.
pub(crate) struct Program {
    folder: TempDir,
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Whether what the tests need is there; says loudly what is not.
pub(crate) fn tools(names: &[&str]) -> bool {
    names.iter().all(|name| {
        let found = Command::new(name).arg("--version").output().is_ok();
        if !found {
            eprintln!("SKIPPED: no {name} (apt-get install gcc valgrind): nothing was tested here");
        }
        found
    })
}

impl Program {
    /// Compiles C.
    pub(crate) fn c(source: &str, flags: &[&str]) -> Program {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.c"), source).unwrap();
        let mut cc = Command::new("cc");
        cc.current_dir(&folder).args(["-g", "-O1", "-o", "program", "main.c", "-pthread"]);
        succeed(cc.args(flags));
        Program { folder }
    }

    /// Compiles Rust.
    pub(crate) fn rust(source: &str, flags: &[&str]) -> Program {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.rs"), source).unwrap();
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc.current_dir(&folder).args(["-g", "-O", "--edition=2024", "-o", "program", "main.rs"]);
        succeed(rustc.args(flags));
        Program { folder }
    }

    /// The file that profiles are written to.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("profile")
    }

    /// The executable.
    pub(crate) fn executable(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// Runs the program under Callgrind.
    pub(crate) fn profile(&self, flags: &[&str]) -> Profile {
        let mut valgrind = Command::new("valgrind");
        valgrind.current_dir(&self.folder).args(["--tool=callgrind", "-q"]);
        valgrind.arg("--callgrind-out-file=profile").args(flags).arg("./program");
        succeed(&mut valgrind);
        let set = read_set(&self.path(), Limits::default()).unwrap();
        assert_eq!(set.strangers, Vec::<PathBuf>::new());
        assert_eq!(set.profile.discrepancies(), []);
        set.profile
    }
}

/// Result of `callgrind_annotate` on a file: the costs of each "file:function", and the total.
pub(crate) fn annotated(file: &Path, flags: &[&str]) -> (Vec<(String, u64)>, u64) {
    let mut annotate = Command::new("callgrind_annotate");
    annotate.args(["--threshold=100", "--auto=no", "--show-percs=no"]).args(flags).arg(file);
    let output = String::from_utf8(succeed(&mut annotate).stdout).unwrap();
    let (mut rows, mut total) = (Vec::new(), 0);
    for line in output.lines() {
        let Some((count, rest)) = line.trim_start().split_once("  ") else { continue };
        let Ok(count) = count.replace(',', "").parse() else { continue };
        if rest.starts_with("PROGRAM TOTALS") {
            total = count;
        } else {
            rows.push((rest.split(" [").next().unwrap().trim().to_owned(), count));
        }
    }
    (rows, total)
}
