//! `sle-provider` and `sle-user` as an operator has them: processes, files, lines, signals.
#![allow(clippy::unwrap_used)]

use chronoscope_clock as clock;
use chronoscope_model::{Batch, Record};
use chronoscope_record::read::{self, Cursors, Ring};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const CONFIG: &str = r#"
[provider]
id = "STATION"
listen = ["127.0.0.1:0"]
control = "127.0.0.1:0"

[[peer]]
id = "MCC"

[[instance]]
id = "sagr=1.spack=A.fsl-fg=1.cltu=cltu1"
[instance.forward]
notify = "every"
BIT_RATE
[[instance.forward.event]]
id = 1
outcome = "completed"

[[instance]]
id = "sagr=1.spack=A.rsl-fg=1.raf=onlc1"
[instance.return]
ANNOTATE
[instance.return.generator]
octets = 100
rate = 20000

[[instance]]
id = "sagr=1.spack=A.rsl-fg=1.rcf=onlc2"
[instance.return]
channels = ["1.0.0"]
[instance.return.generator]
octets = 100
count = 500
virtual_channels = [0, 1]
"#;

/// A running provider, and the configuration of its users; killed when dropped.
struct Station {
    folder: TempDir,
    child: Child,
    control: String,
}

impl Station {
    fn new() -> Self {
        Self::with("", "")
    }

    fn with(bit_rate: &str, annotate: &str) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let text = CONFIG.replace("BIT_RATE", bit_rate).replace("ANNOTATE", annotate);
        let config = folder.path().join("provider.toml");
        fs::write(&config, &text).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sle-provider"))
            .arg("-qc")
            .arg(&config)
            .env("CHRONOSCOPE_DIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = || lines.next().unwrap().unwrap();
        let address = said().strip_prefix("listening ").unwrap().to_owned();
        let control = said().strip_prefix("control ").unwrap().to_owned();
        assert_eq!(said(), "ready");
        let users = text.replace(
            "[provider]\nid = \"STATION\"\nlisten = [\"127.0.0.1:0\"]\ncontrol = \"127.0.0.1:0\"",
            &format!("[user]\nid = \"MCC\"\naddress = \"{address}\"\nreturn_timeout_s = 20"),
        );
        let users = users.replace("id = \"MCC\"\n\n", "id = \"STATION\"\n\n");
        fs::write(folder.path().join("user.toml"), users).unwrap();
        Self { folder, child, control }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sle-user"));
        command
            .arg("-c")
            .arg(self.folder.path().join("user.toml"))
            .args(args)
            .env("CHRONOSCOPE_DIR", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn user(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What a user that has to succeed printed, with `--json`.
    fn json(&self, args: &[&str]) -> Vec<Value> {
        let output = self.user(&[&["--json"], args].concat());
        assert!(output.status.success(), "{args:?}: {output:?}");
        results(&output)
    }

    fn order(&self, line: &str) -> String {
        let mut stream = TcpStream::connect(&self.control).unwrap();
        writeln!(stream, "{line}").unwrap();
        let mut said = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            said += &line;
            if line == "ok" || line.starts_with("error:") {
                break;
            }
            said += "\n";
        }
        said
    }

    /// Whether an instance has received a CLTU.
    fn has_received(&self, instance: &str) -> bool {
        let status = self.order("status");
        let of = |line: &&str| line.split(' ').next().is_some_and(|id| id.ends_with(instance));
        let line = status.lines().find(of).unwrap();
        !line.contains("received 0,")
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn results(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").arg(name).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

/// Waits until something is so.
fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if is_so() {
            return;
        }
        clock::sleep(Duration::from_millis(10));
    }
    panic!("it never was");
}

#[test]
fn the_example_is_right_for_both() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/sle.toml");
    for program in [env!("CARGO_BIN_EXE_sle-provider"), env!("CARGO_BIN_EXE_sle-user")] {
        let output = Command::new(program).arg("--check").arg("-c").arg(&example).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("right: "), "{said}");
    }
}

#[test]
fn what_is_wrong_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sle.toml");
    let check = |program: &str| {
        let output = Command::new(program).arg("--check").arg("-c").arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), output.stderr)
    };
    fs::write(&file, "[user]\nid = \"M\"\n[[instance]]\nid = \"cltu=1\"\n").unwrap();
    let (code, said, _) = check(env!("CARGO_BIN_EXE_sle-user"));
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("wrong: user.id = \"M\": 3 to 16 visible characters"), "{said}");
    assert!(said.contains("wrong: line 3: \"cltu=1\": an identifier is sagr"), "{said}");
    let (code, said, _) = check(env!("CARGO_BIN_EXE_sle-provider"));
    assert_eq!(code, Some(3));
    assert!(said.contains("wrong: there is no [provider]"), "{said}");
    fs::write(&file, "[user]\nidd = \"M\"\n").unwrap();
    let (code, _, stderr) = check(env!("CARGO_BIN_EXE_sle-user"));
    assert_eq!(code, Some(1));
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(stderr.contains("line 2, column 1: unknown field `idd`"), "{stderr}");
}

