//! Real programs, run and counted.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;

use std::time::Duration;

use chronoscope_track::counters::{
    Counter, Counts, Method, Plan, Program, RunError, calibrate, count, measure, profile,
};
use programs::{Program as Compiled, tools};

fn c(body: &str) -> Compiled {
    let head = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
                #include <sys/mman.h>\n#include <sys/personality.h>\n#include <sys/syscall.h>\n\
                #include <sys/wait.h>\nvolatile unsigned sink;\nvoid *volatile kept;\n";
    Compiled::c(
        &format!("{head}int main(int count, char **words) {{ {body} }}"),
        &["-D_GNU_SOURCE"],
    )
}

/// Touches as many pages as it is told, then lets a child do the same.
const TOUCH: &str = "size_t n = atol(words[1]) * 4096;
    for (int round = 0; round < 2; round++) {
      char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      madvise(p, n, MADV_NOHUGEPAGE);
      for (size_t i = 0; i < n; i += 4096) p[i] = 1;
      munmap(p, n);
      if (round == 0) { int s; pid_t child = fork(); if (child) { wait(&s); return 0; } }
    }
    return 0;";

#[test]
fn a_counter_begins_with_the_program_and_has_its_children() {
    if !tools(&["cc"]) {
        return;
    }
    let compiled = c(TOUCH);
    let faults = |pages: u64| {
        let program = Program::new(compiled.executable()).argument(pages.to_string());
        count(&program, Counter::PageFaults)
    };
    let (few, many) = match (faults(100), faults(5100)) {
        (Ok(few), Ok(many)) => (few, many),
        (Err(RunError::Io { source, .. }), _) => {
            eprintln!("SKIPPED: no counters at all here ({source}): nothing was tested");
            return;
        }
        other => panic!("{other:?}"),
    };
    let (usage, reading) = many;
    assert_eq!(reading.enabled_ns, reading.running_ns);
    // What the loader touches differs by a few pages from run to run (which file's pages come
    // along with their neighbours); without the child, or with its half alone, it would be 5000.
    let grown = reading.count.abs_diff(few.1.count);
    assert!(grown.abs_diff(10_000) < 500, "{few:?} {many:?}");
    assert!(reading.count <= usage.minor_faults + usage.major_faults, "{many:?}");
    assert!(usage.rss_bytes_max > 5000 * 4096, "{usage:?}");
    assert!(usage.elapsed_ns > 0, "{usage:?}");
}

#[test]
fn under_callgrind_instructions_allocations_and_syscalls_are_exact() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let compiled = c("int n = atoi(words[1]);
        for (int i = 0; i < n; i++) { kept = malloc(100); free(kept); kept = calloc(7, 8); free(kept); syscall(SYS_getppid); }
        return 0;");
    let method = Method::Callgrind { because: "the test says so".to_owned() };
    let run = |count: &str| {
        let program = Program::new(compiled.executable()).argument(count);
        measure(&program, &method, &Plan::default()).unwrap().runs.remove(0)
    };
    let (first, again, more) = (run("100"), run("100"), run("350"));
    assert_eq!(first.corrected(), first.instructions());
    // The time of system calls is measured, and is another every time.
    let counts = |run: &chronoscope_track::counters::Run| match run.counts {
        Counts::Callgrind { instructions, allocations, syscalls, .. } => {
            (instructions, allocations, syscalls)
        }
        Counts::Hardware { .. } => panic!("Callgrind was asked for"),
    };
    let (few, many) = (counts(&first), counts(&more));
    assert_eq!(few, counts(&again));
    assert_eq!((many.1 - few.1, many.2 - few.2), (500, 250));
    assert!(many.0 > few.0);
}

#[test]
fn children_are_profiled_too() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let compiled = c("if (count > 1) { for (int i = 0; i < 1000000; i++) sink += i; return 0; }
        int s; pid_t child = fork();
        if (!child) { execl(words[0], words[0], \"x\", (char *)0); return 1; }
        wait(&s); return s;");
    let sum = profile(&Program::new(compiled.executable())).unwrap();
    let total = sum.total("Ir").unwrap();
    assert!((3_000_000..9_000_000).contains(&total), "{total}");
    assert!(sum.parts.len() >= 2, "{:?}", sum.parts);
}

#[test]
fn surroundings_are_fixed() {
    if !tools(&["cc"]) {
        return;
    }
    let compiled = c("extern char **environ; int n = 0; while (environ[n]) n++;
        return !(personality(0xffffffff) & ADDR_NO_RANDOMIZE) + 2 * (n != 3)
          + 4 * !!strcmp(getenv(\"LC_ALL\"), \"C\") + 8 * (getpgrp() != getpid());");
    let program = Program::new(compiled.executable());
    // A warm-up is a run in the same surroundings; what follows it is another test's matter.
    let plan = Plan { runs: 0, ..Plan::default() };
    measure(&program, &Method::Hardware, &plan).unwrap();
}

fn shell(script: &str) -> Program {
    Program::new("/bin/sh").argument("-c").argument(script)
}

fn error(program: &Program) -> String {
    let method = Method::Callgrind { because: "unused: it never gets so far".to_owned() };
    measure(program, &method, &Plan::default()).unwrap_err().to_string()
}

#[test]
fn what_fails_is_named_with_what_it_said() {
    assert_eq!(
        error(&shell("echo no database >&2; exit 3")),
        "/bin/sh ended with exit status: 3; it said: no database"
    );
    assert!(error(&shell("kill -SEGV $$")).contains("signal: 11"));
    let none = error(&Program::new("/nowhere/at/all"));
    assert!(none.starts_with("/nowhere/at/all: starting it: No such file"), "{none}");
}

#[test]
fn what_never_ends_is_killed_with_its_children() {
    let mut program = shell("echo waiting >&2; sleep 1000 & wait");
    program.limit = Duration::from_secs(2);
    let said = error(&program);
    assert!(said.starts_with("/bin/sh ran longer than 2 s and was killed"), "{said}");
}

#[test]
fn a_program_is_counted_by_what_the_machine_has() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let method = Method::best();
    match &method {
        Method::Hardware => {
            let found = calibrate().unwrap();
            assert!(found.instructions > 20_000_000, "{found:?}");
        }
        Method::Callgrind { because } => {
            eprintln!("no hardware counters here ({because}): Callgrind counts");
            assert!(!because.is_empty());
        }
    }
    let compiled = c("for (int i = 0; i < atoi(words[1]); i++) sink += i; return 0;");
    let run = |count: &str| {
        let program = Program::new(compiled.executable()).argument(count);
        let plan = Plan { runs: 2, tolerance: 1e-3, ..Plan::default() };
        let series = measure(&program, &method, &plan).unwrap();
        assert_eq!(series.runs.len(), 2);
        let counts: Vec<_> = series.runs.iter().map(|run| run.corrected()).collect();
        let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
        assert!(spread * 10_000 < counts[0], "{counts:?}");
        counts[0]
    };
    let (few, many) = (run("200000"), run("400000"));
    // Some instructions each: at least load, add, store and the loop's own.
    assert!((many - few) / 200_000 >= 3, "{few} {many}");
}
