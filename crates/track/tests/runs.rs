//! Suites executed, kept, found again and compared.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chronoscope_track::compare::Method as By;
use chronoscope_track::counters::Method;
use chronoscope_track::history::{Options, histories, html, picture, svg};
use chronoscope_track::report::{Comparison, ProcessResult, Unchanged, detail, markdown, text};
use chronoscope_track::run::{
    Commit, Folder, Progress, Record, Request, Version, execute, execute_together,
};
use chronoscope_track::suite::Suite;
use programs::{Program, tools};
use tempfile::TempDir;

/// A function that spends `BETA`, and one that spends 200,000.
const LOOPS: &str = "#include <stdlib.h>\nvolatile unsigned sink;\n\
    __attribute__((noinline)) void beta(unsigned n) { while (n--) sink += n; }\n\
    __attribute__((noinline)) void alpha(unsigned n) { while (n--) sink ^= n; }\n\
    int main(int count, char **words) {\n  if (count > 1 && atoi(words[1])) return 3;\n\
      for (int i = 0; i < 100; i++) { alpha(2000); beta(BETA); }\n  return 0; }";

struct Project {
    folder: TempDir,
    suite: Suite,
}

const UNIT: &str =
    "[[unit]]\nname = \"loops\"\ncommand = [\"{bin}/program\"]\nexactness = \"serialised\"\n";

fn project(units: &str) -> Project {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("performance.toml");
    fs::write(&file, format!("version = 1\nname = \"test\"\n{units}")).unwrap();
    Project { suite: Suite::read(&file).unwrap(), folder }
}

fn compiled(beta: u32) -> Program {
    Program::c(LOOPS, &[&format!("-DBETA={beta}")])
}

impl Project {
    fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    fn request(&self, runs: usize) -> Request {
        Request {
            suite: self.suite.clone(),
            only: Vec::new(),
            runs: Some(runs),
            beyond: false,
            stacks: false,
            method: Method::Callgrind { because: "the test says so".to_owned() },
            calibration: None,
            folder: self.runs(),
            stop: Arc::new(AtomicBool::new(false)),
        }
    }

    fn version(&self, bin: &Program, name: &str) -> Version {
        let bin = bin.executable().parent().unwrap().to_owned();
        Version { bin, suite: self.folder.path().to_owned(), commit: Some(Commit::named(name)) }
    }

    fn run(&self, bin: &Program, name: &str, runs: usize) -> Record {
        execute(&self.request(runs), &self.version(bin, name), &mut |_| {}).unwrap()
    }

    fn compare(&self, before: &str, after: &str) -> Comparison {
        let folder = Folder::new(&self.runs());
        let (before, after) = (folder.find(before).unwrap(), folder.find(after).unwrap());
        let unchanged = Unchanged::of(&folder.all().unwrap().records, &after);
        Comparison::of(&before, &after, &unchanged, false)
    }
}

