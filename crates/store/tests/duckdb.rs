//! DuckDB opens the files as they are: rows, columns, words, maps and sketches.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_model::schema;
use chronoscope_store::Options;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Chains, append, foreign, open};

const SCRIPT: &str = r#"
import duckdb, sys
dir = sys.argv[1]
def ask(sql):
    for row in duckdb.sql(sql.replace("SEGMENTS", f"'{dir}/segments/*.parquet'")
                             .replace("SKETCHES", f"'{dir}/sketches/*.parquet'")).fetchall():
        print(*row, sep="|")
ask("select string_agg(column_name, ',') from (describe from SEGMENTS)")
ask("select count(*), count(distinct id), sum(id), count(root_start), min(links), max(links) from SEGMENTS")
ask("select application, class, host, process, path from SEGMENTS where level = 4 and flags = 1 limit 1")
ask("select count(*) from SEGMENTS where properties['id'] = printf('%016x', id) and metrics['half'] = id / 2")
ask("select sum(epoch_ns(start) - epoch_ns(root_start) + elapsed_ns) from SEGMENTS where level = 4 and flags = 1")
ask("select sum(elapsed_count), sum(list_sum(elapsed_counts)), max(elapsed_max), count(distinct path) from SKETCHES")
"#;

/// A Python with DuckDB; says loudly where there is none.
fn python() -> Option<String> {
    let venv = Command::new(repository().join("tools/venv")).arg("duckdb").output();
    let venv = venv.ok().filter(|output| output.status.success());
    if venv.is_none() {
        eprintln!("SKIPPED: tools/venv duckdb cannot be had here: NOTHING was asked of DuckDB");
    }
    venv.map(|output| String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The query in docs/store.md: over native chains, and over chains whose rows do not know their root.
#[test]
fn the_query_in_the_docs_answers_for_foreign_rows_too() {
    let Some(python) = python() else { return };
    let page = std::fs::read_to_string(repository().join("docs/store.md")).unwrap();
    let (_, query) = page.split_once("```sql\n").unwrap();
    let (query, _) = query.split_once("```").unwrap();
    let mut chains = Chains::default();
    let native = chains.batch(100, 40);
    let others = foreign(&chains.batch(101, 20));
    for batches in [&[&native][..], &[&others], &[&native, &others]] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path(), Options::default(), 100);
        let (mut count, mut sum_ns) = (0_u32, 0.0);
        for batch in batches {
            append(&store, &chains, batch, 100);
            for chain in batch.records().chunks(5) {
                let ns = chain[4].end_ns() - chain[0].start_ns;
                (count, sum_ns) = (count + 1, sum_ns + ns as f64);
            }
        }
        store.seal_all(0).unwrap();
        let query = query.replace("DIR", dir.path().to_str().unwrap());
        let script = "import duckdb, sys; print(*duckdb.sql(sys.argv[1]).fetchall()[0])";
        let output = Command::new(&python).args(["-c", script, &query]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told = String::from_utf8(output.stdout).unwrap();
        let (told_count, mean_ns) = told.trim().split_once(' ').unwrap();
        assert_eq!(told_count, count.to_string());
        let expected_ns = sum_ns / f64::from(count);
        assert!((mean_ns.parse::<f64>().unwrap() - expected_ns).abs() < 1.0, "{told}");
    }
}

#[test]
fn duckdb_reads_what_we_wrote() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), Options::default(), 100);
    let mut chains = Chains::default();
    let native = chains.batch(100, 40);
    let others = foreign(&chains.batch(101, 20));
    append(&store, &chains, &native, 100);
    append(&store, &chains, &others, 100);
    store.seal_all(0).unwrap();

    let output = Command::new(python).args(["-c", SCRIPT]).arg(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let columns: Vec<_> =
        schema::transactions().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(lines[0], columns.join(","));
    let ids = 300 * 301 / 2;
    assert_eq!(lines[1], format!("300|300|{ids}|200|0|3"));
    let path =
        support::STEPS.map(|(application, class)| format!("{application}::{class}")).join("/");
    assert_eq!(lines[2], format!("CWP|TargetView_redraw|host-2|104|{path}"));
    assert_eq!(lines[3], "300", "properties and metrics");
    let acpd: i64 =
        native.records().iter().filter(|r| r.level == 4).filter_map(|r| r.since_root_ns()).sum();
    assert_eq!(lines[4], acpd.to_string());
    let longest =
        native.records().iter().chain(others.records()).map(|r| r.elapsed_ns).max().unwrap();
    assert_eq!(lines[5], format!("300|300|{longest}|6"));
}
