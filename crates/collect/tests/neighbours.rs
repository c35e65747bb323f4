//! What else is in the folder of the rings, or happens to them: a collector goes on, and says so.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

use chronoscope_clock as clock;
use chronoscope_collect::{Collector, Options, Status};
use chronoscope_model::{Names, ProcessName};
use chronoscope_record::{self as record, Class, class, read};
use chronoscope_store::{Append, DELIVERED_ALL, Snapshot, Store};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ROLE: &str = "CHRONOSCOPE_TEST_ROLE";
const DATA: &str = "CHRONOSCOPE_TEST_DATA";
const RING_DIR: &str = "CHRONOSCOPE_DIR";
/// Rows that a program records before it says so.
const ROWS: u64 = 20;
/// What a test waits for comes long before.
const LATE_NS: u64 = 60_000_000_000;

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
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).unwrap() == 0 {
            return;
        }
    }
}

/// Collects until no ring is left that can be read, with 64 files open at most; prints the status.
fn collector() {
    let few = Rlimit { current: Some(64), maximum: Some(64) };
    setrlimit(Resource::Nofile, few).unwrap();
    let (rings, data) = (std::env::var(RING_DIR).unwrap(), std::env::var(DATA).unwrap());
    let status = collect(rings.as_ref(), data.as_ref(), |status| {
        status.rows > 0 && status.waiting_rings == 0 && status.processes.is_empty()
    });
    println!("\nstatus {}", serde_json::to_string(&status).unwrap());
}

