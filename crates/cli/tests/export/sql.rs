//! `export --to`: the databases say what `chains` says.

use super::service::Service;
use super::world::{World, chains, text};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command};

/// Count, sum and maximum of the durations from the root to the last class, and all rows: the same
/// words in both databases.
const DURATIONS: &str = "SELECT count(*), sum(start + elapsed_ns - root_start), \
     max(start + elapsed_ns - root_start), (SELECT count(*) FROM transactions) \
     FROM transactions WHERE path LIKE 'MRTS::decodePlots/%' AND class = 'redraw/all'";

/// The answer to [`DURATIONS`] by `chains`, and the number of rows.
fn durations(world: &World, rows: u64) -> [u64; 4] {
    let output = world.run(&["chains", "--root", "decodePlots", "--leaf", "redraw/all", "--json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Chains of foreign rows have no path: `chains` puts them together.
    let of = |path: &Value| {
        let d = &path["distribution"];
        let (count, mean) = (d["count"].as_u64().unwrap(), d["mean_ns"].as_f64().unwrap());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few seconds
        [count, (mean * count as f64).round() as u64, d["max_ns"].as_u64().unwrap(), rows]
    };
    of(&answer["chains"])
}

/// Asks with Python, which has SQLite.
fn sqlite(path: &Path, sql: &str) -> Vec<String> {
    let script = "import sqlite3, sys\nfor row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): \
                  print(*row, sep='|')";
    let mut python = Command::new("python3");
    let output = python.args(["-c", script]).arg(path).arg(sql).output().unwrap();
    assert!(output.status.success(), "{sql}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

fn joined(numbers: [u64; 4]) -> String {
    numbers.map(|n| n.to_string()).join("|")
}

#[test]
fn sqlite_says_what_chains_says() {
    let world = World::new();
    world.store(&chains(100, 0));
    let path = world.path("out.db");
    let to = format!("sqlite:{}", path.display());
    world.export(&["--to", &to]);
    assert!(!world.path("out.db.part").exists());
    assert_eq!(sqlite(&path, "PRAGMA integrity_check"), ["ok"]);
    assert_eq!(sqlite(&path, DURATIONS), [joined(durations(&world, 300))]);
    // The indexes serve: a chain is found without reading the table.
    let plan =
        "EXPLAIN QUERY PLAN SELECT * FROM transactions WHERE chain_high = 1 AND chain_low = 2";
    assert!(sqlite(&path, plan)[0].contains("USING INDEX transactions_chain"), "{plan}");
    // The chain's id, as `chronoscope chain` takes it.
    let id = "SELECT printf('%016x%016x', chain_high, chain_low) FROM transactions LIMIT 1";
    let chain = world.run(&["chain", &sqlite(&path, id)[0]]);
    assert!(chain.status.success(), "{}", text(&chain.stderr));
}

#[test]
fn a_table_that_exists_is_refused_and_unchanged() {
    let world = World::new();
    world.store(&chains(5, 5));
    let path = world.path("out.db");
    let to = format!("sqlite:{}", path.display());
    sqlite(&path, "CREATE TABLE mine (a)");
    world.export(&["--to", &to]);
    let refused = world.run(&["export", "--to", &to]);
    assert_eq!(refused.status.code(), Some(4));
    let said = text(&refused.stderr);
    assert!(said.contains("the table transactions exists") && said.contains("--table"), "{said}");
    world.export(&["--to", &to, "--table", "second"]);
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    assert_eq!(sqlite(&path, tables), ["mine", "transactions", "second"]);
    assert_eq!(sqlite(&path, "SELECT count(*) FROM second"), ["30"]);
    std::fs::write(world.path("text"), "x".repeat(4096)).unwrap();
    let refused =
        world.run(&["export", "--to", &format!("sqlite:{}", world.path("text").display())]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(text(&refused.stderr).contains("not a database"), "{}", text(&refused.stderr));
}

/// Killed at any time: a new file is not there, and one that was there has the table whole or not.
#[test]
fn a_killed_export_leaves_nothing_that_looks_whole() {
    let world = World::new();
    world.store(&chains(3_000, 0));
    let (fresh, old) = (world.path("fresh.db"), world.path("old.db"));
    sqlite(&old, "CREATE TABLE mine (a)");
    let start = |path: &Path| -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        let to = format!("sqlite:{}", path.display());
        command.args(["export", "--to", &to]).env("CHRONOSCOPE_DATA", world.path("data"));
        command.spawn().unwrap()
    };
    for ms in (0..).step_by(7).take(30) {
        for path in [&fresh, &old] {
            let mut child = start(path);
            std::thread::sleep(std::time::Duration::from_millis(ms));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        if fresh.exists() {
            assert_eq!(sqlite(&fresh, "SELECT count(*) FROM transactions"), ["9000"], "{ms} ms");
            std::fs::remove_file(&fresh).unwrap();
        }
        let table = "SELECT count(*) FROM sqlite_master WHERE name = 'transactions'";
        if sqlite(&old, table) == ["1"] {
            assert_eq!(sqlite(&old, "SELECT count(*) FROM transactions"), ["9000"], "{ms} ms");
            sqlite(&old, "DROP TABLE transactions");
        }
        assert_eq!(sqlite(&old, "PRAGMA integrity_check"), ["ok"], "{ms} ms");
    }
    // What the kills left does not hinder the next one.
    assert!(start(&fresh).wait().unwrap().success());
    assert_eq!(sqlite(&fresh, "SELECT count(*) FROM transactions"), ["9000"]);
}

#[test]
fn postgresql_says_what_chains_says() {
    let Some(server) = Service::start("postgres") else { return };
    let world = World::new();
    world.store(&chains(100, 20));
    let native = World::new();
    native.store(&chains(100, 0));
    let url = format!("postgresql://postgres@127.0.0.1:{}/postgres", server.port);
    let ask = |sql: &str| {
        let output = Command::new("psql").args(["-XAt", "-d", &url, "-c", sql]).output().unwrap();
        assert!(output.status.success(), "{sql}: {}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    world.export(&["--to", &url]);
    assert_eq!(ask(DURATIONS), joined(durations(&native, 360)));
    assert_eq!(
        ask("SELECT properties->>'callsign' FROM transactions LIMIT 1"),
        "\"DLH\"\n<1>, \u{1}"
    );
    let id = "SELECT lpad(to_hex(chain_high), 16, '0') || lpad(to_hex(chain_low), 16, '0') \
              FROM transactions LIMIT 1";
    assert!(world.run(&["chain", &ask(id)]).status.success());
    let refused = world.run(&["export", "--to", &url]);
    assert_eq!(refused.status.code(), Some(4));
    let said = text(&refused.stderr);
    assert!(said.contains("already exists") && said.contains("--table"), "{said}");
    // The script, by hand; and one that is cut off writes nothing.
    let script = world.path("out.sql");
    let file = script.to_str().unwrap();
    world.export(&["--format", "postgres", "--table", "second", "-o", file]);
    let whole = std::fs::read(&script).unwrap();
    std::fs::write(&script, &whole[..whole.len() / 2]).unwrap();
    let load = || Command::new("psql").args(["-Xq", "-d", &url, "-f", file]).output().unwrap();
    load();
    assert_eq!(ask("SELECT to_regclass('second') IS NULL"), "t");
    std::fs::write(&script, &whole).unwrap();
    assert!(load().status.success());
    assert_eq!(ask("SELECT count(*) FROM second"), "360");
}

#[test]
fn a_database_that_cannot_be_reached_is_an_error() {
    let world = World::new();
    world.store(&chains(2, 0));
    // Nobody listens at port 1.
    let refused = world.run(&["export", "--to", "postgresql://postgres@127.0.0.1:1/postgres"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(text(&refused.stderr).contains("psql"), "{}", text(&refused.stderr));
    let refused = world.run(&["export", "--to", "postgres://me:secret@h/d"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("PGPASSWORD"), "{}", text(&refused.stderr));
}
