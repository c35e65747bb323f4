//! The commit that made it slower is found, in a real repository.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;
mod repository;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chronoscope_track::bisect::{Bisect, BisectError, BisectResult, BisectStep};
use chronoscope_track::counters::Method;
use chronoscope_track::git::Repository;
use chronoscope_track::run::Request;
use chronoscope_track::suite::Suite;
use programs::tools;
use repository::Made;

/// A program whose second loop turns `beta` times; what is added to the file changes nothing.
fn source(beta: u32, addition: &str) -> String {
    format!(
        "volatile unsigned sink;\n\
         __attribute__((noinline)) void beta(unsigned n) {{ while (n--) sink += n; }}\n\
         __attribute__((noinline)) void alpha(unsigned n) {{ while (n--) sink ^= n; }}\n\
         int main(void) {{ for (int i = 0; i < 100; i++) {{ alpha(2000); beta({beta}); }}\n\
         return 0; }}\n{addition}\n"
    )
}

/// Twelve commits, of which the eighth is 0.3 % slower and the sixth does not build; the hash of
/// each.
fn history(made: &Made) -> Vec<String> {
    let commits = (1..=12).map(|number| {
        let beta = if number < 8 { 2000 } else { 2012 };
        let addition = if number == 6 { "this is no C" } else { "" };
        made.write("main.c", &source(beta, &format!("// {number}\n{addition}")));
        made.commit(&format!("commit {number}"))
    });
    commits.collect()
}

fn bisect(made: &Made, cache: &Path, good: &str, bad: &str) -> Bisect {
    let suite = made.path().join("performance.toml");
    let text = "version = 1\n[[unit]]\nname = \"loops\"\ncommand = [\"{bin}/program\"]\n\
                exactness = \"serialised\"\n";
    fs::write(&suite, text).unwrap();
    Bisect {
        repository: Repository::at(made.path()).unwrap(),
        good: good.to_owned(),
        bad: bad.to_owned(),
        build: ["cc", "-g", "-O1", "-o", "program", "main.c"].map(str::to_owned).into(),
        bin: ".".into(),
        process: None,
        cache: cache.to_owned(),
        request: Request {
            suite: Suite::read(&suite).unwrap(),
            only: Vec::new(),
            runs: Some(1),
            beyond: false,
            stacks: false,
            method: Method::Callgrind { because: "the test says so".to_owned() },
            calibration: None,
            folder: cache.to_owned(),
            stop: Arc::new(AtomicBool::new(false)),
        },
    }
}

/// The result, and the number of commits that were built for it.
fn search(bisect: &Bisect) -> (Result<BisectResult, BisectError>, usize) {
    let mut built = 0;
    let found =
        bisect.run(&mut |step| built += usize::from(matches!(step, BisectStep::Try { .. })));
    (found, built)
}

#[test]
fn the_slower_one_of_twelve_is_found_beside_one_that_does_not_build() {
    if !tools(&["cc", "valgrind", "git"]) {
        return;
    }
    let (made, cache) = (Made::new(), tempfile::tempdir().unwrap());
    let commits = history(&made);
    let (found, built) = search(&bisect(&made, cache.path(), &commits[0], "main"));
    let found = found.unwrap();
    let suspects: Vec<_> = found.suspects.iter().map(|commit| &commit.id).collect();
    assert_eq!(suspects, [&commits[7]], "{found:?}");
    assert_eq!(found.suspects[0].subject.as_deref(), Some("commit 8"));
    assert_eq!(found.process, "loops/program");
    let step = found.step.unwrap();
    assert!(step.verdict.moved && (0.002..0.004).contains(&step.change), "{step:?}");
    assert!((found.share.unwrap() - 1.0).abs() < 0.01, "{:?}", found.share);
    // Both ends and at most four of the ten between them, the sixth included.
    assert!(built <= 7, "{built} were built");
    let skipped: Vec<_> = found.skipped.iter().map(|(commit, _)| &commit.id).collect();
    assert_eq!(skipped, [&commits[5]]);
    assert!(found.skipped[0].1.contains("cc ended with exit status 1"), "{:?}", found.skipped);
    assert_eq!(made.git(&["worktree", "list"]).lines().count(), 1);

    // All is known: nothing is built again, and other ends are found by what is known too.
    let (again, built) = search(&bisect(&made, cache.path(), &commits[0], "main"));
    assert_eq!((again.unwrap().suspects[0].id.as_str(), built), (commits[7].as_str(), 0));
}

#[test]
fn what_was_interrupted_goes_on_where_it_was() {
    if !tools(&["cc", "valgrind", "git"]) {
        return;
    }
    let (made, cache) = (Made::new(), tempfile::tempdir().unwrap());
    let commits = history(&made);
    let first = bisect(&made, cache.path(), &commits[0], &commits[11]);
    let (stop, mut built) = (first.request.stop.clone(), 0);
    let mut beside = None;
    let stopped = first.run(&mut |step| {
        if matches!(step, BisectStep::Try { .. }) {
            beside.get_or_insert_with(|| {
                search(&bisect(&made, cache.path(), &commits[0], &commits[11])).0
            });
            built += 1;
            // The third is killed while it is measured.
            stop.store(built == 3, Ordering::Relaxed);
        }
    });
    assert!(matches!(stopped, Err(BisectError::Stopped)), "{stopped:?}");
    let beside = beside.unwrap().unwrap_err().to_string();
    assert!(beside.contains("is in use by another chronoscope"), "{beside}");
    // A crash while a line was written leaves a part of it.
    let entries = fs::read_dir(cache.path()).unwrap().map(|entry| entry.unwrap().path());
    let steps = entries.map(|path| path.join("steps")).find(|path| path.is_file()).unwrap();
    let kept = fs::read_to_string(&steps).unwrap();
    assert_eq!(kept.lines().count(), 2, "{kept}");
    fs::write(&steps, format!("{kept}{{\"commit\":\"12")).unwrap();

    let second = bisect(&made, cache.path(), &commits[0], &commits[11]);
    let (found, built) = search(&second);
    assert_eq!(found.unwrap().suspects[0].id, commits[7]);
    assert!(built <= 5, "{built} were built again");
}

#[test]
fn ends_between_which_nothing_moved_or_is_are_named() {
    if !tools(&["cc", "valgrind", "git"]) {
        return;
    }
    let (made, cache) = (Made::new(), tempfile::tempdir().unwrap());
    let commits = history(&made);
    let error = |good: &str, bad: &str, process: Option<&str>| {
        let mut bisect = bisect(&made, cache.path(), good, bad);
        bisect.process = process.map(str::to_owned);
        search(&bisect).0.unwrap_err().to_string()
    };
    let said = error(&commits[0], &commits[2], Some("loops"));
    assert!(said.starts_with("nothing moved from"), "{said}");
    assert!(said.contains("did not move: +0.0000 %"), "{said}");
    let said = error(&commits[5], &commits[11], None);
    assert!(said.contains("one of the two ends, cannot be measured: cc ended with"), "{said}");
    let said = error(&commits[4], &commits[2], None);
    assert!(said.contains("must be an ancestor of"), "{said}");
    let said = error("nothing-of-that-name", "main", None);
    assert!(said.starts_with("git rev-parse"), "{said}");
    let said = error(&commits[0], &commits[11], Some("loop"));
    assert!(
        said.contains("process \"loop\" is not in both runs: common processes are loops/program"),
        "{said}"
    );
}
