//! A lock on a folder: one process at a time. The system releases it when its holder ends, in
//! whatever way.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Holds a folder until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Reason why a folder cannot be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process works in the folder.
    #[error(
        "{folder} is in use by another chronoscope (process {holder}): wait for its end, or give \
         this one another folder (--cache DIR)"
    )]
    Held {
        /// The folder.
        folder: PathBuf,
        /// Process id of the holder; `?` when it has not been written yet.
        holder: String,
    },
    /// The lock's file cannot be used.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Longest that a holder's number is believed to be, octets.
const HOLDER_BYTES_MAX: u64 = 20;

impl Lock {
    /// Holds `folder`, which is there, by a file `lock` in it.
    ///
    /// # Errors
    /// [`LockError::Held`] at once when somebody else does.
    pub(crate) fn take(folder: &Path) -> Result<Lock, LockError> {
        let path = folder.join("lock");
        let io = |source| LockError::Io { path: path.clone(), source };
        let open =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(source)) => return Err(io(source)),
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let said = file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder);
                let known = said.is_ok() && holder.trim().parse::<u32>().is_ok();
                let holder = if known { holder.trim().to_owned() } else { "?".to_owned() };
                return Err(LockError::Held { folder: folder.to_owned(), holder });
            }
        }
        file.set_len(0).map_err(io)?;
        writeln!(file, "{}", std::process::id()).map_err(io)?;
        Ok(Lock { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_the_first_is_and_gets_it_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take(folder.path()).unwrap();
        let error = Lock::take(folder.path()).unwrap_err().to_string();
        let who = format!("in use by another chronoscope (process {})", std::process::id());
        assert!(error.contains(&who), "{error}");
        drop(first);
        Lock::take(folder.path()).unwrap();
        let error = Lock::take(&folder.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("none/lock: No such file"), "{error}");
    }
}
