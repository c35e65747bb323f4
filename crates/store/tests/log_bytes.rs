//! What fuzzing of the log checks, and the kept inputs on stable: `fuzz/fuzz_targets/log.rs`.

use chronoscope_store::{Options, Snapshot, Store};
use std::path::{Path, PathBuf};

/// Any bytes as the only log file of a store: no panic, no hang; a reader and a writer see the
/// same rows, and the writer can go on.
pub fn check(bytes: &[u8]) {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.0.join("log")).expect("a directory in memory");
    std::fs::write(dir.0.join("log/0000000000000000.wal"), bytes).expect("room in memory");
    let Ok(snapshot) = Snapshot::open(&dir.0) else { return };
    assert!(snapshot.unsealed().len() * 120 <= bytes.len(), "rows out of nothing");
    let store = Store::open(&dir.0, Options::default(), 0).expect("a log that a reader can read");
    assert_eq!(store.recovery().rows, snapshot.unsealed().len() as u64);
    assert_eq!(store.recovery().damage, snapshot.damage());
}

struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let dir = base.join(format!("chronoscope-log-bytes-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&dir));
        Self(dir)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[test]
fn the_kept_inputs() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/log");
    let mut inputs = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        let bytes = std::fs::read(entry.expect("an input").path()).expect("an input");
        check(&bytes);
        // And every input cut and changed, a little of what a fuzzer does.
        for at in (0..bytes.len()).step_by(7) {
            check(&bytes[..at]);
            let mut changed = bytes.clone();
            changed[at] = changed[at].wrapping_add(0x81);
            check(&changed);
        }
        inputs += 1;
    }
    assert!(inputs > 0);
}
