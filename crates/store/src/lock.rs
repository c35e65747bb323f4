//! One writer to a store.

use crate::disk::Access;
use crate::{StoreError, layout};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// Time limit for asking who writes.
const ASKED_WITHIN: Duration = Duration::from_millis(10);

/// The right to write a store, for as long as it lives. The kernel takes it back when the process
/// ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the right, or says who has it.
    pub(crate) fn take(dir: &Path, access: Access) -> Result<Self, StoreError> {
        let path = layout::lock(dir);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(access.of_file())
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        let mut taken = file.try_lock();
        if matches!(taken, Err(TryLockError::WouldBlock)) {
            // Perhaps somebody only asks who writes here ([`writer`]).
            chronoscope_clock::sleep(ASKED_WITHIN);
            taken = file.try_lock();
        }
        match taken {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The text only serves the message: the lock is held even if the text is
                // unreadable.
                let _ = (&mut file).take(200).read_to_string(&mut holder);
                let holder = if holder.is_empty() { "of unknown number" } else { holder.trim() };
                return Err(StoreError::Locked { dir: dir.to_owned(), holder: holder.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io("flock", &path)(error)),
        }
        // On a full disk the lock holds all the same; only the courtesy is missing.
        let text = format!("process {}\n", std::process::id());
        let _ = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        Ok(Self { file })
    }
}

/// The writer of the store or the spool in `dir`, in words: `process 1234`; `None` where nobody
/// does,
/// there is none, or it cannot be told.
pub fn writer(dir: &Path) -> Option<String> {
    let mut file = File::open(layout::lock(dir)).ok()?;
    // A shared lock is refused while the writer has its own, and gone with the file.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) => {
            let _ = file.unlock(); // closing it does the same
            return None;
        }
        Err(TryLockError::Error(_)) => return None,
    }
    let mut holder = String::new();
    // As in `Lock::take`, the text only serves the message.
    let _ = (&mut file).take(200).read_to_string(&mut holder);
    Some(if holder.is_empty() {
        "process of unknown number".to_owned()
    } else {
        holder.trim().to_owned()
    })
}

impl Drop for Lock {
    /// Closing alone would leave the lock to a child process that another thread is just starting:
    /// between `fork` and `exec` it has every descriptor.
    fn drop(&mut self) {
        // It can only fail for a file that has no lock, and closing follows in any case.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::{Lock, writer};
    use crate::StoreError;
    use crate::disk::Access;

    #[test]
    fn who_writes_is_known_while_he_does() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(writer(dir.path()), None);
        let lock = Lock::take(dir.path(), Access::Owner).unwrap();
        assert_eq!(writer(dir.path()), Some(format!("process {}", std::process::id())));
        drop(lock);
        assert_eq!(writer(dir.path()), None);
        drop(Lock::take(dir.path(), Access::Owner).unwrap());
    }

    #[test]
    fn a_child_being_started_does_not_keep_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(dir.path(), Access::Owner).unwrap();
        let inherited = lock.file.try_clone().unwrap();
        assert!(matches!(Lock::take(dir.path(), Access::Owner), Err(StoreError::Locked { .. })));
        drop(lock);
        drop(Lock::take(dir.path(), Access::Owner).unwrap());
        drop(inherited);
    }
}
