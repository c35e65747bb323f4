//! Heap and system calls of real programs, of which it is known what they ask for.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;

use std::process::Command;
use std::time::Duration;

use chronoscope_track::counters::heap::{Heap, ProcessHeap, heap};
use chronoscope_track::counters::syscalls::syscalls;
use chronoscope_track::counters::{ExtraRun, Method, Plan, Program, Run, beyond, measure};
use programs::{Program as Compiled, tools};

fn c(body: &str) -> Compiled {
    let head = "#include <malloc.h>\n#include <pthread.h>\n#include <signal.h>\n\
                #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                #include <sys/syscall.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
                void *volatile kept[10000];\n";
    Compiled::c(&format!("{head}{body}"), &["-D_GNU_SOURCE", "-fno-builtin"])
}

fn heap_of(compiled: &Compiled, word: &str) -> Heap {
    heap(&Program::new(compiled.executable()).argument(word)).unwrap()
}

/// 1000 blocks of 100 octets, half of them freed; one grown from 10 to 5000; kinds of aligned ones.
const KNOWN: &str = "int main(int count, char **words) {
  if (words[1][0] == '-') return 0;
  for (int i = 0; i < 1000; i++) kept[i] = malloc(100);
  for (int i = 0; i < 500; i++) free(kept[i]);
  kept[0] = realloc(realloc(NULL, 10), 5000);
  kept[1] = calloc(7, 8);
  kept[2] = aligned_alloc(64, 128);
  void *p; if (posix_memalign(&p, 256, 300)) return 1;
  kept[3] = p;
  if (calloc((size_t)-1, 2) || realloc(kept[3], (size_t)-1 / 2)) return 2;
  free(NULL);
  return 0;
}";

#[test]
fn what_a_program_asks_for_is_counted_exactly() {
    if !tools(&["cc"]) {
        return;
    }
    let compiled = c(KNOWN);
    let (none, all) = (heap_of(&compiled, "-"), heap_of(&compiled, "+"));
    assert_eq!(all, heap_of(&compiled, "+"), "it does not repeat");
    let ([none], [all]) = (&none.processes[..], &all.processes[..]) else {
        panic!("{none:?} {all:?}");
    };
    let more = |of: fn(&ProcessHeap) -> u64| of(all) - of(none);
    assert_eq!(all.program, "program");
    assert_eq!(more(|heap| heap.allocations), 1000 + 2 + 3);
    assert_eq!(more(|heap| heap.bytes), 100_000 + 10 + 5000 + 56 + 128 + 300);
    assert_eq!(more(|heap| heap.frees), 501);
    assert_eq!(more(|heap| heap.held), 504);
    assert_eq!(more(|heap| heap.held_bytes), 50_000 + 5000 + 56 + 128 + 300);
    assert_eq!(more(|heap| heap.held_bytes_max), 100_000);
    assert_eq!((all.foreign, all.lost, all.forked), (0, 0, false));
    let glibc = all.glibc.unwrap();
    let grown = glibc.used_bytes - none.glibc.unwrap().used_bytes;
    assert!((55_484..70_000).contains(&grown), "{glibc:?}");
    assert_eq!(glibc.arena_bytes, glibc.used_bytes + glibc.free_bytes);
    assert!(glibc.arenas == 1 && glibc.system_bytes_max >= glibc.arena_bytes, "{glibc:?}");
}

/// Memcheck counts the same in another way.
#[test]
fn valgrind_agrees() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let compiled = c(KNOWN);
    let ours = heap_of(&compiled, "+").processes.remove(0);
    let output = Command::new("valgrind")
        .args(["--run-libc-freeres=no"])
        .arg(compiled.executable())
        .arg("+")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let number = |before: &str, index: usize| -> u64 {
        let line = said.lines().find(|line| line.contains(before)).unwrap();
        let after = line.split(before).nth(1).unwrap();
        let numbers = after.split(|c: char| c != ',' && !c.is_ascii_digit());
        let numbers = numbers.filter_map(|text| text.replace(',', "").parse().ok());
        numbers.collect::<Vec<_>>()[index]
    };
    let usage = |index| number("total heap usage:", index);
    let held = |index| number("in use at exit:", index);
    assert_eq!((ours.held_bytes, ours.held), (held(0), held(1)), "{said}");
    // Memcheck takes a request that cannot be met for one; it gives only what it can too.
    let refused = 2;
    assert!((usage(0) - ours.allocations) <= refused, "{ours:?} {said}");
    assert!((usage(1) - ours.frees) <= refused, "{ours:?} {said}");
}

