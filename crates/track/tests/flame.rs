//! Trees of calls, callers and callees, and their export: of real programs beside what Valgrind's
//! own reader says, and of profiles that are made to be difficult.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;

use chronoscope_track::callgrind::{Graph, Limits, Profile, read};
use chronoscope_track::flame::firefox::{self, About};
use chronoscope_track::flame::{
    CallTree, FunctionName, MeasuredProfile, TreeLimits, calls, find, svg, text,
};
use programs::{Program, annotated, tools};
use std::collections::{BTreeMap, BTreeSet};

const C: &str = r#"
#include <stdio.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ n; return s; }
__attribute__((noinline)) int few(int n) { return work(n) + 1; }
__attribute__((noinline)) int many(int n) { int s = 0; for (int i = 0; i < 30; i++) s += work(n); return s + few(n); }
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) { return n == 0 ? work(50) : odd(n - 1) + 1; }
__attribute__((noinline)) int odd(int n) { return n == 0 ? 0 : even(n - 1) + 2; }
int main(void) {
  printf("%d\n", fib(12) + many(400) + few(3) + even(40));
}
"#;

fn profile_of(text: &str) -> MeasuredProfile {
    let profile = read(text.as_bytes(), Limits::default()).unwrap();
    MeasuredProfile::of_callgrind(&profile, None).unwrap()
}

/// Every frame is divided into its own cost, those below it and what was left out; the root has
/// the total.
fn adds_up<const N: usize>(tree: &CallTree<N>, total: [u64; N]) {
    assert_eq!(tree.frames[0].inclusive, total);
    let below = tree.below();
    for (index, frame) in tree.frames.iter().enumerate() {
        for side in 0..N {
            let sum: u64 = below[index].iter().map(|i| tree.frames[*i].inclusive[side]).sum();
            let parts = frame.own[side] + frame.left_out[side] + sum;
            assert_eq!(parts, frame.inclusive[side], "{} {frame:?}", tree.name(index));
        }
        assert!(frame.parent.is_none_or(|parent| parent < index));
    }
}

/// The cost of a function over all paths; nested frames of it count once.
fn over_paths(tree: &CallTree<1>, name: &str) -> u64 {
    let mut inside = vec![false; tree.frames.len()];
    let mut sum = 0;
    for (index, frame) in tree.frames.iter().enumerate() {
        let above = frame.parent.is_some_and(|parent| inside[parent]);
        let is = tree.name(index) == name;
        inside[index] = above || is;
        if is && !above {
            sum += frame.inclusive[0];
        }
    }
    sum
}

const ALL: TreeLimits = TreeLimits { share_min: 0.0, frames_max: 1_000_000, depth_max: 2000 };

#[test]
fn a_real_program_has_its_functions_and_exact_sums() {
    if !tools(&["cc", "valgrind", "callgrind_annotate"]) {
        return;
    }
    let program = Program::c(C, &["-fno-optimize-sibling-calls"]);
    let profile = program.profile(&[]);
    let (rows, total) = annotated(&program.path(), &["--inclusive=yes"]);
    let measured = MeasuredProfile::of_callgrind(&profile, Some("Ir")).unwrap();
    let tree = measured.tree(ALL);
    adds_up(&tree, [total]);
    same_inclusive_as(&rows, &measured.graph, &profile);
    // The paths of the known functions, by their callers in the tree.
    let mut paths = BTreeSet::new();
    for (index, frame) in tree.frames.iter().enumerate() {
        if let Some(parent) = frame.parent {
            paths.insert((tree.name(parent), tree.name(index)));
        }
    }
    for path in [
        ("main", "fib"),
        ("main", "many"),
        ("many", "work"),
        ("many", "few"),
        ("few", "work"),
        ("even", "odd"),
        ("even", "work"),
    ] {
        assert!(paths.contains(&path), "{path:?} in {paths:?}");
    }
    // What all paths of a function cost together is what the profile says of it, to the rounding
    // of one unit for each path.
    for name in ["main", "many", "few", "work", "fib"] {
        let node = measured.graph.nodes.iter().find(|node| node.name == name).unwrap();
        let sum = over_paths(&tree, name);
        assert!(sum.abs_diff(node.inclusive) <= 10, "{name}: {sum} of {}", node.inclusive);
    }
    // Callers of work: many's calls are the expensive ones.
    let work = FunctionName { name: "work".to_owned(), ..FunctionName::default() };
    let found = calls(&measured.graph, "Ir", find(&measured.graph, &work).unwrap());
    let callers: Vec<_> = found.callers.iter().map(|c| (c.name.as_str(), c.calls)).collect();
    assert_eq!(callers, [("many", 30), ("few", 2), ("even", 1)]);
    let sum: u64 = found.callers.iter().map(|caller| caller.inclusive).sum();
    assert_eq!(sum, found.inclusive);
    assert!(text(&tree, 0.01, 100).contains("  main\n"));
    assert!(svg(&tree).contains("<title>many: "));
}

