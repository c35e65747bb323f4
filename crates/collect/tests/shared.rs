//! Programs of several users, whose rings a group shares, and a collector of a further user.
//!
//! It takes root to start programs of other users; without, each test says that it is skipped.
#![allow(clippy::unwrap_used)] // a test may panic

use chronoscope_clock as clock;
use chronoscope_collect::{Collector, Options, Status};
use chronoscope_record::{self as record, Class, class, read};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ROLE: &str = "CHRONOSCOPE_TEST_ROLE";
const DATA: &str = "CHRONOSCOPE_TEST_DATA";
const WANTED: &str = "CHRONOSCOPE_TEST_WANTED";
const RING_DIR: &str = "CHRONOSCOPE_DIR";
/// Rows that a program records before it says so.
const ROWS: u64 = 20;
const LATE_NS: u64 = 30_000_000_000;

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

static WORK: Class = class!("work");

/// What this program does as a child of a test.
#[test]
fn child() {
    match std::env::var(ROLE).as_deref() {
        Ok("program") => program(),
        Ok("collector") => collector(),
        _ => {}
    }
}

/// Records when it is told to, until its input ends.
fn program() {
    record::init("PROG");
    loop {
        (0..ROWS).for_each(|_| drop(WORK.begin()));
        println!("recorded");
        if std::io::stdin().read_line(&mut String::new()).unwrap() == 0 {
            return;
        }
    }
}

/// Collects until it has so many rows, and no ring of ended programs where these are all; prints the
/// status. Two seconds are all that it has where no rows are wanted.
fn collector() {
    let var = |name| std::env::var(name).unwrap();
    let wanted: u64 = var(WANTED).parse().unwrap();
    let mut options = Options::new(var(RING_DIR).into(), var(DATA).into());
    options.tell_every = Duration::from_millis(50);
    let collector = Collector::new(options).unwrap();
    let stop = AtomicBool::new(false);
    let within_ns = if wanted == 0 { 2_000_000_000 } else { LATE_NS };
    let deadline_ns = clock::monotonic_ns() + within_ns;
    let status = collector.run(&stop, &mut |status| {
        let is_done = wanted > 0 && status.stored_rows >= wanted;
        let has_ended = status.processes.iter().all(|process| process.alive);
        if (is_done && has_ended) || clock::monotonic_ns() > deadline_ns {
            stop.store(true, Ordering::Relaxed);
        }
    });
    println!("\nstatus {}", serde_json::to_string(&status).unwrap());
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
        if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
            eprintln!("SKIPPED: only root can start programs of three users");
            return None;
        }
        let (dir, shm) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let program = dir.path().join("program");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        for path in [dir.path(), shm.path(), &program] {
            mode(path, 0o755);
        }
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
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .envs([(ROLE, role), (RING_DIR, rings.to_str().unwrap()), ("CHRONOSCOPE_SLOTS", "64")])
            .env("TMPDIR", folder(&self.dir.path().join(user.uid.to_string()), user, 0o700))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .uid(user.uid)
            .gid(user.gid);
        command
    }

    fn start(&self, user: User, umask: &str, rings: &Path) -> Program {
        let mut child = self.command("program", user, umask, rings).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut program = Program { child, said };
        program.recorded();
        program
    }

    /// Collects until the store has so many rows in all; the last status.
    fn collect(&self, user: User, rings: &Path, wanted: u64) -> Status {
        let data = folder(&self.dir.path().join(format!("data-{}", user.uid)), user, 0o700);
        let mut command = self.command("collector", user, "077", rings);
        let output = command.env(DATA, data).env(WANTED, wanted.to_string()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let status = said.lines().find_map(|line| line.strip_prefix("status "));
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_str(status.unwrap_or_else(|| panic!("{said}"))).unwrap()
    }
}

/// A program, and what it says.
struct Program {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Program {
    fn recorded(&mut self) {
        let mut line = String::new();
        while !line.trim_end().ends_with("recorded") {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it ended");
        }
    }

    /// Records some more, and ends.
    fn end(mut self) {
        writeln!(self.child.stdin.as_mut().unwrap()).unwrap();
        self.recorded();
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

fn mode(path: &Path, bits: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).unwrap();
}

/// A folder of this user and group, made where it is not there.
fn folder(path: &Path, owner: User, bits: u32) -> PathBuf {
    if !path.exists() {
        std::fs::create_dir(path).unwrap();
    }
    chown(path, Some(owner.uid), Some(owner.gid)).unwrap();
    mode(path, bits);
    path.to_owned()
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

    programs.into_iter().for_each(Program::end);
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
    world.start(STRANGER, "022", &rings).end();
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
    program.end();
    // A folder that another member made, one that is not marked, and one that is open to all.
    for (name, owner, bits) in
        [("made", A, 0o2770), ("unmarked", root, 0o770), ("open", root, 0o2777)]
    {
        let rings = world.folder(name, owner, bits);
        world.start(B, "022", &rings).end();
        assert_eq!(std::fs::read_dir(&rings).unwrap().count(), 0, "{name}: B records elsewhere");
        let status = world.collect(COLLECTOR, &rings, 0);
        assert_eq!(status.failed_rings.len(), 1, "{name}: {status:?}");
    }
}
