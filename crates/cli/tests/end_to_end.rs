//! The program as its users run it: a measured program, a collector, and questions.

#![allow(clippy::unwrap_used)] // helpers of tests

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A folder of rings and one of stored transactions, and the programs around them.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(world.rings()).unwrap();
        world
    }

    fn rings(&self) -> PathBuf {
        self.dir.path().join("rings")
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// `chronoscope` with these arguments, in this world.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(args).env("CHRONOSCOPE_DIR", self.rings());
        command.env("CHRONOSCOPE_DATA", self.data()).env("TZ", "UTC");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that has to succeed and to print JSON.
    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn serve(&self) -> Server {
        let mut command = self.command(&["serve", "--wait-late", "1s", "--json"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let server = Server(Some(command.spawn().unwrap()));
        wait_until("the collector says that it runs", || {
            let status = self.status();
            status["running"] == true && status["pid"] == server.0.as_ref().unwrap().id()
        });
        server
    }

    /// What the collector said last; null before that.
    fn status(&self) -> Value {
        let status = fs::read(self.data().join("status.json")).unwrap_or_default();
        serde_json::from_slice(&status).unwrap_or_default()
    }

    /// The measured program `two_hops`, in the background.
    fn start_hops(&self, count: u64, pause_ms: u64) -> Child {
        let program = Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
        let mut command = Command::new(program.join("two_hops"));
        command.args([count.to_string(), pause_ms.to_string()]).stdout(Stdio::null());
        command.env("CHRONOSCOPE_DIR", self.rings()).spawn().unwrap()
    }

    /// The same, waiting for its end.
    fn run_hops(&self, count: u64) {
        assert!(self.start_hops(count, 0).wait().unwrap().success());
    }

    fn chains(&self) -> Value {
        self.json(&["chains", "--root", "request", "--leaf", "answer", "--json"])["chains"].take()
    }

    fn ring_files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.rings()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

/// A collector; killed when dropped.
struct Server(Option<Child>);

impl Server {
    /// Ends it as an operator does, and returns its last status.
    fn stop(mut self) -> Value {
        let child = self.0.take().unwrap();
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn kill(mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits until the collector has looked beyond the limit of what was recorded: a second, and how
/// long a record may take into a ring.
fn wait_until_judged() {
    chronoscope_clock::sleep(Duration::from_millis(1500));
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(50));
    }
    panic!("30 s passed and not yet: {what}");
}

#[test]
fn a_program_is_measured_from_ring_to_verdict() {
    let world = World::new();
    let server = world.serve();
    world.run_hops(500);
    wait_until_judged();
    let status = server.stop();
    assert_eq!((&status["durable_rows"], &status["lost_rows"]), (&1000.into(), &0.into()));

    let chains = world.chains();
    assert_eq!(chains["counts"]["used"], 500);
    assert_eq!(chains["distribution"]["count"], 500);
    assert_eq!(chains["paths"][0]["path"], "hops::request/hops::answer");
    // One of a hundred answers FAILED, which is no arrival.
    let verdict = &chains["verdict"];
    assert_eq!((&verdict["state"], &verdict["not_arrived"]), (&"undetermined".into(), &5.into()));
    let arrivals = &chains["arrivals"];
    let states = ["roots", "arrived", "failed", "missing", "unknown"].map(|s| &arrivals[s]);
    assert_eq!(states, [500, 495, 5, 0, 0]);

    let picture = world.dir.path().join("a.svg");
    let output = world.run(&[
        "chains",
        "--root",
        "hops::request",
        "--leaf",
        "answer",
        "--level",
        "1",
        "--limit",
        "10s",
        "--arrived",
        "--svg",
        picture.to_str().unwrap(),
    ]);
    let page = text(&output.stdout);
    assert!(
        page.ends_with("100.00 % of 495 chains within 10 s: the requirement holds\n"),
        "{page}"
    );
    assert!(page.contains("(UTC)") && page.contains("waiting behind it"), "{page}");
    assert!(fs::read_to_string(picture).unwrap().contains("request to answer"));

    let slowest = chains["slowest"][0]["chain"].as_str().unwrap();
    let chain = world.run(&["chain", slowest]);
    let chain = text(&chain.stdout);
    assert!(chain.starts_with("2 transactions in "), "{chain}");
    assert!(chain.contains("\n  hops::answer "), "{chain}");

    let whole = world.json(&["chains", "--root", "request", "--apcd", "--json"]);
    assert_eq!(whole["chains"]["distribution"], chains["distribution"]);
    let alone = world.json(&["chains", "--sync", "answer", "--json"]);
    assert_eq!(alone["chains"]["distribution"]["count"], 500);
}

#[test]
fn exit_codes_tell_what_happened() {
    let world = World::new();
    let code = |args: &[&str]| world.run(args).status.code();
    let ask = ["chains", "--root", "request", "--leaf", "answer", "--check"];
    assert_eq!(code(&ask), Some(4), "no store");
    let server = world.serve();
    world.run_hops(50);
    wait_until_judged();
    server.stop();
    assert_eq!(code(&ask), Some(0));
    assert_eq!(code(&[&ask[..], &["--limit", "1ns"]].concat()), Some(1), "requirement");
    assert_eq!(code(&[&ask[..], &["--each-root"]].concat()), Some(0));
    assert_eq!(code(&[&ask[..], &["--leaves", "2.."]].concat()), Some(1), "each has one");
    assert_eq!(code(&["chains", "--root", "request"]), Some(2), "usage");
    assert_eq!(code(&[&ask[..], &["--arrived", "--leaves", "1"]].concat()), Some(2));
    assert_eq!(code(&["chains", "--root", "request", "--leaf", "nobody"]), Some(3), "nothing");
    let nowhere = world.data();
    let nowhere = nowhere.to_str().unwrap();
    assert_eq!(code(&["live", "--once", "--rings", nowhere]), Some(3), "no ring");
    let output = world.run(&["chains", "--root", "request", "--leaf", "nobody"]);
    assert!(text(&output.stderr).contains("hops::answer, hops::request"), "names what there is");
}

#[test]
fn messages_that_are_lost_are_told_and_judged() {
    let world = World::new();
    let server = world.serve();
    // Of 100 requests the queue loses the last 60.
    let program = Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
    let mut command = Command::new(program.join("two_hops"));
    command.args(["40", "0", "60"]).stdout(Stdio::null()).env("CHRONOSCOPE_DIR", world.rings());
    assert!(command.status().unwrap().success());
    server.stop();
    let ask = ["chains", "--root", "request", "--leaf", "answer", "--check", "--json"];
    let asked = |more: &[&str]| {
        let output = world.run(&[&ask[..], more].concat());
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), json["chains"].clone())
    };
    let (code, described) = asked(&[]);
    assert_eq!(code, Some(5), "it cannot be said: {}", described["verdict"]["text"]);
    assert_eq!(described["verdict"]["not_arrived"], 60);
    let (code, each) = asked(&["--each-root"]);
    assert_eq!((code, &each["verdict"]["state"]), (Some(1), &"does_not_hold".into()));
    assert_eq!(
        (&each["arrivals"]["arrived"], &each["arrivals"]["missing"]),
        (&40.into(), &60.into())
    );
    assert_eq!(asked(&["--arrived"]).0, Some(0));
    let page = world.run(&["chains", "--root", "request", "--leaf", "answer"]);
    let page = text(&page.stdout);
    assert!(page.contains("because 60 roots did not arrive at all"), "{page}");
    assert!(page.contains("--each-root judges all roots"), "{page}");
}

#[test]
fn a_killed_collector_loses_nothing_and_doubles_nothing() {
    let world = World::new();
    let mut program = world.start_hops(3000, 1);
    for _ in 0..4 {
        let server = world.serve();
        chronoscope_clock::sleep(Duration::from_millis(500));
        server.kill();
    }
    let server = world.serve();
    assert!(program.wait().unwrap().success());
    let status = server.stop();
    assert_eq!(status["lost_rows"], 0);
    let chains = world.chains();
    assert_eq!(
        (&chains["counts"]["used"], &chains["counts"]["duplicates"]),
        (&3000.into(), &0.into())
    );
    assert_eq!(chains["counts"]["incomplete"], 0);
}

#[test]
fn the_ring_of_a_killed_program_is_read_and_then_collected() {
    let world = World::new();
    let mut program = world.start_hops(1_000_000, 1);
    wait_until("something was measured", || {
        let seen = world.run(&["live", "hops", "--json"]);
        let seen: Value = serde_json::from_slice(&seen.stdout).unwrap_or_default();
        seen["rings"][0]["classes"][0]["count"].as_u64() > Some(50)
    });
    program.kill().unwrap();
    program.wait().unwrap();
    let ring = world.ring_files().remove(0);
    let dead = world.json(&["live", "--ring", ring.to_str().unwrap(), "--json"]);
    let ring_json = &dead["rings"][0];
    assert_eq!(ring_json["running"], false);
    let classes = ring_json["classes"].as_array().unwrap();
    let count = |name: &str| {
        let class = classes.iter().find(|class| class["class"] == name).unwrap();
        class["count"].as_u64().unwrap()
    };
    assert!(count("request") > 50);
    let last = world.run(&["live", "--ring", ring.to_str().unwrap(), "--last", "5"]);
    assert!(text(&last.stdout).contains("hops::answer"), "{}", text(&last.stdout));

    let server = world.serve();
    wait_until("the dead program's ring is gone", || world.ring_files().is_empty());
    let status = server.stop();
    assert_eq!(status["durable_rows"], count("request") + count("answer"));
}

#[test]
fn garbage_among_the_rings_is_said_and_harms_nobody() {
    let world = World::new();
    world.run_hops(20);
    let ring = world.ring_files().remove(0);
    let bytes = fs::read(&ring).unwrap();
    let extension = ring.extension().unwrap().to_str().unwrap().to_owned();
    let garbage = |name: &str| world.rings().join(name).with_extension(&extension);
    fs::write(garbage("cut"), &bytes[..bytes.len() / 3]).unwrap();
    fs::write(garbage("noise"), vec![0xa5; 100_000]).unwrap();
    // Of another process, by its id; its second thread's 20 records are cut off: its block is the
    // last, of which the beginning stays (docs/formats/ring.md).
    let mut part = bytes[..2_600_000].to_vec();
    part[56] ^= 1;
    fs::write(garbage("part"), part).unwrap();
    let output = world.run(&["live", "--once"]);
    assert!(text(&output.stdout).contains("request"));
    let left_out = text(&output.stderr);
    assert!(left_out.contains("noise"), "{left_out}");
    assert!(
        left_out.lines().any(|line| line.contains("cut") && line.contains("the ring ends here"))
    );
    let server = world.serve();
    wait_until("the good ring is collected", || {
        world.run(&["chains", "--root", "request", "--leaf", "answer"]).status.success()
    });
    let status = server.stop();
    assert_eq!(status["durable_rows"], 60);
    assert!(!status["failed_rings"].as_array().unwrap().is_empty());
    // What the part lacks is lost, and nobody knows how much it was.
    assert_eq!(status["damaged_rings"], 1);
    let classes = world.run(&["classes", "--json"]);
    let document: Value = serde_json::from_slice(&classes.stdout).unwrap();
    let known = &document["classes"];
    assert_eq!((&known["lost_rows"], &known["uncounted_losses"]), (&0.into(), &1.into()));
    assert!(text(&classes.stderr).contains("lost: rows of unknown number"));
}

#[test]
fn cpu_time_that_nobody_measured_is_unknown() {
    let world = World::new();
    let program = Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
    let mut program = Command::new(program.join("two_hops"));
    program.args(["5", "0"]).stdout(Stdio::null()).env("CHRONOSCOPE_CPU", "off");
    assert!(program.env("CHRONOSCOPE_DIR", world.rings()).status().unwrap().success());
    for part in ["last", "worst"] {
        let flag = format!("--{part}");
        let output = world.run(&["live", &flag, "3", "--json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let ring = &document["rings"][0];
        let rows = if part == "last" { &ring["last"] } else { &ring["classes"][0]["worst"] };
        let rows = rows.as_array().unwrap();
        assert!(rows.len() == 3 && rows.iter().all(|row| row["cpu_ns"].is_null()), "{rows:?}");
    }
}

#[test]
fn a_second_collector_is_refused_with_the_reason() {
    let world = World::new();
    let server = world.serve();
    let second = world.run(&["serve"]);
    assert_eq!(second.status.code(), Some(4));
    assert!(text(&second.stderr).contains(world.data().to_str().unwrap()));
    server.stop();
}

#[test]
fn classes_are_switched_while_the_program_runs() {
    let world = World::new();
    let mut program = world.start_hops(1_000_000, 1);
    let count = || {
        let seen = world.run(&["live", "--histogram", "answer", "--json"]);
        let seen: Value = serde_json::from_slice(&seen.stdout).unwrap_or_default();
        seen["rings"][0]["classes"][0]["count"].as_u64().unwrap_or(0)
    };
    wait_until("answers are counted", || count() > 0);
    assert!(world.run(&["live", "--disable", "hops::answer"]).status.success());
    chronoscope_clock::sleep(Duration::from_millis(100));
    let off = count();
    chronoscope_clock::sleep(Duration::from_millis(200));
    assert_eq!(count(), off);
    assert!(world.run(&["live", "--enable", "answer"]).status.success());
    wait_until("answers are counted again", || count() > off);
    program.kill().unwrap();
    program.wait().unwrap();
}

/// A file system of its own for the data, so that it can be filled; unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one; `None`, said loudly, where that is not allowed.
    fn mount(at: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&at).unwrap();
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at);
        let mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("SKIPPED: a full disk needs the right to mount a small one (run as root)");
        }
        mounted.then_some(Self(at))
    }

    fn grow(&self, size: &str) {
        let options = format!("remount,size={size}");
        let grown = Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap();
        assert!(grown.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_costs_nothing_that_was_acknowledged() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(world.data(), "6m") else { return };
    let server = world.serve();
    // Some 140 bytes a row: more than the disk holds. The programs end well and notice nothing;
    // their rings keep what the store refuses.
    world.run_hops(7_000);
    wait_until("the first rows are durable", || world.status()["durable_rows"] == 14_000);
    for _ in 0..4 {
        world.run_hops(7_000);
    }
    wait_until("the collector says that the disk is full", || {
        world.status()["error"].as_str().is_some_and(|error| error.contains("No space left"))
    });
    let kept = world.chains()["counts"]["used"].as_u64().unwrap();
    assert!((7_000..35_000).contains(&kept), "{kept}");
    disk.grow("100m");
    wait_until("the rest is stored", || world.chains()["counts"]["used"] == 35_000);
    let status = server.stop();
    assert_eq!((&status["lost_rows"], &status["error"]), (&0.into(), &Value::Null));
    assert_eq!(world.chains()["counts"]["duplicates"], 0);
}

#[test]
fn a_core_dump_shows_what_the_program_did() {
    let world = World::new();
    if Command::new("gcore").arg("--help").stdout(Stdio::null()).status().is_err() {
        eprintln!("SKIPPED: a core dump needs gcore (apt-get install gdb)");
        return;
    }
    let mut program = world.start_hops(1_000_000, 1);
    wait_until("something was measured", || {
        text(&world.run(&["live", "--last", "1"]).stdout).contains("hops::answer")
    });
    let (pid, prefix) = (program.id().to_string(), world.dir.path().join("core"));
    let dumped = Command::new("gcore").arg("-o").arg(&prefix).arg(&pid).output().unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    let core = world.dir.path().join(format!("core.{pid}"));
    assert!(core.exists(), "{}", text(&dumped.stderr));
    let seen = world.json(&["live", "--core", core.to_str().unwrap(), "--json"]);
    assert_eq!(seen["rings"][0]["process"]["application"], "hops");
    assert!(seen["rings"][0]["classes"][0]["count"].as_u64() > Some(0));
}

/// Every `chronoscope` command line of README.md is understood. Those that measure versions of a
/// repository take minutes and one of their own: of them only the words are read.
#[test]
fn the_commands_in_the_readme_are_real() {
    let world = World::new();
    let server = world.serve();
    world.run_hops(20);
    server.stop();
    world.run_hops(20); // a ring for FILE
    let ring = world.ring_files().remove(0);
    let last = world.json(&["live", "--last", "1", "--json"]);
    let chain = last["rings"][0]["last"][0]["chain"].as_str().unwrap();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let commands = readme.lines().filter(|line| line.starts_with("chronoscope "));
    let commands: Vec<_> = commands.filter(|line| !line.contains('&')).collect();
    assert!(commands.len() >= 8, "{commands:?}");
    for line in commands {
        let words = line.split('#').next().unwrap().split_whitespace().skip(1);
        let args = words.map(|word| match word {
            "DIR" => world.data().display().to_string(),
            "FILE" => ring.display().to_string(),
            "ID" => chain.to_owned(),
            "chains.png" => world.dir.path().join(word).display().to_string(),
            word => word.to_owned(),
        });
        let mut args: Vec<_> = args.collect();
        if args[0] == "track" {
            let own = args.iter().position(|word| word == "--").unwrap_or(args.len());
            args.insert(own, "--help".to_owned());
        }
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let output = world.run(&args);
        // The example has other classes than the README: nothing found is as good as found.
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 3)), "{line}: {code:?} {}", text(&output.stderr));
    }
}

#[test]
fn a_closed_pipe_is_no_trouble() {
    let world = World::new();
    world.run_hops(200);
    let mut child =
        world.command(&["live", "--last", "200"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