/// Functions outside of cycles have the inclusive cost that `callgrind_annotate` prints; within
/// cycles it counts the same instructions once per level. It adds functions of one name and file
/// together, whatever their objects.
fn same_inclusive_as(rows: &[(String, u64)], graph: &Graph, profile: &Profile) {
    let theirs: BTreeMap<&str, u64> =
        rows.iter().map(|(key, cost)| (key.as_str(), *cost)).collect();
    let mut ours = BTreeMap::<String, Vec<usize>>::new();
    for callable in &profile.functions {
        let [name, file, object] =
            [callable.name, callable.file, callable.object].map(|id| profile.names.get(id));
        let base = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        let is = |index: &usize| {
            let node = &graph.nodes[*index];
            let same = (&node.file, &node.object) == (&base(file), &base(object));
            same && node.variants.contains(name)
        };
        let node = (0..graph.nodes.len()).find(is).unwrap();
        ours.entry(format!("{file}:{name}")).or_default().push(node);
    }
    let mut compared = 0;
    for (key, nodes) in &ours {
        let is_plain = |index: &usize| {
            let node = &graph.nodes[*index];
            let itself = graph.edges.contains_key(&(*index, *index));
            node.cycle.is_none() && !itself && node.variants.len() == 1
        };
        let sum: u64 = nodes.iter().map(|index| graph.nodes[*index].inclusive).sum();
        if sum > 0 && nodes.iter().all(is_plain) {
            assert_eq!(theirs.get(key.as_str()), Some(&sum), "{key}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn a_library_that_is_bound_late_makes_cycles_that_add_up() {
    if !tools(&["valgrind"]) {
        return;
    }
    // Rust's runtime, its formatting and its allocator: cycles, and thousands of calls.
    let program = Program::rust(
        "use std::collections::BTreeMap;\nfn main() {\n let map: BTreeMap<String, usize> = \
         (0..300).map(|n| (format!(\"{:?}\", Some(n)), n)).collect();\n \
         let handle = std::thread::spawn(move || println!(\"{map:?}\"));\n handle.join().unwrap();\n}\n",
        &[],
    );
    let profile = program.profile(&[]);
    let measured = MeasuredProfile::of_callgrind(&profile, None).unwrap();
    let tree = measured.tree(TreeLimits::default());
    adds_up(&tree, [profile.total("Ir").unwrap()]);
    let both = measured.tree_with(&measured, TreeLimits::default()).unwrap();
    adds_up(&both, [profile.total("Ir").unwrap(); 2]);
    assert!(both.frames.iter().all(|frame| frame.inclusive[0] == frame.inclusive[1]));
}

/// main 5 -> even 20 <-> odd 40, even -> leaf 6: entered by `even`, nothing counted twice.
const CYCLE: &str = "events: Ir\nfn=main\n1 5\ncfn=even\ncalls=1 9\n2 66\n\
    fn=even\n9 20\ncfn=odd\ncalls=2 9\n10 60\ncfn=leaf\ncalls=2 9\n10 6\n\
    fn=odd\n9 40\ncfn=even\ncalls=1 9\n10 33\nfn=leaf\n9 6\n";

#[test]
fn a_cycle_is_divided_among_its_members_once() {
    let tree = profile_of(CYCLE).tree(ALL);
    adds_up(&tree, [71]);
    let frames: Vec<_> =
        (1..tree.frames.len()).map(|i| (tree.name(i), tree.frames[i].inclusive[0])).collect();
    assert_eq!(frames, [("main", 71), ("even", 66), ("odd", 40), ("leaf", 6)]);
}

#[test]
fn a_cycle_without_a_caller_and_contradictory_costs_end() {
    let text = CYCLE.replace("fn=main\n1 5\ncfn=even\ncalls=1 9\n2 66\n", "");
    adds_up(&profile_of(&text).tree(ALL), [66]);
    // A caller says that its call costs more than everything.
    let text = "events: Ir\nfn=a\n1 5\ncfn=b\ncalls=1 9\n2 18446744073709551000\nfn=b\n1 7\n\
                fn=c\n1 1\ncfn=b\ncalls=1 1\n1 600\n";
    adds_up(&profile_of(text).tree(ALL), [13]);
    adds_up(&profile_of("events: Ir\n").tree(ALL), [0]);
}

/// `count` functions, each calling the next ones: many paths.
fn large(count: usize, calls_each: usize) -> String {
    let mut text = "events: Ir\nfl=large.c\n".to_owned();
    for level in 0..count {
        text += &format!("fn=({level}) f{level}x\n{} 10\n", level + 1);
        for next in (level + 1..count).take(calls_each) {
            text += &format!("cfn=({next}) f{next}x\ncalls=1 1\n1 {}\n", 10 * (count - next));
        }
    }
    text
}

#[test]
fn a_hundred_thousand_functions_and_a_cycle_of_all_of_them_are_bounded() {
    let text = large(100_000, 3);
    let measured = profile_of(&text);
    assert_eq!(measured.graph.nodes.len(), 100_000);
    let tree = measured.tree(TreeLimits::default());
    adds_up(&tree, [1_000_000]);
    assert!(tree.frames.len() <= TreeLimits::default().frames_max);
    // The last calls the first: one cycle of all, entered at one place and at many.
    let closed = format!("{text}fn=(99999) f99999x\n1 1\ncfn=(0) f0x\ncalls=1 1\n1 999990\n");
    let many: String = (0..2000)
        .map(|n| format!("fn=enter{n}x\n1 1\ncfn=({}) f{0}x\ncalls=1 1\n1 500\n", n * 40))
        .collect();
    let measured = profile_of(&format!("{closed}{many}"));
    assert_eq!(measured.graph.cycles[0].members.len(), 100_000);
    adds_up(&measured.tree(TreeLimits::default()), [1_002_001]);
}

proptest::proptest! {
    /// Whatever the calls are: a tree ends, is bounded, and adds up.
    #[test]
    fn any_graph_is_divided_without_a_rest(
        own in proptest::collection::vec(0..1000_u64, 1..12),
        arcs in proptest::collection::vec((0..12_usize, 0..12_usize, 0..5000_u64), 0..40),
    ) {
        let mut text = "events: Ir\n".to_owned();
        for (index, cost) in own.iter().enumerate() {
            text += &format!("fn=f{index}x\n1 {cost}\n");
            for (_, to, cost) in arcs.iter().filter(|(from, ..)| *from == index) {
                text += &format!("cfn=f{to}x\ncalls=1 1\n1 {cost}\n");
            }
        }
        let measured = profile_of(&text);
        let limits = TreeLimits { share_min: 0.0, frames_max: 3000, depth_max: 100 };
        let tree = measured.tree(limits);
        adds_up(&tree, [own.iter().sum()]);
        proptest::prop_assert!(tree.frames.len() <= 3000);
        let both = measured.tree_with(&profile_of(CYCLE), limits).unwrap();
        adds_up(&both, [own.iter().sum(), 71]);
    }
}

#[test]
fn hostile_names_stay_names() {
    let text = "events: Ir\nfn=<script>alert(\"1\")</script>&\u{1b}[2J\u{202e};x\n1 10\n";
    let tree = profile_of(text).tree(ALL);
    let picture = svg(&tree);
    assert!(picture.contains("&lt;script&gt;") && !picture.contains("<script"), "{picture}");
    assert!(!picture.contains('\u{1b}'), "{picture}");
    let json = firefox::profile(&tree, &About::default()).unwrap();
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let strings = found["shared"]["stringArray"].as_array().unwrap();
    assert!(strings.iter().any(|name| name.as_str().unwrap().starts_with("<script>")));
}
