//! Programs in C and C++ over the library, and what their rings hold.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_chain::ChainStatus;
use chronoscope_model::{Extras, Flags, PathId, Record, Status, Transaction, TransactionId};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use support::{Program, Recorded};

const C11: &[&str] = &["-std=c11"];

/// A program that knows nothing but the Open Group's names, in the oldest C there is.
#[test]
fn a_program_for_version_4_0_is_recorded() {
    let flags = ["-std=c89", "-pedantic"];
    let Some(program) = Program::compile("open_group_40.c", &flags) else { return };
    program.run();
    let recorded = program.ring();
    assert_eq!(recorded.ring.process().application, "MRTS");
    let (root, child) = (recorded.one("decodePlots"), recorded.one("Correlate"));
    assert_eq!((root.level, root.parent, root.status()), (0, TransactionId::NONE, Status::Good));
    assert_eq!((child.level, child.parent, child.status()), (1, root.id, Status::Failed));
    assert_eq!((child.chain(), child.root_start_ns), (root.chain(), root.start_ns));
    assert_eq!(child.path, root.path.child(child.class));
    assert!(child.start_ns >= root.start_ns && child.end_ns() <= root.end_ns());
    assert!(!child.flags().contains(Flags::FOREIGN));
}

/// ARM 4.1: a child that is marked independent fails, and its chain does not; what depends does.
#[test]
fn an_independent_childs_failure_is_not_its_chains() {
    let Some(program) = Program::compile("independent.c", C11) else { return };
    let status = |arguments: &[&str]| {
        program.run_with(arguments);
        let rings = program.rings();
        let recorded = rings.iter().max_by_key(|ring| ring.one("order").start_ns).unwrap();
        let names = recorded.ring.names();
        let row = |record: &Record| {
            Transaction::from_record(record, recorded.batch.context(record), names)
        };
        let rows: Vec<Transaction> = recorded.batch.records().iter().map(row).collect();
        let found = ChainStatus::of(&rows);
        let counted = rows.iter().zip(&found.counts).filter(|(_, counts)| **counts);
        let counted = counted.map(|(row, _)| row.class.class.clone()).collect::<BTreeSet<_>>();
        (found.status, found.not_good, found.independent_not_good, Vec::from_iter(counted))
    };
    assert_eq!(status(&[]), (Status::Good, 0, 2, vec!["order".to_owned()]));
    let counted = vec!["order".to_owned(), "payment".to_owned()];
    assert_eq!(status(&["depends"]), (Status::Failed, 1, 2, counted));
}

/// What each function and each sub-buffer leaves in the ring. The program itself checks codes.
#[test]
fn every_function_and_every_sub_buffer() {
    let Some(program) = Program::compile("everything.c", C11) else { return };
    program.run();
    let mut recorded = program.ring();
    full(&recorded);
    arrival(&recorded);
    reported(&recorded);
    inputs(&recorded);
    foreign(&mut recorded);
    bound(&recorded);
    controlled(&recorded);
    assert!(recorded.all("discarded").is_empty());
    assert_eq!(recorded.one("dü").status(), Status::Unknown);
    assert!(recorded.ring.open_transactions().unwrap().is_empty());
}

fn inputs(recorded: &Recorded) {
    let senders: Vec<_> = recorded.all("sender").iter().map(|sender| sender.id).collect();
    let batch = recorded.one("batch");
    assert_eq!(batch.parent, senders[0]);
    assert!(batch.flags().contains(Flags::FURTHER_PARENTS));
    let links = Extras::of(recorded.batch.context(&batch)).further_parents;
    assert_eq!(links.iter().map(|link| link.id).collect::<Vec<_>>(), senders[1..]);
    assert!(links.iter().all(|link| link.root.is_some_and(|root| root.level == 0)));
    assert_eq!(recorded.metric(&batch, "messages_received"), Some(3.0), "of the first call");
}