#[test]
fn one_command_each() {
    let station = Station::new();
    let sent = station.json(&["-i", "cltu1", "send", "--generate", "3000", "--octets", "100"]);
    let (total, fates) = sent.split_last().unwrap();
    // The link may be given up before the last are told to be radiated.
    assert!(fates.iter().all(|one| one["fate"] == "radiated" || one["fate"] == "acknowledged"));
    assert_eq!(fates.iter().map(|one| one["count"].as_u64().unwrap()).sum::<u64>(), 3000);
    assert_eq!(total["acknowledged"], 3000);
    let report = station.json(&["-i", "cltu1", "report"]);
    assert_eq!((&report[0]["received"], &report[0]["format"]), (&3000.into(), &1.into()));
    let length = station.json(&["-i", "cltu1", "get", "maximum-sldu-length"]);
    assert_eq!(length[0]["value"], 4096);
    assert!(station.json(&["-i", "onlc1", "get"]).len() > 5);
    let event = station.json(&["-i", "cltu1", "event", "1"]);
    assert_eq!(event[0]["event"], "action-list-completed");
    let frames = station.folder.path().join("frames");
    let out = frames.to_str().unwrap();
    let got = station.json(&["-i", "onlc1", "receive", "--frames", "1000", "--out", out]);
    assert_eq!((&got[0]["frames"], &got[0]["missing"]), (&1000.into(), &0.into()));
    assert_eq!(fs::read(&frames).unwrap().len(), 1000 * 104);
    let got = station.json(&["-i", "onlc2", "receive", "--channel", "1.0.0"]);
    assert_eq!((&got[0]["frames"], &got[0]["end_of_data"]), (&250.into(), &true.into()));
    let refused = station.user(&["-i", "onlc2", "receive", "--channel", "1.0.7"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("START refused: invalid GVCID"), "{said}");
}

#[test]
fn a_link_by_hand() {
    let station = Station::new();
    let mut command = station.command(&["-i", "cltu1", "--json", "terminal"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let lines = "stop\nbind\nstart 5\nsend 0102030405060708090a0b0c\nsend 10 200\ndrain\nwait 0.2\n\
                 get minimum-delay-time\nstatus\nstop\nunbind\nquit\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let all = results(&output);
    assert_eq!(output.status.code(), Some(1), "stop before bind fails");
    assert_eq!(all[0]["error"], "nothing is bound: bind");
    assert_eq!(all[1]["version"], 5);
    let of = |key: &str| all.iter().find(|one| !one[key].is_null()).unwrap();
    assert_eq!(of("cltu")["cltu"], 5);
    assert_eq!(of("last_cltu")["last_cltu"], 15);
    assert_eq!(of("parameter")["value"], 0);
    assert_eq!(of("acknowledged")["acknowledged"], 11);
    assert!(all.iter().any(|one| one["event"] == "cltu-radiated"), "{all:?}");
    assert_eq!((&of("fate")["cltu"], &of("fate")["count"]), (&5.into(), &11.into()));
}

#[test]
fn an_operator_works_the_production() {
    let station = Station::new();
    assert_eq!(station.order("interrupt cltu1"), "ok");
    let refused = station.user(&["-i", "cltu1", "send", "--generate", "1"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("START refused: unable to comply"), "{said}");
    assert!(station.order("status").contains("production Interrupted"));
    assert_eq!(station.order("resume"), "ok");
    station.json(&["-i", "cltu1", "send", "--generate", "1"]);
    assert_eq!(station.order("out-of-service cltu1"), "ok");
    let refused = station.user(&["-i", "cltu1", "send", "--generate", "1"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("BIND refused: OutOfService"), "{said}");
    assert!(station.order("nonsense").starts_with("error: "));
}

/// Every CLTU is acknowledged, refused, or unknown and listed.
#[test]
fn a_provider_that_is_killed_leaves_no_fate_open() {
    let mut station = Station::with("bit_rate = 8000000", "");
    let args = ["-i", "cltu1", "--json", "send", "--generate", "10000000"];
    let user = station.command(&args).spawn().unwrap();
    until(|| station.has_received("cltu1"));
    station.child.kill().unwrap();
    let output = user.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let mut all = results(&output);
    let summary = all.pop().unwrap();
    let of_fate = |fate: &str| -> u64 {
        let those = all.iter().filter(|one| one["fate"] == fate);
        those.map(|one| one["count"].as_u64().unwrap()).sum()
    };
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert!(count("acknowledged") > 0, "{summary}");
    assert_eq!(count("sent"), count("acknowledged") + count("refused") + count("unknown"));
    assert_eq!(of_fate("unknown"), count("unknown"));
    assert_eq!(of_fate("acknowledged") + of_fate("radiated"), count("acknowledged"));
    assert_eq!(of_fate("refused"), count("refused"));
}

#[test]
fn a_user_that_is_killed_leaves_the_instance_free() {
    let station = Station::new();
    let args = ["-i", "cltu1", "--json", "send", "--generate", "10000000"];
    let mut user = station.command(&args).spawn().unwrap();
    until(|| station.has_received("cltu1"));
    user.kill().unwrap();
    user.wait().unwrap();
    until(|| station.order("status").contains("Fcltu Unbound"));
    station.json(&["-i", "cltu1", "send", "--generate", "10"]);
}

#[test]
fn interrupted_it_keeps_what_it_had_and_unbinds() {
    let station = Station::new();
    let frames = station.folder.path().join("frames");
    let args = ["-i", "onlc1", "--json", "receive", "--out", frames.to_str().unwrap()];
    let user = station.command(&args).spawn().unwrap();
    until(|| station.order("status").contains("Raf Active"));
    clock::sleep(Duration::from_millis(100));
    signal(&user, "-INT");
    let output = user.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let got = results(&output).pop().unwrap();
    let length = fs::metadata(&frames).unwrap().len();
    assert_eq!(length, got["frames"].as_u64().unwrap() * 104);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("unbound"), "{said}");
}

/// What a process recorded.
struct Recorded {
    ring: Ring,
    batch: Batch,
}

impl Recorded {
    fn all(folder: &Path) -> Vec<Self> {
        let open = |path: &std::path::PathBuf| {
            let mut ring = Ring::open(path).unwrap();
            let mut batch = Batch::default();
            ring.drain(&mut Cursors::default(), usize::MAX, &mut batch).unwrap();
            ring.refresh_names().unwrap();
            Self { ring, batch }
        };
        read::find_rings(folder).iter().map(open).collect()
    }
}

fn of_class(all: &[Recorded], application: &str, class: &str) -> Vec<Record> {
    let mut found = Vec::new();
    for one in all.iter().filter(|one| one.ring.process().application == application) {
        let names = one.ring.names();
        let is_it =
            |record: &&Record| names.class(record.class).is_some_and(|name| name.class == class);
        found.extend(one.batch.records().iter().filter(is_it).copied());
    }
    found
}

#[test]
fn a_cltu_is_a_chain_across_both_processes() {
    let station = Station::new();
    station.json(&["-i", "cltu1", "send", "--generate", "50", "--until-radiated", "30"]);
    let all = Recorded::all(station.folder.path());
    let of = |application, class| {
        let found = of_class(&all, application, class);
        assert_eq!(found.len(), 50, "{application}::{class}");
        found
    };
    let roots = of("SLE user", "cltuTransferData");
    let received = of("SLE provider", "receiveCltu");
    let queued = of("SLE provider", "queueCltu");
    let radiated = of("SLE provider", "radiateCltu");
    let acknowledged = of("SLE user", "acknowledgeCltu");
    let child_of = |parent: &Record, among: &[Record]| {
        let found: Vec<_> = among.iter().filter(|record| record.parent == parent.id).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].chain_high, parent.chain_high);
        assert_eq!(found[0].chain_low, parent.chain_low);
        *found[0]
    };
    for root in &roots {
        assert!(root.parent.is_none());
        let receive = child_of(root, &received);
        assert_ne!(receive.process, root.process);
        let queue = child_of(&receive, &queued);
        child_of(&queue, &radiated);
        child_of(root, &acknowledged);
    }
    for class in ["bind", "start", "stop", "unbind"] {
        assert_eq!(of_class(&all, "SLE user", class).len(), 1, "{class}");
    }
}

#[test]
fn a_transfer_buffer_is_a_chain_across_both_processes() {
    let station = Station::new();
    station.json(&["-i", "onlc1", "receive", "--frames", "2000"]);
    let all = Recorded::all(station.folder.path());
    let received = of_class(&all, "SLE user", "receiveBuffer");
    let delivered = of_class(&all, "SLE provider", "deliverBuffer");
    assert!(received.len() >= 2000 / 80, "{}", received.len());
    for record in &received {
        let parent = delivered.iter().find(|parent| parent.id == record.parent).unwrap();
        assert_eq!((record.chain_high, record.chain_low), (parent.chain_high, parent.chain_low));
    }
}

#[test]
fn an_annotated_frame_carries_its_chain() {
    let station = Station::with("", "annotate = true");
    station.json(&["-i", "onlc1", "receive", "--frames", "500"]);
    let all = Recorded::all(station.folder.path());
    let received = of_class(&all, "SLE user", "receiveFrame");
    let delivered = of_class(&all, "SLE provider", "deliverFrame");
    assert!(received.len() >= 500);
    for record in &received {
        let parent = delivered.iter().find(|parent| parent.id == record.parent).unwrap();
        assert_eq!((record.level, record.root_start_ns), (1, parent.start_ns));
    }
}
