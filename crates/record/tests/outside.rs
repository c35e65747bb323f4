//! The ring seen from outside: of a running process, after `kill -9`, from a core file; switched,
//! truncated, without room.
#![cfg(not(feature = "off"))]
#![allow(clippy::unwrap_used)]
#![allow(unsafe_code)] // fork, limits

mod support;

use chronoscope_clock as clock;
use chronoscope_model::{Batch, ClassId, Status, context};
use chronoscope_record::read::{self, Cursors, Ring};
use chronoscope_record::{self as record, Class, Storage, class};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use support::{command, drain, of_class, one, run, run_with, spawn, wait_for_test};

static OUTER: Class = class!("outer");
static INNER: Class = class!("inner");
static FAST: Class = class!("fast");

#[test]
fn child_entry() {
    let Some(scenario) = support::asked_for() else { return };
    if scenario == "private" {
        // No file can be had: neither folder is one.
        record::init("TEST");
        return private();
    }
    record::init("TEST");
    match scenario.as_str() {
        "hung" => hung(),
        "busy" => busy(),
        "switched" => switched(),
        "fork" => fork(),
        "no_room" => no_room(),
        "abort" => abort(),
        "statistics" => statistics(),
        other => panic!("no scenario {other}"),
    }
}

fn hung() {
    let mut outer = OUTER.begin();
    outer.property("callsign", "DLH123");
    let _inner = INNER.begin();
    let _started = FAST.start_with(&outer.correlator());
    drop(FAST.begin());
    wait_for_test();
}

fn check_hung(ring: &mut Ring) {
    let batch = drain(ring);
    assert_eq!(one(ring, &batch, "fast").level, 2);
    let open = ring.open_transactions().unwrap();
    let class = |at: usize| ring.names().class_text(open[at].record.class);
    assert_eq!(
        (class(0), class(1), class(2)),
        ("TEST::outer".into(), "TEST::inner".into(), "TEST::fast".into())
    );
    assert_eq!((open[0].depth, open[1].depth, open[2].depth), (Some(0), Some(1), None));
    assert_eq!(open[2].record.parent, open[0].record.id);
    let words: Vec<_> = context::entries(&open[0].context).collect();
    assert_eq!(words, [context::ContextEntry::Property("callsign", "DLH123")]);
}

#[test]
fn a_killed_process_leaves_its_ring() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut child = spawn("hung", folder.path());
    let path = read::find_rings(folder.path()).remove(0);
    let mut ring = Ring::open(&path).unwrap();
    assert!(ring.is_alive() && ring.process().pid == child.id());
    check_hung(&mut ring);
    clock::sleep(Duration::from_millis(20));
    assert!(ring.open_transactions().unwrap()[0].record.elapsed_ns > 20_000_000);
    assert!(!read::remove_if_stale(&path).unwrap());
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    assert!(!ring.is_alive());
    check_hung(&mut Ring::open(&path).unwrap());
    assert!(read::remove_if_stale(&path).unwrap() && !path.exists());
}

fn abort() {
    let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a plain system call; where it is refused the core file is missing, and the test
    // says so.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) };
    let mut outer = OUTER.begin();
    outer.property("callsign", "DLH123");
    let _inner = INNER.begin();
    let _started = FAST.start_with(&outer.correlator());
    drop(FAST.begin());
    std::process::abort();
}

/// The kernel's own core file where it writes one into the working folder.
#[test]
fn a_core_file_shows_the_ring() {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    if pattern.contains('/') || pattern.starts_with('|') {
        eprintln!("SKIPPED: core files go elsewhere on this machine: {pattern}");
        return;
    }
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let work = tempfile::tempdir().unwrap();
    let status = command("abort", folder.path()).current_dir(work.path()).output().unwrap().status;
    assert!(!status.success());
    let cores: Vec<_> =
        std::fs::read_dir(work.path()).unwrap().map(|e| e.unwrap().path()).collect();
    let Some(core) = cores.first() else {
        eprintln!("SKIPPED: the kernel wrote no core file (RLIMIT_CORE?)");
        return;
    };
    check_core(core);
}