fn full(recorded: &Recorded) {
    let record = recorded.one("full");
    let said = recorded.said(&record);
    let want = [
        "sensor=RDR-3",
        "sector=North",
        "c32 [plots]=3",
        "c64=5000000000",
        "cdiv=3.5",
        "g32=-4",
        "gdiv=0.25",
        "text=warm",
    ];
    assert_eq!(said[..want.len()], want);
    let blocked_ns = recorded.metric(&record, "blocked_ns").unwrap();
    assert!(blocked_ns >= 4_500_000.0 && blocked_ns <= record.elapsed_ns as f64);
    assert_eq!(recorded.metric(&record, "blocked_count"), Some(2.0));
    assert_eq!(recorded.metric(&record, "messages_received"), Some(1.0));
    assert!(said.iter().all(|own| !own.starts_with("g64")), "not valid: {said:?}");
    // Here the 240 octets run out, in the middle of a word, and the record says so.
    let rest = ["message_received=plot", "block_cause=synchronous", "user=c"];
    assert_eq!(said[said.len() - 3..], rest);
    assert!(record.flags().contains(Flags::CONTEXT_CUT));
    assert_eq!(record.status(), Status::Aborted);

    let uris = recorded.said(&recorded.one("with URIs"));
    assert_eq!(uris[0], "uri=/plots?radar=7");
    assert!(uris.contains(&"identity_uri=mrts:/plots".to_owned()), "{uris:?}");
    assert!(uris.contains(&"rows=2".to_owned()) && uris.contains(&"sent_ms=3".to_owned()));

    let short = recorded.one("short");
    let want = [
        "user=controller",
        "user_id=0102030405060708090a0b0c0d0e0f10",
        "diag=late",
        "code=17",
        "app_instance=unit 1",
    ];
    assert_eq!(recorded.said(&short)[..want.len()], want);

    let plain = &recorded.all("plain")[0];
    let identity = [
        "app_instance=unit 1",
        "app_group=radar",
        "config=fast",
        "mode=live",
        "system_address=10.0.0.7:8080",
        "site=Karlsruhe",
    ];
    assert_eq!(recorded.said(plain), identity);
}

fn arrival(recorded: &Recorded) {
    let opaque = recorded.one("arrived");
    assert!((20_000_000..2_000_000_000).contains(&opaque.elapsed_ns), "{}", opaque.elapsed_ns);
    assert!(opaque.cpu_ns < 10_000_000, "it waited: {}", opaque.cpu_ns);
    let by_clock = recorded.one("arrived by the clock");
    assert!((2_000_000_000..4_000_000_000).contains(&by_clock.elapsed_ns));
    assert_eq!(by_clock.start_ns % 1_000_000_000, 0);
    assert_eq!(by_clock.root_start_ns, by_clock.start_ns);
}

fn reported(recorded: &Recorded) {
    let (parent, child) = (recorded.one("reported"), recorded.all("reported child")[0]);
    assert_eq!((child.elapsed_ns, child.end_ns()), (2_000_000, 1_700_000_000_123_000_000));
    assert_eq!((parent.elapsed_ns, parent.status()), (5_000_000, Status::Good));
    assert_eq!((child.parent, child.level, child.chain()), (parent.id, 1, parent.chain()));
    assert_eq!(child.path, parent.path.child(child.class));
    assert_eq!(child.root_start_ns, parent.root_start_ns);
    assert!(child.flags().contains(Flags::ASYNCHRONOUS.with(Flags::INDEPENDENT)));
    assert!(recorded.said(&parent).contains(&"diag=afterwards".to_owned()));
    // A correlator of another class is none: a root of its own.
    let other = recorded.all("reported child")[1];
    assert_eq!((other.level, other.parent), (0, TransactionId::NONE));
}