#[test]
fn a_change_is_found_in_kept_runs_and_named_and_none_is_not() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let project = project(UNIT);
    let (one, same, slower) = (compiled(2000), compiled(2000), compiled(2012));
    project.run(&one, "first", 6);
    project.run(&same, "second", 1);
    let after = project.run(&slower, "third <script>", 1);

    let none = project.compare("first", "second");
    assert_eq!(none.rows[0].state, ProcessResult::Unmoved, "{none:?}");
    assert!(text(&none).ends_with("nothing moved, of 1\n"), "{}", text(&none));

    let found = project.compare("second", "third <script>");
    let row = &found.rows[0];
    let judged = row.main().unwrap();
    assert_eq!(row.state, ProcessResult::Moved);
    assert!((0.0025..0.0032).contains(&judged.change), "{judged:?}");
    // Six executions of the first, one of the second, whose executable is the same: A/A.
    let Method::Callgrind { .. } = after.method else { panic!("{after:?}") };
    assert!(matches!(judged.verdict.threshold.method, By::Spread { pairs: 3, .. }), "{judged:?}");
    assert!(judged.statement.contains("none of these was called moved"), "{}", judged.statement);

    let folder = Folder::new(&project.runs());
    let (before, after) = (folder.find("second").unwrap(), folder.find("third <script>").unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let limit = Duration::from_secs(60);
    let detail = detail(row, [(&before, None), (&after, None)], limit, &stop).unwrap();
    assert_eq!(detail.diff.functions[0].name, "beta");
    assert!(detail.svg().unwrap().contains("beta"));
    let page = markdown("Speed", &found, &[detail]);
    assert!(page.starts_with("### Speed: 1 of 1 moved\n"), "{page}");
    assert!(page.contains("| loops/program | 🔴 dearer | +0.2"), "{page}");
    assert!(page.contains("`beta` | main.c |"), "{page}");

    let options = Options { figure: "instructions".into(), only: vec![], floor: None };
    let history = histories(&folder.all().unwrap().records, &options);
    let [series] = &history.series[..] else { panic!("{history:?}") };
    let steps: Vec<_> = series.changes.iter().map(|step| (step.index, &*step.title)).collect();
    assert_eq!(steps, [(2, "third <script>")]);
    assert!(picture(series, 40).contains(" -> "), "{}", picture(series, 40));
    let change = format!("{:+.4} %", series.changes[0].change * 100.0);
    for page in [svg(&history), html(&history)] {
        for words in ["loops/program: instructions over 3 runs", &change, "third &lt;script&gt;"] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(page.contains("prefers-color-scheme:dark"), "{page}");
        // Nothing in it is executed or fetched; an SVG's name space is a name.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for not in ["<script", "http://", "https://", "url(", "src=", "@import"] {
            assert!(!page.contains(not), "{not}: {page}");
        }
        let circles = page.matches("<circle").count();
        assert_eq!((circles, page.matches("class=\"mark more\"").count()), (3, 1), "{page}");
    }
}

/// Profiles of what was counted otherwise are made when they are wanted, of the same executable.
#[test]
fn what_was_measured_and_is_no_longer_there_is_not_profiled() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let project = project(UNIT);
    let (one, two) = (compiled(2000), compiled(2012));
    for (bin, name) in [(&one, "first"), (&two, "second")] {
        let mut record = project.run(bin, name, 1);
        record.items[0].processes[0].profile = None;
        record.write().unwrap();
    }
    let found = project.compare("first", "second");
    let folder = Folder::new(&project.runs());
    let records = [folder.find("first").unwrap(), folder.find("second").unwrap()];
    let look = |before: Option<&Path>| {
        let stop = Arc::new(AtomicBool::new(false));
        let sides = [(&records[0], before), (&records[1], None)];
        detail(&found.rows[0], sides, Duration::from_secs(60), &stop)
    };
    assert_eq!(look(None).unwrap().diff.functions[0].name, "beta");
    let other = two.executable().parent().unwrap().to_owned();
    let error = look(Some(&other)).unwrap_err().to_string();
    assert!(error.contains("differs from the measured program"), "{error}");
}

