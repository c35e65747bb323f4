//! `chronoscope replay --data`: a replayed day's measurements in a store, of real programs.
#![allow(clippy::unwrap_used)]

use chronoscope_model::{Transaction, TransactionId};
use chronoscope_store::Snapshot;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The kept replay begins here and takes so long: evidence/bench/replays/radar/short.toml.
const START_NS: i64 = 1_782_864_000_000_000_000; // 2026-07-01T00:00:00Z
const LENGTH_NS: i64 = 46_000_000_000;

fn chronoscope(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).env("TZ", "UTC").env("CHRONOSCOPE_DATA", "/nowhere/at/all").output().unwrap()
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../evidence/bench/replays/radar")
        .canonicalize()
        .unwrap()
}

/// The programs that were built beside this test.
fn bin() -> &'static Path {
    let bin = Path::new(env!("CARGO_BIN_EXE_chronoscope")).parent().unwrap();
    assert!(
        bin.join("radar-tracker").exists(),
        "the radar programs are not built: cargo build --workspace --bins, or make test"
    );
    bin
}

/// Replays `scenario` in `folder/NAME` into the store `folder/NAME.store`.
struct Replayed {
    out: PathBuf,
    data: PathBuf,
}

impl Replayed {
    fn new(folder: &Path, name: &str) -> Self {
        Self { out: folder.join(name), data: folder.join(format!("{name}.store")) }
    }

    fn run(&self, scenario: &Path) -> Output {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let (scenario, bin) = (text(scenario), text(bin()));
        let (out, data) = (text(&self.out), text(&self.data));
        chronoscope(&[
            "replay", &scenario, "--bin", &bin, "--out", &out, "--data", &data, "--count", "none",
            "--json",
        ])
    }

    /// The report of a replay that went well.
    fn report(&self, scenario: &Path) -> Value {
        let output = self.run(scenario);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let kept = std::fs::read(self.out.join("report.json")).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap(), report);
        report
    }

    /// What a program printed at its end.
    fn summary(&self, name: &str) -> Value {
        let text = std::fs::read(self.out.join(format!("{name}.stdout"))).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn url(&self) -> String {
        format!("file:{}", self.data.display())
    }
}

/// All transactions of a store.
struct Stored {
    all: Vec<Transaction>,
    by_id: HashMap<TransactionId, usize>,
}

impl Stored {
    fn read(data: &Path) -> Self {
        let snapshot = Snapshot::open(data).unwrap();
        let all: Vec<_> = snapshot.transactions(i64::MIN..i64::MAX).map(Result::unwrap).collect();
        let by_id: HashMap<_, _> = (0..).zip(&all).map(|(at, t)| (t.id, at)).collect();
        assert_eq!(by_id.len(), all.len(), "ids are of one transaction each");
        Self { all, by_id }
    }

    fn of(&self, class: &str) -> Vec<&Transaction> {
        self.all.iter().filter(|t| t.class.to_string() == class).collect()
    }

    fn parent(&self, of: &Transaction) -> Option<&Transaction> {
        self.by_id.get(&of.parent).map(|at| &self.all[*at])
    }

    /// From the root to the transaction, by parents.
    fn chain<'a>(&'a self, of: &'a Transaction) -> Vec<&'a Transaction> {
        let mut chain = vec![of];
        while let Some(parent) = self.parent(chain[chain.len() - 1]) {
            assert_eq!(parent.chain, of.chain);
            chain.push(parent);
        }
        chain.reverse();
        chain
    }
}

fn end_ns(of: &Transaction) -> i64 {
    of.start_ns + of.elapsed_ns.cast_signed()
}

