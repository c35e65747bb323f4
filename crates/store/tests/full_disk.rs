//! A disk that fills up: what was acknowledged stays, and things go on when there is space again.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod support;

use chronoscope_store::{Append, MINUTE_NS, Options, Snapshot};
use std::path::Path;
use std::process::Command;
use support::{Chains, ids, open};

const DIR: &str = "CHRONOSCOPE_TEST_FULL_DISK_DIR";

/// Mounts a small file system in a mount namespace of its own and runs the test below in it.
#[test]
fn on_a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=6m none "$1" && shift && exec "$@""#;
    let in_namespace = |flags: &str, command: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args([flags, "sh", "-c", script, "sh"]).arg(dir.path()).args(command);
        unshare
    };
    let flags = ["-m", "-Urm"].into_iter().find(|flags| {
        in_namespace(flags, &["true"]).output().is_ok_and(|output| output.status.success())
    });
    let Some(flags) = flags else {
        eprintln!(
            "SKIPPED: on_a_full_disk: this user may not mount a file system (unshare, mount)"
        );
        return;
    };
    let program = std::env::current_exe().unwrap();
    let command = [program.to_str().unwrap(), "--exact", "child", "--nocapture"];
    let status = in_namespace(flags, &command).env(DIR, dir.path()).status().unwrap();
    assert!(status.success());
}

#[test]
fn child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let disk = Path::new(&dir);
    let ballast = disk.join("ballast");
    std::fs::write(&ballast, vec![1; 2 << 20]).unwrap();
    let data = disk.join("data");
    let options = Options { log_file_bytes: 300_000, ..Options::default() };
    let store = open(&data, options.clone(), 100);
    let mut chains = Chains::default();
    let mut fill = |most: usize| {
        for count in 0..most {
            let batch = chains.batch(100, 40);
            let input =
                Append { batch: Some(&batch), names: Some(&chains.names), ..Append::default() };
            match store.append(&input, 100 * MINUTE_NS) {
                Ok(_) => drop(store.sync().unwrap()),
                Err(error) => {
                    assert!(error.is_full() && error.is_passing(), "{error}");
                    // The same rows again next time, as a collector offers them.
                    let first = batch.records().iter().map(|record| record.id.0).min().unwrap();
                    chains.count_from(first);
                    return count;
                }
            }
        }
        most
    };
    let batches = fill(1000);
    assert!(batches > 50 && batches < 1000, "{batches}");
    let all = |batches: usize| (1..=batches as u64 * 200).collect::<Vec<_>>();
    assert_eq!(store.durable_rows(), batches as u64 * 200);
    assert_eq!(ids(&data), all(batches));
    // Not even sealing has space; it fails, leaves nothing behind, and nothing is lost by it.
    let free = || free_bytes(disk);
    let before = free();
    let error = store.maintain(103 * MINUTE_NS).unwrap_err();
    assert!(error.is_full(), "{error}");
    assert!(free() >= before, "half a segment was left behind");
    assert_eq!(ids(&data), all(batches));
    // Space again: rows are taken, minutes are sealed, and the log gives its space back.
    std::fs::remove_file(&ballast).unwrap();
    let more = fill(20);
    assert_eq!(more, 20);
    support::maintain(&store, 104);
    assert_eq!(store.backlog().unsealed_rows, 0);
    assert_eq!(ids(&data), all(batches + more));
    assert!(free() > 3 << 20);
    let late = fill(5);
    drop(store);
    let store = open(&data, options, 104);
    assert_eq!(store.recovery().damage, []);
    assert_eq!(ids(&data), all(batches + more + late));
    assert_eq!(Snapshot::open(&data).unwrap().damage(), []);
}

fn free_bytes(path: &Path) -> u64 {
    let output = Command::new("df").args(["--output=avail", "-B1"]).arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().nth(1).unwrap().trim().parse().unwrap()
}
