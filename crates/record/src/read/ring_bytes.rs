//! Source of a ring's bytes. Read by copying, never mapped: a file that is truncated during the
//! read is an error at a position, not a signal.

use super::core_file::CoreFile;
use super::error::RingError;
use super::owner::check_file;
use bytemuck::Pod;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// Source of a ring's bytes.
#[derive(Debug)]
pub(crate) enum RingBytes {
    /// A ring file.
    File { file: File, path: PathBuf },
    /// A process's memory in a core file; the ring starts at `base`.
    Core { core: Arc<CoreFile>, base: u64 },
    /// A copy in memory.
    Bytes(Vec<u8>),
}

impl RingBytes {
    /// Opens a ring file; refuses a path that is no plain file of a permitted owner.
    pub(crate) fn open(path: &Path) -> Result<Self, RingError> {
        let io = |source| RingError::Io { path: path.to_owned(), source };
        // Opening a device may already do something: it is refused before.
        check_file(path, &std::fs::symlink_metadata(path).map_err(io)?)?;
        let file = OpenOptions::new()
            .read(true)
            // Without O_NONBLOCK, opening a FIFO waits for somebody who writes it.
            .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(path)
            .map_err(io)?;
        // It may have been replaced meanwhile.
        check_file(path, &file.metadata().map_err(io)?)?;
        Ok(Self::File { file, path: path.to_owned() })
    }

    /// Whether private chunks can be read, too.
    pub(crate) fn has_private_memory(&self) -> bool {
        matches!(self, Self::Core { .. })
    }

    /// Fills `buffer` from `position`.
    pub(crate) fn read(&self, position: u64, buffer: &mut [u8]) -> Result<(), RingError> {
        let mut done = 0;
        while done < buffer.len() {
            let at = position.saturating_add(done as u64);
            let rest = &mut buffer[done..];
            let got = match self {
                Self::File { file, path } => match file.read_at(rest, at) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(source) => return Err(RingError::Io { path: path.clone(), source }),
                    Ok(got) => got,
                },
                Self::Core { core, base } => core.read(base.saturating_add(at), rest)?,
                Self::Bytes(bytes) => {
                    let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                    let count = rest.len().min(bytes.len() - from);
                    rest[..count].copy_from_slice(&bytes[from..from + count]);
                    count
                }
            };
            if got == 0 {
                return Err(RingError::Cut { position: at, missing: rest.len() as u64 });
            }
            done += got;
        }
        // What is read next is read after this: docs/formats/ring.md, "Memory order".
        fence(Ordering::Acquire);
        Ok(())
    }

    /// A structure of the layout at `position`.
    pub(crate) fn get<T: Pod>(&self, position: u64) -> Result<T, RingError> {
        let mut value = T::zeroed();
        self.read(position, bytemuck::bytes_of_mut(&mut value))?;
        Ok(value)
    }

    /// `count` structures of the layout at `position`. The caller bounds `count`.
    pub(crate) fn get_many<T: Pod>(
        &self,
        position: u64,
        count: usize,
    ) -> Result<Vec<T>, RingError> {
        let mut values = vec![T::zeroed(); count];
        self.read(position, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }
}
