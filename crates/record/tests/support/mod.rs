//! Runs a scenario in a process of its own, with a ring folder of its own, and reads its ring.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub, missing_docs)]

use chronoscope_model::{Batch, Record};
use chronoscope_record::read::{self, Cursors, Ring};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

const SCENARIO: &str = "CHRONOSCOPE_TEST_SCENARIO";

/// The scenario that this process is to run, when it is a child of the test.
pub fn asked_for() -> Option<String> {
    std::env::var(SCENARIO).ok()
}

/// A scenario's process, its folder and what it said.
pub struct Ran {
    pub folder: tempfile::TempDir,
    pub status: ExitStatus,
    pub said: String,
    pub complained: String,
}

/// A command that runs `scenario` of this test program, with rings in `folder`.
pub fn command(scenario: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["child_entry", "--exact", "--nocapture", "--test-threads=1"])
        .env(SCENARIO, scenario)
        .env("CHRONOSCOPE_DIR", folder)
        .env("CHRONOSCOPE_SLOTS", "1024");
    command
}

/// Runs a scenario to its end.
pub fn run(scenario: &str) -> Ran {
    run_with(scenario, &[])
}

/// Runs a scenario to its end in another environment.
pub fn run_with(scenario: &str, environment: &[(&str, &str)]) -> Ran {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let output =
        command(scenario, folder.path()).envs(environment.iter().copied()).output().unwrap();
    Ran {
        folder,
        status: output.status,
        said: String::from_utf8_lossy(&output.stdout).into_owned(),
        complained: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Starts a scenario that waits on its standard input when it is ready and says `ready`.
pub fn spawn(scenario: &str, folder: &Path) -> Child {
    spawn_command(command(scenario, folder))
}

/// Starts a command that ends in a scenario as in [`spawn`].
pub fn spawn_command(mut command: Command) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("ready") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut reader, &mut line).unwrap() > 0, "child ended");
    }
    child.stdout = Some(reader.into_inner());
    child
}

/// In the child: says `ready` and waits until the test closes the standard input.
pub fn wait_for_test() {
    println!("ready");
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line).unwrap_or(0) > 0 {}
}

impl Ran {
    /// The value that the scenario said as `key=value`.
    pub fn value(&self, key: &str) -> String {
        let prefix = format!("{key}=");
        self.said
            .lines()
            .find_map(|line| line.split_once(&prefix).map(|(_, value)| value.trim()))
            .unwrap_or_else(|| panic!("{key} not said in {}{}", self.said, self.complained))
            .to_owned()
    }

    pub fn rings(&self) -> Vec<PathBuf> {
        read::find_rings(self.folder.path())
    }

    /// The only ring of a scenario that went well.
    pub fn ring(&self) -> Ring {
        assert!(self.status.success(), "{}{}", self.said, self.complained);
        let rings = self.rings();
        assert_eq!(rings.len(), 1, "{rings:?} {}", self.complained);
        Ring::open(&rings[0]).unwrap()
    }
}

/// All records that are still in a ring.
pub fn drain(ring: &mut Ring) -> Batch {
    let mut batch = Batch::default();
    ring.drain(&mut Cursors::default(), usize::MAX, &mut batch).unwrap();
    ring.refresh_names().unwrap();
    batch
}

/// The records of a class.
pub fn of_class(ring: &Ring, batch: &Batch, class: &str) -> Vec<Record> {
    let named = |r: &&Record| ring.names().class(r.class).is_some_and(|name| name.class == class);
    batch.records().iter().filter(named).copied().collect()
}

/// The only record of a class.
pub fn one(ring: &Ring, batch: &Batch, class: &str) -> Record {
    let found = of_class(ring, batch, class);
    assert_eq!(found.len(), 1, "records of {class}");
    found[0]
}

/// In the child: leaves without the thread's end, which would abort what is open.
#[allow(unsafe_code)]
pub fn leave_at_once() -> ! {
    // SAFETY: a plain system call.
    unsafe { libc::_exit(0) }
}
