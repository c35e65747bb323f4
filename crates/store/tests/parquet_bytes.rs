//! What fuzzing of Parquet files checks, and the kept inputs on stable:
//! `fuzz/fuzz_targets/parquet_in.rs`.

use chronoscope_store::ParquetRows;
use std::path::{Path, PathBuf};

/// Any bytes as a Parquet file: no panic gets out, no hang, no more rows than it says.
pub fn check(bytes: &[u8]) {
    let file = Scratch::new();
    std::fs::write(&file.0, bytes).expect("room in memory");
    let Ok(rows) = ParquetRows::open(&file.0) else { return };
    let most = usize::try_from(rows.row_count()).unwrap_or(usize::MAX);
    // A few bytes can say that a value is repeated two thousand million times.
    let count = rows.take(100_000).map_while(Result::ok).count();
    assert!(count <= most, "{count} rows of {most}");
}

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Self(base.join(format!("chronoscope-parquet-bytes-{}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

#[test]
fn the_kept_inputs() {
    // Panics of the library are caught, and would fill the screen.
    std::panic::set_hook(Box::new(|_| ()));
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/parquet_in");
    let mut inputs = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus") {
        let bytes = std::fs::read(entry.expect("an input").path()).expect("an input");
        check(&bytes);
        // And every input cut and changed, a little of what a fuzzer does.
        for at in (0..bytes.len()).step_by(5) {
            check(&bytes[..at]);
            let mut changed = bytes.clone();
            changed[at] = changed[at].wrapping_add(0x81);
            check(&changed);
        }
        inputs += 1;
    }
    assert!(inputs > 0);
}
