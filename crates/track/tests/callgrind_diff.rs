//! Pairs of real programs, of which it is known what moved between them.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;

use chronoscope_track::callgrind::diff::{
    Diff, FunctionPresence, Options, Same, diff, folded, svg, text,
};
use chronoscope_track::callgrind::{Limits, Profile, read};
use programs::{Program, tools};

/// Three workers of about 1:1:1; `NAME`, `MORE` and `MOVED` are what the versions differ in.
const C: &str = r#"
#include <stdio.h>
#define NOINLINE __attribute__((noinline))
volatile unsigned sink;
NOINLINE void alpha(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i; }
MOVED
NOINLINE void NAME(unsigned n) {
  for (unsigned i = 0; i < n; i++)
    sink ^= i;
}
NOINLINE void gamma_(unsigned n) { for (unsigned i = 0; i < n; i++) sink -= i; }
NOINLINE void round_(void) { alpha(1000); NAME(1000 + MORE); gamma_(1000); }
int main(void) { for (int i = 0; i < 100; i++) round_(); return 0; }
"#;

fn c(name: &str, more: u32, moved: &str) -> Profile {
    let name = format!("-DNAME={name}");
    let source = C.replace("MOVED", moved);
    Program::c(&source, &[&name, &format!("-DMORE={more}")]).profile(&[])
}

/// The version that the others are held against.
fn first() -> &'static Profile {
    static FIRST: std::sync::OnceLock<Profile> = std::sync::OnceLock::new();
    FIRST.get_or_init(|| c("beta", 0, ""))
}

fn compare(before: &Profile, after: &Profile) -> Diff {
    diff(before, after, &Options::default()).unwrap()
}

/// 0.3 % of the whole, in one of three workers.
#[test]
fn a_slower_function_is_found_with_its_line_and_its_callers() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let (before, after) = (first(), c("beta", 9, ""));
    let diff = compare(before, &after);
    let top = &diff.functions[0];
    assert_eq!((&*top.name, top.fate), ("beta", FunctionPresence::Kept(Same::Name)));
    let share = top.own.share_of(diff.total.before);
    assert!((0.002..0.004).contains(&share), "{share}");
    assert_eq!(i128::from(top.own.after - top.own.before), diff.total.delta());
    assert_eq!((top.calls.before, top.calls.after), (100, 100));
    assert_eq!(top.chain[..2], ["round_", "main"]);
    let own: Vec<_> = diff.functions.iter().filter(|f| f.own.delta() != 0).collect();
    assert_eq!(own.len(), 1, "{own:?}");
    let lines: Vec<_> = diff.lines.iter().map(|line| line.line_after.unwrap()).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| (8..=9).contains(line)), "{lines:?}");
    assert!(diff.calls.iter().any(|call| call.caller == "round_" && call.callee == "beta"));
    assert!(diff.renamed.is_empty() && diff.inlined.is_empty());

    let page = text(&diff, 20);
    assert!(page.contains("beta  (main.c, program)  called 100"), "{page}");
    assert!(page.contains("< round_ < main"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&diff.json().unwrap()).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["functions"][0]["name"], "beta");
    let options = Options::default();
    let picture = svg(before, &after, &options).unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("<title>beta: "), "{picture}");
    // The stacks of both sides have all that was spent, but for rounding.
    let stacks = folded(before, &after, &options).unwrap();
    let sums = stacks.lines().map(|line| line.rsplitn(3, ' ').collect::<Vec<_>>());
    let after_sum: f64 = sums.map(|words| words[0].parse::<f64>().unwrap()).sum();
    assert!((after_sum / diff.total.after as f64 - 1.0).abs() < 0.01, "{after_sum}\n{stacks}");
    let stack = stacks.lines().find(|line| line.contains(";round_;beta ")).unwrap();
    assert!(stack.contains("main;round_;beta "), "{stack}");
}

#[test]
fn a_renamed_function_is_the_same_one() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let diff = compare(first(), &c("do_the_xor", 0, ""));
    assert!(diff.functions.is_empty(), "{}", text(&diff, 20));
    let [(before, after, likeness)] = &diff.renamed[..] else { panic!("{:?}", diff.renamed) };
    assert_eq!((&**before, &**after), ("beta", "do_the_xor"));
    assert!(*likeness > 0.85, "{likeness}");
}

#[test]
fn what_did_not_change_is_not_reported() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let diff = compare(first(), &c("beta", 0, ""));
    assert!(diff.is_empty() && diff.calls.is_empty() && diff.lines.is_empty(), "{diff:?}");
    assert!(text(&diff, 20).ends_with("nothing moved\n"));
}

/// Lines above a function move it; where it is slower too, that line is the one that is said.
#[test]
fn moved_source_lines_are_no_change() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let moved = "/* a\n   comment\n   of\n   some\n   lines */";
    let diff = compare(first(), &c("beta", 0, moved));
    assert!(diff.is_empty(), "{}", text(&diff, 20));
    let diff = compare(first(), &c("beta", 9, moved));
    let lines = diff.lines.iter();
    assert!(lines.clone().count() > 0, "{}", text(&diff, 20));
    for line in lines {
        assert_eq!(line.line_after.unwrap() - line.line_before.unwrap(), 4, "{line:?}");
    }
}

const RUST: &str = r#"
use std::hint::black_box;
INLINE
fn scale(values: &mut [u64], by: u64) {
    for value in values.iter_mut() {
        *value = black_box(value.wrapping_mul(by) ^ (*value >> 3));
    }
}
#[inline(never)]
fn rounds(values: &mut [u64]) -> u64 {
    let mut sum = 0_u64;
    for by in 0..200 {
        scale(values, by | 1);
        sum = sum.wrapping_add(black_box(values[by as usize]));
    }
    sum
}
fn main() {
    let mut values: Vec<u64> = (0..1000).collect();
    println!("{}", rounds(&mut values));
}
"#;