#[test]
fn every_plots_chain_is_in_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let replayed = Replayed::new(folder.path(), "day");
    let report = replayed.report(&kept().join("short.toml"));
    let (tracker, messages) = (replayed.summary("tracker"), replayed.summary("messages"));
    let stored = Stored::read(&replayed.data);
    let said = &report["stored"];
    assert_eq!(said["rows"], stored.all.len(), "{said}");
    assert_eq!(said["rings"], 2, "{said}");
    assert_eq!((&said["lost_rows"], &said["unrecorded"]), (&0.into(), &0.into()), "{said}");
    assert_eq!((&said["error"], &said["unreadable"]), (&Value::Null, &serde_json::json!([])));
    assert_eq!(std::fs::read_dir(replayed.out.join("rings")).unwrap().count(), 0);

    let count = |class| Value::from(stored.of(class).len());
    assert_eq!(count("MRTS::decodePlots"), tracker["processor"]["plot_blocks"]);
    assert_eq!(count("MRTS::Correlate"), tracker["tracker"]["plots"]);
    assert_eq!(count("MSG::TrackStore_updateTrack"), tracker["processor"]["messages"]);
    let queries: usize = stored.all.iter().filter(|t| t.class.class.starts_with("Query_")).count();
    assert!(queries > 100);
    assert_eq!(Value::from(queries), messages["queries"]["answered"]);
    for plot in stored.of("MRTS::Correlate") {
        let root = stored.parent(plot).unwrap();
        assert_eq!((root.class.class.as_str(), root.parent), ("decodePlots", TransactionId::NONE));
        // What is called lies within its caller: profiles tell by times what is inside of what.
        assert!(root.start_ns <= plot.start_ns && end_ns(plot) <= end_ns(root), "{plot:?}");
    }

    let times = START_NS..START_NS + LENGTH_NS;
    for transaction in &stored.all {
        assert!(times.contains(&transaction.start_ns), "{transaction:?}");
        assert!(transaction.cpu_ns <= transaction.elapsed_ns, "{transaction:?}");
    }
    let leaves = stored.of("MSG::TrackStore_updateTrack");
    let mut of_plots = 0;
    for leaf in &leaves {
        let chain = stored.chain(leaf);
        let classes: Vec<_> = chain.iter().map(|t| t.class.class.as_str()).collect();
        // What no plot caused, an update of a track that coasts, is no plot's chain.
        if classes[0] == "Extrapolate" {
            assert_eq!(classes, ["Extrapolate", "TrackStore_updateTrack"]);
        } else {
            assert_eq!(classes, ["decodePlots", "Correlate", "TrackStore_updateTrack"]);
            of_plots += 1;
        }
        assert_eq!(leaf.root_start_ns, Some(chain[0].start_ns));
        // What causes comes before what is caused, over processes, although the clock stands.
        assert!(chain.is_sorted_by_key(|t| t.start_ns), "{chain:?}");
        assert!(times.contains(&end_ns(leaf)), "{leaf:?}");
    }
    assert!(of_plots > 100, "{of_plots}");
    assert_eq!(stored.of("MRTS::Extrapolate").len(), leaves.len() - of_plots);
    // And a thread does one thing after the other.
    let mut correlates = stored.of("MRTS::Correlate");
    correlates.sort_by_key(|t| t.start_ns);
    assert!(correlates.windows(2).all(|pair| end_ns(pair[0]) <= pair[1].start_ns));

    let chains = chronoscope(&[
        "chains",
        "--data",
        replayed.data.to_str().unwrap(),
        "--utc",
        "--root",
        "MRTS::decodePlots",
        "--leaf",
        "MSG::TrackStore_updateTrack",
    ]);
    let page = String::from_utf8_lossy(&chains.stdout);
    let way = "path MRTS::decodePlots/MRTS::Correlate/MSG::TrackStore_updateTrack";
    assert!(page.contains(&format!("{way}\n  {of_plots} chains, ")), "{page}");
    assert!(!page.contains("left out") && !page.contains("used, though"), "{page}");
}

