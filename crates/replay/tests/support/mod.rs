//! A replay in a folder of its own, and what its tests look at.
#![allow(clippy::unwrap_used, dead_code)]

pub(crate) mod packets;

use chronoscope_replay::coordinator::{Coordinator, Outcome, Settings};
use chronoscope_replay::player::Player;
use chronoscope_replay::process::Program;
use std::path::{Path, PathBuf};

/// A fresh folder for every replay; two of the same programs see the same names in it.
pub(crate) struct Replay {
    folder: tempfile::TempDir,
}

impl Replay {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn coordinator(&self, settings: Settings) -> Coordinator {
        let time = self.path().join("time");
        std::fs::create_dir(&time).unwrap();
        Coordinator::new(&time, settings).unwrap()
    }

    pub(crate) fn program(&self, name: &str, command: &[&str]) -> Program {
        let folder = self.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        Program {
            name: name.to_owned(),
            command: command.iter().map(Into::into).collect(),
            environment: vec![("PATH".into(), "/usr/bin:/bin:/usr/sbin".into())],
            folder,
            output: Some(self.output_path(name)),
            ..Program::default()
        }
    }

    fn output_path(&self, name: &str) -> PathBuf {
        self.path().join(format!("{name}.out"))
    }

    pub(crate) fn output(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.output_path(name)).unwrap()).into_owned()
    }

    pub(crate) fn run(&self, programs: &[(&str, &[&str])], settings: Settings) -> Outcome {
        let mut coordinator = self.coordinator(settings);
        for (name, command) in programs {
            coordinator.start(&self.program(name, command)).unwrap();
        }
        coordinator.run(&mut Player::none())
    }
}

/// Calls, waits and clock reads are the same in all. Corrected instruction counts of each process agree within 10 ppm; skipped where the machine
/// does not count.
pub(crate) fn assert_same_counts(outcomes: &[Outcome]) {
    let first = &outcomes[0];
    for other in &outcomes[1..] {
        let activities = |outcome: &Outcome| -> Vec<_> {
            outcome.processes.iter().map(|p| (p.activity, p.grants)).collect()
        };
        assert_eq!(activities(first), activities(other), "calls, waits and reads of the clock");
    }
    for (index, process) in first.processes.iter().enumerate() {
        let Some(counts) = process.counts else {
            return eprintln!(
                "SKIPPED: instruction counts of {}: {:?}",
                process.name, first.remarks
            );
        };
        for other in &outcomes[1..] {
            let (one, other) =
                (counts.corrected(), other.processes[index].counts.unwrap().corrected());
            let ppm = one.abs_diff(other) as f64 * 1e6 / one as f64;
            eprintln!("{}: {one} and {other}, {ppm:.2} ppm", process.name);
            assert!(ppm <= 10.0, "{}: {one} and {other}: {ppm} ppm", process.name);
        }
    }
}

/// Compiles a C program of `tests/programs`.
pub(crate) fn compiled(name: &str, folder: &Path) -> String {
    let out = folder.join(name).to_str().unwrap().to_owned();
    let source = format!("{}/tests/programs/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let flags = ["-std=gnu17", "-O1", "-g", "-o", &out, &source, "-lpthread"];
    let status = std::process::Command::new("cc").args(flags).status().unwrap();
    assert!(status.success(), "{source} does not compile");
    out
}
