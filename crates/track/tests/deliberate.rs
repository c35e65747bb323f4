//! Changes that were made on purpose: that they are caught, and put down to where they were made.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;

use chronoscope_track::callgrind::Profile;
use chronoscope_track::callgrind::diff::{Diff, FunctionChange, Options, diff};
use chronoscope_track::compare::{Exactness, Threshold, Verdict, pair};
use chronoscope_track::counters::syscalls::syscalls;
use chronoscope_track::counters::{Method, Plan, Program, measure, profile};
use programs::{Program as Compiled, tools};

const SERVER: &str = include_str!("../examples/server.rs");
const MONITOR: &str = include_str!("../examples/monitor.rs");

fn built(source: &str, feature: &str) -> Compiled {
    let feature = format!("feature=\"{feature}\"");
    Compiled::rust(source, &["-Awarnings", "--cfg", &feature])
}

/// A version's instructions, and where they are: from one run where Callgrind counts anyway.
fn run(version: &Compiled, argument: &str) -> (u64, Profile) {
    let program = Program::new(version.executable()).argument(argument);
    let profile = profile(&program).unwrap();
    let instructions = match Method::best() {
        Method::Callgrind { .. } => profile.total("Ir").unwrap(),
        method @ Method::Hardware => {
            let plan = Plan { tolerance: 1e-2, ..Plan::default() };
            measure(&program, &method, &plan).unwrap().runs[0].instructions()
        }
    };
    (instructions, profile)
}

fn verdict(before: u64, after: u64) -> Verdict {
    let threshold = Threshold::floor(Exactness::Threaded);
    pair(before as f64, after as f64, threshold).unwrap()
}

fn detail(before: &Profile, after: &Profile) -> Diff {
    diff(before, after, &Options { floor: 1e-4, ..Options::default() }).unwrap()
}

/// The function whose own cost has grown most.
fn dearest(diff: &Diff) -> &FunctionChange {
    diff.functions.iter().max_by_key(|function| function.own.delta()).unwrap()
}

#[test]
fn a_thousandth_more_in_one_function_of_a_threaded_server_is_caught_and_named() {
    if !tools(&["rustc", "valgrind"]) {
        return;
    }
    let (server, again) = (built(SERVER, "as-it-is"), built(SERVER, "as-it-is"));
    let (before, profile) = run(&server, "48");
    let unchanged = verdict(before, run(&again, "48").0);
    assert!(!unchanged.moved, "{}", unchanged.statement());
    for (feature, part) in [("slower-1", 0.001), ("slower-3", 0.003)] {
        let (after, slower) = run(&built(SERVER, feature), "48");
        let found = verdict(before, after);
        assert!(found.moved, "{feature}: {}", found.statement());
        let change = found.change();
        assert!((part * 0.7..part * 1.5).contains(&change), "{feature}: {change}");
        let diff = detail(&profile, &slower);
        let top = dearest(&diff);
        assert!(top.name.contains("crossing"), "{feature}: {:#?}", diff.functions);
        assert_eq!(top.calls.before, top.calls.after);
        let of_all = top.own.delta() as f64 / diff.total.delta() as f64;
        assert!((0.7..1.3).contains(&of_all), "{feature}: {of_all} of all is there");
    }
}

/// A number that is read instead of asked for makes the calls that change it wait.
#[test]
fn an_optimisation_that_is_a_pessimisation_is_found() {
    if !tools(&["rustc", "valgrind"]) {
        return;
    }
    let (before, after) = (built(MONITOR, "as-it-is"), built(MONITOR, "volatile-count"));
    let ((fewer, old), (more, new)) = (run(&before, "1000"), run(&after, "1000"));
    let found = verdict(fewer, more);
    assert!(found.moved && found.change() > 0.05, "{}", found.statement());
    let diff = detail(&old, &new);
    let inclusive = |name: &str| {
        let named = |function: &&FunctionChange| function.name.ends_with(name);
        let function = diff.functions.iter().find(named);
        function.unwrap_or_else(|| panic!("no {name} in {:#?}", diff.functions)).inclusive
    };
    let (unlock, count) = (inclusive("::unlock"), inclusive("::lock_count"));
    assert!(count.delta() < 0, "reading is cheaper: {count:?}");
    assert!(unlock.delta() > -10 * count.delta(), "{unlock:?} {count:?}");
    assert!(unlock.delta() > diff.total.delta() / 3, "{unlock:?} {:?}", diff.total);
    // The other blind spot, instructions in the kernel, shows in the number of its calls.
    let calls = |version: &Compiled| {
        syscalls(&Program::new(version.executable()).argument("1000")).unwrap()
    };
    let (before, after) = (calls(&before).total(), calls(&after).total());
    assert!(after > before + before / 4, "{before} {after}");
}
