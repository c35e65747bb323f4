//! No answer changes unasked: what the program says of kept stores, byte for byte.
//!
//! `ANSWERS_WRITE=1` keeps what it says now; `ANSWERS_PROGRAM` names another program to ask, such as
//! one of an older version.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is asked of each store, and the name of the kept answer.
const QUESTIONS: &[(&str, &str)] = &[
    ("classes", "classes --json"),
    ("acpd", "chains --root decodePlots --leaf TargetView_redraw --json"),
    ("each-root", "chains --root decodePlots --leaf TargetView_redraw --each-root --json"),
    ("inner", "chains --root MRTS::Correlate --leaf TrackStore_updateTrack --level 1 --json"),
    ("apcd", "chains --root decodePlots --apcd --limit 4ms --json"),
    ("sync", "chains --sync TargetView_redraw --json"),
    ("corrected", "chains --root decodePlots --leaf Correlate --correct-clocks --json"),
    ("chain", "chain 000000000000004d0000000000000001 --json"),
    ("profile", "track profile --json"),
    ("rows", "export --format csv"),
    ("arm", "export --format xml"),
    ("trace", "export --format trace"),
];

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(std::fs::copy(&path, target).unwrap()),
        }
    }
}

#[test]
fn answers_from_kept_stores_stay_what_they_were() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = std::env::var_os("ANSWERS_PROGRAM").map(PathBuf::from);
    let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_chronoscope").into());
    let writes = std::env::var_os("ANSWERS_WRITE").is_some();
    let mut changed = Vec::new();
    for store in ["version_1", "version_2", "version_3"] {
        let dir = tempfile::tempdir().unwrap();
        copy(&here.join("../store/tests").join(store), &dir.path().join("data"));
        let kept = here.join("tests/answers").join(store);
        for (name, question) in QUESTIONS {
            let mut command = Command::new(&program);
            command.args(question.split(' ')).args(["--data", "data"]).current_dir(dir.path());
            let output = command.env("TZ", "UTC").stderr(Stdio::null()).output().unwrap();
            let exit = output.status.code().unwrap();
            let answer = [&output.stdout[..], format!("exit {exit}\n").as_bytes()].concat();
            let path = kept.join(name);
            if writes {
                std::fs::create_dir_all(&kept).unwrap();
                std::fs::write(&path, &answer).unwrap();
            } else if std::fs::read(&path).unwrap() != answer {
                changed.push(format!("{store}/{name}"));
            }
        }
    }
    assert_eq!(changed, [""; 0], "ANSWERS_WRITE=1 keeps them; `git diff` says what changed");
}
