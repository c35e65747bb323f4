//! The file with the process id, locked so that no two servers run with one.

use nix::fcntl::{Flock, FlockArg};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A pid file that is ours. The lock ends with the process, and with a live upgrade's `exec`, after
/// which the new program takes it again.
#[derive(Debug)]
pub struct PidFile {
    _locked: Flock<File>,
}

/// Reasons why the pid file cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum PidFileError {
    /// The file cannot be written.
    #[error("the pid file {path} cannot be written: {source}")]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Another process has it.
    #[error(
        "the pid file {path} belongs to another running server: stop it, or start this one with \
         another name (-n) or pid file (-p)"
    )]
    Taken {
        /// Path of the file.
        path: PathBuf,
    },
}

impl PidFile {
    /// Writes this process's id to `path`, and keeps the file locked.
    ///
    /// # Errors
    /// When it cannot be written, or another process has it locked.
    pub fn write(path: &Path) -> Result<Self, PidFileError> {
        let unwritable = |source| PidFileError::Unwritable { path: path.to_owned(), source };
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false) // it may be another server's
            .mode(0o644)
            .open(path)
            .map_err(unwritable)?;
        let mut locked = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => locked,
            Err((_, nix::errno::Errno::EWOULDBLOCK)) => {
                return Err(PidFileError::Taken { path: path.to_owned() });
            }
            Err((_, error)) => return Err(unwritable(error.into())),
        };
        locked.set_len(0).map_err(unwritable)?;
        writeln!(locked, "{}", std::process::id()).map_err(unwritable)?;
        Ok(Self { _locked: locked })
    }
}

#[cfg(test)]
mod tests {
    use super::{PidFile, PidFileError};

    #[test]
    fn one_server_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pid");
        std::fs::write(&path, "9999999999\n").unwrap();
        let first = PidFile::write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
        assert!(matches!(PidFile::write(&path), Err(PidFileError::Taken { .. })));
        drop(first);
        PidFile::write(&path).unwrap();
        let nowhere = PidFile::write("/nowhere/x.pid".as_ref());
        assert!(matches!(nowhere, Err(PidFileError::Unwritable { .. })));
    }
}