#[test]
fn every_process_has_its_own_heap() {
    if !tools(&["cc"]) {
        return;
    }
    let compiled = c("static void *work(void *unused) {
          for (int i = 0; i < 3000; i++) { void *volatile p = malloc(64); free(p); }
          return unused; }
        int main(int count, char **words) {
          if (count == 3) { kept[0] = malloc(77777); _exit(0); }
          kept[0] = malloc(1000000); int s;
          if (!fork()) { kept[1] = malloc(5555); free(kept[0]); exit(0); }
          wait(&s);
          if (!fork()) { kept[2] = malloc(222); raise(SIGKILL); }
          wait(&s);
          if (!fork()) execl(words[0], words[0], \"a\", \"b\", (char *)0);
          wait(&s);
          pthread_t threads[4];
          for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
          for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
          return 0; }");
    let found = heap_of(&compiled, "x");
    let [parent, freed, killed, executed] = &found.processes[..] else { panic!("{found:?}") };
    // Four threads of 3000, and what their stacks' descriptions need.
    assert!((12_001..12_030).contains(&parent.allocations), "{parent:?}");
    assert!(!parent.forked && parent.glibc.is_some_and(|glibc| glibc.arenas >= 2), "{parent:?}");
    assert_eq!((freed.allocations, freed.bytes, freed.frees), (1, 5555, 1));
    assert_eq!(freed.inherited_bytes - freed.held_bytes, 1_000_000 - 5555);
    assert!(freed.forked && freed.held_bytes_max == freed.inherited_bytes + 5555, "{freed:?}");
    assert_eq!((killed.allocations, killed.bytes, killed.glibc), (1, 222, None));
    assert!(!executed.forked && executed.bytes >= 77_777, "{executed:?}");
    assert!(executed.glibc.is_some(), "it left by _exit: {executed:?}");
    let text = found.text();
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.contains("program (forked)"), "{text}");
}

