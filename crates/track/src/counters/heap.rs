//! Heap of a program that runs alone: the preload library is a replay's.

use super::beyond_error::BeyondError;
use super::program::{self, Program};
pub use chronoscope_replay::heap::{Glibc, Heap, HeapError, PageError, ProcessHeap};
use chronoscope_replay::heap::{VARIABLE, put, read};

/// Runs a program once with the library before its allocator.
///
/// # Errors
/// When it does not run to its end so, or was not seen.
pub fn heap(program: &Program) -> Result<Heap, BeyondError> {
    let folder = tempfile::tempdir()
        .map_err(|source| HeapError::Io { path: std::env::temp_dir(), source })?;
    let library = put(folder.path())
        .map_err(|source| HeapError::Io { path: folder.path().to_owned(), source })?;
    let mut watched = program.clone();
    watched.environment.extend([
        ("LD_PRELOAD".into(), library.into()),
        (VARIABLE.into(), folder.path().as_os_str().to_owned()),
    ]);
    program::run(&watched, &[])?;
    Ok(read(folder.path())?)
}
