//! Programs as pods have them, and a collector beside: each in user, PID and mount namespaces of its
//! own, each the first process there and so number 1, of one application on one host's name.
//!
//! It takes root to map users into namespaces; without, the test says that it is skipped.
#![allow(clippy::unwrap_used)] // a test may panic

use chronoscope_clock as clock;
use chronoscope_collect::{Collector, Options, Status};
use chronoscope_model::Transaction;
use chronoscope_record::{self as record, Class, class, read};
use chronoscope_store::Snapshot;
use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ROLE: &str = "CHRONOSCOPE_TEST_ROLE";
const DATA: &str = "CHRONOSCOPE_TEST_DATA";
const WANTED: &str = "CHRONOSCOPE_TEST_WANTED";
const RING_DIR: &str = "CHRONOSCOPE_DIR";
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
const POD: &str = "otel.resource.k8s.pod.name";
/// The group of the rings, which every namespace knows by the same number.
const GROUP: u32 = 64_210;
/// A user's number within its namespace; outside, each namespace has another.
const USER: u32 = 20_001;
/// Rows that a program records whenever it is told to.
const ROWS: u64 = 20;
const LATE_NS: u64 = 60_000_000_000;

/// Enters user, mount and PID namespaces, waits until its users are known there, and is then the parent
/// of a program that it takes with it when it is killed. The tools for this keep no rights in a
/// namespace without a root.
const ENTER: &str = r#"
    my ($unshare, $prctl, $user, $group, @command) = @ARGV;
    syscall($unshare + 0, 0x30020000) == 0 or die "unshare: $!";
    $| = 1;
    print "entered\n";
    sysread(STDIN, my $newline, 1);
    my $child = fork // die "fork: $!";
    if ($child == 0) {
        $) = "$group $group";
        $( = $group;
        ($<, $>) = ($user, $user);
        syscall($prctl + 0, 1, 9);
        exec @command or die "exec: $!";
    }
    waitpid $child, 0;
    exit($? == 0 ? 0 : 1);
"#;
/// The system calls unshare(2) and prctl(2).
const NUMBERS: [i64; 2] = [libc::SYS_unshare, libc::SYS_prctl];

static WORK: Class = class!("work");

/// What this program does as a child of the test.
#[test]
fn child() {
    match std::env::var(ROLE).as_deref() {
        Ok("program") => program(),
        Ok("collector") => collector(),
        _ => {}
    }
}

fn program() {
    record::init("SHOP");
    loop {
        (0..ROWS).for_each(|_| drop(WORK.begin()));
        println!("\nrecorded {}", std::process::id());
        if std::io::stdin().read_line(&mut String::new()).unwrap() == 0 {
            return;
        }
    }
}

/// Collects until it has so many rows; prints the status.
fn collector() {
    let var = |name| std::env::var(name).unwrap();
    let wanted: u64 = var(WANTED).parse().unwrap();
    let mut options = Options::new(var(RING_DIR).into(), var(DATA).into());
    options.tell_every = Duration::from_millis(50);
    let stop = AtomicBool::new(false);
    let deadline_ns = clock::monotonic_ns() + LATE_NS;
    let status = Collector::new(options).unwrap().run(&stop, &mut |status| {
        let is_done = status.stored_rows >= wanted && status.processes.iter().all(|p| p.alive);
        if is_done || clock::monotonic_ns() > deadline_ns {
            stop.store(true, Ordering::Relaxed);
        }
    });
    println!("\nstatus {} {}", std::process::id(), serde_json::to_string(&status).unwrap());
}

/// A child in namespaces of its own.
struct Pod {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Pod {
    /// Starts this program as the first process of a PID namespace, as a user whom outside nobody but
    /// this test knows.
    fn start(program: &Path, role: &str, user: u32, environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new("perl")
            .args(["-e", ENTER])
            .args(NUMBERS.map(|number| number.to_string()))
            .args([USER.to_string(), GROUP.to_string()])
            .arg(program)
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .envs(environment.iter().copied())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let process = PathBuf::from(format!("/proc/{}", child.id()));
        let mut pod = Self { child, said };
        pod.hear("entered");
        std::fs::write(process.join("uid_map"), format!("{USER} {user} 1")).unwrap();
        std::fs::write(process.join("gid_map"), format!("{GROUP} {GROUP} 1")).unwrap();
        writeln!(pod.child.stdin.as_mut().unwrap()).unwrap();
        pod
    }

    /// The rest of the next line that begins with `word`.
    fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it ended before it said {word}");
            if let Some(rest) = line.strip_prefix(word) {
                return rest.trim().to_owned();
            }
        }
    }
}

