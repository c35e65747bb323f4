//! The preload library, which lets unmodified programs take part in a replay.
//!
//! It is C, like the library that it stands in front of: it runs inside other programs, within
//! their signal handlers and before their libraries are ready, where Rust's runtime must not be.
//! `preload/` has its source, `build.rs` compiles it, and this module contains its octets.

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