fn command(role: &str, rings: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .envs([(ROLE, role), (RING_DIR, rings.to_str().unwrap()), ("CHRONOSCOPE_SLOTS", "64")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// A program, and what it says.
struct Program {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Program {
    /// Starts it; it has recorded the first rows.
    fn start(rings: &Path) -> Self {
        let mut child = command("program", rings).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut program = Self { child, said };
        program.recorded();
        program
    }

    fn recorded(&mut self) {
        let mut line = String::new();
        while !line.trim_end().ends_with("recorded") {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it ended");
        }
    }

    /// Records some more.
    fn record(&mut self) {
        writeln!(self.child.stdin.as_mut().unwrap()).unwrap();
        self.recorded();
    }

    /// Ends it.
    fn end(mut self) {
        drop(self.child.stdin.take());
        self.said.read_line(&mut String::new()).unwrap();
        self.child.wait().unwrap();
    }
}

/// Collects in a process of its own, which is killed when it hangs; its last status.
fn collect_apart(rings: &Path, data: &Path) -> Status {
    let mut child = command("collector", rings).env(DATA, data).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut lines = said.lines().map_while(Result::ok);
        send.send(lines.find_map(|line| Some(line.strip_prefix("status ")?.to_owned())))
    });
    let status = receive.recv_timeout(Duration::from_nanos(2 * LATE_NS));
    child.kill().unwrap();
    child.wait().unwrap();
    serde_json::from_str(&status.expect("the collector hangs").expect("it failed")).unwrap()
}

/// Collects in this process until `done`, then stops; the last status.
fn collect(rings: &Path, data: &Path, mut done: impl FnMut(&Status) -> bool) -> Status {
    let mut options = Options::new(rings.into(), data.into());
    options.tell_every = Duration::from_millis(50);
    let collector = Collector::new(options).unwrap();
    let stop = AtomicBool::new(false);
    let deadline_ns = clock::monotonic_ns() + LATE_NS;
    collector.run(&stop, &mut |status| {
        let late = clock::monotonic_ns() > deadline_ns;
        stop.store(done(status) || late, Ordering::Relaxed);
    })
}

fn folders() -> (tempfile::TempDir, tempfile::TempDir) {
    (tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir().unwrap())
}

fn only_ring(rings: &Path) -> PathBuf {
    let found = read::rings_of(rings).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn more_rings_of_ended_processes_than_files_may_be_open() {
    let (rings, data) = folders();
    for _ in 0..100 {
        Program::start(rings.path()).end();
    }
    let status = collect_apart(rings.path(), data.path());
    assert_eq!((status.rows, status.lost_rows), (100 * ROWS, 0), "{status:?}");
    assert_eq!((status.waiting_rings, &status.failed_rings[..]), (0, &[][..]));
    assert_eq!(status.error, None);
    assert_eq!(read::rings_of(rings.path()).unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn a_fifo_a_folder_and_a_link_that_are_called_rings_are_told() {
    let (rings, data) = folders();
    let at = |name: &str| rings.path().join(name);
    assert!(Command::new("mkfifo").arg(at("fifo.ring")).status().unwrap().success());
    std::fs::create_dir(at("folder.ring")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("link.ring")).unwrap();
    Program::start(rings.path()).end();
    let status = collect_apart(rings.path(), data.path());
    assert_eq!((status.rows, status.error.as_deref()), (ROWS, None));
    let told: Vec<_> = status.failed_rings.iter().map(|ring| ring.reason.clone()).collect();
    let expected = ["FIFO", "folder", "symbolic link"]
        .map(|kind| format!("a {kind} is not opened as a ring: remove it"));
    assert_eq!(told, expected);
}

/// Whoever comes first to a folder under another user's name could put in there what they like.
#[test]
fn a_folder_that_another_user_made_first_is_refused() {
    let above = tempfile::tempdir_in("/dev/shm").unwrap();
    let data = tempfile::tempdir().unwrap();
    let user = rustix::process::geteuid();
    if !user.is_root() {
        eprintln!("SKIPPED: only root can give a folder away");
        return;
    }
    let rings = above.path().join(format!("chronoscope-{}", user.as_raw()));
    std::fs::create_dir(&rings).unwrap();
    Program::start(&rings).end();
    std::os::unix::fs::chown(&rings, Some(65_534), None).unwrap();
    let status = collect(&rings, data.path(), |status| !status.failed_rings.is_empty());
    let [refused] = &status.failed_rings[..] else { panic!("{:?}", status.failed_rings) };
    assert_eq!((status.rows, &refused.path), (0, &rings));
    assert!(refused.reason.starts_with("it belongs to user 65534: remove it"), "{refused:?}");
    // Under another name it is one that root reads for somebody.
    let other = above.path().join("rings");
    std::fs::rename(&rings, &other).unwrap();
    let status = collect(&other, data.path(), |status| status.rows == ROWS);
    assert_eq!((status.rows, &status.failed_rings[..]), (ROWS, &[][..]));
}

#[test]
fn a_ring_that_is_truncated_is_told_and_a_loss_of_unknown_size() {
    let (rings, data) = folders();
    let mut program = Program::start(rings.path());
    let path = only_ring(rings.path());
    let mut process = None;
    let mut is_cut = false;
    let status = collect(rings.path(), data.path(), |status| {
        if status.rows == ROWS && !is_cut {
            process = Some(read::Ring::open(&path).unwrap().process_id());
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
            program.record();
            is_cut = true;
        }
        status.damaged_rings > 0
    });
    let [of_program] = &status.processes[..] else { panic!("{:?}", status.processes) };
    let damage = of_program.damage.as_deref().expect("damage is told");
    assert!(damage.contains("the ring ends here"), "{damage}");
    assert_eq!((status.rows, status.damaged_rings), (ROWS, 1));
    program.end();
    let losses = |data: &Path| {
        let snapshot = Snapshot::open(data).unwrap();
        let of_process = |loss: &&chronoscope_store::Loss| Some(loss.process) == process;
        snapshot.ledger().losses.iter().filter(of_process).copied().collect::<Vec<_>>()
    };
    assert!(losses(data.path()).iter().any(|loss| loss.rows == 0), "{:?}", losses(data.path()));
    // A collector that comes later says it again, does not wait for it, and leaves the file.
    Program::start(rings.path()).end();
    let status = collect(rings.path(), data.path(), |status| {
        status.rows == ROWS && !status.failed_rings.is_empty() && status.processes.len() <= 1
    });
    assert_eq!(status.rows, ROWS);
    assert_eq!(only_ring(rings.path()), path);
    assert!(status.failed_rings[0].reason.contains("the ring ends here"), "{status:?}");
}

#[test]
fn a_slot_that_somebody_has_scribbled_on_is_one_lost_row() {
    let (rings, data) = folders();
    Program::start(rings.path()).end();
    let path = only_ring(rings.path());
    let mut bytes = std::fs::read(&path).unwrap();
    // The fifth slot: docs/formats/ring.md. It is found by what it says of itself.
    let slots = (0..bytes.len() - 256).step_by(8).find(|at| {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        (0..8).all(|n| at + n * 128 + 8 <= bytes.len() && word(at + n * 128) == n as u64 + 1)
    });
    bytes[slots.unwrap() + 4 * 128] = 77;
    std::fs::write(&path, bytes).unwrap();
    let status = collect(rings.path(), data.path(), |status| {
        status.rows == ROWS - 1 && status.processes.is_empty()
    });
    assert_eq!((status.rows, status.lost_rows, status.damaged_rings), (ROWS - 1, 1, 1));
    let snapshot = Snapshot::open(data.path()).unwrap();
    assert_eq!(snapshot.ledger().losses.iter().map(|loss| loss.rows).sum::<u64>(), 1);
    assert_eq!(read::rings_of(rings.path()).unwrap(), Vec::<PathBuf>::new(), "and it may go");
}

/// A ring with as many names as a ring may have, all of them short and of one class number.
fn full_of_names(ring: &[u8]) -> Vec<u8> {
    const CHUNK: usize = 65_536;
    let mut bytes = ring.to_vec();
    bytes.resize(bytes.len().next_multiple_of(4096), 0);
    let used = u64::from_le_bytes(bytes[104..112].try_into().unwrap()) as usize;
    for n in 0..60_usize {
        let page = bytes.len() / 4096;
        let mut chunk = vec![0; 16];
        let mut name = n * 3000;
        while chunk.len() + 64 < CHUNK {
            let class = format!("{name:x}");
            let mut body = [1_u32, 0, 1].map(u32::to_le_bytes).concat();
            body.push(b'a');
            body.extend((class.len() as u32).to_le_bytes());
            body.extend(class.as_bytes());
            chunk.extend((body.len() as u16).to_le_bytes());
            chunk.extend(1_u16.to_le_bytes());
            chunk.extend(&body);
            chunk.resize(chunk.len().next_multiple_of(8), 0);
            name += 1;
        }
        let end = (chunk.len() - 16) as u64;
        chunk[..8].copy_from_slice(&end.to_le_bytes());
        chunk.resize(CHUNK, 0);
        bytes.extend(chunk);
        let entry = [1, 1 + n as u32, page as u32, 16].map(u32::to_le_bytes).concat();
        let at = 8192 + (used + n) * 16;
        bytes[at..at + 16].copy_from_slice(&entry);
    }
    bytes[104..112].copy_from_slice(&((used + 60) as u64).to_le_bytes());
    bytes
}

#[test]
fn rings_full_of_names_do_not_fill_the_memory() {
    let (rings, data) = folders();
    let mut program = Program::start(rings.path());
    let path = only_ring(rings.path());
    let hostile = full_of_names(&std::fs::read(&path).unwrap());
    for n in 0..6_u64 {
        let mut bytes = hostile.clone();
        bytes[56..64].copy_from_slice(&(1000 + n).to_le_bytes()); // the process's id
        std::fs::write(rings.path().join(format!("hostile.1.{n}.ring")), bytes).unwrap();
    }
    program.record();
    let status = collect(rings.path(), data.path(), |status| {
        status.rows >= 2 * ROWS && !status.failed_rings.is_empty()
    });
    program.end();
    let refused = status.failed_rings.len();
    assert!((1..6).contains(&refused), "{refused}: one alone is no matter, all are too much");
    for ring in &status.failed_rings {
        assert!(ring.path.to_str().unwrap().contains("hostile"), "{ring:?}");
        assert!(ring.reason.contains("all rings together may take"), "{ring:?}");
    }
    // What was in them is lost, and how much nobody knows.
    let snapshot = Snapshot::open(data.path()).unwrap();
    let unknown = snapshot.ledger().losses.iter().filter(|loss| loss.until_ns == i64::MAX);
    assert_eq!(unknown.count(), refused);
}

/// A store with a cursor of a process, as a collector leaves it.
fn store_that_knows(data: &Path, process: ProcessName, delivered_ns: i64) {
    let mut names = Names::default();
    let id = process.id();
    names.add_process(process);
    let store = Store::open(data, chronoscope_store::Options::default(), 0).unwrap();
    let append = Append {
        names: Some(&names),
        cursors: &[(id, vec![(0, 7)])],
        delivered: &[(id, delivered_ns)],
        ..Append::default()
    };
    store.append(&append, 0).unwrap();
    store.sync().unwrap();
}

/// A copy of a store is looked at while the programs run on: their rings are elsewhere, and whole.
#[test]
fn a_ring_that_is_elsewhere_is_not_lost_while_its_process_runs() {
    let (rings, data) = folders();
    let mut program = Program::start(rings.path());
    let mut process = read::Ring::open(&only_ring(rings.path())).unwrap().process().clone();
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    store_that_knows(data.path(), process.clone(), 5_000);
    let ledger = |data: &Path| Snapshot::open(data).unwrap().ledger().clone();
    collect(elsewhere.path(), data.path(), |_| true);
    let known = ledger(data.path());
    assert!(known.losses.iter().all(|loss| loss.process != process.id()), "{:?}", known.losses);
    assert_eq!(known.deliveries.of(process.id()), Some(5_000), "and nothing came since");
    assert!(known.cursors.contains_key(&process.id()));
    // In its own folder it is read on from there.
    program.record();
    let status = collect(rings.path(), data.path(), |status| status.rows == 2 * ROWS - 7);
    assert_eq!((status.rows, status.lost_rows), (2 * ROWS - 7, 0));
    // One that has ended, and whose ring nobody has: what was not read is lost.
    program.end();
    process.start_ns -= 1;
    store_that_knows(data.path(), process.clone(), 5_000);
    collect(elsewhere.path(), data.path(), |_| true);
    let known = ledger(data.path());
    let loss = known.losses.iter().find(|loss| loss.process == process.id()).copied().unwrap();
    assert_eq!((loss.from_ns, loss.rows), (5_000, 0));
    assert_eq!(known.deliveries.of(process.id()), Some(DELIVERED_ALL));
    assert!(!known.cursors.contains_key(&process.id()));
}