/// Folders, and this program where every user may start it; `None`, said loudly, where there is no
/// such thing.
fn world() -> Option<(tempfile::TempDir, PathBuf)> {
    let granted =
        Command::new("unshare").args(["--user", "--pid", "--mount", "--fork", "true"]).output();
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root || !granted.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: only root can map users into namespaces, where the system grants any");
        return None;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.path().join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    Some((dir, program))
}

fn folder(path: PathBuf, owner: u32, bits: u32) -> String {
    std::fs::create_dir(&path).unwrap();
    chown(&path, Some(owner), Some(GROUP)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bits)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Collects in namespaces of its own until the store has so many rows.
fn collect(program: &Path, rings: &str, data: &str, user: u32, wanted: u64) -> Status {
    let wanted = wanted.to_string();
    let environment = [(RING_DIR, rings), (DATA, data), (WANTED, &wanted)];
    let mut collector = Pod::start(program, "collector", user, &environment);
    let said = collector.hear("status ");
    assert!(collector.child.wait().unwrap().success());
    let (pid, status) = said.split_once(' ').unwrap();
    assert_eq!(pid, "1", "it is not the first process of its namespace");
    serde_json::from_str(status).unwrap()
}

#[test]
fn programs_of_pods_that_are_all_number_1_are_told_apart_and_named_by_their_pods() {
    const COLLECTOR: u32 = 300_099;
    let Some((dir, program)) = world() else { return };
    let rings = folder(dir.path().join("rings"), 0, 0o2770);
    let data = folder(dir.path().join("data"), COLLECTOR, 0o700);
    let start = |number: u32| {
        let declared = format!("k8s.pod.name=shop-{number},k8s.deployment.name=shop");
        let environment =
            [(RING_DIR, &*rings), (ATTRIBUTES, &declared), ("CHRONOSCOPE_SLOTS", "64")];
        let mut pod = Pod::start(&program, "program", 300_000 + number, &environment);
        assert_eq!(pod.hear("recorded "), "1", "it is the first process of its namespace");
        pod
    };
    let mut pods: Vec<Pod> = (0..3).map(start).collect();
    let owners = |_| {
        read::find_rings(Path::new(&rings)).into_iter().map(|path| {
            let found = std::fs::metadata(path).unwrap();
            (found.uid(), found.gid())
        })
    };
    let owners: HashSet<_> = owners(()).collect();
    assert_eq!(owners, HashSet::from([0, 1, 2].map(|number| (300_000 + number, GROUP))));

    let status = collect(&program, &rings, &data, COLLECTOR, 3 * ROWS);
    assert_eq!((status.stored_rows, status.failed_rings.as_slice()), (3 * ROWS, &[][..]));
    assert_eq!(status.processes.iter().filter(|process| process.alive).count(), 3);
    assert_eq!(read::find_rings(Path::new(&rings)).len(), 3, "their programs run");

    // One is killed, and its pod starts again under another name; the others go on.
    let mut killed = pods.remove(0);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    pods.push(start(3));
    for pod in &mut pods[..2] {
        writeln!(pod.child.stdin.as_mut().unwrap()).unwrap();
        pod.hear("recorded ");
    }
    let status = collect(&program, &rings, &data, COLLECTOR, 6 * ROWS);
    assert_eq!((status.stored_rows, status.lost_rows), (6 * ROWS, 0), "{:?}", status.failed_rings);
    assert_eq!(read::find_rings(Path::new(&rings)).len(), 3, "that of the killed one is gone");
    for mut pod in pods {
        drop(pod.child.stdin.take());
        assert!(pod.child.wait().unwrap().success());
    }
    let status = collect(&program, &rings, &data, COLLECTOR, 6 * ROWS);
    assert_eq!((status.stored_rows, status.lost_rows), (6 * ROWS, 0), "{:?}", status.failed_rings);
    assert_eq!(read::find_rings(Path::new(&rings)), Vec::<PathBuf>::new());

    let mut rows_of: BTreeMap<String, u64> = BTreeMap::new();
    let mut distinct = HashSet::new();
    for row in Snapshot::open(Path::new(&data)).unwrap().transactions(i64::MIN..i64::MAX) {
        let row: Transaction = row.unwrap();
        let pod = row.properties.iter().find(|(key, _)| key == POD).map(|(_, pod)| pod.clone());
        distinct.insert((pod.clone(), row.id));
        *rows_of.entry(pod.unwrap()).or_default() += 1;
    }
    let expected = [("shop-0", ROWS), ("shop-1", 2 * ROWS), ("shop-2", 2 * ROWS), ("shop-3", ROWS)];
    assert_eq!(rows_of, BTreeMap::from(expected.map(|(pod, rows)| (pod.to_owned(), rows))));
    assert_eq!(distinct.len() as u64, 6 * ROWS, "each row once");
}
