//! One writer to a store.

use crate::{StoreError, layout};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

/// The right to write a store, for as long as it lives. The kernel takes it back when the process
/// ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the right, or says who has it.
    pub(crate) fn take(dir: &Path) -> Result<Self, StoreError> {
        let path = layout::lock(dir);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // What it wrote is a courtesy: unreadable, it is still the holder.
                let _ = (&mut file).take(200).read_to_string(&mut holder);
                let holder = if holder.is_empty() { "of unknown number" } else { holder.trim() };
                return Err(StoreError::Locked { dir: dir.to_owned(), holder: holder.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io("flock", &path)(error)),
        }
        // On a full disk the lock holds all the same; only the courtesy is missing.
        let text = format!("process {}\n", std::process::id());
        let _ = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        Ok(Self { _file: file })
    }
}
