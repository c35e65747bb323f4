//! `chronoscope store copy` from files to a cluster of two real servers and back, interrupted and
//! continued; and answers of a cluster with a shard that is missing.

#![allow(clippy::unwrap_used)] // helpers of tests

#[path = "../../query/tests/cluster/mod.rs"]
mod cluster;
#[path = "../../query/tests/world/mod.rs"]
mod world;

use chronoscope_clock as clock;
use cluster::Servers;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use world::World;

fn chronoscope(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.args(args).env("TZ", "UTC").env("CHRONOSCOPE_DIR", "/nowhere/rings");
    command.env_remove("CHRONOSCOPE_STORE").env_remove("CHRONOSCOPE_DATA");
    command
}

fn run(args: &[&str]) -> Output {
    chronoscope(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = run(args);
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {said}"))
}

fn copy(from: &str, to: &str, code: i32) -> Value {
    let output = run(&["store", "copy", from, to, "--json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["copy"].clone()
}

/// Answers to some questions, but for what a copy does not have.
fn answers(store: &str) -> Vec<Value> {
    let question = ["chains", "--json", "--root", "X::a", "--store", store];
    let of = |more: &[&str]| {
        let mut answer = json(&[&question[..], more].concat())["chains"].clone();
        for key in ["rows_read", "clocks"] {
            answer.as_object_mut().unwrap().remove(key);
        }
        // A process is named with its start, which rows do not tell.
        answer["arrivals"].as_object_mut().map(|arrivals| arrivals.remove("silent"));
        answer
    };
    let classes = json(&["classes", "--json", "--store", store]);
    vec![of(&["--leaf", "Y::c", "--no-split"]), of(&["--leaf", "Y::d"]), of(&["--apcd"]), classes]
}

#[test]
fn copies_and_missing_shards() {
    let Some(mut servers) = Servers::start(2) else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let mut world = World::new(41, 25_000).on_hosts().with_attributes().with_losses();
    // How far processes have delivered is not copied.
    world.delivered.clear();
    // Sealed twice, and the last rows in the log only.
    world.store(Path::new(&path("files")), &[0.5, 0.3, 0.2], false);
    let all = world.records.len() as u64;
    let url = servers.url("copied");
    a_killed_copy_continues(&servers, &path("files"), &url, all);
    let again = copy(&path("files"), &url, 0);
    assert_eq!((&again["copied_rows"], &again["known_rows"]), (&0.into(), &all.into()));
    assert_eq!(again["checksum"], again["copy_checksum"]);
    let back = copy(&url, &path("back"), 0);
    assert_eq!((&back["copied_rows"], &back["rows"]), (&all.into(), &all.into()));
    assert_eq!((&back["checksum"], &back["further_rows"]), (&again["checksum"], &0.into()));
    let expected = answers(&path("files"));
    let all_used = expected[0]["counts"]["used"].as_u64().unwrap();
    assert!(all_used > 1000, "{}", expected[0]);
    assert_eq!(answers(&url), expected);
    assert_eq!(answers(&path("back")), expected);
    // Into a cluster of another size.
    let one = format!("clickhouse://{}/one_shard?cluster=everybody", servers.name(0));
    assert_eq!(copy(&url, &one, 0)["checksum"], again["checksum"]);
    assert_eq!(answers(&one), expected);
    a_difference_is_found(&servers, &path("files"), &url, all);
    a_missing_shard_is_in_every_answer(&mut servers, &url, all_used);
}

fn a_killed_copy_continues(servers: &Servers, from: &str, url: &str, all: u64) {
    let mut child = chronoscope(&["store", "copy", from, url]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let there = || -> u64 {
        let count = "SELECT sum(total_rows) FROM system.tables \
            WHERE database = 'copied' AND name = 'transactions'";
        (0..2).map(|index| servers.sql(index, count).parse().unwrap_or(0)).sum()
    };
    while there() == 0 && child.try_wait().unwrap().is_none() {
        clock::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = there();
    assert!(before > 0 && before < all, "{before} of {all} rows when it was killed");
    let copied = copy(from, url, 0);
    assert_eq!((&copied["rows"], &copied["missing_rows"]), (&all.into(), &0.into()));
    let [new, known] = ["copied_rows", "known_rows"].map(|name| copied[name].as_u64().unwrap());
    assert_eq!(new + known, all);
    assert!(known >= before, "{known} of {before}");
    assert_eq!(there(), all, "nothing is doubled");
}

fn a_difference_is_found(servers: &Servers, from: &str, url: &str, all: u64) {
    let lost: u64 = (0..2)
        .map(|index| {
            let some = "minute = 101 AND id % 100 = 3";
            let counted = format!("SELECT count() FROM copied.transactions WHERE {some}");
            let count = servers.sql(index, &counted);
            let delete = format!("ALTER TABLE copied.transactions DELETE WHERE {some}");
            servers.sql(index, &format!("{delete} SETTINGS mutations_sync = 2"));
            count.parse::<u64>().unwrap()
        })
        .sum();
    assert!(lost > 10);
    let args = ["store", "copy", from, url, "--verify", "--json"];
    let output = run(&args);
    assert_eq!(output.status.code(), Some(1));
    let found = &serde_json::from_slice::<Value>(&output.stdout).unwrap()["copy"];
    assert_eq!(found["missing_rows"], lost);
    assert_ne!(found["checksum"], found["copy_checksum"]);
    let different = &found["different_minutes"];
    assert_eq!(different.as_array().unwrap().len(), 1);
    assert_eq!(different[0]["from_ns"], 101 * 60_000_000_000_i64);
    let text = String::from_utf8(run(&args[..5]).stdout).unwrap();
    assert!(text.contains("are NOT in the copy"), "{text}");
    let repaired = copy(from, url, 0);
    assert_eq!((&repaired["copied_rows"], &repaired["rows"]), (&lost.into(), &all.into()));
}

fn a_missing_shard_is_in_every_answer(servers: &mut Servers, url: &str, all_used: u64) {
    let saying = format!("{url}&missing=say");
    let chains = ["chains", "--root", "X::a", "--leaf", "Y::c", "--store"];
    servers.kill(1);
    let missing = format!("shard {} is missing", servers.name(1));
    let refused = run(&[&chains[..], &[url]].concat());
    assert_eq!(refused.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&refused.stderr).contains(&servers.name(1)));
    // With arrivals, hops and the slowest chains, of the shard that is there.
    let answered = run(&[&chains[..], &[&saying, "--limit", "1h", "--check"]].concat());
    let said = String::from_utf8_lossy(&answered.stdout);
    assert_eq!(answered.status.code(), Some(5), "undetermined: {said}");
    assert!(said.contains(&missing) && said.contains("slowest"), "{said}");
    let part = json(&[&chains[..], &[&saying, "--json"]].concat())["chains"].clone();
    assert!(part["losses"]["damage"].to_string().contains(&missing), "{part}");
    let used = part["counts"]["used"].as_u64().unwrap();
    assert!(used > 0 && used < all_used, "{used} of {all_used}");
    let classes = run(&["classes", "--store", &saying]);
    let said = [classes.stdout, classes.stderr].concat();
    assert!(
        String::from_utf8_lossy(&said).contains(&missing),
        "{:?}",
        String::from_utf8_lossy(&said)
    );
    // A copy is of a whole store.
    let copied = run(&["store", "copy", &saying, "/nowhere/else"]);
    assert_eq!(copied.status.code(), Some(4), "{}", String::from_utf8_lossy(&copied.stderr));
    servers.restart(1);
}
