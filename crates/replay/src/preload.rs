//! The preload library that lets programs take part which know nothing of the virtual clock.
//!
//! It is C, like what it stands in front of: it runs inside programs of others, within their
//! signal handlers and before their libraries are ready, where Rust's runtime must not be.
//! `preload/` has its source, `build.rs` compiles it, and this module carries its octets.

use std::io;
use std::path::{Path, PathBuf};

const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libchronoscope_time.so"));

/// The library's name.
pub const FILE_NAME: &str = "libchronoscope_time.so";

/// Puts the library into a folder; its path is for `LD_PRELOAD`.
///
/// # Errors
/// When the file cannot be written.
pub fn put(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join(FILE_NAME);
    std::fs::write(&path, LIBRARY)?;
    Ok(path)
}