/// A program that works, waits for ten seconds, and so on for a quarter of an hour: its replay
/// takes no longer than its work, and each of its processes is an entry of the run.
#[test]
fn what_moved_in_a_replay_is_found_too() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let project = project("[[replay]]\nname = \"day\"\nscenario = \"day.toml\"\n");
    let scenario = "version = 1\nname = \"day\"\nstart = \"2026-07-01T05:00:00Z\"\n\
        duration = \"1h\"\n[[process]]\nname = \"worker\"\ncommand = [\"{bin}/program\"]\n\
        [[process]]\nname = \"other\"\ncommand = [\"{bin}/program\"]\n";
    fs::write(project.folder.path().join("day.toml"), scenario).unwrap();
    let waiting =
        format!("#include <unistd.h>\n{}", LOOPS.replace("beta(BETA);", "beta(BETA); sleep(10);"));
    let compiled = |beta: &str| Program::c(&waiting, &[beta]);
    let (one, two) = (compiled("-DBETA=2000"), compiled("-DBETA=2012"));
    project.run(&one, "first", 1);
    let again = project.run(&one, "again", 1);
    assert_eq!(again.items[0].failure, None, "{again:?}");
    project.run(&two, "slower", 1);
    let none = project.compare("first", "again");
    assert_eq!(none.rows[0].state, ProcessResult::Unmoved, "{}", text(&none));
    let found = project.compare("again", "slower");
    let row = &found.rows[0];
    assert_eq!(
        (row.name().as_str(), &row.state),
        ("day/worker", &ProcessResult::Moved),
        "{}",
        text(&found)
    );
    // CPU time of system calls, which Callgrind has.
    let worker = &again.items[0].processes[0].runs[0];
    assert!(worker["syscalls_cpu_ns"] > 0, "{worker:?}");
    // The replay as a whole stands beside its processes, and is shown, not judged.
    let whole = found.rows.last().unwrap();
    assert_eq!((whole.name().as_str(), &whole.state), ("day/whole system", &ProcessResult::Whole));
    let shown: Vec<&str> = whole.others.iter().map(|other| other.figure.as_str()).collect();
    assert_eq!(shown, ["elapsed_ns", "system_ns", "user_ns"]);
    let folder = Folder::new(&project.runs());
    let (before, after) = (folder.find("again").unwrap(), folder.find("slower").unwrap());
    let sum: u64 = after.items[0].processes.iter().map(|one| one.runs[0]["user_ns"]).sum();
    assert_eq!(whole.others[2].after, sum as f64);
    let stop = Arc::new(AtomicBool::new(false));
    let sides = [(&before, None), (&after, None)];
    let detail = detail(row, sides, Duration::from_secs(60), &stop).unwrap();
    assert_eq!(detail.diff.functions[0].name, "beta");
}

#[test]
fn versions_in_turns_have_a_run_each() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let project = project(UNIT);
    let (one, two) = (compiled(2000), compiled(2004));
    let versions = [project.version(&one, "base"), project.version(&two, "head")];
    let records = execute_together(&project.request(2), &versions, &mut |_| {}).unwrap();
    let found = Comparison::of(&records[0], &records[1], &Unchanged::default(), true);
    let change = found.rows[0].main().unwrap().change;
    assert!((0.0008..0.0012).contains(&change), "0.1 %: {change}");
    assert_eq!(records[1].items[0].processes[0].runs.len(), 2);
    assert_eq!(Folder::new(&project.runs()).all().unwrap().records.len(), 2);
}

/// Heaps of a replay's processes: in the run, compared, and in the history.
#[test]
fn a_heap_that_grew_in_a_replay_is_told() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let project = project("[[replay]]\nname = \"day\"\nscenario = \"day.toml\"\n");
    let scenario = "version = 1\nname = \"day\"\nstart = \"2026-07-01T05:00:00Z\"\n\
        duration = \"1h\"\n[[process]]\nname = \"holder\"\ncommand = [\"{bin}/program\"]\n\
        [[process]]\nname = \"other\"\ncommand = [\"/bin/sleep\", \"7200\"]\n";
    fs::write(project.folder.path().join("day.toml"), scenario).unwrap();
    let holding = "#include <stdlib.h>\n#include <unistd.h>\nvoid *volatile held;\n\
        int main(void) { for (int i = 0; i < 5; i++) { held = malloc(SIZE); sleep(60); }\n\
        for (;;) sleep(60); }";
    let compiled = |size: &str| Program::c(holding, &[size]);
    let (one, two) = (compiled("-DSIZE=1000"), compiled("-DSIZE=3000"));
    for (bin, name) in [(&one, "first"), (&two, "larger")] {
        let mut request = project.request(1);
        request.beyond = true;
        let record = execute(&request, &project.version(bin, name), &mut |_| {}).unwrap();
        assert_eq!(record.items[0].failure, None, "{record:?}");
        let figures = &record.items[0].processes[0].runs[0];
        let size = if name == "first" { 1000 } else { 3000 };
        assert_eq!((figures["allocations"], figures["allocated_bytes"]), (5, 5 * size));
        assert_eq!((figures["heap_bytes_max"], figures["heap_held_bytes"]), (5 * size, 5 * size));
        assert!(record.items[0].whole[0]["heap_bytes_max"] >= 5 * size, "{record:?}");
    }
    let found = project.compare("first", "larger");
    let row = found.rows.iter().find(|row| row.name() == "day/holder").unwrap();
    let of = |figure: &str| row.others.iter().find(|other| other.figure == figure).unwrap();
    assert_eq!((of("heap_bytes_max").before, of("heap_bytes_max").after), (5000.0, 15000.0));
    assert!(text(&found).contains("heap_bytes_max 5,000 -> 15,000"), "{}", text(&found));
    let options = Options { figure: "heap_bytes_max".into(), only: vec![], floor: None };
    let records = Folder::new(&project.runs()).all().unwrap().records;
    let history = histories(&records, &options);
    let holder = history.series.iter().find(|series| series.process == "holder").unwrap();
    let values: Vec<f64> = holder.points.iter().map(|point| point.value).collect();
    assert_eq!(values, [5000.0, 15000.0]);
}