fn rust(inline: &str) -> Profile {
    Program::rust(&RUST.replace("INLINE", inline), &[]).profile(&[])
}

#[test]
fn an_inlined_function_is_booked_as_if_it_were_still_one() {
    if !tools(&["valgrind"]) {
        return;
    }
    let (never, always) = (rust("#[inline(never)]"), rust("#[inline(always)]"));
    let inlined = compare(&never, &always);
    let [change] = &inlined.inlined[..] else { panic!("{}", text(&inlined, 20)) };
    assert!(change.inlined && change.name.ends_with("scale"), "{change:?}");
    assert!(change.callers[0].0.ends_with("rounds"), "{change:?}");
    // Booked on the caller it would be most of the program; as it is, only what inlining saved.
    for f in inlined.functions.iter().filter(|f| f.name.ends_with("scale")) {
        assert_eq!(f.fate, FunctionPresence::Inlined);
        assert!(f.own.share_of(inlined.total.before).abs() < 0.2, "{f:?}");
    }
    let rounds = inlined.functions.iter().find(|f| f.name.ends_with("rounds")).unwrap();
    assert!(rounds.own_booked.share_of(inlined.total.before) > 0.4, "{rounds:?}");
    assert!(rounds.own.share_of(inlined.total.before).abs() < 0.05, "{rounds:?}");

    let out_of_line = compare(&always, &never);
    let [change] = &out_of_line.inlined[..] else { panic!("{}", text(&out_of_line, 20)) };
    assert!(!change.inlined && change.name.ends_with("scale"), "{change:?}");
}

const THREADS: &str = r#"
#include <pthread.h>
volatile unsigned sinks[4];
__attribute__((noinline)) void work(int me, unsigned n) { for (unsigned i = 0; i < n; i++) sinks[me] += i; }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *x) {
  for (int i = 0; i < 300; i++) { pthread_mutex_lock(&lock); work((int)(long)x, 300 + MORE); pthread_mutex_unlock(&lock); }
  return 0;
}
int main(void) {
  pthread_t t[4];
  for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, run, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
"#;

#[test]
fn a_slower_function_of_threads_is_found() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let run = |more: &str| Program::c(THREADS, &[more]).profile(&["--fair-sched=yes"]);
    let (before, again, after) = (run("-DMORE=0"), run("-DMORE=0"), run("-DMORE=3"));
    let options = Options { floor: 5e-4, ..Options::default() };
    let same = diff(&before, &again, &options).unwrap();
    assert!(same.functions.iter().all(|f| f.name != "work"), "{}", text(&same, 20));
    let found = diff(&before, &after, &options).unwrap();
    let work = found.functions.iter().find(|f| f.name == "work").unwrap();
    assert!((0.005..0.015).contains(&work.own.share_of(work.own.before)), "{work:?}");
    assert_eq!(found.lines[0].function, "work", "{}", text(&found, 20));
}

fn made(text: &str) -> Profile {
    read(format!("events: Ir\n{text}").as_bytes(), Limits::default()).unwrap()
}

/// Names that compilers make anew with every build.
#[test]
fn hashes_clones_and_levels_of_recursion_are_no_new_functions() {
    let before = made("fn=a::f::h0123456789abcdef\n1 900\nfn=g.constprop.0\n2 90\nfn=h'2\n3 10\n");
    let after = made("fn=a::f::hfedcba9876543210\n1 900\nfn=g.isra.0.part.1\n2 90\nfn=h\n3 10\n");
    assert!(compare(&before, &after).is_empty());
}

/// A function that is gone and another that is new are not one because both are there.
#[test]
fn what_is_not_alike_is_not_a_rename() {
    let main = "fn=main\n1 10000\ncfn=";
    let before = made(&format!("fl=a.c\n{main}parse\ncalls=1 1\n1 900\nfn=parse\n9 900\n"));
    let after = made(&format!("fl=a.c\n{main}quit\ncalls=7 1\n1 90\nfn=quit\n50 90\n"));
    let diff = compare(&before, &after);
    let fate = |name: &str| diff.functions.iter().find(|f| f.name == name).unwrap().fate;
    assert_eq!((fate("parse"), fate("quit")), (FunctionPresence::Gone, FunctionPresence::New));
}

/// Costs that contradict each other: every function calls all others, each time for everything.
#[test]
fn a_profile_that_contradicts_itself_ends() {
    let mut text = String::new();
    for caller in 0..60 {
        text += &format!("fn=f{caller}x\n1 1000\n");
        for callee in caller + 1..60 {
            text += &format!("cfn=f{callee}x\ncalls=1 1\n1 999999999\n");
        }
    }
    let profile = made(&text);
    assert!(compare(&profile, &profile).is_empty());
    assert!(svg(&profile, &profile, &Options::default()).unwrap().ends_with("</svg>\n"));
}

/// Two rounds of names: a caller and what it calls are renamed at once.
#[test]
fn renamed_callers_and_callees_help_each_other() {
    let made = |f: &str, g: &str| {
        made(&format!(
            "fl=a.c\nfn=main\n1 10000\ncfn={f}\ncalls=3 1\n1 7000\nfn={f}\n5 3000\ncfn={g}\n\
             calls=30 1\n6 4000\nfn={g}\n20 4000\n"
        ))
    };
    let diff = compare(&made("load", "parse"), &made("fetch", "decode"));
    assert!(diff.functions.is_empty(), "{}", text(&diff, 20));
    assert_eq!(diff.renamed.len(), 2, "{:?}", diff.renamed);
}