/// Who records does what it does otherwise, at the same instants.
#[test]
fn recording_changes_nothing_of_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    let replayed = Replayed::new(folder.path(), "recorded");
    let scenario = kept().join("short.toml");
    let recorded = replayed.report(&scenario);
    let (out, scenario) = (folder.path().join("silent"), scenario.to_str().unwrap());
    let (bin, out) = (bin().to_str().unwrap(), out.to_str().unwrap());
    let output =
        chronoscope(&["replay", scenario, "--bin", bin, "--out", out, "--count", "none", "--json"]);
    let silent: Value = serde_json::from_slice(&output.stdout).unwrap();
    // But for the octets between its programs, which carry correlators then: both print their
    // count.
    let answers = |report: &Value| {
        let all = report["outputs"].as_array().unwrap().clone();
        let came_back = |file: &&Value| file["path"].as_str().unwrap().starts_with("answers/");
        all.iter().filter(came_back).cloned().collect::<Vec<_>>()
    };
    assert_eq!(answers(&silent).len(), 4, "{silent}");
    assert_eq!(answers(&recorded), answers(&silent));
    assert_eq!((&recorded["moves"], &recorded["grants"]), (&silent["moves"], &silent["grants"]));
    assert_eq!(recorded["inputs"], silent["inputs"]);
    assert_eq!(silent.get("stored"), None);
}

#[test]
fn a_store_that_holds_something_is_not_mixed_with_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    let first = Replayed::new(folder.path(), "first");
    let scenario = kept().join("short.toml");
    let rows = first.report(&scenario)["stored"]["rows"].as_u64().unwrap();
    let again = Replayed { data: first.data.clone(), ..Replayed::new(folder.path(), "again") };
    let output = again.run(&scenario);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains(&format!("holds {rows} transactions")), "{said}");
    assert!(!again.out.exists(), "nothing was replayed");
    let within = Replayed { data: folder.path().join("w/store"), out: folder.path().join("w") };
    let output = within.run(&scenario);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the store is inside the folder of --out"), "{said}");
}

/// Twelve minutes, so that there are enough bins for something to be said of chance.
#[test]
fn two_replays_of_a_day_have_one_profile() {
    let folder = tempfile::tempdir().unwrap();
    let day = folder.path().join("made");
    let made = Command::new(bin().join("radar-generator"))
        .args(["day", "--flights", "40", "--positions", "4000", "--queries", "600"])
        .args(["--clients", "4", "--hours", "0.2", "--out"])
        .arg(&day)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let short = std::fs::read_to_string(kept().join("short.toml")).unwrap();
    assert!(short.contains("duration = \"46000ms\""));
    let scenario = day.join("short.toml");
    std::fs::write(&scenario, short.replace("46000ms", "730s")).unwrap();
    let [before, after] = ["before", "after"].map(|name| {
        let replayed = Replayed::new(folder.path(), name);
        let report = replayed.report(&scenario);
        assert_eq!(report["stored"]["lost_rows"], 0);
        replayed
    });
    // What is told of rates is exact; what of times is this machine's, whoever else works on it:
    // only what is more than three times as dear would be said.
    let args = ["track", "profile", "--utc", "--check", "--floor", "200"];
    let stores = ["--store", &after.url(), "--against", &before.url()];
    let compared = chronoscope(&[&args[..], &stores].concat());
    let words = String::from_utf8_lossy(&compared.stdout);
    assert_eq!(compared.status.code(), Some(0), "{words}");
    assert!(words.contains("nothing differs beyond chance"), "{words}");
    let compared = chronoscope(&[&args[..], &stores, &["--json"]].concat());
    let found: Value = serde_json::from_slice(&compared.stdout).unwrap();
    let found = &found["comparison"];
    assert!(found["blocks"].as_u64().unwrap() >= 12, "{found}");
    for class in found["classes"].as_array().unwrap() {
        assert_eq!(class["base"]["count"], class["other"]["count"], "{class}");
        assert_eq!(class["rate"]["differs"], false, "{class}");
    }
}
