//! Programs of several users, whose rings a group shares, and a collector of a further user.
//!
//! It takes root to start programs of other users; without, each test says that it is skipped.
#![allow(clippy::unwrap_used)] // a test may panic

mod support;

use chronoscope_collect::Status;
use chronoscope_record::read;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{CHILD, DATA, Program, RING_DIR, ROLE, ROWS, WANTED, mode, program_for_all};

/// A user and the group that it is in; nobody has to know them.
#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

const GROUP: u32 = 64_200;
const A: User = User { uid: 64_101, gid: GROUP };
const B: User = User { uid: 64_102, gid: GROUP };
const COLLECTOR: User = User { uid: 64_103, gid: GROUP };
/// In no group of the others.
const STRANGER: User = User { uid: 64_104, gid: 64_104 };

#[test]
fn child() {
    support::child();
}

/// The folders of a test, and this program where every user may start it.
struct World {
    dir: tempfile::TempDir,
    shm: tempfile::TempDir,
    program: PathBuf,
}

impl World {
    /// `None`, said loudly, where programs of other users cannot be started.
    fn new() -> Option<Self> {
        if !support::is_root() {
            eprintln!("SKIPPED: only root can start programs of three users");
            return None;
        }
        let (dir, shm) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let program = program_for_all(dir.path());
        mode(shm.path(), 0o755);
        Some(Self { dir, shm, program })
    }

    /// A folder in memory for rings.
    fn folder(&self, name: &str, owner: User, bits: u32) -> PathBuf {
        folder(&self.shm.path().join(name), owner, bits)
    }

    fn command(&self, role: &str, user: User, umask: &str, rings: &Path) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "umask $0; exec \"$@\"", umask])
            .arg(&self.program)
            .args(CHILD)
            .envs([(ROLE, role), (RING_DIR, rings.to_str().unwrap()), ("CHRONOSCOPE_SLOTS", "64")])
            .env("TMPDIR", folder(&self.dir.path().join(user.uid.to_string()), user, 0o700))
            .uid(user.uid)
            .gid(user.gid);
        command
    }

    fn start(&self, user: User, umask: &str, rings: &Path) -> Program {
        let mut program = Program::start(&mut self.command("program", user, umask, rings));
        program.hear("recorded ");
        program
    }

    /// Collects until the store has so many rows in all; the last status.
    fn collect(&self, user: User, rings: &Path, wanted: u64) -> Status {
        let data = folder(&self.dir.path().join(format!("data-{}", user.uid)), user, 0o700);
        let mut command = self.command("collector", user, "077", rings);
        let command = command.env(DATA, data).env(WANTED, wanted.to_string());
        Program::start(command).status().1
    }
}

/// A folder of this user and group, made where it is not there.
fn folder(path: &Path, owner: User, bits: u32) -> PathBuf {
    support::folder(path, (owner.uid, owner.gid), bits)
}

/// Has a program record some more, and end.
fn record_and_end(mut program: Program) {
    program.record();
    program.end();
}

#[test]
fn programs_of_two_users_are_collected_by_a_third_of_their_group() {
    let Some(world) = World::new() else { return };
    let rings = world.folder("rings", User { uid: 0, gid: GROUP }, 0o2770);
    // Whatever the programs' umask: theirs is for their own files.
    let programs = [world.start(A, "077", &rings), world.start(B, "022", &rings)];
    let found = read::rings_of(&rings).unwrap();
    let of = |path: &PathBuf| {
        let found = std::fs::metadata(path).unwrap();
        (found.uid(), found.gid(), found.mode() & 0o7777)
    };
    let mut owners: Vec<_> = found.iter().map(of).collect();
    owners.sort_unstable();
    assert_eq!(owners, [(A.uid, GROUP, 0o640), (B.uid, GROUP, 0o640)]);

    let status = world.collect(COLLECTOR, &rings, 2 * ROWS);
    assert_eq!((status.rows, status.failed_rings.as_slice()), (2 * ROWS, &[][..]));
    assert_eq!(status.processes.iter().filter(|process| process.alive).count(), 2);
    assert_eq!(read::rings_of(&rings).unwrap().len(), 2, "their programs run");

    programs.into_iter().for_each(record_and_end);
    let status = world.collect(COLLECTOR, &rings, 4 * ROWS);
    assert_eq!((status.rows, status.lost_rows), (2 * ROWS, 0), "{status:?}");
    assert_eq!(read::rings_of(&rings).unwrap(), Vec::<PathBuf>::new(), "they are removed");
}

#[test]
fn a_group_shares_only_what_it_is_granted() {
    let Some(world) = World::new() else { return };
    let root = User { uid: 0, gid: GROUP };
    let rings = world.folder("rings", root, 0o2770);
    let program = world.start(A, "077", &rings);
    // Who is not in the group reads nothing, and records elsewhere.
    let status = world.collect(STRANGER, &rings, 0);
    assert_eq!((status.rows, status.failed_rings.len()), (0, 1), "{status:?}");
    record_and_end(world.start(STRANGER, "022", &rings));
    let ring = read::rings_of(&rings).unwrap();
    assert_eq!(ring.len(), 1);
    // A file of somebody else's that the group was not given.
    let copy = rings.join("copy.1.1.ring");
    std::fs::copy(&ring[0], &copy).unwrap();
    chown(&copy, Some(STRANGER.uid), Some(STRANGER.gid)).unwrap();
    mode(&copy, 0o644);
    let status = world.collect(COLLECTOR, &rings, ROWS);
    let [failed] = status.failed_rings.as_slice() else { panic!("{status:?}") };
    assert_eq!(failed.path, copy);
    assert!(failed.reason.contains("belongs to user 64104"), "{}", failed.reason);
    record_and_end(program);
    // A folder that another member made, one that is not marked, and one that is open to all.
    for (name, owner, bits) in
        [("made", A, 0o2770), ("unmarked", root, 0o770), ("open", root, 0o2777)]
    {
        let rings = world.folder(name, owner, bits);
        record_and_end(world.start(B, "022", &rings));
        assert_eq!(std::fs::read_dir(&rings).unwrap().count(), 0, "{name}: B records elsewhere");
        let status = world.collect(COLLECTOR, &rings, 0);
        assert_eq!(status.failed_rings.len(), 1, "{name}: {status:?}");
    }
}