/// A handler that leaves while its thread is within the allocator must not ask it anything.
#[test]
fn leaving_in_the_midst_of_malloc_does_not_hang() {
    if !tools(&["cc"]) {
        return;
    }
    let compiled = c("static void leave(int signal) { _exit(signal == SIGALRM ? 0 : 1); }
        int main(void) {
          signal(SIGALRM, leave);
          ualarm(20000, 0);
          for (unsigned i = 0;; i++) { free(kept[i % 10000]); kept[i % 10000] = malloc(i % 3000); }
        }");
    for _ in 0..20 {
        let mut program = Program::new(compiled.executable());
        program.limit = Duration::from_secs(20);
        let found = heap(&program).unwrap();
        assert!(found.allocations() > 0, "{found:?}");
    }
}

#[test]
fn what_cannot_be_seen_is_said() {
    if !tools(&["cc"]) {
        return;
    }
    let fixed = Compiled::c("int main(void) { return 0; }", &["-static"]);
    let error = heap(&Program::new(fixed.executable())).unwrap_err().to_string();
    assert!(error.contains("statically linked"), "{error}");
    let failing = Program::new("/bin/sh").argument("-c").argument("echo no table >&2; exit 4");
    let found = beyond(&failing);
    let ExtraRun::Missing { because } = &found.syscalls else { panic!("{found:?}") };
    assert_eq!(because, "/bin/sh ended with exit status: 4; it said: no table");
    assert!(matches!(found.heap, ExtraRun::Missing { .. }));
    assert!(found.text().contains("system calls were not counted: /bin/sh ended"), "{found:?}");
}

#[test]
fn system_calls_are_counted_by_kind_thread_and_process() {
    if !tools(&["cc"]) {
        return;
    }
    let compiled = c("static void *work(void *unused) {
          for (int i = 0; i < 50; i++) syscall(SYS_getuid);
          return unused; }
        int main(int count, char **words) {
          if (count == 3) { for (int i = 0; i < 9; i++) syscall(SYS_getgid); return 0; }
          int n = atoi(words[1]), s;
          for (int i = 0; i < n; i++) syscall(SYS_getppid);
          pthread_t threads[3];
          for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
          for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
          if (!fork()) execl(words[0], words[0], \"a\", \"b\", (char *)0);
          wait(&s);
          return s; }");
    let count = |n: &str| syscalls(&Program::new(compiled.executable()).argument(n)).unwrap();
    let (few, many) = (count("100"), count("350"));
    let [parent, forked, executed] = &many.processes[..] else { panic!("{many:?}") };
    let of = |process: &chronoscope_track::counters::syscalls::ProcessSyscalls, name: &str| {
        process.calls.get(name).copied().unwrap_or(0)
    };
    assert_eq!((of(parent, "getppid"), of(parent, "getuid"), parent.threads), (350, 150, 4));
    assert_eq!((of(forked, "execve"), forked.forked, forked.threads), (1, true, 1));
    assert_eq!((of(executed, "getgid"), executed.forked), (9, false));
    assert_eq!(many.steady() - few.steady(), 250);
    assert_eq!((many.left, executed.program.as_str()), (0, "program"));
    assert!(many.text().contains("getppid 350"), "{}", many.text());
}

#[test]
fn signals_reach_a_program_that_is_traced() {
    if !tools(&["cc"]) {
        return;
    }
    let compiled = c("static volatile int seen;
        static void note(int signal) { seen = signal; }
        int main(void) {
          signal(SIGUSR1, note);
          kill(getpid(), SIGUSR1);
          if (seen != SIGUSR1) return 1;
          pid_t child = fork();
          if (!child) { raise(SIGTERM); return 2; }
          int s; waitpid(child, &s, 0);
          return !(WIFSIGNALED(s) && WTERMSIG(s) == SIGTERM); }");
    let found = syscalls(&Program::new(compiled.executable())).unwrap();
    assert_eq!(found.processes.len(), 2, "{found:?}");
}

#[test]
fn what_outlives_its_parent_is_killed_and_counted() {
    let script = Program::new("/bin/sh").argument("-c").argument("sleep 1000 & exit 0");
    let found = syscalls(&script).unwrap();
    assert_eq!(found.left, 1, "{found:?}");
    assert!(found.text().contains("1 processes were left running"), "{}", found.text());
}

#[test]
fn what_never_ends_is_killed_while_it_is_traced() {
    let mut endless = Program::new("/bin/sh").argument("-c").argument("echo on >&2; sleep 1000");
    endless.limit = Duration::from_millis(1500);
    let error = syscalls(&endless).unwrap_err().to_string();
    assert_eq!(error, "/bin/sh ran longer than 1.5 s and was killed; it said: on");
    let none = syscalls(&Program::new("/nowhere/at/all")).unwrap_err().to_string();
    assert!(none.starts_with("/nowhere/at/all: starting it to be traced: No such"), "{none}");
}

#[test]
fn a_run_carries_them_and_is_read_again() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let compiled = c(KNOWN);
    let program = Program::new(compiled.executable()).argument("+");
    let plan = Plan { beyond: true, ..Plan::default() };
    let run = measure(&program, &Method::best(), &plan).unwrap().runs.remove(0);
    let kept = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&kept).unwrap(), run);
    let found = run.beyond.unwrap();
    assert!(found.heap.counted().unwrap().allocations() >= 1005, "{found:?}");
    assert!(found.syscalls.counted().unwrap().total() > 10, "{found:?}");
}
