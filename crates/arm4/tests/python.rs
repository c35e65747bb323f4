//! The package Arm4, an ARM client that is not ours, over the library: its transactions are in its
//! ring, and arrive in the store.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_clock as clock;
use chronoscope_model::Status;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{Recorded, crate_folder, library_folder};

/// A python that has the package, built against our header and library.
fn python(prefix: &Path) -> Option<PathBuf> {
    std::fs::create_dir(prefix.join("lib")).unwrap();
    let library = library_folder().join("libarm4.so");
    std::fs::copy(library, prefix.join("lib/libarm4.so")).unwrap();
    std::os::unix::fs::symlink(crate_folder().join("include"), prefix.join("include")).unwrap();
    let tool = crate_folder().join("../../tools/arm4-python");
    let output = Command::new(tool).arg(prefix).output().unwrap();
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        eprintln!("SKIPPED: the package Arm4 cannot be had here, its calls are NOT tested\n{why}");
        return None;
    }
    Some(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
}

#[test]
fn an_independent_clients_calls_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let Some(python) = python(folder.path()) else { return };
    let rings = tempfile::tempdir_in("/dev/shm").unwrap();
    let output = Command::new(python)
        .arg(crate_folder().join("tests/python/client.py"))
        .env("LD_LIBRARY_PATH", folder.path().join("lib"))
        .env("CHRONOSCOPE_DIR", rings.path())
        .output()
        .unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complained}");
    let found = chronoscope_record::read::find_rings(rings.path());
    assert_eq!(found.len(), 1);
    in_the_ring(&Recorded::open(&found[0]));
    in_the_store(rings.path(), &folder.path().join("data"));
}

fn in_the_ring(recorded: &Recorded) {
    let (parent, child) = (recorded.one("parent"), recorded.one("child"));
    let told = recorded.one("told");
    assert_eq!(recorded.batch.records().len(), 3, "what was discarded is not there");
    assert_eq!((child.parent, child.status()), (parent.id, Status::Failed));
    assert_eq!((told.parent, told.chain()), (parent.id, parent.chain()));
    assert_eq!(told.elapsed_ns, 3_000_000);
    assert!(parent.elapsed_ns >= 20_000_000, "from its arrival: {}", parent.elapsed_ns);
    let want = ["sensor=RDR-3", "plots [count]=12", "user=controller", "app_instance=instance"];
    assert_eq!(recorded.said(&parent)[..want.len()], want);
    let said = recorded.said(&child);
    for text in ["diag=no answer", "blocked_count=1", "config=fast"] {
        assert!(said.contains(&text.to_owned()), "{text}: {said:?}");
    }
}

/// The program `chronoscope`, where it was built beside this test, collects the ring and answers.
fn in_the_store(rings: &Path, data: &Path) {
    let deps = std::env::current_exe().unwrap();
    let binary = deps.parent().unwrap().with_file_name("chronoscope");
    if !binary.exists() {
        eprintln!("SKIPPED: no {}: arrival in the store is NOT tested", binary.display());
        return;
    }
    let command = |arguments: &[&str]| {
        let mut command = Command::new(&binary);
        command.args(arguments).env("CHRONOSCOPE_DIR", rings).env("CHRONOSCOPE_DATA", data);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let mut server = command(&["serve", "--json"]).spawn().unwrap();
    let give_up = clock::monotonic_ns() + 30_000_000_000;
    while !data.join("status.json").exists() && clock::monotonic_ns() < give_up {
        clock::sleep(Duration::from_millis(20));
        assert!(server.try_wait().unwrap().is_none(), "the collector has ended");
    }
    let term = Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    assert!(term.success() && server.wait().unwrap().success());
    for leaf in ["child", "told"] {
        let arguments = ["chains", "--root", "parent", "--leaf", leaf, "--json"];
        let output = command(&arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let path = format!("\"Python::parent/Python::{leaf}\"");
        assert!(said.contains(&path) && said.contains("\"used\": 1"), "{said}");
    }
}
