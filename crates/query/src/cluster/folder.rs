//! A folder for files of this process only.

use chronoscope_store::StoreError;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What the folders' names begin with; the number of the process and a random number follow.
const PREFIX: &str = "chronoscope-rows-";
/// Names that are tried.
const TRIES: usize = 8;

/// A folder in the system's folder for temporary files (`TMPDIR`), for the owner only. It is removed
/// with all that is in it when this is dropped; what a killed process left is removed by the next.
#[derive(Debug)]
pub(super) struct PassingFolder {
    path: PathBuf,
}

impl PassingFolder {
    /// Makes a folder.
    pub(super) fn new() -> Result<Self, StoreError> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        let mut tries = 0;
        loop {
            let number = RandomState::new().hash_one(tries);
            let path = parent.join(format!("{PREFIX}{}-{number:016x}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < TRIES => {
                    tries += 1;
                }
                Err(source) => {
                    let operation = "create directory";
                    return Err(StoreError::Io { operation, path, source });
                }
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PassingFolder {
    fn drop(&mut self) {
        // What stays is removed by the next process.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of processes that are gone, as far as they are ours.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let process = process.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_there_as_long_as_it_is_held() {
        let folder = PassingFolder::new().unwrap();
        fs::write(folder.path().join("rows"), b"1").unwrap();
        let path = folder.path().to_owned();
        assert!(PassingFolder::new().unwrap().path() != path && path.is_dir());
        drop(folder);
        assert!(!path.exists());
    }
}
