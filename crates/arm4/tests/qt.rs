//! `qarm.hpp` in programs of Qt 6, built as their users build them, with qmake and CMake, and what
//! their rings hold.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_model::{Flags, Status, TransactionId};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Program, Recorded, crate_folder, library_folder};

/// The library as `tools/arm4` installs it, and a folder to build in.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    /// `None`, loudly, where a tool is missing and its Debian package cannot be had.
    fn new(tools: &[(&str, &str)]) -> Option<Self> {
        for (tool, package) in tools {
            let script = format!(". tools/env.sh; need {tool} {package}");
            let root = crate_folder().join("../..");
            let found = Command::new("sh").args(["-c", &script]).current_dir(root).status();
            if !found.is_ok_and(|status| status.success()) {
                eprintln!("SKIPPED: no {tool} (Debian: {package}): qarm.hpp is NOT tested");
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let own = Self { folder };
        std::fs::create_dir_all(own.prefix().join("lib/pkgconfig")).unwrap();
        std::os::unix::fs::symlink(crate_folder().join("include"), own.prefix().join("include"))
            .unwrap();
        let library = library_folder().join("libarm4.so");
        std::fs::copy(library, own.prefix().join("lib/libarm4.so")).unwrap();
        let template = std::fs::read_to_string(crate_folder().join("arm4.pc.in")).unwrap();
        let prefix = own.prefix().display().to_string();
        let description = template.replace("@PREFIX@", &prefix).replace("@VERSION@", "0");
        std::fs::write(own.prefix().join("lib/pkgconfig/arm4.pc"), description).unwrap();
        Some(own)
    }

    fn prefix(&self) -> PathBuf {
        self.folder.path().join("prefix")
    }

    /// Runs a step of a build in a folder, which must succeed.
    fn run(&self, tool: &str, arguments: &[&str], folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let output = Command::new(tool)
            .args(arguments)
            .current_dir(folder)
            .env("PKG_CONFIG_PATH", self.prefix().join("lib/pkgconfig"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{tool} {arguments:?}\n{said}{complained}");
    }
}

const QMAKE: [(&str, &str); 3] =
    [("qmake6", "qt6-base-dev"), ("make", "make"), ("pkg-config", "pkg-config")];
const CMAKE: [(&str, &str); 3] =
    [("cmake", "cmake"), ("qmake6", "qt6-base-dev"), ("pkg-config", "pkg-config")];

/// An event loop, a worker with queued signals, cancelled and broken transactions, and some without
/// QCoreApplication. The program itself checks signals.
#[test]
fn signals_and_slots_are_transactions() {
    let Some(installed) = Installed::new(&QMAKE) else { return };
    let build = installed.folder.path().join("build");
    let project = crate_folder().join("tests/qt/events.pro");
    installed.run("qmake6", &[project.to_str().unwrap()], &build);
    installed.run("make", &["--silent"], &build);
    let program = Program::built(build.join("events"));
    let output = program.run();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert_eq!(complained.matches("threw an exception: it ends here").count(), 2, "{complained}");
    let mut recorded = program.ring();
    assert_eq!(recorded.ring.process().application, "CWP");
    a_pipeline_of_two_threads(&recorded);
    started_and_stopped_by_signals(&recorded);
    cancelled_and_broken(&recorded);
    let full = recorded.said(&recorded.one("full"));
    assert!(full.contains(&"p0=v".to_owned()) && full.contains(&"p19=w".to_owned()), "{full:?}");
    assert_eq!(recorded.one("late").status(), Status::Good, "stopped without QCoreApplication");
    // A static object is destroyed when its thread has ended for the recorder: lost, and counted.
    assert!(recorded.all("last").is_empty());
    assert_eq!(recorded.ring.counters().unwrap().thread_ended, 1);
    assert!(recorded.all("lost").is_empty());
    assert!(recorded.ring.open_transactions().unwrap().is_empty());
}

fn a_pipeline_of_two_threads(recorded: &Recorded) {
    let receive = recorded.all("receive");
    let (decode, redraw) = (recorded.all("decode"), recorded.all("redraw"));
    assert_eq!((receive.len(), decode.len(), redraw.len()), (3, 3, 3));
    for (index, root) in receive.iter().enumerate() {
        assert_eq!((root.level, root.parent), (0, TransactionId::NONE));
        for child in [&decode[index], &redraw[index]] {
            assert_eq!((child.level, child.parent, child.chain()), (1, root.id, root.chain()));
            assert_eq!(child.path, root.path.child(child.class));
            assert_eq!(child.status(), Status::Good);
            assert!(!child.flags().contains(Flags::FOREIGN));
        }
        assert_eq!(decode[index].thread, root.thread);
        assert_ne!(redraw[index].thread, root.thread);
        let said = recorded.said(root);
        for property in ["sector=Nord-Süd".to_owned(), format!("number={index}")] {
            assert!(said.contains(&property), "{property}: {said:?}");
        }
        let said = recorded.said(&redraw[index]);
        for property in ["layer=tracks", "site=Langen", "app_instance=position 7"] {
            assert!(said.contains(&property.to_owned()), "{property}: {said:?}");
        }
    }
}

fn started_and_stopped_by_signals(recorded: &Recorded) {
    let receive = recorded.all("receive");
    let wait = recorded.one("wait");
    assert_eq!((wait.parent, wait.status()), (receive[0].id, Status::Good));
    assert!(wait.elapsed_ns >= 10_000_000, "at least as long as its timer: {}", wait.elapsed_ns);
    let handed = recorded.one("handed over");
    assert_eq!((handed.level, handed.status()), (0, Status::Failed));
    let signalled = recorded.all("signalled");
    let statuses: Vec<Status> = signalled.iter().map(|own| own.status()).collect();
    assert_eq!(statuses, [Status::Failed, Status::Aborted], "the discarded one is not there");
    assert!(recorded.said(&signalled[0]).contains(&"diag=disk full".to_owned()));
    let said = recorded.said(&signalled[1]);
    assert!(said.iter().all(|own| !own.starts_with("lost=")), "{said:?}");
}

fn cancelled_and_broken(recorded: &Recorded) {
    let broken: Vec<Status> = recorded.all("broken").iter().map(|own| own.status()).collect();
    let good = Status::Good;
    assert_eq!(broken, [Status::Aborted, good, good, good, good]);
}

/// The example, by the CMake file beside it.
#[test]
fn the_example_is_built_with_cmake() {
    let Some(installed) = Installed::new(&CMAKE) else { return };
    let build = installed.folder.path().join("build");
    let source = crate_folder().join("examples/qt");
    installed.run("cmake", &[source.to_str().unwrap()], &build);
    installed.run("cmake", &["--build", "."], &build);
    let program = Program::built(build.join("position"));
    let said = String::from_utf8(program.run().stdout).unwrap();
    assert!(said.lines().count() >= 5 && said.starts_with("drawn in "), "{said}");
    let recorded = program.ring();
    let (receive, redraw) = (recorded.all("receiveTrack"), recorded.all("redraw"));
    assert!(receive.len() >= 5 && redraw.len() >= 5);
    for (own, child) in receive.iter().zip(&redraw) {
        assert_eq!(child.parent, own.id);
        assert_ne!(child.thread, own.thread);
    }
}
