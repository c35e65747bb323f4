//! Stacks of a real program that `perf` samples, where it may.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;

use chronoscope_track::counters::{self, SampleError};
use chronoscope_track::flame::{MeasuredProfile, TreeLimits};
use programs::{Program, tools};

const C: &str = r#"
volatile unsigned sink;
__attribute__((noinline)) void inner(unsigned n) { while (n--) sink += n; }
__attribute__((noinline)) void outer(unsigned n) { inner(n); sink++; }
int main(void) { for (int i = 0; i < 300; i++) outer(1000000); return 0; }
"#;

#[test]
fn a_busy_function_is_found_below_its_callers() {
    if !tools(&["cc", "perf"]) {
        return;
    }
    let program = Program::c(C, &["-fno-optimize-sibling-calls"]);
    let samples = match counters::sample(&counters::Program::new(program.executable())) {
        Ok(samples) => samples,
        Err(SampleError::Record(error)) => {
            eprintln!("SKIPPED: perf may not sample here: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let measured = MeasuredProfile::of_samples(samples, None).unwrap();
    let tree = measured.tree(TreeLimits::default());
    let total: u64 = measured.graph.total;
    assert_eq!(tree.total(), [total]);
    let node = |name: &str| measured.graph.nodes.iter().find(|node| node.name == name).unwrap();
    // Nearly all samples are in `inner`; nearly all have main and outer above it.
    for name in ["inner", "outer", "main"] {
        assert!(
            node(name).inclusive * 10 > total * 8,
            "{name} {} of {total}",
            node(name).inclusive
        );
    }
    assert!(node("inner").own * 10 > total * 7);
    let inner = tree.frames.iter().enumerate().filter(|(index, _)| tree.name(*index) == "inner");
    let (_, frame) = inner.max_by_key(|(_, frame)| frame.inclusive).unwrap();
    assert_eq!(tree.name(frame.parent.unwrap()), "outer");
}

#[test]
fn a_program_that_fails_or_is_none_has_no_stacks_and_says_why() {
    let missing = counters::sample(&counters::Program::new("/no/such/program")).unwrap_err();
    assert!(missing.to_string().starts_with("perf record: "), "{missing}");
}