fn foreign(recorded: &mut Recorded) {
    let w3c = recorded.one("under W3C");
    assert_eq!(w3c.chain().to_string(), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(w3c.parent.0, 0xb7ad_6b71_6920_3331);
    assert!(w3c.flags().contains(Flags::FOREIGN) && w3c.path == PathId::NONE);
    let other = recorded.all("under another agent");
    assert_eq!((other[0].chain(), other[0].parent), (other[1].chain(), other[1].parent));
    assert!(other[0].id != other[1].id && other[0].flags().contains(Flags::FOREIGN));
    assert_eq!(recorded.ring.counters().unwrap().foreign_correlators, 2);
}

fn bound(recorded: &Recorded) {
    let (a, b) = (recorded.one("bound a"), recorded.one("bound b"));
    assert_eq!((a.level, b.level), (0, 0));
    for (class, parent) in [("in b", b), ("under b", b), ("in a", a)] {
        let child = recorded.one(class);
        assert_eq!((child.parent, child.chain()), (parent.id, parent.chain()), "{class}");
        assert_eq!(child.path, parent.path.child(child.class), "{class}");
    }
    assert!(a.cpu_ns > 0 && a.cpu_ns <= a.elapsed_ns);
}

fn controlled(recorded: &Recorded) {
    assert!(recorded.all("off").is_empty());
    let under = recorded.one("under off");
    let root = recorded.all("plain").into_iter().find(|root| root.id == under.parent).unwrap();
    assert_eq!((under.level, under.chain()), (1, root.chain()));
    let without = recorded.one("without blocks");
    assert_eq!(recorded.metric(&without, "blocked_count"), None);
}

/// Codes for everything that can be wrong; what is good among it arrives.
#[test]
fn every_mistake_has_its_code() {
    let Some(program) = Program::compile("mistakes.c", C11) else { return };
    program.run();
    let mut recorded = program.ring();
    // 8 absurd lists, an unknown one, one without array, bad correlators, reports, the last.
    assert_eq!(recorded.all("wished").len(), 8 + 1 + 1 + 2 + 2 + 1);
    assert!(recorded.ring.open_transactions().unwrap().is_empty());
}

/// The same programs where the compiler watches every access.
#[test]
fn sanitizers_find_nothing() {
    let flags = ["-std=c11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for name in ["everything.c", "mistakes.c"] {
        let Some(program) = Program::compile(name, &flags) else { return };
        // What is registered stays for good, and is no leak.
        let output = program.command().env("ASAN_OPTIONS", "detect_leaks=0").output().unwrap();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {complained}");
    }
}

/// Threads at one transaction, stops on other threads, races for one handle.
#[test]
fn threads_share_transactions() {
    let Some(program) = Program::compile("threads.c", C11) else { return };
    program.run();
    let mut recorded = program.ring();
    let work = recorded.one("work");
    assert_eq!(recorded.metric(&work, "blocked_count"), Some(8000.0));
    assert_eq!(recorded.metric(&work, "bound_count"), Some(4.0));
    // Four threads of at least 4 ms each: unbound by themselves, or by their end.
    assert!(recorded.metric(&work, "bound_cpu_ns").unwrap() >= 15_000_000.0);
    assert_eq!(work.cpu_ns.min(work.elapsed_ns), work.cpu_ns);
    // 4 x 2000 handed over, 2000 raced for: each once.
    let statistics = recorded.ring.statistics().unwrap();
    let part = statistics.iter().find(|own| own.name.class == "part").unwrap();
    assert_eq!(part.count, 10_000);
    assert!(recorded.ring.open_transactions().unwrap().is_empty());
}

#[test]
fn a_forked_child_has_a_ring_of_its_own() {
    let Some(program) = Program::compile("threads.c", C11) else { return };
    program.run_with(&["fork"]);
    let rings = program.rings();
    assert_eq!(rings.len(), 2);
    let parent = rings.iter().find(|ring| ring.all("work").len() == 1).unwrap();
    let child = rings.iter().find(|ring| ring.all("work").is_empty()).unwrap();
    assert!(parent.all("part").is_empty() && parent.all("child").is_empty());
    assert_eq!(
        (child.one("part").status(), child.one("child").status()),
        (Status::Aborted, Status::Good)
    );
}

/// What was recorded before a `kill -9` is there, and what was open is seen.
#[test]
fn a_killed_program_leaves_its_transactions() {
    let Some(program) = Program::compile("threads.c", C11) else { return };
    let mut child = program.command().arg("wait").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut recorded = program.ring();
    assert_eq!(recorded.one("part").status(), Status::Good);
    assert_eq!(recorded.ring.open_transactions().unwrap().len(), 1);
    assert!(!recorded.ring.is_alive());
}

/// A class that is switched off in the ring, as `chronoscope live --disable` does.
#[test]
fn a_class_is_switched_off_from_outside() {
    let Some(program) = Program::compile("threads.c", C11) else { return };
    let mut command = program.command();
    let piped = command.arg("switch").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut running = program.ring();
    let part = chronoscope_model::ClassId::of("Threads", "part");
    assert!(running.ring.set_enabled(part, false).unwrap());
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
    let recorded = program.ring();
    assert_eq!((recorded.all("part").len(), recorded.all("work").len()), (0, 1));
}

/// `arm4.hpp`, in the C++ of then and now.
#[test]
fn scopes_of_cpp_are_transactions() {
    for standard in ["-std=c++11", "-std=c++17"] {
        let Some(program) = Program::compile("scopes.cpp", &[standard, "-pedantic"]) else {
            return;
        };
        program.run();
        let recorded = program.ring();
        let (receive, redraw) = (recorded.all("receive"), recorded.all("redraw"));
        assert_eq!((receive.len(), redraw.len(), recorded.all("queue").len()), (3, 3, 3));
        for (parent, child) in receive.iter().zip(&redraw) {
            assert_eq!((child.parent, child.status()), (parent.id, Status::Good));
            assert!(child.flags().contains(Flags::ASYNCHRONOUS));
            assert_ne!(child.thread, parent.thread);
        }
        let broken: Vec<Status> = recorded.all("broken").iter().map(|own| own.status()).collect();
        assert_eq!(broken, [Status::Aborted, Status::Good, Status::Failed]);
        assert!(recorded.said(&recorded.all("broken")[2]).contains(&"diag=disk full".to_owned()));
        assert!(recorded.all("gone").is_empty());
    }
}

/// Switched off from outside: by the environment, as a whole or in parts.
#[test]
fn the_environment_switches_off() {
    let Some(program) = Program::compile("open_group_40.c", C11) else { return };
    let off = "MRTS::Correlate/transaction,metric";
    let output = program.command().env("CHRONOSCOPE_ARM_OFF", off).output().unwrap();
    // The program misses its trace flag: the correlator handed on is the root's.
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("trace was requested"), "{said}");
    let recorded = program.ring();
    assert_eq!((recorded.all("decodePlots").len(), recorded.all("Correlate").len()), (1, 0));
}
