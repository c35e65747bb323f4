//! Profiles of real programs, beside what Valgrind's own reader says of them.

#![allow(clippy::unwrap_used)] // helpers of tests

#[allow(dead_code)]
mod hostile_profile;
mod programs;

use std::collections::BTreeMap;

use chronoscope_track::callgrind::{Limits, Profile, WriteOptions, read, write};
use programs::{Program, annotated, tools};

const C: &str = r#"
#include <pthread.h>
#include <stdio.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }
static void *run(void *x) { *(int *)x = work(5000); return 0; }
int main(void) {
  int s = fib(12), t; pthread_t thread;
  pthread_create(&thread, 0, run, &t); pthread_join(thread, 0);
  for (int i = 0; i < 100; i++) s += work(100);
  printf("%d\n", s + t);
}
"#;

const RUST: &str = r#"
use std::collections::BTreeMap;
fn main() {
    let map: BTreeMap<u32, String> = (0..500).map(|n| (n * 7 % 501, n.to_string())).collect();
    let mut words: Vec<&String> = map.values().collect();
    words.sort();
    println!("{}", words.len());
}
"#;

/// Own costs by "file:function", as `callgrind_annotate` prints them.
fn own_costs(profile: &Profile) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (site, costs) in &profile.lines {
        let key = format!("{}:{}", profile.names.get(site.file), profile.name_of(site.function));
        *sums.entry(key).or_default() += costs.get(0);
    }
    sums
}

fn agrees_with_annotate(program: &Program, flags: &[&str]) {
    let profile = program.profile(flags);
    let (rows, total) = annotated(&program.path(), &[]);
    assert!(rows.len() > 20, "{rows:?}");
    assert_eq!(profile.total("Ir"), Some(total));
    // Several objects may have a function of one name: the printed rows are summed like ours.
    let mut theirs = BTreeMap::<String, u64>::new();
    for (key, count) in rows {
        *theirs.entry(key).or_default() += count;
    }
    let mut ours = own_costs(&profile);
    ours.retain(|_, count| *count > 0);
    assert_eq!(ours, theirs);
    // Each called function is one that has costs, or the reader took a wrong file or object.
    let called = profile.calls.keys().map(|(_, callee)| *callee);
    let own: std::collections::BTreeSet<_> = profile.lines.keys().map(|l| l.function).collect();
    assert_eq!(called.filter(|callee| !own.contains(callee)).count(), 0);
}

#[test]
fn sums_of_a_c_program_are_those_that_annotate_prints() {
    if tools(&["cc", "valgrind", "callgrind_annotate"]) {
        let program = Program::c(C, &[]);
        agrees_with_annotate(&program, &[]);
        agrees_with_annotate(&program, &["--dump-instr=yes", "--collect-jumps=yes"]);
        agrees_with_annotate(&program, &["--compress-strings=no", "--compress-pos=no"]);
    }
}

#[test]
fn sums_of_a_rust_program_are_those_that_annotate_prints() {
    if tools(&["valgrind", "callgrind_annotate"]) {
        agrees_with_annotate(&Program::rust(RUST, &[]), &["--separate-recs=1"]);
    }
}

#[test]
fn parts_and_threads_add_up_to_the_whole() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let program = Program::c(C, &[]);
    let whole = program.profile(&["--fair-sched=yes"]);
    std::fs::remove_file(program.path()).unwrap();
    let parts =
        program.profile(&["--fair-sched=yes", "--separate-threads=yes", "--dump-before=fib"]);
    let threads: std::collections::BTreeSet<_> =
        parts.parts.iter().map(|part| part.thread).collect();
    assert_eq!(threads, [Some(1), Some(2)].into());
    assert!(parts.parts.len() > 2, "{:?}", parts.parts);
    let work = |profile: &Profile| {
        let mut sums = own_costs(profile);
        sums.retain(|name, _| name.ends_with(":work"));
        sums.into_values().sum::<u64>()
    };
    assert_eq!(work(&parts), work(&whole));
    let one_file = program_with_combined_parts();
    assert!(one_file.parts.len() > 1, "{:?}", one_file.parts);
    assert_eq!(work(&one_file), work(&whole));
}

fn program_with_combined_parts() -> Profile {
    Program::c(C, &[]).profile(&["--combine-dumps=yes", "--dump-before=fib"])
}

/// What we write, Valgrind's reader reads.
#[test]
fn annotate_reads_what_is_written() {
    if !tools(&["cc", "valgrind", "callgrind_annotate"]) {
        return;
    }
    let program = Program::c(C, &[]);
    let profile = program.profile(&[]);
    let before = annotated(&program.path(), &["--inclusive=yes"]);
    let file = std::fs::File::create(program.path()).unwrap();
    write(&profile, WriteOptions::default(), file).unwrap();
    assert_eq!(annotated(&program.path(), &["--inclusive=yes"]), before);
    let again = read(&std::fs::read(program.path()).unwrap()[..], Limits::default()).unwrap();
    assert_eq!(hostile_profile::rows(&again), hostile_profile::rows(&profile));
}
