//! Programs as pods have them, and a collector beside: each in user, PID and mount namespaces of its
//! own, each the first process there and so number 1, of one application on one host's name.
//!
//! It takes root to map users into namespaces; without, the test says that it is skipped.
#![allow(clippy::unwrap_used)] // a test may panic

mod support;

use chronoscope_collect::Status;
use chronoscope_model::Transaction;
use chronoscope_record::read;
use chronoscope_store::Snapshot;
use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{CHILD, DATA, Program, RING_DIR, ROLE, ROWS, WANTED, folder, program_for_all};

const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
const POD: &str = "otel.resource.k8s.pod.name";
/// What the programs of all pods declare, and what their rows then have.
const OF_ALL: &str = "k8s.deployment.name=shop,k8s.container.name=program,k8s.node.name=node-1";
const PROPERTIES_OF_ALL: [(&str, &str); 3] = [
    ("otel.resource.k8s.deployment.name", "shop"),
    ("otel.resource.k8s.container.name", "program"),
    ("otel.resource.k8s.node.name", "node-1"),
];
/// The group of the rings, which every namespace knows by the same number.
const GROUP: u32 = 64_210;
/// A user's number within its namespace; outside, each namespace has another.
const USER: u32 = 20_001;

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

#[test]
fn child() {
    support::child();
}

/// Starts this program as the first process of a PID namespace, as a user whom outside nobody but this
/// test knows.
fn start(program: &Path, role: &str, user: u32, environment: &[(&str, &str)]) -> Program {
    let mut command = Command::new("perl");
    command
        .args(["-e", ENTER])
        .args(NUMBERS.map(|number| number.to_string()))
        .args([USER.to_string(), GROUP.to_string()])
        .arg(program)
        .args(CHILD)
        .env(ROLE, role)
        .envs(environment.iter().copied());
    let mut pod = Program::start(&mut command);
    let process = PathBuf::from(format!("/proc/{}", pod.child.id()));
    pod.hear("entered");
    std::fs::write(process.join("uid_map"), format!("{USER} {user} 1")).unwrap();
    std::fs::write(process.join("gid_map"), format!("{GROUP} {GROUP} 1")).unwrap();
    pod.tell();
    pod
}

/// Folders, and this program where every user may start it; `None`, said loudly, where there is no
/// such thing.
fn world() -> Option<(tempfile::TempDir, PathBuf)> {
    let granted =
        Command::new("unshare").args(["--user", "--pid", "--mount", "--fork", "true"]).output();
    if !support::is_root() || !granted.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: only root can map users into namespaces, where the system grants any");
        return None;
    }
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let program = program_for_all(dir.path());
    Some((dir, program))
}

/// Collects in namespaces of its own until the store has so many rows.
fn collect(program: &Path, rings: &str, data: &str, user: u32, wanted: u64) -> Status {
    let wanted = wanted.to_string();
    let environment = [(RING_DIR, rings), (DATA, data), (WANTED, &wanted)];
    let (pid, status) = start(program, "collector", user, &environment).status();
    assert_eq!(pid, "1", "it is not the first process of its namespace");
    status
}

#[test]
fn programs_of_pods_that_are_all_number_1_are_told_apart_and_named_by_their_pods() {
    const COLLECTOR: u32 = 300_099;
    let Some((dir, program)) = world() else { return };
    let path = |name, owner, bits| {
        let path = folder(&dir.path().join(name), (owner, GROUP), bits);
        path.into_os_string().into_string().unwrap()
    };
    let (rings, data) = (path("rings", 0, 0o2770), path("data", COLLECTOR, 0o700));
    let shop = |number: u32| {
        let declared = format!("k8s.pod.name=shop-{number},{OF_ALL}");
        let environment =
            [(RING_DIR, &*rings), (ATTRIBUTES, &declared), ("CHRONOSCOPE_SLOTS", "64")];
        let mut pod = start(&program, "program", 300_000 + number, &environment);
        assert_eq!(pod.hear("recorded "), "1", "it is the first process of its namespace");
        pod
    };
    let mut pods: Vec<Program> = (0..3).map(shop).collect();
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
    pods.push(shop(3));
    pods[..2].iter_mut().for_each(Program::record);
    let status = collect(&program, &rings, &data, COLLECTOR, 6 * ROWS);
    assert_eq!((status.stored_rows, status.lost_rows), (6 * ROWS, 0), "{:?}", status.failed_rings);
    assert_eq!(read::find_rings(Path::new(&rings)).len(), 3, "that of the killed one is gone");
    pods.into_iter().for_each(Program::end);
    let status = collect(&program, &rings, &data, COLLECTOR, 6 * ROWS);
    assert_eq!((status.stored_rows, status.lost_rows), (6 * ROWS, 0), "{:?}", status.failed_rings);
    assert_eq!(read::find_rings(Path::new(&rings)), Vec::<PathBuf>::new());

    let mut rows_of: BTreeMap<String, u64> = BTreeMap::new();
    let mut distinct = HashSet::new();
    for row in Snapshot::open(Path::new(&data)).unwrap().transactions(i64::MIN..i64::MAX) {
        let row: Transaction = row.unwrap();
        let property = |name: &str| row.properties.iter().find(|(key, _)| key == name);
        let pod = property(POD).map(|(_, pod)| pod.clone());
        for (name, value) in PROPERTIES_OF_ALL {
            assert_eq!(property(name).map(|(_, of)| of.as_str()), Some(value), "{name}: {row:?}");
        }
        distinct.insert((pod.clone(), row.id));
        *rows_of.entry(pod.unwrap()).or_default() += 1;
    }
    let expected = [("shop-0", ROWS), ("shop-1", 2 * ROWS), ("shop-2", 2 * ROWS), ("shop-3", ROWS)];
    assert_eq!(rows_of, BTreeMap::from(expected.map(|(pod, rows)| (pod.to_owned(), rows))));
    assert_eq!(distinct.len() as u64, 6 * ROWS, "each row once");
}
