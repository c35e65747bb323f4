//! The folder of a demonstration: rings, sockets and, unless they are to stay, the stored rows.

use anyhow::{Context, Result};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A folder in memory, where there is one, that only this user may enter. Removed when this is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder.
    ///
    /// # Errors
    /// When neither `/dev/shm` nor the folder for temporary files can be written.
    pub(super) fn new() -> Result<Self> {
        let name = format!("chronoscope-demo.{}", std::process::id());
        let places = [Path::new("/dev/shm").join(&name), std::env::temp_dir().join(&name)];
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700);
        let [memory, disk] = places;
        if builder.create(&memory).is_ok() {
            return Ok(Self(memory));
        }
        builder.create(&disk).with_context(|| format!("cannot make {}", disk.display()))?;
        Ok(Self(disk))
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of the rings; the first program makes it.
    pub(super) fn rings(&self) -> PathBuf {
        self.0.join("rings")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0); // nobody is left to be told
    }
}