fn check_core(core: &Path) {
    let mut rings = Ring::open_core(core).unwrap();
    assert_eq!(rings.len(), 1);
    assert_eq!(rings[0].process().application, "TEST");
    assert!(!rings[0].is_alive());
    check_hung(&mut rings[0]);
}

/// A running process's core file, as an operator takes one.
#[test]
fn a_debuggers_core_file_shows_the_ring() {
    if Command::new("gcore").arg("--help").output().is_err() {
        eprintln!("SKIPPED: no gcore here (Debian package gdb)");
        return;
    }
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let work = tempfile::tempdir().unwrap();
    let mut child = spawn("hung", folder.path());
    let core = work.path().join("core");
    let output =
        Command::new("gcore").arg("-o").arg(&core).arg(child.id().to_string()).output().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let core = work.path().join(format!("core.{}", child.id()));
    if !core.exists() {
        eprintln!("SKIPPED: gcore was refused: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    check_core(&core);
}

fn busy() {
    println!("ready");
    let until = clock::monotonic_ns() + 3_000_000_000;
    let mut count = 0u64;
    while clock::monotonic_ns() < until {
        for _ in 0..100 {
            let mut fast = FAST.begin();
            if count.is_multiple_of(64) {
                fast.metric("count", count as f64);
            }
            count += 1;
        }
    }
    println!("count={count}");
}

/// Records that are drained while they are written are whole, in order, and each is either read
/// or counted as lapped.
#[test]
fn draining_a_busy_ring_loses_nothing_silently() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut child = spawn("busy", folder.path());
    let mut ring = Ring::open(&read::find_rings(folder.path())[0]).unwrap();
    let (mut cursors, mut batch) = (Cursors::default(), Batch::default());
    let (mut read, mut lapped, mut last, mut contexts) = (0, 0, 0, 0u64);
    let mut said = String::new();
    let mut ended = false;
    loop {
        batch.clear();
        let drained = ring.drain(&mut cursors, 5_000, &mut batch).unwrap();
        read += drained.read;
        lapped += drained.lapped;
        for record in batch.records() {
            assert!(record.id.0 > last && record.chain().low() == record.id.0);
            assert_eq!((record.level, record.root_start_ns), (0, record.start_ns));
            last = record.id.0;
            for entry in context::entries(batch.context(record)) {
                let context::ContextEntry::Metric("count", count) = entry else {
                    panic!("{entry:?}")
                };
                assert_eq!(count % 64.0, 0.0);
                contexts += 1;
            }
        }
        if ended && drained.read == 0 {
            break;
        }
        ended = child.try_wait().unwrap().is_some();
    }
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let count: u64 = said.split_once("count=").unwrap().1.lines().next().unwrap().parse().unwrap();
    assert_eq!(read + lapped, count);
    assert!(read > 0 && contexts > 0, "{read} read, {lapped} lapped");
    // Statistics have all of them, whoever read what.
    assert_eq!(ring.statistics().unwrap()[0].count, count);
}

fn switched() {
    drop(INNER.begin());
    println!("ready");
    let input = std::io::stdin();
    let mut lines = BufReader::new(input).lines();
    lines.next(); // the test has switched INNER off
    let outer = OUTER.begin();
    let inner = INNER.begin();
    assert_eq!(inner.correlator(), outer.correlator());
    drop(FAST.begin()); // hangs under `outer`
    drop(inner);
    let away = INNER.begin_with(&outer.correlator());
    drop(FAST.begin());
    drop(away);
    let handle = INNER.start();
    assert_eq!(handle.correlator(), outer.correlator());
    drop(handle);
    drop(outer);
    assert!(!INNER.is_enabled());
    INNER.set_enabled(true);
    drop(INNER.begin());
}

#[test]
fn a_class_is_switched_from_outside() {
    use std::io::Write;
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut child = spawn("switched", folder.path());
    let mut ring = Ring::open(&read::find_rings(folder.path())[0]).unwrap();
    assert!(ring.set_enabled(ClassId::of("TEST", "inner"), false).unwrap());
    assert!(!ring.set_enabled(ClassId::of("TEST", "nobody"), false).unwrap());
    assert!(!ring.statistics().unwrap()[0].enabled);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(child.wait().unwrap().success());
    let batch = drain(&mut ring);
    assert_eq!(of_class(&ring, &batch, "inner").len(), 2);
    let outer = one(&ring, &batch, "outer");
    let fast = of_class(&ring, &batch, "fast");
    assert!(fast.iter().all(|fast| fast.parent == outer.id && fast.level == 1));
    assert_eq!(ring.names().path_text(fast[0].path), "TEST::outer/TEST::fast");
    assert!(ring.statistics().unwrap()[0].enabled);
}

fn fork() {
    let outer = OUTER.begin();
    let started = FAST.start();
    // SAFETY: the child only records and leaves.
    let child = unsafe { libc::fork() };
    if child == 0 {
        outer.stop(Status::Failed); // the parent's: does nothing here
        started.stop(Status::Failed);
        drop(INNER.begin());
        // SAFETY: leaves without running the parent's destructors.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child above.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
    started.stop(Status::Good);
    outer.stop(Status::Good);
}

#[test]
fn a_forked_child_has_its_own_ring() {
    let ran = run("fork");
    assert!(ran.status.success(), "{}", ran.complained);
    let mut rings: Vec<_> = ran.rings().iter().map(|path| Ring::open(path).unwrap()).collect();
    assert_eq!(rings.len(), 2);
    rings.sort_by_key(|ring| ring.process().start_ns);
    let (parent, child) = rings.split_at_mut(1);
    let (parent, child) = (&mut parent[0], &mut child[0]);
    let batch = drain(parent);
    assert_eq!(batch.len(), 2);
    assert_eq!(one(parent, &batch, "outer").status(), Status::Good);
    assert_eq!(one(parent, &batch, "fast").status(), Status::Good);
    let batch = drain(child);
    assert_eq!(batch.len(), 1);
    let inner = one(child, &batch, "inner");
    assert!(inner.parent.is_none() && inner.process == child.process_id());
    assert_ne!(parent.process_id(), child.process_id());
    assert_ne!(inner.chain_high, 0);
}

#[test]
fn a_truncated_ring_does_not_end_the_program() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    for keep in [0u64, 100_000] {
        let mut child = spawn("busy", folder.path());
        let path = read::find_rings(folder.path()).remove(0);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        clock::sleep(Duration::from_millis(200));
        file.set_len(keep).unwrap();
        let error = match Ring::open(&path) {
            Err(error) => error,
            Ok(mut ring) => {
                ring.drain(&mut Cursors::default(), 9, &mut Batch::default()).unwrap_err()
            }
        };
        assert!(error.to_string().contains("the ring ends here"), "{error}");
        let output = child.wait_with_output_of();
        assert!(output.0, "the program ended: {}", output.2);
        assert!(output.1.contains("count="), "{}", output.1);
        assert!(output.2.contains("another program truncated the ring file"), "{}", output.2);
        std::fs::remove_file(&path).unwrap();
    }
}

trait Collected {
    fn wait_with_output_of(&mut self) -> (bool, String, String);
}

impl Collected for std::process::Child {
    fn wait_with_output_of(&mut self) -> (bool, String, String) {
        let (mut said, mut complained) = (String::new(), String::new());
        self.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        self.stderr.take().unwrap().read_to_string(&mut complained).unwrap();
        (self.wait().unwrap().success(), said, complained)
    }
}

fn private() {
    for _ in 0..100 {
        drop(OUTER.begin());
    }
    println!("path={:?}", record::ring_path());
}

#[test]
fn without_any_folder_the_ring_is_private_memory() {
    let ran = run_with("private", &[("CHRONOSCOPE_DIR", "/dev/null/no"), ("TMPDIR", "/dev/null")]);
    assert!(ran.status.success());
    assert_eq!(ran.value("path"), "None");
    assert!(ran.complained.contains("the ring is in private memory"), "{}", ran.complained);
}

#[test]
fn the_second_folder_is_taken_when_the_first_is_none() {
    let other = tempfile::tempdir().unwrap();
    let path = other.path().to_str().unwrap();
    let ran = run_with("private", &[("CHRONOSCOPE_DIR", "/dev/null/no"), ("TMPDIR", path)]);
    assert!(ran.status.success());
    let own = std::fs::read_dir(other.path()).unwrap().next().unwrap().unwrap().path();
    let mut ring = Ring::open(&read::find_rings(&own)[0]).unwrap();
    assert_eq!(ring.storage(), Storage::OtherFolder);
    assert_eq!(drain(&mut ring).len(), 100);
    assert_eq!(ran.complained.matches("cannot make a ring in").count(), 1, "{}", ran.complained);
}

/// No file may grow beyond a bound, as on a full file system: the ring goes on in private memory.
fn no_room() {
    // SAFETY: plain calls; the signal would end the program, as it would end any.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let limit = libc::rlimit { rlim_cur: 400_000, rlim_max: 400_000 };
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
    for _ in 0..100 {
        drop(OUTER.begin());
    }
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| drop(INNER.begin()))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn without_room_to_grow_the_program_goes_on() {
    let ran = run("no_room");
    let ring = ran.ring();
    let counters = ring.counters().unwrap();
    assert!(counters.private_chunks > 0 && counters.dropped() == 0, "{counters:?}");
    assert!(ran.complained.contains("the ring cannot grow"), "{}", ran.complained);
}

fn statistics() {
    // One waits 200 ms, another computes for 20 ms, the others are short: both are known with their
    // contexts.
    for number in 0..1_000u32 {
        let mut fast = FAST.begin();
        if number == 500 {
            fast.metric("number", f64::from(number));
            clock::sleep(Duration::from_millis(200));
        }
        if number == 600 {
            fast.metric("number", f64::from(number));
            let begin_ns = clock::monotonic_ns();
            while clock::monotonic_ns() < begin_ns + 20_000_000 {
                std::hint::spin_loop();
            }
        }
    }
}

#[test]
fn statistics_agree_with_the_records() {
    let ran = run("statistics");
    let mut ring = ran.ring();
    let batch = drain(&mut ring);
    let all = ring.statistics().unwrap();
    assert_eq!((all.len(), all[0].count, all[0].name.class.as_str()), (1, 1_000, "fast"));
    assert_eq!(ring.recorded().unwrap(), 1_000);
    let fast = &all[0];
    let mut expected = chronoscope_statistics::Histogram::default();
    let mut cpu = chronoscope_statistics::Histogram::default();
    for record in batch.records() {
        expected.add(record.elapsed_ns);
        cpu.add(record.cpu_ns);
        assert!(record.cpu_ns <= record.elapsed_ns);
    }
    assert_eq!((&fast.elapsed, &fast.cpu), (&expected, &cpu));
    let mut elapsed: Vec<_> = batch.records().iter().map(|r| r.elapsed_ns).collect();
    elapsed.sort_unstable_by(|a, b| b.cmp(a));
    let worst: Vec<_> = fast.worst.records().iter().map(|r| r.elapsed_ns).collect();
    assert_eq!(worst, elapsed[..10]);
    let mut cpu: Vec<_> = batch.records().iter().map(|r| r.cpu_ns).collect();
    cpu.sort_unstable_by(|a, b| b.cmp(a));
    let worst_cpu: Vec<_> = fast.worst_cpu.records().iter().map(|r| r.cpu_ns).collect();
    assert_eq!(worst_cpu, cpu[..10]);
    let busiest = &fast.worst_cpu.records()[0];
    let words: Vec<_> = context::entries(fast.worst_cpu.context(busiest)).collect();
    assert_eq!(words, [context::ContextEntry::Metric("number", 600.0)]);
    assert!(busiest.elapsed_ns < fast.worst.records()[0].elapsed_ns);
    let slowest = &fast.worst.records()[0];
    assert!(slowest.elapsed_ns > 200_000_000 && slowest.cpu_ns < slowest.elapsed_ns - 150_000_000);
    let words: Vec<_> = context::entries(fast.worst.context(slowest)).collect();
    assert_eq!(words, [context::ContextEntry::Metric("number", 500.0)]);
    let last: Vec<_> = ring.last(3).unwrap().records().iter().map(|r| r.id).collect();
    let expected: Vec<_> = batch.records()[997..].iter().map(|r| r.id).collect();
    assert_eq!(last, expected);
}