/// A process that works for ever in short pieces is never found not to wait: the replay's own
/// limit ends it, and what was counted until then is kept.
#[test]
fn a_replay_that_takes_too_long_is_ended() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let project = project("[[replay]]\nname = \"day\"\nscenario = \"day.toml\"\nlimit_s = 1\n");
    let scenario = "version = 1\nname = \"day\"\nstart = \"2026-07-01T05:00:00Z\"\n\
        duration = \"87600h\"\n[[process]]\nname = \"busy\"\ncommand = [\"{bin}/program\"]\n";
    fs::write(project.folder.path().join("day.toml"), scenario).unwrap();
    let busy = Program::c("#include <unistd.h>\nint main(void) { for (;;) usleep(1000); }", &[]);
    // Not under Callgrind, which would give it fifty times as long.
    let mut request = project.request(1);
    request.method = Method::Hardware;
    let record = execute(&request, &project.version(&busy, "one"), &mut |_| {}).unwrap();
    let failure = record.items[0].failure.clone().unwrap();
    assert!(failure.starts_with("the replay took longer than 1s and had reached "), "{failure}");
    assert_eq!(record.items[0].processes[0].name, "busy");
    assert!(record.items[0].processes[0].runs[0]["waits"] > 0, "{record:?}");
}

#[test]
fn what_fails_is_in_the_run_and_has_no_verdict() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let failing = UNIT.replace("loops", "broken").replace("program\"", "program\", \"1\"");
    let project = project(&(failing + UNIT));
    let one = compiled(2000);
    let record = project.run(&one, "first", 1);
    assert!(record.complete);
    let failure = record.items[0].failure.clone().unwrap();
    let real = one.executable().canonicalize().unwrap();
    assert_eq!(failure, format!("{} ended with exit status: 3", real.display()));
    assert_eq!(record.items[1].failure, None);
    let found = project.compare("first", "first");
    assert!(matches!(found.rows[0].state, ProcessResult::NoVerdict { .. }));
    assert_eq!(found.rows[1].state, ProcessResult::Unmoved);
    let mut request = project.request(1);
    request.only = vec!["none".to_owned()];
    let error = execute(&request, &project.version(&one, "x"), &mut |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the suite test has no entry \"none\": its entries are broken, loops"
    );
}

#[test]
fn an_interrupt_keeps_what_was_measured() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let endless = "[[unit]]\nname = \"endless\"\ncommand = [\"sleep\", \"1000\"]\n";
    let project = project(&format!("{UNIT}{endless}"));
    let one = compiled(2000);
    let request = project.request(1);
    let stop = request.stop.clone();
    let mut asked = None;
    let record = execute(&request, &project.version(&one, "first"), &mut |progress| {
        if matches!(progress, Progress::Begin { name: "endless", .. }) {
            let stop = stop.clone();
            asked = Some(std::thread::spawn(move || stop.store(true, Ordering::Relaxed)));
        }
    });
    asked.unwrap().join().unwrap();
    let record = record.unwrap();
    let kept = Record::read(&record.folder).unwrap();
    assert!(!kept.complete);
    assert!(kept.items[0].processes[0].median("instructions").unwrap() > 1e6);
    assert!(kept.items[1].failure.as_deref().unwrap().contains("was stopped"), "{kept:?}");
    let warned = Comparison::of(&kept, &kept, &Unchanged::default(), false).warnings;
    assert!(warned[0].contains("was interrupted"), "{warned:?}");
}
